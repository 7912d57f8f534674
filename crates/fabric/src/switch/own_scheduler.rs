//! Schedulers from outside the tree, whose answers are checked before the engine uses them.

use floodway_engine::panics::Misused;
use floodway_mechanisms::registry::AnyScheduler;
use floodway_mechanisms::slots::{ReadyView, Scheduler};
use floodway_units::{Bytes, QueueId, Time};

/// The scheduler of one port.
struct Checked {
    scheduler: Box<dyn Scheduler + Send>,
    /// The mechanism, as scenarios spell it.
    name: &'static str,
    /// The port.
    port: String,
}

/// The scheduler itself, or one from outside the tree that is checked.
pub(crate) fn checked(
    scheduler: AnyScheduler,
    name: &'static str,
    port: impl FnOnce() -> String,
) -> AnyScheduler {
    match scheduler {
        AnyScheduler::Custom(scheduler) => {
            AnyScheduler::Custom(Box::new(Checked { scheduler, name, port: port() }))
        }
        listed => listed,
    }
}

impl Scheduler for Checked {
    fn pick(&mut self, now: Time, queues: &[ReadyView]) -> Option<QueueId> {
        let picked = self.scheduler.pick(now, queues)?;
        match queues.iter().find(|offered| offered.queue == picked) {
            Some(offered) if offered.gate.is_open(now) => Some(picked),
            found => self.refuse(now, picked, queues, found.is_some()),
        }
    }

    fn on_sent(&mut self, now: Time, q: QueueId, wire: Bytes) {
        self.scheduler.on_sent(now, q, wire);
    }
}

impl Checked {
    #[cold]
    fn refuse(&self, now: Time, picked: QueueId, queues: &[ReadyView], is_offered: bool) -> ! {
        let open =
            queues.iter().filter(|offered| offered.gate.is_open(now)).map(|offered| words(offered.queue));
        let open = open.collect::<Vec<_>>().join("; ");
        let allowed = if open.is_empty() { String::from("none") } else { format!("none, or {open}") };
        let wrong = if is_offered { "which is held back" } else { "which it was not offered" };
        let message = format!(
            "scheduler {:?} at port {:?} picked the queue of {}, {wrong}, at {} us; allowed: {allowed}",
            self.name,
            self.port,
            words(picked),
            now.as_us()
        );
        Misused { message }.end()
    }
}

fn words(queue: QueueId) -> String {
    format!("class {}, sub {}", queue.class.0, queue.sub)
}
