//! Scenarios that run the files of a job: a network with a host for each of its ranks, and the workload.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use floodway_programs::read::{self, Endless, EndlessMatrix, ReadError};
use floodway_units::Span;
use floodway_units::cast::narrow;
use floodway_units::text::counted;
use serde::Deserialize;

use super::config::Config;
use super::files::reference;
use super::network::{self, ForJob};
use super::write::of_job;
use super::{Imported, Warning};
use crate::build::traces::{TraceError, imported, key_fault};
use crate::error::{Place, ScenarioError, ScenarioErrors};
use crate::grammar::forms::Many;
use crate::scenario::{Scenario, Source};
use crate::topology::Topology;
use crate::topology::hpcc::Listing;
use crate::workload::files::{Files, read_named};
use crate::workload::trace::{Trace, TraceFormat};

/// GPUs of a server, and the links of one, where nothing says more: those of an A100.
const SERVER: usize = 8;
const NV_LINK: (&str, &str) = ("2400G", "50ns");
/// The end of a run with flows without end.
const LIMIT: &str = "1ms";
/// The value of `gpu_nodes` for none.
const NONE: &str = "none";

/// The files of a job, and the network for it.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// Their format.
    pub format: TraceFormat,
    /// The files, or a folder of them.
    pub files: &'a [PathBuf],
    /// More keys of the table `trace`, and their values: TOML, else texts.
    pub keys: &'a [(String, String)],
    /// The network. Default: a switch.
    pub network: Option<Given<'a>>,
    /// GPU nodes, as `gpu-nodes` has them, or `none`. Default: those of the network's file; of `SimAI`
    /// without a network, servers of 8 GPUs.
    pub gpu_nodes: Option<&'a str>,
    /// Of `SimAI`, over the file of a network: its configuration, `SimAI.conf`.
    pub config: Option<&'a Path>,
    /// Of the switch: rate and delay of each link.
    pub link: (&'a str, &'a str),
}

/// A network that is given.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a> {
    /// As `topology` has it: `leaf-spine = { ... }`.
    Keys(&'a str),
    /// The file of another simulator.
    File(&'a Path),
}

/// The text of a scenario for a job; relative paths in it begin at the folder `to`.
///
/// # Errors
/// What of the files does not fit the format, or what of the scenario cannot be.
pub fn job(job: &Job<'_>, to: &Path) -> Result<Imported, ScenarioErrors> {
    let network = match job.network {
        Some(Given::File(file)) => network::of(file, to)?,
        Some(Given::Keys(keys)) => ForJob { topology: keys.to_owned(), ..ForJob::default() },
        None => ForJob::default(),
    };
    check_options(job)?;
    let settings = Settings::of(job)?;
    let work = Work::read(job, &network, to)?;
    let servers = Servers::of(job, &network, work.ranks);
    let topology = if network.topology.is_empty() {
        switch(work.ranks, job.link)
    } else {
        format!("topology.{}", network.topology)
    };
    let gpu_nodes = servers.value.map_or(String::new(), |value| format!("gpu-nodes = {value}\n"));
    let workload = work.workload(&topology, to);
    let head = [&*settings.head, &*topology, "\n", &*gpu_nodes, &*work.head].concat();
    let text = format!("# {}\n{head}{}{}\n{workload}", work.title, settings.tables, network.more);
    let file = job.files.first().map(|file| file.display().to_string()).unwrap_or_default();
    let place = || Place { file: file.as_str().into(), line: None };
    let source = Source { name: &file, text: &text, folder: to, sets: &[], tables: None };
    let scenario = Scenario::from_source(source).map_err(|mut errors| {
        for error in &mut errors.0 {
            replace(error, job, &place());
        }
        errors
    })?;
    let told = |place: Place, message: String| Warning { place, key: String::new(), message };
    let of_network = |note: &String| {
        let file = match job.network {
            Some(Given::File(file)) => file.display().to_string(),
            _ => String::new(),
        };
        told(Place { file: file.into(), line: None }, note.clone())
    };
    // Notes are on the file, which the scenario's warnings name by a key and a line of the text.
    let warning = |message: &String| {
        let line = message.strip_prefix(&format!("{file}:")).and_then(|rest| rest.split_once(": "));
        let message =
            line.filter(|(line, _)| line.parse::<u32>().is_ok()).map_or(&**message, |(_, rest)| rest);
        let of_trace = message.split_once(".trace.files: ").map_or(message, |(_, note)| note);
        told(place(), of_trace.to_owned())
    };
    let mut warnings: Vec<Warning> = network.notes.iter().map(of_network).collect();
    warnings.extend(settings.warnings);
    warnings.extend(servers.assumed.map(|note| told(place(), note)));
    warnings.extend(work.own_notes().map(|note| told(place(), note)));
    warnings.extend(scenario.warnings().iter().map(warning));
    Ok(Imported { text, folder: to.to_path_buf(), warnings, idle: Vec::new() })
}

/// Are the options values, with which the text of the scenario is one of TOML?
fn check_options(job: &Job<'_>) -> Result<(), ScenarioError> {
    let is_value = |text: &str| toml::from_str::<toml::Table>(text).is_ok_and(|read| read.len() == 1);
    let refuse =
        |option: &str, why| Err(ScenarioError::new(Place { file: option.into(), line: None }, "", why));
    if let Some(given) = job.gpu_nodes.filter(|given| *given != NONE)
        && !is_value(&format!("value = {given}"))
    {
        return refuse(
            "--gpu-nodes",
            format!("{given:?} is neither {NONE} nor a table like {{ gpus-per-node = 8 }}"),
        );
    }
    if let Some(Given::Keys(keys)) = job.network
        && !is_value(keys)
    {
        let why =
            format!("{keys:?} is not a topology like leaf-spine = {{ spines = 2, leaves = 2, hosts = 4 }}");
        return refuse("--topology", why);
    }
    Ok(())
}

/// What `SimAI`'s configuration sets.
#[derive(Default)]
struct Settings {
    head: String,
    tables: String,
    warnings: Vec<Warning>,
}

impl Settings {
    fn of(job: &Job<'_>) -> Result<Self, ScenarioErrors> {
        let Some(path) = job.config else { return Ok(Settings::default()) };
        let refuse = |why: &str| ScenarioError::new(Place { file: "--config".into(), line: None }, "", why);
        if job.format != TraceFormat::Simai {
            return Err(refuse("it is of SimAI: only `floodway import simai` has it").into());
        }
        let Some(Given::File(topology)) = job.network else {
            return Err(refuse(
                "it needs --topology with a topology file of SimAI, by whose links it sets buffers",
            )
            .into());
        };
        let unread = |file: &Path, error: std::io::Error| {
            let place = Place { file: file.display().to_string().into(), line: None };
            ScenarioError::new(place, "", format!("cannot read it: {error}"))
        };
        let text = read_named(path).map_err(|error| unread(path, error))?;
        if !super::is_config(&text) {
            let why = "it is no configuration of SimAI, which begins with a key such as ENABLE_QCN 1";
            return Err(ScenarioError::new(
                Place { file: path.display().to_string().into(), line: None },
                "",
                why,
            )
            .into());
        }
        let listed = read_named(topology).map_err(|error| unread(topology, error))?;
        let listing = Listing::read(&listed).map_err(|(line, why)| {
            ScenarioError::new(
                Place { file: topology.display().to_string().into(), line: Some(line) },
                "",
                why,
            )
        })?;
        let mut config = Config::read(&path.display().to_string(), &text)?;
        let (head, tables) = of_job(&mut config, topology, listing)?;
        Ok(Settings { head, tables, warnings: config.idle.into_iter().chain(config.warnings).collect() })
    }
}

/// What the files of a job say.
struct Work {
    /// The first line of the scenario.
    title: String,
    ranks: usize,
    /// Keys of the scenario before its tables.
    head: String,
    name: String,
    notes: Vec<String>,
    kind: WorkKind,
}

enum WorkKind {
    /// The table `trace`.
    Trace(String),
    /// Flows, of which some have no end.
    Flows(Vec<Endless>),
}

impl Work {
    fn read(job: &Job<'_>, network: &ForJob, to: &Path) -> Result<Self, ScenarioErrors> {
        let file = job.files.first().map(|file| file.display().to_string()).unwrap_or_default();
        let name = name(&file);
        if let Some(EndlessMatrix { nodes, connections: flows, notes }) = endless_of(job)? {
            let without = flows.iter().filter(|flow| flow.bytes.is_none()).count();
            let title = format!(
                "A connection matrix of htsim: {}, {}, {without} of them without end.",
                counted(nodes, "node"),
                counted(flows.len(), "flow")
            );
            let head = format!("limit = \"{LIMIT}\"\n");
            return Ok(Work {
                title,
                ranks: nodes as usize,
                head,
                name,
                notes,
                kind: WorkKind::Flows(flows),
            });
        }
        let place = || Place { file: file.as_str().into(), line: None };
        let table = table(job, &network.dims, to);
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
        let title = format!("{}: {}.", title(job.format), counted(ranks, "rank"));
        Ok(Work { title, ranks, head: String::new(), name, notes, kind: WorkKind::Trace(table) })
    }

    /// The workload, with the names of hosts of a topology.
    fn workload(&self, topology: &str, to: &Path) -> String {
        let mut text = format!("[[workload]]\nname = {}\n", quoted(&self.name));
        match &self.kind {
            WorkKind::Trace(table) => _ = writeln!(text, "trace = {table}"),
            WorkKind::Flows(flows) => {
                let hosts = hosts_of(topology, to);
                let host =
                    |node: u32| quoted(&hosts.get(node as usize).cloned().unwrap_or(format!("node {node}")));
                text += "flows = [\n";
                for Endless { ends: (from, to), start, bytes } in flows {
                    let size = bytes.map_or("unbounded".to_owned(), |bytes| bytes.to_string());
                    let (from, to) = (host(*from), host(*to));
                    let start = Some(start).filter(|start| **start > Span::ZERO);
                    let start = start.map_or(String::new(), |start| format!(", start = \"{start}\""));
                    _ = writeln!(text, "  {{ from = {from}, to = {to}, size = \"{size}\"{start} }},");
                }
                text += "]\n";
            }
        }
        text
    }

    /// Notes that the scenario does not repeat.
    fn own_notes(&self) -> impl Iterator<Item = String> {
        let flows = matches!(self.kind, WorkKind::Flows(_));
        let limit = format!(
            "connections without end (size 0) are flows, and the end of the run is not in the file: limit = \"{LIMIT}\""
        );
        let notes = if flows { self.notes.clone() } else { Vec::new() };
        flows.then_some(limit).into_iter().chain(notes)
    }
}

/// The connections of a matrix of htsim that has some without end; none of any other file.
fn endless_of(job: &Job<'_>) -> Result<Option<EndlessMatrix>, ScenarioErrors> {
    let (TraceFormat::Htsim, [file]) = (job.format, job.files) else { return Ok(None) };
    let name = file.display().to_string();
    let Ok(text) = read_named(file) else { return Ok(None) };
    let Ok(found) = read::endless(&text, &name) else {
        // What is no matrix at all is told as of any other file.
        return match read::endless(&text, &name) {
            Err(error) if error.why.starts_with("it has a trigger") => {
                let place = Place { file: name.as_str().into(), line: None };
                Err(fault(&TraceError::Unfit(error), place).into())
            }
            _ => Ok(None),
        };
    };
    match (&found, job.keys) {
        (Some(_), [(key, _), ..]) => {
            let why = "connections without end (size 0) are flows here, which have no keys of a trace";
            Err(ScenarioError::new(
                Place { file: name.as_str().into(), line: None },
                format!("trace.{key}"),
                why,
            )
            .into())
        }
        _ => Ok(found),
    }
}

/// The hosts of a topology, in its order; none if it is none, which the scenario's reader tells.
fn hosts_of(topology: &str, to: &Path) -> Vec<String> {
    #[derive(Deserialize)]
    struct Alone {
        topology: Topology,
    }
    let files = Files { folder: to, tables: None };
    let network = toml::from_str(topology).ok().and_then(|Alone { topology }| topology.build(&files).ok());
    let nodes = network.into_iter().flat_map(|network| network.nodes);
    nodes.filter(|node| node.is_host).map(|node| node.name).collect()
}

/// The GPU nodes of a job.
struct Servers {
    /// The value of `gpu-nodes`.
    value: Option<String>,
    /// What is assumed.
    assumed: Option<String>,
}

impl Servers {
    fn of(job: &Job<'_>, network: &ForJob, ranks: usize) -> Self {
        let none = Servers { value: None, assumed: None };
        match (job.gpu_nodes, &network.gpu_nodes) {
            (Some(NONE), _) => none,
            (Some(given), _) => Servers { value: Some(given.to_owned()), assumed: None },
            (None, Some(of_network)) => Servers { value: Some(of_network.clone()), assumed: None },
            (None, None) if job.format == TraceFormat::Simai && job.network.is_none() && ranks > 1 => {
                let gpus = (2..=SERVER).rev().find(|gpus| ranks.is_multiple_of(*gpus));
                gpus.map_or(none, Self::assumed)
            }
            _ => none,
        }
    }

    fn assumed(gpus: usize) -> Self {
        let (rate, latency) = NV_LINK;
        let note = format!(
            "servers are not in the workload: {gpus} GPUs each, with a scale-up domain of {rate} and {latency} (NVLink \
             of an A100), are assumed; give --topology with a topology of SimAI, --gpu-nodes, or --gpu-nodes {NONE}"
        );
        Servers { value: Some(network::gpu_nodes(narrow(gpus), rate, latency)), assumed: Some(note) }
    }
}

/// The place of an error of the scenario, which is not written, so that its lines are nowhere: a file that
/// the network is read from, the option that gave the network, or the files of the job.
fn replace(error: &mut ScenarioError, job: &Job<'_>, of_job: &Place) {
    let first = error.key.split('.').next();
    let of_network = first == Some("topology");
    if of_network && error.place.file != of_job.file {
        // It has the name that was given, not the one by which the scenario's folder has it.
        if let Some(Given::File(file)) = job.network {
            error.place.file = file.display().to_string().into();
            if error.place.line.is_some() {
                error.key.clear();
            }
        }
        return;
    }
    let option = match (of_network, job.network, error.key.rsplit('.').next()) {
        _ if first == Some("gpu-nodes") => Some("--gpu-nodes"),
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
fn table(job: &Job<'_>, dims: &[u32], to: &Path) -> String {
    // A folder is named from itself, too.
    let named = |file: &PathBuf| Some(reference(file, to)).filter(|name| !name.is_empty());
    let named = |file: &PathBuf| quoted(&named(file).unwrap_or_else(|| ".".to_owned()));
    let files: Vec<String> = job.files.iter().map(named).collect();
    let files = if let [file] = &files[..] { file.clone() } else { format!("[{}]", files.join(", ")) };
    let mut table = format!("{{ format = {:?}, files = {files}", job.format.name());
    let given = job.keys.iter().any(|(key, _)| key == "dims");
    if job.format == TraceFormat::Chakra && !dims.is_empty() && !given {
        _ = write!(table, ", dims = {dims:?}");
    }
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
