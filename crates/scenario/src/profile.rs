//! Profiles: other simulators' semantics in every point, as a part of a scenario that comes before it.

use crate::error::ScenarioError;
use crate::grammar::document::{Fragment, Profile};
use crate::grammar::read::read;
use crate::grammar::tree::Node;

const SWING_NS3: &str = include_str!("../profiles/swing-ns3.toml");

/// A profile with its text.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its name, as scenarios spell it.
    pub name: &'static str,
    /// Its text as a tree.
    pub tree: Node,
    /// Its values.
    pub fragment: Fragment,
}

/// Reads a profile.
///
/// # Errors
/// Only if the crate's own text is not right.
pub fn load(profile: Profile) -> Result<Loaded, ScenarioError> {
    let (name, text) = match profile {
        Profile::SwingNs3 => ("swing-ns3", SWING_NS3),
    };
    let tree = Node::parse(&format!("profile {name}"), text)?;
    let fragment = read(&tree, &[])?;
    Ok(Loaded { name, tree, fragment })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_read() {
        let loaded = load(Profile::SwingNs3).expect("it fits the grammar");
        assert_eq!(loaded.fragment.r#override.len(), 2);
    }
}
