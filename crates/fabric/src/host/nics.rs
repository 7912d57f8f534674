//! What a host owns beside the ends of its links: its NICs, and its queue pairs as a sender.

use floodway_blueprint::column::Part;
use floodway_blueprint::network::layout::Local;
use floodway_mechanisms::slots::Granter;

use crate::host::nic::Nic;
use crate::host::queue_pairs::HostPairs;

/// A host's own state.
#[derive(Debug, Default)]
pub(crate) struct Host {
    /// One a port.
    pub nics: Part<Nic, Local>,
    pub pairs: HostPairs,
    /// What grants credit to the connections that it receives, once one has asked for some.
    pub granter: Option<Box<dyn Granter>>,
}
