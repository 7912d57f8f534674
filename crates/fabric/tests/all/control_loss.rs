//! Frames of flow control that are damaged on a long link: which flow controls recover, and at what cost.

use crate::support::{Net, counter, drops_by, real};
use floodway_fabric::Records;
use floodway_fabric::blueprint::ErrorRates;
use floodway_fabric::outcome::Stopped;
use floodway_units::{Bytes, Rate, Span};
use floodway_wire::Format;

/// How a run with damaged frames of flow control ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// All arrives, and no buffer overflows.
    Recovers,
    /// A buffer overflows; the flows go on.
    Overflows,
    /// Packets wait forever.
    Stalls,
}

/// A flow control, how its flows repair losses, and what becomes of them.
const ROWS: [(&str, &str, Outcome); 7] = [
    (r#"{"pfc": {"xoff": "auto", "pause": "timer"}}"#, NONE, Outcome::Overflows),
    (r#"{"pfc": {"xoff": "auto", "pause": "timer"}}"#, GO_BACK_N, Outcome::Overflows),
    (r#"{"pfc": {"xoff": "auto", "pause": "on-off"}}"#, NONE, Outcome::Stalls),
    (r#"{"bifrost": {"slot": "2us"}}"#, NONE, Outcome::Recovers),
    (r#""cbfc""#, NONE, Outcome::Recovers),
    (r#"{"cbfc": {"mode": "infiniband"}}"#, NONE, Outcome::Recovers),
    // It has no frames that could be damaged; its buffers overflow all the same.
    (r#""lossy""#, GO_BACK_N, Outcome::Overflows),
];
const NONE: &str = r#""none""#;
const GO_BACK_N: &str = r#""go-back-n""#;

/// Two hosts of 100 Gbit/s send to one over 1 km at 200 Gbit/s, whose control frames are damaged at this
/// rate.
fn run(flow_control: &str, reliability: &str, link_control: f64) -> Records {
    let pfc = r#"{"pfc": {"xoff": "auto"}}"#;
    let ample = r#"{"static": {"size": "3MB"}}"#;
    let mut net = Net::new(Format::Ethernet).reliability(reliability).limit(Span::ms(15));
    let hosts = ["h1", "h2"].map(|name| net.host(name));
    let (s, t) = (net.switch_with("s", ample), net.switch_with("t", ample));
    let receiver = net.host("h3");
    for host in hosts {
        net.link(host, s, Rate::gbps(100), Span::us(1), pfc);
    }
    let long = net.link(s, t, Rate::gbps(200), Span::us(5), flow_control);
    net.link(t, receiver, Rate::gbps(100), Span::us(1), pfc);
    net.port_buffer(long, t, r#"{"static": {"size": "420KB"}}"#);
    for direction in &mut net.blueprint.links[long].directions {
        direction.errors = ErrorRates { link_control, ..ErrorRates::default() };
    }
    for host in hosts {
        net.flow(host, receiver, Bytes::mb(40), Span::ZERO);
    }
    net.run()
}

fn outcome(records: &Records) -> Outcome {
    if drops_by(records, "buffer") > 0 {
        Outcome::Overflows
    } else if records.outcome.stopped == Stopped::Finished {
        Outcome::Recovers
    } else {
        Outcome::Stalls
    }
}

/// When the last flow was over, in microseconds; none if one never was.
fn end(records: &Records) -> Option<f64> {
    let ends = real(records.flows.column("finish_receiver_us"));
    ends.iter().all(|end| end.is_finite()).then(|| ends.iter().copied().fold(0.0, f64::max))
}

#[test]
fn repeated_frames_recover_from_a_loss_and_single_frames_do_not() {
    for (flow_control, reliability, expected) in ROWS {
        let records = run(flow_control, reliability, 0.02);
        let lost =
            counter(&records, "t", "s-t", "pfc_tx").saturating_sub(counter(&records, "s", "s-t", "pfc_rx"));
        let setting = format!(
            "{flow_control}, {reliability}: {lost} lost, {} dropped, end {:?} us",
            drops_by(&records, "buffer"),
            end(&records),
        );
        assert!(lost > 0 || flow_control.contains("lossy"), "{setting}");
        assert_eq!(outcome(&records), expected, "{setting}");
        // What waits for a word that was lost is named at the end; what goes on is not.
        let blocked: Vec<_> =
            records.outcome.blocked.iter().map(|found| (&*found.port, found.flow_control)).collect();
        let stalled: &[_] = if expected == Outcome::Stalls { &[("s (s-t)", "pfc")] } else { &[] };
        assert_eq!(blocked, stalled, "{setting}");
    }
}

/// Recovery costs next to nothing.
#[test]
fn a_flow_control_that_recovers_is_late_by_a_few_frames_at_most() {
    for (flow_control, reliability, _) in ROWS.iter().filter(|row| row.2 == Outcome::Recovers) {
        let late = |rate| end(&run(flow_control, reliability, rate)).expect("it recovers");
        let (sound, damaged) = (late(0.0), late(1e-3));
        assert!(damaged < 1.01 * sound, "{flow_control}: {damaged} us, not {sound}");
    }
}

#[test]
fn sound_links_lose_nothing_under_any_lossless_flow_control() {
    for (flow_control, reliability, _) in ROWS.iter().filter(|row| !row.0.contains("lossy")) {
        assert_eq!(outcome(&run(flow_control, reliability, 0.0)), Outcome::Recovers, "{flow_control}");
    }
}
