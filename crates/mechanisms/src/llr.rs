//! Link-level retry: a frame that a link damages is sent again on that link, so that nothing is lost and
//! frames keep their order (Ultra Ethernet Specification 1.0.3, 5.1).
//!
//! ```text
//!  upstream egress                                        downstream ingress
//!  [queues]-Sender====== frames 0, 1, 2, ... =============>Receiver-[ in order ]
//!     [replay buffer]  <--------- `LLR_ACK`, `LLR_NACK` ----------'
//! ```
//!
//! # What it does
//!
//! Each frame of data, and each reply, has a number on its link. The sender keeps it in the replay buffer
//! until it is acknowledged. The receiver accepts frames in the order of their numbers. It acknowledges all
//! that it has accepted by one `LLR_ACK` for each 2,048 bytes on the wire. When a frame is damaged, or
//! another than the next one arrives, it sends one `LLR_NACK`, and discards all frames until the missing one
//! has arrived. The sender then goes back: it sends all frames of the replay buffer again from the missing
//! one on, before new ones. If neither arrives, it goes back when the replay timer expires. New frames wait
//! while the replay buffer is full.
//!
//! `LLR_ACK` and `LLR_NACK` are control ordered sets of 8 bytes, without preamble and gap. They go before all
//! frames, between two of them. One that is damaged has no effect. A frame that was accepted before and
//! arrives again is acknowledged at once.
//!
//! With `replay-count` the sender gives up after so many times in a row without progress: it flushes the
//! replay buffer, and begins anew behind its last frame (`LLR_INIT`), which it repeats until the receiver
//! acknowledges it. What the receiver had not accepted is lost then, and counts as damaged
//! (`drops_link_error`).
//!
//! # Why
//!
//! A damaged frame costs one round trip of the link, not of the network, and no transport sees it: go-back-N
//! would send a window again. Flow control that counts credit (`cbfc`) loses none. Without errors it costs 8
//! bytes for each 2,048 of the other direction, and memory of a round trip of the link at the sender.
//!
//! All that was sent within that round trip is sent again, of whatever flow. So where a link carries many
//! frames in a round trip, and damages more than one of them, transports that repeat single packets are
//! faster: a link of 400G and 2 km has 245 frames of an MTU of 4096 bytes in a round trip, and two flows of
//! 500 KB take 245 us with LLR where it damages 1 %, with `uet` alone 99 us, with go-back-N alone 1,023 us.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | R, R' | rates of the frames' direction and of the other one |
//! | D, D' | delays of both directions |
//! | W | the largest frame on the wire, with preamble and gap |
//! | S | `ack-spacing` |
//!
//! # Sizing
//!
//! ```text
//! replay timer  = D + D' + (3 W + S) / R + (2 W + 8) / R'
//! replay buffer = R · replay timer + W
//! ```
//!
//! The timer is the longest time until the answer to a frame: the frame itself, the spacing of
//! acknowledgements, a frame of the other direction that has begun, and a frame more of each. A smaller
//! replay buffer also loses nothing, and gives buffer / (R · round trip) of the rate. A pause does not stop
//! what is sent again: so the headroom of `pfc` holds the replay buffer, if that is more than what its own
//! formula has for a round trip.
//!
//! # Known differences
//!
//! - Link control frames (pauses, credit messages) have no number, are never sent again, and are lost where
//!   they are damaged.
//! - Numbers have 64 bits here. The 20 bits of the frames distinguish all frames in flight, since at most
//!   2^19 are outstanding.
//! - The receiver acknowledges when S bytes have arrived since the last acknowledgement, or would have:
//!   S / R after the first of them. Target spacings are in bytes; what holds where nothing follows is
//!   floodway's choice.
//! - An ordered set waits for the end of the frame that is being sent; the specification also lets it
//!   pre-empt that frame.
//! - Captures leave out ordered sets, and frames that are sent again.
//! - When a link goes down both ends forget all frames at once, and what had not been accepted is lost.
//!
//! # References
//!
//! - Ultra Ethernet Specification 1.0.3, section 5.1 (link-level retry).
//! - SAI proposal of Ultra Ethernet's management group for LLR (limits of outstanding frames and bytes,
//!   `REPLAY_TIMER_MAX`, `REPLAY_COUNT_MAX`, target spacing of control ordered sets).

mod receiver;
mod sender;

pub use receiver::Receiver;
pub use sender::Sender;

use floodway_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{LinkRetry, ParamError, RetryInfo, RetrySet};

/// The target spacings of acknowledgements.
// Section 5.1: 400 to 17,296 bytes.
const SPACINGS: std::ops::RangeInclusive<Bytes> = Bytes(400)..=Bytes(17_296);
/// The most outstanding frames: half of what numbers of 20 bits can tell apart.
// Section 5.1: frames are numbered with 20 bits.
const MOST_FRAMES: u32 = 1 << 19;

/// Parameters of link-level retry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Llr")]
pub struct Params {
    /// S, bytes on the wire from one acknowledgement to the next, from 400 to 17,296.
    /// Source: SAI's default of the target spacing of control ordered sets, 2,048.
    pub ack_spacing: Bytes,
    /// Most frames in the replay buffer, from 1 to 524,288. Default: 524,288, half of what numbers of 20 bits
    /// can tell apart.
    /// Source: SAI's `OUTSTANDING_FRAMES_MAX`; the default is floodway's choice.
    pub outstanding_frames: u32,
    /// Size of the replay buffer in bytes on the wire, at least a largest frame. Default: R · replay timer +
    /// W, with which the link never idles.
    /// Source: SAI's `OUTSTANDING_BYTES_MAX`; the default is floodway's choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outstanding_bytes: Option<Bytes>,
    /// Time without progress after which the sender goes back. Default: the longest time until the answer to
    /// a frame, which is also the shortest that is allowed.
    /// Source: SAI's `REPLAY_TIMER_MAX`; the default is floodway's choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay_timer: Option<Span>,
    /// After how many times in a row of going back without progress the sender flushes the replay buffer, at
    /// least 1. Default: never.
    /// Source: SAI's `REPLAY_COUNT_MAX`; the default is floodway's choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay_count: Option<u32>,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            ack_spacing: Bytes(2048),
            outstanding_frames: MOST_FRAMES,
            outstanding_bytes: None,
            replay_timer: None,
            replay_count: None,
        }
    }
}

impl Params {
    /// The longest time until the answer to a frame.
    fn answer(&self, link: &RetryInfo) -> Span {
        let there = link.rate.time_to_send(link.largest * 3 + self.ack_spacing);
        let back = link.reverse_rate.time_to_send(link.largest * 2 + RetrySet::WIRE);
        link.delay + link.reverse_delay + there + back
    }

    fn timer(&self, link: &RetryInfo) -> Span {
        self.replay_timer.unwrap_or_else(|| self.answer(link))
    }

    /// The replay buffer with which the link never idles.
    fn busy_buffer(&self, link: &RetryInfo) -> Bytes {
        link.rate.bytes_covering(self.answer(link)).saturating_add(link.largest)
    }

    fn buffer(&self, link: &RetryInfo) -> Bytes {
        self.outstanding_bytes.unwrap_or_else(|| self.busy_buffer(link))
    }

    fn check(&self, link: &RetryInfo) -> Result<(), ParamError> {
        let refuse = |key, message: String| Err(ParamError::new(key, message));
        if !SPACINGS.contains(&self.ack_spacing) {
            let (least, most) = (SPACINGS.start(), SPACINGS.end());
            return refuse("ack-spacing", format!("{} is not from {least} to {most}", self.ack_spacing));
        }
        if !(1..=MOST_FRAMES).contains(&self.outstanding_frames) {
            let message = format!("{} is not from 1 to {MOST_FRAMES}", self.outstanding_frames);
            return refuse("outstanding-frames", message);
        }
        if self.buffer(link) < link.largest {
            let message = format!(
                "{} has no room for the largest frame, {} on the wire",
                self.buffer(link),
                link.largest
            );
            return refuse("outstanding-bytes", message);
        }
        if self.timer(link) < self.answer(link) {
            let message = format!(
                "{} is too short: the answer to a frame may take {}, and the timer must be at least that",
                self.timer(link),
                self.answer(link)
            );
            return refuse("replay-timer", message);
        }
        if self.replay_count == Some(0) {
            return refuse("replay-count", "0 is not allowed; give at least 1, or leave it out".into());
        }
        Ok(())
    }
}

impl LinkRetry for Params {
    type Sender = Sender;
    type Receiver = Receiver;

    fn build(&self, link: &RetryInfo) -> Result<(Sender, Receiver), ParamError> {
        self.check(link)?;
        Ok((Sender::new(self, link), Receiver::new(self, link)))
    }

    fn replay_buffer(&self, link: &RetryInfo) -> Option<Bytes> {
        Some(self.buffer(link))
    }

    fn warning(&self, link: &RetryInfo) -> Option<String> {
        let (has, busy) = (self.buffer(link), self.busy_buffer(link));
        (has < busy).then(|| {
            format!("its replay buffer of {has} may stall the link, which needs {busy} for the full rate")
        })
    }
}

#[cfg(test)]
mod tests;
