//! Jobs on small networks, and the times of their messages there.

use std::slice;
use std::sync::Arc;

use floodway_fabric::Records;
use floodway_fabric::blueprint::{Arrivals, ProgramSpec};
use floodway_programs::Program;
use floodway_programs::collective::{AlgorithmName, Purpose, Request};
use floodway_units::{Bytes, NodeId, Rate, Span, Time};
use floodway_wire::Format;

use super::{Net, PFC, real};

pub const BYTE: u64 = 80;
pub const LINK: u64 = 1_000_000;
/// On the wire: the first packet of a message, which has an RDMA header, the others, all of 1000 bytes, and
/// an ACK.
pub const FIRST: u64 = 1_098;
pub const OTHER: u64 = 1_082;
pub const ACK: u64 = 86;

/// Hosts at one switch, links of 1 us at 100G.
pub fn star(hosts: u32, reliability: &str) -> (Net, Vec<NodeId>) {
    let mut net = Net::new(Format::Ethernet).reliability(reliability);
    let switch = net.switch("s");
    let hosts: Vec<NodeId> = (0..hosts).map(|i| net.host(&format!("h{i}"))).collect();
    for &host in &hosts {
        net.link(host, switch, Rate::gbps(100), Span::us(1), PFC);
    }
    (net, hosts)
}

pub fn spec(program: Program, hosts: Vec<NodeId>) -> Arrivals {
    Arrivals::Program(ProgramSpec { program: Arc::new(program), hosts, start: Time::ZERO, rows: true })
}

pub fn collective(request: &Request, ranks: u32, iterations: u32) -> Program {
    Program::of_collectives(slice::from_ref(request), vec![(0..ranks).collect()], iterations)
        .expect("it can be met")
}

/// The last end of an operation, in picoseconds.
pub fn end(records: &Records) -> u64 {
    let operations = records.operations.as_ref().expect("there is a job");
    let ends = real(operations.column("end_us")).into_iter().map(|us| (us * 1e6).round() as u64);
    ends.max().expect("an operation is complete")
}

pub fn request(op: Purpose, algorithm: AlgorithmName, size: u64) -> Request {
    Request { algorithm: Some(algorithm), ..Request::new(op, Bytes(size)) }
}

/// What a message of so many packets takes at a NIC.
pub fn sent(packets: u64) -> u64 {
    (FIRST + (packets - 1) * OTHER) * BYTE
}

/// When the last byte of a message of so many packets is there, through one switch, which forwards the first
/// one when it has come as a whole.
pub fn message(packets: u64) -> u64 {
    FIRST * BYTE + sent(packets) + 2 * LINK
}
