//! Packets at hosts that they were not sent to: none, or the simulator has a bug.

use floodway_records::strays::{Stray, Strays};
use floodway_units::NodeId;

use crate::host::queue_pairs::QueuePairs;
use crate::link::packet::Packet;

impl QueuePairs {
    /// Is a host the one that a packet was sent to?
    #[inline]
    pub fn is_meant(&self, packet: &Packet, host: NodeId) -> bool {
        let flow = packet.flow;
        let to = if packet.is_reply() { self.senders.of(flow).host } else { self.receivers.of(flow).host };
        to == host
    }

    /// A packet that has arrived at a host, at this time and by the event of this order, which it was not
    /// sent to.
    #[cold]
    #[inline(never)]
    pub fn stray(&self, packet: &Packet, at: NodeId, (time, order): (u64, u64)) -> Strays {
        let path = &self.paths[packet.flow.index()];
        let to = if packet.is_reply() { path.source } else { path.destination };
        Strays { count: 1, first: Some(Stray { time, order, flow: path.name(), at, to }) }
    }
}

#[cfg(test)]
mod tests {
    use floodway_blueprint::network::layout::Local;
    use floodway_records::outcome::{Control, Invariants, Verdict};
    use floodway_units::{NodeId, Span, Time};

    use crate::run::fabric::Fabric;
    use crate::testing::busy;

    /// The invariants of a run in which the flow from a changes its path after 20 us: its data, or the
    /// replies to it, leave the switch after two links by another port.
    fn invariants(diverted: Option<(bool, usize)>) -> Invariants {
        let (blueprint, control) = (busy(), Control::default());
        let mut fabric = Fabric::build(&blueprint, &control).expect("it is sound");
        fabric.world.run_until(Time::ZERO + Span::us(20));
        let paths = &mut fabric.world.runs.own.pairs.paths;
        let slot = (0..paths.len()).find(|&slot| paths[slot].source == NodeId(0)).expect("it has begun");
        if let Some((reply, port)) = diverted {
            paths[slot].divert(reply, 2, Local::at(port));
        }
        fabric.run().outcome.invariants
    }

    #[test]
    fn data_at_a_wrong_host_breaks_an_invariant() {
        assert_eq!(invariants(None).destinations, Verdict::Holds);
        let broken = invariants(Some((false, 0)));
        let Verdict::Broken(how) = broken.destinations else { panic!("nothing was noticed") };
        assert!(how.contains("packets arrived at hosts that they were not sent to"), "{how}");
        assert!(how.ends_with("at c instead of d"), "{how}");
        assert_eq!((broken.conservation, broken.buffers), (Verdict::Holds, Verdict::Holds));
    }

    #[test]
    fn replies_at_a_wrong_host_break_an_invariant() {
        let broken = invariants(Some((true, 1)));
        let Verdict::Broken(how) = broken.destinations else { panic!("nothing was noticed") };
        assert!(how.ends_with("at b instead of a"), "{how}");
    }
}
