//! The sending half of a queue pair: its state, and what its stack allows.
//!
//! Layers of rate control receive the increase steps of the layers before them; when they are created, they
//! are given whether there are such layers.

mod events;
mod messages;

use std::collections::VecDeque;

use floodway_blueprint::network::blueprint::{FlowSettings, Repacing, Rounding, WindowRule};
use floodway_blueprint::network::layout::Local;
use floodway_blueprint::network::path::Path;
use floodway_blueprint::network::serial::pacing_gap;
use floodway_mechanisms::registry::{AnyReactionPoint, AnyTransportSender};
use floodway_mechanisms::slots::{
    Allowance, LossView, QpInfo, ReactionPoint, Reply, Segment, TICKS, TransportSender,
};
use floodway_units::{Bytes, FlowId, NodeId, Rate, Time};
use floodway_wire::Telemetry;

use crate::host::messages::Outgoing;
use crate::host::nic::Nic;
use crate::link::packet::{FIRST, INT, Kind, LAST, ON_PATH, Packet, RETRANSMISSION, frame_bytes};
use crate::run::events::NEVER;
use crate::run::events::{Armed, Events, Set};

/// A queue pair at its sender; what every packet and reply needs comes first. Neither half reads the other.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct SendHalf {
    /// The sender's NIC, and its rank there.
    pub nic: Local,
    pub rank: u32,
    /// Its part of the packets in the network: data sent less replies and CNPs received. It wraps, for only
    /// the sum with what the others count means anything.
    pub in_network: i32,
    /// Bytes in buffers of a full packet that is not the first of its message.
    pub full_frame: u16,
    /// Its payload.
    pub full_payload: u16,
    pub class: u8,
    pub telemetry: Telemetry,
    /// Its packets' path is known.
    pub on_path: bool,
    pub state: State,
    pub turn: Turn,
    pub layers: Layers,
    pub pacing: Pacing,
    /// Its reliability answers.
    pub has_acks: bool,
    /// The host that it is at.
    pub host: NodeId,
    pub allowance: Allowance,
    /// Its value in the log of allowances.
    pub allowance_noted: Option<Allowance>,
    pub timers: Timers,
    pub transport: AnyTransportSender,
    pub stack: Vec<AnyReactionPoint>,
    /// The oldest message that is not complete here, or the last one.
    pub head: Outgoing,
    /// Messages behind it, none of them complete.
    pub rest: VecDeque<Outgoing>,
    /// Sequence number after the last packet of all messages.
    pub end: u64,
    /// The packet from which its turns among ties count: of a job the first one of the iteration.
    pub turns_from: u64,
}

/// How far a queue pair is at its sender.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct State {
    /// Open; else its slot is free.
    pub alive: bool,
    /// Its one message is complete here; never of a shared queue pair.
    pub done: bool,
    /// Carries messages as they are posted, to the end of the run.
    pub shared: bool,
}

/// Its turns at its NIC.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Turn {
    /// In its NIC's ring.
    pub is_ready: bool,
    /// Its retransmissions go before all new data of the NIC, and it has some there now.
    pub repeats_first: bool,
    pub is_repeating: bool,
}

/// What the layers of its stack need to be asked.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Layers {
    /// The allowance of no layer of the stack ever changes: it is queried once.
    pub constant: bool,
    /// A layer is called for packets sent, or for replies.
    pub observes_sent: bool,
    pub observes_acks: bool,
    /// A layer's window shrinks with the rate.
    pub scales: bool,
    /// A layer exchanges messages with the receiver, or packets have headers. If so: it holds all packets
    /// back now, and knows that there is something to send.
    pub has_messages: bool,
    pub closed: bool,
    pub demand: bool,
}

/// When it may send next.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Pacing {
    pub paced: bool,
    /// A new rate moves the packet that waits for its pacing time.
    pub moves: bool,
    pub next_send: u64,
    /// When its last packet started, and its bytes on the wire.
    pub last_send: (u64, u64),
    /// When it waits in its NIC's pacing heap, else never.
    pub heap_at: u64,
    /// Bytes on the wire and the gap behind them at the present rate, of the size computed last: a division
    /// of 128 bits, and rates change less often than packets are sent.
    pub gap: (u64, u64),
    /// How often its rate was set.
    pub rates_set: u64,
}

/// Timers of transport and stack.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Timers {
    pub timer: Armed,
    /// Where ties go by scheduling order: timers of layers that are events of their own, each layer's in a
    /// row.
    pub ticks: Vec<Armed>,
    /// What names it in the events of its timer.
    pub timer_key: u64,
    /// Each of its packets has a timer, and ties go by the order in which they are set.
    pub numbered: bool,
}

/// What follows when the machines of a queue pair have been called at its sender, beside its transport's
/// timer and its own turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Called {
    /// Its layers were called, too: what they allow may have changed, and when they want to be called.
    pub layers: bool,
    /// Its NIC looks, since it may have something to send.
    pub looks: bool,
    /// Its NIC looks for what is to be retransmitted, of any flow.
    pub repeats: bool,
}

impl SendHalf {
    /// Of a queue pair that opens with the message `head`.
    pub fn new(
        settings: &FlowSettings,
        path: &Path,
        info: &QpInfo,
        mut transport: AnyTransportSender,
        (head, full_frame): (Outgoing, u16),
    ) -> Self {
        transport.push(Bytes(head.size));
        let mut info = *info;
        let build = |layer: &floodway_mechanisms::registry::ReactionParams| {
            let built = layer.build(&info).expect("checked when the fabric was built");
            info.steps_below |= layer.has_steps();
            built
        };
        let stack: Vec<_> = settings.rate_control.iter().map(build).collect();
        SendHalf {
            nic: path.nic,
            rank: path.rank,
            class: path.class,
            telemetry: path.telemetry,
            on_path: path.port(false, 0).is_some(),
            state: State { alive: true, ..State::default() },
            turn: Turn { repeats_first: settings.reliability.repeats_first(), ..Turn::default() },
            has_acks: path.has_acks,
            host: path.source,
            full_frame,
            full_payload: frame_bytes(info.mtu),
            layers: Layers {
                constant: stack.iter().all(ReactionPoint::is_constant),
                observes_sent: stack.iter().any(|layer| !layer.is_constant() && layer.observes_sent()),
                observes_acks: stack.iter().any(|layer| !layer.is_constant() && layer.observes_acks()),
                scales: stack.iter().any(ReactionPoint::scales_window),
                has_messages: transport.has_headers() || stack.iter().any(ReactionPoint::has_messages),
                closed: false,
                demand: false,
            },
            transport,
            stack,
            head,
            end: head.end,
            ..Self::idle()
        }
    }

    /// The packet of a segment, which starts now and takes `frame` bytes in buffers.
    #[inline]
    pub fn data_packet(&self, id: u32, segment: &Segment, frame: u16, now: u64) -> Packet {
        let mut packet = Packet::new(Kind::Data, FlowId(id), Bytes(u64::from(frame)));
        packet.set_psn(segment.psn, segment.psn.wrapping_sub(self.turns_from));
        packet.payload = frame_bytes(segment.payload);
        packet.stamp = now;
        packet.class = self.class;
        packet.flags = if segment.first { FIRST } else { 0 }
            | if segment.last { LAST } else { 0 }
            | if segment.retransmission { RETRANSMISSION } else { 0 }
            | if self.telemetry == Telemetry::Int { INT } else { 0 }
            | if self.on_path { ON_PATH } else { 0 };
        packet
    }

    /// From the start of a packet of `wire` bytes to the next one's, at the present rate.
    #[inline]
    pub fn gap_behind(&mut self, wire: u64, rounding: Rounding) -> u64 {
        if self.pacing.gap.0 != wire {
            self.pacing.gap = (wire, pacing_gap(self.allowance.rate, wire, rounding));
        }
        self.pacing.gap.1
    }

    /// One that has done nothing yet, and carries nothing.
    pub fn idle() -> Self {
        SendHalf {
            nic: Local::default(),
            rank: 0,
            class: 0,
            telemetry: Telemetry::None,
            on_path: false,
            state: State::default(),
            turn: Turn::default(),
            layers: Layers {
                constant: true,
                observes_sent: false,
                observes_acks: false,
                scales: false,
                has_messages: false,
                closed: false,
                demand: false,
            },
            pacing: Pacing {
                paced: false,
                moves: false,
                next_send: 0,
                last_send: (0, 0),
                heap_at: NEVER,
                gap: (NEVER, 0),
                rates_set: 0,
            },
            has_acks: false,
            host: NodeId(u32::MAX),
            full_frame: 0,
            full_payload: 0,
            in_network: 0,
            allowance: Allowance::FREE,
            allowance_noted: None,
            timers: Timers { timer: Armed::default(), ticks: Vec::new(), timer_key: 0, numbered: false },
            transport: AnyTransportSender::Custom(Box::new(Nobody)),
            stack: Vec::new(),
            head: Outgoing::NONE,
            rest: VecDeque::new(),
            end: 0,
            turns_from: 0,
        }
    }

    /// Where ties go by scheduling order, timers of layers that are events of their own are armed one by one.
    pub fn tick_alone(&mut self) {
        if self.stack.iter().any(|layer| layer.ticks().is_some()) {
            self.timers.ticks = vec![Armed::default(); TICKS * self.stack.len()];
        }
    }

    /// Are a layer's timers armed one by one?
    fn ticks_alone(&self, layer: &AnyReactionPoint) -> bool {
        !self.timers.ticks.is_empty() && layer.ticks().is_some()
    }

    /// When the layers want to be called next, but for those whose timers are armed one by one.
    pub fn next_of_layers(&self) -> Option<Time> {
        let layers = self.stack.iter().filter(|layer| !self.ticks_alone(layer));
        layers.filter_map(ReactionPoint::next_timeout).min()
    }

    /// Does a new rate move the packet that waits for its pacing time?
    pub fn is_moved(&self, repacing: Repacing) -> bool {
        match repacing {
            Repacing::Moved => true,
            Repacing::Kept => false,
            Repacing::ByMechanism => self.stack.iter().any(|layer| layer.rates_set().is_some()),
        }
    }

    /// The least window, where some shrink with the rate that the whole stack allows.
    fn scaled_window(&self, line: Rate) -> Bytes {
        let rate = self.allowance.rate.min(line);
        let windows = self.stack.iter().map(|layer| {
            let window = layer.allowance().window;
            if !layer.scales_window() || window == Bytes::MAX {
                return window;
            }
            let share = u128::from(window.0) * u128::from(rate.0) / u128::from(line.0);
            Bytes(u64::try_from(share).unwrap_or(u64::MAX).max(1))
        });
        windows.fold(self.transport.cap(), Bytes::min)
    }

    /// The timer of the packet that is taken next is scheduled now.
    #[inline]
    pub fn number_timer(&mut self, events: &mut Events) {
        if self.timers.numbered {
            self.transport.number_timer(events.number());
        }
    }

    /// When the timer that its transport waits for was set.
    fn timer_set(&self) -> Set {
        self.transport.timeout_number().filter(|_| self.timers.numbered).map_or(Set::Now, Set::Before)
    }

    /// Takes note of whether it has something to retransmit before new data.
    pub fn update_repeats(&mut self, nic: &mut Nic) {
        let has = self.transport.has_repeats();
        if has == self.turn.is_repeating {
            return;
        }
        self.turn.is_repeating = has;
        let bitmap = &mut nic.repeats[self.class as usize];
        if has {
            bitmap.insert(self.rank);
            nic.repeating += 1;
        } else {
            bitmap.remove(self.rank);
            nic.repeating -= 1;
        }
    }

    #[inline]
    pub fn may_send(&self, rule: WindowRule) -> bool {
        // Without a window only what there is to send matters.
        if self.allowance.window == Bytes::MAX { self.transport.ready().is_some() } else { self.fits(rule) }
    }

    /// Is there room in the window for what is to be sent?
    #[inline(never)]
    fn fits(&self, rule: WindowRule) -> bool {
        !self.layers.closed
            && self.transport.ready().is_some_and(|payload| {
                let (in_flight, window) = (self.transport.in_flight(), self.allowance.window);
                // A window below one packet still lets one go.
                in_flight == Bytes::ZERO
                    || !self.transport.needs_room()
                    || match rule {
                        WindowRule::Whole => in_flight.0 + payload.0 <= window.0,
                        WindowRule::Overshoot => in_flight < window,
                    }
            })
    }
}

/// Has nothing to send.
struct Nobody;

impl TransportSender for Nobody {
    fn push(&mut self, _message: Bytes) {}

    fn ready(&self) -> Option<Bytes> {
        None
    }

    fn next_segment(&mut self, _now: Time) -> Option<Segment> {
        None
    }

    fn on_reply(&mut self, _now: Time, _reply: Reply) -> (Bytes, Option<LossView>) {
        (Bytes::ZERO, None)
    }

    fn next_psn(&self) -> u64 {
        0
    }

    fn in_flight(&self) -> Bytes {
        Bytes::ZERO
    }

    fn is_done(&self) -> bool {
        true
    }
}

/// Calls each layer of a stack, the lowest first, and reports its increase steps to those above.
pub(crate) fn layers(half: &mut SendHalf, now: Time, mut call: impl FnMut(&mut AnyReactionPoint)) {
    if half.layers.constant {
        return;
    }
    for i in 0..half.stack.len() {
        let before = half.stack[i].increases();
        call(&mut half.stack[i]);
        for _ in before..half.stack[i].increases() {
            half.stack[i + 1..].iter_mut().for_each(|layer| layer.on_increase(now));
        }
    }
}
