//! Needs of rate controls: acknowledgements, marks, windows, and layers in their order.

use floodway_fabric::Blueprint;
use floodway_mechanisms::registry::{CongestionPointParams, NotificationParams, ReactionParams};
use floodway_mechanisms::slots::{Need, Repeats, SignalKind};

use super::Builder;
use super::pace::{Pace, isolating};
use crate::error::ScenarioError;
use crate::resolve::{Choice, EndPlan, FlowPlan, Plan};

impl Builder<'_> {
    /// The requirements of rate controls.
    pub(super) fn check_needs(&mut self, flows: &FlowPlan) {
        let origin = &flows.rate_control.origin;
        let place = self.place_of(origin);
        if flows.rate_control.value.is_empty() {
            self.fault_once(ScenarioError::new(place, &*origin.key, "the list is empty: name at least one"));
            return;
        }
        for layer in &flows.rate_control.value {
            if layer.needs().contains(&Need::Acks) && !flows.reliability.value.has_acks() {
                let message = format!(
                    "{:?} needs acknowledgements, and reliability is {:?} ({})",
                    layer.name(),
                    flows.reliability.value.name(),
                    flows.reliability.origin
                );
                self.fault_once(ScenarioError::new(place.clone(), &*origin.key, message));
            }
        }
        if let (Some(reads), Some(asks)) = (needing(flows, Need::Int), needing(flows, Need::Messages)) {
            let (reads, asks) = (reads.name(), asks.name());
            let message = format!(
                "{reads:?} needs telemetry and {asks:?} messages of its own, and a packet carries one or the other: choose one of them"
            );
            self.fault_once(ScenarioError::new(place.clone(), &*origin.key, message));
        }
        if let Some(name) = twice(flows.rate_control.value.iter().map(ReactionParams::name)) {
            let message = format!("{name:?} is listed twice in the stack; once is enough");
            self.fault_once(ScenarioError::new(place.clone(), &*origin.key, message));
        }
        for layer in &flows.rate_control.value {
            let Some(asked) = layer.notification().filter(|name| NotificationParams::named(name).is_none())
            else {
                continue;
            };
            let message = format!(
                "{:?} requires notification {asked:?} at receivers, which does not exist",
                layer.name()
            );
            self.fault_once(ScenarioError::new(place.clone(), &*origin.key, message));
        }
        if let Some((layer, above)) = hidden_layer(&flows.rate_control.value) {
            let message = format!(
                "{layer:?} needs the increase steps of the layers before it: write it after {above:?}, not before"
            );
            self.fault_once(ScenarioError::new(place, &*origin.key, message));
        }
    }

    /// Warns of windows that no switch ever sends.
    pub(super) fn check_windows(&mut self, plan: &Plan, flows: &FlowPlan) {
        let origin = &flows.rate_control.origin;
        let Some(layer) = needing(flows, Need::Windows) else { return };
        if !ends(plan).any(|end| end.sends_signal(SignalKind::Windows)) {
            let message = format!(
                "{:?} never acts: no port has a congestion-point, such as \"mercury\", that sends windows",
                layer.name()
            );
            let place = self.place_of(origin);
            self.warn(ScenarioError::new(place, &*origin.key, message));
        }
    }

    /// Messages by which receivers ask for data are to be limited where the data would queue.
    pub(super) fn check_messages(&mut self, plan: &Plan, flows: &FlowPlan) {
        let origin = &flows.rate_control.origin;
        let Some(layer) = needing(flows, Need::Messages) else { return };
        let mut points = ends(plan).flat_map(|end| &end.congestion_points.value);
        if !points.any(CongestionPointParams::limits_messages) {
            let message = format!(
                "{:?} asks for more than links carry: no port has a congestion-point, such as \"expresspass\", that limits what it asks for",
                layer.name()
            );
            let place = self.place_of(origin);
            self.warn(ScenarioError::new(place, &*origin.key, message));
        }
    }

    /// A congestion point that is listed twice at a port is an error; one that no rate control reacts to gets
    /// a warning, and so do two that signal the same queue. Marks of `red` alone get none: scenarios leave
    /// them on to compare rate controls.
    pub(super) fn check_telling(&mut self, plan: &Plan) {
        let layers: Vec<_> = plan.flows.iter().flat_map(|flows| &flows.rate_control.value).collect();
        for points in ends(plan).map(|end| &end.congestion_points) {
            if let Some(name) = twice(points.value.iter().map(CongestionPointParams::name)) {
                let message = format!("{name:?} is listed twice; once is enough");
                self.fault_once(ScenarioError::new(
                    self.place_of(&points.origin),
                    &*points.origin.key,
                    message,
                ));
                continue;
            }
            let messages = points
                .value
                .iter()
                .filter_map(|point| has_no_reader(point, &layers))
                .chain(doubled(&points.value));
            for message in messages {
                self.warn(ScenarioError::new(self.place_of(&points.origin), &*points.origin.key, message));
            }
        }
    }

    /// Warns of a router that moves flows by the degree of congestion of ports, where no port reports one.
    pub(super) fn check_routing(&mut self, plan: &Plan) {
        let mut routers = plan.nodes.iter().map(|node| &node.switch.routing);
        let Some(routing) = routers.find(|routing| routing.value.reads_degrees()) else { return };
        if !ends(plan).any(|end| end.sends_signal(SignalKind::Degrees)) {
            let name = routing.value.name();
            let message = format!(
                "{name:?} never moves a flow: no port has a congestion-point, such as \"rcm\", that reports how congested it is"
            );
            self.warn(ScenarioError::new(self.place_of(&routing.origin), &*routing.origin.key, message));
        }
    }

    /// Packets that a port may choose to drop, and that are never retransmitted, or only with all that
    /// follow.
    pub(super) fn check_drops(&mut self, plan: &Plan, blueprint: &Blueprint) {
        let Some(point) = isolating(blueprint) else { return };
        for Choice { value, origin } in plan.flows.iter().map(|flows| &flows.reliability) {
            let name = value.name();
            let after = match value.repeats() {
                Repeats::Nothing => format!("which reliability {name:?} never retransmits"),
                Repeats::AllAfter => {
                    format!("and reliability {name:?} retransmits all that follow a dropped one")
                }
                Repeats::Lost => continue,
            };
            let message =
                format!("{:?} drops packets of congested flows, {after}: choose \"irn\"", point.name());
            self.warn(ScenarioError::new(self.place_of(origin), &*origin.key, message));
        }
    }

    /// Timers that run out before any reply can come send everything twice.
    pub(super) fn check_timeouts(&mut self, plan: &Plan, pace: &Pace<'_>) {
        let Some((settings, message)) = pace.early_timeout() else { return };
        let Some(FlowPlan { reliability, .. }) = plan.flows.get(settings) else { return };
        self.warn(ScenarioError::new(self.place_of(&reliability.origin), &*reliability.origin.key, message));
    }

    /// Once each, for any number of workloads.
    fn fault_once(&mut self, error: ScenarioError) {
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// Once each.
    fn warn(&mut self, warning: ScenarioError) {
        let warning = warning.to_string();
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Warns of a rate control that no signal ever reaches.
    pub(super) fn check_marks(&mut self, plan: &Plan, flows: &FlowPlan) {
        let origin = &flows.rate_control.origin;
        let Some(layer) = needing(flows, Need::Marks) else { return };
        let place = self.place_of(origin);
        let mut warn = |message: String| self.warn(ScenarioError::new(place.clone(), &*origin.key, message));
        let name = layer.name();
        if ends(plan).all(|end| end.congestion_points.value.is_empty()) {
            warn(format!(
                "{name:?} never acts: no port has a congestion-point, such as \"red\", that marks packets"
            ));
        }
        let sends =
            flows.notification.value.sends() || ends(plan).any(|end| end.sends_signal(SignalKind::Cnps));
        if layer.cnp_interval().is_some() && !sends {
            warn(format!(
                "{name:?} waits for CNPs, and notification is \"none\" ({})",
                flows.notification.origin
            ));
        }
    }
}

/// The first layer of a rate control that cannot work without something.
fn needing(flows: &FlowPlan, need: Need) -> Option<&ReactionParams> {
    flows.rate_control.value.iter().find(|layer| layer.needs().contains(&need))
}

/// Why no rate control reads the signals of a congestion point, if so.
fn has_no_reader(point: &CongestionPointParams, layers: &[&ReactionParams]) -> Option<String> {
    let name = point.name();
    let needs = |need: Need| layers.iter().any(|layer| layer.needs().contains(&need));
    if point.signal_kinds().contains(&SignalKind::Cnps) && !layers.iter().any(|layer| layer.reacts_to_cnp()) {
        Some(format!("{name:?} has no effect: no rate-control of the run, such as \"dcqcn\", reacts to CNPs"))
    } else if point.signal_kinds().contains(&SignalKind::Windows) && !needs(Need::Windows) {
        Some(format!(
            "the windows in CNPs of {name:?} have no effect: no rate-control of the run has the layer \"mercury\", as in \
             [\"dcqcn\", \"mercury\"]"
        ))
    } else if point.signal_kinds().contains(&SignalKind::Undetermined) && !needs(Need::Marks) {
        Some(format!(
            "{name:?} has no effect: no rate-control of the run, such as \"dcqcn\", reacts to marks"
        ))
    } else {
        None
    }
}

/// The congestion points of a port that signal the same queues, if there are several.
fn doubled(points: &[CongestionPointParams]) -> Option<String> {
    if points.len() < 2 {
        return None;
    }
    let signals = |point: &&CongestionPointParams| {
        let signals =
            point.signal_kinds().iter().any(|by| matches!(by, SignalKind::Marks | SignalKind::Cnps));
        signals && !point.reports_marks()
    };
    let names: Vec<String> =
        points.iter().filter(signals).map(|point| format!("{:?}", point.name())).collect();
    let (last, others) = names.split_last().filter(|(_, others)| !others.is_empty())?;
    Some(format!("{} and {last} signal the same queues: usually one is enough", others.join(", ")))
}

/// A name that is listed twice.
fn twice(names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let names: Vec<_> = names.collect();
    names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)).map(|(_, name)| *name)
}

/// All ports.
fn ends(plan: &Plan) -> impl Iterator<Item = &EndPlan> {
    plan.links.iter().flat_map(|link| &link.ends)
}

/// A layer that needs the increase steps of the layers before it, with one of them written after it.
fn hidden_layer(stack: &[ReactionParams]) -> Option<(&'static str, &'static str)> {
    let at = stack.iter().position(|layer| layer.needs().contains(&Need::Windows))?;
    let above = stack[at + 1..].iter().find(|layer| layer.has_steps())?;
    Some((stack[at].name(), above.name()))
}
