//! Sizing: whether buffers are large enough that lossless classes lose nothing under any traffic.
//!
//! The sizes are `lossless_size`, `restart_size` and `may_overflow` of the slot. The same comparison gives
//! the warnings and notes of `check`. Losses that these formulas do not cover (pauses lost while a link is
//! down and undetected, pauses of other classes, pauses behind ACKs) are a reason there, so that such a run
//! is never *held by sizing*; `make soak` searches for losses without a reason.
//!
//! Headroom by its formula is enough for a port with a buffer of its own. With a shared pool, other ports can
//! use the pool's last bytes, or lower a dynamic threshold, before this port has paused its upstream. The
//! packet that causes the pause is then in headroom too, and `headroom = "auto"` is one MTU more there. A
//! property test found the loss.

use std::collections::BTreeMap;

use floodway_mechanisms::registry::FlowControlParams;
use floodway_mechanisms::slots::Admission as _;
use floodway_units::cast::narrow;
use floodway_units::{Bytes, Class, NodeId, PortId, Span, Time};
use serde::Serialize;

use crate::network::accounts::{Account, Accounts};
use crate::network::blueprint::{Acks, Blueprint, LinkControl, Role, Rounding};

const UNNOTICED: &str = "its link is down for a time shorter than its faults.detection: pauses lost meanwhile are not sent again at once";
const BYPASSED: &str = "a relay at its link is bypassed for a time, and sizes count the link's own length";
const SHARED: &str =
    "pauses may wait behind those of other classes on the link, which its formula does not count";

/// Why sizes promise nothing where ports share less headroom than they have.
fn over_subscribed(shared: Bytes, needed: Bytes) -> String {
    format!(
        "its ports share {} of headroom, and need {} if all of them pause at once",
        shared,
        needed.rounded_up()
    )
}

/// What an ingress port and class has, and what its flow control asks for to lose nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// All of a buffer of the port's own, or headroom beside a pool.
    pub has: Bytes,
    /// What it must have while the link stays up.
    pub steady: Bytes,
    /// So often the link comes up again in the run.
    pub restarts: u64,
    /// What may come on top each time.
    pub each: Bytes,
}

impl Need {
    /// What it must have, whatever comes and whenever the link comes up again.
    pub fn all(&self) -> Bytes {
        self.steady.saturating_add(Bytes(self.each.0.saturating_mul(self.restarts)))
    }

    /// What it lacks.
    pub fn short(&self) -> Bytes {
        self.all().saturating_sub(self.has)
    }
}

/// The port that lacks most of what its flow control asks for to lose nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shortfall {
    /// How many (port, class) lack something.
    pub ports: u64,
    /// The one that lacks most, as "node (link)".
    pub place: String,
    /// Its class.
    pub class: u8,
    /// What it has: all of its own buffer, or its headroom beside a pool.
    pub has_bytes: u64,
    /// What it would have to have.
    pub needs_bytes: u64,
    /// What it lacks.
    pub short_bytes: u64,
}

/// A reason for which the size of buffers alone promises nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unproven {
    /// In words.
    pub why: String,
    /// The first port that it holds for, as "node (link)", or a switch where it holds for all.
    pub place: String,
    /// How many.
    pub ports: u64,
}

/// What the sizes of a network promise.
#[derive(Clone, Debug, Default)]
pub struct Sizing {
    /// The port that lacks most.
    pub short: Option<Shortfall>,
    /// Why sizes alone promise nothing.
    pub unproven: Vec<Unproven>,
    /// Some size assumes that an upstream obeys a pause at once.
    pub react_is_zero: bool,
}

impl Accounts<'_> {
    /// What an ingress port and class needs to lose nothing; none where its flow control does not promise
    /// that.
    pub fn need(&self, port: PortId, class: Class, account: &Account) -> Option<Need> {
        let control = self.blueprint().control_into(port, class).filter(|control| control.is_lossless())?;
        Some(Need {
            has: account.own.unwrap_or(account.headroom),
            steady: control.lossless_size(&account.link),
            restarts: self.blueprint().restarts(port),
            each: control.restart_size(&account.link),
        })
    }
}

impl Blueprint {
    /// The flow control of the data that comes in by `port`.
    pub fn control_into(&self, port: PortId, class: Class) -> Option<&FlowControlParams> {
        let data = &self.links[port.index() / 2].directions[1 - port.index() % 2];
        data.flow_control.iter().find(|(of, _)| *of == class).map(|(_, params)| params)
    }

    /// How often the link of `port` comes up again.
    fn restarts(&self, port: PortId) -> u64 {
        let down = &self.links[port.index() / 2].down;
        down.iter().filter(|(_, to)| *to < Time::NEVER && *to < self.end.limit).count() as u64
    }

    /// Why sizes of buffers alone do not promise that lossless classes lose nothing.
    pub fn unproven(&self) -> Vec<Unproven> {
        self.sizing().unproven
    }

    /// What the sizes of its buffers promise.
    pub fn sizing(&self) -> Sizing {
        let (accounts, classes) = (self.accounts(), self.classes());
        let mut found = Found::default();
        for port in (0..2 * narrow::<u32>(self.links.len())).map(PortId) {
            for &class in &classes[1..] {
                if let Ok(Some(account)) = accounts.of(port, class) {
                    self.size_up(&accounts, (port, class), &account, &mut found);
                }
            }
        }
        for (node, needed) in std::mem::take(&mut found.headroom) {
            let shared = accounts.headroom_pool(node).filter(|shared| *shared < needed);
            if let Some(shared) = shared {
                found.doubt(over_subscribed(shared, needed), self.nodes[node.index()].name.clone());
            }
        }
        if found.is_lossless {
            self.doubt_semantics(&mut found);
        }
        found.sizing()
    }

    fn size_up(
        &self,
        accounts: &Accounts<'_>,
        (port, class): (PortId, Class),
        account: &Account,
        found: &mut Found,
    ) {
        let Some(need) = accounts.need(port, class, account) else { return };
        let Some(control) = self.control_into(port, class) else { return };
        found.is_lossless = true;
        if account.own.is_none() {
            let node = self.links[port.index() / 2].ends[port.index() % 2].node;
            *found.headroom.entry(node).or_default() += account.headroom;
        }
        found.react_is_zero |= control.reaction(&account.link) == Some(Span::ZERO);
        if need.short() > Bytes::ZERO {
            found.short(need, || self.port_name(port), class);
        }
        let pauses = &self.links[port.index() / 2].directions[port.index() % 2];
        let lost = pauses.errors.link_control > 0.0 && !control.tolerates_lost_frames();
        let lost = lost.then(|| "frames of its flow control may be lost on the link".to_owned());
        let sized_by_pauses = !control.tolerates_lost_frames();
        let unnoticed = (sized_by_pauses && self.goes_down_unnoticed(port)).then(|| UNNOTICED.to_owned());
        let bypassed = self.is_by_bypass(port).then(|| BYPASSED.to_owned());
        let shared = (sized_by_pauses && self.shares_reverse_path(port, class)).then(|| SHARED.to_owned());
        let reasons = [
            control.may_overflow(&account.link),
            lost,
            self.egress_account(port),
            unnoticed,
            bypassed,
            shared,
        ];
        for why in reasons.into_iter().flatten() {
            found.doubt(why, self.port_name(port));
        }
    }

    /// Does the link of `port` come up again before its ends have noticed that it was down? They go on as
    /// before, and what either has sent meanwhile is lost, pauses too.
    pub fn goes_down_unnoticed(&self, port: PortId) -> bool {
        let link = &self.links[port.index() / 2];
        link.down.iter().any(|(from, to)| *from < self.end.limit && *to <= *from + link.detection)
    }

    /// Is the port at a link of a relay that is bypassed for a time? Pauses and data then travel further than
    /// the link is long.
    pub(crate) fn is_by_bypass(&self, port: PortId) -> bool {
        let ends = &self.links[port.index() / 2].ends;
        let relays = ends.iter().flat_map(|end| self.nodes[end.node.index()].role.bypass());
        relays.into_iter().any(|&(from, _)| from < self.end.limit)
    }

    /// Do flow controls of other classes send frames the same way as that of `class`, one of which may wait
    /// for all of them?
    fn shares_reverse_path(&self, port: PortId, class: Class) -> bool {
        let sends = |of: Class| self.control_into(port, of).is_some_and(FlowControlParams::is_lossless);
        self.classes()[1..].iter().any(|&of| of != class && sends(of))
    }

    /// An account of egress queues that also limits lossless classes.
    fn egress_account(&self, port: PortId) -> Option<String> {
        let switch = self.switch_at(port)?;
        let own = self.links[port.index() / 2].ends[port.index() % 2].buffer.as_ref();
        let admission = own.unwrap_or(&switch.buffer).build().ok()?;
        let why = "its switch also refuses packets by the account of its egress queues";
        admission.egress_reserve().map(|_| why.to_owned())
    }

    /// Points of other simulators that formulas do not count.
    fn doubt_semantics(&self, found: &mut Found) {
        let place = || self.nodes.iter().find(|node| matches!(node.role, Role::Switch(_)));
        let name = place().map_or_else(String::new, |node| node.name.clone());
        if self.semantics.rounding != Rounding::Picosecond {
            found.doubt(
                "semantics.rounding makes links a little faster than their rates".into(),
                name.clone(),
            );
        }
        if self.semantics.acks == Acks::DataUnpaused {
            found.doubt("semantics.acks lets hosts send replies into a paused class".into(), name.clone());
        }
        if self.semantics.link_control == LinkControl::ControlClass {
            found.doubt("semantics.link-control lets pauses wait behind ACKs".into(), name);
        }
    }
}

/// What has been found so far.
#[derive(Default)]
struct Found {
    is_lossless: bool,
    react_is_zero: bool,
    worst: Option<Shortfall>,
    ports: u64,
    /// By switch: the headroom of all ports that take of its pool.
    headroom: BTreeMap<NodeId, Bytes>,
    /// By reason: the first place, and how many there are.
    doubts: BTreeMap<String, (String, u64)>,
}

impl Found {
    fn short(&mut self, need: Need, place: impl FnOnce() -> String, class: Class) {
        self.ports += 1;
        if self.worst.as_ref().is_none_or(|worst| need.short().0 > worst.short_bytes) {
            self.worst = Some(Shortfall {
                ports: 0,
                place: place(),
                class: class.0,
                has_bytes: need.has.0,
                needs_bytes: need.all().0,
                short_bytes: need.short().0,
            });
        }
    }

    fn doubt(&mut self, why: String, place: String) {
        self.doubts.entry(why).or_insert((place, 0)).1 += 1;
    }

    fn sizing(self) -> Sizing {
        let unproven = |(why, (place, ports))| Unproven { why, place, ports };
        Sizing {
            short: self.worst.map(|worst| Shortfall { ports: self.ports, ..worst }),
            unproven: self.doubts.into_iter().map(unproven).collect(),
            react_is_zero: self.react_is_zero,
        }
    }
}
