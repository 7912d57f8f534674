//! HPCC (Li et al., SIGCOMM 2019) at its fixed point.
//!
//! With U = k · ΣR over the flows of a link, and R' = R · η/U + A at each full update (every one is
//! multiplicative, since A keeps U above η):
//!
//! * the sum settles where ΣR · (1 - η/U) = N · A, that is U* = η + N · k · A;
//! * a difference of two rates shrinks by η/U* an update: all become equal;
//! * a flow that passes several links goes by the busiest, so that shares are max-min.
//!
//! U counts bytes of frames (42 of telemetry included, preamble and gap not) over the link's nominal rate,
//! and R paces bytes of the wire: k = frame / wire / B. Waiting bytes count too: U = k · ΣR + min(q, q
//! before)/(B · T).

use floodway_fabric::Records;

use super::support::{counter, near, queue, run, series, solve, unbounded, used, within};

/// Bytes of a full packet with telemetry: as buffers and U count it, and on the wire.
struct Packet {
    frame: f64,
    wire: f64,
}

const ETHERNET: Packet = Packet { frame: 1_104.0, wire: 1_124.0 };
const NS3: Packet = Packet { frame: 1_090.0, wire: 1_090.0 };

impl Packet {
    fn k(&self) -> f64 {
        self.frame / self.wire
    }

    /// Wire bytes that a link of 100G carries in `us` microseconds, in packets.
    fn in_time(&self, us: f64) -> f64 {
        us * 12_500.0 / self.wire
    }
}

const PFC: &str = "[defaults]\nflow-control.pfc = { xoff = \"20MB\" }\n";
const ETA: f64 = 0.95;

/// `n` hosts send without end to one more over links of 100G and `delay` microseconds. With ns-3's profile
/// its own flow control stays, whose pauses end with the flows' first round trips.
fn star(n: usize, delay: u64, limit: f64, head: &str, control: &str) -> Records {
    let defaults = if head.is_empty() { PFC } else { "[defaults]\n" };
    let text = format!(
        "limit = \"{limit}us\"\n{head}\n\
         topology.single-switch = {{ hosts = {hosts}, rate = \"100G\", delay = \"{delay}us\" }}\n\
         records = {{ watch = \"*\", busiest = 0, buckets = 100000 }}\n\
         {defaults}rate-control.hpcc = {{ {control} }}\n\
         [[workload]]\nname = \"long\"\nlong-lived = {{ from = [{from}], to = \"h{hosts}\" }}\n",
        hosts = n + 1,
        from = (1..=n).map(|i| format!("\"h{i}\"")).collect::<Vec<_>>().join(", "),
    );
    run(&text)
}

/// The switch's port where all meet.
fn meeting(n: usize) -> String {
    format!("s1>h{}", n + 1)
}

/// What the simulator's preset adds at 100G: 10 Mbit/s per 25G, over the rate.
const RAI: f64 = 0.04 / 100.0;
/// What the paper's adds: (1 - η) / 100 of a window, in parts of the window.
const WAI: f64 = (1.0 - ETA) / 100.0;

#[test]
fn a_long_flow_settles_at_eta_plus_its_step() {
    let span = [2_000.0, 4_000.0];
    for (control, step) in [("preset = \"paper\"", WAI), ("preset = \"simulator\"", RAI)] {
        let records = star(1, 5, span[1], "", control);
        let u = used(&records, &meeting(1), 100.0, span) * ETHERNET.k();
        // One packet more or less in the span at either end; a gap is rounded up to a picosecond of 90 ns.
        let slack = 2.0 / ETHERNET.in_time(span[1] - span[0]) + 2e-5;
        near(control, u, ETA + ETHERNET.k() * step, slack);
        // A packet joins the queue and leaves it at the same instant.
        let (mean, longest) = queue(&records, &meeting(1), span);
        assert_eq!((mean, longest), (0.0, ETHERNET.frame), "one NIC's flow never waits at a port as fast");
    }
}

#[test]
fn with_ns3s_profile_the_target_is_met_to_the_nanosecond_of_a_packets_gap() {
    let span = [2_000.0, 4_000.0];
    for (control, step) in [("preset = \"paper\"", WAI), ("preset = \"simulator\"", RAI)] {
        for n in [1, 2, 4] {
            let flows = n as f64;
            let records = star(n, 1, span[1], "profile = \"hpcc-ns3\"", control);
            let u = used(&records, &meeting(n), 100.0, span);
            let expected = ETA + flows * step;
            // Gaps are whole nanoseconds, cut: the rate of the fixed point lies between two that can be had,
            // a nanosecond of the gap apart, and the machine goes to and fro between these.
            let gap = flows * NS3.wire * 0.08 / expected;
            let slack = expected / gap.floor() + 2.0 / NS3.in_time(span[1] - span[0]);
            // What waits counts as used over T = 4.16 us.
            let waits = (flows - 1.0) * NS3.frame / (12_500.0 * 4.16);
            near(&format!("{n} of ns-3, {control}"), u, expected - waits / 2.0, waits / 2.0 + slack);
        }
    }
}

#[test]
fn long_flows_together_settle_at_eta_plus_their_steps_less_what_waits() {
    let span = [2_000.0, 4_000.0];
    for (control, step) in [("preset = \"paper\"", WAI), ("preset = \"simulator\"", RAI)] {
        for n in [2, 4, 8] {
            let flows = n as f64;
            let records = star(n, 5, span[1], "", control);
            let u = used(&records, &meeting(n), 100.0, span) * ETHERNET.k();
            // Flows that are paced below the link's rate in sum have at most one packet each before it, one
            // of which is on the wire: so much may wait, and counts as used over T = 20 us.
            let waits = (flows - 1.0) * ETHERNET.frame / (12_500.0 * 20.0);
            let expected = ETA + flows * ETHERNET.k() * step;
            let slack = 2.0 / ETHERNET.in_time(span[1] - span[0]) + 2e-5;
            near(&format!("{n} flows, {control}"), u, expected - waits / 2.0, waits / 2.0 + slack);
            let (_, longest) = queue(&records, &meeting(n), span);
            assert!(longest <= (flows - 1.0) * ETHERNET.frame, "{longest} B wait for {n} flows, {control}");
        }
    }
}

/// η and the sum of all steps over the link's rate, for runs in which shares become equal within ten round
/// trips: at the published values that takes hundreds.
const QUICK: (f64, f64) = (0.8, 0.1);

/// The quick values for `n` flows, with rates or with windows of 100G · T.
fn quick(preset: &str, n: usize, rtt_us: f64) -> String {
    let (eta, steps) = QUICK;
    let each = steps / n as f64 / ETHERNET.k();
    match preset {
        "paper" => format!(
            "preset = \"paper\", eta = {eta}, max-stage = 0, wai = \"{}B\"",
            (each * rtt_us * 12_500.0).round()
        ),
        _ => format!("preset = \"simulator\", eta = {eta}, rai = \"{}M\"", (each * 1e5).round()),
    }
}

#[test]
fn flows_share_a_link_equally_within_what_their_phases_hide() {
    let span = [4_000.0, 6_000.0];
    for preset in ["paper", "simulator"] {
        for n in [2, 4, 8] {
            let records = star(n, 10, span[1], "", &quick(preset, n, 40.0));
            let all = used(&records, &meeting(n), 100.0, span) * ETHERNET.k();
            let flows = n as f64;
            // Where packets fall into the same pattern again and again, a flow may see up to n - 1 packets
            // wait each time, and another none: R = A · U / (U - η) then differs by so much, η/U of it.
            let bias = (flows - 1.0) * ETHERNET.frame / (12_500.0 * 40.0);
            let slack = bias / QUICK.1 * QUICK.0 / (QUICK.0 + QUICK.1);
            for i in 1..=n {
                let share = used(&records, &format!("h{i}>s1"), 100.0, span) * ETHERNET.k() / all;
                let packet = 2.0 * flows / ETHERNET.in_time(span[1] - span[0]);
                near(&format!("{preset}: flow {i} of {n}"), share * flows, 1.0, slack + packet);
            }
        }
    }
}

#[test]
fn a_difference_of_rates_shrinks_by_eta_over_u_a_round_trip() {
    let (eta, steps) = QUICK;
    let text = format!(
        "limit = \"4ms\"\ntopology.single-switch = {{ hosts = 5, rate = \"100G\", delay = \"10us\" }}\n\
         records = {{ watch = \"*\", busiest = 0, buckets = 100000 }}\n{PFC}rate-control.hpcc = {{ {control} }}\n\
         [[workload]]\nname = \"three\"\nlong-lived = {{ from = [\"h1\", \"h2\", \"h3\"], to = \"h5\" }}\n\
         [[workload]]\nname = \"late\"\nlong-lived = {{ from = \"h4\", to = \"h5\" }}\nstart = \"2ms\"\n",
        control = quick("simulator", 4, 40.0),
    );
    let records = run(&text);
    let rtt = 40.0 + 2.0 * (ETHERNET.wire + 128.0) / 12_500.0;
    let updates = 12.0;
    // What the late flow sends more than the others on average, over four round trips, in packets.
    let packets = |from: f64| {
        let of = |host: usize| {
            let sent = series(&records, &format!("h{host}>s1"), "tx_bytes");
            within(&sent, from, from + 160.0).iter().sum::<f64>() / ETHERNET.wire
        };
        of(4) - (of(1) + of(2) + of(3)) / 3.0
    };
    // Seven round trips after its burst at line rate the sum has settled again.
    let (early, late) = (packets(2_280.0), packets((2_280.0 + updates * rtt).round()));
    let exponent = updates * ((eta + steps) / eta).ln();
    // U counts up to three packets that wait. A full update takes a round trip and up to the gap to the next
    // packet, less than a microsecond. Spans are of whole microseconds and packets: one at each end, of both.
    let of_u = updates * 3.0 * ETHERNET.frame / (12_500.0 * 40.0) / (eta + steps);
    let of_length = exponent / rtt;
    let of_counts = 4.0 / early.abs() + 4.0 / late.abs();
    near("decay", (early / late).ln(), exponent, of_u + of_length + of_counts);
}

#[test]
fn a_parking_lot_is_shared_max_min() {
    // Three flows over s1-s2, of which one goes on over s2-s3 and meets a fourth there.
    let span = [6_000.0, 8_000.0];
    let (eta, steps) = QUICK;
    let text = format!(
        "limit = \"8ms\"\nrecords = {{ watch = \"*\", busiest = 0, buckets = 100000 }}\n\
         topology.chain = {{ switches = 3, hosts = [3, 3, 2], rate = \"100G\", delay = \"10us\" }}\n\
         {PFC}rate-control.hpcc = {{ {control} }}\n[[workload]]\nname = \"long\"\nflows = [{flows}]\n",
        flows = unbounded(&[(1, 7), (2, 5), (3, 6), (4, 8)]),
        control = quick("simulator", 3, 80.0),
    );
    let records = run(&text);
    assert_eq!(counter(&records, "s2", "s1-s2", "pfc_tx"), 0);
    let rate = |host: usize| {
        let port = format!("h{host}>s{}", 1 + (host - 1) / 3);
        used(&records, &port, 100.0, span) * ETHERNET.k()
    };
    // All in parts of the rate, as U counts it. R · (1 - η/U) = A of each, by its busiest link.
    let step = steps / 3.0;
    let first = (eta + steps) / 3.0;
    let second = solve(|r| step - r * (1.0 - eta / (first + r)), 0.0, 1.0);
    assert!(first + second < eta + steps, "the second link is the less busy one");
    // A flow may see the packets of the others wait, and each other flow none (as above); the fourth's rate
    // moves with that of the first, too, by less than as much.
    let (path, packet) = (ETHERNET.frame / (12_500.0 * 80.0), 2.0 / ETHERNET.in_time(span[1] - span[0]));
    for host in 1..=3 {
        let slack = first * 2.0 * path / steps * eta / (eta + steps);
        near(&format!("flow {host}"), rate(host), first, slack + packet);
    }
    let u = first + second;
    let own = second * path / (u - eta) * eta / u;
    near("flow 4", rate(4), second, own + first * 2.0 * path / steps + packet);
}
