//! Scheduler and congestion points of an egress port.

mod callbacks;
pub(crate) mod meter;
mod metering;

use floodway_mechanisms::registry::{AnyCongestionPoint, AnyScheduler};
use floodway_mechanisms::slots::{Claim, CongestionPoint, Gate, ReadyView};
use floodway_units::{PortId, Time};
use rustc_hash::FxHashMap;

use crate::network::layout::Local;
use crate::run::events::{Armed, EventKind, Events};
use crate::switch::congestion::meter::MeterQueue;

/// Machines of an egress port that not every port has.
#[derive(Debug)]
pub(crate) struct PortMachines {
    pub scheduler: AnyScheduler,
    pub congestion_points: Vec<AnyCongestionPoint>,
    pub cp_timer: Armed,
    /// A machine needs a report of the packets that wait when its queue passes its bound.
    pub reports_waiting: bool,
    /// A machine is asked of each packet where it should wait.
    pub sorts_each: bool,
    /// A machine chooses among the queues of a class.
    pub serves: bool,
    /// A machine watches inputs.
    pub watches: bool,
    /// A machine may clear marks.
    pub clears: bool,
    /// A machine is called for CNPs that pass the switch.
    pub observes_cnps: bool,
    /// Where a machine watches inputs and there is no crossbar: bytes that wait, by ingress port and class.
    pub inputs: FxHashMap<(Local, u8), u64>,
    /// Where a machine classifies: of each flow with packets here, its queue and how many.
    pub queue_of_flow: FxHashMap<u32, (usize, u32)>,
    /// Where a machine limits metered messages.
    pub meter: Option<Box<MeterQueue>>,
}

impl PortMachines {
    /// Keeps of each class only the queue that the machine which chooses among them wants to go next; where
    /// it wants none, the class is offered as one that is held back.
    pub fn offer_one_of_each_class(&mut self, now: Time, ready: &mut Vec<ReadyView>) {
        let claims = |point: &&mut AnyCongestionPoint| point.demands().claims.contains(&Claim::Serve);
        let Some(point) = self.congestion_points.iter_mut().find(claims) else { return };
        let (mut classes, mut from) = (0, 0);
        while from < ready.len() {
            let first = ready[from];
            let same = ready[from..].iter().take_while(|view| view.queue.class == first.queue.class);
            let to = from + same.count();
            let next = point.serve(now, &ready[from..to]);
            let view = ready[from..to].iter().copied().find(|view| Some(view.queue) == next);
            ready[classes] = view.unwrap_or(ReadyView { gate: Gate::Closed, ..first });
            (classes, from) = (classes + 1, to);
        }
        ready.truncate(classes);
    }

    /// Arms the timer for the congestion point that wants to be called first.
    #[inline]
    pub fn sync(&mut self, events: &mut Events, port: PortId) {
        let points = self.congestion_points.iter().filter_map(CongestionPoint::next_timeout);
        let next = points.chain(self.meter.as_ref().and_then(|meter| meter.wake)).min();
        events.sync(&mut self.cp_timer, next, EventKind::CongestionPoint, port.0);
    }
}
