//! The state machine of the paper (algorithm 1): a reference window, and a rate that paces it over T.

use floodway_units::cast::whole;
use floodway_units::{Bytes, Rate};

use super::State;
use super::meter::Meter;
use super::presets::Settings;
use crate::slots::{AckView, Allowance};

/// State of a queue pair. Windows are real numbers of bytes.
pub(super) type Machine = State<f64>;

impl Machine {
    pub(super) fn new(settings: Settings, meter: Meter) -> Self {
        let reference = settings.window.0 as f64;
        let allowance = Allowance { rate: settings.line, window: settings.window };
        State::begin(settings, meter, allowance, reference)
    }

    pub(super) fn on_ack(&mut self, ack: &AckView<'_>) {
        // Algorithm 1, lines 21 and 22: NewAck, is it beyond lastUpdateSeq?
        let full = ack.next > self.update_at;
        // Algorithm 1, lines 25 and 26: every other ACK sets the window, but not Wc.
        if (full || self.settings.fast_react) && self.meter.has_room_for(ack.int) {
            self.react(ack, full);
        }
        if full {
            // Algorithm 1, line 24: lastUpdateSeq = snd_nxt.
            self.update_at = ack.sent;
        }
    }

    /// `NewAck`: the window by this ACK's utilisation, and on a full update the reference.
    fn react(&mut self, ack: &AckView<'_>, full: bool) {
        let Some(u) = self.meter.measure(ack.int, false) else { return };
        // Algorithm 1, line 23: the window by what was measured.
        let (window, stage) = self.window_at(u);
        if full {
            // Algorithm 1, lines 14 and 15: a full update sets Wc, after a multiplicative step incStage to 0.
            // Algorithm 1, lines 18 and 19: after an additive step Wc, and incStage to one more.
            (self.reference, self.stage) = (window, stage);
            self.increases.add(u64::from(u < self.settings.eta));
        }
        self.set(window);
    }

    /// `ComputeWind`, with bounds that the paper omits.
    fn window_at(&self, u: f64) -> (f64, u32) {
        let Settings { eta, max_stage, wai, .. } = self.settings;
        // Algorithm 1, lines 11 and 12: ComputeWind, is U at η, or incStage at maxStage?
        let (window, stage) = if u >= eta || self.stage >= max_stage {
            // Algorithm 1, line 13: multiplicative, W = Wc / (U / η) + W_AI.
            // Eq. 3: the control law, from the window itself, which Eq. 4 replaces.
            // Eq. 4: the control law, from the reference window Wc.
            (self.reference / (u / eta) + wai, 0)
        } else {
            // Algorithm 1, lines 16 and 17: additive, W = Wc + W_AI.
            (self.reference + wai, self.stage + 1)
        };
        let most = self.settings.window.0 as f64;
        let least = (self.settings.rmin.0 as f64 * self.settings.base / 8.0).min(most);
        // Algorithm 1, line 20: W, within bounds.
        (window.max(least).min(most), stage)
    }

    /// R = W / T.
    fn set(&mut self, window: f64) {
        let Settings { base, rmin, line, .. } = self.settings;
        // Algorithm 1, line 27: R = W / T.
        let rate = Rate(whole(window * 8.0 / base)).max(rmin).min(line);
        self.rates_set.add(1);
        self.allowance = Allowance { rate, window: Bytes(whole(window)).max(Bytes(1)) };
    }
}
