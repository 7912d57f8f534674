//! Captures: frames that start on the wires of chosen ports, noted in short during the run; `pcap` makes a
//! file of it afterwards.
//!
//! A frame is kept in 56 bytes, and 48 more where it has telemetry, up to a maximum number of frames. The
//! only cost for other ports is one flag in a cache line that they read anyway.

use floodway_blueprint::network::blueprint::CaptureSpec;
use floodway_blueprint::network::kinds::Kind;
use floodway_blueprint::network::layout::Local;
use floodway_blueprint::network::path::Path;
use floodway_mechanisms::slots::FlowTuple;
use floodway_units::cast::narrow;
use floodway_units::{NodeId, PortId};
use floodway_wire::int::Stack;
use rustc_hash::FxHashMap;

/// Of a link control frame, which belongs to no flow.
pub const NO_FLOW: u32 = u32::MAX;

/// A frame that started on the wire.
#[derive(Clone, Copy, Debug)]
pub struct Captured {
    /// When.
    pub at: u64,
    /// Sequence number and other words, as the packet has them.
    pub psn: u64,
    /// See `psn`.
    pub stamp: u64,
    /// See `psn`.
    pub base: u64,
    /// Place of its port in the capture's list.
    pub port: u32,
    /// Place of its flow among those seen, else `NO_FLOW`.
    pub flow: u32,
    /// Bytes of its message, where it is the first packet of one.
    pub message: u32,
    /// Bytes of payload; of a pause frame the enabled classes.
    pub payload: u16,
    /// What it is.
    pub kind: Kind,
    /// As the packet has them.
    pub flags: u8,
    /// Index among the run's classes; of a link control frame the class itself.
    pub class: u8,
    /// Egress ports that it has passed, counting the NIC.
    pub hop: u8,
}

/// A queue pair of which frames were captured.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Its workload in the blueprint.
    pub workload: u32,
    /// The host that sends.
    pub source: NodeId,
    /// The host that receives.
    pub destination: NodeId,
    /// Of its first message that was captured.
    pub number: u64,
    /// Addresses and ports.
    pub tuple: FlowTuple,
    /// Its reliability answers.
    pub has_acks: bool,
}

/// A port whose frames are captured.
#[derive(Clone, Copy, Debug)]
pub struct Tap {
    /// It sends them.
    pub port: PortId,
    /// Frames that it has sent.
    pub sent: u64,
    /// Frames of these that are not kept.
    pub missed: u64,
}

/// What is captured of a run.
#[derive(Debug, Default)]
pub struct Capture {
    /// Maximum number of bytes kept of each frame.
    pub keep: usize,
    limit: usize,
    /// By port.
    pub taps: Vec<Tap>,
    /// In the order of time, the first ones of the run.
    pub packets: Vec<Captured>,
    /// Of the packets with telemetry, in their order.
    pub stacks: Vec<Stack>,
    /// In the order in which they were first seen.
    pub flows: Vec<Seen>,
    /// By NIC and rank, which no two flows of a run share.
    codes: FxHashMap<(NodeId, Local, u32), u32>,
}

impl Capture {
    /// Nothing yet.
    pub fn new(spec: &CaptureSpec) -> Self {
        let mut ports = spec.ports.clone();
        ports.sort_unstable();
        ports.dedup();
        let taps = ports.into_iter().map(|port| Tap { port, sent: 0, missed: 0 }).collect();
        Capture { keep: spec.bytes, limit: spec.packets, taps, ..Capture::default() }
    }

    /// Counts a frame of `port`; where it is to be kept, the port's place.
    pub fn count(&mut self, port: PortId) -> Option<u32> {
        let at = self.taps.binary_search_by_key(&port, |tap| tap.port).ok()?;
        let kept = self.packets.len() < self.limit;
        self.taps[at].sent += 1;
        self.taps[at].missed += u64::from(!kept);
        kept.then_some(narrow(at))
    }

    /// `number` is that of its first message that is not over.
    pub fn code_of(&mut self, path: &Path, number: u64) -> u32 {
        let next = narrow::<u32>(self.flows.len());
        let code = *self.codes.entry((path.source, path.nic, path.rank)).or_insert(next);
        if code == next {
            self.flows.push(Seen {
                workload: path.workload,
                source: path.source,
                destination: path.destination,
                number,
                tuple: path.tuple,
                has_acks: path.has_acks,
            });
        }
        code
    }
}
