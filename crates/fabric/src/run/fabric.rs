//! A network from its blueprint to its records.

use std::collections::VecDeque;
use std::sync::Arc;

use floodway_blueprint::error::BuildError;
use floodway_blueprint::network::blueprint::Blueprint;
use floodway_blueprint::network::routing::Routes;
use floodway_engine::Transport;
use floodway_mechanisms::registry::{AnyCongestionPoint, AnyFcReceiver, AnyRouter};
use floodway_mechanisms::slots::FcReceiver as _;
use floodway_records::outcome::{Control, Records};
use floodway_units::{Class, NodeId, PortId, Span};

use crate::build;
use crate::run::node::AnyDevice;
use crate::run::parts::Parts;
use crate::run::ranks::{Processes, RankPlan};
use crate::run::recurrence::Recurrence;
use crate::run::threads::ThreadPlan;
use crate::run::world::{Extent, World};
use crate::why::parts::{FlowRef, Section, Why};
use crate::why::trace::Trace;

/// Why nothing is skipped with mechanisms from outside the tree.
const OWN: &str = "it has mechanisms of its own";

/// A network that is ready to run.
pub struct Fabric<'a> {
    pub(crate) world: World<'a>,
    thread_plan: Option<ThreadPlan>,
}

impl<'a> Fabric<'a> {
    /// Builds the network of `blueprint` to run on one thread; the holder of `control` may watch and stop the
    /// run.
    ///
    /// # Errors
    /// What makes the blueprint unfit, with the place.
    pub fn build(blueprint: &'a Blueprint, control: &'a Control) -> Result<Self, BuildError> {
        Self::build_with(blueprint, None, control)
    }

    /// As `build`, with the routes over all links of `blueprint`, which the caller has computed: in a large
    /// network that takes as long as all the rest.
    ///
    /// # Errors
    /// What makes the blueprint unfit, with the place.
    pub fn build_with(
        blueprint: &'a Blueprint,
        routes: Option<&Arc<Routes>>,
        control: &'a Control,
    ) -> Result<Self, BuildError> {
        let world = World::build(blueprint, routes, control, Extent::Whole)?;
        Ok(Fabric { world, thread_plan: None })
    }

    /// As `build_with`, for one of several processes that execute the run together: each executes the events
    /// of the nodes that it owns.
    ///
    /// # Errors
    /// What makes the blueprint unfit, with the place.
    pub fn build_part(
        blueprint: &'a Blueprint,
        routes: Option<&Arc<Routes>>,
        control: &'a Control,
        (plan, transport): (RankPlan, &'a dyn Transport),
    ) -> Result<Self, BuildError> {
        let ranks = Processes::new(plan, transport);
        let world = World::build(blueprint, routes, control, Extent::Process(Box::new(ranks)))?;
        Ok(Fabric { world, thread_plan: Some(ThreadPlan::one(None)) })
    }

    /// Runs on the threads of a plan. The records are the same to the byte on any number of threads.
    #[must_use]
    pub fn on(mut self, thread_plan: &ThreadPlan) -> Self {
        self.thread_plan = Some(thread_plan.clone());
        self
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
        self.world.recurrence.prevent(OWN);
        let World { facts, nodes, ranks, .. } = &mut self.world;
        let node = facts.node_of(port);
        if ranks.as_ref().is_some_and(|ranks| !ranks.owns(node)) {
            facts.demand(port, &build::demanded(&[point]));
            return Ok(());
        }
        let local = facts.local(port);
        build::add_congestion_point(facts, &mut nodes[node.index()], local, point)
    }

    /// Gives the ingress `port` a receiver half from outside the tree for `class`, which the run must use.
    pub fn set_receiver(&mut self, port: PortId, class: Class, receiver: AnyFcReceiver) {
        self.world.recurrence.prevent(OWN);
        let world = &mut self.world;
        let node = world.facts.node_of(port);
        if !world.owns(node) {
            return;
        }
        let layout = &world.facts.layout;
        let port_class = layout.port_class(world.facts.local(port), layout.dense(class));
        let (node, device) = world.nodes[node.index()].split();
        let ingress = &mut node.buffer.accounts[port_class];
        ingress.awaits = receiver.awaits_release();
        ingress.receiver = receiver;
        if let AnyDevice::Switch(switch) = device {
            node.buffer.set_fast_path(switch, port_class);
        }
    }

    /// Gives a switch a router from outside the tree. It is built twice: hosts ask one which path a flow
    /// takes that decides by itself, as long as nothing else of it matters.
    ///
    /// # Panics
    /// If the node is no switch.
    pub fn set_router(&mut self, node: NodeId, build: impl Fn() -> AnyRouter) {
        let world = &mut self.world;
        world.recurrence.prevent(OWN);
        let router = &mut world.facts.routers[node.index()];
        assert!(router.is_some(), "{} is no switch", world.facts.blueprint.nodes[node.index()].name);
        *router = Some(build());
        if world.owns(node) {
            let switch = world.nodes[node.index()].switch_mut().expect("it has a router");
            switch.router = Some(build());
        }
    }

    /// Simulates all of it, also what repeats what was. What is kept of a run is the same to the byte, but
    /// for what it says was skipped.
    #[must_use]
    pub fn without_skips(mut self) -> Self {
        self.world.recurrence = Recurrence::none();
        self
    }

    /// Has the events of all nodes happen in one order, as those of runs do whose ties go by the order of
    /// scheduling. What is kept of a run is the same to the byte.
    #[must_use]
    pub fn in_one_order(mut self) -> Self {
        self.world.runs.own.events.go_in_one_order();
        self
    }

    /// Goes through the nodes in windows no longer than this. What is kept of a run is the same to the byte.
    #[must_use]
    pub fn in_windows(mut self, most: Span) -> Self {
        self.world.runs.own.events.shorten_windows(most);
        self
    }

    /// Follows flows one after another from now on, before the run starts.
    pub(crate) fn follow(&mut self, section: Section, next: VecDeque<Section>) {
        let World { facts, nodes, runs, recurrence, .. } = &mut self.world;
        recurrence.prevent("a flow is followed");
        runs.own.events.go_in_one_order();
        for port in nodes.iter_mut().flat_map(|node| node.links.ports.iter_mut()) {
            port.observed = true;
        }
        runs.own.traces.push(Trace::new(facts, section, next));
    }

    /// The run is over when the flows that are followed are complete.
    pub(crate) fn end_when_found(&mut self) {
        self.world.runs.own.traces.iter_mut().for_each(|trace| trace.to_end = false);
    }

    /// Runs to the end.
    ///
    /// # Panics
    /// In a process of several that is not the first: see [`Fabric::run_part`].
    pub fn run(self) -> Records {
        self.run_part().expect("a run in one process has its records")
    }

    /// Runs to the end, in one of several processes: the first has the records of all.
    pub fn run_part(mut self) -> Option<Records> {
        let Some(owners) = Parts::owners(&mut self.world) else { return self.go().finish() };
        let (thread_plan, World { facts, runs, .. }) = (self.thread_plan, self.world);
        let (blueprint, routes, control) = (facts.blueprint, facts.routes, runs.own.control);
        let sound = "it was built before";
        let mut parts = Parts::of(blueprint, &routes, control, &owners).expect(sound);
        parts.start(Some(thread_plan.as_ref().unwrap_or(&ThreadPlan::one(None))));
        parts.go().and_then(Parts::finish).or_else(|| {
            control.begin_again();
            let fabric = Self::build_with(blueprint, Some(&routes), control).expect(sound);
            Fabric { thread_plan, ..fabric }.go().finish()
        })
    }

    /// Runs to the end as one network.
    pub(crate) fn go(self) -> Parts<'a> {
        let mut whole = Parts::whole(self.world);
        whole.start(self.thread_plan.as_ref());
        whole.go().expect("one network has no parts")
    }
}

/// What was found of a flow that was followed, if it is complete.
fn why(world: &World<'_>, flow: FlowRef) -> Option<Why> {
    let World { now, facts, runs, .. } = world;
    let trace = runs.own.traces.iter().find(|trace| trace.section.flow == flow)?;
    trace.why(facts, &runs.own.traffic.labels, *now)
}

/// What the sender of a flow that was followed waits for, if it has started and is not complete.
fn waiting(world: &World<'_>, flow: FlowRef) -> Option<String> {
    let own = &world.runs.own;
    let trace = own.traces.iter().find(|trace| trace.section.flow == flow)?;
    trace.waiting(&own.pairs)
}

/// A network that is ready to run, and to break down the completion times of some of its flows.
pub struct Traced<'a> {
    fabric: Fabric<'a>,
    flows: Vec<FlowRef>,
}

impl<'a> Traced<'a> {
    /// Builds the network of `blueprint` to run on one thread, and follows `flows`, each once.
    ///
    /// # Errors
    /// What makes the blueprint unfit, with the place.
    pub fn build(
        blueprint: &'a Blueprint,
        control: &'a Control,
        flows: &[FlowRef],
    ) -> Result<Self, BuildError> {
        let mut fabric = Fabric::build(blueprint, control)?;
        for &flow in flows {
            fabric.follow(Section::whole(flow), VecDeque::new());
        }
        Ok(Traced { fabric, flows: flows.to_vec() })
    }

    /// Runs until the flows are complete, and takes their completion times apart, in their order; none of
    /// one that is not complete at the end, or was interrupted.
    pub fn why(mut self) -> Vec<Option<Why>> {
        self.fabric.end_when_found();
        let ran = self.fabric.go();
        self.flows.iter().map(|&flow| why(ran.first(), flow)).collect()
    }

    /// Runs to the end: what the senders of the flows wait for then, in their order; none of one that has not
    /// started, or is complete.
    pub fn waiting(self) -> Vec<Option<String>> {
        let ran = self.fabric.go();
        self.flows.iter().map(|&flow| waiting(ran.first(), flow)).collect()
    }

    /// Runs to the end: what is kept is the same to the byte as without flows to follow.
    pub fn run(self) -> (Records, Vec<Option<Why>>) {
        let ran = self.fabric.go();
        let found = self.flows.iter().map(|&flow| why(ran.first(), flow)).collect();
        (ran.finish().expect("it runs in one process"), found)
    }
}
