//! What is fixed once a network is built.

use crate::network::layout::Layout;
use std::sync::Arc;

use floodway_mechanisms::slots::PauseMode;
use floodway_units::Span;
use floodway_wire::Format;

use crate::network::base_rtt::Largest;
use crate::network::blueprint::{Blueprint, Release};
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
        }
    }
}
