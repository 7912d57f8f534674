//! Scheduler and congestion points of an egress port.

mod hear;
pub(crate) mod meter;
mod metering;

use floodway_mechanisms::registry::{AnyCongestionPoint, AnyScheduler};
use floodway_mechanisms::slots::CongestionPoint;
use floodway_units::PortId;
use rustc_hash::FxHashMap;

use crate::network::layout::Local;
use crate::run::agenda::{Agenda, Armed, What};
use crate::switch::congestion::meter::MeterQueue;

/// Machines of an egress port that not every port has.
#[derive(Debug)]
pub(crate) struct PortMachines {
    pub scheduler: AnyScheduler,
    pub congestion_points: Vec<AnyCongestionPoint>,
    pub cp_timer: Armed,
    /// A machine must know what waits when it comes to hear.
    pub recounts: bool,
    /// A machine watches inputs.
    pub watches: bool,
    /// A machine may clear marks.
    pub clears: bool,
    /// A machine hears of CNPs that pass the switch.
    pub hears_cnps: bool,
    /// Where a machine watches inputs and there is no crossbar: bytes that wait, by ingress port and class.
    pub inputs: FxHashMap<(Local, u8), u64>,
    /// Where a machine classifies: of each flow with packets here, its queue and how many.
    pub placed: FxHashMap<u32, (usize, u32)>,
    /// Where a machine limits metered messages.
    pub meter: Option<Box<MeterQueue>>,
}

impl PortMachines {
    /// Arms the timer for the congestion point that wants to be called first.
    #[inline]
    pub fn sync(&mut self, events: &mut Agenda, port: PortId) {
        let points = self.congestion_points.iter().filter_map(CongestionPoint::next_timeout);
        let next = points.chain(self.meter.as_ref().and_then(|meter| meter.wake)).min();
        events.sync(&mut self.cp_timer, next, What::CongestionPoint, port.0);
    }
}
