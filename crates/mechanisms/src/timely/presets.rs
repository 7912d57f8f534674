//! Presets: published values, and the user's changes to them.

use floodway_units::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Params;
use crate::slots::{ParamError, QpInfo};

/// A form of the algorithm, and the values that it was published with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "TimelyPreset")]
pub enum Preset {
    /// The paper's algorithm, with an update per segment. Source: Mittal et al., SIGCOMM 2015, section 4.
    Paper,
    /// The same with one fixed point. Source: Zhu et al., CONEXT 2016, section 4.
    Patched,
    /// One update per round trip. Source: HPCC's simulator, mode 7, and `timely` of its `run.py`.
    #[default]
    Hpcc,
}

/// Every value, as the machine uses it; times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Settings {
    pub(super) ewma: f64,
    pub(super) beta: f64,
    pub(super) t_low: f64,
    pub(super) t_high: f64,
    pub(super) min_rtt: f64,
    /// `None` where the algorithm is not the patched one.
    pub(super) rtt_ref: Option<f64>,
    pub(super) rai: Rate,
    pub(super) rhai: Rate,
    pub(super) hai_after: u32,
    /// Do increases below `t_low` count towards a hyper increase, and make it?
    pub(super) hai_below: bool,
    pub(super) rmin: Rate,
    pub(super) line: Rate,
    /// `None` where updates are made per round trip.
    pub(super) segment: Option<Bytes>,
    /// Of a full packet's payload at the NIC.
    pub(super) serialisation: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            preset: Preset::default(),
            ewma: 0.875,
            beta: None,
            t_low: Span::us(50),
            t_high: Span::us(500),
            min_rtt: Span::us(20),
            rai: None,
            rhai: None,
            hai_after: None,
            rmin: Rate::gbps(1),
            segment: None,
            rtt_ref: None,
        }
    }
}

impl Params {
    /// The preset's values with the given changes, for a queue pair's NIC.
    pub(super) fn settings(&self, qp: &QpInfo) -> Result<Settings, ParamError> {
        self.check()?;
        let hpcc = self.preset == Preset::Hpcc;
        let patched = self.preset == Preset::Patched;
        // HPCC's simulator counts whole nanoseconds.
        let ns = |span: Span| if hpcc { (span.0 / 1_000) as f64 } else { span.0 as f64 / 1e3 };
        let rai = self.rai.unwrap_or(qp.line_rate / 1_000);
        Ok(Settings {
            ewma: self.ewma,
            beta: self.beta.unwrap_or(if patched { 0.008 } else { 0.8 }),
            t_low: ns(self.t_low),
            t_high: ns(self.t_high),
            min_rtt: ns(self.min_rtt),
            rtt_ref: patched.then(|| ns(self.rtt_ref.unwrap_or(self.t_low))),
            rai,
            rhai: self.rhai.unwrap_or(Rate(rai.0.saturating_mul(5))),
            hai_after: self.hai_after.unwrap_or(5),
            hai_below: hpcc,
            rmin: self.rmin.min(qp.line_rate),
            line: qp.line_rate,
            segment: (!hpcc).then(|| self.segment.unwrap_or(Bytes::kb(16))),
            serialisation: qp.line_rate.time_to_send(qp.mtu),
        })
    }

    fn check(&self) -> Result<(), ParamError> {
        self.check_preset()?;
        for (key, value) in [("ewma", Some(self.ewma)), ("beta", self.beta)] {
            if let Some(value) = value.filter(|value| !(0.0..=1.0).contains(value)) {
                return Err(ParamError::new(key, format!("{value} is not a number from 0 to 1")));
            }
        }
        if self.t_high < self.t_low {
            let message = format!("{} is less than t-low, {}", self.t_high, self.t_low);
            return Err(ParamError::new("t-high", message));
        }
        self.check_divisors()
    }

    fn check_divisors(&self) -> Result<(), ParamError> {
        let least = Span::ns(1);
        if self.min_rtt < least {
            return Err(ParamError::new(
                "min-rtt",
                format!(
                    "{} is too short: the gradient is divided by it; the minimum is {least}",
                    self.min_rtt
                ),
            ));
        }
        if self.preset == Preset::Patched && self.rtt_ref.unwrap_or(self.t_low) < least {
            let (key, given) = self.rtt_ref.map_or(("t-low", self.t_low), |given| ("rtt-ref", given));
            let message = format!(
                "{given} is too short: the error of the RTT is divided by it; the minimum is {least}"
            );
            return Err(ParamError::new(key, message));
        }
        if self.rmin == Rate(0) {
            return Err(ParamError::new("rmin", "a rate of 0bps never sends"));
        }
        if self.segment == Some(Bytes::ZERO) {
            return Err(ParamError::new("segment", "0B is not allowed; the minimum is 1B"));
        }
        Ok(())
    }

    /// Rejects parameters that the chosen form does not use.
    fn check_preset(&self) -> Result<(), ParamError> {
        let refuse = |key, message| Err(ParamError::new(key, message));
        if self.preset == Preset::Hpcc && self.segment.is_some() {
            return refuse("segment", "preset = \"hpcc\" updates once a round trip, not per segment");
        }
        if self.preset != Preset::Patched {
            return match self.rtt_ref {
                Some(_) => refuse("rtt-ref", "only preset = \"patched\" settles at a reference"),
                None => Ok(()),
            };
        }
        if self.rhai.is_some() {
            return refuse("rhai", "preset = \"patched\" makes no hyper increase");
        }
        if self.hai_after.is_some() {
            return refuse("hai-after", "preset = \"patched\" makes no hyper increase");
        }
        Ok(())
    }
}
