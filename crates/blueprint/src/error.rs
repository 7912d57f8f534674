//! Errors of blueprints that cannot be built.

use floodway_mechanisms::slots::ParamError;

/// A fault of a blueprint, with the place where it lies.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct BuildError {
    /// The object: "link x1-x2", "switch t1", "workload hadoop"; of the run as a whole, the key.
    pub place: String,
    /// The parameter, where one is at fault, as scenarios spell it.
    pub key: Option<&'static str>,
    /// What is wrong and what is allowed.
    pub message: String,
}

impl BuildError {
    /// A fault of an object as a whole.
    pub fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        BuildError { place: place.into(), key: None, message: message.into() }
    }

    /// A parameter that a mechanism refuses.
    pub fn param(place: impl Into<String>, error: ParamError) -> Self {
        BuildError { place: place.into(), key: Some(error.key), message: error.message }
    }
}
