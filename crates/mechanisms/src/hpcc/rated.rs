//! The state machine of HPCC's simulator (mode 3): a reference rate, a window that follows it, and rates in
//! whole bit/s.

use floodway_units::cast::{saturated, whole};
use floodway_units::{Bytes, Rate};

use super::State;
use super::meter::{Hop, Meter};
use super::presets::Settings;
use crate::slots::{AckView, Allowance};

/// State of a queue pair.
pub(super) type Machine = State<Rate>;

impl Settings {
    /// The new rate from a reference at utilisation `u`, and the stage after it.
    fn step(&self, reference: Rate, stage: u32, u: f64) -> (Rate, u32) {
        let c = u / self.eta;
        // Algorithm 1, lines 12 to 19: ComputeWind for a rate in place of the window.
        // Eq. 4: the control law, from the reference rate.
        let (base, stage) = if c >= 1.0 || stage >= self.max_stage {
            (Rate(whole(reference.0 as f64 / c)), 0)
        } else {
            (reference, stage + 1)
        };
        ((base + self.rai).max(self.rmin).min(self.line), stage)
    }

    /// The window times `rate` over the NIC's rate, at least a byte.
    fn window_at(&self, rate: Rate) -> Bytes {
        if !self.variable_window {
            return self.window;
        }
        let share = u128::from(self.window.0) * u128::from(rate.0) / u128::from(self.line.0);
        Bytes(saturated(share)).max(Bytes(1))
    }
}

impl Machine {
    pub(super) fn new(settings: Settings, meter: Meter) -> Self {
        let reference = settings.line;
        let allowance = Allowance { rate: reference, window: settings.window };
        State::begin(settings, meter, allowance, reference)
    }

    pub(super) fn on_ack(&mut self, ack: &AckView<'_>) {
        // Algorithm 1, line 22: a full update, once a round trip.
        let full = ack.next > self.update_at;
        if !full && !self.settings.fast_react {
            return;
        }
        if self.update_at == 0 {
            self.update_at = ack.sent;
            self.meter.store(ack.int);
            return;
        }
        if self.meter.has_room_for(ack.int) {
            self.react(ack, full);
        }
        if full {
            // Algorithm 1, line 24: lastUpdateSeq = snd_nxt.
            self.update_at = self.update_at.max(ack.sent);
        }
    }

    fn react(&mut self, ack: &AckView<'_>, full: bool) {
        let skip_empty = self.settings.sample_feedback && !full;
        if self.settings.multi_rate {
            if self.meter.measure_each(ack.int, skip_empty) {
                self.take_least(ack.int.len(), full);
            }
        } else if let Some(u) = self.meter.measure(ack.int, skip_empty) {
            let (rate, stage) = self.settings.step(self.reference, self.stage, u);
            if full {
                (self.reference, self.stage) = (rate, stage);
                self.increases.add(u64::from(u < self.settings.eta));
            }
            self.set(rate);
        }
    }

    /// The smallest of the rates of the first `hops` hops; a full update makes those with a sample their
    /// references.
    fn take_least(&mut self, hops: usize, full: bool) {
        let settings = self.settings;
        let next = |hop: &mut Hop| {
            if !hop.sampled {
                return hop.reference;
            }
            let (rate, stage) = settings.step(hop.reference, hop.stage, hop.utilisation);
            if full {
                (hop.reference, hop.stage) = (rate, stage);
            }
            rate
        };
        let least = self.meter.hops.iter_mut().take(hops).map(next).fold(settings.line, Rate::min);
        let idle = self.meter.hops.iter().take(hops).all(|hop| hop.utilisation < settings.eta);
        self.increases.add(u64::from(full && idle));
        self.set(least);
    }

    fn set(&mut self, rate: Rate) {
        self.rates_set.add(1);
        self.allowance = Allowance { rate, window: self.settings.window_at(rate) };
    }
}
