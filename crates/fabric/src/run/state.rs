//! State of a run that no node owns.

use floodway_mechanisms::slots::{CpAction, FcFrame, Notice, Outbox, PortView, ReadyView, Reply};
use floodway_units::{PortId, Rng};
use rustc_hash::FxHashMap;

use crate::bounds::ideal::Ideals;
use crate::host::queue_pairs::QueuePairs;
use crate::link::arena::{Arena, Extra};
use crate::link::wires::Wire;
use crate::network::blueprint::PauseFault;
use crate::network::changes::Change;
use crate::network::routing::ChangingRoutes;
use crate::records::kept::Kept;
use crate::records::outcome::Control;
use crate::run::agenda::Agenda;
use crate::run::border::Border;
use crate::traffic::flows::Traffic;
use crate::why::Trace;

/// A run beside its nodes: what is under way between them, what is kept of them, and queue pairs.
pub(crate) struct Run<'a> {
    pub control: &'a Control,
    /// Its place among the partitions.
    pub border: Border,
    pub events: Agenda,
    pub kept: Kept,
    pub pairs: QueuePairs,
    pub traffic: Traffic,
    pub packets: Arena,
    /// Where all nodes draw marks from one stream: that stream.
    pub shared_draws: Option<Rng>,
    /// Where links come and go, over those that are up: routes are looked up packet by packet.
    pub changing: Option<Box<ChangingRoutes>>,
    /// Of ports whose links fail or whose delays change.
    pub wires: FxHashMap<PortId, Wire>,
    pub ideals: Ideals,
    /// Where a flow is followed.
    pub trace: Option<Box<Trace>>,
    pub out: Outboxes,
}

/// A change of the network at a known time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    Change(Change),
    Pause { port: PortId, pause: PauseFault },
}

/// Scratch space that is used again.
#[derive(Default)]
pub(crate) struct Outboxes {
    pub frames: Outbox<FcFrame>,
    pub actions: Outbox<CpAction>,
    pub replies: Outbox<Reply>,
    pub notices: Outbox<Notice>,
    pub ready: Vec<ReadyView>,
    /// NICs at which flows have just started, and whether no more do at this instant that they would have to wait for.
    pub started: Vec<PortId>,
    pub all_started: bool,
    pub candidates: Vec<PortView>,
    /// What packets had with them that are gone.
    #[expect(clippy::vec_box, reason = "packets take them as they are")]
    pub extras: Vec<Box<Extra>>,
}
