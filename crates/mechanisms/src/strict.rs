//! Strict priority: the highest class that may send is served first, and in a class sub-queue 0 before 1
//! (strict priority of IEEE 802.1Q).
//!
//! # What it does
//!
//! Whenever the port is free it sends the first packet of the highest class that has one and is not paused.
//! The control class is served before all data classes, without calling the scheduler.
//!
//! # Why
//!
//! It is the default; with one data class it is the same as the others. Choose it where one class must never
//! wait for another; a class that always has packets starves those below it, which does not happen with
//! `deficit-round-robin`.
//!
//! # Known differences
//!
//! None. A frame on the wire is finished: there is no frame preemption.
//!
//! # References
//!
//! - IEEE Std 802.1Q, "Bridges and Bridged Networks", transmission selection: strict priority.

use std::cmp::Reverse;

use floodway_units::{QueueId, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{self, ParamError, PortInfo, ReadyView, Scheduling};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Strict")]
pub struct Params {}

impl Scheduling for Params {
    type Scheduler = Scheduler;

    fn build(&self, _port: &PortInfo) -> Result<Scheduler, ParamError> {
        Ok(Scheduler)
    }
}

/// One per egress port.
#[derive(Clone, Copy, Debug)]
pub struct Scheduler;

impl slots::Scheduler for Scheduler {
    #[inline]
    fn pick(&mut self, now: Time, queues: &[ReadyView]) -> Option<QueueId> {
        let open = queues.iter().filter(|view| view.gate.is_open(now));
        // Clause 8.6.8.1: the strict priority algorithm.
        open.map(|view| view.queue).max_by_key(|queue| (queue.class, Reverse(queue.sub)))
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::Class;

    use super::*;
    use crate::slots::{Gate, Scheduler as _};
    use crate::testing::{ready, us};

    fn picked(queues: &[ReadyView]) -> Option<(u8, u8)> {
        Scheduler.pick(us(5), queues).map(|QueueId { class: Class(class), sub }| (class, sub))
    }

    #[test]
    fn the_highest_open_class_sends_and_in_it_the_first_queue() {
        let queues = [
            ready(3, 0, 1000, Gate::Open),
            ready(5, 1, 1000, Gate::Open),
            ready(5, 0, 1000, Gate::Until(us(5))),
            ready(7, 0, 1000, Gate::Closed),
            ready(6, 0, 1000, Gate::Until(us(6))),
        ];
        assert_eq!(picked(&queues), Some((5, 0)));
        assert_eq!(picked(&queues[..2]), Some((5, 1)));
        assert_eq!(picked(&queues[..1]), Some((3, 0)));
        assert_eq!(picked(&queues[3..]), None);
        assert_eq!(picked(&[]), None);
    }
}
