//! Current and target rate, in whole bit/s: rmin <= Rc <= Rt <= the NIC's rate.

use floodway_units::cast::{saturated, whole};
use floodway_units::{Bytes, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an odd bit is rounded where Rc rises to the mean of Rc and Rt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "DcqcnMeans")]
pub enum Means {
    /// The mean is rounded up, so that Rt is reached. Source: floodway's choice.
    #[default]
    Up,
    /// Each half is rounded down, so that Rc stays a bit or two below Rt forever. Source: the HPCC simulator.
    Halves,
}

/// Rc and Rt of a queue pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    line: Rate,
    means: Means,
    /// Rc.
    pub(super) current: Rate,
    /// Rt.
    pub(super) target: Rate,
}

impl Rates {
    /// At line rate.
    pub(super) fn new(line: Rate, means: Means) -> Self {
        Rates { line, means, current: line, target: line }
    }

    /// Multiplies Rc by `factor`, rounded down, but not below `least`.
    pub(super) fn cut(&mut self, factor: f64, least: Rate) {
        // Eq. 1: Rc = Rc · (1 - α / 2).
        self.current = Rate(whole(self.current.0 as f64 * factor)).max(least);
    }

    /// Rt = Rc.
    pub(super) fn lower_target(&mut self) {
        // Eq. 1: Rt = Rc.
        self.target = self.current;
    }

    /// Rc = (Rc + Rt) / 2.
    pub(super) fn recover(&mut self) {
        // Eq. 3: Rc = (Rt + Rc) / 2.
        self.current = Rate(match self.means {
            Means::Up => (self.current + self.target).0.div_ceil(2),
            Means::Halves => self.current.0 / 2 + self.target.0 / 2,
        });
    }

    /// Raises Rt by `step` up to the NIC's rate; Rc follows.
    pub(super) fn raise(&mut self, step: Rate) {
        // Eq. 4: Rt = Rt + Rai, then Rc as in fast recovery.
        self.target = (self.target + step).min(self.line);
        self.recover();
    }

    /// Whether both rates are at line rate.
    pub(super) fn are_at_line(&self) -> bool {
        self.current == self.line
    }

    /// `window` times Rc over the NIC's rate: at least a byte, which allows one packet at a time.
    pub(super) fn share_of(&self, window: Bytes) -> Bytes {
        let share = u128::from(window.0) * u128::from(self.current.0) / u128::from(self.line.0);
        Bytes(saturated(share)).max(Bytes(1))
    }
}
