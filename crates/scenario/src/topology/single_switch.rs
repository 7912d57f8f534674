//! One switch s1 with hosts h1, h2, … .

use floodway_units::{Length, Rate, Span};
use schemars::JsonSchema;
use serde::Deserialize;

use super::fabric::{Fabric, Generator, Names};
use super::network::{Hop, TopologyError, count};

/// Parameters of a single switch.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SingleSwitch {
    /// Number of hosts, at least 1. No default.
    pub hosts: usize,
    /// Rate of each link. No default.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Delay of each link. Not together with `length`; one of the two must be given.
    #[serde(default)]
    pub delay: Option<Span>,
    /// Length of each link, at 5 us/km. Not together with `delay`; one of the two must be given.
    #[serde(default)]
    pub length: Option<Length>,
    /// Number of parallel links between each host and the switch, at least 1. Default: 1.
    #[serde(default)]
    pub links_per_host: Option<usize>,
}

impl Generator for SingleSwitch {
    fn fabric(&self, names: &mut Names, above: Hop) -> Result<Fabric, TopologyError> {
        let hosts = count("hosts", self.hosts, 1)?;
        let parallel = count("links-per-host", self.links_per_host.unwrap_or(1), 1)?;
        let own = Hop { rate: self.rate, delay: self.delay, length: self.length };
        let hop = own.or(above).resolve()?;
        let mut fabric = Fabric::default();
        let network = &mut fabric.network;
        network.room_for(hosts.saturating_mul(parallel))?;
        for _ in 0..hosts {
            network.host(names.next("h"), &["host"])?;
        }
        let switch = network.switch(names.next("s"), &["switch"])?;
        for host in 0..hosts {
            for _ in 0..parallel {
                network.link([host, switch], &["host-switch"], hop);
            }
        }
        fabric.gateways.push(switch);
        Ok(fabric)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single_switch(hosts: usize, links_per_host: Option<usize>) -> SingleSwitch {
        let (rate, delay) = (Some(Rate::gbps(100)), Some(Span::us(1)));
        SingleSwitch { hosts, rate, delay, length: None, links_per_host }
    }

    #[test]
    fn every_host_is_linked_to_the_switch() {
        let network = single_switch(3, None).build().expect("it is a network");
        assert_eq!(network.names(), ["h1", "h2", "h3", "s1"]);
        let links: Vec<_> = network.links.iter().map(|link| link.name.as_str()).collect();
        assert_eq!(links, ["h1-s1", "h2-s1", "h3-s1"]);
        let network = single_switch(2, Some(2)).build().expect("it is a network");
        let links: Vec<_> = network.links.iter().map(|link| link.name.as_str()).collect();
        assert_eq!(links, ["h1-s1#1", "h1-s1#2", "h2-s1#1", "h2-s1#2"]);
    }

    #[test]
    fn numbers_beyond_all_measure_are_refused() {
        let error = |single: SingleSwitch| single.build().unwrap_err();
        assert_eq!(error(single_switch(0, None)).path, ["hosts"]);
        assert_eq!(error(single_switch(2, Some(0))).path, ["links-per-host"]);
        assert_eq!(error(single_switch(1 << 20, Some(2))).message, "it has more than 1048576 links");
    }
}
