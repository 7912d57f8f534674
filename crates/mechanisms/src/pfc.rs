//! Priority-based flow control (IEEE 802.1Qbb; 802.3 Annex 31B and 31D): the ingress of a switch pauses
//! one class of the port that feeds it, before its buffer overflows.
//!
//! ```text
//!  upstream egress                          downstream ingress
//!  [queue]-Sender=========== data ==========>Receiver-[ shared ....|XOFF| headroom ]
//!             ^------------ PAUSE, RESUME ------'
//! ```
//!
//! Symbols: XOFF = threshold = `fixed` + `alpha` · (free bytes of the pool), compared with the *shared*
//! bytes of one (ingress port, class); XON = XOFF - `resume-offset`; H = headroom, the bytes that may
//! still arrive after the decision to pause; q = `quanta`, a pause time in units of 512 bit times.
//!
//! What it does: a packet that finds the shared part at XOFF, or headroom in use, sends a PAUSE. Once
//! headroom is empty and the shared part has fallen to XON, or to nothing, a released packet sends a
//! RESUME (a PAUSE of no quanta). In `timer` mode a pause runs out by itself and is renewed while it has
//! to last; in `on-off` mode, that of the ns-3 models, it lasts until the RESUME.
//!
//! Sizing: H = rate · (delay there + delay back + reaction) + 2 MTU + 64: what is on the way at the
//! decision and until the pause has arrived, the frame ahead of the pause, the frame that the peer has
//! begun, and the pause frame itself. The packet that crosses XOFF may exceed it by MTU - 1, so that a
//! buffer of XOFF + MTU - 1 + H loses nothing. Where admission charges that packet to headroom
//! (`crossing = "headroom"`), headroom needs one MTU more and the threshold one less. With a shared pool
//! other ports may have lowered the threshold, or taken the pool's last bytes, before this one has paused
//! its upstream; then, too, the packet that causes the pause is in headroom, and `"auto"` adds an MTU.
//!
//! Differs from the source: the standard leaves thresholds, refresh and the watchdog to the maker.
//! Thresholds are tested on the arrival and on the release of a packet of this (port, class) only, not
//! when other ports change the pool (as in the ns-3 models). Where the way back is slower, the frame ahead of
//! the pause and the pause frame are counted by what arrives meanwhile.

mod receiver;
mod sender;
mod xoff;

pub use receiver::Receiver;
pub use sender::Sender;
pub use xoff::Xoff;

use floodway_units::{Bytes, Quanta, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{FlowControl, LinkInfo, ParamError, PauseMode, Sizing};

/// Bytes of a PFC frame (802.3 Annex 31D: the smallest frame).
const PFC_FRAME: Bytes = Bytes(64);

/// XOFF where neither the scenario nor a buffer's size says it (Mercury, small scale).
const XOFF: Bytes = Bytes::kb(320);

/// Parameters of priority-based flow control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Pfc")]
pub struct Params {
    /// XOFF: a size, `{ fixed, alpha }` with one part or both, or `"auto"` = the port's static buffer
    /// less headroom and MTU - 1. Default: `"auto"` with a buffer of the port's own whose size is given, else
    /// 320 KB (Mercury, small scale).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xoff: Option<Xoff>,
    /// XOFF - XON: resume this far below the threshold. Default: 2 MTU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_offset: Option<Bytes>,
    /// H: a size, or `"auto"` (the default) for the formula; with a shared pool one MTU more.
    pub headroom: Sizing,
    /// How long a pause lasts. Default: as the run's wire format says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<PauseMode>,
    /// Pause time that each PAUSE names, in 512 bit times (`timer` mode). Default: 65535, the longest.
    pub quanta: Quanta,
    /// A PAUSE is renewed when this fraction of its time has gone (`timer` mode), between 0 and 1.
    /// Default: 0.5.
    pub refresh: f64,
    /// The upstream stops this long after a PAUSE has arrived (802.1Qbb allows 394 quanta at 100G).
    /// Default: 0.
    pub react: Span,
    /// What makes a packet's arrival send a PAUSE.
    pub trigger: Trigger,
    /// Ends a pause that lasts too long. Default: off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watchdog: Option<Watchdog>,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            xoff: None,
            resume_offset: None,
            headroom: Sizing::Auto,
            pause: None,
            quanta: Quanta::MAX,
            refresh: 0.5,
            react: Span::ZERO,
            trigger: Trigger::Threshold,
            watchdog: None,
        }
    }
}

/// What makes a packet's arrival send a PAUSE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// The shared part has reached the threshold, or headroom is in use.
    #[default]
    Threshold,
    /// Headroom is in use (the static ports of SWING's simulator).
    Headroom,
}

/// Ends a pause that lasts too long, as a broken neighbour can cause; one per egress port and class.
///
/// It counts from the start of an unbroken pause (a refresh does not break it) and then gives the pause
/// up: the queue may send, and PAUSE frames are ignored. That ends with a RESUME, or when no PAUSE has
/// arrived for `restore`. In `on-off` mode nothing renews a pause, which lasts until a RESUME; so there
/// only a RESUME ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Watchdog {
    /// Longest pause that is borne. Default: 100 ms.
    pub after: Span,
    /// What becomes of the queue then.
    pub action: Action,
    /// Quiet time after which pauses are obeyed again. Default: as `after`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restore: Option<Span>,
}

impl Default for Watchdog {
    fn default() -> Self {
        Watchdog { after: Span::ms(100), action: Action::Drop, restore: None }
    }
}

/// What a watchdog does with the queue of a pause that it gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Discards what waits in it and what comes.
    Drop,
    /// Sends it.
    Ignore,
}

impl Params {
    /// XOFF - XON on this link.
    fn resume_offset(&self, link: &LinkInfo) -> Bytes {
        self.resume_offset.unwrap_or(link.mtu * 2)
    }

    /// The formula of H.
    fn after_decision(&self, link: &LinkInfo) -> Bytes {
        bytes_until_heeded(link, self.react)
    }

    /// The fixed part of the threshold, and alpha.
    fn threshold(&self, link: &LinkInfo) -> Result<(Bytes, f64), ParamError> {
        match self.xoff(link) {
            Xoff::Auto => self.auto_xoff(link).map(|fixed| (fixed, 0.0)),
            Xoff::At { alpha, .. } if !(alpha.is_finite() && alpha >= 0.0) => {
                Err(ParamError::new("xoff", format!("alpha = {alpha} is not a number from 0 up")))
            }
            Xoff::At { fixed, alpha } => Ok((fixed, alpha)),
        }
    }

    /// What is meant by XOFF on this link.
    fn xoff(&self, link: &LinkInfo) -> Xoff {
        let unsaid = if link.buffer == Bytes::MAX { Xoff::fixed(XOFF) } else { Xoff::Auto };
        self.xoff.unwrap_or(unsaid)
    }

    /// XOFF that fills the port's static buffer: size - H - (MTU - 1).
    fn auto_xoff(&self, link: &LinkInfo) -> Result<Bytes, ParamError> {
        let refuse = |message: String| Err(ParamError::new("xoff", message));
        if link.buffer == Bytes::MAX {
            return refuse("\"auto\" needs a buffer of the port's own (buffer.static)".into());
        }
        let least = self.buffer_for(link.mtu, link);
        if link.buffer < least {
            return refuse(format!(
                "\"auto\" does not fit: the buffer has {}, and {} are missing to the {least} that headroom \
                 ({}) and two frames less a byte need",
                link.buffer,
                least - link.buffer,
                self.headroom(link),
            ));
        }
        Ok(link.buffer - self.headroom(link) - link.mtu + Bytes(1))
    }

    /// XOFF + MTU - 1 + H.
    fn buffer_for(&self, xoff: Bytes, link: &LinkInfo) -> Bytes {
        let crossing = link.mtu.saturating_sub(Bytes(1));
        let headroom = self.headroom.or_else(|| self.after_decision(link));
        xoff.saturating_add(crossing).saturating_add(headroom)
    }

    /// When a PAUSE is renewed, from its being sent.
    fn refresh_after(&self, link: &LinkInfo) -> Result<Span, ParamError> {
        if !(self.refresh > 0.0 && self.refresh < 1.0) {
            let message = format!("{} is not a fraction between 0 and 1", self.refresh);
            return Err(ParamError::new("refresh", message));
        }
        let pause = self.quanta.span(link.rate);
        let after = Span((pause.0 as f64 * self.refresh) as u64);
        // The refresh may have to wait for one frame and is one itself.
        let on_its_way = link.rate.time_to_send(link.mtu * 2);
        if after == Span::ZERO || pause - after < on_its_way {
            return Err(ParamError::new(
                "quanta",
                format!("a pause of {} quanta ({pause}) ends before its refresh can arrive", self.quanta.0),
            ));
        }
        Ok(after)
    }

    fn check_watchdog(&self) -> Result<(), ParamError> {
        match self.watchdog {
            Some(Watchdog { after: Span::ZERO, .. } | Watchdog { restore: Some(Span::ZERO), .. }) => {
                Err(ParamError::new("watchdog", "its times must be longer than 0"))
            }
            _ => Ok(()),
        }
    }
}

/// Most bytes that arrive between a decision to pause and the first moment that obeys it: both delays, the
/// reaction, the frame ahead of the pause, the one that the peer has begun, and the pause frame.
pub(crate) fn bytes_until_heeded(link: &LinkInfo, react: Span) -> Bytes {
    let flight = link.delay + link.reverse_delay + react;
    link.rate.bytes_covering(flight) + bytes_meanwhile(link, link.mtu + PFC_FRAME) + link.mtu
}

/// Bytes that the link carries while its other direction carries so many.
pub(crate) fn bytes_meanwhile(link: &LinkInfo, reverse: Bytes) -> Bytes {
    let bytes = u128::from(reverse.0) * u128::from(link.rate.0);
    Bytes(u64::try_from(bytes.div_ceil(u128::from(link.reverse_rate.0))).unwrap_or(u64::MAX))
}

impl FlowControl for Params {
    type Sender = Sender;
    type Receiver = Receiver;

    fn build(&self, link: &LinkInfo) -> Result<(Sender, Receiver), ParamError> {
        self.check_watchdog()?;
        let mode = self.pause_mode(link.pause);
        let refresh_after = match mode {
            PauseMode::Timer => Some(self.refresh_after(link)?),
            PauseMode::OnOff => None,
        };
        Ok((Sender::new(self, mode, link), Receiver::new(self, refresh_after, link)?))
    }

    /// XOFF + MTU - 1 + H, with alpha's part at nothing; XOFF `"auto"` is one MTU at least.
    fn min_buffer(&self, link: &LinkInfo) -> Bytes {
        let xoff = match self.xoff {
            Some(Xoff::Auto) => link.mtu,
            Some(Xoff::At { fixed, .. }) => fixed,
            None => XOFF,
        };
        self.buffer_for(xoff, link)
    }

    fn min_buffer_formula(&self) -> &'static str {
        "XOFF + MTU - 1 + headroom"
    }

    fn headroom(&self, link: &LinkInfo) -> Bytes {
        let crossing = if link.buffer == Bytes::MAX { link.mtu } else { Bytes::ZERO };
        self.headroom.or_else(|| self.after_decision(link) + crossing)
    }

    fn pause_mode(&self, run: PauseMode) -> PauseMode {
        self.pause.unwrap_or(run)
    }
}

#[cfg(test)]
mod tests;
