//! Deadlock: a cycle of paused queues, each of which waits for the next, and none of which anything else
//! can free.

use floodway_units::{PortId, Time};

use crate::outcome::Deadlock;
use crate::routing::peer;
use crate::world::{NEVER, World};

/// How long a queue must have been paused to be suspected, in picoseconds.
const SUSPECT: u64 = 1_000_000_000;

impl World<'_> {
    /// Searches the wait-for graph of queues that have been paused throughout the last millisecond, and wait
    /// for such queues alone; a cycle that is new is kept.
    pub fn search_deadlock(&mut self) {
        let mut suspects: Vec<usize> = (0..self.egress.len())
            .filter(|&lane| {
                let since = self.egress[lane].paused_since;
                since != NEVER && since + SUSPECT <= self.now
            })
            .collect();
        // One that waits for a queue that may send will go on, however slowly, and so will those behind it.
        let mut before = usize::MAX;
        while suspects.len() >= 2 && suspects.len() < before {
            before = suspects.len();
            let closed = suspects.iter().copied().filter(|&lane| self.waits_for_none_but(lane, &suspects));
            suspects = closed.collect();
        }
        if suspects.len() < 2 {
            return;
        }
        let waits: Vec<Vec<usize>> = suspects.iter().map(|&lane| self.waits_for(lane, &suspects)).collect();
        let Some(cycle) = cycle(&waits) else { return };
        let mut ports: Vec<PortId> =
            cycle.into_iter().map(|at| PortId((suspects[at] / self.classes.len()) as u32)).collect();
        // A cycle has no beginning of its own: the smallest port stands first.
        let smallest = (0..ports.len()).min_by_key(|&at| ports[at]).unwrap_or(0);
        ports.rotate_left(smallest);
        let ports: Vec<String> = ports.into_iter().map(|port| self.port_name(port)).collect();
        if self.deadlocks.iter().all(|known| known.ports != ports) {
            self.deadlocks.push(Deadlock { time_us: Time(self.now).as_us(), ports });
        }
    }

    /// The suspects for which a paused queue waits: those that hold what came by the port that paused it.
    fn waits_for(&self, lane: usize, suspects: &[usize]) -> Vec<usize> {
        let port = PortId((lane / self.classes.len()) as u32);
        let class = (lane % self.classes.len()) as u8;
        let downstream = peer(port);
        let node = self.ports[downstream.index()].node;
        (0..suspects.len())
            .filter(|&at| {
                let other = PortId((suspects[at] / self.classes.len()) as u32);
                self.ports[other.index()].node == node && self.holds(other, downstream, class)
            })
            .collect()
    }

    /// Is all that came by the port that paused this queue held in suspects?
    fn waits_for_none_but(&self, lane: usize, suspects: &[usize]) -> bool {
        let port = PortId((lane / self.classes.len()) as u32);
        let class = (lane % self.classes.len()) as u8;
        let downstream = peer(port);
        let switch = self.nodes[self.ports[downstream.index()].node.index()].switch;
        // A host pauses for reasons of its own.
        let Some(switch) = self.switches.get(switch as usize) else { return true };
        let mut others = switch.ports.iter().filter(|&&other| !suspects.contains(&self.lane(other, class)));
        !others.any(|&other| self.holds(other, downstream, class))
    }

    /// Does an egress port hold a packet of `class` that came by `ingress`?
    fn holds(&self, port: PortId, ingress: PortId, class: u8) -> bool {
        let first = self.queue(port);
        self.queues[first + 1..first + self.queues_per_port].iter().any(|queue| {
            queue.fifo.iter(&self.packets).any(|packet| packet.ingress == ingress && packet.class == class)
        })
    }

    /// A port as people call it.
    pub fn port_name(&self, port: PortId) -> String {
        let node = &self.blueprint.nodes[self.ports[port.index()].node.index()];
        format!("{} ({})", node.name, self.blueprint.links[port.index() / 2].name)
    }
}

/// A cycle of a graph given by its successors, in order; the first that a depth-first search meets.
fn cycle(successors: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut done = vec![false; successors.len()];
    for start in 0..successors.len() {
        let mut path = vec![(start, 0)];
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            let Some(&successor) = successors[node].get(*next) else {
                done[node] = true;
                path.pop();
                continue;
            };
            *next += 1;
            if let Some(at) = path.iter().position(|&(on_path, _)| on_path == successor) {
                return Some(path[at..].iter().map(|&(on_path, _)| on_path).collect());
            }
            if !done[successor] {
                path.push((successor, 0));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_found_wherever_the_search_begins() {
        assert_eq!(cycle(&[vec![1], vec![2], vec![3], vec![1]]), Some(vec![1, 2, 3]));
        assert_eq!(cycle(&[vec![1, 2], vec![2], vec![]]), None);
        assert_eq!(cycle(&[vec![0]]), Some(vec![0]));
    }
}
