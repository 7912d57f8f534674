//! Capture of frames.

use floodway_records::capture::{Captured, NO_FLOW};
use floodway_units::{FlowId, PortId};
use floodway_wire::int::Stack;

use crate::host::messages::Outgoing;
use crate::host::queue_pairs::QueuePairs;
use crate::link::arena::PacketRef;
use crate::link::packet::{FIRST, INT, Packet};
use crate::run::ctx::Ctx;
use crate::run::state::Run;

/// Notes a frame that starts on the wire of a chosen port now.
#[cold]
#[inline(never)]
pub(super) fn note_frame(ctx: &mut Ctx<'_, '_>, port: PortId, packet_ref: PacketRef) {
    if ctx.run.packets[packet_ref].is_ordered_set() {
        return;
    }
    let Run { kept, pairs, packets, .. } = &mut *ctx.run;
    let capture = &mut kept.capture;
    let Some(at) = capture.count(port) else { return };
    let packet = &packets[packet_ref];
    let flow = if packet.is_link_control() {
        NO_FLOW
    } else {
        capture.code_of(&pairs.paths[packet.flow.index()], oldest_message(pairs, packet.flow))
    };
    if packet.has(INT) {
        let mut stack = Stack::default();
        for hop in packets.hops(packet_ref) {
            stack.push(hop.rate, hop.time, hop.tx_bytes, hop.queue);
        }
        capture.stacks.push(stack);
    }
    capture.packets.push(Captured {
        at: ctx.now,
        psn: packet.number(),
        stamp: packet.stamp,
        base: packet.base,
        port: at,
        flow,
        message: if packet.is_data() && packet.has(FIRST) { message_size(pairs, packet) } else { 0 },
        payload: packet.payload,
        kind: packet.kind,
        flags: packet.flags,
        class: packet.class,
        hop: packet.hop,
    });
}

/// Bytes of the message that a packet begins, as in its RETH; the packet's own where it is a late copy of a
/// message that is over, of which nothing is known any more.
fn message_size(pairs: &QueuePairs, packet: &Packet) -> u32 {
    /// RDMA messages have at most 2 GiB.
    const LARGEST: u64 = 1 << 31;
    let at = packet.flow.index();
    let payload = u64::from(pairs.senders[at].full_payload);
    let ends = |size| packet.psn().saturating_add(Outgoing::packets_of(size, payload));
    let mut messages = pairs.senders[at].messages().chain(pairs.receivers[at].messages());
    let message = messages.find(|&(_, end, size)| end == ends(size));
    message.map_or(u64::from(packet.payload), |(.., size)| size).min(LARGEST) as u32
}

/// The number of a queue pair's oldest message that is not complete at both ends; of the last one, if all
/// are.
fn oldest_message(pairs: &QueuePairs, flow: FlowId) -> u64 {
    let (sending, receiving) =
        (pairs.senders[flow.index()].messages(), pairs.receivers[flow.index()].messages());
    let first = sending.take(1).chain(receiving.take(1)).min_by_key(|&(_, end, _)| end);
    first.map_or(0, |(number, ..)| number)
}
