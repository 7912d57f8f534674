//! Links with relays, and the settings of their cables.
//!
//! A scenario that chooses a flow control with relays for a link is resolved twice: first to find the links
//! that have them, and then with their nodes and cables in the network, where overrides can select them. For
//! routing a relay is no hop, so relays on some links change no path.

use floodway_mechanisms::registry::FlowControlParams;
use floodway_mechanisms::slots::Relay;

use super::plan::{Choice, LinkPlan, Plan};
use crate::error::ScenarioError;
use crate::grammar::forms::FlowControl;
use crate::topology::{Network, RelayAt};

impl LinkPlan {
    /// The relay that the flow controls of the link ask for; where several do, the first.
    fn relay(&self) -> Option<Relay> {
        let mut chosen = self.directions.iter().flat_map(|direction| direction.flow_control.value.choices());
        chosen.find_map(FlowControlParams::relay)
    }
}

impl Plan {
    /// By link: the relay at each of its ends, if it has one.
    pub fn relays(&self) -> Vec<Option<Relay>> {
        self.links.iter().map(LinkPlan::relay).collect()
    }

    /// Gives cables between relays and their switches the rate of the link, PFC where relays copy its pauses,
    /// and the link the pause mode of its cables.
    ///
    /// # Errors
    /// Cables that an override gives another rate, another flow control or another pause mode, and relays of
    /// several lengths of cable on one link.
    pub fn finish_cables(&mut self, network: &Network) -> Vec<ScenarioError> {
        let mut faults = Vec::new();
        for relay in &network.relays {
            let found = [
                self.one_cable(relay),
                self.rate_of_cable(relay, 0),
                self.rate_of_cable(relay, 1),
                self.pauses_of_cable(relay),
            ];
            self.relayed_again(relay, 0);
            // The error of an override is reported once, for any number of cables that it selects.
            for fault in found.into_iter().filter_map(Result::err) {
                if !faults.contains(&fault) {
                    faults.push(fault);
                }
            }
        }
        faults
    }

    /// All flow controls of a link that ask for relays mean the same ones.
    fn one_cable(&self, relay: &RelayAt) -> Result<(), ScenarioError> {
        let directions = &self.links[relay.link].directions;
        let asked = directions
            .iter()
            .flat_map(|direction| direction.flow_control.value.choices().map(move |of| (direction, of)));
        let mut cables =
            asked.filter_map(|(direction, of)| Some((&direction.flow_control.origin, of.relay()?.cable)));
        let Some((_, first)) = cables.next() else { return Ok(()) };
        match cables.find(|(_, other)| *other != first) {
            Some((origin, other)) => Err(origin.error(format!(
                "its relays have cables of {first} and of {other}: a link has one relay at each end"
            ))),
            None => Ok(()),
        }
    }

    /// What a relay copies are the pauses of PFC that come over the cable; they last as long on the link.
    fn pauses_of_cable(&mut self, relay: &RelayAt) -> Result<(), ScenarioError> {
        let (link, cable) = (relay.link, relay.cable);
        let mut of_link = self.links[link].directions[1 - relay.end].flow_control.clone();
        let of_cable = &mut self.links[cable].directions[1].flow_control;
        for (class, params) in of_link.value.by_class() {
            if params.relay().is_none() {
                continue;
            }
            let Some(of_relays) = params.copied_pauses() else { continue };
            let pauses = of_cable
                .value
                .by_class()
                .filter(|(other, _)| class.is_none() || other.is_none_or(|other| class == Some(other)));
            let is_copied =
                |params: &mut FlowControlParams| params.relay().is_none() && params.copied_pauses().is_some();
            let fits = pauses.map(|(_, params)| is_copied(params)).reduce(|a, b| a && b);
            if fits != Some(true) {
                let again = of_cable.value.choices().any(|params| params.relay().is_some());
                if of_cable.origin.is_particular() && !again {
                    let why = "relays copy the pauses of PFC, which this says for the cable: it needs \"pfc\" from relay to switch";
                    return Err(of_cable.origin.error(why));
                }
                *of_cable = pfc();
            }
            let Choice { value, origin } = of_cable;
            for (_, params) in value.by_class() {
                let Some(of_cable) = params.copied_pauses() else { continue };
                match (*of_cable, *of_relays) {
                    (Some(there), Some(here)) if there != here => {
                        let why = "a relay\'s cable and its link pause alike, \"timer\" or \"on-off\": a copied pause would end otherwise";
                        return Err(origin.error(why));
                    }
                    (Some(mode), _) => *of_relays = Some(mode),
                    (None, mode) => *of_cable = mode,
                }
            }
        }
        self.links[link].directions[1 - relay.end].flow_control = of_link;
        Ok(())
    }

    /// A cable from end `from` carries what the link carries the same way.
    fn rate_of_cable(&mut self, relay: &RelayAt, from: usize) -> Result<(), ScenarioError> {
        let direction = if from == 0 { relay.end } else { 1 - relay.end };
        let of_link = self.links[relay.link].directions[direction].rate.clone();
        let rate = &mut self.links[relay.cable].directions[from].rate;
        if rate.value == of_link.value {
            return Ok(());
        }
        match &rate.origin.place {
            Some(_) if &*rate.origin.who != "topology" => Err(rate.origin.error(format!(
                "a relay's cable has the rate of its link, {}: at {} a relayed pause would not last as long",
                of_link.value, rate.value
            ))),
            _ => {
                *rate = of_link;
                Ok(())
            }
        }
    }

    fn relayed_again(&mut self, relay: &RelayAt, from: usize) {
        let control = &mut self.links[relay.cable].directions[from].flow_control;
        if control.value.choices().any(|params| params.relay().is_some()) {
            *control = pfc();
        }
    }
}

/// The built-in settings of a cable.
fn pfc() -> Choice<FlowControl> {
    let pfc = FlowControlParams::Pfc(floodway_mechanisms::pfc::Params::default());
    Choice { value: FlowControl::All(pfc), origin: super::Origin::built_in("flow-control") }
}
