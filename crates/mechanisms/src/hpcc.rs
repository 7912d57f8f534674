//! HPCC: a sender that reads the load of every link of its path from each ACK, and sets window and rate so
//! that the busiest link is used to just below its capacity (Li et al., SIGCOMM 2019).
//!
//! # What it does
//!
//! Every switch writes a record into each data packet as it leaves: the link's rate, the time, the bytes sent
//! by the port so far, and the remaining queue. The receiver copies the records into the ACK. From the
//! records of two ACKs the sender computes what each link carried in between, and includes the busiest one's
//! utilisation in a running mean U over one base round trip. The first ACK is only stored.
//!
//! | U | new window (`paper`) or rate (`simulator`) |
//! |---|---|
//! | at `eta` or above, or after `max-stage` additive steps | reference over U/η, plus a small step |
//! | below | reference plus the step |
//!
//! Every ACK computes window and rate from the reference. Only a full update, once per round trip, makes the
//! result the new reference: at the first ACK of a packet sent after the last update. So HPCC reacts at once,
//! but not twice to the same packets.
//!
//! | | `paper` | `simulator` |
//! |---|---|---|
//! | reference | a window Wc; rate = W / T | a rate Rc; window = `window` · rate / line rate |
//! | step | `wai` bytes | `rai` |
//! | maximum additive steps | 5 | 0: every update is multiplicative |
//! | T and window | of the path | the largest of the network |
//! | times | picoseconds | whole nanoseconds |
//!
//! `simulator` also has one reference per hop, of which the smallest applies (`multi-rate`), and reactions
//! that leave out hops with an empty queue (`sample-feedback`).
//!
//! # Why
//!
//! The sender knows by how much to slow down, so that queues stay near empty and a new flow finds room. The
//! costs are `1 - eta` of the capacity and the records' bytes in every packet. It does not distinguish a
//! queue that waits for a pause to end from a queue due to congestion. It needs ACKs, and telemetry of all
//! switches on the path.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | η, maxStage | `eta`, `max-stage` |
//! | `W_AI`, N | `wai`, `expected-flows` |
//! | T | `base-rtt` |
//! | `W_init` | `window` |
//! | W, Wc; R, Rc | window and rate, and their references |
//! | B, ts, txBytes, qlen | a record: link rate, time, bytes sent, queue |
//! | U, τ | smoothed utilisation of the busiest link, and the time between its two records |
//!
//! # Sizing
//!
//! ```text
//! u = Δ txBytes / Δ ts / B + min(qlen now, qlen before) / (B · T)        of the busiest link
//! U = (1 - τ/T) · U + τ/T · u,   τ = min(Δ ts, T),   U = 1 at the start
//! paper:      W = Wc / (U/η) + wai   or   Wc + wai;   R = W / T
//!             window = line rate · T ("auto");   wai = window · (1 - η) / expected-flows
//! simulator:  R = Rc / (U/η) + rai   or   Rc + rai,   rmin <= R <= line rate
//!             W = max(1, window · R / line rate) if variable-window
//!             queue term: min(qlen now, qlen before) · line rate / B / window
//! int-multi n: 24 bits of nanoseconds, 20 bits of 128 · n bytes sent, 17 bits of 80 · n bytes queued
//! ```
//!
//! `int-multi` is the NIC's rate over 25G in HPCC's figures.
//!
//! # Known differences
//!
//! - Ideal times are those of packets without telemetry, so slowdowns include the cost of its 42 bytes.
//! - The paper bounds neither window nor rate. Here a window stays between `rmin` · T and `window`, a rate
//!   between `rmin` and the line rate: the window of an idle flow would otherwise grow without bound.
//! - T and window are by default those of the flow's path in `paper`, so that a long link does not slow short
//!   paths down; the paper sets one T for the network, slightly above its largest (`"largest"`, or a time).
//! - The paper gives `W_AI` in bytes for its experiments. Here it follows from N = 100, which at 100G and 13
//!   us gives 81 B.
//! - In `paper` windows are real numbers, and the bytes allowed are rounded down; in `simulator` rates are
//!   whole bit/s, and each operation rounds down, in the simulator's order of operations.
//! - Records are exact unless `int-multi` is given. The coded form is read as the simulator writes it, with
//!   counters that wrap, but includes every rate: its table of 25, 50, 100, 200 and 400G has no code for
//!   others, which stay exact here. With it, an ACK with more than five hops makes no update; exact records
//!   allow any number.
//! - A hop is left out if its record has the same time as before, or an older one (the simulator divides by
//!   zero), or if the previous ACK did not have that hop.
//! - The paper's records also carry a path number, which shows that packets take another path; this is not
//!   modelled here.
//! - Packets are compared by their numbers, not by bytes, which gives the same order.
//!
//! # References
//!
//! - Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, sections 3 and 4, algorithm 1, and
//!   its simulator's mode 3 in `rdma-hw.cc`, `int-header.h` and `run.py`.

mod meter;
mod presets;
mod rated;
mod telemetry;
#[cfg(test)]
mod tests;
mod windowed;

pub use presets::Preset;

use std::fmt::Debug;

use floodway_units::{Bytes, Rate, Span, Tally, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use meter::Meter;
use presets::Settings;

use crate::slots::{
    AckView, Allowance, Need, OfPath, ParamError, QpInfo, Reaction, ReactionPoint, counted_update,
};

/// Parameters of HPCC: a preset of published values, and values that override it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Hpcc")]
pub struct Params {
    /// The form of the algorithm, with its values; parameters given beside it override them.
    /// Source: floodway's choice: the published algorithm.
    pub preset: Preset,
    /// η: the target utilisation, above 0, up to 1. Default: 0.95.
    /// Source: Li et al., section 5.1; its simulator, `U_TARGET`.
    pub eta: f64,
    /// Additive steps between two multiplicative ones, at least 0. Default: 5 in `paper`, 0 in `simulator`.
    /// Source: Li et al., section 5.1; `MI_THRESH` of HPCC's `run.py`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_stage: Option<u32>,
    /// `W_AI`: bytes that each update adds to the window, at least 0; `paper` only. Default:
    /// window · (1 - η) / `expected-flows`.
    /// Source: Li et al., section 3.3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wai: Option<Bytes>,
    /// N: number of flows that may share a link before their additive steps fill it, at least 1; `paper`
    /// only, where `wai` is not given. Default: 100.
    /// Source: Li et al., section 3.3; the number is floodway's choice, near the step of section 5.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_flows: Option<u32>,
    /// Increase of the rate by each update, at least 0; `simulator` only. Default: 10 Mbit/s per 25G of the
    /// NIC's rate.
    /// Source: HPCC's `run.py`, `RATE_AI`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rai: Option<Rate>,
    /// Minimum rate, above 0; at most the NIC's. Default: 100 Mbit/s in `paper`, 1 Gbit/s in `simulator`.
    /// Source: HPCC's simulator, the class's default for `MinRate`; HPCC's `run.py`, `MIN_RATE`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rmin: Option<Rate>,
    /// T: a time of at least 1 ns, `"auto"` for the path's base round trip, or `"largest"` for that of all
    /// pairs of hosts. Default: `"auto"` in `paper`, `"largest"` in `simulator`.
    /// Source: floodway's choice for paths of very different length; `GLOBAL_T` of HPCC's `run.py`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_rtt: Option<OfPath<Span>>,
    /// `W_init`, payload bytes in flight at line rate: a size of at least one full packet, `"auto"` for the
    /// NIC's rate times `base-rtt` in `paper` and the path's bandwidth-delay product in `simulator`, or
    /// `"largest"` for that of all pairs of hosts. Default: `"auto"` in `paper`, `"largest"` in `simulator`,
    /// which also divides queues by it.
    /// Source: Li et al., section 3.2; `GLOBAL_T` of HPCC's `run.py`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<OfPath<Bytes>>,
    /// Whether the window shrinks with the rate; `simulator` only. Default: true.
    /// Source: HPCC's `run.py`, `VAR_WIN`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable_window: Option<bool>,
    /// Whether every ACK sets window and rate, and not only the ACK of a full update. Default: true.
    /// Source: Li et al., section 3.2; HPCC's `run.py`, `FAST_REACT`.
    pub fast_react: bool,
    /// Whether each hop has its own utilisation and reference, of which the smallest applies; `simulator`
    /// only. Default: false.
    /// Source: HPCC's `run.py`, `MULTI_RATE`.
    pub multi_rate: bool,
    /// Whether ACKs between full updates leave out hops with an empty queue; `simulator` only. Default:
    /// false.
    /// Source: HPCC's `run.py`, `SAMPLE_FEEDBACK`.
    pub sample_feedback: bool,
    /// Reads records as if coded in 64 bits, in units of this many times 128 bytes sent and 80 bytes queued,
    /// from 1. Default: records are exact.
    /// Source: HPCC's simulator, `INT_MULTI`; exact is floodway's choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub int_multi: Option<u32>,
}

impl Reaction for Params {
    type Rp = Rp;

    fn build(&self, qp: &QpInfo) -> Result<Rp, ParamError> {
        let settings = self.settings(qp)?;
        let meter = self.meter(qp, &settings);
        let machine = match self.preset {
            Preset::Paper => Machine::Windowed(Box::new(windowed::Machine::new(settings, meter))),
            Preset::Simulator => Machine::Rated(Box::new(rated::Machine::new(settings, meter))),
        };
        Ok(Rp { machine })
    }

    fn has_steps(&self) -> bool {
        true
    }

    fn waits_for_each_ack(&self) -> bool {
        true
    }

    fn needs(&self) -> &'static [Need] {
        if self.asks_for_largest() {
            &[Need::Acks, Need::Int, Need::Largest]
        } else {
            &[Need::Acks, Need::Int]
        }
    }
}

/// One per sending queue pair.
#[derive(Debug)]
pub struct Rp {
    machine: Machine,
}

#[derive(Debug)]
enum Machine {
    Windowed(Box<windowed::Machine>),
    Rated(Box<rated::Machine>),
}

/// State of a queue pair of either form. `R`: the paper's reference window, in real bytes, or the
/// simulator's reference rate.
#[derive(Debug)]
struct State<R> {
    settings: Settings,
    meter: Meter,
    allowance: Allowance,
    /// Wc or Rc, set by a full update.
    reference: R,
    /// Additive steps since the last multiplicative one.
    stage: u32,
    /// An ACK beyond this sequence number makes the next full update; 0 before the first.
    update_at: u64,
    increases: Tally,
    rates_set: Tally,
}

impl<R: Debug> State<R> {
    fn begin(settings: Settings, meter: Meter, allowance: Allowance, reference: R) -> Self {
        State {
            settings,
            meter,
            allowance,
            reference,
            stage: 0,
            update_at: 0,
            increases: Tally::default(),
            rates_set: Tally::default(),
        }
    }

    /// As `ReactionPoint::counted_from` asks for it.
    fn counted_from(&self, psn: u64, sent: &[u64]) -> Option<String> {
        let State { settings: _, meter, allowance, reference, stage, update_at, increases: _, rates_set: _ } =
            self;
        let (meter, update) = (meter.counted_from(sent)?, counted_update(*update_at, psn));
        Some(format!(
            "{meter} allowance: {allowance:?} reference: {reference:?} stage: {stage} update: {update:?}"
        ))
    }
}

impl ReactionPoint for Rp {
    fn observes_sent(&self) -> bool {
        false
    }

    fn on_ack(&mut self, _now: Time, ack: &AckView<'_>) {
        match &mut self.machine {
            Machine::Windowed(machine) => machine.on_ack(ack),
            Machine::Rated(machine) => machine.on_ack(ack),
        }
    }

    fn increases(&self) -> u64 {
        match &self.machine {
            Machine::Windowed(machine) => machine.increases.count(),
            Machine::Rated(machine) => machine.increases.count(),
        }
    }

    fn rates_set(&self) -> Option<u64> {
        Some(match &self.machine {
            Machine::Windowed(machine) => machine.rates_set.count(),
            Machine::Rated(machine) => machine.rates_set.count(),
        })
    }

    fn counted_from(&self, psn: u64, sent: &[u64]) -> Option<String> {
        match &self.machine {
            Machine::Windowed(machine) => machine.counted_from(psn, sent),
            Machine::Rated(machine) => machine.counted_from(psn, sent),
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        match &self.machine {
            Machine::Windowed(machine) => machine.allowance,
            Machine::Rated(machine) => machine.allowance,
        }
    }
}
