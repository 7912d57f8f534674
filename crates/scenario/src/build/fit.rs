//! Do buffers hold what flow control asks of them, and can mechanisms work with their parameters?

use std::collections::BTreeMap;

use floodway_fabric::Blueprint;
use floodway_fabric::blueprint::{NodeSpec, Role};
use floodway_mechanisms::registry::{
    BufferParams, FlowControlParams, ReactionParams, ReliabilityParams, RoutingParams,
};
use floodway_mechanisms::slots::{Crossing, LinkInfo, ParamError, PortInfo, QpInfo, Sizing, SwitchInfo};
use floodway_units::{Bytes, Class, FlowId, NodeId, PortId, Rate, Span};

use super::Builder;
use crate::check::formula_headroom;
use crate::error::{Place, ScenarioError};
use crate::grammar::forms::FlowControl;
use crate::resolve::{Choice, Origin, Plan};
use crate::topology::Network;

impl Builder<'_> {
    /// Looks at every ingress port and class, and at every switch's pool.
    pub(super) fn fit(&mut self, network: &Network, plan: &Plan, blueprint: &Blueprint) {
        let mut found = Found::default();
        for port in (0..2 * blueprint.links.len() as u32).map(PortId) {
            let (link, end) = (port.index() / 2, port.index() % 2);
            let node = network.links[link].ends[end];
            if network.nodes[node].is_host {
                continue;
            }
            let control = &plan.links[link].directions[1 - end].flow_control;
            let own = plan.links[link].ends[end].buffer.as_ref();
            let buffer = own.unwrap_or(&plan.nodes[node].switch.buffer);
            for &class in &blueprint.classes()[1..] {
                found.port(blueprint, (port, class), control, buffer);
            }
            if let Err(error) = buffer.value.build() {
                found.faults.add(&buffer.origin, error.key, error.message, blueprint.port_name(port));
            }
        }
        Self::pools(network, plan, blueprint, &mut found.faults);
        found.parameters(plan, blueprint);
        self.odd_classes(blueprint);
        let home = self.tree.place.clone();
        self.errors.extend(found.faults.into_errors(&home));
        self.warnings.extend(found.odd.into_errors(&home).iter().map(ToString::to_string));
    }

    /// Classes that are lossless on a part of their way, and ports that hold whatever comes.
    fn odd_classes(&mut self, blueprint: &Blueprint) {
        for &class in &blueprint.classes()[1..] {
            let ports = (0..2 * blueprint.links.len() as u32).map(PortId);
            let accounts = ports.filter_map(|port| Some((port, blueprint.account(port, class).ok()??)));
            let (lossless, lossy): (Vec<_>, Vec<_>) = accounts.partition(|(_, account)| account.lossless);
            if let ([(one, _), ..], [(other, _), ..]) = (&lossless[..], &lossy[..]) {
                self.warnings.push(format!(
                    "class {} is lossless on a part of the links only: from {} on, but not from {} on",
                    class.0,
                    blueprint.port_name(*one),
                    blueprint.port_name(*other),
                ));
            }
            let endless = lossy.iter().find(|(_, account)| account.own == Some(Bytes::MAX));
            if let Some((port, _)) = endless {
                self.warnings.push(format!(
                    "{} holds whatever comes of class {}: without flow control, buffer.static.size \"auto\" is no limit",
                    blueprint.port_name(*port),
                    class.0,
                ));
            }
        }
    }

    fn pools(network: &Network, plan: &Plan, blueprint: &Blueprint, faults: &mut Alike) {
        // A port's fault would be told again as that of the pool.
        let ports_are_sound = faults.0.is_empty();
        for (i, node) in network.nodes.iter().enumerate().filter(|(_, node)| !node.is_host) {
            if ports_are_sound && let Err(error) = blueprint.pool(NodeId(i as u32)) {
                let origin = &plan.nodes[i].switch.buffer.origin;
                faults.add(origin, error.key.unwrap_or_default(), error.message, node.name.clone());
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
                    let why = "a port takes part in its switch's pool, and this switch has none".to_owned();
                    faults.add(&own.origin, "", why, network.nodes[node].name.clone());
                }
            }
        }
    }
}

/// What is wrong, and what is odd.
#[derive(Default)]
struct Found {
    faults: Alike,
    odd: Alike,
}

impl Found {
    /// What an ingress port has for a class.
    fn port(
        &mut self,
        blueprint: &Blueprint,
        (port, class): (PortId, Class),
        control: &Choice<FlowControl>,
        buffer: &Choice<BufferParams>,
    ) {
        let account = match blueprint.account(port, class) {
            Ok(Some(account)) => account,
            Ok(None) => return,
            Err(error) => {
                let name = control.value.of(class).map_or("", FlowControlParams::name);
                let key = match &control.value {
                    FlowControl::All(_) => format!("{name}.{}", error.key.unwrap_or_default()),
                    FlowControl::ByClass(_) => {
                        format!("class-{}.{name}.{}", class.0, error.key.unwrap_or_default())
                    }
                };
                return self.faults.add(&control.origin, &key, error.message, error.place);
            }
        };
        let Some(params) = control.value.of(class) else { return };
        if let Some(formula) =
            formula_headroom(params, &account.link).filter(|formula| account.headroom < *formula)
        {
            let why = format!(
                "headroom of {} is {} below the {formula} of its formula",
                account.headroom,
                Bytes(formula.0 - account.headroom.0)
            );
            self.odd.add_unless_copied(&control.origin, "headroom", why, blueprint.port_name(port));
        }
        let least = params.min_buffer(&account.link).saturating_sub(spared(&buffer.value, &account.link));
        if let Some(size) = account.own.filter(|size| *size < least) {
            let why = format!(
                "the buffer of {size} is {} short of the {least} that flow control {:?} asks for",
                Bytes(least.0 - size.0),
                params.name(),
            );
            self.odd.add_unless_copied(&buffer.origin, "", why, blueprint.port_name(port));
        }
    }

    /// Parameters that a mechanism cannot work with, other than those of flow control and buffers.
    fn parameters(&mut self, plan: &Plan, blueprint: &Blueprint) {
        for (spec, plan) in blueprint.nodes.iter().zip(&plan.nodes) {
            if let Role::Switch(switch) = &spec.role
                && let Err(error) = switch.routing.build(&SwitchInfo { key: 0, hash_seed: switch.hash_seed })
            {
                self.faults.add(&plan.switch.routing.origin, error.key, error.message, spec.name.clone());
            }
        }
        let mtu = blueprint.wire.largest_frame(blueprint.mtu);
        for (i, (link, spec)) in plan.links.iter().zip(&blueprint.links).enumerate() {
            for (end, plan) in link.ends.iter().enumerate() {
                let port = PortId((2 * i + end) as u32);
                let info = PortInfo { port, rate: spec.directions[end].rate, mtu };
                let built = plan.scheduler.value.build(&info).map(drop);
                self.keep(built, &plan.scheduler.origin, || blueprint.port_name(port));
                for point in &plan.congestion_points.value {
                    let built = point.build(&info).map(drop);
                    self.keep(built, &plan.congestion_points.origin, || blueprint.port_name(port));
                }
            }
        }
        let probe = QpInfo {
            flow: FlowId(0),
            line_rate: Rate::gbps(100),
            path_rate: Rate::gbps(100),
            base_rtt: Span::us(10),
            mtu: blueprint.mtu,
            lossless: false,
        };
        for (plan, workload) in plan.flows.iter().zip(&blueprint.workloads) {
            let place = || format!("flows of {}", workload.name);
            if let Err(error) = plan.reliability.value.build(&probe) {
                let key = format!("{}.{}", plan.reliability.value.name(), error.key);
                self.faults.add(&plan.reliability.origin, &key, error.message, place());
            }
            for layer in &plan.rate_control.value {
                if let Err(error) = layer.build(&probe) {
                    let key = format!("{}.{}", layer.name(), error.key);
                    self.faults.add(&plan.rate_control.origin, &key, error.message, place());
                }
            }
        }
        self.go_back_n(plan, blueprint);
    }

    /// Where go-back-N stalls or goes back although nothing was lost.
    fn go_back_n(&mut self, plan: &Plan, blueprint: &Blueprint) {
        let is_switch = |spec: &&NodeSpec| matches!(spec.role, Role::Switch(_));
        let switches = blueprint.nodes.iter().zip(&plan.nodes).filter(|(spec, _)| is_switch(spec));
        let spray = switches
            .map(|(_, plan)| &plan.switch.routing)
            .find(|routing| matches!(routing.value, RoutingParams::Spray(_)));
        for (plan, workload) in plan.flows.iter().zip(&blueprint.workloads) {
            let ReliabilityParams::GoBackN(params) = &plan.reliability.value else { continue };
            let object = format!("flows of {}", workload.name);
            if let Some(routing) = spray {
                let why = "\"spray\" reorders packets, which reliability \"go-back-n\" takes for losses \
                           and sends again";
                self.odd.add_unless_copied(&routing.origin, "", why.to_owned(), object.clone());
            }
            let acknowledged = Bytes(u64::from(params.ack_interval).saturating_mul(blueprint.mtu.0));
            for layer in &plan.rate_control.value {
                if let ReactionParams::StaticWindow(window) = layer
                    && let Sizing::Fixed(size) = window.size
                    && acknowledged > size
                {
                    let why = format!(
                        "a window of {size} is full before the first ACK, which go-back-n sends after \
                         {acknowledged} (ack-interval = {}): longer flows stall",
                        params.ack_interval
                    );
                    self.odd.add_unless_copied(&plan.rate_control.origin, "", why, object.clone());
                }
            }
        }
    }

    fn keep(&mut self, built: Result<(), ParamError>, origin: &Origin, object: impl Fn() -> String) {
        if let Err(error) = built {
            self.faults.add(origin, error.key, error.message, object());
        }
    }
}

/// The packet that crosses the threshold needs no room of its own where headroom takes it in.
fn spared(buffer: &BufferParams, link: &LinkInfo) -> Bytes {
    match buffer {
        BufferParams::Static(params) if params.crossing == Crossing::Headroom => {
            link.mtu.saturating_sub(Bytes(1))
        }
        _ => Bytes::ZERO,
    }
}

/// Faults that are the same at many ports, told once.
#[derive(Default)]
struct Alike(BTreeMap<(String, String), (Option<Place>, Vec<String>)>);

impl Alike {
    fn add(&mut self, origin: &Origin, key: &str, why: String, object: String) {
        let key = if key.is_empty() { origin.key.to_string() } else { format!("{}.{key}", origin.key) };
        let (_, objects) = self.0.entry((key, why)).or_insert_with(|| (origin.place.clone(), Vec::new()));
        if !objects.contains(&object) {
            objects.push(object);
        }
    }

    /// What a profile copies from another simulator is not odd.
    fn add_unless_copied(&mut self, origin: &Origin, key: &str, why: String, object: String) {
        if !origin.is_profile() {
            self.add(origin, key, why, object);
        }
    }

    fn into_errors(self, home: &Place) -> Vec<ScenarioError> {
        let error = |((key, why), (place, objects)): ((String, String), (Option<Place>, Vec<String>))| {
            let others = match objects.len() {
                1 => String::new(),
                n => format!(" and {} more", n - 1),
            };
            let place = place.unwrap_or_else(|| Place { line: None, ..home.clone() });
            ScenarioError::new(place, key, format!("{}{others}: {why}", objects[0]))
        };
        self.0.into_iter().map(error).collect()
    }
}
