//! The grammar: one TOML text, read once into typed values.

mod all;
pub mod bounds;
mod depth;
pub mod document;
pub mod forms;
pub mod gpu_nodes;
pub mod nics;
pub mod read;
pub mod selector;
pub mod sets;
pub mod settings;
pub mod tree;

pub use all::read_all;
