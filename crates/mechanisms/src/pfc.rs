//! Priority-based flow control: the ingress of a switch pauses one class of the port that feeds it, before
//! its buffer overflows (IEEE 802.1Qbb; IEEE 802.3 Annexes 31B and 31D).
//!
//! ```text
//!  upstream egress                          downstream ingress
//!  [queue]-Sender=========== data ==========>Receiver-[ shared ....|XOFF| headroom ]
//!             ^------------ PAUSE, RESUME ------'
//! ```
//!
//! # What it does
//!
//! A packet that arrives while the shared part is at XOFF, or while headroom is in use, causes a PAUSE. Once
//! headroom is empty and the shared part has fallen to XON, or to zero, the release of a packet causes a
//! RESUME (a PAUSE of zero quanta). The upstream finishes the frame that it has begun; only then does the
//! class stop.
//!
//! Of what XOFF is a threshold:
//!
//! | `xoff` | name | bytes that are compared with it |
//! |---|---|---|
//! | `"320KB"` | static, per ingress | the shared part of the (ingress port, class) |
//! | `{ alpha = 0.125 }` | dynamic, alpha 1/8 | the same, with a threshold of 1/8 of the pool's free bytes |
//! | `{ fixed = "16KB", alpha = 0.125 }` | both | the same, with the sum |
//! | `{ total = "320KB" }` | whole switch | all that the switch holds |
//! | `"auto"`, shared pool | dynamic, alpha 1/4 | the shared part of the (ingress port, class) |
//! | `"auto"`, own buffer | its size - H - MTU + 1 | the same |
//!
//! In `timer` mode a pause expires by itself and is refreshed as long as it is needed: at 65535 quanta it
//! lasts 335 us at 100G and 84 us at 400G. With `renewal = "arrivals"` arriving packets refresh it instead of
//! a timer. In `on-off` mode, that of the ns-3 models, it lasts until the RESUME.
//!
//! # Why
//!
//! Ethernet switches and NICs implement it: choose it inside a datacenter, and as the baseline of
//! comparisons. It pauses a class of a port, not the flow that causes the congestion: victim flows wait with
//! harmful ones (head-of-line blocking), pauses spread upstream (congestion trees), and a cycle of pauses may
//! never end (deadlock). On a long link the queue is refilled only a round trip after a RESUME, so that a
//! port needs two bandwidth-delay products to lose neither packets nor throughput; `bifrost` needs little
//! more than one.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | XOFF | `fixed` + `alpha` · (free bytes of the pool), for the *shared* bytes of one (ingress port, class) |
//! | XON | the greater of `xon` and XOFF - `resume-offset` |
//! | H | `headroom`: the bytes that may still arrive after the decision to pause |
//! | q | `quanta`: a pause time in units of 512 bit times |
//!
//! # Sizing
//!
//! ```text
//! H      = rate · (forward delay + reverse delay + react + interface-delay) + 2 MTU + 64
//! buffer = XOFF + MTU - 1 + H
//! ```
//!
//! H is the sum of the bytes on the link at the decision and until the pause has arrived, the frame ahead of
//! the pause, the frame that the peer has begun, and the pause frame itself (64 bytes). The packet that
//! crosses XOFF may exceed it by MTU - 1, so that a buffer of XOFF + MTU - 1 + H loses nothing. MTU is the
//! size of the largest frame in buffers.
//!
//! Where buffers are allocated in cells (`cell`), a byte on the wire may take more than one of the buffer.
//! MTU is then in whole cells, and the bytes of the link's time, with preambles and gaps, count as often as
//! the worst size of frame makes them: 254 / 84 times for frames of 64 bytes in cells of 254.
//!
//! ```text
//! time = forward delay + reverse delay + react + interface-delay
//! H    = (rate · time + MTU + 64 + 40) · cells / wire + MTU in cells
//! ```
//!
//! - Where only headroom in use causes pauses (`trigger = "headroom"`), the packet that causes the pause is
//!   in headroom, too.
//! - A pause that is shorter than a frame stops nothing, since the upstream finishes the frame that it has
//!   begun. One packet that leaves can end it where `resume-offset` is no more than a frame; `floodway check`
//!   warns then.
//! - Pauses must not queue: from a RESUME to the next PAUSE the data must take the time of these frames, 168
//!   bytes on the wire. So XOFF - XON, or XOFF if that is less, has to exceed what a frame of 147 bytes
//!   occupies: 148 bytes, or a cell and a byte (two cells and a byte with the frames of an ns-3 model that
//!   may be shorter than 64 bytes). `"auto"` sees to it. Beside a pool whose last bytes are taken, XOFF may
//!   be less, and headroom is enough for frames of at least 148 bytes.
//! - Real MACs take time to obey a pause: `react = "ieee-802.3"` is what the standard allows at the link's
//!   rate, `"nvidia"` what NVIDIA's headroom calculator counts: at 10G 67 quanta where the standard has 60.
//!   By default it is 0, as in the ns-3 models, and `floodway check` reports that.
//! - The port's own interface takes time as well, to send the pause and to receive data: `interface-delay =
//!   "ieee-802.3"` is the most that an interface may take, 122,880 bit times at 100G. By default it is 0.
//! - With `xoff = { total }` each ingress is judged when its own packets come and go. The ingress at which a
//!   packet arrives while the switch holds XOFF is paused, one that sends nothing is not; an ingress that
//!   holds nothing of its own resumes, however much others hold. So each has to have its headroom, and a
//!   pool, or its own buffer, room for XOFF beside it.
//! - With a link retry (`link-retry = "llr"`) H is at least the replay buffer: what is sent again arrives
//!   whatever is paused.
//! - Each time the link comes up again, both halves restart, and H may arrive once more in addition to a full
//!   buffer.
//! - Where admission charges the crossing packet to headroom (`crossing = "headroom"`), headroom needs one
//!   MTU more and the threshold one less.
//! - With a shared pool other ports may lower the threshold, or take the pool's last bytes, before this one
//!   has paused its upstream; then, too, the packet that causes the pause is in headroom, and `"auto"` adds
//!   an MTU.
//! - A threshold of less than eight full packets pauses where packets of several ports meet by chance. If XON
//!   is also less than what the link carries in a round trip and `react`, the queue runs empty before data
//!   arrive again, and each of these pauses costs throughput: `floodway check` warns then.
//! - To keep the link busy as well, the queue must outlast a round trip: XOFF of one bandwidth-delay product.
//!   With less, a link that is drained at a share a of its rate carries
//!   a (XOFF + (1 - a) BDP) / (a XOFF + (1 - a^2) BDP) of it (SWING, Eq. 4), a / (1 + a) with the least XOFF.
//!
//! # Known differences
//!
//! - The standard leaves thresholds, refresh and the watchdog to the vendor: each parameter names its source.
//! - The watchdog is SONiC's, by the pauses alone: it does not ask whether packets wait. What is dropped is
//!   what goes to the paused queue; SONiC drops what arrives at the port in that class as well. Its third
//!   action, `alert`, changes nothing that is simulated.
//! - Thresholds are tested only on the arrival and on the release of a packet of this (port, class), not when
//!   other ports change the pool (as in the ns-3 models).
//! - Where the reverse direction is slower, the frame ahead of the pause and the pause frame count as the
//!   bytes that arrive while they are sent.
//!
//! # References
//!
//! - IEEE Std 802.1Qbb-2011, "Priority-based Flow Control", clause 36; IEEE Std 802.3, Annexes 31B and 31D.
//! - SONiC, "PFC Watchdog Design", `pfcwd` of sonic-utilities, `pfc_restore.lua` of sonic-swss (the
//!   watchdog).
//! - Guo et al., "RDMA over Commodity Ethernet at Scale", SIGCOMM 2016 (pause storms, watchdogs, deadlock).
//! - Chen et al., "Swing: Providing Long-Range Lossless RDMA via PFC-Relay", IEEE TPDS 34(1), 2023, equations
//!   1 to 4 (long links).

mod arrivals;
mod headroom;
mod react;
mod receiver;
mod sender;
mod trigger;
mod warnings;
mod watchdog;
mod xoff;

pub(crate) use arrivals::{bytes_meanwhile, bytes_until_heeded};
pub use arrivals::{bytes_until_begun, utilisation};
pub use headroom::Headroom;
pub use react::{InterfaceDelay, React, interface_bits};
pub use receiver::Receiver;
pub use sender::Sender;
pub use trigger::{Renewal, Trigger};
pub use watchdog::{Action, Watchdog};
pub use xoff::{Per, Xoff};

use floodway_units::cast::whole;
use floodway_units::{Bytes, Quanta, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{FlowControl, LinkInfo, ParamError, PauseMode, SwitchShare};
use arrivals::{held_until_heeded, least_climb};
use receiver::Pauses;

/// Bytes of a PFC frame.
// IEEE 802.3, Annex 31D: the smallest frame.
const PFC_FRAME: Bytes = Bytes(64);

/// XOFF of `"auto"` beside a shared pool: this share of its free bytes.
// SWING, Section 6.1: alpha of its pool, which SONiC's rows for Tomahawk 3 have, too (dynamic_th = -2).
const AUTO_ALPHA: f64 = 0.25;

/// XOFF where neither the scenario nor a buffer's size gives it (Mercury, small scale).
const XOFF: Bytes = Bytes::kb(320);

/// Parameters of priority-based flow control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Pfc")]
pub struct Params {
    /// XOFF, the bytes of one (ingress port, class) below headroom at which it pauses its upstream: a size,
    /// `{ fixed, alpha }` with one part or both, `{ total }` for all bytes of the switch, or `"auto"`: beside
    /// a shared pool a quarter of its free bytes; of a buffer of the port's own what it leaves next to
    /// headroom and MTU - 1, which is one packet where the buffer's size is `"auto"`, too. Default: `"auto"`
    /// with a buffer of the port's own whose size is given, else 320 KB.
    /// Source: IEEE 802.1Qbb leaves it open; Mercury's small scale has 320 KB, and a port that is sized by
    /// hand is filled (floodway's choice); alpha 1/4 is SWING's, and that of SONiC's rows for Tomahawk 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xoff: Option<Xoff>,
    /// XOFF - XON: resume this far below the threshold, in bytes, at least 0. Default: 2 MTU; with `xon`
    /// alone none, so that only `xon` counts.
    /// Source: IEEE 802.1Qbb leaves it open; floodway's choice, as Mercury's 2 KB and HPCC's 3 KiB: at 0, as
    /// SWING and Bifrost have it, each packet at the crossing sends a PAUSE and a RESUME.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_offset: Option<Bytes>,
    /// XON, the bytes below headroom at which the class resumes, at most a fixed XOFF; beside `resume-offset`
    /// the greater of both counts: XON is max(`xon`, XOFF - `resume-offset`). Default: none.
    /// Source: OCP's SAI, `SAI_BUFFER_PROFILE_ATTR_XON_TH` and `..._XON_OFFSET_TH`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xon: Option<Bytes>,
    /// H, room for the bytes that arrive after the decision to pause: a size; `"auto"` for the formula, with
    /// a shared pool one MTU more; or `{ delays }`.
    /// Source: what IEEE 802.1Qbb lets arrive, term by term (see Sizing).
    pub headroom: Headroom,
    /// How long a pause lasts. Default: as the run's wire format says, `"timer"` with `ethernet` and
    /// `"on-off"` with `hpcc-ns3` and `swing-ns3`.
    /// Source: IEEE 802.1Qbb (`timer`); the HPCC and SWING simulators (`on-off`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<PauseMode>,
    /// Pause time of each PAUSE, in 512 bit times, from 1 to 65535 (`timer` mode). It must be long enough for
    /// its refresh to arrive.
    /// Source: IEEE 802.1Qbb, the most that the field of 16 bits holds.
    pub quanta: Quanta,
    /// How long each PAUSE lasts, in place of `quanta` (`timer` mode), above 0 and up to the time of 65535
    /// quanta; the frame carries it in whole quanta, rounded up. Default: the time of `quanta`.
    /// Source: ConWeave's simulator, `PAUSE_TIME`, which has 5 us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause_time: Option<Span>,
    /// What refreshes a pause that must last (`timer` mode).
    /// Source: IEEE 802.1Qbb leaves it open; floodway's choice: what renews it in time.
    pub renewal: Renewal,
    /// Fraction of a PAUSE's time after which it is refreshed (`timer` mode, `renewal = "timer"`), between 0
    /// and 1.
    /// Source: IEEE 802.1Qbb leaves it open; floodway's choice: half is usual.
    pub refresh: f64,
    /// The upstream stops this long after a PAUSE has arrived: a time of at least 0, or `"ieee-802.3"` for
    /// the time that it allows at the link's rate (10G 60 quanta, 25G 80, 40G 118, 50G 147, 100G 394, 200G
    /// 453, 400G and 800G 905), or `"nvidia"` for what NVIDIA's headroom calculator counts (10G 67 quanta,
    /// the others as IEEE 802.3). Headroom grows with it. Source: floodway's choice: an ideal MAC. Real ones:
    /// IEEE 802.3, 31B.3.7, 30,720 bit times at 10G, 2.02 us at 100G and 1.16 us at 400G; NVIDIA's
    /// `buffer_headroom_mellanox.lua` in SONiC.
    pub react: React,
    /// Delay of the port's own interface, of the pause on its way out and of data on their way in: a time of
    /// at least 0, or `"ieee-802.3"` for the most at the link's rate, in bit times (10G 8192, 25G 6144, 40G
    /// 24576, 100G 122880; 50G, 200G, 400G and 800G as much as `react`). Headroom grows with it, and pauses
    /// take so much longer to be obeyed. Source: floodway's choice: an ideal interface. Real ones: IEEE
    /// 802.1Qbb, Annex O, with the values that Cisco quotes.
    pub interface_delay: InterfaceDelay,
    /// What makes a packet's arrival send a PAUSE.
    /// Source: the HPCC simulator's `switch-mmu.cc`, which asks for either condition.
    pub trigger: Trigger,
    /// Ends a pause that lasts too long. Default: off.
    /// Source: SONiC's PFC watchdog; IEEE 802.1Qbb defines none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watchdog: Option<Watchdog>,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            xoff: None,
            resume_offset: None,
            xon: None,
            headroom: Headroom::Auto,
            pause: None,
            quanta: Quanta::MAX,
            pause_time: None,
            renewal: Renewal::Timer,
            refresh: 0.5,
            react: React::default(),
            interface_delay: InterfaceDelay::default(),
            trigger: Trigger::Threshold,
            watchdog: None,
        }
    }
}

/// Why pauses may stop nothing, if `what` sets thresholds of pause and resume `given` apart rather than
/// `least`.
pub(crate) fn brief_pauses(what: &str, given: Bytes, least: Bytes) -> Option<String> {
    (given < least).then(|| {
        format!(
            "{what} is {given}: a pause may be shorter than a frame, and stops nothing then, since its upstream finishes the \
             frame that it has begun; at least {least} avoid it"
        )
    })
}

impl Params {
    /// How far below the threshold a class resumes on this link, if it does not at `xon`.
    fn resume_offset(&self, link: &LinkInfo) -> Bytes {
        let usual = if self.xon.is_some() { Bytes::MAX } else { link.largest_held() * 2 };
        self.resume_offset.unwrap_or(usual)
    }

    /// From a PAUSE's leaving the switch to the first moment that obeys it, beside the link's delay.
    fn obeyed_after(&self, link: &LinkInfo) -> Span {
        self.react.on(link) + self.interface_delay.on(link)
    }

    /// A port that resumes above its threshold would send a RESUME with each packet.
    fn check_xon(&self, link: &LinkInfo) -> Result<(), ParamError> {
        let (fixed, alpha) = self.threshold(link)?;
        match self.xon {
            Some(xon) if alpha == 0.0 && xon > fixed => {
                Err(ParamError::new("xon", format!("{xon} is above XOFF, {fixed}")))
            }
            _ => Ok(()),
        }
    }

    /// The formula of H. A pause does not stop what the link retry sends again.
    fn after_decision(&self, link: &LinkInfo) -> Bytes {
        held_until_heeded(link, self.obeyed_after(link)).max(link.worst_frame().most_held(link.replay))
    }

    /// Headroom of a buffer of the port's own. Where only headroom in use pauses, the packet that causes the
    /// pause is in headroom.
    fn own_headroom(&self, link: &LinkInfo) -> Bytes {
        let cause = if self.trigger == Trigger::Headroom { link.largest_held() } else { Bytes::ZERO };
        self.after_decision(link) + cause
    }

    /// Headroom beside a shared pool, where the packet that causes the pause may be in headroom.
    fn pool_headroom(&self, link: &LinkInfo) -> Bytes {
        self.after_decision(link) + link.largest_held()
    }

    /// Why a pause may stop nothing: one packet that leaves takes the queue from XOFF to XON.
    fn ends_at_once(&self, link: &LinkInfo) -> Option<String> {
        let least = link.largest_held() + Bytes(1);
        let by_offset = self.resume_offset.and_then(|given| brief_pauses("resume-offset", given, least));
        by_offset.or_else(|| {
            let (xoff, alpha) = self.threshold(link).ok()?;
            let apart = xoff.saturating_sub(self.xon.filter(|_| alpha == 0.0)?);
            brief_pauses("XOFF - xon", apart, least)
        })
    }

    /// The fixed part of the threshold, and alpha.
    fn threshold(&self, link: &LinkInfo) -> Result<(Bytes, f64), ParamError> {
        match self.xoff(link) {
            Xoff::Auto if link.buffer == Bytes::MAX => Ok((Bytes::ZERO, AUTO_ALPHA)),
            Xoff::Auto => self.auto_xoff(link).map(|fixed| (fixed, 0.0)),
            Xoff::At { alpha, .. } if !(alpha.is_finite() && alpha >= 0.0) => {
                Err(ParamError::new("xoff", format!("alpha = {alpha} is not a number of at least 0")))
            }
            Xoff::Total(total) => Ok((total, 0.0)),
            Xoff::At { fixed, alpha, per: None } => Ok((fixed, alpha)),
            Xoff::At { per: Some(Per::Rate(Rate(0))), .. } => {
                Err(ParamError::new("xoff", "`per` is a rate above 0, or \"nic\""))
            }
            Xoff::At { fixed, alpha, per: Some(per) } => {
                Ok((fixed, per.grow(alpha, link.rate, link.nic_rate)))
            }
        }
    }

    /// The meaning of XOFF on this link.
    fn xoff(&self, link: &LinkInfo) -> Xoff {
        let unsaid = if link.buffer == Bytes::MAX { Xoff::fixed(XOFF) } else { Xoff::Auto };
        self.xoff.unwrap_or(unsaid)
    }

    /// The least XOFF of `"auto"`.
    fn least_auto_xoff(link: &LinkInfo) -> Bytes {
        link.largest_held().max(least_climb(link))
    }

    /// The bytes that a port's own buffer fills at least from a RESUME to the next PAUSE.
    fn climb(&self, link: &LinkInfo) -> Option<Bytes> {
        // With XON below zero a port resumes when it has released all.
        let (xoff, _) = self.threshold(link).ok()?;
        Some(xoff.saturating_sub(self.xon.unwrap_or_default()).min(self.resume_offset(link)))
    }

    /// Why pauses may come later than headroom counts.
    fn queues_pauses(&self, link: &LinkInfo) -> Option<String> {
        if link.buffer == Bytes::MAX {
            return None;
        }
        let least = least_climb(link);
        self.climb(link).filter(|climb| *climb < least).map(|climb| {
            format!(
                "its pauses and resumes may wait behind one another, which headroom does not count: {climb} fill \
                 from a resume to the next pause, and small frames may need less time for that than the two \
                 frames take; XOFF and XOFF - XON (resume-offset) of at least {least} avoid it"
            )
        })
    }

    /// XOFF that fills the port's static buffer: size - H - (MTU - 1).
    fn auto_xoff(&self, link: &LinkInfo) -> Result<Bytes, ParamError> {
        let refuse = |message: String| Err(ParamError::new("xoff", message));
        let xoff = Params::least_auto_xoff(link);
        let least = self.buffer_for(xoff, link);
        if link.buffer < least {
            return refuse(format!(
                "\"auto\" does not fit: the buffer has {}, {} less than the {least} that headroom \
                 ({}), the least XOFF ({xoff}) and a frame less a byte need",
                link.buffer,
                least - link.buffer,
                self.headroom(link),
            ));
        }
        Ok(link.buffer - self.headroom(link) - link.largest_held() + Bytes(1))
    }

    /// XOFF + MTU - 1 + H.
    fn buffer_for(&self, xoff: Bytes, link: &LinkInfo) -> Bytes {
        let crossing = link.largest_held().saturating_sub(Bytes(1));
        let headroom = self.headroom.or_else(link, || self.own_headroom(link));
        xoff.saturating_add(crossing).saturating_add(headroom)
    }

    /// When a PAUSE is renewed, from its being sent.
    pub(crate) fn refresh_after(&self, link: &LinkInfo) -> Result<Span, ParamError> {
        if !(self.refresh > 0.0 && self.refresh < 1.0) {
            let message = format!("{} is not a fraction between 0 and 1", self.refresh);
            return Err(ParamError::new("refresh", message));
        }
        let pause = self.lasts(link.rate);
        let after = Span(whole(pause.0 as f64 * self.refresh));
        // The refresh may have to wait for one frame and is one itself.
        let on_its_way = link.rate.time_to_send(link.mtu * 2);
        if after == Span::ZERO || pause - after < on_its_way {
            let (key, named) = match self.pause_time {
                Some(_) => ("pause-time", pause.to_string()),
                None => ("quanta", format!("{} quanta ({pause})", self.quanta.0)),
            };
            let message = format!("a pause of {named} ends before its refresh can arrive");
            return Err(ParamError::new(key, message));
        }
        Ok(after)
    }

    /// How long a PAUSE lasts in timer mode, at a link of this rate.
    fn lasts(&self, rate: Rate) -> Span {
        self.pause_time.unwrap_or(self.quanta.span(rate))
    }

    /// The time of a PAUSE in timer mode, in quanta, rounded up.
    fn named_quanta(&self, link: &LinkInfo) -> Result<Quanta, ParamError> {
        let Some(time) = self.pause_time else { return Ok(self.quanta) };
        let longest = Quanta::MAX.span(link.rate);
        if time == Span::ZERO || time > longest {
            let message = format!("{time} is not a time above 0 and up to the {longest} of 65535 quanta");
            return Err(ParamError::new("pause-time", message));
        }
        let named = (1..=Quanta::MAX.0).find(|&quanta| Quanta(quanta).span(link.rate) >= time);
        Ok(named.map_or(Quanta::MAX, Quanta))
    }
}

impl FlowControl for Params {
    type Sender = Sender;
    type Receiver = Receiver;

    fn build(&self, link: &LinkInfo) -> Result<(Sender, Receiver), ParamError> {
        self.watchdog.map_or(Ok(()), |dog| dog.check())?;
        self.react.check(link)?;
        self.interface_delay.check(link)?;
        self.check_xon(link)?;
        let mode = self.pause_mode(link.pause);
        let pauses = match (mode, self.renewal) {
            (PauseMode::OnOff, _) => Pauses { quanta: self.quanta, ..Pauses::default() },
            (PauseMode::Timer, Renewal::Timer) => Pauses {
                quanta: self.named_quanta(link)?,
                refresh_after: Some(self.refresh_after(link)?),
                run_out: None,
            },
            (PauseMode::Timer, Renewal::Arrivals) => Pauses {
                quanta: self.named_quanta(link)?,
                refresh_after: None,
                run_out: Some(self.lasts(link.rate)),
            },
        };
        Ok((Sender::new(self, mode, link), Receiver::new(self, pauses, link)?))
    }

    /// XOFF + MTU - 1 + H, with alpha's part at zero; XOFF `"auto"` is one MTU at least, and what keeps
    /// pauses apart.
    fn min_buffer(&self, link: &LinkInfo) -> Bytes {
        let xoff = match self.xoff(link) {
            Xoff::Auto => Params::least_auto_xoff(link),
            Xoff::At { fixed, .. } | Xoff::Total(fixed) => fixed,
        };
        self.buffer_for(xoff, link)
    }

    fn min_buffer_formula(&self) -> &'static str {
        "XOFF + MTU - 1 + headroom"
    }

    fn tolerates_unpaused(&self) -> bool {
        true
    }

    fn tolerates_replays(&self) -> bool {
        true
    }

    fn copied_pauses(&mut self) -> Option<&mut Option<PauseMode>> {
        Some(&mut self.pause)
    }

    fn formula_headroom(&self, link: &LinkInfo) -> Option<Bytes> {
        Some(Params { headroom: Headroom::Auto, ..self.clone() }.headroom(link))
    }

    fn headroom(&self, link: &LinkInfo) -> Bytes {
        let pooled = link.buffer == Bytes::MAX;
        self.headroom
            .or_else(link, || if pooled { self.pool_headroom(link) } else { self.own_headroom(link) })
    }

    /// XOFF + MTU - 1 + H by its formula, whatever `headroom` is; with a pool, H and the packet that
    /// causes the pause.
    fn lossless_size(&self, link: &LinkInfo) -> Bytes {
        if link.buffer == Bytes::MAX {
            return self.pool_headroom(link);
        }
        let (xoff, _) = self.threshold(link).unwrap_or_default();
        let crossing = link.largest_held().saturating_sub(Bytes(1));
        xoff.saturating_add(crossing).saturating_add(self.own_headroom(link))
    }

    /// H once more: the upstream starts open, and is paused at once.
    fn restart_size(&self, link: &LinkInfo) -> Bytes {
        self.after_decision(link)
    }

    fn may_overflow(&self, link: &LinkInfo) -> Option<String> {
        let ignored = self.watchdog.is_some_and(|dog| dog.action == Action::Forward);
        if let Some(why) = self.queues_pauses(link) {
            Some(why)
        } else if self.pause_mode(link.pause) == PauseMode::Timer && self.renewal == Renewal::Arrivals {
            Some("a pause that runs out while nothing arrives lets the upstream send for another round trip, which headroom does not count".into())
        } else if ignored {
            Some("its watchdog lets a queue send that has been paused for long, and headroom does not count that".into())
        } else {
            None
        }
    }

    /// XOFF; with a pool, its own bytes are subtracted from the free bytes, and its reserve is added.
    fn pauses_at(&self, link: &LinkInfo, share: &SwitchShare) -> Option<Bytes> {
        let (fixed, alpha) = self.threshold(link).ok()?;
        if link.buffer < Bytes::MAX {
            return Some(fixed);
        }
        let shared = fixed.saturating_add(share.pool.scale(alpha)).scale(1.0 / (1.0 + alpha));
        Some(share.reserve.saturating_add(shared.min(share.pool)))
    }

    fn warnings(&self, link: &LinkInfo, share: &SwitchShare) -> Vec<String> {
        let found = [
            self.idles(link, share),
            self.pauses_by_chance(link, share),
            self.exceeds_pool(link, share),
            self.ends_at_once(link),
        ];
        found.into_iter().flatten().collect()
    }

    fn reaction(&self, link: &LinkInfo) -> Option<Span> {
        Some(self.react.on(link))
    }

    fn pause_mode(&self, run: PauseMode) -> PauseMode {
        self.pause.unwrap_or(run)
    }
}

#[cfg(test)]
mod tests;
