//! Answers of a discipline that the engine cannot use.

use floodway_blueprint::network::blueprint::Blueprint;
use floodway_engine::panics::Misused;
use floodway_mechanisms::slots::ReadyView;
use floodway_units::{PortId, Time};

/// The discipline of a port: its place among the port's congestion points.
#[derive(Clone, Copy)]
pub(in crate::switch) struct Asked<'a> {
    pub blueprint: &'a Blueprint,
    pub port: PortId,
    pub owner: Option<usize>,
    pub now: Time,
}

impl Asked<'_> {
    /// Ends the run: a packet was sorted into a queue that the discipline does not have.
    #[cold]
    pub fn refuse_queue(self, sub: usize, queues: usize) -> ! {
        self.refuse("classify", sub, &format!("0 to {}", queues - 1))
    }

    /// Ends the run: a queue is to send that was not offered, or is held back.
    #[cold]
    pub fn refuse_turn(self, sub: u8, ready: &[ReadyView]) -> ! {
        let open =
            ready.iter().filter(|view| view.gate.is_open(self.now)).map(|view| view.queue.sub.to_string());
        let open = open.collect::<Vec<_>>().join(", ");
        let queues = if open.is_empty() { String::new() } else { format!(", or one of the queues {open}") };
        self.refuse("serve", sub.into(), &format!("no queue, the scheduler's choice{queues}"))
    }

    fn refuse(self, call: &str, sub: usize, allowed: &str) -> ! {
        let end = &self.blueprint.links[self.port.index() / 2].ends[self.port.index() % 2];
        let name = self.owner.and_then(|owner| end.congestion_points.get(owner)).map_or("", |own| own.name());
        let message = format!(
            "congestion point {name:?} at port {:?}: `{call}` returned queue {sub} at {} us; allowed: {allowed}",
            self.blueprint.port_name(self.port),
            self.now.as_us()
        );
        Misused { message }.end()
    }
}
