//! A network from its blueprint to its records.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use floodway_engine::memory::Exhausted;
use floodway_engine::{Advance, Transport, end_of_epoch};
use floodway_mechanisms::registry::{AnyCongestionPoint, AnyFcReceiver, AnyRouter};
use floodway_mechanisms::slots::{FcReceiver as _, FcSender as _};
use floodway_units::{Class, NodeId, PortId, Span, Time};

use crate::error::BuildError;
use crate::network::blueprint::Blueprint;
use crate::network::build;
use crate::network::facts::Demanded;
use crate::network::routing::Routes;
use crate::records::finish::Closed;
use crate::records::outcome::{Control, Records};
use crate::records::signals::SignalLog;
use crate::run::events::EventKind;
use crate::run::node::AnyDevice;
use crate::run::ranks::{Processes, RankPlan};
use crate::run::recurrence::{Moment, Recurrence};
use crate::run::state::Run;
use crate::run::threads::ThreadPlan;
use crate::run::world::World;
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
        let world = World::build(blueprint, routes, control, None)?;
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
        let world = World::build(blueprint, routes, control, Some(Box::new(ranks)))?;
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
            facts.demand(port, &Demanded::of(&[point]));
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

    /// Machines may ask for a timer from the start, before any packet has come.
    pub(crate) fn arm_machines(&mut self) {
        let world = &mut self.world;
        // Where ties go by the order of scheduling, it is that of all accounts, then of all sender halves,
        // then of all ports.
        let own = |port: &PortId| world.owns(world.facts.node_of(*port));
        let all: Vec<PortId> = world.facts.blueprint.ports().filter(own).collect();
        let classes = world.facts.layout.class_count();
        for (&port, class) in all.iter().flat_map(|port| (0..classes).map(move |class| (port, class))) {
            let (at, port) = world.at_port(port);
            let (ctx, node) = at.core();
            let ingress = &mut node.buffer.accounts[ctx.facts.layout.port_class(port, class)];
            let next = ingress.receiver.next_timeout();
            ctx.run.events.sync(&mut ingress.timer, next, EventKind::FcReceiver, ingress.id);
        }
        for (&port, class) in all.iter().flat_map(|port| (0..classes).map(move |class| (port, class))) {
            let (at, port) = world.at_port(port);
            let (ctx, node) = at.core();
            let egress = &mut node.links.egress[ctx.facts.layout.port_class(port, class)];
            let next = egress.sender.next_timeout();
            ctx.run.events.sync(&mut egress.timer, next, EventKind::FcSender, egress.id);
        }
        for &id in &all {
            let (at, port) = world.at_port(id);
            let (ctx, node) = at.core();
            node.machines[port.index()].sync(&mut ctx.run.events, id);
        }
        if world.runs.own.kept.signals.is_some() {
            for port in all {
                let (at, port) = world.at_port(port);
                let (mut ctx, node) = at.core();
                SignalLog::note_first_states(&mut ctx, node, port);
            }
        }
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
    pub fn run_part(self) -> Option<Records> {
        self.go().finish()
    }

    pub(crate) fn go(mut self) -> Ran<'a> {
        self.arm_machines();
        let Fabric { mut world, thread_plan } = self;
        if let Some(thread_plan) = &thread_plan {
            world.runs.start_workers(&world.facts, world.ranks.as_deref(), thread_plan);
        }
        let limit = world.facts.blueprint.end.limit;
        let (mut now, mut how) = (Time::ZERO, Advance::Reached);
        while world.runs.own.events.run_time(now.0) < limit.0 && how == Advance::Reached {
            let events = &world.runs.own.events;
            let end = end_of_epoch(Time(events.run_time(now.0)), limit);
            let end = Time(events.simulated(end.0));
            if let Some(at) = world.recurrence.next_look(&world.facts, &world.runs, now, end) {
                how = world.run_until(at);
                now = at;
                if how == Advance::Reached {
                    let World { facts, nodes, runs, recurrence, .. } = &mut world;
                    recurrence.look(&mut Moment { facts, nodes, runs, now });
                }
                continue;
            }
            how = world.run_until(end);
            now = end;
            if how == Advance::Reached && world.at_epoch(now) {
                break;
            }
        }
        if world.runs.own.control.short_of_memory.load(Ordering::Relaxed) {
            Exhausted { bytes: 0 }.end();
        }
        // An interrupted epoch is cut where it stood.
        let interrupted = how == Advance::Interrupted;
        let end = if interrupted { Time(world.now) } else { now };
        Ran { world, end, interrupted }
    }
}

/// A network whose run is over.
pub(crate) struct Ran<'a> {
    pub world: World<'a>,
    end: Time,
    interrupted: bool,
}

impl Ran<'_> {
    /// What was found of a flow that was followed, if it is complete.
    fn why(&self, flow: FlowRef) -> Option<Why> {
        let World { now, facts, runs, .. } = &self.world;
        let trace = runs.own.traces.iter().find(|trace| trace.section.flow == flow)?;
        trace.why(facts, &runs.own.traffic.labels, *now)
    }

    /// What the sender of a flow that was followed waits for, if it has started and is not complete.
    fn waiting(&self, flow: FlowRef) -> Option<String> {
        let own = &self.world.runs.own;
        let trace = own.traces.iter().find(|trace| trace.section.flow == flow)?;
        trace.waiting(&own.pairs)
    }

    /// Closes the books; the records, where this process has those of all.
    fn finish(mut self) -> Option<Records> {
        let world = &mut self.world;
        world.now = self.end.0;
        if let Some(ranks) = &mut world.ranks {
            // What is on links between ranks is received.
            ranks.exchange_mail(&world.facts, &mut world.nodes, &mut world.runs);
        }
        let stopped = world.stopped(self.interrupted);
        let World { facts, nodes, runs, recurrence, .. } = world;
        recurrence.stop_measuring(&mut Moment { facts, nodes, runs, now: self.end });
        world.close(self.end);
        let World { facts, nodes, runs, recurrence, .. } = world;
        recurrence.join_rows(&mut Moment { facts, nodes, runs, now: self.end });
        world.on_links = world.runs.merge();
        if let Some(mut ranks) = world.ranks.take() {
            if !ranks.gather(world) {
                return None;
            }
        } else if cfg!(debug_assertions) {
            world.in_network().check(&world.runs.own.pairs);
        }
        let World { now, facts, nodes, runs, on_links, gathered, recurrence, .. } = self.world;
        let not_skipped = recurrence.not_skipped(&facts, &runs);
        let Run { events, kept, packets, traffic, .. } = runs.own;
        let skips = recurrence.skips();
        let (skipped, now) = (events.skipped(), events.run_time(now));
        let closed = Closed {
            now,
            skipped,
            facts,
            nodes,
            kept,
            packets,
            traffic,
            on_links,
            gathered,
            skips,
            not_skipped,
        };
        Some(closed.records(stopped))
    }
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
        self.flows.iter().map(|&flow| ran.why(flow)).collect()
    }

    /// Runs to the end: what the senders of the flows wait for then, in their order; none of one that has not
    /// started, or is complete.
    pub fn waiting(self) -> Vec<Option<String>> {
        let ran = self.fabric.go();
        self.flows.iter().map(|&flow| ran.waiting(flow)).collect()
    }

    /// Runs to the end: what is kept is the same to the byte as without flows to follow.
    pub fn run(self) -> (Records, Vec<Option<Why>>) {
        let ran = self.fabric.go();
        let found = self.flows.iter().map(|&flow| ran.why(flow)).collect();
        (ran.finish().expect("it runs in one process"), found)
    }
}
