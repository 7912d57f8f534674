//! The verdict on lossless classes: what they lost, and what the sizes of buffers promise.

use floodway_mechanisms::registry::FlowControlParams;
use floodway_mechanisms::slots::DropReason;
use floodway_records::outcome::{Failed, Loss, Lossless, LosslessVerdict};
use floodway_records::tally::FirstDrop;
use floodway_units::Time;

use crate::run::network::Network;
use crate::switch::buffer::Ingress;

/// The lossless classes of a network at the end of a run.
pub(super) struct LosslessClasses<'w, 'a>(pub Network<'w, 'a>);

impl LosslessClasses<'_, '_> {
    /// The verdict on them; `first` of all their packets was dropped because a buffer was full.
    pub fn verdict(&self, first: Option<FirstDrop>) -> Lossless {
        let sizing = self.0.facts.blueprint.sizing();
        let loss = first.and_then(|first| self.loss(first));
        let promised = sizing.short.is_none() && sizing.unproven.is_empty();
        let verdict = match (&loss, promised) {
            _ if !self.accounts().any(|(_, port_class)| port_class.lossless) => LosslessVerdict::NotAsked,
            (Some(_), _) => LosslessVerdict::Violated,
            (None, true) => LosslessVerdict::HeldBySizing,
            (None, false) => LosslessVerdict::HeldInRun,
        };
        Lossless {
            verdict,
            short: sizing.short,
            unproven: sizing.unproven,
            react_is_zero: sizing.react_is_zero,
            loss,
            failed: self.failed(),
        }
    }

    fn accounts(&self) -> impl Iterator<Item = (usize, &Ingress)> {
        let port_classes = 0..self.0.facts.port_classes();
        port_classes.map(|port_class| (port_class, self.0.ingress(port_class)))
    }

    /// What was dropped because a buffer was full.
    fn loss(&self, first: FirstDrop) -> Option<Loss> {
        let port_classes = self.accounts().filter(|(_, port_class)| port_class.lossless);
        let short: Vec<(usize, &Ingress)> =
            port_classes.filter(|(_, port_class)| port_class.rare.buffer_drop_bytes > 0).collect();
        let drops = |port_class: &Ingress| {
            port_class.rare.drops[DropReason::Buffer as usize]
                + port_class.rare.drops[DropReason::Egress as usize]
        };
        // The first of several that dropped the same.
        let (worst, most) =
            short.iter().rev().max_by_key(|(_, port_class)| port_class.rare.buffer_drop_bytes)?;
        Some(Loss {
            packets: short.iter().map(|(_, port_class)| drops(port_class)).sum(),
            bytes: short.iter().map(|(_, port_class)| port_class.rare.buffer_drop_bytes).sum(),
            ports: short.len() as u64,
            worst_place: self.port_class_name(*worst),
            worst_port_bytes: most.rare.buffer_drop_bytes,
            place: self.port_class_name(first.port_class),
            class: self.0.facts.layout.classes[first.port_class % self.0.facts.layout.classes.len()].0,
            time_us: Time(first.time).as_us(),
            missing_bytes: first.missing,
        })
    }

    /// What lossless classes lost by failures.
    fn failed(&self) -> Option<Failed> {
        let port_classes = || {
            (0..self.0.facts.port_classes())
                .filter(|&port_class| self.is_lossless_port_class(port_class))
                .map(|port_class| self.0.ingress(port_class))
        };
        let of = |reason: DropReason| {
            let packets: u64 = port_classes().map(|port_class| port_class.rare.drops[reason as usize]).sum();
            (reason.name(), packets)
        };
        let failures = DropReason::ALL.into_iter().filter(|reason| reason.is_failure());
        let drops: Vec<_> = failures.map(of).filter(|(_, packets)| *packets > 0).collect();
        (!drops.is_empty()).then(|| Failed {
            packets: drops.iter().map(|(_, packets)| packets).sum(),
            bytes: port_classes().map(|port_class| port_class.rare.failure_drop_bytes).sum(),
            drops,
        })
    }

    /// Is what comes in by this port and class lossless, also where the port is a host's?
    fn is_lossless_port_class(&self, port_class: usize) -> bool {
        let Network { facts, .. } = self.0;
        let (port, class) = facts.layout.port_class_of(port_class);
        let control = facts.blueprint.control_into(port, facts.layout.classes[usize::from(class)]);
        class != 0 && control.is_some_and(FlowControlParams::is_lossless)
    }

    fn port_class_name(&self, port_class: usize) -> String {
        let Network { facts, .. } = self.0;
        facts.blueprint.port_name(facts.layout.port_class_of(port_class).0)
    }
}
