//! The state of a running network, and its event loop.
//!
//! ```text
//!          kick            start                      arrive
//!  queue ───────► transmitter ───────► event of arrival ───────► next node
//!                     │ departure event only while something waits
//!                     └ release of the ingress account, settled when a view is read
//! ```
//! A packet on a link is an event that names the packet's place.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use floodway_engine::{Advance, Event};
use floodway_mechanisms::registry::{
    AnyAdmission, AnyCongestionPoint, AnyFcReceiver, AnyFcSender, AnyRouter, AnyScheduler,
};
use floodway_mechanisms::slots::{
    CongestionPoint, CpAction, Disposition, FcFrame, Notice, Outbox, PauseMode, PortView, ReadyView,
    RegionNotice, Reply,
};
use floodway_units::{Bytes, NodeId, PortId, Rate, Rng, Span, Time, fold, mix};
use floodway_wire::Format;
use rustc_hash::FxHashMap;

pub(crate) use crate::agenda::NEVER;
use crate::agenda::{Agenda, Armed, Arriving, NUMBER_SHIFT, What};
use crate::allowances::AllowanceLog;
use crate::arena::{Arena, Fifo, Place};
use crate::base_rtt::Largest;
use crate::blueprint::{Blueprint, ErrorRates, PauseFault, RelayPorts, Release};
use crate::border::Border;
use crate::capture::Capture;
use crate::changes::Change;
use crate::column::Column;
use crate::counters::{EgressCounters, RareCounters, RareEgressCounters, Traffic};
use crate::crossing::Inputs;
use crate::flows::{PairKey, Source};
use crate::histogram::{Histogram, Instants};
use crate::ideal::Ideals;
use crate::listed::Listed;
use crate::nic_list::List;
use crate::numbers::Label;
use crate::outcome::{Control, Deadlock};
use crate::pauses::PauseLog;
use crate::ranks::Ranks;
use crate::receive::ReceiveHalf;
use crate::records::Records;
use crate::ring::Ring;
use crate::routing::{ChangingRoutes, Routes, peer};
use crate::send::SendHalf;
use crate::serial::Serial;
use crate::series::Series;
use crate::shares::ShareLog;
use crate::signals::SignalLog;
use crate::telemetry::Telemetry;
use crate::triggers::Triggers;
use crate::ways::Way;
use crate::why::Trace;
use crate::wires::Wire;

/// Events between two looks at the stop flag.
pub(crate) const STOP_CHECK: u64 = 1 << 15;

/// One end of a link: its egress and what it needs of the link. The first cache line holds what every
/// packet needs.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Port {
    /// When the transmitter is free.
    pub free_at: u64,
    /// Bytes waiting in all queues.
    pub waiting: u64,
    pub delay: u64,
    /// Keys ties among arrivals at the far end.
    pub tie_key: u64,
    /// Of a host's port: its NIC; of a switch's: the switch.
    pub owner: u32,
    /// Its congestion points do not hear of a packet with no more bytes than this in its queue, itself included.
    pub quiet: u32,
    /// Picoseconds a byte, where serialisation is that simple; else 0.
    pub ps_per_byte: u16,
    /// Is the node a host?
    pub at_host: bool,
    pub up: bool,
    /// Link control frames wait.
    pub controls: bool,
    /// A departure event is pending at `free_at`.
    pub armed: bool,
    /// What goes next is being chosen: who hears of it may have the port look again, which it then does.
    pub choosing: bool,
    /// What it sends is no matter of the clock alone: a capture, telemetry, jitter, a link that changes, or another
    /// partition is there.
    pub observed: bool,
    /// Link control frames that wait to be sent, where they go before all else.
    pub control: Fifo,
    /// By index of a class, as bits: its frames may start until the sender half hears of something.
    pub free: u16,
    /// A watchdog has given its queues up.
    pub discards: u16,
    /// It was paused at some time.
    pub paused: u16,
    /// Has congestion points.
    pub has_cp: bool,
    /// What it sends is captured, or counted by flow.
    pub noted: bool,
    /// Its link fails at some time, or its delay changes: there is a wire of it.
    pub changes: bool,
    pub node: NodeId,
    /// The node at the other end.
    pub far: NodeId,
    /// Its place among its node's ports.
    pub local: u16,
    /// Belongs to an input-output queued switch.
    pub has_crossbar: bool,
    /// The second queue of each of its classes may lose what waits there.
    pub isolates: bool,
    /// Where ties go by scheduling order: the number of the event at `free_at`.
    pub free_order: u64,
    pub serial: Serial,
    pub rate: Rate,
    pub jitter: u64,
    /// Where there is jitter, or the delay changes: when the last packet on the link from here arrives.
    pub latest: u64,
    /// Draws jitter.
    pub rng: Rng,
    /// What the link that leads here loses, and the stream that decides.
    pub errors: ErrorRates,
    pub losses: Rng,
}

impl Port {
    /// The link control frame that is sent before all else.
    #[inline]
    pub fn take_control(&mut self, packets: &Arena) -> Option<Place> {
        if !self.controls {
            return None;
        }
        let place = self.control.pop(packets)?;
        self.controls = !self.control.is_empty();
        Some(place)
    }

    /// Picoseconds that `wire` bytes take.
    #[inline]
    pub fn serial_time(&self, wire: u64) -> u64 {
        if self.ps_per_byte != 0 { wire * u64::from(self.ps_per_byte) } else { self.serial.time(wire) }
    }
}

/// A queue of an egress port.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub fifo: Fifo,
    pub bytes: u64,
}

/// The egress side of a (port, class), what every packet needs first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Egress {
    /// When the pause in force began, else never.
    pub paused_since: u64,
    /// Paused time of pauses that have ended.
    pub paused_total: u64,
    pub counters: EgressCounters,
    /// The sender half hears of each frame.
    pub counts_sent: bool,
    pub sender: AnyFcSender,
    pub timer: Armed,
    pub rare: RareEgressCounters,
}

impl Egress {
    /// All paused time until `now`.
    #[inline]
    pub fn paused(&self, now: u64) -> u64 {
        if self.paused_since == NEVER {
            self.paused_total
        } else {
            self.paused_total + (now - self.paused_since)
        }
    }
}

/// The ingress side of a (port, class): its account of the switch's buffer, what every packet needs first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Ingress {
    /// What has come in.
    pub received: Traffic,
    /// Bytes held below headroom: the reserve first, the rest shared.
    pub held: u64,
    /// Bytes held in headroom.
    pub headroom: u64,
    pub reserve: u64,
    /// Until then the series, and `peak`, need not hear of `told` bytes held, or of fewer.
    pub told_until: u64,
    pub told: u32,
    /// While `shared` stays below this and the pool is half empty, packets come in without a word.
    pub quiet: u32,
    /// That of the port.
    pub owner: u32,
    pub at_host: bool,
    /// Losses on the link that leads here.
    pub impaired: bool,
    /// Takes of the switch's pool; else it has a buffer of its own.
    pub pooled: bool,
    /// The receiver half waits for releases.
    pub awaits: bool,
    /// Has a flow control: must not lose.
    pub lossless: bool,
    /// Has a buffer for each output rather than one.
    pub by_output: bool,
    pub headroom_size: u64,
    /// Size of a buffer of its own; `NEVER` with the switch's pool.
    pub own: u64,
    /// Most bytes held.
    pub peak: u64,
    pub headroom_peak: u64,
    pub admission: AnyAdmission,
    pub timer: Armed,
    pub receiver: AnyFcReceiver,
    pub rare: RareCounters,
}

impl Ingress {
    #[inline]
    pub fn shared(&self) -> u64 {
        self.held.saturating_sub(self.reserve)
    }
}

/// Machines of an egress port that not every port has.
#[derive(Debug)]
pub(crate) struct PortMachines {
    pub scheduler: AnyScheduler,
    pub congestion_points: Vec<AnyCongestionPoint>,
    pub cp_timer: Armed,
    /// A machine must know what waits when it comes to hear.
    pub recounts: bool,
    /// A machine watches inputs.
    pub watches: bool,
    /// Where a machine watches inputs and there is no crossbar: bytes that wait, by ingress port and class.
    pub inputs: FxHashMap<(PortId, u8), u64>,
    /// Where a machine classifies: of each flow with packets here, its queue and how many.
    pub placed: FxHashMap<u32, (usize, u32)>,
}

impl PortMachines {
    /// Arms the timer for the congestion point that wants to be called first.
    #[inline]
    pub fn sync(&mut self, events: &mut Agenda, port: PortId) {
        let next = self.congestion_points.iter().filter_map(CongestionPoint::next_timeout).min();
        events.sync(&mut self.cp_timer, next, What::CongestionPoint, port.0);
    }
}

impl std::fmt::Debug for crate::world::Node {
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

/// A switch's buffer and routing.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Switch {
    /// The packets on its ports' wires that are still charged, by time, then by port: at most one a port.
    pub releases: VecDeque<Uncharge>,
    /// When the first of them is due, else never.
    pub next_release: u64,
    pub pool_size: u64,
    pub pool_used: u64,
    /// Up to here the pool counts as half empty.
    pub pool_quiet: u64,
    pub occupied: u64,
    pub peak: u64,
    pub pipeline: u64,
    pub router: AnyRouter,
    pub ports: Vec<PortId>,
    /// Packets on the way from arrival to their queue: when, egress port, packet.
    pub pipe: VecDeque<(u64, PortId, Place)>,
    /// Where it is a relay.
    pub relay: Option<Relay>,
    /// Where it is input-output queued.
    pub inputs: Option<Box<Inputs>>,
}

impl Switch {
    /// It holds `frame` bytes more, `of_pool` of them in its pool.
    #[inline]
    pub fn holds(&mut self, frame: u64, of_pool: u64) {
        self.pool_used += of_pool;
        self.occupied += frame;
        self.peak = self.peak.max(self.occupied);
    }
}

/// What a relay does with pauses.
#[derive(Debug)]
pub(crate) struct Relay {
    pub ports: RelayPorts,
    /// By class: what becomes of those that arrive on the local and on the remote port.
    pub dispositions: Vec<[Disposition; 2]>,
}

impl Relay {
    /// What becomes of a pause of `class` that has arrived on `port`.
    pub fn disposition(&self, port: PortId, class: u8) -> Disposition {
        self.dispositions[class as usize][usize::from(port == self.ports.remote)]
    }
}

/// A packet that is uncharged when its last bit has gone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uncharge {
    pub at: u64,
    /// The egress port.
    pub port: PortId,
    /// The ingress port and its account.
    pub ingress: PortId,
    pub lane: u32,
    pub frame: u16,
}

/// A host's port: queue pairs take turns.
#[derive(Debug, Default)]
pub(crate) struct Nic {
    pub port: PortId,
    /// By class: queue pairs that may send now, by rank.
    pub ready: Vec<Ring>,
    /// By class: queue pairs with something to send again before all new data, by rank; and how many those are.
    pub repeats: Vec<Ring>,
    pub repeating: usize,
    /// By class: rank of the queue pair served last.
    pub last: Vec<u32>,
    /// Queue pairs that wait for their pacing time: (time, rank).
    pub pacing: BinaryHeap<Reverse<(u64, u32)>>,
    pub pacing_timer: Armed,
    /// Its queue pairs.
    pub ranks: Ranks,
    /// Where turns go by a list; else empty.
    pub list: List,
    /// Where turns go by the list of flows: queue pairs that are open and not complete.
    pub unfinished: usize,
}

impl Nic {
    /// Will it have something to do when its transmitter is free? By a list, finished queue pairs are taken out
    /// then, too; by the list of flows its timer may be set.
    pub fn has_waiting(&self) -> bool {
        self.repeating > 0
            || self.unfinished > 0
            || !self.list.is_empty()
            || self.ready.iter().any(|ready| !ready.is_empty())
    }
}

/// A running network.
pub(crate) struct World<'a> {
    pub blueprint: &'a Blueprint,
    pub control: &'a Control,
    /// Its place among the partitions.
    pub border: Border,
    pub now: u64,
    /// Order of the event at work.
    pub order: u64,
    pub events: Agenda,
    pub counts: [u64; What::ALL.len()],
    pub release: Release,
    /// A packet that finds nothing to wait for goes straight through a switch: no more queues a port than one of data,
    /// no samples of their lengths.
    pub straight: bool,
    /// Likewise of the control class: no switch has a pipeline, either.
    pub straight_control: bool,
    /// Some switch is input-output queued.
    pub crossbars: bool,
    /// Where the flow control does not choose.
    pub pause_mode: PauseMode,
    pub format: Format,
    /// Preamble and gap: wire bytes less frame bytes.
    pub gap: u64,
    /// Classes in use; the control class is the first.
    pub classes: Vec<floodway_units::Class>,
    /// Queues of a port: the control class, then each data class (twice where classes have sub-queues).
    pub queues_per_port: usize,
    pub subs: usize,
    pub packets: Arena,
    pub telemetry: Telemetry,
    /// Where all nodes draw marks from one stream: that stream.
    pub shared_draws: Option<Rng>,
    /// Over all pairs of hosts.
    pub largest: Largest,
    /// Bytes on the link of the largest data packet.
    pub largest_wire: u64,
    pub ports: Column<Port>,
    pub queues: Column<Queue>,
    pub egress: Column<Egress>,
    pub ingress: Column<Ingress>,
    pub machines: Vec<PortMachines>,
    pub nodes: Vec<Node>,
    pub switches: Column<Switch>,
    pub nics: Column<Nic>,
    /// Over all links.
    pub routes: Arc<Routes>,
    /// Where links come and go, over those that are up: routes are looked up packet by packet.
    pub changing: Option<Box<ChangingRoutes>>,
    /// Of ports whose links fail or whose delays change.
    pub wires: FxHashMap<PortId, Wire>,
    pub ideals: Ideals,
    /// Queue pairs by slot: what is fixed, what the sender has and what the receiver has.
    pub ways: Column<Way>,
    pub senders: Column<SendHalf>,
    pub receivers: Column<ReceiveHalf>,
    /// By slot: packets made on the way less packets lost; it wraps, as the counts of the halves.
    pub elsewhere: Column<i32>,
    /// Slots to be used again.
    pub free_slots: Vec<u32>,
    /// Queue pairs that are complete at their senders and not closed.
    pub done: Vec<Done>,
    /// For how long some congestion point may name a queue pair of which nothing is in the network any more.
    pub remembers: Span,
    pub sources: Vec<Source>,
    /// Starts that wait for completions; their events are numbered behind the sources.
    pub triggers: Triggers,
    /// Queue pairs that several flows share.
    pub pairs: FxHashMap<PairKey, u32>,
    /// By workload: what each flow of its list, or each of its loops, is numbered.
    pub labels: Arc<[Vec<Label>]>,
    /// Where turns go by the list: the ranks of its flows, and by node how many queue pairs are still to start.
    pub listed: Arc<Listed>,
    pub to_start: Vec<u32>,
    /// Faults in the order of time: (when, what), the next last.
    pub faults: Vec<Fault>,
    pub series: Column<Series>,
    /// By port, where they are kept; else empty.
    pub histograms: Vec<Histogram>,
    /// Where their instants lie among events.
    pub instants: Instants,
    /// Where they are kept.
    pub pauses: Option<PauseLog>,
    pub signals: Option<SignalLog>,
    pub allowances: Option<AllowanceLog>,
    pub shares: Option<ShareLog>,
    /// Where a flow is followed.
    pub trace: Option<Box<Trace>>,
    pub records: Records,
    pub capture: Capture,
    pub deadlocks: Vec<Deadlock>,
    pub packet_hops: u64,
    /// Of these, reported to whoever watches.
    pub reported: u64,
    /// Notices between neighbours that are on links or wait for them.
    pub regions: Vec<RegionNotice>,
    pub free_regions: Vec<u32>,
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
    /// Index of the egress or ingress lane of a port and class.
    #[inline]
    pub fn lane(&self, port: PortId, class: u8) -> usize {
        port.index() * self.classes.len() + class as usize
    }

    /// Index of the first queue of a port: the one of its control class.
    #[inline]
    pub fn queue(&self, port: PortId) -> usize {
        port.index() * self.queues_per_port
    }

    /// Class of the `q`-th queue of a port.
    #[inline]
    pub fn class_of_queue(&self, q: usize) -> u8 {
        if self.subs == 1 || q == 0 { q as u8 } else { ((q - 1) / self.subs + 1) as u8 }
    }

    #[inline]
    pub fn time(&self) -> Time {
        Time(self.now)
    }

    /// Bytes on the link for a frame.
    #[inline]
    pub fn wire(&self, frame: u16) -> u64 {
        u64::from(frame) + self.gap
    }

    /// The packet at a place is on the link from `port` until `at`; its arrival has this number where ties go by the
    /// order of scheduling. The order of its event.
    #[inline]
    pub fn fly(&mut self, port: PortId, place: Place, at: u64, number: u64) -> u64 {
        self.packets.fly(place, peer(port), at);
        let link_control = self.packets[place].is_link_control();
        let arrival = Arriving { link_control, tie_key: self.ports[port.index()].tie_key, number };
        self.events.arrival(port, at, arrival)
    }

    /// Order of the event at which `port`'s transmitter becomes free.
    #[inline]
    fn departure_order(&self, port: PortId) -> u64 {
        self.events.departure(port, self.ports[port.index()].free_order)
    }

    /// Is the transmitter still at work, as seen by the event in hand?
    #[inline]
    pub fn is_busy(&self, port: PortId) -> bool {
        let free_at = self.ports[port.index()].free_at;
        free_at > self.now || (free_at == self.now && self.departure_order(port) > self.order)
    }

    /// Asks for an event when the transmitter, which is at work, is free.
    #[inline]
    pub fn arm(&mut self, port: PortId) {
        let order = self.departure_order(port);
        let state = &mut self.ports[port.index()];
        if !state.armed {
            state.armed = true;
            let at = state.free_at;
            let first = self.first_waiting(port);
            self.events.push_of(first, at, order);
        }
    }

    /// The packet that probably leaves next: what its departure has to have fetched.
    #[inline]
    fn first_waiting(&self, port: PortId) -> Place {
        let first = self.queue(port);
        let data = self.queues.get(first + 1).map_or(Fifo::default(), |queue| queue.fifo);
        self.queues[first].fifo.front_or(data)
    }

    pub fn dispatch(&mut self, event: Event) {
        self.now = event.time.0;
        self.order = event.order;
        self.instants.pass(self.now, event.order >> NUMBER_SHIFT, self.events.last_number());
        match self.events.moves(event.order) {
            Some((What::Arrival, port)) => {
                self.counts[What::Arrival as usize] += 1;
                self.arrive(port, Place::of(event.item));
            }
            Some((_, port)) => {
                self.counts[What::Departure as usize] += 1;
                self.depart(port);
            }
            None => self.dispatch_other(event),
        }
    }

    /// As [`World::dispatch`], of what is neither the arrival nor the departure of a packet.
    #[inline(never)]
    fn dispatch_other(&mut self, event: Event) {
        let (what, id) = self.events.decode(event.order);
        self.counts[what as usize] += 1;
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
        for (what, &count) in What::ALL.iter().zip(&self.counts) {
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
        let unreported = self.packet_hops - std::mem::replace(&mut self.reported, self.packet_hops);
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
