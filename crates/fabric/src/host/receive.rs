//! The receiving half of a queue pair.
//!
//! A reply that reports a gap counts as marked, if its reliability says so (`marks_disorder`).

mod events;
mod messages;

use std::collections::VecDeque;

use floodway_blueprint::network::layout::Local;
use floodway_blueprint::network::path::Path;
use floodway_mechanisms::registry::{AnyNotificationPoint, AnyTransportReceiver};
use floodway_mechanisms::slots::{NotificationPoint, Observes};
use floodway_units::NodeId;

use crate::host::messages::Incoming;
use crate::link::packet::{ON_PATH, Packet};
use crate::run::events::Armed;

/// A queue pair at its receiver; what every packet needs comes first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct ReceiveHalf {
    pub workload: u32,
    /// Its part of the packets in the network: replies and CNPs sent less data that arrived; it wraps.
    pub in_network: i32,
    /// Where replies leave, if that follows from the flow alone.
    pub reply_port: Option<Local>,
    /// Bytes in buffers of a reply.
    pub reply_frame: u16,
    pub class: u8,
    /// Its sender reads CNPs from the flags of replies.
    pub sends_flags: bool,
    /// The packets for which its notification point is called.
    pub observes: Observes,
    /// Open; else its slot is free.
    pub alive: bool,
    /// The host that it is at.
    pub host: NodeId,
    /// When the latest of the packets that have come was sent.
    pub newest: u64,
    /// Messages behind the oldest.
    pub rest: VecDeque<Incoming>,
    /// The oldest message that is not complete here, or the last one.
    pub head: Incoming,
    pub receiver: AnyTransportReceiver,
    pub notification: AnyNotificationPoint,
    /// Its notification point's timer.
    pub timer: Armed,
    /// Once that has been set: what names it in its events, and its rank among the receivers of its host that
    /// have set one.
    pub timer_key: Option<(u64, u32)>,
    /// The port by which the last message to its notification point arrived.
    pub arrival_port: Local,
}

impl ReceiveHalf {
    /// Of a queue pair that opens with the message `head`.
    pub fn new(
        path: &Path,
        (receiver, notification): (AnyTransportReceiver, AnyNotificationPoint),
        reply_frame: u16,
        head: Incoming,
    ) -> Self {
        ReceiveHalf {
            observes: notification.observes(),
            receiver,
            notification,
            head,
            rest: VecDeque::new(),
            workload: path.workload,
            in_network: 0,
            reply_port: path.port(true, 0),
            class: path.class,
            sends_flags: path.reads_flags,
            reply_frame,
            alive: true,
            host: path.destination,
            newest: 0,
            timer: Armed::default(),
            timer_key: None,
            arrival_port: Local::FIRST,
        }
    }

    /// Counts a data packet that has come. A NIC sends a queue pair's packets one after the other: one that
    /// comes behind a later one was overtaken.
    #[inline]
    fn count(&mut self, packet: &Packet) {
        let overtaken = packet.stamp < self.newest;
        self.newest = self.newest.max(packet.stamp);
        if let Some(message) = self.open_message(packet.psn()) {
            message.packets += 1;
            message.overtaken += u32::from(overtaken);
        }
    }

    pub fn reply_flag(&self) -> u8 {
        if self.reply_port.is_some() { ON_PATH } else { 0 }
    }
}
