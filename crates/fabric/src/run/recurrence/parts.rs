//! Parts of the state of a network, and what differs between two states.

use floodway_blueprint::network::facts::Facts;
use floodway_programs::walker::Position;
use floodway_records::outcome::Difference;
use floodway_units::{NodeId, PortId};
use rustc_hash::FxHashMap;

use crate::run::runs::Runs;

/// What repeats itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unit {
    Iteration,
    Round,
}

/// A part of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// A node without its ports.
    Node(NodeId),
    /// A port.
    Port(PortId),
    /// A queue pair, by its workload and its ends, and its place among those with the same ones: slots depend
    /// on threads.
    QueuePair { workload: u32, source: NodeId, destination: NodeId, place: u32 },
    /// A rank of a job, among all ranks.
    Rank(u32),
    /// What starts flows.
    Sources,
    /// Events of a node that are pending.
    Events(NodeId),
}

/// Parts and their texts.
pub(crate) type Parts = Vec<(Part, String)>;

impl Part {
    /// What parts of its kind are called.
    pub fn kind(self) -> &'static str {
        match self {
            Part::Node(_) => "nodes",
            Part::Port(_) => "ports",
            Part::QueuePair { .. } => "queue pairs",
            Part::Rank(_) => "ranks",
            Part::Sources => "sources of flows",
            Part::Events(_) => "nodes with pending events",
        }
    }
}

/// What differs between the states of the last two looks.
#[derive(Debug)]
pub(crate) struct Differences {
    /// What repeats itself, and where the job was at them.
    at: (Unit, (Position, Position)),
    /// By kind of part, where one differs.
    kinds: Vec<Kind>,
}

/// The parts of a kind.
#[derive(Debug)]
struct Kind {
    name: &'static str,
    parts: u64,
    differing: u64,
    /// The first one that differs, its field that differs first, and what that holds at either look.
    part: Part,
    field: String,
    values: (String, String),
}

impl Differences {
    /// Of the states at two iterations or rounds.
    pub fn between(at: (Unit, (Position, Position)), before: &Parts, now: &Parts) -> Self {
        let texts: FxHashMap<Part, &str> = before.iter().map(|(part, text)| (*part, text.as_str())).collect();
        let mut kinds: Vec<Kind> = Vec::new();
        let mut counts: FxHashMap<&str, u64> = FxHashMap::default();
        for (part, text) in now {
            *counts.entry(part.kind()).or_default() += 1;
            let before = texts.get(part).copied().unwrap_or_default();
            if before == text {
                continue;
            }
            if let Some(kind) = kinds.iter_mut().find(|kind| kind.name == part.kind()) {
                kind.differing += 1;
                continue;
            }
            let (field, values) = first_difference(before, text);
            kinds.push(Kind { name: part.kind(), parts: 0, differing: 1, part: *part, field, values });
        }
        for kind in &mut kinds {
            kind.parts = counts[kind.name];
        }
        Differences { at, kinds }
    }

    /// In words.
    pub fn sentence(&self) -> String {
        let kind = |kind: &Kind| format!("{} of {} {}", kind.differing, kind.parts, kind.name);
        let kinds = self.kinds.iter().map(kind).collect::<Vec<_>>().join(", ");
        let (unit, (before, now)) = self.at;
        let at = match unit {
            Unit::Iteration => format!("iterations {} and {}", before.iteration, now.iteration),
            Unit::Round if before.iteration == now.iteration => {
                format!("micro-batches {} and {} of iteration {}", before.round, now.round, now.iteration)
            }
            Unit::Round => format!(
                "micro-batch {} of iteration {} and micro-batch {} of iteration {}",
                before.round, before.iteration, now.round, now.iteration
            ),
        };
        format!("the state of the network at {at} differs: in {kinds}")
    }

    /// The fields.
    #[cfg(test)]
    pub fn fields(&self) -> Vec<&str> {
        self.kinds.iter().map(|kind| kind.field.as_str()).collect()
    }

    /// By kind of part.
    pub fn listed(&self, facts: &Facts<'_>, runs: &Runs<'_>) -> Vec<Difference> {
        let difference = |kind: &Kind| Difference {
            parts: kind.name,
            of: kind.parts,
            differing: kind.differing,
            first: name_of(kind.part, facts, runs),
            field: kind.field.clone(),
            before: kind.values.0.clone(),
            now: kind.values.1.clone(),
        };
        self.kinds.iter().map(difference).collect()
    }
}

/// The field in which two texts differ first, and what it holds in each.
fn first_difference(before: &str, now: &str) -> (String, (String, String)) {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let (before, now) = (words(before), words(now));
    let at = before.iter().zip(&now).take_while(|(before, now)| before == now).count();
    let longer = if before.len() > now.len() { &before } else { &now };
    let names = &longer[..longer.len().min(at + 1)];
    let outer = names.iter().rposition(|word| word.ends_with('='));
    let inner = names.iter().rposition(|word| word.ends_with(':')).filter(|&inner| Some(inner) > outer);
    let name = |at: usize| names[at].trim_end_matches([':', '=']).replace('_', " ");
    let field = outer.into_iter().chain(inner).map(name).collect::<Vec<_>>().join(", ");
    let value = |words: &[String]| {
        let word =
            words.get(at).map_or("nothing", |word| word.trim_matches(['(', ')', '{', '}', ',', ':', '=']));
        if word.is_empty() { "nothing".to_owned() } else { word.to_owned() }
    };
    (field, (value(&before), value(&now)))
}

/// What results call a part.
fn name_of(part: Part, facts: &Facts<'_>, runs: &Runs<'_>) -> String {
    let blueprint = facts.blueprint;
    let node = |node: usize| blueprint.nodes.get(node).map_or("the whole network", |node| &node.name);
    match part {
        Part::Node(id) | Part::Events(id) => node(id.index()).to_owned(),
        Part::Port(port) => blueprint.port_name(port),
        Part::QueuePair { source, destination, .. } => {
            format!("{} -> {}", node(source.index()), node(destination.index()))
        }
        Part::Rank(rank) => {
            let (workload, rank) = runs.own.traffic.programs.in_workload(rank);
            format!("{} of {}", rank, blueprint.workloads[workload as usize].name)
        }
        Part::Sources => "the whole network".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[test]
    fn the_field_that_differs_is_named_with_what_it_holds() {
        let text = |una: u32| {
            format!("rank= 3 transport= GoBackN(Sender {{ next: 7, una: {una}, open: [] }}) end= 4 ")
        };
        let values = ("5".to_owned(), "6".to_owned());
        assert_eq!(first_difference(&text(5), &text(6)), ("transport, una".to_owned(), values));
        let values = ("4".to_owned(), "9".to_owned());
        assert_eq!(first_difference(&text(5), &text(5).replace('4', "9")), ("end".to_owned(), values));
        let (field, values) = first_difference("queue= ", "queue= packet= Data");
        assert_eq!((field.as_str(), values.0.as_str(), values.1.as_str()), ("packet", "nothing", "packet"));
    }
}
