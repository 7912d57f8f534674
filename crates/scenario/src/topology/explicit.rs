//! Nodes and links, listed one by one.
//!
//! A name may be a range, `"h1..h4"`: it creates that many nodes. As an end of a link, a range means each of
//! its nodes (two ranges: each node of one with each node of the other).

use floodway_units::{Length, Rate, Span};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::fabric::{Fabric, Generator, Names};
use super::network::{Hop, Network, TopologyError, count};
use crate::error::nearest;
use crate::grammar::forms::{EMPTY, named, tags};

/// Parameters of a network whose nodes and links are listed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Explicit {
    /// Hosts: names, ranges of names, or `{ name, tags }`. Default: none.
    pub hosts: Vec<Listed>,
    /// Switches: names, ranges of names, or `{ name, tags }`. Default: none.
    pub switches: Vec<Listed>,
    /// Rate of links that have none of their own. No default.
    pub rate: Option<Rate>,
    /// Delay of links that have none of their own. Not together with `length`.
    pub delay: Option<Span>,
    /// Length of links that have none of their own, at 5 us/km. Not together with `delay`.
    pub length: Option<Length>,
    /// Links. The ports of a node have the order of its links. Default: none.
    pub links: Vec<ListedLink>,
}

/// A node, or a range of nodes.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a name, or { name, tags }")]
pub enum Listed {
    /// Its name.
    Name(String),
    /// Its name and tags.
    Tagged(TaggedNode),
}

/// A node with tags.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaggedNode {
    /// Its name, or a range of names. No default.
    pub name: String,
    /// Its tags, beside `host` or `switch`. Default: none.
    #[serde(default)]
    pub tags: Vec<String>,
}

/// A link, or several equal ones.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListedLink {
    /// The nodes at its ends; a range of names means each of its nodes. No default.
    #[serde(deserialize_with = "two")]
    pub between: [String; 2],
    /// Its name. Default: after its ends.
    #[serde(default, deserialize_with = "named")]
    pub name: Option<String>,
    /// Its tags. Default: none.
    #[serde(default, deserialize_with = "tags")]
    pub tags: Vec<String>,
    /// Its rate. Default: that of all links.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Its delay. Not together with `length`. Default: that of all links.
    #[serde(default)]
    pub delay: Option<Span>,
    /// Its length, at 5 us/km. Not together with `delay`. Default: that of all links.
    #[serde(default)]
    pub length: Option<Length>,
    /// Number of parallel links, at least 1. Default: 1.
    #[serde(default = "one")]
    pub count: usize,
}

pub(super) fn two<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[String; 2], D::Error> {
    let ends = Vec::<String>::deserialize(deserializer)?;
    ends.try_into().map_err(|ends: Vec<_>| {
        D::Error::custom(format_args!("a link joins exactly two nodes, and {} are given", ends.len()))
    })
}

fn one() -> usize {
    1
}

impl Generator for Explicit {
    fn fabric(&self, _: &mut Names, above: Hop) -> Result<Fabric, TopologyError> {
        let mut network = Network::default();
        for (listed, kind) in [(&self.hosts, "host"), (&self.switches, "switch")] {
            let key = if kind == "host" { "hosts" } else { "switches" };
            for node in listed {
                node.add(&mut network, kind).map_err(|error| error.below(key))?;
            }
        }
        let common = Hop { rate: self.rate, delay: self.delay, length: self.length }.or(above);
        for (i, link) in self.links.iter().enumerate() {
            let label = link.name.clone().unwrap_or_else(|| (i + 1).to_string());
            link.add(&mut network, common).map_err(|error| error.below(&label).below("links"))?;
        }
        let is_gateway = |&node: &usize| {
            let node = &network.nodes[node];
            !node.is_host && node.tags.iter().any(|tag| tag == "gateway")
        };
        let gateways = (0..network.nodes.len()).filter(is_gateway).collect();
        Ok(Fabric { network, gateways })
    }
}

impl Listed {
    fn add(&self, network: &mut Network, kind: &str) -> Result<(), TopologyError> {
        let (name, tags) = match self {
            Listed::Name(name) => (name, &[][..]),
            Listed::Tagged(node) => (&node.name, node.tags.as_slice()),
        };
        if tags.iter().any(String::is_empty) {
            return Err(TopologyError::new("", format!("a tag of {name:?}: {EMPTY}")));
        }
        let tags: Vec<&str> = std::iter::once(kind).chain(tags.iter().map(String::as_str)).collect();
        for name in expand(name)? {
            if kind == "host" {
                network.host(name, &tags)?
            } else {
                network.switch(name, &tags)?
            };
        }
        Ok(())
    }
}

impl ListedLink {
    fn add(&self, network: &mut Network, common: Hop) -> Result<(), TopologyError> {
        let find = |name: &String| {
            network.find(name).ok_or_else(|| {
                let hint = nearest(name, &network.names());
                let hint = hint.map_or_else(String::new, |name| format!("; did you mean {name:?}?"));
                TopologyError::new("between", format!("no node is named {name:?}{hint}"))
            })
        };
        let ends = |range: &str| -> Result<Vec<usize>, TopologyError> {
            expand(range).map_err(|error| error.below("between"))?.iter().map(find).collect()
        };
        let (first, second) = (ends(&self.between[0])?, ends(&self.between[1])?);
        let hop = Hop { rate: self.rate, delay: self.delay, length: self.length }.or(common).resolve()?;
        let count = count("count", self.count, 1)?;
        network.room_for(first.len().saturating_mul(second.len()).saturating_mul(count))?;
        if self.name.is_some() && first.len() * second.len() * count > 1 {
            return Err(TopologyError::new("name", "several links cannot have one name"));
        }
        let tags: Vec<&str> = self.tags.iter().map(String::as_str).collect();
        for &a in &first {
            for &b in &second {
                if a == b {
                    let message = format!("{} is linked with itself", network.nodes[a].name);
                    return Err(TopologyError::new("between", message));
                }
                for _ in 0..count {
                    network.link([a, b], &tags, hop);
                }
            }
        }
        if let (Some(name), Some(link)) = (&self.name, network.links.last_mut()) {
            link.name.clone_from(name);
        }
        Ok(())
    }
}

/// The names of a range `"h1..h4"`, or the single name.
fn expand(name: &str) -> Result<Vec<String>, TopologyError> {
    let refuse = |why: &str| Err(TopologyError::new("", format!("{name:?} {why}")));
    if name.is_empty() || name.contains([',', '>', '*', '?', '"']) {
        return refuse("is not a name: it is empty or has one of , > * ? \" in it");
    }
    let Some((from, to)) = name.split_once("..") else { return Ok(vec![name.to_owned()]) };
    let split = |text: &str| -> Option<(String, usize)> {
        let at = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        Some((text[..at].to_owned(), text[at..].parse().ok()?))
    };
    match (split(from), split(to)) {
        (Some((stem, low)), Some((other, high))) if stem == other && low <= high => {
            count("", high - low + 1, 1)?;
            Ok((low..=high).map(|n| format!("{stem}{n}")).collect())
        }
        _ => refuse("is not a range like \"h1..h4\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(a: &str, b: &str) -> ListedLink {
        ListedLink {
            between: [a.into(), b.into()],
            name: None,
            tags: vec!["edge".into()],
            rate: None,
            delay: None,
            length: None,
            count: 1,
        }
    }

    fn build(links: Vec<ListedLink>) -> Result<Network, TopologyError> {
        let explicit = Explicit {
            hosts: vec![Listed::Name("h1..h3".into())],
            switches: vec![Listed::Name("s1".into()), Listed::Name("s2".into())],
            rate: Some(Rate::gbps(100)),
            delay: Some(Span::us(1)),
            length: None,
            links,
        };
        explicit.build()
    }

    #[test]
    fn ranges_expand_to_each_of_their_nodes() {
        let mut parallel = link("s1", "s2");
        parallel.count = 2;
        let network = build(vec![link("h1..h2", "s1"), link("h3", "s2"), parallel]).expect("it fits");
        let names: Vec<_> = network.links.iter().map(|link| link.name.as_str()).collect();
        assert_eq!(names, ["h1-s1", "h2-s1", "h3-s2", "s1-s2#1", "s1-s2#2"]);
        network.check().expect("it hangs together");
    }

    #[test]
    fn faults_are_found() {
        let error = |links| {
            let error = build(links).and_then(|network| network.check()).unwrap_err();
            (error.path.join("."), error.message)
        };
        let (path, message) = error(vec![link("h1", "s3")]);
        assert_eq!(path, "links.1.between");
        assert_eq!(message, "no node is named \"s3\"; did you mean \"s1\"?");
        assert!(error(vec![link("s1", "s1")]).1.contains("linked with itself"));
        assert!(error(vec![link("h3..h1", "s1")]).1.contains("not a range"));
        for sign in [',', '>', '*', '?', '"'] {
            let (_, message) = error(vec![link(&format!("h{sign}1"), "s1")]);
            let (_, listed) = message.split_once("one of").expect("it lists what a name must not have");
            assert!(listed.contains(sign), "{message}");
        }
        assert_eq!(error(vec![link("h1..h3", "s1")]).1, "it is not connected: no links lead from h1 to s2");
        let mut zero = link("h1", "s1");
        zero.delay = Some(Span::ZERO);
        assert_eq!(error(vec![zero]), ("links.1.delay".into(), "a link needs a delay above 0".into()));
    }
}
