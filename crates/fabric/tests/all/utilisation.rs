//! Utilisation of a long link under pauses: the closed form of SWING's paper, equations 1 to 4.
//!
//! ```text
//!  a ──── 100 Gbit/s, D ────► s ──── alpha · 100 Gbit/s ────► b      Ba = 11 MB at s, XOFF = XON
//! ```
//! Once the queue at `s` is back at XON, data returns two delays later. If the queue is empty by then, the
//! drain idles: XOFF / (alpha · BW) < 2D.

use crate::support::{Net, names, port, real};
use floodway_fabric::Records;
use floodway_fabric::blueprint::UNBOUNDED;
use floodway_units::{Rate, Span};
use floodway_wire::Format;

/// Bytes a second of the long link.
const BW: f64 = 12.5e9;
/// Ba, bytes.
const BUFFER: f64 = 11e6;
/// What packets and the frame ahead of a pause may move, relative.
const TOLERANCE: f64 = 0.005;
/// Cycles before those that count.
const BEFORE: usize = 3;

/// A point of the grid: alpha in percent, D in microseconds.
#[derive(Clone, Copy)]
struct Point {
    alpha: u64,
    delay: u64,
}

impl Point {
    fn alpha(self) -> f64 {
        self.alpha as f64 / 100.0
    }

    fn delay(self) -> f64 {
        self.delay as f64 * 1e-6
    }

    /// The best threshold that loses nothing.
    fn xoff(self) -> f64 {
        BUFFER - 2.0 * self.delay() * BW
    }

    fn runs_dry(self) -> bool {
        self.xoff() / (self.alpha() * BW) < 2.0 * self.delay()
    }

    /// Equation 4.
    fn utilisation(self) -> f64 {
        floodway_mechanisms::pfc::utilisation(self.alpha(), self.xoff(), 2.0 * self.delay() * BW)
    }

    /// Length of a cycle, from equations 1 to 3.
    fn cycle(self) -> f64 {
        let (a, d) = (self.alpha(), self.delay());
        let climb = if self.runs_dry() { self.xoff() / ((1.0 - a) * BW) } else { 2.0 * d * a / (1.0 - a) };
        climb + 2.0 * d + 2.0 * d * (1.0 - a) / a + 2.0 * d
    }

    /// From the start until the buffer has first filled to the threshold.
    fn first_climb(self) -> f64 {
        self.xoff() / ((1.0 - self.alpha()) * BW)
    }

    fn run(self) -> Records {
        let pfc = r#"{"pfc": {"xoff": "auto", "resume-offset": "0B", "pause": "on-off"}}"#;
        let mut net = Net::new(Format::HpccNs3);
        let (a, s, b) =
            (net.host("a"), net.switch_with("s", r#"{"static": {"size": "11MB"}}"#), net.host("b"));
        let long = net.link(a, s, Rate::gbps(100), Span::us(self.delay), pfc);
        net.link(s, b, Rate::gbps(self.alpha), Span::us(1), pfc);
        net.flow(a, b, UNBOUNDED, Span::ZERO);
        net.blueprint.records.watch = vec![port(long, 0)];
        net.blueprint.records.busiest = 0;
        // Enough for buckets of a microsecond.
        net.blueprint.records.buckets = 1 << 18;
        let length = self.first_climb() + (BEFORE as f64 + 7.0) * self.cycle();
        net.limit(Span((length * 1e12) as u64)).run()
    }

    /// Wire bytes that `a` sent over whole cycles, over what the link could carry; and a cycle's length.
    ///
    /// A cycle begins when data returns after a pause that lasted two delays or more. All packets are full,
    /// so that bytes and payload have one ratio.
    fn measured(self, records: &Records) -> (f64, f64) {
        let (times, sent) = sent(records);
        let gap = 1.5 * self.delay as f64;
        let mut starts = Vec::new();
        let mut last = times[0];
        for (i, &bytes) in sent.iter().enumerate() {
            if bytes > 0.0 {
                if times[i] - last > gap {
                    starts.push(i);
                }
                last = times[i];
            }
        }
        let (from, to) = (starts[BEFORE], *starts.last().expect("a run has cycles"));
        let cycles = starts.len() - 1 - BEFORE;
        assert!(cycles >= 3, "{cycles} cycles after the third");
        let span = (times[to] - times[from]) * 1e-6;
        (sent[from..to].iter().sum::<f64>() / (BW * span), span / cycles as f64)
    }
}

/// Time and bytes sent of each bucket of the only watched port.
fn sent(records: &Records) -> (Vec<f64>, Vec<f64>) {
    let metrics = names(records.series.column("metric"));
    let (times, values) = (real(records.series.column("time_us")), real(records.series.column("value")));
    let rows = (0..metrics.len()).filter(|&row| metrics[row] == "tx_bytes");
    rows.map(|row| (times[row], values[row])).unzip()
}

#[test]
#[ignore = "long: make test-long"]
fn utilisation_and_cycle_follow_the_closed_form() {
    for alpha in [20, 40, 60, 80, 95] {
        for delay in [10, 100, 220, 300, 439] {
            let point = Point { alpha, delay };
            let records = point.run();
            assert!(records.outcome.lossless.is_held());
            let (utilisation, cycle) = point.measured(&records);
            let at = format!("alpha {alpha} %, D {delay} us");
            let error = utilisation / point.utilisation() - 1.0;
            assert!(error.abs() < TOLERANCE, "{at}: {utilisation}, not {}", point.utilisation());
            // A pause begins and ends on packets, and is seen in buckets of a microsecond.
            let granularity = 4.0 * 1048.0 / (BW * point.alpha()) + 1e-6;
            let late = (cycle - point.cycle()).abs();
            assert!(late < TOLERANCE * point.cycle() + granularity, "{at}: {cycle} s, not {}", point.cycle());
        }
    }
}

#[test]
fn two_bandwidth_delay_products_of_buffer_keep_the_drain_busy_at_any_rate() {
    // Ba = 4 D BW at 220 us.
    for alpha in 1..=100 {
        assert!(!Point { alpha, delay: 220 }.runs_dry());
    }
    assert!(Point { alpha: 100, delay: 221 }.runs_dry());
}
