//! DCTCP as a rate control: a sender that paces at line rate and, once per round trip, either cuts its rate
//! by a running share of marked packets or adds a constant (Alizadeh et al., SIGCOMM 2010, in the form of
//! HPCC's simulator).
//!
//! # What it does
//!
//! A batch ends with the first ACK of a packet that was sent after the batch began: about one batch per round
//! trip. At its end α is updated with the share of its packets that were marked. A marked ACK cuts the rate
//! by α/2, once: until everything sent by then is acknowledged, no further mark counts and no step is added.
//! Otherwise each end of a batch adds `rai`.
//!
//! # Why
//!
//! It is a baseline in HPCC's figures. It reacts to the extent of congestion and not only to its presence,
//! and keeps queues near the marking threshold. It needs a congestion point that marks steeply (`red` with
//! `preset = "dctcp"`), and ACKs, which carry the marks. There is no window; `static-window` beside it bounds
//! the bytes in flight.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | α, g | running share of marked packets, from 1 at the start, and its gain `g` |
//! | F | share of marked packets in the last batch |
//! | CWR | the state after a cut, until everything sent before it is acknowledged |
//!
//! # Sizing
//!
//! ```text
//! F = min(1, marked ACKs / packets of the batch)
//! α = (1 - g) · α + g · F                          at each end of a batch but the first
//! rate = max(rmin, rate · (1 - α / 2))             at a mark outside CWR
//! rate = min(line rate, rate + rai)                at the end of a batch outside CWR
//! packets of a batch = bytes in flight at its begin / mtu + 1
//! rai = one packet a round trip: 8 · mtu / base RTT
//! ```
//!
//! # Known differences
//!
//! - Each packet needs an ACK of its own (`ack-interval = 1`): marks of packets without an ACK are lost.
//! - The paper's DCTCP is a window with TCP's slow start and timers. HPCC's simulator, whose arithmetic is
//!   used here, sets a rate that begins at the NIC's; `rai` corresponds to one packet per round trip.
//! - The first ACK begins a batch without changing α, and adds a step if it is not marked.
//! - The first batch is as large as everything sent before the first ACK; marks before that ACK count in it.
//! - Batches are delimited by packet numbers, not by bytes, which gives the same order.
//! - A rate is whole bit/s, and a cut is rounded down.
//! - The rate never falls below `rmin`, which the paper does not have.
//!
//! # References
//!
//! - Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3.1.
//! - Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, section 5.1, its simulator's mode 8
//!   in `rdma-hw.cc`, and its `run.py`.

use floodway_units::cast::whole;
use floodway_units::{Bytes, Rate, Tally, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{
    AckView, Allowance, Mark, Need, ParamError, QpInfo, Reaction, ReactionPoint, counted_update,
};

/// Parameters of DCTCP.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Dctcp")]
pub struct Params {
    /// Gain of α, from 0 to 1. Default: 1/16.
    /// Source: Alizadeh et al., section 3.1; HPCC's simulator, `EWMA_GAIN` 0.0625.
    pub g: f64,
    /// Increase of the rate after a batch without congestion, at least 0. Default: 615 Mbit/s, one packet of
    /// 1000 bytes in 13 us.
    /// Source: HPCC's `run.py`, `DCTCP_RATE_AI`.
    pub rai: Rate,
    /// Minimum rate, above 0; at most the NIC's. Default: 1 Gbit/s.
    /// Source: HPCC's `run.py`, `MIN_RATE`.
    pub rmin: Rate,
}

impl Default for Params {
    fn default() -> Self {
        Params { g: 1.0 / 16.0, rai: Rate::mbps(615), rmin: Rate::gbps(1) }
    }
}

impl Reaction for Params {
    type Rp = Rp;

    fn build(&self, qp: &QpInfo) -> Result<Rp, ParamError> {
        if !(0.0..=1.0).contains(&self.g) {
            return Err(ParamError::new("g", format!("{} is not a number from 0 to 1", self.g)));
        }
        if self.rmin == Rate(0) {
            return Err(ParamError::new("rmin", "a rate of 0bps never sends"));
        }
        Ok(Rp {
            g: self.g,
            rai: self.rai,
            rmin: self.rmin.min(qp.line_rate),
            line: qp.line_rate,
            mtu: qp.mtu.max(Bytes(1)),
            rate: qp.line_rate,
            alpha: 1.0,
            batch_end: 0,
            batch: 1,
            marked: 0,
            recovery_end: None,
            increases: Tally::default(),
        })
    }

    fn has_steps(&self) -> bool {
        true
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Acks, Need::Marks]
    }
}

/// One per sending queue pair.
#[derive(Clone, Copy, Debug)]
pub struct Rp {
    g: f64,
    rai: Rate,
    rmin: Rate,
    line: Rate,
    mtu: Bytes,
    rate: Rate,
    /// α.
    alpha: f64,
    /// The batch ends with an ACK beyond this sequence number; 0 before the first.
    batch_end: u64,
    /// Packets of the batch.
    batch: u64,
    /// Marked ACKs of the batch.
    marked: u64,
    /// In CWR until an ACK goes beyond this sequence number.
    recovery_end: Option<u64>,
    increases: Tally,
}

impl Rp {
    /// An ACK beyond the batch: α is updated with its share of marks, and the next batch begins.
    fn end_batch(&mut self, ack: &AckView<'_>) {
        let mut begun = ack.in_flight;
        if self.batch_end == 0 {
            begun = begun.saturating_add(ack.acked);
        } else {
            // Section 3.1: F, the share of marked packets.
            let share = (self.marked as f64 / self.batch as f64).min(1.0);
            // Eq. 1: α = (1 - g) · α + g · F.
            self.alpha = (1.0 - self.g) * self.alpha + self.g * share;
            self.marked = 0;
        }
        self.batch = begun.0 / self.mtu.0 + 1;
        self.batch_end = ack.sent;
    }

    fn cut(&mut self, ack: &AckView<'_>) {
        // Eq. 2: the rate, for the window, falls by α / 2.
        let factor = 1.0 - self.alpha / 2.0;
        self.rate = Rate(whole(self.rate.0 as f64 * factor)).max(self.rmin);
        self.recovery_end = Some(ack.sent);
    }

    fn raise(&mut self) {
        // Section 3.1: increase as without marks, one packet a round trip.
        self.rate = (self.rate + self.rai).min(self.line);
        self.increases.add(1);
    }
}

impl ReactionPoint for Rp {
    fn observes_sent(&self) -> bool {
        false
    }

    fn on_ack(&mut self, _now: Time, ack: &AckView<'_>) {
        let marked = ack.marked == Mark::Ce;
        self.marked += u64::from(marked);
        let ends_batch = ack.next > self.batch_end;
        if ends_batch {
            self.end_batch(ack);
        }
        self.recovery_end = self.recovery_end.filter(|end| ack.next <= *end);
        if self.recovery_end.is_some() {
            return;
        }
        if marked {
            self.cut(ack);
        } else if ends_batch {
            self.raise();
        }
    }

    fn increases(&self) -> u64 {
        self.increases.count()
    }

    fn counted_from(&self, psn: u64, _sent: &[u64]) -> Option<String> {
        let Rp {
            g: _,
            rai: _,
            rmin: _,
            line: _,
            mtu: _,
            rate,
            alpha,
            batch_end,
            batch,
            marked,
            recovery_end,
            increases: _,
        } = self;
        let end = counted_update(*batch_end, psn);
        let recovery = recovery_end.map(|end| end.wrapping_sub(psn));
        Some(format!(
            "rate: {rate:?} alpha: {alpha:?} batch_end: {end:?} batch: {batch} marked: {marked} \
             recovery_end: {recovery:?}"
        ))
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance { rate: self.rate, window: Bytes::MAX }
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::Span;

    use super::*;
    use crate::testing::{qp, us};

    const G: u64 = 1_000_000_000;

    fn rp(json: &str) -> Rp {
        let params: Params = serde_json::from_str(json).expect("the parameters are well formed");
        params.build(&qp()).expect("the parameters are valid")
    }

    /// An ACK of all before `next`, one packet of 1000 bytes more than the last, where all before `sent` is
    /// sent.
    fn ack(rp: &mut Rp, next: u64, sent: u64, marked: bool) -> u64 {
        let view = AckView {
            acked: Bytes(1000),
            next,
            sent,
            rtt: Span::us(10),
            in_flight: Bytes((sent - next) * 1000),
            marked: if marked { Mark::Ce } else { Mark::None },
            int: &[],
        };
        rp.on_ack(us(0), &view);
        rp.allowance().rate.0
    }

    #[test]
    fn the_first_mark_halves_the_rate_and_the_next_ones_of_the_window_do_nothing() {
        let mut rp = rp("{}");
        assert_eq!(rp.allowance(), Allowance { rate: Rate::gbps(100), window: Bytes::MAX });
        // α = 1 still: 100G · (1 - 1/2).
        assert_eq!(ack(&mut rp, 1, 10, true), 50 * G);
        for next in 2..=10 {
            assert_eq!(ack(&mut rp, next, 10 + next, true), 50 * G);
        }
        // The batch of 10 ends at 11: (1000 + 9000) / 1000 + 1 = 11 packets were said to be in it, and 11
        // marks have come, this one with them: F = 1, α = 15/16 + 1/16 = 1. It is beyond 10, so that it cuts
        // again.
        assert_eq!(ack(&mut rp, 11, 21, true), 25 * G);
        assert_eq!(rp.alpha, 1.0);
    }

    #[test]
    fn alpha_takes_in_the_share_of_marks_at_the_end_of_each_batch() {
        let mut rp = rp(r#"{"g": 0.25, "rai": "1G"}"#);
        // Unmarked at line rate: a step that the line rate caps. Batch: (1000 + 3000) / 1000 + 1 = 5.
        assert_eq!(ack(&mut rp, 1, 4, false), 100 * G);
        assert_eq!((rp.batch, rp.alpha, rp.increases()), (5, 1.0, 1));
        // A mark amid the batch: 100G · 1/2, and CWR until beyond 5.
        assert_eq!(ack(&mut rp, 2, 5, true), 50 * G);
        assert_eq!(ack(&mut rp, 4, 7, false), 50 * G);
        // The end of the batch, F = 1/5: α = 0.75 + 0.25 · 0.2 = 0.8. Still in CWR: no step.
        assert_eq!(ack(&mut rp, 5, 8, false), 50 * G);
        assert!((rp.alpha - 0.8).abs() < 1e-15);
        // The new batch has 3000 / 1000 + 1 = 4 packets. CWR is left at 6, amid the batch: no step, but marks
        // count.
        assert_eq!(rp.batch, 4);
        assert_eq!(ack(&mut rp, 6, 9, false), 50 * G);
        assert_eq!(ack(&mut rp, 8, 9, false), 50 * G);
        // The next end: F = 0, α = 0.6, and a step.
        assert_eq!(ack(&mut rp, 9, 12, false), 51 * G);
        assert!((rp.alpha - 0.6).abs() < 1e-15);
        // 51G · (1 - 0.3) = 35.7G.
        let rate = ack(&mut rp, 10, 13, true);
        assert!(rate.abs_diff(35_700_000_000) <= 1, "{rate}");
    }

    #[test]
    fn a_step_a_round_trip_is_added_and_none_between() {
        let mut rp = rp("{}");
        ack(&mut rp, 1, 5, true);
        for next in 2..=5 {
            ack(&mut rp, next, next + 4, false);
        }
        // Beyond 5: out of CWR, and a batch ends: + 615 Mbit/s.
        assert_eq!(ack(&mut rp, 6, 10, false), 50_615_000_000);
        for next in 7..=10 {
            assert_eq!(ack(&mut rp, next, next + 4, false), 50_615_000_000);
        }
        assert_eq!(ack(&mut rp, 11, 15, false), 51_230_000_000);
    }

    #[test]
    fn more_marks_than_packets_are_a_share_of_one() {
        let mut rp = rp(r#"{"g": 0.5}"#);
        ack(&mut rp, 1, 2, false);
        // A batch of (1000 + 1000) / 1000 + 1 = 3, of which ACKs again and again carry marks.
        for _ in 0..9 {
            ack(&mut rp, 2, 3, true);
        }
        ack(&mut rp, 3, 4, false);
        assert_eq!(rp.alpha, 1.0);
    }

    #[test]
    fn the_rate_stays_at_rmin_or_above() {
        let mut rp = rp(r#"{"g": 0, "rmin": "30G"}"#);
        let rates: Vec<_> = (1..4).map(|next| ack(&mut rp, next, next, true)).collect();
        assert_eq!(rates, [50 * G, 30 * G, 30 * G]);
        let slow = QpInfo { line_rate: Rate::mbps(100), ..qp() };
        assert_eq!(Params::default().build(&slow).map(|rp| rp.rmin), Ok(Rate::mbps(100)));
    }

    #[test]
    fn what_it_cannot_use_is_refused_by_its_key() {
        for (json, key) in [(r#"{"g": 1.5}"#, "g"), (r#"{"g": -1}"#, "g"), (r#"{"rmin": "0G"}"#, "rmin")] {
            let params: Params = serde_json::from_str(json).expect("well formed");
            assert_eq!(params.build(&qp()).map(|_| ()).map_err(|error| error.key), Err(key), "{json}");
        }
        assert_eq!(Params::default().needs(), [Need::Acks, Need::Marks]);
    }
}
