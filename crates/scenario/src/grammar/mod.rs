//! The grammar: one TOML text, read once into typed values.

pub mod bounds;
pub mod document;
pub mod forms;
pub mod read;
pub mod selector;
pub mod sets;
pub mod settings;
pub mod tree;
