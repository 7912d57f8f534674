//! Check that a network can be built, without building it.

use floodway_units::NodeId;

use crate::error::BuildError;
use crate::network::blueprint::{Blueprint, Role};
use crate::network::machines::{guard, router, scheduler_and_points, sender};
use crate::network::routing::Routes;

impl Blueprint {
    /// Refuses what `Fabric::build_with` refuses, with the same error, without the time and memory of a whole
    /// network: each machine is built by itself, in the same order, and dropped. The largest base round-trip
    /// time, by which some machines are built again, is no parameter that one could refuse.
    ///
    /// # Errors
    /// What makes the blueprint unfit, with the place.
    pub fn check(&self, routes: &Routes) -> Result<(), BuildError> {
        self.validate_with(routes)?;
        self.ports().try_for_each(|port| scheduler_and_points(self, port).map(drop))?;
        let (accounts, classes) = (self.accounts(), self.classes());
        for (node, spec) in (0u32..).map(NodeId).zip(&self.nodes) {
            if let Role::Switch(switch) = &spec.role {
                accounts.pool(node)?;
                router(self, node, switch)?;
            }
            for &port in accounts.ports_of(node) {
                for &class in &classes {
                    guard(&accounts, port, class)?;
                    sender(&accounts, port, class)?;
                }
            }
        }
        Ok(())
    }
}
