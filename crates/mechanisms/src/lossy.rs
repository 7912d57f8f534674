//! No flow control: the link is always open, and a packet without room at the receiving port is dropped (as
//! in networks that leave loss to the transport, such as IRN's).
//!
//! # What it does
//!
//! The sender half never closes, the receiver half sends no messages. A packet for which the ingress has no
//! room is dropped and counted (`drops_buffer`, or `drops_egress` where it exceeds its egress queue's share
//! of a shared pool). A class on such a link is not lossless: its drops do not count against the run's
//! lossless verdict.
//!
//! # Why
//!
//! Choose it for transports that recover from losses themselves, to compare with a lossless network and its
//! pauses; or for one class beside a lossless one (`flow-control.class-0 = "lossy"`). Compared with `pfc` it
//! never blocks other traffic, needs no headroom, and has no distance limit; but go-back-N retransmits a
//! whole window for one lost packet.
//!
//! # Sizing
//!
//! ```text
//! buffer = max(240 KB, rate · (forward delay + reverse delay))
//! ```
//!
//! One round trip of the link, so that a window of the link's own length can wait; at least what IRN gives to
//! each port. No size prevents loss: this one is the size of a port's own buffer when its size is `"auto"`.
//!
//! # Known differences
//!
//! None.
//!
//! # References
//!
//! - Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018, section 4.1 (a port's 240 KB).

use floodway_units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{Cx, FcFrame, FcReceiver, FcSender, FlowControl, Gate, IngressView, LinkInfo, ParamError};

/// The minimum buffer of a port: what the IRN paper gives to each (Mittal et al. 2018).
// Section 4.1: the buffer of a port.
const PORT_BUFFER: Bytes = Bytes::kb(240);

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Lossy")]
pub struct Params {}

impl FlowControl for Params {
    type Sender = Sender;
    type Receiver = Receiver;

    fn build(&self, _link: &LinkInfo) -> Result<(Sender, Receiver), ParamError> {
        Ok((Sender, Receiver))
    }

    /// One round trip of this link at its rate, so that a window of the link's own length can wait here,
    /// and at least 240 KB. No size prevents loss.
    fn min_buffer(&self, link: &LinkInfo) -> Bytes {
        link.rate.bytes_covering(link.delay + link.reverse_delay).max(PORT_BUFFER)
    }

    fn min_buffer_formula(&self) -> &'static str {
        "rate x round trip, 240KB at least"
    }

    fn tolerates_unpaused(&self) -> bool {
        true
    }

    fn tolerates_replays(&self) -> bool {
        true
    }

    fn is_lossless(&self) -> bool {
        false
    }
}

/// Sender half: always open.
#[derive(Clone, Copy, Debug)]
pub struct Sender;

impl FcSender for Sender {
    fn on_frame(&mut self, _cx: &mut Cx<'_, FcFrame>, _frame: FcFrame) {}

    fn gate(&self, _now: Time, _next: Bytes) -> Gate {
        Gate::Open
    }

    fn never_closes(&self) -> bool {
        true
    }
}

/// Receiver half: sends no messages.
#[derive(Clone, Copy, Debug)]
pub struct Receiver;

impl FcReceiver for Receiver {
    fn on_enqueue(&mut self, _cx: &mut Cx<'_, FcFrame>, _q: &IngressView) {}

    fn on_release(&mut self, _cx: &mut Cx<'_, FcFrame>, _q: &IngressView) {}

    fn fast_path_below(&self, _pool_free: Bytes) -> Bytes {
        Bytes::MAX
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::{Class, Quanta, Rate, Span};

    use super::*;
    use crate::testing::{Bench, ingress, link, us};

    #[test]
    fn nothing_closes_it_and_no_frame_is_sent() {
        let (mut sender, mut receiver) = Params {}.build(&link()).expect("there is nothing to refuse");
        let mut bench = Bench::new();
        let pause = FcFrame::Pause { class: Class::DATA, quanta: Quanta::MAX };
        bench.sent(us(1), |cx| sender.on_frame(cx, pause));
        assert_eq!(sender.gate(us(1), Bytes(1500)), Gate::Open);
        let full = ingress(0, u64::MAX >> 1, 0);
        assert!(bench.sent(us(1), |cx| receiver.on_enqueue(cx, &full)).is_empty());
        assert_eq!(receiver.threshold(Bytes::ZERO), Bytes::MAX);
    }

    #[test]
    fn an_automatic_buffer_is_a_round_trip_of_the_link_and_no_less_than_240_kb() {
        let long =
            LinkInfo { rate: Rate::gbps(400), delay: Span::us(400), reverse_delay: Span::us(400), ..link() };
        assert_eq!(
            (Params {}.min_buffer(&link()), Params {}.min_buffer(&long)),
            (Bytes::kb(240), Bytes::mb(40))
        );
    }
}
