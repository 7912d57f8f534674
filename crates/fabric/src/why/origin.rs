//! Origin of a pause: the egress port, or host, that drains less than arrives for it.
//!
//! An ingress pauses its upstream because packets stay that came by it. They stay at egress ports of the
//! switch; the one that holds most of them when the ingress pauses is the origin. While that one is stopped
//! itself, the pause is for what that stop is for; while it may send, the pause began there. Unless it was
//! stopped for most of the time since the packet came that had waited longest, or since the pause began: then
//! it has only not caught up, and the pause is for what the last of these stops was for. So the origin of one
//! pause may change from instant to instant.

mod found;
mod pauses;

use std::collections::VecDeque;

use floodway_units::PortId;
use rustc_hash::FxHashMap;

use super::stops::Source;

/// Origins of pauses: of those on a link, and of the last that each egress port received.
#[derive(Debug, Default)]
pub(super) struct Origins {
    /// By the port class of the ingress that sent them: when each was made, and its origin.
    sent: FxHashMap<usize, VecDeque<(u64, Source)>>,
    /// By port and arrival: when a frame on the link was made.
    made: FxHashMap<(PortId, u64), u64>,
    /// By the port class of the egress that received it: the origin of the last pause, if it is known.
    received: FxHashMap<usize, Source>,
}

impl Origins {
    /// A frame of a link's control starts on the wire of `port`.
    pub fn leaves(&mut self, port: PortId, arrival: u64, made: u64) {
        self.made.insert((port, arrival), made);
    }

    fn record(&mut self, port_class: usize, now: u64, source: Source) {
        self.sent.entry(port_class).or_default().push_back((now, source));
    }

    /// The origin of what was sent at `made`; all before that has arrived, or was lost.
    fn origin_sent_at(&mut self, port_class: usize, made: u64) -> Option<Source> {
        let sent = self.sent.get_mut(&port_class)?;
        while sent.front().is_some_and(|&(at, _)| at < made) {
            sent.pop_front();
        }
        sent.front().filter(|&&(at, _)| at == made).map(|&(_, source)| source)
    }
}
