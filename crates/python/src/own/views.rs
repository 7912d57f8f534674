//! Views passed to users' code: plain values of one moment, which stay as they are.

use floodway_mechanisms::slots::{self, AckView, IntHop, LossView, Mark, PacketView, QpInfo, QueueView};
use floodway_units::{Bytes, Time};
use pyo3::prelude::*;

use super::calls::Work;

/// A queue pair as its rate control begins: what is fixed about it.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
pub struct Flow {
    /// Its first flow as results name it, `WORKLOAD:SOURCE:NUMBER`; empty where nothing runs yet.
    name: String,
    /// Rate of the sender's NIC, in bit/s.
    line_rate_bps: u64,
    /// Lowest rate on the path, in bit/s.
    path_rate_bps: u64,
    /// Round-trip time without queues, in picoseconds.
    base_rtt_ps: u64,
    /// What the path holds in that time, in bytes.
    bdp_bytes: u64,
    /// Payload of a full packet, in bytes.
    mtu_bytes: u64,
    /// A full packet on the link, in bytes.
    wire_bytes: u64,
    /// No packet of it can be lost on its path.
    lossless: bool,
}

impl Flow {
    /// With the names of the work that goes on.
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
    /// When it arrived, in picoseconds.
    now_ps: u64,
    /// Payload newly acknowledged, in bytes.
    acked_bytes: u64,
    /// All packets before this number are acknowledged.
    next: u64,
    /// Number of the packet that is sent next, new or again.
    sent: u64,
    /// From the data packet's start on the wire to now, in picoseconds.
    rtt_ps: u64,
    /// Payload in flight, in bytes.
    in_flight_bytes: u64,
    /// The data packet was marked CE.
    marked: bool,
    /// The data packet was marked UE (TCD).
    undetermined: bool,
    /// Of each hop, where the class needs `"int"`.
    hops: Vec<Hop>,
}

impl Ack {
    /// As the machine hears it.
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
    /// When the packet left, in picoseconds.
    time_ps: u64,
    /// Sent by the port before it, in bytes.
    tx_bytes: u64,
    /// Left behind in the port's queues, in bytes.
    queue_bytes: u64,
}

impl Hop {
    fn new(hop: &IntHop) -> Self {
        Hop { rate_bps: hop.rate.0, time_ps: hop.time.0, tx_bytes: hop.tx_bytes, queue_bytes: hop.queue.0 }
    }
}

/// A CNP, whoever made it.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
pub struct Cnp {
    /// When it arrived, in picoseconds.
    now_ps: u64,
    /// It tells of a mark CE.
    marked: bool,
    /// It tells of a mark UE (TCD).
    undetermined: bool,
    /// The window to use, in bytes, if it says one.
    window_bytes: Option<u64>,
    /// The rate to use, in bit/s, if it says one.
    rate_bps: Option<u64>,
    /// A weight.
    degree: f32,
}

impl Cnp {
    /// As the machine hears it.
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

/// A loss, as the sender learns of it.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
pub struct Loss {
    /// When it learned of it, in picoseconds.
    now_ps: u64,
    /// Payload that will be sent again, in bytes.
    lost_bytes: u64,
    /// Found by a timer rather than by a reply.
    by_timeout: bool,
}

impl Loss {
    /// As the machine hears it.
    pub fn new(now: Time, loss: &LossView) -> Self {
        Loss { now_ps: now.0, lost_bytes: loss.lost.0, by_timeout: loss.timeout }
    }
}

/// A data packet that starts on the wire.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
pub struct Sent {
    /// When, in picoseconds.
    now_ps: u64,
    /// On the link, in bytes.
    wire_bytes: u64,
}

impl Sent {
    /// As the machine hears it.
    pub fn new(now: Time, wire: Bytes) -> Self {
        Sent { now_ps: now.0, wire_bytes: wire.0 }
    }
}

/// An egress port as its congestion point begins: what is fixed about it.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
pub struct Port {
    /// As results name it; empty where nothing runs yet.
    name: String,
    /// In bit/s.
    rate_bps: u64,
    /// Delay of its link, in picoseconds.
    delay_ps: u64,
    /// The largest frame as buffers hold it, in bytes.
    mtu_bytes: u64,
    /// The largest frame on the link, in bytes.
    wire_bytes: u64,
}

impl Port {
    /// With the names of the work that goes on.
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
    /// A number that stands for its flow, as `send_cnp` takes it; another flow may have it later.
    flow: u32,
    /// The class that it bears; control is 6.
    priority: u8,
    /// As buffers hold it, in bytes.
    frame_bytes: u64,
    /// On the link, in bytes.
    wire_bytes: u64,
    /// May be marked.
    ecn_capable: bool,
    /// Answers data: an ACK or NAK.
    is_reply: bool,
    /// Is marked CE already.
    marked: bool,
    /// Is marked UE already (TCD).
    undetermined: bool,
    /// A number that stands for the host that sent it.
    source: u32,
    /// A number that stands for the host that receives it.
    destination: u32,
}

impl Packet {
    /// As the machine sees it.
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
    /// The class whose queue it is.
    priority: u8,
    /// Bytes that wait in it.
    len_bytes: u64,
    /// Rate of its port, in bit/s.
    rate_bps: u64,
    /// The downstream has paused it.
    paused: bool,
}

impl Queue {
    /// As the machine sees it.
    pub fn new(now: Time, q: &QueueView) -> Self {
        Queue { now_ps: now.0, priority: q.class.0, len_bytes: q.len.0, rate_bps: q.rate.0, paused: q.paused }
    }
}
