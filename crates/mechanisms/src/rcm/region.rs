//! State of a port for one class.

use floodway_units::{Bytes, Class, FlowId, PortId, Span, Time};

use super::cam::Cam;
use super::harmful_flows::HarmfulFlows;
use super::sampler::Sampler;
use super::window::Window;
use crate::slots::QueueView;

/// The port's state for a class.
#[derive(Clone, Debug)]
pub(super) struct Region {
    pub class: Class,
    /// Of the other flows' queue.
    pub output: Sampler,
    pub inputs: Vec<(PortId, Sampler)>,
    pub cam: Cam,
    /// The recognition waits until the memory is full.
    pub recognises: bool,
    pub harmful_flows: HarmfulFlows,
    pub remote: Option<Remote>,
    /// Wc has been cut for the congestion that the neighbour reports.
    pub cut_by_remote: bool,
    pub window: Option<Window>,
    /// Waiting bytes: of other flows, and of harmful flows in the queue of their own.
    pub others: Bytes,
    pub held: Bytes,
}

/// The last CN of the downstream neighbour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remote {
    pub degree: u8,
    pub at: Time,
    /// Another CN came shortly before it.
    pub again: bool,
}

impl Region {
    /// The last CN of the neighbour, while it is valid.
    pub fn remote(&self, now: Time, expire: Span) -> Option<Remote> {
        self.remote.filter(|remote| now.since(remote.at) <= expire)
    }

    /// Updates the waiting bytes of one of the queues.
    pub fn look_at(&mut self, q: &QueueView) {
        self.others = q.first;
        if q.sub > 0 {
            self.held = q.len;
        }
    }

    pub fn is_local(&self) -> bool {
        self.output.is_local() || self.inputs.iter().any(|(_, input)| input.is_local())
    }

    pub fn is_held(&self, now: Time, flow: FlowId) -> bool {
        self.window.as_ref().is_some_and(Window::is_limiting) && self.harmful_flows.contains(now, flow)
    }

    pub fn input(&mut self, ingress: PortId) -> &mut Sampler {
        let place = self.inputs.iter().position(|(port, _)| *port == ingress);
        let place = place.unwrap_or_else(|| {
            self.inputs.push((ingress, Sampler::default()));
            self.inputs.len() - 1
        });
        &mut self.inputs[place].1
    }
}
