use floodway_units::{FlowId, Rate};

use super::*;
use crate::testing::{Bench, egress, packet, port, us};

/// max(Ton) of the tests.
const TON: u64 = 97;
/// RED marks every packet that leaves more than this behind, and no other.
const STEP: u64 = 50_000;

fn params(json: &str) -> Params {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

/// A port of 100 Gbit/s with frames of 1500 bytes.
struct Port {
    cp: Cp,
    bench: Bench<CpAction>,
}

impl Port {
    fn new() -> Self {
        let red = r#""red": {"kmin": "50KB", "kmax": "50KB"}"#;
        let cp = params(&format!(r#"{{{red}, "max-ton": "97us"}}"#)).build(&port(100)).expect("valid");
        Port { cp, bench: Bench::new() }
    }

    /// Resumed at `at` with `len` bytes, after a pause.
    fn resumed(at: u64, len: u64) -> Self {
        let mut port = Port::new();
        port.pauses(us(at - 1), len);
        port.resumes(us(at), len);
        port
    }

    fn pauses(&mut self, at: Time, len: u64) {
        self.bench.event(at, &mut self.cp, PortEvent::Paused(&egress(len)));
    }

    fn resumes(&mut self, at: Time, len: u64) {
        self.bench.event(at, &mut self.cp, PortEvent::Resumed(&egress(len)));
    }

    /// A packet leaves `len` bytes behind: its mark, and the state then.
    fn leaves(&mut self, at: u64, len: u64) -> (Mark, &'static str) {
        self.sends(at, len, PacketView { ecn_capable: true, ..packet(1_500) })
    }

    fn sends(&mut self, at: u64, len: u64, p: PacketView) -> (Mark, &'static str) {
        let (cp, mut mark) = (&mut self.cp, Mark::None);
        let queue = QueueView { class: p.class, ..egress(len) };
        let sent = self.bench.sent(us(at), |cx| mark = cp.on_dequeue(cx, &p, &queue));
        assert!(sent.is_empty(), "marks are all that it makes");
        (mark, self.state(at))
    }

    fn state(&self, at: u64) -> &'static str {
        self.cp.state(us(at), Class::DATA)
    }
}

// ---- the rows of the table

#[test]
fn all_that_leaves_within_max_ton_of_a_resume_carries_ue_at_any_queue() {
    let mut port = Port::resumed(100, 80_000);
    assert_eq!(port.state(100), "undetermined", "the RESUME tells, before a packet leaves");
    for (at, len) in [(100, 80_000), (101, 0), (150, 900_000), (100 + TON, 500)] {
        assert_eq!(port.leaves(at, len), (Mark::Ue, "undetermined"), "at {at} us");
    }
}

#[test]
fn ce_is_never_overwritten_by_ue() {
    let mut port = Port::resumed(100, 80_000);
    let marked = |mark| PacketView { ecn_capable: true, mark, ..packet(1_500) };
    assert_eq!(port.sends(101, 80_000, marked(Mark::Ce)), (Mark::None, "undetermined"));
    assert_eq!(port.sends(102, 80_000, marked(Mark::Ue)), (Mark::Ue, "undetermined"));
    assert!(Mark::Ue < Mark::Ce, "marks combine by maximum");
}

#[test]
fn a_queue_that_has_not_shrunk_when_max_ton_is_over_is_congestion() {
    for (len, mark) in [(STEP + 1, Mark::Ce), (40_000, Mark::None)] {
        let mut port = Port::resumed(100, 40_000);
        port.leaves(100, 39_000);
        assert_eq!(port.leaves(101 + TON, len), (mark, "congestion"), "{len} bytes");
    }
}

#[test]
fn a_queue_that_has_shrunk_is_checked_without_marks() {
    let mut port = Port::resumed(100, 80_000);
    port.leaves(100, 79_000);
    assert_eq!(port.leaves(101 + TON, 79_999), (Mark::None, "checking"));
}

/// Undetermined at 100 us, checking from 198 us and 70000 bytes.
fn checking() -> Port {
    let mut port = Port::resumed(100, 80_000);
    port.leaves(100, 79_000);
    assert_eq!(port.leaves(198, 70_000), (Mark::None, "checking"));
    port
}

#[test]
fn while_it_is_checked_nothing_is_marked() {
    let mut port = checking();
    for (at, len) in [(199, 900_000), (250, 60_000), (197 + TON, 3_001)] {
        assert_eq!(port.leaves(at, len), (Mark::None, "checking"), "at {at} us");
    }
}

#[test]
fn what_the_offset_leaves_of_a_queue_counts_for_states_too() {
    for (len, state) in [(4_030, "non-congestion"), (4_031, "checking")] {
        let red = r#""red": {"kmin": "50KB", "kmax": "50KB", "offset": "1030B"}"#;
        let cp = params(&format!(r#"{{{red}, "max-ton": "97us"}}"#)).build(&port(100)).expect("valid");
        let mut port = Port { cp, bench: Bench::new() };
        port.resumes(us(100), 80_000);
        port.leaves(100, 79_000);
        assert_eq!(port.leaves(198, 70_000), (Mark::None, "checking"));
        assert_eq!(port.leaves(199, len), (Mark::None, state), "{len} bytes");
    }
}

#[test]
fn two_packets_or_fewer_end_the_check_without_congestion() {
    for at in [199, 198 + TON, 900] {
        assert_eq!(checking().leaves(at, 3_000), (Mark::None, "non-congestion"), "at {at} us");
    }
}

#[test]
fn after_max_ton_a_queue_that_has_not_grown_is_checked_again_from_there() {
    let mut port = checking();
    // 0.9 of 1500 bytes are 1350.
    assert_eq!(port.leaves(198 + TON, 71_349), (Mark::None, "checking"));
    // From then on it counts from 295 us and 71349 bytes.
    assert_eq!(port.leaves(295 + TON - 1, 90_000), (Mark::None, "checking"));
    assert_eq!(port.leaves(295 + TON, 72_698), (Mark::None, "checking"));
    assert_eq!(port.leaves(392 + TON, 74_048), (Mark::Ce, "congestion"));
}

#[test]
fn after_max_ton_a_queue_that_has_grown_is_congestion() {
    assert_eq!(checking().leaves(198 + TON, 71_350), (Mark::Ce, "congestion"));
}

#[test]
fn a_port_that_is_not_paused_marks_as_red_does() {
    let mut port = Port::new();
    for (at, len, expected) in [
        (1, 1_000, (Mark::None, "non-congestion")),
        (2, STEP, (Mark::None, "non-congestion")),
        (3, STEP + 1, (Mark::Ce, "congestion")),
        (4, 900_000, (Mark::Ce, "congestion")),
        (5, STEP, (Mark::None, "non-congestion")),
    ] {
        assert_eq!(port.leaves(at, len), expected, "at {at} us");
    }
}

#[test]
fn a_resume_makes_every_state_undetermined() {
    let mut congested = Port::new();
    assert_eq!(congested.leaves(3, 900_000), (Mark::Ce, "congestion"));
    for (mut port, at) in [(congested, 10), (checking(), 210)] {
        port.resumes(us(at), 60_000);
        assert_eq!(port.leaves(at + 1, 60_000), (Mark::Ue, "undetermined"));
        // The queue of this RESUME is what counts.
        assert_eq!(port.leaves(at + TON + 1, 60_000), (Mark::Ce, "congestion"));
    }
}

#[test]
fn a_resume_after_which_nothing_left_in_time_changes_nothing() {
    // The table looks at departures: the first one comes after max(Ton), from the state before the pause.
    let mut port = Port::resumed(100, 60_000);
    assert_eq!(port.state(100 + TON), "undetermined");
    assert_eq!(port.state(101 + TON), "non-congestion");
    assert_eq!(port.leaves(101 + TON, 59_000), (Mark::Ce, "congestion"));
}

// ---- what is not of the table

#[test]
fn each_class_has_a_state_of_its_own() {
    let mut port = Port::resumed(100, 80_000);
    let other = PacketView { ecn_capable: true, class: Class(4), ..packet(1_500) };
    assert_eq!(port.sends(101, 900_000, other).0, Mark::Ce);
    assert_eq!(port.cp.state(us(101), Class(4)), "congestion");
    assert_eq!(port.leaves(101, 1_000), (Mark::Ue, "undetermined"));
}

#[test]
fn a_packet_without_a_mark_changes_no_state() {
    let mut port = Port::resumed(100, 80_000);
    let control = PacketView { class: Class::CONTROL, ecn_capable: true, ..packet(100) };
    let reply = PacketView { flow: FlowId(3), ..packet(100) };
    for p in [control, reply] {
        assert_eq!(port.sends(101, 80_000, p).0, Mark::None);
    }
    assert_eq!(port.cp.port_classes[3].stage, Stage::NonCongestion);
}

#[test]
fn its_fast_path_is_open_exactly_while_a_short_queue_changes_nothing() {
    let mut port = Port::new();
    let fast_path = |port: &Port| port.cp.fast_path().map(|path| path.leaving.0);
    assert_eq!(fast_path(&port), Some(STEP), "never paused");
    port.pauses(us(10), 0);
    assert_eq!(fast_path(&port), Some(STEP), "nothing leaves while it is paused");
    port.resumes(us(20), 80_000);
    assert_eq!(fast_path(&port), None);
    // Time alone does not open the fast path: it takes the departure after max(Ton).
    port.leaves(20 + TON, 70_000);
    assert_eq!(
        (fast_path(&port), port.leaves(21 + TON, 60_000).1, fast_path(&port)),
        (None, "checking", None)
    );
    assert_eq!((port.leaves(30 + TON, 1_000).1, fast_path(&port)), ("non-congestion", Some(STEP)));
    assert_eq!((port.leaves(31 + TON, STEP + 1).1, fast_path(&port)), ("congestion", None));
    assert_eq!((port.leaves(32 + TON, STEP).1, fast_path(&port)), ("non-congestion", Some(STEP)));
}

// ---- max(Ton)

fn ton(json: &str, gbps: u64, delay: Span, wire: u64) -> f64 {
    let info = PortInfo { rate: Rate::gbps(gbps), delay, wire: Bytes(wire), ..port(100) };
    params(json).build(&info).expect("valid").max_ton.as_us()
}

#[test]
fn max_ton_is_the_published_one_at_40g() {
    // τ = 8 us + 2 · 206 ns; 2060 B · 1.1 / (5 GB/s · 0.1) = 4.532 us; 8.412 us · 11 = 92.532 us.
    let ours = ton(r#"{"gap": "2060B"}"#, 40, Span::us(4), 1_030);
    assert!((ours - 97.064).abs() < 1e-6, "{ours} us");
    assert_eq!(ton(r#"{"max-ton": "40us"}"#, 40, Span::us(4), 1_030), 40.0);
}

#[test]
fn max_ton_grows_with_the_delay_and_shrinks_with_the_rate() {
    // 2000 B · 1.1 / (12.5 GB/s · 0.1) = 1.76 us and τ = 2.16 us; at 400G 0.44 us and 2.04 us.
    for (gbps, expected) in [(100, 25.52), (400, 22.88)] {
        let ours = ton("{}", gbps, Span::us(1), 1_000);
        assert!((ours - expected).abs() < 1e-6, "{ours} us at {gbps}G");
    }
    let long = ton("{}", 400, Span::ms(3), 1_000);
    assert!((long - 66_000.88).abs() < 1e-6, "{long} us over 600 km");
}

#[test]
fn a_smaller_eps_waits_longer() {
    assert!(ton(r#"{"eps": 0.05}"#, 100, Span::us(1), 1_000) > ton("{}", 100, Span::us(1), 1_000));
}

#[test]
fn what_cannot_be_is_refused_by_its_key() {
    for (json, key) in [
        (r#"{"red": {"at": "enqueue"}}"#, "red.at"),
        (r#"{"red": {"kmin": "9MB"}}"#, "red"),
        (r#"{"eps": 0}"#, "eps"),
        (r#"{"eps": -1}"#, "eps"),
        (r#"{"eps": 1e-300}"#, "eps"),
        (r#"{"gap": "1TB"}"#, "gap"),
        (r#"{"max-ton": "97us", "eps": 0.1}"#, "eps"),
        (r#"{"max-ton": "97us", "gap": "2KB"}"#, "gap"),
    ] {
        assert_eq!(params(json).build(&port(100)).map(|_| ()).map_err(|error| error.key), Err(key), "{json}");
    }
    let infinite = Params { eps: Some(f64::INFINITY), ..Params::default() };
    assert_eq!(infinite.build(&port(100)).unwrap_err().key, "eps");
}

#[test]
fn parameters_survive_a_round_trip() {
    for json in
        ["{}", r#"{"max-ton": "97us"}"#, r#"{"red": {"preset": "dcqcn-paper"}, "eps": 0.2, "gap": "3KB"}"#]
    {
        let read = params(json);
        assert_eq!(params(&serde_json::to_string(&read).expect("plain values")), read);
    }
    let wrong = serde_json::from_str::<Params>(r#"{"max-ton": "atuo"}"#).unwrap_err().to_string();
    assert!(wrong.contains(r#"or "auto""#), "{wrong}");
}

#[test]
fn a_formula_that_gives_the_longest_pause_is_taken_and_more_is_refused() {
    let port = port(100);
    let (longest, eps) = (LONGEST.0, 1.0);
    // drained (1 + eps) / eps + tau (1 + 1 / eps), for eps = 1, at 80 ps a byte.
    let tau = ((port.delay + port.rate.time_to_send(port.wire)) * 2).0;
    let gap = (longest - 2 * tau) / 160;
    assert_eq!(160 * gap + 2 * tau, longest);
    let with = |gap: u64| params(&format!(r#"{{"eps": {eps}, "gap": "{gap}B"}}"#)).build(&port);
    assert!(with(gap).is_ok());
    assert_eq!(with(gap + 1).expect_err("it is 160 ps too long").key, "gap");
}
