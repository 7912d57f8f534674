//! An input-output queued switch: a queue for each output at each input, a queue at each output, and a
//! crossbar between them (the switch of RCM's paper; scheduling after iSLIP, McKeown 1999).
//!
//! ```text
//!  input 0 ─┬─[ VOQ to output 0 ]─┐            ┌─[ output queue 0 ]─► link
//!           └─[ VOQ to output 1 ]─┤  crossbar, │
//!  input 1 ─┬─[ VOQ to output 0 ]─┤  speed-up  │
//!           └─[ VOQ to output 1 ]─┘            └─[ output queue 1 ]─► link
//! ```
//!
//! # What it does
//!
//! An arriving packet waits in the virtual output queue (VOQ) of its input, output and class. The crossbar
//! transfers packets, one at a time from each input and one at a time to each output, `speed-up` times as
//! fast as the switch's fastest link. Whenever an input or an output becomes free, or something new may
//! cross, free inputs and outputs are matched by round robin until no pair is left. A packet starts to cross
//! only if the output queue has room for it: a full output queue stops the matching and never drops. Once its
//! last bit has crossed, a packet waits in the output queue, where schedulers and congestion points see it. A
//! class has its own VOQs and output queues, and classes take turns to cross.
//!
//! Flow control watches the VOQs: PFC's XOFF is compared with the longest VOQ of an input and class, so that
//! one full VOQ pauses its input, and all of them have to fall to XON before the input resumes. A packet that
//! does not fit in its VOQ is dropped. Packets of the control class bypass the crossbar, as they bypass every
//! buffer here.
//!
//! # Why
//!
//! Choose it to study the architecture of large switches: a shared memory of as many ports would have to be
//! as fast as all of them together. Packets that wait for a congested output block no other packet at their
//! input until a VOQ is at XOFF, and it is known which input filled a queue: RCM uses this to find the
//! congested region. `shared` is what the chips of most datacenter switches have; it absorbs larger bursts
//! with the same memory.
//!
//! # Sizing
//!
//! ```text
//! VOQ    = XOFF + MTU - 1 + H     (each; H as pfc says: all that arrives after the decision may be for one output)
//! memory = ports · (ports · voq + output), each class
//! ```
//!
//! With a speed-up of 2 a maximal matching carries all admissible traffic. An output queue needs room for the
//! packet that is being sent and the one that crosses; more room only lets it send during a pause of the
//! crossbar.
//!
//! # Known differences
//!
//! - The paper specifies neither scheduler nor speed-up; a round-robin matching and 2 are usual for such
//!   switches.
//! - iSLIP matches cells in slots. Here whole packets cross, and ports are matched as they become free.
//! - Flow controls that count all bytes of an input and class (CBFC, Bifrost) use one VOQ's room for all of
//!   them: they never overflow a VOQ, and use less memory than is available.
//! - Where a congestion point sorts flows into two queues, VOQs and output queues are two each, which share
//!   the room of one; the second queue of an output may fill half of it.
//!
//! # References
//!
//! - "Regional Congestion Mitigation in Lossless Datacenter Networks", section 4.
//! - McKeown, "The iSLIP Scheduling Algorithm for Input-Queued Switches", IEEE/ACM Transactions on Networking
//!   7(2), 1999.
//! - Dai and Prabhakar, "The Throughput of Data Switches with and without Speedup", INFOCOM 2000 (maximal
//!   matchings at a speed-up of 2).

use floodway_units::{Bytes, Rng, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{
    self, Admit, Buffer, BufferPlan, CrossbarPlan, DropReason, IngressView, PacketView, ParamError, PoolView,
    QueueView, Sizing,
};

/// Parameters of an input-output queued switch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Ioq")]
pub struct Params {
    /// Size of each virtual output queue, in bytes: one for each input, output and class, and at least a
    /// frame.
    /// Source: RCM, section 4: each queue of the switch has 100 KB.
    pub voq: Bytes,
    /// Size of each output queue, in bytes: one for each output and class, and at least a frame.
    /// Source: RCM, section 4.
    pub output: Bytes,
    /// Speed of the crossbar relative to the switch's fastest link, from 1 to 16.
    /// Source: floodway's choice, since RCM's paper does not specify it: with 2 every maximal matching
    /// carries all admissible traffic (Dai and Prabhakar, 2000).
    pub speed_up: f64,
}

impl Default for Params {
    fn default() -> Self {
        // Section 4.1: each queue of the switch has 100 KB.
        Params { voq: Bytes::kb(100), output: Bytes::kb(100), speed_up: 2.0 }
    }
}

impl Buffer for Params {
    type Admission = Admission;

    fn plan(&self) -> BufferPlan {
        BufferPlan {
            own: Some(Sizing::Fixed(self.voq)),
            pool: None,
            headroom: None,
            reserve: Bytes::ZERO,
            crossbar: Some(CrossbarPlan { output: self.output, speed_up: self.speed_up }),
            output: None,
        }
    }

    fn build(&self) -> Result<Admission, ParamError> {
        if !(1.0..=16.0).contains(&self.speed_up) {
            return Err(ParamError::new(
                "speed-up",
                format!("{} is not a number from 1 to 16", self.speed_up),
            ));
        }
        Ok(Admission)
    }
}

/// One per ingress port.
#[derive(Clone, Copy, Debug)]
pub struct Admission;

impl slots::Admission for Admission {
    #[inline]
    fn admit(
        &mut self,
        _now: Time,
        _rng: &mut Rng,
        p: &PacketView,
        _i: &IngressView,
        e: &QueueView,
        pool: &PoolView,
    ) -> Admit {
        if e.voq.saturating_add(p.frame) > pool.size {
            Admit::Drop(DropReason::Buffer)
        } else {
            Admit::Shared
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slots::Admission as _;
    use crate::testing::{Bench, egress, ingress, packet};

    #[test]
    fn only_the_packets_own_queue_decides_whether_it_is_taken_in() {
        let pool = PoolView {
            free: Bytes::ZERO,
            threshold: Bytes::kb(70),
            headroom: Bytes::kb(30),
            headroom_free: Bytes::MAX,
            size: Bytes::kb(100),
            egress_used: Bytes::ZERO,
            queue_room: Bytes::MAX,
        };
        let mut machine = Params::default().build().expect("valid");
        let (mut bench, held) = (Bench::<()>::new(), ingress(0, 700_000, 0));
        let mut at = |voq: u64| {
            let queue = QueueView { voq: Bytes(voq), ..egress(5_000_000) };
            machine.admit(Time::ZERO, &mut bench.rng, &packet(1_500), &held, &queue, &pool)
        };
        assert_eq!(at(98_500), Admit::Shared);
        assert_eq!(at(98_501), Admit::Drop(DropReason::Buffer));
    }

    #[test]
    fn a_speed_up_below_one_is_refused() {
        for (speed_up, valid) in [(0.99, false), (1.0, true), (16.0, true), (16.1, false), (f64::NAN, false)]
        {
            let built = Params { speed_up, ..Params::default() }.build();
            assert_eq!(built.map_err(|error| error.key).err(), (!valid).then_some("speed-up"), "{speed_up}");
        }
    }
}
