//! Shares of a switch's buffer: what admission gives to ingress ports, and what remains for the pool.

use floodway_mechanisms::registry::{BufferParams, FlowControlParams};
use floodway_mechanisms::slots::{LinkInfo, PauseMode, PoolSize, Sizing};
use floodway_units::cast::narrow;
use floodway_units::{Bytes, Class, NodeId, PortId, Rate};
use floodway_wire::Format;

use crate::error::BuildError;
use crate::network::blueprint::{Blueprint, ReceiveSpec, Role, SwitchSpec};
use crate::network::routing::peer;

/// What admission gives to an ingress port and class.
#[derive(Clone, Copy, Debug)]
pub struct Account {
    /// Has a flow control that promises to lose nothing.
    pub lossless: bool,
    /// A buffer of its own.
    pub own: Option<Bytes>,
    /// That buffer is of each egress port alone: a virtual output queue.
    pub by_output: bool,
    /// Set aside of the switch's pool.
    pub reserve: Bytes,
    /// Beyond the threshold.
    pub headroom: Bytes,
    /// What the flow control knows of the link.
    pub link: LinkInfo,
}

/// The accounts of a blueprint. What all ports have in common is found once: a large network has 100,000.
#[derive(Clone, Debug)]
pub struct Accounts<'a> {
    blueprint: &'a Blueprint,
    /// Of each node: its ports.
    ports: Vec<Vec<PortId>>,
    /// Of data.
    classes: Vec<Class>,
    nic_rate: Rate,
    mtu: Bytes,
}

impl Blueprint {
    /// The accounts of its ports.
    pub fn accounts(&self) -> Accounts<'_> {
        let mut ports = vec![Vec::new(); self.nodes.len()];
        for (i, link) in self.links.iter().enumerate() {
            for (end, of) in link.ends.iter().enumerate() {
                ports[of.node.index()].push(PortId(narrow(2 * i + end)));
            }
        }
        let host = self.nodes.iter().position(|node| matches!(node.role, Role::Host { .. }));
        let nic = host.and_then(|host| ports[host].first());
        let rate = |port: &PortId| self.links[port.index() / 2].directions[port.index() % 2].rate;
        Accounts {
            blueprint: self,
            classes: self.classes()[1..].to_vec(),
            nic_rate: nic.map_or(Rate::MAX, rate),
            mtu: self.largest_frame(),
            ports,
        }
    }

    /// The pause mode where a flow control does not choose: timers with Ethernet's frames, else on-off.
    pub fn pause_mode(&self) -> PauseMode {
        if self.wire == Format::Ethernet { PauseMode::Timer } else { PauseMode::OnOff }
    }

    /// The buffer for what comes in by `port`; none at a host that takes in at once whatever comes.
    pub fn buffer_at(&self, port: PortId) -> Option<&BufferParams> {
        let end = &self.links[port.index() / 2].ends[port.index() % 2];
        match self.switch_at(port) {
            Some(switch) => Some(end.buffer.as_ref().unwrap_or(&switch.buffer)),
            None => end.receive.as_ref().map(|receive| &receive.buffer),
        }
    }

    /// The switch that a port is of; none at a host.
    pub(crate) fn switch_at(&self, port: PortId) -> Option<&SwitchSpec> {
        let end = &self.links[port.index() / 2].ends[port.index() % 2];
        match &self.nodes[end.node.index()].role {
            Role::Switch(switch) => Some(switch),
            Role::Host { .. } => None,
        }
    }
}

impl<'a> Accounts<'a> {
    /// What it is of.
    pub fn blueprint(&self) -> &'a Blueprint {
        self.blueprint
    }

    /// The ports of a node, in the order of links.
    pub fn ports_of(&self, node: NodeId) -> &[PortId] {
        &self.ports[node.index()]
    }

    /// What the ingress `port` is given for `class`; none at a host without a receive buffer.
    ///
    /// # Errors
    /// A flow control that does not fit its buffer, with the port and the missing bytes.
    pub fn of(&self, port: PortId, class: Class) -> Result<Option<Account>, BuildError> {
        let Some(buffer) = self.blueprint.buffer_at(port) else { return Ok(None) };
        let plan = buffer.plan();
        let at_host = self.blueprint.switch_at(port).is_none();
        let control = self.blueprint.control_into(port, class);
        let mut info = self.link_info(port, class);
        let own = plan.own.map(|sizing| match sizing {
            Sizing::Fixed(size) => size,
            Sizing::Auto if at_host => {
                let sized = LinkInfo { buffer: ReceiveSpec::SIZE, ..info };
                control.map_or(Bytes::ZERO, |params| params.min_buffer(&sized)).max(ReceiveSpec::SIZE)
            }
            Sizing::Auto => control.map_or(Bytes::MAX, |params| params.min_buffer(&info)),
        });
        info.buffer = own.unwrap_or(Bytes::MAX);
        if let Some(params) = control {
            params.build(&info).map_err(|error| BuildError::param(self.blueprint.port_name(port), error))?;
        }
        Ok(Some(Account {
            lossless: control.is_some_and(FlowControlParams::is_lossless),
            own,
            by_output: plan.crossbar.is_some(),
            reserve: plan.reserve,
            headroom: control.map_or(Bytes::ZERO, |params| params.headroom(&info)),
            link: info,
        }))
    }

    /// Does the flow control of an ingress port accept its parameters where the buffer has no limit?
    pub fn fits_without_limit(&self, port: PortId, class: Class) -> bool {
        let info = LinkInfo { buffer: Bytes::MAX, ..self.link_info(port, class) };
        self.blueprint.control_into(port, class).is_none_or(|params| params.build(&info).is_ok())
    }

    /// Bytes of a switch's shared pool.
    ///
    /// # Errors
    /// Reserves and headroom take more than there is.
    pub fn pool(&self, node: NodeId) -> Result<Option<Bytes>, BuildError> {
        let spec = &self.blueprint.nodes[node.index()];
        let Role::Switch(switch) = &spec.role else { return Ok(None) };
        match switch.buffer.plan().pool {
            None => Ok(None),
            Some(PoolSize::Pool(size)) => Ok(Some(size)),
            Some(PoolSize::Total(total)) => {
                let taken = self.taken(node)?;
                total.checked_sub(taken).map(Some).ok_or_else(|| BuildError {
                    place: format!("switch {}", spec.name),
                    key: Some("total"),
                    message: format!(
                        "reserves, headroom and ports' own buffers take {taken}, {} more than the total of {total}",
                        Bytes(taken.0 - total.0)
                    ),
                })
            }
        }
    }

    /// The headroom that a switch's ports share, where not each has its own.
    pub fn headroom_pool(&self, node: NodeId) -> Option<Bytes> {
        let Role::Switch(switch) = &self.blueprint.nodes[node.index()].role else { return None };
        switch.buffer.plan().headroom
    }

    /// What a switch's ports have of its buffer beside the pool.
    fn taken(&self, node: NodeId) -> Result<Bytes, BuildError> {
        let shared = self.headroom_pool(node);
        let mut taken = shared.unwrap_or_default();
        for &port in &self.ports[node.index()] {
            for &class in &self.classes {
                if let Some(account) = self.of(port, class)? {
                    let headroom = if shared.is_some() { Bytes::ZERO } else { account.headroom };
                    taken += account.own.unwrap_or(account.reserve + headroom);
                }
            }
        }
        Ok(taken)
    }

    /// What the flow control knows of the link into a host, which takes in whatever comes: a buffer that
    /// nothing outgrows.
    pub(crate) fn host_link(&self, port: PortId, class: Class, params: &FlowControlParams) -> LinkInfo {
        let link = LinkInfo { buffer: Bytes(1 << 40), ..self.link_info(port, class) };
        LinkInfo { buffer: params.min_buffer(&link).max(link.buffer), ..link }
    }

    /// What is fixed about the link into `port`, but for the buffer there.
    fn link_info(&self, port: PortId, class: Class) -> LinkInfo {
        let blueprint = self.blueprint;
        let link = &blueprint.links[port.index() / 2];
        let (data, reverse) = (&link.directions[1 - port.index() % 2], &link.directions[port.index() % 2]);
        LinkInfo {
            rate: data.rate,
            reverse_rate: reverse.rate,
            delay: data.longest_delay() + data.jitter,
            reverse_delay: reverse.longest_delay() + reverse.jitter,
            reverse_jitter: reverse.jitter,
            nic_rate: self.nic_rate,
            mtu: self.mtu,
            least_frame: blueprint.wire.data(Bytes(1), false).frame,
            cell: blueprint.switch_at(port).map_or(Bytes(1), |switch| switch.cell),
            overhead: blueprint.wire.ack().wire - blueprint.wire.ack().frame,
            has_errors: data.errors.any() || reverse.errors.any(),
            replay: blueprint.replay_buffer(peer(port)).unwrap_or_default(),
            to_host: blueprint.buffer_at(port).is_none(),
            class,
            buffer: Bytes::MAX,
            pause: blueprint.pause_mode(),
        }
    }
}
