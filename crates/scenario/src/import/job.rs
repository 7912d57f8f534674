//! Scenarios that run the files of a job: a network with a host for each of its ranks, and the workload.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use floodway_programs::read::ReadError;
use serde::Deserialize;

use super::files::reference;
use super::{Imported, Warning};
use crate::build::traces::{TraceError, imported, key_fault};
use crate::error::{Place, ScenarioError, ScenarioErrors};
use crate::grammar::forms::Many;
use crate::scenario::{Scenario, Source};
use crate::workload::files::Files;
use crate::workload::trace::{Trace, TraceFormat};

/// The files of a job, and the network for it.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// Their format.
    pub format: TraceFormat,
    /// The files, or a folder of them.
    pub files: &'a [PathBuf],
    /// More keys of the table `trace`, and their values: TOML, else texts.
    pub keys: &'a [(String, String)],
    /// The network, as `topology` has it: `leaf-spine = { ... }`. Default: a switch.
    pub topology: Option<&'a str>,
    /// Of the switch: rate and delay of each link.
    pub link: (&'a str, &'a str),
}

/// The text of a scenario for a job; relative paths in it begin at the folder `to`.
///
/// # Errors
/// What of the files does not fit the format, or what of the scenario cannot be.
pub fn job(job: &Job<'_>, to: &Path) -> Result<Imported, ScenarioErrors> {
    let file = job.files.first().map(|file| file.display().to_string()).unwrap_or_default();
    let place = || Place { file: file.as_str().into(), line: None };
    let table = table(job, to);
    let (ranks, notes) = match toml::from_str::<Keys>(&format!("trace = {table}")) {
        Ok(Keys { mut trace }) => {
            if let Some((key, why)) = key_fault(&trace) {
                return Err(ScenarioError::new(place(), format!("trace.{key}"), why).into());
            }
            // Errors have the names that were given.
            trace.files = Many(job.files.iter().map(|file| file.display().to_string()).collect());
            let read = imported(&here(), &trace).map_err(|error| fault(&error, place()))?;
            (read.program.ranks.len(), read.notes)
        }
        // The scenario's own reader says what is wrong with a key.
        Err(_) => (1, Vec::new()),
    };
    let topology = job.topology.map_or_else(|| switch(ranks, job.link), |given| format!("topology.{given}"));
    let count = if ranks == 1 { "1 rank".to_owned() } else { format!("{ranks} ranks") };
    let text = format!(
        "# {}: {count}.\n{topology}\n\n[[workload]]\nname = {}\ntrace = {table}\n",
        title(job.format),
        quoted(&name(&file)),
    );
    let source = Source { name: &file, text: &text, folder: to, sets: &[], tables: None };
    let scenario = Scenario::from_source(source).map_err(|mut errors| {
        for error in &mut errors.0 {
            replace(error, job, &place());
        }
        errors
    })?;
    // Notes are on the file, which the scenario's warnings name by a key.
    let warning = |message: &String| Warning {
        place: place(),
        key: String::new(),
        message: notes.iter().find(|note| message.ends_with(*note)).unwrap_or(message).clone(),
    };
    let warnings = scenario.warnings().iter().map(warning).collect();
    Ok(Imported { text, folder: to.to_path_buf(), warnings, idle: Vec::new() })
}

/// The place of an error of the scenario, which is not written, so that its lines are nowhere: a file that
/// the network is read from, the option that gave the network, or the files of the job.
fn replace(error: &mut ScenarioError, job: &Job<'_>, of_job: &Place) {
    let of_network = error.key.split('.').next() == Some("topology");
    if of_network && error.place.file != of_job.file {
        return;
    }
    let option = match (of_network, job.topology, error.key.rsplit('.').next()) {
        (true, Some(_), _) => Some("--topology"),
        (true, None, Some("rate")) => Some("--rate"),
        (true, None, Some("delay")) => Some("--delay"),
        _ => None,
    };
    error.place = option.map_or_else(|| of_job.clone(), |file| Place { file: file.into(), line: None });
    if error.key.ends_with(".trace.files") {
        error.key.clear();
    }
}

/// The table of a trace, as a workload has it.
#[derive(Deserialize)]
struct Keys {
    trace: Trace,
}

/// Files by the names that were given.
fn here() -> Files<'static> {
    Files { folder: Path::new(""), tables: None }
}

/// The error of a file, whose name is the place; `of_all` is that of the files together.
fn fault(error: &TraceError, of_all: Place) -> ScenarioError {
    let of = |file: &str, line| Place { file: file.into(), line };
    match error {
        TraceError::Unread { file, why } => {
            let named = format!("cannot read {:?}", here().shown(file));
            ScenarioError::new(of(file, None), "", why.replace(&named, "cannot read it"))
        }
        TraceError::Unfit(ReadError { file, place, why }) => {
            let line = place.strip_prefix("line ").and_then(|line| line.parse().ok());
            let key = if line.is_some() { "" } else { place };
            ScenarioError::new(of(file, line), key, why)
        }
        TraceError::Together(why) => ScenarioError::new(of_all, "", why),
    }
}

fn title(format: TraceFormat) -> &'static str {
    match format {
        TraceFormat::Goal => "A GOAL schedule",
        TraceFormat::Chakra => "Execution traces of Chakra",
        TraceFormat::Simai => "A workload of SimAI",
        TraceFormat::Htsim => "A connection matrix of htsim",
    }
}

/// The table `trace`.
fn table(job: &Job<'_>, to: &Path) -> String {
    // A folder is named from itself, too.
    let named = |file: &PathBuf| Some(reference(file, to)).filter(|name| !name.is_empty());
    let named = |file: &PathBuf| quoted(&named(file).unwrap_or_else(|| ".".to_owned()));
    let files: Vec<String> = job.files.iter().map(named).collect();
    let files = if let [file] = &files[..] { file.clone() } else { format!("[{}]", files.join(", ")) };
    let mut table = format!("{{ format = {:?}, files = {files}", job.format.name());
    for (key, value) in job.keys {
        let is_toml =
            toml::from_str::<toml::Table>(&format!("value = {value}")).is_ok_and(|read| read.len() == 1);
        let value = if is_toml { value.clone() } else { quoted(value) };
        _ = write!(table, ", {key} = {value}");
    }
    table + " }"
}

fn switch(hosts: usize, (rate, delay): (&str, &str)) -> String {
    format!(
        "topology.single-switch = {{ hosts = {}, rate = {}, delay = {} }}",
        hosts.max(2),
        quoted(rate),
        quoted(delay)
    )
}

/// A name for the workload: that of the file, as far as names may have its characters.
fn name(file: &str) -> String {
    let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    let name: String = stem.chars().map(plain).collect();
    if name.is_empty() { "job".to_owned() } else { name }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
