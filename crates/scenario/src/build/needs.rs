//! What rate controls need of others: acknowledgements, marks, windows, and layers in their order.

use floodway_mechanisms::registry::{CongestionPointParams, NotificationParams, ReactionParams};
use floodway_mechanisms::slots::Need;

use super::Builder;
use crate::error::ScenarioError;
use crate::resolve::{FlowPlan, Plan};

impl Builder<'_> {
    /// What rate controls cannot work without.
    pub(super) fn check_needs(&mut self, flows: &FlowPlan) {
        let origin = &flows.rate_control.origin;
        let place = origin.place.clone().unwrap_or_else(|| self.tree.place.clone());
        if flows.rate_control.value.is_empty() {
            self.errors.push(ScenarioError::new(
                place,
                &*origin.key,
                "the stack is empty: name one at least",
            ));
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
                self.errors.push(ScenarioError::new(place.clone(), &*origin.key, message));
            }
        }
        if let Some((layer, above)) = told_too_late(&flows.rate_control.value) {
            let message = format!(
                "{layer:?} hears of increase steps of the layers before it: write it after {above:?}, not before"
            );
            self.errors.push(ScenarioError::new(place, &*origin.key, message));
        }
    }

    /// A window that nobody ever sends is odd.
    pub(super) fn check_windows(&mut self, plan: &Plan, flows: &FlowPlan) {
        let origin = &flows.rate_control.origin;
        let mut layers = flows.rate_control.value.iter();
        let Some(layer) = layers.find(|layer| layer.needs().contains(&Need::Windows)) else { return };
        let mut points =
            plan.links.iter().flat_map(|link| &link.ends).flat_map(|end| &end.congestion_points.value);
        if !points.any(CongestionPointParams::sends_windows) {
            let message = format!(
                "{:?} never acts: no port has a congestion-point, such as \"mercury\", that sends windows",
                layer.name()
            );
            let place = origin.place.clone().unwrap_or_else(|| self.tree.place.clone());
            self.warn(ScenarioError::new(place, &*origin.key, message));
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
        if plan.links.iter().flat_map(|link| &link.ends).all(|end| end.congestion_points.value.is_empty()) {
            odd(format!(
                "{name:?} never acts: no port has a congestion-point, such as \"red\", that marks packets"
            ));
        }
        let sends = !matches!(flows.notification.value, NotificationParams::None(_));
        if layer.cnp_interval().is_some() && !sends {
            odd(format!(
                "{name:?} waits for CNPs, and notification is \"none\" ({})",
                flows.notification.origin
            ));
        }
    }
}

/// A layer that lives on windows from switches, and one with increase steps behind it, of which it would not hear.
fn told_too_late(stack: &[ReactionParams]) -> Option<(&'static str, &'static str)> {
    let at = stack.iter().position(|layer| layer.needs().contains(&Need::Windows))?;
    let above = stack[at + 1..].iter().find(|layer| layer.has_steps())?;
    Some((stack[at].name(), above.name()))
}
