//! Flows: where they come from, how they begin and end.

use std::collections::VecDeque;

use floodway_mechanisms::registry::{
    AnyNotificationPoint, AnyReactionPoint, AnyTransportReceiver, AnyTransportSender,
};
use floodway_mechanisms::slots::{
    Allowance, FlowTuple, Need, QpInfo, ReactionPoint, Router as _, TransportSender as _,
};
use floodway_units::{Bytes, FlowId, NodeId, PortId, Rate, Rng, Span, fold};
use floodway_wire::Telemetry;

use crate::agenda::Armed;
use crate::blueprint::{
    Acks, Arrivals, BaseRtt, FlowSpec, Pacing, PoissonSpec, Repacing, Sharing, UNBOUNDED,
};
use crate::ideal::{Packets, PathFacts};
use crate::messages::{Message, NO_HOOK};
use crate::routing::{Routes, peer};
use crate::serial::pacing_gap;
use crate::sizes::exponential;
use crate::world::{NEVER, Switch, World};

/// A queue pair at both ends, with the flows that are its messages. What switches read comes first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Flow {
    /// Egress ports of its data, where they follow from the flow alone.
    pub path: Box<[PortId]>,
    /// Egress ports of its replies, likewise.
    pub ack_path: Box<[PortId]>,
    pub hash: u64,
    pub base_rtt: Span,
    pub source: NodeId,
    pub destination: NodeId,
    /// Its packets on links and in queues.
    pub in_network: u32,
    pub workload: u32,
    /// The sender's NIC, and its rank there.
    pub nic: u32,
    pub rank: u32,
    pub class: u8,
    pub alive: bool,
    pub paced: bool,
    /// In its NIC's ring.
    pub is_ready: bool,
    /// Its retransmissions go before all new data of the NIC, and it has some there now.
    pub repeats_first: bool,
    pub is_repeating: bool,
    /// Its one message is complete at the sender; never of a shared queue pair.
    pub sender_done: bool,
    /// Carries messages as they are posted, to the end of the run.
    pub shared: bool,
    /// Its reliability answers.
    pub has_acks: bool,
    /// No layer of the stack ever changes its mind: it is asked once.
    pub constant: bool,
    /// A layer's window shrinks with the rate.
    pub scales: bool,
    /// A new rate moves the packet that waits for its pacing time.
    pub moves: bool,
    /// How often its rate was set.
    pub rates_set: u64,
    pub telemetry: Telemetry,
    pub allowance: Allowance,
    pub next_send: u64,
    /// When its last packet started, and its bytes on the wire.
    pub last_send: (u64, u64),
    /// When it waits in its NIC's pacing heap, else never.
    pub pacing_at: u64,
    pub timer: Armed,
    pub sender: AnyTransportSender,
    pub stack: Vec<AnyReactionPoint>,
    /// The oldest message without a row, or the last one.
    pub head: Message,
    /// Messages behind it.
    pub rest: VecDeque<Message>,
    pub receiver: AnyTransportReceiver,
    pub notification: AnyNotificationPoint,
    /// Sequence number after the last packet of all messages.
    pub end: u64,
    pub tuple: FlowTuple,
}

/// What starts flows, one after another.
#[derive(Debug)]
pub(crate) enum Source {
    /// The flows of a list that wait for no other.
    List { workload: u32, next: usize },
    /// A Poisson process at one host.
    Poisson { workload: u32, node: NodeId, rng: Rng, number: u64, next: u64 },
}

/// What is known of a flow when it starts.
pub(crate) struct Begin {
    pub workload: u32,
    pub settings: usize,
    pub source: NodeId,
    pub destination: NodeId,
    pub size: Bytes,
    pub number: u64,
    /// Decides its source port, where none is named.
    pub entropy: u64,
    pub ports: (Option<u16>, Option<u16>),
    pub pinned: (Option<Vec<PortId>>, Option<Vec<PortId>>),
    /// Who waits for it.
    pub hook: u32,
    pub carrier: Carrier,
}

/// Which queue pair carries a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// One of its own, or one that flows like it share, as its settings say.
    AsSet,
    /// That of this loop of its workload.
    Loop(usize),
}

/// Flows with the same key share a queue pair.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PairKey {
    Loop(u32, usize),
    Pair {
        workload: u32,
        settings: usize,
        ends: (NodeId, NodeId),
        ports: (Option<u16>, Option<u16>),
        pinned: (Option<Vec<PortId>>, Option<Vec<PortId>>),
    },
}

impl PairKey {
    /// Of a flow of a list with these settings, which share queue pairs.
    pub fn of(workload: u32, settings: usize, flow: &FlowSpec) -> Self {
        PairKey::Pair {
            workload,
            settings,
            ends: (flow.source, flow.destination),
            ports: (flow.source_port, flow.destination_port),
            pinned: (flow.path.clone(), flow.ack_path.clone()),
        }
    }
}

impl World<'_> {
    /// Arms every source's first start.
    pub fn arm_sources(&mut self) {
        for i in 0..self.sources.len() {
            if let Some(at) = self.next_start(i) {
                self.events.add_start(i as u32, at);
            }
        }
    }

    /// When a source starts its next flow, if it does.
    pub fn next_start(&self, source: usize) -> Option<u64> {
        let workloads = &self.blueprint.workloads;
        match &self.sources[source] {
            Source::List { workload, next } => match &workloads[*workload as usize].arrivals {
                Arrivals::List(flows) => flows.get(*next).map(|flow| flow.start.0),
                _ => None,
            },
            Source::Poisson { next, .. } => (*next != NEVER).then_some(*next),
        }
    }

    /// May a source still start a measured flow at `now` or later?
    pub fn may_measure(&self, source: usize, now: u64) -> bool {
        let workload = match &self.sources[source] {
            Source::List { workload, .. } | Source::Poisson { workload, .. } => *workload as usize,
        };
        let end = self.blueprint.workloads[workload].measure.1.0;
        now < end && self.next_start(source).is_some_and(|at| at < end)
    }

    /// A source's next flow begins, or what a trigger waited for has come.
    pub fn start_flow(&mut self, source: u32) {
        if let Some(trigger) = source.checked_sub(self.sources.len() as u32) {
            self.pull(trigger);
            return;
        }
        let begin = match &mut self.sources[source as usize] {
            Source::List { workload, next } => {
                let (workload, flow) = (*workload, *next);
                let Arrivals::List(flows) = &self.blueprint.workloads[workload as usize].arrivals else {
                    return;
                };
                *next = next_untied(flows, flow + 1);
                self.listed(workload, flow)
            }
            Source::Poisson { workload, node, rng, number, next } => {
                let spec = &self.blueprint.workloads[*workload as usize];
                let Arrivals::Poisson(poisson) = &spec.arrivals else { return };
                let begin = Begin {
                    workload: *workload,
                    settings: spec.settings,
                    source: *node,
                    destination: poisson.draw_destination(*node, rng),
                    size: poisson.sizes.sample(rng),
                    number: *number,
                    entropy: *number,
                    ports: (None, None),
                    pinned: (None, None),
                    hook: NO_HOOK,
                    carrier: Carrier::AsSet,
                };
                *number += 1;
                *next = following(poisson, rng, *next);
                begin
            }
        };
        self.begin(begin);
        if let Some(at) = self.next_start(source as usize) {
            self.events.add_start(source, at);
        }
    }

    /// The flow of a list that begins now.
    pub fn listed(&self, workload: u32, flow: usize) -> Begin {
        let spec = &self.blueprint.workloads[workload as usize];
        let Arrivals::List(flows) = &spec.arrivals else { unreachable!("it is a flow of a list") };
        let listed: &FlowSpec = &flows[flow];
        let label = self.labels[workload as usize][flow];
        Begin {
            workload,
            settings: listed.settings.unwrap_or(spec.settings),
            source: listed.source,
            destination: listed.destination,
            size: listed.size,
            number: label.number,
            entropy: label.entropy,
            ports: (listed.source_port, listed.destination_port),
            pinned: (listed.path.clone(), listed.ack_path.clone()),
            hook: self.triggers.hook_of(workload, flow),
            carrier: Carrier::AsSet,
        }
    }

    /// A flow starts, on a queue pair of its own or on one that is there.
    pub fn begin(&mut self, begin: Begin) {
        let message = self.message(&begin);
        let key = self.pair_key(&begin);
        match key.as_ref().and_then(|key| self.pairs.get(key)) {
            Some(&slot) => self.post(slot, message),
            None => self.open(&begin, message, key),
        }
    }

    fn pair_key(&self, begin: &Begin) -> Option<PairKey> {
        let settings = &self.blueprint.settings[begin.settings];
        match begin.carrier {
            Carrier::Loop(index) => Some(PairKey::Loop(begin.workload, index)),
            Carrier::AsSet if settings.qp == Sharing::PerFlow => None,
            Carrier::AsSet => Some(PairKey::Pair {
                workload: begin.workload,
                settings: begin.settings,
                ends: (begin.source, begin.destination),
                ports: begin.ports,
                pinned: begin.pinned.clone(),
            }),
        }
    }

    fn message(&mut self, begin: &Begin) -> Message {
        let bounded = begin.size < UNBOUNDED;
        let (from, to) = self.blueprint.workloads[begin.workload as usize].measure;
        Message {
            number: begin.number,
            start: self.now,
            ideal: if bounded { self.ideal(begin).0 } else { 0 },
            finish_sender: NEVER,
            retransmitted: 0,
            timeouts: 0,
            cnps: 0,
            hook: begin.hook,
            measured: bounded && from.0 <= self.now && self.now < to.0,
            open: true,
            sent: false,
            end: self.packets_of(begin.size),
            size: begin.size.0,
            delivered: 0,
            finish_receiver: NEVER,
        }
    }

    /// Opens a queue pair for its first message.
    fn open(&mut self, begin: &Begin, head: Message, key: Option<PairKey>) {
        let tuple = self.tuple(begin);
        let path = self.path(begin.source, begin.destination, &tuple, begin.pinned.0.as_deref());
        let reply = tuple.reversed();
        let ack_path = self.path(begin.destination, begin.source, &reply, begin.pinned.1.as_deref());
        let nic_port = path.first().copied().or_else(|| self.nic_of(begin.source, begin.destination, &tuple));
        let nic = nic_port.map_or(0, |port| self.ports[port.index()].owner);
        let slot = self.free_flows.pop().map_or(self.flows.len(), |slot| slot as usize);
        let info = self.qp_info(begin, slot, &path, &ack_path, &tuple);
        let settings = &self.blueprint.settings[begin.settings];
        let (mut sender, receiver) =
            settings.reliability.build(&info).expect("checked when the fabric was built");
        sender.push(begin.size);
        let stack: Vec<_> = settings
            .rate_control
            .iter()
            .map(|layer| layer.build(&info).expect("checked when the fabric was built"))
            .collect();
        let timer = self.flows.get(slot).map_or_else(Armed::default, |old| old.timer);
        let rank = self.nics[nic as usize].flows.len() as u32;
        let flow = Flow {
            source: begin.source,
            destination: begin.destination,
            class: self.dense(settings.class),
            alive: true,
            paced: false,
            is_ready: false,
            repeats_first: settings.reliability.repeats_first(),
            is_repeating: false,
            sender_done: false,
            shared: key.is_some(),
            has_acks: settings.reliability.has_acks(),
            workload: begin.workload,
            tuple,
            hash: tuple.key(),
            path,
            ack_path,
            base_rtt: info.base_rtt,
            nic,
            rank,
            sender,
            constant: stack.iter().all(ReactionPoint::is_constant),
            scales: stack.iter().any(ReactionPoint::scales_window),
            moves: match self.blueprint.semantics.repacing {
                Repacing::Moved => true,
                Repacing::Kept => false,
                Repacing::ByMechanism => stack.iter().any(|layer| layer.rates_set().is_some()),
            },
            rates_set: 0,
            telemetry: settings.telemetry(),
            stack,
            allowance: Allowance::FREE,
            next_send: 0,
            last_send: (0, 0),
            pacing_at: NEVER,
            timer,
            receiver,
            notification: settings.notification.build(&info),
            in_network: 0,
            end: head.end,
            head,
            rest: VecDeque::new(),
        };
        self.nics[nic as usize].flows.push(slot as u32);
        if self.blueprint.semantics.turns.by_list() {
            self.nics[nic as usize].list.push(slot as u32);
        }
        self.records.started(flow.workload, &flow.head);
        if slot == self.flows.len() {
            self.flows.push(flow);
        } else {
            self.flows[slot] = flow;
        }
        if let Some(key) = key {
            self.pairs.insert(key, slot as u32);
        }
        if nic_port.is_some() {
            self.allowance_changed(slot as u32);
            self.kick(self.nics[nic as usize].port);
        }
    }

    fn tuple(&self, begin: &Begin) -> FlowTuple {
        let name = self.records.workload_key(begin.workload);
        let entropy = fold(fold(name, u64::from(begin.source.0)), begin.entropy);
        FlowTuple {
            source: self.address(begin.source),
            destination: self.address(begin.destination),
            source_port: begin.ports.0.unwrap_or(49_152 + (entropy & 0x3FFF) as u16),
            // The UDP port of RoCEv2.
            destination_port: begin.ports.1.unwrap_or(4791),
        }
    }

    fn address(&self, node: NodeId) -> u32 {
        match self.blueprint.nodes[node.index()].role {
            crate::blueprint::Role::Host { address } => address,
            crate::blueprint::Role::Switch(_) => node.0,
        }
    }

    /// Egress ports from `source` on, where they follow from the flow alone; else empty.
    fn path(
        &self,
        source: NodeId,
        destination: NodeId,
        tuple: &FlowTuple,
        pinned: Option<&[PortId]>,
    ) -> Box<[PortId]> {
        if let Some(path) = pinned {
            return path.into();
        }
        if self.changing {
            return Box::default();
        }
        self.walk(source, destination, tuple).unwrap_or_default()
    }

    /// The path that the flow's packets take if every router on it chooses by flow.
    fn walk(&self, source: NodeId, destination: NodeId, tuple: &FlowTuple) -> Option<Box<[PortId]>> {
        let mut path = vec![self.nic_of(source, destination, tuple)?];
        loop {
            let node = self.routes.node_of(peer(*path.last()?));
            if node == destination {
                return Some(path.into());
            }
            let candidates = self.routes.candidates(node, destination);
            let choice = match candidates.len() {
                0 => return None,
                1 => 0,
                ways => {
                    let switch = self.nodes[node.index()].switch as usize;
                    self.switches[switch].router.by_flow(tuple, ways)?
                }
            };
            path.push(candidates[choice]);
        }
    }

    /// The NIC that a host uses for a flow: by hash where it has several on shortest paths.
    fn nic_of(&self, source: NodeId, destination: NodeId, tuple: &FlowTuple) -> Option<PortId> {
        let candidates = self.routes.candidates(source, destination);
        match candidates.len() {
            // Every way is cut: the flow waits at its host for one to come back.
            0 => self.blueprint.ports_of(source).next(),
            1 => Some(candidates[0]),
            ways => Some(candidates[(fold(tuple.key(), u64::from(source.0)) % ways as u64) as usize]),
        }
    }

    /// The routes that are in force at some time of the run; where all links are up, first.
    fn routings(&self) -> &[Routes] {
        if self.states.is_empty() { std::slice::from_ref(&self.routes) } else { &self.states }
    }

    /// A path of the kind that the flow takes: its own, or the first of equal cost.
    fn some_path(&self, source: NodeId, destination: NodeId, known: &[PortId]) -> Vec<PortId> {
        if !known.is_empty() {
            return known.to_vec();
        }
        let leads = |routes: &&Routes| !routes.candidates(source, destination).is_empty();
        let Some(routes) = self.routings().iter().find(leads) else { return Vec::new() };
        let mut path = Vec::new();
        let mut node = source;
        while node != destination {
            let Some(&port) = routes.candidates(node, destination).first() else { break };
            path.push(port);
            node = routes.node_of(peer(port));
        }
        path
    }

    /// Every port that packets may take: of the flow's own path, or of all paths that routing offers.
    fn possible_ports(&self, source: NodeId, destination: NodeId, known: &[PortId]) -> Vec<PortId> {
        if !known.is_empty() {
            return known.to_vec();
        }
        let all = self.routings().iter().flat_map(|routes| {
            let (mut nodes, mut ports) = (vec![source], Vec::new());
            while let Some(node) = nodes.pop() {
                for &port in if node == destination { &[] } else { routes.candidates(node, destination) } {
                    if !ports.contains(&port) {
                        ports.push(port);
                        nodes.push(routes.node_of(peer(port)));
                    }
                }
            }
            ports
        });
        all.collect()
    }

    fn qp_info(
        &self,
        begin: &Begin,
        slot: usize,
        path: &[PortId],
        ack_path: &[PortId],
        tuple: &FlowTuple,
    ) -> QpInfo {
        let data = self.some_path(begin.source, begin.destination, path);
        let ack = self.some_path(begin.destination, begin.source, ack_path);
        let settings = &self.blueprint.settings[begin.settings];
        let rates = data.iter().map(|&port| self.rate(port));
        let nic = data.first().copied().or_else(|| self.nic_of(begin.source, begin.destination, tuple));
        let base_rtt = self.base_rtt(&data, &ack, settings.telemetry());
        let queues = settings.needs(Need::Queues).then(|| self.queues(&data, self.dense(settings.class)));
        QpInfo {
            flow: FlowId(slot as u32),
            line_rate: nic.map_or(Rate::MAX, |port| self.rate(port)),
            path_rate: rates.min().unwrap_or(Rate::MAX),
            base_rtt,
            cut_bdp: self.blueprint.semantics.base_rtt == BaseRtt::Payload,
            largest_rtt: self.largest.rtt,
            largest_bdp: self.largest.bdp,
            full_rtt: base_rtt + queues.unwrap_or_default(),
            largest_full_rtt: self.largest.full_rtt,
            mtu: self.blueprint.mtu,
            wire: self.format.data_with(self.blueprint.mtu, false, settings.telemetry()).wire,
            lossless: self.is_lossless(
                &self.possible_ports(begin.source, begin.destination, path),
                &self.possible_ports(begin.destination, begin.source, ack_path),
                settings.class,
            ),
        }
    }

    /// Can no packet of the class be lost at the ports `data`, nor a reply at `ack`?
    fn is_lossless(&self, data: &[PortId], ack: &[PortId], class: floodway_units::Class) -> bool {
        let class = self.dense(class);
        let sound = |port: &PortId| {
            let link = &self.blueprint.links[port.index() / 2];
            !self.ports[port.index()].errors.any() && link.down.is_empty()
        };
        let controlled = |port: &PortId| {
            let rx = peer(*port);
            self.ports[rx.index()].at_host || self.ingress[self.lane(rx, class)].lossless
        };
        let replied = |port: &PortId| {
            sound(port)
                && match self.blueprint.semantics.acks {
                    Acks::Control => true,
                    Acks::Data => controlled(port),
                    // Hosts send them through pauses.
                    Acks::DataUnpaused => false,
                }
        };
        data.iter().all(|port| sound(port) && controlled(port)) && ack.iter().all(replied)
    }

    /// The ideal over the fastest way that routing offers, whichever links are down at some time of the run.
    fn ideal(&mut self, begin: &Begin) -> Span {
        let packets = Packets::new(begin.size, self.blueprint.mtu, self.format);
        let mut ideals = std::mem::take(&mut self.ideals);
        let ends = (begin.source, begin.destination);
        let pinned = begin.pinned.0.as_deref();
        let times = ideals.iter_mut().enumerate().filter_map(|(i, ideals)| {
            let routes = self.states.get(i).unwrap_or(&self.routes);
            ideals.time(&self.path_facts(routes), &packets, ends, pinned)
        });
        let time = times.min();
        self.ideals = ideals;
        time.unwrap_or_default()
    }

    fn path_facts<'a>(&'a self, routes: &'a Routes) -> PathFacts<'a> {
        PathFacts {
            routes,
            serial: Box::new(|port| &self.ports[port.index()].serial),
            delay: Box::new(|port| Span(self.ports[port.index()].delay)),
            pipeline: Box::new(|node| Span(self.switch_of(node).map_or(0, |switch| switch.pipeline))),
            spreads: Box::new(|node| {
                let by_flow = |switch: &Switch| switch.router.by_flow(&FlowTuple::default(), 2);
                self.switch_of(node).is_some_and(|switch| by_flow(switch).is_none())
            }),
        }
    }

    fn switch_of(&self, node: NodeId) -> Option<&Switch> {
        self.switches.get(self.nodes[node.index()].switch as usize)
    }

    /// A packet of the flow has left the network.
    #[inline]
    pub fn left_network(&mut self, flow: FlowId) {
        let state = &mut self.flows[flow.index()];
        state.in_network -= 1;
        if state.in_network == 0 {
            self.end_if_over(flow.0);
        }
    }

    /// Ends a queue pair whose one message is over; it has nothing in the network.
    fn end_if_over(&mut self, flow: u32) {
        self.close_last(flow);
        let state = &mut self.flows[flow as usize];
        if state.head.open || state.shared || !state.alive {
            return;
        }
        state.alive = false;
        let (nic, rank) = (state.nic as usize, state.rank as usize);
        state.stack = Vec::new();
        state.path = Box::default();
        state.ack_path = Box::default();
        self.nics[nic].flows[rank] = u32::MAX;
        self.free_flows.push(flow);
    }

    /// Takes what the stack of a flow now allows.
    pub fn allowance_changed(&mut self, flow: u32) {
        let state = &mut self.flows[flow as usize];
        let line = self.ports[self.nics[state.nic as usize].port.index()].rate;
        let own = Allowance { rate: Rate::MAX, window: state.sender.cap() };
        let rate = state.allowance.rate;
        state.allowance = state.stack.iter().fold(own, |least, layer| least.least(layer.allowance()));
        if state.scales {
            state.allowance.window = state.scaled_window(line);
        }
        let semantics = &self.blueprint.semantics;
        state.paced = state.allowance.rate < line && semantics.pacing == Pacing::On;
        if state.allowance.rate != rate && state.moves {
            let (start, wire) = state.last_send;
            let gap =
                if state.paced { pacing_gap(state.allowance.rate, wire, semantics.rounding) } else { 0 };
            state.next_send = start + gap;
        }
        if semantics.turns.by_list() && state.moves {
            let set = state.stack.iter().filter_map(ReactionPoint::rates_set).sum();
            if std::mem::replace(&mut state.rates_set, set) != set {
                let (nic, at) = (state.nic as usize, state.next_send);
                self.wake_earlier(nic, at);
            }
        }
        self.update_qp(flow);
    }
}

impl Flow {
    /// The least window, where some shrink with the rate that the whole stack allows.
    fn scaled_window(&self, line: Rate) -> Bytes {
        let rate = self.allowance.rate.min(line);
        let windows = self.stack.iter().map(|layer| {
            let window = layer.allowance().window;
            if !layer.scales_window() || window == Bytes::MAX {
                return window;
            }
            let share = u128::from(window.0) * u128::from(rate.0) / u128::from(line.0);
            Bytes(u64::try_from(share).unwrap_or(u64::MAX).max(1))
        });
        windows.fold(self.sender.cap(), Bytes::min)
    }
}

/// The first flow from `from` on that waits for no other.
pub(crate) fn next_untied(flows: &[FlowSpec], from: usize) -> usize {
    let tied = flows[from..].iter().take_while(|flow| !flow.after.is_empty());
    from + tied.count()
}

/// When a Poisson source starts the flow after one at `last`.
pub(crate) fn following(poisson: &PoissonSpec, rng: &mut Rng, last: u64) -> u64 {
    let next = last.saturating_add(exponential(rng, poisson.mean_gap.0 as f64));
    if next < poisson.until.0 { next } else { NEVER }
}
