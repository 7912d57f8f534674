//! What rate controls need of others: acknowledgements, marks, windows, and layers in their order.

use floodway_mechanisms::registry::{NotificationParams, ReactionParams};
use floodway_mechanisms::slots::{Need, Tells};

use super::Builder;
use crate::error::ScenarioError;
use crate::resolve::{EndPlan, FlowPlan, Plan};

impl Builder<'_> {
    /// What rate controls cannot work without.
    pub(super) fn check_needs(&mut self, flows: &FlowPlan) {
        let origin = &flows.rate_control.origin;
        let place = origin.place.clone().unwrap_or_else(|| self.tree.place.clone());
        if flows.rate_control.value.is_empty() {
            self.fault_once(ScenarioError::new(place, &*origin.key, "the stack is empty: name one at least"));
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
        if let Some((layer, above)) = told_too_late(&flows.rate_control.value) {
            let message = format!(
                "{layer:?} hears of increase steps of the layers before it: write it after {above:?}, not before"
            );
            self.fault_once(ScenarioError::new(place, &*origin.key, message));
        }
    }

    /// A window that nobody ever sends is odd.
    pub(super) fn check_windows(&mut self, plan: &Plan, flows: &FlowPlan) {
        let origin = &flows.rate_control.origin;
        let mut layers = flows.rate_control.value.iter();
        let Some(layer) = layers.find(|layer| layer.needs().contains(&Need::Windows)) else { return };
        if !ends(plan).any(|end| end.tells(Tells::Windows)) {
            let message = format!(
                "{:?} never acts: no port has a congestion-point, such as \"mercury\", that sends windows",
                layer.name()
            );
            let place = origin.place.clone().unwrap_or_else(|| self.tree.place.clone());
            self.warn(ScenarioError::new(place, &*origin.key, message));
        }
    }

    /// A congestion point that no rate control heeds is odd, and so are two of a port that tell of the same queue. Not
    /// so marks of `red` alone, which switches have whoever sends: scenarios leave them on to compare rate controls.
    pub(super) fn check_telling(&mut self, plan: &Plan) {
        let mut layers = plan.flows.iter().flat_map(|flows| &flows.rate_control.value);
        let heeded = layers.any(|layer| {
            let needs = layer.needs();
            needs.contains(&Need::Marks) || needs.contains(&Need::Windows)
        });
        for points in ends(plan).map(|end| &end.congestion_points) {
            let telling = points.value.iter().filter(|of| of.tells(Tells::Marks) || of.tells(Tells::Cnps));
            let telling: Vec<_> = telling.collect();
            let unheard = telling.iter().find(|of| of.tells(Tells::Cnps) || of.tells(Tells::Undetermined));
            let message = match (&telling[..], unheard) {
                (_, Some(point)) if !heeded => format!(
                    "{:?} tells nobody: no rate-control of the run, such as \"dcqcn\", heeds marks or CNPs",
                    point.name()
                ),
                ([one, other, ..], _) => format!(
                    "both {:?} and {:?} tell senders of the same queues: one alone is usual",
                    one.name(),
                    other.name()
                ),
                _ => continue,
            };
            let place = points.origin.place.clone().unwrap_or_else(|| self.tree.place.clone());
            self.warn(ScenarioError::new(place, &*points.origin.key, message));
        }
    }

    /// Once each, whatever number of workloads it is of.
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

    /// A rate control that nothing ever reaches is odd.
    pub(super) fn check_marks(&mut self, plan: &Plan, flows: &FlowPlan) {
        let origin = &flows.rate_control.origin;
        let Some(layer) = flows.rate_control.value.iter().find(|layer| layer.needs().contains(&Need::Marks))
        else {
            return;
        };
        let place = origin.place.clone().unwrap_or_else(|| self.tree.place.clone());
        let mut odd = |message: String| self.warn(ScenarioError::new(place.clone(), &*origin.key, message));
        let name = layer.name();
        if ends(plan).all(|end| end.congestion_points.value.is_empty()) {
            odd(format!(
                "{name:?} never acts: no port has a congestion-point, such as \"red\", that marks packets"
            ));
        }
        let sends = !matches!(flows.notification.value, NotificationParams::None(_))
            || ends(plan).any(|end| end.tells(Tells::Cnps));
        if layer.cnp_interval().is_some() && !sends {
            odd(format!(
                "{name:?} waits for CNPs, and notification is \"none\" ({})",
                flows.notification.origin
            ));
        }
    }
}

/// All ports.
fn ends(plan: &Plan) -> impl Iterator<Item = &EndPlan> {
    plan.links.iter().flat_map(|link| &link.ends)
}

/// A layer that lives on windows from switches, and one with increase steps behind it, of which it would not hear.
fn told_too_late(stack: &[ReactionParams]) -> Option<(&'static str, &'static str)> {
    let at = stack.iter().position(|layer| layer.needs().contains(&Need::Windows))?;
    let above = stack[at + 1..].iter().find(|layer| layer.has_steps())?;
    Some((stack[at].name(), above.name()))
}
