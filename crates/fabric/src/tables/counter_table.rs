//! The table of counters: one row a (port, class).

use floodway_blueprint::network::routing::peer;
use floodway_mechanisms::slots::DropReason;
use floodway_records::counters::Traffic;
use floodway_records::port_columns::port_columns;
use floodway_records::table::{Table, Values};
use floodway_units::{PortId, Time};

use crate::link::arena::{Arena, PacketRef};
use crate::run::network::Network;

/// What is on links when the run is over.
pub(super) struct OnLinks<'w> {
    pub packets: &'w Arena,
    pub own: &'w [(PortId, PacketRef)],
    /// Class and bytes of those that other processes know.
    pub elsewhere: &'w [(PortId, u8, u16)],
}

impl OnLinks<'_> {
    /// By port class, what has started on the wire: it has arrived at the other end, was lost on the link or
    /// is there now.
    fn sent(&self, network: Network<'_, '_>) -> Vec<Traffic> {
        let layout = &network.facts.layout;
        let arrived = |port_class: usize| {
            let (port, class) = layout.port_class_of(port_class);
            let account = network.ingress(layout.port_class_id(peer(port), class));
            let mut received = account.received;
            received.add_all(account.rare.lost);
            received
        };
        let mut sent: Vec<Traffic> = (0..network.facts.port_classes()).map(arrived).collect();
        for &(port, packet_ref) in self.own {
            let packet = &self.packets[packet_ref];
            if !packet.is_link_control() {
                sent[layout.port_class_id(port, packet.class)].add(packet.frame);
            }
        }
        for &(port, class, frame) in self.elsewhere {
            sent[layout.port_class_id(port, class)].add(frame);
        }
        sent
    }

    /// The table at the end of a run.
    pub fn counter_table(&self, network: Network<'_, '_>, end: u64) -> Table {
        let (facts, port_classes) = (network.facts, 0..network.facts.port_classes());
        let place = |port_class: usize| facts.layout.port_class_of(port_class);
        let column = |of: &dyn Fn(usize) -> u64| Values::U64(port_classes.clone().map(of).collect());
        let (out, held) = (|of| network.egress(of), |of| network.ingress(of));
        let sent = self.sent(network);
        let paused = port_classes.clone().map(|of| Time(out(of).paused(end)).as_us()).collect();
        let mut columns = Vec::from(port_columns(facts, port_classes.clone().map(|of| place(of).0)));
        columns.extend([
            ("class", column(&|of| u64::from(facts.layout.classes[usize::from(place(of).1)].0))),
            ("tx_packets", column(&|of| sent[of].packets)),
            ("tx_bytes", column(&|of| sent[of].bytes)),
            ("rx_packets", column(&|of| held(of).received.packets)),
            ("rx_bytes", column(&|of| held(of).received.bytes)),
            ("pfc_tx", column(&|of| held(of).rare.pfc_tx)),
            ("pfc_rx", column(&|of| out(of).counters.pfc_rx)),
            ("paused_us", Values::F64(paused)),
            ("ecn_marks", column(&|of| out(of).counters.ecn_marks)),
            ("ue_marks", column(&|of| out(of).rare.ue_marks)),
            ("cnps", column(&|of| out(of).rare.cnps)),
            ("receiver_cnps", column(&|of| out(of).rare.receiver_cnps)),
            ("cnp_flags", column(&|of| out(of).rare.cnp_flags)),
            ("cns", column(&|of| out(of).rare.cns)),
            ("moves", column(&|of| out(of).rare.moves)),
        ]);
        let names = DropReason::ALL.map(|reason| format!("drops_{}", reason.name()));
        for (reason, name) in DropReason::ALL.into_iter().zip(&names) {
            columns.push((name, column(&|of| held(of).rare.drops[reason as usize])));
        }
        if facts.trims {
            columns.push(("trims", column(&|of| held(of).rare.cut.packets)));
            columns.push(("trimmed_bytes", column(&|of| held(of).rare.cut.bytes)));
        }
        columns.push(("peak_bytes", column(&|of| held(of).peaks.held)));
        columns.push(("headroom_peak_bytes", column(&|of| held(of).peaks.headroom)));
        Table::new(columns)
    }
}
