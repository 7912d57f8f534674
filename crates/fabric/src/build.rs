//! From a blueprint to a running network.

mod validate;

use std::collections::VecDeque;
use std::sync::Arc;

use floodway_mechanisms::registry::{
    AnyAdmission, AnyCongestionPoint, AnyFcReceiver, AnyFcSender, AnyRouter,
};
use floodway_mechanisms::slots::{
    Admission, Admit, Claim, CongestionPoint, Cx, FcFrame, FcReceiver, FcSender, Gate, IngressView, Need,
    PacketView, PoolView, PortInfo, QueueView, SwitchInfo,
};
use floodway_units::mrg32k3a::{FirstDraws, Mrg32k3a};
use floodway_units::{Bytes, Class, NodeId, PortId, Rate, Rng, Span, Time, fold, mix, name_key, stream};
use rustc_hash::FxHashMap;

use crate::accounts::Accounts;
use crate::agenda::{Agenda, Armed, What};
use crate::allowances::AllowanceLog;
use crate::arena::{Arena, Fifo};
use crate::base_rtt::Largest;
use crate::blueprint::{
    Arrivals, Blueprint, DirectionSpec, Draws, LinkSpec, RelayPorts, Role, SwitchSpec, UNBOUNDED,
};
use crate::border::Border;
use crate::capture::Capture;
use crate::column::Column;
use crate::counters::{EgressCounters, RareCounters, RareEgressCounters, Traffic};
use crate::crossing::Inputs;
use crate::cut::Cut;
use crate::error::BuildError;
use crate::flows::{Source, following, next_untied};
use crate::histogram::{Instants, histograms};
use crate::ideal::Ideals;
use crate::listed::Listed;
use crate::numbers::{Label, labels};
use crate::outcome::Control;
use crate::pauses::PauseLog;
use crate::ranks::Ranks;
use crate::records::Records;
use crate::ring::Ring;
use crate::routing::{ChangingRoutes, Routes, peer};
use crate::serial::Serial;
use crate::series::Series;
use crate::shares::ShareLog;
use crate::signals::SignalLog;
use crate::telemetry::Telemetry;
use crate::triggers::Triggers;
use crate::wires;
use crate::world::{
    Egress, Ingress, NEVER, Nic, Node, Outboxes, Port, PortMachines, Queue, Relay, Streams, Switch, World,
    tie_key,
};

/// At most this many buckets for a port that is not watched.
const COARSE: usize = 100;

/// A class or an end without flow control or limit.
struct Unlimited;

impl FcSender for Unlimited {
    fn on_frame(&mut self, _cx: &mut Cx<'_, FcFrame>, _frame: FcFrame) {}

    fn gate(&self, _now: Time, _next: Bytes) -> Gate {
        Gate::Open
    }

    fn is_free(&self) -> bool {
        true
    }
}

impl FcReceiver for Unlimited {
    fn on_enqueue(&mut self, _cx: &mut Cx<'_, FcFrame>, _q: &IngressView) {}

    fn on_release(&mut self, _cx: &mut Cx<'_, FcFrame>, _q: &IngressView) {}
}

impl Admission for Unlimited {
    fn admit(
        &mut self,
        _now: Time,
        _rng: &mut Rng,
        _p: &PacketView,
        _i: &IngressView,
        _e: &QueueView,
        _pool: &PoolView,
    ) -> Admit {
        Admit::Shared
    }
}

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
        let classes = blueprint.classes();
        let ports = build_ports(blueprint);
        let machines = build_machines(blueprint)?;
        let classified = machines.iter().flat_map(|machines| &machines.congestion_points);
        let subs =
            if classified.into_iter().any(|point| point.claims().contains(&Claim::Classify)) { 2 } else { 1 };
        let queues_per_port = 1 + (classes.len() - 1) * subs;
        let format = blueprint.wire;
        let (ports_in_all, allowances) = (ports.len(), blueprint.records.allowances.as_ref());
        let shares = blueprint.records.shares.as_ref();
        let fails = blueprint.links.iter().any(|link| !link.down.is_empty());
        let mut world = World {
            blueprint,
            control,
            now: 0,
            order: 0,
            events: Agenda::new(blueprint.semantics.ties, blueprint.semantics.starts),
            counts: Default::default(),
            release: blueprint.semantics.release,
            straight: false,
            straight_control: false,
            crossbars: false,
            pause_mode: blueprint.pause_mode(),
            format,
            gap: format.ack().wire.0 - format.ack().frame.0,
            queues_per_port,
            subs,
            queues: (0..ports.len() * queues_per_port).map(|_| Queue::default()).collect(),
            egress: Column::default(),
            ingress: Column::default(),
            nodes: Vec::new(),
            switches: Column::default(),
            nics: Column::default(),
            series: build_series(blueprint).into(),
            packets: Arena::default(),
            shared_draws: shared_draws(blueprint),
            telemetry: Telemetry::new(blueprint.telemetry() == floodway_wire::Telemetry::Int, ports.len()),
            largest: Largest::default(),
            largest_wire: format.data_with(blueprint.mtu, true, blueprint.telemetry()).wire.0,
            ports: ports.into(),
            machines,
            routes: Arc::clone(&common.routes),
            changing: fails.then(|| Box::new(ChangingRoutes::new(Arc::clone(&common.routes)))),
            wires: wires::of_network(blueprint),
            ideals: Ideals::default(),
            ways: Column::default(),
            senders: Column::default(),
            receivers: Column::default(),
            elsewhere: Column::default(),
            free_slots: Vec::new(),
            done: Vec::new(),
            remembers: Span::ZERO,
            sources: build_sources(blueprint, &border),
            triggers: Triggers::new(blueprint, &border),
            pairs: FxHashMap::default(),
            labels: Arc::clone(&common.labels),
            to_start: common.listed.to_start(),
            listed: Arc::clone(&common.listed),
            faults: Vec::new(),
            histograms: Vec::new(),
            instants: Instants::new(blueprint.records.queue_histogram.as_ref(), blueprint.semantics.ties),
            pauses: blueprint.records.pauses.map(PauseLog::new),
            signals: blueprint.records.signals.map(|most| SignalLog::new(most, ports_in_all * classes.len())),
            allowances: allowances.map(|spec| AllowanceLog::new(spec, blueprint.workloads.len())),
            shares: shares.map(|spec| ShareLog::new(spec, ports_in_all)),
            trace: None,
            records: Records::new(blueprint),
            capture: blueprint.records.capture.as_ref().map(Capture::new).unwrap_or_default(),
            deadlocks: Vec::new(),
            packet_hops: 0,
            reported: 0,
            regions: Vec::new(),
            free_regions: Vec::new(),
            out: Outboxes::default(),
            classes,
            border,
        };
        let accounts = blueprint.accounts();
        world.add_nodes(&accounts)?;
        let at_switch: Vec<bool> = world.ports.iter().map(|port| !port.at_host).collect();
        world.histograms = histograms(blueprint.records.queue_histogram.as_ref(), &at_switch);
        world.crossbars = world.switches.iter().any(|switch| switch.inputs.is_some());
        world.straight =
            !world.crossbars && queues_per_port == 2 && world.histograms.is_empty() && !world.telemetry.on;
        world.straight_control = world.straight && world.switches.iter().all(|switch| switch.pipeline == 0);
        world.add_lanes(&accounts)?;
        world.meet_ports();
        world.largest = *common.largest.get_or_insert_with(|| world.largest_ever());
        world.build_with_largest()?;
        (0..world.ports.len()).for_each(|port| world.set_hearing(PortId(port as u32)));
        world.arm_sources();
        world.arm_loops();
        world.arm_faults();
        Ok(world)
    }

    /// The largest base round-trip times, with the longest delay that each link has at any time.
    fn largest_ever(&mut self) -> Largest {
        self.set_delays(DirectionSpec::longest_delay);
        let largest = self.largest();
        self.set_delays(|direction| direction.delay);
        largest
    }

    fn set_delays(&mut self, of: impl Fn(&DirectionSpec) -> Span) {
        let directions = self.blueprint.links.iter().flat_map(|link| &link.directions);
        for (port, direction) in self.ports.iter_mut().zip(directions) {
            port.delay = of(direction).0;
        }
    }

    fn add_nodes(&mut self, accounts: &Accounts<'_>) -> Result<(), BuildError> {
        let seed = self.blueprint.seed;
        let mut ports_of = vec![Vec::new(); self.blueprint.nodes.len()];
        for (i, port) in self.ports.iter().enumerate() {
            ports_of[port.node.index()].push(PortId(i as u32));
        }
        for (i, spec) in self.blueprint.nodes.iter().enumerate() {
            let node = NodeId(i as u32);
            let key = name_key(&spec.name);
            let ports = std::mem::take(&mut ports_of[i]);
            let switch = match &spec.role {
                Role::Host { .. } => {
                    for &port in &ports {
                        self.add_nic(port);
                    }
                    u32::MAX
                }
                Role::Switch(switch) => {
                    let pool = accounts.pool(node)?.unwrap_or_default();
                    self.add_switch(node, switch, (fold(mix(seed), key), pool), ports)?;
                    self.switches.len() as u32 - 1
                }
            };
            let stream = |purpose| stream(seed, key, purpose);
            let draws = self.blueprint.semantics.draws;
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
        let classes = self.classes.len();
        let mut ranks = Ranks::default();
        ranks.reserve(self.listed.count(state.node));
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
        let place = || format!("switch {}", self.blueprint.nodes[node.index()].name);
        let info = SwitchInfo { key, hash_seed: spec.hash_seed };
        let router = spec.routing.build(&info).map_err(|error| BuildError::param(place(), error))?;
        let crossbar = spec.buffer.plan().crossbar;
        for (i, &port) in ports.iter().enumerate() {
            let state = &mut self.ports[port.index()];
            state.owner = self.switches.len() as u32;
            (state.local, state.has_crossbar) = (i as u16, crossbar.is_some());
        }
        let inputs = crossbar.map(|plan| {
            let rates: Vec<(PortId, Rate)> = ports.iter().map(|&port| (port, self.rate(port))).collect();
            Box::new(Inputs::new(plan, &rates, self.queues_per_port - 1, self.classes.len() - 1))
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
        let link = &self.blueprint.links[ports.remote.index() / 2];
        let into = &link.directions[1 - ports.remote.index() % 2];
        let of = |class: &Class| {
            let control = into.flow_control.iter().find(|(of, _)| of == class);
            let relay = control.and_then(|(_, params)| params.relay());
            relay.map_or_else(Default::default, |relay| [relay.from_local, relay.from_remote])
        };
        Relay { ports, dispositions: self.classes.iter().map(of).collect() }
    }

    /// The halves of every port and class: the receiver half here, the sender half at the peer.
    fn add_lanes(&mut self, accounts: &Accounts<'_>) -> Result<(), BuildError> {
        for port in (0..self.ports.len()).map(|port| PortId(port as u32)) {
            for class in self.classes.clone() {
                self.ingress.push(self.ingress_lane(accounts, port, class)?);
                self.egress.push(self.egress_lane(accounts, port, class)?);
            }
        }
        Ok(())
    }

    fn ingress_lane(
        &self,
        accounts: &Accounts<'_>,
        port: PortId,
        class: Class,
    ) -> Result<Ingress, BuildError> {
        let mut lane = Ingress {
            receiver: AnyFcReceiver::Custom(Box::new(Unlimited)),
            timer: Armed::default(),
            admission: AnyAdmission::Custom(Box::new(Unlimited)),
            lossless: false,
            by_output: false,
            held: 0,
            headroom: 0,
            reserve: 0,
            headroom_size: 0,
            own: NEVER,
            quiet: 0,
            owner: u32::MAX,
            at_host: false,
            impaired: false,
            pooled: true,
            headroom_peak: 0,
            received: Traffic::default(),
            told_until: 0,
            told: 0,
            peak: 0,
            awaits: false,
            rare: RareCounters::default(),
        };
        let account = accounts.of(port, class)?;
        let Some(account) = account.filter(|_| class != Class::CONTROL) else { return Ok(lane) };
        let place = || self.blueprint.port_name(port);
        let link = &self.blueprint.links[port.index() / 2];
        let data = &link.directions[1 - port.index() % 2];
        if let Some((_, params)) = data.flow_control.iter().find(|(of, _)| *of == class) {
            let halves = params.build(&account.link).map_err(|error| BuildError::param(place(), error))?;
            lane.receiver = halves.1;
            lane.awaits = lane.receiver.awaits_release();
        }
        let switch = self.blueprint.switch_at(port).expect("an account belongs to a switch");
        let buffer = link.ends[port.index() % 2].buffer.as_ref().unwrap_or(&switch.buffer);
        lane.admission = buffer.build().map_err(|error| BuildError::param(place(), error))?;
        lane.lossless = account.lossless;
        lane.by_output = account.by_output;
        lane.own = account.own.map_or(NEVER, |own| own.0);
        lane.pooled = account.own.is_none();
        lane.reserve = account.reserve.0;
        lane.headroom_size = account.headroom.0;
        Ok(lane)
    }

    fn egress_lane(&self, accounts: &Accounts<'_>, port: PortId, class: Class) -> Result<Egress, BuildError> {
        let mut lane = Egress {
            sender: AnyFcSender::Custom(Box::new(Unlimited)),
            counts_sent: false,
            timer: Armed::default(),
            paused_since: NEVER,
            paused_total: 0,
            counters: EgressCounters::default(),
            rare: RareEgressCounters::default(),
        };
        let link = &self.blueprint.links[port.index() / 2];
        let data = &link.directions[port.index() % 2];
        let control = data.flow_control.iter().find(|(of, _)| *of == class);
        if let Some((_, params)) = control.filter(|_| class != Class::CONTROL) {
            let rx = peer(port);
            let account = accounts.of(rx, class)?;
            let info = account.map_or_else(|| accounts.host_link(rx, class, params), |account| account.link);
            let halves = params
                .build(&info)
                .map_err(|error| BuildError::param(self.blueprint.port_name(rx), error))?;
            lane.sender = halves.0;
            lane.counts_sent = lane.sender.counts_sent();
        }
        Ok(lane)
    }

    /// Puts another receiver half in the place of one before the run starts.
    pub fn set_receiver(&mut self, port: PortId, class: Class, receiver: AnyFcReceiver) {
        let lane = self.lane(port, self.dense(class));
        let ingress = &mut self.ingress[lane];
        ingress.awaits = receiver.awaits_release();
        ingress.receiver = receiver;
        self.set_quiet(lane, port);
    }

    /// Puts another router in the place of a switch's before the run starts.
    pub fn set_router(&mut self, node: NodeId, router: AnyRouter) {
        let switch = self.nodes[node.index()].switch as usize;
        self.switches[switch].router = router;
    }

    /// What the accounts of each port know of it and of the link that leads there, and what it knows of their classes.
    fn meet_ports(&mut self) {
        for port in (0..self.ports.len()).map(|port| PortId(port as u32)) {
            let &Port { at_host, owner, .. } = &self.ports[port.index()];
            let impaired = self.ports[peer(port).index()].errors.any();
            for class in 0..self.classes.len() as u8 {
                let lane = self.lane(port, class);
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
            let end = &self.blueprint.links[i / 2].ends[i % 2];
            for (point, params) in machines.congestion_points.iter_mut().zip(&end.congestion_points) {
                if params.needs().contains(&Need::Largest) {
                    let info = PortInfo { largest_rtt: self.largest.rtt, ..self.blueprint.port_info(port) };
                    let place = || self.blueprint.port_name(port);
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
        self.remembers = self.remembers.max(remembers.unwrap_or_default());
        self.set_port_quiet(port);
        let state = &mut self.ports[port.index()];
        // Hosts choose among queue pairs, and have no queues.
        state.isolates = isolates && !state.at_host;
        state.observed |= state.noted || self.telemetry.on || self.border.crosses(port);
        for class in 1..self.classes.len() as u8 {
            self.set_quiet(self.lane(port, class), port);
        }
    }

    /// Machines may ask for a timer from the start, before any packet has come.
    pub fn arm_machines(&mut self) {
        let (classes, border, ports) = (self.classes.len(), &self.border, &self.ports);
        let owns = |port: usize| border.owns(ports[port].node);
        for (lane, ingress) in self.ingress.iter_mut().enumerate().filter(|(lane, _)| owns(lane / classes)) {
            let next = ingress.receiver.next_timeout();
            self.events.sync(&mut ingress.timer, next, What::FcReceiver, lane as u32);
        }
        for (lane, egress) in self.egress.iter_mut().enumerate().filter(|(lane, _)| owns(lane / classes)) {
            let next = egress.sender.next_timeout();
            self.events.sync(&mut egress.timer, next, What::FcSender, lane as u32);
        }
        for (port, machines) in self.machines.iter_mut().enumerate().filter(|&(port, _)| owns(port)) {
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
        self.blueprint.validate_points(port, points)?;
        if points.iter().any(|point| point.claims().contains(&Claim::Classify)) && self.subs == 1 {
            let message = "classes have one queue each: no machine of the blueprint claims Classify";
            return Err(congested(self.blueprint.port_name(port), message.into()));
        }
        self.ports[port.index()].has_cp = true;
        self.set_hearing(port);
        Ok(())
    }
}

/// Where congestion points draw from, if not from streams of their nodes: behind the streams that the HPCC
/// simulator's driver has made by then, six for each node's protocols and two for each error model.
fn shared_draws(blueprint: &Blueprint) -> Option<Rng> {
    (blueprint.semantics.draws == Draws::HpccNs3).then(|| {
        let broken = |link: &&LinkSpec| link.directions.iter().any(|direction| direction.errors.data > 0.0);
        let error_models = 1 + blueprint.links.iter().filter(broken).count();
        let from = (6 * blueprint.nodes.len() + 2 * error_models) as u64;
        Rng::FirstDraws(Box::new(FirstDraws::new(blueprint.seed as u32, from)))
    })
}

fn build_ports(blueprint: &Blueprint) -> Vec<Port> {
    let mut serials: FxHashMap<Rate, Serial> = FxHashMap::default();
    let mut ports = Vec::with_capacity(2 * blueprint.links.len());
    for (i, link) in blueprint.links.iter().enumerate() {
        for (end, direction) in link.directions.iter().enumerate() {
            let id = PortId((2 * i + end) as u32);
            let far = &blueprint.nodes[link.ends[1 - end].node.index()];
            let serial = serials
                .entry(direction.rate)
                .or_insert_with(|| Serial::new(direction.rate, blueprint.semantics.rounding));
            let errors = direction.errors;
            let changes = link.changes();
            ports.push(Port {
                node: link.ends[end].node,
                local: 0,
                has_crossbar: false,
                isolates: false,
                at_host: false,
                controls: false,
                owner: u32::MAX,
                ps_per_byte: serial.simple(),
                up: true,
                armed: false,
                choosing: false,
                free: 0,
                discards: 0,
                paused: 0,
                has_cp: !link.ends[end].congestion_points.is_empty(),
                quiet: u32::MAX,
                noted: false,
                changes,
                observed: changes || direction.jitter.0 > 0,
                free_at: 0,
                free_order: 0,
                rate: direction.rate,
                delay: direction.delay.0,
                jitter: direction.jitter.0,
                latest: 0,
                errors,
                serial: serial.clone(),
                control: Fifo::default(),
                tie_key: tie_key(blueprint.seed, name_key(&far.name), peer(id)),
                waiting: 0,
                rng: stream(blueprint.seed, fold(name_key(&link.name), end as u64), "link"),
            });
        }
    }
    let captured = blueprint.records.capture.iter().flat_map(|capture| &capture.ports);
    let shared = blueprint.records.shares.iter().flat_map(|shares| &shares.ports);
    for port in captured.chain(shared) {
        ports[port.index()].noted = true;
    }
    ports
}

fn build_machines(blueprint: &Blueprint) -> Result<Vec<PortMachines>, BuildError> {
    let mut machines = Vec::with_capacity(2 * blueprint.links.len());
    for port in (0..2 * blueprint.links.len()).map(|port| PortId(port as u32)) {
        let link = &blueprint.links[port.index() / 2];
        let end = &link.ends[port.index() % 2];
        let info = blueprint.port_info(port);
        let place = || blueprint.port_name(port);
        let scheduler = end.scheduler.build(&info).map_err(|error| BuildError::param(place(), error))?;
        let mut congestion_points = Vec::new();
        for params in &end.congestion_points {
            congestion_points.push(params.build(&info).map_err(|error| BuildError::param(place(), error))?);
        }
        blueprint.validate_points(port, &congestion_points)?;
        machines.push(PortMachines {
            scheduler,
            congestion_points,
            cp_timer: Armed::default(),
            recounts: false,
            watches: false,
            inputs: FxHashMap::default(),
            placed: FxHashMap::default(),
        });
    }
    Ok(machines)
}

fn congested(place: String, message: String) -> BuildError {
    BuildError { place, key: Some("congestion-point"), message }
}

fn build_series(blueprint: &Blueprint) -> Vec<Series> {
    let records = &blueprint.records;
    let mut series = vec![Series::new(records.buckets.min(COARSE)); 2 * blueprint.links.len()];
    for port in &records.watch {
        series[port.index()] = Series::new(records.buckets);
    }
    series
}

fn build_sources(blueprint: &Blueprint, border: &Border) -> Vec<Source> {
    let mut sources = Vec::new();
    for (i, workload) in blueprint.workloads.iter().enumerate() {
        let workload_index = i as u32;
        match &workload.arrivals {
            Arrivals::List(flows) => {
                sources.push(Source::List { workload: workload_index, next: next_untied(flows, 0, border) });
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
