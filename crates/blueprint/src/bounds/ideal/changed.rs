//! Changes of a network since it was built, as far as ideals depend on them.

use floodway_units::{PortId, Span};
use rustc_hash::FxHashMap;

use crate::network::routing::{ChangingRoutes, Routes};

/// Routes do not lead over the link.
pub const UNROUTED: u8 = 1;
/// Frames on the link are lost.
pub const DEAD: u8 = 2;
/// The ends of the link do not send.
pub const SHUT: u8 = 4;

/// What has changed of a network since it was built.
#[derive(Clone, Copy)]
pub struct Changed<'f> {
    /// By link, as bits: what is the matter with it.
    pub state: &'f [u8],
    /// By port, where it is another than at first.
    pub delays: &'f FxHashMap<PortId, u64>,
    /// Routes that lead around links that are down, if paths are to.
    pub routes: Option<&'f ChangingRoutes>,
}

impl Changed<'_> {
    /// Can packets take the port?
    pub fn is_up(&self, all_up: &Routes, port: PortId) -> bool {
        let by_host = all_up.is_host(all_up.node_of(port));
        let blocks = if by_host { DEAD | SHUT } else { DEAD | SHUT | UNROUTED };
        self.state[port.index() / 2] & blocks == 0
    }

    /// Its delay, if that has changed.
    pub fn delay(&self, port: PortId) -> Option<Span> {
        self.delays.get(&port).copied().map(Span)
    }
}
