//! The ranks of collectives: of all ranks, of dimensions, or of a process group.

use std::collections::{BTreeMap, BTreeSet};

use floodway_units::cast::narrow;
use floodway_units::text::counted;
use serde::Deserialize;

use super::nodes::{Node, NodeKind};
use super::{Trace, hint};
use crate::read::ReadError;

/// What a collective's group is known by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// All ranks.
    All,
    /// The ranks that differ in the involved dimensions alone, by the first of them.
    Dimensions(Vec<bool>, u32),
    /// A process group: its name, and its ranks as METADATA of the rank have them.
    Named(String, Option<Vec<u32>>),
}

impl Key {
    pub fn shown(&self) -> String {
        match self {
            Key::All => "all ranks".to_owned(),
            Key::Dimensions(involved, first) => {
                format!("the ranks of involved_dim {} from rank {first} on", list(involved))
            }
            Key::Named(name, _) => format!("group {name:?}"),
        }
    }
}

/// `[1, 0]`.
fn list(involved: &[bool]) -> String {
    let numbers: Vec<&str> = involved.iter().map(|&involved| if involved { "1" } else { "0" }).collect();
    format!("[{}]", numbers.join(", "))
}

/// A process group, as `PyTorch` writes it.
#[derive(Clone, Debug, Deserialize)]
struct ProcessGroup {
    pg_name: String,
    #[serde(default)]
    ranks: Vec<u32>,
    #[serde(default)]
    group_size: Option<u32>,
}

/// Process groups of a rank, by name.
type Declared = BTreeMap<String, Vec<u32>>;

/// The groups of all traces.
pub(super) struct Groups {
    /// In the order of their keys.
    pub all: Vec<(Key, Vec<u32>)>,
    declared: Vec<Declared>,
    dims: Vec<u32>,
    /// Collectives whose process group METADATA do not have; those whose dimensions a process group replaces.
    unknown: BTreeMap<String, u64>,
    replaced: u64,
}

impl Groups {
    /// # Errors
    /// A group whose ranks do not fit METADATA, or dimensions that are not there.
    pub fn of(traces: &[Trace<'_>], dims: &[u32]) -> Result<Self, ReadError> {
        let ranks = narrow::<u32>(traces.len());
        let product: u64 = dims.iter().fold(1, |product, &dim| product.saturating_mul(dim.into()));
        if !dims.is_empty() && product != u64::from(ranks) {
            let file = traces.first().map(|trace| trace.file.to_owned()).unwrap_or_default();
            let why = format!("dims {dims:?} are {product} ranks, and there are files of {ranks}");
            return Err(ReadError { file, place: "involved_dim".into(), why });
        }
        let declared = traces.iter().map(|trace| declared(trace, ranks)).collect::<Result<_, _>>()?;
        let mut groups =
            Groups { all: Vec::new(), declared, dims: dims.to_vec(), unknown: BTreeMap::new(), replaced: 0 };
        let mut callers: BTreeMap<Key, BTreeSet<u32>> = BTreeMap::new();
        for (rank, trace) in (0..).zip(traces) {
            for node in trace.nodes.iter().filter(|node| node.kind == NodeKind::Collective) {
                let key = groups.key(rank, node).map_err(|why| trace.error(node, why))?;
                groups.count(&key, node);
                callers.entry(key).or_default().insert(rank);
            }
        }
        for (key, callers) in callers {
            let members = groups.members(&key, &callers, ranks);
            check(&key, &members, &callers, traces)?;
            groups.all.push((key, members));
        }
        Ok(groups)
    }

    /// The group of a node.
    ///
    /// # Errors
    /// Dimensions that are not there.
    pub fn key(&self, rank: u32, node: &Node) -> Result<Key, String> {
        if !node.group.is_empty() {
            let ranks = self.declared[rank as usize].get(&node.group).cloned();
            return Ok(Key::Named(node.group.clone(), ranks));
        }
        let Some(involved) = node.involved.as_deref().filter(|involved| involved.contains(&false)) else {
            return Ok(Key::All);
        };
        if self.dims.is_empty() {
            return Err(format!(
                "involved_dim is {}, and the sizes of the dimensions are not in the trace: give \"dims\", like [4, 2] \
                 (npus_count of ASTRA-sim's network)",
                list(involved)
            ));
        }
        if involved.len() < self.dims.len() {
            let why = "which has fewer elements than dims";
            return Err(format!("involved_dim is {}, {why} {:?}", list(involved), self.dims));
        }
        let whole = involved;
        let involved = &involved[..self.dims.len()];
        if !involved.contains(&false) {
            let why = "whose dimensions that are not involved are behind those of dims";
            return Err(format!("involved_dim is {}, {why} {:?}", list(whole), self.dims));
        }
        Ok(Key::Dimensions(involved.to_vec(), self.first_of(rank, involved)))
    }

    /// Rank 0 of the others in the involved dimensions, of which the first one counts fastest.
    fn first_of(&self, rank: u32, involved: &[bool]) -> u32 {
        let (mut first, mut stride, mut rest) = (0, 1, rank);
        for (&dim, &involved) in self.dims.iter().zip(involved) {
            if !involved {
                first += rest % dim * stride;
            }
            rest /= dim;
            stride *= dim;
        }
        first
    }

    fn members(&self, key: &Key, callers: &BTreeSet<u32>, ranks: u32) -> Vec<u32> {
        match key {
            Key::All => (0..ranks).collect(),
            Key::Dimensions(involved, first) => {
                (0..ranks).filter(|&rank| self.first_of(rank, involved) == *first).collect()
            }
            Key::Named(_, Some(declared)) => declared.clone(),
            Key::Named(_, None) => callers.iter().copied().collect(),
        }
    }

    fn count(&mut self, key: &Key, node: &Node) {
        let Key::Named(name, ranks) = key else { return };
        if ranks.is_none() && self.declared.iter().any(|declared| !declared.is_empty()) {
            *self.unknown.entry(name.clone()).or_default() += 1;
        }
        self.replaced += u64::from(node.involved.as_ref().is_some_and(|involved| involved.contains(&false)));
    }

    pub fn notes(&self) -> Vec<String> {
        let known: BTreeSet<&str> =
            self.declared.iter().flat_map(|declared| declared.keys().map(String::as_str)).collect();
        let unknown = self.unknown.iter().map(|(name, count)| {
            let hint = hint(name, known.iter().copied());
            format!(
                "pg_name {name:?} is none of the process groups in METADATA ({}){hint}: its ranks are those whose \
                 traces name it",
                counted(*count, "node")
            )
        });
        let replaced = (self.replaced > 0).then(|| {
            format!(
                "involved_dim is not used where pg_name is given, as in ASTRA-sim ({})",
                counted(self.replaced, "node")
            )
        });
        unknown.chain(replaced).collect()
    }
}

/// The process groups in the METADATA of a rank.
fn declared(trace: &Trace<'_>, ranks: u32) -> Result<Declared, ReadError> {
    let mut declared = Declared::new();
    for node in trace.nodes.iter().filter(|node| node.name.contains("process_group:init")) {
        for group in process_groups(&node.inputs) {
            let whole = group.ranks.is_empty();
            let members: Vec<u32> = if whole { (0..ranks).collect() } else { group.ranks };
            if let Some(size) = group.group_size.filter(|&size| size as usize != members.len()) {
                let there = if whole {
                    format!("there are files of {ranks} ranks")
                } else {
                    format!("its ranks are {}", members.len())
                };
                let why = format!("group_size of {:?} is {size}, and {there}", group.pg_name);
                return Err(trace.error(node, why));
            }
            if let Some(rank) = members.iter().find(|&&rank| rank >= ranks) {
                let why = format!(
                    "rank {rank} is in group {:?}, and there are files of {ranks} ranks",
                    group.pg_name
                );
                return Err(trace.error(node, why));
            }
            declared.insert(group.pg_name, members);
        }
    }
    Ok(declared)
}

/// The groups in the text of the node's inputs: JSON, in the brackets and quotes of Python's lists.
fn process_groups(inputs: &str) -> Vec<ProcessGroup> {
    let text = if inputs.contains("\\\"") { inputs.replace("\\\"", "\"") } else { inputs.to_owned() };
    let (Some(from), Some(to)) = (text.find('{'), text.rfind('}')) else { return Vec::new() };
    text.get(from..=to)
        .and_then(|objects| serde_json::from_str(&format!("[{objects}]")).ok())
        .unwrap_or_default()
}

/// Do exactly the ranks of a group call its collectives?
fn check(key: &Key, members: &[u32], callers: &BTreeSet<u32>, traces: &[Trace<'_>]) -> Result<(), ReadError> {
    let error = |rank: u32, why: String| {
        let file = traces[rank as usize].file.to_owned();
        Err(ReadError { file, place: key.shown(), why })
    };
    let Key::Named(_, Some(_)) = key else { return Ok(()) };
    if let Some(&rank) = callers.iter().find(|rank| !members.contains(rank)) {
        let why = format!(
            "rank {rank} calls its collectives, and is not in it by METADATA, which have {members:?}"
        );
        return error(rank, why);
    }
    match members.iter().find(|rank| !callers.contains(rank)) {
        Some(&rank) => {
            let why = format!(
                "rank {rank} is in it by METADATA of rank {}, and calls none of its collectives",
                callers.first().copied().unwrap_or_default()
            );
            error(rank, why)
        }
        None => Ok(()),
    }
}
