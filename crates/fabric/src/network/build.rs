//! From a blueprint to a running network.

use std::collections::VecDeque;
use std::sync::Arc;

use self::ports::{build_machines, build_ports, congested};
use crate::bounds::ideal::Ideals;
use crate::column::Column;
use crate::error::BuildError;
use crate::host::listed::Listed;
use crate::host::nic::Nic;
use crate::host::queue_pairs::QueuePairs;
use crate::host::ranks::Ranks;
use crate::host::ring::Ring;
use crate::link::arena::Arena;
use crate::link::port::{Port, Queue};
use crate::link::wires;
use crate::network::accounts::Accounts;
use crate::network::base_rtt::Largest;
use crate::network::blueprint::{
    Arrivals, Blueprint, DirectionSpec, Draws, LinkSpec, RelayPorts, Role, SwitchSpec, Ties, UNBOUNDED,
};
use crate::network::facts::Facts;
use crate::network::layout::Layout;
use crate::network::routing::{ChangingRoutes, Routes};
use crate::records::histogram::histograms;
use crate::records::kept::Kept;
use crate::records::outcome::Control;
use crate::run::agenda::{Agenda, NEVER, What};
use crate::run::border::Border;
use crate::run::cut::Cut;
use crate::run::windows::Windows;
use crate::run::world::{Node, Outboxes, Streams, World};
use crate::switch::congestion::Notices;
use crate::switch::crossing::Inputs;
use crate::switch::forward::{Relay, Switch};
use crate::switch::telemetry::Telemetry;
use crate::traffic::flows::Traffic;
use crate::traffic::flows::{Source, following, of_list};
use crate::traffic::numbers::{Label, labels};
use crate::traffic::triggers::Triggers;
use floodway_mechanisms::registry::{AnyCongestionPoint, AnyFcReceiver, AnyRouter};
use floodway_mechanisms::slots::{
    Claim, CongestionPoint, FcReceiver as _, FcSender as _, Need, PortInfo, SwitchInfo,
};
use floodway_units::mrg32k3a::{FirstDraws, Mrg32k3a};
use floodway_units::{Bytes, Class, NodeId, PortId, Rate, Rng, Span, fold, mix, name_key, stream};

mod lanes;
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

    /// The ports of a node.
    pub fn ports_of(&self, node: NodeId) -> impl Iterator<Item = PortId> + '_ {
        self.links.iter().enumerate().flat_map(move |(i, link)| {
            (0..2)
                .filter(move |&end| link.ends[end].node == node)
                .map(move |end| PortId((2 * i + end) as u32))
        })
    }
}

/// What partitions have in common, and never change.
struct Common {
    routes: Arc<Routes>,
    labels: Arc<[Vec<Label>]>,
    listed: Arc<Listed>,
    /// Once it is known.
    largest: Option<Largest>,
}

impl<'a> World<'a> {
    /// The partitions of a network at rest, each with its own sources and faults armed. Every one has a place for
    /// all that the network is made of, under the same numbers, and works on what it owns. `routes` are those over all
    /// links, where they are known.
    ///
    /// # Errors
    /// What makes the blueprint unfit, with the place.
    pub fn build(
        blueprint: &'a Blueprint,
        routes: Option<&Arc<Routes>>,
        control: &'a Control,
        cut: &Arc<Cut>,
    ) -> Result<Vec<Self>, BuildError> {
        let routes = match routes {
            Some(routes) => blueprint.validate_with(routes).map(|()| Arc::clone(routes))?,
            None => Arc::new(blueprint.validate()?),
        };
        let mut common = Common {
            routes,
            labels: labels(blueprint).into(),
            listed: Listed::new(blueprint).into(),
            largest: None,
        };
        let of = |index| Self::build_part(blueprint, control, Border::new(cut, index), &mut common);
        (0..cut.parts()).map(of).collect()
    }

    fn build_part(
        blueprint: &'a Blueprint,
        control: &'a Control,
        border: Border,
        common: &mut Common,
    ) -> Result<Self, BuildError> {
        let machines = build_machines(blueprint)?;
        let mut points = machines.iter().flat_map(|machines| &machines.congestion_points);
        let subs = if points.any(|point| point.claims().contains(&Claim::Classify)) { 2 } else { 1 };
        let layout = Layout::new(blueprint.classes(), subs, blueprint.wire);
        let queues = 2 * blueprint.links.len() * layout.queues_per_port;
        let fails = blueprint.links.iter().any(|link| !link.down.is_empty());
        let has_telemetry = blueprint.telemetry() == floodway_wire::Telemetry::Int;
        let mut world = World {
            control,
            now: 0,
            order: 0,
            events: Agenda::new(blueprint.semantics.ties, blueprint.semantics.starts),
            kept: Kept::new(blueprint, layout.classes.len()),
            facts: Facts::new(blueprint, Arc::clone(&common.routes), layout),
            pairs: QueuePairs::default(),
            traffic: Traffic {
                sources: build_sources(blueprint, &border),
                triggers: Triggers::new(blueprint, &border),
                labels: Arc::clone(&common.labels),
                to_start: common.listed.to_start(),
                listed: Arc::clone(&common.listed),
            },
            packets: Arena::default(),
            telemetry: Telemetry::new(has_telemetry, 2 * blueprint.links.len()),
            shared_draws: shared_draws(blueprint),
            ports: build_ports(blueprint).into(),
            queues: (0..queues).map(|_| Queue::default()).collect(),
            egress: Column::default(),
            ingress: Column::default(),
            machines,
            nodes: Vec::new(),
            switches: Column::default(),
            nics: Column::default(),
            changing: fails.then(|| Box::new(ChangingRoutes::new(Arc::clone(&common.routes)))),
            wires: wires::of_network(blueprint),
            ideals: Ideals::default(),
            faults: Vec::new(),
            notices: Notices::default(),
            trace: None,
            out: Outboxes::default(),
            border,
        };
        let accounts = blueprint.accounts();
        world.add_nodes(&accounts)?;
        let at_switch: Vec<bool> = world.ports.iter().map(|port| !port.at_host).collect();
        world.kept.histograms = histograms(blueprint.records.queue_histogram.as_ref(), &at_switch);
        world.facts.crossbars = world.switches.iter().any(|switch| switch.inputs.is_some());
        world.facts.straight = !world.facts.crossbars
            && world.facts.layout.queues_per_port == 2
            && world.kept.histograms.is_empty();
        world.facts.straight_control =
            world.facts.straight && world.switches.iter().all(|switch| switch.pipeline == 0);
        world.add_lanes(&accounts)?;
        world.meet_ports();
        world.facts.largest = *common.largest.get_or_insert_with(|| world.largest_ever());
        world.build_with_largest()?;
        (0..world.ports.len()).for_each(|port| world.set_hearing(PortId(port as u32)));
        if let Some(length) = blueprint.window() {
            world.events.go_by_node(Windows::new(blueprint.nodes.len(), length.0));
        }
        world.arm_sources();
        world.arm_loops();
        world.arm_faults();
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

    fn add_nodes(&mut self, accounts: &Accounts<'_>) -> Result<(), BuildError> {
        let seed = self.facts.blueprint.seed;
        let mut ports_of = vec![Vec::new(); self.facts.blueprint.nodes.len()];
        for (i, port) in self.ports.iter().enumerate() {
            ports_of[port.node.index()].push(PortId(i as u32));
        }
        for (i, spec) in self.facts.blueprint.nodes.iter().enumerate() {
            let node = NodeId(i as u32);
            let key = name_key(&spec.name);
            let ports = std::mem::take(&mut ports_of[i]);
            let switch = match &spec.role {
                Role::Host { .. } => {
                    for &port in &ports {
                        self.add_nic(port);
                    }
                    self.facts.routers.push(None);
                    u32::MAX
                }
                Role::Switch(switch) => {
                    let pool = accounts.pool(node)?.unwrap_or_default();
                    self.add_switch(node, switch, (fold(mix(seed), key), pool), ports)?;
                    self.switches.len() as u32 - 1
                }
            };
            let stream = |purpose| stream(seed, key, purpose);
            let draws = self.facts.blueprint.semantics.draws;
            let streams = Streams {
                flow_control: stream("flow-control"),
                congestion_point: match draws {
                    Draws::ConweaveNs3 => Rng::Ns3(Box::new(Mrg32k3a::first_by_hand(seed as u32))),
                    // Switches have been numbered from 0, and the run's first stream is that of the hashes' seeds.
                    Draws::SwingNs3 if switch != u32::MAX => {
                        Rng::Ns3(Box::new(Mrg32k3a::of_stream(seed as u32, u64::from(switch) + 1)))
                    }
                    Draws::PerNode | Draws::HpccNs3 | Draws::SwingNs3 => stream("congestion-point"),
                },
                routing: stream("routing"),
                admission: stream("admission"),
                notification: stream("notification"),
                reliability: stream("reliability"),
            };
            self.nodes.push(Node { switch, streams });
        }
        Ok(())
    }

    fn add_nic(&mut self, port: PortId) {
        let state = &mut self.ports[port.index()];
        (state.at_host, state.owner) = (true, self.nics.len() as u32);
        let classes = self.facts.layout.classes.len();
        let mut ranks = Ranks::default();
        ranks.reserve(self.traffic.listed.count(state.node));
        self.nics.push(Nic {
            port,
            ranks,
            ready: vec![Ring::default(); classes],
            repeats: vec![Ring::default(); classes],
            last: vec![u32::MAX - 1; classes],
            ..Nic::default()
        });
    }

    fn add_switch(
        &mut self,
        node: NodeId,
        spec: &SwitchSpec,
        (key, pool): (u64, Bytes),
        ports: Vec<PortId>,
    ) -> Result<(), BuildError> {
        let place = || format!("switch {}", self.facts.blueprint.nodes[node.index()].name);
        let info = SwitchInfo { key, hash_seed: spec.hash_seed };
        let build = || spec.routing.build(&info).map_err(|error| BuildError::param(place(), error));
        let router = build()?;
        self.facts.routers.push(Some(build()?));
        let crossbar = spec.buffer.plan().crossbar;
        for (i, &port) in ports.iter().enumerate() {
            let state = &mut self.ports[port.index()];
            state.owner = self.switches.len() as u32;
            (state.local, state.has_crossbar) = (i as u16, crossbar.is_some());
        }
        let inputs = crossbar.map(|plan| {
            let rates: Vec<(PortId, Rate)> = ports.iter().map(|&port| (port, self.rate(port))).collect();
            Box::new(Inputs::new(
                plan,
                &rates,
                self.facts.layout.queues_per_port - 1,
                self.facts.layout.classes.len() - 1,
            ))
        });
        self.switches.push(Switch {
            router,
            pipeline: spec.pipeline.0,
            pipe: VecDeque::new(),
            pool_size: pool.0,
            pool_used: 0,
            pool_quiet: if pool == Bytes::ZERO { NEVER } else { pool.0 / 2 },
            peak: 0,
            occupied: 0,
            releases: VecDeque::with_capacity(ports.len()),
            next_release: NEVER,
            ports,
            relay: spec.relay.map(|ports| self.relaying(ports)),
            inputs,
        });
        Ok(())
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
        Relay { ports, dispositions: self.facts.layout.classes.iter().map(of).collect() }
    }

    /// Puts another receiver half in the place of one before the run starts.
    pub fn set_receiver(&mut self, port: PortId, class: Class, receiver: AnyFcReceiver) {
        let lane = self.facts.layout.lane(port, self.facts.layout.dense(class));
        let ingress = &mut self.ingress[lane];
        ingress.awaits = receiver.awaits_release();
        ingress.receiver = receiver;
        self.set_quiet(lane, port);
    }

    /// Puts another router in the place of a switch's before the run starts.
    pub fn set_router(&mut self, node: NodeId, build: impl Fn() -> AnyRouter) {
        let switch = self.nodes[node.index()].switch;
        assert!(switch != u32::MAX, "{} is no switch", self.facts.blueprint.nodes[node.index()].name);
        self.switches[switch as usize].router = build();
        self.facts.routers[node.index()] = Some(build());
    }

    /// What the accounts of each port know of it and of the link that leads there, and what it knows of their classes.
    fn meet_ports(&mut self) {
        for port in (0..self.ports.len()).map(|port| PortId(port as u32)) {
            let &Port { at_host, owner, .. } = &self.ports[port.index()];
            let impaired = self.ports[port.index()].errors.any();
            for class in 0..self.facts.layout.classes.len() as u8 {
                let lane = self.facts.layout.lane(port, class);
                let account = &mut self.ingress[lane];
                (account.at_host, account.owner, account.impaired) = (at_host, owner, impaired);
                if self.egress[lane].sender.is_free() {
                    self.ports[port.index()].free |= 1 << class;
                }
            }
        }
    }

    /// Builds the congestion points again that must know the largest base round-trip time, which is known only now.
    fn build_with_largest(&mut self) -> Result<(), BuildError> {
        for (i, machines) in self.machines.iter_mut().enumerate() {
            let port = PortId(i as u32);
            let end = &self.facts.blueprint.links[i / 2].ends[i % 2];
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

    /// Up to where the port's congestion points do not hear of packets, and who looks at what it sends.
    fn set_hearing(&mut self, port: PortId) {
        let machines = &mut self.machines[port.index()];
        machines.recounts = machines.congestion_points.iter().any(CongestionPoint::recounts);
        machines.watches = machines.congestion_points.iter().any(CongestionPoint::watches_inputs);
        let isolates = machines.congestion_points.iter().any(CongestionPoint::isolates);
        let remembers = machines.congestion_points.iter().map(CongestionPoint::remembers).max();
        self.facts.remembers = self.facts.remembers.max(remembers.unwrap_or_default());
        self.set_port_quiet(port);
        let state = &mut self.ports[port.index()];
        // Hosts choose among queue pairs, and have no queues.
        state.isolates = isolates && !state.at_host;
        self.facts.ports[port.index()].isolates = state.isolates;
        state.observed |= state.noted || self.border.crosses(port);
        for class in 1..self.facts.layout.classes.len() as u8 {
            self.set_quiet(self.facts.layout.lane(port, class), port);
        }
    }

    /// Machines may ask for a timer from the start, before any packet has come.
    pub fn arm_machines(&mut self) {
        let (classes, border, ports) = (self.facts.layout.classes.len(), &self.border, &self.ports);
        let owns = |port: usize| border.owns(ports[port].node);
        for (lane, ingress) in self.ingress.iter_mut().enumerate().filter(|(lane, _)| owns(lane / classes)) {
            let next = ingress.receiver.next_timeout();
            self.events.is_at(ports[lane / classes].node);
            self.events.sync(&mut ingress.timer, next, What::FcReceiver, lane as u32);
        }
        for (lane, egress) in self.egress.iter_mut().enumerate().filter(|(lane, _)| owns(lane / classes)) {
            let next = egress.sender.next_timeout();
            self.events.is_at(ports[lane / classes].node);
            self.events.sync(&mut egress.timer, next, What::FcSender, lane as u32);
        }
        for (port, machines) in self.machines.iter_mut().enumerate().filter(|&(port, _)| owns(port)) {
            self.events.is_at(ports[port].node);
            machines.sync(&mut self.events, PortId(port as u32));
        }
        self.start_signals();
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
        let points = &mut self.machines[port.index()].congestion_points;
        points.push(point);
        self.facts.blueprint.validate_points(port, points)?;
        if points.iter().any(|point| point.claims().contains(&Claim::Classify)) && self.facts.layout.subs == 1
        {
            let message = "classes have one queue each: no machine of the blueprint claims Classify";
            return Err(congested(self.facts.blueprint.port_name(port), message.into()));
        }
        self.ports[port.index()].has_cp = true;
        self.set_hearing(port);
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
        Rng::FirstDraws(Box::new(FirstDraws::new(blueprint.seed as u32, from)))
    })
}

fn build_sources(blueprint: &Blueprint, border: &Border) -> Vec<Source> {
    let mut sources = Vec::new();
    for (i, workload) in blueprint.workloads.iter().enumerate() {
        let workload_index = i as u32;
        match &workload.arrivals {
            Arrivals::List(flows) => {
                let as_listed = blueprint.semantics.ties == Ties::SchedulingOrder;
                sources.extend(of_list(workload_index, flows, border, as_listed));
            }
            // Triggers post its messages.
            Arrivals::ClosedLoop(_) => {}
            Arrivals::Poisson(poisson) => {
                for &node in &poisson.sources {
                    let host = name_key(&blueprint.nodes[node.index()].name);
                    let key = fold(name_key(&workload.name), host);
                    let mut rng = stream(blueprint.seed, key, "arrivals");
                    let first = following(poisson, &mut rng, poisson.from.0);
                    let next = if border.owns(node) { first } else { NEVER };
                    sources.push(Source::Poisson { workload: workload_index, node, rng, number: 0, next });
                }
            }
        }
    }
    sources
}

/// Does any flow end by itself?
pub(crate) fn has_bounded(blueprint: &Blueprint) -> bool {
    blueprint.workloads.iter().any(|workload| match &workload.arrivals {
        Arrivals::List(flows) => flows.iter().any(|flow| flow.size < UNBOUNDED),
        Arrivals::Poisson(_) | Arrivals::ClosedLoop(_) => true,
    })
}
