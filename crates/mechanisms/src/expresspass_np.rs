//! ExpressPass's receiver: it paces credits to the sender, and adapts their rate to the share of credits that
//! are lost (Cho, Jang and Han, SIGCOMM 2017, section 3.2, Algorithm 1).
//!
//! # What it does
//!
//! From a request to a stop it sends numbered credits, at intervals that follow from its rate, with jitter,
//! and of a random size, so that no flow's credits meet a full queue every time. Data carries the numbers of
//! the credits that it uses: a number that is skipped is a lost credit. Once per round trip the rate is
//! updated from the share l of lost credits:
//!
//! ```text
//! l <= target:  w = (w + w_max) / 2 if the period before was one of increase, too
//!               rate = (1 - w) · rate + w · rate_max · (1 + target)
//! l >  target:  rate = rate · (1 - l) · (1 + target);  w = max(w / 2, w_min)
//! ```
//!
//! # Why
//!
//! Losing credits costs nothing but the credits, so the receiver may request more than its share and find
//! that share within a few round trips. By default each flow with `expresspass` as rate control has it;
//! choose it to set parameters.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | alpha, initial rate / `rate_max` | `initial-rate` |
//! | `w_init`, `w_min`, `w_max` | `w-init`, `w-min`, `w-max` |
//! | `target_loss` | `target-loss` |
//! | `target_loss_scaling_` of the simulator | `target-loss` with `target-falls` |
//! | j | `jitter` |
//!
//! # Known differences
//!
//! - `rate_max` is one credit per time that the slowest link of the path needs for a full data packet and a
//!   mean credit; the paper uses the receiver's link.
//! - Data reports credits a round trip late: by then a decrease has taken place, and the loss belongs to a
//!   rate that no longer applies. Algorithm 1 as written decreases for it again, and rates swing far below
//!   and above their share. So `rate · (1 - l)` is measured: the rate at which credits came through, as in
//!   the simulator of its authors. The two are the same where feedback takes no time; `measured = false` has
//!   it as written.
//! - More credits are lost than the target: 9 %, 17 %, 28 % and 44 % with 1, 2, 4 and 8 flows that send 16 MB
//!   over one link of 10 Gbit/s (the network of `scenarios/expresspass.toml`, one seed: too few seeds). Two
//!   causes were found by removing each. First, a rate is evaluated by credits sent at the previous rate:
//!   with `own-credits` it is 9 %, 13 %, 16 % and 23 %. Second, w grows by half of the remaining distance:
//!   with `w-step = 0.05` it is 9 %, 12 %, 16 % and 27 %. Without both it is 9 %, 11 %, 14 % and 18 %; the
//!   cause of the rest is unknown. A single flow loses 9 % because Algorithm 1 aims beyond the largest rate:
//!   without `exceed`, and without both, it loses 1 %.
//! - The simulator of its authors is not Algorithm 1: `w-step = 0.05`, `target-loss = 0.125`,
//!   `target-falls = true`, `exceed = false`. With these the loss is 0.3 %, 8 %, 15 % and 25 %: also more
//!   than its target, as feedback is late there as well.
//! - The section numbers and Algorithm 1 could not be checked against the paper's text. Its simulator was
//!   read: `w-min`, `jitter`, the smoothed round trip, the least rate and the measured decrease are the same.
//!   Its scripts have 1/2 (a dumbbell) or 1/16 (a fat tree) as `initial-rate` and `w-init`, and in the latter
//!   credits of 76 to 92 bytes, counted with their mean, 84.
//! - The round trip is that of the latest credits and their data, smoothed by 1/5 as in the simulator of its
//!   authors. A period in which no data arrived changes nothing. The rate stays at one credit per round trip
//!   or more, as in that simulator.
//! - Credits that a sender wastes at the end of a flow count neither as sent nor as lost: no data reports
//!   them.
//!
//! # References
//!
//! - Cho, Jang and Han, "Credit-Scheduled Delay-Bounded Congestion Control for Datacenters", SIGCOMM 2017.
//! - Its simulator, `xpass/xpass.cc` of ns2-xpass: round-trip time, least rate, jitter;
//!   `scripts/large-scale-fattree.tcl` and `scripts/dumbell-topology.tcl`: parameters.

use floodway_units::cast::whole;
use floodway_units::{Bytes, Rng, Span, Time, uniform};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::expresspass::{CREDIT, REQUEST, STOP, USED};
use crate::slots::{
    Cnp, ControlMessage, Cx, Notification, NotificationPoint, Observes, PacketView, ParamError, QpInfo,
};

/// The smallest frame with preamble and gap.
const SMALLEST: Bytes = Bytes(84);

/// Parameters of ExpressPass's receiver.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "ExpresspassNp")]
pub struct Params {
    /// alpha: a flow's first rate, as a fraction of the largest, above 0 and up to 1.
    /// Source: section 3.3: 1/2; 1/16 wastes fewer credits of short flows.
    pub initial_rate: f64,
    /// Initial w, the step towards the largest rate, from `w-min` to `w-max`.
    /// Source: Algorithm 1: 1/2.
    pub w_init: f64,
    /// Minimum of w, above 0.
    /// Source: section 3.2: 0.01.
    pub w_min: f64,
    /// Maximum of w, up to 1.
    /// Source: Algorithm 1: 0.5.
    pub w_max: f64,
    /// Increase of w from the second period of increase on, above 0 and up to 1. Default: half of the
    /// distance to `w-max`.
    /// Source: Algorithm 1; the simulator of its authors has 0.05.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub w_step: Option<f64>,
    /// The share of lost credits up to which the rate grows, from 0 to below 1.
    /// Source: section 3.2: 10 %; the simulator of its authors has 0.125, falling.
    pub target_loss: f64,
    /// Whether the target is that share for a rate of 0, and falls to 0 for the largest rate.
    /// Source: false is Algorithm 1; true the simulator of its authors.
    pub target_falls: bool,
    /// Whether increases go beyond the largest rate, by the target, so that credits get lost where there is
    /// no other flow.
    /// Source: true is Algorithm 1; false the simulator of its authors.
    pub exceed: bool,
    /// Whether a rate is evaluated only by the credits sent at it, which takes two round trips; false counts
    /// those that data reported in the last round trip, most of which were sent at the previous rate.
    /// Source: floodway's choice, to show the effect of late feedback; false is the simulator of its authors.
    pub own_credits: bool,
    /// Whether a decrease starts from the rate at which credits came through in the period, and leads to no
    /// higher rate than before; false uses the sending rate minus the lost share, as Algorithm 1 is written.
    /// Source: the simulator of its authors.
    pub measured: bool,
    /// The fraction by which an interval between credits may be shorter or longer, from 0 to below 1.
    /// Source: the simulator of its authors, `min_jitter_` and `max_jitter_`.
    pub jitter: f64,
    /// Maximum number of bytes by which a credit is longer than the smallest frame.
    /// Source: section 3.1: credits of 84 to 92 bytes.
    pub padding: u8,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            initial_rate: 0.5,
            w_init: 0.5,
            w_min: 0.01,
            w_max: 0.5,
            w_step: None,
            target_loss: 0.1,
            target_falls: false,
            exceed: true,
            own_credits: false,
            measured: true,
            jitter: 0.1,
            padding: 8,
        }
    }
}

impl Notification for Params {
    type Np = Np;

    fn build(&self, qp: &QpInfo) -> Result<Np, ParamError> {
        let within = |key, value: f64, allowed: bool, range: &str| {
            if allowed { Ok(()) } else { Err(ParamError::new(key, format!("{value} is not {range}"))) }
        };
        let Params { initial_rate: rate, w_init, w_min, w_max, target_loss, jitter, .. } = *self;
        within("initial-rate", rate, rate > 0.0 && rate <= 1.0, "above 0 and up to 1")?;
        within("w-max", w_max, w_max > 0.0 && w_max <= 1.0, "above 0 and up to 1")?;
        within("w-min", w_min, w_min > 0.0 && w_min <= w_max, "above 0 and up to w-max")?;
        within("w-init", w_init, w_init >= w_min && w_init <= w_max, "from w-min to w-max")?;
        let step = self.w_step.unwrap_or(1.0);
        within("w-step", step, step > 0.0 && step <= 1.0, "above 0 and up to 1")?;
        within("target-loss", target_loss, (0.0..1.0).contains(&target_loss), "from 0 to below 1")?;
        within("jitter", jitter, (0.0..1.0).contains(&jitter), "from 0 to below 1")?;
        // Twice the mean, so that half a byte is not lost.
        let twice = Bytes(2 * (qp.wire.0 + SMALLEST.0) + u64::from(self.padding));
        Ok(Np(Box::new(Credits {
            params: *self,
            least_gap: qp.path_rate.time_to_send(twice) / 2,
            rate,
            w: w_init,
            grew: false,
            next_credit: None,
            number: 0,
            expected: 0,
            judged_from: 0,
            sent: 0,
            lost: 0,
            updated: Time::ZERO,
            rtt: None,
        })))
    }
}

/// One per receiving queue pair. Receivers of other mechanisms are small, so this state is stored separately.
#[derive(Clone, Debug)]
pub struct Np(Box<Credits>);

#[derive(Clone, Debug)]
struct Credits {
    params: Params,
    /// Time between two credits at the largest rate.
    least_gap: Span,
    /// As a fraction of the largest.
    rate: f64,
    w: f64,
    /// Whether the previous period was one of increase.
    grew: bool,
    /// When the next credit is sent; `None` while none is requested.
    next_credit: Option<Time>,
    /// Its number.
    number: u64,
    /// The smallest number that data has not yet carried.
    expected: u64,
    /// Credits before this number are ignored by the rate update.
    judged_from: u64,
    /// Since `updated`: credits that data has reported, and those of them that were lost.
    sent: u64,
    lost: u64,
    updated: Time,
    rtt: Option<Span>,
}

impl Credits {
    fn start(&mut self, now: Time) {
        (self.rate, self.w, self.grew) = (self.params.initial_rate, self.params.w_init, false);
        (self.sent, self.lost, self.updated) = (0, 0, now);
        (self.expected, self.judged_from) = (self.number, self.number);
        self.next_credit = Some(now);
    }

    fn data_came(&mut self, now: Time, m: &ControlMessage) {
        let rtt = now.since(m.time);
        self.rtt = Some(self.rtt.map_or(rtt, |before| Span((4 * before.0 + rtt.0) / 5)));
        let first = self.expected.max(self.judged_from);
        if let Some(lost) = m.number.checked_sub(first) {
            self.sent += lost + 1;
            self.lost += lost;
        }
        self.expected = self.expected.max(m.number + 1);
    }

    /// Feedback control of credits, once a round trip.
    fn update(&mut self, now: Time) {
        let Some(rtt) = self.rtt else { return };
        // At two round trips all credits of the first one have been reported.
        let (period, late) = if self.params.own_credits { (rtt * 2, rtt) } else { (rtt, Span::ZERO) };
        let elapsed = now.since(self.updated);
        if elapsed < period || self.sent == 0 {
            return;
        }
        // Algorithm 1: the credit loss of the period.
        let loss = self.lost as f64 / self.sent as f64;
        let target = self.target();
        // Algorithm 1: increasing phase up to the target loss, else decreasing phase.
        if loss <= target {
            self.increase(target);
        } else {
            self.decrease(loss, target, elapsed - late);
        }
        self.grew = loss <= target;
        let floor = self.least_gap.0 as f64 / rtt.0.max(1) as f64;
        self.rate = self.rate.max(floor.min(1.0));
        (self.sent, self.lost, self.updated) = (0, 0, now);
        if self.params.own_credits {
            self.judged_from = self.number;
        }
    }

    /// The share of lost credits up to which the rate grows.
    fn target(&self) -> f64 {
        let Params { target_loss, target_falls, .. } = self.params;
        if target_falls { target_loss * (1.0 - self.rate).max(0.0) } else { target_loss }
    }

    /// The increasing phase.
    fn increase(&mut self, target: f64) {
        let Params { w_max, w_step, exceed, .. } = self.params;
        if self.grew {
            // Algorithm 1: w rises towards w_max in a second period of increase.
            self.w = w_step.map_or(f64::midpoint(self.w, w_max), |step| (self.w + step).min(w_max));
        }
        let most = if exceed { 1.0 + target } else { 1.0 };
        // Algorithm 1: the rate rises towards the largest by the weight w.
        self.rate = (1.0 - self.w) * self.rate + self.w * most;
    }

    /// The decreasing phase, where in `time` data reported credits of which the share `loss` was lost.
    fn decrease(&mut self, loss: f64, target: f64, time: Span) {
        let through = if self.params.measured {
            let most = time.0 as f64 / self.least_gap.0.max(1) as f64;
            ((self.sent - self.lost) as f64 / most).min(self.rate / (1.0 + target))
        } else {
            // Algorithm 1: what the loss leaves of the rate.
            self.rate * (1.0 - loss)
        };
        // Algorithm 1: the rate falls to that and the target loss.
        self.rate = through * (1.0 + target);
        // Algorithm 1: w falls to a half, at least w_min.
        self.w = (self.w / 2.0).max(self.params.w_min);
    }

    /// The interval from a credit to the next.
    fn gap(&self, rng: &mut Rng) -> Span {
        let jitter = self.params.jitter * (2.0 * uniform(rng) - 1.0);
        Span(whole((self.least_gap.0 as f64 / self.rate) * (1.0 + jitter))).max(Span(1))
    }

    #[expect(clippy::cast_possible_truncation, reason = "below 256, since a padding has 8 bits")]
    fn send_credit(&mut self, cx: &mut Cx<'_, ControlMessage>) {
        self.update(cx.now);
        let sizes = f64::from(self.params.padding) + 1.0;
        // Section 3.1: credits of random size.
        let padding = (uniform(cx.rng) * sizes) as u8;
        cx.push(ControlMessage { kind: CREDIT, number: self.number, time: cx.now, padding, metered: true });
        self.number += 1;
        self.next_credit = Some(cx.now + self.gap(cx.rng));
    }
}

impl NotificationPoint for Np {
    fn observes(&self) -> Observes {
        Observes::Nothing
    }

    fn on_data(&mut self, _cx: &mut Cx<'_, Cnp>, _p: &PacketView) {}

    fn on_message(&mut self, cx: &mut Cx<'_, ControlMessage>, m: &ControlMessage) {
        match m.kind {
            REQUEST if self.0.next_credit.is_none() => {
                self.0.start(cx.now);
                self.0.send_credit(cx);
            }
            STOP => self.0.next_credit = None,
            USED => self.0.data_came(cx.now, m),
            _ => {}
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        self.0.next_credit
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_, ControlMessage>) {
        self.0.send_credit(cx);
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::Rate;

    use super::*;
    use crate::testing::{Bench, qp, us};

    /// Credits of 84 bytes on a path of 10 Gbit/s with the paper's packets, without jitter.
    fn np() -> Np {
        let info = QpInfo { path_rate: Rate::gbps(10), wire: Bytes(1_538), ..qp() };
        Params { jitter: 0.0, padding: 0, measured: false, ..Params::default() }.build(&info).unwrap()
    }

    fn message(kind: u8, number: u64, at: u64) -> ControlMessage {
        ControlMessage { kind, number, time: us(at), padding: 0, metered: false }
    }

    /// A period ends in which data reported `sent` credits, of which `lost` were lost.
    fn period(np: &mut Np, sent: u64, lost: u64) -> (f64, f64) {
        (np.0.sent, np.0.lost, np.0.rtt) = (sent, lost, Some(Span::us(10)));
        np.0.update(np.0.updated + Span::us(10));
        (np.0.rate, np.0.w)
    }

    #[track_caller]
    fn near(left: (f64, f64), right: (f64, f64)) {
        assert!((left.0 - right.0).abs() < 1e-9 && (left.1 - right.1).abs() < 1e-9, "{left:?} {right:?}");
    }

    #[test]
    fn algorithm_1_worked_by_hand() {
        let mut np = np();
        // The first increase leaves w: 0.5 · 0.5 + 0.5 · 1.1.
        near(period(&mut np, 100, 10), (0.8, 0.5));
        // 0.5 · 0.8 + 0.5 · 1.1.
        near(period(&mut np, 100, 0), (0.95, 0.5));
        // 30 % lost: 0.95 · 0.7 · 1.1, and w halves.
        near(period(&mut np, 100, 30), (0.7315, 0.25));
        near(period(&mut np, 100, 60), (0.7315 * 0.44, 0.125));
        // An increase after a decrease leaves w; the next one halves its way to 0.5.
        let rate = 0.875 * 0.32186 + 0.125 * 1.1;
        near(period(&mut np, 100, 5), (rate, 0.125));
        near(period(&mut np, 100, 5), (rate * 0.6875 + 0.3125 * 1.1, 0.3125));
    }

    /// Sections 3.1 to 3.3 and the simulator, whose numbers the fields name.
    #[test]
    fn each_default_is_that_of_its_source() {
        let info = QpInfo { path_rate: Rate::gbps(10), wire: Bytes(1_538), ..qp() };
        let mut np = Params::default().build(&info).unwrap();
        // Half of the largest rate. 10 % are within the target, whatever the rate, and w is 1/2 at first and
        // at most: 0.5 · 0.5 + 0.5 · 1.1, after a single round trip.
        assert_eq!((np.0.rate, np.0.w), (0.5, 0.5));
        near(period(&mut np, 100, 10), (0.8, 0.5));
        near(period(&mut np, 100, 10), (0.95, 0.5));
        // 4 credits of 88 bytes with their data came through in the time of 12500, and a tenth more is asked
        // for.
        let through = 4.0 * 1_626.0 / 12_500.0;
        near(period(&mut np, 8, 4), (through * 1.1, 0.25));
        // The second increase in a row goes half of the way to 1/2.
        let rate = 0.75 * through * 1.1 + 0.25 * 1.1;
        near(period(&mut np, 100, 10), (rate, 0.25));
        near(period(&mut np, 100, 10), (0.625 * rate + 0.375 * 1.1, 0.375));
        // 11 % are not within it.
        assert_eq!(period(&mut np, 100, 11).1, 0.1875);
        assert_eq!((0..10).map(|_| period(&mut np, 100, 11).1).last(), Some(0.01));
        // A tenth of jitter, and sizes of 84 to 92 bytes.
        let mut bench = Bench::new();
        (np.0.rate, np.0.rtt) = (1.0, None);
        let mean = 1_300_800;
        let (gaps, paddings): (Vec<u64>, Vec<u8>) = (0..2_000)
            .map(|_| (np.0.gap(&mut bench.rng).0, bench.sent(us(1), |cx| np.on_timeout(cx))[0].padding))
            .unzip();
        assert!(gaps.iter().all(|gap| gap.abs_diff(mean) <= mean / 10));
        assert!(
            gaps.iter().min() < Some(&(mean * 91 / 100)) && gaps.iter().max() > Some(&(mean * 109 / 100))
        );
        assert_eq!((paddings.iter().min(), paddings.iter().max()), (Some(&0), Some(&8)));
    }

    #[test]
    fn the_authors_simulator_worked_by_hand() {
        let mut np = np();
        np.0.params = Params {
            w_step: Some(0.05),
            target_loss: 0.125,
            target_falls: true,
            exceed: false,
            ..np.0.params
        };
        (np.0.rate, np.0.w) = (0.5, 0.1);
        // The target is 0.125 · 0.5. The first increase leaves w: 0.9 · 0.5 + 0.1.
        near(period(&mut np, 100, 6), (0.55, 0.1));
        // 0.125 · 0.45 is above 5 %. The second adds to w: 0.85 · 0.55 + 0.15.
        near(period(&mut np, 100, 5), (0.6175, 0.15));
        // 0.125 · 0.3825 is below 5 %: 0.6175 · 0.95 · 1.0478125, and w halves.
        near(period(&mut np, 100, 5), (0.6175 * 0.95 * 1.047_812_5, 0.075));
        // At the largest rate any loss is too much, and none leads beyond it.
        np.0.rate = 1.0;
        near(period(&mut np, 100, 0), (1.0, 0.075));
    }

    #[test]
    fn a_rate_is_judged_by_its_own_credits_alone_where_so_asked() {
        let (mut np, mut bench) = (np(), Bench::new());
        np.0.params.own_credits = true;
        bench.sent(us(0), |cx| np.on_message(cx, &message(REQUEST, 0, 0)));
        (np.0.sent, np.0.lost, np.0.rtt, np.0.number) = (10, 5, Some(Span::us(10)), 20);
        np.0.update(us(19));
        assert_eq!(np.0.rate, 0.5, "two round trips are not over");
        np.0.update(us(20));
        assert!((np.0.rate - 0.275).abs() < 1e-9);
        // Credits 10 to 19 were sent at the rate before: neither they nor those lost among them count; 20 and
        // 21 do.
        for (number, counted) in [(12, (0, 0)), (19, (0, 0)), (21, (2, 1))] {
            bench.sent(us(25), |cx| np.on_message(cx, &message(USED, number, 15)));
            assert_eq!((np.0.sent, np.0.lost), counted, "credit {number}");
        }
    }

    #[test]
    fn a_measured_decrease_leads_to_a_tenth_more_than_what_came_through_however_late_it_is() {
        let mut np = np();
        np.0.params.measured = true;
        np.0.rate = 0.8;
        // Of 10 us of 10 Gbit/s, 4 credits with their data take 6488 bytes of 12500.
        near(period(&mut np, 8, 4), (0.51904 * 1.1, 0.25));
        near(period(&mut np, 8, 4), (0.51904 * 1.1, 0.125));
        // Not more than before.
        np.0.rate = 0.5;
        near(period(&mut np, 8, 4), (0.5, 0.0625));
    }

    #[test]
    fn w_has_a_least_value_and_the_rate_is_one_credit_a_round_trip_or_more() {
        let mut np = np();
        let (mut rate, mut w) = (1.0, 1.0);
        for _ in 0..12 {
            (rate, w) = period(&mut np, 10, 9);
        }
        // 1622 bytes in 10 us of 10 Gbit/s.
        near((rate, w), (0.12976, 0.01));
    }

    #[test]
    fn a_period_is_a_round_trip_and_one_without_data_changes_nothing() {
        let mut np = np();
        near(period(&mut np, 0, 0), (0.5, 0.5));
        (np.0.sent, np.0.updated) = (10, us(100));
        np.0.update(us(109));
        assert_eq!((np.0.rate, np.0.sent), (0.5, 10));
        np.0.update(us(110));
        assert_eq!((np.0.rate, np.0.sent), (0.8, 0));
    }

    #[test]
    fn credits_start_with_a_request_and_end_with_a_stop() {
        let (mut np, mut bench) = (np(), Bench::new());
        let sent = bench.sent(us(5), |cx| np.on_message(cx, &message(REQUEST, 0, 4)));
        assert_eq!(sent, [ControlMessage { metered: true, ..message(CREDIT, 0, 5) }]);
        // Half of the largest rate: 2 · 1622 bytes of 10 Gbit/s.
        assert_eq!(np.next_timeout(), Some(us(5) + Span(2_595_200)));
        // A second request changes nothing.
        assert!(bench.sent(us(6), |cx| np.on_message(cx, &message(REQUEST, 0, 5))).is_empty());
        let at = np.next_timeout().unwrap();
        assert_eq!(bench.sent(at, |cx| np.on_timeout(cx))[0].number, 1);
        bench.sent(us(8), |cx| np.on_message(cx, &message(STOP, 0, 7)));
        assert_eq!(np.next_timeout(), None);
    }

    #[test]
    fn numbers_that_data_passes_over_are_lost_credits() {
        let (mut np, mut bench) = (np(), Bench::new());
        bench.sent(us(0), |cx| np.on_message(cx, &message(REQUEST, 0, 0)));
        for (number, at, counted) in [(0, 10, (1, 0)), (1, 12, (2, 0)), (4, 15, (5, 2)), (4, 16, (5, 2))] {
            bench.sent(us(at), |cx| np.on_message(cx, &message(USED, number, at - 10)));
            assert_eq!((np.0.sent, np.0.lost), counted, "credit {number}");
        }
        assert_eq!(np.0.rtt, Some(Span::us(10)));
    }

    #[test]
    fn jitter_and_sizes_stay_in_their_bounds_and_have_their_means() {
        let info = QpInfo { path_rate: Rate::gbps(10), wire: Bytes(1_538), ..qp() };
        let mut np = Params { initial_rate: 1.0, ..Params::default() }.build(&info).unwrap();
        let mut bench = Bench::new();
        let (mut gaps, mut paddings) = (0, 0);
        np.0.start(us(0));
        for _ in 0..10_000 {
            let at = np.next_timeout().unwrap();
            let padding = bench.sent(at, |cx| np.on_timeout(cx))[0].padding;
            let gap = np.next_timeout().unwrap().since(at).0;
            // 1538 + 88 bytes of 10 Gbit/s, a tenth less or more.
            assert!(padding <= 8 && (1_170_720..=1_430_880).contains(&gap), "{padding} {gap}");
            gaps += gap;
            paddings += u64::from(padding);
        }
        assert!((gaps / 10_000).abs_diff(1_300_800) < 5_000 && (paddings / 100).abs_diff(400) < 10);
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        let refused = |params: Params| params.build(&qp()).unwrap_err().key;
        assert_eq!(refused(Params { initial_rate: 0.0, ..Params::default() }), "initial-rate");
        assert_eq!(refused(Params { w_max: 1.5, ..Params::default() }), "w-max");
        assert_eq!(refused(Params { w_min: 0.0, ..Params::default() }), "w-min");
        assert_eq!(refused(Params { w_init: 0.6, ..Params::default() }), "w-init");
        assert_eq!(refused(Params { w_step: Some(0.0), ..Params::default() }), "w-step");
        assert_eq!(refused(Params { target_loss: 1.0, ..Params::default() }), "target-loss");
        assert_eq!(refused(Params { jitter: f64::NAN, ..Params::default() }), "jitter");
    }
}
