//! SAR, RCM's switch-level adaptive routing: flows that cause no congestion leave a congested port for an
//! equal-cost path whose region is less congested ("Regional Congestion Mitigation in Lossless Datacenter
//! Networks", section 3.4).
//!
//! # What it does
//!
//! A flow starts on the path that a hash selects, as in `ecmp`. Where that port reports severe congestion, a
//! packet takes the equal-cost port with the smallest degree among those that do not, and its flow follows
//! it, unless
//!
//! - the flow is a harmful flow there, or in the memory of departing flows: congestion must not spread;
//! - packets of the flow wait at the port: the packet would overtake them;
//! - every other path is severely congested, too.
//!
//! The switch stores the port of a moved flow by the flow's hash, for `most-flows` flows: beyond that the
//! flow that moved first returns to the path of its hash. Acknowledgements and CNPs stay on their path.
//!
//! # Why
//!
//! A flow that arrives at a severely congested port, or returns after a while, is routed around it within
//! microseconds. A flow that is sending through it mostly stays: large flows at that port are in the memory,
//! and waiting packets keep the others there. It needs a congestion point that reports how congested a port
//! is (`rcm`); without one it equals `ecmp`. All paths are shortest paths, so a packet cannot loop. Earlier
//! packets on the old path may be overtaken farther downstream: go-back-N then retransmits everything from
//! the first gap on, IRN only that packet (`floodway reproduce rcm reordering` counts them; `moves` in the
//! counters counts the moves).
//!
//! # Known differences
//!
//! - The paper does not say when congestion is severe, nor how order is kept: here `rcm` defines the former
//!   (`severe`), and a flow moves only while none of its packets waits at the port.
//! - By section 3.2 edge and inner ports have the root's flows alone; here one entry of the port's own memory
//!   also keeps a flow (section 3.4), so that a fast victim does not move.
//! - New flows are not treated differently from old ones: a flow without stored state is on the path of its
//!   hash.
//!
//! # References
//!
//! - "Regional Congestion Mitigation in Lossless Datacenter Networks", section 3.4.

use std::collections::{BTreeMap, VecDeque};

use floodway_units::{PortId, Rng, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ecmp;
use crate::slots::{self, PacketView, ParamError, PortView, Routing, SwitchInfo};

/// Parameters of switch-level adaptive routing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Sar")]
pub struct Params {
    /// Selects other initial paths with the same run seed: any whole number of 32 bits.
    /// Source: floodway's choice.
    pub seed: u32,
    /// Number of moved flows that a switch stores, at least 1.
    /// Source: floodway's choice; the paper does not say.
    pub most_flows: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params { seed: 0, most_flows: 4096 }
    }
}

impl Routing for Params {
    type Router = Router;

    fn build(&self, switch: &SwitchInfo) -> Result<Router, ParamError> {
        if self.most_flows == 0 {
            return Err(ParamError::new("most-flows", "a table of 0 flows moves none; the minimum is 1"));
        }
        let home = ecmp::Params { seed: self.seed, ..ecmp::Params::default() }.build(switch)?;
        Ok(Router {
            home,
            most_flows: self.most_flows as usize,
            moved: BTreeMap::new(),
            order: VecDeque::new(),
        })
    }

    fn reads_degrees(&self) -> bool {
        true
    }
}

/// One per switch.
#[derive(Clone, Debug)]
pub struct Router {
    home: ecmp::Router,
    most_flows: usize,
    /// Ports of the flows that are not on the path of their hash, or were not at some time.
    moved: BTreeMap<u64, PortId>,
    /// Those flows, in the order in which they moved first.
    order: VecDeque<u64>,
}

impl Router {
    fn remember(&mut self, flow: u64, port: PortId) {
        if self.moved.insert(flow, port).is_some() {
            return;
        }
        self.order.push_back(flow);
        if self.order.len() > self.most_flows
            && let Some(first) = self.order.pop_front()
        {
            self.moved.remove(&first);
        }
    }
}

/// Should a packet leave this port if it may?
fn is_left(view: &PortView) -> bool {
    // Section 3.4: in a congested region flows that are not harmful take another path.
    view.signals.severe && !view.harmful && !view.holds_flow
}

/// The least congested of the ports that are not severely congested; of equal ones the first from `home` on.
fn best(candidates: &[PortView], home: usize) -> Option<usize> {
    let ports = candidates.len();
    let from_home = (0..ports).map(|i| (home + i) % ports);
    let open = from_home.filter(|&port| candidates[port].up && !candidates[port].signals.severe);
    // Section 3.4: the next port is that with the least regional degree.
    open.min_by(|&a, &b| {
        // Eq. 2: the degree of the region, from the port's own and its neighbour's.
        let degree = |port: usize| candidates[port].signals.degree;
        degree(a).total_cmp(&degree(b)).then(candidates[a].queued.cmp(&candidates[b].queued))
    })
}

impl slots::Router for Router {
    fn reads_ports(&self) -> bool {
        true
    }

    fn usual_port(&mut self, p: &PacketView, ports: &[PortId]) -> Option<usize> {
        let moved = if p.is_reply { None } else { self.moved.get(&p.flow_hash) };
        let at = moved.and_then(|moved| ports.iter().position(|port| port == moved));
        Some(at.unwrap_or_else(|| self.home.choose(p, ports.len())))
    }

    fn stays(&self, p: &PacketView, at: &PortView) -> bool {
        p.is_reply || !is_left(at)
    }

    /// For a packet that does not stay.
    fn route(&mut self, _now: Time, _rng: &mut Rng, p: &PacketView, candidates: &[PortView]) -> usize {
        let home = self.home.choose(p, candidates.len());
        let at = self.moved.get(&p.flow_hash);
        let at = at.and_then(|port| candidates.iter().position(|view| view.port == *port)).unwrap_or(home);
        // Section 3.4: without another path the flow stays.
        let Some(better) = best(candidates, home) else { return at };
        self.remember(p.flow_hash, candidates[better].port);
        better
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slots::{Router as _, Signals};
    use crate::testing::{Bench, packet};

    fn view(port: u32, degree: f32) -> PortView {
        PortView {
            port: PortId(port),
            signals: Signals { degree, severe: degree >= 32.0, ..Signals::default() },
            ..PortView::example()
        }
    }

    fn router(most_flows: u32) -> Router {
        let params = Params { most_flows, ..Params::default() };
        params.build(&SwitchInfo { key: 7, hash_seed: None }).expect("valid")
    }

    /// Routes a packet as a switch does.
    fn route(router: &mut Router, flow: u64, views: &[PortView]) -> usize {
        let p = PacketView { flow_hash: flow, ..packet(1_000) };
        let ports: Vec<_> = views.iter().map(|view| view.port).collect();
        let usual = router.usual_port(&p, &ports).expect("there always is one");
        if router.stays(&p, &views[usual]) {
            return usual;
        }
        router.route(Time::ZERO, &mut Bench::<()>::new().rng, &p, views)
    }

    /// Three ports with these degrees, the first being that of the flow's hash.
    fn three_ports(router: &mut Router, flow: u64, degrees: [f32; 3]) -> (usize, Vec<PortView>) {
        let calm: Vec<_> = (0..3).map(|port| view(port, 0.0)).collect();
        let home = route(router, flow, &calm);
        let mut views = calm;
        for (i, degree) in degrees.into_iter().enumerate() {
            let port = (home + i) % 3;
            views[port] = view(port as u32, degree);
        }
        (home, views)
    }

    #[test]
    fn a_flow_leaves_a_severely_congested_port_for_the_least_congested_and_stays_there() {
        let mut router = router(8);
        let (home, mut views) = three_ports(&mut router, 5, [40.0, 20.0, 10.0]);
        let chosen = route(&mut router, 5, &views);
        assert_eq!(chosen, (home + 2) % 3);
        // It is over where it came from: that is no reason to go back.
        views[home] = view(home as u32, 0.0);
        assert_eq!(route(&mut router, 5, &views), chosen);
        views[chosen] = view(chosen as u32, 63.0);
        assert_eq!(route(&mut router, 5, &views), home);
    }

    #[test]
    fn harmful_flows_and_flows_of_which_something_waits_never_move() {
        let mut router = router(8);
        for held in [true, false] {
            let (home, mut views) = three_ports(&mut router, 5, [63.0, 0.0, 0.0]);
            (views[home].harmful, views[home].holds_flow) = (held, !held);
            assert_eq!(route(&mut router, 5, &views), home);
        }
        let (home, views) = three_ports(&mut router, 5, [63.0, 32.0, 40.0]);
        assert_eq!(route(&mut router, 5, &views), home, "there is no other port");
        let (home, views) = three_ports(&mut router, 5, [31.0, 0.0, 0.0]);
        assert_eq!(route(&mut router, 5, &views), home, "it is not severe");
    }

    #[test]
    fn ports_that_are_down_are_not_chosen() {
        let mut router = router(8);
        let (home, mut views) = three_ports(&mut router, 5, [63.0, 0.0, 9.0]);
        views[(home + 1) % 3].up = false;
        assert_eq!(route(&mut router, 5, &views), (home + 2) % 3);
    }

    #[test]
    fn beyond_its_memory_the_flow_that_moved_first_goes_home() {
        let mut router = router(2);
        let mut moved = Vec::new();
        for flow in 1..=3 {
            let (home, views) = three_ports(&mut router, flow, [63.0, 0.0, 0.0]);
            moved.push((flow, home, route(&mut router, flow, &views)));
        }
        let calm: Vec<_> = (0..3).map(|port| view(port, 0.0)).collect();
        let now: Vec<_> = moved.iter().map(|&(flow, ..)| route(&mut router, flow, &calm)).collect();
        assert_eq!(now, [moved[0].1, moved[1].2, moved[2].2]);
        assert_eq!((router.moved.len(), router.order.len()), (2, 2));
    }
}
