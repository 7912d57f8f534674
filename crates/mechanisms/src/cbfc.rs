//! Credit-based flow control: the receiver advertises a credit limit and the sender never exceeds it, so that
//! nothing is lost whatever the buffer's size (InfiniBand Architecture Specification, 7.9).
//!
//! ```text
//!  upstream egress                            downstream ingress
//!  [queue]-Sender========= data, Sent =========>Receiver-[ held .....| free ]
//!             ^---- Credit: arrived + free ---------'
//! ```
//!
//! # What it does
//!
//! Both halves count the bytes sent, or arrived, since the link came up. Each period the receiver sends a
//! credit limit: what has arrived plus what is free. The sender may start a frame if its own count then stays
//! within the limit; otherwise the class waits. Control packets need no credit. Both ends know the first
//! limit, the buffer's size.
//!
//! Bytes lost on the link would never return as credit. So the sender reports its count (`Sent`) each period:
//! the link keeps order, so what was sent before the report has arrived or is lost.
//!
//! - `mode = "ideal"`: bytes in counters of 64 bits. Reports and unchanged limits are sent only where frames
//!   may be damaged.
//! - `mode = "uec"`: Ultra Ethernet's form. Credits of `credit-size` bytes, modulo 2^20. The receiver counts
//!   the credits that packets have freed, and reports the count at once (`CF_Update`), but not before
//!   `spacing` has passed since the last report; where reports may be lost, also each period. A report is a
//!   control ordered set of 8 bytes. The sender's count (`CC_Update`) is a frame, each `sync`.
//! - `mode = "infiniband"`: blocks of 64 bytes, modulo 4096, and never a credit of more than 2048, which is
//!   128 KiB.
//!
//! # Why
//!
//! A buffer of any size loses nothing and needs no headroom: little more than one bandwidth-delay product
//! keeps the link busy, where `pfc` needs two. Lost messages do no harm, since the next one carries the full
//! state. Compared with `bifrost` it needs no slots, works on links of any length, and also inside a
//! datacenter; but both ends must implement it, and Ethernet switches and NICs do not. InfiniBand's counters
//! are limited to a round trip of 128 KiB, about 1 km at 100G; `"ideal"` shows the mechanism without that
//! limit.
//!
//! # Symbols
//!
//! | symbol (InfiniBand) | here |
//! |---|---|
//! | FCTBS | the sender's count: total blocks sent |
//! | ABR | the receiver's count: adjusted blocks received |
//! | FCCL | the credit limit: ABR plus what is free, at most 2048 blocks |
//! | P | `period`; Ultra Ethernet's `CF_max` |
//! | `S_CC`, `R_CC` | Ultra Ethernet's names of the sender's and the receiver's count |
//! | `R_CF`, `S_CL` | credits freed; the credits of the buffer: the limit is their sum |
//! | `CF_min` | `spacing` |
//! | R, D | the link's rate and delays |
//! | W | the largest frame on the wire: MTU with preamble and gap |
//!
//! # Sizing
//!
//! ```text
//! buffer = R · (forward delay + reverse delay + P) + 4 W + 84
//! ```
//!
//! This size keeps a link busy. A smaller buffer, down to W, also loses nothing, and gives
//! buffer / (R · round trip) of the rate. In addition to delays and period, the formula covers the frame
//! ahead of the credit message and the message itself (64 bytes with preamble and gap, as the run's wire
//! format counts), a frame that has begun to arrive, one that has begun to leave, and one for which the
//! remaining credit is too small. With `on-change` the smaller of that size and R · P replaces R · P. Where
//! the reverse direction is slower, what arrives during a message is included.
//!
//! Where buffers are allocated in cells (`cell`), what is free counts as the bytes on the wire whose frames
//! never occupy more, and the size is as much larger.
//!
//! In Ultra Ethernet's mode `spacing` replaces P, and each frame counts in whole credits.
//!
//! In InfiniBand's mode each frame counts in whole blocks, and the size never exceeds 2048 blocks plus the
//! two frames in transit.
//!
//! # Known differences
//!
//! - Frames consume credit by their bytes on the wire, with preamble and gap, while the buffer holds them
//!   without: safe, since a frame is never smaller on the wire. In InfiniBand a packet consumes its own bytes
//!   in blocks, of buffer and of credit; here buffers count bytes, and the free space is rounded down to
//!   blocks.
//! - InfiniBand's flow-control packet has 6 bytes and carries both FCTBS and FCCL. Here they are two link
//!   control frames of the run's wire format (64 bytes with `ethernet`).
//! - A message that would repeat the previous one is not sent on a link without errors. InfiniBand sends one
//!   at least every 65,536 symbol times.
//! - After a link was down the limit is 0 until the receiver, which may still hold packets, has sent one.
//! - Ultra Ethernet's update carries 15 bits of the counts of two virtual channels and may pre-empt a frame.
//!   Here it has the limit of one class, and waits for the end of the frame that is being sent. Credits are
//!   not shared among virtual channels.
//! - With `link-retry` a count of the sender is not read that comes in before frames that it counts.
//! - Hosts accept all packets: there is no limit towards a host.
//! - A port that `faults.pause` makes pause its upstream withholds credit: the sender stops until the resume.
//!
//! # References
//!
//! - InfiniBand Architecture Specification, volume 1, section 7.9 (link flow control).
//! - Ultra Ethernet Specification 1.0.3, section 5.2 (CBFC).
//! - Yu et al., "Bifrost: Extending RoCE for Long Distance Inter-DC Links", ICNP 2023, sections II-B and VI-B
//!   (its limit of distance; CBFC-ideal).

mod count;
mod receiver;
mod sender;

pub use receiver::Receiver;
pub use sender::Sender;

use floodway_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pfc::bytes_meanwhile;
use crate::slots::{FlowControl, LinkInfo, ParamError, PauseMode, SwitchShare};
use count::{BLOCK, Count, MOST_BLOCKS, UPDATE};

/// Bytes of a message without preamble and gap: the smallest Ethernet frame.
const MESSAGE: Bytes = Bytes(64);
/// A credit of Ultra Ethernet's form by default, and all sizes of one.
const CREDIT: Bytes = Bytes(256);
const CREDITS: std::ops::RangeInclusive<Bytes> = Bytes(32)..=Bytes(2048);
/// The default period is a tenth of the link's delay, within these bounds.
const PERIODS: (Span, Span) = (Span::us(1), Span::us(10));

/// Parameters of credit-based flow control.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Cbfc")]
pub struct Params {
    /// How credit is counted.
    /// Source: Bifrost, section VI-B, compares with CBFC-ideal, which has no limit of distance.
    pub mode: Mode,
    /// P, the time between two credit messages, at least the time of a message on the wire. Default: a tenth
    /// of the link's one-way delay, but at least 1 us and at most 10 us.
    /// Source: floodway's choice: Bifrost's slot of 10 us on long links, for a fair comparison; 1 us inside a
    /// datacenter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<Span>,
    /// Also send a message as soon as the limit has grown by this much since the last one, at least 1 byte.
    /// Default: off, the period alone.
    /// Source: InfiniBand, 7.9, allows a receiver to send one whenever it is useful.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_change: Option<Bytes>,
    /// Mode `"uec"`: bytes of a credit, from 32 to 2,048. Default: 256.
    /// Source: UEC 1.0.3, 5.2, lets the ends negotiate it; the default is floodway's choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit_size: Option<Bytes>,
    /// `CF_min` of mode `"uec"`, the least time between two reports of a class, above 0. Default: the time of
    /// a largest frame on the link, at most P.
    /// Source: UEC 1.0.3, 5.2, has such a time; the default is floodway's choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spacing: Option<Span>,
    /// Mode `"uec"`: the time between two reports of the sender's count where frames may be damaged, at least
    /// that of a message. Default: 16 P.
    /// Source: UEC 1.0.3, 5.2: they are rarer than updates; the default is floodway's choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync: Option<Span>,
}

/// How credit is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// In bytes, without limit. Source: Bifrost, section VI-B (CBFC-ideal).
    #[default]
    Ideal,
    /// In blocks of 64 bytes modulo 4096, with a credit of 2048 blocks at most. Source: InfiniBand, 7.9.
    Infiniband,
    /// In credits modulo 2^20, reported as they are freed. Source: UEC 1.0.3, 5.2.
    Uec,
}

/// The largest frame as the wire carries it: W.
fn largest(link: &LinkInfo) -> Bytes {
    link.mtu + link.overhead
}

impl Params {
    fn count(&self) -> Count {
        match self.mode {
            Mode::Ideal => Count::Bytes,
            Mode::Infiniband => Count::Blocks,
            // Sizes may be asked for before `check` refuses a credit of nothing.
            Mode::Uec => Count::Credits(self.credit_size.unwrap_or(CREDIT).0.max(1)),
        }
    }

    /// P on this link.
    fn period_on(&self, link: &LinkInfo) -> Span {
        self.period.unwrap_or((link.delay / 10).clamp(PERIODS.0, PERIODS.1))
    }

    /// `CF_min` on this link.
    fn spacing_on(&self, link: &LinkInfo) -> Span {
        let usual = || link.rate.time_to_send(largest(link)).min(self.period_on(link));
        self.spacing.unwrap_or_else(usual)
    }

    /// The time between two reports of the sender's count.
    fn report_period(&self, link: &LinkInfo) -> Span {
        let period = self.period_on(link);
        if self.mode == Mode::Uec { self.sync.unwrap_or(period * 16) } else { period }
    }

    /// Bytes that may have become free without a credit message.
    fn unadvertised(&self, link: &LinkInfo) -> Bytes {
        if self.mode == Mode::Uec {
            return link.rate.bytes_covering(self.spacing_on(link));
        }
        let each_period = link.rate.bytes_covering(self.period_on(link));
        self.on_change.map_or(each_period, |delta| delta.min(each_period))
    }

    /// The size that keeps the link busy if credit has no limit.
    fn busy_buffer(&self, link: &LinkInfo) -> Bytes {
        let frame = largest(link);
        let flight = link.rate.bytes_covering(link.delay + link.reverse_delay);
        let message = bytes_meanwhile(link, frame + MESSAGE + link.overhead);
        let worst = link.worst_frame();
        let all = flight.saturating_add(self.unadvertised(link)).saturating_add(message + frame * 3);
        match self.count() {
            Count::Bytes => worst.most_held(all),
            Count::Blocks => {
                let blocks = all.0.div_ceil(frame.0).saturating_mul(Count::Blocks.of(frame));
                worst.most_held(Count::Blocks.bytes(blocks))
            }
            // Each frame leaves less than a credit unused.
            count @ Count::Credits(_) => {
                worst.most_held(count.bytes(count.of(all).saturating_add(all.0.div_ceil(frame.0))))
            }
        }
    }

    /// The least buffer that lets a largest frame through.
    fn least_buffer(&self, link: &LinkInfo) -> Bytes {
        let worst = link.worst_frame();
        match self.count() {
            Count::Bytes => worst.most_held(largest(link)),
            count @ (Count::Blocks | Count::Credits(_)) => {
                worst.most_held(count.bytes(count.of(largest(link))))
            }
        }
    }

    /// The reason why counters of 12 bits leave the link idle, if they do.
    fn limit_of_credit(&self, link: &LinkInfo) -> Option<String> {
        let (credit, busy) =
            (Bytes(MOST_BLOCKS * BLOCK), link.worst_frame().wire_within(self.busy_buffer(link)));
        if self.mode != Mode::Infiniband || busy <= credit {
            return None;
        }
        let round_trip = link.delay + link.reverse_delay;
        let share = |of: Bytes| 100.0 * (credit.0 as f64 / of.0.max(1) as f64).min(1.0);
        // 5 us/km, there and back.
        let km = |span: Span| (span.as_us() * 10.0).round() / 100.0;
        Some(format!(
            "InfiniBand's counters of 12 bits hold 2048 blocks of 64 B, and {credit} of credit last for {} km at {}: \
             on {} km the link gets {:.1} to {:.1} % of its rate; mode = \"ideal\" has no such limit",
            km(link.rate.time_to_send(credit)),
            link.rate,
            km(round_trip),
            share(busy),
            share(link.rate.bytes_covering(round_trip)),
        ))
    }

    /// The keys of Ultra Ethernet's form, and those that it does not have.
    fn check_uec(&self, link: &LinkInfo) -> Result<(), ParamError> {
        let refuse = |key, message: String| Err(ParamError::new(key, message));
        if self.mode != Mode::Uec {
            let given = [
                ("credit-size", self.credit_size.is_some()),
                ("spacing", self.spacing.is_some()),
                ("sync", self.sync.is_some()),
            ];
            return match given.into_iter().find(|(_, is_given)| *is_given) {
                Some((key, _)) => {
                    refuse(key, "it needs mode = \"uec\"; leave it out, or set that mode".into())
                }
                None => Ok(()),
            };
        }
        if self.on_change.is_some() {
            let why = "with mode = \"uec\" each change is reported; leave it out, or set `spacing`";
            return refuse("on-change", why.into());
        }
        let credit = self.credit_size.unwrap_or(CREDIT);
        if !CREDITS.contains(&credit) {
            let (least, most) = (CREDITS.start(), CREDITS.end());
            return refuse("credit-size", format!("{credit} is not from {least} to {most}"));
        }
        let (spacing, period) = (self.spacing_on(link), self.period_on(link));
        if spacing == Span::ZERO || spacing > period {
            return refuse("spacing", format!("{spacing} is not above 0 and up to the period, {period}"));
        }
        // UEC, Section 5.2: an update has 15 bits of the count.
        if link.rate.bytes_covering(period).0 / credit.0 >= UPDATE {
            let why = format!("in {period} more credits may be freed than an update can tell, 2^15");
            return refuse("period", why);
        }
        let least = link.rate.time_to_send(MESSAGE + link.overhead);
        match self.sync {
            Some(sync) if sync < least => {
                refuse("sync", format!("{sync} is too short: a message takes {least} at {}", link.rate))
            }
            _ => Ok(()),
        }
    }

    fn check(&self, link: &LinkInfo) -> Result<(), ParamError> {
        let refuse = |key, message: String| Err(ParamError::new(key, message));
        let least = link.reverse_rate.time_to_send(MESSAGE + link.overhead);
        let period = self.period_on(link);
        if period < least {
            let why = format!("{period} is too short: a message takes {least} at {}", link.reverse_rate);
            return refuse("period", format!("{why}, and the period must be at least that"));
        }
        if self.on_change == Some(Bytes::ZERO) {
            return refuse("on-change", "0B is not allowed; give at least 1B, or leave it out".into());
        }
        self.check_uec(link)?;
        if link.buffer == Bytes::MAX && !link.to_host {
            let why = "cbfc needs a dedicated buffer per port (buffer.static), not a shared pool";
            return refuse("", why.into());
        }
        let least = self.least_buffer(link);
        if link.buffer < least {
            let why = format!(
                "a buffer of {} never has credit for the largest frame: it needs {least} at least, and {} for \
                 the full rate",
                link.buffer,
                self.min_buffer(link),
            );
            return refuse("", why);
        }
        Ok(())
    }
}

impl FlowControl for Params {
    type Sender = Sender;
    type Receiver = Receiver;

    fn build(&self, link: &LinkInfo) -> Result<(Sender, Receiver), ParamError> {
        self.check(link)?;
        Ok((Sender::new(self, link), Receiver::new(self, link)))
    }

    /// R · (forward delay + reverse delay + P) + 4 W + 84; a smaller buffer also loses nothing.
    fn min_buffer(&self, link: &LinkInfo) -> Bytes {
        let busy = self.busy_buffer(link);
        match self.count() {
            Count::Bytes | Count::Credits(_) => busy,
            Count::Blocks => {
                let credit = link.worst_frame().most_held(Bytes(MOST_BLOCKS * BLOCK));
                busy.min(credit + self.least_buffer(link) * 2)
            }
        }
    }

    fn min_buffer_formula(&self) -> &'static str {
        match self.mode {
            Mode::Ideal => "R (round trip + P) + 4 W + 84, for the full rate",
            Mode::Uec => "R (round trip + spacing) + 4 W + 84 in credits, for the full rate",
            Mode::Infiniband => {
                "R (round trip + P) + 4 W + 84 in blocks, 128KiB + 2 W at most, for the full rate"
            }
        }
    }

    /// A frame: credit never exceeds the free space.
    fn lossless_size(&self, link: &LinkInfo) -> Bytes {
        self.least_buffer(link)
    }

    fn warnings(&self, link: &LinkInfo, _share: &SwitchShare) -> Vec<String> {
        self.limit_of_credit(link).into_iter().collect()
    }

    /// A frame consumes its credit once.
    fn tolerates_replays(&self) -> bool {
        true
    }

    /// The next message carries the full state.
    fn tolerates_lost_frames(&self) -> bool {
        true
    }

    /// A pause of a faulty port lasts until its resume.
    fn pause_mode(&self, _run: PauseMode) -> PauseMode {
        PauseMode::OnOff
    }
}

#[cfg(test)]
mod tests;
