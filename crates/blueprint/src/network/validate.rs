//! Validation of a blueprint: what later code relies on.

use floodway_mechanisms::registry::AnyCongestionPoint;
use floodway_mechanisms::slots::{CongestionPoint, Discipline, Need, OutputPlan, QpInfo, Queueing, Sizing};
use floodway_units::cast::narrow;
use floodway_units::mrg32k3a::FirstDraws;
use floodway_units::{Bytes, Class, NodeId, PortId, Rate, Span};
use rustc_hash::FxHashMap;

use crate::error::BuildError;
use crate::network::blueprint::{
    Arrivals, Blueprint, Draws, FlowSpec, LoopSpec, Next, NodeSpec, PoissonSpec, Role, Rounding, Ties,
    UNBOUNDED,
};
use crate::network::routing::{Routes, peer};
use crate::network::serial::whole_ns;
use crate::traffic::dependencies;

/// Cells of switches' buffers.
const CELLS: std::ops::RangeInclusive<Bytes> = Bytes(1)..=Bytes::kib(8);

/// Maximum number of links between two hosts.
const MOST_HOPS: usize = 250;

/// Links of the first of the shortest paths; none where there is no path.
fn hops(routes: &Routes, from: NodeId, to: NodeId) -> usize {
    let (mut at, mut hops) = (from, 0);
    while at != to {
        let Some(&port) = routes.candidates(at, to).first() else { return 0 };
        at = routes.node_of(peer(port));
        hops += 1;
    }
    hops
}

/// The first two hosts of each switch: one of them is not the sender, and paths lead to both or to neither.
fn representatives(routes: &Routes, hosts: impl Iterator<Item = NodeId>) -> Vec<NodeId> {
    let mut of_last: FxHashMap<NodeId, [Option<NodeId>; 2]> = FxHashMap::default();
    let mut stands_for = |&host: &NodeId| {
        let two = of_last.entry(routes.last_before(host)).or_default();
        if two.contains(&Some(host)) {
            return false;
        }
        two.iter_mut().find(|place| place.is_none()).is_some_and(|place| place.replace(host).is_none())
    };
    hosts.filter(|host| stands_for(host)).collect()
}

impl Blueprint {
    /// Checks what later code relies on; gives the routes over all links, which it needs for that.
    ///
    /// # Errors
    /// The first fault found.
    pub fn validate(&self) -> Result<Routes, BuildError> {
        self.validate_links()?;
        let routes = Routes::new(self);
        self.validate_traffic(&routes)?;
        Ok(routes)
    }

    /// The same, where the routes over all links are known.
    ///
    /// # Errors
    /// The first fault found.
    pub fn validate_with(&self, routes: &Routes) -> Result<(), BuildError> {
        self.validate_links()?;
        self.validate_traffic(routes)
    }

    fn validate_traffic(&self, routes: &Routes) -> Result<(), BuildError> {
        self.validate_lengths(routes)?;
        for workload in &self.workloads {
            let place = || format!("workload {}", workload.name);
            match &workload.arrivals {
                Arrivals::List(flows) => {
                    if !flows.is_sorted_by_key(|flow| flow.start) {
                        return Err(BuildError::new(place(), "its flows are not in order of their start"));
                    }
                    for (i, flow) in flows.iter().enumerate() {
                        let place = || format!("{}, flow {}", place(), i + 1);
                        self.validate_flow(routes, flow).map_err(|why| BuildError::new(place(), why))?;
                    }
                    dependencies::order(flows).map_err(|fault| {
                        BuildError::new(
                            place(),
                            fault.words(self, flows, |flow| format!("flow {}", flow + 1)),
                        )
                    })?;
                }
                Arrivals::ClosedLoop(loops) => {
                    self.validate_loops(routes, loops).map_err(|why| BuildError::new(place(), why))?;
                }
                Arrivals::Program(spec) => {
                    self.validate_job(routes, spec).map_err(|why| BuildError::new(place(), why))?;
                }
                Arrivals::Poisson(poisson) => {
                    self.validate_poisson(routes, poisson).map_err(|why| BuildError::new(place(), why))?;
                }
            }
        }
        self.validate_settings()
    }

    /// Is a switch's cell one that its buffers can count in?
    ///
    /// # Errors
    /// Why it is not.
    pub fn validate_cell(&self, node: NodeId) -> Result<(), BuildError> {
        let NodeSpec { name, role, .. } = &self.nodes[node.index()];
        let Role::Switch(switch) = role else { return Ok(()) };
        let refuse =
            |message: String| Err(BuildError { place: format!("switch {name}"), key: Some("cell"), message });
        if !CELLS.contains(&switch.cell) {
            return refuse(format!(
                "{} is not a cell from {} to {}",
                switch.cell,
                CELLS.start(),
                CELLS.end()
            ));
        }
        if switch.pipeline > Span::ZERO && self.semantics.ties == Ties::Htsim {
            let why = "with ties = \"htsim\" switches have no pipeline: set pipeline = \"0ns\"";
            let place = format!("switch {name}");
            return Err(BuildError { place, key: Some("pipeline"), message: why.into() });
        }
        if switch.cell > Bytes(1) && switch.buffer.plan().crossbar.is_some() {
            let why = "the buffers of an input-output queued switch count bytes, not cells: choose buffer = \"shared\" or \"static\"";
            return refuse(why.into());
        }
        Ok(())
    }

    /// Does a switch with a crossbar have room for a frame in each of its queues?
    ///
    /// # Errors
    /// The queue that has not, by its key.
    pub fn validate_crossbar(&self, node: NodeId) -> Result<(), BuildError> {
        let NodeSpec { name, role, .. } = &self.nodes[node.index()];
        let Role::Switch(switch) = role else { return Ok(()) };
        let plan = switch.buffer.plan();
        let (Some(crossbar), Some(Sizing::Fixed(voq))) = (plan.crossbar, plan.own) else { return Ok(()) };
        let frame = self.largest_frame();
        match [("voq", voq), ("output", crossbar.output)].into_iter().find(|(_, room)| *room < frame) {
            None => Ok(()),
            Some((key, room)) => Err(BuildError {
                place: format!("switch {name}"),
                key: Some(key),
                message: format!("{room} has no room for a frame of {frame}"),
            }),
        }
    }

    /// Can these machines stand at one port, and at this one?
    ///
    /// # Errors
    /// Why they cannot.
    pub fn validate_points(&self, port: PortId, points: &[AnyCongestionPoint]) -> Result<(), BuildError> {
        let disciplines = points.iter().filter_map(CongestionPoint::as_discipline).map(Discipline::queueing);
        let (metered, data): (Vec<_>, Vec<_>) = disciplines.partition(|queueing| queueing.meter().is_some());
        let message = match data[..] {
            _ if metered.len() > 1 => {
                Some("two of the list both limit messages: choose one of them".into())
            }
            [_, _, ..] => Some("two of the list both decide how packets queue: choose one of them".into()),
            [Queueing::Isolating] => self.cannot_isolate(port),
            [Queueing::Packets { .. }] if self.has_crossbar(port) => Some(
                "it sorts flows packet by packet, which an input-output queued switch may bring out of order at its inputs: \
                 choose buffer = \"shared\" or \"static\""
                    .into(),
            ),
            _ => None,
        };
        let key = Some("congestion-point");
        message.map_or(Ok(()), |message| Err(BuildError { place: self.port_name(port), key, message }))
    }

    fn has_crossbar(&self, port: PortId) -> bool {
        self.switch_at(port).is_some_and(|switch| switch.buffer.plan().crossbar.is_some())
    }

    /// Why a port cannot have queues that may lose beside others, if so.
    fn cannot_isolate(&self, port: PortId) -> Option<String> {
        let switch = self.switch_at(port)?;
        if switch.buffer.plan().output.is_some() {
            let why = "it has queues for lossy packets, which are charged to no account, and `buffer.output-queue` bounds each \
                       queue by itself: choose buffer = \"shared\" or \"static\"";
            return Some(why.into());
        }
        if switch.buffer.plan().crossbar.is_some() {
            return Some(
                "it has queues for lossy packets, which an input-output queued switch does not have at its inputs: \
                 choose buffer = \"shared\" or \"static\""
                    .into(),
            );
        }
        let link = &self.links[port.index() / 2];
        let mut controls = link.directions[port.index() % 2].flow_control.iter();
        let (_, control) = controls.find(|(_, control)| !control.tolerates_unpaused())?;
        Some(format!(
            "it sends packets that no pause stops, which flow-control = {:?} of {} does not tolerate: choose \"pfc\" or \
             \"lossy\"",
            control.name(),
            link.name
        ))
    }

    fn validate_buffers(&self) -> Result<(), BuildError> {
        let nodes = || (0..narrow::<u32>(self.nodes.len())).map(NodeId);
        nodes().try_for_each(|node| self.validate_cell(node))?;
        nodes().try_for_each(|node| self.validate_crossbar(node))?;
        for port in (0..2 * narrow::<u32>(self.links.len())).map(PortId) {
            let own = &self.links[port.index() / 2].ends[port.index() % 2].buffer;
            if own.as_ref().is_some_and(|own| own.plan().crossbar.is_some()) {
                let message = "a crossbar belongs to a switch, and cannot be chosen for a port";
                return Err(BuildError::new(self.port_name(port), message));
            }
            self.validate_output_queue(port)?;
        }
        Ok(())
    }

    /// Inputs of a switch with bounded output queues have no bound: no flow control ever pauses there.
    fn validate_output_queue(&self, port: PortId) -> Result<(), BuildError> {
        let (link, end) = (&self.links[port.index() / 2], port.index() % 2);
        let input = self.buffer_at(port).and_then(|buffer| buffer.plan().output);
        let mut controls = link.directions[1 - end].flow_control.iter().map(|(_, control)| control);
        if input.is_some()
            && let Some(control) = controls.find(|control| control.is_lossless())
        {
            let message = format!(
                "{:?} never pauses where `buffer.output-queue` bounds the queues of outputs alone: choose flow-control = \"lossy\", or \
                 another buffer",
                control.name()
            );
            return Err(BuildError { place: self.port_name(port), key: Some("flow-control"), message });
        }
        let Role::Switch(switch) = &self.nodes[link.ends[end].node.index()].role else { return Ok(()) };
        let Some(output) = switch.buffer.plan().output else { return Ok(()) };
        let OutputPlan { queue: room, control, .. } = output.with_room(link.ends[end].output_queue);
        let (largest, reply) = (self.largest_frame(), self.wire.ack_with(self.telemetry()).frame);
        let refuse = |key, message| Err(BuildError { place: self.port_name(port), key: Some(key), message });
        if room < largest {
            let message = format!("an output queue of {room} holds no packet of {largest}");
            return refuse("buffer.output-queue.size", message);
        }
        if control < reply {
            let message = format!("a queue of {control} for the control class holds no reply of {reply}");
            return refuse("buffer.output-queue.control", message);
        }
        Ok(())
    }

    fn validate_links(&self) -> Result<(), BuildError> {
        self.validate_numbers()?;
        self.validate_buffers()?;
        if self.mtu == Bytes::ZERO || self.largest_frame().0 > 16_000 {
            let message = format!("{} is not a payload from 1 B to 15 KB", self.mtu);
            return Err(BuildError { place: "mtu".into(), key: Some("mtu"), message });
        }
        if self.semantics.draws != Draws::PerNode && !(1..FirstDraws::SEEDS).contains(&self.seed) {
            let message =
                format!("{} is not a seed of ns-3's generator, 1 to {}", self.seed, FirstDraws::SEEDS - 1);
            return Err(BuildError { place: "seed".into(), key: Some("seed"), message });
        }
        for link in &self.links {
            let place = format!("link {}", link.name);
            if link.ends[0].node == link.ends[1].node {
                return Err(BuildError::new(place, "it joins a node with itself"));
            }
            for direction in &link.directions {
                let fault = if direction.rate == Rate(0) {
                    Some(("rate", "a link needs a rate above 0"))
                } else if direction.shortest_delay() == Span::ZERO {
                    Some((
                        "delay",
                        "a link needs a delay above 0, for events at different nodes never coincide",
                    ))
                } else if self.has_instant_frames(direction.rate) {
                    Some((
                        "rate",
                        "with times cut to nanoseconds (semantics.rounding) its smallest frames take 0 ns, and two of them would \
                         have no order: keep the default rounding, or set that simulator's semantics.ties, too",
                    ))
                } else {
                    None
                };
                if let Some((key, message)) = fault {
                    return Err(BuildError { place, key: Some(key), message: message.into() });
                }
            }
        }
        Ok(())
    }

    /// Packets count their hops in eight bits. What is within half of that from one host is within that from
    /// every other; else each pair of hosts is looked at.
    fn validate_lengths(&self, routes: &Routes) -> Result<(), BuildError> {
        let hosts =
            || (0..narrow::<u32>(self.nodes.len())).map(NodeId).filter(|&node| self.host(node).is_ok());
        let Some(first) = hosts().next() else { return Ok(()) };
        let near = |to: NodeId| hops(routes, first, to) <= MOST_HOPS / 2;
        if hosts().all(near) {
            return Ok(());
        }
        let far = hosts().flat_map(|from| hosts().map(move |to| (from, to)));
        match far.into_iter().find(|&(from, to)| hops(routes, from, to) > MOST_HOPS) {
            None => Ok(()),
            Some((from, to)) => {
                let names = [from, to].map(|node| self.nodes[node.index()].name.as_str());
                let message =
                    format!("more than {MOST_HOPS} links lie between {} and {}", names[0], names[1]);
                Err(BuildError::new("topology", message))
            }
        }
    }

    pub(super) fn host(&self, node: NodeId) -> Result<&str, String> {
        let spec = &self.nodes[node.index()];
        match spec.role {
            Role::Host { .. } => Ok(&spec.name),
            Role::Switch(_) => Err(format!("{} is a switch, flows run between hosts", spec.name)),
        }
    }

    pub(super) fn reachable(&self, routes: &Routes, from: NodeId, to: NodeId) -> Result<(), String> {
        let (source, destination) = (self.host(from)?, self.host(to)?);
        if from == to {
            return Err(format!("it goes from {source} to itself"));
        }
        if routes.candidates(from, to).is_empty() {
            return Err(format!("no path leads from {source} to {destination}"));
        }
        Ok(())
    }

    fn validate_flow(&self, routes: &Routes, flow: &FlowSpec) -> Result<(), String> {
        self.reachable(routes, flow.source, flow.destination)?;
        if flow.size == Bytes::ZERO {
            return Err("size: 0B is not allowed; the minimum is 1B".into());
        }
        let pinned =
            [(&flow.path, flow.source, flow.destination), (&flow.ack_path, flow.destination, flow.source)];
        for (path, from, to) in pinned {
            if let Some(path) = path {
                self.validate_path(routes, path, from, to)?;
            }
        }
        Ok(())
    }

    fn validate_path(
        &self,
        routes: &Routes,
        path: &[PortId],
        from: NodeId,
        to: NodeId,
    ) -> Result<(), String> {
        let mut at = from;
        for (i, &port) in path.iter().enumerate() {
            if routes.node_of(port) != at {
                return Err(format!("hop {} of its path does not begin where the one before ends", i + 1));
            }
            at = routes.node_of(peer(port));
            if routes.is_host(at) && at != to {
                return Err(format!("its path passes the host {}", self.nodes[at.index()].name));
            }
        }
        if at == to && path.len() < 250 {
            Ok(())
        } else {
            Err(format!("its path does not end at {}", self.nodes[to.index()].name))
        }
    }

    fn validate_poisson(&self, routes: &Routes, poisson: &PoissonSpec) -> Result<(), String> {
        if poisson.sources.is_empty() || poisson.destinations.is_empty() {
            return Err("it has no source or no destination".into());
        }
        if poisson.mean_gap == Span::ZERO {
            return Err("no time lies between its flows".into());
        }
        poisson.validate_pattern()?;
        let receivers = representatives(routes, poisson.receivers());
        // Hosts of a switch have their paths in common.
        let mut senders = representatives(routes, poisson.sources.iter().copied()).into_iter().peekable();
        for &source in &poisson.sources {
            self.host(source)?;
            let mut others = receivers.iter().copied().filter(|&node| node != source).peekable();
            if others.peek().is_none() {
                return Err(format!("{} could send to itself only", self.nodes[source.index()].name));
            }
            if senders.next_if_eq(&source).is_some() {
                others.try_for_each(|destination| self.reachable(routes, source, destination))?;
            }
        }
        Ok(())
    }

    fn validate_loops(&self, routes: &Routes, loops: &[LoopSpec]) -> Result<(), String> {
        for (i, spec) in loops.iter().enumerate() {
            self.reachable(routes, spec.source, spec.destination)
                .map_err(|why| format!("loop {}: {why}", i + 1))?;
            let fault = match spec.next {
                _ if spec.size == Bytes::ZERO || spec.size >= UNBOUNDED => "its messages have no size",
                _ if spec.messages == 0 => "it has no message",
                Next::Arrived(other) if loops.get(other).is_none_or(|of| of.destination != spec.source) => {
                    "what arrives at its source belongs to another loop or to none"
                }
                Next::Sent | Next::Left if spec.depth == 0 => "nothing posts its first message",
                _ => continue,
            };
            return Err(format!("loop {}: {fault}", i + 1));
        }
        if loops.is_empty() { Err("it has no loop".into()) } else { Ok(()) }
    }

    /// Would frames follow one another at one instant, where only the time orders them?
    fn has_instant_frames(&self, rate: Rate) -> bool {
        let semantics = &self.semantics;
        let smallest = self.wire.link_control().wire.min(self.wire.ack().wire);
        !semantics.ties.is_numbered()
            && semantics.rounding != Rounding::Picosecond
            && whole_ns(smallest.0, rate, semantics.rounding) == 0
    }

    fn validate_settings(&self) -> Result<(), BuildError> {
        let probe = QpInfo {
            line_rate: Rate::gbps(1),
            path_rate: Rate::gbps(1),
            base_rtt: Span::us(1),
            mtu: self.mtu,
            wire: self.wire.data_with(self.mtu, false, self.telemetry()).wire,
            ..QpInfo::example()
        };
        for settings in &self.settings {
            let place = || "flow settings".to_owned();
            if settings.class == Class::CONTROL || settings.class.0 as usize >= Class::COUNT {
                let message = format!("class {} is not for data; allowed: 0 to 5, 7", settings.class.0);
                return Err(BuildError { place: place(), key: Some("class"), message });
            }
            settings.reliability.build(&probe).map_err(|error| BuildError::param(place(), error))?;
            settings.notification.build(&probe).map_err(|error| BuildError::param(place(), error))?;
            for layer in &settings.rate_control {
                layer.build(&probe).map_err(|error| BuildError::param(place(), error))?;
                if layer.takes_credit() && !settings.reliability.reports() {
                    let message = format!(
                        "{} needs a reliability whose packets ask for credit: choose \"uet\", not {:?}",
                        layer.name(),
                        settings.reliability.name()
                    );
                    return Err(BuildError { place: place(), key: Some("rate-control"), message });
                }
                if layer.needs().contains(&Need::Int) && settings.reliability.reports() {
                    let message = format!(
                        "{} needs records of telemetry, which packets of {:?} cannot carry: choose another reliability",
                        layer.name(),
                        settings.reliability.name()
                    );
                    return Err(BuildError { place: place(), key: Some("rate-control"), message });
                }
                if layer.needs().contains(&Need::Acks) && !settings.reliability.has_acks() {
                    let message = format!("{} needs a reliability with acknowledgements", layer.name());
                    return Err(BuildError { place: place(), key: Some("rate-control"), message });
                }
            }
        }
        Ok(())
    }
}
