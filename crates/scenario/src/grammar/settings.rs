//! Keys of `[defaults]` and `[[override]]` tables.

use floodway_fabric::blueprint::Sharing;
use floodway_mechanisms::registry::{
    BufferParams, CongestionPointParams, LinkRetryParams, NotificationParams, ReactionParams,
    ReliabilityParams, RoutingParams, SchedulerParams,
};
use floodway_units::{Bytes, Class, Length, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::forms::{Faults, FlowControl, Many};
use super::nics::{Failover, Nics};
use super::selector::Selector;

/// Defines a table with its own keys beside those of all slots.
macro_rules! with_slots {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $own:ident: $kind:ty,)* }) => {
        #[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
        $(#[$about])*
        #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
        pub struct $name {
            $($(#[$doc])* pub $own: $kind,)*
            /// Link flow control of the classes of data. Default: `pfc`.
            pub flow_control: Option<FlowControl>,
            /// Retry of the frames that a link damages. Default: `none`.
            pub link_retry: Option<LinkRetryParams>,
            /// Faults of links or nodes. Default: nothing.
            pub faults: Option<Faults>,
            /// Detection of congestion at egress ports. Default: none.
            pub congestion_point: Option<Many<CongestionPointParams>>,
            /// Admission to switch buffers. Default: `static`.
            pub buffer: Option<BufferParams>,
            /// Routing among equal-cost ports. Default: `ecmp`.
            pub routing: Option<RoutingParams>,
            /// Scheduling of egress ports. Default: `strict`.
            pub scheduler: Option<SchedulerParams>,
            /// At receivers: the rule for sending CNPs. Default: the rule that the rate control needs.
            pub notification: Option<NotificationParams>,
            /// At senders: the stack of rate and window controls, the lowest first. Default: `line-rate`.
            pub rate_control: Option<Many<ReactionParams>>,
            /// Recovery from losses. Default: `go-back-n`.
            pub reliability: Option<ReliabilityParams>,
            /// Which flows share a queue pair. Default: `per-flow`.
            pub qp: Option<Qp>,
            /// Class of flows. Default: 3.
            pub class: Option<Class>,
            /// Payload of the full packets of flows, from 1 byte to the run's `mtu`: flows of several sizes
            /// mix on a link, in turns. Default: the run's `mtu`.
            pub payload: Option<Bytes>,
            /// Time from a packet's arrival at a switch to its place in the egress queue, for data, ACKs,
            /// NAKs and CNPs alike. Default: 0.
            pub pipeline: Option<Span>,
            /// Cell of switches' buffers: a packet occupies whole cells, from 1 byte to 8 KiB. Sizes,
            /// thresholds and headroom count cells then. Default: 1 byte, as if there were none.
            pub cell: Option<Bytes>,
            /// Of hosts: the rate at which a NIC writes what it has received to the host's memory, as PCIe or
            /// memory allow, in bytes of frames. What arrives faster waits in the NIC's receive buffer, by
            /// which the link's flow control pauses the switch; packets are delivered and acknowledged when
            /// they are written. Default: without limit.
            pub drain: Option<Rate>,
            /// Of hosts with `drain`: size of the receive buffer of each NIC and class, headroom included.
            /// Default: 262,016 bytes, the receive buffer of a ConnectX port (Mellanox DOC-2933), or what the
            /// link's flow control needs, if that is more.
            pub receive_buffer: Option<Bytes>,
            /// Of hosts with several NICs: how long after a host knows that the link of a NIC is down
            /// (`faults.detection`) the queue pairs of that NIC move to others; `"off"` to let them wait for
            /// the link. Linux looks every `miimon`, often 100 ms; hardware that bonds ports knows at once.
            /// Default: 0.
            pub nic_failover: Option<Failover>,
            /// Of hosts with several NICs: which of them sends. Default: `per-qp`.
            pub nics: Option<Nics>,
        }

        impl $name {
            /// Its settings of the slots.
            pub fn slots(&self) -> Slots<'_> {
                Slots {
                    flow_control: self.flow_control.as_ref(),
                    link_retry: self.link_retry.as_ref(),
                    faults: self.faults.as_ref(),
                    congestion_point: self.congestion_point.as_ref(),
                    buffer: self.buffer.as_ref(),
                    routing: self.routing.as_ref(),
                    scheduler: self.scheduler.as_ref(),
                    notification: self.notification.as_ref(),
                    rate_control: self.rate_control.as_ref(),
                    reliability: self.reliability.as_ref(),
                    qp: self.qp,
                    class: self.class,
                    payload: self.payload,
                    pipeline: self.pipeline,
                    cell: self.cell,
                    drain: self.drain,
                    receive_buffer: self.receive_buffer,
                    nic_failover: self.nic_failover,
                    nics: self.nics,
                    ..Slots::default()
                }
            }
        }
    };
}

/// Flows that share a queue pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Qp {
    /// None: each flow has its own queue pair, whose congestion control starts in its initial state.
    #[default]
    PerFlow,
    /// Flows of a workload with the same sender, receiver and class (and, where a list names them, ports and
    /// paths): they are messages of one queue pair, sent one after another in the order of their starts, and
    /// its congestion control keeps its state from message to message.
    PerPair,
}

impl From<Qp> for Sharing {
    fn from(qp: Qp) -> Sharing {
        match qp {
            Qp::PerFlow => Sharing::PerFlow,
            Qp::PerPair => Sharing::PerPair,
        }
    }
}

/// The settings of a table.
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "as in the tables above")]
pub struct Slots<'a> {
    pub flow_control: Option<&'a FlowControl>,
    pub link_retry: Option<&'a LinkRetryParams>,
    pub faults: Option<&'a Faults>,
    pub congestion_point: Option<&'a Many<CongestionPointParams>>,
    pub buffer: Option<&'a BufferParams>,
    pub routing: Option<&'a RoutingParams>,
    pub scheduler: Option<&'a SchedulerParams>,
    pub notification: Option<&'a NotificationParams>,
    pub rate_control: Option<&'a Many<ReactionParams>>,
    pub reliability: Option<&'a ReliabilityParams>,
    pub qp: Option<Qp>,
    pub class: Option<Class>,
    pub payload: Option<Bytes>,
    pub pipeline: Option<Span>,
    pub cell: Option<Bytes>,
    pub drain: Option<Rate>,
    pub receive_buffer: Option<Bytes>,
    pub nic_failover: Option<Failover>,
    pub nics: Option<Nics>,
    pub rate: Option<Rate>,
    pub delay: Option<Span>,
    pub length: Option<Length>,
    pub hash_seed: Option<u32>,
    pub output_queue: Option<Bytes>,
}

with_slots! {
    /// Settings of all objects that no override changes.
    Defaults {}
}

with_slots! {
    /// Settings of the objects of one selector: exactly one of `links`, `switches`, `hosts`, `flows`.
    #[schemars(extend("required" = ["name"]))]
    Override {
        /// Its name, which `--set` uses.
        name: String,
        /// These links, with the ports at both ends.
        links: Option<Selector>,
        /// These switches.
        switches: Option<Selector>,
        /// These hosts.
        hosts: Option<Selector>,
        /// The flows of these workloads.
        flows: Option<Selector>,
        /// Of the links: only from one end to the other, as in `"x1>x2"`.
        direction: Option<String>,
        /// Of the links: their rate.
        rate: Option<Rate>,
        /// Of the links: their delay.
        delay: Option<Span>,
        /// Of the links: their length, at 5 us/km.
        length: Option<Length>,
        /// Of the links: room of the output queue of a switch's port that sends on them, above 0, where the
        /// switch has `buffer.output-queue`; the control class has twice as much. Default: its switch's.
        output_queue: Option<Bytes>,
        /// Of the switches: the seed of the hash `swing-ns3`.
        hash_seed: Option<u32>,
    }
}

impl Override {
    /// All its settings, including its own keys.
    pub fn all_slots(&self) -> Slots<'_> {
        Slots {
            rate: self.rate,
            delay: self.delay,
            length: self.length,
            hash_seed: self.hash_seed,
            output_queue: self.output_queue,
            ..self.slots()
        }
    }
}
