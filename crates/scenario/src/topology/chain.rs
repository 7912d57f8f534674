//! Switches s1, s2, … in a row, with hosts at each; hosts are numbered from 1 along the row.

use floodway_units::{Length, Rate, Span};
use schemars::JsonSchema;
use serde::Deserialize;

use floodway_units::text::counted;

use super::fabric::{Fabric, Generator, Names};
use super::network::{Hop, Network, TopologyError, count};

/// Parameters of a chain.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Chain {
    /// Number of switches, at least 1. No default.
    pub switches: usize,
    /// Hosts at each switch: a number, or a list with one for each. Default: 1.
    #[serde(default)]
    pub hosts: Hosts,
    /// Rate of links that have none of their own. No default.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Delay of links that have none of their own. Not together with `length`.
    #[serde(default)]
    pub delay: Option<Span>,
    /// Length of links that have none of their own, at 5 us/km. Not together with `delay`.
    #[serde(default)]
    pub length: Option<Length>,
    /// Links between hosts and switches. Default: rate and delay of the topology.
    #[serde(default)]
    pub host: Hop,
    /// Links between switches. Default: rate and delay of the topology.
    #[serde(default)]
    pub trunk: Hop,
}

/// Hosts at each switch.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a number, or a list with a number for each switch")]
pub enum Hosts {
    /// The same number at each.
    Each(usize),
    /// One number for each switch.
    List(Vec<usize>),
}

impl Default for Hosts {
    fn default() -> Self {
        Hosts::Each(1)
    }
}

impl Generator for Chain {
    fn fabric(&self, names: &mut Names, above: Hop) -> Result<Fabric, TopologyError> {
        let hosts = self.hosts_at_each()?;
        let common = Hop { rate: self.rate, delay: self.delay, length: self.length }.or(above);
        let host = self.host.or(common).resolve()?;
        let mut network = Network::default();
        let mut placed = Vec::new();
        for (at, &here) in hosts.iter().enumerate() {
            for _ in 0..here {
                placed.push((network.host(names.next("h"), &["host"])?, at));
            }
        }
        let row: Vec<usize> =
            hosts.iter().map(|_| network.switch(names.next("s"), &["switch"])).collect::<Result<_, _>>()?;
        if row.len() > 1 {
            let trunk = self.trunk.or(common).resolve()?;
            for pair in row.windows(2) {
                network.link([pair[0], pair[1]], &["trunk"], trunk);
            }
        }
        for (node, at) in placed {
            network.link([node, row[at]], &["host-switch"], host);
        }
        Ok(Fabric { network, gateways: row.last().copied().into_iter().collect() })
    }
}

impl Chain {
    fn hosts_at_each(&self) -> Result<Vec<usize>, TopologyError> {
        let switches = count("switches", self.switches, 1)?;
        match &self.hosts {
            Hosts::Each(each) => Ok(vec![*each; switches]),
            Hosts::List(list) if list.len() == switches => Ok(list.clone()),
            Hosts::List(list) => {
                let message = format!("it has {} for {switches} switches", counted(list.len(), "number"));
                Err(TopologyError::new("hosts", message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_attached_as_listed() {
        let chain = Chain {
            switches: 3,
            hosts: Hosts::List(vec![2, 0, 1]),
            rate: Some(Rate::gbps(100)),
            delay: Some(Span::us(1)),
            ..Chain::default()
        };
        let network = chain.build().expect("it is a chain");
        let names: Vec<_> = network.links.iter().map(|link| link.name.as_str()).collect();
        assert_eq!(names, ["s1-s2", "s2-s3", "h1-s1", "h2-s1", "h3-s3"]);
    }

    #[test]
    fn a_list_of_the_wrong_length_is_refused() {
        let chain = Chain { switches: 3, hosts: Hosts::List(vec![1]), ..Chain::default() };
        assert_eq!(chain.build().unwrap_err().path, ["hosts"]);
        assert_eq!(Chain::default().build().unwrap_err().path, ["switches"]);
    }
}
