//! Inputs and crossbar of an input-output queued switch: virtual output queues, and the crossbar behind them.
//!
//! ```text
//! take_in ─► VOQ of (input, output, queue) ─► crossbar ─► enqueue at the output ─► try_transmit
//!            charged to the input's account               uncharged: it has crossed
//! ```
//!
//! A charged packet waits in a virtual output queue (VOQ) of its input, crosses by the matching of
//! `mechanisms/src/crossbar.rs`, and joins its egress queue where other packets join it on arrival. Its
//! account is uncharged when it has crossed, and not when it leaves; the flow control of the account receives
//! the length of the longest VOQ.

mod cross;

use floodway_blueprint::network::layout::{Layout, Local, LocalPortClass};
use floodway_mechanisms::crossbar::Crossbar;
use floodway_mechanisms::slots::CrossbarPlan;
use floodway_units::Rate;

use crate::link::arena::{Arena, Fifo, PacketRef};
use crate::link::links::Links;
use crate::run::events::NEVER;

/// What a switch has before its crossbar; ports by their place among the switch's, queues and classes those
/// of data alone.
#[derive(Debug)]
pub(crate) struct Inputs {
    crossbar: Crossbar,
    plan: CrossbarPlan,
    /// The port with the fastest link, whose time a packet takes, divided by the speed-up.
    clock: Local,
    ports: usize,
    queues: usize,
    classes: usize,
    /// By input, output and queue: what may cross.
    voqs: Vec<Fifo>,
    /// By input, output and class: bytes that are charged, from the pipeline until their last bit has
    /// crossed.
    held: Vec<u64>,
    /// By output and queue: bytes that are crossing to it.
    coming: Vec<u64>,
    /// By input and output: packets that wait.
    waiting: Vec<u32>,
    /// By output: the class that crosses next, if it can.
    turn: Vec<usize>,
    crossing: Vec<CrossingPacket>,
    /// When the next event is due, else never.
    wake: u64,
    /// Scratch buffer that is reused.
    pairs: Vec<(usize, usize)>,
}

/// A packet that is crossing.
#[derive(Clone, Copy, Debug)]
struct CrossingPacket {
    /// When its last bit has crossed.
    at: u64,
    output: usize,
    input: usize,
    /// The queue of data that it joins.
    queue: usize,
    packet_ref: PacketRef,
}

impl Inputs {
    /// Of a switch at rest with these ports, and their rates.
    pub fn new(plan: CrossbarPlan, ports: &[(Local, Rate)], queues: usize, classes: usize) -> Self {
        let n = ports.len();
        let fastest = ports.iter().rev().max_by_key(|(_, rate)| *rate);
        Inputs {
            crossbar: Crossbar::new(n),
            plan,
            clock: fastest.map_or(Local::default(), |(port, _)| *port),
            ports: n,
            queues,
            classes,
            voqs: vec![Fifo::default(); n * n * queues],
            held: vec![0; n * n * classes],
            coming: vec![0; n * queues],
            waiting: vec![0; n * n],
            turn: vec![0; n],
            crossing: Vec::with_capacity(n),
            wake: NEVER,
            pairs: Vec::with_capacity(n),
        }
    }

    fn voq(&self, input: usize, output: usize, queue: usize) -> usize {
        (input * self.ports + output) * self.queues + queue
    }

    /// Bytes of data of a class that came in by `ingress` and have still to cross to `out`.
    pub fn bytes(&self, ingress: Local, out: Local, class: u8) -> u64 {
        self.held[self.account(ingress.index(), out.index(), class as usize - 1)]
    }

    /// The most bytes that an account holds for one output.
    #[inline]
    pub fn longest_of(&self, layout: &Layout, port_class: LocalPortClass) -> u64 {
        let input = layout.port_of(port_class).index();
        let class = usize::from(layout.class_of(port_class)) - 1;
        let of = |output| self.held[self.account(input, output, class)];
        (0..self.ports).map(of).max().unwrap_or(0)
    }

    /// When the packet of a class arrived that has waited longest at an input to cross to an output.
    pub fn oldest(
        &self,
        packets: &Arena,
        (ingress, out): (Local, Local),
        class: u8,
        subs: usize,
    ) -> Option<u64> {
        let first = (class as usize - 1) * subs;
        let voqs =
            (first..first + subs).map(|queue| self.voqs[self.voq(ingress.index(), out.index(), queue)]);
        voqs.filter_map(Fifo::front).map(|packet_ref| packets[packet_ref].at).min()
    }

    fn account(&self, input: usize, output: usize, class: usize) -> usize {
        (input * self.ports + output) * self.classes + class
    }

    /// The queue of data whose first packet would cross next from `input` to `output`, if any may: classes
    /// take turns.
    pub fn next_across(
        &self,
        (links, layout, packets): (&Links, &Layout, &Arena),
        input: usize,
        output: usize,
    ) -> Option<usize> {
        let classes = (0..self.classes).map(|i| (self.turn[output] + i) % self.classes);
        let mut queues = classes.flat_map(|class| class * layout.subs..(class + 1) * layout.subs);
        queues.find(|&queue| {
            let first = self.voqs[self.voq(input, output, queue)].front();
            first.is_some_and(|first| {
                self.has_room(links, layout, (output, queue), packets[first].frame.into())
            })
        })
    }

    /// Has an output room for `frame` bytes more in a queue of data? The queues of a class share its room, of
    /// which those behind the first take no more than half each.
    pub fn has_room(
        &self,
        links: &Links,
        layout: &Layout,
        (output, queue): (usize, usize),
        frame: u64,
    ) -> bool {
        let queues = layout.queues(links.local(output));
        let held = |queue: usize| {
            links.queues[queues.nth(queue + 1)].bytes + self.coming[output * self.queues + queue]
        };
        let class = queue / layout.subs;
        let all: u64 = (class * layout.subs..(class + 1) * layout.subs).map(held).sum();
        let room = self.plan.output.0;
        let share = if queue.is_multiple_of(layout.subs) { room } else { (room / 2).max(frame) };
        all + frame <= room && held(queue) + frame <= share
    }

    /// One more packet waits at an input for an output.
    fn one_more(&mut self, input: usize, output: usize) {
        let waiting = &mut self.waiting[input * self.ports + output];
        *waiting += 1;
        self.crossbar.ask(input, output);
    }

    /// One packet less waits there.
    fn one_less(&mut self, input: usize, output: usize) {
        let waiting = &mut self.waiting[input * self.ports + output];
        *waiting -= 1;
        if *waiting == 0 {
            self.crossbar.withdraw(input, output);
        }
    }

    /// Takes the first that has crossed by `now`, in order of time, then of outputs.
    fn pop_crossed(&mut self, now: u64) -> Option<CrossingPacket> {
        let due = self.crossing.iter().enumerate().filter(|(_, packet)| packet.at <= now);
        let (first, _) = due.min_by_key(|(_, packet)| (packet.at, packet.output))?;
        Some(self.crossing.swap_remove(first))
    }

    /// All packets: those that wait, then those that are crossing.
    pub fn packet_refs<'a>(&'a self, packets: &'a Arena) -> impl Iterator<Item = PacketRef> + 'a {
        let waiting = self.voqs.iter().flat_map(|voq| voq.packet_refs(packets));
        waiting.chain(self.crossing.iter().map(|packet| packet.packet_ref))
    }
}
