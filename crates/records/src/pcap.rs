//! A capture as a pcapng file: each frame in the bytes that it has in RoCEv2 and 802.1Qbb, and in floodway's
//! own where no standard has any.

use floodway_blueprint::NEVER;
use floodway_blueprint::network::blueprint::{Blueprint, CaptureSpec, Role};
use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::kinds::{CE, FIRST, INT, Kind, LAST, UE};
use floodway_blueprint::network::routing::peer;
use floodway_mechanisms::slots::SignalKind;
use floodway_units::Class;
use floodway_units::cast::{low_u16, narrow};
use floodway_wire::ethernet::{Frame, Mac};
use floodway_wire::pcapng::{Interface, Packet, Writer};
use floodway_wire::roce::{self, Body, Headers};
use floodway_wire::udp::{Datagram, IpEcn};
use floodway_wire::{int, message, pfc, word};

use crate::capture::{Capture, Captured, Seen, Tap};
use crate::outcome::CaptureTotals;

/// Number of the first queue pair: smaller ones are for management.
const FIRST_QUEUE_PAIR: u32 = 16;
/// Time to live at the sender.
const TTL: u8 = 64;

/// A capture, to be written.
pub struct CaptureFile<'w> {
    blueprint: &'w Blueprint,
    classes: &'w [Class],
    capture: &'w Capture,
}

impl<'w> CaptureFile<'w> {
    /// None where nothing was to be captured.
    pub fn kept(facts: &'w Facts<'_>, capture: &'w Capture) -> Option<Self> {
        let (blueprint, classes) = (facts.blueprint, &facts.layout.classes[..]);
        blueprint.records.capture.is_some().then_some(CaptureFile { blueprint, classes, capture })
    }

    /// Frames that it holds, and that it had no room for.
    pub fn totals(&self) -> CaptureTotals {
        CaptureTotals {
            packets: self.capture.packets.len() as u64,
            missed: self.capture.taps.iter().map(|tap| tap.missed).sum(),
        }
    }

    /// The file of a run that ended at `end`.
    pub fn bytes(&self, end: u64) -> Vec<u8> {
        let mut writer = Writer::new(concat!("floodway ", env!("CARGO_PKG_VERSION")));
        for tap in &self.capture.taps {
            self.write_interface(&mut writer, tap);
        }
        let hosts = self.blueprint.nodes.iter().filter_map(|node| match node.role {
            Role::Host { address, .. } => Some((address, node.name.as_str())),
            Role::Switch(_) => None,
        });
        writer.names(hosts);
        self.write_packets(&mut writer);
        for (i, tap) in (0u32..).zip(&self.capture.taps) {
            writer.statistics(i, end, tap.sent, tap.missed);
        }
        writer.finish()
    }

    fn write_interface(&self, writer: &mut Writer, tap: &Tap) {
        let link = &self.blueprint.links[tap.port.index() / 2];
        let end = tap.port.index() % 2;
        let node = |end: usize| &self.blueprint.nodes[link.ends[end].node.index()].name;
        let (from, to) = (node(end), node(1 - end));
        let rate = link.directions[end].rate;
        writer.interface(&Interface {
            name: &format!("{}:{from}->{to}", link.name),
            description: &format!("what {from} sends to {to} on the link {} of {rate}", link.name),
            speed: rate.0,
            keep: narrow(self.capture.keep),
        });
    }

    /// The first frame of a queue pair names it.
    fn write_packets(&self, writer: &mut Writer) {
        let (mut named, mut stacks) = (0, self.capture.stacks.iter().copied());
        let codes = self.codes();
        for packet in &self.capture.packets {
            let mut comment = String::new();
            if packet.flow == named {
                comment = self.introduction(named);
                named += 1;
            }
            let telemetry = if packet.flags & INT == 0 { None } else { stacks.next() };
            let frame = self.frame(packet, codes, telemetry);
            writer.packet(&Packet {
                interface: packet.port,
                time: packet.at,
                bytes: &frame.bytes,
                length: frame.length,
                comment: &comment,
            });
        }
    }

    fn introduction(&self, flow: u32) -> String {
        let seen = &self.capture.flows[flow as usize];
        let first = self.blueprint.flow_id(seen.workload, seen.source.0, seen.number);
        let to = &self.blueprint.nodes[seen.destination.index()].name;
        format!("queue pair {:#x}: {first}, to {to}", FIRST_QUEUE_PAIR + flow)
    }

    /// A port of the run, also one from outside the registry, that marks UE takes ECT(0) for it.
    fn codes(&self) -> Codes {
        let ends = self.blueprint.links.iter().flat_map(|link| &link.ends);
        let mut points = ends.flat_map(|end| &end.congestion_points);
        let ternary = points.any(|point| point.signal_kinds().contains(&SignalKind::Undetermined))
            || self.capture.packets.iter().any(|packet| packet.flags & UE != 0);
        if ternary { Codes::Ternary } else { Codes::Binary }
    }

    fn frame(&self, packet: &Captured, codes: Codes, telemetry: Option<int::Stack>) -> Frame {
        let port = self.capture.taps[packet.port as usize].port;
        let macs = [Mac::of_port(port.0), Mac::of_port(peer(port).0)];
        let keep = self.capture.keep;
        let word = match packet.kind {
            Kind::Pause => return pfc::frame(macs[0], (packet.payload & 0xFF) as u8, times(packet), keep),
            Kind::Credit => word::Word::Credit(packet.psn),
            Kind::Sent => word::Word::Sent(packet.psn),
            Kind::Region => word::Word::Region,
            Kind::ToSender | Kind::ToReceiver => {
                let datagram = self.datagram(packet, macs, IpEcn::NotEct);
                return message::frame(&datagram, &message(packet), keep);
            }
            _ => return self.roce(packet, macs, codes, telemetry),
        };
        word::frame(macs, packet.class, word, keep)
    }

    fn dscp(&self, class: Class) -> u8 {
        let spec = self.blueprint.records.capture.as_ref();
        spec.map_or(CaptureSpec::CLASS_SELECTORS, |spec| spec.dscp)[usize::from(class.0)]
    }

    fn roce(&self, packet: &Captured, macs: [Mac; 2], codes: Codes, telemetry: Option<int::Stack>) -> Frame {
        let headers = Headers {
            datagram: self.datagram(packet, macs, codes.of(packet)),
            // Both ends have the same number, so that one filter shows both directions.
            queue_pair: FIRST_QUEUE_PAIR + packet.flow,
            psn: psn(packet),
            telemetry,
        };
        let flow = &self.capture.flows[packet.flow as usize];
        roce::frame(&headers, &body(packet, flow), self.capture.keep)
    }

    fn datagram(&self, packet: &Captured, macs: [Mac; 2], ecn: IpEcn) -> Datagram {
        let tuple = &self.capture.flows[packet.flow as usize].tuple;
        let forward = matches!(packet.kind, Kind::Data | Kind::Trimmed | Kind::ToReceiver | Kind::Query);
        let ends = [tuple.source, tuple.destination];
        Datagram {
            macs,
            addresses: if forward { ends } else { [ends[1], ends[0]] },
            source_port: tuple.source_port,
            dscp: self.dscp(self.classes[packet.class as usize]),
            ecn,
            ttl: TTL - packet.hop.min(TTL - 1),
        }
    }
}

/// The two bits of ECN.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Codes {
    /// Senders write ECT(0), ports CE (RFC 3168).
    Binary,
    /// Ports write CE and, for "undetermined" (TCD), the code of ECT(0): so senders write ECT(1).
    Ternary,
}

impl Codes {
    fn of(self, packet: &Captured) -> IpEcn {
        match (packet.kind, packet.flags & (CE | UE)) {
            (Kind::Data, 0) if self == Codes::Binary => IpEcn::Ect0,
            (Kind::Data, 0) => IpEcn::Ect1,
            (Kind::Data, UE) => IpEcn::Ect0,
            (Kind::Data, _) => IpEcn::CongestionExperienced,
            _ => IpEcn::NotEct,
        }
    }
}

/// An ACK names the last packet that has arrived, a NAK the expected one; a CNP none.
fn psn(packet: &Captured) -> u64 {
    match packet.kind {
        Kind::Ack | Kind::Report => packet.psn.wrapping_sub(1),
        Kind::Cnp => 0,
        _ => packet.psn,
    }
}

fn body(packet: &Captured, flow: &Seen) -> Body {
    let has = |flag| packet.flags & flag != 0;
    match packet.kind {
        Kind::Ack | Kind::One | Kind::Report => Body::Ack { congested: has(CE) },
        Kind::Nak => Body::Nak,
        Kind::Sack => Body::Sack { seen: packet.base },
        Kind::Cnp => Body::Cnp { window: window(packet) },
        _ => Body::Write {
            payload: packet.payload,
            first: has(FIRST),
            last: has(LAST),
            ack_request: has(LAST) && flow.has_acks,
            message: packet.message,
        },
    }
}

/// The content of a message between the ends of a queue pair.
fn message(packet: &Captured) -> message::Message {
    let [kind, padding] = packet.payload.to_be_bytes();
    let (number, time) = (packet.psn, packet.stamp);
    message::Message { kind, metered: packet.base != 0, number, time, padding }
}

/// The window of a CNP; 0 where it has none.
fn window(packet: &Captured) -> u32 {
    if packet.psn == NEVER { 0 } else { u32::try_from(packet.psn).unwrap_or(u32::MAX) }
}

/// The times of a pause frame, by class.
fn times(packet: &Captured) -> [u16; 8] {
    std::array::from_fn(|class| {
        let times = if class < 4 { packet.psn } else { packet.stamp };
        low_u16(times >> (16 * (class & 3)))
    })
}
