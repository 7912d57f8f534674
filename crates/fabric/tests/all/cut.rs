//! Windows with so many events that a run must end within one: books stay whole, and no thread waits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use floodway_engine::memory::Exhausted;
use floodway_fabric::outcome::Stopped;
use floodway_fabric::transport::{InProcess, in_process};
use floodway_fabric::{Control, Fabric, RankPlan, ThreadPlan, Threads, Transport};
use floodway_mechanisms::registry::ReactionParams;
use floodway_mechanisms::registry::custom::Custom;
use floodway_mechanisms::slots::{Allowance, ParamError, QpInfo, Reaction, ReactionPoint};
use floodway_units::{Bytes, Rate, Span, Time};
use floodway_wire::Format;
use serde::Serialize;

use crate::support::{Net, PFC, assert_invariants};

/// Events that a thread executes at most once the run is to end, as the run has it, and some more between two
/// checks, each on up to three threads.
const MOST: u64 = 3 * ((1 << 16) + (1 << 14));
/// A window is as long as a link.
const WINDOW: Span = Span::us(100);
/// Between two ticks: each flow alone has more in a window than all threads may execute.
const TICK: Span = Span(200);

/// What is shared with the ticking machines.
#[derive(Debug, Default)]
struct Shared {
    control: Control,
    ticks: AtomicU64,
}

/// Ticks without end from a time on, and at one tick of all asks the run to end.
#[derive(Clone, Debug, Serialize)]
struct Ticks {
    #[serde(skip)]
    shared: &'static Shared,
    from: u64,
    ends_at: u64,
    gives_up: bool,
    next: Option<u64>,
}

impl Reaction for Ticks {
    type Rp = Ticks;

    fn build(&self, _qp: &QpInfo) -> Result<Ticks, ParamError> {
        Ok(self.clone())
    }
}

impl ReactionPoint for Ticks {
    fn on_sent(&mut self, now: Time, _wire: Bytes) {
        self.next.get_or_insert(self.from.max(now.0 + TICK.0));
    }

    fn next_timeout(&self) -> Option<Time> {
        self.next.map(Time)
    }

    fn on_timeout(&mut self, now: Time) {
        self.next = Some(now.0 + TICK.0);
        if self.shared.ticks.fetch_add(1, Ordering::Relaxed) + 1 == self.ends_at {
            if self.gives_up {
                self.shared.control.give_up();
            } else {
                self.shared.control.stop.store(true, Ordering::Relaxed);
            }
        }
    }

    fn allowance(&self) -> Allowance {
        Allowance::FREE
    }
}

/// Five hosts send to a sixth one, and each to the next one; each flow ticks.
fn incast(from: Span, ends_at: u64, gives_up: bool) -> (Net, &'static Shared) {
    let shared: &'static Shared = Box::leak(Box::default());
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(100));
    let s = net.switch("s");
    let hosts: Vec<_> = (0..6).map(|i| net.host(&format!("h{i}"))).collect();
    for &host in &hosts {
        net.link(host, s, Rate::gbps(100), WINDOW, PFC);
    }
    for (i, &host) in hosts.iter().enumerate().skip(1) {
        net.flow(host, hosts[0], Bytes::mb(100), Span::ZERO);
        net.flow(host, hosts[(i + 1) % hosts.len()], Bytes::mb(100), Span::ZERO);
    }
    let ticks = Ticks { shared, from: from.0, ends_at, gives_up, next: None };
    net.blueprint.settings[0].rate_control =
        vec![ReactionParams::Custom(Custom { name: "ticks", params: Box::new(ticks) })];
    (net, shared)
}

fn fabric<'a>(net: &'a Net, shared: &'static Shared, threads: usize) -> Fabric<'a> {
    let plan = ThreadPlan::of_run(&net.blueprint, Threads::Forced(threads), threads);
    assert_eq!(plan.threads(), threads);
    Fabric::build(&net.blueprint, &shared.control).expect("it is sound").on(&plan)
}

#[test]
fn a_run_that_is_stopped_within_a_window_ends_there_and_keeps_its_books() {
    for threads in 1..=3 {
        // At first nothing has arrived; later queues are long, and ports pause.
        for (from, ends_at) in [(0, 1), (0, 40_000), (250, 1), (950, 10_000)] {
            let (net, shared) = incast(Span::us(from), ends_at, false);
            let records = fabric(&net, shared, threads).run();
            assert_invariants(&records);
            assert_eq!(records.outcome.stopped, Stopped::Interrupted);
            let ticks = shared.ticks.load(Ordering::Relaxed);
            assert!(ticks <= ends_at + MOST, "{ticks} ticks on {threads} threads");
            assert!(records.outcome.bytes.in_flight > 0);
        }
    }
}

#[test]
fn a_run_that_gives_up_within_a_window_ends_at_once() {
    for threads in 1..=3 {
        let (net, shared) = incast(Span::us(250), 10_000, true);
        let ended = catch_unwind(AssertUnwindSafe(|| fabric(&net, shared, threads).run())).unwrap_err();
        assert_eq!(ended.downcast_ref(), Some(&Exhausted { bytes: 0 }));
        let ticks = shared.ticks.load(Ordering::Relaxed);
        assert!(ticks <= 10_000 + 3 * (1 << 14), "{ticks} ticks on {threads} threads");
    }
}

#[test]
fn a_rank_that_is_cut_within_a_window_ends_all_ranks() {
    let (net, shared) = incast(Span::us(250), 10_000, false);
    let plan = RankPlan::of_run(&net.blueprint, 2).expect("it has windows");
    let part = |transport: InProcess| {
        let part = (plan.clone(), &transport as &dyn Transport);
        Fabric::build_part(&net.blueprint, None, &shared.control, part).expect("it is sound").run_part()
    };
    let part = &part;
    let records: Vec<_> = thread::scope(|scope| {
        let ranks: Vec<_> =
            in_process(2).into_iter().map(|transport| scope.spawn(move || part(transport))).collect();
        ranks.into_iter().map(|rank| rank.join().expect("it ends")).collect()
    });
    let first = records[0].as_ref().expect("the first has them");
    assert_invariants(first);
    assert_eq!(first.outcome.stopped, Stopped::Interrupted);
    assert!(shared.ticks.load(Ordering::Relaxed) <= 10_000 + MOST);
}
