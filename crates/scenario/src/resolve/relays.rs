//! Which links have relays, and what their cables get.

use floodway_mechanisms::registry::FlowControlParams;
use floodway_mechanisms::slots::Relay;

use super::plan::{Choice, LinkPlan, Plan};
use crate::error::ScenarioError;
use crate::grammar::forms::FlowControl;
use crate::topology::{Network, RelayAt};

impl LinkPlan {
    /// The relay that the flow controls of the link ask for; where several do, the first.
    fn relay(&self) -> Option<Relay> {
        let chosen = self.directions.iter().flat_map(|direction| direction.flow_control.value.choices());
        chosen.filter_map(FlowControlParams::relay).next()
    }
}

impl Plan {
    /// By link: the relay at each of its ends, if it has one.
    pub fn relays(&self) -> Vec<Option<Relay>> {
        self.links.iter().map(LinkPlan::relay).collect()
    }

    /// Gives cables between relays and their switches the rate of the link, and PFC where they would have relays
    /// of their own.
    ///
    /// # Errors
    /// Cables that an override gives another rate.
    pub fn finish_cables(&mut self, network: &Network) -> Vec<ScenarioError> {
        let mut faults = Vec::new();
        for relay in &network.relays {
            for from in 0..2 {
                self.relayed_again(relay, from);
                // One override is wrong once, however many cables it selects.
                if let Err(fault) = self.rate_of_cable(relay, from)
                    && !faults.contains(&fault)
                {
                    faults.push(fault);
                }
            }
        }
        faults
    }

    /// A cable from end `from` carries what the link carries the same way.
    fn rate_of_cable(&mut self, relay: &RelayAt, from: usize) -> Result<(), ScenarioError> {
        let way = if from == 0 { relay.end } else { 1 - relay.end };
        let of_link = self.links[relay.link].directions[way].rate.clone();
        let rate = &mut self.links[relay.cable].directions[from].rate;
        if rate.value == of_link.value {
            return Ok(());
        }
        match &rate.origin.place {
            Some(place) if &*rate.origin.who != "topology" => {
                let (key, given) = (rate.origin.key.to_string(), rate.value);
                let message = format!(
                    "a relay's cable has the rate of its link, {}: at {given} a relayed pause would not last as long",
                    of_link.value
                );
                Err(ScenarioError::new(place.clone(), key, message))
            }
            _ => {
                *rate = of_link;
                Ok(())
            }
        }
    }

    fn relayed_again(&mut self, relay: &RelayAt, from: usize) {
        let control = &mut self.links[relay.cable].directions[from].flow_control;
        if control.value.choices().any(|params| params.relay().is_some()) {
            let pfc = FlowControlParams::Pfc(Default::default());
            *control =
                Choice { value: FlowControl::All(pfc), origin: super::Origin::built_in("flow-control") };
        }
    }
}
