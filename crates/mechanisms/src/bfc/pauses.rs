//! Flows that an egress port has paused: how many of their packets are counted, and which are waiting to be
//! resumed.

use std::collections::VecDeque;

use floodway_units::{PortId, Span, Time};

use super::next_multiple;

/// A VFID and the ingress port of the flow.
pub(super) type Paused = (u32, PortId);

/// State of a paused flow.
#[derive(Clone, Copy, Debug)]
struct State {
    flow: Paused,
    /// Counted packets that wait here.
    counted: u32,
    /// Whether it is on the list, since the limit was reached when it was due to be resumed.
    listed: bool,
    /// Its queue.
    queue: u8,
}

/// Flows that a queue resumes in one HRTT.
#[derive(Clone, Debug, Default)]
struct Resumes {
    /// The number of the HRTT, and how many flows were resumed in it.
    period: u64,
    resumed: u32,
    /// Flows that wait to be resumed.
    list: VecDeque<Paused>,
}

/// The flows of a class that a port has paused.
#[derive(Clone, Debug)]
pub(super) struct Pauses {
    limit: u32,
    /// In order of flows.
    flows: Vec<State>,
    /// By queue.
    resumes: Vec<Resumes>,
    at: Option<Time>,
}

impl Pauses {
    /// Resumes at most `limit` flows of each queue in an HRTT.
    pub(super) fn new(limit: u32) -> Self {
        Pauses { limit, flows: Vec::new(), resumes: Vec::new(), at: None }
    }

    fn find(&self, flow: Paused) -> Result<usize, usize> {
        self.flows.binary_search_by_key(&flow, |state| state.flow)
    }

    /// Counts a packet of a flow that waits in a queue. Returns whether this pauses the flow.
    #[expect(clippy::cast_possible_truncation, reason = "a class has at most 63 queues for flows")]
    pub(super) fn count(&mut self, flow: Paused, queue: usize) -> bool {
        match self.find(flow) {
            Ok(at) => {
                let state = &mut self.flows[at];
                (state.counted, state.queue) = (state.counted + 1, queue as u8);
                false
            }
            Err(at) => {
                self.flows.insert(at, State { flow, counted: 1, listed: false, queue: queue as u8 });
                true
            }
        }
    }

    /// Removes a counted packet that has left. Returns whether this resumes the flow.
    pub(super) fn uncount(&mut self, now: Time, flow: Paused, hop: Span) -> bool {
        let Ok(at) = self.find(flow) else { return false };
        let state = &mut self.flows[at];
        state.counted = state.counted.saturating_sub(1);
        if state.counted > 0 || state.listed {
            return false;
        }
        let (queue, limit) = (usize::from(state.queue), self.limit);
        if self.resumes.len() <= queue {
            self.resumes.resize(queue + 1, Resumes::default());
        }
        let resumes = &mut self.resumes[queue];
        resumes.enter(now.0 / hop.0);
        if resumes.resumed < limit && resumes.list.is_empty() {
            resumes.resumed += 1;
            self.flows.remove(at);
            return true;
        }
        resumes.list.push_back(flow);
        self.flows[at].listed = true;
        self.at = self.at.or_else(|| Some(next_multiple(now, hop)));
        false
    }

    /// When flows of the list are resumed next.
    pub(super) fn resumes_at(&self) -> Option<Time> {
        self.at
    }

    /// Resumes flows of the list up to the limit of a new HRTT.
    pub(super) fn resume(&mut self, now: Time, hop: Span, resumed: &mut impl FnMut(Paused)) {
        for queue in 0..self.resumes.len() {
            self.resumes[queue].enter(now.0 / hop.0);
            while self.resumes[queue].resumed < self.limit
                && let Some(flow) = self.resumes[queue].list.pop_front()
            {
                let Ok(at) = self.find(flow) else { continue };
                if self.flows[at].counted > 0 {
                    // It has been paused again.
                    self.flows[at].listed = false;
                    continue;
                }
                self.flows.remove(at);
                self.resumes[queue].resumed += 1;
                resumed(flow);
            }
        }
        let more = self.resumes.iter().any(|resumes| !resumes.list.is_empty());
        self.at = more.then(|| next_multiple(now, hop));
    }
}

impl Resumes {
    /// Enters the `period`-th HRTT of the run.
    fn enter(&mut self, period: u64) {
        if self.period != period {
            (self.period, self.resumed) = (period, 0);
        }
    }
}
