//! Relays: devices that a link's flow control adds at its ends.

use floodway_mechanisms::slots::Relay;

use super::network::{Link, Network, Node, TopologyError};

/// The tags of relays and of their cables.
pub const RELAY_TAGS: [&str; 2] = ["relay", "relay-cable"];

/// A relay between a link and the node at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelayAt {
    /// The relay.
    pub node: usize,
    /// The switch or host next to it.
    pub at: usize,
    /// The link that it serves: its remote port.
    pub link: usize,
    /// The end of that link.
    pub end: usize,
    /// The cable between the relay and the node `at`, whose first end is at `at`: its local port.
    pub cable: usize,
}

impl Network {
    /// The same network with a relay at each end of the links that have one: named `r1`, `r2`, … by the first
    /// free numbers, tagged `relay`, each behind a cable tagged `relay-cable`. The link keeps its name and
    /// tags.
    ///
    /// # Errors
    /// The network becomes too large.
    pub fn with_relays(mut self, relays: &[Option<Relay>]) -> Result<Network, TopologyError> {
        self.room_for(2 * relays.iter().flatten().count())?;
        let links = std::mem::take(&mut self.links);
        let mut number = 0;
        for (link, relay) in links.into_iter().zip(relays) {
            match relay {
                None => self.links.push(link),
                Some(relay) => self.split(link, relay, &mut number)?,
            }
        }
        Ok(self)
    }

    fn split(&mut self, link: Link, relay: &Relay, number: &mut usize) -> Result<(), TopologyError> {
        let (place, rate) = (self.links.len(), link.rate);
        let behind = link.ends;
        self.links.push(link);
        for (end, at) in behind.into_iter().enumerate() {
            let name = self.free_relay_name(number);
            let site = self.nodes[at].tags.iter().filter(|tag| tag.starts_with("dc-")).cloned();
            let site: Vec<String> = site.collect();
            let tags = |kind: &str| std::iter::once(kind.to_owned()).chain(site.clone()).collect();
            let cable_name = format!("{}-{name}", self.nodes[at].name);
            let node = self.add(Node { name, tags: tags(RELAY_TAGS[0]), is_host: false, address: None })?;
            self.links[place].ends[end] = node;
            let cable = self.links.len();
            self.links.push(Link {
                name: cable_name,
                tags: tags(RELAY_TAGS[1]),
                ends: [at, node],
                rate,
                delay: relay.cable,
                error_rate: 0.0,
            });
            self.relays.push(RelayAt { node, at, link: place, end, cable });
        }
        Ok(())
    }

    fn free_relay_name(&self, number: &mut usize) -> String {
        loop {
            *number += 1;
            let name = format!("r{number}");
            if self.find(&name).is_none() {
                return name;
            }
        }
    }

    /// Whether a node is a relay.
    pub fn is_relay(&self, node: usize) -> bool {
        self.relays.first().is_some_and(|first| node >= first.node)
    }

    /// The relays at both ends of a link, if it has any.
    pub fn relays_of(&self, link: usize) -> Option<[&RelayAt; 2]> {
        let at = self.relays.partition_point(|relay| relay.link < link);
        match self.relays.get(at..at + 2)? {
            [a, b] if a.link == link => Some([a, b]),
            _ => None,
        }
    }

    /// The switch or host at an end of a link, with or without a relay between them.
    pub fn behind(&self, link: usize, end: usize) -> usize {
        self.relays_of(link).map_or(self.links[link].ends[end], |relays| relays[end].at)
    }
}
