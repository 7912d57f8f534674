//! Machines at hosts: reliability, notification and reaction of queue pairs.

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_units::{Bytes, FlowId, NodeId, Rate, Span, Time};

use super::{Backlog, Cnp, Cut, Cx, Header, Mark, PacketView, Report, Reported, Room, Sample};

/// The fixed values of a queue pair when its machines are built.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct QpInfo {
    /// The flow at the time of building.
    pub flow: FlowId,
    /// That flow as results name it: its workload, by place in the scenario,
    pub workload: u32,
    /// the host that sends it,
    pub source: NodeId,
    /// the one that receives it,
    pub destination: NodeId,
    /// and its number among those of this workload from this source.
    pub number: u64,
    /// Rate of the sender's NIC.
    pub line_rate: Rate,
    /// Lowest rate on the path.
    pub path_rate: Rate,
    /// Round-trip time without queues: propagation both ways, store and forward of a full packet one way
    /// and of an ACK the other.
    pub base_rtt: Span,
    /// Switches that a data packet passes, relays among them.
    pub hops: u32,
    /// Rounding of bandwidth-delay products to whole bytes.
    pub products: Products,
    /// The largest base round-trip time of all pairs of hosts, as the run counts it; zero where no mechanism
    /// of the run needs it ([`Need::Largest`](super::Need::Largest)).
    pub largest_rtt: Span,
    /// The largest bandwidth-delay product of all pairs of hosts; zero in the same case.
    pub largest_bdp: Bytes,
    /// The base round-trip time plus the time that all queues on the path there need to drain when they are
    /// full: at each switch, the bytes given to its ingress alone, over the rate of the egress. Without
    /// queues where no mechanism of the flow needs them ([`Need::Queues`](super::Need::Queues)).
    pub full_rtt: Span,
    /// The largest such time of all pairs of hosts; zero where no mechanism of the run needs it.
    pub largest_full_rtt: Span,
    /// Payload of a full packet.
    pub mtu: Bytes,
    /// A full packet as a link carries it.
    pub wire: Bytes,
    /// A layer below this one makes increase steps ([`ReactionPoint::on_increase`]); false for other
    /// machines.
    pub steps_below: bool,
    /// Every link of the path, there and back, has a flow control for the flow's class, no error rate
    /// and no down time.
    pub lossless: bool,
    /// All data takes one path, so that packets arrive in the order in which they are sent.
    pub keeps_order: bool,
    /// Switches cut the payload of packets that they have no room for, and forward the header.
    pub trims: bool,
    /// The largest bound of an output queue of data; zero where queues have no bound of their own.
    pub output_queue: Bytes,
    /// A layer of the sender's rate control gets credit from the receiver.
    pub has_credit: bool,
    /// A key of the run's seed and the flow, the same whatever else is in the run.
    pub key: u64,
}

impl QpInfo {
    /// Bandwidth-delay product of the path: its lowest rate times the base round-trip time, in whole bytes.
    pub fn bdp(&self) -> Bytes {
        self.products.of(self.path_rate, self.base_rtt)
    }
}

/// Rounding of the product of a rate and a time to whole bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Products {
    /// Rounded up.
    #[default]
    Up,
    /// Rounded down, as in HPCC's simulator.
    Down,
    /// Rounded down after a time that is cut in ns-3's seconds, as in SWING's simulator.
    Ns3Seconds,
}

impl Products {
    /// Bytes that `rate` sends in `time`.
    pub fn of(self, rate: Rate, time: Span) -> Bytes {
        match self {
            Products::Up => rate.bytes_covering(time),
            Products::Down => rate.bytes_in(time),
            Products::Ns3Seconds => rate.bytes_in_ns3_seconds(time),
        }
    }
}

/// The limits set by a reaction point, or by a stack of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Allowance {
    /// Pacing rate of wire bytes.
    pub rate: Rate,
    /// Payload bytes in flight.
    pub window: Bytes,
}

impl Allowance {
    /// No limit.
    pub const FREE: Allowance = Allowance { rate: Rate::MAX, window: Bytes::MAX };

    /// The minimum of both.
    pub fn least(self, other: Allowance) -> Allowance {
        Allowance { rate: self.rate.min(other.rate), window: self.window.min(other.window) }
    }
}

/// One hop of in-band telemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct IntHop {
    /// Link rate.
    pub rate: Rate,
    /// When the packet left.
    pub time: Time,
    /// Bytes sent by the port before it.
    pub tx_bytes: u64,
    /// Bytes that remain in the port's queues.
    pub queue: Bytes,
}

/// An acknowledgement, as the reaction points see it.
#[derive(Clone, Copy, Debug)]
pub struct AckView<'a> {
    /// Payload bytes newly acknowledged.
    pub acked: Bytes,
    /// All packets before this sequence number are acknowledged.
    pub next: u64,
    /// Sequence number of the packet that the sender sends next, new or again.
    pub sent: u64,
    /// From the data packet's start on the wire to now.
    pub rtt: Span,
    /// Payload bytes in flight.
    pub in_flight: Bytes,
    /// The mark on the data packet.
    pub marked: Mark,
    /// Telemetry of the data packet's path.
    pub int: &'a [IntHop],
}

/// A loss as reported to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossView {
    /// Payload bytes that will be retransmitted.
    pub lost: Bytes,
    /// Found by a timer rather than by a reply.
    pub timeout: bool,
}

/// A packet of a queue pair, as reliability sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Packet sequence number, from 0.
    pub psn: u64,
    /// Bytes of payload.
    pub payload: Bytes,
    /// The first packet of its message.
    pub first: bool,
    /// The last packet of its message.
    pub last: bool,
    /// Sent before.
    pub retransmission: bool,
}

/// A receiver's reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// All packets before `next` have arrived.
    Ack {
        /// The expected sequence number.
        next: u64,
    },
    /// All packets before `next` have arrived, `next` is missing.
    Nak {
        /// The expected sequence number.
        next: u64,
    },
    /// As `Nak`, and `seen` has arrived out of order.
    Sack {
        /// The expected sequence number.
        next: u64,
        /// What has arrived.
        seen: u64,
    },
    /// `psn` has arrived; the reply has no information about others.
    One {
        /// What has arrived.
        psn: u64,
    },
}

impl Reply {
    /// All packets before this have arrived, according to the reply.
    pub fn next(self) -> u64 {
        match self {
            Reply::Ack { next } | Reply::Nak { next } | Reply::Sack { next, .. } => next,
            Reply::One { .. } => 0,
        }
    }

    /// Does it answer a packet that arrived before one that is missing?
    pub fn reports_gap(self) -> bool {
        match self {
            Reply::Nak { .. } => true,
            Reply::Sack { next, seen } => seen > next,
            Reply::Ack { .. } | Reply::One { .. } => false,
        }
    }
}

/// A small message between the two ends of a queue pair, which their machines make and read. It is a packet
/// of its own in the control class, or is carried by a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct ControlMessage {
    /// Its kind, as the machines that exchange it number them.
    pub kind: u8,
    /// A number that it carries.
    pub number: u64,
    /// An instant that it carries.
    pub time: Time,
    /// Bytes beyond the smallest frame.
    pub padding: u8,
    /// Ports with a meter queue it, and may drop it ([`Meter`](super::Meter)).
    pub metered: bool,
}

/// The data packets for which a notification point is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observes {
    /// All.
    All,
    /// Those that arrive with a mark.
    Marked,
    /// None.
    Nothing,
}

hooks! {
    ($)
    /// At the receiver: decides when to send a CNP; one per receiving queue pair.
    pub trait NotificationPoint => notification_point for machines {
        /// The packets that `on_data` is called for; a call for others has no effect.
        fn observes(&self) -> Observes {
            Observes::All
        }
        /// A data packet has arrived.
        fn on_data(&mut self, cx: &mut Cx<'_, Cnp>, p: &PacketView);
        /// The sender's rate control has sent this, alone or with a data packet, for which `on_data` is
        /// called first. Pushed messages go to the sender.
        fn on_message(&mut self, _cx: &mut Cx<'_, ControlMessage>, _m: &ControlMessage) {}
        /// When to call `on_timeout` next; read after each of `on_message` and `on_timeout`. The queue pair
        /// stays open as long as there is such a time.
        fn next_timeout(&self) -> Option<Time> {
            None
        }
        /// The instant that `next_timeout` named has come. Pushed messages go to the sender.
        fn on_timeout(&mut self, _cx: &mut Cx<'_, ControlMessage>) {}
    }
}

/// Timers of a reaction point that are events of their own.
pub const TICKS: usize = 3;

hooks! {
    ($)
    /// At the sender: a layer of rate and window control; one stack per sending queue pair.
    pub trait ReactionPoint => reaction_point for machines {
        /// A data packet of `wire` bytes starts on the wire.
        fn on_sent(&mut self, _now: Time, _wire: Bytes) {}
        /// An acknowledgement has arrived.
        fn on_ack(&mut self, _now: Time, _ack: &AckView<'_>) {}
        /// An acknowledgement has arrived in a report ([`Report`]), perhaps with a sample of the round trip.
        fn on_report(&mut self, now: Time, ack: &AckView<'_>, _sample: Option<&Sample>) {
            self.on_ack(now, ack);
        }
        /// A report says that the payload of a packet was cut.
        fn on_cut(&mut self, now: Time, cut: &Cut) {
            self.on_loss(now, &LossView { lost: cut.lost, timeout: false });
        }
        /// A CNP has arrived.
        fn on_cnp(&mut self, _now: Time, _n: &Cnp) {}
        /// Packets were lost.
        fn on_loss(&mut self, _now: Time, _l: &LossView) {}
        /// A layer below has made an increase step, at line rate too.
        fn on_increase(&mut self, _now: Time) {}
        /// Increase steps made so far; the stack compares it around every call and calls the layers above.
        fn increases(&self) -> u64 {
            0
        }
        /// When to call `on_timeout` next; read when the queue pair begins, and after every call.
        fn next_timeout(&self) -> Option<Time> {
            None
        }
        /// The instant that `next_timeout` named has come.
        fn on_timeout(&mut self, _now: Time) {}
        /// When each of its timers ticks next (`Time::NEVER`: it does not run), if each is an event of its
        /// own. Where events of one instant happen in the order in which they were scheduled, this is read in
        /// place of `next_timeout`; timers that are set at once are scheduled in this order.
        fn ticks(&self) -> Option<[Time; TICKS]> {
            None
        }
        /// A timer ticks; `_timer` is its index in `ticks`.
        fn on_tick(&mut self, _now: Time, _timer: usize) {}
        /// Does `allowance` never change, whatever happens?
        fn is_constant(&self) -> bool {
            false
        }
        /// Does `on_sent` do anything? If not it is not called, and no query follows the start of a packet.
        fn observes_sent(&self) -> bool {
            true
        }
        /// Does `on_ack` do anything? If not it is not called.
        fn observes_acks(&self) -> bool {
            true
        }
        /// Does it exchange messages with the receiver ([`Need::Messages`](super::Need::Messages))? If not,
        /// none of the next five is called.
        fn has_messages(&self) -> bool {
            false
        }
        /// The queue pair has something to send, or no longer has.
        fn on_demand(&mut self, _now: Time, _has: bool) {}
        /// The receiver's notification point has sent this.
        fn on_message(&mut self, _now: Time, _m: &ControlMessage) {}
        /// The next message to the receiver; called after every call, until it returns none.
        fn next_message(&mut self, _now: Time) -> Option<ControlMessage> {
            None
        }
        /// The message in the header of the data packet that starts now: it takes no bytes. Called before
        /// `on_sent`.
        fn with_data(&mut self, _now: Time) -> Option<ControlMessage> {
            None
        }
        /// A packet starts, where receivers grant credit: spends the credit. Returns up to which number the
        /// packet asks for more; `_left` has its bytes and those behind it, and `_window` is that of the
        /// whole stack.
        fn spend(&mut self, _now: Time, _left: Backlog, _window: Bytes) -> u64 {
            0
        }
        /// May packets start? If not, none does, whatever rate and window allow.
        fn is_open(&self) -> bool {
            true
        }
        /// Is its window the one at line rate, which shrinks with the rate that the whole stack allows?
        fn scales_window(&self) -> bool {
            false
        }
        /// How often a rate was set so far, including to the same value, if, as published, each setting moves
        /// the packet that waits for its pacing time; `None` if that packet keeps its time.
        fn rates_set(&self) -> Option<u64> {
            None
        }
        /// Its whole state, in which sequence numbers count from `psn`, and the bytes sent by the ports of
        /// its path that write telemetry from `sent`: two that are equal as texts behave equally, each from
        /// its own packet on. `None` where that is not known: all that it keeps is compared as it is.
        fn counted_from(&self, _psn: u64, _sent: &[u64]) -> Option<String> {
            None
        }
        /// The limits that this layer sets now.
        fn allowance(&self) -> Allowance;
    }
}

/// The sequence number of a reaction point's next update, counted from `psn`, for `counted_from`: none while
/// it is 0, before the first update.
pub(crate) fn counted_update(at: u64, psn: u64) -> Option<u64> {
    (at > 0).then(|| at.wrapping_sub(psn))
}

hooks! {
    ($)
    /// At the sender: chooses new packets and retransmissions; one per sending queue pair.
    pub trait TransportSender => transport_sender for machines {
        /// Adds a message to the data to be sent.
        fn push(&mut self, message: Bytes);
        /// Bytes of the packet that `next_segment` would return now, new data or retransmission, as windows
        /// count them: its payload, if the transport counts no headers.
        fn ready(&self) -> Option<Bytes>;
        /// Is there anything left to send, whether there is room for it or not? In SWING's IRN: to be
        /// acknowledged.
        fn has_more(&self) -> bool {
            self.ready().is_some()
        }
        /// A NIC of ConWeave's simulator has polled whether this may send, which changes the next packet
        /// there.
        fn on_poll(&mut self) {}
        /// Takes the next packet; `None` exactly where `ready` returns it.
        fn next_segment(&mut self, now: Time) -> Option<Segment>;
        /// A reply has arrived: returns payload bytes newly acknowledged, and the loss that it reports.
        fn on_reply(&mut self, now: Time, reply: Reply) -> (Bytes, Option<LossView>);
        /// All packets before this are acknowledged, now that `reply` has arrived.
        fn acknowledged(&self, reply: Reply) -> u64 {
            reply.next()
        }
        /// Does the packet that `next_segment` would return need room in the windows? Bytes already counted
        /// in flight do not.
        fn needs_room(&self) -> bool {
            true
        }
        /// Does a retransmission wait that is sent before all new data of the NIC, of any flow?
        fn has_repeats(&self) -> bool {
            false
        }
        /// Takes the oldest of these retransmissions; `None` if it has been acknowledged meanwhile.
        fn next_repeat(&mut self, _now: Time) -> Option<Segment> {
            None
        }
        /// Do its packets carry headers, and its receiver's replies reports? If not, none of the next five
        /// is called.
        fn has_headers(&self) -> bool {
            false
        }
        /// What is left to be sent.
        fn backlog(&self) -> Backlog {
            Backlog::default()
        }
        /// The header of the packet that `next_segment` has just returned.
        fn header(&mut self, _now: Time, _room: &Room) -> Header {
            Header::default()
        }
        /// A report has arrived.
        fn on_reported(&mut self, _now: Time, _report: &Report) -> Reported {
            Reported::default()
        }
        /// The layers of rate control have seen the report, after which their window is this.
        fn after_report(&mut self, _now: Time, _window: Bytes) {}
        /// The header of the next packet without payload that is due; read after each call of the machines.
        fn next_query(&mut self, _now: Time, _room: &Room) -> Option<Header> {
            None
        }
        /// Sequence number of the packet that `next_segment` would return, or would return if there were more
        /// to send.
        fn next_psn(&self) -> u64;
        /// Bytes sent and not acknowledged, as windows count them; a transport without acknowledgements has
        /// none.
        fn in_flight(&self) -> Bytes;
        /// All pushed messages are sent and, where there are acknowledgements, acknowledged.
        fn is_done(&self) -> bool;
        /// A window of its own (IRN's BDP cap).
        fn cap(&self) -> Bytes {
            Bytes::MAX
        }
        /// When to call `on_timeout` next; at once where that time has passed.
        fn next_timeout(&self) -> Option<Time> {
            None
        }
        /// Does each packet have a timer of its own, which is set when the packet is sent?
        fn times_packets(&self) -> bool {
            false
        }
        /// Where ties are resolved by the order of scheduling: the position in it of the timer that the next
        /// packet sets, passed before `next_segment` and `next_repeat`.
        fn number_timer(&mut self, _number: u64) {}
        /// The position of the timer that `next_timeout` names; `None` where timers have none.
        fn timeout_number(&self) -> Option<u64> {
            None
        }
        /// The instant that `next_timeout` named has come; returns the loss that it detects. If several
        /// timers expire at one instant it is called for each in turn.
        fn on_timeout(&mut self, _now: Time) -> Option<LossView> {
            None
        }
        /// Its whole state, in which sequence numbers count from `psn` and payload from any number: two that
        /// are equal as texts behave equally, each from its own packet on. `None` where that is not known.
        fn counted_from(&self, _psn: u64) -> Option<String> {
            None
        }
    }
}

hooks! {
    ($)
    /// At the receiver: decides which bytes count as delivered, and which replies to send; one per receiving
    /// queue pair.
    pub trait TransportReceiver => transport_receiver for machines {
        /// A data packet has arrived: returns the payload bytes that it delivers, each exactly once.
        fn on_segment(&mut self, cx: &mut Cx<'_, Reply>, s: &Segment) -> Bytes;
        /// The same of a packet with a header: replies are reports. `_is_marked`: it was marked on its way.
        fn on_packet(
            &mut self,
            _cx: &mut Cx<'_, Report>,
            _s: &Segment,
            _h: &Header,
            _is_marked: bool,
        ) -> Bytes {
            Bytes::ZERO
        }
        /// A packet has arrived without its payload; `_last_hop`: that was cut at the port that leads here.
        fn on_trimmed(
            &mut self,
            _cx: &mut Cx<'_, Report>,
            _s: &Segment,
            _h: &Header,
            _is_marked: bool,
            _last_hop: bool,
        ) {
        }
        /// A packet has arrived that has no payload and asks for a report ([`Query`]).
        fn on_query(&mut self, _cx: &mut Cx<'_, Report>, _h: &Header, _is_marked: bool) {}
        /// Do replies that report a gap count as replies to a marked packet ([`Reply::reports_gap`])?
        fn marks_disorder(&self) -> bool {
            false
        }
        /// As [`TransportSender::counted_from`].
        fn counted_from(&self, _psn: u64) -> Option<String> {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_reports_a_gap_only_where_a_later_packet_has_arrived() {
        assert!(Reply::Nak { next: 3 }.reports_gap());
        assert!(Reply::Sack { next: 3, seen: 4 }.reports_gap());
        assert!(!Reply::Sack { next: 3, seen: 3 }.reports_gap());
        assert!(!Reply::Ack { next: 3 }.reports_gap() && !Reply::One { psn: 3 }.reports_gap());
    }
}
