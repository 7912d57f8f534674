//! SWING, the PFC-relay: a device at each end of a long link relays the pauses of its own switch to the
//! device at the far end, so that the sending end transmits as fast as the receiving end drains, one delay
//! later (Chen et al., IEEE TPDS 34(1), 2023).
//!
//! ```text
//!  switch x1 ==cable== L [relay r1] R ======== long link, D ======== R [relay r2] L ==cable== switch x2
//!                        <- PAUSE ----------------------------------------- copy <-- PAUSE -- ingress
//!      data ------------------------------------------------------------------------------------>
//! ```
//!
//! # What it does
//!
//! Choosing it for a link puts a relay at each end (`form = "relay"`), named `r1`, `r2`, …, with the tag
//! `relay`, and a cable between relay and switch with the tag `relay-cable`. A pause or resume that arrives
//! on a relay's local port stops or starts that port, as PFC's, and an identical frame is sent over the long
//! link, repeats included; one that arrives on the remote port stops or starts the remote port. The remote
//! port never pauses because of its own queue: it only has room for the bytes on the link. Toward its own
//! switch the relay runs its own PFC.
//!
//! The switch at the end of the cable pauses by its ordinary thresholds, within microseconds, repeatedly: the
//! share of time in which it lets the relay send is the share of the rate that it drains. The copy of these
//! pauses makes the far relay send at that rate, one delay D later, so that `Rin(t) = Rout(t - 2D)` (Eq. 5)
//! and the link is used as much as it can be drained, whatever D is (Eq. 6).
//!
//! `form = "switch"` has no relays: the switch at the end of the link makes the pauses itself, as the paper's
//! discussion proposes. It splits the bytes that it holds into two counts: those that a relay would still
//! hold, and those that a relay would have forwarded, at the rate of the link, to a switch that pauses at
//! `xoff` of these and resumes at `xon`.
//!
//! Its pauses are as long as the distance of its thresholds makes them, with no cable to lengthen them. A
//! pause may wait for a frame on its way, and the upstream finishes the frame that it has begun: a pause that
//! is shorter stops nothing, and the link goes on at its full rate. So `resume-offset` has to be several
//! frames, more if several ports drain at once; `floodway check` warns where it is less. On SWING's list 1-1,
//! with 41 MB at the end of 80 km, 0 B (XON = XOFF) loses 73,012 packets, 3 KB 65,598, 7.5 KB 10,787 and 9 KB
//! 1,250; from 10 to 100 KB nothing is lost. With 30 KB flows take 24 % less time on average than with
//! relays, whose packets pass through two more devices (`floodway reproduce swing forms`).
//!
//! # Why
//!
//! It needs half of the buffer that `pfc` needs to keep a long link busy, no new switch and no new NIC.
//! `bifrost` needs as little and reacts a little sooner, but needs support in the switch itself. It is for
//! links that are long compared with the loop between relay and switch; on short ones the cables only add
//! hops.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | D | one-way delay of the long link |
//! | BW | its rate |
//! | L, R | the relay's local and remote port |
//! | `Rin`, `Rout` | rate into and out of a relay's remote queue |
//!
//! # Sizing
//!
//! ```text
//! buffer = 2·D·BW + max(margin · 2·D·BW, 2·cable·BW + 2 MTU)          at R, by a buffer of the port's own
//! ```
//!
//! The first term is the number of bytes on the link when the drain stops for good (one bandwidth-delay
//! product). The second is the ripple of the loop between relay and switch, and room for drift: no feedback
//! controls the remote queue, so that each relayed pause may add a frame to it, or take one away (the bytes
//! that a pause finds on the wire here, less those that its copy finds there, and those that the copy waits
//! for). In `form = "switch"` the loop is inside the switch, and its ripple is `xoff`.
//!
//! Without jitter, and without traffic in the other direction, a pause and its copy find the same, and the
//! queue does not drift. Otherwise it drifts, up or down, by up to about a frame per cycle; the rate depends
//! on the phase of the pauses among the packets. With continuous traffic in the other direction pauses and
//! packets can be in resonance: then every cycle adds the same. A draining rate that differs by 0.1 %, or 10
//! ns of delay, can start or end this, so that no formula gives the rate. `floodway reproduce swing drift`
//! measures it over draining rate, jitter and MTU.
//!
//! Each time the link comes up again, its far end starts unpaused: 2·D·BW + 2 MTU + 64 may arrive in addition
//! to a full queue.
//!
//! The formula is for one class on the link. Another class on the cable keeps bytes in the relay's queue
//! without a pause that could be copied, and they stay there as long as the link is busy. If classes are
//! stopped in turn, each stop can add up to a bandwidth-delay product, so that no fixed size is enough
//! (`floodway reproduce swing classes`).
//!
//! PFC on the cable is that of any short link: `[defaults]` at the switch's end, floodway's own defaults at
//! the relay's; an override by the tag `relay-cable` sets either, by direction (`"relay>dci"`,
//! `"dci>relay"`).
//!
//! # Known differences
//!
//! - The cable has the rate of the link: at another rate a copied pause would have another length. Other
//!   rates are errors.
//! - Relays are no hops for routing: paths with and without them stay equal-cost. They are hops for ideal
//!   completion times, of which the paper has none.
//! - On a link with several classes a relay relays the pauses of those that choose it, and only for the
//!   direction of the link for which it is chosen.
//! - In section 5.2 a pause holds until the next RESUME. Here it has a time and is refreshed where the wire
//!   is Ethernet's (`wire = "ethernet"`), unless PFC on the cable has `pause = "on-off"`; the relay copies
//!   both.
//! - In section 5.2 the local port has the PFC settings of the datacenter's switches. Here it has floodway's
//!   defaults, unless an override of `relay-cable` says otherwise.
//! - Section 6.1 prints 198 + 120 KB for the switch's port at the relay; here PFC's thresholds there are
//!   those of the scenario, of which `scenarios/swing-80km-relay-printed.toml` has the printed ones.
//! - The paper only names the form inside the switch; its counts are floodway's choice. Its third proposal,
//!   congestion control by the relay, is the congestion point `proxy-cnp` at the relay's ports.
//!
//! # References
//!
//! - Chen et al., "Swing: Providing Long-Range Lossless RDMA via PFC-Relay", IEEE TPDS 34(1), 2023: section
//!   5.2 (the relay, equations 5 and 6), section 6.1 (parameters), section 7 (the other forms).

mod receiver;

pub use receiver::{Receiver, Swinging};

use floodway_units::cast::whole;
use floodway_units::{Bytes, Quanta, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pfc::{self, brief_pauses, bytes_until_heeded};
use crate::slots::{Disposition, FlowControl, LinkInfo, ParamError, PauseMode, Relay, SwitchShare};

/// Parameters of SWING.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Swing")]
pub struct Params {
    /// Device that makes the pauses which cross the link.
    /// Source: SWING, section 5.2: a relay next to the switch.
    pub form: Form,
    /// One-way delay of the cable between relay and switch, above 0 (`form = "relay"`).
    /// Source: SWING's simulator, `link_relay.csv`.
    pub cable: Span,
    /// Room beyond one bandwidth-delay product, as a share of it, at least 0.
    /// Source: SWING, section 6.1: 41 MB for 40 MB.
    pub margin: f64,
    /// Forwarded bytes at which the switch pauses (`form = "switch"`), at least one MTU.
    /// Source: SWING, section 6.1: the switch's port to the relay.
    pub xoff: Bytes,
    /// Resume this far below `xoff`, in bytes up to it (`form = "switch"`). Default: what the link carries in
    /// a round trip over `cable`, at least 2 MTU.
    /// Source: floodway's choice: the loop to a relay makes pauses as long; SWING has 0, a pause and a resume
    /// for each packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_offset: Option<Bytes>,
    /// How long a pause lasts. Default: as the run's wire format says, `"timer"` with `ethernet` and
    /// `"on-off"` with `hpcc-ns3` and `swing-ns3`.
    /// Source: IEEE 802.1Qbb (`timer`); SWING's simulator (`on-off`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<PauseMode>,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            form: Form::Relay,
            cable: Span::us(1),
            margin: 0.025,
            xoff: Bytes::kb(198),
            resume_offset: None,
            pause: None,
        }
    }
}

/// Device that makes the pauses which cross the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "SwingForm")]
pub enum Form {
    /// The switch beyond a cable; a relay at each end of the link copies its pauses. Source: SWING, section
    /// 5.2.
    #[default]
    Relay,
    /// The switch at the end of the link, which acts as relay and switch in one. Source: SWING, section 7.
    Switch,
}

impl Params {
    /// Its pauses are PFC's.
    fn pauses(&self) -> pfc::Params {
        pfc::Params { pause: self.pause, quanta: Quanta::MAX, ..pfc::Params::default() }
    }

    fn resume_offset(&self, link: &LinkInfo) -> Bytes {
        let loops = || link.rate.bytes_covering(self.cable * 2).max(link.mtu * 2);
        self.resume_offset.unwrap_or_else(loops).min(self.xoff)
    }

    /// The least `resume-offset` with which each pause stops something. A pause may wait for a frame that its
    /// resume does not wait for, and the upstream finishes another one: it must last for more than both. As
    /// it begins, each other port may finish a packet, and all of them drain for that time.
    fn least_offset(link: &LinkInfo, share: &SwitchShare) -> Bytes {
        let meanwhile = share.drain.bytes_covering(link.rate.time_to_send(link.mtu * 2));
        Bytes(link.mtu.0.saturating_mul(share.others)).saturating_add(meanwhile).saturating_add(Bytes(1))
    }

    /// The bytes by which the loop between relay and switch lets the queue rise and fall.
    fn ripple(&self, link: &LinkInfo) -> Bytes {
        let held = match self.form {
            Form::Relay => link.rate.bytes_covering(self.cable * 2),
            Form::Switch => self.xoff,
        };
        held.saturating_add(link.mtu * 2)
    }

    fn check(&self, link: &LinkInfo) -> Result<(), ParamError> {
        let refuse = |key, message: String| Err(ParamError::new(key, message));
        if self.cable == Span::ZERO {
            return refuse("cable", "a link needs a delay above 0".into());
        }
        if !(self.margin.is_finite() && (0.0..=1e6).contains(&self.margin)) {
            return refuse("margin", format!("{} is not a share from 0 to 1000000", self.margin));
        }
        if self.form == Form::Switch && self.xoff < link.mtu {
            return refuse("xoff", format!("{} is less than one frame of {}", self.xoff, link.mtu));
        }
        if self.resume_offset.is_some_and(|offset| offset > self.xoff) {
            return refuse("resume-offset", format!("it is more than xoff, {}", self.xoff));
        }
        Ok(())
    }
}

impl FlowControl for Params {
    type Sender = pfc::Sender;
    type Receiver = Receiver;

    fn build(&self, link: &LinkInfo) -> Result<(pfc::Sender, Receiver), ParamError> {
        self.check(link)?;
        let pauses = self.pauses();
        let (sender, _) = pauses.build(&LinkInfo { buffer: Bytes::MAX, ..*link })?;
        let receiver = match self.form {
            // Eq. 6: the remote port never pauses by its own queue, so the link carries all that drains.
            Form::Relay => Receiver::Relayed,
            Form::Switch => {
                let refresh_after = match self.pause_mode(link.pause) {
                    PauseMode::Timer => Some(pauses.refresh_after(link)?),
                    PauseMode::OnOff => None,
                };
                // Section 7: the switch itself makes the pauses of a relay.
                let xon = self.xoff - self.resume_offset(link);
                Receiver::Swinging(Swinging::new(self.xoff, xon, refresh_after, link))
            }
        };
        Ok((sender, receiver))
    }

    /// One bandwidth-delay product, and the larger of the margin and the ripple.
    fn min_buffer(&self, link: &LinkInfo) -> Bytes {
        // Section 5.2: the remote port's buffer holds one bandwidth-delay product.
        let bdp = link.rate.bytes_covering(link.delay + link.reverse_delay);
        // Section 6.1: a little more than that product, 41 MB for 40 MB.
        let margin = Bytes(whole(bdp.0 as f64 * self.margin.max(0.0)));
        link.worst_frame().most_held(bdp.saturating_add(margin.max(self.ripple(link))))
    }

    fn min_buffer_formula(&self) -> &'static str {
        "2 D BW + the larger of margin and ripple"
    }

    /// The bytes on the link when it comes up again, since its far end starts unpaused.
    fn restart_size(&self, link: &LinkInfo) -> Bytes {
        link.worst_frame().most_held(bytes_until_heeded(link, Span::ZERO))
    }

    fn may_overflow(&self, _link: &LinkInfo) -> Option<String> {
        let (at, said) = match self.form {
            Form::Relay => ("a relay", "relayed pause"),
            Form::Switch => ("the far end of the link", "pause"),
        };
        Some(format!(
            "{at} has no feedback: each {said} can add a frame to its queue or take one away, so that with traffic both ways, jitter \
             or other classes on the link it drifts, and the margin can run out"
        ))
    }

    fn warnings(&self, link: &LinkInfo, share: &SwitchShare) -> Vec<String> {
        let given = self.resume_offset.filter(|_| self.form == Form::Switch);
        let brief =
            given.and_then(|given| brief_pauses("resume-offset", given, Params::least_offset(link, share)));
        brief.into_iter().collect()
    }

    fn reaction(&self, _link: &LinkInfo) -> Option<Span> {
        Some(Span::ZERO)
    }

    fn pause_mode(&self, run: PauseMode) -> PauseMode {
        self.pause.unwrap_or(run)
    }

    fn relay(&self) -> Option<Relay> {
        // Section 5.2: both ports obey PFC, and port L also relays it to the remote side.
        // Eq. 5: the far relay sends at the rate of the drain, so that Rin(t) = Rout(t - 2D).
        let relay = Relay {
            cable: self.cable,
            from_local: Disposition::ObeyAndForward,
            from_remote: Disposition::Obey,
        };
        (self.form == Form::Relay).then_some(relay)
    }

    fn copied_pauses(&mut self) -> Option<&mut Option<PauseMode>> {
        Some(&mut self.pause)
    }
}

#[cfg(test)]
mod tests;
