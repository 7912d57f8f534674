//! TIMELY (Mittal et al., SIGCOMM 2015): its rates beyond its thresholds, and its fixed point between them.

use floodway_fabric::Records;

use super::support::{least, most, near, queue, run, series, used, within};

/// Bytes of a full packet on the wire, in a buffer, and as payload; an ACK's on the wire.
const WIRE: f64 = 1_082.0;
const FRAME: f64 = 1_062.0;
const PAYLOAD: f64 = 1_000.0;
const ACK: f64 = 86.0;

/// Hosts that send to one more over links of one rate and delay.
struct Star {
    hosts: usize,
    gbps: f64,
    /// Of each link, in microseconds.
    delay: f64,
    limit_us: f64,
    control: &'static str,
}

impl Star {
    /// The first host sends without end, each other one `size`.
    fn run(&self, size: &str) -> Records {
        let to = self.hosts + 1;
        let flow = |i: usize| {
            let size = if i == 1 { "unbounded" } else { size };
            format!("{{ from = \"h{i}\", to = \"h{to}\", size = \"{size}\" }}")
        };
        let flows: Vec<_> = (1..=self.hosts).map(flow).collect();
        let &Star { gbps, delay, limit_us, control, .. } = self;
        run(&format!(
            "limit = \"{limit_us}us\"\nstop = \"limit\"\n\
             topology.single-switch = {{ hosts = {to}, rate = \"{gbps}G\", delay = \"{delay}us\" }}\n\
             records = {{ watch = \"*\", busiest = 0, buckets = 400000 }}\n\
             [defaults]\nflow-control.pfc = {{ xoff = \"20MB\" }}\nrate-control.timely = {{ {control} }}\n\
             [[workload]]\nname = \"long\"\nflows = [{}]\n",
            flows.join(", ")
        ))
    }

    fn bytes_per_us(&self) -> f64 {
        self.gbps * 125.0
    }

    /// Round trip of a full packet and its ACK with empty queues, in microseconds.
    fn base(&self) -> f64 {
        4.0 * self.delay + 2.0 * (WIRE + ACK) / self.bytes_per_us()
    }

    /// How long bytes of frames wait that are before a packet.
    fn wait(&self, queued: f64) -> f64 {
        queued / FRAME * WIRE / self.bytes_per_us()
    }

    fn meeting(&self) -> String {
        format!("s1>h{}", self.hosts + 1)
    }

    /// Rate of a host's NIC in Gbit/s.
    fn rate(&self, records: &Records, host: usize, span: [f64; 2]) -> f64 {
        used(records, &format!("h{host}>s1"), self.gbps, span) * self.gbps
    }
}

/// Relative error of a rate that is counted in whole packets over `span`.
fn counted(gbps: f64, span: [f64; 2]) -> f64 {
    2.0 * WIRE * 8e-3 / (gbps * (span[1] - span[0]))
}

#[test]
fn below_t_low_the_rate_only_rises_by_the_hyper_step_a_round_trip() {
    // Both are cut, the second ends, and the first has the link to itself.
    let star = Star { hosts: 2, gbps: 100.0, delay: 5.0, limit_us: 3_000.0, control: "preset = \"hpcc\"" };
    let records = star.run("1MB");
    let (early, late) = ([1_000.0, 1_500.0], [2_500.0, 3_000.0]);
    let (_, longest) = queue(&records, &star.meeting(), [early[0], late[1]]);
    assert!(star.wait(longest) < 1.0, "{longest} B wait, far below T_low");
    let (first, last) = (star.rate(&records, 1, early), star.rate(&records, 1, late));
    assert!(last < 90.0, "the line rate does not end the rise");
    // An update takes a round trip and what is left of the gap to the next packet, all of it at most.
    let rise = |period: f64| 0.5 * (late[0] - early[0]) / period;
    let (most, least) = (rise(star.base()), rise(star.base() + WIRE * 8e-3 / first));
    let slack = first * counted(first, early) + last * counted(last, late) + (most - least) / 2.0;
    near("rise in Gbit/s", last - first, f64::midpoint(most, least), slack);
    // In buckets of 50 us a rate that rises loses no more than a packet.
    let fifty: Vec<f64> =
        (20..60).map(|i| star.rate(&records, 1, [50.0 * f64::from(i), 50.0 * f64::from(i + 1)])).collect();
    let packet = WIRE * 8e-3 / 50.0;
    assert!(fifty.windows(2).all(|pair| pair[1] > pair[0] - packet - 1e-9), "{fifty:?}");
}

#[test]
fn below_t_low_the_papers_rate_grows_exponentially_by_a_step_a_segment() {
    let star = Star { hosts: 2, gbps: 100.0, delay: 5.0, limit_us: 2_500.0, control: "preset = \"paper\"" };
    let records = star.run("1MB");
    let (early, late) = ([1_000.0, 1_250.0], [2_000.0, 2_250.0]);
    let (first, last) = (star.rate(&records, 1, early), star.rate(&records, 1, late));
    // dR/dt = δ · (payload acknowledged a second) / segment, of what was sent a round trip before:
    // R grows by exp(λt) with λ = a · exp(-λ · RTT).
    let a = 0.1 * PAYLOAD / WIRE / (8e-3 * 16_000.0);
    let lambda = (0..50).fold(a, |lambda, _| a * (-lambda * star.base()).exp());
    // Packets at the ends of both spans, and at each a step that is made or not.
    let slack = counted(first, early) + counted(last, late) + 0.1 / first + 0.1 / last;
    near("growth", (last / first).ln(), lambda * (late[0] - early[0]), slack);
}

#[test]
fn above_t_high_the_rate_falls_geometrically_to_its_least() {
    let control = "preset = \"hpcc\", t-low = \"50us\", t-high = \"150us\"";
    let star = Star { hosts: 1, gbps: 100.0, delay: 50.0, limit_us: 6_000.0, control };
    let records = star.run("");
    let factor = 1.0 - 0.8 * (1.0 - 150.0 / star.base());
    // The first ACK stores; the second round trip's first one makes the first cut. Later updates come late by
    // a gap each, 6 us in all after fifteen of them: amid a round trip the rate is that of its number.
    for n in [0, 1, 2, 5, 10, 15] {
        let at = |part: f64| (f64::from(n) + part) * star.base();
        let span = [at(1.25).round(), at(1.75).round()];
        let expected = 100.0 * factor.powi(n);
        let slack = expected * counted(expected, span);
        near(&format!("after {n} cuts, in Gbit/s"), star.rate(&records, 1, span), expected, slack);
    }
    let last = [5_000.0, 6_000.0];
    near("at the end, in Gbit/s", star.rate(&records, 1, last), 1.0, counted(1.0, last));
}

/// Between the thresholds TIMELY has no fixed point (Zhu et al., CONEXT 2016, section 4). Its two flows go on
/// rising below `T_low`, and so come back to it each time with more than the link takes.
#[test]
fn two_flows_swing_through_t_low_and_beyond_it_by_what_two_round_trips_bring() {
    let star = Star { hosts: 2, gbps: 100.0, delay: 5.0, limit_us: 20_000.0, control: "preset = \"hpcc\"" };
    let records = star.run("unbounded");
    let (t_low, t_high) = (50.0, 500.0);
    let span = [2_500.0, 20_000.0];
    let (_, longest) = queue(&records, &star.meeting(), span);
    let peak = star.base() + star.wait(longest);
    // Both add the hyper step each round trip, which is never shorter than the base one. From an empty queue
    // on, the excess that makes a wait of T_low - base is sqrt(2 · slope · wait) at most, and one step.
    let step = 2.0 * 0.5 / star.gbps;
    let slope = step / star.base();
    let excess = (2.0 * slope * (t_low - star.base())).sqrt() + step;
    // The packet that first finds T_low has just missed an update: the next one comes a round trip after, and
    // is felt when its packets reach the port. 0.8 · 0.875 · T_low / min-rtt > 1: it takes more than the
    // excess.
    let bound = (0..100).fold(t_low, |peak, _| {
        let late = t_low + peak;
        t_low + excess * late + slope * late * late / 2.0
    });
    assert!(bound < t_high);
    near("peak in us", peak, f64::midpoint(t_low, bound), (bound - t_low) / 2.0);
    // A swing is over in 6 ms: even from the least rate it takes (50 - 1) / 0.5 steps of T_low at most to be
    // back at half the link's rate, 4.9 ms, then sqrt(2 · wait · T_low / step) = 0.6 ms to T_low and what is
    // late. So there are two at least in 17.5 ms.
    let waits = within(&series(&records, &star.meeting(), "queue_mean_bytes"), span[0], span[1]);
    let above: Vec<bool> = waits.iter().map(|&q| star.base() + star.wait(q) > t_low).collect();
    let crossings = above.windows(2).filter(|pair| !pair[0] && pair[1]).count();
    assert!(crossings >= 2, "{crossings} times upwards through T_low");
}

#[test]
fn patched_flows_settle_at_their_one_fixed_point() {
    // The paper's setting, 10G. Growth and cut are equal at RTT* = RTT_ref · (1 + N · δ / (β · C)), with the
    // gradient at 0, where w = 1/2 (Zhu et al., CONEXT 2016, section 4).
    for (n, settled) in [(2, 80_000.0), (4, 80_000.0)] {
        let control = "preset = \"patched\", rmin = \"100M\"";
        let star = Star { hosts: n, gbps: 10.0, delay: 2.0, limit_us: settled + 20_000.0, control };
        let records = star.run("unbounded");
        let span = [settled, settled + 20_000.0];
        let expected = 50.0 * (1.0 + n as f64 * 0.01 / (0.008 * 10.0));
        let waits = within(&series(&records, &star.meeting(), "queue_mean_bytes"), span[0], span[1]);
        let mean = waits.iter().sum::<f64>() / waits.len() as f64;
        // The machine's round trip is less the NIC's serialisation of a payload.
        let rtt = star.base() + star.wait(mean) - PAYLOAD / star.bytes_per_us();
        // What the mean over time and the mean over arriving packets of one flow may differ by: a packet.
        near(&format!("round trip of {n} flows, in us"), rtt, expected, WIRE / star.bytes_per_us());
        assert!(most(&waits) - least(&waits) < 2.0 * FRAME * n as f64, "it stands still");
        for host in 1..=n {
            let share = star.rate(&records, host, span) * n as f64 / 10.0;
            near(&format!("share of flow {host} of {n}"), share, 1.0, 0.002 + counted(10.0 / n as f64, span));
        }
    }
}
