//! Bifrost: in each time slot the downstream end of a long link grants what the upstream may send, and counts
//! what may still arrive, so that it needs little more than one bandwidth-delay product (Yu et al.,
//! ICNP 2023).
//!
//! ```text
//!  upstream egress                                      downstream ingress
//!  [queue]-Sender===== F: granted, not yet arrived =====>Receiver-[ L ......... | H ]
//!             ^--- each slot T: pause for T - c/Rs ---------'
//! ```
//!
//! # What it does
//!
//! At the end of each slot the receiver computes the grant c = max(0, min(Rs·T, H - L - F)) for the slot that
//! begins at the upstream now. It sends a PFC frame that pauses for the rest, p = T - c/Rs (no frame if
//! p = 0). The upstream is an ordinary 802.1Qbb transmitter with timers.
//!
//! With H >= Delta + 2·Rs·T, Delta + Rs·T <= L + F <= H in every slot (Theorem 1): nothing is lost, and the
//! queue never runs dry while the upstream has data.
//!
//! # Why
//!
//! For links so long that `pfc` would need two bandwidth-delay products of buffer to lose neither packets nor
//! throughput: Bifrost also counts the bytes in flight, and needs little more than one. It has no distance
//! limit, changes nothing at the upstream, and costs at most one frame of 64 bytes per slot. Inside a
//! datacenter no slot fits between a switch's own delay and the link's: use `pfc` there.
//!
//! # Symbols
//!
//! | symbol (paper, section IV; appendix) | here |
//! |---|---|
//! | T | `slot` |
//! | Rs, D | the link's rate and one-way delay |
//! | RTT | from a decision to the arrival of the first byte that it controls |
//! | Delta, N | Rs · RTT; ceil(RTT / T) |
//! | L | bytes queued at the ingress, never counted in cells |
//! | F | virtual incoming bytes: those that earlier grants still allow to arrive within RTT + T |
//! | H | `level`, the target of L + F |
//! | r, c | bytes received in the slot that just ended, in frame bytes; the grant of a slot, in wire bytes |
//! | k | `leak-period` |
//! | p | the pause |
//!
//! # Sizing
//!
//! ```text
//! buffer = H + (k + N + 1) · MTU          H >= Delta + 2·Rs·T
//! Delta  = rate · (forward delay + reverse delay + react) + 2 MTU + 64
//! ```
//!
//! Delta is that of PFC's headroom: both delays, the reaction time, the pause frame, the frame ahead of it
//! and the one after it. Each outstanding grant can let through one frame more than granted, since a frame
//! that has started is finished. Where fibre jitters, MTU means MTU + Rs · jitter here and in the guard
//! below; where the reverse direction is slower, it also includes what arrives while a frame passes there.
//!
//! Where buffers are allocated in cells (`cell`), L and H count what the packets held took on the wire, as
//! grants do, so that cells change no grant. The buffer is larger by what frames of any size may occupy for
//! that: three times with frames of 64 bytes in cells of 254.
//!
//! Each time the link comes up again, the upstream starts open: Delta + Rs·T + (k + N + 1) MTU may arrive on
//! top of a full buffer.
//!
//! # Known differences
//!
//! - Section IV-D has a headroom of k MTU; N + 1 more are reserved for the grants' own frames.
//! - Line 13 of Algorithm 1 as printed raises the grant by the free space, and line 10 allows a negative
//!   grant, which loses count of bytes that may still arrive; here c, p and F are clamped. With that, the
//!   check every k slots (lines 11-13) changes nothing: c is 0 whenever L + F > H. So k only sizes the
//!   buffer.
//! - Theorem 1 needs H >= Delta + 2·Rs·T; the algorithm's header prints Delta + Rs·T.
//! - The testbed's H, "9.72 MB", is Delta + 3·Rs·T in MiB for slots of 5 us (section V has 10 us, for which
//!   it is 9.89); that of the simulations, "287 MB", is Delta + 2·Rs·T for slots of 10 us.
//! - Computing F from r (line 15) moves a leaked byte from F to L, so that L + F does not show it.
//!   `f-mode = "ledger"`, the default, keeps the grants instead: F is the sum of those not yet due, and leaks
//!   are paid back. `"measured"` is the printed form with its clamps, r in frame bytes: section V takes it
//!   from the MAC's count of received bytes, which has no preambles and gaps. Grants are in wire bytes.
//! - Line 15 adds up every difference between grants and r: leaks lower F, and what frames lack of wire bytes
//!   raises it. At an MTU of 4096 bytes both are about equal, and `"measured"` is as good as the ledger on
//!   the testbed's probes: mean 9 % lower than with PFC, p99 38 % (`floodway reproduce bifrost 9a`). At 1024
//!   bytes F is larger and queues are shorter, with a mean 45 % lower than with PFC. With r in wire bytes
//!   leaks alone would count, and the mean would be 29 % higher.
//! - RTT need not be a multiple of T: of the oldest grant, F includes only what the first RTT - (N - 1)·T of
//!   a slot can still carry. A slot's pause comes first, so that the rest of the grant has arrived.
//! - A grant is rounded down to what whole pause quanta leave of the slot, and is counted as rounded.
//! - Each pause also includes the reaction time, which the upstream's MAC subtracts from it. A pause of a
//!   whole slot is one MTU and one quantum longer, so that a late successor does not leave a gap in every
//!   slot of a stall; a slot without pause then needs a frame that ends it.
//! - One lossless class per link: with several, each would grant all of Rs.
//!
//! # References
//!
//! - Yu et al., "Bifrost: Extending RoCE for Long Distance Inter-DC Links", ICNP 2023, sections IV to VI and
//!   Algorithm 1; its online appendix has the proof of Theorem 1.

mod incoming;
mod receiver;

pub use crate::pfc::Sender;
pub use receiver::Receiver;

use floodway_units::{Bytes, Quanta, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pfc::{React, bytes_meanwhile, bytes_until_heeded};
use crate::slots::{FlowControl, LinkInfo, ParamError, PauseMode, Sizing};

/// A quantum of pause time: 512 bit times.
// IEEE 802.3, Annex 31B: the unit of pause times.
const QUANTUM: u64 = 64;
/// The switch itself takes about this long; a time slot must be longer.
// Section V: what a slot has to exceed.
const INTERNAL_DELAY: Span = Span::us(1);

/// Parameters of Bifrost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Bifrost")]
pub struct Params {
    /// T, the time between two grants: more than 1 us, less than the one-way delay, and at most the longest
    /// pause of one frame (83 us at 400G).
    /// Source: Bifrost, section V.
    pub slot: Span,
    /// H, the target of bytes held and in flight: a size of at least Delta + 2·Rs·T, or
    /// `"auto"` = Delta + 3·Rs·T, or what the port's static buffer has room for beside (k + N + 1) MTU, but
    /// never below that minimum.
    /// Source: Bifrost's testbed has Delta + 3·Rs·T; Theorem 1 needs Delta + 2·Rs·T.
    pub level: Sizing,
    /// How virtual incoming bytes are counted.
    /// Source: floodway's choice: the paper's own count does not include what leaks past a pause.
    pub f_mode: FMode,
    /// k: leaked bytes are checked every k slots, at least 1; the buffer reserves k MTU for them.
    /// Source: Bifrost, section VI.
    pub leak_period: u32,
    /// Lengthen each pause by the time of half an MTU, the mean remainder of the frame that the upstream has
    /// already started.
    /// Source: floodway's choice: the paper does not, and the ledger pays such bytes back.
    pub half_mtu: bool,
    /// Time from the arrival of a pause until the upstream stops: from 0 to less than a slot, or
    /// `"ieee-802.3"` for what that standard allows at the link's rate, or `"nvidia"` for what NVIDIA's
    /// headroom calculator counts. Delta grows with it.
    /// Source: floodway's choice: an ideal MAC; for real ones see `pfc`.
    pub react: React,
    /// How a pause ends: only `"timer"` is allowed. Default: `"timer"`, whatever the run's wire format is.
    /// Source: Bifrost, Algorithm 1: its frames carry a time, and nothing else ends a pause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<PauseMode>,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            slot: Span::us(10),
            level: Sizing::Auto,
            f_mode: FMode::Ledger,
            leak_period: 1,
            half_mtu: false,
            react: React::default(),
            pause: None,
        }
    }
}

/// How virtual incoming bytes (F) are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FMode {
    /// The sum of the grants that are not yet due: leaks and idle upstreams do not distort it.
    /// Source: Bifrost, section I, "a history of previous pause decisions", and IV-A.
    #[default]
    Ledger,
    /// F - r + c, clamped, with r in frame bytes. Source: Bifrost, Algorithm 1, line 15; section V, "the RX
    /// bytes from MAC".
    Measured,
}

/// The time slots of a link.
#[derive(Clone, Copy, Debug)]
struct TimeSlots {
    /// Rs·T: a whole time slot's grant.
    full: u64,
    /// Delta.
    delta: u64,
    /// N.
    count: u64,
}

impl TimeSlots {
    /// Delta + 2·Rs·T, the least H.
    fn least_level(self) -> Bytes {
        // Theorem 1: H is Delta + 2 · Rs · T at least.
        Bytes(self.delta.saturating_add(2 * self.full))
    }

    /// Delta + Rs·T: F while every grant is a whole time slot's.
    fn most_incoming(self) -> u64 {
        self.delta + self.full
    }

    /// Upper bound of the bytes in flight of the oldest grant, of which a part can still arrive.
    fn part(self) -> u64 {
        self.delta - (self.count - 1) * self.full
    }
}

/// Pause times as frames carry them, in bytes of the link.
#[derive(Clone, Copy, Debug)]
struct Pauses {
    /// Rs·T.
    full: u64,
    /// The MAC's reaction time, by which every pause is shortened.
    react: u64,
    /// Added to each pause: half an MTU, or nothing.
    extra: u64,
    /// Quanta added to a pause of a whole time slot.
    guard: u64,
}

impl Pauses {
    /// The largest grant up to `bytes` that whole quanta of pause leave of a time slot.
    fn whole_grant(self, bytes: u64) -> u64 {
        let pause = (self.full - bytes.min(self.full)).div_ceil(QUANTUM) * QUANTUM;
        self.full.saturating_sub(pause)
    }

    /// The quanta of the frame that leaves `grant` of a time slot; for a whole time slot, those that end the
    /// previous pause.
    fn quanta(self, grant: u64) -> u64 {
        // Algorithm 1, line 14: p = T - c / Rs, in bytes of the link.
        let pause = self.full - grant;
        let extra = if pause > 0 { self.extra } else { 0 };
        let guard = if grant == 0 { self.guard } else { 0 };
        (pause + extra + self.react).div_ceil(QUANTUM) + guard
    }

    /// Whether a frame with this many quanta pauses longer than its time slot.
    fn reaches_over(self, quanta: u64) -> bool {
        quanta * QUANTUM > self.full + self.react
    }
}

impl Params {
    fn time_slots(&self, link: &LinkInfo) -> TimeSlots {
        let full = link.rate.bytes_covering(self.slot).0.max(1);
        let delta = bytes_until_heeded(link, self.react.on(link)).0;
        TimeSlots { full, delta, count: delta.div_ceil(full) }
    }

    /// (k + N + 1)·MTU: what grants let through beyond their size.
    fn slack(&self, time_slots: TimeSlots, link: &LinkInfo) -> Bytes {
        // Section IV-D: headroom of k MTU for what leaks past pauses.
        let grants = u64::from(self.leak_period).saturating_add(time_slots.count).saturating_add(1);
        Bytes(grants.saturating_mul(leak(link)))
    }

    /// H on this link; never less than that minimum.
    fn level_on(&self, time_slots: TimeSlots, link: &LinkInfo) -> Bytes {
        let auto = || {
            let ample = time_slots.least_level().saturating_add(Bytes(time_slots.full));
            let buffer = link.worst_frame().wire_within(link.buffer);
            ample.min(buffer.saturating_sub(self.slack(time_slots, link)))
        };
        self.level.or_else(auto).max(time_slots.least_level())
    }

    fn pauses(&self, time_slots: TimeSlots, link: &LinkInfo) -> Result<Pauses, ParamError> {
        let pauses = Pauses {
            full: time_slots.full,
            react: link.rate.bytes_covering(self.react.on(link)).0,
            extra: if self.half_mtu { link.mtu.0.div_ceil(2) } else { 0 },
            guard: leak(link).div_ceil(QUANTUM) + 1,
        };
        let longest = pauses.quanta(0);
        // Section V: the field of a pause frame holds 65535 quanta.
        if longest > u64::from(Quanta::MAX.0) {
            let message = format!(
                "a pause for a slot of {} takes {longest} quanta at {} with its guard; a frame can carry at most {}",
                self.slot,
                link.rate,
                Quanta::MAX.0
            );
            return Err(ParamError::new("slot", message));
        }
        Ok(pauses)
    }

    fn check(&self, time_slots: TimeSlots, link: &LinkInfo) -> Result<(), ParamError> {
        let refuse = |key, message: String| Err(ParamError::new(key, message));
        if self.pause == Some(PauseMode::OnOff) {
            let why = "\"on-off\" cannot carry Bifrost: its frames carry the length of the pause, \
                       and nothing else ends a pause; allowed: \"timer\"";
            return refuse("pause", why.into());
        }
        let least = INTERNAL_DELAY.max(self.react.on(link));
        let delay = (link.delay + link.reverse_delay) / 2;
        // Section V: a slot is longer than the switch takes, and shorter than the delay of the link.
        if self.slot <= least || self.slot >= delay {
            let fits = if least < delay { "" } else { ": no slot fits, Bifrost is for longer links" };
            let why = format!(
                "a slot of {} does not lie between the {least} that switch and MAC take to react and the link's \
                 one-way delay of {delay}{fits}",
                self.slot
            );
            return refuse("slot", why);
        }
        if self.leak_period == 0 {
            return refuse("leak-period", "0 is not allowed; the minimum is 1".into());
        }
        if link.buffer == Bytes::MAX {
            let why = "it needs a dedicated buffer per port (buffer.static), not a shared pool";
            return refuse("level", why.into());
        }
        self.check_level(time_slots)
    }

    fn check_level(&self, time_slots: TimeSlots) -> Result<(), ParamError> {
        let least = time_slots.least_level();
        match self.level {
            Sizing::Fixed(level) if level < least => {
                let message = format!(
                    "{level} is {} short of Delta + 2 Rs T = {least}, with which nothing is lost and the link \
                     never idles (Delta = {}, Rs T = {})",
                    least - level,
                    Bytes(time_slots.delta),
                    Bytes(time_slots.full),
                );
                Err(ParamError::new("level", message))
            }
            _ => Ok(()),
        }
    }
}

/// A frame may have started when a pause arrives, and the pause may be later than the one before it: behind a
/// frame in the reverse direction, and by the jitter.
fn leak(link: &LinkInfo) -> u64 {
    let largest = link.mtu + if link.has_cells() { link.overhead } else { Bytes::ZERO };
    let frame = bytes_meanwhile(link, largest).max(largest);
    frame.0 + link.rate.bytes_covering(link.reverse_jitter).0
}

impl FlowControl for Params {
    type Sender = Sender;
    type Receiver = Receiver;

    fn build(&self, link: &LinkInfo) -> Result<(Sender, Receiver), ParamError> {
        self.react.check(link)?;
        let time_slots = self.time_slots(link);
        self.check(time_slots, link)?;
        let level = self.level_on(time_slots, link);
        let receiver = Receiver::new(self, time_slots, self.pauses(time_slots, link)?, level, link);
        Ok((Sender::with_timers(link.rate, self.react.on(link)), receiver))
    }

    /// H + (k + N + 1)·MTU, where H is Delta + 2·Rs·T unless more is given.
    fn min_buffer(&self, link: &LinkInfo) -> Bytes {
        let time_slots = self.time_slots(link);
        let level = self.level.or_else(|| Bytes::ZERO).max(time_slots.least_level());
        link.worst_frame().most_held(level.saturating_add(self.slack(time_slots, link)))
    }

    fn min_buffer_formula(&self) -> &'static str {
        match self.level {
            Sizing::Auto => "Delta + 2 Rs T + (k + N + 1) MTU",
            Sizing::Fixed(_) => "level + (k + N + 1) MTU",
        }
    }

    /// The level, which a larger buffer raises, and (k + N + 1)·MTU.
    fn lossless_size(&self, link: &LinkInfo) -> Bytes {
        let time_slots = self.time_slots(link);
        let bytes = self.level_on(time_slots, link).saturating_add(self.slack(time_slots, link));
        link.worst_frame().most_held(bytes)
    }

    /// What grants at a restart may let through beyond the level: all of a round trip and a time slot, with
    /// its frames; and the amount by which a larger buffer still raises the level.
    fn restart_size(&self, link: &LinkInfo) -> Bytes {
        let time_slots = self.time_slots(link);
        let raised = self.level_on(time_slots, &LinkInfo { buffer: Bytes::MAX, ..*link });
        let rises = raised.saturating_sub(self.level_on(time_slots, link));
        let bytes = Bytes(time_slots.most_incoming())
            .saturating_add(self.slack(time_slots, link))
            .saturating_add(rises);
        link.worst_frame().most_held(bytes)
    }

    fn may_overflow(&self, _link: &LinkInfo) -> Option<String> {
        let why = "bytes that leak past a pause are not seen by f-mode = \"measured\", and no size of buffer is sure to \
                   hold them; \"ledger\" pays them back";
        (self.f_mode == FMode::Measured).then(|| why.to_owned())
    }

    fn reaction(&self, link: &LinkInfo) -> Option<Span> {
        Some(self.react.on(link))
    }

    /// Only a timer ends a pause of Bifrost.
    fn pause_mode(&self, _run: PauseMode) -> PauseMode {
        PauseMode::Timer
    }
}

#[cfg(test)]
mod tests;
