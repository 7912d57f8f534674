//! Output queues with bounds of their own, and trimming: a packet that finds no room loses its payload, and
//! its header goes on (as the switches of Ultra Ethernet: UEC 1.0.3, section 4.1).
//!
//! # What it does
//!
//! Each class of data has a queue of `size` bytes at each egress port; inputs have no bounds, and ports share
//! nothing. A packet counts until its last bit has left, and congestion points see it leave then. The control
//! class has a queue of `control` bytes, which is served first. A packet of data that finds no room is cut to
//! its header, which joins the control class; so its receiver soon knows what is missing, and can say so.
//! `victim = "either"` cuts it or the last packet that waits, by chance. Packets of a reliability without
//! headers (all but `uet`) are dropped, as all are with `trim = false`.
//!
//! # Why
//!
//! A network that may lose packets needs neither pauses nor headroom, and a cut packet costs one round trip
//! where a dropped one costs a timeout. Choose it with `reliability.uet`. With pauses choose `shared`.
//!
//! # Sizing
//!
//! ```text
//! size    = bandwidth-delay product of the longest pair of hosts, in whole packets
//! control = 2 · size
//! ```
//!
//! # Known differences
//!
//! - UEC has a class of its own for cut packets, with half of the rate at most or a weight of a quarter. By
//!   default they share the control class here, which is served first, as in the Consortium's simulator;
//!   `trim-class` with `scheduler.deficit-round-robin` is the text's.
//! - UEC cuts above one bandwidth-delay product, and above 1.5 at the last hop. Here all ports have one size,
//!   unless overrides set it by switch, or by `output-queue` for the port that sends on a link.
//!
//! # References
//!
//! - Ultra Ethernet Consortium, "Ultra Ethernet Specification", 1.0.3, 2026, sections 3.6.17 and 4.1.
//! - Its simulator, `ultraethernet/uet-htsim`, `compositequeue.cpp`.
//! - Handley et al., "Re-architecting datacenter networks and stacks for low latency and high performance",
//!   SIGCOMM 2017 (NDP, which cuts packets first).

use floodway_units::{Bytes, Class, Rng, Time, uniform};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{
    self, Admit, Buffer, BufferPlan, DropReason, IngressView, OutputPlan, PacketView, ParamError, PoolView,
    QueueView, Sizing,
};

/// What bounds an input: more than a switch has.
const UNBOUNDED: Bytes = Bytes(1 << 40);

/// Parameters of bounded output queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "OutputQueue")]
pub struct Params {
    /// Room of a queue of data, in bytes, above 0.
    /// Source: the Consortium's simulator: the bandwidth-delay product of 16 hosts at 100 Gbit/s and 1 us.
    pub size: Bytes,
    /// Room of the queue of the control class, in bytes. Default: twice `size`.
    /// Source: the Consortium's simulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<Bytes>,
    /// Whether a packet without room loses its payload alone.
    /// Source: UEC, section 4.1.
    pub trim: bool,
    /// Which packet a full queue cuts or drops.
    /// Source: UEC, section 4.1: the one that arrives.
    pub victim: Victim,
    /// Class of data that cut packets go in, 0 to 5 or 7, with a queue of `size` of its own; a scheduler
    /// shares the link among classes. Default: the control class, which is served first. Source: the default
    /// is that of the Consortium's simulator; UEC, section 4.1, has a class of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim_class: Option<Class>,
    /// Bytes of a packet that has lost its payload, above 0; a packet that has no more is dropped. Default:
    /// the header of `wire`. Source: the Consortium's simulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim_size: Option<Bytes>,
}

/// Which packet a full queue cuts or drops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "TrimVictim")]
pub enum Victim {
    /// The one that arrives. Source: UEC, section 4.1.
    #[default]
    Arriving,
    /// That one or the last one that waits, each in half of all cases. Source: the Consortium's simulator.
    Either,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            size: Bytes(178_450),
            control: None,
            trim: true,
            victim: Victim::Arriving,
            trim_class: None,
            trim_size: None,
        }
    }
}

impl Buffer for Params {
    type Admission = Admission;

    fn plan(&self) -> BufferPlan {
        let control = self.control.unwrap_or(Bytes(self.size.0.saturating_mul(2)));
        BufferPlan {
            own: Some(Sizing::Fixed(UNBOUNDED)),
            pool: None,
            headroom: None,
            reserve: Bytes::ZERO,
            crossbar: None,
            output: Some(OutputPlan {
                queue: self.size,
                control,
                trims: self.trim,
                trim_class: self.trim_class,
                trim_size: self.trim_size,
            }),
        }
    }

    fn build(&self) -> Result<Admission, ParamError> {
        if self.size == Bytes::ZERO {
            return Err(ParamError::new("size", "a queue of 0B holds no packet"));
        }
        if self.trim_size == Some(Bytes::ZERO) {
            return Err(ParamError::new(
                "trim-size",
                "0B is not allowed; write a size above 0, like \"64B\"",
            ));
        }
        if let Some(class) = self.trim_class
            && (class == Class::CONTROL || usize::from(class.0) >= Class::COUNT)
        {
            let message = format!("class {} is not for data; allowed: 0 to 5, 7", class.0);
            return Err(ParamError::new("trim-class", message));
        }
        Ok(Admission { trim: self.trim, victim: self.victim })
    }
}

/// One per ingress port.
#[derive(Clone, Copy, Debug)]
pub struct Admission {
    trim: bool,
    victim: Victim,
}

impl slots::Admission for Admission {
    fn admit(
        &mut self,
        _now: Time,
        rng: &mut Rng,
        p: &PacketView,
        _i: &IngressView,
        e: &QueueView,
        pool: &PoolView,
    ) -> Admit {
        // Section 4.1: a packet without room loses its payload, and its header goes on.
        if e.len + p.frame <= pool.queue_room {
            Admit::Shared
        } else if self.victim == Victim::Either && uniform(rng) < 0.5 {
            Admit::CutLast
        } else if self.trim {
            Admit::Cut
        } else {
            Admit::Drop(DropReason::Egress)
        }
    }

    fn is_plain(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slots::Admission as _;
    use crate::testing::{Bench, egress, ingress, packet};

    const POOL: PoolView = PoolView {
        free: Bytes::ZERO,
        threshold: Bytes::MAX,
        headroom: Bytes::ZERO,
        headroom_free: Bytes::MAX,
        size: UNBOUNDED,
        egress_used: Bytes::ZERO,
        queue_room: Bytes(10_000),
    };

    /// What becomes of packets of 1,000 B at a queue of 10 KB that holds so much.
    fn admitted(params: Params, held: u64, times: usize) -> Vec<Admit> {
        let mut machine = params.build().expect("it has a size");
        let mut bench = Bench::<()>::new();
        let mut admit = || {
            machine.admit(Time::ZERO, &mut bench.rng, &packet(1_000), &ingress(0, 0, 0), &egress(held), &POOL)
        };
        (0..times).map(|_| admit()).collect()
    }

    #[test]
    fn a_packet_joins_while_its_last_byte_has_room() {
        let params = Params::default();
        assert_eq!(admitted(params, 9_000, 1), [Admit::Shared]);
        assert_eq!(admitted(params, 9_001, 1), [Admit::Cut]);
        assert_eq!(admitted(Params { trim: false, ..params }, 9_001, 1), [Admit::Drop(DropReason::Egress)]);
    }

    #[test]
    fn either_packet_is_cut_in_half_of_all_cases() {
        let either = Params { victim: Victim::Either, ..Params::default() };
        let last = admitted(either, 10_000, 1_000).into_iter().filter(|cut| *cut == Admit::CutLast).count();
        // Four standard deviations.
        assert!((437..=563).contains(&last), "{last}");
        // Without trimming the same packets are dropped.
        let dropped = admitted(Params { trim: false, ..either }, 10_000, 1_000);
        let last = dropped.iter().filter(|cut| **cut == Admit::CutLast).count();
        assert!((437..=563).contains(&last), "{last}");
        assert!(!dropped.contains(&Admit::Cut));
    }

    #[test]
    fn cut_packets_go_in_a_class_of_data_or_with_control() {
        let class = |class| Params { trim_class: Some(Class(class)), ..Params::default() };
        assert_eq!(class(2).plan().output.and_then(|output| output.trim_class), Some(Class(2)));
        let error = class(6).build().unwrap_err();
        assert_eq!(error.message, "class 6 is not for data; allowed: 0 to 5, 7");
    }

    #[test]
    fn a_cut_packet_of_no_bytes_is_refused() {
        let error = Params { trim_size: Some(Bytes::ZERO), ..Params::default() }.build().unwrap_err();
        assert_eq!(error.key, "trim-size");
    }

    #[test]
    fn a_queue_without_room_is_refused() {
        let error = Params { size: Bytes::ZERO, ..Params::default() }.build().unwrap_err();
        assert_eq!((error.key, error.message.as_str()), ("size", "a queue of 0B holds no packet"));
    }
}
