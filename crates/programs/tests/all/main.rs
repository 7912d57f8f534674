//! Tests of programs: what collectives compute, and how ranks wait for each other.

mod checks;
mod collectives;
mod critical_path;
mod readers;
mod support;
mod training;
