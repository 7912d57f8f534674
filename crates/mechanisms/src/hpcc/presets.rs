//! Presets: published values, and the user's overrides.

use floodway_units::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Params;
use super::meter::Meter;
use super::telemetry::Reader;
use crate::slots::{OfPath, ParamError, QpInfo};

/// A form of the algorithm, and the values that it was published with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "HpccPreset")]
pub enum Preset {
    /// A window, and a rate that follows from it. Source: Li et al., SIGCOMM 2019, algorithm 1.
    #[default]
    Paper,
    /// A rate, and a window that follows from it. Source: HPCC's simulator, mode 3, and `hp` of its `run.py`.
    Simulator,
}

/// All values, as the state machines use them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Settings {
    pub(super) eta: f64,
    pub(super) max_stage: u32,
    /// Bytes.
    pub(super) wai: f64,
    pub(super) rai: Rate,
    pub(super) rmin: Rate,
    pub(super) line: Rate,
    /// T in seconds.
    pub(super) base: f64,
    /// At line rate.
    pub(super) window: Bytes,
    pub(super) variable_window: bool,
    pub(super) fast_react: bool,
    pub(super) multi_rate: bool,
    pub(super) sample_feedback: bool,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            preset: Preset::default(),
            eta: 0.95,
            max_stage: None,
            wai: None,
            expected_flows: None,
            rai: None,
            rmin: None,
            base_rtt: None,
            window: None,
            variable_window: None,
            fast_react: true,
            multi_rate: false,
            sample_feedback: false,
            int_multi: None,
        }
    }
}

impl Params {
    fn is_paper(&self) -> bool {
        self.preset == Preset::Paper
    }

    pub(super) fn asks_for_largest(&self) -> bool {
        let default = !self.is_paper();
        let base = self.base_rtt.map_or(default, |base| base == OfPath::Largest);
        base || self.window.map_or(default, |window| window == OfPath::Largest)
    }

    /// T of a queue pair.
    fn base(&self, qp: &QpInfo) -> Span {
        let default = if self.is_paper() { OfPath::Auto } else { OfPath::Largest };
        // A queue pair between neighbours has some round trip, too.
        self.base_rtt.unwrap_or(default).pick(qp.base_rtt, qp.largest_rtt).max(Span::ns(1))
    }

    /// The window at line rate.
    fn window(&self, qp: &QpInfo) -> Result<Bytes, ParamError> {
        let (default, path) = if self.is_paper() {
            (OfPath::Auto, qp.line_rate.bytes_covering(self.base(qp)))
        } else {
            (OfPath::Largest, qp.bdp())
        };
        let window = self.window.unwrap_or(default).pick(path.max(qp.mtu), qp.largest_bdp.max(qp.mtu));
        if window < qp.mtu {
            let message =
                format!("a window of {window} is less than a full packet of {} and never sends one", qp.mtu);
            return Err(ParamError::new("window", message));
        }
        Ok(window)
    }

    /// The preset's values with the user's overrides, for a queue pair.
    pub(super) fn settings(&self, qp: &QpInfo) -> Result<Settings, ParamError> {
        self.check()?;
        let paper = self.is_paper();
        let window = self.window(qp)?;
        let flows = f64::from(self.expected_flows.unwrap_or(100));
        // Section 3.3: W_AI = W_init · (1 - η) / N.
        let wai = window.0 as f64 * (1.0 - self.eta) / flows;
        let rmin = self.rmin.unwrap_or(if paper { Rate::mbps(100) } else { Rate::gbps(1) });
        Ok(Settings {
            eta: self.eta,
            max_stage: self.max_stage.unwrap_or(if paper { 5 } else { 0 }),
            wai: self.wai.map_or(wai, |given| given.0 as f64),
            // 10 Mbit/s per 25 Gbit/s.
            rai: self.rai.unwrap_or(qp.line_rate / 2_500),
            rmin: rmin.min(qp.line_rate),
            line: qp.line_rate,
            base: self.base(qp).as_secs(),
            window,
            variable_window: self.variable_window.unwrap_or(true),
            fast_react: self.fast_react,
            multi_rate: self.multi_rate,
            sample_feedback: self.sample_feedback,
        })
    }

    /// The meter that measures utilisation for a queue pair of these settings.
    pub(super) fn meter(&self, qp: &QpInfo, settings: &Settings) -> Meter {
        let paper = self.is_paper();
        // HPCC's simulator counts whole nanoseconds.
        let exact = || Reader::exact(if paper { 1 } else { 1_000 });
        let reader = self.int_multi.map_or_else(exact, Reader::coded);
        let line = settings.line;
        // The simulator divides queues by its window, the paper by B · T.
        let drain = if paper { line.0 as f64 * settings.base / 8.0 } else { settings.window.0 as f64 };
        Meter::new(reader, self.base(qp).0, line, drain)
    }

    fn check(&self) -> Result<(), ParamError> {
        self.check_preset()?;
        let refuse = |key, message: &str| Err(ParamError::new(key, message));
        if !(self.eta > 0.0 && self.eta <= 1.0) {
            return Err(ParamError::new(
                "eta",
                format!("{} is not a utilisation above 0 and up to 1", self.eta),
            ));
        }
        if self.expected_flows == Some(0) {
            return refuse("expected-flows", "0 is not allowed; the minimum is 1");
        }
        if self.rmin == Some(Rate(0)) {
            return refuse("rmin", "a rate of 0bps never sends");
        }
        let too_short = |base: &Span| *base < Span::ns(1);
        if let Some(base) = fixed(self.base_rtt).filter(too_short) {
            let message =
                format!("{base} is too short: utilisation is divided by it; the minimum is {}", Span::ns(1));
            return Err(ParamError::new("base-rtt", message));
        }
        if self.int_multi == Some(0) {
            return refuse("int-multi", "0 is not allowed; the minimum is 1");
        }
        Ok(())
    }

    /// Refuses parameters that the selected form does not use.
    fn check_preset(&self) -> Result<(), ParamError> {
        let refuse = |key, message| Err(ParamError::new(key, message));
        if !self.is_paper() {
            return match (self.wai, self.expected_flows) {
                (Some(_), _) => refuse("wai", "preset = \"simulator\" adds a rate; give rai"),
                (_, Some(_)) => {
                    refuse("expected-flows", "only preset = \"paper\" derives its step from them; give rai")
                }
                _ => Ok(()),
            };
        }
        if self.wai.is_some() && self.expected_flows.is_some() {
            return refuse("expected-flows", "wai is given, which replaces expected-flows");
        }
        if self.rai.is_some() {
            return refuse("rai", "preset = \"paper\" adds to its window; give wai or expected-flows");
        }
        for (key, given) in [
            ("variable-window", self.variable_window.is_some()),
            ("multi-rate", self.multi_rate),
            ("sample-feedback", self.sample_feedback),
        ] {
            if given {
                return refuse(key, "only preset = \"simulator\" has this choice");
            }
        }
        Ok(())
    }
}

fn fixed<T>(of: Option<OfPath<T>>) -> Option<T> {
    match of {
        Some(OfPath::Fixed(given)) => Some(given),
        _ => None,
    }
}
