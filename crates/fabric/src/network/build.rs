//! Construction of a running network from a blueprint.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use floodway_mechanisms::registry::{AnyCongestionPoint, AnyFcReceiver, AnyRouter};
use floodway_mechanisms::slots::{CongestionPoint, FcReceiver as _, FcSender as _, PortInfo};
use floodway_units::cast::narrow;
use floodway_units::mrg32k3a::FirstDraws;
use floodway_units::{Bytes, Class, NodeId, PortId, Rng, Span, fold, name_key, stream};

use self::nodes::router;
use self::ports::{build_machines, congested, points_with};
use crate::bounds::ideal::Ideals;
use crate::error::BuildError;
use crate::host::listed::Listed;
use crate::host::queue_pairs::QueuePairs;
use crate::link::arena::Arena;
use crate::network::accounts::Accounts;
use crate::network::base_rtt::Largest;
use crate::network::blueprint::{Arrivals, Blueprint, DirectionSpec, Draws, LinkSpec, Role, Ties, UNBOUNDED};
use crate::network::facts::{Demanded, Facts};
use crate::network::layout::Layout;
use crate::network::routing::{ChangingRoutes, Routes};
use crate::pool::Pool;
use crate::records::kept::Kept;
use crate::records::outcome::Control;
use crate::records::work::Work;
use crate::run::events::{EventKind, Events};
use crate::run::ranks::{Gathered, Processes};
use crate::run::state::{Outboxes, PATIENCE, Run};
use crate::run::windows::Windows;
use crate::run::world::World;
use crate::switch::congestion::PortMachines;
use crate::switch::discipline::PortQueueing;
use crate::traffic::flows::Traffic;
use crate::traffic::flows::{Source, following, of_list};
use crate::traffic::numbers::labels;
use crate::traffic::programs::Programs;
use crate::traffic::triggers::Triggers;

mod check;
mod jobs;
mod limits;
mod nodes;
mod port_classes;
mod ports;
mod validate;

impl Blueprint {
    /// Classes in use: the control class first, then those of data.
    pub fn classes(&self) -> Vec<Class> {
        let mut data: Vec<Class> = self.settings.iter().map(|settings| settings.class).collect();
        data.sort_unstable();
        data.dedup();
        std::iter::once(Class::CONTROL).chain(data).collect()
    }

    /// All ports, in the order of links.
    pub fn ports(&self) -> impl Iterator<Item = PortId> + use<> {
        (0..2 * narrow::<u32>(self.links.len())).map(PortId)
    }

    /// The ports of a node.
    pub fn ports_of(&self, node: NodeId) -> impl Iterator<Item = PortId> + '_ {
        self.links.iter().enumerate().flat_map(move |(i, link)| {
            (0..2).filter(move |&end| link.ends[end].node == node).map(move |end| PortId(narrow(2 * i + end)))
        })
    }
}

impl<'a> World<'a> {
    /// A network at rest, with its sources and faults armed. `routes` are those over all links, where they
    /// are known; `ranks` are other processes that execute parts of the run.
    ///
    /// # Errors
    /// What makes the blueprint unfit, with the place.
    pub fn build(
        blueprint: &'a Blueprint,
        routes: Option<&Arc<Routes>>,
        control: &'a Control,
        ranks: Option<Box<Processes<'a>>>,
    ) -> Result<Self, BuildError> {
        let routes = match routes {
            Some(routes) => blueprint.validate_with(routes).map(|()| Arc::clone(routes))?,
            None => Arc::new(blueprint.validate()?),
        };
        let owned = match &ranks {
            Some(ranks) => ranks.owned(),
            None => vec![true; blueprint.nodes.len()],
        };
        let (machines, class_queues) = build_machines(blueprint, &owned)?;
        let layout = Layout::new(blueprint.classes(), class_queues, blueprint.wire);
        let fails = blueprint.links.iter().any(|link| !link.down.is_empty());
        let listed = Arc::new(Listed::new(blueprint));
        let changing = fails.then(|| Box::new(ChangingRoutes::new(Arc::clone(&routes))));
        let facts = Facts::new(blueprint, routes, layout);
        control.limit.store(blueprint.end.limit.0, Ordering::Relaxed);
        let programs = Programs::new(blueprint, &facts.lists);
        let run = Run {
            control,
            patience: PATIENCE,
            events: Events::new(blueprint.semantics.ties, blueprint.semantics.starts),
            kept: Kept::new(blueprint),
            pairs: QueuePairs::default(),
            traffic: Traffic {
                sources: build_sources(blueprint),
                triggers: Triggers::new(blueprint, &facts.lists, &programs),
                programs,
                labels: labels(blueprint).into(),
                listed: Arc::clone(&listed),
            },
            packets: Arena::default(),
            shared_draws: shared_draws(blueprint),
            changing,
            ideals: Ideals::default(),
            trace: None,
            further_traces: Vec::new(),
            out: Outboxes::default(),
        };
        let (nodes, faults) = (Vec::new(), Vec::new());
        let mut world = World {
            now: 0,
            order: 0,
            facts,
            nodes,
            run,
            other_runs: Vec::new(),
            worker_pool: None,
            work: Work::new(blueprint),
            ranks,
            gathered: Gathered::default(),
            on_links: Vec::new(),
            faults,
        };
        let accounts = blueprint.accounts();
        world.number_nodes()?;
        world.record_accounts(&accounts, &owned)?;
        world.nodes = world.build_nodes(&accounts, machines, &listed, &owned)?;
        world.facts.know_switches();
        world.meet_ports();
        world.facts.largest = world.largest_ever();
        world.build_with_largest()?;
        world.note_elsewhere()?;
        (0..).map(NodeId).take(world.nodes.len()).for_each(|node| world.introduce_ports(node));
        world.own_ports().into_iter().for_each(|port| world.set_callbacks(port));
        if let Some(length) = world.facts.groups.window() {
            world.run.events.go_by_node(Windows::new(world.facts.groups.count(), length.0));
        }
        world.arm_sources();
        world.arm_loops();
        world.arm_ranks();
        world.arm_faults();
        if world.ranks.as_ref().is_some_and(|ranks| !ranks.is_first()) {
            // What waits is counted once.
            world.run.traffic.triggers.waiting.fill(0);
        }
        Ok(world)
    }

    /// The largest base round-trip times, with the longest delay that each link has at any time.
    fn largest_ever(&mut self) -> Largest {
        self.set_delays(DirectionSpec::longest_delay);
        let largest = self.facts.largest();
        self.set_delays(|direction| direction.delay);
        largest
    }

    fn set_delays(&mut self, of: impl Fn(&DirectionSpec) -> Span) {
        let directions = self.facts.blueprint.links.iter().flat_map(|link| &link.directions);
        for (port, direction) in self.facts.ports.iter_mut().zip(directions) {
            port.delay = of(direction);
        }
    }

    /// The ports of nodes of this process.
    fn own_ports(&self) -> Vec<PortId> {
        self.facts.blueprint.ports().filter(|&port| self.owns(self.facts.node_of(port))).collect()
    }

    /// Numbers NICs and switches, and builds the routers that hosts ask.
    fn number_nodes(&mut self) -> Result<(), BuildError> {
        let blueprint = self.facts.blueprint;
        let mut ports = vec![0; blueprint.nodes.len()];
        for port in self.facts.blueprint.ports() {
            ports[self.facts.node_of(port).index()] += 1;
        }
        for (node, spec) in (0..).map(NodeId).zip(&blueprint.nodes) {
            let router = match &spec.role {
                Role::Host { .. } => {
                    self.facts.nics.extend((0..ports[node.index()]).map(|_| node));
                    None
                }
                Role::Switch(spec) => {
                    self.facts.switches.push(node);
                    Some(router(blueprint, node, spec)?)
                }
            };
            self.facts.routers.push(router);
        }
        Ok(())
    }

    /// Records what is fixed about the accounts of nodes of other processes.
    fn record_accounts(&mut self, accounts: &Accounts<'_>, owned: &[bool]) -> Result<(), BuildError> {
        for port in self.facts.blueprint.ports() {
            let node = self.facts.node_of(port);
            if owned[node.index()] {
                continue;
            }
            for class in self.facts.layout.classes.clone() {
                let account = self.ingress_port_class(accounts, port, class)?;
                let at_switch = !self.facts.ports[port.index()].at_host;
                let pool = if at_switch { accounts.pool(node)?.unwrap_or_default() } else { Bytes::ZERO };
                self.record_account(&account, pool.0, at_switch);
            }
        }
        Ok(())
    }

    /// Puts another receiver half in the place of one before the run starts.
    pub fn set_receiver(&mut self, port: PortId, class: Class, receiver: AnyFcReceiver) {
        let Some((at, port)) = self.at_own_port(port) else { return };
        let port_class = at.ctx.facts.layout.port_class(port, at.ctx.facts.layout.dense(class));
        let ingress = &mut at.node.buffer.accounts[port_class];
        ingress.awaits = receiver.awaits_release();
        ingress.receiver = receiver;
        at.node.buffer.set_fast_path(&at.node.switch, port_class);
    }

    /// Puts another router in the place of a switch's before the run starts.
    pub fn set_router(&mut self, node: NodeId, build: impl Fn() -> AnyRouter) {
        let router = &mut self.facts.routers[node.index()];
        assert!(router.is_some(), "{} is no switch", self.facts.blueprint.nodes[node.index()].name);
        *router = Some(build());
        if self.owns(node) {
            self.nodes[node.index()].switch.router = Some(build());
        }
    }

    /// What the accounts of each port know of it and of the link that leads there, and what it knows of their
    /// classes.
    fn meet_ports(&mut self) {
        for node in &mut self.nodes {
            for at in node.locals() {
                let port = &mut node.links.ports[at.index()];
                for class in 0..self.facts.layout.class_count() {
                    let port_class = self.facts.layout.port_class(at, class);
                    let account = &mut node.buffer.accounts[port_class];
                    (account.at_host, account.impaired) = (port.at_host, port.impairment.errors.any());
                    account.drains = class != 0 && self.facts.ports[port.id.index()].drain.is_some();
                    port.gates.free |= u16::from(node.links.egress[port_class].sender.is_free()) << class;
                }
            }
        }
    }

    /// Builds the congestion points again that must know the largest base round-trip time, which is known
    /// only now.
    fn build_with_largest(&mut self) -> Result<(), BuildError> {
        let (blueprint, largest) = (self.facts.blueprint, self.facts.largest.rtt);
        let ports = self.nodes.iter_mut().flat_map(|node| node.links.ports.iter().zip(&mut node.machines));
        for (port, machines) in ports {
            points_with(blueprint, port.id, largest, &mut machines.congestion_points)?;
        }
        Ok(())
    }

    /// Notes what congestion points at nodes of other processes demand of all.
    fn note_elsewhere(&mut self) -> Result<(), BuildError> {
        let (blueprint, largest) = (self.facts.blueprint, self.facts.largest.rtt);
        for port in self.facts.blueprint.ports() {
            let has_points =
                !blueprint.links[port.index() / 2].ends[port.index() % 2].congestion_points.is_empty();
            if has_points && !self.owns(self.facts.node_of(port)) {
                let mut points = ports::machines_of(blueprint, port)?.congestion_points;
                points_with(blueprint, port, largest, &mut points)?;
                self.facts.demand(port, &Demanded::of(&points));
            }
        }
        Ok(())
    }

    /// Passes the ports of a node to the disciplines there.
    fn introduce_ports(&mut self, node: NodeId) {
        let (blueprint, largest_rtt) = (self.facts.blueprint, self.facts.largest.rtt);
        let node = &mut self.nodes[node.index()];
        if node.machines.iter().all(|machines| machines.discipline().is_none()) {
            return;
        }
        let info = |port| PortInfo { largest_rtt, ..blueprint.port_info(port) };
        let ports: Vec<PortInfo> = node.links.ids().map(info).collect();
        for discipline in node.machines.iter_mut().filter_map(PortMachines::discipline_mut) {
            discipline.on_ports(&ports);
        }
    }

    /// The fast path of a port's congestion points, and the callbacks that they need.
    fn set_callbacks(&mut self, id: PortId) {
        let (at, port) = self.at_port(id);
        let machines = &mut at.node.machines[port.index()];
        let demands = || machines.congestion_points.iter().map(CongestionPoint::demands);
        machines.reports_waiting = demands().any(|demands| demands.waiting);
        (machines.clears, machines.observes_cnps) =
            (demands().any(|demands| demands.clears), demands().any(|demands| demands.cnps));
        let demanded = Demanded::of(&machines.congestion_points);
        machines.queueing = PortQueueing::of(&machines.congestion_points);
        let state = &mut at.node.links.ports[port.index()];
        state.fast_path_up_to = machines.fast_path_up_to();
        state.has_discipline = !machines.queueing.is_plain();
        state.observed |= state.noted;
        // Hosts choose among queue pairs, and have no queues.
        if machines.queueing.isolates() && !state.at_host {
            let layout = &at.ctx.facts.layout;
            for class in 1..layout.class_count() {
                at.node.links.queues[layout.queue(port) + layout.first_queue_of(class, 1)].may_lose = true;
            }
        }
        let has_points = state.has_cp;
        let points = &mut at.node.switch.points;
        if has_points && let Err(place) = points.binary_search(&port) {
            points.insert(place, port);
        }
        for class in 1..at.ctx.facts.layout.class_count() {
            at.node.buffer.set_fast_path(&at.node.switch, at.ctx.facts.layout.port_class(port, class));
        }
        self.facts.demand(id, &demanded);
    }

    /// Machines may ask for a timer from the start, before any packet has come.
    pub fn arm_machines(&mut self) {
        // Where ties go by the order of scheduling, it is that of all accounts, then of all sender halves,
        // then of all ports.
        let own = |port: &PortId| self.owns(self.facts.node_of(*port));
        let all: Vec<PortId> = self.facts.blueprint.ports().filter(own).collect();
        let classes = self.facts.layout.class_count();
        for (&port, class) in all.iter().flat_map(|port| (0..classes).map(move |class| (port, class))) {
            let (at, port) = self.at_port(port);
            let ingress = &mut at.node.buffer.accounts[at.ctx.facts.layout.port_class(port, class)];
            let next = ingress.receiver.next_timeout();
            at.ctx.run.events.sync(&mut ingress.timer, next, EventKind::FcReceiver, ingress.id);
        }
        for (&port, class) in all.iter().flat_map(|port| (0..classes).map(move |class| (port, class))) {
            let (at, port) = self.at_port(port);
            let egress = &mut at.node.links.egress[at.ctx.facts.layout.port_class(port, class)];
            let next = egress.sender.next_timeout();
            at.ctx.run.events.sync(&mut egress.timer, next, EventKind::FcSender, egress.id);
        }
        for &id in &all {
            let (at, port) = self.at_port(id);
            at.node.machines[port.index()].sync(&mut at.ctx.run.events, id);
        }
        if self.run.kept.signals.is_some() {
            for port in all {
                let (mut at, port) = self.at_port(port);
                at.note_first_states(port);
            }
        }
    }

    /// Adds a congestion point before the run starts.
    ///
    /// # Errors
    /// It claims what it cannot have.
    pub fn add_congestion_point(
        &mut self,
        port: PortId,
        point: AnyCongestionPoint,
    ) -> Result<(), BuildError> {
        if !self.owns(self.facts.node_of(port)) {
            self.facts.demand(port, &Demanded::of(&[point]));
            return Ok(());
        }
        let (at, local) = self.at_port(port);
        let points = &mut at.node.machines[local.index()].congestion_points;
        points.push(point);
        at.ctx.facts.blueprint.validate_points(port, points)?;
        let (asked, has) = (PortQueueing::of(points).class_queues(), at.ctx.facts.layout.subs);
        if asked > has {
            let message = format!(
                "classes have {has} queue{} each: no discipline of the blueprint has more",
                if has == 1 { "" } else { "s" }
            );
            return Err(congested(at.ctx.facts.blueprint.port_name(port), message));
        }
        at.node.links.ports[local.index()].has_cp = true;
        self.set_callbacks(port);
        self.introduce_ports(self.facts.node_of(port));
        Ok(())
    }
}

/// Where congestion points draw from, if not from streams of their nodes: behind the streams that the HPCC
/// simulator's driver has made by then, six for each node's protocols and two for each error model.
pub(crate) fn shared_draws(blueprint: &Blueprint) -> Option<Rng> {
    (blueprint.semantics.draws == Draws::HpccNs3).then(|| {
        let broken = |link: &&LinkSpec| link.directions.iter().any(|direction| direction.errors.data > 0.0);
        let error_models = 1 + blueprint.links.iter().filter(broken).count();
        let from = (6 * blueprint.nodes.len() + 2 * error_models) as u64;
        Rng::FirstDraws(Box::new(FirstDraws::new(narrow(blueprint.seed), from)))
    })
}

fn build_sources(blueprint: &Blueprint) -> Pool<Source> {
    let mut sources = Vec::new();
    for (i, workload) in blueprint.workloads.iter().enumerate() {
        let workload_index = narrow(i);
        match &workload.arrivals {
            Arrivals::List(flows) => {
                let as_listed = blueprint.semantics.ties == Ties::SchedulingOrder;
                sources.extend(of_list(workload_index, flows, as_listed));
            }
            // Triggers post the messages of a loop, and ranks of a job begin by themselves.
            Arrivals::ClosedLoop(_) | Arrivals::Program(_) => {}
            Arrivals::Poisson(poisson) => {
                for &node in &poisson.sources {
                    let host = name_key(&blueprint.nodes[node.index()].name);
                    let key = fold(name_key(&workload.name), host);
                    let mut rng = stream(blueprint.seed, key, "arrivals");
                    let next = following(poisson, &mut rng, poisson.from.0);
                    sources.push(Source::Poisson { workload: workload_index, node, rng, number: 0, next });
                }
            }
        }
    }
    sources.into_iter().collect()
}

/// Does any flow end by itself?
pub(crate) fn has_bounded(blueprint: &Blueprint) -> bool {
    blueprint.workloads.iter().any(|workload| match &workload.arrivals {
        Arrivals::List(flows) => flows.iter().any(|flow| flow.size < UNBOUNDED),
        Arrivals::Poisson(_) | Arrivals::ClosedLoop(_) | Arrivals::Program(_) => true,
    })
}
