//! Queue pairs that another process has opened: what this one needs of them.

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::layout::Local;
use floodway_blueprint::network::path::{Laid, Path};
use floodway_mechanisms::slots::{FlowTuple, QpInfo};
use floodway_units::cast::narrow;
use floodway_units::{FlowId, PortId};

use super::QueuePairs;
use crate::host::messages::{Incoming, Outgoing};
use crate::host::receive::ReceiveHalf;
use crate::host::send::SendHalf;
use crate::link::packet::frame_bytes;

/// What other processes receive about a queue pair that opens, from which they build its path and its
/// receiver's half: as its machines know it, by its slot in the process of its sender.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Opening {
    pub info: QpInfo,
    settings: u32,
    pub ports: Vec<PortId>,
    pub ack_ports: Vec<PortId>,
    tuple: FlowTuple,
    nic: Local,
    rank: u32,
    head: Outgoing,
}

impl Opening {
    pub fn new(info: &QpInfo, laid: &Laid<'_>, head: &Outgoing) -> Self {
        Opening {
            info: *info,
            settings: narrow(laid.settings),
            ports: laid.ports.to_vec(),
            ack_ports: laid.ack_ports.to_vec(),
            tuple: laid.tuple,
            nic: laid.nic,
            rank: laid.rank,
            head: *head,
        }
    }
}

impl QueuePairs {
    /// Enters a queue pair of another process, whose receiver is in this one or not; its slot here.
    pub fn enter_opened(&mut self, facts: &Facts<'_>, opening: &Opening, receives: bool) -> u32 {
        let slot = self.slot();
        let info = QpInfo { flow: FlowId(slot.number()), ..opening.info };
        let laid = Laid {
            settings: opening.settings as usize,
            ports: &opening.ports,
            ack_ports: &opening.ack_ports,
            tuple: opening.tuple,
            nic: opening.nic,
            rank: opening.rank,
        };
        let path = Path::new(facts, &info, &laid);
        let settings = &facts.blueprint.settings[laid.settings];
        let (_, receiver) = settings.reliability.build(&info).expect("checked when the fabric was built");
        let notification = settings.notification.build(&info).expect("checked when the fabric was built");
        let reply_frame = frame_bytes(facts.format.ack_with(path.telemetry).frame);
        let head = Incoming::of(&opening.head, 0);
        let mut half = ReceiveHalf::new(&path, (receiver, notification), reply_frame, head);
        half.alive = receives;
        self.enter(slot, path, SendHalf::idle(), half);
        slot.number()
    }
}
