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
