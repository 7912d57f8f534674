//! Invariants between events: each cached value equals what it is computed from.
//!
//! Ports, accounts and switches keep what the fast path reads: flags, sums, and the bounds of the fast path.
//! Each has a definition, and [`World::debug_check`] compares the two. It checks the whole network, so it
//! runs in debug builds only, as in every test, and some of the windows only.
//!
//! They are compared between epochs and, on one thread, after every seventh window.

use std::fmt;

use floodway_blueprint::network::blueprint::{Blueprint, LinkControl, Turns};
use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::layout::Local;
use floodway_mechanisms::slots::{FcReceiver as _, FcSender as _};
use floodway_units::{PortId, Time};

use crate::host::nic::Nic;
use crate::host::nics::Host;
use crate::host::round_robin_bitmap::RoundRobinBitmap;
use crate::link::packet::{ISOLATED, Packet};
use crate::run::events::NEVER;
use crate::run::node::Node;
use crate::run::state::Run;
use crate::switch::buffer::Ingress;
use crate::switch::discipline::output::OutputQueue;
use crate::switch::forward::Switch;

/// A port and a time, formatted only if a check fails.
struct Here<'a> {
    blueprint: &'a Blueprint,
    port: PortId,
    now: Time,
}

impl fmt::Display for Here<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.blueprint.port_name(self.port), self.now)
    }
}

/// Compares each cached value of a node with what it is computed from.
pub(crate) struct NodeCheck<'n, 'a> {
    pub facts: &'n Facts<'a>,
    pub run: &'n Run<'a>,
    pub node: &'n Node,
    pub now: u64,
}

impl NodeCheck<'_, '_> {
    /// Checks all of it.
    ///
    /// # Panics
    /// Something is not what it should be.
    pub fn all(&self) {
        for port in self.node.locals() {
            self.check_queues(port);
            self.check_flags(port);
            self.check_accounts(port);
        }
        if let Some(host) = self.node.host() {
            if self.facts.blueprint.semantics.turns == Turns::Ring {
                host.nics.iter().for_each(|nic| self.check_turns(host, nic));
            }
        } else if let Some(switch) = self.node.switch() {
            self.check_switch(switch);
        }
    }

    /// The port, and the time, in messages.
    fn here(&self, port: Local) -> Here<'_> {
        Here { blueprint: self.facts.blueprint, port: self.node.links.id(port), now: Time(self.now) }
    }

    /// Bytes of queues, and whether link control frames are there.
    fn check_queues(&self, port: Local) {
        let (state, queues) = (&self.node.links.ports[port.index()], self.facts.layout.queues(port));
        let here = self.here(port);
        let mut waiting = 0;
        for q in 0..self.facts.layout.queues_per_port {
            let queue = &self.node.links.queues[queues.nth(q)];
            let mut bytes: u64 =
                queue.fifo.iter(&self.run.packets).map(|packet| u64::from(packet.frame)).sum();
            if q == 1 {
                bytes += self.passing(port);
            }
            assert!(
                q == 0 || queue.bytes == bytes,
                "queue {q} of {here} holds {bytes} B, not {}",
                queue.bytes
            );
            waiting += bytes;
        }
        let queueing = &self.node.machines[port.index()].queueing;
        let meter = queueing.meter.as_deref();
        let metered = meter.into_iter().flat_map(|meter| meter.fifo.iter(&self.run.packets));
        waiting += metered.map(|packet| u64::from(packet.frame)).sum::<u64>();
        assert_eq!(state.has_discipline, !queueing.is_plain(), "{here} has a discipline");
        assert_eq!(state.waiting, waiting, "what waits at {here}");
        let controls = match self.facts.blueprint.semantics.link_control {
            _ if state.impairment.retry.is_some() => true,
            LinkControl::First => !state.control.is_empty(),
            LinkControl::ControlClass => self.node.links.queues[queues.control()]
                .fifo
                .iter(&self.run.packets)
                .any(Packet::is_link_control),
        };
        assert_eq!(state.controls, controls, "link control frames wait at {here}");
    }

    /// Bytes of the packet that passes the port's output queue.
    fn passing(&self, port: Local) -> u64 {
        let output = self.node.machines[port.index()].queueing.output.as_deref();
        let leaves = self.node.buffer.releases.iter().find(|leaving| leaving.port == port);
        let passes = output.is_some_and(OutputQueue::has_passing);
        leaves.filter(|_| passes).map_or(0, |leaving| u64::from(leaving.frame))
    }

    /// The flags of a port, and the bound of its fast path.
    fn check_flags(&self, port: Local) {
        let (state, here) = (&self.node.links.ports[port.index()], self.here(port));
        assert!(!state.choosing, "{here} has chosen what it sends");
        let busy = state.up && state.free_at > self.now;
        let waits = state.waiting > self.passing(port) || state.controls;
        assert!(!busy || !waits || state.armed, "{here} has no event when it is free");
        let up_to = (state.joins_up_to, state.leaves_up_to);
        assert_eq!(up_to, self.node.machines[port.index()].fast_path(), "the fast path at {here}");
        for class in 0..self.facts.layout.class_count() {
            let egress = &self.node.links.egress[self.facts.layout.port_class(port, class)];
            let bit = |bits: u16| bits >> class & 1 != 0;
            assert_eq!(bit(state.gates.free), egress.sender.is_free(), "class {class} of {here} is free");
            assert_eq!(
                bit(state.gates.discards),
                egress.sender.discards(Time(self.now)),
                "{here} discards {class}"
            );
            assert!(
                egress.paused_since == NEVER || bit(state.gates.paused),
                "class {class} of {here} was paused"
            );
        }
    }

    /// What a receiver half awaits, and the bound of the fast path of an account.
    fn check_accounts(&self, port: Local) {
        let here = self.here(port);
        for class in 1..self.facts.layout.class_count() {
            let port_class = self.facts.layout.port_class(port, class);
            let account = &self.node.buffer.accounts[port_class];
            assert_eq!(account.awaits, account.receiver.awaits_release(), "class {class} of {here} awaits");
            if let Some(switch) = self.node.switch()
                && let Some(fast_path_below) = self.node.buffer.fast_path_of_account(switch, port_class)
            {
                assert_eq!(
                    account.fast_path_below, fast_path_below,
                    "the fast path of class {class} of {here}"
                );
            }
        }
    }

    /// Releases in order, and the sums of a buffer.
    fn check_switch(&self, switch: &Switch) {
        let buffer = &self.node.buffer;
        let first = buffer.releases.front().map_or(NEVER, |first| first.at);
        assert_eq!(buffer.next_release, first, "the next release");
        assert!(buffer.releases.iter().is_sorted_by_key(|leaving| (leaving.at, leaving.port)));
        let classes = self.facts.layout.classes.len();
        let data = buffer.accounts.iter().enumerate().filter(|(port_class, _)| port_class % classes != 0);
        let accounts = data.map(|(_, account)| account);
        let pooled = accounts.clone().filter(|account| account.pooled);
        assert_eq!(buffer.pool_used, pooled.map(Ingress::shared).sum::<u64>(), "what the pool holds");
        assert!(
            buffer.pool_used <= buffer.pool_size,
            "the pool holds {} B of {}",
            buffer.pool_used,
            buffer.pool_size
        );
        let shared_headroom = accounts.clone().filter(|account| account.pooled);
        assert_eq!(
            buffer.headroom_used,
            shared_headroom.map(|account| account.headroom).sum::<u64>(),
            "what is in headroom"
        );
        assert!(buffer.headroom_used <= buffer.headroom_size, "the headroom that ports share");
        let charged: u64 = accounts.map(|account| account.held + account.headroom).sum();
        assert_eq!(buffer.occupied, charged + self.uncharged_bytes(switch), "what a switch holds");
        assert!(buffer.peak >= buffer.occupied);
    }

    /// Bytes of data in a switch that no account is charged for: what has crossed, or may be lost where it
    /// waits.
    fn uncharged_bytes(&self, switch: &Switch) -> u64 {
        let buffer = &self.node.buffer;
        let crossed = switch.inputs.is_some();
        let queues = self.node.locals().flat_map(|port| {
            let queues = 1..self.facts.layout.queues_per_port;
            queues
                .filter(move |&q| crossed || self.node.links.may_lose(&self.facts.layout, port, q))
                .map(move |q| (port, q))
        });
        let queues = queues.map(|(port, q)| &self.node.links.queues[self.facts.layout.queues(port).nth(q)]);
        let waiting = queues.flat_map(|queue| queue.fifo.iter(&self.run.packets));
        let queued = waiting.map(|packet| buffer.occupied_by(packet.frame)).sum::<u64>();
        let piped = switch.pipe.iter().map(|&(_, out, packet_ref)| (out, &self.run.packets[packet_ref]));
        let lost = piped.filter(|(out, packet)| self.node.isolates(*out) && packet.has(ISOLATED));
        queued + lost.map(|(_, packet)| buffer.occupied_by(packet.frame)).sum::<u64>()
    }

    /// Queue pairs that are ready may send.
    fn check_turns(&self, host: &Host, nic: &Nic) {
        let ready: usize = nic.ready.iter().map(RoundRobinBitmap::len).sum();
        let mut counted = 0;
        for slot in nic.ranks.slots() {
            let half = &self.run.pairs.senders[slot as usize];
            if host.nics[half.nic.index()].number != nic.number {
                // Its host sprays packets over its NICs.
                continue;
            }
            counted += usize::from(half.turn.is_ready);
            let may = half.may_send(self.facts.blueprint.semantics.window);
            assert!(!half.turn.is_ready || may && half.pacing.next_send <= self.now, "{slot} is ready");
            assert!(half.turn.is_ready || !may || half.pacing.next_send >= self.now, "{slot} is not ready");
        }
        assert_eq!(ready, counted, "queue pairs that are ready");
        let repeats: usize = nic.repeats.iter().map(RoundRobinBitmap::len).sum();
        assert_eq!(nic.repeating, repeats, "queue pairs with something to retransmit");
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use floodway_blueprint::network::layout::LocalPortClass;
    use floodway_engine::Advance;
    use floodway_records::outcome::Control;
    use floodway_units::Span;

    use super::*;
    use crate::Fabric;
    use crate::run::world::World;
    use crate::testing::{busy, run_to};

    /// A port with a queue, the account of the packet in front, and their switch.
    #[derive(Clone, Copy)]
    struct At {
        node: usize,
        port: Local,
        port_class: LocalPortClass,
    }

    /// The panic of a check when something has been broken on purpose in a running network, if there is one.
    fn said(breaks: impl FnOnce(&mut World<'_>, At)) -> Option<String> {
        said_when(breaks, |world, _| world.debug_check())
    }

    /// The same for the panic of the network when it then continues from the time that it has reached.
    fn said_when(
        breaks: impl FnOnce(&mut World<'_>, At),
        goes_on: impl FnOnce(&mut World<'_>, Time),
    ) -> Option<String> {
        let (blueprint, control) = (busy(), Control::default());
        let mut fabric = Fabric::build(&blueprint, &control).expect("it is sound");
        run_to(&mut fabric, Span::us(40));
        let world = &mut fabric.world;
        let end = Time(world.now);
        world.debug_check();
        let at = crowded(world);
        breaks(world, at);
        let broken = catch_unwind(AssertUnwindSafe(|| goes_on(world, end))).err()?;
        let text = broken.downcast_ref::<String>().cloned();
        Some(text.or_else(|| broken.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default())
    }

    /// Where most data waits.
    fn crowded(world: &World<'_>) -> At {
        let layout = &world.facts.layout;
        let switches = world.nodes.iter().filter(|node| !node.is_host());
        let ports = switches.flat_map(|node| node.locals().map(move |port| (node, port)));
        let queue = |(node, port): &(&Node, Local)| node.links.queues[layout.queues(*port).nth(1)].bytes;
        let (node, port) = ports.max_by_key(queue).expect("there are ports");
        let waiting = node.links.queues[layout.queues(port).nth(1)].fifo;
        let first = waiting.iter(&world.runs.own.packets).next().expect("a queue stands");
        let port_class = layout.port_class(first.ingress, first.class);
        At { node: node.id.index(), port, port_class }
    }

    /// A switch, and one of its ports that has something to send when it is free.
    fn departing(world: &World<'_>) -> (usize, usize) {
        let switches = world.nodes.iter().filter(|node| !node.is_host());
        let mut ports = switches.flat_map(|node| node.locals().map(move |port| (node, port.index())));
        let (node, port) =
            ports.find(|(node, port)| node.links.ports[*port].armed).expect("a packet departs");
        (node.id.index(), port)
    }

    #[test]
    fn each_cached_value_that_is_wrong_is_found() {
        type Break = (&'static str, fn(&mut World<'_>, At));
        let breaks: [Break; 15] = [
            ("what waits", |world, at| world.nodes[at.node].links.ports[at.port.index()].waiting += 1),
            ("holds", |world, at| {
                let queue = world.facts.layout.queues(at.port).nth(1);
                world.nodes[at.node].links.queues[queue].bytes += 1;
            }),
            ("link control frames wait", |world, at| {
                world.nodes[at.node].links.ports[at.port.index()].controls ^= true;
            }),
            ("has chosen", |world, at| world.nodes[at.node].links.ports[at.port.index()].choosing = true),
            // Where most data waits, a pause may hold it.
            ("has no event when", |world, _| {
                let (node, port) = departing(world);
                world.nodes[node].links.ports[port].armed = false;
            }),
            ("the fast path at", |world, at| {
                world.nodes[at.node].links.ports[at.port.index()].joins_up_to -= 1;
            }),
            ("the fast path at", |world, at| {
                world.nodes[at.node].links.ports[at.port.index()].leaves_up_to -= 1;
            }),
            ("is free", |world, at| world.nodes[at.node].links.ports[at.port.index()].gates.free ^= 2),
            ("discards", |world, at| world.nodes[at.node].links.ports[at.port.index()].gates.discards ^= 2),
            ("was paused", |world, at| {
                let port_class = world.facts.layout.port_class(at.port, 1);
                (
                    world.nodes[at.node].links.egress[port_class].paused_since,
                    world.nodes[at.node].links.ports[at.port.index()].gates.paused,
                ) = (0, 0);
            }),
            ("awaits", |world, at| world.nodes[at.node].buffer.accounts[at.port_class].awaits ^= true),
            ("the fast path of", |world, at| {
                world.nodes[at.node].buffer.accounts[at.port_class].fast_path_below += 1;
            }),
            ("next release", |world, at| world.nodes[at.node].buffer.next_release = 1),
            ("what the pool holds", |world, at| world.nodes[at.node].buffer.pool_used += 1),
            ("what a switch holds", |world, at| world.nodes[at.node].buffer.occupied += 1),
        ];
        assert_eq!(said(|_, _| ()), None);
        for (words, breaks) in breaks {
            let said = said(breaks);
            assert!(said.as_deref().is_some_and(|said| said.contains(words)), "{words}: {said:?}");
        }
    }

    #[test]
    fn a_run_checks_what_is_cached_between_windows_and_between_epochs() {
        type Goes = fn(&mut World<'_>, Time);
        let goes: [Goes; 2] = [
            |world, now| assert_eq!(world.run_until(now + Span::us(20)), Advance::Reached),
            |world, now| assert_eq!(world.at_epoch(now + Span::us(20)).flows_done, 0),
        ];
        for goes_on in goes {
            let said = said_when(
                |world, at| world.nodes[at.node].buffer.accounts[at.port_class].awaits ^= true,
                goes_on,
            );
            assert!(said.as_deref().is_some_and(|said| said.contains("awaits")), "{said:?}");
        }
    }

    #[test]
    fn a_misplaced_queue_pair_is_found() {
        let turned = said(|world, _| {
            let slot = (0..world.runs.own.pairs.senders.len())
                .find(|&slot| world.runs.own.pairs.senders[slot].state.alive);
            world.runs.own.pairs.senders[slot.expect("flows go on")].turn.is_ready ^= true;
        });
        assert!(turned.as_deref().is_some_and(|said| said.contains("ready")), "{turned:?}");
        let repeats = said(|world, _| {
            let host = world.nodes.iter_mut().find(|node| node.is_host()).expect("there are hosts");
            host.host_mut().expect("it is one").nics[0].repeating += 1;
        });
        assert!(
            repeats.as_deref().is_some_and(|said| said.contains("something to retransmit")),
            "{repeats:?}"
        );
    }
}
