//! Packets at hosts that they were not sent to: none, or the simulator has a bug.

use crate::link::packet::Packet;
use crate::records::strays::{Stray, Strays};
use crate::run::at_node::AtNode;

impl AtNode<'_, '_> {
    /// Is this the host that a packet was sent to?
    #[inline]
    pub fn is_meant(&self, packet: &Packet) -> bool {
        let (pairs, at) = (&self.ctx.run.pairs, packet.flow.index());
        let host =
            if packet.is_reply() { pairs.senders.known(at).host } else { pairs.receivers.known(at).host };
        host == self.node.id
    }

    /// A packet has arrived at a host that it was not sent to, where nothing is done with it.
    #[cold]
    #[inline(never)]
    pub fn strays(&mut self, packet: &Packet) {
        let path = &self.ctx.run.pairs.paths[packet.flow.index()];
        let to = if packet.is_reply() { path.source } else { path.destination };
        let first =
            Stray { time: self.ctx.now, order: self.ctx.order, flow: path.name(), at: self.node.id, to };
        self.ctx.run.kept.records.strays.absorb(Strays { count: 1, first: Some(first) });
        self.is_gone(packet);
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::{NodeId, Span, Time};

    use crate::network::layout::Local;
    use crate::records::outcome::{Control, Invariants, Verdict};
    use crate::run::fabric::Fabric;
    use crate::testing::busy;

    /// The invariants of a run in which the flow from a changes its path after 20 us: its data, or the
    /// replies to it, leave the switch after two links by another port.
    fn invariants(diverted: Option<(bool, usize)>) -> Invariants {
        let (blueprint, control) = (busy(), Control::default());
        let mut fabric = Fabric::build(&blueprint, &control).expect("it is sound");
        fabric.world.run_until(Time::ZERO + Span::us(20));
        let paths = &mut fabric.world.run.pairs.paths;
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
