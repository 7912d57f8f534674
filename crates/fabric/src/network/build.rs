//! Construction of a running network from a blueprint.

use std::collections::VecDeque;
use std::sync::Arc;

use floodway_mechanisms::registry::{AnyCongestionPoint, AnyFcReceiver, AnyRouter};
use floodway_mechanisms::slots::{
    Claim, CongestionPoint, FcReceiver as _, FcSender as _, Need, PortInfo, SwitchInfo,
};
use floodway_units::mrg32k3a::{FirstDraws, Mrg32k3a};
use floodway_units::{Bytes, Class, NodeId, PortId, Rate, Rng, Span, fold, mix, name_key, stream};
use rustc_hash::FxHashSet;

use self::ports::{build_machines, build_ports, congested};
use crate::bounds::ideal::Ideals;
use crate::column::{Column, Part};
use crate::error::BuildError;
use crate::host::listed::Listed;
use crate::host::nic::Nic;
use crate::host::queue_pairs::{HostPairs, QueuePairs};
use crate::host::ranks::Ranks;
use crate::host::round_robin_bitmap::RoundRobinBitmap;
use crate::link::arena::Arena;
use crate::link::port::{Egress, Port, Queue};
use crate::network::accounts::Accounts;
use crate::network::base_rtt::Largest;
use crate::network::blueprint::{
    Arrivals, Blueprint, DirectionSpec, Draws, LinkSpec, RelayPorts, Role, SwitchSpec, Ties, UNBOUNDED,
};
use crate::network::facts::Facts;
use crate::network::layout::Layout;
use crate::network::routing::{ChangingRoutes, Routes};
use crate::pool::Pool;
use crate::records::histogram::histograms;
use crate::records::kept::Kept;
use crate::records::outcome::Control;
use crate::records::series::{self, Series};
use crate::records::shares::buckets;
use crate::run::events::{EventKind, Events, NEVER};
use crate::run::node::{Node, Streams};
use crate::run::ranks::{Gathered, Processes};
use crate::run::state::{Outboxes, Run};
use crate::run::windows::Windows;
use crate::run::world::World;
use crate::switch::buffer::Ingress;
use crate::switch::congestion::PortMachines;
use crate::switch::congestion::meter::MeterQueue;
use crate::switch::crossbar::Inputs;
use crate::switch::forward::{Relay, Switch};
use crate::traffic::flows::Traffic;
use crate::traffic::flows::{Source, following, of_list};
use crate::traffic::numbers::labels;
use crate::traffic::programs::Programs;
use crate::traffic::triggers::Triggers;

mod check;
mod jobs;
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

    /// "node (link)".
    pub fn port_name(&self, port: PortId) -> String {
        let link = &self.links[port.index() / 2];
        format!("{} ({})", self.nodes[link.ends[port.index() % 2].node.index()].name, link.name)
    }

    /// All ports, in the order of links.
    pub fn ports(&self) -> impl Iterator<Item = PortId> + use<> {
        (0..2 * self.links.len() as u32).map(PortId)
    }

    /// The ports of a node.
    pub fn ports_of(&self, node: NodeId) -> impl Iterator<Item = PortId> + '_ {
        self.links.iter().enumerate().flat_map(move |(i, link)| {
            (0..2)
                .filter(move |&end| link.ends[end].node == node)
                .map(move |end| PortId((2 * i + end) as u32))
        })
    }
}

/// What the nodes of a network own, as it is built: node by node.
#[derive(Default)]
struct Columns {
    ports: Column<Port>,
    ingress: Column<Ingress>,
    egress: Column<Egress>,
    queues: Column<Queue>,
    series: Column<Series>,
    nics: Column<Nic>,
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
        let machines = build_machines(blueprint)?;
        let points = machines.iter().flat_map(|machines| &machines.congestion_points);
        let subs = points.map(|point| point.demands().class_queues()).max().unwrap_or(1);
        let layout = Layout::new(blueprint.classes(), subs, blueprint.wire);
        let fails = blueprint.links.iter().any(|link| !link.down.is_empty());
        let listed = Arc::new(Listed::new(blueprint));
        let changing = fails.then(|| Box::new(ChangingRoutes::new(Arc::clone(&routes))));
        let facts = Facts::new(blueprint, routes, layout);
        let programs = Programs::new(blueprint, &facts.lists);
        let run = Run {
            control,
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
            ranks,
            gathered: Gathered::default(),
            on_links: Vec::new(),
            faults,
        };
        let accounts = blueprint.accounts();
        world.add_nodes(&accounts, machines, &listed)?;
        world.facts.crossbars = world.nodes.iter().any(|node| node.switch.inputs.is_some());
        world.facts.straight = !world.facts.crossbars
            && world.facts.layout.queues_per_port == 2
            && blueprint.records.queue_histogram.is_none();
        world.facts.straight_control =
            world.facts.straight && world.nodes.iter().all(|node| node.switch.pipeline == 0);
        world.meet_ports();
        world.facts.largest = world.largest_ever();
        world.build_with_largest()?;
        for port in world.port_ids() {
            world.introduce_ports(port, 0);
            world.set_callbacks(port);
        }
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

    fn add_nodes(
        &mut self,
        accounts: &Accounts<'_>,
        machines: Vec<PortMachines>,
        listed: &Listed,
    ) -> Result<(), BuildError> {
        let blueprint = self.facts.blueprint;
        let mut parts: Vec<Vec<(Port, PortMachines)>> = blueprint.nodes.iter().map(|_| Vec::new()).collect();
        for (port, machines) in build_ports(&self.facts).into_iter().zip(machines) {
            parts[self.facts.node_of(port.id).index()].push((port, machines));
        }
        let mut columns = Columns::default();
        let watched: FxHashSet<PortId> = blueprint.records.watch.iter().copied().collect();
        for (i, (spec, parts)) in blueprint.nodes.iter().zip(parts).enumerate() {
            let node = NodeId(i as u32);
            let key = name_key(&spec.name);
            let number = self.facts.switches.len() as u32;
            let ports: Vec<PortId> = parts.iter().map(|(port, _)| port.id).collect();
            let switch = match &spec.role {
                Role::Host { .. } => {
                    self.facts.routers.push(None);
                    self.add_nics(node, ports.len(), &mut columns.nics);
                    Switch::none()
                }
                Role::Switch(spec) => {
                    let pool = accounts.pool(node)?.unwrap_or_default();
                    self.facts.switches.push(node);
                    self.switch(node, spec, (pool, number), &ports)?
                }
            };
            let at_switch = matches!(spec.role, Role::Switch(_));
            for &port in &ports {
                columns.series.push(series::of_port(&blueprint.records, watched.contains(&port)));
                for class in self.facts.layout.classes.clone() {
                    let account = self.ingress_port_class(accounts, port, class)?;
                    self.record_account(&account, &switch, at_switch);
                    columns.ingress.push(account);
                    columns.egress.push(self.egress_port_class(accounts, port, class)?);
                }
                (0..self.facts.layout.queues_per_port).for_each(|_| columns.queues.push(Queue::default()));
            }
            let mut own = Vec::with_capacity(ports.len());
            for (port, machines) in parts {
                columns.ports.push(port);
                own.push(machines);
            }
            self.nodes.push(Node {
                id: node,
                work: 0,
                machines: own,
                histograms: histograms(blueprint.records.queue_histogram.as_ref(), ports.len(), at_switch),
                buckets: buckets(blueprint.records.shares.as_ref(), &ports),
                host_pairs: HostPairs { to_start: listed.count(node), ..HostPairs::default() },
                streams: streams(blueprint, key, at_switch.then_some(number)),
                switch,
                ports: Part::default(),
                queues: Part::default(),
                egress: Part::default(),
                ingress: Part::default(),
                series: Part::default(),
                nics: Part::default(),
            });
        }
        self.deal(columns);
        Ok(())
    }

    /// Gives each node its part of what was built for all.
    fn deal(&mut self, columns: Columns) {
        let (classes, queues) = (self.facts.layout.classes.len(), self.facts.layout.queues_per_port);
        let ports: Vec<usize> = self.nodes.iter().map(|node| node.machines.len()).collect();
        let roles = self.facts.blueprint.nodes.iter().map(|node| &node.role);
        let of = |per_port: usize| ports.iter().map(move |ports| ports * per_port);
        let nics =
            roles.zip(&ports).map(|(role, ports)| if matches!(role, Role::Host { .. }) { *ports } else { 0 });
        let Columns { ports: all, ingress, egress, queues: all_queues, series, nics: all_nics } = columns;
        let parts = all.deal(of(1)).into_iter().zip(ingress.deal(of(classes))).zip(egress.deal(of(classes)));
        let parts = parts.zip(all_queues.deal(of(queues))).zip(series.deal(of(1))).zip(all_nics.deal(nics));
        for (node, (((((ports, ingress), egress), queues), series), nics)) in self.nodes.iter_mut().zip(parts)
        {
            (node.ports, node.ingress, node.egress) = (ports, ingress, egress);
            (node.queues, node.series, node.nics) = (queues, series, nics);
        }
    }

    /// Adds the NICs of a host, one for each of its ports.
    fn add_nics(&mut self, node: NodeId, ports: usize, nics: &mut Column<Nic>) {
        let classes = self.facts.layout.classes.len();
        for _ in 0..ports {
            let mut ranks = Ranks::default();
            ranks.reserve(self.run.traffic.listed.count(node));
            nics.push(Nic {
                number: self.facts.nics.len() as u32,
                ranks,
                ready: vec![RoundRobinBitmap::default(); classes],
                repeats: vec![RoundRobinBitmap::default(); classes],
                last: vec![u32::MAX - 1; classes],
                ..Nic::default()
            });
            self.facts.nics.push(node);
        }
    }

    fn switch(
        &mut self,
        node: NodeId,
        spec: &SwitchSpec,
        (pool, number): (Bytes, u32),
        ports: &[PortId],
    ) -> Result<Switch, BuildError> {
        let router = self::router(self.facts.blueprint, node, spec)?;
        let asked = self::router(self.facts.blueprint, node, spec)?;
        self.facts.routers.push(Some(asked));
        let inputs = spec.buffer.plan().crossbar.map(|plan| {
            let rates: Vec<Rate> = ports.iter().map(|port| self.facts.ports[port.index()].rate).collect();
            let queues = self.facts.layout.queues_per_port - 1;
            Box::new(Inputs::new(plan, &rates, queues, self.facts.layout.classes.len() - 1))
        });
        Ok(Switch {
            router: Some(router),
            number,
            pipeline: spec.pipeline.0,
            pool_size: pool.0,
            headroom_size: spec.buffer.plan().headroom.map_or(NEVER, |size| size.0),
            cell: spec.cell.0,
            pool_fast_path_up_to: if pool == Bytes::ZERO { NEVER } else { pool.0 / 2 },
            releases: VecDeque::with_capacity(ports.len()),
            relay: spec.relay.map(|ports| self.relaying(ports)),
            inputs,
            ..Switch::none()
        })
    }

    /// What a relay does with pauses: as the flow control says of the link into its remote port.
    fn relaying(&self, ports: RelayPorts) -> Relay {
        let link = &self.facts.blueprint.links[ports.remote.index() / 2];
        let into = &link.directions[1 - ports.remote.index() % 2];
        let of = |class: &Class| {
            let control = into.flow_control.iter().find(|(of, _)| of == class);
            let relay = control.and_then(|(_, params)| params.relay());
            relay.map_or_else(Default::default, |relay| [relay.from_local, relay.from_remote])
        };
        let (local, remote) = (self.facts.local(ports.local), self.facts.local(ports.remote));
        let dispositions = self.facts.layout.classes.iter().map(of).collect();
        Relay { local, remote, dispositions, is_bypassed: false }
    }

    /// Puts another receiver half in the place of one before the run starts.
    pub fn set_receiver(&mut self, port: PortId, class: Class, receiver: AnyFcReceiver) {
        let (mut at, port) = self.at_port(port);
        let port_class = at.facts.layout.port_class(port, at.facts.layout.dense(class));
        let ingress = &mut at.node.ingress[port_class];
        ingress.awaits = receiver.awaits_release();
        ingress.receiver = receiver;
        at.set_fast_path(port_class);
    }

    /// Puts another router in the place of a switch's before the run starts.
    pub fn set_router(&mut self, node: NodeId, build: impl Fn() -> AnyRouter) {
        let state = &mut self.nodes[node.index()];
        assert!(!state.is_host(), "{} is no switch", self.facts.blueprint.nodes[node.index()].name);
        state.switch.router = Some(build());
        self.facts.routers[node.index()] = Some(build());
    }

    /// What the accounts of each port know of it and of the link that leads there, and what it knows of their
    /// classes.
    fn meet_ports(&mut self) {
        for node in &mut self.nodes {
            for at in node.locals() {
                let port = &mut node.ports[at.index()];
                for class in 0..self.facts.layout.classes.len() as u8 {
                    let port_class = self.facts.layout.port_class(at, class);
                    let account = &mut node.ingress[port_class];
                    (account.at_host, account.impaired) = (port.at_host, port.impairment.errors.any());
                    port.gates.free |= u16::from(node.egress[port_class].sender.is_free()) << class;
                }
            }
        }
    }

    /// Builds the congestion points again that must know the largest base round-trip time, which is known
    /// only now.
    fn build_with_largest(&mut self) -> Result<(), BuildError> {
        let ports = self.nodes.iter_mut().flat_map(|node| node.ports.iter().zip(&mut node.machines));
        for (port, machines) in ports {
            let port = port.id;
            let end = &self.facts.blueprint.links[port.index() / 2].ends[port.index() % 2];
            for (point, params) in machines.congestion_points.iter_mut().zip(&end.congestion_points) {
                if params.needs().contains(&Need::Largest) {
                    let info = PortInfo {
                        largest_rtt: self.facts.largest.rtt,
                        ..self.facts.blueprint.port_info(port)
                    };
                    let place = || self.facts.blueprint.port_name(port);
                    *point = params.build(&info).map_err(|error| BuildError::param(place(), error))?;
                }
            }
        }
        Ok(())
    }

    /// Passes all ports of the node to the congestion points of a port, from the `first` on.
    fn introduce_ports(&mut self, id: PortId, first: usize) {
        let largest = self.facts.largest.rtt;
        let (at, port) = self.at_port(id);
        let points = &mut at.node.machines[port.index()].congestion_points[first..];
        if !points.iter().any(|point| point.demands().ports) {
            return;
        }
        for other in at.node.ports.iter() {
            let info = PortInfo { largest_rtt: largest, ..at.facts.blueprint.port_info(other.id) };
            for point in &mut *points {
                point.on_port(&info);
            }
        }
    }

    /// The fast path of a port's congestion points, and the callbacks that they need.
    fn set_callbacks(&mut self, id: PortId) {
        let (mut at, port) = self.at_port(id);
        let machines = &mut at.node.machines[port.index()];
        let demands = || machines.congestion_points.iter().map(CongestionPoint::demands);
        let isolates = demands().any(|demands| demands.isolation);
        let holds_flows = demands().any(|demands| demands.flows);
        let naming = demands().map(|demands| demands.naming).max();
        let points = machines.congestion_points.iter();
        let names_flows = points.filter(|point| matches!(point, AnyCongestionPoint::Custom(_))).count() > 0;
        (machines.reports_waiting, machines.watches) =
            (demands().any(|demands| demands.waiting), demands().any(|demands| demands.inputs));
        (machines.clears, machines.observes_cnps) =
            (demands().any(|demands| demands.clears), demands().any(|demands| demands.cnps));
        let observes_cnps = machines.observes_cnps;
        machines.sorts_each = demands().any(|demands| demands.each_packet);
        machines.serves = demands().any(|demands| demands.claims.contains(&Claim::Serve));
        let meter = demands().find_map(|demands| demands.meter);
        machines.meter = meter.map(|meter| Box::new(MeterQueue::new(meter)));
        at.set_port_fast_path(port);
        let state = &mut at.node.ports[port.index()];
        // Hosts choose among queue pairs, and have no queues.
        state.isolates = isolates && !state.at_host;
        state.holds_flows = holds_flows && state.at_host;
        state.observed |= state.noted;
        state.meters = meter.is_some();
        let isolates = state.isolates;
        for class in 1..at.facts.layout.classes.len() as u8 {
            at.set_fast_path(at.facts.layout.port_class(port, class));
        }
        self.facts.ports[id.index()].isolates = isolates;
        self.facts.naming = self.facts.naming.max(naming.unwrap_or_default());
        self.facts.names_flows |= names_flows || naming > Some(Span::ZERO);
        self.facts.observes_cnps |= observes_cnps;
    }

    /// Machines may ask for a timer from the start, before any packet has come.
    pub fn arm_machines(&mut self) {
        // Where ties go by the order of scheduling, it is that of all accounts, then of all sender halves,
        // then of all ports.
        let own = |port: &PortId| self.owns(self.facts.node_of(*port));
        let all: Vec<PortId> = self.port_ids().filter(own).collect();
        let classes = self.facts.layout.classes.len() as u8;
        for (&port, class) in all.iter().flat_map(|port| (0..classes).map(move |class| (port, class))) {
            let (mut at, port) = self.at_port(port);
            let ingress = &mut at.node.ingress[at.facts.layout.port_class(port, class)];
            let next = ingress.receiver.next_timeout();
            at.run.events.sync(&mut ingress.timer, next, EventKind::FcReceiver, ingress.id);
        }
        for (&port, class) in all.iter().flat_map(|port| (0..classes).map(move |class| (port, class))) {
            let (mut at, port) = self.at_port(port);
            let egress = &mut at.node.egress[at.facts.layout.port_class(port, class)];
            let next = egress.sender.next_timeout();
            at.run.events.sync(&mut egress.timer, next, EventKind::FcSender, egress.id);
        }
        for &id in &all {
            let (at, port) = self.at_port(id);
            at.node.machines[port.index()].sync(&mut at.run.events, id);
        }
        self.start_signals(&all);
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
        let (mut at, local) = self.at_port(port);
        let points = &mut at.node.machines[local.index()].congestion_points;
        points.push(point);
        at.facts.blueprint.validate_points(port, points)?;
        let (asked, has) =
            (points.iter().map(|point| point.demands().class_queues()).max(), at.facts.layout.subs);
        if asked > Some(has) {
            let message = format!(
                "classes have {has} queue{} each: no machine of the blueprint claims Classify with more",
                if has == 1 { "" } else { "s" }
            );
            return Err(congested(at.facts.blueprint.port_name(port), message));
        }
        at.node.ports[local.index()].has_cp = true;
        let newest = at.node.machines[local.index()].congestion_points.len() - 1;
        self.introduce_ports(port, newest);
        self.set_callbacks(port);
        Ok(())
    }
}

/// The router of a switch.
fn router(blueprint: &Blueprint, node: NodeId, spec: &SwitchSpec) -> Result<AnyRouter, BuildError> {
    let name = &blueprint.nodes[node.index()].name;
    let key = fold(mix(blueprint.seed), name_key(name));
    let info = SwitchInfo { key, hash_seed: spec.hash_seed };
    spec.routing.build(&info).map_err(|error| BuildError::param(format!("switch {name}"), error))
}

/// The streams of a node whose name hashes to `key`, and of a switch its number.
fn streams(blueprint: &Blueprint, key: u64, switch: Option<u32>) -> Streams {
    let seed = blueprint.seed;
    let stream = |purpose| stream(seed, key, purpose);
    Streams {
        flow_control: stream("flow-control"),
        congestion_point: match (blueprint.semantics.draws, switch) {
            (Draws::ConweaveNs3, _) => Rng::Ns3(Box::new(Mrg32k3a::first_by_hand(seed as u32))),
            // Switches have been numbered from 0, and the run's first stream is that of the hashes' seeds.
            (Draws::SwingNs3, Some(switch)) => {
                Rng::Ns3(Box::new(Mrg32k3a::of_stream(seed as u32, u64::from(switch) + 1)))
            }
            (Draws::PerNode | Draws::HpccNs3 | Draws::SwingNs3, _) => stream("congestion-point"),
        },
        routing: stream("routing"),
        admission: stream("admission"),
        notification: stream("notification"),
        reliability: stream("reliability"),
    }
}

/// Where congestion points draw from, if not from streams of their nodes: behind the streams that the HPCC
/// simulator's driver has made by then, six for each node's protocols and two for each error model.
pub(crate) fn shared_draws(blueprint: &Blueprint) -> Option<Rng> {
    (blueprint.semantics.draws == Draws::HpccNs3).then(|| {
        let broken = |link: &&LinkSpec| link.directions.iter().any(|direction| direction.errors.data > 0.0);
        let error_models = 1 + blueprint.links.iter().filter(broken).count();
        let from = (6 * blueprint.nodes.len() + 2 * error_models) as u64;
        Rng::FirstDraws(Box::new(FirstDraws::new(blueprint.seed as u32, from)))
    })
}

fn build_sources(blueprint: &Blueprint) -> Pool<Source> {
    let mut sources = Vec::new();
    for (i, workload) in blueprint.workloads.iter().enumerate() {
        let workload_index = i as u32;
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
