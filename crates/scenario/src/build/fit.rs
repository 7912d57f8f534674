//! Fit of buffers and parameters: whether buffers hold what flow control needs, and mechanisms accept their
//! parameters.

use floodway_fabric::blueprint::{NodeSpec, Role, Turns};
use floodway_fabric::routing::peer;
use floodway_fabric::{Account, Accounts, Blueprint};
use floodway_mechanisms::registry::{
    AnyCongestionPoint, BufferParams, CongestionPointParams, FlowControlParams, ReactionParams,
};
use floodway_mechanisms::slots::{
    CongestionPoint as _, FastPath, LinkInfo, Need, PortInfo, QpInfo, Repeats, SignalKind, SwitchInfo,
    SwitchShare,
};
use floodway_units::cast::narrow;
use floodway_units::{Bytes, Class, NodeId, PortId, Rate, Span};

use super::Builder;
use super::alike::{Alike, Texts};
use super::hosts::{is_receive_buffer, receivers};
use crate::grammar::forms::FlowControl;
use crate::profile::Loaded;
use crate::resolve::{Choice, Origin, Plan};
use crate::topology::Network;

impl Builder<'_> {
    /// Looks at every ingress port and class, and at every switch's pool.
    pub(super) fn fit(
        &mut self,
        network: &Network,
        plan: &Plan,
        profile: Option<&Loaded>,
        blueprint: &Blueprint,
    ) {
        let texts = Texts { scenario: self.tree, profile: profile.map(|profile| &profile.tree) };
        let accounts = blueprint.accounts();
        let pools = pools_of(blueprint, &accounts);
        let mut found = Found {
            texts,
            accounts: &accounts,
            pools,
            sending: sending_of(blueprint),
            pausing: vec![Vec::new(); blueprint.nodes.len()],
            faults: Alike::default(),
            warnings: Alike::default(),
        };
        let mut of_classes: Vec<OfClass> =
            blueprint.classes()[1..].iter().copied().map(OfClass::new).collect();
        for port in blueprint.ports() {
            let (link, end) = (port.index() / 2, port.index() % 2);
            let Some(buffer) = &plan.buffer_at(network, (link, end)) else { continue };
            let direction = &plan.links[link].directions[1 - end];
            let control = &direction.flow_control;
            for of_class in &mut of_classes {
                let port_class = (port, of_class.class);
                if let Some(account) = found.account(port_class, (control, buffer)) {
                    found.port(blueprint, port_class, (control, buffer), &account);
                    found.restarts(blueprint, port_class, &account, &direction.faults.origin);
                    of_class.add(port, &account);
                }
            }
            if let Err(error) = buffer.value.build() {
                let key = format!("{}.{}", buffer.value.name(), error.key);
                found.faults.add(&buffer.origin, &key, error.message, blueprint.port_name(port));
            }
        }
        Self::pools(network, plan, (blueprint, &accounts), &mut found.faults);
        found.parameters(plan, blueprint);
        receivers(network, plan, blueprint, &mut found.warnings);
        self.warnings.extend(of_classes.iter().flat_map(|of_class| of_class.warnings(blueprint)));
        self.errors.extend(found.faults.into_errors(&texts));
        self.warnings.extend(found.warnings.into_errors(&texts).iter().map(ToString::to_string));
    }

    fn pools(
        network: &Network,
        plan: &Plan,
        (blueprint, accounts): (&Blueprint, &Accounts<'_>),
        faults: &mut Alike,
    ) {
        // A port's fault would be reported again as that of the pool.
        let ports_are_sound = faults.is_empty();
        for (i, node) in network.nodes.iter().enumerate().filter(|(_, node)| !node.is_host) {
            let node_id = NodeId(narrow(i));
            if let Err(error) = blueprint.validate_cell(node_id) {
                faults.add(&plan.nodes[i].switch.cell.origin, "", error.message, node.name.clone());
                continue;
            }
            let sound =
                accounts.pool(node_id).map(|_| ()).and_then(|()| blueprint.validate_crossbar(node_id));
            if ports_are_sound && let Err(error) = sound {
                let Choice { value, origin } = &plan.nodes[i].switch.buffer;
                let key = format!("{}.{}", value.name(), error.key.unwrap_or_default());
                faults.add(origin, &key, error.message, node.name.clone());
            }
        }
        for (link, of) in network.links.iter().zip(&plan.links) {
            for (&node, end) in
                link.ends.iter().zip(&of.ends).filter(|(node, _)| !network.nodes[**node].is_host)
            {
                let takes_part = end.buffer.as_ref().filter(|own| own.value.plan().pool.is_some());
                if let Some(own) = takes_part
                    && plan.nodes[node].switch.buffer.value.plan().pool.is_none()
                {
                    let why = "a port shares its switch's pool, but this switch has none".to_owned();
                    faults.add(&own.origin, "", why, network.nodes[node].name.clone());
                }
            }
        }
    }
}

/// Ingress ports of a class, as far as warnings need them.
struct OfClass {
    class: Class,
    /// The first that must not lose, and the first that may.
    lossless: Option<PortId>,
    lossy: Option<PortId>,
    /// The first that may lose, and has no limit.
    endless: Option<PortId>,
}

impl OfClass {
    fn new(class: Class) -> Self {
        OfClass { class, lossless: None, lossy: None, endless: None }
    }

    fn add(&mut self, port: PortId, account: &Account) {
        if account.lossless {
            self.lossless.get_or_insert(port);
            return;
        }
        self.lossy.get_or_insert(port);
        if account.own == Some(Bytes::MAX) {
            self.endless.get_or_insert(port);
        }
    }

    /// Warnings: a class that is lossless on a part of the links only, and a port without a limit.
    fn warnings(&self, blueprint: &Blueprint) -> impl Iterator<Item = String> {
        let (class, name) = (self.class.0, |port| blueprint.port_name(port));
        let partly = self.lossless.zip(self.lossy).map(|(one, other)| {
            format!(
                "class {class} is lossless on only some of the links: at {}, but not at {}",
                name(one),
                name(other),
            )
        });
        let endless = self.endless.map(|port| {
            format!(
                "{} has no limit for class {class}: without flow control, buffer.static.size \"auto\" is no limit",
                name(port),
            )
        });
        partly.into_iter().chain(endless)
    }
}

/// The pool of each node's switch; nothing where it has none.
fn pools_of(blueprint: &Blueprint, accounts: &Accounts<'_>) -> Vec<Bytes> {
    let pool = |node| accounts.pool(NodeId(node)).ok().flatten().unwrap_or_default();
    (0..narrow::<u32>(blueprint.nodes.len())).map(pool).collect()
}

/// What all ports of each node together send, in bit/s, and how many they are; what hosts take in from
/// receive buffers counts as well.
fn sending_of(blueprint: &Blueprint) -> Vec<(u64, u64)> {
    let mut sending = vec![(0_u64, 0); blueprint.nodes.len()];
    for link in &blueprint.links {
        for (end, direction) in link.ends.iter().zip(&link.directions) {
            let (rate, ports) = &mut sending[end.node.index()];
            let drain = end.receive.as_ref().map_or(0, |receive| receive.drain.0);
            (*rate, *ports) = (rate.saturating_add(direction.rate.0).saturating_add(drain), *ports + 1);
        }
    }
    sending
}

/// Errors and warnings.
struct Found<'a> {
    texts: Texts<'a>,
    accounts: &'a Accounts<'a>,
    /// Of each node.
    pools: Vec<Bytes>,
    /// Of each node: what all its ports together send, and how many they are.
    sending: Vec<(u64, u64)>,
    /// Of each node: its ports that pause, each with what it then holds.
    pausing: Vec<Vec<(PortId, Bytes)>>,
    faults: Alike,
    warnings: Alike,
}

impl Found<'_> {
    /// What an ingress port is given for a class; none where a fault says why not.
    fn account(
        &mut self,
        (port, class): (PortId, Class),
        (control, buffer): (&Choice<FlowControl>, &Choice<BufferParams>),
    ) -> Option<Account> {
        self.accounts.of(port, class).unwrap_or_else(|error| {
            let key = control_key(&control.value, class, error.key.unwrap_or_default());
            if is_receive_buffer(&buffer.origin) && self.accounts.fits_without_limit(port, class) {
                let why = format!("{}.{key}: {}", control.origin.key, error.message);
                self.faults.add(&buffer.origin, "", why, error.place);
            } else {
                self.faults.add(&control.origin, &key, error.message, error.place);
            }
            None
        })
    }

    /// What an ingress port has for a class.
    fn port(
        &mut self,
        blueprint: &Blueprint,
        (port, class): (PortId, Class),
        (control, buffer): (&Choice<FlowControl>, &Choice<BufferParams>),
        account: &Account,
    ) {
        let Some(params) = control.value.of(class) else { return };
        self.sizes(blueprint, (port, class), (control, buffer), (account, params));
        let node = blueprint.links[port.index() / 2].ends[port.index() % 2].node.index();
        let pool = if account.own.is_some() { Bytes::ZERO } else { self.pools[node] };
        let back = blueprint.links[port.index() / 2].directions[port.index() % 2].rate;
        let (rate, ports) = self.sending[node];
        let drain = Rate(rate.saturating_sub(back.0));
        let share = SwitchShare { pool, reserve: account.reserve, drain, others: ports.saturating_sub(1) };
        self.pausing[node].extend(params.pauses_at(&account.link, &share).map(|xoff| (port, xoff)));
        let warnings = params.warnings(&account.link, &share);
        for why in warnings.into_iter().chain(params.may_overflow(&account.link)) {
            let key = control_key(&control.value, class, "");
            self.warnings.add_unless_copied(&control.origin, &key, why, blueprint.port_name(port));
        }
    }

    /// Headroom and buffer, beside what their formulas ask for.
    fn sizes(
        &mut self,
        blueprint: &Blueprint,
        (port, class): (PortId, Class),
        (control, buffer): (&Choice<FlowControl>, &Choice<BufferParams>),
        (account, params): (&Account, &FlowControlParams),
    ) {
        let need = self.accounts.need(port, class, account);
        let lacks = need.map_or(Bytes::ZERO, |need| need.steady.saturating_sub(need.has));
        let least = params.min_buffer(&account.link).saturating_sub(buffer.value.spared(&account.link));
        let small = account.own.filter(|size| *size < least);
        if lacks > Bytes::ZERO && small.is_none() {
            let headroom = account.headroom;
            let formula = headroom.saturating_add(lacks);
            let (key, why) = if has_headroom(params, &account.link) {
                ("headroom", format!("headroom of {headroom} is {lacks} below the {formula} of its formula"))
            } else if let Some(size) = account.own {
                let asks = size.saturating_add(lacks);
                ("", format!("the buffer of {size} is {lacks} below the {asks} of its `lossless_size`"))
            } else {
                let has =
                    format!("it reserves {headroom} of the shared pool, {lacks} below the {formula} of its");
                ("", format!("{has} `lossless_size`: let its `headroom` return that"))
            };
            let key = control_key(&control.value, class, key);
            self.warnings.add_unless_copied(&control.origin, &key, why, blueprint.port_name(port));
        }
        if let Some(size) = small {
            let why = format!(
                "the buffer of {size} is {} short of the {least} that flow control {:?} asks for: {}",
                Bytes(least.0 - size.0),
                params.name(),
                params.min_buffer_formula(),
            );
            self.warnings.add_unless_copied(&buffer.origin, "", why, blueprint.port_name(port));
        }
    }

    /// A link that comes up again while the buffer at its end is full.
    fn restarts(
        &mut self,
        blueprint: &Blueprint,
        (port, class): (PortId, Class),
        account: &Account,
        faults: &Origin,
    ) {
        let Some(need) = self.accounts.need(port, class, account) else { return };
        if need.restarts == 0 || need.short() == Bytes::ZERO {
            return;
        }
        let has = if account.own.is_some() { "buffer" } else { "headroom" };
        let times = if need.restarts == 1 { "once".to_owned() } else { format!("{} times", need.restarts) };
        let enough = if blueprint.goes_down_unnoticed(port) {
            "no size is sure to hold it, since pauses that are lost in a down time shorter than faults.detection are not sent again \
             at once"
                .to_owned()
        } else {
            format!("{} is enough", need.all().rounded_up())
        };
        let why = format!(
            "the link comes up again {times}, and each time up to {} may arrive before its sender is paused: a full {has} of {} may \
             overflow; {enough}",
            need.each, need.has,
        );
        self.warnings.add(faults, "down", why, blueprint.port_name(port));
    }

    /// Parameters that a mechanism cannot work with, other than those of flow control and buffers.
    fn parameters(&mut self, plan: &Plan, blueprint: &Blueprint) {
        for (spec, plan) in blueprint.nodes.iter().zip(&plan.nodes) {
            if let Role::Switch(switch) = &spec.role
                && let Err(error) = switch.routing.build(&SwitchInfo { key: 0, hash_seed: switch.hash_seed })
            {
                let key = format!("{}.{}", switch.routing.name(), error.key);
                self.faults.add(&plan.switch.routing.origin, &key, error.message, spec.name.clone());
            }
        }
        for (i, link) in plan.links.iter().enumerate() {
            for (end, plan) in link.ends.iter().enumerate() {
                let port = PortId(narrow(2 * i + end));
                let info = PortInfo { largest_rtt: Span::us(20), ..blueprint.port_info(port) };
                let Choice { value, origin } = &plan.scheduler;
                if let Err(error) = value.build(&info) {
                    let key = format!("{}.{}", value.name(), error.key);
                    self.faults.add(origin, &key, error.message, blueprint.port_name(port));
                }
                self.points(blueprint, (port, &info), &plan.congestion_points);
                if let Some(Choice { value, origin }) = &plan.output_queue {
                    let node = &blueprint.nodes[blueprint.links[i].ends[end].node.index()];
                    let fault = match &node.role {
                        Role::Switch(_) if *value == Bytes::ZERO => Some("a queue of 0B holds no packet"),
                        Role::Switch(switch) if switch.buffer.plan().output.is_none() => {
                            Some("its switch has none: choose `buffer.output-queue` for it")
                        }
                        _ => None,
                    };
                    if let Some(fault) = fault {
                        self.faults.add(origin, "", fault.to_owned(), blueprint.port_name(port));
                    }
                }
                let Choice { value, origin } = &link.directions[end].link_retry;
                if let Err(error) = blueprint.build_retry(port) {
                    let key = error.key.map_or(value.name().into(), |key| format!("{}.{key}", value.name()));
                    self.faults.add(origin, &key, error.message, blueprint.port_name(port));
                } else if let Some(why) = value.warning(&blueprint.retry_info(port)) {
                    self.warnings.add_unless_copied(origin, value.name(), why, blueprint.port_name(port));
                }
            }
        }
        for (plan, workload) in plan.flows.iter().zip(&blueprint.workloads) {
            let mtu = blueprint.payload_of(workload.settings);
            let wire = blueprint.wire.data_with(mtu, false, blueprint.telemetry()).wire;
            let probe = QpInfo { mtu, wire, ..QpInfo::example() };
            let place = || format!("flows of {}", workload.name);
            if let Err(error) = plan.reliability.value.build(&probe) {
                let key = format!("{}.{}", plan.reliability.value.name(), error.key);
                self.faults.add(&plan.reliability.origin, &key, error.message, place());
            }
            if plan.reliability.value.repeats_first() && blueprint.semantics.turns == Turns::List {
                let message = "it retransmits before all new data of a NIC, which NICs of semantics.turns = \
                               \"hpcc-ns3\" cannot do; leave that key out, or choose another form or reliability";
                let key = plan.reliability.value.name();
                self.faults.add(&plan.reliability.origin, key, message.to_owned(), place());
            }
            if let Err(error) = plan.notification.value.build(&probe) {
                let key = format!("{}.{}", plan.notification.value.name(), error.key);
                self.faults.add(&plan.notification.origin, &key, error.message, place());
            }
            let Choice { value, origin } = &plan.rate_control;
            for (i, layer) in value.iter().enumerate() {
                if let Err(error) = layer.build(&probe) {
                    let key = self.texts.key_in_list(origin, i, layer.name(), error.key);
                    self.faults.add(origin, &key, error.message, place());
                }
            }
        }
        self.go_back_n(plan, blueprint);
    }

    /// The congestion points of a port.
    fn points(
        &mut self,
        blueprint: &Blueprint,
        (port, info): (PortId, &PortInfo),
        Choice { value, origin }: &Choice<Vec<CongestionPointParams>>,
    ) {
        let mut machines = Vec::with_capacity(value.len());
        for (i, point) in value.iter().enumerate() {
            let machine = match point.build(info) {
                Ok(machine) => machine,
                Err(error) => {
                    let key = self.texts.key_in_list(origin, i, point.name(), error.key);
                    self.faults.add(origin, &key, error.message, blueprint.port_name(port));
                    continue;
                }
            };
            let warnings = [
                too_short(blueprint, port, point, &machine),
                self.marks_late(blueprint, port, point, &machine),
                on_lossy_link(blueprint, port, point),
            ];
            for why in warnings.into_iter().flatten() {
                let key = self.texts.key_in_list(origin, i, point.name(), "");
                self.warnings.add_unless_copied(origin, &key, why, blueprint.port_name(port));
            }
            machines.push(machine);
        }
        if let Err(error) = blueprint.validate_points(port, &machines) {
            self.faults.add(origin, "", error.message, blueprint.port_name(port));
        }
    }

    /// Why a flow control pauses what a congestion point has not marked yet: what comes in by one port alone.
    fn marks_late(
        &self,
        blueprint: &Blueprint,
        port: PortId,
        point: &CongestionPointParams,
        machine: &AnyCongestionPoint,
    ) -> Option<String> {
        let unmarked = machine
            .fast_path()
            .map(FastPath::either)
            .filter(|_| point.signal_kinds().contains(&SignalKind::Marks))?;
        let xoff = self.first_to_pause(blueprint, port).filter(|xoff| *xoff < unmarked)?;
        Some(format!(
            "traffic that arrives at only one port is paused at {xoff}, before {:?} starts to mark at {unmarked}",
            point.name(),
        ))
    }

    /// With what in its buffer the first of the other ports of a port's switch pauses.
    fn first_to_pause(&self, blueprint: &Blueprint, port: PortId) -> Option<Bytes> {
        let node = blueprint.links[port.index() / 2].ends[port.index() % 2].node;
        let others = self.pausing[node.index()].iter().filter(|(other, _)| *other != port);
        others.map(|(_, xoff)| *xoff).min()
    }

    /// Where go-back-N stalls or goes back although nothing was lost.
    fn go_back_n(&mut self, plan: &Plan, blueprint: &Blueprint) {
        let is_switch = |spec: &&NodeSpec| matches!(spec.role, Role::Switch(_));
        let switches = blueprint.nodes.iter().zip(&plan.nodes).filter(|(spec, _)| is_switch(spec));
        let spray =
            switches.map(|(_, plan)| &plan.switch.routing).find(|routing| routing.value.splits_flows());
        for (plan, workload) in plan.flows.iter().zip(&blueprint.workloads) {
            let reliability = &plan.reliability.value;
            if reliability.repeats() != Repeats::AllAfter {
                continue;
            }
            let (name, ack_interval) = (reliability.name(), reliability.ack_interval());
            let object = format!("flows of {}", workload.name);
            if let Some(routing) = spray {
                let why = format!(
                    "{:?} reorders packets, which reliability {name:?} takes for losses and retransmits",
                    routing.value.name()
                );
                self.warnings.add_unless_copied(&routing.origin, "", why, object.clone());
            }
            let layers = &plan.rate_control.value;
            if let Some(routing) = spray
                && let Some(layer) = layers.iter().find(|layer| layer.needs().contains(&Need::Int))
            {
                let (layer, name) = (layer.name(), routing.value.name());
                let why = format!("{layer:?} compares telemetry of one way, and {name:?} changes it");
                self.warnings.add_unless_copied(&routing.origin, "", why, object.clone());
            }
            if ack_interval > 1
                && let Some(why) = layers.iter().find_map(needs_every_ack)
            {
                let why = format!("{why}, and {name} sends one for {ack_interval} packets");
                self.warnings.add_unless_copied(&plan.rate_control.origin, "", why, object.clone());
            }
            let payload = plan.payload.as_ref().map_or(blueprint.mtu, |payload| payload.value);
            let acknowledged = Bytes(u64::from(ack_interval).saturating_mul(payload.0));
            for layer in &plan.rate_control.value {
                if let Some(size) = layer.fixed_window()
                    && acknowledged > size
                {
                    let why = format!(
                        "a window of {size} is full before the first ACK, which {name} sends after \
                         {acknowledged} (ack-interval = {ack_interval}): longer flows stall"
                    );
                    self.warnings.add_unless_copied(&plan.rate_control.origin, "", why, object.clone());
                }
            }
        }
    }
}

/// Why a congestion point behind a crossbar sees no long queue: what waits there waits at the inputs.
fn too_short(
    blueprint: &Blueprint,
    port: PortId,
    point: &CongestionPointParams,
    machine: &AnyCongestionPoint,
) -> Option<String> {
    let node = blueprint.links[port.index() / 2].ends[port.index() % 2].node;
    let Role::Switch(switch) = &blueprint.nodes[node.index()].role else { return None };
    let output = switch.buffer.plan().crossbar?.output;
    let ignored = machine
        .fast_path()
        .map(FastPath::either)
        .or_else(|| point.ignores_up_to())
        .filter(|ignored| *ignored >= output)?;
    Some(format!(
        "{:?} looks at queues beyond {ignored}, and an output queue behind the crossbar holds {output}",
        point.name()
    ))
}

/// Why what a congestion point holds back waits where packets are lost.
fn on_lossy_link(blueprint: &Blueprint, port: PortId, point: &CongestionPointParams) -> Option<String> {
    if !point.signal_kinds().contains(&SignalKind::Degrees) {
        return None;
    }
    let is_lossy = |port: PortId, class: Class| {
        !blueprint.control_into(port, class).is_some_and(FlowControlParams::is_lossless)
    };
    let lossy = |class: &&Class| is_lossy(port, **class) || is_lossy(peer(port), **class);
    let class = blueprint.classes()[1..].iter().find(lossy)?.0;
    Some(format!(
        "{:?} holds flows back at the upstream switch, which needs a lossless link: this one has no lossless flow control, such as \
         \"pfc\", for class {class}",
        point.name()
    ))
}

/// Why a layer needs the ACK of each packet.
fn needs_every_ack(layer: &ReactionParams) -> Option<String> {
    let stalls = layer.waits_for_each_ack();
    let marks = layer.needs().contains(&Need::Marks) && layer.needs().contains(&Need::Acks);
    match (stalls, marks) {
        (true, _) => {
            Some(format!("the window of {:?} can shrink to a packet, which waits for its ACK", layer.name()))
        }
        (false, true) => {
            Some(format!("{:?} learns of marks from the ACK of the marked packet", layer.name()))
        }
        (false, false) => None,
    }
}

/// Does a flow control have a parameter `headroom`? One of the tree has it where it has a formula for it; one
/// from outside may have a formula and no such parameter.
fn has_headroom(params: &FlowControlParams, link: &LinkInfo) -> bool {
    match params {
        FlowControlParams::Custom(own) => own.params.values().get("headroom").is_some(),
        built_in => built_in.formula_headroom(link).is_some(),
    }
}

/// The flow control of a class, or a parameter of it, below its slot.
fn control_key(control: &FlowControl, class: Class, parameter: &str) -> String {
    let name = control.of(class).map_or("", FlowControlParams::name);
    let dot = if parameter.is_empty() { "" } else { "." };
    match control {
        FlowControl::All(_) => format!("{name}{dot}{parameter}"),
        FlowControl::ByClass(_) => format!("class-{}.{name}{dot}{parameter}", class.0),
    }
}
