//! The plan: the settings of every object.

use std::fmt;
use std::sync::Arc;

use floodway_fabric::blueprint::{ErrorRates, PauseFault};
use floodway_mechanisms::registry::{
    BufferParams, CongestionPointParams, FlowControlParams, LinkRetryParams, NotificationParams,
    ReactionParams, ReliabilityParams, RoutingParams, SchedulerParams,
};
use floodway_mechanisms::slots::{SignalKind, Sizing};
use floodway_mechanisms::static_buffer;
use floodway_units::{Bytes, Class, Rate, Span, Time};

use crate::error::{Place, ScenarioError};
use crate::grammar::forms::FlowControl;
use crate::grammar::nics::{Failover, Nics};
use crate::grammar::settings::Qp;
use crate::topology::{Link, Network};
use crate::workload::Workload;

/// Who chose a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// "defaults", "override long-haul", "profile swing-ns3", "topology", "built-in default".
    pub who: Arc<str>,
    /// Path of the key, as `--set` spells it.
    pub key: Arc<str>,
    /// Where it was written; none of what is built in.
    pub place: Option<Place>,
}

impl Origin {
    /// Did a profile choose?
    pub fn is_profile(&self) -> bool {
        self.who.starts_with("profile ")
    }

    /// Did an override of the scenario choose, for some objects?
    pub fn is_particular(&self) -> bool {
        self.who.starts_with("override ")
    }

    /// An error at the place where it was chosen.
    pub fn error(&self, message: impl Into<String>) -> ScenarioError {
        let nowhere = || Place { file: self.who.clone(), line: None };
        ScenarioError::new(self.place.clone().unwrap_or_else(nowhere), self.key.to_string(), message)
    }

    /// The built-in defaults.
    pub fn built_in(key: &str) -> Self {
        Origin { who: "built-in default".into(), key: format!("defaults.{key}").into(), place: None }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.who)?;
        match &self.place {
            Some(place) => write!(f, ", {place}"),
            None => Ok(()),
        }
    }
}

/// A value and who chose it.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice<T> {
    /// The value.
    pub value: T,
    /// Who chose it.
    pub origin: Origin,
}

impl<T> Choice<T> {
    fn built_in(key: &str, value: T) -> Self {
        Choice { value, origin: Origin::built_in(key) }
    }
}

/// The settings of all objects, in the order of the network's links and nodes, and of the workloads.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Of each link.
    pub links: Vec<LinkPlan>,
    /// Of each node.
    pub nodes: Vec<NodePlan>,
    /// Of each workload's flows.
    pub flows: Vec<FlowPlan>,
}

/// Of a link.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    /// From `ends[i]` to the other end.
    pub directions: [DirectionPlan; 2],
    /// The ports.
    pub ends: [EndPlan; 2],
    /// When it is down.
    pub down: Vec<(Time, Time)>,
    /// How long until its ends know, and from then until routes are recomputed.
    pub reaction: (Span, Span),
}

/// Of a link in one direction.
#[derive(Clone, Debug)]
pub struct DirectionPlan {
    /// Line rate.
    pub rate: Choice<Rate>,
    /// Propagation.
    pub delay: Choice<Span>,
    /// Flow control.
    pub flow_control: Choice<FlowControl>,
    /// Retry of damaged frames.
    pub link_retry: Choice<LinkRetryParams>,
    /// Random losses and jitter.
    pub faults: Choice<(ErrorRates, Span)>,
    /// From when on propagation takes another time.
    pub switchovers: Vec<(Time, Span)>,
}

/// Of a port.
#[derive(Clone, Debug)]
pub struct EndPlan {
    /// A buffer of its own.
    pub buffer: Option<Choice<BufferParams>>,
    /// Scheduling of its egress.
    pub scheduler: Choice<SchedulerParams>,
    /// Detection at its egress.
    pub congestion_points: Choice<Vec<CongestionPointParams>>,
    /// Room of its output queue, where that is not its switch's.
    pub output_queue: Option<Choice<Bytes>>,
    /// Forced pauses that it sends.
    pub pauses: Vec<PauseFault>,
}

impl EndPlan {
    /// Does a congestion point of the port use this signal?
    pub fn sends_signal(&self, by: SignalKind) -> bool {
        self.congestion_points.value.iter().any(|point| point.signal_kinds().contains(&by))
    }
}

/// Of a node.
#[derive(Clone, Debug)]
pub struct NodePlan {
    /// What a switch has beside ports; hosts have it too, unused.
    pub switch: SwitchPlan,
    /// What a host has beside ports; switches have it too, unused.
    pub host: HostPlan,
}

/// Of a host.
#[derive(Clone, Debug)]
pub struct HostPlan {
    /// Rate at which it takes in what its NICs receive; none without limit.
    pub drain: Option<Choice<Rate>>,
    /// Size of the receive buffers of its NICs; none for the default.
    pub receive_buffer: Option<Choice<Bytes>>,
    /// When queue pairs of a NIC whose link is down move to another one.
    pub nic_failover: Choice<Failover>,
    /// Which of its NICs sends.
    pub nics: Choice<Nics>,
}

impl HostPlan {
    /// The receive buffer of each of its NICs and classes, if it has one.
    pub fn buffer(&self) -> Option<Choice<BufferParams>> {
        let drain = self.drain.as_ref()?;
        let (size, origin) = match &self.receive_buffer {
            Some(size) => (Sizing::Fixed(size.value), &size.origin),
            None => (Sizing::Auto, &drain.origin),
        };
        let value = BufferParams::Static(static_buffer::Params { size, ..Default::default() });
        Some(Choice { value, origin: origin.clone() })
    }
}

/// Of a switch.
#[derive(Clone, Debug)]
pub struct SwitchPlan {
    /// Admission, for ports without a buffer of their own.
    pub buffer: Choice<BufferParams>,
    /// Choice among equal-cost ports.
    pub routing: Choice<RoutingParams>,
    /// From arrival to the egress queue.
    pub pipeline: Choice<Span>,
    /// Cell of the buffer.
    pub cell: Choice<Bytes>,
    /// Seed of the hash `swing-ns3`.
    pub hash_seed: Option<u32>,
    /// When it is bypassed, of a relay.
    pub bypass: Choice<Vec<(Time, Time)>>,
}

/// Of a workload's flows.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Class.
    pub class: Choice<Class>,
    /// Recovery from losses.
    pub reliability: Choice<ReliabilityParams>,
    /// Stack of rate and window controls.
    pub rate_control: Choice<Vec<ReactionParams>>,
    /// Which flows share a queue pair.
    pub qp: Choice<Qp>,
    /// Payload of full packets, where it is not the run's `mtu`.
    pub payload: Option<Choice<Bytes>>,
    /// When receivers send CNPs: by default as the rate control asks.
    pub notification: Choice<NotificationParams>,
}

/// What the topology says of a link's errors: where it says nothing, what is built in.
fn faults_of(
    link: &Link,
    built_in: &Choice<(ErrorRates, Span)>,
    origin: &Origin,
) -> Choice<(ErrorRates, Span)> {
    let rate = link.error_rate;
    if rate == 0.0 {
        return built_in.clone();
    }
    let rates = ErrorRates { data: rate, control: rate, link_control: rate };
    Choice { value: (rates, Span::ZERO), origin: origin.clone() }
}

/// A choice by its name with all its defaults.
macro_rules! by_default {
    ($choice:ident::$variant:ident) => {
        $choice::$variant(Default::default())
    };
}

impl Plan {
    /// What holds where a scenario says nothing: PFC, a buffer of its own for each port as large as PFC
    /// asks for, ECMP, strict scheduling, go-back-N at line rate, no notification.
    pub fn built_in(network: &Network, workloads: &[Workload], topology: &Place) -> Self {
        let origin = |key: &str| Origin {
            who: "topology".into(),
            key: format!("topology.{key}").into(),
            place: Some(topology.clone()),
        };
        let [rate, delay, error_rate] = ["rate", "delay", "error-rate"].map(origin);
        let pfc = FlowControl::All(by_default!(FlowControlParams::Pfc));
        let (flow_control, faults) =
            (Choice::built_in("flow-control", pfc), Choice::built_in("faults", Default::default()));
        let link_retry = Choice::built_in("link-retry", by_default!(LinkRetryParams::None));
        let end = EndPlan {
            buffer: None,
            scheduler: Choice::built_in("scheduler", by_default!(SchedulerParams::Strict)),
            congestion_points: Choice::built_in("congestion-point", Vec::new()),
            output_queue: None,
            pauses: Vec::new(),
        };
        let links = network.links.iter().map(|link| {
            let direction = DirectionPlan {
                rate: Choice { value: link.rate, origin: rate.clone() },
                delay: Choice { value: link.delay, origin: delay.clone() },
                flow_control: flow_control.clone(),
                link_retry: link_retry.clone(),
                faults: faults_of(link, &faults, &error_rate),
                switchovers: Vec::new(),
            };
            LinkPlan {
                directions: [direction.clone(), direction],
                ends: [end.clone(), end.clone()],
                down: Vec::new(),
                reaction: (Span::ZERO, Span::ZERO),
            }
        });
        let switch = SwitchPlan {
            buffer: Choice::built_in("buffer", by_default!(BufferParams::Static)),
            routing: Choice::built_in("routing", by_default!(RoutingParams::Ecmp)),
            pipeline: Choice::built_in("pipeline", Span::ZERO),
            cell: Choice::built_in("cell", Bytes(1)),
            bypass: Choice::built_in("faults.bypass", Vec::new()),
            hash_seed: None,
        };
        let host = HostPlan {
            drain: None,
            receive_buffer: None,
            nic_failover: Choice::built_in("nic-failover", Failover::After(Span::ZERO)),
            nics: Choice::built_in("nics", Nics::PerQp),
        };
        let flows = FlowPlan {
            class: Choice::built_in("class", Class::DATA),
            qp: Choice::built_in("qp", Qp::PerFlow),
            payload: None,
            reliability: Choice::built_in("reliability", by_default!(ReliabilityParams::GoBackN)),
            rate_control: Choice::built_in("rate-control", vec![by_default!(ReactionParams::LineRate)]),
            notification: Choice::built_in("notification", by_default!(NotificationParams::None)),
        };
        Plan {
            links: links.collect(),
            nodes: vec![NodePlan { switch, host }; network.nodes.len()],
            flows: vec![flows; workloads.len()],
        }
    }

    /// The buffer for what comes in at an end of a link: of a switch, or of a NIC with a receive buffer.
    pub fn buffer_at(&self, network: &Network, (link, end): (usize, usize)) -> Option<Choice<BufferParams>> {
        let node = network.links[link].ends[end];
        if network.nodes[node].is_host {
            return self.nodes[node].host.buffer();
        }
        let own = self.links[link].ends[end].buffer.as_ref();
        Some(own.unwrap_or(&self.nodes[node].switch.buffer).clone())
    }

    /// Where no notification is chosen, receivers do what the rate control asks of them, and pass UE on where
    /// a port marks it.
    pub fn notify_as_asked(&mut self) {
        let mut ends = self.links.iter().flat_map(|link| &link.ends);
        let undetermined = ends.any(|end| end.sends_signal(SignalKind::Undetermined));
        for flows in &mut self.flows {
            if flows.notification.origin.place.is_none() {
                let asked = NotificationParams::asked_by(&flows.rate_control.value);
                let value = if undetermined { asked.with_undetermined() } else { asked };
                flows.notification = Choice { value, origin: flows.rate_control.origin.clone() };
            }
        }
    }
}
