use super::*;
use crate::slots::{FcFrame, FcReceiver, FcSender, Gate};
use crate::testing::{Bench, ingress, link, us};
use floodway_units::{Class, Rate, Time, Turns};

fn params(json: &str) -> Params {
    serde_json::from_str(json).expect("the parameters are well formed")
}

/// 80 km at 400 Gbit/s.
fn long() -> LinkInfo {
    let (rate, delay) = (Rate::gbps(400), Span::us(400));
    LinkInfo { rate, reverse_rate: rate, delay, reverse_delay: delay, ..link() }
}

fn refused(json: &str) -> (&'static str, String) {
    let error = params(json).build(&long()).expect_err("the parameters must be refused");
    (error.key, error.message)
}

#[test]
fn a_relay_holds_one_bandwidth_delay_product_and_a_margin() {
    // The paper: 41 MB for 40 MB.
    assert_eq!(params("{}").min_buffer(&long()), Bytes::mb(41));
    assert_eq!(params(r#"{ "margin": 0.1 }"#).min_buffer(&long()), Bytes::mb(44));
    // On a short link the loop between relay and switch decides: 2 us and two frames.
    assert_eq!(params("{}").min_buffer(&link()), Bytes(25_000 + 25_000 + 3_000));
    assert_eq!(params(r#"{ "form": "switch" }"#).min_buffer(&link()), Bytes(25_000 + 198_000 + 3_000));
}

#[test]
fn only_the_form_with_boxes_has_boxes() {
    let relay = params(r#"{ "cable": "2us" }"#).relay().expect("it is a box");
    assert_eq!((relay.cable, relay.from_remote), (Span::us(2), Disposition::Obey));
    assert!(relay.from_local.obeys() && relay.from_local.forwards());
    assert_eq!(params(r#"{ "form": "switch" }"#).relay(), None);
}

#[test]
fn a_relays_remote_port_never_pauses_by_its_queue_and_obeys_what_is_relayed() {
    let (mut sender, mut receiver) = params("{}").build(&long()).expect("the parameters are valid");
    let mut bench = Bench::new();
    let full = ingress(0, 41_000_000, 0);
    assert!(bench.sent(us(1), |cx| receiver.on_enqueue(cx, &full)).is_empty());
    assert_eq!((receiver.next_timeout(), receiver.awaits_release()), (None, false));
    let pause = FcFrame::Pause { class: Class::DATA, quanta: Quanta::MAX };
    bench.sent(us(2), |cx| sender.on_frame(cx, pause));
    assert!(!sender.gate(us(2), Bytes(1_500)).is_open(us(3)));
    bench.sent(us(4), |cx| sender.on_frame(cx, FcFrame::Pause { class: Class::DATA, quanta: Quanta(0) }));
    assert_eq!(sender.gate(us(4), Bytes(1_500)), Gate::Open);
}

#[test]
fn parameters_out_of_range_are_refused() {
    assert_eq!(refused(r#"{ "cable": "0us" }"#), ("cable", "a link needs a delay above 0".into()));
    assert_eq!(refused(r#"{ "margin": -1.0 }"#).0, "margin");
    assert_eq!(refused(r#"{ "form": "switch", "xoff": "1KB" }"#).0, "xoff");
    assert_eq!(refused(r#"{ "resume-offset": "200KB" }"#).0, "resume-offset");
}

/// Four ports of 100 Gbit/s drain a link of 400, as in SWING's network: six frames may leave within two
/// frames' time, so that seven have to.
#[test]
fn a_switch_warns_of_pauses_that_may_stop_nothing() {
    let share = SwitchShare { drain: Rate::gbps(400), others: 4, ..SwitchShare::default() };
    let said = |json: &str| params(json).warnings(&long(), &share).join("; ");
    let offset = |bytes: u64| said(&format!(r#"{{ "form": "switch", "resume-offset": "{bytes}B" }}"#));
    let warning = offset(1_000);
    assert!(warning.starts_with("resume-offset is 1KB: a pause may be shorter than a frame"), "{warning}");
    assert!(warning.ends_with("at least 9.001KB avoid it"), "{warning}");
    assert!(!offset(0).is_empty() && !offset(9_000).is_empty());
    assert_eq!((offset(9_001), offset(30_000)), (String::new(), String::new()));
    // By default a pause is as long as the loop to a relay makes it, and a relay has no thresholds.
    assert_eq!(params("{}").resume_offset(&long()), Bytes::kb(100));
    assert_eq!((said(r#"{ "form": "switch" }"#), said(r#"{ "resume-offset": "0B" }"#)), Default::default());
}

/// A switch of 100 Gbit/s with XOFF at 15,000 B and XON at 12,000 B, on-off: 12,500 B a microsecond.
struct Switch {
    receiver: Receiver,
    bench: Bench<FcFrame>,
    held: u64,
}

impl Switch {
    fn new() -> Self {
        let json = r#"{ "form": "switch", "xoff": "15KB", "resume-offset": "3KB", "pause": "on-off" }"#;
        let (_, receiver) = params(json).build(&link()).expect("the parameters are valid");
        Switch { receiver, bench: Bench::new(), held: 0 }
    }

    /// What it says: true for a pause, false for a resume.
    fn says(frames: &[FcFrame]) -> Vec<bool> {
        let pauses = frames.iter().map(|frame| match frame {
            FcFrame::Pause { quanta, .. } => quanta.0 > 0,
            _ => panic!("it only pauses"),
        });
        pauses.collect()
    }

    fn arrive(&mut self, now: Time, bytes: u64) -> Vec<bool> {
        self.held += bytes;
        let (view, receiver) = (ingress(0, self.held, 0), &mut self.receiver);
        Self::says(&self.bench.sent(now, |cx| receiver.on_enqueue(cx, &view)))
    }

    fn leave(&mut self, now: Time, bytes: u64) -> Vec<bool> {
        self.held -= bytes;
        let (view, receiver) = (ingress(0, self.held, 0), &mut self.receiver);
        Self::says(&self.bench.sent(now, |cx| receiver.on_release(cx, &view)))
    }

    fn timeout(&mut self) -> (Time, Vec<bool>) {
        let at = self.receiver.next_timeout().expect("it waits for something");
        let (view, receiver) = (ingress(0, self.held, 0), &mut self.receiver);
        (at, Self::says(&self.bench.sent(at, |cx| receiver.on_timeout(cx, &view))))
    }
}

#[test]
fn a_switch_pauses_when_enough_is_handed_on_and_not_when_enough_is_held() {
    let mut switch = Switch::new();
    // 20,000 B at once: the first 15,000 are handed on after 1.2 us.
    assert_eq!(switch.arrive(us(10), 20_000), [false; 0]);
    assert!(switch.receiver.awaits_release());
    assert_eq!(switch.timeout(), (us(10) + Span::ns(1_200), vec![true]));
    assert!(switch.receiver.is_pausing(us(12)));
    // 12,000 B are left of them after 3,000 have gone: it resumes, and hands on again.
    assert_eq!(switch.leave(us(12), 1_500), [false; 0]);
    assert_eq!(switch.leave(us(13), 1_500), [false]);
    assert_eq!(switch.timeout(), (us(13) + Span::ns(240), vec![true]));
}

#[test]
fn a_switch_that_drains_as_fast_as_it_hands_on_never_pauses() {
    let mut switch = Switch::new();
    for n in 0..100 {
        // 1,250 B each 100 ns.
        let now = Time::ZERO + Span::ns(100 * n);
        assert_eq!(switch.arrive(now, 1_250), [false; 0]);
        assert_eq!(switch.leave(now + Span::ns(100), 1_250), [false; 0]);
    }
    assert_eq!((switch.held, switch.receiver.awaits_release()), (0, false));
}

/// Share of 10 ms in which a backlogged switch lets its upstream send while it drains at `percent` of the
/// link.
fn open_share(percent: u64) -> f64 {
    let mut switch = Switch::new();
    switch.arrive(Time::ZERO, 1 << 40);
    let gap = Span(100 * 120_000 / percent);
    let (mut leaves, end) = (Time::ZERO + gap, us(10_000));
    let (mut since, mut paused, mut closed) = (Time::ZERO, false, Span::ZERO);
    let mut turns = Turns::at_most(1_000_000);
    while turns.go() && leaves < end {
        let (now, said) = if switch.receiver.next_timeout().is_some_and(|at| at <= leaves) {
            switch.timeout()
        } else {
            let now = leaves;
            leaves += gap;
            (now, switch.leave(now, 1_500))
        };
        for pause in said {
            assert_ne!(pause, paused, "a pause or resume is said once");
            if paused {
                closed += now.since(since);
            }
            (since, paused) = (now, pause);
        }
    }
    1.0 - closed.0 as f64 / 1e10
}

#[test]
fn the_share_of_time_in_which_the_upstream_may_send_is_the_share_of_the_rate_that_drains() {
    // Equation 6; an unfinished cycle of 10 ms is a hundredth at most.
    for percent in [10, 25, 50, 90] {
        let share = open_share(percent);
        assert!((share - percent as f64 / 100.0).abs() < 0.01, "{percent} %: {share}");
    }
}
