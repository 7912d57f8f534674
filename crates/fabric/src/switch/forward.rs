//! A switch: buffer pool, router, pipeline, relay.
//!
//! Data, ACKs, NAKs and CNPs pass the pipeline of each switch that forwards them. Frames that a MAC consumes
//! (a pause, a credit or a congestion notification between neighbours) pass no pipeline. A CNP that a switch
//! creates does not pass that switch's pipeline.
//!
//! A relay is a switch of two ports, each of which is the egress of the other. It has ordinary queues,
//! accounts and halves of flow control, and the network's scheduler. Only its reaction to a received pause
//! differs, and the flow control of its link defines that (`slots::Relay`): obey it, forward it, or both.

mod pass;

use std::collections::VecDeque;

use floodway_blueprint::network::layout::Local;
use floodway_mechanisms::registry::AnyRouter;
use floodway_mechanisms::slots::{Disposition, Router};

use crate::link::arena::PacketRef;
use crate::switch::crossbar::Inputs;

/// A switch's routing, pipeline and inputs.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Switch {
    pub pipeline: u64,
    /// The router, which chooses among equal-cost ports.
    pub router: Option<AnyRouter>,
    /// Its number among the switches, in its events.
    pub number: u32,
    /// Packets on the way from arrival to their queue: when, egress port, packet.
    pub pipe: VecDeque<(u64, Local, PacketRef)>,
    /// Packets that have come in and pass at this instant, where ties go as htsim schedules events.
    pub entry: VecDeque<(Local, PacketRef)>,
    /// Its ports with congestion points.
    pub points: Vec<Local>,
    /// What it sends stays in its queues until the last bit has left.
    pub holds_output: bool,
    /// Where it is a relay.
    pub relay: Option<Relay>,
    /// Where it is input-output queued.
    pub inputs: Option<Box<Inputs>>,
}

impl Switch {
    /// The router, which chooses among equal-cost ports.
    #[inline]
    pub fn router(&mut self) -> &mut AnyRouter {
        self.router.as_mut().expect("who chooses is there at every switch")
    }

    /// Does the router look at ports?
    pub fn reads_ports(&self) -> bool {
        self.router.as_ref().is_some_and(Router::reads_ports)
    }

    /// One with neither packets nor ports.
    pub fn none() -> Self {
        Switch {
            pipeline: 0,
            router: None,
            number: u32::MAX,
            pipe: VecDeque::new(),
            entry: VecDeque::new(),
            points: Vec::new(),
            holds_output: false,
            relay: None,
            inputs: None,
        }
    }
}

/// What a relay does with pauses.
#[derive(Debug)]
pub(crate) struct Relay {
    /// The one that leads to its own datacenter, and the one across the long link.
    pub local: Local,
    pub remote: Local,
    /// By class: what is done with those that arrive on the local and on the remote port.
    pub dispositions: Vec<[Disposition; 2]>,
    /// Its two links are joined: it only passes frames on.
    pub is_bypassed: bool,
}

impl Relay {
    /// What is done with a pause of `class` that has arrived on `port`.
    pub fn disposition(&self, port: Local, class: u8) -> Disposition {
        if self.is_bypassed {
            return Disposition::Forward;
        }
        self.dispositions[class as usize][usize::from(port == self.remote)]
    }

    /// Its other port.
    pub fn other(&self, port: Local) -> Local {
        if port == self.local { self.remote } else { self.local }
    }
}
