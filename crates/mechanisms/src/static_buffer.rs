//! A static buffer: each (ingress port, class) has its own, and no other can use it (as deep-buffered ports
//! of long links have it).
//!
//! # What it does
//!
//! All bytes below headroom count as shared, and are compared with the flow control's threshold. A packet is
//! dropped when the whole buffer, headroom included, has no room for it.
//!
//! # Why
//!
//! Choose it where a port needs guaranteed bytes whatever its neighbours do: long links, and every mechanism
//! that has a proof (Bifrost's Theorem 1, PFC's headroom). It uses memory less efficiently than `shared`,
//! which gives the memory of idle ports to others. `"auto"` gives each port exactly the bytes that its flow
//! control needs to lose nothing.
//!
//! # Sizing
//!
//! ```text
//! size = the result of the flow control's own formula ("auto"), or a given size
//!        pfc:     XOFF + MTU - 1 + H
//!        bifrost: H + (k + N + 1) MTU
//!        cbfc:    R · (round trip + P) + 4 W + 84
//!        lossy:   max(240 KB, rate · round trip)
//! ```
//!
//! With a given size, PFC's XOFF fills the bytes that headroom leaves, unless XOFF is given too. With
//! `crossing = "headroom"` the packet that crosses XOFF is in headroom, which then needs one MTU more.
//!
//! # Known differences
//!
//! None: it is not a published mechanism.
//!
//! # References
//!
//! - Chen et al., "Swing: Providing Long-Range Lossless RDMA via PFC-Relay", IEEE TPDS 34(1), 2023, section
//!   6.1 (a static 41 MB for the port of a long link).
//! - IEEE Std 802.1Qbb-2011, "Priority-based Flow Control".

use floodway_units::{Bytes, Rng, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{
    self, Admit, Buffer, BufferPlan, Crossing, DropReason, IngressView, LinkInfo, PacketView, ParamError,
    PoolView, QueueView, Sizing,
};

/// Parameters of a static buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "StaticBuffer")]
pub struct Params {
    /// Size of the buffer, headroom included: a size above 0, or `"auto"` for the bytes that the flow control
    /// needs.
    /// Source: the flow control's own formula.
    pub size: Sizing,
    /// The account that the packet which crosses the flow control's threshold is charged to.
    /// Source: floodway's choice: headroom is then exactly the formula, without another MTU.
    pub crossing: Crossing,
}

impl Default for Params {
    fn default() -> Self {
        Params { size: Sizing::Auto, crossing: Crossing::Shared }
    }
}

impl Buffer for Params {
    type Admission = Admission;

    fn plan(&self) -> BufferPlan {
        BufferPlan {
            own: Some(self.size),
            pool: None,
            headroom: None,
            reserve: Bytes::ZERO,
            crossbar: None,
            output: None,
        }
    }

    fn spared(&self, link: &LinkInfo) -> Bytes {
        match self.crossing {
            Crossing::Headroom => link.largest_held().saturating_sub(Bytes(1)),
            Crossing::Shared | Crossing::Pool => Bytes::ZERO,
        }
    }

    fn build(&self) -> Result<Admission, ParamError> {
        if self.size == Sizing::Fixed(Bytes::ZERO) {
            return Err(ParamError::new("size", "a buffer of 0B holds no packet"));
        }
        Ok(Admission { crossing: self.crossing })
    }
}

/// One per ingress port.
#[derive(Clone, Copy, Debug)]
pub struct Admission {
    crossing: Crossing,
}

impl slots::Admission for Admission {
    #[inline]
    fn admit(
        &mut self,
        _now: Time,
        _rng: &mut Rng,
        p: &PacketView,
        i: &IngressView,
        _e: &QueueView,
        pool: &PoolView,
    ) -> Admit {
        if i.queued.saturating_add(p.frame) > pool.size {
            Admit::Drop(DropReason::Buffer)
        } else if self.crossing.is_below(i.shared, p.frame, pool.threshold) {
            Admit::Shared
        } else {
            Admit::Headroom
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

    /// Account of a frame of 1500 bytes in a buffer of 100 KB with a threshold of 60 KB.
    fn admit(crossing: Crossing, held: (u64, u64)) -> Admit {
        let pool = PoolView {
            free: Bytes::ZERO,
            threshold: Bytes::kb(60),
            headroom: Bytes(38_500),
            headroom_free: Bytes::MAX,
            size: Bytes::kb(100),
            egress_used: Bytes::ZERO,
            queue_room: Bytes::MAX,
        };
        let params = Params { size: Sizing::Fixed(Bytes::kb(100)), crossing };
        let mut machine = params.build().expect("a size is given");
        let mut bench = Bench::<()>::new();
        machine.admit(
            Time::ZERO,
            &mut bench.rng,
            &packet(1500),
            &ingress(0, held.0, held.1),
            &egress(0),
            &pool,
        )
    }

    #[test]
    fn a_packet_that_finds_the_shared_part_below_the_threshold_goes_there_whole() {
        assert_eq!(admit(Crossing::Shared, (59_999, 0)), Admit::Shared);
        assert_eq!(admit(Crossing::Shared, (60_000, 0)), Admit::Headroom);
    }

    #[test]
    fn the_crossing_packet_goes_to_headroom_where_that_is_chosen() {
        assert_eq!(admit(Crossing::Headroom, (58_500, 0)), Admit::Shared);
        assert_eq!(admit(Crossing::Headroom, (58_501, 0)), Admit::Headroom);
    }

    #[test]
    fn only_a_full_buffer_drops() {
        assert_eq!(admit(Crossing::Shared, (60_000, 38_500)), Admit::Headroom);
        assert_eq!(admit(Crossing::Shared, (60_000, 38_501)), Admit::Drop(DropReason::Buffer));
        assert_eq!(admit(Crossing::Shared, (98_501, 0)), Admit::Drop(DropReason::Buffer));
        assert_eq!(admit(Crossing::Shared, (10_000, 88_500)), Admit::Shared);
    }

    #[test]
    fn the_667th_full_packet_is_the_first_in_headroom_of_swings_static_port() {
        // 1 MB below 40 KB of headroom.
        let pool = PoolView {
            free: Bytes::ZERO,
            threshold: Bytes::mb(1),
            headroom: Bytes::kb(40),
            headroom_free: Bytes::MAX,
            size: Bytes::kb(1_040),
            egress_used: Bytes::ZERO,
            queue_room: Bytes::MAX,
        };
        let mut machine = Params { size: Sizing::Auto, crossing: Crossing::Headroom }.build().expect("valid");
        let mut bench = Bench::<()>::new();
        let mut where_is = |n: u64| {
            let held = ingress(0, (n - 1) * 1500, 0);
            machine.admit(Time::ZERO, &mut bench.rng, &packet(1500), &held, &egress(0), &pool)
        };
        assert_eq!((where_is(666), where_is(667)), (Admit::Shared, Admit::Headroom));
    }
}
