//! Pauses at their exact instants.

use crate::support::{Net, PFC, counter, drops, fct_ps, real, run_on_one_thread_and_two};
use floodway_fabric::blueprint::PauseFault;
use floodway_fabric::outcome::Stopped;
use floodway_units::{Bytes, Class, NodeId, Quanta, Rate, Span, Time};
use floodway_wire::Format;

const G100: Rate = Rate::gbps(100);
const US: u64 = 1_000_000;
/// A PFC frame at 100G: 84 bytes of wire.
const FRAME: u64 = 84 * 80;
/// The longest pause that a frame can name, at 100G.
const QUANTA: u64 = 335_539_200;

/// A host, a switch and a host at 100G, 1 us each; `b` pauses the switch at the given times.
fn line(pfc: &str, from: Span, to: Time) -> Net {
    let mut net = Net::new(Format::Ethernet);
    let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
    net.link(a, s, G100, Span::us(1), pfc);
    let link = net.link(s, b, G100, Span::us(1), pfc);
    let pause = PauseFault { class: Class::DATA, from: Time::ZERO + from, to };
    net.blueprint.links[link].ends[1].pauses.push(pause);
    net.flow(a, b, Bytes(500), Span::us(10));
    net
}

#[test]
fn a_pause_holds_the_packet_and_a_resume_frees_it_at_once() {
    // Paused when the packet arrives at the switch at 11 us and 598 bytes.
    let net = line(PFC, Span::us(5), Time(50 * US));
    // The resume is sent at 50 us and is there after its 84 bytes and 1 us.
    let resumed = 50 * US + FRAME + US;
    let fct = resumed + 598 * 80 + US - 10 * US;
    let records = net.run();
    assert_eq!(fct_ps(&records), [Some(fct)]);
    let paused: f64 = real(records.counters.column("paused_us")).iter().sum();
    assert_eq!(paused, 45.0);
}

#[test]
fn a_refreshed_pause_does_not_expire() {
    // One pause lasts 335 us at 100G; with refresh the packet waits for the resume at 1 ms.
    let net = line(PFC, Span::us(5), Time(1000 * US));
    let fct = 1000 * US + FRAME + US + 598 * 80 + US - 10 * US;
    assert_eq!(fct_ps(&net.run()), [Some(fct)]);
}

#[test]
fn a_pause_that_is_not_renewed_expires_at_its_end() {
    // Half of the frames that `b` sends to the switch are lost. With some seeds the pause of 5 us arrives and
    // the next ones do not; then the packet goes 65535 quanta after the last one that came.
    let mut net = line(PFC, Span::us(5), Time::NEVER);
    net.blueprint.links[1].directions[1].errors.link_control = 0.5;
    let arrival = 5 * US + FRAME + US;
    let free = |pauses: u64| {
        let last = arrival + pauses * QUANTA / 2;
        last + QUANTA + 598 * 80 + US - 10 * US
    };
    let mut seen = [0; 4];
    for seed in 0..64 {
        net.blueprint.seed = seed;
        let fct = fct_ps(&net.run())[0].expect("the pauses end at some time");
        for (pauses, seen) in seen.iter_mut().enumerate() {
            *seen += u32::from(fct == free(pauses as u64));
        }
    }
    // The first came and the next two did not: 1 in 8; one more came before: 1 in 8, and so on.
    assert!(seen.iter().all(|&seeds| seeds > 0), "{seen:?}");
}

#[test]
fn a_link_that_loses_every_pause_never_pauses() {
    let mut net = line(PFC, Span::us(5), Time::NEVER);
    net.blueprint.links[1].directions[1].errors.link_control = 1.0;
    assert_eq!(fct_ps(&net.run()), [Some(2 * (598 * 80 + US))]);
}

#[test]
fn two_classes_paused_at_one_instant_while_the_wire_is_taken_share_a_frame() {
    let mut net = line(PFC, Span::us(5), Time(50 * US));
    net.second_class();
    let second = PauseFault { class: Class(4), from: Time(5 * US), to: Time(80 * US) };
    net.blueprint.links[1].ends[1].pauses.push(second);
    let (a, b) = (NodeId(0), NodeId(2));
    net.flow(a, b, Bytes(500), Span::us(10)).settings = Some(1);
    // `b` begins a packet to `a` just before the pauses.
    let ahead = net.workload("ahead");
    net.flow_of(ahead, b, a, Bytes(500), Span(5 * US - 1));
    let records = net.run();
    // Had the second pause needed a frame of its own, it would have begun 84 bytes later.
    let waited = 598 * 80 - 1;
    let paused: Vec<f64> = real(records.counters.column("paused_us"));
    let paused: Vec<u64> =
        paused.into_iter().filter(|&us| us > 0.0).map(|us| (us * 1e6).round() as u64).collect();
    assert_eq!(paused, [45 * US - waited, 75 * US - waited]);
    let fct = |resumed: u64| Some(resumed + FRAME + US + 598 * 80 + US - 10 * US);
    assert_eq!(fct_ps(&records)[1..], [fct(50 * US), fct(80 * US)]);
}

#[test]
fn a_fault_renews_its_pause_wherever_pauses_run_out() {
    // A format whose default are pauses without end, on a link whose pauses have one.
    let timer = r#"{"pfc": {"xoff": "100KB", "pause": "timer"}}"#;
    let mut net = line(timer, Span::us(5), Time(1000 * US));
    net.blueprint.wire = Format::HpccNs3;
    let frame = 43 * 80;
    assert_eq!(fct_ps(&net.run()), [Some(1000 * US + frame + US + 548 * 80 + US - 10 * US)]);
}

#[test]
fn an_on_off_pause_lasts_until_its_resume() {
    let on_off = r#"{"pfc": {"xoff": "100KB", "pause": "on-off"}}"#;
    let net = line(on_off, Span::us(5), Time(1000 * US));
    let fct = 1000 * US + FRAME + US + 598 * 80 + US - 10 * US;
    assert_eq!(fct_ps(&net.run()), [Some(fct)]);
}

#[test]
fn a_pause_frame_waits_for_the_frame_on_the_wire() {
    // b sends to a as well: its 598-byte packet begins at 5 us, the pause wants to go 1 ns later.
    let mut net = line(PFC, Span::ns(5_001), Time(50 * US));
    net.blueprint.workloads[0].arrivals = floodway_fabric::blueprint::Arrivals::List(Vec::new());
    let (a, b) = (NodeId(0), NodeId(2));
    net.flow(b, a, Bytes(500), Span::us(5));
    // This packet is whole at the switch 1 ns before the pause is, the next one 1 ns after.
    let pause_there = 5 * US + 598 * 80 + FRAME + US;
    let before = pause_there - 1_000 - US - 598 * 80;
    net.flow(a, b, Bytes(500), Span(before));
    net.flow(a, b, Bytes(500), Span(before + 598 * 80));
    let fct = fct_ps(&net.run());
    assert_eq!(fct[0], Some(2 * (598 * 80 + US)));
    assert_eq!(fct[1], Some(2 * (598 * 80 + US)), "begun before the pause, so it is finished");
    let resumed = 50 * US + FRAME + US;
    assert_eq!(fct[2], Some(resumed + 598 * 80 + US - before - 598 * 80));
}

#[test]
fn a_resume_made_at_the_instant_at_which_its_port_is_freed_goes_before_the_data_that_waits_there() {
    const FRAME: u64 = 1048 * 80;
    const PAUSE: u64 = 43 * 80;
    // `s` pauses `a` at two frames and resumes it at two; what comes leaves at half the rate.
    let pfc = r#"{"pfc": {"xoff": "2096B", "resume-offset": "0B"}}"#;
    let mut net = Net::new(Format::HpccNs3);
    let (a, s, b, c) = (net.host("a"), net.switch("s"), net.host("b"), net.host("c"));
    let link = net.link(a, s, G100, Span::us(1), pfc);
    net.link(s, b, Rate::gbps(50), Span::us(1), pfc);
    net.link(c, s, G100, Span::us(1), pfc);
    net.flow(c, a, Bytes(1000), Span::us(5));
    net.flow(a, b, Bytes(5000), Span::us(10));
    // Its five frames are whole at `s` at 1 to 5 frame times and gone at 3, 5, 7, 9 and 11. At 7 two are
    // left.
    let resume = 11 * US + 7 * FRAME;
    // At that very instant `a` ends the pause that has held back the frame from `c`.
    net.pauses(link, a, Span::us(1), Time(resume - PAUSE - US));
    let records = net.run();
    assert_eq!(
        counter(&records, "s", "a-s", "pfc_tx"),
        6,
        "a pause and a resume at 2 and 3, 4 and 5, 5 and 7"
    );
    assert_eq!(fct_ps(&records)[0], Some(resume + PAUSE + FRAME + US - 5 * US));
}

#[test]
fn the_longest_pause_is_what_the_field_can_name() {
    assert_eq!(Quanta::MAX.span(G100), Span(QUANTA));
}

#[test]
fn a_fault_that_ends_does_not_resume_what_a_full_buffer_has_paused() {
    for mode in ["timer", "on-off"] {
        let pfc = format!(r#"{{"pfc": {{"xoff": "20KB", "pause": "{mode}"}}}}"#);
        let mut net = Net::new(Format::Ethernet);
        let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
        let link = net.link(a, s, G100, Span::us(1), &pfc);
        net.link(s, b, Rate::gbps(10), Span::us(1), &pfc);
        net.pauses(link, s, Span::us(30), Time(31 * US));
        net.flow(a, b, Bytes::mb(1), Span::ZERO);
        let records = net.run();
        assert_eq!((records.outcome.lossless.is_held(), records.outcome.stopped), (true, Stopped::Finished));
    }
}

#[test]
fn a_release_in_progress_when_the_pause_is_sent_brings_the_resume() {
    // The second packet, on its way to `c` who holds it up, takes the account to XOFF. The last one to a slow
    // `b` then crosses XON while nothing else happens at the switch.
    let pfc = r#"{"pfc": {"xoff": "1100B", "resume-offset": "0B", "pause": "on-off"}}"#;
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(1)).until_limit();
    let (a, s, b, c) = (net.host("a"), net.switch("s"), net.host("b"), net.host("c"));
    net.link(a, s, Rate::gbps(100), Span::us(1), pfc);
    net.link(s, b, Rate::gbps(1), Span::us(1), pfc);
    let held = net.link(s, c, Rate::gbps(100), Span::us(1), pfc);
    net.pauses(held, c, Span::ZERO, Time::NEVER);
    net.flow(a, b, Bytes(1_000), Span::us(10));
    net.flow(a, c, Bytes(1_000), Span::us(11));
    net.flow(a, b, Bytes(1_000), Span::us(16));
    let finished = fct_ps(&net.run());
    assert!(finished[0].is_some() && finished[1].is_none() && finished[2].is_some(), "{finished:?}");
}

/// `a` sends to a slow port, where all of it waits, and `c` to a port of its own, where nothing does.
#[test]
fn a_threshold_of_the_whole_switch_pauses_ports_for_what_others_hold() {
    let paused = |xoff: &str| {
        let pfc = format!(r#"{{"pfc": {{"xoff": {xoff}, "resume-offset": "3KB"}}}}"#);
        let mut net = Net::new(Format::Ethernet);
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| net.host(name));
        let switch = net.switch_with("s", r#"{"shared": {"pool": "1MB"}}"#);
        net.link(a, switch, G100, Span::us(1), &pfc);
        net.link(switch, b, Rate::gbps(10), Span::us(1), &pfc);
        net.link(c, switch, G100, Span::us(1), &pfc);
        net.link(switch, d, G100, Span::us(1), &pfc);
        net.flow(a, b, Bytes(200_000), Span::ZERO);
        net.flow(c, d, Bytes(200_000), Span::ZERO);
        let records = run_on_one_thread_and_two(&net);
        assert_eq!((records.outcome.stopped, drops(&records)), (Stopped::Finished, 0));
        ["a-s", "c-s"].map(|link| counter(&records, "s", link, "pfc_tx") > 0)
    };
    assert_eq!(paused(r#""100KB""#), [true, false], "each by its own bytes");
    assert_eq!(paused(r#"{"total": "100KB"}"#), [true, true]);
    assert_eq!(paused(r#"{"total": "300KB"}"#), [false, false]);
}
