//! The state of a running network, and its event loop.
//!
//! ```text
//!          kick            start                      arrive
//!  queue ───────► transmitter ───────► event of arrival ───────► next node
//!                     │ departure event only while something waits
//!                     └ release of the ingress account, settled when a view is read
//! ```
//! A packet on a link is an event that names the packet's place.

use std::sync::atomic::Ordering;

use floodway_engine::{Advance, Event};
use floodway_mechanisms::slots::{CpAction, FcFrame, Notice, Outbox, PortView, ReadyView, Reply};
use floodway_units::{Bytes, PortId, Rng, Time, fold, mix};
use rustc_hash::FxHashMap;

use crate::bounds::ideal::Ideals;
use crate::column::Column;
use crate::host::nic::Nic;
use crate::host::queue_pairs::QueuePairs;
use crate::link::arena::{Arena, Place};
use crate::link::port::{Egress, Port, Queue};
use crate::link::wires::Wire;
use crate::network::blueprint::PauseFault;
use crate::network::changes::Change;
use crate::network::facts::Facts;
use crate::network::routing::ChangingRoutes;
use crate::records::kept::Kept;
use crate::records::outcome::Control;
use crate::run::agenda::{Agenda, NUMBER_SHIFT, What};
use crate::run::border::Border;
use crate::switch::buffer::Ingress;
use crate::switch::congestion::Notices;
use crate::switch::congestion::PortMachines;
use crate::switch::forward::Switch;
use crate::switch::telemetry::Telemetry;
use crate::traffic::flows::Traffic;
use crate::why::Trace;

/// Events between two looks at the stop flag.
pub(crate) const STOP_CHECK: u64 = 1 << 15;

impl std::fmt::Debug for crate::run::world::Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Node")
    }
}

/// What a node has besides its ports.
pub(crate) struct Node {
    /// Index among the switches, where it is one.
    pub switch: u32,
    pub streams: Streams,
}

/// Random streams of a node, one a purpose.
pub(crate) struct Streams {
    pub flow_control: Rng,
    pub congestion_point: Rng,
    pub routing: Rng,
    pub admission: Rng,
    pub notification: Rng,
    pub reliability: Rng,
}

/// A running network.
pub(crate) struct World<'a> {
    pub control: &'a Control,
    /// Its place among the partitions.
    pub border: Border,
    pub now: u64,
    /// Order of the event at work.
    pub order: u64,
    pub events: Agenda,
    /// What is fixed once the network is built.
    pub facts: Facts<'a>,
    pub kept: Kept,
    pub pairs: QueuePairs,
    pub traffic: Traffic,
    pub packets: Arena,
    pub telemetry: Telemetry,
    /// Where all nodes draw marks from one stream: that stream.
    pub shared_draws: Option<Rng>,
    pub ports: Column<Port>,
    pub queues: Column<Queue>,
    pub egress: Column<Egress>,
    pub ingress: Column<Ingress>,
    pub machines: Vec<PortMachines>,
    pub nodes: Vec<Node>,
    pub switches: Column<Switch>,
    pub nics: Column<Nic>,
    /// Where links come and go, over those that are up: routes are looked up packet by packet.
    pub changing: Option<Box<ChangingRoutes>>,
    /// Of ports whose links fail or whose delays change.
    pub wires: FxHashMap<PortId, Wire>,
    pub ideals: Ideals,
    /// Faults in the order of time: (when, what), the next last.
    pub faults: Vec<Fault>,
    /// Notices between neighbours that are on links or wait for them.
    pub notices: Notices,
    /// Where a flow is followed.
    pub trace: Option<Box<Trace>>,
    pub out: Outboxes,
}

/// A queue pair that is complete at its sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    pub slot: u32,
    /// The end of the epoch since which nothing of it has been in the network.
    pub gone: Option<Time>,
}

/// A change of the network at a known time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    Change(Change),
    Pause { port: PortId, pause: PauseFault },
}

/// Scratch space that is used again.
#[derive(Default)]
pub(crate) struct Outboxes {
    pub frames: Outbox<FcFrame>,
    pub actions: Outbox<CpAction>,
    pub replies: Outbox<Reply>,
    pub notices: Outbox<Notice>,
    pub ready: Vec<ReadyView>,
    /// NICs at which flows have just started.
    pub started: Vec<PortId>,
    pub candidates: Vec<PortView>,
}

impl World<'_> {
    #[inline]
    pub fn time(&self) -> Time {
        Time(self.now)
    }

    pub fn dispatch(&mut self, event: Event) {
        self.now = event.time.0;
        self.order = event.order;
        self.kept.instants.pass(self.now, event.order >> NUMBER_SHIFT, self.events.last_number());
        match self.events.moves(event.order) {
            Some((What::Arrival, port)) => {
                self.kept.counts[What::Arrival as usize] += 1;
                self.arrive(port, Place::of(event.item));
            }
            Some((_, port)) => {
                self.kept.counts[What::Departure as usize] += 1;
                self.depart(port);
            }
            None => self.dispatch_other(event),
        }
    }

    /// As [`World::dispatch`], of what is neither the arrival nor the departure of a packet.
    #[inline(never)]
    fn dispatch_other(&mut self, event: Event) {
        let (what, id) = self.events.decode(event.order);
        self.kept.counts[what as usize] += 1;
        match what {
            What::Arrival | What::Departure => {}
            What::LinkControl => self.link_control_arrives(PortId(id), Place::of(event.item)),
            What::Release => {
                self.settle(id);
            }
            What::Pipeline => self.leave_pipeline(id),
            What::Crossing => self.crossbar_wakes(id),
            What::FcSender => self.fc_sender_timer(id as usize, event.order),
            What::FcReceiver => self.fc_receiver_timer(id as usize, event.order),
            What::CongestionPoint => self.cp_timer(PortId(id), event.order),
            What::Pacing => self.pacing_timer(id as usize, event.order),
            What::QueuePair => self.qp_timer(event.order),
            What::Start => self.start_flow(id),
            What::Fault => self.fault(id),
        }
    }

    /// Events by cause so far.
    pub fn event_counts(&self) -> Vec<(&'static str, u64)> {
        let mut named: Vec<(&'static str, u64)> = Vec::new();
        for (what, &count) in What::ALL.iter().zip(&self.kept.counts) {
            match named.iter_mut().find(|(name, _)| *name == what.name()) {
                Some(entry) => entry.1 += count,
                None => named.push((what.name(), count)),
            }
        }
        named.retain(|&(_, count)| count > 0);
        named
    }

    pub fn report(&mut self) {
        self.control.time.fetch_max(self.now, Ordering::Relaxed);
        let unreported =
            self.kept.packet_hops - std::mem::replace(&mut self.kept.reported, self.kept.packet_hops);
        self.control.packet_hops.fetch_add(unreported, Ordering::Relaxed);
    }

    /// Lets all happen that happens before `end`.
    pub fn run_until(&mut self, end: Time) -> Advance {
        if self.events.by_node().is_some() {
            self.run_by_node(end)
        } else if self.trace.is_some() {
            self.run_traced(end)
        } else {
            self.run_in_one_order(end)
        }
    }

    fn run_in_one_order(&mut self, end: Time) -> Advance {
        let mut until_check = STOP_CHECK;
        while let Some(queue) = self.events.in_one_order() {
            let event = match queue.window() {
                Some(&window) if window[0].time < end => {
                    queue.advance();
                    self.look_ahead(&window);
                    window[0]
                }
                _ => match queue.pop_before(end) {
                    Some(event) => event,
                    None => break,
                },
            };
            self.dispatch(event);
            until_check -= 1;
            if until_check == 0 {
                until_check = STOP_CHECK;
                self.report();
                if self.is_stopped() {
                    return Advance::Interrupted;
                }
            }
        }
        self.report();
        if self.is_stopped() { Advance::Interrupted } else { Advance::Reached }
    }

    pub fn is_stopped(&self) -> bool {
        self.control.stop.load(Ordering::Relaxed)
    }
}

/// The key of ties among arrivals at `port` (the receiving one).
pub(crate) fn tie_key(seed: u64, node_key: u64, port: PortId) -> u64 {
    fold(fold(fold(mix(seed), node_key), u64::from(port.0)), 0x7165)
}

/// Bytes as an account holds them.
pub(crate) fn bytes(value: u64) -> Bytes {
    Bytes(value)
}
