//! Closed loops of messages, as the programs of linux-rdma's perftest send them.

use floodway_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::grammar::selector::Selector;

/// Messages that follow each other as they complete, as perftest's programs post them; every message is a
/// flow of the results. Each pair has its own queue pairs for all its messages, whatever the value of `qp`.
///
/// An RDMA READ of `read-bw` is two messages: the request, a byte from the client to the server, and the
/// response, `size` bytes back, which the server sends when the request has arrived. Both are acknowledged as
/// other messages are; on a real queue pair the response is the acknowledgement of the request.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Perftest {
    /// The measured quantity.
    pub test: Test,
    /// Hosts that run the client. Default: all.
    #[serde(default = "Selector::all")]
    pub from: Selector,
    /// Hosts that run the server. The server of the i-th client is the i-th host; after the last host, the
    /// count starts again at the first.
    pub to: Selector,
    /// Payload of each message, of `read-bw` of each response. Default: 65536 B of `write-bw` and `read-bw`,
    /// 2 B of `write-lat`, as perftest's.
    #[serde(default)]
    pub size: Option<Bytes>,
    /// Of `write-bw` and `read-bw`: outstanding messages of each queue pair, at least 1 (perftest's
    /// `--tx-depth`). Default: 128.
    #[serde(default)]
    pub queue_depth: Option<u64>,
    /// Of `read-bw`: the most requests of a queue pair that its NIC sends before their responses are
    /// complete, at least 1 (perftest's `--outs`); others of the queue wait in the NIC. Default: 16, what
    /// NICs of the ConnectX family allow.
    #[serde(default)]
    pub outstanding_reads: Option<u64>,
    /// Messages of each queue pair, each way, at least 1; of `write-lat` at least 4, because it leaves out
    /// the two longest of the times between them. Default: 5000 of `write-bw`, 1000 of `read-bw` and
    /// `write-lat`, as perftest's.
    #[serde(default)]
    pub iterations: Option<u64>,
    /// Of `write-bw` and `read-bw`: number of queue pairs of each pair of hosts, at least 1. Default: 1.
    #[serde(default)]
    pub qps: Option<u64>,
    /// Of `write-bw`: whether the server sends as much as the client. Default: false.
    #[serde(default)]
    pub bidirectional: bool,
}

impl Perftest {
    /// Queue pairs of each pair of hosts, those from the client first; at least one.
    pub fn loops(&self) -> usize {
        let qps = usize::try_from(self.qps.unwrap_or(1)).unwrap_or(usize::MAX).max(1);
        match self.test {
            Test::WriteBw if !self.bidirectional => qps,
            Test::WriteBw | Test::ReadBw => qps.saturating_mul(2),
            Test::WriteLat => 2,
        }
    }
}

/// The measured quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// Bandwidth: messages are posted in advance, and another one each time that one completes at its sender.
    WriteBw,
    /// Bandwidth of reads: the client requests messages of the server, a bounded number at once, and each
    /// response that is complete lets it request another one.
    ReadBw,
    /// Latency: a message to the server and one back, in turns; half a round trip is a latency.
    WriteLat,
}

impl Test {
    /// As scenarios spell it.
    pub fn name(self) -> &'static str {
        match self {
            Test::WriteBw => "write-bw",
            Test::ReadBw => "read-bw",
            Test::WriteLat => "write-lat",
        }
    }

    /// Default payload of a message.
    pub fn size(self) -> Bytes {
        match self {
            Test::WriteBw | Test::ReadBw => Bytes(65_536),
            Test::WriteLat => Bytes(2),
        }
    }

    /// Default number of messages of a queue pair.
    pub fn iterations(self) -> u64 {
        match self {
            Test::WriteBw => 5000,
            Test::ReadBw | Test::WriteLat => 1000,
        }
    }

    /// The minimum number of messages for a report.
    pub fn least_iterations(self) -> u64 {
        match self {
            Test::WriteBw | Test::ReadBw => 1,
            Test::WriteLat => 4,
        }
    }
}
