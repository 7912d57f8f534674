//! A window that keeps the round-trip time near a target: the smallest rate control that lives on delay.
//!
//! # What it does
//!
//! The window begins with the bandwidth-delay product. Each ACK whose round trip took less than `target` adds
//! a packet a window; one that took longer cuts the window by `beta` times what the delay is over the target,
//! at most once a round trip and at most by half.
//!
//! # Why
//!
//! It needs neither marks nor telemetry. It is here as a pattern; `timely` is what to compare with.
//!
//! # Known differences
//!
//! - It is nobody's paper: additive increase and multiplicative decrease on delay, as in Swift, without its
//!   scaling.
//!
//! # References
//!
//! - Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter",
//!   SIGCOMM 2020.

use floodway_mechanisms::slots::{AckView, Allowance, Need, ParamError, QpInfo, Reaction, ReactionPoint};
use floodway_units::{Bytes, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the delay window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "DelayWindow")]
pub struct Params {
    /// Round-trip time, above 0, that it steers to.
    pub target: Span,
    /// How much of the window goes for a delay of twice the target, above 0, up to 1.
    pub beta: f64,
}

impl Default for Params {
    fn default() -> Self {
        Params { target: Span::us(20), beta: 0.8 }
    }
}

impl Reaction for Params {
    type Rp = Rp;

    fn build(&self, qp: &QpInfo) -> Result<Rp, ParamError> {
        if self.target == Span::ZERO {
            return Err(ParamError::new("target", "0 is no time; write it like \"20us\""));
        }
        if !(self.beta > 0.0 && self.beta <= 1.0) {
            return Err(ParamError::new("beta", format!("{} is not a number above 0, up to 1", self.beta)));
        }
        let (window, packet) = (qp.bdp().max(qp.mtu).0 as f64, qp.mtu.0 as f64);
        Ok(Rp { params: *self, window, packet, cut_at: Time::ZERO })
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Acks]
    }
}

/// One per sending queue pair.
#[derive(Clone, Copy, Debug)]
pub struct Rp {
    params: Params,
    /// In bytes of payload.
    window: f64,
    packet: f64,
    /// When it was cut last.
    cut_at: Time,
}

impl ReactionPoint for Rp {
    fn on_ack(&mut self, now: Time, ack: &AckView<'_>) {
        let target = self.params.target;
        if ack.rtt <= target {
            self.window += self.packet * ack.acked.0 as f64 / self.window;
        } else if now.since(self.cut_at) >= ack.rtt {
            let over = (ack.rtt.0 - target.0) as f64 / ack.rtt.0 as f64;
            self.window *= (1.0 - self.params.beta * over).max(0.5);
            self.window = self.window.max(self.packet);
            self.cut_at = now;
        }
    }

    fn observes_sent(&self) -> bool {
        false
    }

    fn allowance(&self) -> Allowance {
        Allowance { window: Bytes(self.window as u64), ..Allowance::FREE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_delay_adds_a_packet_a_window_and_a_long_one_cuts_once_a_round_trip() {
        let qp = QpInfo::example();
        let mut rp = Params::default().build(&qp).expect("valid");
        // 100 Gbit/s for 10 us.
        assert_eq!(rp.allowance().window, Bytes(125_000));
        let at = |us| Time::ZERO + Span::us(us);
        let ack = |us| AckView { rtt: Span::us(us), ..AckView::example() };
        rp.on_ack(at(50), &ack(20));
        assert_eq!(rp.allowance().window, Bytes(125_008));
        // Twice the target: 0.8 of a half goes.
        rp.on_ack(at(60), &ack(40));
        assert_eq!(rp.allowance().window, Bytes(75_004));
        rp.on_ack(at(99), &ack(40));
        assert_eq!(rp.allowance().window, Bytes(75_004));
        rp.on_ack(at(100), &ack(40));
        assert_eq!(rp.allowance().window, Bytes(45_002));
        // However long it took, half is left.
        rp.on_ack(at(4_100), &ack(4_000));
        assert_eq!(rp.allowance().window, Bytes(22_501));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let refused = |params: Params| params.build(&QpInfo::example()).map(drop).unwrap_err().key;
        assert_eq!(refused(Params { target: Span::ZERO, ..Params::default() }), "target");
        assert_eq!(refused(Params { beta: 1.5, ..Params::default() }), "beta");
    }
}
