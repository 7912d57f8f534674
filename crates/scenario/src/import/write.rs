//! The text of the scenario.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use floodway_units::text::counted;
use floodway_units::{Span, Time};

use super::config::Config;
use super::control;
use super::conweave;
use super::files::{Folder, reference, text_of};
use super::switches::{OfLinks, buffer, check_telemetry, flow_control, marking, pools};
use crate::error::{Place, ScenarioError};
use crate::topology::Network;
use crate::topology::hpcc::{Listing, node_name};
use crate::workload::csv::{FlowRow, RowError};
use crate::workload::flows::ListFormat;
use crate::workload::hpcc;

const SECOND: u64 = 1_000_000_000_000;
/// The HPCC simulator counts a link's failure from here.
const DOWN_FROM: &str = "2";
/// ConWeave's simulator runs on for so long after its flows have started, at most.
const CONWEAVE_DRAIN: Span = Span(10 * SECOND);
/// The largest `mtu` of a scenario, in bytes.
const MOST_PAYLOAD: u64 = 15_000;

/// The whole scenario; relative paths in it begin at the folder `to`.
///
/// # Errors
/// What cannot be read, or not be simulated.
pub fn scenario(config: &mut Config, folder: &Folder, to: &Path) -> Result<String, ScenarioError> {
    conweave::check_balancing(config)?;
    let inputs = Inputs::read(config, folder)?;
    let mtu = config.number::<u64>("PACKET_PAYLOAD_SIZE", 1000)?;
    warn_of_losses(config, &inputs.listing)?;
    check_telemetry(config, &inputs.listing)?;
    let overrides = overrides(config, &inputs)?;
    let mut text = head(config, folder, &inputs, mtu)?;
    text += &semantics(config)?;
    text += &topology(config, &inputs, to)?;
    text += &defaults(config, &overrides, mtu)?;
    text += &overrides.text();
    text += &workload(config, &inputs, to);
    text += &records(config, &inputs)?;
    Ok(text)
}

/// The keys and tables of a job's scenario over a topology: all of a configuration but its files and its end.
///
/// # Errors
/// What cannot be simulated.
pub fn of_job(
    config: &mut Config,
    topology: &Path,
    listing: Listing,
) -> Result<(String, String), ScenarioError> {
    let mtu = config.number::<u64>("PACKET_PAYLOAD_SIZE", 1000)?;
    let inputs = Inputs {
        topology: topology.to_path_buf(),
        flows: PathBuf::new(),
        paths: None,
        listing,
        origin: Time::ZERO,
        limit: Span(u64::MAX),
        has_late: false,
        has_classes: false,
    };
    warn_of_losses(config, &inputs.listing)?;
    check_telemetry(config, &inputs.listing)?;
    for (key, message) in [
        ("SIMULATOR_STOP_TIME", "the run ends with the job"),
        ("FLOW_FILE", "the messages are the workload's"),
    ] {
        if config.has(key) {
            config.note(key, &format!("is not used: {message}"));
        }
    }
    let overrides = overrides(config, &inputs)?;
    check_mtu(config, mtu)?;
    let head = format!("profile = \"hpcc-ns3\"\nmtu = \"{mtu}B\"\n");
    let tables = [semantics(config)?, defaults(config, &overrides, mtu)?, overrides.text()].concat();
    Ok((head, tables))
}

/// What the files say.
struct Inputs {
    topology: PathBuf,
    flows: PathBuf,
    paths: Option<PathBuf>,
    listing: Listing,
    /// The whole seconds before the first flow.
    origin: Time,
    /// From the origin to the end of the simulation.
    limit: Span,
    /// Some flows start at the end or later.
    has_late: bool,
    /// Flows have several classes.
    has_classes: bool,
}

impl Inputs {
    fn read(config: &mut Config, folder: &Folder) -> Result<Self, ScenarioError> {
        let topology = folder.find(config, "TOPOLOGY_FILE")?;
        let text = text_of(config, "TOPOLOGY_FILE", &topology)?;
        let listing = Listing::read(&text).map_err(|fault| within(&topology, "TOPOLOGY_FILE", fault))?;
        let beyond = |line| not_read(&topology, line, "links", listing.links.len());
        listing.beyond.into_iter().for_each(|line| config.note("TOPOLOGY_FILE", &beyond(line)));
        let network = listing.network(0.0).map_err(|error| config.error("TOPOLOGY_FILE", error.message))?;
        let flows = folder.find(config, "FLOW_FILE")?;
        let text = text_of(config, "FLOW_FILE", &flows)?;
        let format = if config.is_conweave() { ListFormat::Conweave } else { ListFormat::Hpcc };
        let listed =
            hpcc::flows(&text, format, &network).map_err(|fault| within(&flows, "FLOW_FILE", fault))?;
        let mut rows = listed.rows;
        if let Some(line) = listed.beyond {
            config.note("FLOW_FILE", &not_read(&flows, line, "flows", rows.len()));
        }
        let paths = folder.beside(&flows, "paths.txt");
        if let Some(paths) = &paths {
            let text = text_of(config, "FLOW_FILE", paths)?;
            pin(&mut rows, &text, &network).map_err(|fault| within(paths, "FLOW_FILE", fault))?;
            let message = format!("flows are pinned to the paths in {}", paths.display());
            config.note("FLOW_FILE", &message);
        }
        let (origin, limit, has_late) = times(config, &rows)?;
        let has_classes = rows.iter().any(|(_, row)| row.class != rows[0].1.class);
        Ok(Inputs { topology, flows, paths, listing, origin, limit, has_late, has_classes })
    }
}

/// That more rows follow than a file counts.
fn not_read(file: &Path, line: u32, what: &str, counted: usize) -> String {
    let place = Place { file: file.display().to_string().into(), line: Some(line) };
    format!(
        "more {what} follow the {counted} that are counted, in {place}: they are not read, as in that simulator"
    )
}

/// A fault of a file that a key names.
fn within(file: &Path, key: &str, (line, why): RowError) -> ScenarioError {
    ScenarioError::new(Place { file: file.display().to_string().into(), line: Some(line) }, key, why)
}

fn pin(rows: &mut [(u32, FlowRow)], text: &str, network: &Network) -> Result<(), RowError> {
    hpcc::pin(rows.iter_mut().map(|(_, row)| row), text, network)
}

/// The origin, the time from there to the end, and whether flows start too late.
fn times(config: &mut Config, rows: &[(u32, FlowRow)]) -> Result<(Time, Span, bool), ScenarioError> {
    let (Some((_, first)), Some((_, last))) = (rows.first(), rows.last()) else {
        return Err(config.error("FLOW_FILE", "it has no flow"));
    };
    let (key, stop) = end(config)?;
    if stop <= first.start {
        let message = format!("the simulation ends at {stop}, and its first flow starts at {}", first.start);
        return Err(config.error(key, message));
    }
    let late = rows.iter().filter(|(_, row)| row.start >= stop).count();
    if late > 0 {
        let flows = counted(late, "flow");
        let message = format!("flows that start at the end, {stop}, or later are left out: {flows}");
        config.note(key, &message);
    }
    if rows.iter().any(|(_, row)| row.class.is_some_and(|class| class.0 == 0)) {
        let message = "class 0 is served before the others there, and not counted by PFC; here it is a class as \
                       any other";
        config.note("FLOW_FILE", message);
    }
    let origin = Time(first.start.0 / SECOND * SECOND);
    Ok((origin, stop.since(origin), last.start >= stop))
}

/// The key that ends the simulation, and when.
fn end(config: &Config) -> Result<(&'static str, Time), ScenarioError> {
    if !config.is_conweave() {
        return Ok(("SIMULATOR_STOP_TIME", config.seconds("SIMULATOR_STOP_TIME", "3.01")?));
    }
    let arrivals = config.seconds("FLOWGEN_STOP_TIME", "2.5")?;
    Ok(("FLOWGEN_STOP_TIME", Time(arrivals.0.saturating_add(CONWEAVE_DRAIN.0))))
}

/// That simulator's senders have no timer, so that a loss at a flow's end is never noticed.
fn warn_of_losses(config: &mut Config, listing: &Listing) -> Result<(), ScenarioError> {
    if config.is_conweave() {
        return Ok(());
    }
    let key = if config.real("ERROR_RATE_PER_LINK", 0.0)? > 0.0 {
        "ERROR_RATE_PER_LINK"
    } else if listing.links.iter().any(|link| link.error_rate > 0.0) {
        "TOPOLOGY_FILE"
    } else {
        return Ok(());
    };
    let message = "frames are lost: a flow that loses its last packet or the ACK of it never ends, as in that \
                   simulator, whose senders have no timer";
    config.note(key, message);
    Ok(())
}

/// What only some links have, and what all have.
struct Overrides {
    /// For `[defaults]`.
    common: Vec<String>,
    tables: Vec<Table>,
}

/// An override.
struct Table {
    name: String,
    selector: String,
    settings: String,
}

impl Overrides {
    /// What one kind of links has is for all of them.
    fn add(&mut self, prefix: &str, of: Vec<OfLinks>) {
        if let [only] = &of[..] {
            self.common.push(only.setting.clone());
            return;
        }
        for OfLinks { tag, setting } in of {
            self.tables.push(Table {
                name: format!("{prefix}-{}", tag.replace('.', "_")),
                selector: format!("links = {{ tag = \"{tag}\" }}"),
                settings: setting,
            });
        }
    }

    /// The memory of switches: alike for all, or by their pools where ports have several classes.
    fn add_buffers(&mut self, config: &Config, inputs: &Inputs) -> Result<(), ScenarioError> {
        if !inputs.has_classes && !config.is_conweave() {
            self.common.push(format!("buffer.shared = {}", buffer(config)?));
            return Ok(());
        }
        let pools = if config.is_conweave() { conweave::pools } else { pools };
        for (n, (buffer, switches)) in (1..).zip(pools(config, &inputs.listing)?) {
            let settings = format!("buffer.shared = {buffer}");
            if n == 1 {
                self.common.push(settings);
                continue;
            }
            let selector = format!("switches = {switches:?}");
            self.tables.push(Table { name: format!("pool-{n}"), selector, settings });
        }
        Ok(())
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for Table { name, selector, settings } in &self.tables {
            let _ = write!(text, "\n[[override]]\nname = \"{name}\"\n{selector}\n{settings}\n");
        }
        text
    }
}

fn overrides(config: &mut Config, inputs: &Inputs) -> Result<Overrides, ScenarioError> {
    let mut overrides = Overrides { common: Vec::new(), tables: Vec::new() };
    overrides.add("pfc", flow_control(config, &inputs.listing)?);
    let marking = marking(config, &inputs.listing)?;
    let marks = !marking.is_empty();
    overrides.add("ecn", marking);
    if marks {
        overrides.tables.push(Table {
            name: "hosts-mark-nothing".into(),
            selector: "hosts = \"*\"".into(),
            settings: "congestion-point = []".into(),
        });
    }
    overrides.tables.extend(link_down(config, inputs)?);
    overrides.add_buffers(config, inputs)?;
    Ok(overrides)
}

/// The link that goes down and stays so.
fn link_down(config: &mut Config, inputs: &Inputs) -> Result<Option<Table>, ScenarioError> {
    let Some(words) = config.words("LINK_DOWN") else { return Ok(None) };
    let read = |word: &String| crate::ns3::number::<u64>(word, "a whole number of at least 0");
    let numbers: Result<Vec<u64>, String> = words.iter().map(read).collect();
    let numbers = numbers.map_err(|why| config.error("LINK_DOWN", why))?;
    let [after, a, b] = numbers[..] else { return Ok(None) };
    if after == 0 {
        return Ok(None);
    }
    let joins =
        |ends: [usize; 2]| ends.map(|end| end as u64) == [a, b] || ends.map(|end| end as u64) == [b, a];
    let Some(link) = inputs.listing.links.iter().find(|link| joins(link.ends)) else {
        return Err(config.error("LINK_DOWN", format!("no link joins nodes {a} and {b}")));
    };
    let [one, other] = link.ends.map(|end| node_name(end, inputs.listing.is_switch[end]));
    // HPCC's driver does not know the key, so that it has been left out there.
    let counted_from = config.seconds("FLOWGEN_START_TIME", DOWN_FROM)?;
    let from = counted_from.0.saturating_add(after.saturating_mul(1_000_000)).saturating_sub(inputs.origin.0);
    if from >= inputs.limit.0 {
        config.note("LINK_DOWN", "the link goes down after the end: it has no effect");
        return Ok(None);
    }
    let message = "packets on the link and waiting for it are lost at that instant, and paths that are pinned \
                   stay; that simulator keeps what switches have already charged for them";
    config.note("LINK_DOWN", message);
    let (from, to) = (Span(from), inputs.limit);
    let own = config.real("ERROR_RATE_PER_LINK", 0.0)?;
    let errors = if link.error_rate > 0.0 { link.error_rate } else { own };
    let settings =
        format!("faults = {{ error-rate = {errors:?}, down = {{ from = \"{from}\", to = \"{to}\" }} }}");
    Ok(Some(Table { name: "link-down".into(), selector: format!("links = \"{one}-{other}\""), settings }))
}

fn head(config: &Config, folder: &Folder, inputs: &Inputs, mtu: u64) -> Result<String, ScenarioError> {
    check_mtu(config, mtu)?;
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    let name: String = folder.name.chars().map(printable).collect();
    let (whose, profile, seed) = if config.is_conweave() {
        ("ConWeave's simulator", "conweave-ns3", conweave::seed(config)?)
    } else {
        ("the HPCC simulator", "hpcc-ns3", String::new())
    };
    Ok(format!(
        "# From {name}, a configuration of {whose}.\n\nprofile = \"{profile}\"\n{seed}origin = \"{}\"\n\
         limit = \"{}\"\nstop = \"acknowledged\"\nmtu = \"{mtu}B\"\n",
        inputs.origin, inputs.limit
    ))
}

fn check_mtu(config: &Config, mtu: u64) -> Result<(), ScenarioError> {
    if (1..=MOST_PAYLOAD).contains(&mtu) {
        return Ok(());
    }
    let message = format!("{mtu} is not a payload of 1 to {MOST_PAYLOAD} bytes");
    Err(config.error("PACKET_PAYLOAD_SIZE", message))
}

fn semantics(config: &Config) -> Result<String, ScenarioError> {
    let pacing = if config.flag("RATE_BOUND", true)? { "on" } else { "off" };
    if config.is_conweave() {
        return Ok(format!("\n[semantics]\npacing = \"{pacing}\"\n"));
    }
    let acks = if config.flag("ACK_HIGH_PRIO", false)? { "data-class-unpaused" } else { "data-class" };
    Ok(format!("\n[semantics]\nacks = \"{acks}\"\npacing = \"{pacing}\"\n"))
}

fn topology(config: &Config, inputs: &Inputs, to: &Path) -> Result<String, ScenarioError> {
    let rate = config.real("ERROR_RATE_PER_LINK", 0.0)?;
    if rate > 1.0 {
        return Err(config.error("ERROR_RATE_PER_LINK", format!("{rate} is not a probability from 0 to 1")));
    }
    let errors = if rate > 0.0 { format!("error-rate = {rate:?}\n") } else { String::new() };
    Ok(format!("\n[topology.hpcc]\nfile = {}\n{errors}", quoted(&reference(&inputs.topology, to))))
}

fn defaults(config: &mut Config, overrides: &Overrides, mtu: u64) -> Result<String, ScenarioError> {
    let mut text = String::from("\n[defaults]\n");
    for setting in &overrides.common {
        text += setting;
        text.push('\n');
    }
    let rate_control = control::rate_control(config)?;
    let reliability = control::reliability(config, mtu)?;
    let _ = write!(text, "rate-control = {rate_control}\nreliability = {reliability}\n");
    Ok(text)
}

fn workload(config: &Config, inputs: &Inputs, to: &Path) -> String {
    let format = if config.is_conweave() { "conweave" } else { "hpcc" };
    let file = quoted(&reference(&inputs.flows, to));
    let paths = inputs.paths.as_ref().map(|paths| format!(", paths = {}", quoted(&reference(paths, to))));
    let until = if inputs.has_late { format!("until = \"{}\"\n", inputs.limit) } else { String::new() };
    format!(
        "\n[[workload]]\nname = \"flows\"\nflow-list = {{ file = {file}, format = \"{format}\"{} }}\n{until}",
        paths.unwrap_or_default()
    )
}

/// Pauses, and queue lengths where the simulator's monitor runs.
fn records(config: &Config, inputs: &Inputs) -> Result<String, ScenarioError> {
    let mut text = String::from("\n[records]\npauses = true\n");
    if config.is_conweave() {
        return Ok(text);
    }
    let from = config.number::<u64>("QLEN_MON_START", 2_000_000_000)?.saturating_mul(1_000);
    let to = config.number::<u64>("QLEN_MON_END", 2_100_000_000)?.saturating_mul(1_000);
    let from = Span(from.saturating_sub(inputs.origin.0));
    let to = Span(to.saturating_sub(inputs.origin.0)).min(inputs.limit);
    if config.has("QLEN_MON_FILE") && from < to {
        let _ = writeln!(
            text,
            "queue-histogram = {{ from = \"{from}\", to = \"{to}\", every = \"100ns\", bin = \"1KB\" }}"
        );
    }
    Ok(text)
}

/// A text as TOML has it.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
