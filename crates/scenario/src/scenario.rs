//! A scenario: read once, valid from then on.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use floodway_fabric::blueprint::{Arrivals, End, WorkloadSpec};
use floodway_fabric::routing::Routes;
use floodway_fabric::{Blueprint, Dependencies, ThreadPlan, Threads};
use floodway_units::{NodeId, Time};
use serde_json::json;

use crate::build::{Built, build};
use crate::cost::{Demand, demand};
use crate::deadlock;
use crate::error::{Place, ScenarioError, ScenarioErrors};
use crate::grammar::document::Document;
use crate::grammar::tree::{Node, Value};
use crate::grammar::{bounds, read_all, sets};
use crate::import::{self, Imported};
use crate::profile;
use crate::resolved::groups;
use crate::shown::{formula, hides};
use crate::workload::Workload;
use crate::workload::files::{Files, TableReader, read_text};
use crate::workload::recipe::draw;

/// A scenario's own text is no larger: 64 MiB.
const MOST_BYTES: u64 = 64 << 20;

/// What a scenario is read from.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// What messages call it: the file as it was given.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Where relative paths in it begin.
    pub folder: &'a Path,
    /// Paths and values that are written into it (`--set`), in order.
    pub sets: &'a [(String, String)],
    /// Who reads `.parquet`.
    pub tables: Option<TableReader<'a>>,
}

/// A valid scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    name: String,
    file: String,
    folder: PathBuf,
    /// As it was written.
    written: Node,
    /// With what its profile adds.
    tree: Node,
    document: Document,
    built: Built,
    /// The flows of its workloads, once requested.
    demand: OnceLock<Demand>,
    /// What buffers may wait for, once requested.
    dependencies: OnceLock<Dependencies>,
    /// Warnings, with that of a possible deadlock, once requested.
    warnings: OnceLock<Vec<String>>,
}

impl Scenario {
    /// Reads a file: a scenario, or a configuration of the HPCC simulator as one.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn from_path(path: &Path, sets: &[(String, String)]) -> Result<Self, ScenarioErrors> {
        Self::from_path_with(path, sets, None)
    }

    /// Reads a file, with a reader of `.parquet` for the files that it names.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn from_path_with(
        path: &Path,
        sets: &[(String, String)],
        tables: Option<TableReader<'_>>,
    ) -> Result<Self, ScenarioErrors> {
        let name = path.display().to_string();
        let text = read_text(path, MOST_BYTES).map_err(|error| {
            let place = Place { file: name.as_str().into(), line: None };
            ScenarioError::new(place, "", format!("cannot read it: {error}"))
        })?;
        if import::is_config(&text) {
            return Self::imported(path, &text, sets, tables);
        }
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        Self::from_source(Source { name: &name, text: &text, folder: &folder, sets, tables })
    }

    /// What the configuration of another simulator means; what is said of its keys comes before other
    /// warnings.
    fn imported(
        path: &Path,
        text: &str,
        sets: &[(String, String)],
        tables: Option<TableReader<'_>>,
    ) -> Result<Self, ScenarioErrors> {
        let imported = import::hpcc_text(path, text, None)?;
        let warnings = imported.short_warnings();
        let Imported { text, folder, .. } = imported;
        let file = path.display().to_string();
        // Lines of messages are those of the text given in place of the file.
        let name = format!("{file} as a scenario");
        let source = Source { name: &name, text: &text, folder: &folder, sets, tables };
        let mut scenario = Self::from_source(source)?;
        scenario.file = file;
        scenario.built.warnings.splice(0..0, warnings);
        Ok(scenario)
    }

    /// Reads a text; `name` is its file in messages, and relative paths begin at the folder of
    /// the process.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn from_text(name: &str, text: &str, sets: &[(String, String)]) -> Result<Self, ScenarioErrors> {
        Self::from_source(Source { name, text, folder: Path::new(""), sets, tables: None })
    }

    /// Reads a scenario.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn from_source(source: Source<'_>) -> Result<Self, ScenarioErrors> {
        let tree = Node::parse(source.name, source.text)?;
        Self::from_tree(tree, source)
    }

    /// Reads a scenario from JSON of the same form as the TOML text; `source.text` is that JSON.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn from_json(source: Source<'_>) -> Result<Self, ScenarioErrors> {
        let place = Place { file: source.name.into(), line: None };
        Self::from_tree(Node::from_json(&json_of(source.text, &place)?, &place)?, source)
    }

    /// The same scenario with other values for keys of the top level, a JSON table, and then for paths of
    /// keys (`--set`).
    ///
    /// # Errors
    /// All that is wrong with the result.
    pub fn replaced(
        &self,
        keys: &str,
        sets: &[(String, String)],
        tables: Option<TableReader<'_>>,
    ) -> Result<Self, ScenarioErrors> {
        let place = Place { file: "replace".into(), line: None };
        let Node { value: Value::Table(changes), .. } = Node::from_json(&json_of(keys, &place)?, &place)?
        else {
            return Err(ScenarioError::new(place, "", "keys with their values are required").into());
        };
        let mut tree = self.written.clone();
        for change in changes {
            tree.put(&change.key, change.node);
        }
        let folder = &self.folder;
        Self::from_tree(tree, Source { name: &self.file, text: "", folder, sets, tables })
    }

    fn from_tree(mut tree: Node, source: Source<'_>) -> Result<Self, ScenarioErrors> {
        for (path, value) in source.sets {
            sets::apply(&mut tree, path, value)?;
        }
        bounds::check(&tree)?;
        let written = tree.clone();
        let mut document: Document = read_all(&tree)?;
        let profile = document.profile.map(profile::load).transpose()?;
        if let Some(profile) = &profile {
            profile.complete(&mut tree);
            document = read_all(&tree)?;
        }
        let files = Files { folder: source.folder, tables: source.tables };
        let built = build(&tree, &document, profile, &files)?;
        let stem = Path::new(source.name).file_stem().and_then(|stem| stem.to_str()).unwrap_or("scenario");
        let name = document.name.clone().unwrap_or_else(|| stem.to_owned());
        if let Some(why) = no_name(&name) {
            let hint = if document.name.is_none() { "; say name = \"...\" in it" } else { "" };
            let place = tree.place_of(["name"]);
            return Err(ScenarioError::new(place, "name", format!("{why}{hint}")).into());
        }
        let (file, folder) = (source.name.to_owned(), source.folder.to_owned());
        Ok(Scenario {
            name,
            file,
            folder,
            written,
            tree,
            document,
            built,
            demand: OnceLock::new(),
            dependencies: OnceLock::new(),
            warnings: OnceLock::new(),
        })
    }

    /// The name of its results.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of its file in messages.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The scenario as it was written, with what was set and replaced since, as JSON.
    pub fn written_json(&self) -> String {
        self.written.to_json().to_string()
    }

    /// The same as TOML text. Comments are not kept, and relative paths are those of the first text.
    ///
    /// # Errors
    /// A number that TOML cannot hold.
    pub fn written_toml(&self) -> Result<String, ScenarioErrors> {
        toml::to_string_pretty(&self.written.to_json()).map_err(|error| {
            let place = Place { file: self.file.as_str().into(), line: None };
            ScenarioError::new(place, "", format!("cannot be written as TOML: {error}")).into()
        })
    }

    /// The blueprint of the fabric.
    pub fn blueprint(&self) -> &Blueprint {
        &self.built.blueprint
    }

    /// The routes over all links of its blueprint.
    pub fn routes(&self) -> &Arc<Routes> {
        &self.built.routes
    }

    /// The load that its workloads offer.
    pub(crate) fn demand(&self) -> &Demand {
        self.demand.get_or_init(|| demand(self.blueprint(), self.routes()))
    }

    /// Number of threads that it asks for, if it does.
    pub fn threads(&self) -> Option<usize> {
        self.document.engine.threads
    }

    /// Are iterations skipped that repeat earlier ones?
    pub fn skips(&self) -> bool {
        self.document.engine.skip.unwrap_or(true)
    }

    /// Number of threads of a run on a machine with this many cores: as requested, else as the scenario says,
    /// else by the policy.
    pub fn thread_plan(&self, threads: Threads, cores: usize) -> ThreadPlan {
        let own = self.threads().map_or(Threads::Paying, Threads::AtMost);
        let asked = if threads == Threads::Paying { own } else { threads };
        ThreadPlan::of_run(self.blueprint(), asked, cores)
    }

    /// Seeds every random stream and tie.
    pub fn seed(&self) -> u64 {
        self.document.seed
    }

    /// Time 0 on the clock of the simulator whose files it reads.
    pub fn origin(&self) -> Time {
        self.document.origin.unwrap_or_default()
    }

    /// Warnings: unusual settings that may be intended.
    pub fn warnings(&self) -> &[String] {
        self.warnings.get_or_init(|| {
            let deadlock = deadlock::warning(&self.built, self.dependencies(), &self.tree.place);
            self.built.warnings.iter().cloned().chain(deadlock).collect()
        })
    }

    /// Whether the paths of its flows let buffers wait for each other in a cycle.
    pub(crate) fn dependencies(&self) -> &Dependencies {
        self.dependencies.get_or_init(|| self.blueprint().buffer_dependencies(self.routes()))
    }

    /// The same scenario with another seed: as if its text had it.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.document.seed = seed;
        self.built.blueprint.seed = seed;
        for tree in [&mut self.written, &mut self.tree] {
            let place = tree.place_of(["seed"]);
            tree.put("seed", Node { value: Value::Integer(seed.into()), place });
        }
        draw(&self.built.recipes, seed, &mut self.built.blueprint);
        self.demand.take();
        self.dependencies.take();
        self.warnings.take();
        self
    }

    /// The whole scenario after defaults, for the record of a run: its text as it was read, the choices of
    /// the run, and the settings of every object with their origins.
    pub fn resolved_json(&self) -> String {
        let blueprint = self.blueprint();
        let value = json!({
            "name": self.name,
            "file": self.file,
            "scenario": self.tree.to_json(),
            "seed": blueprint.seed,
            "profile": self.built.profile.as_ref().map(|profile| profile.name),
            "wire": blueprint.wire,
            "mtu": blueprint.mtu,
            "semantics": self.built.semantics,
            "origin": self.origin(),
            "limit": blueprint.end.limit,
            "stop": stop(&blueprint.end),
            "measure": blueprint.workloads.iter().map(|workload| {
                let (from, to) = workload.measure;
                (workload.name.clone(), json!({ "from": from, "to": (to < Time::NEVER).then_some(to) }))
            }).collect::<serde_json::Map<_, _>>(),
            "perftest": self.perftests(),
            "resolved": groups(&self.built, &self.document),
        });
        value.to_string()
    }

    /// Of workloads that are closed loops: what each measures, and its pairs of client and server.
    fn perftests(&self) -> serde_json::Map<String, serde_json::Value> {
        let blueprint = self.blueprint();
        let name = |node: NodeId| blueprint.nodes[node.index()].name.as_str();
        let test = |(workload, spec): (&Workload, &WorkloadSpec)| {
            let (perftest, Arrivals::ClosedLoop(loops)) = (workload.perftest.as_ref()?, &spec.arrivals)
            else {
                return None;
            };
            let of_pair = loops.chunks(perftest.loops());
            let pairs: Vec<_> = of_pair.map(|of| [name(of[0].source), name(of[0].destination)]).collect();
            let value =
                json!({ "test": perftest.test, "bidirectional": perftest.bidirectional, "pairs": pairs });
            Some((workload.name.clone(), value))
        };
        self.document.workload.iter().zip(&blueprint.workloads).filter_map(test).collect()
    }

    pub(crate) fn document(&self) -> &Document {
        &self.document
    }

    pub(crate) fn built(&self) -> &Built {
        &self.built
    }
}

/// What ends a run, as scenarios spell it.
fn stop(end: &End) -> &'static str {
    match end {
        End { at_limit: true, .. } => "limit",
        End { acknowledged: true, .. } => "acknowledged",
        End { .. } => "measured",
    }
}

/// Why a text cannot be the name of a scenario, whose results get a folder of that name.
fn no_name(name: &str) -> Option<String> {
    let is_folder =
        !matches!(name, "" | "." | "..") && !name.contains(|c: char| matches!(c, '/' | '\\') || hides(c));
    let folder = (!is_folder).then(|| {
        format!(
            "{name:?} is not a name: the results get a folder of this name, so it is neither empty nor \".\" nor \"..\", and \
             has no \"/\", \"\\\" or invisible characters"
        )
    });
    folder.or_else(|| formula(name))
}

fn json_of(text: &str, place: &Place) -> Result<serde_json::Value, ScenarioError> {
    serde_json::from_str(text)
        .map_err(|error| ScenarioError::new(place.clone(), "", format!("not JSON: {error}")))
}
