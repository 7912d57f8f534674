//! What few packets carry in addition: in a box that goes with the packet.

use std::io::{self, Read, Write};

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_mechanisms::slots::{
    CongestionNotification, ControlMessage, FlowFilter, Header, IntHop, Report,
};
use smallvec::SmallVec;

/// Telemetry records that are kept inline: those of a path through a fat-tree.
const HOPS: usize = 8;

/// Records of in-band telemetry, the first switch's first.
pub(crate) type Hops = SmallVec<[IntHop; HOPS]>;

/// Extras, which few packets have.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) enum Extra {
    /// Records of telemetry.
    Hops(#[borsh(serialize_with = "write_hops", deserialize_with = "read_hops")] Hops),
    /// A message of a congestion point to its neighbour upstream.
    CongestionNotification(CongestionNotification),
    /// The same, of a set of flows.
    Filter(FlowFilter),
    /// A message to the receiver that goes with data.
    Message(ControlMessage),
    /// The header of a data packet, for a transport that has one.
    Header(Header),
    /// The report of a reply.
    Report(Report),
}

fn write_hops(hops: &Hops, out: &mut impl Write) -> io::Result<()> {
    hops.as_slice().serialize(out)
}

fn read_hops(bytes: &mut impl Read) -> io::Result<Hops> {
    Ok(Vec::<IntHop>::deserialize_reader(bytes)?.into())
}

impl Extra {
    /// The records of telemetry, if it is those.
    pub fn hops(&self) -> &[IntHop] {
        match self {
            Extra::Hops(hops) => hops,
            Extra::CongestionNotification(_)
            | Extra::Filter(_)
            | Extra::Message(_)
            | Extra::Header(_)
            | Extra::Report(_) => &[],
        }
    }
}
