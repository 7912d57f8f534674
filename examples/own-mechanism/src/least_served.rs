//! Least served first: of the flows at a port, those that have sent least there go first, so that short flows
//! pass long ones (after PIAS: Bai et al., NSDI 2015). A flow's packets wait in the first of four queues of
//! their class up to its first `step` bytes at the port, in the second up to twice as many, and so on.

use std::collections::BTreeMap;

use floodway_mechanisms::{is_discipline, slots::*};
use floodway_units::{Bytes, Time};

/// Parameters of least served first, and the machine of a port.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "LeastServed")]
pub struct Params {
    /// Bytes of a flow for each queue but the last, above 0.
    pub step: Bytes,
    /// By the hashes of flows: bytes that have joined a queue of the port.
    #[serde(skip)]
    joined: BTreeMap<u64, u64>,
}

impl Default for Params {
    fn default() -> Self {
        Params { step: Bytes::kb(100), joined: BTreeMap::new() }
    }
}

impl Detection for Params {
    type Cp = Params;

    fn build(&self, _port: &PortInfo) -> Result<Params, ParamError> {
        let refused = ParamError::new("step", "0B is not allowed; write a size above 0, like \"100KB\"");
        if self.step > Bytes::ZERO { Ok(self.clone()) } else { Err(refused) }
    }
}

impl CongestionPoint for Params {
    is_discipline!();

    fn on_enqueue(&mut self, _cx: &mut Cx<'_, CpAction>, p: &PacketView, _q: &QueueView) -> Mark {
        *self.joined.entry(p.flow_hash).or_default() += p.frame.0;
        Mark::None
    }
}

impl Discipline for Params {
    fn queueing(&self) -> Queueing {
        // A flow's packets leave in order: each waits in the queue of the one before or in a later one.
        Queueing::Packets { queues: 4 }
    }

    fn classify(&mut self, _now: Time, p: &PacketView) -> u8 {
        self.joined.get(&p.flow_hash).map_or(0, |joined| (joined / self.step.0).min(3) as u8)
    }

    fn serve(&mut self, now: Time, ready: &[ReadyView]) -> Turn {
        let first = ready.iter().find(|view| view.gate.is_open(now));
        first.map_or(Turn::Nothing, |view| Turn::Queue(view.queue.sub))
    }
}
