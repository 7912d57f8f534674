//! ECN marking of queues that stand: a packet is marked if the queue that it leaves has been above a
//! threshold for some time, so that bursts pass unmarked (after CoDel: Nichols and Jacobson 2012).
//!
//! # What it does
//!
//! A packet that joins a queue and takes it above `threshold` starts a clock, and one that leaves it at or
//! below stops it. While the clock shows `patience` or more, every packet that leaves is marked.
//!
//! # Why
//!
//! A queue that a burst leaves behind goes away by itself; one that stands only adds delay. A step of `red`
//! marks both. Choose this where bursts are wanted and standing queues are not.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | target | `threshold`, in bytes where CoDel has a time |
//! | interval | `patience` |
//!
//! # Known differences
//!
//! - CoDel measures how long each packet has waited; this goes by the bytes that wait.
//! - CoDel drops one packet an interval, then more and more often; this marks them all, as DCQCN expects it.
//!
//! # References
//!
//! - Nichols and Jacobson, "Controlling Queue Delay", ACM Queue 10(5), 2012.

use floodway_mechanisms::slots::{
    CongestionPoint, CpAction, Cx, Detection, Mark, PacketView, ParamError, PortInfo, QueueView,
};
use floodway_units::{Bytes, Class, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// CoDel's target, 5 ms, is this part of its interval, 100 ms.
const TARGETS_PER_INTERVAL: u64 = 20;

/// Parameters of marking queues that stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Standing")]
pub struct Params {
    /// Longest queue, in bytes, that is none. Default: what the port sends in a twentieth of `patience`.
    /// Source: CoDel, whose target is a twentieth of its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Bytes>,
    /// How long, above 0, a queue may be longer than that before packets are marked. Source: floodway's
    /// choice: some round trips of a datacenter; CoDel's 100 ms are some of the Internet's.
    pub patience: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params { threshold: None, patience: Span::us(100) }
    }
}

impl Detection for Params {
    type Cp = Cp;

    fn build(&self, port: &PortInfo) -> Result<Cp, ParamError> {
        if self.patience == Span::ZERO {
            return Err(ParamError::new(
                "patience",
                "0us is not allowed; write a time above 0, like \"100us\"",
            ));
        }
        let target = || port.rate.bytes_in(self.patience / TARGETS_PER_INTERVAL);
        let threshold = self.threshold.unwrap_or_else(target);
        Ok(Cp { threshold, patience: self.patience, since: [Time::NEVER; Class::COUNT] })
    }
}

/// One per egress port.
#[derive(Clone, Copy, Debug)]
pub struct Cp {
    threshold: Bytes,
    patience: Span,
    /// By class: since when the queue has been above the threshold; never while it is not.
    since: [Time; Class::COUNT],
}

impl CongestionPoint for Cp {
    fn on_enqueue(&mut self, cx: &mut Cx<'_, CpAction>, _p: &PacketView, q: &QueueView) -> Mark {
        let since = &mut self.since[usize::from(q.class.0)];
        if q.len > self.threshold && *since == Time::NEVER {
            *since = cx.now;
        }
        Mark::None
    }

    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        let since = &mut self.since[usize::from(q.class.0)];
        if q.len <= self.threshold {
            *since = Time::NEVER;
        }
        let stands = *since != Time::NEVER && cx.now.since(*since) >= self.patience;
        if stands && p.ecn_capable && p.class != Class::CONTROL { Mark::Ce } else { Mark::None }
    }
}

#[cfg(test)]
mod tests {
    use floodway_mechanisms::testing::{Bench, egress};

    use super::*;

    enum Step {
        Joins,
        Leaves,
    }
    use Step::{Joins, Leaves};

    /// What the machine says when, at so many microseconds, a packet joins or leaves a queue of so many
    /// bytes.
    fn said(cp: &mut Cp, us: u64, step: &Step, len: u64) -> Mark {
        let packet = PacketView { ecn_capable: true, ..PacketView::example() };
        let (mut mark, now) = (Mark::None, Time::ZERO + Span::us(us));
        Bench::new().sent(now, |cx| {
            mark = match step {
                Joins => cp.on_enqueue(cx, &packet, &egress(len)),
                Leaves => cp.on_dequeue(cx, &packet, &egress(len)),
            };
        });
        mark
    }

    #[test]
    fn a_queue_that_stands_is_marked_from_its_patience_on_and_until_it_falls() {
        // 100 Gbit/s for 5 us.
        let mut cp = Params::default().build(&PortInfo::example()).unwrap();
        let steps = [
            (0, Joins, 62_500, Mark::None),
            (10, Joins, 62_501, Mark::None),
            (109, Leaves, 70_000, Mark::None),
            (110, Leaves, 70_000, Mark::Ce),
            (111, Joins, 80_000, Mark::None),
            (112, Leaves, 62_501, Mark::Ce),
            (113, Leaves, 62_500, Mark::None),
            (114, Joins, 70_000, Mark::None),
            (213, Leaves, 70_000, Mark::None),
            (214, Leaves, 70_000, Mark::Ce),
        ];
        for (us, step, len, expected) in steps {
            assert_eq!(said(&mut cp, us, &step, len), expected, "at {us} us");
        }
    }

    #[test]
    fn no_patience_is_refused() {
        let error =
            Params { patience: Span::ZERO, ..Params::default() }.build(&PortInfo::example()).unwrap_err();
        assert_eq!(
            (error.key, error.message.as_str()),
            ("patience", "0us is not allowed; write a time above 0, like \"100us\"")
        );
    }
}
