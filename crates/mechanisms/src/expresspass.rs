//! ExpressPass's sender: it sends a data packet only for a credit of the receiver (Cho, Jang and Han,
//! SIGCOMM 2017, section 3).
//!
//! # What it does
//!
//! A flow with something to send requests credits from its receiver (`CREDIT_REQUEST`). Each credit that
//! arrives allows one packet, new data or a retransmission, and that packet carries the number of the credit
//! it uses. When there is nothing more to send, the sender sends `CREDIT_STOP`; credits that arrive after
//! that are wasted.
//!
//! # Why
//!
//! Data enters the network only where the reverse path of its credits had room for them: queues stay short
//! whatever the number of flows, and a flow gets its share within a few round trips. The costs are a round
//! trip before the first packet, wasted credits at a flow's end, and about 5 % of each link. Choose it with
//! `expresspass` as congestion point at all ports; compare it with `dctcp`, `hpcc` or `dcqcn`, which send
//! first.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | `CREDIT_REQUEST`, `CREDIT_STOP`, credit | messages between the ends of the queue pair |
//! | retransmission of a request | `request-timeout` |
//!
//! # Known differences
//!
//! - The request is a packet of its own. The paper may put it on the SYN, or the first data.
//! - The stop is sent as soon as there is nothing to send; the paper leaves a timeout open, its simulator has
//!   none.
//! - Credits that cannot be used at once, since the NIC is busy or the class is paused, wait: up to 8;
//!   further ones are wasted.
//! - Retransmissions are handled by the queue pair's reliability, and its ACKs are packets in addition to the
//!   credits; in the paper, data of the other direction and the credits carry them.
//! - The number of the used credit adds no bytes to a data packet.
//! - Paths are symmetric because a flow's credits take the path of its data in reverse, not because of a hash
//!   at switches. Where links fail or a router uses more than the flow, each packet is routed separately.
//!
//! # References
//!
//! - Cho, Jang and Han, "Credit-Scheduled Delay-Bounded Congestion Control for Datacenters", SIGCOMM 2017.
//! - Its simulator, `xpass/xpass.cc` of ns2-xpass: the request's timeout.

use floodway_units::cast::narrow;
use floodway_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{Allowance, ControlMessage, Need, ParamError, QpInfo, Reaction, ReactionPoint};

/// The sender has something to send.
pub(crate) const REQUEST: u8 = 1;
/// It has nothing more to send.
pub(crate) const STOP: u8 = 2;
/// A packet may be sent.
pub(crate) const CREDIT: u8 = 3;
/// With a data packet: the credit that it uses.
pub(crate) const USED: u8 = 4;
/// Credits that may wait at the sender.
const WAITING: usize = 8;

/// Parameters of ExpressPass's sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Expresspass")]
pub struct Params {
    /// Time without a credit, above 0, after which the request is sent again; credits that still arrive that
    /// long after a stop trigger another stop.
    /// Source: the simulator of its authors, `retransmit_timeout_`.
    pub request_timeout: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params { request_timeout: Span::us(100) }
    }
}

impl Reaction for Params {
    type Rp = Rp;

    fn build(&self, _qp: &QpInfo) -> Result<Rp, ParamError> {
        if self.request_timeout == Span::ZERO {
            return Err(ParamError::new(
                "request-timeout",
                "0us is not allowed; write a time above 0, like \"100us\"",
            ));
        }
        Ok(Rp {
            timeout: self.request_timeout,
            has_data: false,
            asks_at: None,
            stopped: Time::ZERO,
            says: None,
            credits: Box::new([(0, Time::ZERO); WAITING]),
            first: 0,
            count: 0,
        })
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Messages]
    }

    fn notification(&self) -> Option<&'static str> {
        Some("expresspass")
    }
}

/// One per sending queue pair.
#[derive(Clone, Debug)]
pub struct Rp {
    timeout: Span,
    has_data: bool,
    /// When to request credits again; `None` once one has arrived.
    asks_at: Option<Time>,
    /// When the last stop was sent.
    stopped: Time,
    /// The message that is to be sent.
    says: Option<u8>,
    /// Credits that wait for their packets, with their numbers and when they were sent: a ring.
    credits: Box<[(u64, Time); WAITING]>,
    first: u8,
    count: u8,
}

impl ReactionPoint for Rp {
    fn observes_acks(&self) -> bool {
        false
    }

    fn has_messages(&self) -> bool {
        true
    }

    fn on_demand(&mut self, now: Time, has: bool) {
        self.has_data = has;
        if has {
            // Section 3: CREDIT_REQUEST, as soon as there are data.
            self.says = Some(REQUEST);
            self.asks_at = Some(now + self.timeout);
        } else {
            // Section 3: CREDIT_STOP, when there are none left.
            self.says = Some(STOP);
            self.asks_at = None;
            self.stopped = now;
            self.count = 0;
        }
    }

    fn on_message(&mut self, now: Time, m: &ControlMessage) {
        if m.kind != CREDIT {
            return;
        }
        if !self.has_data {
            // The receiver has not received the stop.
            if now.since(self.stopped) >= self.timeout {
                self.says = Some(STOP);
                self.stopped = now;
            }
            return;
        }
        self.asks_at = None;
        let count = usize::from(self.count);
        if count < WAITING {
            self.credits[(usize::from(self.first) + count) % WAITING] = (m.number, m.time);
            self.count += 1;
        }
    }

    fn next_message(&mut self, now: Time) -> Option<ControlMessage> {
        let kind = self.says.take()?;
        Some(ControlMessage { kind, number: 0, time: now, padding: 0, metered: false })
    }

    fn with_data(&mut self, _now: Time) -> Option<ControlMessage> {
        self.count = self.count.checked_sub(1)?;
        let (number, time) = self.credits[usize::from(self.first)];
        self.first = (self.first + 1) % narrow::<u8>(WAITING);
        Some(ControlMessage { kind: USED, number, time, padding: 0, metered: false })
    }

    fn is_open(&self) -> bool {
        // Section 3: no data without a credit.
        self.count > 0
    }

    fn next_timeout(&self) -> Option<Time> {
        self.asks_at
    }

    fn on_timeout(&mut self, now: Time) {
        self.says = Some(REQUEST);
        self.asks_at = Some(now + self.timeout);
    }

    fn allowance(&self) -> Allowance {
        Allowance::FREE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{qp, until_none, us};

    fn rp() -> Rp {
        Params::default().build(&qp()).unwrap()
    }

    fn credit(number: u64, at: u64) -> ControlMessage {
        ControlMessage { kind: CREDIT, number, time: us(at), padding: 3, metered: true }
    }

    fn says(rp: &mut Rp, at: u64) -> Option<u8> {
        let kind = rp.next_message(us(at)).map(|message| message.kind);
        assert_eq!(rp.next_message(us(at)), None);
        kind
    }

    #[test]
    fn a_flow_asks_sends_a_packet_for_each_credit_and_stops() {
        let mut rp = rp();
        assert!(!rp.is_open() && says(&mut rp, 0).is_none());
        rp.on_demand(us(0), true);
        assert_eq!(says(&mut rp, 0), Some(REQUEST));
        assert!(!rp.is_open(), "no packet goes before a credit");
        rp.on_message(us(10), &credit(0, 5));
        rp.on_message(us(12), &credit(1, 7));
        assert_eq!(rp.next_timeout(), None);
        for (number, at) in [(0, 5), (1, 7)] {
            assert!(rp.is_open());
            let used = rp.with_data(us(13)).unwrap();
            assert_eq!((used.kind, used.number, used.time), (USED, number, us(at)));
        }
        assert!(!rp.is_open() && rp.with_data(us(13)).is_none());
        rp.on_demand(us(13), false);
        assert_eq!(says(&mut rp, 13), Some(STOP));
        // Credits in flight are wasted; credits that arrive later show that the stop was lost.
        rp.on_message(us(20), &credit(2, 12));
        assert!(!rp.is_open() && says(&mut rp, 20).is_none());
        rp.on_message(us(113), &credit(3, 105));
        assert_eq!(says(&mut rp, 113), Some(STOP));
        rp.on_message(us(114), &credit(4, 106));
        assert_eq!(says(&mut rp, 114), None);
    }

    #[test]
    fn a_request_that_no_credit_answers_is_sent_again() {
        let mut rp = rp();
        rp.on_demand(us(0), true);
        assert_eq!((says(&mut rp, 0), rp.next_timeout()), (Some(REQUEST), Some(us(100))));
        rp.on_timeout(us(100));
        assert_eq!((says(&mut rp, 100), rp.next_timeout()), (Some(REQUEST), Some(us(200))));
    }

    #[test]
    fn credits_beyond_eight_are_wasted_and_the_others_keep_their_order() {
        let mut rp = rp();
        rp.on_demand(us(0), true);
        rp.on_message(us(1), &credit(7, 0));
        assert_eq!(rp.with_data(us(1)).unwrap().number, 7);
        (0..9).for_each(|number| rp.on_message(us(2), &credit(number, 1)));
        let used: Vec<u64> = until_none(100, || rp.with_data(us(3)).map(|used| used.number));
        assert_eq!(used, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn no_timeout_is_refused() {
        let error = Params { request_timeout: Span::ZERO }.build(&qp()).unwrap_err();
        assert_eq!(error.key, "request-timeout");
    }
}
