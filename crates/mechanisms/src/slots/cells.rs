//! Buffers that are allocated in cells: what frames occupy there.

use floodway_units::Bytes;

use super::LinkInfo;

/// What `frame` bytes occupy in cells of a size; a cell of at most one byte counts bytes.
#[inline]
pub fn in_cells(frame: Bytes, cell: Bytes) -> Bytes {
    if cell <= Bytes(1) { frame } else { Bytes(frame.0.div_ceil(cell.0).saturating_mul(cell.0)) }
}

/// The most that frames occupy which begin while a link carries `wire` bytes, if they come in this order over
/// and over: the worst phase of the cycle. A frame of so many bytes takes `overhead` more on the wire.
pub fn cycle_held(frames: &[Bytes], cell: Bytes, overhead: Bytes, wire: Bytes) -> Bytes {
    let held: Vec<u64> = frames.iter().map(|&frame| in_cells(frame, cell).0).collect();
    let sent: Vec<u64> = frames.iter().map(|frame| frame.0 + overhead.0).collect();
    let (whole_held, whole_sent) = (held.iter().sum::<u64>(), sent.iter().sum::<u64>().max(1));
    let rounds = wire.0 / whole_sent;
    let most = worst_part(&held, &sent, wire.0 % whole_sent);
    Bytes(rounds.saturating_mul(whole_held).saturating_add(most))
}

/// The most that frames hold which begin in `left` bytes of a cycle, less than a whole one, whichever frame
/// is the first: a window that moves on by one frame after another, so that long cycles take no longer than
/// their frames are many.
fn worst_part(held: &[u64], sent: &[u64], left: u64) -> u64 {
    if left == 0 {
        return 0;
    }
    let (mut most, mut holds, mut takes, mut next) = (0, 0, 0, 0);
    for first in 0..held.len() {
        while takes < left {
            holds += held[next % held.len()];
            takes += sent[next % held.len()];
            next += 1;
        }
        most = most.max(holds);
        holds -= held[first];
        takes -= sent[first];
    }
    most
}

/// The frame of a link that occupies most of a buffer for its bytes on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorstFrame {
    /// Bytes of the buffer.
    held: u16,
    /// Bytes on the wire, preamble and gap included.
    wire: u16,
}

impl WorstFrame {
    /// The most bytes of a buffer that frames of so many bytes on the wire occupy, whatever their sizes.
    #[inline]
    pub fn most_held(self, wire: Bytes) -> Bytes {
        scaled(wire, self.held, self.wire)
    }

    /// The bytes on the wire whose frames never occupy more than so many bytes of a buffer.
    #[inline]
    pub fn wire_within(self, held: Bytes) -> Bytes {
        if self.held == self.wire {
            return held;
        }
        let wire = u128::from(held.0) * u128::from(self.wire) / u128::from(self.held);
        Bytes(u64::try_from(wire).unwrap_or(u64::MAX))
    }
}

impl LinkInfo {
    /// Does the buffer count whole cells?
    pub fn has_cells(&self) -> bool {
        self.cell > Bytes(1)
    }

    /// The most that one frame occupies.
    pub fn largest_held(&self) -> Bytes {
        in_cells(self.mtu, self.cell)
    }

    /// The frame that occupies most for its bytes on the wire. Where the buffer counts bytes, a frame counts
    /// as occupying those on the wire, though the buffer holds no preamble and no gap.
    pub fn worst_frame(&self) -> WorstFrame {
        if !self.has_cells() {
            return WorstFrame { held: 1, wire: 1 };
        }
        // Sizes at which a frame begins a cell with its last byte; of the others none is worse than the
        // smallest. Which of them is worst depends on the cell alone, so that it is the first or the last.
        let cell = self.cell.0;
        let (first, last) = (self.least_frame.0.div_ceil(cell), self.mtu.0.saturating_sub(1) / cell);
        let begins = |cells: u64| cells.saturating_mul(cell).saturating_add(1);
        let sizes = [self.least_frame.0, begins(first), begins(last), self.mtu.0];
        let allowed = sizes.into_iter().filter(|size| (self.least_frame.0..=self.mtu.0).contains(size));
        let frames = allowed.map(|size| self.frame(size));
        let share = |a: &WorstFrame, b: &WorstFrame| u32::from(a.held) * u32::from(b.wire);
        let worst = frames.max_by(|a, b| share(a, b).cmp(&share(b, a)));
        worst.unwrap_or_else(|| self.frame(self.mtu.0))
    }

    /// Frames have less than 16 KB, and cells at most 8 KiB.
    fn frame(&self, size: u64) -> WorstFrame {
        let of = |bytes: u64| u16::try_from(bytes).unwrap_or(u16::MAX);
        WorstFrame { held: of(in_cells(Bytes(size), self.cell).0), wire: of(size + self.overhead.0) }
    }
}

/// `of` · `times` / `by`, rounded up.
#[inline]
fn scaled(of: Bytes, times: u16, by: u16) -> Bytes {
    if times == by {
        return of;
    }
    let all = u128::from(of.0) * u128::from(times);
    Bytes(u64::try_from(all.div_ceil(u128::from(by))).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn link(cell: u64, least: u64, mtu: u64) -> LinkInfo {
        LinkInfo {
            cell: Bytes(cell),
            least_frame: Bytes(least),
            mtu: Bytes(mtu),
            overhead: Bytes(20),
            ..LinkInfo::example()
        }
    }

    #[test]
    fn frames_of_64_bytes_occupy_three_times_their_wire_bytes_in_cells_of_254() {
        // Dell Z9664F's rows: 254 / 84 = 3.024.
        assert_eq!(link(254, 64, 1082).worst_frame().most_held(Bytes(84_000)), Bytes(254_000));
    }

    #[test]
    fn a_frame_that_just_exceeds_a_cell_is_worse_than_the_smallest() {
        // In cells of 96: 64 bytes take 96 / 84, and 97 take 192 / 117.
        assert_eq!(link(96, 64, 1082).worst_frame().most_held(Bytes(117)), Bytes(192));
    }

    #[test]
    fn without_cells_a_buffer_holds_what_the_wire_carries() {
        assert_eq!(link(1, 64, 1082).worst_frame().most_held(Bytes(12_345)), Bytes(12_345));
    }

    #[test]
    fn a_mix_of_64_and_1082_bytes_is_that_of_the_dnx_rows() {
        // 254 + 5 cells of 254 for 64 + 1,082 bytes: 1.3298 without preamble and gap.
        let mix = [Bytes(64), Bytes(1082)];
        assert_eq!(cycle_held(&mix, Bytes(254), Bytes::ZERO, Bytes(1_146_000)), Bytes(1_524_000));
        // One byte more, and the larger one has begun as well.
        assert_eq!(cycle_held(&mix, Bytes(254), Bytes::ZERO, Bytes(1_146_001)), Bytes(1_525_270));
    }

    proptest! {
        /// No order of frames occupies more than the bound of all orders, and the cycle's own bound is met.
        #[test]
        fn no_order_of_frames_exceeds_the_bound(
            cell in 1u64..600,
            sizes in prop::collection::vec(64u64..1_500, 1..8),
            wire in 1u64..200_000,
            phase in 0usize..8,
        ) {
            let link = link(cell, 64, 1_500);
            let frames: Vec<Bytes> = sizes.iter().map(|&size| Bytes(size)).collect();
            let (mut sent, mut held, mut at) = (0, 0, phase % frames.len());
            while sent < wire {
                held += in_cells(frames[at], link.cell).0;
                sent += frames[at].0 + 20;
                at = (at + 1) % frames.len();
            }
            let bound = cycle_held(&frames, link.cell, Bytes(20), Bytes(wire));
            prop_assert!(held <= bound.0);
            prop_assert!(bound <= link.worst_frame().most_held(Bytes(wire)) + link.largest_held());
        }

        /// The window that moves finds what trying every first frame finds.
        #[test]
        fn the_worst_phase_is_that_of_all_first_frames(
            cell in 1u64..600,
            sizes in prop::collection::vec(64u64..1_500, 1..40),
            wire in 1u64..100_000,
        ) {
            let from = |first: usize| {
                let (mut sent, mut held, mut at) = (0, 0, first);
                while sent < wire {
                    held += in_cells(Bytes(sizes[at]), Bytes(cell)).0;
                    sent += sizes[at] + 20;
                    at = (at + 1) % sizes.len();
                }
                held
            };
            let frames: Vec<Bytes> = sizes.iter().map(|&size| Bytes(size)).collect();
            let most = (0..sizes.len()).map(from).max().expect("there is a frame");
            prop_assert_eq!(cycle_held(&frames, Bytes(cell), Bytes(20), Bytes(wire)), Bytes(most));
        }

        /// What is sent within the allowance fits into what it was computed from.
        #[test]
        fn what_is_allowed_fits(cell in 1u64..600, held in 1u64..1_000_000) {
            let link = link(cell, 64, 1_500);
            prop_assert!(link.worst_frame().most_held(link.worst_frame().wire_within(Bytes(held))).0 <= held);
        }
    }
}
