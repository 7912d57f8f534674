//! Construction of port classes: accounts and halves of flow control.

use floodway_blueprint::error::BuildError;
use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::machines::{Guard, guard, sender};
use floodway_mechanisms::registry::{AnyAdmission, AnyFcReceiver, AnyFcSender};
use floodway_mechanisms::slots::{
    Admission, Admit, Cx, FcFrame, FcReceiver, FcSender, Gate, IngressView, PacketView, PoolView, QueueView,
};
use floodway_records::counters::{EgressCounters, RareCounters, RareEgressCounters, Traffic};
use floodway_units::cast::narrow;
use floodway_units::{Bytes, Class, PortId, Rng, Time};

use super::nodes::NodeBuilder;
use crate::link::port::Egress;
use crate::run::events::{Armed, NEVER};
use crate::switch::buffer::{Ingress, Peaks, Sizes};

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

/// Records what is fixed about an account: what it holds when it is full, and whether it must not lose.
pub(super) fn record_account(facts: &mut Facts<'_>, account: &Ingress, pool_size: u64, at_switch: bool) {
    let (port, class) = facts.layout.port_class_of(account.id as usize);
    // Its own buffer, or its reserve and headroom, or the pool where nothing is set aside for it.
    facts.full[account.id as usize] = match account.reserve + account.sizes.headroom {
        _ if account.sizes.own != NEVER => account.sizes.own,
        0 if at_switch => pool_size,
        aside => aside,
    };
    facts.ports[port.index()].lossless |= u16::from(account.lossless) << class;
}

fn port_class_id(facts: &Facts<'_>, port: PortId, class: Class) -> u32 {
    narrow::<u32>(facts.layout.port_class_id(port, facts.layout.dense(class)))
}

impl NodeBuilder<'_, '_> {
    /// The receiver half of a port and class, with its account.
    pub fn ingress_port_class(&self, port: PortId, class: Class) -> Result<Ingress, BuildError> {
        let mut port_class = Ingress {
            receiver: AnyFcReceiver::Custom(Box::new(Unlimited)),
            timer: Armed::default(),
            admission: AnyAdmission::Custom(Box::new(Unlimited)),
            lossless: false,
            by_output: false,
            wire: 0,
            held: 0,
            headroom: 0,
            reserve: 0,
            sizes: Sizes { headroom: 0, own: NEVER },
            fast_path_below: 0,
            id: port_class_id(self.facts, port, class),
            at_host: false,
            drains: false,
            impaired: false,
            pooled: true,
            received: Traffic::default(),
            recorded_until: 0,
            recorded: 0,
            peaks: Peaks::default(),
            awaits: false,
            rare: RareCounters::default(),
        };
        let Some(Guard { account, receiver, admission }) = guard(&self.accounts, port, class)? else {
            return Ok(port_class);
        };
        if let Some(receiver) = receiver {
            port_class.receiver = receiver;
            port_class.awaits = port_class.receiver.awaits_release();
        }
        port_class.admission = admission;
        port_class.lossless = account.lossless;
        port_class.by_output = account.by_output;
        port_class.sizes.own = account.own.map_or(NEVER, |own| own.0);
        port_class.pooled = account.own.is_none();
        port_class.reserve = account.reserve.0;
        port_class.sizes.headroom = account.headroom.0;
        Ok(port_class)
    }

    /// The sender half of a port and class.
    pub fn egress_port_class(&self, port: PortId, class: Class) -> Result<Egress, BuildError> {
        let mut port_class = Egress {
            sender: AnyFcSender::Custom(Box::new(Unlimited)),
            counts_sent: false,
            timer: Armed::default(),
            paused_since: NEVER,
            id: port_class_id(self.facts, port, class),
            paused_total: 0,
            counters: EgressCounters::default(),
            rare: RareEgressCounters::default(),
        };
        if let Some(sender) = sender(&self.accounts, port, class)? {
            port_class.sender = sender;
            port_class.counts_sent = port_class.sender.counts_sent();
        }
        Ok(port_class)
    }
}
