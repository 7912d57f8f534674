//! All pending events, to be looked at.

use floodway_engine::{Event, Queue};
use floodway_units::Time;

use super::{EventKind, Events, GENERATIONS, Pending, QP_GENERATIONS};

impl Events {
    /// All that is pending, in no order.
    pub fn pending(&mut self) -> Vec<Event> {
        match &mut self.pending {
            Pending::InOneOrder(queue) => {
                let all: Vec<Event> = std::iter::from_fn(|| queue.pop_before(Time::NEVER)).collect();
                *queue = Queue::default();
                for event in &all {
                    queue.push(event.time, event.order, event.item);
                }
                all
            }
            Pending::ByNode(windows) => windows.pending(),
        }
    }

    /// An order without the generation of a timer, which only tells its events apart.
    pub fn without_generation(&self, order: u64) -> u64 {
        match self.decode(order).0 {
            _ if self.numbered => order,
            EventKind::QueuePair | EventKind::Receiver => order & !QP_GENERATIONS,
            kind if kind.is_timer() => order & !GENERATIONS,
            _ => order,
        }
    }
}
