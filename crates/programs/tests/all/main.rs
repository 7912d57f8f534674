//! Tests of programs: what collectives compute, and how ranks wait for each other.

#![allow(clippy::cast_possible_truncation, reason = "numbers of tests are small")]

mod chakra;
mod checks;
mod collectives;
mod connections;
mod critical_path;
mod goal_binary;
mod pxn;
mod readers;
mod simai;
mod support;
mod training;
mod writers;
