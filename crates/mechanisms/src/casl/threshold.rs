//! Q1, learnt from the outcome of labels and from pauses.

use floodway_units::Bytes;
use floodway_units::cast::whole;

/// Parameters by which Q1 follows from the events of a period.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    /// Kmin and Kmax.
    pub bounds: (Bytes, Bytes),
    /// Share of misjudged labels above which Q1 is raised.
    pub misjudged: f64,
    /// The factors by which Q1 is raised and lowered.
    pub raise: f64,
    pub lower: f64,
    /// Whether Q1 is constant.
    pub fixed: bool,
}

/// Q1 of a port and class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threshold {
    law: Law,
    /// Q1.
    at: Bytes,
    /// In this period: flows labelled congested, labels taken back soon, and whether a PAUSE was sent.
    labelled: u32,
    misjudged: u32,
    paused: bool,
}

impl Threshold {
    pub fn new(law: Law, start: Bytes) -> Self {
        Threshold { law, at: start, labelled: 0, misjudged: 0, paused: false }
    }

    /// Q1.
    pub fn at(&self) -> Bytes {
        self.at
    }

    /// A flow was labelled congested.
    pub fn labelled(&mut self) {
        self.labelled += 1;
    }

    /// A label was taken back so soon that it was wrong.
    pub fn misjudged(&mut self) {
        self.misjudged += 1;
    }

    /// A PAUSE was sent.
    pub fn paused(&mut self) {
        self.paused = true;
    }

    /// Whether the period has had any event to learn from.
    pub fn has_news(&self) -> bool {
        self.misjudged > 0 || self.paused
    }

    /// The period is over.
    pub fn end_period(&mut self) {
        let Law { bounds: (least, most), misjudged, raise, lower, fixed } = self.law;
        // Labels of the previous period may prove wrong in this one, so wrong labels may outnumber new ones.
        let too_many = f64::from(self.misjudged) > misjudged * f64::from(self.labelled);
        let moved = |factor: f64| Bytes(whole(self.at.0 as f64 * factor));
        // Section 3.2: online learning of Q1.
        let next = match (fixed, too_many, self.paused) {
            (false, true, _) => moved(raise).min(most),
            (false, false, true) => moved(lower).max(least).max(Bytes(1)),
            (true, ..) | (false, false, false) => self.at,
        };
        *self = Threshold::new(self.law, next);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LAW: Law = Law {
        bounds: (Bytes::kb(100), Bytes::kb(400)),
        misjudged: 0.1,
        raise: 1.25,
        lower: 0.8,
        fixed: false,
    };

    /// Q1 after a period with this many labels, this many wrong ones, and possibly a PAUSE.
    fn after(law: Law, start: u64, labelled: u32, misjudged: u32, paused: bool) -> u64 {
        let mut threshold = Threshold::new(law, Bytes(start));
        (0..labelled).for_each(|_| threshold.labelled());
        (0..misjudged).for_each(|_| threshold.misjudged());
        if paused {
            threshold.paused();
        }
        threshold.end_period();
        assert!(!threshold.has_news());
        threshold.at().0
    }

    #[test]
    fn more_than_a_tenth_of_wrong_labels_raise_q1_by_a_quarter() {
        assert_eq!(after(LAW, 250_000, 20, 3, false), 312_500);
        assert_eq!(after(LAW, 250_000, 20, 2, false), 250_000, "a tenth is not more");
        assert_eq!(after(LAW, 250_000, 0, 1, false), 312_500, "it was made in the period before");
        assert_eq!(after(LAW, 350_000, 20, 3, false), 400_000, "Kmax");
    }

    #[test]
    fn a_pause_lowers_q1_by_a_fifth_unless_labels_were_wrong() {
        assert_eq!(after(LAW, 250_000, 20, 2, true), 200_000);
        assert_eq!(after(LAW, 250_000, 20, 3, true), 312_500);
        assert_eq!(after(LAW, 110_000, 0, 0, true), 100_000, "Kmin");
        let from_nothing = Law { bounds: (Bytes::ZERO, Bytes::kb(400)), ..LAW };
        assert_eq!(after(from_nothing, 1, 0, 0, true), 1, "Q1 is a length");
    }

    #[test]
    fn without_either_q1_stays_and_a_fixed_one_always_does() {
        assert_eq!(after(LAW, 250_000, 20, 0, false), 250_000);
        let fixed = Law { fixed: true, ..LAW };
        assert_eq!(after(fixed, 250_000, 20, 20, false), 250_000);
        assert_eq!(after(fixed, 250_000, 0, 0, true), 250_000);
    }

    proptest! {
        #[test]
        fn q1_stays_between_kmin_and_kmax(periods in prop::collection::vec((0u32..9, 0u32..9, any::<bool>()), 0..80)) {
            let mut at = 250_000;
            for (labelled, misjudged, paused) in periods {
                at = after(LAW, at, labelled, misjudged, paused);
                prop_assert!((100_000..=400_000).contains(&at));
            }
        }
    }
}
