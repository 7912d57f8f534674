//! Construction of port classes: accounts and halves of flow control.

use floodway_mechanisms::registry::{AnyAdmission, AnyFcReceiver, AnyFcSender};
use floodway_mechanisms::slots::{
    Admission, Admit, Cx, FcFrame, FcReceiver, FcSender, Gate, IngressView, PacketView, PoolView, QueueView,
};
use floodway_units::cast::narrow;
use floodway_units::{Bytes, Class, PortId, Rng, Time};

use super::nodes::NodeBuilder;
use crate::error::BuildError;
use crate::link::port::Egress;
use crate::network::accounts::{Account, Accounts};
use crate::network::facts::Facts;
use crate::network::routing::peer;
use crate::records::counters::{EgressCounters, RareCounters, RareEgressCounters, Traffic};
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

impl Facts<'_> {
    /// Records what is fixed about an account: what it holds when it is full, and whether it must not lose.
    pub fn record_account(&mut self, account: &Ingress, pool_size: u64, at_switch: bool) {
        let (port, class) = self.layout.port_class_of(account.id as usize);
        // Its own buffer, or its reserve and headroom, or the pool where nothing is set aside for it.
        self.full[account.id as usize] = match account.reserve + account.sizes.headroom {
            _ if account.sizes.own != NEVER => account.sizes.own,
            0 if at_switch => pool_size,
            aside => aside,
        };
        self.ports[port.index()].lossless |= u16::from(account.lossless) << class;
    }

    fn port_class_id(&self, port: PortId, class: Class) -> u32 {
        narrow::<u32>(self.layout.port_class_id(port, self.layout.dense(class)))
    }
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
            id: self.facts.port_class_id(port, class),
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
            id: self.facts.port_class_id(port, class),
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

/// What watches over what an ingress port holds of a class.
pub(super) struct Guard {
    account: Account,
    receiver: Option<AnyFcReceiver>,
    admission: AnyAdmission,
}

/// What watches over the data of a class that come in by a port; none at a host without a receive
/// buffer, and of the control class.
pub(super) fn guard(
    accounts: &Accounts<'_>,
    port: PortId,
    class: Class,
) -> Result<Option<Guard>, BuildError> {
    let account = accounts.of(port, class)?;
    let Some(account) = account.filter(|_| class != Class::CONTROL) else { return Ok(None) };
    let blueprint = accounts.blueprint();
    let refused = |error| BuildError::param(blueprint.port_name(port), error);
    let control = blueprint.control_into(port, class);
    let halves = control.map(|params| params.build(&account.link).map_err(refused)).transpose()?;
    let buffer = blueprint.buffer_at(port).expect("an account is of a buffer");
    let admission = buffer.build().map_err(refused)?;
    Ok(Some(Guard { account, receiver: halves.map(|(_, receiver)| receiver), admission }))
}

/// The sender half of what a port sends of a class, where it has flow control.
pub(super) fn sender(
    accounts: &Accounts<'_>,
    port: PortId,
    class: Class,
) -> Result<Option<AnyFcSender>, BuildError> {
    let (blueprint, rx) = (accounts.blueprint(), peer(port));
    let control = blueprint.control_into(rx, class).filter(|_| class != Class::CONTROL);
    let Some(params) = control else { return Ok(None) };
    let account = accounts.of(rx, class)?;
    let link = account.map_or_else(|| accounts.host_link(rx, class, params), |account| account.link);
    let halves = params.build(&link).map_err(|error| BuildError::param(blueprint.port_name(rx), error))?;
    Ok(Some(halves.0))
}
