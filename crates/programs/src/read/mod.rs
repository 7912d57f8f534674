//! Readers of programs that others have written.
//!
//! What a reader leaves out or takes to mean something is among its notes, which go to the user.

mod chakra;
mod goal;

pub use chakra::{ChakraOptions, chakra};
pub use goal::goal;

use crate::Program;

/// A program from a file.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The program.
    pub program: Program,
    /// What was left out of the file, or taken to mean something that it does not say.
    pub notes: Vec<String>,
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
