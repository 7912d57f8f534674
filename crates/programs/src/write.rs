//! Writers of programs in the formats of other simulators.

mod goal;

pub use goal::goal;

/// A program that is not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// What of it the format cannot express.
    #[error("{0}")]
    Inexpressible(String),
    /// The text cannot be written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}
