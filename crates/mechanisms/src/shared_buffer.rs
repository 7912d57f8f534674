//! A shared buffer: one pool for all (ingress port, class) of a switch, with a reserve and headroom for each
//! (as in switch chips and the memory management of the HPCC and SWING simulators).
//!
//! # What it does
//!
//! The reserve is filled first, then the pool while the flow control's threshold allows, then headroom; a
//! packet that finds no room is dropped. A lossy class has no threshold and no headroom; a share of the
//! pool's free bytes limits each of its egress queues.
//!
//! # Why
//!
//! Datacenter switches do this: a burst may use nearly all of the memory while other ports are idle, and a
//! threshold that is a share of the free bytes (`flow-control.pfc.xoff.alpha`) leaves some for ports that
//! need it later. Unlike with `static`, pauses of one port depend on the bytes that all others hold.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | R | `reserve` |
//! | ing | reserved + shared bytes of one (ingress port, class) |
//! | S | max(0, ing - R): its shared bytes |
//! | hdr | its bytes in headroom |
//! | T | the flow control's threshold |
//!
//! # Sizing
//!
//! ```text
//! memory = pool + ports · classes · (reserve + headroom)
//! memory = pool + ports · classes · reserve + headroom-pool
//! ```
//!
//! The classes are the data classes of the run. With `pool` reserves and headroom are added to it; with
//! `total` the pool is the memory that reserves and headroom leave, and if they need more than the total an
//! error shows the excess. The port's headroom is PFC's H and one MTU more: other ports can take the pool's
//! last bytes, or lower a dynamic threshold, before this one has paused its upstream. However small the pool,
//! a lossless class with that headroom loses nothing; a small pool pauses earlier. With `headroom-pool` the
//! ports share headroom, up to H each; whether a class loses packets then depends on how many ports are
//! paused at once.
//!
//! # Known differences
//!
//! - With `crossing = "headroom"` packets are charged as in the MMU of the HPCC and SWING simulators. Those
//!   drop a packet also when headroom is full while the reserve has room and T is below one packet; here it
//!   enters the reserve, which is its own.
//! - HPCC's pool subtracts one reserve a port; here each data class of a port has its reserve.
//!
//! # References
//!
//! - Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, and its simulator's `switch-mmu.cc`.
//! - Chen et al., "Swing: Providing Long-Range Lossless RDMA via PFC-Relay", IEEE TPDS 34(1), 2023, section
//!   6.1.
//! - Song et al., "Network Load Balancing with In-network Reordering Support for RDMA", SIGCOMM 2023
//!   (ConWeave), and its simulator's `switch-mmu.cc`: the egress share of lossy classes.

use floodway_units::{Bytes, Rng, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{
    self, Admit, Buffer, BufferPlan, Crossing, DropReason, IngressView, PacketView, ParamError, PoolSize,
    PoolView, QueueView,
};

/// The pool where none is given (SWING's).
// SWING, Section 6.1: the buffer that the ports of a switch share.
const POOL: Bytes = Bytes::mb(10);

/// Parameters of a shared buffer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "SharedBuffer")]
pub struct Params {
    /// The pool alone, in bytes; reserves and headroom are added to it. Not together with `total`. Default:
    /// 10 MB, where `total` is not given.
    /// Source: SWING, section 6.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<Bytes>,
    /// All memory of the switch, in bytes; reserves and headroom are taken from it. Not together with `pool`.
    /// Default: not given; the pool is.
    /// Source: the HPCC simulator's `switch-mmu.cc`, which counts so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Bytes>,
    /// Headroom that all ports share, in bytes: a packet that would enter its port's headroom is dropped when
    /// this is full. Less than the sum of the ports' headroom is over-subscribed, and promises nothing if all
    /// pause at once. Default: each port has its own.
    /// Source: `SONiC`'s shared headroom pool, `BUFFER_POOL.xoff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headroom_pool: Option<Bytes>,
    /// R: bytes set aside for each (ingress port, class), at least 0.
    /// Source: floodway's choice: nothing that is not asked for; HPCC has 4 KiB, SWING 288 KB.
    pub reserve: Bytes,
    /// A packet is dropped when its egress queue would exceed this share, above 0, of the free bytes: of the
    /// pool's, if its class is lossy; of `egress-pool`, whatever its class, where that is given.
    /// Source: ConWeave's simulator.
    pub egress_alpha: f64,
    /// Bytes that the egress queues of the switch share beyond `egress-reserve` of each: a second account of
    /// the same packets, which then limits lossless classes, too. Default: none.
    /// Source: ConWeave's simulator, where it is the memory less 8 KiB and a bit for each port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress_pool: Option<Bytes>,
    /// Bytes that each egress queue has for itself in addition to `egress-pool`, at least 0.
    /// Source: floodway's choice: nothing that is not asked for; ConWeave's simulator has 1049 B.
    pub egress_reserve: Bytes,
    /// The account that the packet which crosses the flow control's threshold is charged to. A lossy class
    /// has no threshold: there `"headroom"` drops a packet that finds the reserve full unless all of it would
    /// fit into the pool, not only the part above the reserve.
    /// Source: floodway's choice: a threshold then is what it says; `"headroom"` is that of the HPCC and
    /// SWING simulators, lossy classes included.
    pub crossing: Crossing,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            pool: None,
            total: None,
            headroom_pool: None,
            reserve: Bytes::ZERO,
            egress_alpha: 1.0,
            egress_pool: None,
            egress_reserve: Bytes::ZERO,
            crossing: Crossing::Shared,
        }
    }
}

impl Buffer for Params {
    type Admission = Admission;

    fn plan(&self) -> BufferPlan {
        let pool = match self.total {
            Some(total) => PoolSize::Total(total),
            None => PoolSize::Pool(self.pool.unwrap_or(POOL)),
        };
        BufferPlan {
            own: None,
            pool: Some(pool),
            headroom: self.headroom_pool,
            reserve: self.reserve,
            crossbar: None,
            output: None,
        }
    }

    fn size_of_switch(&self) -> Option<&'static str> {
        match (self.pool, self.total) {
            (Some(_), _) => Some("pool"),
            (None, Some(_)) => Some("total"),
            (None, None) => None,
        }
    }

    fn build(&self) -> Result<Admission, ParamError> {
        if self.pool.is_some() && self.total.is_some() {
            return Err(ParamError::new("pool", "give either the pool or the total, not both"));
        }
        let alpha = self.egress_alpha;
        if !(alpha.is_finite() && alpha > 0.0) {
            return Err(ParamError::new("egress-alpha", format!("{alpha} is not a number above 0")));
        }
        if self.egress_pool.is_none() && self.egress_reserve > Bytes::ZERO {
            return Err(ParamError::new("egress-reserve", "it requires `egress-pool`, which is not given"));
        }
        let egress = self.egress_pool.map(|pool| Egress { pool, reserve: self.egress_reserve });
        Ok(Admission { reserve: self.reserve, egress_alpha: alpha, egress, crossing: self.crossing })
    }
}

/// One per ingress port.
#[derive(Clone, Copy, Debug)]
pub struct Admission {
    reserve: Bytes,
    egress_alpha: f64,
    egress: Option<Egress>,
    crossing: Crossing,
}

/// The account of egress queues.
#[derive(Clone, Copy, Debug)]
struct Egress {
    pool: Bytes,
    reserve: Bytes,
}

impl Egress {
    /// Would the queue exceed its share with this frame?
    fn exceeds(self, alpha: f64, frame: Bytes, e: &QueueView, pool: &PoolView) -> bool {
        let share = self.pool.saturating_sub(pool.egress_used).scale(alpha);
        e.len.saturating_sub(self.reserve).saturating_add(frame) > share
    }
}

impl Admission {
    /// A class without flow control: never charged to headroom.
    fn admit_lossy(&self, frame: Bytes, above: Bytes, e: &QueueView, pool: &PoolView) -> Admit {
        let asked = if self.crossing == Crossing::Headroom { frame } else { above };
        let of_pool = self.egress.is_none();
        if of_pool && e.len.saturating_add(frame) > pool.free.scale(self.egress_alpha) {
            Admit::Drop(DropReason::Egress)
        } else if asked > pool.free {
            Admit::Drop(DropReason::Buffer)
        } else {
            Admit::Shared
        }
    }
}

impl slots::Admission for Admission {
    #[inline]
    fn admit(
        &mut self,
        _now: Time,
        _rng: &mut Rng,
        p: &PacketView,
        i: &IngressView,
        e: &QueueView,
        pool: &PoolView,
    ) -> Admit {
        if self.egress.is_some_and(|egress| egress.exceeds(self.egress_alpha, p.frame, e, pool)) {
            return Admit::Drop(DropReason::Egress);
        }
        let held = i.reserved + i.shared;
        // What the packet would add to the shared part.
        let above = p.frame.min((held + p.frame).saturating_sub(self.reserve));
        if above == Bytes::ZERO {
            return Admit::Reserved;
        }
        if pool.threshold == Bytes::MAX {
            return self.admit_lossy(p.frame, above, e, pool);
        }
        let shared = held.saturating_sub(self.reserve);
        if self.crossing.is_below(shared, above, pool.threshold) && above <= pool.free {
            Admit::Shared
        } else if i.headroom.saturating_add(p.frame) <= pool.headroom && p.frame <= pool.headroom_free {
            Admit::Headroom
        } else {
            Admit::Drop(DropReason::Buffer)
        }
    }

    #[inline]
    fn egress_reserve(&self) -> Option<Bytes> {
        self.egress.map(|egress| egress.reserve)
    }

    fn is_plain(&self) -> bool {
        self.egress.is_none()
    }

    fn plain_up_to(&self, pool_free: Bytes) -> Bytes {
        pool_free.scale(self.egress_alpha)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::slots::Admission as _;
    use crate::testing::{Bench, egress, ingress, packet};

    /// R = 10 KB, T = 20 KB, 30 KB of headroom, an ample pool.
    const POOL_VIEW: PoolView = PoolView {
        free: Bytes::mb(1),
        threshold: Bytes::kb(20),
        headroom: Bytes::kb(30),
        headroom_free: Bytes::MAX,
        size: Bytes::MAX,
        egress_used: Bytes::ZERO,
        queue_room: Bytes::MAX,
    };

    fn machine(crossing: Crossing) -> Admission {
        let params = Params { reserve: Bytes::kb(10), crossing, ..Params::default() };
        params.build().expect("the parameters are valid")
    }

    /// The account of a frame that finds (reserved, shared, headroom) in use.
    fn admit(crossing: Crossing, frame: u64, held: (u64, u64, u64), queue: u64, pool: &PoolView) -> Admit {
        let held = ingress(held.0, held.1, held.2);
        let mut bench = Bench::<()>::new();
        machine(crossing).admit(Time::ZERO, &mut bench.rng, &packet(frame), &held, &egress(queue), pool)
    }

    fn lossless(held: (u64, u64, u64)) -> Admit {
        admit(Crossing::Shared, 1500, held, 0, &POOL_VIEW)
    }

    #[test]
    fn reserve_then_pool_then_headroom_then_nowhere() {
        assert_eq!(lossless((8_500, 0, 0)), Admit::Reserved);
        assert_eq!(lossless((8_501, 0, 0)), Admit::Shared);
        assert_eq!(lossless((10_000, 19_999, 0)), Admit::Shared);
        assert_eq!(lossless((10_000, 20_000, 0)), Admit::Headroom);
        assert_eq!(lossless((10_000, 20_000, 28_500)), Admit::Headroom);
        assert_eq!(lossless((10_000, 20_000, 28_501)), Admit::Drop(DropReason::Buffer));
    }

    #[test]
    fn a_small_packet_enters_the_reserve_while_headroom_is_in_use() {
        assert_eq!(lossless((5_000, 0, 30_000)), Admit::Reserved);
    }

    #[test]
    fn what_the_pool_has_no_room_for_goes_to_headroom() {
        let pool = PoolView { free: Bytes(1_499), ..POOL_VIEW };
        assert_eq!(admit(Crossing::Shared, 1500, (10_000, 0, 0), 0, &pool), Admit::Headroom);
        // Only the part above the reserve comes out of the pool.
        assert_eq!(admit(Crossing::Shared, 1500, (9_999, 0, 0), 0, &pool), Admit::Shared);
    }

    #[test]
    fn a_lossy_class_is_limited_at_its_egress_and_by_the_pool() {
        let pool =
            PoolView { free: Bytes::kb(20), threshold: Bytes::MAX, headroom: Bytes::ZERO, ..POOL_VIEW };
        let at = |held, queue| admit(Crossing::Shared, 1500, held, queue, &pool);
        assert_eq!(at((10_000, 50_000, 0), 18_500), Admit::Shared);
        assert_eq!(at((10_000, 50_000, 0), 18_501), Admit::Drop(DropReason::Egress));
        assert_eq!(at((8_500, 0, 0), 18_501), Admit::Reserved);
        let full = PoolView { free: Bytes(1_499), ..pool };
        let mut generous = Params { egress_alpha: 16.0, ..Params::default() }.build().expect("valid");
        let (mut bench, empty) = (Bench::<()>::new(), ingress(0, 0, 0));
        let dropped = generous.admit(Time::ZERO, &mut bench.rng, &packet(1500), &empty, &egress(0), &full);
        assert_eq!(dropped, Admit::Drop(DropReason::Buffer));
    }

    /// One port of ConWeave's simulator with 1 MiB and 16 ports: 914,432 B for all queues beside 1049 B of
    /// each.
    #[test]
    fn an_egress_pool_limits_lossless_classes_too() {
        let params = Params {
            egress_pool: Some(Bytes(914_432)),
            egress_reserve: Bytes(1_049),
            crossing: Crossing::Pool,
            ..Params::default()
        };
        let mut machine = params.build().expect("valid");
        assert_eq!(machine.egress_reserve(), Some(Bytes(1_049)));
        let mut at = |queue: u64, used: u64| {
            let pool = PoolView { egress_used: Bytes(used), ..POOL_VIEW };
            let (mut bench, held) = (Bench::<()>::new(), ingress(0, 30_000, 0));
            machine.admit(Time::ZERO, &mut bench.rng, &packet(1_048), &held, &egress(queue), &pool)
        };
        // 457,216 B at most, of which the frame is a part: half of the pool, which the queue shares with
        // none.
        assert_eq!(at(1_049 + 456_692, 456_692), Admit::Shared);
        assert_eq!(at(1_049 + 456_693, 456_693), Admit::Drop(DropReason::Egress));
        assert_eq!(at(0, 913_384), Admit::Shared);
        assert_eq!(at(0, 913_385), Admit::Drop(DropReason::Egress));
        let alone = Params { egress_pool: None, ..params }.build();
        assert_eq!(alone.map(|_| ()).unwrap_err().key, "egress-reserve");
    }

    #[test]
    fn with_the_pools_crossing_the_threshold_only_pauses() {
        let pool = PoolView { free: Bytes(1_500), ..POOL_VIEW };
        let at = |pool: &PoolView| admit(Crossing::Pool, 1500, (10_000, 90_000, 0), 0, pool);
        assert_eq!(at(&pool), Admit::Shared);
        assert_eq!(at(&PoolView { free: Bytes(1_499), ..POOL_VIEW }), Admit::Headroom);
    }

    #[test]
    fn by_the_ns3_models_the_pool_must_have_room_for_all_of_a_lossy_packet() {
        // It is 1 byte above the reserve.
        let at = |crossing, free| {
            let params = Params { reserve: Bytes::kb(10), egress_alpha: 16.0, crossing, ..Params::default() };
            let pool = PoolView { free: Bytes(free), threshold: Bytes::MAX, ..POOL_VIEW };
            let (mut bench, held) = (Bench::<()>::new(), ingress(8_501, 0, 0));
            let mut machine = params.build().expect("the parameters are valid");
            machine.admit(Time::ZERO, &mut bench.rng, &packet(1500), &held, &egress(0), &pool)
        };
        assert_eq!(at(Crossing::Shared, 1_499), Admit::Shared);
        assert_eq!(at(Crossing::Headroom, 1_499), Admit::Drop(DropReason::Buffer));
        assert_eq!(at(Crossing::Headroom, 1_500), Admit::Shared);
    }

    #[test]
    fn a_pool_and_a_total_exclude_each_other() {
        let both = Params { pool: Some(Bytes::mb(1)), total: Some(Bytes::mb(1)), ..Params::default() };
        assert_eq!(both.build().unwrap_err().key, "pool");
        let plan = |json: &str| serde_json::from_str::<Params>(json).expect("well formed").plan();
        assert_eq!(plan("{}").pool, Some(PoolSize::Pool(Bytes::mb(10))));
        assert_eq!(plan(r#"{ "total": "16MiB" }"#).pool, Some(PoolSize::Total(Bytes::mib(16))));
    }

    /// The charge of the ns-3 MMUs for a packet that they do not drop (`switch-mmu.cc`).
    fn ns3_charge(ing: u64, frame: u64, reserve: u64, threshold: u64) -> Admit {
        if ing + frame <= reserve {
            Admit::Reserved
        } else if ing + frame - reserve > threshold {
            Admit::Headroom
        } else {
            Admit::Shared
        }
    }

    proptest! {
        /// `threshold` is a share of the free pool there, and so never more than it.
        #[test]
        fn with_headroom_crossing_every_charge_is_that_of_the_ns3_models(
            ing in 0u64..40_000, hdr in 0u64..30_000, frame in 64u64..=1_500, threshold in 0u64..30_000,
        ) {
            let pool = PoolView { free: Bytes(threshold * 4), threshold: Bytes(threshold), ..POOL_VIEW };
            let held = (ing.min(10_000), ing.saturating_sub(10_000), hdr);
            let expected = match ns3_charge(ing, frame, 10_000, threshold) {
                Admit::Headroom if hdr + frame > 30_000 => Admit::Drop(DropReason::Buffer),
                charge => charge,
            };
            prop_assert_eq!(admit(Crossing::Headroom, frame, held, 0, &pool), expected);
        }

        #[test]
        fn a_charge_always_fits(
            ing in 0u64..40_000, hdr in 0u64..30_000, frame in 64u64..=1_500,
            threshold in prop_oneof![0u64..40_000, Just(u64::MAX)], free in 0u64..40_000, queue in 0u64..80_000,
        ) {
            let pool = PoolView { free: Bytes(free), threshold: Bytes(threshold), ..POOL_VIEW };
            let held = (ing.min(10_000), ing.saturating_sub(10_000), hdr);
            match admit(Crossing::Shared, frame, held, queue, &pool) {
                Admit::Reserved => prop_assert!(ing + frame <= 10_000),
                Admit::Shared => prop_assert!((ing + frame).saturating_sub(10_000.max(ing)) <= free),
                Admit::Headroom => prop_assert!(hdr + frame <= 30_000 && threshold != u64::MAX),
                Admit::Drop(_) => prop_assert!(ing + frame > 10_000),
                Admit::Cut | Admit::CutLast => prop_assert!(false, "a shared buffer cuts nothing"),
            }
        }
    }
}
