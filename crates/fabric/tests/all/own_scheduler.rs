//! A scheduler from outside the tree that names a queue which may not send: the run ends with an error.

use crate::support;
use crate::support::{Net, PFC, refused};
use floodway_mechanisms::registry::SchedulerParams;
use floodway_mechanisms::registry::custom::Custom;
use floodway_mechanisms::slots::{ParamError, PortInfo, ReadyView, Scheduler, Scheduling};
use floodway_units::{Bytes, Class, QueueId, Rate, Span, Time};
use floodway_wire::Format;
use serde::Serialize;

/// Picks the first open queue offered, and from the `wrong_after`-th time on this one.
#[derive(Clone, Copy, Debug, Serialize)]
struct Faulty {
    wrong_after: u64,
    class: u8,
    sub: u8,
}

impl Scheduling for Faulty {
    type Scheduler = Faulty;

    fn build(&self, _port: &PortInfo) -> Result<Faulty, ParamError> {
        Ok(*self)
    }
}

impl Scheduler for Faulty {
    fn pick(&mut self, now: Time, queues: &[ReadyView]) -> Option<QueueId> {
        self.wrong_after = self.wrong_after.saturating_sub(1);
        if self.wrong_after == 0 {
            return Some(QueueId { class: Class(self.class), sub: self.sub });
        }
        queues.iter().find(|offered| offered.gate.is_open(now)).map(|offered| offered.queue)
    }
}

/// Two hosts send flows of two classes to a third; the scheduler is at the ports of one link.
fn net(link: usize, faulty: Faulty) -> Net {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(1));
    let (a, b, s, c) = (net.host("a"), net.host("b"), net.switch("s"), net.host("c"));
    for (from, to) in [(a, s), (b, s), (s, c)] {
        net.link(from, to, Rate::gbps(100), Span::us(1), PFC);
    }
    net.second_class();
    for end in &mut net.blueprint.links[link].ends {
        end.scheduler = SchedulerParams::Custom(Custom { name: "odd", params: Box::new(faulty) });
    }
    net.flow(a, c, Bytes(100_000), Span::ZERO);
    net.flow(a, c, Bytes(100_000), Span::ZERO).settings = Some(1);
    net.flow(b, c, Bytes(100_000), Span::ZERO);
    net
}

#[test]
fn a_queue_that_was_not_offered_ends_the_run_with_the_mechanism_and_the_port() {
    let port_of = [(2, "s (s-c)"), (0, "a (a-s)")];
    for (link, port) in port_of {
        for (class, sub) in [(7, 0), (5, 0), (3, 1), (4, 200), (6, 0)] {
            let net = net(link, Faulty { wrong_after: 5, class, sub });
            let refusal = refused(&net, 1);
            let begin = format!(
                "scheduler \"odd\" at port {port:?} picked the queue of class {class}, sub {sub}, which"
            );
            assert!(refusal.starts_with(&begin), "{refusal}");
            assert!(
                refusal.contains("it was not offered, at ") && refusal.contains("; allowed: none, or class "),
                "{refusal}"
            );
            assert_eq!(refusal, refused(&net, 2), "on two threads");
        }
    }
}

#[test]
fn a_scheduler_that_picks_what_it_is_offered_runs_to_the_end() {
    let records = net(2, Faulty { wrong_after: u64::MAX, class: 0, sub: 0 }).run();
    assert!(support::finished(&records).iter().all(|finished| *finished));
}
