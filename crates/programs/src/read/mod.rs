//! Readers of programs that others have written.
//!
//! What a reader leaves out or takes to mean something is among its notes, which go to the user.

mod chakra;
mod connections;
mod goal;
mod simai;

pub use chakra::chakra;
pub use connections::{Endless, EndlessMatrix, connections, endless};
pub use goal::{goal, goal_binary};
pub use simai::simai;

use std::collections::BTreeMap;

use floodway_units::text::counted;
use floodway_units::{Rate, Span};

use crate::Program;
use crate::collective::{AlgorithmName, CrossNic, Purpose};

/// A program from a file.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The program.
    pub program: Program,
    /// What was left out of the file, or taken to mean something that it does not say.
    pub notes: Vec<String>,
    /// Ranks next to each other that the simulator with this format keeps inside a server, where it can: the
    /// tensor-parallel ones of `SimAI`; 1 without.
    pub within: u32,
}

/// What files with collectives do not say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The algorithm of collectives, where it is one of the operation; by default that of each operation.
    pub algorithm: Option<AlgorithmName>,
    /// Queue pairs between two ranks; 0 is one.
    pub channels: u32,
    /// By which NIC rings leave a node.
    pub cross_nic: CrossNic,
    /// Do messages from rank to rank of collectives leave a node by the NIC of the receiver's rail? By
    /// default as in what has the format: NCCL's traces in Chakra do, `SimAI` does not.
    pub pxn: Option<bool>,
    /// Of Chakra: each collective becomes so many, one after another, each with its share of the bytes
    /// (ASTRA-sim's `preferred-dataset-splits`); 0 is one.
    pub splits: u32,
    /// Of Chakra: operations a second, for computations that state `num_ops` and no duration.
    pub flops: Option<f64>,
    /// Of Chakra: sizes of the dimensions that `involved_dim` names, the fastest one first; none without.
    pub dims: Vec<u32>,
    /// Of Chakra: the rate of memory, for loads and stores that state a size and no duration.
    pub memory_rate: Option<Rate>,
    /// Of Chakra: what such a load or store takes besides.
    pub memory_latency: Span,
}

/// A file that is no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}, {place}: {why}")]
pub struct ReadError {
    /// The file.
    pub file: String,
    /// The line, node or rank.
    pub place: String,
    /// What was given, and what is allowed.
    pub why: String,
}

impl ReadError {
    fn at_line(file: &str, line: usize, why: impl Into<String>) -> Self {
        ReadError { file: file.to_owned(), place: format!("line {line}"), why: why.into() }
    }
}

/// A hint at the name that was meant, to be put behind a message; empty if none is near.
fn hint<'a>(given: &str, allowed: impl IntoIterator<Item = &'a str>) -> String {
    let allowed: Vec<String> = allowed.into_iter().map(str::to_owned).collect();
    let near = floodway_units::nearest(given, &allowed).filter(|near| near != given);
    near.map_or(String::new(), |near| format!("; did you mean {near:?}?"))
}

/// The algorithms that operations do not have, counted for a note.
#[derive(Clone, Debug, Default)]
struct Replaced(BTreeMap<(Purpose, &'static str), u64>);

impl Replaced {
    /// The algorithm of an operation: the one that was asked for, if it is one of the operation.
    fn algorithm(&mut self, asked: Option<AlgorithmName>, op: Purpose) -> Option<AlgorithmName> {
        let asked = asked?;
        if AlgorithmName::of(op).contains(&asked) {
            return Some(asked);
        }
        *self.0.entry((op, asked.name())).or_default() += 1;
        None
    }

    fn notes(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|((op, asked), count)| {
            let default = AlgorithmName::default_of(*op).name();
            format!(
                "{asked:?} is no algorithm of {}: {default:?} is used there ({})",
                op.name(),
                counted(*count, "operation")
            )
        })
    }
}
