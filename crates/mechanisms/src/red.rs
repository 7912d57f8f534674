//! ECN marking by RED on the instantaneous queue (Floyd and Jacobson 1993, without the average, as DCQCN uses
//! it: Zhu et al., SIGCOMM 2015, section 3.1).
//!
//! ```text
//!   P  1 |            +------      P = 0                                     q <= kmin
//!        |            |            P = pmax · (q - kmin) / (kmax - kmin)     kmin < q <= kmax
//!   pmax |         ,--+            P = 1                                     kmax < q
//!        +------,--'
//!             kmin   kmax    q
//! ```
//!
//! # What it does
//!
//! A packet that can be marked gets CE with probability P; the control class is never marked. At dequeue, q
//! does not include the packet; at enqueue, it does. No packet is dropped.
//!
//! # Why
//!
//! It is the congestion point of DCQCN and, as a step, of DCTCP: without one, senders are not notified of a
//! queue until PFC pauses them. Thresholds must be below PFC's, or pauses come first. It marks all waiting
//! packets, including those that wait only because congestion elsewhere has paused the port.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | q | bytes of the packet's queue, less `offset` |
//! | Kmin, Kmax, Pmax | `kmin`, `kmax`, `pmax` |
//! | P | probability of a mark |
//!
//! # Known differences
//!
//! - Marking at dequeue is that of the HPCC simulator. The original marks on arrival.
//! - The preset `swing` has 200 and 800 KB at every rate, as the files of SWING's authors; its paper follows
//!   HPCC, whose thresholds at 100 Gbit/s are 400 and 1,600 KB.
//! - The original uses a moving average of the queue; here, as in DCQCN, the instantaneous queue counts.
//!
//! # References
//!
//! - Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions on
//!   Networking 1(4), 1993.
//! - Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 3.1.
//! - Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, its simulator's `run.py`
//!   (thresholds).

use floodway_units::{Bytes, Class, Rate, Rng, uniform};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{
    CongestionPoint, CpAction, Cx, Detection, FastPath, Mark, PacketView, ParamError, PortInfo, QueueView,
    SignalKind,
};

/// Parameters of RED: a set of published values, and changes to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Red")]
pub struct Params {
    /// The set of published values; values given next to it take precedence.
    /// Source: floodway's choice: HPCC's is the row that grows with the port's rate.
    pub preset: Preset,
    /// Longest queue at which no packet is marked, in bytes. Default: the preset's.
    /// Source: the preset's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kmin: Option<Bytes>,
    /// Above this queue length every packet is marked, in bytes; at least `kmin`. Default: the preset's.
    /// Source: the preset's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kmax: Option<Bytes>,
    /// Probability of a mark at `kmax`, from 0 to 1. Default: the preset's.
    /// Source: the preset's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmax: Option<f64>,
    /// The port rate, above 0, for which the given `kmin` and `kmax` hold: they scale with the port's rate.
    /// Default: they hold at every rate unchanged.
    /// Source: HPCC's simulations, whose thresholds are per 25G.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per: Option<Rate>,
    /// Bytes of a queue that do not count: q is the length beyond them, at least 0.
    /// Source: floodway's choice: all of the queue counts; ConWeave's simulator leaves out the 1049 B that
    /// each queue has for itself.
    pub offset: Bytes,
    /// When a packet is marked.
    /// Source: the HPCC simulator.
    pub at: At,
}

/// Published values of `kmin`, `kmax` and `pmax`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "RedPreset")]
pub enum Preset {
    /// 100 KB, 400 KB per 25G of the port's rate, 0.2. Source: HPCC's simulations, `run.py`.
    #[default]
    Hpcc,
    /// 100 KB, 400 KB, 0.2 at every rate. Source: ConWeave's simulations, `run.py`.
    Conweave,
    /// 200 KB, 800 KB, 0.2. Source: SWING's configurations.
    Swing,
    /// 5 KB, 200 KB, 0.01, for 40G. Source: DCQCN's paper.
    DcqcnPaper,
    /// 40 KB, 1000 KB, 1. Source: the DCQCN of TCD's repository, `config.txt`.
    DcqcnTcd,
    /// 5 KB, 200 KB, 0.01. Source: the DCQCN of TCD's repository, `configburst.txt`, its burst experiment, as
    /// DCQCN's paper.
    DcqcnTcdBurst,
    /// 30 KB per 10G of the port's rate, a step. Source: DCTCP in HPCC's simulations, `run.py`.
    Dctcp,
}

/// When a packet is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "MarkAt")]
pub enum At {
    /// When it starts on the wire, by the queue that remains. Source: the HPCC simulator.
    #[default]
    Dequeue,
    /// When it joins the queue, by the queue that includes it. Source: RED, which marks on arrival.
    Enqueue,
}

/// One row of the table.
struct Row {
    kmin: Bytes,
    kmax: Bytes,
    pmax: f64,
    per: Option<Rate>,
}

impl Preset {
    /// Kmin at a port of this rate.
    pub(crate) fn kmin(self, rate: Rate) -> Bytes {
        let row = self.row();
        scaled(row.kmin, row.per, rate)
    }

    fn row(self) -> Row {
        let row = |kmin, kmax, pmax, per| Row { kmin: Bytes::kb(kmin), kmax: Bytes::kb(kmax), pmax, per };
        match self {
            Preset::Hpcc => row(100, 400, 0.2, Some(Rate::gbps(25))),
            Preset::Conweave => row(100, 400, 0.2, None),
            Preset::Swing => row(200, 800, 0.2, None),
            Preset::DcqcnPaper | Preset::DcqcnTcdBurst => row(5, 200, 0.01, None),
            Preset::DcqcnTcd => row(40, 1_000, 1.0, None),
            // DCTCP, Section 3.1: a step, all packets beyond one threshold are marked.
            Preset::Dctcp => row(30, 30, 1.0, Some(Rate::gbps(10))),
        }
    }
}

/// A size given for ports of rate `per`, at a port of `rate`; rounded down.
fn scaled(size: Bytes, per: Option<Rate>, rate: Rate) -> Bytes {
    let Some(per) = per else { return size };
    let scaled = u128::from(size.0) * u128::from(rate.0) / u128::from(per.0);
    Bytes(u64::try_from(scaled).unwrap_or(u64::MAX))
}

impl Params {
    /// The values at a port of this rate.
    fn row(&self, rate: Rate) -> Row {
        let row = self.preset.row();
        let size = |given: Option<Bytes>, preset| match given {
            Some(size) => scaled(size, self.per, rate),
            None => scaled(preset, row.per, rate),
        };
        Row {
            kmin: size(self.kmin, row.kmin),
            kmax: size(self.kmax, row.kmax),
            pmax: self.pmax.unwrap_or(row.pmax),
            per: None,
        }
    }

    fn check(&self) -> Result<(), ParamError> {
        match *self {
            Params { per: Some(Rate(0)), .. } => {
                Err(ParamError::new("per", "sizes for a rate of 0bps have no scale; write it like \"25G\""))
            }
            Params { per: Some(_), kmin: None, kmax: None, .. } => {
                Err(ParamError::new("per", "it scales kmin and kmax, and neither is given"))
            }
            Params { pmax: Some(pmax), .. } if !(0.0..=1.0).contains(&pmax) => {
                Err(ParamError::new("pmax", format!("{pmax} is not a probability from 0 to 1")))
            }
            _ => Ok(()),
        }
    }
}

impl Detection for Params {
    type Cp = Cp;

    fn build(&self, port: &PortInfo) -> Result<Cp, ParamError> {
        self.check()?;
        let Row { kmin, kmax, pmax, .. } = self.row(port.rate);
        if kmin > kmax {
            let key = if self.kmin.is_some() { "kmin" } else { "kmax" };
            let message = format!("kmin = {kmin} is above kmax = {kmax} at a port of {}", port.rate);
            return Err(ParamError::new(key, message));
        }
        Ok(Cp { kmin, kmax, pmax, offset: self.offset, at: self.at })
    }

    fn signal_kinds(&self) -> &'static [SignalKind] {
        &[SignalKind::Marks]
    }

    fn fill_in(&mut self, port: &PortInfo) {
        let Row { kmin, kmax, pmax, per } = self.row(port.rate);
        *self = Params { kmin: Some(kmin), kmax: Some(kmax), pmax: Some(pmax), per, ..*self };
    }
}

/// One per egress port.
#[derive(Clone, Copy, Debug)]
pub struct Cp {
    kmin: Bytes,
    kmax: Bytes,
    pmax: f64,
    offset: Bytes,
    at: At,
}

impl Cp {
    /// P.
    fn probability(&self, queue: Bytes) -> f64 {
        // DCQCN, Figure 5: P is 0 up to Kmin, 1 beyond Kmax, and rises in proportion between.
        if queue <= self.kmin {
            0.0
        } else if queue > self.kmax {
            1.0
        } else {
            self.pmax * (queue - self.kmin).0 as f64 / (self.kmax - self.kmin).0 as f64
        }
    }

    fn mark(&self, rng: &mut Rng, p: &PacketView, q: &QueueView) -> Mark {
        if !p.ecn_capable || p.class == Class::CONTROL {
            return Mark::None;
        }
        let probability = self.probability(q.len.saturating_sub(self.offset));
        // Certainty takes nothing from the stream: a machine that never marks moves no other draws.
        let marked = probability >= 1.0 || probability > 0.0 && uniform(rng) < probability;
        if marked { Mark::Ce } else { Mark::None }
    }
}

impl CongestionPoint for Cp {
    fn fast_path(&self) -> Option<FastPath> {
        let unmarked = FastPath::up_to(self.kmin.saturating_add(self.offset));
        Some(match self.at {
            At::Dequeue => FastPath { joining: Bytes::MAX, ..unmarked },
            At::Enqueue => FastPath { leaving: Bytes::MAX, ..unmarked },
        })
    }

    fn only_marks(&self) -> bool {
        true
    }

    fn on_enqueue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        if self.at == At::Enqueue { self.mark(cx.rng, p, q) } else { Mark::None }
    }

    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        if self.at == At::Dequeue { self.mark(cx.rng, p, q) } else { Mark::None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, egress, packet, port, us};

    fn cp(params: Params, gbps: u64) -> Cp {
        params.build(&port(gbps)).expect("the parameters are valid")
    }

    fn data() -> PacketView {
        PacketView { ecn_capable: true, ..packet(1_000) }
    }

    /// Marks of `n` departures from a queue of `len`, and whether random numbers were drawn.
    fn departures(cp: &mut Cp, p: &PacketView, len: u64, n: usize) -> (usize, bool) {
        let mut bench = Bench::new();
        let before = bench.rng.clone();
        let mut marks = 0;
        for _ in 0..n {
            let sent =
                bench.sent(us(1), |cx| marks += usize::from(cp.on_dequeue(cx, p, &egress(len)) == Mark::Ce));
            assert!(sent.is_empty(), "marks are all that it makes");
        }
        (marks, bench.rng != before)
    }

    #[test]
    fn presets_are_the_published_rows() {
        use Preset::{Conweave, DcqcnPaper, DcqcnTcd, DcqcnTcdBurst, Dctcp, Hpcc, Swing};
        for (preset, gbps, kmin, kmax, pmax) in [
            (Hpcc, 25, 100, 400, 0.2),
            (Hpcc, 100, 400, 1_600, 0.2),
            (Hpcc, 400, 1_600, 6_400, 0.2),
            (Conweave, 100, 100, 400, 0.2),
            (Swing, 400, 200, 800, 0.2),
            (DcqcnPaper, 40, 5, 200, 0.01),
            (DcqcnTcd, 40, 40, 1_000, 1.0),
            (DcqcnTcdBurst, 40, 5, 200, 0.01),
            (Dctcp, 10, 30, 30, 1.0),
            (Dctcp, 100, 300, 300, 1.0),
        ] {
            let cp = cp(Params { preset, ..Params::default() }, gbps);
            assert_eq!((cp.kmin, cp.kmax, cp.pmax), (Bytes::kb(kmin), Bytes::kb(kmax), pmax), "{preset:?}");
        }
    }

    #[test]
    fn given_sizes_win_and_grow_with_the_rate_only_where_they_name_one() {
        let given = Params { kmin: Some(Bytes::kb(10)), pmax: Some(1.0), ..Params::default() };
        let fixed = cp(given, 100);
        assert_eq!((fixed.kmin, fixed.kmax, fixed.pmax), (Bytes::kb(10), Bytes::kb(1_600), 1.0));
        let scaled = cp(Params { per: Some(Rate::gbps(25)), ..given }, 100);
        assert_eq!((scaled.kmin, scaled.kmax), (Bytes::kb(40), Bytes::kb(1_600)));
    }

    #[test]
    fn what_cannot_be_is_refused_by_its_key() {
        let refused = |params: Params| params.build(&port(100)).map(|_| ()).map_err(|error| error.key);
        let kb = |kb| Some(Bytes::kb(kb));
        let none = Params::default();
        assert_eq!(refused(Params { kmin: kb(2_000), ..none }), Err("kmin"));
        assert_eq!(refused(Params { kmax: kb(300), ..none }), Err("kmax"));
        assert_eq!(refused(Params { kmin: kb(5), kmax: kb(5), ..none }), Ok(()));
        for pmax in [-0.1, 1.1, f64::NAN] {
            assert_eq!(refused(Params { pmax: Some(pmax), ..none }), Err("pmax"));
        }
        assert_eq!(refused(Params { per: Some(Rate::gbps(25)), ..none }), Err("per"));
        assert_eq!(refused(Params { kmin: kb(1), per: Some(Rate(0)), ..none }), Err("per"));
    }

    #[test]
    fn the_share_of_marks_is_p_of_the_queue_left_behind() {
        // kmin 400 KB, kmax 1600 KB, pmax 0.2 at 100G.
        let mut cp = cp(Params::default(), 100);
        let n = 100_000;
        for (kb, p) in [(430, 0.005), (700, 0.05), (1_000, 0.1), (1_450, 0.175), (1_600, 0.2)] {
            let (marks, drew) = departures(&mut cp, &data(), kb * 1_000, n);
            // Five standard deviations of a binomial number: a fair one lies outside once in 1.7 million.
            let slack = 5.0 * (p * (1.0 - p) * n as f64).sqrt();
            assert!((marks as f64 - p * n as f64).abs() < slack && drew, "{marks} marks at {kb} KB");
        }
    }

    #[test]
    fn outside_the_ramp_nothing_is_drawn() {
        let mut cp = cp(Params::default(), 100);
        assert_eq!(departures(&mut cp, &data(), 400_000, 1_000), (0, false));
        assert_eq!(departures(&mut cp, &data(), 1_600_001, 1_000), (1_000, false));
    }

    #[test]
    fn what_the_offset_leaves_of_the_queue_counts() {
        let mut cp = cp(Params { preset: Preset::Dctcp, offset: Bytes(1_049), ..Params::default() }, 10);
        assert_eq!(departures(&mut cp, &data(), 31_049, 100), (0, false));
        assert_eq!(departures(&mut cp, &data(), 31_050, 100), (100, false));
        assert_eq!(departures(&mut cp, &data(), 1_000, 100), (0, false));
    }

    #[test]
    fn a_step_marks_above_it_and_nowhere_else() {
        let mut cp = cp(Params { preset: Preset::Dctcp, ..Params::default() }, 10);
        assert_eq!(departures(&mut cp, &data(), 30_000, 100), (0, false));
        assert_eq!(departures(&mut cp, &data(), 30_001, 100), (100, false));
    }

    #[test]
    fn the_control_class_and_packets_without_ecn_are_never_marked() {
        let mut cp = cp(Params::default(), 100);
        let control = PacketView { class: Class::CONTROL, ..data() };
        let deaf = PacketView { ecn_capable: false, ..data() };
        assert_eq!(departures(&mut cp, &control, 9_000_000, 100), (0, false));
        assert_eq!(departures(&mut cp, &deaf, 9_000_000, 100), (0, false));
    }

    #[test]
    fn a_packet_is_marked_at_the_one_end_of_the_queue_that_is_chosen() {
        let full = egress(9_000_000);
        for (at, expected) in [(At::Dequeue, [Mark::None, Mark::Ce]), (At::Enqueue, [Mark::Ce, Mark::None])] {
            let mut cp = cp(Params { at, ..Params::default() }, 100);
            let mut marks = [Mark::None; 2];
            Bench::new().sent(us(1), |cx| {
                marks = [cp.on_enqueue(cx, &data(), &full), cp.on_dequeue(cx, &data(), &full)];
            });
            assert_eq!(marks, expected);
        }
    }
}
