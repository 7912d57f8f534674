//! Jobs of a scenario, written for other simulators.

use std::io;

use floodway_fabric::blueprint::Arrivals;
use floodway_programs::Program;
use floodway_programs::write::{self, WriteError};

use crate::error::{Place, ScenarioError, ScenarioErrors};
use crate::scenario::Scenario;

/// A job that is not written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// What of the scenario cannot be written.
    #[error(transparent)]
    Scenario(#[from] ScenarioErrors),
    /// The text cannot be written.
    #[error(transparent)]
    Io(io::Error),
}

/// Writes a job as GOAL: the only one of the scenario, or the one of this name. Returns what GOAL cannot
/// express of it.
///
/// # Errors
/// There is no such job, or it cannot be written.
pub fn goal(
    scenario: &Scenario,
    workload: Option<&str>,
    out: impl io::Write,
) -> Result<Vec<String>, ExportError> {
    let (name, program) = job(scenario, workload).map_err(ScenarioErrors::from)?;
    write::goal(program, out).map_err(|error| match error {
        WriteError::Io(error) => ExportError::Io(error),
        WriteError::Inexpressible(why) => {
            ExportError::Scenario(fault(scenario, &format!("workload.{name}"), why).into())
        }
    })
}

fn fault(scenario: &Scenario, key: &str, why: impl Into<String>) -> ScenarioError {
    ScenarioError::new(Place { file: scenario.file().into(), line: None }, key, why)
}

/// A job, and its name.
fn job<'a>(scenario: &'a Scenario, asked: Option<&str>) -> Result<(&'a str, &'a Program), ScenarioError> {
    let workloads = scenario.blueprint().workloads.iter();
    let jobs: Vec<(&str, &Program)> = workloads
        .filter_map(|of| match &of.arrivals {
            Arrivals::Program(spec) => Some((of.name.as_str(), &*spec.program)),
            _ => None,
        })
        .collect();
    let names: Vec<String> = jobs.iter().map(|(name, _)| (*name).to_owned()).collect();
    match (asked, &jobs[..]) {
        (_, []) => Err(fault(
            scenario,
            "workload",
            "no workload is a job: a \"collective\", a \"training\" or a \"trace\"",
        )),
        (None, [only]) => Ok(*only),
        (None, _) => {
            let why = format!("there are several jobs: name one of {}", names.join(", "));
            Err(fault(scenario, "workload", why))
        }
        (Some(asked), _) => jobs.iter().find(|(name, _)| *name == asked).copied().ok_or_else(|| {
            let place = Place { file: scenario.file().into(), line: None };
            ScenarioError::unknown(place, "workload", asked, "a job of the scenario", names)
        }),
    }
}
