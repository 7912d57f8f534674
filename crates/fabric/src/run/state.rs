//! State of a run that no node owns.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use floodway_blueprint::bounds::ideal::Ideals;
use floodway_blueprint::network::blueprint::{Blueprint, Draws, LinkSpec, PauseFault};
use floodway_blueprint::network::changes::Change;
use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::routing::ChangingRoutes;
use floodway_blueprint::network::routing::peer;
use floodway_engine::Event;
use floodway_engine::allocator::ran_out;
use floodway_mechanisms::slots::{
    Cnp, ControlMessage, CpAction, FcFrame, Outbox, PortView, ReadyView, Reply, Report, RetrySet,
};
use floodway_records::kept::Kept;
use floodway_records::outcome::Control;
use floodway_units::cast::narrow;
use floodway_units::mrg32k3a::FirstDraws;
use floodway_units::{NodeId, PortId, Rng};

use crate::host::listed::Listed;
use crate::host::queue_pairs::QueuePairs;
use crate::link::arena::Arena;
use crate::link::extra::Extra;
use crate::run::events::{EventKind, Events, QueuePairName};
use crate::traffic::flows::Traffic;
use crate::why::trace::Trace;

/// Events that a thread of a run that is to end may still execute, so that the nodes of all threads come to
/// the end of the window: most windows have fewer.
const PATIENCE: u64 = 1 << 16;

/// The state of a run outside its nodes, one per thread: events in transit, records, and queue pairs. Threads
/// share packets, queue pairs and sources; their records are merged when the run is over.
pub(crate) struct Run<'a> {
    pub control: &'a Control,
    /// Events that this thread may execute once the run is to end; with none left the window is cut.
    pub patience: u64,
    pub events: Events,
    pub kept: Kept,
    pub pairs: QueuePairs,
    pub traffic: Traffic,
    pub packets: Arena,
    /// Where all nodes draw marks from one stream: that stream.
    pub shared_draws: Option<Rng>,
    /// Where links come and go, over those that are up: routes are looked up packet by packet.
    pub changing: Option<Box<ChangingRoutes>>,
    pub ideals: Ideals,
    /// Of each flow that is followed.
    pub traces: Vec<Trace>,
    pub out: Outboxes,
}

impl<'a> Run<'a> {
    /// Nothing has happened.
    pub fn new(facts: &Facts<'a>, control: &'a Control, listed: Arc<Listed>) -> Self {
        let blueprint = facts.blueprint;
        let fails = blueprint.links.iter().any(|link| !link.down.is_empty());
        Run {
            control,
            patience: PATIENCE,
            events: Events::new(blueprint.semantics.ties, blueprint.semantics.starts),
            kept: Kept::new(blueprint),
            pairs: QueuePairs::default(),
            traffic: Traffic::new(facts, listed),
            packets: Arena::default(),
            shared_draws: shared_draws(blueprint),
            changing: fails.then(|| Box::new(ChangingRoutes::new(Arc::clone(&facts.routes)))),
            ideals: Ideals::default(),
            traces: Vec::new(),
            out: Outboxes::default(),
        }
    }

    /// For another thread, before the run begins.
    ///
    /// # Safety
    /// As [`Pool::share`](crate::pool::Pool::share).
    #[allow(unsafe_code, reason = "threads share what nodes own")]
    pub unsafe fn share(&self, blueprint: &Blueprint, events: Events) -> Self {
        // SAFETY: by the caller.
        let (pairs, traffic) = unsafe { (self.pairs.share(), self.traffic.share()) };
        Run {
            control: self.control,
            patience: PATIENCE,
            events,
            kept: Kept::new(blueprint),
            pairs,
            traffic,
            packets: self.packets.share(),
            shared_draws: None,
            changing: self.changing.as_deref().map(|changing| Box::new(changing.fresh())),
            ideals: Ideals::default(),
            traces: Vec::new(),
            out: Outboxes::default(),
        }
    }

    /// The node whose event it is; none where it concerns several.
    #[inline]
    pub fn node_of(&self, facts: &Facts<'_>, event: &Event) -> Option<NodeId> {
        let (what, id) = match self.events.moves(event.order) {
            Some((what, port)) => (what, port.0),
            None => self.events.decode(event.order),
        };
        let port_class = |id: u32| facts.node_of(facts.layout.port_class_of(id as usize).0);
        Some(match what {
            EventKind::Arrival | EventKind::LinkControl => facts.node_of(peer(PortId(id))),
            EventKind::Departure | EventKind::Drain | EventKind::CongestionPoint | EventKind::Pacing => {
                facts.node_of(PortId(id))
            }
            EventKind::FcSender | EventKind::FcReceiver => port_class(id),
            EventKind::LinkRetry => facts.node_of(PortId(id / 2)),
            EventKind::Release | EventKind::Pipeline | EventKind::Crossing => facts.switches[id as usize],
            EventKind::QueuePair => match self.events.queue_pair(event.order) {
                QueuePairName::Ranked { nic, .. } => facts.nics[nic as usize],
                QueuePairName::Slot(slot) => self.pairs.paths[slot as usize].source,
            },
            EventKind::Receiver => match self.events.queue_pair(event.order) {
                QueuePairName::Ranked { nic, .. } => facts.nics[nic as usize],
                QueuePairName::Slot(slot) => self.pairs.paths[slot as usize].destination,
            },
            EventKind::Start => self.traffic.host_of(facts.blueprint, id),
            EventKind::Fault => return None,
        })
    }

    /// Is the window cut here, after so many events since the last check?
    #[inline]
    pub fn is_cut_after(&mut self, events: u64) -> bool {
        self.control.stop.load(Ordering::Relaxed) && self.lose_patience(events)
    }

    /// The same in a visit with many events, where memory is checked, too.
    #[inline(never)]
    pub fn is_cut_in_visit(&mut self, events: u64) -> bool {
        if ran_out() {
            self.control.give_up();
        }
        self.is_cut_after(events)
    }

    /// The run is to end: at the end of the window, unless that is too far, or memory too short.
    #[cold]
    fn lose_patience(&mut self, events: u64) -> bool {
        let gives_up = self.control.short_of_memory.load(Ordering::Relaxed);
        self.patience = if gives_up { 0 } else { self.patience.saturating_sub(events) };
        self.is_cut()
    }

    /// Does the run end within a window? Nothing of it is executed any more, and all of it is pending.
    #[inline]
    pub fn is_cut(&self) -> bool {
        self.patience == 0
    }

    /// Does an event come at a fixed time of the run, and has no effect before?
    pub fn is_fixed(&self, event: &Event) -> bool {
        let (kind, id) = self.events.decode(event.order);
        self.traffic.is_fixed(kind, id)
    }

    /// So much of the run is skipped.
    pub fn skip(&mut self, ps: u64) {
        let Run { events, traffic, .. } = self;
        events.skip(ps, |kind, id| traffic.is_fixed(kind, id));
    }

    /// Is a flow followed?
    #[inline]
    pub fn is_traced(&self) -> bool {
        !self.traces.is_empty()
    }

    /// Is all found of the flows that are followed, and of the target of a job, and nothing else to run for?
    pub fn has_found(&self) -> bool {
        (self.is_traced() && self.traces.iter().all(Trace::is_over))
            || self.traffic.programs.is_target_complete()
    }

    /// Reports progress to the observer of the run.
    pub fn report(&mut self) {
        let unreported =
            self.kept.packet_hops - std::mem::replace(&mut self.kept.reported, self.kept.packet_hops);
        self.control.packet_hops.fetch_add(unreported, Ordering::Relaxed);
    }
}

/// Where congestion points draw from, if not from streams of their nodes: behind the streams that the HPCC
/// simulator's driver has made by then, six for each node's protocols and two for each error model.
fn shared_draws(blueprint: &Blueprint) -> Option<Rng> {
    (blueprint.semantics.draws == Draws::HpccNs3).then(|| {
        let broken = |link: &&LinkSpec| link.directions.iter().any(|direction| direction.errors.data > 0.0);
        let error_models = 1 + blueprint.links.iter().filter(broken).count();
        let from = (6 * blueprint.nodes.len() + 2 * error_models) as u64;
        Rng::FirstDraws(Box::new(FirstDraws::new(narrow(blueprint.seed), from)))
    })
}

/// A change of the network at a known time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    Change(Change),
    Pause {
        port: PortId,
        pause: PauseFault,
    },
    /// A relay is bypassed from now on, or no longer.
    Bypass {
        node: NodeId,
        on: bool,
    },
}

/// Scratch buffers that are reused.
#[derive(Default)]
pub(crate) struct Outboxes {
    pub frames: Outbox<FcFrame>,
    pub retry_sets: Outbox<RetrySet>,
    pub actions: Outbox<CpAction>,
    /// Empty lists for actions that actions cause.
    pub spare_actions: Vec<Vec<CpAction>>,
    pub replies: Outbox<Reply>,
    pub cnps: Outbox<Cnp>,
    pub messages: Outbox<ControlMessage>,
    pub reports: Outbox<Report>,
    pub ready: Vec<ReadyView>,
    /// NICs at which flows have just started, and whether no more do at this instant that they would have to
    /// wait for.
    pub started: Vec<PortId>,
    pub all_started: bool,
    pub candidates: Vec<PortView>,
    /// Extras of packets that no longer exist.
    #[expect(clippy::vec_box, reason = "packets take them as they are")]
    pub extras: Vec<Box<Extra>>,
}

impl Outboxes {
    /// The extra of a packet, in the box of a packet that no longer exists, if there is one.
    pub fn boxed(&mut self, extra: Extra) -> Box<Extra> {
        match self.extras.pop() {
            Some(mut left) => {
                *left = extra;
                left
            }
            None => Box::new(extra),
        }
    }
}
