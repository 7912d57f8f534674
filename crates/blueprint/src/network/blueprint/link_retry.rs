//! Link retry of a blueprint's links.

use floodway_mechanisms::registry::{AnyRetryReceiver, AnyRetrySender};
use floodway_mechanisms::slots::RetryInfo;
use floodway_units::{Bytes, PortId};

use crate::error::BuildError;
use crate::network::blueprint::{Blueprint, Ties};

impl Blueprint {
    /// Does a link have a retry?
    pub fn has_link_retry(&self) -> bool {
        self.ports().any(|port| self.replay_buffer(port).is_some())
    }

    /// The replay buffer of a port, where the link from there has a retry.
    pub fn replay_buffer(&self, port: PortId) -> Option<Bytes> {
        let direction = &self.links[port.index() / 2].directions[port.index() % 2];
        direction.link_retry.replay_buffer(&self.retry_info(port))
    }

    /// What is fixed about the link from a port.
    pub fn retry_info(&self, port: PortId) -> RetryInfo {
        let link = &self.links[port.index() / 2];
        let (data, reverse) = (&link.directions[port.index() % 2], &link.directions[1 - port.index() % 2]);
        RetryInfo {
            rate: data.rate,
            reverse_rate: reverse.rate,
            delay: data.longest_delay() + data.jitter,
            reverse_delay: reverse.longest_delay() + reverse.jitter,
            largest: self.wire.data_with(self.mtu, true, self.telemetry()).wire,
        }
    }

    /// Both ends of the retry of the link from a port.
    ///
    /// # Errors
    /// The link cannot have one, or not with these parameters.
    pub fn build_retry(&self, port: PortId) -> Result<(AnyRetrySender, AnyRetryReceiver), BuildError> {
        let params = &self.links[port.index() / 2].directions[port.index() % 2].link_retry;
        let info = self.retry_info(port);
        let built = params.build(&info).map_err(|error| BuildError::param(self.port_name(port), error))?;
        if params.replay_buffer(&info).is_some() {
            self.validate_retry(port)?;
        }
        Ok(built)
    }

    fn validate_retry(&self, port: PortId) -> Result<(), BuildError> {
        let link = &self.links[port.index() / 2];
        let direction = &link.directions[port.index() % 2];
        let name = direction.link_retry.name();
        let strict = direction.flow_control.iter().find(|(_, control)| !control.tolerates_replays());
        let message = if let Some((_, control)) = strict {
            let other = control.name();
            format!(
                "{name:?} does not work with flow-control = {other:?}: choose \"pfc\", \"cbfc\" or \"lossy\""
            )
        } else if self.semantics.ties == Ties::Htsim {
            format!("{name:?} is not part of the simulator of ties = \"htsim\": leave out ties or link-retry")
        } else if link.ends.iter().any(|end| !self.nodes[end.node.index()].role.bypass().is_empty()) {
            format!(
                "{name:?} has both ends at one link, and a relay there is bypassed: leave out one of them"
            )
        } else {
            return Ok(());
        };
        Err(BuildError { place: self.port_name(port), key: None, message })
    }
}
