//! A queue of the port: its controller and the table of its flows.

use std::collections::BTreeMap;

use floodway_units::cast::{saturated, whole};
use floodway_units::{Bytes, Class, FlowId};

use super::Settings;
use crate::slots::{OrAuto, PacketView};

/// CNPs that are due to a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) flow: FlowId,
    pub(super) cnps: u64,
}

/// The packets of a flow that joined while the queue was congested.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Of its last packet.
    flow: FlowId,
    bytes: u64,
}

/// The queue of a class, in one period.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub(super) class: Class,
    /// Q.
    pub(super) length: Bytes,
    /// Qold: Q at the end of the last period.
    before: Bytes,
    /// p: CNPs for each m congested packets.
    p: f64,
    /// Congested packets, and their bytes.
    packets: u64,
    bytes: u64,
    /// By addresses and ports, as a switch identifies flows. In order, so that CNPs are.
    flows: BTreeMap<u64, Part>,
}

impl Queue {
    pub(super) fn new(class: Class) -> Self {
        Queue {
            class,
            length: Bytes::ZERO,
            before: Bytes::ZERO,
            p: 0.0,
            packets: 0,
            bytes: 0,
            flows: BTreeMap::new(),
        }
    }

    /// A packet has joined the queue, which is congested.
    pub(super) fn count(&mut self, p: &PacketView, most_flows: usize) {
        self.packets += 1;
        self.bytes += p.frame.0;
        if let Some(part) = self.flows.get_mut(&p.flow_hash) {
            part.flow = p.flow;
            part.bytes += p.frame.0;
        } else if self.flows.len() < most_flows {
            self.flows.insert(p.flow_hash, Part { flow: p.flow, bytes: p.frame.0 });
        }
    }

    /// The period is over: the CNPs that are due are added to `due`.
    pub(super) fn end_period(&mut self, settings: &Settings, due: &mut Vec<Due>) {
        self.control(settings);
        let amount = self.amount(settings);
        if amount > 0 {
            let parts = self.flows.values().filter(|part| self.matters(part, settings.params.theta));
            due.extend(parts.map(|part| Due { flow: part.flow, cnps: self.allot(amount, part, settings) }));
        }
        // Step 5.
        self.flows.clear();
        (self.packets, self.bytes) = (0, 0);
    }

    /// Step 1: the controller.
    fn control(&mut self, settings: &Settings) {
        let [q, before, qref] = [self.length, self.before, settings.qref].map(|bytes| bytes.0 as f64);
        let (far, grown) = ((q - qref) / qref, (q - before) / qref);
        self.p = (self.p + settings.params.a * far + settings.params.b * grown).clamp(0.0, 1.0);
        self.before = self.length;
    }

    /// Step 2: N.
    fn amount(&self, settings: &Settings) -> u64 {
        let asked = self.p * self.packets as f64 / f64::from(settings.params.m);
        whole(asked.round()).min(u64::from(settings.params.nmax))
    }

    /// Step 3: is a flow's share of the period's bytes large enough?
    fn matters(&self, part: &Part, theta: OrAuto<f64>) -> bool {
        match theta {
            OrAuto::Auto => 2 * self.flows.len() as u128 * u128::from(part.bytes) >= u128::from(self.bytes),
            OrAuto::Given(share) => part.bytes as f64 >= share * self.bytes as f64,
        }
    }

    /// Step 4: CNPs of a flow.
    fn allot(&self, amount: u64, part: &Part, settings: &Settings) -> u64 {
        let share = u128::from(amount) * u128::from(part.bytes);
        // No share is larger than the amount.
        saturated(share.div_ceil(u128::from(self.bytes))).min(settings.most_at_once)
    }

    /// Would further period ends change nothing, until a packet waits?
    pub(super) fn is_idle(&self) -> bool {
        self.length == Bytes::ZERO && self.before == Bytes::ZERO && self.p == 0.0 && self.packets == 0
    }

    #[cfg(test)]
    pub(super) fn flows(&self) -> usize {
        self.flows.len()
    }
}
