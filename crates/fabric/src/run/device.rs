//! What a node is besides the ends of its links: a host or a switch.
//!
//! Links, flow control, accounts and congestion points work alike at both. Their code (`At<D>`) is compiled
//! once for each, and asks a [`Device`] where a host and a switch differ. The code of hosts (`AtHost`)
//! reaches no switch, and that of switches (`AtSwitch`) no host.

use floodway_blueprint::network::layout::{Local, LocalPortClass};
use floodway_mechanisms::slots::{Disposition, DropReason};

use crate::link::arena::PacketRef;
use crate::link::packet::Packet;
use crate::run::at_node::At;
use crate::run::events::EventKind;
use crate::switch::crossbar::Inputs;
use crate::switch::forward::{Relay, Switch};

/// Where hosts and switches differ.
pub(crate) trait Device: Sized {
    const IS_HOST: bool;

    /// The switch that it is, if it is one.
    fn as_switch(&self) -> Option<&Switch>;

    /// Does it have something to send by a port that waits in no queue there?
    fn has_waiting(&self, port: Local) -> bool;

    /// The inputs of a switch with a crossbar.
    #[inline]
    fn inputs(&self) -> Option<&Inputs> {
        self.as_switch()?.inputs.as_deref()
    }

    /// The relay that it is, if it is one.
    #[inline]
    fn relay(&self) -> Option<&Relay> {
        self.as_switch()?.relay.as_ref()
    }

    /// A packet has been charged that leaves by `out`.
    fn charged(&mut self, _ingress: Local, _out: Local, _class: u8, _frame: u16) {}

    /// Is it an input-output queued switch?
    #[inline]
    fn has_crossbar(&self) -> bool {
        self.inputs().is_some()
    }

    /// Of a relay's port: the disposition of pauses of a class, and the other port.
    fn relays(&self, port: Local, class: u8) -> Option<(Disposition, Local)> {
        let relay = self.relay()?;
        Some((relay.disposition(port, class), relay.other(port)))
    }

    /// Is the node a relay whose two links are joined?
    fn is_bypassed(&self) -> bool {
        self.relay().is_some_and(|relay| relay.is_bypassed)
    }

    /// A packet has arrived whole; `port_class` is its account.
    fn receives(at: &mut At<'_, '_, Self>, ingress: Local, port_class: LocalPortClass, packet_ref: PacketRef);

    /// The same, where ties go as htsim schedules events.
    fn receives_by_wires(at: &mut At<'_, '_, Self>, ingress: Local, packet_ref: PacketRef);

    /// An event of a kind that it alone has.
    fn executes(at: &mut At<'_, '_, Self>, kind: EventKind, id: u32, order: u64);

    /// A transmitter is free, and something waits.
    fn departs(at: &mut At<'_, '_, Self>, port: Local);

    /// A transmitter is free, and data are next.
    fn sends_data(at: &mut At<'_, '_, Self>, port: Local);

    /// The same with an output queue.
    fn serves_output(at: &mut At<'_, '_, Self>, port: Local);

    /// Does what it sends stay in its queues until the last bit has left?
    #[inline]
    fn holds_output(&self) -> bool {
        false
    }

    /// Where it does: uncharges packets whose last bit has left by now, in the order of events.
    fn releases_in_order(_at: &mut At<'_, '_, Self>) {}

    /// Where a packet leaves that is made here, for the node behind `packet`'s path; none where no port leads
    /// there.
    fn way_of(at: &mut At<'_, '_, Self>, port: Local, packet: &Packet) -> Option<Local>;

    /// A class of a port has just been paused.
    fn is_paused(_at: &mut At<'_, '_, Self>, _port: Local, _class: u8) {}

    /// A receiver half has made frames for `ingress`, which are sent next.
    fn pauses(_at: &mut At<'_, '_, Self>, _ingress: Local) {}

    /// Packets of a class that wait at a port should wait in other queues, of which the second may lose them.
    fn isolates_waiting(at: &mut At<'_, '_, Self>, port: Local, class: u8);

    /// What has still to cross to a class of a port should wait in other queues.
    fn resorts_inputs(_at: &mut At<'_, '_, Self>, _port: Local, _class: u8) {}

    /// What has still to come to the queues of a class of a port is dropped.
    fn flushes(_at: &mut At<'_, '_, Self>, _port: Local, _class: u8, _reason: DropReason) {}

    /// A packet has been taken out of the `q`-th queue of a port and is dropped.
    fn drops(at: &mut At<'_, '_, Self>, at_queue: (Local, usize), packet: &Packet, reason: DropReason);
}
