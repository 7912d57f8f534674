//! The choice of a slot in a scenario: the parameters of a mechanism, which build its machines.
//!
//! A mechanism's `Params` implements the trait of its slot; the registry makes one enum per slot of them.

use floodway_units::{Bytes, Rate, Span};

use super::{
    Admission, BufferPlan, CongestionPoint, FcReceiver, FcSender, LinkInfo, Need, NotificationPoint,
    ParamError, PauseMode, PortInfo, QpInfo, ReactionPoint, Relay, Router, Scheduler, SignalKind, SwitchInfo,
    TransportReceiver, TransportSender,
};

/// What an ingress port and class has of its switch beside a buffer of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchShare {
    /// Bytes of the switch's pool; none where the port takes no part in one.
    pub pool: Bytes,
    /// Bytes set aside for this port and class.
    pub reserve: Bytes,
    /// What all other ports together can carry away.
    pub drain: Rate,
}

/// What a reliability sends again when packets are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// Nothing.
    Nothing,
    /// The lost packet and all that follow it; packets out of order count as lost.
    AllAfter,
    /// What was lost.
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

        /// The smallest buffer of the ingress that does what this flow control promises (a lossless one
        /// loses nothing); what `buffer.static = "auto"` gives.
        fn min_buffer(&self, link: &LinkInfo) -> Bytes;

        /// The formula of `min_buffer` in the mechanism's own symbols, as messages show it.
        fn min_buffer_formula(&self) -> &'static str;

        /// What admission sets aside beyond the threshold.
        fn headroom(&self, _link: &LinkInfo) -> Bytes {
            Bytes::ZERO
        }

        /// What the ingress must have so that nothing is lost whatever comes: all of a buffer of the port's own, whose size
        /// `link.buffer` is; headroom alone where that is `Bytes::MAX`, beside a shared pool. It counts on pauses that
        /// arrive and on a link that stays up.
        fn lossless_size(&self, link: &LinkInfo) -> Bytes {
            self.min_buffer(link)
        }

        /// What may come on top of `lossless_size` each time that the link comes up again: both halves start afresh, and the
        /// buffer may be full.
        fn restart_size(&self, _link: &LinkInfo) -> Bytes {
            Bytes::ZERO
        }

        /// Why a buffer of `lossless_size` may overflow all the same on this link, if it may.
        fn may_overflow(&self, _link: &LinkInfo) -> Option<String> {
            None
        }

        /// What the port holds when it pauses its upstream, if it is the only one of its switch that holds anything; none where nothing
        /// that it holds makes it pause.
        fn pauses_at(&self, _link: &LinkInfo, _share: &SwitchShare) -> Option<Bytes> {
            None
        }

        /// Warnings about it on this link, though nothing is lost: why the link may idle, or a threshold does nothing.
        fn warnings(&self, _link: &LinkInfo, _share: &SwitchShare) -> Vec<String> {
            Vec::new()
        }

        /// How long the upstream is assumed to take to obey a pause, where the size of a buffer depends on it.
        fn reaction(&self, _link: &LinkInfo) -> Option<Span> {
            None
        }

        /// Does a buffer of `lossless_size` never overflow?
        fn is_lossless(&self) -> bool {
            true
        }

        /// Does it keep its promise where packets arrive that no gate of its sender half has held? The switch admits them: none
        /// of them is charged to headroom, or while a pause lasts.
        fn tolerates_unpaused(&self) -> bool {
            false
        }

        /// Does it keep its promise where frames of its own are lost on the link?
        fn tolerates_lost_frames(&self) -> bool {
            false
        }

        /// How long pauses last on its link, where `run` is the mode of the run.
        fn pause_mode(&self, run: PauseMode) -> PauseMode {
            run
        }

        /// The device that it puts at each end of its link, if it does.
        fn relay(&self) -> Option<Relay> {
            None
        }

        /// How long its pauses last, where they are ones that relays copy from a cable to a link or that come of such copies: there
        /// both have to last alike.
        fn copied_pauses(&mut self) -> Option<&mut Option<PauseMode>> {
            None
        }

        /// The headroom that its formula gives on this link, whatever its parameters say; none where it has no headroom.
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

        /// What it takes of the switch's memory.
        fn plan(&self) -> BufferPlan;

        /// A parameter that was given and sizes the whole switch: one port cannot choose it.
        fn size_of_switch(&self) -> Option<&'static str> {
            None
        }

        /// How much of the packet that crosses a flow control's threshold finds room beside the account's own buffer.
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

        /// What it cannot work without.
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

        /// Does it limit the messages between rate control and receiver ([`Demands::meter`](super::Demands::meter))?
        fn limits_messages(&self) -> bool {
            false
        }

        /// Queues up to this length are nothing to it, whatever else there is: where none can be longer it has nothing to do.
        fn ignores_up_to(&self) -> Option<Bytes> {
            None
        }

        /// The states that its machine gives to queues ([`CongestionPoint::state`]), all of them.
        fn states(&self) -> &'static [&'static str] {
            &[]
        }

        /// Replaces what a port's rate or delay decides by numbers, for those who want to see them.
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

        /// What it cannot work without.
        fn needs(&self) -> &'static [Need] {
            &[]
        }

        /// The least time between two CNPs of a flow that it asks the receiver for; none where it needs none.
        fn cnp_interval(&self) -> Option<Span> {
            None
        }

        /// The notification that its receivers have where a scenario chooses none, by its name there, with its defaults; none:
        /// `cnp_interval` decides.
        fn notification(&self) -> Option<&'static str> {
            None
        }

        /// Does it react to CNPs, from receivers and switches alike ([`ReactionPoint::on_cnp`])?
        fn reacts_to_cnp(&self) -> bool {
            false
        }

        /// Does it read CNPs from the flags of replies ([`AckView::marked`](super::AckView::marked))?
        fn reads_flags(&self) -> bool {
            false
        }

        /// The highest rate that it ever allows on a path with this base round-trip time, as far as the parameters determine it.
        fn highest(&self, _base_rtt: Span) -> Rate {
            Rate::MAX
        }

        /// The window that it allows, where that never changes and is no matter of the path.
        fn fixed_window(&self) -> Option<Bytes> {
            None
        }

        /// Can its window shrink to one packet, which then waits for its ACK?
        fn waits_for_each_ack(&self) -> bool {
            false
        }

        /// Does it make increase steps, which are reported to the layers above ([`ReactionPoint::increases`])?
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

        /// What it sends again when packets are lost.
        fn repeats(&self) -> Repeats;

        /// For how many packets the receiver sends one ACK, at the most.
        fn ack_interval(&self) -> u32 {
            1
        }

        /// The longest that the sender waits before it sends again of itself, where `usual` is what follows from paths.
        fn longest_timeout(&self, usual: Span) -> Span {
            usual
        }

        /// Where a reply takes `base_rtt` on the longest path: a warning if timers run out before any can arrive, and its remedy.
        /// `can_lose`: something may be lost in this run.
        fn early_timeout_warning(&self, _base_rtt: Span, _can_lose: bool) -> Option<String> {
            None
        }

        /// Does the receiver acknowledge?
        fn has_acks(&self) -> bool {
            true
        }

        /// What it cannot work without.
        fn needs(&self) -> &'static [Need] {
            &[]
        }

        /// Do its retransmissions go before all new data of the NIC, by `next_repeat`?
        fn repeats_first(&self) -> bool {
            false
        }
    }
}
