//! A network from its blueprint to its records.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use floodway_engine::memory::Exhausted;
use floodway_engine::{Advance, run_partitions};
use floodway_mechanisms::registry::{AnyCongestionPoint, AnyFcReceiver, AnyRouter};
use floodway_units::{Class, NodeId, PortId, Span, Time};

use crate::error::BuildError;
use crate::network::blueprint::Blueprint;
use crate::network::routing::Routes;
use crate::records::outcome::{Control, Records};
use crate::run::cut::Cut;
use crate::run::merge;
use crate::run::partition::Partitioning;
use crate::run::whole::{Seen, Whole};
use crate::run::world::World;
use crate::why::{FlowRef, Why};

/// A network that is ready to run.
pub struct Fabric<'a> {
    blueprint: &'a Blueprint,
    cut: Arc<Cut>,
    threads: usize,
    pub(crate) worlds: Vec<World<'a>>,
}

impl<'a> Fabric<'a> {
    /// Builds the network of `blueprint` to run on one thread; whoever holds `control` may watch and stop the run.
    ///
    /// # Errors
    /// What makes the blueprint unfit, with the place.
    pub fn build(blueprint: &'a Blueprint, control: &'a Control) -> Result<Self, BuildError> {
        Self::build_cut(blueprint, None, control, Cut::none(blueprint), 1)
    }

    /// Builds the network of `blueprint`, cut into partitions. What is kept of a run is the same to the byte
    /// however it is cut, on however many threads it runs.
    ///
    /// # Errors
    /// What makes the blueprint unfit, with the place.
    pub fn build_parts(
        blueprint: &'a Blueprint,
        control: &'a Control,
        parts: &Partitioning,
    ) -> Result<Self, BuildError> {
        Self::build_cut(blueprint, None, control, parts.cut(blueprint), parts.threads())
    }

    /// As `build_parts`, or as `build` where there are no `parts`, with the routes over all links of `blueprint`, which
    /// somebody has computed: in a large network that takes as long as all the rest.
    ///
    /// # Errors
    /// What makes the blueprint unfit, with the place.
    pub fn build_with(
        blueprint: &'a Blueprint,
        routes: &Arc<Routes>,
        control: &'a Control,
        parts: Option<&Partitioning>,
    ) -> Result<Self, BuildError> {
        let (cut, threads) =
            parts.map_or_else(|| (Cut::none(blueprint), 1), |parts| (parts.cut(blueprint), parts.threads()));
        Self::build_cut(blueprint, Some(routes), control, cut, threads)
    }

    fn build_cut(
        blueprint: &'a Blueprint,
        routes: Option<&Arc<Routes>>,
        control: &'a Control,
        cut: Cut,
        threads: usize,
    ) -> Result<Self, BuildError> {
        let cut = Arc::new(cut);
        let worlds = World::build(blueprint, routes, control, &cut)?;
        Ok(Fabric { blueprint, cut, threads, worlds })
    }

    /// Adds a congestion point from outside the tree to an egress port.
    ///
    /// # Errors
    /// It claims a hook that another one of the port has, or queues that the fabric was not built with.
    pub fn add_congestion_point(
        &mut self,
        port: PortId,
        point: AnyCongestionPoint,
    ) -> Result<(), BuildError> {
        self.owner(port).add_congestion_point(port, point)
    }

    /// Gives the ingress `port` a receiver half from outside the tree for `class`, which the run must use.
    pub fn set_receiver(&mut self, port: PortId, class: Class, receiver: AnyFcReceiver) {
        self.owner(port).set_receiver(port, class, receiver);
    }

    /// Gives a switch a router from outside the tree. It is built twice: hosts ask one which way a flow takes that
    /// decides by itself, as long as nothing else of it matters.
    ///
    /// # Panics
    /// If the node is no switch.
    pub fn set_router(&mut self, node: NodeId, build: impl Fn() -> AnyRouter) {
        for world in &mut self.worlds {
            world.set_router(node, &build);
        }
    }

    /// Has the events of all nodes happen in one order, as those of runs do whose ties go by the order of scheduling. What
    /// is kept of a run is the same to the byte.
    #[must_use]
    pub fn in_one_order(mut self) -> Self {
        self.worlds.iter_mut().for_each(|world| world.run.events.go_in_one_order());
        self
    }

    /// Goes through the nodes in windows no longer than this. What is kept of a run is the same to the byte.
    #[must_use]
    pub fn in_windows(mut self, most: Span) -> Self {
        self.worlds.iter_mut().for_each(|world| world.run.events.shorten_windows(most));
        self
    }

    fn owner(&mut self, port: PortId) -> &mut World<'a> {
        let node: NodeId = self.blueprint.links[port.index() / 2].ends[port.index() % 2].node;
        &mut self.worlds[self.cut.owner(node)]
    }

    /// Runs to the end.
    pub fn run(self) -> Records {
        let Ran { worlds, seen, end, interrupted } = self.go();
        finish(worlds, seen, end, interrupted)
    }

    fn go(self) -> Ran<'a> {
        let Fabric { blueprint, cut, threads, mut worlds } = self;
        worlds.iter_mut().for_each(World::arm_machines);
        let (lookahead, _) = cut.lookahead(blueprint);
        let mut seen = Seen::default();
        let between = |worlds: &mut [&mut World<'a>], now| Whole::new(worlds, &mut seen, now).at_epoch();
        let limit = blueprint.end.limit;
        let (worlds, end, how) = run_partitions(worlds, &lookahead, threads, limit, between);
        if worlds.iter().any(|world| world.run.control.short_of_memory.load(Ordering::Relaxed)) {
            Exhausted { bytes: 0 }.end();
        }
        Ran { worlds, seen, end, interrupted: how == Advance::Interrupted }
    }
}

/// A network whose run is over.
struct Ran<'a> {
    pub(crate) worlds: Vec<World<'a>>,
    seen: Seen,
    end: Time,
    interrupted: bool,
}

/// A network that is ready to run, and to tell why one of its flows takes as long as it does.
pub struct Traced<'a>(Fabric<'a>);

impl<'a> Traced<'a> {
    /// Builds the network of `blueprint` to run on one thread, and follows `flow`.
    ///
    /// # Errors
    /// What makes the blueprint unfit, with the place.
    pub fn build(blueprint: &'a Blueprint, control: &'a Control, flow: FlowRef) -> Result<Self, BuildError> {
        let mut fabric = Fabric::build(blueprint, control)?;
        fabric.worlds.iter_mut().for_each(|world| world.trace(flow));
        Ok(Traced(fabric))
    }

    /// Runs until the flow is complete, and takes its completion time apart; none if it is not complete at the end, or was
    /// interrupted.
    pub fn why(mut self) -> Option<Why> {
        self.0.worlds.iter_mut().for_each(World::end_when_found);
        self.0.go().worlds.iter_mut().find_map(World::why)
    }

    /// Runs to the end: what is kept is the same to the byte as without a flow to follow.
    pub fn run(self) -> (Records, Option<Why>) {
        let Ran { mut worlds, seen, end, interrupted } = self.0.go();
        let why = worlds.iter_mut().find_map(World::why);
        (finish(worlds, seen, end, interrupted), why)
    }
}

/// Closes the books of all partitions, and puts them together.
fn finish(mut worlds: Vec<World<'_>>, mut seen: Seen, end: Time, interrupted: bool) -> Records {
    // An interrupted epoch is cut where it stood.
    let reached = worlds.iter().map(|world| Time(world.now)).max();
    let end = reached.filter(|_| interrupted).unwrap_or(end);
    let mut all: Vec<&mut World<'_>> = worlds.iter_mut().collect();
    let stopped = Whole::new(&mut all, &mut seen, end).stopped(interrupted);
    for world in &mut worlds {
        world.close(end);
    }
    let mut world = merge::merge(worlds).expect("a network has at least one partition");
    (world.run.kept.deadlocks, world.run.kept.records.peak_in_network) =
        (seen.deadlocks, seen.peak_in_network);
    world.tables(stopped)
}
