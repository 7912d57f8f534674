//! Link flow control: a pair of halves from one set of parameters, per link direction and class.

use floodway_units::{Bytes, Class, Quanta, Rate, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Cx;

/// Duration of a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PauseMode {
    /// For the time in its frame, with refresh while congested. Source: IEEE 802.1Qbb.
    Timer,
    /// Until a resume frame: an idealised pause. Source: the HPCC and SWING simulators.
    OnOff,
}

/// The fixed values of one link direction and class when its ends are built.
#[derive(Clone, Copy, Debug)]
pub struct LinkInfo {
    /// Rate of the data direction.
    pub rate: Rate,
    /// Rate of the direction that carries the pauses.
    pub reverse_rate: Rate,
    /// Longest propagation delay of the data direction, jitter included.
    pub delay: Span,
    /// Longest propagation delay of the direction that carries the pauses, jitter included.
    pub reverse_delay: Span,
    /// How much earlier than that a pause can arrive: the jitter of its direction.
    pub reverse_jitter: Span,
    /// Rate of the NIC of the network's first host.
    pub nic_rate: Rate,
    /// The largest frame as buffers hold it.
    pub mtu: Bytes,
    /// The smallest data frame as buffers hold it.
    pub least_frame: Bytes,
    /// Bytes of each frame on the wire in addition: preamble and gap.
    pub overhead: Bytes,
    /// The buffer's cell: a frame occupies whole cells. At most 1 where it counts bytes.
    pub cell: Bytes,
    /// Frames may be damaged on the link, in one direction or the other.
    pub has_errors: bool,
    /// Wire bytes that may arrive although a pause is in effect, since the link retry sends them again; zero
    /// without link retry.
    pub replay: Bytes,
    /// Data goes to a host, which accepts all packets.
    pub to_host: bool,
    /// The class.
    pub class: Class,
    /// Memory that admission gives to this port and class: a static size; `Bytes::MAX` with a shared pool.
    pub buffer: Bytes,
    /// The run's pause mode, where the scenario does not choose one.
    pub pause: PauseMode,
}

/// A control frame of one class between the two halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FcFrame {
    /// Upstream, to the sender half: stop for `quanta`, zero resumes.
    Pause {
        /// The class that stops.
        class: Class,
        /// For how long.
        quanta: Quanta,
    },
    /// Upstream: the sender may send until it has sent this much since link start.
    Credit {
        /// The class.
        class: Class,
        /// Since link start, in the unit that both halves count in.
        limit: u64,
    },
    /// As `Credit`, in a control ordered set of 8 bytes, without preamble and gap.
    CreditSet {
        /// The class.
        class: Class,
        /// Since link start, in the unit that both halves count in.
        limit: u64,
    },
    /// Downstream, to the receiver half: the amount sent since link start.
    Sent {
        /// The class.
        class: Class,
        /// Since link start, in the unit that both halves count in.
        total: u64,
    },
}

/// Bytes that an ingress port holds of one class: `queued = reserved + shared + headroom`; of an input-output
/// queued switch, `shared` is its longest virtual output queue, and nothing is in headroom.
#[derive(Clone, Copy, Debug, Default)]
pub struct IngressView {
    /// All bytes held.
    pub queued: Bytes,
    /// Where the buffer counts cells: what the packets held took on the wire. Else `queued`: a frame counts
    /// there as occupying what it takes on the wire.
    pub wire: Bytes,
    /// Of these, inside the reserve.
    pub reserved: Bytes,
    /// Above the reserve and below headroom.
    pub shared: Bytes,
    /// In headroom.
    pub headroom: Bytes,
    /// Wire bytes received since the start of the run, including packets dropped later.
    pub received: Bytes,
    /// The same in frame bytes, without preambles and gaps: what a MAC counts as received.
    pub received_frames: Bytes,
    /// Free bytes of the pool that `shared` is taken from.
    pub pool_free: Bytes,
    /// All bytes that the switch holds, of all its ports and classes.
    pub total: Bytes,
}

/// May a queue send now?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Yes.
    Open,
    /// Not before this instant.
    Until(Time),
    /// Not before a message opens it.
    Closed,
}

impl Gate {
    /// Whether a frame may start at `now`.
    #[inline]
    pub fn is_open(self, now: Time) -> bool {
        match self {
            Gate::Open => true,
            Gate::Until(end) => now >= end,
            Gate::Closed => false,
        }
    }
}

hooks! {
    ($)
    /// The half at the downstream ingress.
    pub trait FcReceiver => fc_receiver for machines {
        /// A packet has been charged to this ingress and class.
        fn on_enqueue(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView);

        /// A packet of this ingress and class has left the switch (or was discarded), and its charge is
        /// removed. Called at that instant while `awaits_release` holds, else not at all.
        fn on_release(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView);

        /// A packet of this ingress and class has arrived, and was discarded before it was charged.
        fn on_refused(&mut self, _cx: &mut Cx<'_, FcFrame>, _q: &IngressView) {}

        /// Must `on_release` be called, since a message may be due? If not, it is enough that views are right
        /// when read. Checked after every call of another method: time alone does not change it.
        fn awaits_release(&self) -> bool {
            false
        }

        /// The level at which it keeps the sum of the bytes held and those that may still arrive; `None`
        /// where it keeps none.
        fn level(&self) -> Option<Bytes> {
            None
        }

        /// Is a pause in effect that this half has requested?
        fn is_pausing(&self, _now: Time) -> bool {
            self.awaits_release()
        }

        /// Where `shared` ends and headroom begins; everything is shared by default.
        fn threshold(&self, _pool_free: Bytes) -> Bytes {
            Bytes::MAX
        }

        /// A hint for speed: below this, no callback runs. While no release is awaited, nothing is in
        /// headroom, `pool_free` bytes or more are free, and `shared` with the packet stays below the
        /// returned value, `on_enqueue` does nothing and `threshold` is above `shared`. Read once; never, by
        /// default.
        fn fast_path_below(&self, _pool_free: Bytes) -> Bytes {
            Bytes::ZERO
        }

        /// A frame for this half has arrived.
        fn on_frame(&mut self, _cx: &mut Cx<'_, FcFrame>, _frame: FcFrame, _q: &IngressView) {}

        /// When to call `on_timeout` next.
        fn next_timeout(&self) -> Option<Time> {
            None
        }

        /// The instant that `next_timeout` named has come.
        fn on_timeout(&mut self, _cx: &mut Cx<'_, FcFrame>, _q: &IngressView) {}

        /// The link went down and came up again: both halves restart.
        fn on_link_reset(&mut self, _cx: &mut Cx<'_, FcFrame>, _q: &IngressView) {}
    }
}

hooks! {
    ($)
    /// The half at the upstream egress.
    pub trait FcSender => fc_sender for machines {
        /// A frame for this half has arrived.
        fn on_frame(&mut self, cx: &mut Cx<'_, FcFrame>, frame: FcFrame);

        /// Must `on_sent` be called?
        fn counts_sent(&self) -> bool {
            false
        }

        /// A frame of this class starts on the wire; called only where `counts_sent` held at the start.
        fn on_sent(&mut self, _cx: &mut Cx<'_, FcFrame>, _wire: Bytes) {}

        /// May a frame of `next` wire bytes start at `now`?
        fn gate(&self, now: Time, next: Bytes) -> Gate;

        /// A hint for speed: is the gate open for every frame until the next `on_frame`, `on_timeout` or
        /// reset, after which it is checked again? A half that counts sent bytes always returns false.
        fn is_free(&self) -> bool {
            self.never_closes()
        }

        /// A hint for speed: is the gate open for every frame at any time?
        fn never_closes(&self) -> bool {
            false
        }

        /// Has a watchdog taken over this queue, so that waiting and arriving packets are discarded? Checked
        /// after every frame, timeout and reset: time alone does not change it.
        fn discards(&self, _now: Time) -> bool {
            false
        }

        /// When to call `on_timeout` next (the end of a pause, a watchdog, a regular report).
        fn next_timeout(&self) -> Option<Time> {
            None
        }

        /// The instant that `next_timeout` named has come.
        fn on_timeout(&mut self, _cx: &mut Cx<'_, FcFrame>) {}

        /// The link went down and came up again: both halves restart.
        fn on_link_reset(&mut self, _cx: &mut Cx<'_, FcFrame>) {}
    }
}
