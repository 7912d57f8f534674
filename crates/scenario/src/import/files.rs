//! Files that a configuration names, found from folders other than that of the configuration.

use std::env;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::config::Config;
use crate::error::{ScenarioError, nearest};
use crate::workload::files::read_named;

/// So many folders above the configuration's are searched.
const UPWARD: usize = 3;

/// Where the files of a configuration may lie.
#[derive(Clone, Debug)]
pub struct Folder {
    /// The configuration's file name.
    pub name: String,
    /// Its folder.
    own: PathBuf,
}

impl Folder {
    /// That of a configuration.
    pub fn of(config: &Path) -> Self {
        let name = config.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Folder { name, own: config.parent().map_or_else(PathBuf::new, Path::to_path_buf) }
    }

    /// Folders in which a name is looked for: the configuration's, three above it, that of the process.
    fn places(&self) -> Vec<PathBuf> {
        let absolute = absolute(&self.own);
        let mut places = vec![self.own.clone()];
        places.extend(absolute.ancestors().skip(1).take(UPWARD).map(Path::to_path_buf));
        places.push(PathBuf::new());
        places
    }

    /// The file that a key names.
    ///
    /// # Errors
    /// It is nowhere.
    pub fn find(&self, config: &Config, key: &str) -> Result<PathBuf, ScenarioError> {
        let Some(name) = config.word(key) else { return Err(config.error(key, missing(config))) };
        let found = self.places().into_iter().map(|place| place.join(name)).find(|path| path.is_file());
        found.ok_or_else(|| {
            let message = format!(
                "{name:?} is not found in its folder, in the {UPWARD} folders above it, or in the current folder"
            );
            config.error(key, message).with_suggestion(nearest(name, &self.names()))
        })
    }

    /// A file of this name beside another one, or in the configuration's folder.
    pub fn beside(&self, other: &Path, name: &str) -> Option<PathBuf> {
        let folders = [other.parent().unwrap_or(Path::new("")), &self.own];
        folders.into_iter().map(|folder| folder.join(name)).find(|path| path.is_file())
    }

    fn names(&self) -> Vec<String> {
        let own = if self.own.as_os_str().is_empty() { Path::new(".") } else { &self.own };
        let entries = fs::read_dir(own).into_iter().flatten().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// Why a file is missing.
fn missing(config: &Config) -> &'static str {
    if config.is_simai() {
        "is missing: it is a configuration of SimAI, whose topology and workload are arguments of its program; \
         `floodway import simai WORKLOAD --topology TOPOLOGY --config FILE` reads all, and with the lines TOPOLOGY_FILE and \
         FLOW_FILE it is a configuration for a list of flows"
    } else {
        "is missing"
    }
}

/// The text of a file that a key names.
///
/// # Errors
/// It cannot be read.
pub fn text_of(config: &Config, key: &str, path: &Path) -> Result<String, ScenarioError> {
    read_named(path)
        .map_err(|error| config.error(key, format!("cannot read {:?}: {error}", path.display().to_string())))
}

/// How a scenario in the folder `to` names a file.
pub fn reference(path: &Path, to: &Path) -> String {
    let (path, to) = (absolute(path), absolute(to));
    let shared = path.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    let up = to.components().skip(shared).map(|_| Component::ParentDir);
    let relative: PathBuf = up.chain(path.components().skip(shared)).collect();
    relative.display().to_string()
}

/// A path from the root on, without links and dots.
fn absolute(path: &Path) -> PathBuf {
    let here = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let joined = || env::current_dir().map_or_else(|_| here.to_path_buf(), |current| current.join(here));
    fs::canonicalize(here).unwrap_or_else(|_| joined())
}
