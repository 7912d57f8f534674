//! What a scenario chooses for each slot: the parameters of a mechanism, which build its machines.
//!
//! A mechanism's `Params` implements the trait of its slot; the registry makes one enum per slot of them.

use floodway_units::{Bytes, Rate, Span};

use super::{
    Admission, BufferPlan, CongestionPoint, FcReceiver, FcSender, LinkInfo, Need, NotificationPoint,
    ParamError, PauseMode, PortInfo, QpInfo, ReactionPoint, Relay, Router, Scheduler, SwitchInfo, Tells,
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

/// Link flow control: both halves come from one choice, so that they cannot disagree.
pub trait FlowControl {
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

    /// What is odd of it on this link, though nothing is lost: why the link may idle, or a threshold does nothing.
    fn caveats(&self, _link: &LinkInfo, _share: &SwitchShare) -> Vec<String> {
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

    /// Does it keep its promise where packets come that no gate of its sender half has held? Their admission is the switch's
    /// affair: none of them is charged to headroom, or while a pause lasts.
    fn bears_unpaused(&self) -> bool {
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
}

/// Admission to a switch's buffer.
pub trait Buffer {
    /// The machine of one ingress port.
    type Admission: Admission;

    /// What it takes of the switch's memory.
    fn plan(&self) -> BufferPlan;

    /// The machine of one ingress port.
    fn build(&self) -> Result<Self::Admission, ParamError>;
}

/// Routing among equal-cost ports.
pub trait Routing {
    /// The machine of one switch.
    type Router: Router;

    /// The machine of one switch.
    fn build(&self, switch: &SwitchInfo) -> Result<Self::Router, ParamError>;
}

/// Scheduling of an egress port's queues.
pub trait Scheduling {
    /// The machine of one egress port.
    type Scheduler: Scheduler;

    /// The machine of one egress port.
    fn build(&self, port: &PortInfo) -> Result<Self::Scheduler, ParamError>;
}

/// Detection of congestion at an egress port.
pub trait Detection {
    /// The machine of one egress port.
    type Cp: CongestionPoint;

    /// The machine of one egress port.
    fn build(&self, port: &PortInfo) -> Result<Self::Cp, ParamError>;

    /// What it cannot work without.
    fn needs(&self) -> &'static [Need] {
        &[]
    }

    /// By what it tells senders and routers.
    fn tells(&self) -> &'static [Tells] {
        &[]
    }

    /// Queues up to this length are nothing to it, whatever else there is: where none can be longer it has nothing to do.
    fn ignores_up_to(&self) -> Option<Bytes> {
        None
    }

    /// Itself at a port: what a rate or a delay decides is there in numbers.
    #[must_use]
    fn settled(&self, _port: &PortInfo) -> Self
    where
        Self: Clone,
    {
        self.clone()
    }
}

/// Notification of the sender by the receiver.
pub trait Notification {
    /// The machine of one receiving queue pair.
    type Np: NotificationPoint;

    /// The machine of one receiving queue pair.
    fn build(&self, qp: &QpInfo) -> Self::Np;
}

/// Reaction of the sender: one layer of rate and window control.
pub trait Reaction {
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

    /// Does it heed CNPs, whoever made them ([`ReactionPoint::on_notice`])?
    fn heeds_cnps(&self) -> bool {
        false
    }

    /// Does it read CNPs from the flags of replies ([`AckView::marked`](super::AckView::marked))?
    fn reads_flags(&self) -> bool {
        false
    }

    /// Does it make increase steps, of which the layers above hear ([`ReactionPoint::increases`])?
    fn has_steps(&self) -> bool {
        false
    }
}

/// Reliability of a queue pair.
pub trait Reliability {
    /// The sender's machine.
    type Sender: TransportSender;
    /// The receiver's machine.
    type Receiver: TransportReceiver;

    /// Both ends of one queue pair.
    fn build(&self, qp: &QpInfo) -> Result<(Self::Sender, Self::Receiver), ParamError>;

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
