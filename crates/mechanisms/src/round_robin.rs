//! Round robin: one packet per turn, over the classes that may send; in a class sub-queue 0 before 1 (the
//! data queues of the HPCC simulator's switch).
//!
//! # What it does
//!
//! After a packet of class c has been sent, the next class above c that has a packet and is not paused sends
//! next, cyclically. A paused class loses its turn, not its position.
//!
//! # Why
//!
//! It is the simplest fair sharing of packets. Classes with larger packets get more bytes:
//! `deficit-round-robin` corrects that and has weights. `strict` always prefers one class.
//!
//! # Known differences
//!
//! None.
//!
//! # References
//!
//! - Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, its simulator:
//!   `broadcom-egress-queue.cc`.

use floodway_units::{Bytes, QueueId, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{self, ParamError, PortInfo, ReadyView, Scheduling};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "RoundRobin")]
pub struct Params {}

impl Scheduling for Params {
    type Scheduler = Scheduler;

    fn build(&self, _port: &PortInfo) -> Result<Scheduler, ParamError> {
        Ok(Scheduler { last: u8::MAX, picked: None })
    }
}

/// One per egress port.
#[derive(Clone, Copy, Debug)]
pub struct Scheduler {
    /// The class that had the last turn; before the first turn the class before class 0.
    last: u8,
    /// The last answer of `pick`, which a frame of that queue confirms.
    picked: Option<QueueId>,
}

impl slots::Scheduler for Scheduler {
    #[inline]
    fn pick(&mut self, now: Time, queues: &[ReadyView]) -> Option<QueueId> {
        let after_last = |class: u8| class.wrapping_sub(self.last).wrapping_sub(1);
        let open = queues.iter().filter(|view| view.gate.is_open(now));
        self.picked = open.map(|view| view.queue).min_by_key(|queue| (after_last(queue.class.0), queue.sub));
        self.picked
    }

    #[inline]
    fn on_sent(&mut self, _now: Time, q: QueueId, _wire: Bytes) {
        if self.picked.take() == Some(q) {
            self.last = q.class.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slots::{Gate, Scheduler as _};
    use crate::testing::{ready, us};

    fn scheduler() -> Scheduler {
        Scheduler { last: u8::MAX, picked: None }
    }

    /// Picks a queue and sends; returns the class and sub-queue.
    fn serve(scheduler: &mut Scheduler, queues: &[ReadyView]) -> (u8, u8) {
        let queue = scheduler.pick(us(1), queues).expect("a queue is open");
        scheduler.on_sent(us(1), queue, Bytes(1000));
        (queue.class.0, queue.sub)
    }

    #[test]
    fn open_classes_take_turns_packet_by_packet() {
        let queues = [
            ready(4, 0, 64, Gate::Open),
            ready(0, 0, 1500, Gate::Open),
            ready(7, 0, 1500, Gate::Open),
            ready(2, 0, 1500, Gate::Closed),
        ];
        let mut scheduler = scheduler();
        let turns: Vec<_> = (0..6).map(|_| serve(&mut scheduler, &queues).0).collect();
        assert_eq!(turns, [0, 4, 7, 0, 4, 7]);
    }

    #[test]
    fn in_a_class_the_second_queue_waits_for_the_first() {
        let queues = [ready(3, 1, 64, Gate::Open), ready(3, 0, 64, Gate::Open), ready(4, 0, 64, Gate::Open)];
        let mut scheduler = scheduler();
        let turns: Vec<_> = (0..3).map(|_| serve(&mut scheduler, &queues)).collect();
        assert_eq!(turns, [(3, 0), (4, 0), (3, 0)]);
        assert_eq!(serve(&mut scheduler, &queues[..1]), (3, 1));
    }

    #[test]
    fn asking_alone_takes_no_turn() {
        let queues = [ready(3, 0, 64, Gate::Open), ready(4, 0, 64, Gate::Open)];
        let mut scheduler = scheduler();
        let asked: Vec<_> = (0..3).map(|_| scheduler.pick(us(1), &queues)).collect();
        assert!(asked.iter().all(|answer| *answer == asked[0]));
        assert_eq!(serve(&mut scheduler, &queues).0, 3);
        // Nor does a frame of another queue, as the control class sends them unasked.
        scheduler.on_sent(us(1), QueueId { class: floodway_units::Class::CONTROL, sub: 0 }, Bytes(64));
        assert_eq!(serve(&mut scheduler, &queues).0, 4);
    }
}
