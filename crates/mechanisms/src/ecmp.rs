//! Equal-cost multipath: all packets of a flow take the same of several equal paths, chosen by a hash (as
//! switches do; RFC 2992 describes the practice).
//!
//! # What it does
//!
//! Each switch hashes a flow's addresses and ports, and the hash selects one of the shortest paths.
//!
//! - `mix`: every switch hashes with a key of its own, which enters *before* the final mix, so that two tiers
//!   choose independently.
//! - `shared`: all switches use the same hash: flows that one tier has put on the same path stay together at
//!   the next (polarisation).
//! - `swing-ns3`: the hash of SWING's simulator, h = 31·h + byte over addresses and ports, from a seed of the
//!   switch, modulo the number of paths.
//! - `hpcc-ns3`: the hash of HPCC's simulator, the 32-bit Murmur hash (its third form) over addresses and
//!   ports, from a seed of the switch, modulo the number of paths.
//!
//! # Why
//!
//! It keeps packets in order, which go-back-N needs, and is the practice of today's networks. Two large flows
//! on one path are slow while another path is idle: `spray` has no such collisions, at the price of order.
//! `shared` shows the cost of polarisation.
//!
//! # Known differences
//!
//! - No vendor's hash is reproduced except `swing-ns3` and `hpcc-ns3`; do not expect a vendor's choice of
//!   path.
//! - These two use the seeds that their profiles contain, and refuse switches without a known seed.
//!
//! # References
//!
//! - Hopps, "Analysis of an Equal-Cost Multi-Path Algorithm", RFC 2992, 2000.
//! - Chen et al., "Swing: Providing Long-Range Lossless RDMA via PFC-Relay", IEEE TPDS 34(1), 2023, its
//!   simulator: `CalcTime31Hash`.
//! - Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, its simulator: `EcmpHash`.

use floodway_units::cast::to_usize;
use floodway_units::{Rng, Time, fold, mix};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{self, FlowTuple, PacketView, ParamError, PortView, Routing, SwitchInfo};

/// Parameters of equal-cost multipath.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Ecmp")]
pub struct Params {
    /// How a flow is hashed.
    /// Source: floodway's choice: tiers that choose independently are the fair case.
    pub hash: Hash,
    /// Seed for different path choices with the same run seed: any whole number of 32 bits, which enters the
    /// hashes `mix` and `shared`.
    /// Source: floodway's choice.
    pub seed: u32,
}

/// How a flow is hashed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Hash {
    /// With a key per switch, derived from the run's seed and the switch's name. Source: floodway's choice.
    #[default]
    Mix,
    /// With the same hash at all switches. Source: floodway's choice, for fabrics whose hashes polarise.
    Shared,
    /// h = 31·h + byte, with the seeds of its profile. Source: SWING's simulator, `CalcTime31Hash`.
    SwingNs3,
    /// The Murmur hash, with the seeds of its profile. Source: HPCC's simulator, `EcmpHash`.
    HpccNs3,
}

impl Routing for Params {
    type Router = Router;

    fn build(&self, switch: &SwitchInfo) -> Result<Router, ParamError> {
        let salt = mix(u64::from(self.seed));
        match (self.hash, switch.hash_seed) {
            (Hash::Mix, _) => Ok(Router::Mix { key: fold(salt, switch.key) }),
            (Hash::Shared, _) => Ok(Router::Mix { key: salt }),
            (Hash::SwingNs3, Some(seed)) => Ok(Router::Times31 { seed }),
            (Hash::HpccNs3, Some(seed)) => Ok(Router::Murmur { seed }),
            (Hash::SwingNs3, None) => Err(no_seed("swing-ns3")),
            (Hash::HpccNs3, None) => Err(no_seed("hpcc-ns3")),
        }
    }
}

fn no_seed(hash: &str) -> ParamError {
    ParamError::new("hash", format!("no seed of {hash:?} is known for this switch"))
}

/// One per switch.
#[derive(Clone, Copy, Debug)]
pub enum Router {
    /// By a mix of the flow with `key`.
    Mix {
        /// Of the switch, or of all switches.
        key: u64,
    },
    /// By the 31-hash.
    Times31 {
        /// Of the switch.
        seed: u32,
    },
    /// By Murmur's hash.
    Murmur {
        /// Of the switch.
        seed: u32,
    },
}

/// The part of `0..ports` where `hash` lies in the range of all hashes.
fn scaled(hash: u64, ports: usize) -> usize {
    // Section 2: hash-threshold, each path has a region of the key space of one size.
    to_usize(((u128::from(hash) * ports as u128) >> 64) as u64)
}

/// SWING's simulator, `CalcTime31Hash`: both addresses, then both ports, each from its lowest byte up.
fn times_31(seed: u32, flow: &FlowTuple) -> u32 {
    let step = |hash: u32, byte: &u8| hash.wrapping_mul(31).wrapping_add(u32::from(*byte));
    let addresses = [flow.source.to_le_bytes(), flow.destination.to_le_bytes()];
    let ports = [flow.source_port.to_le_bytes(), flow.destination_port.to_le_bytes()];
    let hash = addresses.as_flattened().iter().fold(seed, step);
    ports.as_flattened().iter().fold(hash, step)
}

/// Bytes that Murmur's hash is taken of, which enter it at the end.
const MURMUR_BYTES: u32 = 0xC;

/// Murmur's third hash of 32 bits (Appleby) over both addresses, then both ports in one word.
fn murmur(seed: u32, flow: &FlowTuple) -> u32 {
    let ports = u32::from(flow.source_port) | u32::from(flow.destination_port) << 16;
    let words = [flow.source, flow.destination, ports];
    let mixed = words.iter().fold(seed, |hash, word| {
        let word = word.wrapping_mul(0xCC9E_2D51).rotate_left(15).wrapping_mul(0x1B87_3593);
        (hash ^ word).rotate_left(13).wrapping_mul(5).wrapping_add(0xE654_6B64)
    });
    let hash = mixed ^ MURMUR_BYTES;
    let hash = (hash ^ hash >> 16).wrapping_mul(0x85EB_CA6B);
    let hash = (hash ^ hash >> 13).wrapping_mul(0xC2B2_AE35);
    hash ^ hash >> 16
}

impl slots::Router for Router {
    fn by_flow(&self, flow: &FlowTuple, ports: usize) -> Option<usize> {
        Some(match *self {
            Router::Mix { key } => scaled(fold(key, flow.key()), ports),
            Router::Times31 { seed } => times_31(seed, flow) as usize % ports,
            Router::Murmur { seed } => murmur(seed, flow) as usize % ports,
        })
    }

    /// Same as [`by_flow`](slots::Router::by_flow) where the packet's hash is the flow's key; the other two
    /// hashes need the addresses and support only `by_flow`.
    fn route(&mut self, _now: Time, _rng: &mut Rng, p: &PacketView, candidates: &[PortView]) -> usize {
        self.choose(p, candidates.len())
    }
}

impl Router {
    /// The port, among this many, that the packet's hash selects.
    pub(crate) fn choose(&self, p: &PacketView, ports: usize) -> usize {
        let key = match *self {
            Router::Mix { key } => key,
            Router::Times31 { seed } | Router::Murmur { seed } => u64::from(seed),
        };
        scaled(fold(key, p.flow_hash), ports)
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::name_key;

    use super::*;
    use crate::slots::Router as _;
    use crate::testing::{Bench, packet};
    use floodway_units::PortId;

    /// Quantile of chi-square with 15 degrees of freedom that a fair choice exceeds once in 10^6.
    const CHI_SQUARE_15: f64 = 56.493_4;

    fn router(hash: Hash, seed: u32, name: &str, hash_seed: Option<u32>) -> Router {
        let switch = SwitchInfo { key: fold(1, name_key(name)), hash_seed };
        Params { hash, seed }.build(&switch).expect("the seed is given where it is needed")
    }

    /// Hosts numbered as in SWING's simulator.
    fn flow(source: u32, destination: u32, source_port: u16, destination_port: u16) -> FlowTuple {
        let address = |host: u32| (1 << 24) + host;
        FlowTuple {
            source: address(source),
            destination: address(destination),
            source_port,
            destination_port,
        }
    }

    /// Paths that HPCC's simulator chose for the first flows of a fat-tree of 16 hosts, recorded from its own
    /// trace: switch, and the place of its choice among two paths in descending order of their numbers.
    #[test]
    fn the_hash_of_hpccs_simulator_gives_the_paths_that_it_recorded() {
        let host = |number: u32| 0x0B00_0001 + (number << 8);
        let flow = |source, destination| FlowTuple {
            source: host(source),
            destination: host(destination),
            source_port: 10_000,
            destination_port: 100,
        };
        let paths = [
            (flow(1, 4), [(16, 0), (25, 1)]),
            (flow(1, 4).reversed(), [(18, 0), (27, 0)]),
            (flow(3, 6), [(17, 0), (25, 1)]),
            (flow(3, 6).reversed(), [(19, 1), (26, 0)]),
        ];
        for (flow, hops) in paths {
            for (switch, choice) in hops {
                let router = router(Hash::HpccNs3, 0, "s", Some(switch));
                assert_eq!(router.by_flow(&flow, 2), Some(choice), "{flow:?} at {switch}");
            }
        }
    }

    /// 10^5 flows as similar as those of a run: few hosts, consecutive port numbers.
    fn flows() -> impl Iterator<Item = FlowTuple> {
        (0..100_000).map(|n| flow(n % 16, 16 + n / 16 % 16, 1_000, (n / 256) as u16))
    }

    /// Chi-square of how often the flows take each pair of four paths at two switches.
    fn chi_square(first: &Router, second: &Router) -> f64 {
        let mut counts = [0u32; 16];
        for flow in flows() {
            let choice = |router: &Router| router.by_flow(&flow, 4).expect("it depends on the flow alone");
            counts[choice(first) * 4 + choice(second)] += 1;
        }
        let expected = 100_000.0 / 16.0;
        counts
            .iter()
            .map(|count| (f64::from(*count) - expected) * (f64::from(*count) - expected) / expected)
            .sum()
    }

    #[test]
    fn two_tiers_choose_independently() {
        for (first, second) in [("tor1", "agg1"), ("tor1", "tor2"), ("agg1", "core3"), ("s1", "s2")] {
            let tiers = (router(Hash::Mix, 0, first, None), router(Hash::Mix, 0, second, None));
            let statistic = chi_square(&tiers.0, &tiers.1);
            assert!(statistic < CHI_SQUARE_15, "{first}, {second}: {statistic}");
        }
    }

    #[test]
    fn another_seed_chooses_independently_too() {
        let (one, two) = (router(Hash::Mix, 1, "tor1", None), router(Hash::Mix, 2, "tor1", None));
        assert!(chi_square(&one, &two) < CHI_SQUARE_15);
    }

    #[test]
    fn a_shared_hash_is_polarised() {
        let (first, second) = (router(Hash::Shared, 0, "tor1", None), router(Hash::Shared, 0, "agg1", None));
        for flow in flows() {
            assert_eq!(first.by_flow(&flow, 4), second.by_flow(&flow, 4));
        }
        // Of the four paths at the second tier a quarter of the flows is left, on one.
        assert!(chi_square(&first, &second) > 100_000.0);
    }

    #[test]
    fn a_packet_takes_the_port_of_its_flow() {
        let mut router = router(Hash::Mix, 0, "tor1", None);
        let view = |port| PortView { port: PortId(port), ..PortView::example() };
        let candidates: Vec<_> = (0..7).map(view).collect();
        let mut bench = Bench::<()>::new();
        for flow in flows().take(1_000) {
            let packet = PacketView { flow_hash: flow.key(), ..packet(1_000) };
            let choice = router.route(Time::ZERO, &mut bench.rng, &packet, &candidates);
            assert_eq!(Some(choice), router.by_flow(&flow, 7));
        }
    }

    #[test]
    fn the_31_hash_gives_swings_values() {
        let flow = flow(16, 23, 2, 1);
        assert_eq!(times_31(1_567_332_858, &flow), 879_444_050);
        assert_eq!(times_31(1_471_068_050, &flow), 1_471_592_938);
        // s42 has four paths: s21, s22, s23, s24; this flow goes by s23.
        assert_eq!(router(Hash::SwingNs3, 0, "s42", Some(1_471_068_050)).by_flow(&flow, 4), Some(2));
    }

    #[test]
    fn the_31_hash_needs_the_switchs_seed() {
        let switch = SwitchInfo { key: 0, hash_seed: None };
        let error = Params { hash: Hash::SwingNs3, seed: 0 }.build(&switch).unwrap_err();
        assert_eq!(error.key, "hash");
    }
}
