//! A congestion point that ends its run.

use std::panic::resume_unwind;

use floodway_mechanisms::slots::{CongestionPoint, CpAction, Cx, Mark, PacketView, QueueView};

/// Panics at its fiftieth packet.
#[derive(Default)]
pub struct Breaks(u64);

impl CongestionPoint for Breaks {
    fn on_enqueue(&mut self, _cx: &mut Cx<'_, CpAction>, _p: &PacketView, _q: &QueueView) -> Mark {
        self.0 += 1;
        if self.0 == 50 {
            resume_unwind(Box::new("it breaks"));
        }
        Mark::None
    }
}
