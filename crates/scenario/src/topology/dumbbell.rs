//! Two switches s1 and s2 with a bottleneck between them; hosts h1, h2, … on the left, the others on the
//! right.

use floodway_units::{Length, Rate, Span};
use schemars::JsonSchema;
use serde::Deserialize;

use super::fabric::{Fabric, Generator, Names};
use super::network::{Hop, TopologyError, count};

/// Parameters of a dumbbell.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Dumbbell {
    /// Hosts at s1, at least 1. No default.
    pub left: usize,
    /// Hosts at s2, at least 1. No default.
    pub right: usize,
    /// Rate of links that have none of their own. No default.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Delay of links that have none of their own. Not together with `length`.
    #[serde(default)]
    pub delay: Option<Span>,
    /// Length of links that have none of their own, at 5 us/km. Not together with `delay`.
    #[serde(default)]
    pub length: Option<Length>,
    /// The link between the switches. Default: rate and delay of the topology.
    #[serde(default)]
    pub bottleneck: Hop,
}

impl Generator for Dumbbell {
    fn fabric(&self, names: &mut Names, above: Hop) -> Result<Fabric, TopologyError> {
        let (left, right) = (count("left", self.left, 1)?, count("right", self.right, 1)?);
        let common = Hop { rate: self.rate, delay: self.delay, length: self.length }.or(above);
        let host = common.resolve()?;
        let bottleneck = self.bottleneck.or(common).resolve().map_err(|error| error.below("bottleneck"))?;
        let mut fabric = Fabric::default();
        let network = &mut fabric.network;
        for n in 0..left + right {
            network.host(names.next("h"), &["host", if n < left { "left" } else { "right" }])?;
        }
        let s1 = network.switch(names.next("s"), &["switch", "left"])?;
        let ends = [s1, network.switch(names.next("s"), &["switch", "right"])?];
        network.link(ends, &["bottleneck"], bottleneck);
        for n in 0..left + right {
            network.link([n, ends[usize::from(n >= left)]], &["host-switch"], host);
        }
        fabric.gateways.push(ends[1]);
        Ok(fabric)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bottleneck_may_be_slower_than_the_rest() {
        let dumbbell = Dumbbell {
            left: 2,
            right: 1,
            rate: Some(Rate::gbps(100)),
            delay: Some(Span::us(1)),
            bottleneck: Hop { rate: Some(Rate::gbps(40)), ..Hop::default() },
            ..Dumbbell::default()
        };
        let network = dumbbell.build().expect("it is a dumbbell");
        let links: Vec<_> =
            network.links.iter().map(|link| (link.name.as_str(), link.rate.as_gbps())).collect();
        assert_eq!(links, [("s1-s2", 40.0), ("h1-s1", 100.0), ("h2-s1", 100.0), ("h3-s2", 100.0)]);
        assert_eq!(network.links[0].delay, Span::us(1));
    }
}
