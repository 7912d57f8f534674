//! RCC: the share of a period for harmful flows (section 3.4, eq. 3 to 6).

use floodway_units::cast::whole;
use floodway_units::{Bytes, Rate, Span, Time};

use super::sampler::MOST;
use crate::slots::Gate;

/// Gd = 1/2 of the largest degree's inverse: it takes a half at most.
// Section 3.4: Gd, with which Fmax · Gd = 1/2.
const CUT: f64 = 1.0 / (2.0 * MOST as f64);
/// Least and most bytes over which W is measured, and the longest time.
const LEAST: u64 = 16_000;
const MOST_BYTES: u64 = 64_000;
const LONGEST: Span = Span::us(50);
/// Wc grows by this part of W in a period.
const GROWTH: u64 = 16;

/// The window of a port and class.
#[derive(Clone, Debug)]
pub(super) struct Window {
    rate: Rate,
    /// A full packet: the minimum of Wc.
    floor: u64,
    phase: Phase,
}

#[derive(Clone, Debug)]
enum Phase {
    /// Until packets of all harmful flows have been sent once.
    Measuring {
        since: Time,
        /// The harmful flows seen so far, as a bitmap of their indices.
        seen: u16,
        harmful: u64,
        others: u64,
    },
    Limiting(Period),
}

/// Bytes as the link carries them.
#[derive(Clone, Copy, Debug)]
struct Period {
    /// W.
    whole: u64,
    /// Wc as it was measured, without restriction.
    free: u64,
    /// Wc.
    harmful: u64,
    start: Time,
    sent_harmful: u64,
    sent_others: u64,
}

/// The result of a packet's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Nothing,
    /// W is known: the harmful flows are limited from now on.
    Measured,
    /// None of them sent a packet during the measurement.
    NobodyHere,
}

impl Window {
    /// Measures W from now on.
    pub fn new(now: Time, rate: Rate, full: Bytes) -> Self {
        let phase = Phase::Measuring { since: now, seen: 0, harmful: 0, others: 0 };
        Window { rate, floor: full.0, phase }
    }

    /// A packet starts on the wire, of the harmful flow at index `place` among `flows` of them, or of another
    /// flow.
    pub fn on_sent(&mut self, now: Time, place: Option<usize>, wire: Bytes, flows: usize) -> Turn {
        match &mut self.phase {
            Phase::Measuring { since, seen, harmful, others } => {
                match place {
                    Some(place) => {
                        *seen |= 1 << place;
                        *harmful += wire.0;
                    }
                    None => *others += wire.0,
                }
                // Eq. 3: W = Wc + Wnc.
                let (whole, all) = (*harmful + *others, seen.count_ones() as usize == flows);
                // Section 3.4: W is measured until packets of all congestion flows were sent.
                let done = all && whole >= LEAST || whole >= MOST_BYTES || now.since(*since) >= LONGEST;
                match (done, *harmful) {
                    (false, _) => Turn::Nothing,
                    (true, 0) => Turn::NobodyHere,
                    (true, free) => {
                        self.phase = Phase::Limiting(Period {
                            whole,
                            free,
                            harmful: free.max(self.floor),
                            start: now,
                            sent_harmful: 0,
                            sent_others: 0,
                        });
                        Turn::Measured
                    }
                }
            }
            Phase::Limiting(period) => {
                if place.is_some() {
                    period.sent_harmful += wire.0;
                } else {
                    period.sent_others += wire.0;
                }
                Turn::Nothing
            }
        }
    }

    /// Are harmful flows limited? Not while their share is being measured.
    pub fn is_limiting(&self) -> bool {
        matches!(self.phase, Phase::Limiting(_))
    }

    /// Congestion at this degree takes a part of Wc, and gives it to the other flows.
    pub fn cut(&mut self, degree: u8) {
        if let Phase::Limiting(period) = &mut self.phase {
            // Eq. 4: the rate of congestion flows falls by the share Fb · Gd.
            // Eq. 5: Wc = Wc · (1 - Fb · Gd).
            let left = period.harmful as f64 * (1.0 - f64::from(degree) * CUT);
            period.harmful = whole(left).max(self.floor);
        }
    }

    /// Wc, while harmful flows are limited.
    #[cfg(test)]
    pub fn harmful_share(&self) -> Option<u64> {
        match &self.phase {
            Phase::Limiting(period) => Some(period.harmful),
            Phase::Measuring { .. } => None,
        }
    }

    /// Is it at its minimum?
    pub fn is_at_floor(&self) -> bool {
        matches!(&self.phase, Phase::Limiting(period) if period.harmful <= self.floor)
    }

    /// Other flows have become harmful flows that had this part of W: it is added to Wc.
    pub fn widen(&mut self, part: f64) {
        if let Phase::Limiting(period) = &mut self.phase {
            let more = whole(period.whole as f64 * part);
            period.free = (period.free + more).min(period.whole);
            period.harmful = (period.harmful + more).min(period.whole);
        }
    }

    /// Begins the periods that are due by `now`; while nothing is congested, Wc grows with each. Returns
    /// whether it has its unrestricted value again, so that the control ends.
    pub fn roll(&mut self, now: Time, calm: bool, harmful_wait: bool) -> bool {
        let rate = self.rate;
        let Phase::Limiting(period) = &mut self.phase else { return false };
        let lasts = rate.time_to_send(Bytes(period.whole)).0.max(1);
        let mut begun = now.since(period.start).0 / lasts;
        if begun > 0 {
            period.start += Span(begun * lasts);
        } else if period.sent_harmful + period.sent_others >= period.whole {
            (begun, period.start) = (1, now);
        } else {
            return false;
        }
        // What the last packet took beyond its part is taken off the next period; of the others', if a
        // harmful flow waited for it.
        // Eq. 6: Wnc = W - Wc.
        let others = period.whole.saturating_sub(period.harmful);
        let beyond = |sent: u64, part: u64| sent.saturating_sub(begun.saturating_mul(part));
        period.sent_harmful = beyond(period.sent_harmful, period.harmful);
        period.sent_others = if harmful_wait { beyond(period.sent_others, others) } else { 0 };
        if calm {
            period.harmful = period.harmful.saturating_add(begun.saturating_mul(period.whole / GROWTH));
        }
        // Section 3.4: without congestion the window ends.
        calm && period.harmful >= period.free
    }

    /// May a queue send: that of the harmful flows, or that of the others, while harmful flows wait?
    pub fn gate(&self, now: Time, of_harmful: bool, harmful_wait: bool) -> Gate {
        let Phase::Limiting(period) = &self.phase else { return Gate::Open };
        let end = self.period_end().unwrap_or(now);
        let spent = period.sent_harmful >= period.harmful;
        // Eq. 6: Wnc = W - Wc.
        let others = period.whole.saturating_sub(period.harmful);
        let closed = if of_harmful { spent } else { harmful_wait && !spent && period.sent_others >= others };
        // Section 3.4: flows that have sent their part wait for the end of the window.
        if closed && now < end { Gate::Until(end) } else { Gate::Open }
    }

    /// When the current period ends, as time of the port.
    pub fn period_end(&self) -> Option<Time> {
        match &self.phase {
            Phase::Measuring { .. } => None,
            Phase::Limiting(period) => Some(period.start + self.rate.time_to_send(Bytes(period.whole))),
        }
    }

    /// W and Wc in bytes.
    #[cfg(test)]
    fn sizes(&self) -> Option<(u64, u64)> {
        match &self.phase {
            Phase::Measuring { .. } => None,
            Phase::Limiting(period) => Some((period.whole, period.harmful)),
        }
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::Turns;

    use super::*;
    use crate::testing::us;

    const RATE: Rate = Rate::gbps(100);
    const PACKET: Bytes = Bytes(1_000);

    /// After `packets` of these flows in turn, at `us(0)`.
    fn measured(flows: &[u32], held: &[u32]) -> (Window, usize) {
        let mut window = Window::new(us(0), RATE, PACKET);
        let mut sent = 0;
        for &flow in flows.iter().cycle().take(1_000) {
            sent += 1;
            let place = held.iter().position(|of| *of == flow);
            if window.on_sent(us(0), place, PACKET, held.len()) == Turn::Measured {
                return (window, sent);
            }
        }
        panic!("a thousand packets are not enough to measure W")
    }

    #[test]
    fn the_window_is_what_was_sent_until_all_congestion_flows_were_seen() {
        // 8 of 16 packets; one of two is seen at the 20th packet only; another never.
        assert_eq!(measured(&[1, 2, 1, 3], &[1]).0.sizes(), Some((16_000, 8_000)));
        let mut late = vec![1; 19];
        late.push(2);
        let (window, sent) = measured(&late, &[1, 2]);
        assert_eq!((window.sizes(), sent), (Some((20_000, 20_000)), 20));
        let (window, sent) = measured(&[1, 3], &[1, 7]);
        assert_eq!((window.sizes(), sent), (Some((64_000, 32_000)), 64));
        // After 50 us it is enough.
        let mut window = Window::new(us(0), RATE, PACKET);
        assert_eq!(window.on_sent(us(0), None, PACKET, 1), Turn::Nothing);
        assert_eq!(window.on_sent(us(50), None, PACKET, 1), Turn::NobodyHere);
    }

    #[test]
    fn cuts_by_hand() {
        let (mut window, _) = measured(&[1, 2], &[1]);
        let mut cut = |degree| {
            window.cut(degree);
            window.sizes().expect("it is measured").1
        };
        // 8,000 (1 - 63/126); (1 - 21/126); nothing; down to a packet.
        assert_eq!([63, 21, 0, 63, 63].map(&mut cut), [4_000, 3_333, 3_333, 1_666, 1_000]);
    }

    #[test]
    fn it_is_at_the_floor_with_one_packet_left_and_widens_up_to_the_whole() {
        let (mut window, _) = measured(&[1, 2], &[1]);
        for at_floor in [false, false, false, true] {
            assert_eq!(window.is_at_floor(), at_floor);
            window.cut(MOST);
        }
        // A quarter of 16,000 more; then all of it.
        window.widen(0.25);
        assert_eq!((window.sizes(), window.is_at_floor()), (Some((16_000, 5_000)), false));
        window.widen(0.9);
        assert_eq!(window.sizes(), Some((16_000, 16_000)));
    }

    #[test]
    fn each_part_is_spent_to_the_byte_and_the_gate_opens_with_the_next_period() {
        let (mut window, _) = measured(&[1, 2], &[1]);
        let end = window.period_end().expect("it limits");
        for place in [Some(0), None] {
            let gate = |window: &Window, now| window.gate(now, place.is_some(), true);
            for _ in 0..8 {
                assert_eq!(gate(&window, us(0)), Gate::Open);
                // The others may go on where no harmful flow waits for its part.
                window.on_sent(us(0), place, PACKET, 1);
            }
            let others_are_held = place.is_some();
            assert_eq!(gate(&window, us(0)) == Gate::Until(end), others_are_held);
            assert_eq!(gate(&window, end), Gate::Open, "at its end");
        }
        // While harmful flows may still send, the others have theirs and no more.
        let (mut window, _) = measured(&[1, 2], &[1]);
        (0..8).for_each(|_| _ = window.on_sent(us(0), None, PACKET, 1));
        assert_eq!(window.gate(us(0), false, true), Gate::Until(end));
        assert_eq!(window.gate(us(0), false, false), Gate::Open, "no harmful flow waits");
    }

    #[test]
    fn no_cut_takes_more_than_a_half() {
        for degree in 0..=MOST {
            let (mut window, _) = measured(&[1], &[1]);
            window.cut(degree);
            let (whole, left) = window.sizes().expect("it is measured");
            assert!(left * 2 >= whole && left <= whole, "{degree}");
        }
    }

    /// The share of `rounds` periods that the harmful flow sends, where `others` says whether others wait
    /// too.
    fn share(degree: u8, others: bool) -> f64 {
        let (mut window, _) = measured(if others { &[1, 2] } else { &[1] }, &[1]);
        window.cut(degree);
        let turn = RATE.time_to_send(PACKET);
        let (mut now, mut sent) = (us(0), [0u64; 2]);
        let mut turns = Turns::at_most(1_000_000);
        while turns.go() && now < us(1_000) {
            window.roll(now, false, true);
            let may = |of_harmful| window.gate(now, of_harmful, true).is_open(now);
            let place = match (others && may(false), may(true)) {
                (true, _) => None,
                (false, true) => Some(0),
                (false, false) => {
                    now = window.period_end().expect("it limits");
                    continue;
                }
            };
            sent[usize::from(place.is_none())] += PACKET.0;
            window.on_sent(now, place, PACKET, 1);
            now += turn;
        }
        sent[0] as f64 / RATE.bytes_in(now.since(us(0))).0 as f64
    }

    #[test]
    fn with_harmful_flows_only_the_port_sends_at_their_rate_and_never_stops() {
        for degree in [0, 21, 42, 63] {
            let expected = 1.0 - f64::from(degree) / 126.0;
            assert!((share(degree, false) - expected).abs() < 0.01, "{degree}: {}", share(degree, false));
            // Beside others they had half.
            assert!((share(degree, true) - expected / 2.0).abs() < 0.01, "{degree}: {}", share(degree, true));
        }
    }

    #[test]
    fn it_grows_back_while_nothing_is_congested_and_is_then_over() {
        let (mut window, _) = measured(&[1, 2], &[1]);
        window.cut(63);
        let period = RATE.time_to_send(Bytes(16_000));
        assert!(!window.roll(us(0) + period, false, true));
        assert_eq!(window.sizes(), Some((16_000, 4_000)));
        // 1,000 a period: the fourth makes it whole.
        for (periods, over) in [(2, false), (4, false), (5, true)] {
            assert_eq!(window.roll(us(0) + Span(period.0 * periods), true, true), over, "{periods}");
        }
        assert_eq!(window.sizes(), Some((16_000, 8_000)));
    }
}
