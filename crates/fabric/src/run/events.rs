//! Pending events, and the order of those of one instant.
//!
//! ```text
//! hashed            kind 4 bits | tie among arrivals, or object and generation of a timer; a queue pair is its
//!                   NIC 20, its rank there 24 and the generation 16
//! scheduling order  number in the order of scheduling 36 bits | kind 4 | object 24
//! ```
//! In the first, the order depends neither on when an event was added, or by which node, nor on the time:
//! what happens again at another time happens in the same order. The second is that of the ns-3 models, whose
//! events of one instant happen in the order in which they were scheduled. An event that is added late here
//! (a departure, when something waits) carries the number that it had got by then.

mod armed;
mod clock;
mod kind;
mod pending;
mod ties;
mod wires;

pub(crate) use armed::Armed;
use armed::GENERATION_BITS;
pub(crate) use floodway_blueprint::NEVER;
pub(crate) use kind::EventKind;
pub(crate) use ties::tie_key;

use floodway_blueprint::network::blueprint::{Starts, Ties};
use floodway_blueprint::network::limits::{ID_BITS, NIC_BITS, QP_GENERATION_BITS, RANK_BITS};
use floodway_engine::panics::Outgrown;
use floodway_engine::{Event, Item, Queue};
use floodway_units::cast::low_u32;
use floodway_units::{PortId, Span, Time};

use crate::link::arena::PacketRef;
use crate::run::events::wires::Wires;
use crate::run::windows::{Drained, Windows};

/// Bits of the number itself.
const NUMBER_BITS: u32 = 36;
/// The largest number, which starts that come last have.
const LAST_NUMBER: u64 = (1 << NUMBER_BITS) - 1;
/// Where it begins, above the kind and the object.
pub(crate) const NUMBER_SHIFT: u32 = 64 - NUMBER_BITS;
/// Where the kind begins, hashed.
const KIND_SHIFT: u32 = 60;
/// Where the port of an arrival ends, and its place among ties begins.
const TIE_SHIFT: u32 = 32;
const GENERATIONS: u64 = (1 << GENERATION_BITS) - 1;
/// The same for a queue pair, whose name takes more bits: a NIC, and its rank there.
const QP_GENERATIONS: u64 = (1 << QP_GENERATION_BITS) - 1;

/// The store of pending events, which decides in which order they are executed.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a run has one, which every event goes through")]
enum Pending {
    /// Those of all nodes in one order.
    InOneOrder(Queue),
    /// Node by node.
    ByNode(Windows),
}

/// The pending events of a run.
#[derive(Debug)]
pub(crate) struct Events {
    pending: Pending,
    /// The group of the node that adds events now.
    group: u32,
    /// Ties go by scheduling order.
    numbered: bool,
    /// Where the kind begins in an order, and what of it names an object that has no timer.
    kind_shift: u32,
    id_mask: u32,
    starts: Starts,
    /// The last number given.
    number: u64,
    /// Where ties go as htsim schedules events.
    wires: Option<Wires>,
    /// By how much the clock of the run is ahead of the simulation's.
    skipped: u64,
}

impl Events {
    /// Events go in one order.
    pub fn new(ties: Ties, starts: Starts) -> Self {
        let numbered = ties.is_numbered();
        let (kind_shift, id_mask) =
            if numbered { (ID_BITS, (1 << ID_BITS) - 1) } else { (KIND_SHIFT, u32::MAX) };
        let pending = Pending::InOneOrder(Queue::default());
        let wires = (ties == Ties::Htsim).then(Wires::default);
        Events { pending, group: 0, numbered, kind_shift, id_mask, starts, number: 0, wires, skipped: 0 }
    }

    /// From now on events go node by node, in these windows; none has been added yet.
    pub fn go_by_node(&mut self, windows: Windows) {
        debug_assert!(!self.numbered, "an order of scheduling is one for all nodes");
        self.pending = Pending::ByNode(windows);
    }

    /// From now on events go in one order.
    pub fn go_in_one_order(&mut self) {
        let Pending::ByNode(windows) = &mut self.pending else { return };
        let Drained { events, steps } = windows.drain();
        let mut queue = Queue::default();
        for (_, event) in events {
            queue.push(event.time, event.order, event.item);
        }
        for (at, order) in steps {
            queue.push(Time(at), order, Item::NONE);
        }
        self.pending = Pending::InOneOrder(queue);
    }

    /// Where events go node by node, they do so in windows no longer than this from now on.
    pub fn shorten_windows(&mut self, most: Span) {
        let Pending::ByNode(windows) = &mut self.pending else { return };
        let mut shorter = windows.shorter(most.0);
        let Drained { events, steps } = windows.drain();
        for (node, event) in events {
            shorter.push(node, event);
        }
        for (at, order) in steps {
            shorter.push_step(at, order);
        }
        *windows = shorter;
    }

    /// Where events go node by node.
    #[inline]
    pub fn by_node(&mut self) -> Option<&mut Windows> {
        if let Pending::ByNode(windows) = &mut self.pending { Some(windows) } else { None }
    }

    /// Takes everything out, and names what is on links: packets, and the ports that sent them.
    pub fn drain_arrivals(&mut self) -> Vec<(PortId, PacketRef)> {
        let mut all = self.wires.take().map_or_else(Vec::new, Wires::behind);
        let pending: Vec<Event> = match &mut self.pending {
            Pending::InOneOrder(queue) => std::iter::from_fn(|| queue.pop_before(Time::NEVER)).collect(),
            Pending::ByNode(windows) => windows.drain().events.into_iter().map(|(_, event)| event).collect(),
        };
        let arrives = |event: Event| {
            let (kind, port) = self.decode(event.order);
            let on_link = matches!(kind, EventKind::Arrival | EventKind::LinkControl);
            // SAFETY: an arrival is pushed with its packet's reference, and no window is executed now.
            #[allow(unsafe_code, reason = "an event's item is a packet's address")]
            on_link.then(|| (PortId(port), unsafe { PacketRef::of(event.item) }))
        };
        all.extend(pending.into_iter().filter_map(arrives));
        all
    }

    /// The owner of a group, if it is another thread.
    #[inline]
    pub fn remote_owner(&self, group: u32) -> Option<usize> {
        if let Pending::ByNode(windows) = &self.pending { windows.remote_owner(group) } else { None }
    }

    /// Does another process own a group?
    #[inline]
    pub fn is_elsewhere(&self, group: u32) -> bool {
        matches!(&self.pending, Pending::ByNode(windows) if windows.is_elsewhere(group))
    }

    /// As these, without events, for another thread; none where events go in one order.
    pub fn of_thread(&self, thread: u8) -> Option<Self> {
        let Pending::ByNode(windows) = &self.pending else { return None };
        let pending = Pending::ByNode(windows.of_thread(thread));
        Some(Events { pending, group: 0, number: 0, wires: None, ..*self })
    }

    /// Where they go in one order.
    #[inline]
    pub fn in_one_order(&mut self) -> Option<&mut Queue> {
        if let Pending::InOneOrder(queue) = &mut self.pending { Some(queue) } else { None }
    }

    /// It is a node of this group that adds events from now on.
    #[inline]
    pub fn is_at(&mut self, group: u32) {
        self.group = group;
    }

    /// Of the two kinds that nearly all events are, the arrival and the departure of a packet: which, and the
    /// port that it was sent from.
    #[inline]
    pub fn moves(&self, order: u64) -> Option<(EventKind, PortId)> {
        kind::moved(order >> self.kind_shift & 15, PortId(low_u32(order) & self.id_mask))
    }

    /// What an event is, and its object.
    #[inline]
    pub fn decode(&self, order: u64) -> (EventKind, u32) {
        let kind = EventKind::ALL[(order >> self.kind_shift & 15) as usize];
        let timer = !self.numbered && kind.is_timer();
        (kind, if timer { low_u32(order >> GENERATION_BITS) } else { low_u32(order) & self.id_mask })
    }

    /// A number for what is scheduled now; 0 where ties are hashed.
    #[inline]
    pub fn number(&mut self) -> u64 {
        if !self.numbered {
            return 0;
        }
        self.number += 1;
        self.number
    }

    /// Ends a run in which as much has been scheduled as there are numbers for.
    pub fn check_numbers(&self) {
        if self.number >= LAST_NUMBER {
            Outgrown::end(format!(
                "{LAST_NUMBER} events have been scheduled, the maximum where ties go by the order of scheduling: end the \
                 run earlier"
            ));
        }
    }

    /// Two numbers in a row, where ties go by them.
    #[inline]
    pub fn two_numbers(&mut self) -> Option<(u64, u64)> {
        self.numbered.then(|| (self.number(), self.number()))
    }

    /// The last number given.
    #[inline]
    pub fn last_number(&self) -> u64 {
        self.number
    }

    /// The order of an event that got `number` when it was scheduled.
    #[inline]
    fn numbered(number: u64, kind: EventKind, id: u32) -> u64 {
        debug_assert!(id < 1 << ID_BITS, "objects have 24 bits in an order of scheduling");
        number << NUMBER_SHIFT | (kind as u64) << ID_BITS | u64::from(id)
    }

    /// Adds the arrival of a packet at the far end of a link, where this group is.
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    pub fn push_arrival(&mut self, to: u32, packet_ref: PacketRef, at: u64, order: u64) {
        let event = Event { time: Time(at), order, item: packet_ref.item() };
        match &mut self.pending {
            Pending::InOneOrder(queue) => {
                let id = low_u32(order) & self.id_mask;
                if self.wires.as_mut().is_some_and(|wires| wires.is_behind(id, (at, packet_ref))) {
                    return;
                }
                queue.push(event.time, event.order, event.item);
            }
            Pending::ByNode(windows) => windows.push(to, event),
        }
    }

    /// As [`Events::push`], of an event for which a packet will probably be needed: it is prefetched. With
    /// several threads it is not, since by then it may belong to a node of another thread.
    #[inline]
    pub fn push_of(&mut self, packet_ref: PacketRef, at: u64, order: u64) {
        let shared = matches!(&self.pending, Pending::ByNode(windows) if windows.has_other_threads());
        let item = if shared { Item::NONE } else { packet_ref.item() };
        self.push_event(Event { time: Time(at), order, item });
    }

    /// Adds an event of which all is known.
    #[inline]
    pub fn push(&mut self, at: u64, order: u64) {
        self.push_event(Event { time: Time(at), order, item: Item::NONE });
    }

    #[inline]
    fn push_event(&mut self, event: Event) {
        match &mut self.pending {
            Pending::InOneOrder(queue) => queue.push(event.time, event.order, event.item),
            Pending::ByNode(windows) => windows.push(self.group, event),
        }
    }

    /// Adds a change of the network, or a pause that is forced.
    pub fn add_fault(&mut self, index: u32, at: u64) {
        match &mut self.pending {
            Pending::InOneOrder(_) => self.add(EventKind::Fault, index, at),
            Pending::ByNode(windows) => windows.push_step(at, hashed(EventKind::Fault, index)),
        }
    }

    /// Adds an event that nothing but its kind and object orders, or that is scheduled now.
    #[inline]
    pub fn add(&mut self, kind: EventKind, id: u32, at: u64) {
        let order = if self.numbered { Self::numbered(self.number(), kind, id) } else { hashed(kind, id) };
        self.push(at, order);
    }

    /// Adds the start of a source's next flow.
    pub fn add_start(&mut self, source: u32, at: u64) {
        if !self.numbered {
            self.add(EventKind::Start, source, at);
            return;
        }
        let number = match self.starts {
            Starts::First => 0,
            Starts::Last => LAST_NUMBER,
        };
        self.push(at, Self::numbered(number, EventKind::Start, source));
    }

    /// Order of the arrival of what was sent from `port`.
    #[inline]
    pub fn arrival(&self, port: PortId, arrival: Arriving) -> u64 {
        if self.numbered {
            Self::numbered(arrival.number, EventKind::Arrival, port.0)
        } else {
            let kind = if arrival.link_control { EventKind::LinkControl } else { EventKind::Arrival };
            let place = ties::place(arrival.tie_key, arrival.turn);
            (kind as u64) << KIND_SHIFT | u64::from(place) << TIE_SHIFT | u64::from(port.0)
        }
    }

    /// Order of the event at which `port`'s transmitter becomes free, which got `number` when the
    /// transmission began.
    #[inline]
    pub fn departure(&self, port: PortId, number: u64) -> u64 {
        if self.numbered {
            Self::numbered(number, EventKind::Departure, port.0)
        } else {
            (EventKind::Departure as u64) << KIND_SHIFT | u64::from(port.0)
        }
    }

    /// As [`Events::sync`], for a timer that is cancelled and rescheduled each time its machine names another
    /// time: that matters where ties go by the order of scheduling.
    #[inline]
    pub fn renew(&mut self, timer: &mut Armed, next: Option<Time>, kind: EventKind, id: u32) {
        if self.numbered && next.is_none_or(|Time(at)| at != timer.at) {
            timer.at = NEVER;
        }
        self.sync(timer, next, kind, id);
    }

    /// Brings an armed timer in line with when its machine wants to be called. A later wish is found when the
    /// armed event fires.
    #[inline]
    pub fn sync(&mut self, timer: &mut Armed, next: Option<Time>, kind: EventKind, id: u32) {
        let Some(Time(at)) = next else { return };
        if at < timer.at {
            timer.at = at;
            timer.order = if self.numbered {
                Self::numbered(self.number(), kind, id)
            } else {
                let generation = (timer.order + 1) & GENERATIONS;
                (kind as u64) << KIND_SHIFT | u64::from(id) << GENERATION_BITS | generation
            };
            self.push(at, timer.order);
        }
    }

    /// As `sync`, of a queue pair's timer, which may have got its number before.
    #[inline]
    pub fn sync_queue_pair(&mut self, timer: &mut Armed, next: Option<Time>, key: u64, set: Set) {
        let Some(Time(at)) = next else { return };
        if at < timer.at {
            timer.at = at;
            timer.order = if self.numbered {
                let number = match set {
                    Set::Now => self.number(),
                    Set::Before(number) => number,
                };
                Self::numbered(number, EventKind::QueuePair, low_u32(key))
            } else {
                let generation = (timer.order + 1) & QP_GENERATIONS;
                (EventKind::QueuePair as u64) << KIND_SHIFT | key << QP_GENERATION_BITS | generation
            };
            self.push(at, timer.order);
        }
    }

    /// As `sync`, of the timer of a queue pair's receiver, which is named as queue pairs are: by its NIC, and
    /// its rank there.
    pub fn sync_receiver(&mut self, timer: &mut Armed, next: Option<Time>, key: u64) {
        let Some(Time(at)) = next else { return };
        if at < timer.at {
            timer.at = at;
            timer.order = if self.numbered {
                Self::numbered(self.number(), EventKind::Receiver, low_u32(key))
            } else {
                let generation = (timer.order + 1) & QP_GENERATIONS;
                (EventKind::Receiver as u64) << KIND_SHIFT | key << QP_GENERATION_BITS | generation
            };
            self.push(at, timer.order);
        }
    }

    /// Has the turn come of a timer with this number, if it has one, in the event of this order? A timer that
    /// was set for the same instant before, and is no longer needed, may have armed the event.
    #[inline]
    pub fn has_come(&self, number: Option<u64>, order: u64) -> bool {
        !self.numbered || number.is_none_or(|number| number <= order >> NUMBER_SHIFT)
    }

    /// What names a queue pair in the events of its timer. It orders those of one instant, and so it is never
    /// the slot, which depends on what else the run has; only where numbers order them.
    pub fn queue_pair_key(&self, nic: u32, rank: u32, slot: u32) -> u64 {
        debug_assert!(nic < 1 << NIC_BITS, "NICs have 20 bits in the order of a queue pair's timer");
        if self.numbered {
            if slot > self.id_mask {
                Outgrown::end(format!(
                    "more than {} queue pairs are open, the maximum where ties go by the order of scheduling: start fewer \
                     flows",
                    1 << ID_BITS
                ));
            }
            return u64::from(slot);
        }
        u64::from(nic) << RANK_BITS | u64::from(rank) & ((1 << RANK_BITS) - 1)
    }

    /// Whose timer the event is.
    #[inline]
    pub fn queue_pair(&self, order: u64) -> QueuePairName {
        if self.numbered {
            return QueuePairName::Slot(low_u32(order) & self.id_mask);
        }
        let key = order >> QP_GENERATION_BITS;
        let (nic, rank) = (key >> RANK_BITS & ((1 << NIC_BITS) - 1), key & ((1 << RANK_BITS) - 1));
        QueuePairName::Ranked { nic: low_u32(nic), rank: low_u32(rank) }
    }

    /// Do ties go by scheduling order?
    pub fn is_numbered(&self) -> bool {
        self.numbered
    }
}

/// The order of an event that nothing but its kind and object orders, where ties are hashed.
fn hashed(kind: EventKind, id: u32) -> u64 {
    (kind as u64) << KIND_SHIFT | u64::from(id)
}

/// The lowest bits of what distinguishes a queue pair from all others that are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueuePairName {
    /// Its NIC, and its rank there.
    Ranked { nic: u32, rank: u32 },
    /// Its slot.
    Slot(u32),
}

/// When a timer was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    /// By what happens now.
    Now,
    /// Before, when it got this number in the order of scheduling.
    Before(u64),
}

/// What orders an arrival among those of its instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arriving {
    pub link_control: bool,
    /// Key of ties at the far end.
    pub tie_key: u64,
    /// The packet's (`Packet::turn`).
    pub turn: u64,
    /// In the order of scheduling.
    pub number: u64,
}

#[cfg(test)]
mod tests {
    use floodway_engine::panics::guarded;
    use floodway_units::Turns;

    use super::*;

    fn arm(events: &mut Events, timer: &mut Armed, (nic, rank, slot): (u32, u32, u32), at: u64, set: Set) {
        let key = events.queue_pair_key(nic, rank, slot);
        events.sync_queue_pair(timer, Some(Time(at)), key, set);
    }

    fn pop(events: &mut Events) -> Option<Event> {
        events.in_one_order()?.pop_before(Time(61))
    }

    #[test]
    fn timers_of_one_instant_come_by_nic_and_rank_whichever_was_armed_first() {
        let mut events = Events::new(Ties::Hashed, Starts::Last);
        let last = (1 << NIC_BITS) - 1;
        for (nic, rank) in [(2, 0), (0, (1 << RANK_BITS) - 1), (last, 1), (1, 3), (0, 1), (2, 1)] {
            let mut timer = Armed::default();
            // It does not matter what was armed for later before, or how often.
            (0..nic % 3)
                .for_each(|n| arm(&mut events, &mut timer, (nic, rank, 0), 90 - u64::from(n), Set::Now));
            arm(&mut events, &mut timer, (nic, rank, 0), 50, Set::Now);
        }
        let mut names = Vec::new();
        let mut turns = Turns::at_most(100);
        while turns.go()
            && let Some(event) = pop(&mut events)
        {
            assert_eq!(events.decode(event.order).0, EventKind::QueuePair);
            match events.queue_pair(event.order) {
                QueuePairName::Ranked { nic, rank } => names.push((nic, rank)),
                QueuePairName::Slot(_) => panic!("ties are hashed"),
            }
        }
        assert_eq!(names, [(0, 1), (0, (1 << RANK_BITS) - 1), (1, 3), (2, 0), (2, 1), (last, 1)]);
    }

    /// Why a run ends, if it does.
    fn outgrown(work: impl FnOnce()) -> Option<String> {
        let ended = guarded(work).err()?;
        Some(ended.downcast_ref::<Outgrown>().expect("it says so").message.clone())
    }

    #[test]
    fn a_run_by_scheduling_order_ends_where_its_numbers_end() {
        let mut events = Events::new(Ties::SchedulingOrder, Starts::Last);
        events.number = LAST_NUMBER - 2;
        events.number();
        assert_eq!(outgrown(|| events.check_numbers()), None);
        events.number();
        let why = outgrown(|| events.check_numbers()).expect("starts have the next number");
        assert!(why.starts_with("68719476735 events have been scheduled, the maximum"), "{why}");
    }

    #[test]
    fn a_run_by_scheduling_order_ends_where_queue_pairs_have_no_number() {
        let last = (1 << ID_BITS) - 1;
        let key = |ties, slot| Events::new(ties, Starts::Last).queue_pair_key(0, 0, slot);
        assert_eq!(key(Ties::SchedulingOrder, last), u64::from(last));
        assert_eq!(outgrown(|| _ = key(Ties::Hashed, last + 1)), None);
        let why = outgrown(|| _ = key(Ties::SchedulingOrder, last + 1)).expect("it has no number");
        assert!(why.starts_with("more than 16777216 queue pairs are open, the maximum"), "{why}");
    }

    #[test]
    fn timers_come_in_the_order_in_which_they_were_set_where_ties_go_by_scheduling() {
        let mut events = Events::new(Ties::SchedulingOrder, Starts::Last);
        let numbers = [(); 3].map(|()| events.number());
        // They are armed late, in another order, and after what was scheduled meanwhile.
        events.add(EventKind::Departure, 1, 50);
        for (slot, number) in [(7, numbers[1]), (3, numbers[2]), (5, numbers[0])] {
            arm(&mut events, &mut Armed::default(), (0, slot, slot), 50, Set::Before(number));
        }
        let mut turns = Turns::at_most(100);
        let next = || if turns.go() { pop(&mut events) } else { None };
        let orders: Vec<u64> = std::iter::from_fn(next).map(|event| event.order).collect();
        let names: Vec<_> = orders[..3].iter().map(|&order| events.queue_pair(order)).collect();
        assert_eq!(names, [5, 7, 3].map(QueuePairName::Slot));
        assert_eq!(events.decode(orders[3]).0, EventKind::Departure);
        assert!(
            !events.has_come(Some(numbers[1]), orders[0]) && events.has_come(Some(numbers[0]), orders[0])
        );
    }

    /// A resume ends a pause, whose timer was armed for its end.
    #[test]
    fn a_timer_that_its_machine_wants_no_more_does_not_fire_where_ties_go_by_scheduling() {
        let mut events = Events::new(Ties::SchedulingOrder, Starts::Last);
        let mut timer = Armed::default();
        events.renew(&mut timer, Some(Time(50)), EventKind::FcSender, 3);
        events.renew(&mut timer, None, EventKind::FcSender, 3);
        let old = pop(&mut events).expect("its event is there").order;
        assert!(!timer.fires(Time(50), old));
        events.renew(&mut timer, Some(Time(60)), EventKind::FcSender, 3);
        let new = pop(&mut events).expect("its event is there").order;
        assert!(timer.fires(Time(60), new));
    }

    #[test]
    fn an_event_of_an_older_wish_does_not_fire_though_its_generation_has_come_again() {
        let mut events = Events::new(Ties::Hashed, Starts::Last);
        let mut timer = Armed::default();
        arm(&mut events, &mut timer, (1, 2, 0), 200_000, Set::Now);
        let old = timer.order;
        for at in (200_000 - QP_GENERATIONS - 1..200_000).rev() {
            arm(&mut events, &mut timer, (1, 2, 0), at, Set::Now);
        }
        assert_eq!(timer.order, old, "all generations have been used");
        assert!(!timer.fires(Time(200_000), old));
        assert!(timer.fires(Time(200_000 - QP_GENERATIONS - 1), old));
    }
}
