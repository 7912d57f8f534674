//! What is fixed once a network is built.

use std::sync::Arc;

use floodway_mechanisms::registry::AnyRouter;
use floodway_mechanisms::slots::PauseMode;
use floodway_units::Span;
use floodway_wire::Format;

use crate::network::base_rtt::Largest;
use crate::network::blueprint::{Blueprint, Release};
use crate::network::layout::Layout;
use crate::network::port_facts::{self, PortFacts};
use crate::network::routing::Routes;

/// Everybody may read it, and nobody changes it while the run goes.
pub(crate) struct Facts<'a> {
    pub blueprint: &'a Blueprint,
    pub release: Release,
    /// A packet that finds nothing to wait for goes straight through a switch: no more queues a port than one of data,
    /// no samples of their lengths.
    pub straight: bool,
    /// Likewise of the control class: no switch has a pipeline, either.
    pub straight_control: bool,
    /// Some switch is input-output queued.
    pub crossbars: bool,
    /// Where the flow control does not choose.
    pub pause_mode: PauseMode,
    pub format: Format,
    /// Over all pairs of hosts.
    pub largest: Largest,
    /// Bytes on the link of the largest data packet.
    pub largest_wire: u64,
    /// Over all links.
    pub routes: Arc<Routes>,
    /// For how long some congestion point may name a queue pair of which nothing is in the network any more.
    pub remembers: Span,
    pub layout: Layout,
    pub ports: Vec<PortFacts>,
    /// By lane: what its account holds when it is full, its own buffer or what of the switch's is for it.
    pub full: Vec<u64>,
    /// By node, where it is a switch: its router, asked by hosts which way a flow takes that decides by itself.
    pub routers: Vec<Option<AnyRouter>>,
}

impl<'a> Facts<'a> {
    /// Before there are nodes: what follows from them is set when they have been built.
    pub fn new(blueprint: &'a Blueprint, routes: Arc<Routes>, layout: Layout) -> Self {
        let format = blueprint.wire;
        Facts {
            blueprint,
            release: blueprint.semantics.release,
            straight: false,
            straight_control: false,
            crossbars: false,
            pause_mode: blueprint.pause_mode(),
            format,
            largest: Largest::default(),
            largest_wire: format.data_with(blueprint.mtu, true, blueprint.telemetry()).wire.0,
            routes,
            remembers: Span::ZERO,
            layout,
            ports: port_facts::of_network(blueprint),
            full: Vec::new(),
            routers: Vec::with_capacity(blueprint.nodes.len()),
        }
    }
}
