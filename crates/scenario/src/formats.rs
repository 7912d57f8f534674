//! Files of other simulators, told apart by what they contain, so that an error can say what one seems to be.

use crate::import;
use crate::workload::trace::TraceFormat;

/// So many bytes of a file are looked at.
const HEAD: usize = 1 << 16;
/// The first eight bytes of a GOAL schedule in binary form.
pub(crate) const GOAL_COOKIE: [u8; 8] = 4223u64.to_le_bytes();

/// What a file seems to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// A job.
    Trace(TraceFormat),
    /// A topology of HPCC's simulator, ConWeave's, `PowerTCP`, Reverie or `SimAI`.
    Listing,
    /// A list of flows of HPCC's simulator or of ConWeave's.
    Flows,
    /// A configuration of HPCC's simulator, of one based on it, or of `SimAI`.
    Config,
    /// A topology of htsim.
    HtsimTopology,
    /// A network of ASTRA-sim's analytical backends.
    AstraNetwork,
    /// A system of ASTRA-sim.
    AstraSystem,
    /// A logical topology of ASTRA-sim with ns-3.
    AstraLogical,
    /// A remote memory of ASTRA-sim.
    AstraMemory,
    /// A trace of `PyTorch` before it is Chakra's.
    PyTorch,
    /// A scenario.
    Scenario,
}

impl Format {
    /// By its first bytes; none where nothing known is seen.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(&GOAL_COOKIE) {
            return Some(Format::Trace(TraceFormat::Goal));
        }
        let head = &bytes[..bytes.len().min(HEAD)];
        let text = String::from_utf8_lossy(head);
        let is_text = !text.chars().take(64).any(|c| c == '\u{fffd}' || c.is_control() && !c.is_whitespace());
        if !is_text {
            return seems_chakra(head).then_some(Format::Trace(TraceFormat::Chakra));
        }
        let text = text.trim_start_matches('\u{feff}');
        if text.trim_start().starts_with(['{', '[']) && text.contains('"') {
            return json(text).or_else(|| scenario(text));
        }
        by_words(text)
            .or_else(|| scenario(text))
            .or_else(|| seems_chakra(head).then_some(Format::Trace(TraceFormat::Chakra)))
    }

    /// As what it is read.
    pub fn as_trace(self) -> Option<TraceFormat> {
        match self {
            Format::Trace(format) => Some(format),
            _ => None,
        }
    }

    /// What it seems to be, and what to do with it.
    pub fn seems(self) -> String {
        let (what, instead) = match self {
            Format::Trace(format) => {
                return format!(
                    "it seems to be {}: `floodway import {} FILE` reads it, and format = {:?} of a trace",
                    format.title(),
                    format.name(),
                    format.name()
                );
            }
            Format::Listing => (
                "a topology of HPCC's simulator, PowerTCP, Reverie or SimAI",
                "write topology.hpcc = { file = ... }, or give it by --topology",
            ),
            Format::Flows => (
                "a list of flows of HPCC's simulator or ConWeave's",
                "write flow-list = { file = ..., format = \"hpcc\" } of a workload",
            ),
            Format::Config => (
                "a configuration of HPCC's simulator or of one based on it",
                "`floodway import hpcc FILE` reads it",
            ),
            Format::HtsimTopology => (
                "a topology of htsim",
                "give it by --topology to the import of a connection matrix, or write topology.fat-tree",
            ),
            Format::AstraNetwork => (
                "a network of ASTRA-sim",
                "give it by --topology to the import of Chakra's traces, or write topology.single-switch for a Switch",
            ),
            Format::AstraSystem => (
                "a system of ASTRA-sim",
                "import the traces (NAME.<rank>.et) that it belongs to, with `--topology` and the network's file, \
                 `--trace algorithm=` for its all-reduce-implementation and `--trace splits=` for its \
                 preferred-dataset-splits",
            ),
            Format::AstraLogical => (
                "a logical topology of ASTRA-sim",
                "import the traces (NAME.<rank>.et) that it belongs to, with `--topology` and the network's file, and \
                 `--trace dims=` for its logical-dims",
            ),
            Format::AstraMemory => (
                "a remote memory of ASTRA-sim",
                "write remote-mem-bw as memory-rate, and remote-mem-latency as memory-latency, of a trace of Chakra",
            ),
            Format::PyTorch => (
                "a trace of PyTorch as JSON",
                "Chakra's own tools (chakra_trace_link, chakra_converter) make files NAME.<rank>.et of it",
            ),
            Format::Scenario => ("a scenario of floodway", "`floodway run FILE` runs it"),
        };
        format!("it seems to be {what}: {instead}")
    }
}

fn json(text: &str) -> Option<Format> {
    let has = |keys: &[&str]| keys.iter().any(|key| text.contains(&format!("\"{key}\"")));
    let known = [
        (Format::AstraLogical, has(&["logical-dims"])),
        (
            Format::AstraSystem,
            has(&[
                "all-reduce-implementation",
                "all-reduce-implementation-custom",
                "preferred-dataset-splits",
                "endpoint-delay",
                "scheduling-policy",
            ]),
        ),
        (Format::AstraMemory, has(&["memory-type", "remote-mem-bw"])),
        (Format::AstraNetwork, has(&["npus_count", "dimensions-count", "topologies-per-dim"])),
        (Format::PyTorch, has(&["traceEvents"]) || has(&["schema"]) && has(&["nodes"])),
    ];
    known.into_iter().find(|(_, fits)| *fits).map(|(format, _)| format)
}

/// By the words that lines begin with.
fn by_words(text: &str) -> Option<Format> {
    let lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', '/', '*']));
    let begins = |word: &str| {
        lines.clone().any(|line| {
            line.split([' ', '\t', ':']).next().is_some_and(|first| first.eq_ignore_ascii_case(word))
        })
    };
    let first = lines.clone().next()?.split_whitespace().next()?;
    match first {
        "num_ranks" => return Some(Format::Trace(TraceFormat::Goal)),
        _ if first.starts_with("HYBRID_") => return Some(Format::Trace(TraceFormat::Simai)),
        _ => {}
    }
    if begins("npus_count") && begins("topology") {
        return Some(Format::AstraNetwork);
    }
    if begins("nodes") && begins("tiers") {
        return Some(Format::HtsimTopology);
    }
    if begins("Nodes") && begins("Connections") {
        return Some(Format::Trace(TraceFormat::Htsim));
    }
    if import::is_config(text) {
        return Some(Format::Config);
    }
    numbers(text)
}

/// A topology or a list of flows, which begin with numbers.
fn numbers(text: &str) -> Option<Format> {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let lines: Vec<Vec<String>> = text.lines().map(words).filter(|words| !words.is_empty()).take(3).collect();
    let [first, second, third] = &lines[..] else { return None };
    let whole = |words: &[String]| words.iter().all(|word| word.parse::<u64>().is_ok());
    if whole(first) && first.len() == 1 && matches!(second.len(), 5 | 6) && whole(&second[..second.len() - 1])
    {
        return Some(Format::Flows);
    }
    let is_link =
        |words: &[String]| words.len() == 5 && whole(&words[..2]) && words[4].parse::<f64>().is_ok();
    let is_head = match &first[..] {
        [counts @ .., kind] if counts.len() == 5 && kind.parse::<f64>().is_err() => whole(counts),
        _ => whole(first) && first.len() >= 3,
    };
    let is_listing = is_head && (is_link(second) || whole(second) && is_link(third));
    is_listing.then_some(Format::Listing)
}

/// A scenario has tables that no other file has.
fn scenario(text: &str) -> Option<Format> {
    let begins = |start: &str| text.lines().any(|line| line.trim_start().starts_with(start));
    let is_scenario =
        (begins("topology.") || begins("[topology")) && (begins("[[workload]]") || begins("workload"));
    is_scenario.then_some(Format::Scenario)
}

/// A stream of messages, each behind its length, of which the first has a text or is empty and the second a
/// number.
fn seems_chakra(bytes: &[u8]) -> bool {
    let message = |bytes: &[u8]| -> Option<usize> {
        let (mut length, mut shift) = (0_usize, 0);
        for (at, &byte) in bytes.iter().take(5).enumerate() {
            length |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return Some(at + 1 + length);
            }
        }
        None
    };
    let Some(first) = message(bytes) else { return false };
    let begins = |at: usize| bytes.get(at).is_some_and(|&key| matches!(key, 0x08 | 0x0a | 0x12));
    match bytes.get(first..) {
        _ if first > 1 && !begins(1) => false,
        Some([]) | None => first > 1,
        Some(rest) => message(rest)
            .is_some_and(|_| matches!(rest.get(1..3), Some([0x08 | 0x12, _])) || rest.get(2) == Some(&0x08)),
    }
}
