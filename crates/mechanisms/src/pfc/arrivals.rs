//! Bytes that arrive until a pause is obeyed, that must arrive between pauses, and that a long link carries.

use floodway_units::{Bytes, Span};

use super::PFC_FRAME;
use crate::slots::{LinkInfo, in_cells};

/// The fewest bytes of a buffer that must fill from a RESUME to the next PAUSE, so that the two frames are
/// sent in the time that the data take, whatever the sizes of frames: else they queue.
pub(super) fn least_climb(link: &LinkInfo) -> Bytes {
    let both = bytes_meanwhile(link, (PFC_FRAME + link.overhead) * 2);
    // A longer frame takes more time than both.
    let longest = link.mtu.0.min(both.0.saturating_sub(link.overhead.0));
    let below = |frame: u64| {
        let frames = both.0.div_ceil((frame + link.overhead.0).max(1)) - 1;
        in_cells(Bytes(frame), link.cell).0.saturating_mul(frames)
    };
    Bytes((link.least_frame.0..=longest).map(below).max().unwrap_or_default() + 1)
}

/// Most bytes of a buffer that are taken between a decision to pause and the first moment that obeys it.
pub(super) fn held_until_heeded(link: &LinkInfo, react: Span) -> Bytes {
    if link.has_cells() {
        let begun_before = bytes_until_begun(link, react);
        link.worst_frame().most_held(begun_before) + link.largest_held()
    } else {
        bytes_until_heeded(link, react)
    }
}

/// Most bytes that arrive between a decision to pause and the first moment that obeys it: both delays, the
/// reaction, the frame ahead of the pause, the one that the peer has begun, and the pause frame.
pub(crate) fn bytes_until_heeded(link: &LinkInfo, react: Span) -> Bytes {
    bytes_until_begun(link, react) + link.mtu + unseen(link)
}

/// The bytes of the link's time from a decision to pause to the first moment that obeys it: all frames that
/// begin in it arrive.
pub fn bytes_until_begun(link: &LinkInfo, react: Span) -> Bytes {
    let flight = link.delay + link.reverse_delay + react;
    let ahead = link.mtu + PFC_FRAME + unseen(link) * 2;
    link.rate.bytes_covering(flight) + bytes_meanwhile(link, ahead)
}

/// Preamble and gap, where they count: a buffer that counts bytes holds fewer than the wire has carried,
/// frame by frame, which is more than those of the pause and of the frame ahead of it. Cells have no such
/// slack.
fn unseen(link: &LinkInfo) -> Bytes {
    if link.has_cells() { link.overhead } else { Bytes::ZERO }
}

/// The share of its rate that PFC lets a long link carry, where the queue at its end is drained at `drain`
/// of the rate, from 0 to 1; threshold `xoff` and the bytes that the link carries in a `round_trip`.
pub fn utilisation(drain: f64, xoff: f64, round_trip: f64) -> f64 {
    // SWING, Eq. 1: t3, the time to empty the queue from the threshold, against 2D.
    if drain >= 1.0 || xoff >= drain * round_trip {
        return drain.min(1.0);
    }
    // SWING, Eq. 2: t1, the time to climb to the threshold.
    // SWING, Eq. 3: t2, the time to fall back to the threshold.
    // SWING, Eq. 4: t1 + 2D over t1 + t2 + 4D, the share of a cycle in which the link carries data.
    drain * (xoff + round_trip * (1.0 - drain)) / (drain * xoff + round_trip * (1.0 - drain * drain))
}

/// Bytes that the link carries while its other direction carries `reverse`.
pub(crate) fn bytes_meanwhile(link: &LinkInfo, reverse: Bytes) -> Bytes {
    let bytes = u128::from(reverse.0) * u128::from(link.rate.0);
    Bytes(u64::try_from(bytes.div_ceil(u128::from(link.reverse_rate.0))).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use floodway_units::Rate;

    use super::*;
    use crate::testing::link;

    /// Bytes of a buffer with which the frames of one size fill most of it in less time than two pauses take,
    /// and one more: counted frame by frame.
    fn counted(link: &LinkInfo) -> u64 {
        let pauses = u128::from(2 * (64 + link.overhead.0)) * u128::from(link.rate.0);
        let mut most = 0;
        for frame in link.least_frame.0..=link.mtu.0 {
            let time = u128::from(frame + link.overhead.0) * u128::from(link.reverse_rate.0);
            let cells = if link.cell.0 > 1 { frame.div_ceil(link.cell.0) * link.cell.0 } else { frame };
            let frames =
                (1..1_000u32).take_while(|frames| u128::from(*frames) * time < pauses).count() as u64;
            assert!(frames < 999, "a pause takes as long as a thousand frames");
            most = most.max(frames * cells);
        }
        most + 1
    }

    #[test]
    fn the_least_climb_is_what_counting_frames_of_every_size_finds() {
        let mut found = std::collections::BTreeSet::new();
        for (gbps, reverse_gbps) in [(100, 100), (100, 40), (100, 10), (25, 100), (3, 7), (7, 3)] {
            for (least_frame, overhead, cell) in [
                (64, 20, 0),
                (64, 20, 1),
                (49, 0, 1),
                (148, 20, 1),
                (64, 20, 96),
                (49, 0, 96),
                (64, 20, 254),
                (1_000, 20, 254),
                (64, 20, 4_096),
            ] {
                let (rate, reverse_rate) = (Rate::gbps(gbps), Rate::gbps(reverse_gbps));
                let (least_frame, overhead, cell) = (Bytes(least_frame), Bytes(overhead), Bytes(cell));
                let link = LinkInfo { rate, reverse_rate, least_frame, overhead, cell, ..link() };
                assert_eq!(least_climb(&link), Bytes(counted(&link)), "{link:?}");
                found.insert(counted(&link));
            }
        }
        assert!(found.len() > 20, "the links differ: {found:?}");
    }

    #[test]
    fn frames_that_take_no_byte_are_counted_as_one() {
        let bare = LinkInfo { least_frame: Bytes(0), overhead: Bytes(0), ..link() };
        // Of 1 byte, 127 fill less than the 128 bytes of two pauses.
        assert_eq!(least_climb(&bare), Bytes(128));
    }

    #[test]
    fn bytes_of_the_time_until_a_pause_is_obeyed_by_hand() {
        // 2 us there, 1 us back and 1 us of reaction at 100 Gbit/s carry 50 KB. The way back is busy with a
        // frame of 1500 bytes and a pause of 64 at 40 Gbit/s, in which 3910 bytes come in.
        let link = LinkInfo {
            reverse_rate: Rate::gbps(40),
            delay: Span::us(2),
            reverse_delay: Span::us(1),
            overhead: Bytes(20),
            ..link()
        };
        let react = Span::us(1);
        assert_eq!(bytes_until_begun(&link, react), Bytes(50_000 + 3_910));
        assert_eq!(bytes_until_heeded(&link, react), Bytes(50_000 + 3_910 + 1_500));
        assert_eq!(held_until_heeded(&link, react), Bytes(50_000 + 3_910 + 1_500));
        // In cells preambles and gaps count: 20 bytes of either frame take the time of 50.
        let cells = LinkInfo { cell: Bytes(100), ..link };
        assert_eq!(bytes_until_begun(&cells, react), Bytes(50_000 + 4_010));
        assert_eq!(bytes_until_heeded(&cells, react), Bytes(50_000 + 4_010 + 1_520));
        // At worst these are frames of 101 bytes, which take 121 on the wire and hold 200: 54,010 · 200 /
        // 121, and the frame that had begun holds 1500.
        assert_eq!(held_until_heeded(&cells, react), Bytes(89_273 + 1_500));
    }

    #[test]
    fn bytes_meanwhile_are_rounded_up() {
        let link = LinkInfo { rate: Rate::gbps(3), reverse_rate: Rate::gbps(7), ..link() };
        for (reverse, bytes) in [(0, 0), (1, 1), (2, 1), (3, 2), (7, 3), (8, 4)] {
            assert_eq!(bytes_meanwhile(&link, Bytes(reverse)), Bytes(bytes));
        }
    }
}
