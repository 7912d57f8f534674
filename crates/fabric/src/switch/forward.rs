//! A switch: buffer pool, router, pipeline, relay.

mod pass;

use std::collections::VecDeque;

use floodway_mechanisms::registry::AnyRouter;
use floodway_mechanisms::slots::Disposition;

use crate::link::arena::PacketRef;
use crate::network::layout::Local;
use crate::run::events::NEVER;
use crate::switch::buffer::Uncharge;
use crate::switch::crossbar::Inputs;

/// A switch's buffer and routing.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Switch {
    /// The packets on its ports' wires that are still charged, by time, then by port: at most one a port.
    pub releases: VecDeque<Uncharge>,
    /// When the first of them is due, else never.
    pub next_release: u64,
    pub pool_size: u64,
    pub pool_used: u64,
    /// Bytes in the headroom of ports that take of the pool, and how many there may be.
    pub headroom_used: u64,
    pub headroom_size: u64,
    /// Its buffer's cell; at most 1 where it counts bytes.
    pub cell: u64,
    /// Up to here the pool counts as half empty.
    pub pool_fast_path_up_to: u64,
    pub occupied: u64,
    pub peak: u64,
    pub pipeline: u64,
    /// The router, which chooses among equal-cost ports.
    pub router: Option<AnyRouter>,
    /// Its number among the switches, in its events.
    pub number: u32,
    /// Packets on the way from arrival to their queue: when, egress port, packet.
    pub pipe: VecDeque<(u64, Local, PacketRef)>,
    /// Its ports with congestion points.
    pub points: Vec<Local>,
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

    /// At a host: no packet is ever in it.
    pub fn none() -> Self {
        Switch {
            releases: VecDeque::new(),
            next_release: NEVER,
            pool_size: NEVER,
            pool_used: 0,
            headroom_used: 0,
            headroom_size: NEVER,
            cell: 1,
            pool_fast_path_up_to: NEVER,
            occupied: 0,
            peak: 0,
            pipeline: 0,
            router: None,
            number: u32::MAX,
            pipe: VecDeque::new(),
            points: Vec::new(),
            relay: None,
            inputs: None,
        }
    }

    /// Does its buffer count whole cells?
    #[inline]
    pub fn has_cells(&self) -> bool {
        self.cell > 1
    }

    /// What a frame of so many bytes occupies of its buffer.
    #[inline]
    pub fn occupied_by(&self, frame: u16) -> u64 {
        let frame = u64::from(frame);
        if self.has_cells() { frame.next_multiple_of(self.cell) } else { frame }
    }

    /// It holds `frame` bytes more, `of_pool` of them in its pool.
    #[inline]
    pub fn holds(&mut self, frame: u64, of_pool: u64) {
        self.pool_used += of_pool;
        self.occupied += frame;
        self.peak = self.peak.max(self.occupied);
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
