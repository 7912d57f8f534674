//! Scenarios from the folders of other simulators: a configuration of the HPCC simulator, or of ConWeave's,
//! with the files that it names becomes the text of a scenario that says all of it; so do the files of a job.
//!
//! Every difference of such a simulator is a key of `[semantics]` or a parameter of a mechanism, and a
//! profile (`profiles/`) is a file that sets them, and nothing more: each difference can be tried alone, no
//! mechanism depends on a profile, and what runs is always a scenario.

mod config;
mod control;
mod conweave;
mod files;
mod job;
mod keys;
mod network;
mod switches;
mod write;

pub use job::{Given, Job, job};

use std::fmt;
use std::path::{Path, PathBuf};

use crate::error::{Place, ScenarioError, ScenarioErrors};
use crate::formats::Format;
use crate::ns3::Words;
use crate::workload::files::read_text;
use config::Config;
use files::Folder;

/// A configuration is no longer: 1 MiB.
const MOST_BYTES: u64 = 1 << 20;

/// A configuration as a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The text of the scenario.
    pub text: String,
    /// The folder at which relative paths in it begin.
    pub folder: PathBuf,
    /// What is not as it was.
    pub warnings: Vec<Warning>,
    /// Keys that have no effect.
    pub idle: Vec<Warning>,
}

impl Imported {
    /// A line for each key that has no effect, and for all that is not as it was.
    pub fn every_warning(&self) -> Vec<String> {
        self.idle.iter().chain(&self.warnings).map(ToString::to_string).collect()
    }

    /// The same, with one line for the keys that have no effect.
    pub fn short_warnings(&self) -> Vec<String> {
        let idle = match &self.idle[..] {
            [] => None,
            [only] => Some(only.to_string()),
            several => Some(no_effect(several)),
        };
        idle.into_iter().chain(self.warnings.iter().map(ToString::to_string)).collect()
    }
}

/// Keys without effect, with their lines.
fn no_effect(idle: &[Warning]) -> String {
    let file = idle.first().map_or("", |first| &*first.place.file);
    let key = |warning: &Warning| match warning.place.line {
        Some(line) => format!("{} ({line})", warning.key),
        None => warning.key.clone(),
    };
    let keys: Vec<String> = idle.iter().map(key).collect();
    format!("{file}: no effect here, by their lines: {}; `floodway import hpcc` says why", keys.join(", "))
}

/// A note on the translation of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Where it stands; the file alone of one that is missing.
    pub place: Place,
    /// The key; empty for the file as a whole.
    pub key: String,
    /// How it is translated.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

/// Is a text a configuration of the HPCC simulator, rather than a scenario? It begins with one of its keys,
/// after lines of comment.
pub fn is_config(text: &str) -> bool {
    let mut lines = text.lines().filter_map(|line| Words::of(line).peek()).map(|(_, first)| first);
    let first = lines.find(|first| !keys::is_comment(first));
    first.is_some_and(|word| keys::find(word).is_some())
}

/// Reads a configuration of the HPCC simulator and the files that it names. Relative paths in the scenario
/// begin at the folder `to`; where none is given, at the configuration's.
///
/// # Errors
/// What cannot be read, or not be simulated.
pub fn hpcc(file: &Path, to: Option<&Path>) -> Result<Imported, ScenarioErrors> {
    let name = file.display().to_string();
    let refuse = |why: String| ScenarioError::new(Place { file: name.as_str().into(), line: None }, "", why);
    let text = read_text(file, MOST_BYTES).map_err(|error| refuse(format!("cannot read it: {error}")))?;
    if !is_config(&text) {
        let why =
            "it is not a configuration of the HPCC simulator, which begins with a key such as CC_MODE 3";
        let seems =
            Format::of(text.as_bytes()).map_or(String::new(), |format| format!("; {}", format.seems()));
        return Err(refuse(format!("{why}{seems}")).into());
    }
    hpcc_text(file, &text, to)
}

/// The same where the text is known.
///
/// # Errors
/// What cannot be read, or not be simulated.
pub(crate) fn hpcc_text(file: &Path, text: &str, to: Option<&Path>) -> Result<Imported, ScenarioErrors> {
    let mut config = Config::read(&file.display().to_string(), text)?;
    let to = to.or(file.parent()).unwrap_or(Path::new("")).to_path_buf();
    let text = write::scenario(&mut config, &Folder::of(file), &to)?;
    Ok(Imported { text, folder: to, warnings: config.warnings, idle: config.idle })
}
