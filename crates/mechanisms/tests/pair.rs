//! Both halves of a flow control, a wire between them, an upstream that always has frames, and a drain that
//! does what it likes. Every lossless flow control of the registry is tried.
//!
//! ```text
//!  frames --[Sender]--- delay --->[Receiver | static buffer]--- drain
//!               ^---- delay ---[wire of the MAC]--'
//! ```

#![allow(clippy::cast_possible_truncation, reason = "numbers of tests are small")]

#[path = "pair/credits.rs"]
mod credits;

use std::collections::VecDeque;

use floodway_mechanisms::registry::{
    AnyAdmission, AnyFcReceiver, AnyFcSender, BufferParams, FlowControlParams,
};
use floodway_mechanisms::slots::{
    Admission, Admit, Cx, FcFrame, FcReceiver, FcSender, Gate, IngressView, LinkInfo, Outbox, PacketView,
    PauseMode, PoolView, QueueView,
};
use floodway_units::{Bytes, Class, Quanta, Rate, Rng, Span, Time, Turns, stream};
use proptest::prelude::*;

/// Frame of the MAC's control, as buffers count.
const CONTROL_FRAME: u64 = 64;

/// What surrounds the two halves.
#[derive(Clone, Debug)]
struct Setting {
    link: LinkInfo,
    /// What a frame has on the wire beyond its bytes in buffers.
    overhead: u64,
    /// Sizes of the upstream's frames, over and over.
    frames: Vec<u64>,
    /// For how long the downstream drains at how many percent of the link's rate, over and over.
    drain: Vec<(Span, u64)>,
    /// How much of a largest frame a control frame finds ahead of it on the reverse link, in percent,
    /// over and over.
    ahead: Vec<u64>,
    /// MAC reaction time that the flow control was given.
    react: Span,
    /// How many bytes the upstream may send at most.
    bytes: u64,
    /// Which frames are damaged on the way, over and over: data; what the receiver says; what the sender
    /// says.
    damaged: [Vec<bool>; 3],
}

/// Nothing is damaged.
fn intact() -> [Vec<bool>; 3] {
    [const { Vec::new() }; 3]
}

/// What a run has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Outcome {
    sent: u64,
    drained: u64,
    dropped: u64,
    /// Bytes damaged on the way.
    damaged: u64,
    /// Most bytes held, and most of them in headroom.
    peak: u64,
    peak_headroom: u64,
    pauses: u64,
    /// Instants at which the drain was willing and found nothing, after the first frame.
    starved: u64,
    /// The least and the most that bytes held and granted came to while the upstream had frames.
    sums: Option<(u64, u64)>,
}

/// An independent account of what the pauses that have arrived ask for.
#[derive(Clone, Copy, Debug, Default)]
struct Oracle {
    from: Time,
    until: Time,
    /// A frame of another flow control has arrived.
    lost: bool,
}

impl Oracle {
    fn receives(&mut self, now: Time, frame: FcFrame, link: &LinkInfo, react: Span, on_off: bool) {
        match frame {
            FcFrame::Pause { quanta: Quanta(0), .. } => self.until = now,
            FcFrame::Pause { quanta, .. } => {
                if now >= self.until {
                    self.from = now + react;
                }
                // Whole picoseconds at all rates tried here.
                let quantum = 512 * 1_000_000_000_000 / link.rate.0;
                let length = Span(quantum * u64::from(quanta.0));
                self.until = if on_off { Time::NEVER } else { now + length };
            }
            _ => self.lost = true,
        }
    }

    fn holds(&self, now: Time) -> bool {
        self.from <= now && now < self.until
    }
}

struct Pair<'a> {
    setting: &'a Setting,
    on_off: bool,
    now: Time,
    rng: Rng,
    out: Outbox<FcFrame>,
    oracle: Oracle,
    outcome: Outcome,
    /// Frames that have arrived or were damaged, by the kinds of `damaged`.
    arrivals: [usize; 3],
    // upstream
    sender: AnyFcSender,
    next_frame: usize,
    sender_free: Time,
    // on the wire, with the time of the last bit
    data: VecDeque<(Time, u64)>,
    down: VecDeque<(Time, FcFrame)>,
    up: VecDeque<(Time, FcFrame)>,
    // the MAC of the downstream, which keeps only the newest word that has not begun
    waiting: Option<(Time, FcFrame)>,
    mac_free: Time,
    next_ahead: usize,
    // downstream
    receiver: AnyFcReceiver,
    admission: AnyAdmission,
    capacity: Bytes,
    headroom_size: Bytes,
    view: IngressView,
    queue: VecDeque<u64>,
    leaving: Option<Time>,
    phase: usize,
    phase_ends: Time,
}

impl<'a> Pair<'a> {
    fn new(choice: &FlowControlParams, capacity: Bytes, setting: &'a Setting) -> Self {
        let link = LinkInfo { buffer: capacity, ..setting.link };
        let (sender, receiver) = choice.build(&link).expect("the parameters are valid");
        let buffer: BufferParams = serde_json::from_str(r#""static""#).expect("there is a static buffer");
        let mut pair = Pair {
            setting,
            on_off: choice.pause_mode(setting.link.pause) == PauseMode::OnOff,
            now: Time::ZERO,
            rng: stream(1, 1, "pair"),
            out: Outbox::default(),
            // It knows nothing of credits.
            oracle: Oracle { lost: sender.counts_sent(), ..Oracle::default() },
            outcome: Outcome::default(),
            arrivals: [0; 3],
            sender,
            next_frame: 0,
            sender_free: Time::ZERO,
            data: VecDeque::new(),
            down: VecDeque::new(),
            up: VecDeque::new(),
            waiting: None,
            mac_free: Time::ZERO,
            next_ahead: 0,
            receiver,
            admission: buffer.build().expect("the defaults are valid"),
            capacity,
            headroom_size: choice.headroom(&setting.link),
            view: IngressView::default(),
            queue: VecDeque::new(),
            leaving: None,
            phase: 0,
            phase_ends: Time::ZERO + setting.drain[0].0,
        };
        pair.view.pool_free = pair.free();
        pair
    }

    fn run(self) -> Outcome {
        self.run_to_end().0
    }

    /// What it has seen, and when it was over.
    fn run_to_end(mut self) -> (Outcome, Time) {
        // A frame has an instant where it starts, one where it arrives and one where it has left; control
        // frames and timers have as many again at most, and pauses of the drain few.
        let shortest = *self.setting.frames.iter().min().expect("there is a frame");
        let most = 2_000_000 + 6 * self.setting.bytes / shortest;
        for _ in 0..most {
            self.step();
            let Some(next) = self.next_instant() else { return (self.outcome, self.now) };
            assert!(next >= self.now, "something asks for {next:?} at {:?}", self.now);
            self.now = next;
        }
        panic!("the run does not end: {:?}", self.outcome);
    }

    fn wire(&self, bytes: u64) -> Span {
        self.setting.link.rate.time_to_send(Bytes(bytes + self.setting.overhead))
    }

    fn free(&self) -> Bytes {
        self.capacity.saturating_sub(self.headroom_size).saturating_sub(self.view.shared)
    }

    /// Everything that is due now: control frames, releases, departures, arrivals, timers.
    fn step(&mut self) {
        let mut turns = Turns::at_most(1_000_000);
        while turns.go()
            && let Some(frame) = due(&mut self.up, self.now)
        {
            if self.is_damaged(1) {
                continue;
            }
            let (now, link, react) = (self.now, &self.setting.link, self.setting.react);
            self.oracle.receives(now, frame, link, react, self.on_off);
            self.sender.on_frame(&mut cx(now, &mut self.rng, &mut self.out), frame);
            self.flush_sender();
        }
        if self.waiting.is_some_and(|(start, _)| start <= self.now) {
            self.begin_control();
        }
        self.drain();
        self.start();
        let mut turns = Turns::at_most(1_000_000);
        while turns.go()
            && let Some(frame) = due(&mut self.down, self.now)
        {
            if self.is_damaged(2) {
                continue;
            }
            self.receiver.on_frame(&mut cx(self.now, &mut self.rng, &mut self.out), frame, &self.view);
            self.flush_receiver();
        }
        let mut turns = Turns::at_most(1_000_000);
        while turns.go()
            && let Some(bytes) = due(&mut self.data, self.now)
        {
            if self.is_damaged(0) {
                self.outcome.damaged += bytes;
            } else {
                self.arrive(bytes);
            }
        }
        self.timers();
        self.drain();
        self.start();
    }

    /// Is the next frame of a kind damaged?
    fn is_damaged(&mut self, kind: usize) -> bool {
        let (damaged, arrivals) = (&self.setting.damaged[kind], &mut self.arrivals[kind]);
        *arrivals += 1;
        !damaged.is_empty() && damaged[*arrivals % damaged.len()]
    }

    fn timers(&mut self) {
        if self.sender.next_timeout().is_some_and(|at| at <= self.now) {
            self.sender.on_timeout(&mut cx(self.now, &mut self.rng, &mut self.out));
            self.flush_sender();
        }
        if self.receiver.next_timeout().is_some_and(|at| at <= self.now) {
            self.receiver.on_timeout(&mut cx(self.now, &mut self.rng, &mut self.out), &self.view);
            self.flush_receiver();
            if let AnyFcReceiver::Bifrost(receiver) = &self.receiver
                && self.has_frames()
            {
                let sum = (self.view.queued + receiver.incoming()).0;
                let (least, most) = self.outcome.sums.unwrap_or((sum, sum));
                self.outcome.sums = Some((least.min(sum), most.max(sum)));
            }
        }
    }

    fn has_frames(&self) -> bool {
        self.outcome.sent < self.setting.bytes
    }

    fn gate(&self) -> Gate {
        let frame = self.setting.frames[self.next_frame % self.setting.frames.len()];
        self.sender.gate(self.now, Bytes(frame + self.setting.overhead))
    }

    /// The upstream starts a frame if it may, and only if the pauses that it has received let it.
    fn start(&mut self) {
        let is_open = self.gate().is_open(self.now);
        assert!(
            self.oracle.lost || is_open != self.oracle.holds(self.now),
            "{:?}: {:?}",
            self.now,
            self.oracle
        );
        if !is_open || self.now < self.sender_free || !self.has_frames() {
            return;
        }
        let bytes = self.setting.frames[self.next_frame % self.setting.frames.len()];
        self.next_frame += 1;
        self.outcome.sent += bytes;
        let wire = Bytes(bytes + self.setting.overhead);
        self.sender.on_sent(&mut cx(self.now, &mut self.rng, &mut self.out), wire);
        self.sender_free = self.now + self.wire(bytes);
        self.data.push_back((self.sender_free + self.setting.link.delay, bytes));
        self.flush_sender();
    }

    fn arrive(&mut self, bytes: u64) {
        self.view.received += Bytes(bytes + self.setting.overhead);
        let free = self.free();
        let pool = PoolView {
            free,
            threshold: self.receiver.threshold(free),
            headroom: self.headroom_size,
            headroom_free: Bytes::MAX,
            size: self.capacity,
            egress_used: Bytes::ZERO,
            queue_room: Bytes::MAX,
        };
        let (packet, egress) = (packet(bytes, self.setting.overhead), egress(self.setting.link.rate));
        match self.admission.admit(self.now, &mut self.rng, &packet, &self.view, &egress, &pool) {
            Admit::Drop(_) => {
                self.outcome.dropped += bytes;
                return;
            }
            Admit::Headroom => self.view.headroom += Bytes(bytes),
            Admit::Reserved | Admit::Shared => self.view.shared += Bytes(bytes),
            Admit::Cut | Admit::CutLast => panic!("the buffers of this test cut nothing"),
        }
        self.view.queued += Bytes(bytes);
        self.view.wire = self.view.queued;
        self.view.pool_free = self.free();
        self.queue.push_back(bytes);
        self.outcome.peak = self.outcome.peak.max(self.view.queued.0);
        self.outcome.peak_headroom = self.outcome.peak_headroom.max(self.view.headroom.0);
        self.receiver.on_enqueue(&mut cx(self.now, &mut self.rng, &mut self.out), &self.view);
        self.flush_receiver();
    }

    /// Releases what has left, changes phase, and begins with the next frame.
    fn drain(&mut self) {
        if self.leaving.is_some_and(|at| at <= self.now) {
            self.leaving = None;
            self.release();
        }
        let mut turns = Turns::at_most(1_000_000);
        while turns.go() && self.phase_ends <= self.now {
            self.phase += 1;
            self.phase_ends += self.setting.drain[self.phase % self.setting.drain.len()].0;
        }
        let percent = self.setting.drain[self.phase % self.setting.drain.len()].1;
        if self.leaving.is_some() || percent == 0 {
            return;
        }
        match self.queue.front() {
            Some(bytes) => self.leaving = Some(self.now + Span(self.wire(*bytes).0 * 100 / percent)),
            None if self.outcome.drained > 0 && self.has_frames() => self.outcome.starved += 1,
            None => {}
        }
    }

    fn release(&mut self) {
        let bytes = self.queue.pop_front().expect("a frame was leaving");
        self.outcome.drained += bytes;
        let from_headroom = bytes.min(self.view.headroom.0);
        self.view.headroom -= Bytes(from_headroom);
        self.view.shared -= Bytes(bytes - from_headroom);
        self.view.queued -= Bytes(bytes);
        self.view.wire = self.view.queued;
        self.view.pool_free = self.free();
        self.receiver.on_release(&mut cx(self.now, &mut self.rng, &mut self.out), &self.view);
        self.flush_receiver();
    }

    /// The sender's words go between two frames of data.
    fn flush_sender(&mut self) {
        for frame in std::mem::take(&mut self.out.0) {
            self.sender_free = self.sender_free.max(self.now) + self.wire(CONTROL_FRAME);
            self.down.push_back((self.sender_free + self.setting.link.delay, frame));
        }
    }

    /// A word waits for the frame on the wire; a newer one takes its place.
    fn flush_receiver(&mut self) {
        for frame in std::mem::take(&mut self.out.0) {
            self.outcome.pauses += u64::from(matches!(frame, FcFrame::Pause { quanta, .. } if quanta.0 > 0));
            if let Some((_, waiting)) = &mut self.waiting {
                *waiting = frame;
            } else {
                self.waiting = Some((self.wire_is_free(), frame));
            }
        }
    }

    /// When the reverse link has sent the frame that it is at.
    fn wire_is_free(&mut self) -> Time {
        if self.mac_free > self.now {
            return self.mac_free;
        }
        let percent = self.setting.ahead[self.next_ahead % self.setting.ahead.len()];
        self.next_ahead += 1;
        self.now + Span(self.wire(self.setting.link.mtu.0).0 * percent / 100)
    }

    /// How much of the jitter the next control frame does not have.
    fn early(&self) -> Span {
        let percent = self.setting.ahead[self.next_ahead % self.setting.ahead.len()];
        Span(self.setting.link.reverse_jitter.0 * percent / 100)
    }

    fn begin_control(&mut self) {
        let (_, frame) = self.waiting.take().expect("a frame is waiting");
        self.mac_free = self.now + self.wire(CONTROL_FRAME);
        let last = self.up.back().map_or(Time::ZERO, |(at, _)| *at);
        self.up.push_back((last.max(self.mac_free + self.setting.link.reverse_delay - self.early()), frame));
    }

    /// None once all frames have been sent and have left.
    fn next_instant(&self) -> Option<Time> {
        if !self.has_frames() && self.data.is_empty() && self.queue.is_empty() {
            return None;
        }
        let may_start = match self.gate() {
            Gate::Open => Some(self.sender_free),
            Gate::Until(end) => Some(end.max(self.sender_free)),
            Gate::Closed => None,
        };
        let idle = self.leaving.is_none() && !self.queue.is_empty();
        let instants = [
            may_start.filter(|_| self.has_frames()),
            self.data.front().map(|(at, _)| *at),
            self.down.front().map(|(at, _)| *at),
            self.up.front().map(|(at, _)| *at),
            self.waiting.map(|(start, _)| start),
            self.leaving,
            idle.then_some(self.phase_ends),
            self.sender.next_timeout(),
            self.receiver.next_timeout(),
        ];
        instants.into_iter().flatten().min()
    }
}

/// What has arrived by now, one at a time.
fn due<T>(wire: &mut VecDeque<(Time, T)>, now: Time) -> Option<T> {
    wire.front().is_some_and(|(at, _)| *at <= now).then(|| wire.pop_front().expect("it has a front").1)
}

fn cx<'a>(now: Time, rng: &'a mut Rng, out: &'a mut Outbox<FcFrame>) -> Cx<'a, FcFrame> {
    Cx { now, rng, out }
}

fn packet(bytes: u64, overhead: u64) -> PacketView {
    PacketView { frame: Bytes(bytes), wire: Bytes(bytes + overhead), ..PacketView::example() }
}

fn egress(rate: Rate) -> QueueView {
    QueueView { rate, ..QueueView::example() }
}

fn choice(json: &str) -> FlowControlParams {
    serde_json::from_str(json).expect("the parameters are well formed")
}

fn setting() -> impl Strategy<Value = Setting> {
    let rate = prop_oneof![Just(10u64), Just(40), Just(100), Just(400)];
    let delay = || prop_oneof![1u64..100, 1u64..3_000].prop_map(Span::ns);
    let mtu = prop_oneof![256u64..2_000, Just(1_500), Just(9_000)];
    let frame = prop_oneof![2 => Just(100u64), 1 => 1u64..=100];
    let percent = prop_oneof![Just(0u64), Just(100), 1u64..=100];
    let phase = (1u64..20_000, percent).prop_map(|(ns, percent)| (Span::ns(ns), percent));
    let ahead = prop_oneof![Just(0u64), Just(100), 0u64..=100];
    let pause = prop_oneof![Just(PauseMode::Timer), Just(PauseMode::OnOff)];
    let link =
        (rate, delay(), delay(), mtu, pause).prop_map(|(gbps, delay, reverse_delay, mtu, pause)| LinkInfo {
            reverse_jitter: Span::ZERO,
            rate: Rate::gbps(gbps),
            nic_rate: Rate::gbps(gbps),
            reverse_rate: Rate::gbps(gbps),
            delay,
            reverse_delay,
            mtu: Bytes(mtu),
            least_frame: Bytes(64),
            overhead: Bytes(20),
            cell: Bytes(1),
            has_errors: false,
            replay: Bytes::ZERO,
            to_host: false,
            class: Class::DATA,
            buffer: Bytes::MAX,
            pause,
        });
    let many = 1..12usize;
    let parts = (
        link,
        prop_oneof![Just(0u64), Just(20)],
        proptest::collection::vec(frame, many.clone()),
        proptest::collection::vec(phase, many.clone()),
        proptest::collection::vec(ahead, many),
    );
    parts.prop_map(|(link, overhead, frames, mut drain, ahead)| {
        let bytes_of = |percent: u64| (link.mtu.0 * percent / 100).max(CONTROL_FRAME);
        // So that every run ends.
        drain.push((Span::us(2), 100));
        Setting {
            link: LinkInfo { overhead: Bytes(overhead), ..link },
            overhead,
            frames: frames.into_iter().map(bytes_of).collect(),
            drain,
            ahead,
            react: Span::ZERO,
            bytes: 0,
            damaged: intact(),
        }
    })
}

/// PFC that pauses often: (choice, reaction time).
fn tuned_pfc(mtu: u64) -> impl Strategy<Value = (FlowControlParams, Span)> {
    let xoff = prop_oneof![1u64..5_000, 1u64..60_000];
    let offset = proptest::option::of(0..3 * mtu);
    let react = prop_oneof![Just(0u64), 1u64..400];
    (xoff, offset, react, 10u64..90, 0u64..3_000).prop_map(move |(xoff, offset, react, refresh, more)| {
        // The shortest pause that a refresh at this fraction can renew, and 400 ns at 400 Gbit/s.
        let quanta = 2 * mtu * 100 / (64 * (100 - refresh)) + 400 + more;
        let offset = offset.map_or(String::new(), |bytes| format!(r#""resume-offset": "{bytes}B","#));
        let json = format!(
            r#"{{ "pfc": {{ "xoff": "{xoff}B", {offset} "react": "{react}ns", "refresh": 0.{refresh}, "quanta": {quanta} }} }}"#,
        );
        (choice(&json), Span::ns(react))
    })
}

/// The same with a link that is long enough for slots.
fn long_haul() -> impl Strategy<Value = Setting> {
    let longer = prop_oneof![11_000u64..30_000, 11_000u64..60_000].prop_map(Span::ns);
    let jitter = prop_oneof![2 => Just(0u64), 1 => 1u64..1_000].prop_map(Span::ns);
    (setting(), longer.clone(), longer, jitter).prop_map(|(setting, there, back, jitter)| {
        let link = LinkInfo {
            delay: setting.link.delay + there,
            reverse_delay: setting.link.reverse_delay + back,
            reverse_jitter: jitter,
            ..setting.link
        };
        Setting { link, ..setting }
    })
}

/// Bifrost with a slot, a level above the least one, a reaction time.
#[derive(Clone, Debug)]
struct Tuned {
    slot: Span,
    above: u64,
    react: Span,
    more: String,
}

fn tuned_bifrost() -> impl Strategy<Value = Tuned> {
    let react = prop_oneof![2 => Just(0u64), 1 => 1u64..900];
    let above = prop_oneof![Just(0u64), 0u64..100_000];
    (1_001u64..11_000, above, react, 1u64..4, any::<bool>()).prop_map(|(slot, above, react, k, half)| Tuned {
        slot: Span::ns(slot),
        above,
        react: Span::ns(react),
        more: format!(r#""leak-period": {k}, "half-mtu": {half}"#),
    })
}

impl Tuned {
    /// Rs T, Delta, and N, by hand.
    fn slots(&self, link: &LinkInfo) -> (u64, u64, u64) {
        let full = link.rate.bytes_covering(self.slot).0;
        let flight = link.delay + link.reverse_delay + self.react;
        let delta = link.rate.bytes_covering(flight).0 + 2 * link.mtu.0 + CONTROL_FRAME;
        (full, delta, delta.div_ceil(full))
    }

    /// What each grant can let through beyond what it says.
    fn leak(link: &LinkInfo) -> u64 {
        link.mtu.0 + link.rate.bytes_covering(link.reverse_jitter).0
    }

    fn choice(&self, link: &LinkInfo) -> FlowControlParams {
        let (full, delta, _) = self.slots(link);
        let (slot, react, level) = (self.slot, self.react, delta + 2 * full + self.above);
        choice(&format!(
            r#"{{ "bifrost": {{ "slot": "{slot}", "react": "{react}", "level": "{level}B", {} }} }}"#,
            self.more
        ))
    }
}

/// A run that fills the buffer of `min_buffer` several times if it can.
fn run_at_min_buffer(choice: &FlowControlParams, mut setting: Setting, react: Span) -> (Outcome, Bytes) {
    setting.react = react;
    let least = choice.min_buffer(&setting.link);
    setting.bytes = least.0 * 4;
    (Pair::new(choice, least, &setting).run(), least)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_buffer_of_the_formulas_size_loses_nothing(
        (setting, (pfc, react)) in setting()
            .prop_flat_map(|setting| (Just(setting.clone()), tuned_pfc(setting.link.mtu.0))),
    ) {
        let headroom = pfc.headroom(&setting.link);
        let (outcome, least) = run_at_min_buffer(&pfc, setting, react);
        prop_assert_eq!(outcome.dropped, 0);
        prop_assert_eq!(outcome.drained, outcome.sent);
        prop_assert!(outcome.peak < least.0 && outcome.peak_headroom <= headroom.0, "{outcome:?}, {least:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_lossless_flow_control_loses_nothing_with_its_defaults(setting in long_haul()) {
        for name in FlowControlParams::names() {
            let choice = choice(&format!("{name:?}"));
            // One that says why it may overflow has no size that is sure.
            if choice.is_lossless() && choice.may_overflow(&setting.link).is_none() {
                let (outcome, _) = run_at_min_buffer(&choice, setting.clone(), Span::ZERO);
                prop_assert_eq!(outcome.dropped, 0);
                prop_assert_eq!(outcome.drained, outcome.sent);
            }
        }
    }

    /// XON covers what the drain takes from the decision to resume until the first frame after it: the
    /// headroom's formula and the granularity of a frame.
    #[test]
    fn with_xon_of_a_round_trip_the_drain_never_starves(setting in setting()) {
        let mtu = setting.link.mtu.0;
        let headroom = choice(r#""pfc""#).headroom(&setting.link).0;
        let xoff = headroom + 4 * mtu + 200;
        let pfc = choice(&format!(r#"{{ "pfc": {{ "xoff": "{xoff}B" }} }}"#));
        let mut setting = setting;
        // At first the queue has to fill.
        setting.drain.insert(0, (setting.link.rate.time_to_send(Bytes(2 * (xoff + headroom))), 0));
        setting.drain.push((setting.link.rate.time_to_send(Bytes(xoff + headroom)), 0));
        let paused_often = Setting { bytes: (xoff + headroom) * 3, ..setting };
        let outcome = Pair::new(&pfc, pfc.min_buffer(&paused_often.link), &paused_often).run();
        prop_assert_eq!((outcome.dropped, outcome.starved), (0, 0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_ledger_of_grants_loses_nothing_in_a_buffer_of_the_formulas_size(
        setting in long_haul(), bifrost in tuned_bifrost(),
    ) {
        let choice = bifrost.choice(&setting.link);
        let (outcome, least) = run_at_min_buffer(&choice, setting, bifrost.react);
        prop_assert_eq!((outcome.dropped, outcome.peak_headroom), (0, 0));
        prop_assert_eq!(outcome.drained, outcome.sent);
        prop_assert!(outcome.peak <= least.0, "{outcome:?}, {least:?}");
    }

    /// Theorem 1 with packets: a frame more or less for each grant on the way.
    #[test]
    fn bytes_held_and_granted_stay_within_a_frame_for_each_grant_of_the_theorem(
        setting in long_haul(), bifrost in tuned_bifrost(),
    ) {
        let bifrost = Tuned { react: Span::ZERO, more: r#""leak-period": 1"#.to_owned(), ..bifrost };
        let (full, delta, slots) = bifrost.slots(&setting.link);
        let slack = (slots + 1) * Tuned::leak(&setting.link);
        let choice = bifrost.choice(&setting.link);
        let (outcome, _) = run_at_min_buffer(&choice, Setting { overhead: 0, ..setting }, Span::ZERO);
        if let Some((least, most)) = outcome.sums {
            let level = delta + 2 * full + bifrost.above;
            prop_assert!(least + slack >= delta + full && most <= level + slack, "{least}, {most}: {bifrost:?}");
        }
        prop_assert!(bifrost.above > 0 || outcome.sums.is_some(), "it has never been awake");
    }

    /// The level of Theorem 1 is that of a fluid; each grant on the way may lose a frame to granularity.
    #[test]
    fn with_a_frame_more_for_each_grant_the_drain_never_starves(
        setting in long_haul(), bifrost in tuned_bifrost(),
    ) {
        let mut setting = setting;
        let (full, delta, slots) = bifrost.slots(&setting.link);
        let bifrost = Tuned { above: 2 * (slots + 2) * Tuned::leak(&setting.link), react: Span::ZERO, ..bifrost };
        let choice = bifrost.choice(&setting.link);
        let least = choice.min_buffer(&setting.link);
        // At first the queue has to fill.
        setting.drain.insert(0, (setting.link.rate.time_to_send(least + Bytes(delta + 2 * full)), 0));
        setting.drain.push((setting.link.rate.time_to_send(least * 2), 0));
        setting.drain.push((setting.link.rate.time_to_send(least), 100));
        let outcome = Pair::new(&choice, least, &Setting { bytes: least.0 * 4, ..setting }).run();
        prop_assert_eq!((outcome.dropped, outcome.starved), (0, 0));
    }
}

/// The drain has stopped, every frame is as large as can be, the control frame finds one just begun, and
/// the pause arrives just after the upstream has begun another.
fn worst_case() -> (FlowControlParams, Setting) {
    let pfc = choice(r#"{ "pfc": { "xoff": "15001B" } }"#);
    let setting = Setting {
        link: LinkInfo {
            rate: Rate::gbps(100),
            nic_rate: Rate::gbps(100),
            reverse_rate: Rate::gbps(100),
            // Both ways together 14,937 bytes: with the 64 of the pause ten frames and one byte.
            delay: Span(600_000),
            reverse_delay: Span(594_960),
            reverse_jitter: Span::ZERO,
            mtu: Bytes(1_500),
            least_frame: Bytes(64),
            overhead: Bytes::ZERO,
            cell: Bytes(1),
            has_errors: false,
            replay: Bytes::ZERO,
            to_host: false,
            class: Class::DATA,
            buffer: Bytes::MAX,
            pause: PauseMode::Timer,
        },
        overhead: 0,
        frames: vec![1_500],
        drain: vec![(Span::ms(2), 0), (Span::ms(1_000), 100)],
        ahead: vec![100],
        react: Span::ZERO,
        bytes: 60_000,
        damaged: intact(),
    };
    (pfc, setting)
}

#[test]
fn the_worst_case_fills_the_buffer_to_the_last_byte() {
    let (pfc, setting) = worst_case();
    let least = pfc.min_buffer(&setting.link);
    assert_eq!(least, Bytes(15_001 + 1_499 + 18_001));
    let outcome = Pair::new(&pfc, least, &setting).run();
    assert_eq!((outcome.dropped, outcome.peak, outcome.peak_headroom), (0, least.0 - 1, 18_000));
}

#[test]
fn the_worst_case_drops_with_two_bytes_less() {
    let (pfc, setting) = worst_case();
    for missing in [2, 1_500] {
        let short = pfc.min_buffer(&setting.link) - Bytes(missing);
        assert!(Pair::new(&pfc, short, &setting).run().dropped > 0, "{missing} bytes are missing");
    }
}

#[test]
fn a_pause_outlasts_its_quanta_by_refreshes() {
    let (pfc, setting) = worst_case();
    let outcome = Pair::new(&pfc, pfc.min_buffer(&setting.link), &setting).run();
    // The drain stops for 2 ms; a pause of 335.54 us is renewed each 167.77 us.
    assert!((11..=13).contains(&outcome.pauses), "{} pauses", outcome.pauses);
}
