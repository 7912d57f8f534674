//! Bursts back to back: a sender's next flow begins when the last byte of the one before has left its NIC.

use floodway_fabric::Blueprint;
use floodway_fabric::blueprint::{Arrivals, LoopSpec, Next};
use floodway_units::cast::narrow;
use floodway_units::{NodeId, Time};

use super::map::Map;
use super::patterns::fastest_nic;
use super::traffic::MOST_FLOWS;
use super::{Builder, workload_path};
use crate::workload::Workload;
use crate::workload::pairs::Burst;

impl Builder<'_> {
    /// The loops of such a burst, one a sender; none where errors say why.
    pub(super) fn back_to_back(
        &mut self,
        workload: &Workload,
        burst: &Burst,
        map: &Map<'_>,
        blueprint: &Blueprint,
    ) -> Option<Arrivals> {
        let pairs = self.pattern(workload, map)?.pairs;
        let apart = pairs.iter().find(|(a, b)| !map.leads(*a, *b));
        if let Some(&(a, b)) = apart {
            let message = format!("no path leads from {} to {}", map.name(a), map.name(b));
            self.fault(&workload_path(workload, "burst"), message);
            return None;
        }
        let (start, until) = self.lasts(workload, burst)?;
        let mut loops = Vec::with_capacity(pairs.len());
        for (source, destination) in pairs {
            // As many as the payload alone would let the NIC send: never too few.
            let most = fastest_nic(blueprint, source).bytes_in(until.since(start));
            let messages = most.0.div_ceil(burst.size.0) + 1;
            let [source, destination] = [source, destination].map(|node| NodeId(narrow(node)));
            let next = Next::Left;
            loops.push(LoopSpec { source, destination, size: burst.size, messages, depth: 1, start, next });
        }
        if loops.iter().map(|of| of.messages).fold(0, u64::saturating_add) > MOST_FLOWS {
            let message = format!("that may make more than {MOST_FLOWS} flows");
            self.fault(&workload_path(workload, "burst.back-to-back"), message);
            return None;
        }
        Some(Arrivals::ClosedLoop(loops))
    }

    /// From when to when it lasts.
    fn lasts(&mut self, workload: &Workload, burst: &Burst) -> Option<(Time, Time)> {
        let start = workload.start.unwrap_or_default();
        let (key, message) = match workload.until {
            _ if burst.every.is_some() => {
                ("burst", "\"every\" and \"back-to-back\" are given together: give one".to_owned())
            }
            Some(until) if start < until => return Some((start, until)),
            Some(until) => {
                ("burst", format!("it starts at {start}, but no flow may start at {until} or later"))
            }
            None => ("burst.back-to-back", "a burst that repeats needs the workload's \"until\"".to_owned()),
        };
        self.fault(&workload_path(workload, key), message);
        None
    }
}
