//! Example views with ordinary values: for trials before a run, and for tests of mechanisms.
//!
//! `QpInfo { base_rtt: Span::ms(1), ..QpInfo::example() }` keeps its meaning when a view gets another field.

use floodway_units::{Bytes, Class, FlowId, NodeId, PortId, Rate, Span};

use super::{
    AckView, LinkInfo, Mark, PacketView, PauseMode, PortInfo, PortView, Products, QpInfo, QueueView, Signals,
    SwitchInfo,
};

impl LinkInfo {
    /// 100 Gbit/s, 1 us each way, 1500-byte frames, no buffer of its own, pauses that expire.
    pub fn example() -> Self {
        LinkInfo {
            rate: Rate::gbps(100),
            reverse_rate: Rate::gbps(100),
            delay: Span::us(1),
            reverse_delay: Span::us(1),
            reverse_jitter: Span::ZERO,
            nic_rate: Rate::gbps(100),
            mtu: Bytes(1500),
            least_frame: Bytes(64),
            overhead: Bytes(20),
            cell: Bytes(1),
            has_errors: false,
            replay: Bytes::ZERO,
            to_host: false,
            class: Class::DATA,
            buffer: Bytes::MAX,
            pause: PauseMode::Timer,
        }
    }
}

impl QpInfo {
    /// 100 Gbit/s, 10 us of round trip through one switch, 1000-byte payloads, losses possible.
    pub fn example() -> Self {
        QpInfo {
            flow: FlowId(0),
            workload: 0,
            source: NodeId(1),
            destination: NodeId(2),
            number: 0,
            line_rate: Rate::gbps(100),
            path_rate: Rate::gbps(100),
            base_rtt: Span::us(10),
            hops: 1,
            products: Products::Up,
            largest_rtt: Span::us(20),
            largest_bdp: Bytes(250_000),
            full_rtt: Span::us(30),
            largest_full_rtt: Span::us(60),
            mtu: Bytes(1000),
            wire: Bytes(1052),
            steps_below: false,
            lossless: false,
            keeps_order: true,
            trims: false,
            output_queue: Bytes::ZERO,
            has_credit: false,
            key: 1,
        }
    }
}

impl PacketView {
    /// A packet of data of 1000 bytes from host 1 to host 2, not markable.
    pub fn example() -> Self {
        PacketView {
            flow: FlowId(0),
            class: Class::DATA,
            frame: Bytes(1000),
            wire: Bytes(1000),
            ecn_capable: false,
            is_reply: false,
            isolated: false,
            mark: Mark::None,
            flow_hash: 0,
            source: 1,
            destination: 2,
            ingress: PortId(0),
        }
    }
}

impl QueueView {
    /// An empty queue of data at a port of 100 Gbit/s.
    pub fn example() -> Self {
        QueueView {
            port: PortId(1),
            class: Class::DATA,
            sub: 0,
            len: Bytes::ZERO,
            first: Bytes::ZERO,
            voq: Bytes::ZERO,
            rate: Rate::gbps(100),
            paused: false,
            base_rtt: Span::us(10),
        }
    }
}

impl PortInfo {
    /// 100 Gbit/s, with a link of 1 us and 1500-byte frames.
    pub fn example() -> Self {
        PortInfo {
            port: PortId(1),
            rate: Rate::gbps(100),
            delay: Span::us(1),
            rate_in: Rate::gbps(100),
            delay_in: Span::us(1),
            mtu: Bytes(1500),
            wire: Bytes(1520),
            control: Bytes(84),
            largest_rtt: Span::us(20),
        }
    }
}

impl AckView<'_> {
    /// 1000 bytes that took 10 us, unmarked, without telemetry; 10 kB more are in flight.
    pub fn example() -> Self {
        AckView {
            acked: Bytes(1000),
            next: 1,
            sent: 11,
            rtt: Span::us(10),
            in_flight: Bytes(10_000),
            marked: Mark::None,
            int: &[],
        }
    }
}

impl SwitchInfo {
    /// A switch that draws a hash of its own.
    pub fn example() -> Self {
        SwitchInfo { key: 1, hash_seed: None }
    }
}

impl PortView {
    /// An idle port of 100 Gbit/s.
    pub fn example() -> Self {
        PortView {
            port: PortId(1),
            queued: Bytes::ZERO,
            rate: Rate::gbps(100),
            up: true,
            signals: Signals::default(),
            harmful: false,
            holds_flow: false,
        }
    }
}
