//! Views passed to users' code: plain values of one instant, which do not change.

use floodway_mechanisms::slots::{self, AckView, IntHop, LossView, Mark, PacketView, QpInfo, QueueView};
use floodway_units::{Bytes, Time};
use pyo3::prelude::*;

use super::calls::Work;

/// The constant properties of a queue pair, at the start of its rate control.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
pub struct Flow {
    /// Name of its first flow in results, `WORKLOAD:SOURCE:NUMBER`; empty outside a run.
    name: String,
    /// Rate of the sender's NIC, in bit/s.
    line_rate_bps: u64,
    /// Lowest rate on the path, in bit/s.
    path_rate_bps: u64,
    /// Round-trip time without queues, in picoseconds.
    base_rtt_ps: u64,
    /// Capacity of the path in that time, in bytes.
    bdp_bytes: u64,
    /// Payload of a full packet, in bytes.
    mtu_bytes: u64,
    /// Size of a full packet on the link, in bytes.
    wire_bytes: u64,
    /// Whether none of its packets can be lost on its path.
    lossless: bool,
}

impl Flow {
    /// With the names of the current task.
    pub fn new(qp: &QpInfo) -> Self {
        let name = Work::current().and_then(|work| work.flow_name(qp));
        Flow {
            name: name.unwrap_or_default(),
            line_rate_bps: qp.line_rate.0,
            path_rate_bps: qp.path_rate.0,
            base_rtt_ps: qp.base_rtt.0,
            bdp_bytes: qp.bdp().0,
            mtu_bytes: qp.mtu.0,
            wire_bytes: qp.wire.0,
            lossless: qp.lossless,
        }
    }
}

/// An acknowledgement.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
pub struct Ack {
    /// Time of its arrival, in picoseconds.
    now_ps: u64,
    /// Payload newly acknowledged, in bytes.
    acked_bytes: u64,
    /// All packets before this number are acknowledged.
    next: u64,
    /// Number of the next packet to send, new or again.
    sent: u64,
    /// Time from the data packet's start on the wire to now, in picoseconds.
    rtt_ps: u64,
    /// Payload in flight, in bytes.
    in_flight_bytes: u64,
    /// Whether the data packet was marked CE.
    marked: bool,
    /// Whether the data packet was marked UE (TCD).
    undetermined: bool,
    /// Telemetry of each hop, if the class needs `"int"`.
    hops: Vec<Hop>,
}

impl Ack {
    /// The view of the machine.
    pub fn new(now: Time, ack: &AckView<'_>) -> Self {
        Ack {
            now_ps: now.0,
            acked_bytes: ack.acked.0,
            next: ack.next,
            sent: ack.sent,
            rtt_ps: ack.rtt.0,
            in_flight_bytes: ack.in_flight.0,
            marked: ack.marked == Mark::Ce,
            undetermined: ack.marked == Mark::Ue,
            hops: ack.int.iter().map(Hop::new).collect(),
        }
    }
}

/// A hop of in-band telemetry.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
#[derive(Clone, Copy)]
pub struct Hop {
    /// Rate of its link, in bit/s.
    rate_bps: u64,
    /// Time at which the packet left, in picoseconds.
    time_ps: u64,
    /// Bytes that the port sent before it.
    tx_bytes: u64,
    /// Bytes left in the port's queues.
    queue_bytes: u64,
}

impl Hop {
    fn new(hop: &IntHop) -> Self {
        Hop { rate_bps: hop.rate.0, time_ps: hop.time.0, tx_bytes: hop.tx_bytes, queue_bytes: hop.queue.0 }
    }
}

/// A CNP from a receiver or a switch.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
pub struct Cnp {
    /// Time of its arrival, in picoseconds.
    now_ps: u64,
    /// Whether it reports a mark CE.
    marked: bool,
    /// Whether it reports a mark UE (TCD).
    undetermined: bool,
    /// The window to use, in bytes, if it has one.
    window_bytes: Option<u64>,
    /// The rate to use, in bit/s, if it has one.
    rate_bps: Option<u64>,
    /// A weight.
    degree: f32,
}

impl Cnp {
    /// The view of the machine.
    pub fn new(now: Time, cnp: &slots::Cnp) -> Self {
        Cnp {
            now_ps: now.0,
            marked: cnp.mark == Mark::Ce,
            undetermined: cnp.mark == Mark::Ue,
            window_bytes: cnp.window.map(|window| window.0),
            rate_bps: cnp.rate.map(|rate| rate.0),
            degree: cnp.degree,
        }
    }
}

/// A loss, as the sender detects it.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
pub struct Loss {
    /// Time of its detection, in picoseconds.
    now_ps: u64,
    /// Payload that will be retransmitted, in bytes.
    lost_bytes: u64,
    /// Whether a timer detected it, and not a reply.
    by_timeout: bool,
}

impl Loss {
    /// The view of the machine.
    pub fn new(now: Time, loss: &LossView) -> Self {
        Loss { now_ps: now.0, lost_bytes: loss.lost.0, by_timeout: loss.timeout }
    }
}

/// A data packet that starts on the wire.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
pub struct Sent {
    /// The time, in picoseconds.
    now_ps: u64,
    /// Size on the link, in bytes.
    wire_bytes: u64,
}

impl Sent {
    /// The view of the machine.
    pub fn new(now: Time, wire: Bytes) -> Self {
        Sent { now_ps: now.0, wire_bytes: wire.0 }
    }
}

/// The constant properties of an egress port, at the start of its congestion point.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
pub struct Port {
    /// Name in results; empty outside a run.
    name: String,
    /// Rate, in bit/s.
    rate_bps: u64,
    /// Delay of its link, in picoseconds.
    delay_ps: u64,
    /// Size of the largest frame in buffers, in bytes.
    mtu_bytes: u64,
    /// Size of the largest frame on the link, in bytes.
    wire_bytes: u64,
}

impl Port {
    /// With the names of the current task.
    pub fn new(port: &slots::PortInfo) -> Self {
        let work = Work::current();
        let name = work.as_ref().and_then(|work| work.port_name(port.port));
        Port {
            name: name.unwrap_or_default().to_owned(),
            rate_bps: port.rate.0,
            delay_ps: port.delay.0,
            mtu_bytes: port.mtu.0,
            wire_bytes: port.wire.0,
        }
    }
}

/// A packet at an egress port.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
pub struct Packet {
    /// The time, in picoseconds.
    now_ps: u64,
    /// Number of its flow, for `send_cnp`; it may be another flow's number later.
    flow: u32,
    /// Its class; control is 6.
    priority: u8,
    /// Size in buffers, in bytes.
    frame_bytes: u64,
    /// Size on the link, in bytes.
    wire_bytes: u64,
    /// Whether it may be marked.
    ecn_capable: bool,
    /// Whether it is a reply to data: an ACK or NAK.
    is_reply: bool,
    /// Whether it is already marked CE.
    marked: bool,
    /// Whether it is already marked UE (TCD).
    undetermined: bool,
    /// Number of the host that sent it.
    source: u32,
    /// Number of the host that receives it.
    destination: u32,
}

impl Packet {
    /// The view of the machine.
    pub fn new(now: Time, p: &PacketView) -> Self {
        Packet {
            now_ps: now.0,
            flow: p.flow.0,
            priority: p.class.0,
            frame_bytes: p.frame.0,
            wire_bytes: p.wire.0,
            ecn_capable: p.ecn_capable,
            is_reply: p.is_reply,
            marked: p.mark == Mark::Ce,
            undetermined: p.mark == Mark::Ue,
            source: p.source,
            destination: p.destination,
        }
    }
}

/// A queue of an egress port.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
pub struct Queue {
    /// The time, in picoseconds.
    now_ps: u64,
    /// Its class.
    priority: u8,
    /// Number of bytes that wait in it.
    len_bytes: u64,
    /// Rate of its port, in bit/s.
    rate_bps: u64,
    /// Whether the downstream has paused it.
    paused: bool,
}

impl Queue {
    /// The view of the machine.
    pub fn new(now: Time, q: &QueueView) -> Self {
        Queue { now_ps: now.0, priority: q.class.0, len_bytes: q.len.0, rate_bps: q.rate.0, paused: q.paused }
    }
}
