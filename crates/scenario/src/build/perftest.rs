//! Closed loops: sender, receiver, sizes, and what posts the next message.

use floodway_fabric::blueprint::{Arrivals, LoopSpec, Next};
use floodway_units::cast::narrow;
use floodway_units::{Bytes, NodeId, Time};

use super::map::Map;
use super::{Builder, workload_path};
use crate::grammar::bounds::MOST_BYTES;
use crate::workload::Workload;
use crate::workload::pairs::around;
use crate::workload::perftest::{Perftest, Test};

/// The most messages of a workload.
const MOST_MESSAGES: u64 = 1 << 26;
/// The most queue pairs of a workload.
const MOST_LOOPS: u64 = 1 << 20;

/// Payload of the request of a read. A READ's has none, but a header of 16 bytes, as the first packet of any
/// message here has; a message has a byte at least.
const REQUEST: Bytes = Bytes(1);
/// The reads of a queue pair that a NIC has outstanding: `max_qp_rd_atom` of the ConnectX family.
const OUTSTANDING_READS: u64 = 16;

/// What each queue pair of a test does.
#[derive(Clone, Copy)]
struct Loop {
    size: Bytes,
    messages: u64,
    depth: u64,
    start: Time,
}

impl Builder<'_> {
    /// The loops of a perftest workload; none where errors say why.
    pub(super) fn perftest(
        &mut self,
        workload: &Workload,
        perftest: &Perftest,
        map: &Map<'_>,
    ) -> Option<Arrivals> {
        let from = self.hosts(workload, "perftest.from", &perftest.from, map);
        let to = self.hosts(workload, "perftest.to", &perftest.to, map);
        let pairs = around(&from?, &to?);
        let path = |key| workload_path(workload, key);
        if pairs.is_empty() {
            self.fault(&path("perftest.to"), "no host has another one to send to");
            return None;
        }
        let apart = pairs.iter().find(|(a, b)| !map.leads(*a, *b) || !map.leads(*b, *a));
        if let Some(&(a, b)) = apart {
            let message = format!("no path leads from {} to {} and back", map.name(a), map.name(b));
            self.fault(&path("perftest"), message);
            return None;
        }
        let meets = |&&(a, b): &&(usize, usize)| a < b && pairs.contains(&(b, a));
        if let Some(&(a, b)) = pairs.iter().find(meets)
            && (perftest.bidirectional || perftest.test != Test::WriteBw)
        {
            let [a, b] = [a, b].map(|host| map.name(host));
            let message = format!("{a} and {b} would each be the other's client: name each pair once");
            self.fault(&path("perftest"), message);
            return None;
        }
        let each = self.each_loop(workload, perftest)?;
        let qps = self.qps(workload, perftest, pairs.len() as u64, each.messages)?;
        let mut loops = Vec::new();
        for pair in pairs {
            let ends = [NodeId(narrow(pair.0)), NodeId(narrow(pair.1))];
            match perftest.test {
                Test::WriteBw => {
                    let directions = if perftest.bidirectional { 2 } else { 1 };
                    loops.extend((0..qps * directions).map(|i| each.bandwidth(ends, i >= qps)));
                }
                Test::ReadBw => {
                    for _ in 0..qps {
                        loops.extend(each.there_and_back(ends, loops.len(), REQUEST));
                    }
                }
                Test::WriteLat => loops.extend(each.there_and_back(ends, loops.len(), each.size)),
            }
        }
        Some(Arrivals::ClosedLoop(loops))
    }

    fn each_loop(&mut self, workload: &Workload, perftest: &Perftest) -> Option<Loop> {
        let Perftest { test, .. } = *perftest;
        let size = perftest.size.unwrap_or(test.size());
        let messages = perftest.iterations.unwrap_or(test.iterations());
        let outstanding = if test == Test::ReadBw {
            perftest.outstanding_reads.unwrap_or(OUTSTANDING_READS)
        } else {
            u64::MAX
        };
        let depth = match test {
            Test::WriteLat => 1,
            Test::WriteBw | Test::ReadBw => perftest.queue_depth.unwrap_or(128),
        };
        let start = workload.start.unwrap_or_default();
        let least = test.least_iterations();
        let fault = if let Some(foreign) = of_other_tests(perftest) {
            Some(foreign)
        } else if size == Bytes::ZERO || size > MOST_BYTES {
            Some(("size", format!("{size} is not a size from 1B to {MOST_BYTES}")))
        } else if messages < least {
            Some(("iterations", format!("{messages} is not allowed; the minimum is {least}")))
        } else if depth == 0 {
            Some(("queue-depth", "0 is not allowed; the minimum is 1".to_owned()))
        } else if outstanding == 0 {
            Some(("outstanding-reads", "0 is not allowed; the minimum is 1".to_owned()))
        } else {
            None
        };
        let depth = depth.min(outstanding);
        let Some((key, why)) = fault else { return Some(Loop { size, messages, depth, start }) };
        self.fault(&["workload", &workload.name, "perftest", key], why);
        None
    }

    /// Queue pairs of each pair of hosts, if all together are not too many.
    fn qps(&mut self, workload: &Workload, perftest: &Perftest, pairs: u64, messages: u64) -> Option<u64> {
        let qps = perftest.qps.unwrap_or(1);
        let loops = qps.saturating_mul(2 * pairs);
        let why = if qps == 0 {
            "0 is not allowed; the minimum is 1".to_owned()
        } else if loops > MOST_LOOPS {
            format!("that makes more than {MOST_LOOPS} queue pairs")
        } else if loops.saturating_mul(messages) > MOST_MESSAGES {
            format!("that makes more than {MOST_MESSAGES} messages")
        } else {
            return Some(qps);
        };
        let key = if qps == 0 || loops > MOST_LOOPS { "perftest.qps" } else { "perftest.iterations" };
        self.fault(&workload_path(workload, key), why);
        None
    }
}

/// A key that belongs to other tests than this one, and why it is refused.
fn of_other_tests(perftest: &Perftest) -> Option<(&'static str, String)> {
    let (test, ways) = (perftest.test, perftest.bidirectional);
    let keys = [
        ("queue-depth", perftest.queue_depth.is_some(), &[Test::WriteBw, Test::ReadBw][..]),
        ("qps", perftest.qps.is_some(), &[Test::WriteBw, Test::ReadBw]),
        ("bidirectional", ways, &[Test::WriteBw]),
        ("outstanding-reads", perftest.outstanding_reads.is_some(), &[Test::ReadBw]),
    ];
    let (key, _, tests) = keys.into_iter().find(|(_, given, tests)| *given && !tests.contains(&test))?;
    let tests: Vec<String> = tests.iter().map(|of| format!("{:?}", of.name())).collect();
    Some((key, format!("{:?} has no such key: it belongs to {}", test.name(), tests.join(" and "))))
}

impl Loop {
    fn bandwidth(self, [client, server]: [NodeId; 2], back: bool) -> LoopSpec {
        let (source, destination) = if back { (server, client) } else { (client, server) };
        let Loop { size, messages, depth, start } = self;
        LoopSpec { source, destination, size, messages, depth, start, next: Next::Sent }
    }

    /// There, with messages of `request` bytes, and back; the first of both has the index `first`.
    fn there_and_back(self, [client, server]: [NodeId; 2], first: usize, request: Bytes) -> [LoopSpec; 2] {
        let Loop { size, messages, depth, start } = self;
        let direction = |(source, destination), size, depth, other| LoopSpec {
            source,
            destination,
            size,
            messages,
            depth,
            start,
            next: Next::Arrived(other),
        };
        let there = direction((client, server), request, depth, first + 1);
        [there, direction((server, client), size, 0, first)]
    }
}
