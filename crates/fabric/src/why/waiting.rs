//! What the sender of a flow that is not complete waits for.

use floodway_mechanisms::slots::TransportSender as _;
use floodway_units::{Bytes, Time};

use super::trace::Trace;
use crate::host::queue_pairs::QueuePairs;
use crate::host::send::SendHalf;

impl Trace {
    /// What the sender of the flow waits for; none if it is complete, or has not started.
    pub fn waiting(&self, pairs: &QueuePairs) -> Option<String> {
        let message = self.message.as_ref().filter(|_| self.found.is_none())?;
        Some(waiting(&pairs.senders[message.slot as usize]))
    }
}

/// In words: the packet that it would send next and what keeps it back, or that all has been sent; and its
/// timer.
fn waiting(half: &SendHalf) -> String {
    let transport = &half.transport;
    let in_flight = transport.in_flight();
    let what = match transport.ready() {
        None => format!("its sender has sent all packets, and waits for replies: {in_flight} are in flight"),
        Some(size) => {
            let packet = format!("its sender has packet {} to send, and waits for", transport.next_psn());
            let window = half.allowance.window;
            if half.layers.closed {
                format!("{packet} credit: it has none, and {in_flight} in flight")
            } else if window < Bytes::MAX && in_flight + size > window {
                format!("{packet} its window: {window}, with {in_flight} in flight")
            } else {
                format!("{packet} its pacing time or its NIC, where its class may be paused or the link down")
            }
        }
    };
    match transport.next_timeout() {
        Some(at) => format!("{what}; its timer expires at {}", shown(at)),
        None => format!("{what}; no timer of its is set"),
    }
}

fn shown(at: Time) -> String {
    format!("{:.3} us", at.as_us())
}
