//! Networks from the files of other simulators: topologies of HPCC, `PowerTCP`, Reverie and `SimAI`, of
//! htsim, and networks of ASTRA-sim's analytical backends.

mod astra;
mod htsim;

use std::path::Path;

use super::files::reference;
use crate::error::{Place, ScenarioError};
use crate::formats::Format;
use crate::workload::files::read_named;

/// A network for a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ForJob {
    /// The keys behind `topology.`.
    pub topology: String,
    /// The value of `gpu-nodes`, if the network has servers.
    pub gpu_nodes: Option<String>,
    /// Further lines of the scenario.
    pub more: String,
    /// Sizes of its dimensions, if it has several.
    pub dims: Vec<u32>,
    /// What is not used of the file, or means something else here.
    pub notes: Vec<String>,
}

/// The network in a file; relative paths in it begin at the folder `to`.
///
/// # Errors
/// A file that cannot be read, that is no network, or one that cannot be here.
pub(super) fn of(file: &Path, to: &Path) -> Result<ForJob, ScenarioError> {
    let name = file.display().to_string();
    let refuse = |line: Option<u32>, why: String| {
        ScenarioError::new(Place { file: name.as_str().into(), line }, "", why)
    };
    let text = read_named(file).map_err(|error| refuse(None, format!("cannot read it: {error}")))?;
    let is_yaml = file.extension().is_some_and(|ending| ending == "yml" || ending == "yaml");
    match Format::of(text.as_bytes()) {
        // A part of one may have none of its words.
        None if is_yaml => astra::read(&text).map_err(|(line, why)| refuse(line, why)),
        Some(Format::Listing) | None => {
            let file = toml::Value::from(reference(file, to));
            Ok(ForJob { topology: format!("hpcc = {{ file = {file} }}"), ..ForJob::default() })
        }
        Some(Format::HtsimTopology) => htsim::read(&text).map_err(|(line, why)| refuse(Some(line), why)),
        Some(Format::AstraNetwork) => astra::read(&text).map_err(|(line, why)| refuse(line, why)),
        Some(other) => Err(refuse(None, format!("it is no network; {}", other.seems()))),
    }
}

/// The value of `gpu-nodes` with a scale-up domain.
pub(super) fn gpu_nodes(gpus: u32, rate: &str, latency: &str) -> String {
    format!("{{ gpus-per-node = {gpus}, scale-up = {{ rate = \"{rate}\", latency = \"{latency}\" }} }}")
}
