//! Packets, links, ports, switches and hosts; drives mechanisms inside an engine.
//!
//! A [`Blueprint`] of plain values goes in, [`Records`] of columns come out. No mechanism's name appears
//! here: what a queue, a port or a queue pair does beyond moving packets is asked of its slot.

mod accounts;
mod agenda;
mod ahead;
mod arena;
mod base_rtt;
pub mod blueprint;
mod build;
mod capture;
mod column;
mod counters;
mod deadlock;
mod delays;
pub mod dependencies;
mod error;
mod faults;
mod finish;
mod flows;
mod histogram;
mod host;
mod ideal;
mod messages;
mod nic_list;
mod numbers;
pub mod outcome;
mod packet;
mod pauses;
mod pcap;
mod port;
mod queue_pairs;
mod ranks;
mod receive;
mod records;
mod ring;
pub mod routing;
mod send;
mod serial;
mod series;
pub mod sizes;
pub mod spread;
mod switch;
pub mod table;
mod telemetry;
mod triggers;
mod ways;
mod world;

use floodway_engine::Advance;
use floodway_mechanisms::registry::{AnyCongestionPoint, AnyFcReceiver};
use floodway_units::{Class, PortId};

pub use accounts::{Account, Accounts};
pub use blueprint::Blueprint;
pub use error::BuildError;
pub use outcome::{Control, Outcome, Records};
pub use table::{Column, Table, Values};

/// A network that is ready to run.
pub struct Fabric<'a> {
    world: world::World<'a>,
}

impl<'a> Fabric<'a> {
    /// Builds the network of `blueprint`; whoever holds `control` may watch and stop the run.
    ///
    /// # Errors
    /// What makes the blueprint unfit, with the place.
    pub fn build(blueprint: &'a Blueprint, control: &'a Control) -> Result<Self, BuildError> {
        world::World::build(blueprint, control).map(|world| Fabric { world })
    }

    /// Adds a congestion point from outside the tree to an egress port.
    ///
    /// # Errors
    /// It claims a hook that another one of the port has, or queues that the fabric was not built with.
    pub fn add_congestion_point(
        &mut self,
        port: PortId,
        point: AnyCongestionPoint,
    ) -> Result<(), BuildError> {
        self.world.add_congestion_point(port, point)
    }

    /// Gives the ingress `port` a receiver half from outside the tree for `class`, which the run must use.
    pub fn set_receiver(&mut self, port: PortId, class: Class, receiver: AnyFcReceiver) {
        self.world.set_receiver(port, class, receiver);
    }

    /// Runs to the end.
    pub fn run(mut self) -> Records {
        self.world.arm_machines();
        let limit = self.world.blueprint.end.limit;
        let (end, how) = floodway_engine::run(&mut self.world, limit);
        let interrupted = how == Advance::Interrupted;
        // An interrupted epoch is cut where it stood.
        let end = if interrupted { floodway_units::Time(self.world.now) } else { end };
        self.world.finish(end, interrupted)
    }
}
