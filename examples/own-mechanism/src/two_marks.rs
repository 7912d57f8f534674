//! Pauses between two marks: an ingress pauses its upstream above one level, and lets it go on below another.
//!
//! # What it does
//!
//! The receiver half pauses when it holds more than `high` bytes, for as long as it takes, and resumes when
//! it holds `low` or less. It renews the pause half-way through the longest time that a frame can name.
//!
//! # Why
//!
//! PFC with two sizes that are stated, and no more: a pattern to begin with. For all that switches have,
//! choose `pfc`.
//!
//! # Sizing
//!
//! What may still come after a pause was decided: a packet on the wire at either end, and the round trip of
//! the link: `high + 2 MTU + rate x (delay + reverse delay)`, and the time that the pause frame takes.
//!
//! # Known differences
//!
//! - Those of `pfc` to IEEE 802.1Qbb hold; upstreams obey at once.
//!
//! # References
//!
//! - IEEE 802.1Qbb, Priority-based Flow Control.

use floodway_mechanisms::slots::{
    Cx, FcFrame, FcReceiver, FcSender, FlowControl, Gate, IngressView, LinkInfo, ParamError,
};
use floodway_units::{Bytes, Class, Quanta, Rate, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of pauses between two marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "TwoMarks")]
pub struct Params {
    /// It pauses above this.
    pub high: Bytes,
    /// It resumes at this or less; below `high`.
    pub low: Bytes,
}

impl Default for Params {
    fn default() -> Self {
        Params { high: Bytes::kb(100), low: Bytes::kb(50) }
    }
}

impl FlowControl for Params {
    type Sender = Sender;
    type Receiver = Receiver;

    fn build(&self, link: &LinkInfo) -> Result<(Sender, Receiver), ParamError> {
        if self.low >= self.high {
            return Err(ParamError::new("low", format!("{} is not below high = {}", self.low, self.high)));
        }
        let receiver = Receiver {
            params: *self,
            class: link.class,
            renew_after: Quanta::MAX.span(link.rate) / 2,
            is_pausing: false,
            renew_at: Time::NEVER,
        };
        Ok((Sender { rate: link.rate, paused_until: Time::ZERO }, receiver))
    }

    fn min_buffer(&self, link: &LinkInfo) -> Bytes {
        // The frame waits for one packet at most before it goes; the upstream finishes the one that it sends.
        let frame = Bytes(84);
        let wire = link.mtu.saturating_add(link.overhead);
        let waits = link.reverse_rate.time_to_send(wire) + link.reverse_rate.time_to_send(frame);
        let comes = link.rate.bytes_covering(waits + link.delay + link.reverse_delay);
        self.high.saturating_add(comes).saturating_add(wire).saturating_add(link.mtu)
    }

    fn min_buffer_formula(&self) -> &'static str {
        "high + 2 MTU + rate x (delay + reverse delay + a packet and the frame)"
    }

    fn tolerates_unpaused(&self) -> bool {
        true
    }
}

/// The half at the upstream.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    rate: Rate,
    paused_until: Time,
}

impl FcSender for Sender {
    fn on_frame(&mut self, cx: &mut Cx<'_, FcFrame>, frame: FcFrame) {
        if let FcFrame::Pause { quanta, .. } = frame {
            self.paused_until = cx.now + quanta.span(self.rate);
        }
    }

    fn gate(&self, now: Time, _next: Bytes) -> Gate {
        if now < self.paused_until { Gate::Until(self.paused_until) } else { Gate::Open }
    }

    fn next_timeout(&self) -> Option<Time> {
        (self.paused_until > Time::ZERO).then_some(self.paused_until)
    }

    fn on_timeout(&mut self, _cx: &mut Cx<'_, FcFrame>) {
        self.paused_until = Time::ZERO;
    }
}

/// The half at the downstream.
#[derive(Clone, Copy, Debug)]
pub struct Receiver {
    params: Params,
    class: Class,
    renew_after: Span,
    is_pausing: bool,
    renew_at: Time,
}

impl Receiver {
    fn pause(&mut self, cx: &mut Cx<'_, FcFrame>) {
        self.is_pausing = true;
        self.renew_at = cx.now + self.renew_after;
        cx.push(FcFrame::Pause { class: self.class, quanta: Quanta::MAX });
    }
}

impl FcReceiver for Receiver {
    fn on_enqueue(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        if !self.is_pausing && q.queued > self.params.high {
            self.pause(cx);
        }
    }

    fn on_release(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        if self.is_pausing && q.queued <= self.params.low {
            self.is_pausing = false;
            self.renew_at = Time::NEVER;
            cx.push(FcFrame::Pause { class: self.class, quanta: Quanta(0) });
        }
    }

    fn awaits_release(&self) -> bool {
        self.is_pausing
    }

    fn next_timeout(&self) -> Option<Time> {
        self.is_pausing.then_some(self.renew_at)
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_, FcFrame>, _q: &IngressView) {
        if self.is_pausing {
            self.pause(cx);
        }
    }
}

#[cfg(test)]
mod tests {
    use floodway_mechanisms::testing::{Bench, ingress, us};

    use super::*;

    #[test]
    fn it_pauses_above_the_high_mark_until_the_low_one() {
        let params = Params { high: Bytes(3_000), low: Bytes(1_000) };
        let link = LinkInfo::example();
        let (mut sender, mut receiver) = params.build(&link).expect("valid");
        let mut bench = Bench::new();
        assert!(bench.sent(us(1), |cx| receiver.on_enqueue(cx, &ingress(3_000, 0, 0))).is_empty());
        let pause = bench.sent(us(2), |cx| receiver.on_enqueue(cx, &ingress(3_001, 0, 0)));
        assert_eq!(pause, [FcFrame::Pause { class: Class::DATA, quanta: Quanta::MAX }]);
        bench.sent(us(3), |cx| sender.on_frame(cx, pause[0]));
        // 65,535 times 512 bits at 100 Gbit/s.
        let end = us(3) + Span(335_539_200);
        assert_eq!(sender.gate(us(3), Bytes(1)), Gate::Until(end));
        assert!(bench.sent(us(4), |cx| receiver.on_release(cx, &ingress(1_001, 0, 0))).is_empty());
        let resume = bench.sent(us(5), |cx| receiver.on_release(cx, &ingress(1_000, 0, 0)));
        bench.sent(us(6), |cx| sender.on_frame(cx, resume[0]));
        assert_eq!(sender.gate(us(6), Bytes(1)), Gate::Open);
    }

    #[test]
    fn a_pause_that_lasts_is_renewed() {
        let params = Params { high: Bytes(3_000), low: Bytes(1_000) };
        let (_, mut receiver) = params.build(&LinkInfo::example()).expect("valid");
        let mut bench = Bench::new();
        bench.sent(us(2), |cx| receiver.on_enqueue(cx, &ingress(3_001, 0, 0)));
        let at = receiver.next_timeout().expect("it pauses");
        assert_eq!(at, us(2) + Span(167_769_600));
        assert_eq!(bench.sent(at, |cx| receiver.on_timeout(cx, &ingress(3_001, 0, 0))).len(), 1);
        assert!(receiver.next_timeout().is_some_and(|next| next > at));
    }

    #[test]
    fn marks_that_cross_are_refused() {
        let crossed = Params { high: Bytes(1_000), low: Bytes(1_000) };
        assert_eq!(crossed.build(&LinkInfo::example()).map(drop).unwrap_err().key, "low");
    }
}
