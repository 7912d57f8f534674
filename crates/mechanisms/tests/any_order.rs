//! Calls in any order: no machine panics, asks for a timer in the past, or breaks the
//! contract of its slot. Every mechanism of the registry is tried, with its defaults.

#![allow(clippy::cast_possible_truncation, reason = "numbers of tests are small")]

use floodway_mechanisms::registry::{
    AnyCongestionPoint, AnyFcReceiver, AnyFcSender, AnyNotificationPoint, CongestionPointParams,
    FlowControlParams, NotificationParams, ReactionParams, ReliabilityParams, RoutingParams, SchedulerParams,
};
use floodway_mechanisms::slots::{
    AckView, Cnp, CongestionNotification, CongestionPoint, Cx, Discipline, FcFrame, FcReceiver, FcSender,
    FlowFilter, Gate, IngressView, IntHop, LinkInfo, LossView, Mark, NotificationPoint, Outbox, PacketView,
    PortEvent, PortInfo, PortMessage, PortView, QpInfo, QueueView, ReactionPoint, ReadyView, Reply, Report,
    Room, Router, Scheduler, Segment, SwitchInfo, TransportReceiver, TransportSender, Turn,
};
use floodway_units::{Bytes, Class, FlowId, PortId, Quanta, QueueId, Rate, Rng, Span, Time, Turns, stream};
use proptest::prelude::*;
use serde::de::DeserializeOwned;

/// Every choice of a slot, with its defaults.
fn all<T: DeserializeOwned>(names: Vec<&str>) -> Vec<T> {
    let read = |name: &&str| serde_json::from_value((*name).into()).expect("a bare name is a choice");
    names.iter().map(read).collect()
}

/// Every choice of a slot with its defaults, and some with other parameters.
fn with_tuned<T: DeserializeOwned>(names: Vec<&str>, tuned: &[&str]) -> Vec<T> {
    let read = |json: &&str| serde_json::from_str(json).expect("the parameters are well formed");
    let mut every = all(names);
    every.extend(tuned.iter().map(read));
    every
}

fn flow_controls() -> Vec<FlowControlParams> {
    let tuned = [
        r#"{ "pfc": { "pause": "on-off", "resume-offset": "0B", "watchdog": { "after": "50us" } } }"#,
        r#"{ "pfc": { "quanta": 200, "react": "3us", "xoff": { "fixed": "5KB", "alpha": 0.5 } } }"#,
        r#"{ "pfc": { "quanta": 200, "trigger": "headroom", "watchdog": { "after": "5us", "restore": "1us", "poll": "300ns" } } }"#,
        r#"{ "bifrost": { "slot": "1500ns", "react": "1us", "half-mtu": true, "leak-period": 7 } }"#,
        r#"{ "bifrost": { "slot": "11us", "f-mode": "measured" } }"#,
        r#"{ "cbfc": { "on-change": "3KB", "period": "7us" } }"#,
        r#"{ "cbfc": { "mode": "infiniband", "on-change": "1B" } }"#,
        r#"{ "cbfc": { "mode": "uec", "spacing": "300ns", "credit-size": "100B" } }"#,
    ];
    with_tuned(FlowControlParams::names(), &tuned)
}

fn link() -> LinkInfo {
    LinkInfo {
        delay: Span::us(12),
        reverse_delay: Span::us(12),
        reverse_jitter: Span::ns(50),
        buffer: Bytes::kb(400),
        ..LinkInfo::example()
    }
}

fn qp(lossless: bool) -> QpInfo {
    QpInfo { path_rate: Rate::gbps(40), lossless, ..QpInfo::example() }
}

fn port() -> PortInfo {
    PortInfo { port: PortId(0), ..PortInfo::example() }
}

/// The clock, the random stream and the outbox around one machine.
struct World<A> {
    now: Time,
    rng: Rng,
    out: Outbox<A>,
}

impl<A> World<A> {
    fn new() -> Self {
        World { now: Time::ZERO, rng: stream(1, 1, "any order"), out: Outbox::default() }
    }

    fn cx(&mut self) -> Cx<'_, A> {
        Cx { now: self.now, rng: &mut self.rng, out: &mut self.out }
    }

    /// Lets `wait` pass; each timer of `machine` is called at its instant, and asks for a later one then.
    fn wait<M>(
        &mut self,
        wait: Span,
        machine: &mut M,
        next: impl Fn(&M) -> Option<Time>,
        mut call: impl FnMut(&mut M, &mut Self),
    ) {
        let until = self.now + wait;
        let mut turns = Turns::at_most(10_000_000);
        while turns.go()
            && let Some(at) = next(machine).filter(|at| *at <= until)
        {
            assert!(at >= self.now, "a timer at {at:?} is asked for at {:?}", self.now);
            self.now = at;
            call(machine, self);
            assert!(next(machine).is_none_or(|again| again > at), "the timer at {at:?} asks for itself");
        }
        self.now = until;
    }
}

#[derive(Clone, Debug)]
enum Input {
    Enqueue(IngressView),
    Release(IngressView),
    Refused(IngressView),
    Frame(FcFrame),
    Sent(Bytes),
    Timeout,
    Reset,
}

fn frame() -> impl Strategy<Value = FcFrame> {
    let class = Class::DATA;
    prop_oneof![
        3 => prop_oneof![Just(0u16), 1u16..2_000, Just(u16::MAX)]
            .prop_map(move |quanta| FcFrame::Pause { class, quanta: Quanta(quanta) }),
        1 => any::<u32>().prop_map(move |limit| FcFrame::Credit { class, limit: u64::from(limit) }),
        1 => any::<u32>().prop_map(move |total| FcFrame::Sent { class, total: u64::from(total) }),
    ]
}

fn view() -> impl Strategy<Value = IngressView> {
    let part = || prop_oneof![Just(0u64), 0u64..400_000];
    (part(), part(), part(), part()).prop_map(|(reserved, shared, headroom, free)| IngressView {
        queued: Bytes(reserved + shared + headroom),
        wire: Bytes(reserved + shared + headroom),
        reserved: Bytes(reserved),
        shared: Bytes(shared),
        headroom: Bytes(headroom),
        received: Bytes(reserved + shared + headroom),
        received_frames: Bytes(reserved + shared + headroom),
        pool_free: Bytes(free),
        total: Bytes(reserved + shared + headroom + free),
    })
}

fn input() -> impl Strategy<Value = Input> {
    prop_oneof![
        4 => view().prop_map(Input::Enqueue),
        4 => view().prop_map(Input::Release),
        1 => view().prop_map(Input::Refused),
        4 => frame().prop_map(Input::Frame),
        2 => (64u64..1500).prop_map(|wire| Input::Sent(Bytes(wire))),
        1 => Just(Input::Timeout),
        1 => Just(Input::Reset),
    ]
}

/// Inputs, each after a wait in nanoseconds.
fn inputs<T: std::fmt::Debug>(of: impl Strategy<Value = T>) -> impl Strategy<Value = Vec<(u64, T)>> {
    let wait = prop_oneof![Just(0u64), 0u64..20_000];
    proptest::collection::vec((wait, of), 1..80)
}

fn drive_receiver(mut machine: AnyFcReceiver, inputs: &[(u64, Input)]) {
    let mut world = World::new();
    let mut last = IngressView::default();
    for (wait, input) in inputs {
        let next = AnyFcReceiver::next_timeout;
        world.wait(Span::ns(*wait), &mut machine, next, |m, world| m.on_timeout(&mut world.cx(), &last));
        match input {
            Input::Enqueue(view) => (last, ()) = (*view, machine.on_enqueue(&mut world.cx(), view)),
            Input::Release(view) => (last, ()) = (*view, machine.on_release(&mut world.cx(), view)),
            Input::Refused(view) => (last, ()) = (*view, machine.on_refused(&mut world.cx(), view)),
            Input::Frame(frame) => machine.on_frame(&mut world.cx(), *frame, &last),
            Input::Timeout => machine.on_timeout(&mut world.cx(), &last),
            Input::Reset => machine.on_link_reset(&mut world.cx(), &last),
            Input::Sent(_) => {}
        }
        assert!(machine.next_timeout().is_none_or(|at| at >= world.now));
        assert!(machine.threshold(last.pool_free) <= machine.threshold(Bytes::MAX));
    }
    for frame in &world.out.0 {
        assert!(!matches!(frame, FcFrame::Sent { .. }), "that is the other half's word");
    }
}

fn drive_sender(mut machine: AnyFcSender, inputs: &[(u64, Input)]) {
    let mut world = World::new();
    for (wait, input) in inputs {
        let next = AnyFcSender::next_timeout;
        world.wait(Span::ns(*wait), &mut machine, next, |m, world| m.on_timeout(&mut world.cx()));
        match input {
            Input::Frame(frame) => machine.on_frame(&mut world.cx(), *frame),
            Input::Sent(wire) => machine.on_sent(&mut world.cx(), *wire),
            Input::Timeout => machine.on_timeout(&mut world.cx()),
            Input::Reset => machine.on_link_reset(&mut world.cx()),
            Input::Enqueue(_) | Input::Release(_) | Input::Refused(_) => {}
        }
        assert!(machine.next_timeout().is_none_or(|at| at >= world.now));
        if let Gate::Until(end) = machine.gate(world.now, Bytes(1500)) {
            assert!(end > world.now, "a gate that opens at {end:?} is open at {:?}", world.now);
            let wakes = machine.next_timeout().expect("the end of a pause is heard of");
            assert!(wakes <= end);
        }
    }
    for frame in &world.out.0 {
        assert!(matches!(frame, FcFrame::Sent { .. }), "that is the other half's word");
    }
}

#[derive(Clone, Debug)]
enum Transport {
    Push(u64),
    Send,
    Reply(Reply),
    Timeout,
}

fn reply() -> impl Strategy<Value = Reply> {
    prop_oneof![
        (0u64..40).prop_map(|next| Reply::Ack { next }),
        (0u64..40).prop_map(|next| Reply::Nak { next }),
        (0u64..40, 0u64..40).prop_map(|(next, seen)| Reply::Sack { next, seen }),
        (0u64..40).prop_map(|psn| Reply::One { psn }),
    ]
}

fn transport() -> impl Strategy<Value = Transport> {
    prop_oneof![
        1 => (0u64..9_000).prop_map(Transport::Push),
        6 => Just(Transport::Send),
        3 => reply().prop_map(Transport::Reply),
        1 => Just(Transport::Timeout),
    ]
}

fn drive_transport_sender(choice: &ReliabilityParams, lossless: bool, inputs: &[(u64, Transport)]) {
    let (mut machine, _) = choice.build(&qp(lossless)).expect("the defaults are valid");
    let mut world = World::<()>::new();
    let (mut pushed, mut acknowledged) = (0, 0);
    // What a transport counts of each packet beside its payload.
    let info = qp(lossless);
    let header = if machine.has_headers() { info.wire - info.mtu } else { Bytes::ZERO };
    for (wait, input) in inputs {
        world.wait(Span::us(*wait), &mut machine, TransportSender::next_timeout, |m, world| {
            m.on_timeout(world.now);
        });
        match input {
            Transport::Push(bytes) => {
                machine.push(Bytes(*bytes));
                pushed += bytes + header.0 * bytes.div_ceil(info.mtu.0).max(1);
            }
            Transport::Send => {
                if machine.has_repeats() {
                    machine.next_repeat(world.now);
                }
                let ready = machine.ready();
                let next = machine.next_segment(world.now);
                assert_eq!(next.map(|segment| segment.payload + header), ready);
                if next.is_some() {
                    machine.header(world.now, &Room { window: Bytes(9_000), closed: false, wants: 0 });
                }
            }
            Transport::Reply(reply) if machine.has_headers() => {
                let reported = machine.on_reported(world.now, &report(*reply));
                machine.after_report(world.now, Bytes(9_000));
                acknowledged += reported.acked.0;
            }
            Transport::Reply(reply) => acknowledged += machine.on_reply(world.now, *reply).0.0,
            Transport::Timeout => assert!(machine.on_timeout(world.now).is_none_or(|loss| loss.timeout)),
        }
        assert!(machine.next_timeout().is_none_or(|at| at >= world.now));
        assert!(acknowledged + machine.in_flight().0 <= pushed);
        assert!(!machine.is_done() || machine.ready().is_none());
    }
}

/// A report of a transport whose packets have headers, in place of a reply.
fn report(reply: Reply) -> Report {
    let next = reply.next();
    match reply {
        Reply::Ack { .. } => Report { number: next, next, ..Report::default() },
        Reply::Nak { .. } => Report { number: next, trimmed: true, last_hop: true, ..Report::default() },
        Reply::Sack { seen, .. } => Report { number: seen, next, base: seen, bits: 5, ..Report::default() },
        Reply::One { psn } => Report { number: psn, marked: true, repeated: true, ..Report::default() },
    }
}

fn drive_transport_receiver(choice: &ReliabilityParams, lossless: bool, psns: &[(u64, u64)]) {
    let (_, mut machine) = choice.build(&qp(lossless)).expect("the defaults are valid");
    let mut world = World::new();
    for (wait, psn) in psns {
        world.now += Span::us(*wait);
        let segment = Segment {
            psn: *psn,
            payload: Bytes(1000),
            first: *psn == 0,
            last: psn % 7 == 6,
            retransmission: false,
        };
        let before = world.out.0.len();
        let delivered = machine.on_segment(&mut world.cx(), &segment);
        assert!(delivered <= segment.payload);
        assert!(choice.has_acks() || world.out.0.len() == before, "it has no acknowledgements");
    }
}

/// What an ACK brings: packets acknowledged, packets in flight, and the records of the path.
#[derive(Clone, Debug)]
struct Ack {
    packets: u64,
    ahead: u64,
    rtt: u64,
    marked: bool,
    int: Vec<IntHop>,
}

/// Records that need not fit those before: clocks that stand still or go back, counters that jump.
fn int() -> impl Strategy<Value = Vec<IntHop>> {
    let rate = prop_oneof![Just(1u64), Just(25), Just(100), Just(400)];
    let amount = || prop_oneof![Just(0u64), 0u64..100_000, 0u64..1 << 40];
    let hop = (rate, amount(), amount(), amount()).prop_map(|(rate, time, tx_bytes, queue)| IntHop {
        rate: Rate::gbps(rate),
        time: Time(time),
        tx_bytes,
        queue: Bytes(queue),
    });
    proptest::collection::vec(hop, 0..8)
}

fn ack() -> impl Strategy<Value = Ack> {
    let rtt = prop_oneof![Just(0u64), 0u64..1_000_000, 0u64..1_000_000_000];
    (0u64..10, 0u64..10, rtt, any::<bool>(), int()).prop_map(|(packets, ahead, rtt, marked, int)| Ack {
        packets,
        ahead,
        rtt,
        marked,
        int,
    })
}

#[derive(Clone, Debug)]
enum Feedback {
    Sent(u64),
    Ack(Ack),
    Cnp { mark: Mark, window: Option<u64> },
    Loss(LossView),
    Increase,
    Timeout,
}

fn feedback() -> impl Strategy<Value = Feedback> {
    prop_oneof![
        1 => (64u64..1500).prop_map(Feedback::Sent),
        3 => ack().prop_map(Feedback::Ack),
        1 => (prop::sample::select(vec![Mark::None, Mark::Ue, Mark::Ce]), proptest::option::of(1_000u64..99_000))
            .prop_map(|(mark, window)| Feedback::Cnp { mark, window }),
        1 => (1u64..9_000, any::<bool>())
            .prop_map(|(lost, timeout)| Feedback::Loss(LossView { lost: Bytes(lost), timeout })),
        1 => Just(Feedback::Increase),
        1 => Just(Feedback::Timeout),
    ]
}

fn drive_reaction(choice: &ReactionParams, inputs: &[(u64, Feedback)]) {
    let mut machine = choice.build(&qp(true)).expect("the defaults are valid");
    let mut world = World::<()>::new();
    let mut acknowledged = 0;
    let sets_rates = !["line-rate", "static-window", "mercury", "expresspass"].contains(&choice.name());
    for (wait, input) in inputs {
        world.wait(Span::ns(*wait), &mut machine, ReactionPoint::next_timeout, |m, world| {
            m.on_timeout(world.now);
        });
        let now = world.now;
        match input {
            Feedback::Sent(wire) => machine.on_sent(now, Bytes(*wire)),
            Feedback::Ack(ack) => {
                acknowledged += ack.packets;
                machine.on_ack(now, &ack_view(ack, acknowledged));
            }
            Feedback::Cnp { mark, window } => {
                let window = window.map(Bytes);
                machine.on_cnp(now, &Cnp { flow: FlowId(0), mark: *mark, window, rate: None, degree: 0.5 });
            }
            Feedback::Loss(loss) => machine.on_loss(now, loss),
            Feedback::Increase => machine.on_increase(now),
            Feedback::Timeout => machine.on_timeout(now),
        }
        assert!(machine.next_timeout().is_none_or(|at| at >= now));
        let allowance = machine.allowance();
        assert!(
            allowance.rate > Rate(0) && allowance.window > Bytes::ZERO,
            "a queue pair would stop for ever"
        );
        assert!(!sets_rates || allowance.rate <= qp(true).line_rate, "{} is above the NIC's", allowance.rate);
    }
}

/// The ACK of all before `next`.
fn ack_view(ack: &Ack, next: u64) -> AckView<'_> {
    AckView {
        acked: Bytes(ack.packets * 1_000),
        next,
        sent: next + ack.ahead,
        rtt: Span(ack.rtt),
        in_flight: Bytes(ack.ahead * 1_000),
        marked: if ack.marked { Mark::Ce } else { Mark::None },
        int: &ack.int,
    }
}

fn reactions() -> Vec<ReactionParams> {
    let tuned = [
        r#"{ "dcqcn": { "preset": "paper", "byte-counter": "2KB", "t-inc": "3us", "t-alpha": "1us" } }"#,
        r#"{ "dcqcn": { "preset": "mellanox", "cnp": "ack-flag", "t-inc": "2us", "rai": "10G", "f": 0 } }"#,
        r#"{ "dcqcn": { "preset": "swing", "t-dec": "1us", "min-decrease": 0.9, "rate-on-first-cnp": 0.25 } }"#,
        r#"{ "timely": { "preset": "paper", "segment": "3KB", "min-rtt": "1us", "rai": "10G" } }"#,
        r#"{ "timely": { "preset": "patched", "segment": "1KB", "beta": 1, "rai": "10G" } }"#,
        r#"{ "hpcc": { "window": "1KB", "wai": "0B", "max-stage": 0, "int-multi": 1 } }"#,
        r#"{ "hpcc": { "preset": "simulator" } }"#,
        r#"{ "hpcc": { "preset": "simulator", "sample-feedback": true, "int-multi": 4, "max-stage": 2 } }"#,
        r#"{ "hpcc": { "preset": "simulator", "multi-rate": true, "sample-feedback": true, "rai": "0bps" } }"#,
        r#"{ "dctcp": { "g": 1, "rai": "20G", "rmin": "1Mbps" } }"#,
    ];
    with_tuned(ReactionParams::names(), &tuned)
}

fn congestion_points() -> Vec<CongestionPointParams> {
    let tuned = [
        r#"{ "red": { "at": "enqueue", "kmin": "1KB", "kmax": "300KB", "pmax": 1 } }"#,
        r#"{ "red": { "preset": "dctcp" } }"#,
        r#"{ "tcd": { "max-ton": "3us", "red": { "kmin": "1KB", "kmax": "300KB", "pmax": 0.5 } } }"#,
        r#"{ "mercury": { "threshold": "2KB", "period": "1us", "cnp-interval": "0us", "most-flows": 1 } }"#,
        r#"{ "pacc": { "qref": "1KB", "period": "4us", "theta": 0 } }"#,
        r#"{ "rcm": { "equilibrium": "1KB", "cam-depth": 1, "cam-interval": "1B", "expire": "1us" } }"#,
        r#"{ "rcm": { "weight": 0, "remote-weight": 1, "cam-depth": 4, "cam-hits": 4, "severe": 63 } }"#,
        r#"{ "casl": { "kmin": "0B", "kmax": "2KB", "gain": 1, "forget-after": "2us", "capacity": "9KB" } }"#,
        r#"{ "casl": { "threshold": "1KB", "gain": 0.5, "drop-most": 1 } }"#,
        r#"{ "themis-pnp": { "interval": "0us", "delay": "1us" } }"#,
        r#"{ "themis-trp": { "queues": 2, "recovery": "3us", "rate": "1G", "fast": 1, "slow": 1, "most": 3 } }"#,
        r#"{ "pacc": { "multi": true, "period": "13us", "a": 9, "b": 0, "most-flows": 1 } }"#,
        r#"{ "bfc": { "queues": 1, "flows": 1, "filter": "1B", "hashes": 8, "interval": "50ns", "first-packets": false } }"#,
        r#"{ "bfc": { "queues": 63, "hop-rtt": "1us", "interval": "7us", "resumes": 1 } }"#,
    ];
    with_tuned(CongestionPointParams::names(), &tuned)
}

fn drive_notification(mut machine: AnyNotificationPoint, inputs: &[(u64, bool)]) {
    let mut world = World::new();
    for (wait, ce) in inputs {
        world.now += Span::ns(*wait);
        let before = world.out.0.len();
        machine.on_data(&mut world.cx(), &packet(Class::DATA, true, *ce));
        let sent = world.out.0.len() - before;
        assert!(sent <= usize::from(*ce), "{sent} CNPs for one packet");
    }
}

#[derive(Clone, Debug)]
enum Passing {
    Enqueue { len: u64, control: bool, ecn: bool },
    Dequeue { len: u64, control: bool, ecn: bool },
    Paused { paused: bool, len: u64 },
    Waiting,
    Removed,
    Sent { paused: bool },
    Input { len: u64 },
    Cn { degree: u8, named: bool },
    Sorted { second: u64 },
    Cleared { len: u64, flow: u64 },
    Cnp { ce: bool, flow: u64 },
    Filtered { bits: u64 },
    Said { number: i64 },
    Served { gates: [bool; 3] },
    Timeout,
}

fn passing() -> impl Strategy<Value = Passing> {
    let queue = || (0u64..3_000_000, any::<bool>(), any::<bool>());
    prop_oneof![
        4 => queue().prop_map(|(len, control, ecn)| Passing::Enqueue { len, control, ecn }),
        4 => queue().prop_map(|(len, control, ecn)| Passing::Dequeue { len, control, ecn }),
        1 => (any::<bool>(), 0u64..3_000_000).prop_map(|(paused, len)| Passing::Paused { paused, len }),
        1 => Just(Passing::Waiting),
        1 => Just(Passing::Removed),
        1 => any::<bool>().prop_map(|paused| Passing::Sent { paused }),
        2 => (0u64..200_000).prop_map(|len| Passing::Input { len }),
        1 => (0u8..64, any::<bool>()).prop_map(|(degree, named)| Passing::Cn { degree, named }),
        1 => (0u64..100_000).prop_map(|second| Passing::Sorted { second }),
        1 => (0u64..3_000_000, 0u64..3).prop_map(|(len, flow)| Passing::Cleared { len, flow }),
        1 => (any::<bool>(), 0u64..3).prop_map(|(ce, flow)| Passing::Cnp { ce, flow }),
        1 => prop_oneof![Just(0u64), Just(u64::MAX), any::<u64>()].prop_map(|bits| Passing::Filtered { bits }),
        1 => (-1i64..2).prop_map(|number| Passing::Said { number }),
        1 => any::<[bool; 3]>().prop_map(|gates| Passing::Served { gates }),
        1 => Just(Passing::Timeout),
    ]
}

fn drive_congestion_point(mut machine: AnyCongestionPoint, inputs: &[(u64, Passing)]) {
    let mut world = World::new();
    let (only_marks, bounds) = (machine.only_marks(), machine.fast_path());
    for (wait, input) in inputs {
        let next = AnyCongestionPoint::next_timeout;
        world.wait(Span::ns(*wait), &mut machine, next, |m, world| m.on_timeout(&mut world.cx()));
        let now = world.now;
        match *input {
            Passing::Enqueue { len, control, ecn } => {
                let class = if control { Class::CONTROL } else { Class::DATA };
                let mark = machine.on_enqueue(&mut world.cx(), &packet(class, ecn, false), &queue(len));
                assert!(mark == Mark::None || ecn && !control, "{mark:?} for a packet that bears none");
            }
            Passing::Dequeue { len, control, ecn } => {
                let class = if control { Class::CONTROL } else { Class::DATA };
                let mark = machine.on_dequeue(&mut world.cx(), &packet(class, ecn, false), &queue(len));
                assert!(mark == Mark::None || ecn && !control, "{mark:?} for a packet that bears none");
            }
            Passing::Paused { paused: true, len } => {
                machine.on_event(&mut world.cx(), PortEvent::Paused(&queue(len)));
            }
            Passing::Paused { paused: false, len } => {
                machine.on_event(&mut world.cx(), PortEvent::Resumed(&queue(len)));
            }
            Passing::Waiting => {
                machine.on_event(&mut world.cx(), PortEvent::Waiting(&packet(Class::DATA, true, false)));
            }
            Passing::Removed => {
                machine.on_event(&mut world.cx(), PortEvent::Removed(&packet(Class::DATA, true, false)));
            }
            Passing::Sent { paused } => {
                let (ingress, class) = (PortId(3), Class::DATA);
                let event = if paused {
                    PortEvent::PauseSent { ingress, class, lasts: Span::us(100) }
                } else {
                    PortEvent::ResumeSent { ingress, class }
                };
                machine.on_event(&mut world.cx(), event);
            }
            Passing::Input { len } => {
                if let Some(discipline) = machine.as_discipline_mut() {
                    discipline.on_input(&mut world.cx(), &packet(Class::DATA, true, false), &queue(len));
                }
            }
            Passing::Cn { degree, named } => {
                let flows = [FlowId(u32::from(!named)), FlowId(7)];
                let cn = CongestionNotification::new(Class::DATA, degree, flows.into_iter());
                machine.on_event(&mut world.cx(), PortEvent::CongestionNotification(&cn));
            }
            Passing::Sorted { second } => {
                let queues = [Bytes(5_000), Bytes(second)];
                machine
                    .on_event(&mut world.cx(), PortEvent::Resorted { class: Class::DATA, queues: &queues });
            }
            Passing::Cleared { len, flow } => {
                let packet = PacketView { flow_hash: flow, ..packet(Class::DATA, true, true) };
                machine.clears(&mut world.cx(), &packet, &queue(len));
            }
            Passing::Cnp { ce, flow } => {
                let cnp = Cnp::of(FlowId(7), if ce { Mark::Ce } else { Mark::Ue });
                let event = PortEvent::CnpPasses {
                    cnp: &cnp,
                    flow_hash: flow,
                    source: 1,
                    destination: 2,
                    ingress: PortId(3),
                };
                machine.on_event(&mut world.cx(), event);
            }
            Passing::Filtered { bits } => {
                let mut filter = FlowFilter::empty(Class::DATA, FlowFilter::LARGEST);
                filter.bits = [bits; 16];
                machine.on_event(&mut world.cx(), PortEvent::Filter(&filter));
            }
            Passing::Said { number } => {
                let message = PortMessage { class: Class::DATA, flow: 7, number };
                machine.on_event(&mut world.cx(), PortEvent::Message(&message));
            }
            Passing::Served { gates } => serve(&mut machine, now, gates),
            Passing::Timeout => machine.on_timeout(&mut world.cx()),
        }
        assert!(machine.next_timeout().is_none_or(|at| at >= now));
        let first = QueueId { class: Class::DATA, sub: 0 };
        let is_open = |discipline: &dyn Discipline| discipline.gate(now, first) == Gate::Open;
        assert!(machine.fast_path().is_none() || machine.as_discipline().is_none_or(is_open));
        assert_eq!(machine.only_marks(), only_marks);
        if only_marks {
            assert_eq!((machine.next_timeout(), machine.fast_path()), (None, bounds));
            assert!(world.out.0.is_empty() && machine.as_discipline().is_none());
        }
    }
}

/// A discipline that chooses among the queues of a class names one that is open, the same whenever it is
/// asked.
fn serve(machine: &mut AnyCongestionPoint, now: Time, gates: [bool; 3]) {
    let class = Class::DATA;
    let queue = |sub: usize| QueueId { class, sub: sub as u8 };
    let ready: Vec<ReadyView> = gates
        .iter()
        .enumerate()
        .map(|(sub, open)| {
            let gate = if *open { Gate::Open } else { Gate::Closed };
            ReadyView { queue: queue(sub), len: Bytes(2_000), head: Bytes(1_020), gate }
        })
        .collect();
    let Some(discipline) = machine.as_discipline_mut() else { return };
    let next = discipline.serve(now, &ready);
    assert_eq!(next, discipline.serve(now, &ready));
    assert!(if let Turn::Queue(sub) = next { gates[usize::from(sub)] } else { true });
    let sub = discipline.classify(now, &packet(class, false, false));
    assert!(usize::from(sub) < discipline.queueing().class_queues());
}

fn packet(class: Class, ecn_capable: bool, ce: bool) -> PacketView {
    let mark = if ce { Mark::Ce } else { Mark::None };
    PacketView { class, frame: Bytes(1000), wire: Bytes(1020), ecn_capable, mark, ..PacketView::example() }
}

fn queue(len: u64) -> QueueView {
    let len = Bytes(len);
    QueueView { port: PortId(0), len, first: len, voq: len, ..QueueView::example() }
}

fn ready_view() -> impl Strategy<Value = ReadyView> {
    let gate = prop_oneof![
        2 => Just(Gate::Open),
        1 => Just(Gate::Closed),
        1 => (0u64..20).prop_map(|at| Gate::Until(Time(at))),
    ];
    (0u8..8, 0u8..2, 64u64..9_000, gate).prop_map(|(class, sub, head, gate)| ReadyView {
        queue: QueueId { class: Class(class), sub },
        len: Bytes(head * 2),
        head: Bytes(head),
        gate,
    })
}

proptest! {
    #[test]
    fn flow_control_halves_tolerate_any_order_of_calls(inputs in inputs(input())) {
        for choice in flow_controls() {
            for has_errors in [false, true] {
                let link = LinkInfo { has_errors, ..link() };
                let (sender, receiver) = choice.build(&link).expect("the parameters are valid");
                drive_receiver(receiver, &inputs);
                drive_sender(sender, &inputs);
            }
        }
    }

    #[test]
    fn transports_tolerate_any_order_of_calls(
        sends in inputs(transport()), arrivals in inputs(0u64..40), lossless in any::<bool>(),
    ) {
        for choice in all::<ReliabilityParams>(ReliabilityParams::names()) {
            drive_transport_sender(&choice, lossless, &sends);
            drive_transport_receiver(&choice, lossless, &arrivals);
        }
    }

    #[test]
    fn reaction_points_tolerate_any_order_of_calls(inputs in inputs(feedback())) {
        for choice in reactions() {
            drive_reaction(&choice, &inputs);
        }
    }

    #[test]
    fn notification_points_answer_a_packet_once_at_most(inputs in inputs(any::<bool>())) {
        for choice in all::<NotificationParams>(NotificationParams::names()) {
            drive_notification(choice.build(&qp(true)).expect("valid"), &inputs);
        }
    }

    #[test]
    fn congestion_points_tolerate_any_order_of_calls(inputs in inputs(passing())) {
        for choice in congestion_points() {
            drive_congestion_point(choice.build(&port()).expect("the parameters are valid"), &inputs);
        }
    }

    #[test]
    fn schedulers_pick_an_open_queue_wherever_there_is_one(
        rounds in proptest::collection::vec((proptest::collection::vec(ready_view(), 0..10), any::<bool>()), 1..40),
    ) {
        let port = port();
        for choice in all::<SchedulerParams>(SchedulerParams::names()) {
            let mut scheduler = choice.build(&port).expect("the defaults are valid");
            for (queues, send) in &rounds {
                let now = Time(10);
                let picked = scheduler.pick(now, queues);
                prop_assert_eq!(scheduler.pick(now, queues), picked, "it depends on how often it is asked");
                let open = |view: &&ReadyView| view.gate.is_open(now);
                match picked {
                    Some(queue) => {
                        prop_assert!(queues.iter().filter(open).any(|view| view.queue == queue));
                        if *send {
                            scheduler.on_sent(now, queue, Bytes(1000));
                        }
                    }
                    None => prop_assert!(!queues.iter().any(|view| open(&view))),
                }
            }
        }
    }

    #[test]
    fn routers_choose_one_of_the_candidates(hashes in proptest::collection::vec(any::<u64>(), 1..40), ports in 1u32..20) {
        let view = |port| PortView { port: PortId(port), ..PortView::example() };
        let candidates: Vec<_> = (0..ports).map(view).collect();
        let mut rng = stream(1, 1, "route");
        for choice in all::<RoutingParams>(RoutingParams::names()) {
            let mut router = choice.build(&SwitchInfo { key: 7, hash_seed: None }).expect("the defaults are valid");
            for flow_hash in &hashes {
                let packet = PacketView { flow_hash: *flow_hash, ..packet(Class::DATA, false, false) };
                prop_assert!(router.route(Time::ZERO, &mut rng, &packet, &candidates) < candidates.len());
            }
        }
    }
}
