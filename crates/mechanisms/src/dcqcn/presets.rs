//! Presets: published values, and the user's overrides.

use floodway_units::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CnpForm, Params, Timers, Window};
use crate::slots::ParamError;

/// A preset of published values, and the state machine that it belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "DcqcnPreset")]
pub enum Preset {
    /// The paper's state machine and values; what it does not print (`rhai`, `rmin`) is that of its authors'
    /// ns-3 model. Source: Zhu et al., SIGCOMM 2015, and that model.
    Paper,
    /// As `paper`, but alpha starts at 0.5. Source: TCD's simulator (`DCQCN-TCD`) with its `configburst.txt`.
    Tcd,
    /// The NICs' state machine as HPCC has it, by the timer alone, with the NICs' defaults; `byte-counter =
    /// "2097088B"` adds the counter that NICs also have. Source: NVIDIA's page of DCQCN parameters.
    Mellanox,
    /// The NICs' state machine with the values of HPCC's simulations: increments grow with the NIC's rate.
    /// Source: `dcqcn` of HPCC's `run.py`.
    #[default]
    Hpcc,
    /// The NICs' state machine with the periods of the paper: alpha and checks each 50 us, steps each 55 us;
    /// F and increments as in `hpcc`. Source: `dcqcn_paper` of HPCC's `run.py`, with which HPCC's figures
    /// compare.
    HpccPaper,
    /// The NICs' state machine with the values of HPCC's published configuration: steps each 900 us, fixed
    /// increments, a variable window. Source: `config.txt` of HPCC's simulator.
    HpccConfig,
    /// The NICs' state machine with the values of SWING's simulations, including their variable window.
    /// Source: SWING's configurations.
    Swing,
}

/// All values, as a state machine uses them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Settings {
    pub(super) g: f64,
    pub(super) initial_alpha: f64,
    pub(super) t_alpha: Span,
    pub(super) t_dec: Span,
    pub(super) t_inc: Span,
    pub(super) check_offset: Span,
    pub(super) byte_counter: Bytes,
    pub(super) f: u32,
    pub(super) rai: Rate,
    pub(super) rhai: Rate,
    pub(super) rmin: Rate,
    pub(super) clamp: bool,
    pub(super) min_decrease: f64,
    pub(super) rate_on_first_cnp: f64,
    pub(super) ticking: bool,
}

impl Settings {
    /// The factor of a cut at α.
    pub(super) fn factor(&self, alpha: f64) -> f64 {
        // Eq. 1: a cut takes α / 2 of the rate.
        (1.0 - alpha / 2.0).max(self.min_decrease)
    }
}

impl Preset {
    /// Minimum time between CNPs of a flow.
    pub(super) fn cnp_interval(self) -> Span {
        if self.cuts_at_each_cnp() { Span::us(50) } else { Span::us(4) }
    }

    /// Whether it has the paper's state machine.
    pub fn cuts_at_each_cnp(self) -> bool {
        matches!(self, Preset::Paper | Preset::Tcd)
    }

    fn window(self) -> Window {
        match self {
            Preset::Swing | Preset::HpccConfig => Window::VariableBdp,
            Preset::Paper | Preset::Tcd | Preset::Mellanox | Preset::Hpcc | Preset::HpccPaper => Window::None,
        }
    }

    /// The preset for a NIC of rate `line`. Sources: the paper; NVIDIA's page of DCQCN parameters; `dcqcn` of
    /// HPCC's `run.py`, `dcqcn_paper` there, its `config.txt`; SWING's configurations.
    fn settings(self, line: Rate) -> Settings {
        let mellanox = Settings {
            g: 5.0 / 1024.0,
            initial_alpha: 1.0,
            t_alpha: Span::us(1),
            t_dec: Span::us(4),
            t_inc: Span::us(300),
            check_offset: Span::ZERO,
            byte_counter: Bytes::MAX,
            f: 1,
            rai: Rate::mbps(5),
            rhai: Rate::mbps(50),
            rmin: Rate::mbps(1),
            clamp: false,
            min_decrease: 0.5,
            rate_on_first_cnp: 1.0,
            ticking: false,
        };
        // 5 and 50 Mbit/s per 25 Gbit/s.
        let hpcc =
            Settings { g: 1.0 / 256.0, rai: line / 5_000, rhai: line / 500, rmin: Rate::gbps(1), ..mellanox };
        match self {
            Preset::Mellanox => mellanox,
            // As its configurations write 5/1024.
            Preset::Swing => Settings { g: 0.004_882_8, ..mellanox },
            Preset::Hpcc => hpcc,
            Preset::HpccPaper => {
                Settings { t_alpha: Span::us(50), t_dec: Span::us(50), t_inc: Span::us(55), ..hpcc }
            }
            Preset::HpccConfig => Settings {
                t_inc: Span::us(900),
                rai: Rate::mbps(50),
                rhai: Rate::mbps(100),
                rmin: Rate::mbps(100),
                ..hpcc
            },
            Preset::Paper | Preset::Tcd => Settings {
                g: 1.0 / 256.0,
                initial_alpha: if self == Preset::Tcd { 0.5 } else { 1.0 },
                t_alpha: Span::us(55),
                t_inc: Span::us(55),
                byte_counter: Bytes::mb(10),
                f: 5,
                rai: Rate::mbps(40),
                rhai: Rate::mbps(200),
                rmin: Rate::mbps(100),
                clamp: true,
                ..mellanox
            },
        }
    }
}

impl Params {
    pub(super) fn window(&self) -> Window {
        self.window.unwrap_or(self.preset.window())
    }

    /// Minimum time between two CNPs.
    pub(super) fn interval(&self) -> Span {
        self.cnp_interval.unwrap_or(self.preset.cnp_interval())
    }

    /// The preset's values with the user's overrides, for a NIC of rate `line`.
    pub(super) fn settings(&self, line: Rate) -> Result<Settings, ParamError> {
        self.check()?;
        let row = self.preset.settings(line);
        Ok(Settings {
            g: self.g.unwrap_or(row.g),
            initial_alpha: self.initial_alpha.unwrap_or(row.initial_alpha),
            t_alpha: self.t_alpha.unwrap_or(row.t_alpha),
            t_dec: self.t_dec.unwrap_or(row.t_dec),
            t_inc: self.t_inc.unwrap_or(row.t_inc),
            check_offset: self.check_offset.unwrap_or(row.check_offset),
            byte_counter: self.byte_counter.unwrap_or(row.byte_counter),
            f: self.f.unwrap_or(row.f),
            rai: self.rai.unwrap_or(row.rai),
            rhai: self.rhai.unwrap_or(row.rhai),
            rmin: self.rmin.unwrap_or(row.rmin).min(line),
            clamp: self.clamp.unwrap_or(row.clamp),
            min_decrease: self.min_decrease.unwrap_or(row.min_decrease),
            rate_on_first_cnp: self.rate_on_first_cnp.unwrap_or(row.rate_on_first_cnp),
            ticking: self.timers == Some(Timers::Ticking),
        })
    }

    fn check(&self) -> Result<(), ParamError> {
        self.check_machine()?;
        for (key, value) in [("g", self.g), ("initial-alpha", self.initial_alpha)] {
            if let Some(value) = value.filter(|value| !(0.0..=1.0).contains(value)) {
                return Err(ParamError::new(key, format!("{value} is not a number from 0 to 1")));
            }
        }
        let factors = [("min-decrease", self.min_decrease), ("rate-on-first-cnp", self.rate_on_first_cnp)];
        for (key, value) in factors {
            if let Some(value) = value.filter(|&value| !(value > 0.0 && value <= 1.0)) {
                return Err(ParamError::new(key, format!("{value} is not a factor above 0 and up to 1")));
            }
        }
        for (key, period) in [("t-alpha", self.t_alpha), ("t-dec", self.t_dec), ("t-inc", self.t_inc)] {
            if period == Some(Span::ZERO) {
                return Err(ParamError::new(key, "0us is not allowed; write a time above 0, like \"55us\""));
            }
        }
        if self.byte_counter == Some(Bytes::ZERO) {
            return Err(ParamError::new("byte-counter", "0B is not allowed; the minimum is 1B"));
        }
        if self.rmin == Some(Rate(0)) {
            return Err(ParamError::new("rmin", "a rate of 0bps never sends"));
        }
        Ok(())
    }

    /// Refuses parameters that the selected state machine does not use.
    fn check_machine(&self) -> Result<(), ParamError> {
        let refuse = |key, message| Err(ParamError::new(key, message));
        if self.cnp == CnpForm::AckFlag && self.cnp_interval.is_some() && !self.preset.cuts_at_each_cnp() {
            return refuse(
                "cnp-interval",
                "the ACK of every marked packet carries the mark where cnp = \"ack-flag\"",
            );
        }
        if !self.preset.cuts_at_each_cnp() {
            return Ok(());
        }
        if self.t_dec.is_some() {
            return refuse(
                "t-dec",
                "the machine of \"paper\" and \"tcd\" cuts at each CNP and has no such period",
            );
        }
        if self.check_offset.is_some() {
            return refuse(
                "check-offset",
                "the machine of \"paper\" and \"tcd\" cuts at each CNP and makes no checks",
            );
        }
        if self.rate_on_first_cnp.is_some() {
            return refuse(
                "rate-on-first-cnp",
                "the machine of \"paper\" and \"tcd\" cuts at the first CNP as at any other",
            );
        }
        if self.timers.is_some() {
            return refuse(
                "timers",
                "the machine of \"paper\" and \"tcd\" has no periods from the first CNP on",
            );
        }
        Ok(())
    }
}
