//! The choice of a slot in a scenario: the parameters of a mechanism, which build its machines.
//!
//! A mechanism's `Params` implements the trait of its slot; the registry makes one enum per slot of them.

use floodway_units::{Bytes, Rate, Span};

use super::{
    Admission, BufferPlan, CongestionPoint, FcReceiver, FcSender, Granter, HostInfo, LinkInfo, Need,
    NotificationPoint, ParamError, PauseMode, PortInfo, QpInfo, ReactionPoint, Relay, Router, Scheduler,
    SignalKind, SwitchInfo, TransportReceiver, TransportSender,
};

/// Memory of its switch that an ingress port and class may use in addition to a buffer of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchShare {
    /// Bytes of the switch's pool; zero where the port does not use one.
    pub pool: Bytes,
    /// Bytes set aside for this port and class.
    pub reserve: Bytes,
    /// The rate at which all other ports together can drain.
    pub drain: Rate,
    /// How many they are: so many packets of this port may leave at one instant.
    pub others: u64,
}

/// The packets that a reliability retransmits when some are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// Nothing.
    Nothing,
    /// The lost packet and all that follow it; packets out of order count as lost.
    AllAfter,
    /// The lost packets alone.
    Lost,
}

hooks! {
    ($)
    /// Link flow control: both halves come from one choice, so that they cannot disagree.
    pub trait FlowControl => flow_control for queries {
        /// The half at the upstream egress.
        type Sender: FcSender;
        /// The half at the downstream ingress.
        type Receiver: FcReceiver;

        /// The two halves for one link direction and class.
        fn build(&self, link: &LinkInfo) -> Result<(Self::Sender, Self::Receiver), ParamError>;

        /// The smallest buffer of the ingress with which this flow control keeps its guarantee (a lossless
        /// one loses nothing); the size of `buffer.static = "auto"`.
        fn min_buffer(&self, link: &LinkInfo) -> Bytes;

        /// The formula of `min_buffer` in the mechanism's own symbols, as messages show it.
        fn min_buffer_formula(&self) -> &'static str;

        /// Bytes that admission reserves beyond the threshold.
        fn headroom(&self, _link: &LinkInfo) -> Bytes {
            Bytes::ZERO
        }

        /// The size at which the ingress loses nothing under any traffic: all of a buffer of the port's own,
        /// whose size `link.buffer` is; headroom alone where that is `Bytes::MAX`, next to a shared pool. It
        /// assumes that pauses arrive and that the link stays up.
        fn lossless_size(&self, link: &LinkInfo) -> Bytes {
            self.min_buffer(link)
        }

        /// Bytes that may arrive in addition to `lossless_size` each time the link comes up again: both
        /// halves restart, and the buffer may be full.
        fn restart_size(&self, _link: &LinkInfo) -> Bytes {
            Bytes::ZERO
        }

        /// The reason why a buffer of `lossless_size` may still overflow on this link, if it may.
        fn may_overflow(&self, _link: &LinkInfo) -> Option<String> {
            None
        }

        /// Bytes that the port holds when it pauses its upstream, if no other port of its switch holds any;
        /// `None` where no number of bytes makes it pause.
        fn pauses_at(&self, _link: &LinkInfo, _share: &SwitchShare) -> Option<Bytes> {
            None
        }

        /// Warnings about it on this link, though nothing is lost: why the link may idle, or why a threshold
        /// has no effect.
        fn warnings(&self, _link: &LinkInfo, _share: &SwitchShare) -> Vec<String> {
            Vec::new()
        }

        /// The assumed time until the upstream obeys a pause, where the size of a buffer depends on it.
        fn reaction(&self, _link: &LinkInfo) -> Option<Span> {
            None
        }

        /// Does a buffer of `lossless_size` never overflow?
        fn is_lossless(&self) -> bool {
            true
        }

        /// Does it keep its guarantee where packets arrive that no gate of its sender half has held? The
        /// switch admits them: none of them is charged to headroom, or while a pause lasts.
        fn tolerates_unpaused(&self) -> bool {
            false
        }

        /// Does it work where frames that the link damages are sent again, which no gate of its sender half
        /// holds? They are counted as sent when they start for the first time.
        fn tolerates_replays(&self) -> bool {
            false
        }

        /// Does it keep its guarantee where frames of its own are lost on the link?
        fn tolerates_lost_frames(&self) -> bool {
            false
        }

        /// How long pauses last on its link, where `run` is the mode of the run.
        fn pause_mode(&self, run: PauseMode) -> PauseMode {
            run
        }

        /// The device that it puts at each end of its link, if any.
        fn relay(&self) -> Option<Relay> {
            None
        }

        /// How long its pauses last, where relays copy them from a cable to a link or where they are such
        /// copies: there both must last equally long.
        fn copied_pauses(&mut self) -> Option<&mut Option<PauseMode>> {
            None
        }

        /// The headroom that its formula gives on this link, whatever its parameters set; `None` where it has
        /// no headroom.
        fn formula_headroom(&self, _link: &LinkInfo) -> Option<Bytes> {
            None
        }
    }
}

hooks! {
    ($)
    /// Admission to a switch's buffer.
    pub trait Buffer => buffer for queries {
        /// The machine of one ingress port.
        type Admission: Admission;

        /// Its use of the switch's memory.
        fn plan(&self) -> BufferPlan;

        /// A given parameter that sets the size of the whole switch: one port cannot choose it.
        fn size_of_switch(&self) -> Option<&'static str> {
            None
        }

        /// The part of the packet that crosses a flow control's threshold that is stored outside the
        /// account's own buffer.
        fn spared(&self, _link: &LinkInfo) -> Bytes {
            Bytes::ZERO
        }

        /// The machine of one ingress port.
        fn build(&self) -> Result<Self::Admission, ParamError>;
    }
}

hooks! {
    ($)
    /// Routing among equal-cost ports.
    pub trait Routing => routing for queries {
        /// The machine of one switch.
        type Router: Router;

        /// The machine of one switch.
        fn build(&self, switch: &SwitchInfo) -> Result<Self::Router, ParamError>;

        /// Do packets of one flow take several paths, so that they may overtake each other?
        fn splits_flows(&self) -> bool {
            false
        }

        /// Does it depend on the degree of congestion that ports report ([`Signals`](super::Signals))?
        fn reads_degrees(&self) -> bool {
            false
        }
    }
}

hooks! {
    ($)
    /// Scheduling of an egress port's queues.
    pub trait Scheduling => scheduling for queries {
        /// The machine of one egress port.
        type Scheduler: Scheduler;

        /// The machine of one egress port.
        fn build(&self, port: &PortInfo) -> Result<Self::Scheduler, ParamError>;
    }
}

hooks! {
    ($)
    /// Detection of congestion at an egress port.
    pub trait Detection => detection for queries {
        /// The machine of one egress port.
        type Cp: CongestionPoint;

        /// The machine of one egress port.
        fn build(&self, port: &PortInfo) -> Result<Self::Cp, ParamError>;

        /// Its requirements.
        fn needs(&self) -> &'static [Need] {
            &[]
        }

        /// Its signals to senders and routers.
        fn signal_kinds(&self) -> &'static [SignalKind] {
            &[]
        }

        /// Does it report marks of other machines, and no queue of its own?
        fn reports_marks(&self) -> bool {
            false
        }

        /// Does it limit the messages between rate control and receiver
        /// ([`Queueing::Metered`](super::Queueing::Metered))?
        fn limits_messages(&self) -> bool {
            false
        }

        /// It ignores queues up to this length, whatever other state there is: where none can be longer it
        /// has no effect.
        fn ignores_up_to(&self) -> Option<Bytes> {
            None
        }

        /// All states that its machine gives to queues ([`CongestionPoint::state`]).
        fn states(&self) -> &'static [&'static str] {
            &[]
        }

        /// Replaces values that depend on a port's rate or delay by numbers, for display.
        fn fill_in(&mut self, _port: &PortInfo) {}
    }
}

hooks! {
    ($)
    /// Notification of the sender by the receiver.
    pub trait Notification => notification for queries {
        /// The machine of one receiving queue pair.
        type Np: NotificationPoint;

        /// The machine of one receiving queue pair.
        fn build(&self, qp: &QpInfo) -> Result<Self::Np, ParamError>;

        /// Does the receiver ever send CNPs?
        fn sends(&self) -> bool {
            true
        }
    }
}

hooks! {
    ($)
    /// Reaction of the sender: one layer of rate and window control.
    pub trait Reaction => reaction for queries {
        /// The machine of one sending queue pair.
        type Rp: ReactionPoint;

        /// The machine of one sending queue pair.
        fn build(&self, qp: &QpInfo) -> Result<Self::Rp, ParamError>;

        /// Its requirements.
        fn needs(&self) -> &'static [Need] {
            &[]
        }

        /// The minimum time between two CNPs of a flow that it asks the receiver for; `None` where it needs
        /// none.
        fn cnp_interval(&self) -> Option<Span> {
            None
        }

        /// The notification of its receivers where a scenario chooses none, by its name there, with its
        /// defaults; `None`: `cnp_interval` decides.
        fn notification(&self) -> Option<&'static str> {
            None
        }

        /// Does it react to CNPs, from both receivers and switches ([`ReactionPoint::on_cnp`])?
        fn reacts_to_cnp(&self) -> bool {
            false
        }

        /// Does it read CNPs from the flags of replies ([`AckView::marked`](super::AckView::marked))?
        fn reads_flags(&self) -> bool {
            false
        }

        /// The highest rate that it ever allows on a path with this base round-trip time, if the parameters
        /// determine it.
        fn highest(&self, _base_rtt: Span) -> Rate {
            Rate::MAX
        }

        /// The window that it allows, where that never changes and does not depend on the path.
        fn fixed_window(&self) -> Option<Bytes> {
            None
        }

        /// Does its receiver grant it credit?
        fn takes_credit(&self) -> bool {
            false
        }

        /// The machine of a receiving host that does, for all its connections.
        fn granter(&self, _host: &HostInfo) -> Option<Box<dyn Granter>> {
            None
        }

        /// Can its window shrink to one packet, which then waits for its ACK?
        fn waits_for_each_ack(&self) -> bool {
            false
        }

        /// Does it make increase steps, which are reported to the layers above
        /// ([`ReactionPoint::increases`])?
        fn has_steps(&self) -> bool {
            false
        }
    }
}

hooks! {
    ($)
    /// Reliability of a queue pair.
    pub trait Reliability => reliability for queries {
        /// The sender's machine.
        type Sender: TransportSender;
        /// The receiver's machine.
        type Receiver: TransportReceiver;

        /// Both ends of one queue pair.
        fn build(&self, qp: &QpInfo) -> Result<(Self::Sender, Self::Receiver), ParamError>;

        /// The packets that it retransmits when some are lost.
        fn repeats(&self) -> Repeats;

        /// Maximum number of packets per ACK of the receiver.
        fn ack_interval(&self) -> u32 {
            1
        }

        /// The longest time that the sender waits before it retransmits by a timer, where `usual` is the time
        /// that follows from paths.
        fn longest_timeout(&self, usual: Span) -> Span {
            usual
        }

        /// Where a reply takes `base_rtt` on the longest path: a warning if timers expire before any can
        /// arrive, and its remedy. `can_lose`: packets may be lost in this run.
        fn early_timeout_warning(&self, _base_rtt: Span, _can_lose: bool) -> Option<String> {
            None
        }

        /// Does the receiver acknowledge?
        fn has_acks(&self) -> bool {
            true
        }

        /// Its requirements.
        fn needs(&self) -> &'static [Need] {
            &[]
        }

        /// Are its retransmissions sent before all new data of the NIC, by `next_repeat`?
        fn repeats_first(&self) -> bool {
            false
        }

        /// Do its receivers answer with reports, and its packets ask for credit
        /// ([`Header`](super::Header))?
        fn reports(&self) -> bool {
            false
        }

        /// Does each of its packets carry an entropy value of its own, so that they take several paths?
        fn spreads(&self) -> bool {
            false
        }
    }
}
