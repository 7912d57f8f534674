//! A packet: 64 bytes, one cache line, never allocated on its own.
//!
//! Telemetry records, and messages between neighbours, which few packets have, are in a box that goes with
//! the packet. On a link a packet is an event that holds its reference: pending events are O(packets on
//! links), but an arrival accesses no other packet, and the memory that it needs is known long before it
//! (`run/prefetch.rs`).

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_blueprint::network::layout::Local;
use floodway_mechanisms::slots::{Cnp, ControlMessage, FcFrame, Mark, Reply, RetrySet};
use floodway_units::cast::{low_u16, low_u32};
use floodway_units::{Bytes, Class, FlowId, Quanta, Rate, Time};

pub(crate) use floodway_blueprint::network::kinds::{
    CE, FIRST, INT, ISOLATED, Kind, LAST, ON_PATH, RETRANSMISSION, UE,
};

use crate::link::arena::Place;

/// Bits of a turn that count.
pub(crate) const TURN_BITS: u32 = 10;
/// Bits of a sequence number; those above are the turn's.
const PSN_BITS: u32 = u64::BITS - TURN_BITS;

/// Bytes of a frame, or of its payload, in the field of a packet.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "a frame has at most 16 000 bytes, with which a blueprint is validated"
)]
pub(crate) const fn frame_bytes(bytes: Bytes) -> u16 {
    debug_assert!(bytes.0 <= u16::MAX as u64, "a frame is larger than its field");
    bytes.0 as u16
}

/// A packet or a control frame of a link. Fields that only some kinds need share places.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
#[repr(align(64))]
pub(crate) struct Packet {
    /// On a link: when its last bit arrives. In a port's queue of control frames: when it was made.
    pub at: u64,
    /// Of data and its replies the sequence number and, in the highest bits, the turn (`Packet::turn`); of a
    /// pause frame the times of classes 0 to 3; of other kinds a number.
    pub word: u64,
    /// Data: when its first bit left the NIC; a reply echoes it. Of a pause frame: times of classes 4 to 7.
    pub stamp: u64,
    /// Data: serialisation and propagation so far. SACK: what has been seen.
    pub base: u64,
    /// Data: time in paused queues (while queued: less the queue's paused time at its arrival, wrapping).
    pub paused: u64,
    pub flow: FlowId,
    /// The ingress port at the node where it is, or to which it is on the way.
    pub ingress: Local,
    /// Where it leaves the node where it is or to which it is on the way, if its path is fixed; at its end,
    /// where that is not known and where it turns back, `ingress`.
    pub out: Local,
    /// The place of the packet behind it in its list: beside it, since a list is gone through packet by
    /// packet. Where it is in none, what it does instead (`arena.rs`).
    pub next: Place,
    /// Bytes as buffers hold it.
    pub frame: u16,
    /// Bytes of payload; of a pause frame the enabled classes.
    pub payload: u16,
    pub kind: Kind,
    pub flags: u8,
    /// Index among the run's classes; of a link control frame the class itself.
    pub class: u8,
    /// Egress ports passed, counting the NIC.
    pub hop: u8,
}

impl Packet {
    pub const fn new(kind: Kind, flow: FlowId, frame: Bytes) -> Self {
        Packet {
            at: 0,
            word: 0,
            stamp: 0,
            base: 0,
            paused: 0,
            flow,
            ingress: Local::FIRST,
            out: Local::FIRST,
            next: Place::NONE,
            frame: frame_bytes(frame),
            payload: 0,
            kind,
            flags: 0,
            class: 0,
            hop: 0,
        }
    }

    pub fn is_link_control(&self) -> bool {
        self.kind as u8 >= Kind::Pause as u8
    }

    /// Is it of link retry, and no frame of its own?
    pub fn is_retry(&self) -> bool {
        self.kind as u8 >= Kind::Replay as u8
    }

    /// Is it a control ordered set, which has no preamble and no gap?
    pub fn is_ordered_set(&self) -> bool {
        self.kind == Kind::CreditSet || self.is_retry()
    }

    /// A control ordered set of link retry.
    pub fn retry_set(set: RetrySet, now: u64) -> Self {
        let (kind, number) = match set {
            RetrySet::Ack(number) => (Kind::RetryAck, number),
            RetrySet::Nack(number) => (Kind::RetryNack, number),
            RetrySet::Init(number) => (Kind::RetryInit, number),
        };
        Packet { at: now, word: number, ..Packet::new(kind, FlowId(u32::MAX), RetrySet::WIRE) }
    }

    /// What `retry_set` was given, if it is one.
    pub fn as_retry_set(&self) -> Option<RetrySet> {
        match self.kind {
            Kind::RetryAck => Some(RetrySet::Ack(self.word)),
            Kind::RetryNack => Some(RetrySet::Nack(self.word)),
            Kind::RetryInit => Some(RetrySet::Init(self.word)),
            _ => None,
        }
    }

    pub fn is_data(&self) -> bool {
        self.kind == Kind::Data
    }

    /// May ports mark it?
    pub fn takes_mark(&self) -> bool {
        matches!(self.kind, Kind::Data | Kind::Query)
    }

    /// Answers data, is a CNP or a message of the receiver: travels from receiver to sender.
    #[inline]
    pub fn is_reply(&self) -> bool {
        matches!(
            self.kind,
            Kind::Ack | Kind::Nak | Kind::Sack | Kind::One | Kind::Report | Kind::Cnp | Kind::ToSender
        )
    }

    /// Answers data: an ACK, a NAK or the like.
    #[inline]
    pub fn is_answer(&self) -> bool {
        matches!(self.kind, Kind::Ack | Kind::Nak | Kind::Sack | Kind::One | Kind::Report)
    }

    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub fn mark(&self) -> Mark {
        match self.flags & (CE | UE) {
            0 => Mark::None,
            UE => Mark::Ue,
            _ => Mark::Ce,
        }
    }

    /// No mark any more.
    pub fn clear_mark(&mut self) {
        self.flags &= !(CE | UE);
    }

    pub fn add_mark(&mut self, mark: Mark) {
        self.flags |= match mark {
            Mark::None => 0,
            Mark::Ue => UE,
            Mark::Ce => CE,
        };
    }

    /// A link control frame; `now` is when it was made.
    pub fn link_control(frame: FcFrame, size: Bytes, now: u64) -> Self {
        let mut packet = Packet::new(Kind::Pause, FlowId(u32::MAX), size);
        packet.at = now;
        match frame {
            FcFrame::Pause { class, quanta } => packet.set_quanta(class, quanta),
            FcFrame::Credit { class, limit } => {
                (packet.kind, packet.class, packet.word) = (Kind::Credit, class.0, limit);
            }
            FcFrame::CreditSet { class, limit } => {
                packet.frame = frame_bytes(RetrySet::WIRE);
                (packet.kind, packet.class, packet.word) = (Kind::CreditSet, class.0, limit);
            }
            FcFrame::Sent { class, total } => {
                (packet.kind, packet.class, packet.word) = (Kind::Sent, class.0, total);
            }
        }
        packet
    }

    /// Adds `frame` to this one, which has not begun: where one 802.1Qbb frame holds both, made at the same
    /// instant; a newer count takes the place of the older one.
    pub fn merge(&mut self, frame: FcFrame, now: u64) -> bool {
        match frame {
            FcFrame::Pause { class, quanta }
                if self.kind == Kind::Pause && self.at == now && self.payload & 1 << class.0 == 0 =>
            {
                self.set_quanta(class, quanta);
                true
            }
            FcFrame::Credit { class, limit: count } if self.kind == Kind::Credit && self.class == class.0 => {
                self.word = count;
                true
            }
            FcFrame::CreditSet { class, limit: count }
                if self.kind == Kind::CreditSet && self.class == class.0 =>
            {
                self.word = count;
                true
            }
            FcFrame::Sent { class, total: count } if self.kind == Kind::Sent && self.class == class.0 => {
                self.word = count;
                true
            }
            _ => false,
        }
    }

    fn set_quanta(&mut self, class: Class, quanta: Quanta) {
        self.payload |= 1 << class.0;
        let times = if class.0 < 4 { &mut self.word } else { &mut self.stamp };
        *times |= u64::from(quanta.0) << (16 * (class.0 & 3));
    }

    /// The frames of its classes, the lowest class first.
    pub fn frames(self) -> impl Iterator<Item = FcFrame> {
        let class = Class(self.class);
        let single = match self.kind {
            Kind::Credit => Some(FcFrame::Credit { class, limit: self.word }),
            Kind::CreditSet => Some(FcFrame::CreditSet { class, limit: self.word }),
            Kind::Sent => Some(FcFrame::Sent { class, total: self.word }),
            _ => None,
        };
        let enabled = if self.kind == Kind::Pause { self.payload } else { 0 };
        let pauses = (0..8u8).filter(move |class| enabled & 1 << class != 0).map(move |class| {
            let times = if class < 4 { self.word } else { self.stamp };
            let quanta = Quanta(low_u16(times >> (16 * (class & 3))));
            FcFrame::Pause { class: Class(class), quanta }
        });
        single.into_iter().chain(pauses)
    }

    /// Of one whose payload was cut: was that at the port that leads to its receiver?
    pub fn cut_at_last_hop(&self) -> bool {
        self.base != 0
    }

    pub fn reply(&self) -> Reply {
        match self.kind {
            Kind::Nak => Reply::Nak { next: self.psn() },
            Kind::Sack => Reply::Sack { next: self.psn(), seen: self.base },
            Kind::One => Reply::One { psn: self.psn() },
            _ => Reply::Ack { next: self.psn() },
        }
    }

    /// Becomes a reply to the data packet `answered`.
    pub fn set_reply(&mut self, reply: Reply, answered: &Packet) {
        let (kind, psn, base) = match reply {
            Reply::Ack { next } => (Kind::Ack, next, 0),
            Reply::Nak { next } => (Kind::Nak, next, 0),
            Reply::Sack { next, seen } => (Kind::Sack, next, seen),
            Reply::One { psn } => (Kind::One, psn, 0),
        };
        (self.kind, self.base) = (kind, base);
        self.set_psn_of_reply(psn, answered);
    }

    /// Gives a reply to the data packet `answered` its number: turns of both directions count from one
    /// packet.
    pub fn set_psn_of_reply(&mut self, psn: u64, answered: &Packet) {
        self.set_psn(psn, psn.wrapping_sub(answered.psn()).wrapping_add(answered.turn()));
    }

    /// Gives a report its number: as above of data, and of a packet that asked for it without being data.
    pub fn set_psn_of_report(&mut self, next: u64, answered: &Packet) {
        if answered.has_turn() {
            self.set_psn_of_reply(next, answered);
        } else {
            self.set_psn(next, answered.turn());
        }
    }

    /// Sequence number of data; of a reply the one that it names.
    #[inline]
    pub fn psn(&self) -> u64 {
        debug_assert!(self.has_turn(), "only data and replies have sequence numbers");
        self.word & ((1 << PSN_BITS) - 1)
    }

    /// Its sequence number, or what its kind has in the same place.
    pub fn number(&self) -> u64 {
        if self.has_turn() { self.psn() } else { self.word }
    }

    /// Gives data or a reply its sequence number, and its turn, of which the lowest bits count.
    #[inline]
    pub fn set_psn(&mut self, psn: u64, turn: u64) {
        debug_assert!(psn < 1 << PSN_BITS, "no queue pair sends so many packets");
        self.word = turn << PSN_BITS | psn;
    }

    /// What the place among arrivals of one instant comes from (`run/events/ties.rs`): a number that counts
    /// the packets of the queue pair, of a job from the first one of the iteration on. Link control frames
    /// have none.
    #[inline]
    pub fn turn(&self) -> u64 {
        if self.has_turn() {
            self.word >> PSN_BITS
        } else if self.is_link_control() {
            0
        } else {
            self.word
        }
    }

    /// Is it data, or a reply to data?
    #[inline]
    fn has_turn(&self) -> bool {
        self.kind as u8 <= Kind::Report as u8
    }

    /// A CNP, which takes `frame` bytes; its path is not known yet.
    pub fn notifying(cnp: &Cnp, frame: Bytes) -> Self {
        let mut packet = Packet::new(Kind::Cnp, cnp.flow, frame);
        packet.set_cnp(cnp);
        packet
    }

    /// A message between machines of a queue pair; `smallest` is the smallest frame.
    pub fn message(kind: Kind, flow: FlowId, smallest: Bytes, message: &ControlMessage) -> Self {
        let mut packet = Packet::new(kind, flow, smallest + Bytes(u64::from(message.padding)));
        (packet.word, packet.stamp) = (message.number, message.time.0);
        packet.payload = u16::from(message.kind) << 8 | u16::from(message.padding);
        packet.base = u64::from(message.metered);
        packet
    }

    pub fn control_message(&self) -> ControlMessage {
        let [kind, padding] = self.payload.to_be_bytes();
        ControlMessage { kind, number: self.word, time: Time(self.stamp), padding, metered: self.base != 0 }
    }

    /// Does a port with a meter hold it back?
    #[inline]
    pub fn is_metered(&self) -> bool {
        matches!(self.kind, Kind::ToSender | Kind::ToReceiver) && self.base != 0
    }

    pub fn set_cnp(&mut self, cnp: &Cnp) {
        self.word = cnp.window.map_or(u64::MAX, |window| window.0);
        self.stamp = cnp.rate.map_or(u64::MAX, |rate| rate.0);
        self.base = u64::from(cnp.degree.to_bits());
        self.add_mark(cnp.mark);
    }

    pub fn cnp(&self) -> Cnp {
        Cnp {
            flow: self.flow,
            mark: self.mark(),
            window: (self.word != u64::MAX).then_some(Bytes(self.word)),
            rate: (self.stamp != u64::MAX).then_some(Rate(self.stamp)),
            degree: f32::from_bits(low_u32(self.base)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_fits_a_cache_line() {
        assert_eq!(size_of::<Packet>(), 64);
    }

    #[test]
    fn pauses_of_several_classes_made_at_one_instant_share_a_frame() {
        let pause = |class, quanta| FcFrame::Pause { class: Class(class), quanta: Quanta(quanta) };
        let mut packet = Packet::link_control(pause(3, 65535), Bytes(64), 7);
        assert!(packet.merge(pause(5, 0), 7));
        assert!(!packet.merge(pause(3, 0), 7), "a later pause of a class needs a frame of its own");
        assert!(!packet.merge(pause(6, 1), 8), "made later");
        assert_eq!(packet.frames().collect::<Vec<_>>(), [pause(3, 65535), pause(5, 0)]);
    }

    #[test]
    fn a_newer_count_of_a_class_replaces_the_older_one() {
        let credit = |class, limit| FcFrame::Credit { class: Class(class), limit };
        let mut packet = Packet::link_control(credit(3, 70), Bytes(64), 7);
        assert!(packet.merge(credit(3, 90), 8));
        assert!(!packet.merge(credit(4, 95), 8), "it is for another class");
        assert!(!packet.merge(FcFrame::Sent { class: Class(3), total: 99 }, 8), "it is for the other half");
        assert_eq!(packet.frames().collect::<Vec<_>>(), [credit(3, 90)]);
    }

    #[test]
    fn messages_survive_the_packet() {
        let message = ControlMessage { kind: 3, number: u64::MAX, time: Time(77), padding: 8, metered: true };
        let packet = Packet::message(Kind::ToSender, FlowId(3), Bytes(64), &message);
        assert_eq!((packet.control_message(), packet.frame), (message, 72));
        assert!(packet.is_metered() && packet.is_reply());
        let other = ControlMessage { metered: false, ..message };
        let back = Packet::message(Kind::ToReceiver, FlowId(3), Bytes(64), &other);
        assert!(!back.is_metered() && !back.is_reply());
    }

    #[test]
    fn credits_and_cnps_survive_the_packet() {
        let credit = FcFrame::Credit { class: Class(4), limit: u64::MAX - 1 };
        assert_eq!(Packet::link_control(credit, Bytes(64), 0).frames().collect::<Vec<_>>(), [credit]);
        let cnp =
            Cnp { flow: FlowId(3), mark: Mark::Ce, window: Some(Bytes(30_000)), rate: None, degree: 0.25 };
        let mut packet = Packet::new(Kind::Cnp, FlowId(3), Bytes(78));
        packet.set_cnp(&cnp);
        assert_eq!(packet.cnp(), cnp);
    }
}
