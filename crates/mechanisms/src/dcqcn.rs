//! DCQCN's reaction point: a sender that paces at line rate until CNPs arrive, cuts its rate by a running
//! estimate of congestion, and recovers in three stages (Zhu et al., SIGCOMM 2015). NICs run a variant of it,
//! which is a second state machine here.
//!
//! # What it does
//!
//! By state machine:
//!
//! | | `paper`, `tcd` | the other presets: NICs |
//! |---|---|---|
//! | cut | at each CNP | every `t-dec` since the first CNP, where one came in the period |
//! | α | up at each CNP, down after each `t-alpha` without one | every `t-alpha` since the first CNP |
//! | stages | of timer and bytes, F = 5 | of the timer alone, or with `byte-counter` of both, F = 1 |
//!
//! A cut is Rt = Rc, Rc = Rc · (1 - α/2); without `clamp`, Rt keeps its value if no increase has happened
//! since the last cut. An increase step halves the gap to Rt; in the second stage Rt is first raised by
//! `rai`, in the third by `rhai`. Rc and Rt never exceed the NIC's rate.
//!
//! Presets have the published values, which any parameter beside them overrides. By name, in us and Mbit/s,
//! for a NIC of 100 Gbit/s:
//!
//! | `preset` | `t-alpha` | `t-dec` | `t-inc` | F | `rai` | `rhai` | `rmin` | `byte-counter` | window |
//! |---|---|---|---|---|---|---|---|---|---|
//! | `paper` | 55 | each CNP | 55 | 5 | 40 | 200 | 100 | 10 MB | none |
//! | `tcd`: α starts at 0.5 | 55 | each CNP | 55 | 5 | 40 | 200 | 100 | 10 MB | none |
//! | `mellanox` | 1 | 4 | 300 | 1 | 5 | 50 | 1 | none | none |
//! | `hpcc` | 1 | 4 | 300 | 1 | 20 | 200 | 1,000 | none | none |
//! | `hpcc-paper` | 50 | 50 | 55 | 1 | 20 | 200 | 1,000 | none | none |
//! | `hpcc-config` | 1 | 4 | 900 | 1 | 50 | 100 | 100 | none | variable |
//! | `swing` | 1 | 4 | 300 | 1 | 5 | 50 | 1 | none | variable |
//!
//! With `losses-as-cnps` time has periods of that length, and a flow's loss rate is the number of bytes that
//! NAKs or SACKs report as lost in a period. The first loss with which it is above that of the period before
//! counts as a CNP. IRN reports one loss each time that it goes back for missing packets.
//!
//! Where ports have `tcd`, the receiver may report undetermined congestion (UE). By default that has no
//! effect. With `ue = "hold"` it holds the rate: Rc and alpha keep their values, Rt = Rc, and the timer, the
//! byte counter and the stages of increase restart, in the paper's machine the period of α as well.
//!
//! α has no timer: it is updated when it is read. n periods without a CNP give α · (1 - g)^n by squaring,
//! which is the definition. Checks are made only after a CNP. Increase steps sleep at line rate once one has
//! followed the last CNP; their phases are those of timers that always run. At one instant a CNP is processed
//! first, then α, the check, the increase step. With `timers = "ticking"` each timer ticks all the time
//! instead, and of the timers of one instant the one that was set first is processed first.
//!
//! # Why
//!
//! It is the congestion control of RoCEv2 NICs, and the baseline of newer ones. It needs a congestion point
//! that marks (`red`) with thresholds below PFC's. Its feedback is a round trip old, so that on long links
//! flow control acts first; `static-window` beside it bounds the bytes in flight until then.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | Rc, Rt | current and target rate |
//! | α, g | estimate of congestion, 0 to 1, and its gain |
//! | F, Rai, Rhai | `f`, `rai`, `rhai` |
//! | K, T, B | alpha timer, increase timer and byte counter: `t-alpha`, `t-inc`, `byte-counter` |
//! | N | `cnp-interval` |
//! | | `t-dec`: period of the NIC's checks |
//!
//! # Sizing
//!
//! ```text
//! window = path's bottleneck rate · base round trip · Rc / NIC's rate      (variable-bdp)
//! ```
//!
//! With `window = "none"` pacing alone bounds the bytes in flight.
//!
//! # Known differences
//!
//! - Rates are whole bit/s, a cut rounded down and a mean rounded up, so that Rt is reached (the ns-3 models
//!   round halves down, and stay a few bit/s below the line rate forever: `means = "halves"`).
//! - The paper defines no least rate. `paper` has the 100 Mbit/s of its authors' ns-3 model, of which also
//!   its `rhai` is; TCD's simulator, which descends from it, has the same.
//! - NICs also count bytes (`rpg_byte_reset`), and hyper increase needs both stages. HPCC's and SWING's
//!   models have no counter, and with it no NIC preset would be what their papers ran: `byte-counter` adds
//!   it. A public model of NICs takes their default of 32,767 as units of 64 bytes: `"2097088B"`, a step each
//!   168 us at 100 Gbit/s. Then Rt is lowered by a cut that follows a step of the timer ("clamp target rate
//!   after time increase", the NICs' default), not of the counter.
//! - `hpcc` and `hpcc-paper` are two published readings of "DCQCN" in HPCC's simulations: `dcqcn` and
//!   `dcqcn_paper` of its `run.py`. The latter cuts at checks, too, not at each CNP as `paper` does.
//! - `swing` has the window of its authors' files; their paper names Mellanox's recommendations, and no
//!   window.
//! - Rt is capped at the NIC's rate in both state machines, as NICs do.
//! - In `paper` a stage counter is incremented before it is compared with F.
//! - `tcd` has the paper's order and stages, and TCD's simulator others: α rises before the rate is cut by
//!   it, so that the first factor is 0.749 and not 0.75; hyper increase begins where both stages have reached
//!   F, one step before the paper's, with `rhai` times the stages beyond F - 1; and Rt may exceed the NIC's
//!   rate until the next cut.
//! - Only notifications that report CE are CNPs; a notification of another kind (UE, a window) cuts no rate.
//! - TCD's paper was not available here. Its simulator has both reactions to UE, and ignores it by default
//!   and in its published configuration. With the NICs' timers, which its authors did not use (steps each
//!   300 us, CNPs each 4 us), `ue = "hold"` keeps a flow at the rate of its last cut as long as any port of
//!   its path is paused now and then: in Mercury's fat tree with Hadoop at 80 %, flows that start within 0.3
//!   ms take 65 us in the mean; 34 if UE is ignored, and 34 without TCD.
//! - The bandwidth-delay product of the window includes the serialisation of the ACK in the reverse
//!   direction, which SWING's leaves out (`semantics.base-rtt = "one-way"`).
//!
//! # References
//!
//! - Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 3.1.
//! - NVIDIA, "DCQCN Parameters" (the NICs' defaults).
//! - Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, its simulator's `rdma-hw.cc` and
//!   `run.py`, `config.txt`.
//! - The ns-3 model of DCQCN's authors (`bobzhuyb/ns3-rdma`), and TCD's (`Yi-ran/DCQCN-TCD`):
//!   `qbb-net-device.cc`.
//! - A public model of NICs' DCQCN (`google/isekai`): byte counter and stages.
//! - Zhang et al., "Congestion Detection in Lossless Networks", SIGCOMM 2021 (UE).
//! - Chen et al., "Swing: Providing Long-Range Lossless RDMA via PFC-Relay", IEEE TPDS 34(1), 2023, section 6
//!   and its configurations.
//! - Hu, Li and Wang, "Congestion-Aware Semi-Lossless Transport in Datacenter networks", section 3.2
//!   (losses).

mod alpha;
mod mellanox;
mod paper;
mod presets;
mod rates;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod ticking;

pub use presets::Preset;
pub use rates::Means;

use floodway_units::{Bytes, Rate, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{
    AckView, Allowance, Cnp, LossView, Mark, Need, ParamError, QpInfo, Reaction, ReactionPoint, TICKS,
    Timeout,
};
use rates::Rates;

/// Parameters of DCQCN: a preset of published values, and values that override it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Dcqcn")]
pub struct Params {
    /// The preset of published values, which also selects the state machine; parameters given beside it
    /// override its values.
    /// Source: floodway's choice: HPCC's is the preset whose increments grow with the NIC's rate.
    pub preset: Preset,
    /// How the receiver reports marks.
    /// Source: Zhu et al., SIGCOMM 2015, section 3.1: a packet of its own.
    pub cnp: CnpForm,
    /// Minimum time between two CNPs of a flow, at its receiver; with `cnp = "ack-flag"` at the sender, in
    /// `paper` only. Default: 50 us in `paper` (N), 4 us in the others.
    /// Source: Zhu et al., section 3.1; newer NICs, `min_time_between_cnps`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cnp_interval: Option<Span>,
    /// Reaction to undetermined congestion (UE, where ports have `tcd`). Default: `"ignore"`.
    /// Source: the `DCQCN-TCD` simulator, whose rate adjustment (`EnableRootECNCC`) is off by default and in
    /// its `configburst.txt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ue: Option<Ue>,
    /// An increase of the flow's loss rate counts as a CNP: replies report more lost bytes in a period of
    /// this length, above 0, than in the one before. Losses found by a timer do not count. Default: `"off"`.
    /// Source: Zhu et al., whose network loses nothing; CASL's section 3.2 ("when the packet loss rate of the
    /// congestion flow is detected to increase"), with 50 us by floodway's choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub losses_as_cnps: Option<Timeout>,
    /// Limit of the payload bytes in flight. Default: `"variable-bdp"` in `swing` and `hpcc-config`, `"none"`
    /// in the others. Source: SWING's configurations; HPCC's `config.txt`; the paper and NICs have no window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// Gain of α, from 0 to 1. Default: 5/1024 in `mellanox`, 0.0048828 in `swing`, 1/256 in the others.
    /// Source: Zhu et al.; NICs, `dce_tcp_g` 1019; HPCC's `run.py`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub g: Option<f64>,
    /// α at the first CNP, from 0 to 1. Default: 0.5 in `tcd`, 1 in the others.
    /// Source: Zhu et al., section 3.1; the HPCC simulator; TCD's simulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_alpha: Option<f64>,
    /// Period of α, above 0. Default: 55 us in `paper` (K), 50 us in `hpcc-paper`, 1 us in the others.
    /// Source: Zhu et al.; HPCC's `run.py`; NICs, `dce_tcp_rtt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t_alpha: Option<Span>,
    /// Period of the checks that cut the rate, above 0; not in `paper`. Default: 50 us in `hpcc-paper`,
    /// 4 us in the others.
    /// Source: NICs, `rate_reduce_monitor_period`; HPCC's `run.py`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t_dec: Option<Span>,
    /// Time between increase steps, above 0. Default: 55 us in `paper` (T) and `hpcc-paper`, 900 us in
    /// `hpcc-config`, 300 us in the others.
    /// Source: Zhu et al.; HPCC's `run.py` and `config.txt`; NICs, `rpg_time_reset`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t_inc: Option<Span>,
    /// Wire bytes between increase steps, above 0, beside those of the timer. Default: 10 MB in `paper` (B),
    /// none in the others.
    /// Source: Zhu et al., and its authors' ns-3 model; HPCC's and SWING's models of NICs have none. NICs,
    /// `rpg_byte_reset`, 2,097,088 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byte_counter: Option<Bytes>,
    /// F: the stage at which fast recovery ends, at least 0. Default: 5 in `paper`, 1 in the others.
    /// Source: Zhu et al.; NICs, `rpg_threshold`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub f: Option<u32>,
    /// Additive increase step of Rt, at least 0. Default: 40 Mbit/s in `paper`, 50 Mbit/s in
    /// `hpcc-config`, 5 Mbit/s in the others; in `hpcc` and `hpcc-paper` per 25G of the NIC's rate.
    /// Source: Zhu et al.; NVIDIA's page of DCQCN parameters; HPCC's `run.py` and `config.txt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rai: Option<Rate>,
    /// Hyper increase step of Rt, at least 0, which `paper` multiplies by the stages beyond F. Default: 200
    /// Mbit/s in `paper`, 100 Mbit/s in `hpcc-config`, 50 Mbit/s in the others; in `hpcc` and `hpcc-paper`
    /// per 25G of the NIC's rate.
    /// Source: the ns-3 model of DCQCN's authors; NVIDIA's page of DCQCN parameters; HPCC's `run.py` and
    /// `config.txt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rhai: Option<Rate>,
    /// Minimum rate, above 0; at most the NIC's. Default: 1 Gbit/s in `hpcc` and `hpcc-paper`, 100 Mbit/s in
    /// `paper` and `hpcc-config`, 1 Mbit/s in the others.
    /// Source: HPCC's `run.py` and `config.txt`; the ns-3 model of DCQCN's authors for `paper`, whose text
    /// defines none, and TCD's simulator; NVIDIA's page of DCQCN parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rmin: Option<Rate>,
    /// Delay of the first check beyond `t-dec` after the first CNP, at least 0; not in `paper`. Default: 0.
    /// Source: the HPCC simulator has 1 ns, so that α's period ends first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_offset: Option<Span>,
    /// When periods of α, checks and increase steps are processed; not in `paper`. Default: `"asleep"`.
    /// Source: floodway's choice: no work is done where it would have no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timers: Option<Timers>,
    /// How an odd bit of a mean of Rc and Rt is rounded. Default: `"up"`.
    /// Source: floodway's choice: a sender that has recovered is at line rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub means: Option<Means>,
    /// Whether every cut lowers Rt to Rc, and not only a cut that follows an increase. Default: true in
    /// `paper`, false in the others.
    /// Source: Zhu et al., section 3.1; NICs, "clamp target rate".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clamp: Option<bool>,
    /// Smallest factor of one cut, above 0, up to 1. Default: 0.5.
    /// Source: NICs, `rpg_min_dec_fac` 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_decrease: Option<f64>,
    /// Factor of the rate at the first CNP, above 0, up to 1; not in `paper`. Default: 1.
    /// Source: the HPCC simulator, `RateOnFirstCnp`; NICs, `rate_to_set_on_first_cnp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_on_first_cnp: Option<f64>,
}

/// How the receiver reports marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Cnp")]
pub enum CnpForm {
    /// By a frame of the control class, at most one per flow and `cnp-interval`. Source: Zhu et al., section
    /// 3.1.
    #[default]
    Packet,
    /// By a flag that each ACK copies from its packet's mark, without an interval. Source: the HPCC and SWING
    /// simulators.
    AckFlag,
}

/// When the timers of the NICs' state machine are processed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "DcqcnTimers")]
pub enum Timers {
    /// Only where they may have an effect. At one instant a CNP is processed first, then alpha, the check,
    /// the increase step.
    /// Source: floodway's choice.
    #[default]
    Asleep,
    /// Each at every period from the first CNP on, as an event that sets the next one: of the timers of one
    /// instant, the one that was set first is processed first, so that an increase step precedes a check.
    /// With `ties = "scheduling-order"` that applies to all events: a check precedes events that were
    /// scheduled less than `t-dec` before.
    /// Source: the HPCC simulator.
    Ticking,
}

/// Effect of undetermined congestion (UE) on the rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "DcqcnUe")]
pub enum Ue {
    /// Rc and alpha keep their values, Rt = Rc, and increase steps and stages restart. Source: the
    /// `DCQCN-TCD` simulator with its rate adjustment (`EnableRootECNCC`).
    Hold,
    /// No effect. Source: the `DCQCN-TCD` simulator as it is configured.
    #[default]
    Ignore,
}

/// Limit of the payload bytes in flight under DCQCN. A window of constant size is a separate layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "DcqcnWindow")]
pub enum Window {
    /// No limit. Source: Zhu et al., and NICs.
    None,
    /// The path's bandwidth-delay product times Rc over the NIC's rate. Source: HPCC's `_vwin` variants;
    /// SWING's configurations.
    VariableBdp,
}

impl Reaction for Params {
    type Rp = Rp;

    fn build(&self, qp: &QpInfo) -> Result<Rp, ParamError> {
        let settings = self.settings(qp.line_rate)?;
        let rates = Rates::new(qp.line_rate, self.means.unwrap_or_default());
        let window = match self.window() {
            Window::None => Bytes::MAX,
            Window::VariableBdp => qp.bdp().max(qp.mtu),
        };
        let machine = match self.preset {
            Preset::Paper | Preset::Tcd => Machine::Paper(paper::Machine::new(Box::new(settings), rates)),
            Preset::Mellanox | Preset::Hpcc | Preset::HpccPaper | Preset::HpccConfig | Preset::Swing => {
                Machine::Mellanox(mellanox::Machine::new(settings, rates))
            }
        };
        let interval = if self.preset.cuts_at_each_cnp() { self.interval() } else { Span::ZERO };
        let losses = self.losses_as_cnps.and_then(Timeout::span).map(|period| Box::new(Losses::new(period)));
        Ok(Rp { machine, cnp: self.cnp, ue: self.ue.unwrap_or_default(), interval, losses, window })
    }

    fn needs(&self) -> &'static [Need] {
        let losses = self.losses_as_cnps.and_then(Timeout::span).is_some();
        let acks = self.cnp == CnpForm::AckFlag || self.window() == Window::VariableBdp || losses;
        if acks { &[Need::Marks, Need::Acks] } else { &[Need::Marks] }
    }

    fn reacts_to_cnp(&self) -> bool {
        true
    }

    fn reads_flags(&self) -> bool {
        self.cnp == CnpForm::AckFlag
    }

    fn has_steps(&self) -> bool {
        true
    }

    fn cnp_interval(&self) -> Option<Span> {
        (self.cnp == CnpForm::Packet).then_some(self.interval())
    }
}

/// One per sending queue pair.
#[derive(Debug)]
pub struct Rp {
    machine: Machine,
    cnp: CnpForm,
    ue: Ue,
    /// Flags within this time after a CNP are part of it: the paper's state machine cuts at each CNP and
    /// relies on its receiver to limit them, which does not apply to flags.
    interval: Span,
    /// Where losses are CNPs.
    losses: Option<Box<Losses>>,
    /// At line rate; the largest number if there is no window.
    window: Bytes,
}

/// The loss rate of a flow, an increase of which counts as a CNP.
#[derive(Clone, Copy, Debug)]
struct Losses {
    period: Span,
    /// When the current period began.
    since: Time,
    /// Bytes lost in the period before, and in this one.
    before: Bytes,
    lost: Bytes,
    /// Whether this period has had its CNP.
    counted: bool,
}

impl Losses {
    fn new(period: Span) -> Self {
        let (before, lost) = (Bytes::ZERO, Bytes::ZERO);
        Losses { period, since: Time::ZERO, before, lost, counted: false }
    }

    /// A loss is reported. Returns whether the rate has increased with it: true at most once a period.
    fn increase(&mut self, now: Time, lost: Bytes) -> bool {
        let periods = now.since(self.since).0 / self.period.0;
        if periods > 0 {
            let before = if periods == 1 { self.lost } else { Bytes::ZERO };
            *self = Losses { since: self.since + self.period * periods, before, ..Losses::new(self.period) };
        }
        self.lost += lost;
        // CASL, Section 3.2: the sender reduces its rate where the packet loss rate has increased.
        let increased = self.lost > self.before && !self.counted;
        self.counted |= increased;
        increased
    }
}

#[derive(Debug)]
enum Machine {
    Paper(paper::Machine),
    Mellanox(mellanox::Machine),
}

impl Rp {
    /// The receiver has reported `mark`.
    fn notified(&mut self, now: Time, mark: Mark) {
        match (mark, &mut self.machine) {
            (Mark::Ce, Machine::Paper(machine)) => machine.on_cnp(now),
            (Mark::Ce, Machine::Mellanox(machine)) => machine.on_cnp(now),
            (Mark::Ue, _) if self.ue == Ue::Ignore => {}
            (Mark::Ue, Machine::Paper(machine)) => machine.hold(now),
            (Mark::Ue, Machine::Mellanox(machine)) => machine.hold(now),
            (Mark::None, _) => {}
        }
    }

    fn is_part_of_the_last(&self, now: Time) -> bool {
        match &self.machine {
            Machine::Paper(machine) => machine.had_cnp_within(self.interval, now),
            Machine::Mellanox(_) => false,
        }
    }

    fn rates(&self) -> &Rates {
        match &self.machine {
            Machine::Paper(machine) => &machine.rates,
            Machine::Mellanox(machine) => &machine.rates,
        }
    }
}

impl ReactionPoint for Rp {
    #[inline]
    fn on_sent(&mut self, _now: Time, wire: Bytes) {
        match &mut self.machine {
            Machine::Paper(machine) => machine.on_sent(wire),
            Machine::Mellanox(machine) => machine.on_sent(wire),
        }
    }

    #[inline]
    fn on_ack(&mut self, now: Time, ack: &AckView<'_>) {
        if ack.marked != Mark::None && self.cnp == CnpForm::AckFlag && !self.is_part_of_the_last(now) {
            self.notified(now, ack.marked);
        }
    }

    fn observes_sent(&self) -> bool {
        match &self.machine {
            Machine::Paper(_) => true,
            Machine::Mellanox(machine) => machine.counts_bytes(),
        }
    }

    fn observes_acks(&self) -> bool {
        self.cnp == CnpForm::AckFlag
    }

    fn on_cnp(&mut self, now: Time, n: &Cnp) {
        self.notified(now, n.mark);
    }

    fn on_loss(&mut self, now: Time, l: &LossView) {
        let is_new = |losses: &mut Losses| !l.timeout && losses.increase(now, l.lost);
        if self.losses.as_deref_mut().is_some_and(is_new) {
            self.notified(now, Mark::Ce);
        }
    }

    fn increases(&self) -> u64 {
        match &self.machine {
            Machine::Paper(machine) => machine.increases.count(),
            Machine::Mellanox(machine) => machine.increases.count(),
        }
    }

    #[inline]
    fn next_timeout(&self) -> Option<Time> {
        let at = match &self.machine {
            Machine::Paper(machine) => machine.next_step,
            Machine::Mellanox(machine) => machine.next_timeout(),
        };
        (at != Time::NEVER).then_some(at)
    }

    fn on_timeout(&mut self, now: Time) {
        match &mut self.machine {
            Machine::Paper(machine) => machine.on_timeout(now),
            Machine::Mellanox(machine) => machine.on_timeout(now),
        }
    }

    fn ticks(&self) -> Option<[Time; TICKS]> {
        match &self.machine {
            Machine::Paper(_) => None,
            Machine::Mellanox(machine) => machine.ticks(),
        }
    }

    fn on_tick(&mut self, now: Time, timer: usize) {
        if let Machine::Mellanox(machine) = &mut self.machine {
            machine.on_tick(now, timer);
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        let rates = self.rates();
        let window = if self.window == Bytes::MAX { Bytes::MAX } else { rates.share_of(self.window) };
        Allowance { rate: rates.current, window }
    }
}
