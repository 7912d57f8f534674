//! The text of a workload: header and rows.

use floodway_units::Span;
use floodway_units::cast::narrow;

use super::super::{ReadError, hint};
use crate::collective::Purpose;

/// The order of execution that is available, by its name in the header.
const POLICY: &str = "HYBRID_TRANSFORMER_FWD_IN_BCKWD";
/// Ranks of a workload.
const MOST_RANKS: u64 = 1 << 20;
/// Words of the header, as they are written.
const WORDS: [&str; 9] = [
    "model_parallel_NPU_group:",
    "ep:",
    "pp:",
    "vpp:",
    "ga:",
    "all_gpus:",
    "checkpoints:",
    "checkpoint_initiates:",
    "pp_comm",
];
/// Collectives by their names.
const COLLECTIVES: [(&str, Purpose); 4] = [
    ("ALLREDUCE", Purpose::AllReduce),
    ("ALLGATHER", Purpose::AllGather),
    ("REDUCESCATTER", Purpose::ReduceScatter),
    ("ALLTOALL", Purpose::AllToAll),
];
/// Words of a row.
const COLUMNS: usize = 12;

/// A workload.
#[derive(Debug)]
pub(super) struct Workload {
    pub header: Header,
    pub rows: Vec<Row>,
}

/// What the first line says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub tensor: u32,
    pub expert: u32,
    pub pipeline: u32,
    pub interleaved: u32,
    pub micro_batches: u32,
    /// Data-parallel ranks: all those that are left.
    pub data: u32,
    /// Bytes of a message between stages; 0 without.
    pub activations: u64,
    /// Layers whose forward pass is executed again.
    pub checkpoints: u64,
}

impl Header {
    pub fn ranks_of(&self, group: Group) -> u32 {
        match group {
            Group::Tensor => self.tensor,
            Group::Data => self.data,
            Group::Expert => self.expert,
            Group::SameExperts => self.data / self.expert,
        }
    }
}

/// Groups of ranks, by their slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Tensor,
    Data,
    Expert,
    SameExperts,
}

/// A row.
#[derive(Debug)]
pub(super) struct Row {
    pub line: usize,
    pub name: String,
    pub dependency: i64,
    pub forward: Cell,
    pub input: Cell,
    pub weight: Cell,
    pub update: Span,
}

/// A computation and a collective.
#[derive(Debug)]
pub(super) struct Cell {
    pub time: Span,
    pub collective: Option<(Purpose, Group)>,
    pub bytes: u64,
}

/// Reads the text.
///
/// # Errors
/// The first line that does not fit the format of a workload.
pub(super) fn read(text: &str, file: &str) -> Result<Workload, ReadError> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty());
    let fault = |line, why: String| ReadError::at_line(file, line, why);
    let error = |line, why| Err(fault(line, why));
    let Some((line, first)) = lines.next() else {
        return error(1, "the file is empty; a header is expected".into());
    };
    let header = header(first).map_err(|why| fault(line, why))?;
    let Some((line, second)) = lines.next() else {
        return error(line, "the file ends where the number of rows is expected".into());
    };
    let Ok(count) = second.trim().parse::<usize>() else {
        return error(line, format!("{:?} where the number of rows is expected", second.trim()));
    };
    let mut rows = Vec::new();
    for (line, text) in lines {
        rows.push(row(line, text).map_err(|why| fault(line, why))?);
    }
    if rows.len() != count || count == 0 {
        return error(line, format!("the number of rows is {count}, and there are {}", rows.len()));
    }
    Ok(Workload { header, rows })
}

fn header(text: &str) -> Result<Header, String> {
    let mut words = text.split_whitespace();
    let policy = words.next().unwrap_or_default();
    if policy != POLICY {
        let hint = hint(policy, [POLICY]);
        return Err(format!("{policy:?} is not available; available is {POLICY}{hint}"));
    }
    let mut values = [None; WORDS.len()];
    while let Some(word) = words.next() {
        let known = WORDS.iter().position(|known| known.trim_end_matches(':') == word.trim_end_matches(':'));
        let Some(at) = known else {
            let hint = hint(word, WORDS);
            return Err(format!("{word:?} is unknown in a header; allowed: {}{hint}", WORDS.join(" ")));
        };
        let given = words.next().unwrap_or_default();
        let Some(value) = whole(given) else {
            return Err(format!("{word} {given:?} is no whole number"));
        };
        if values[at].replace(value).is_some() {
            return Err(format!("{word} is there twice"));
        }
        if word.starts_with("checkpoint") {
            // The layers, which are not used.
            (0..value)
                .try_for_each(|_| words.next().map(|_| ()))
                .ok_or("the header ends within its checkpoints")?;
        }
    }
    let [tensor, expert, pipeline, interleaved, batches, all, checkpoints, initiates, activations] = values;
    let degree = |value: Option<u64>, word: &str| match value.unwrap_or(1) {
        value if (1..=MOST_RANKS).contains(&value) => Ok(narrow(value)),
        value => Err(format!("{word} {value} is no number from 1 to {MOST_RANKS}")),
    };
    let (Some(_), Some(all)) = (tensor, all) else {
        return Err(format!("{} and {} are missing in the header, or one of them", WORDS[0], WORDS[5]));
    };
    let all = degree(Some(all), WORDS[5])?;
    let (tensor, expert) = (degree(tensor, WORDS[0])?, degree(expert, WORDS[1])?);
    let pipeline = degree(pipeline, WORDS[2])?;
    let replica = u64::from(tensor) * u64::from(pipeline);
    if !u64::from(all).is_multiple_of(replica) {
        return Err(format!(
            "all_gpus: {all} is no multiple of the {replica} ranks of tensor group and stages"
        ));
    }
    let data: u32 = all / narrow::<u32>(replica);
    if !data.is_multiple_of(expert) {
        return Err(format!("ep: {expert} does not divide the {data} data-parallel ranks"));
    }
    let activations = activations.unwrap_or_default();
    if activations >= 1 << 50 {
        return Err(format!("pp_comm {activations} is no size below 2^50"));
    }
    Ok(Header {
        tensor,
        expert,
        pipeline,
        interleaved: degree(interleaved, WORDS[3])?,
        micro_batches: degree(batches, WORDS[4])?,
        data,
        activations,
        checkpoints: checkpoints.unwrap_or_default().saturating_add(initiates.unwrap_or_default()),
    })
}

/// A whole number; AICB writes some with a fraction of 0.
fn whole(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    whole.parse().ok().filter(|_| fraction.chars().all(|c| c == '0'))
}

fn row(line: usize, text: &str) -> Result<Row, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() != COLUMNS {
        return Err(format!(
            "a row has {COLUMNS} columns: name, dependency, three times time, collective and bytes, update \
             time; there are {}",
            words.len()
        ));
    }
    let dependency = words[1].parse();
    let dependency = dependency.map_err(|_| format!("dependency {:?} is no whole number", words[1]))?;
    Ok(Row {
        line,
        name: words[0].to_owned(),
        dependency,
        forward: cell(&words[2..5], Group::Tensor)?,
        input: cell(&words[5..8], Group::Tensor)?,
        weight: cell(&words[8..11], Group::Data)?,
        update: time(words[11])?,
    })
}

fn cell(words: &[&str], plain: Group) -> Result<Cell, String> {
    let bytes = words[2].parse().ok().filter(|bytes| *bytes < 1 << 50);
    let bytes = bytes.ok_or_else(|| format!("{:?} is no size in bytes below 2^50", words[2]))?;
    Ok(Cell { time: time(words[0])?, collective: collective(words[1], plain)?, bytes })
}

fn time(word: &str) -> Result<Span, String> {
    let ps = whole(word).and_then(|ns| ns.checked_mul(1000));
    ps.map(Span).ok_or_else(|| format!("{word:?} is not a time in whole nanoseconds below 2^64 ps"))
}

fn collective(word: &str, plain: Group) -> Result<Option<(Purpose, Group)>, String> {
    if word == "NONE" {
        return Ok(None);
    }
    let (name, suffix) = word.split_once('_').unwrap_or((word, ""));
    let purpose = COLLECTIVES.iter().find(|(known, _)| *known == name);
    let group = match suffix {
        "" => Some(plain),
        "EP" => Some(Group::Expert),
        "DP_EP" => Some(Group::SameExperts),
        _ => None,
    };
    if let (Some((_, purpose)), Some(group)) = (purpose, group) {
        return Ok(Some((*purpose, group)));
    }
    let suffixes = ["", "_EP", "_DP_EP"];
    let all: Vec<String> =
        COLLECTIVES.iter().flat_map(|(name, _)| suffixes.map(|suffix| format!("{name}{suffix}"))).collect();
    let hint = hint(word, all.iter().map(String::as_str).chain(["NONE"]));
    let names = COLLECTIVES.map(|(name, _)| name).join(", ");
    Err(format!(
        "{word:?} is no collective; allowed: NONE, and {names} with nothing, _EP or _DP_EP behind{hint}"
    ))
}
