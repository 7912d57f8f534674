//! Scenarios: one TOML text, read once into a valid value, from which a fabric is built.
//!
//! [`Scenario`] reads a file with its `--set` values and keeps the [`Blueprint`](floodway_fabric::Blueprint);
//! [`ScenarioErrors`] are all that is wrong with it, one line each.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "numbers of tests are small"))]

mod build;
mod catalog;
mod check;
pub mod cost;
mod deadlock;
pub mod error;
pub mod export;
mod formats;
pub mod grammar;
pub mod import;
mod ns3;
mod paths;
mod profile;
pub mod resolve;
mod resolved;
mod scenario;
mod shown;
pub mod standalone;
pub mod study;
pub mod topology;
pub mod workload;

pub use catalog::{Catalog, schema};
pub use check::{
    CrossbarGroup, EgressGroup, Kind, LinkGroup, PathGroup, Pool, PortGroup, Report, Traffic, check, traffics,
};
pub use cost::Cost;
pub use error::{Place, ScenarioError, ScenarioErrors};
pub use resolved::{Group, Setting};
pub use scenario::{Scenario, Source};
