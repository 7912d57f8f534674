//! The lanes of a port as they are built: accounts and halves of flow control.

use floodway_mechanisms::registry::{AnyAdmission, AnyFcReceiver, AnyFcSender};
use floodway_mechanisms::slots::{
    Admission, Admit, Cx, FcFrame, FcReceiver, FcSender, Gate, IngressView, PacketView, PoolView, QueueView,
};
use floodway_units::{Bytes, Class, PortId, Rng, Time};

use crate::error::BuildError;
use crate::link::port::Egress;
use crate::network::accounts::Accounts;
use crate::network::routing::peer;
use crate::records::counters::{EgressCounters, RareCounters, RareEgressCounters, Traffic};
use crate::run::agenda::{Armed, NEVER};
use crate::run::world::World;
use crate::switch::buffer::Ingress;

/// A class or an end without flow control or limit.
struct Unlimited;

impl FcSender for Unlimited {
    fn on_frame(&mut self, _cx: &mut Cx<'_, FcFrame>, _frame: FcFrame) {}

    fn gate(&self, _now: Time, _next: Bytes) -> Gate {
        Gate::Open
    }

    fn is_free(&self) -> bool {
        true
    }
}

impl FcReceiver for Unlimited {
    fn on_enqueue(&mut self, _cx: &mut Cx<'_, FcFrame>, _q: &IngressView) {}

    fn on_release(&mut self, _cx: &mut Cx<'_, FcFrame>, _q: &IngressView) {}
}

impl Admission for Unlimited {
    fn admit(
        &mut self,
        _now: Time,
        _rng: &mut Rng,
        _p: &PacketView,
        _i: &IngressView,
        _e: &QueueView,
        _pool: &PoolView,
    ) -> Admit {
        Admit::Shared
    }
}

impl World<'_> {
    /// The halves of every port and class: the receiver half here, the sender half at the peer.
    pub fn add_lanes(&mut self, accounts: &Accounts<'_>) -> Result<(), BuildError> {
        for port in self.port_ids() {
            let node = self.facts.node_of(port).index();
            for class in self.facts.layout.classes.clone() {
                let account = self.ingress_lane(accounts, port, class)?;
                self.facts.full.push(self.full_of(&account, port));
                let bit = u16::from(account.lossless) << self.facts.layout.dense(class);
                self.facts.ports[port.index()].lossless |= bit;
                let egress = self.egress_lane(accounts, port, class)?;
                self.nodes[node].ingress.push(account);
                self.nodes[node].egress.push(egress);
            }
        }
        Ok(())
    }

    fn lane_id(&self, port: PortId, class: Class) -> u32 {
        self.facts.layout.lane_id(port, self.facts.layout.dense(class)) as u32
    }

    /// What an account holds when it is full: its own buffer, or its reserve and headroom, or the pool where nothing is set
    /// aside for it.
    fn full_of(&self, account: &Ingress, port: PortId) -> u64 {
        let node = &self.nodes[self.facts.node_of(port).index()];
        match account.reserve + account.headroom_size {
            _ if account.own != NEVER => account.own,
            0 if node.is_host() => 0,
            0 => node.switch.pool_size,
            aside => aside,
        }
    }

    fn ingress_lane(
        &self,
        accounts: &Accounts<'_>,
        port: PortId,
        class: Class,
    ) -> Result<Ingress, BuildError> {
        let mut lane = Ingress {
            receiver: AnyFcReceiver::Custom(Box::new(Unlimited)),
            timer: Armed::default(),
            admission: AnyAdmission::Custom(Box::new(Unlimited)),
            lossless: false,
            by_output: false,
            held: 0,
            headroom: 0,
            reserve: 0,
            headroom_size: 0,
            own: NEVER,
            quiet: 0,
            id: self.lane_id(port, class),
            at_host: false,
            impaired: false,
            pooled: true,
            headroom_peak: 0,
            received: Traffic::default(),
            told_until: 0,
            told: 0,
            peak: 0,
            awaits: false,
            rare: RareCounters::default(),
        };
        let account = accounts.of(port, class)?;
        let Some(account) = account.filter(|_| class != Class::CONTROL) else { return Ok(lane) };
        let place = || self.facts.blueprint.port_name(port);
        let link = &self.facts.blueprint.links[port.index() / 2];
        let data = &link.directions[1 - port.index() % 2];
        if let Some((_, params)) = data.flow_control.iter().find(|(of, _)| *of == class) {
            let halves = params.build(&account.link).map_err(|error| BuildError::param(place(), error))?;
            lane.receiver = halves.1;
            lane.awaits = lane.receiver.awaits_release();
        }
        let switch = self.facts.blueprint.switch_at(port).expect("an account belongs to a switch");
        let buffer = link.ends[port.index() % 2].buffer.as_ref().unwrap_or(&switch.buffer);
        lane.admission = buffer.build().map_err(|error| BuildError::param(place(), error))?;
        lane.lossless = account.lossless;
        lane.by_output = account.by_output;
        lane.own = account.own.map_or(NEVER, |own| own.0);
        lane.pooled = account.own.is_none();
        lane.reserve = account.reserve.0;
        lane.headroom_size = account.headroom.0;
        Ok(lane)
    }

    fn egress_lane(&self, accounts: &Accounts<'_>, port: PortId, class: Class) -> Result<Egress, BuildError> {
        let mut lane = Egress {
            sender: AnyFcSender::Custom(Box::new(Unlimited)),
            counts_sent: false,
            timer: Armed::default(),
            paused_since: NEVER,
            id: self.lane_id(port, class),
            paused_total: 0,
            counters: EgressCounters::default(),
            rare: RareEgressCounters::default(),
        };
        let link = &self.facts.blueprint.links[port.index() / 2];
        let data = &link.directions[port.index() % 2];
        let control = data.flow_control.iter().find(|(of, _)| *of == class);
        if let Some((_, params)) = control.filter(|_| class != Class::CONTROL) {
            let rx = peer(port);
            let account = accounts.of(rx, class)?;
            let info = account.map_or_else(|| accounts.host_link(rx, class, params), |account| account.link);
            let halves = params
                .build(&info)
                .map_err(|error| BuildError::param(self.facts.blueprint.port_name(rx), error))?;
            lane.sender = halves.0;
            lane.counts_sent = lane.sender.counts_sent();
        }
        Ok(lane)
    }
}
