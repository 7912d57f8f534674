//! Faults that begin after the end of the run.

use floodway_units::Time;

use super::Builder;
use crate::grammar::forms::Faults;

impl Builder<'_> {
    /// Warns of faults that begin when the run is over, since they have no effect.
    pub(super) fn warn_of_late_faults(&mut self, limit: Time) {
        let document = self.document;
        if let Some(faults) = document.defaults.slots().faults {
            self.late_faults(&["defaults"], faults, limit);
        }
        for of in &document.r#override {
            if let Some(faults) = of.all_slots().faults {
                self.late_faults(&["override", &of.name], faults, limit);
            }
        }
    }

    fn late_faults(&mut self, table: &[&str], faults: &Faults, limit: Time) {
        let first = |mut begins: Vec<Time>| {
            begins.retain(|from| *from >= limit);
            begins.into_iter().min()
        };
        let begins = [
            ("down", first(faults.down.0.iter().map(|period| period.from).collect())),
            ("switchover", first(faults.switchover.0.iter().map(|other| other.at).collect())),
            ("pause", first(faults.pause.0.iter().map(|pause| pause.from).collect())),
            ("bypass", first(faults.bypass.0.iter().map(|period| period.from).collect())),
        ];
        for (key, from) in begins {
            let Some(from) = from else { continue };
            let path = [table, &["faults", key]].concat();
            let why =
                format!("{from} is after the end of the run, at {limit} at the latest: it has no effect");
            self.warn_at(&path, why);
        }
    }
}
