//! Limits of a blueprint: how many objects have numbers of their own in packets and in events.
//!
//! Packets and events number objects in a few bits, and a number that does not fit would be that of another
//! object. So a blueprint with more of them is refused, when it is checked as when it is built. What only a
//! run can exceed ends it with an error (`Outgrown`): 2^24 queue pairs that a NIC opens while an earlier one
//! stays open, and in scheduling order 2^24 open queue pairs or 2^36 events.

use crate::error::BuildError;
use crate::network::blueprint::{Arrivals, Blueprint, Role, WorkloadSpec};
use crate::network::layout::Local;
use crate::traffic::hooks::AWAITED;

/// Bits of an object's number in an order of scheduling.
pub const ID_BITS: u32 = 24;
/// Number of bits of the rank of a queue pair at its NIC, in the order of an event.
pub const RANK_BITS: u32 = 24;
/// Bits of the generation of a queue pair's timer.
pub const QP_GENERATION_BITS: u32 = 16;
/// Bits of the number of a NIC: what the kind of an event, and the rest of the name of a queue pair, leave.
pub const NIC_BITS: u32 = 64 - 4 - RANK_BITS - QP_GENERATION_BITS;

/// Maximum number of links and of nodes. A timer's event names a class of a port in 32 bits: 2^28 ports have
/// at most 2^31 of them.
const OBJECTS: usize = 1 << 27;
/// Maximum number of NICs of all hosts together, which the events of queue pairs name.
const NICS: usize = 1 << NIC_BITS;
/// Maximum number of objects of one kind that an order of scheduling names.
const NUMBERED: usize = 1 << ID_BITS;
/// Maximum number of starts: bits above them say what kind of start one is.
const STARTS: usize = AWAITED as usize;

/// A number of objects, what they are, and the maximum.
type Limit = (usize, &'static str, usize);

impl Blueprint {
    /// Has each object a number of its own?
    ///
    /// # Errors
    /// Those that are too many, and the maximum.
    pub(super) fn validate_numbers(&self) -> Result<(), BuildError> {
        let (nodes, links) = (self.nodes.len(), self.links.len());
        let numbered = self.semantics.ties.is_numbered();
        let nics = self.validate_ports()?;
        let starts = self.workloads.iter().map(|workload| self.starts(workload, numbered)).sum();
        within("topology", &[(nodes, "nodes", OBJECTS), (links, "links", OBJECTS), (nics, "NICs", NICS)])?;
        within("workload", &[(starts, "flows, loops, ranks and senders", STARTS)])?;
        if numbered {
            let port_classes = 2 * links * self.classes().len();
            within("topology", &[(port_classes, "classes of ports in an order of scheduling", NUMBERED)])?;
            within("workload", &[(starts, "starts of flows in an order of scheduling", NUMBERED)])?;
        }
        Ok(())
    }

    /// Number of NICs of all hosts, if no node has more ports than can be told apart.
    fn validate_ports(&self) -> Result<usize, BuildError> {
        let mut ports = vec![0; self.nodes.len()];
        for end in self.links.iter().flat_map(|link| &link.ends) {
            ports[end.node.index()] += 1;
        }
        if let Some(node) = ports.iter().position(|&ports| ports > Local::MOST) {
            let message =
                format!("it has {} ports, but the maximum of a node is {}", ports[node], Local::MOST);
            let place = self.role_and_name(node);
            return Err(BuildError { place, key: Some("topology"), message });
        }
        let hosts = self.nodes.iter().zip(ports).filter(|(node, _)| matches!(node.role, Role::Host { .. }));
        Ok(hosts.map(|(_, ports)| ports).sum())
    }

    fn role_and_name(&self, node: usize) -> String {
        let spec = &self.nodes[node];
        let role = if matches!(spec.role, Role::Host { .. }) { "host" } else { "switch" };
        format!("{role} {}", spec.name)
    }

    /// At most how many sources, triggers and ranks a workload has. Where ties go by scheduling order, a list
    /// has one source, whose flows need no number of their own.
    fn starts(&self, workload: &WorkloadSpec, numbered: bool) -> usize {
        match &workload.arrivals {
            Arrivals::List(flows) => {
                let waiting = flows.iter().filter(|flow| !flow.after.is_empty()).count();
                let ranks = if waiting > 0 { self.nodes.len() } else { 0 };
                if numbered { 1 + waiting + ranks } else { flows.len() + waiting + ranks }
            }
            Arrivals::ClosedLoop(loops) => loops.len(),
            Arrivals::Program(spec) => spec.hosts.len(),
            Arrivals::Poisson(poisson) => poisson.sources.len(),
        }
    }
}

/// Are these at most as many as their limits?
fn within(key: &'static str, limits: &[Limit]) -> Result<(), BuildError> {
    match limits.iter().find(|&&(number, _, most)| number > most) {
        None => Ok(()),
        Some((number, what, most)) => {
            let message = format!("it has {number} {what}, but the maximum is {most}");
            Err(BuildError { place: key.into(), key: Some(key), message })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{blueprint, host, link, switch};

    /// Two hosts with as many links to a switch, and between each other.
    fn network(links: usize) -> Blueprint {
        let ends = [[0, 2], [1, 2], [0, 1]].into_iter().cycle().take(links);
        let links = ends.map(|ends| link("l", ends, 100)).collect();
        blueprint(vec![host("a"), host("b"), switch("s")], links)
    }

    #[test]
    fn a_nic_is_a_port_of_a_host() {
        assert_eq!(network(3).validate_ports(), Ok(4));
        assert_eq!(network(7).validate_ports(), Ok(9));
    }

    #[test]
    fn as_many_as_there_are_numbers_are_allowed_and_not_one_more() {
        for most in [OBJECTS, NICS, NUMBERED, STARTS] {
            assert_eq!(within("topology", &[(0, "nodes", OBJECTS), (most, "NICs", most)]), Ok(()));
            let error = within("topology", &[(0, "nodes", OBJECTS), (most + 1, "NICs", most)]).unwrap_err();
            let text = format!("topology: it has {} NICs, but the maximum is {most}", most + 1);
            assert_eq!(error.to_string(), text);
        }
    }
}
