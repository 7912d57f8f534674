//! DCQCN end to end: flows that meet at a port, RED that marks there, CNPs back to the senders.
//!
//! ```text
//!  h0 ─┐
//!  h1 ─┼─► s ──► r      all links of one rate, 1 us
//!  .. ─┘
//! ```

use crate::support::{Net, counter, drops, fct_ps, names, port, real, sum, whole};
use floodway_fabric::Records;
use floodway_fabric::blueprint::{Repacing, UNBOUNDED};
use floodway_mechanisms::registry::NotificationParams;
use floodway_units::{Bytes, NodeId, Rate, Span};
use floodway_wire::Format;

/// Bytes of a full packet, on the wire and as payload; of a CNP and an ACK in a buffer.
const WIRE: f64 = 1_082.0;
const PAYLOAD: f64 = 1_000.0;
const CNP: u64 = 78;
const ACK: u64 = 66;

/// The paper's machine and its marking at 40G; the ramp goes on beyond 200 KB with the same slope.
const PAPER: Setting = Setting {
    gbps: 40,
    red: r#"{"red": {"preset": "dcqcn-paper", "kmax": "395KB", "pmax": 0.02}}"#,
    dcqcn: r#"{"dcqcn": {"preset": "paper"}}"#,
};
/// HPCC's at 100G.
const HPCC: Setting = Setting { gbps: 100, red: r#""red""#, dcqcn: r#""dcqcn""# };

#[derive(Clone, Copy)]
struct Setting {
    gbps: u64,
    red: &'static str,
    dcqcn: &'static str,
}

impl Setting {
    /// `n` hosts and a receiver; RED where all meet, which is on link 0.
    fn star(self, n: usize) -> (Net, Vec<NodeId>, NodeId) {
        let mut net = Net::new(Format::Ethernet).rate_control(&[self.dcqcn]);
        let settings = &mut net.blueprint.settings[0];
        settings.notification = NotificationParams::asked_by(&settings.rate_control);
        let pfc = r#"{"pfc": {"xoff": "2MB"}}"#;
        let (s, r) = (net.switch("s"), net.host("r"));
        let rate = Rate::gbps(self.gbps);
        let out = net.link(s, r, rate, Span::us(1), pfc);
        net.congestion_point(out, s, self.red);
        let hosts: Vec<_> = (0..n).map(|i| net.host(&format!("h{i}"))).collect();
        for &host in &hosts {
            net.link(host, s, rate, Span::us(1), pfc);
        }
        net.blueprint.records.watch = vec![port(out, 0)];
        net.blueprint.records.busiest = 0;
        (net, hosts, r)
    }

    /// `n` endless flows, the i-th of which starts after i · `apart`.
    fn meet(self, n: usize, apart: Span) -> Net {
        let (mut net, hosts, r) = self.star(n);
        for (i, host) in hosts.into_iter().enumerate() {
            net.flow(host, r, UNBOUNDED, apart * i as u64);
        }
        net
    }

    /// The steady state of `n` flows after `settle`, over `span`.
    fn steady(self, n: usize, apart: Span, settle: Span, span: Span) -> Steady {
        let until = |limit| self.meet(n, apart).limit(limit).run();
        // A run is the beginning of a longer one.
        let (before, after) = (until(settle), until(settle + span));
        assert_eq!((drops(&after), sum(&after, "pfc_tx")), (0, 0), "the queue stays far below XOFF");
        let grown = |counted: &dyn Fn(&Records) -> f64| counted(&after) - counted(&before);
        let of = |name: &'static str| move |records: &Records| counter(records, "s", "s-r", name) as f64;
        let packets = grown(&of("tx_packets"));
        let bits = span.as_secs() * self.gbps as f64 * 1e9;
        let rate = |flow: usize| {
            let payload = |records: &Records| whole(records.flows.column("delivered_bytes"))[flow] as f64;
            grown(&payload) / PAYLOAD * WIRE * 8.0 / bits
        };
        let (mean, max) = queue(&after, settle);
        Steady {
            shares: (0..n).map(rate).collect(),
            used: packets * WIRE * 8.0 / bits,
            marked: grown(&of("ecn_marks")) / packets,
            mean,
            max,
        }
    }
}

struct Steady {
    /// Of the link, by flow.
    shares: Vec<f64>,
    /// How much of the link is used.
    used: f64,
    /// Share of packets.
    marked: f64,
    /// Bytes that wait, on average and at most.
    mean: f64,
    max: f64,
}

/// Mean and longest queue of the watched port from `after` on.
fn queue(records: &Records, after: Span) -> (f64, f64) {
    let metrics = names(records.series.column("metric"));
    let (times, values) = (real(records.series.column("time_us")), real(records.series.column("value")));
    let of = |metric: &str| -> Vec<f64> {
        let rows = (0..values.len()).filter(|&row| metrics[row] == metric && times[row] >= after.as_us());
        rows.map(|row| values[row]).collect()
    };
    let means = of("queue_mean_bytes");
    (means.iter().sum::<f64>() / means.len() as f64, of("queue_max_bytes").into_iter().fold(0.0, f64::max))
}

fn events(records: &Records, cause: &str) -> u64 {
    records.outcome.events.iter().find(|(name, _)| *name == cause).map_or(0, |&(_, count)| count)
}

// ---- rates and queues

#[test]
fn two_long_flows_share_a_port_by_halves_with_the_queue_between_kmin_and_kmax() {
    // The second starts at line rate when the first has had the port to itself.
    let steady = PAPER.steady(2, Span::ms(20), Span::ms(100), Span::ms(200));
    for share in &steady.shares {
        assert!((share - 0.5).abs() < 0.05, "{:?}", steady.shares);
    }
    assert!(steady.used > 0.99, "{}", steady.used);
    // On average: a cut of both can empty it for a moment.
    assert!(steady.mean > 5e3 && steady.max < 200e3, "{} and {}", steady.mean, steady.max);
}

#[test]
#[ignore = "long: make test-long"]
fn equal_flows_get_equal_shares() {
    for setting in [PAPER, HPCC] {
        for n in [2, 8] {
            let steady = setting.steady(n, Span::ZERO, Span::ms(100), Span::ms(200));
            // A cut takes alpha/2 and shares forget it over 2/alpha cuts: with alpha = 0.16 and 600 cuts a
            // flow (the paper's, n = 8) a share's mean wanders by 4 %; this is three and a half times that.
            for share in &steady.shares {
                assert!((share * n as f64 - 1.0).abs() < 0.15, "{:?} at {}G", steady.shares, setting.gbps);
            }
            assert!(steady.used > 0.98, "{} at {}G", steady.used, setting.gbps);
        }
    }
}

/// The mark probability at which N equal flows neither gain nor lose, and the queue that gives it.
///
/// The balance of the paper's fluid model (Zhu et al. 2015, section 5.1: what cuts take, the increase steps
/// give back), with the steps of the machine in place of the model's mean rates. A CNP follows the last one
/// by G = N + a time to the next mark, exponential with mean 1/(p · R); so n = floor(G/T) steps lie between,
/// the fifth of which and all later ones are additive: j = max(0, n - 4). With alpha and R at their means:
///
/// * alpha: raised by g(1 - alpha) at a CNP and lowered by g · alpha in each of the floor(G/K) periods, so
///   that alpha = 1 / (1 + E[floor(G/K)]);
/// * Rt after the cut is R, its gap R · alpha/2; n steps leave R · alpha/2 · 2^-n of that, and additive ones
///   give `rai` · (j - 1 + 2^-j). Both are equal on average.
///
/// The published equations count gaps from a mark and not from a CNP, and the sixth step as the first
/// additive one: that makes their p lower by a quarter.
struct Balance {
    /// R, packets a second.
    packets: f64,
    /// `rai` over R.
    additive: f64,
}

impl Balance {
    const CNP_INTERVAL: f64 = 50e-6;
    /// T and K.
    const PERIOD: f64 = 55e-6;
    /// More periods than any gap has.
    const MOST: u32 = 4_000;

    fn new(n: usize) -> Self {
        let rate = PAPER.gbps as f64 * 1e9 / n as f64;
        Balance { packets: rate / (8.0 * WIRE), additive: 40e6 / rate }
    }

    /// Probability that `periods` or more lie between two CNPs.
    fn reach(&self, p: f64, periods: u32) -> f64 {
        let wait = f64::from(periods) * Self::PERIOD - Self::CNP_INTERVAL;
        (-p * self.packets * wait.max(0.0)).exp()
    }

    /// What a flow gains from one CNP to the next, over R.
    fn gain(&self, p: f64) -> f64 {
        let alpha = 1.0 / (1.0 + (1..Self::MOST).map(|k| self.reach(p, k)).sum::<f64>());
        let steps = |n: u32| {
            let additive = n.saturating_sub(4);
            let halved = |times: u32| 0.5f64.powf(f64::from(times));
            let given = self.additive * (f64::from(additive) - 1.0 + halved(additive));
            (self.reach(p, n) - self.reach(p, n + 1)) * (given - alpha / 2.0 * halved(n))
        };
        (0..Self::MOST).map(steps).sum()
    }

    fn marked(&self) -> f64 {
        let (mut low, mut high) = (1e-6, 0.5);
        for _ in 0..60 {
            let p = f64::sqrt(low * high);
            if self.gain(p) > 0.0 { low = p } else { high = p }
        }
        low
    }

    fn queue(&self) -> f64 {
        5e3 + self.marked() / 0.01 * 195e3
    }
}

#[test]
#[ignore = "long: make test-long"]
fn marks_and_queue_settle_at_the_fixed_point_of_the_fluid_balance() {
    for n in [2, 4, 8] {
        let steady = PAPER.steady(n, Span::ZERO, Span::ms(100), Span::ms(200));
        let balance = Balance::new(n);
        // The means are over 800 CNPs and more, so uncertain by 3.5 %: this is three times that.
        for (name, measured, expected) in
            [("marks", steady.marked, balance.marked()), ("queue", steady.mean, balance.queue())]
        {
            let error = measured / expected - 1.0;
            assert!(error.abs() < 0.1, "{name} of {n} flows: {measured}, not {expected}");
        }
    }
}

// ---- messages

/// Flows of 20 MB from `n` hosts.
fn transfers(setting: Setting, n: usize) -> Net {
    let (mut net, hosts, r) = setting.star(n);
    for host in hosts {
        net.flow(host, r, Bytes::mb(20), Span::ZERO);
    }
    net
}

#[test]
fn cnps_are_frames_on_the_reverse_path_and_counted_by_flow() {
    for (setting, interval) in [(PAPER, 50.0), (HPCC, 4.0)] {
        let records = transfers(setting, 4).until_limit().run();
        let cnps = whole(records.flows.column("cnps"));
        // Without ACKs nothing else leaves the receiver.
        let of = |name| counter(&records, "r", "s-r", name);
        let all: u64 = cnps.iter().sum();
        assert_eq!((of("tx_packets"), of("tx_bytes")), (all, all * CNP));
        for (cnps, fct) in cnps.into_iter().zip(real(records.flows.column("fct_us"))) {
            assert!(cnps > 10 && cnps as f64 <= fct / interval + 1.0, "{cnps} in {fct} us");
        }
    }
}

#[test]
fn with_flags_in_acks_there_is_no_cnp_packet_and_the_rate_falls_all_the_same() {
    let flagged = Setting { dcqcn: r#"{"dcqcn": {"cnp": "ack-flag"}}"#, ..HPCC };
    let records = transfers(flagged, 4).reliability(r#""go-back-n""#).until_limit().run();
    assert_eq!(whole(records.flows.column("cnps")), [0; 4]);
    let of = |name| counter(&records, "r", "s-r", name);
    assert_eq!((of("tx_packets"), of("tx_bytes")), (4 * 20_000, 4 * 20_000 * ACK), "an ACK a packet");
    assert!(counter(&records, "s", "s-r", "ecn_marks") > 100);
    let greedy = transfers(Setting { dcqcn: r#""line-rate""#, ..HPCC }, 4).until_limit().run();
    let pauses = |records: &Records| sum(records, "pfc_tx");
    assert!(pauses(&greedy) > 0 && pauses(&records) == 0, "four greedy flows fill the buffer");
}

// ---- events

#[test]
fn flows_at_line_rate_without_marks_have_no_timers() {
    for setting in [PAPER, HPCC] {
        let records = transfers(setting, 1).run();
        assert_eq!(sum(&records, "ecn_marks"), 0);
        assert_eq!((events(&records, "queue-pair timer"), events(&records, "pacing")), (0, 0));
    }
}

#[test]
fn timers_cost_a_few_events_a_cnp_and_one_a_step() {
    let n = 4;
    for (setting, step) in [(PAPER, Span::us(55)), (HPCC, Span::us(300))] {
        let span = Span::ms(20);
        let records = setting.meet(n, Span::ZERO).limit(span).run();
        let cnps: u64 = whole(records.flows.column("cnps")).iter().sum();
        let steps = n as u64 * (span.0 / step.0 + 1);
        // A CNP's check, and the step that the cut has put off.
        let timers = events(&records, "queue-pair timer");
        assert!(timers <= 2 * cnps + steps, "{timers} for {cnps} CNPs and {steps} steps");
    }
}

// ---- pacing

/// Completion time in microseconds of a flow that its first CNP cuts to 1 Mbit/s, and that is back at tens of
/// gigabits 200 us later.
fn cut_to_a_trickle(repacing: Repacing) -> f64 {
    let dcqcn = r#"{"dcqcn": {"rate-on-first-cnp": 0.00001, "rmin": "1M", "t-inc": "100us", "rai": "50G"}}"#;
    let setting = Setting { gbps: 100, red: r#"{"red": {"kmin": "1B", "kmax": "2B", "pmax": 1.0}}"#, dcqcn };
    let (mut net, hosts, r) = setting.star(2);
    net.blueprint.semantics.repacing = repacing;
    // The other one is over before the CNPs arrive.
    net.flow(hosts[0], r, Bytes::kb(100), Span::ZERO);
    net.flow(hosts[1], r, Bytes::kb(10), Span::ZERO);
    let records = net.run();
    fct_ps(&records)[0].expect("it finishes") as f64 / 1e6
}

#[test]
fn a_new_rate_holds_for_the_packet_that_waits_unless_its_time_is_kept() {
    // At 1 Mbit/s a packet follows the one before it after 8.656 ms.
    let gap = WIRE * 8.0;
    assert!(cut_to_a_trickle(Repacing::Kept) > gap);
    // Two increase steps, and what is left at 25 Gbit/s and more.
    assert!(cut_to_a_trickle(Repacing::Moved) < 300.0);
}

#[test]
fn the_papers_machine_cuts_once_an_interval_however_marks_are_reported() {
    let used = |dcqcn| {
        let mut net = Setting { dcqcn, ..PAPER }.meet(2, Span::ZERO);
        net = net.reliability(r#""go-back-n""#).limit(Span::ms(20));
        let records = net.run();
        let delivered: u64 = whole(records.flows.column("delivered_bytes")).iter().sum();
        delivered as f64 / PAYLOAD * WIRE * 8.0 / (20e-3 * 40e9)
    };
    assert!(used(r#"{"dcqcn": {"preset": "paper"}}"#) > 0.95);
    assert!(used(r#"{"dcqcn": {"preset": "paper", "cnp": "ack-flag"}}"#) > 0.95);
}
