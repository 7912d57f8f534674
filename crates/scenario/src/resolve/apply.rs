//! Defaults and overrides, one after another; later ones win, and each replaces a slot's whole value.

use std::collections::BTreeSet;
use std::sync::Arc;

use floodway_fabric::blueprint::PauseFault;
use floodway_mechanisms::registry::{BufferParams, CongestionPointParams, LinkRetryParams, SchedulerParams};
use floodway_units::{Bytes, Length, Rate, Span, Time};

use super::plan::{Choice, DirectionPlan, EndPlan, Origin, Plan};
use crate::error::{Place, ScenarioError};
use crate::grammar::forms::{Faults, FlowControl, Pause, Period, Switchover};
use crate::grammar::read::key_path;
use crate::grammar::selector::{Selector, glob, nearest_match};
use crate::grammar::settings::{Defaults, Override, Slots};
use crate::grammar::tree::Node;
use crate::topology::{Network, RELAY_TAGS};
use crate::workload::Workload;

/// Slots that belong to links, to switches, to hosts, to flows.
const OF_LINKS: &[&str] = &[
    "flow-control",
    "link-retry",
    "faults",
    "congestion-point",
    "buffer",
    "scheduler",
    "output-queue",
    "rate",
    "delay",
    "length",
    "direction",
];
const OF_SWITCHES: &[&str] =
    &["buffer", "routing", "scheduler", "congestion-point", "pipeline", "cell", "hash-seed", "faults"];
const OF_HOSTS: &[&str] =
    &["scheduler", "congestion-point", "faults", "drain", "receive-buffer", "nic-failover", "nics"];
const OF_FLOWS: &[&str] = &["notification", "rate-control", "reliability", "qp", "class", "payload"];
const SELECTORS: &[&str] = &["links", "switches", "hosts", "flows"];

/// `[defaults]` or an override, of a scenario or of a profile.
pub struct Layer<'a> {
    /// Its name in the output of `--resolved`.
    who: Arc<str>,
    /// Its position in its tree.
    path: Vec<String>,
    node: &'a Node,
    slots: Slots<'a>,
    /// The objects that it selects; all, if it is `[defaults]`.
    of: Option<&'a Override>,
    /// A selector that matches nothing is an error.
    strict: bool,
}

impl<'a> Layer<'a> {
    /// `[defaults]`; `profile` is the name of the profile it belongs to.
    pub fn defaults(tree: &'a Node, defaults: &'a Defaults, profile: Option<&str>) -> Option<Self> {
        Some(Layer {
            who: profile.map_or_else(|| "defaults".into(), |name| format!("profile {name}").into()),
            path: vec!["defaults".into()],
            node: tree.get("defaults")?,
            slots: defaults.slots(),
            of: None,
            strict: true,
        })
    }

    /// The overrides in order.
    pub fn overrides(tree: &'a Node, overrides: &'a [Override], profile: Option<&str>) -> Vec<Self> {
        let items = tree.get("override").map_or(&[][..], Node::items);
        let layer = |(i, (node, of)): (usize, (&'a Node, &'a Override))| Layer {
            who: match profile {
                Some(name) => format!("profile {name}").into(),
                None => format!("override {}", of.name).into(),
            },
            path: vec!["override".into(), node.label(i)],
            node,
            slots: of.all_slots(),
            of: Some(of),
            strict: profile.is_none(),
        };
        items.iter().zip(overrides).enumerate().map(layer).collect()
    }

    fn key(&self, key: &str) -> String {
        let mut segments: Vec<&str> = self.path.iter().map(String::as_str).collect();
        segments.extend(key.split('.').filter(|part| !part.is_empty()));
        key_path(&segments)
    }

    fn place(&self, key: &str) -> Place {
        self.node.place_of(key.split('.'))
    }

    fn error(&self, key: &str, message: impl Into<String>) -> ScenarioError {
        ScenarioError::new(self.place(key), self.key(key), message)
    }

    fn choice<T>(&self, key: &str, value: T) -> Choice<T> {
        let origin =
            Origin { who: self.who.clone(), key: self.key(key).into(), place: Some(self.place(key)) };
        Choice { value, origin }
    }

    /// Writes what it sets into the plan.
    ///
    /// # Errors
    /// What it may not set, and selectors that match nothing.
    pub fn apply(
        &self,
        plan: &mut Plan,
        network: &Network,
        workloads: &[Workload],
    ) -> Result<(), ScenarioError> {
        let Some(of) = self.of else {
            self.check_buffer(None)?;
            self.to_links(plan, network, |_| true)?;
            let is_switch = |node: usize| !network.nodes[node].is_host && !network.is_relay(node);
            self.to_nodes(plan, network, is_switch, false)?;
            self.to_hosts(plan, network, |_| true)?;
            self.to_flows(plan, |_| true);
            return Ok(());
        };
        let all = [&of.links, &of.switches, &of.hosts, &of.flows];
        let mut chosen =
            SELECTORS.iter().zip(all).filter_map(|(&key, selector)| Some((key, selector.as_ref()?)));
        let (Some((key, selector)), None) = (chosen.next(), chosen.next()) else {
            return Err(self.error("", format!("it needs exactly one of: {}", SELECTORS.join(", "))));
        };
        self.check_keys(key)?;
        if selector.is_empty() {
            let message =
                "an empty list selects nothing: write names, tags or \"*\", or leave out the override";
            return Err(self.error(key, message));
        }
        if selector.names_workload() && key != "flows" {
            return Err(self.error(key, "a workload selects flows only"));
        }
        self.check_buffer(Some(key))?;
        let matches = |name: &str, tags: &[String]| selector.matches(name, tags);
        match key {
            "links" => {
                let of = |link: usize| matches(&network.links[link].name, &network.links[link].tags);
                if (0..network.links.len()).any(of) {
                    self.to_links(plan, network, of)?;
                }
                self.check_matches(key, selector, network.labels_of_links())
            }
            "flows" => {
                self.to_flows(plan, |i| matches(&workloads[i].name, &workloads[i].tags));
                let labels = workloads.iter().map(|of| (of.name.as_str(), of.tags.as_slice()));
                self.check_matches(key, selector, labels)
            }
            _ => {
                let of = |node: usize| {
                    let node = &network.nodes[node];
                    node.is_host == (key == "hosts") && matches(&node.name, &node.tags)
                };
                self.to_nodes(plan, network, of, true)?;
                self.to_hosts(plan, network, of)?;
                let labels = network.labels_of_nodes(|node| node.is_host == (key == "hosts"));
                self.check_matches(key, selector, labels)
            }
        }
    }

    /// # Errors
    /// If the selector, or a member of it, selects none of these objects.
    fn check_matches<'b>(
        &self,
        key: &str,
        selector: &Selector,
        labels: impl Iterator<Item = (&'b str, &'b [String])> + Clone,
    ) -> Result<(), ScenarioError> {
        // Whether there are relays is a choice of the scenario's, which may vary.
        if !self.strict || selector.is_of_tags(&RELAY_TAGS) {
            return Ok(());
        }
        let Some(astray) = selector.astray(labels.clone()) else { return Ok(()) };
        let error = self.error(key, format!("{astray} matches nothing"));
        Err(error.with_suggestion(astray.suggestion(labels)))
    }

    /// An override by `selector` may set only what belongs to such objects.
    fn check_keys(&self, selector: &str) -> Result<(), ScenarioError> {
        let table = [OF_LINKS, OF_SWITCHES, OF_HOSTS, OF_FLOWS];
        for entry in self.node.entries() {
            let key = entry.key.as_str();
            if key == "name" || SELECTORS.contains(&key) {
                continue;
            }
            let homes: Vec<&str> = SELECTORS
                .iter()
                .zip(table)
                .filter(|(_, slots)| slots.contains(&key))
                .map(|(&home, _)| home)
                .collect();
            if !homes.contains(&selector) {
                let message = format!("it is a key of {}, not of {selector}", homes.join(" or "));
                return Err(self.error(key, message));
            }
        }
        Ok(())
    }

    /// A port can have neither a pool, a crossbar nor output queues of its own.
    fn check_buffer(&self, selector: Option<&str>) -> Result<(), ScenarioError> {
        match self.slots.buffer {
            Some(buffer) if selector == Some("links") => {
                if let Some(key) = buffer.size_of_switch() {
                    let message = "a port shares its switch's pool, whose size is a key of switches";
                    return Err(self.error(&format!("buffer.{}.{key}", buffer.name()), message));
                }
                let message = match buffer.plan() {
                    plan if plan.crossbar.is_some() => {
                        "its crossbar belongs to switches: choose it in `defaults` or by `switches`"
                    }
                    plan if plan.output.is_some() => {
                        "choose it in `defaults` or by `switches`; for links, `output-queue` is the room of a queue"
                    }
                    _ => return Ok(()),
                };
                Err(self.error(&format!("buffer.{}", buffer.name()), message))
            }
            _ => Ok(()),
        }
    }

    fn to_links(
        &self,
        plan: &mut Plan,
        network: &Network,
        of: impl Fn(usize) -> bool,
    ) -> Result<(), ScenarioError> {
        let direction = self.of.and_then(|of| of.direction.as_deref());
        let faults =
            self.slots.faults.map(|faults| self.link_faults(faults, direction.is_some())).transpose()?;
        let switchovers = self.switchovers()?;
        let delay = self.delay()?;
        let choices = self.choices();
        let delay = delay.map(|(key, delay)| self.choice(key, delay));
        let of_faults = faults.map(|faults| self.choice("faults", (faults.error_rate.0, faults.jitter)));
        if self.slots.rate == Some(Rate(0)) {
            return Err(self.error("rate", "a link needs a rate above 0"));
        }
        let mut found = 0;
        for link in (0..network.links.len()).filter(|&link| of(link)) {
            for from in 0..2 {
                if direction.is_some_and(|direction| !leads(direction, network, link, from)) {
                    continue;
                }
                found += 1;
                // What relays do of themselves is not a default of the network's.
                let into_relay = self.of.is_none() && network.is_relay(network.links[link].ends[1 - from]);
                let out_of_relay = self.of.is_none() && network.is_relay(network.links[link].ends[from]);
                let plan = &mut plan.links[link];
                set(&mut plan.directions[from].delay, delay.as_ref());
                choices.to_direction(&mut plan.directions[from], into_relay && !out_of_relay);
                if self.of.is_some() && choices.buffer.is_some() {
                    plan.ends[1 - from].buffer.clone_from(&choices.buffer);
                }
                choices.to_egress(&mut plan.ends[from], !out_of_relay);
                if let Some(faults) = faults {
                    set(&mut plan.directions[from].faults, of_faults.as_ref());
                    plan.directions[from].switchovers.clone_from(&switchovers);
                    plan.down = faults.down.0.iter().map(|period| (period.from, period.to)).collect();
                    plan.reaction = (faults.detection, faults.convergence);
                    plan.ends[1 - from].pauses = pauses(&faults.pause.0);
                }
            }
        }
        if let (Some(direction), 0) = (direction, found)
            && self.strict
        {
            let error = self.error("direction", format!("no selected link leads {direction:?}"));
            return Err(error.with_suggestion(suggested_direction(direction, network)));
        }
        Ok(())
    }

    /// What it chooses for links and ports, of which there may be a hundred thousand.
    fn choices(&self) -> Choices {
        let slots = &self.slots;
        Choices {
            rate: slots.rate.map(|rate| self.choice("rate", rate)),
            flow_control: slots.flow_control.map(|of| self.choice("flow-control", of.clone())),
            link_retry: slots.link_retry.map(|retry| self.choice("link-retry", retry.clone())),
            buffer: slots.buffer.map(|buffer| self.choice("buffer", buffer.clone())),
            scheduler: slots.scheduler.map(|scheduler| self.choice("scheduler", scheduler.clone())),
            points: slots.congestion_point.map(|points| self.choice("congestion-point", points.0.clone())),
            output_queue: slots.output_queue.map(|room| self.choice("output-queue", room)),
        }
    }

    fn delay(&self) -> Result<Option<(&'static str, Span)>, ScenarioError> {
        self.delay_of("", (self.slots.delay, self.slots.length))
    }

    /// A delay, or that of a length, where one is given by the keys of this table.
    fn delay_of(
        &self,
        table: &str,
        given: (Option<Span>, Option<Length>),
    ) -> Result<Option<(&'static str, Span)>, ScenarioError> {
        let error = |key: &str, message: String| Err(self.error(&format!("{table}{key}"), message));
        let zero = || "a link needs a delay above 0".to_owned();
        match given {
            (Some(_), Some(_)) => error("length", "give either the delay or the length, not both".into()),
            (Some(Span::ZERO), _) => error("delay", zero()),
            (_, Some(Length(0))) => error("length", zero()),
            (_, Some(length)) if length.0 >= 1 << 43 => error("length", format!("{length} is too long")),
            (Some(delay), None) => Ok(Some(("delay", delay))),
            (None, Some(length)) => Ok(Some(("length", length.delay()))),
            (None, None) => Ok(None),
        }
    }

    /// Other delays of links, with the instants from which on they hold.
    fn switchovers(&self) -> Result<Vec<(Time, Span)>, ScenarioError> {
        let Some(faults) = self.slots.faults else { return Ok(Vec::new()) };
        let mut switchovers: Vec<(Time, Span)> = Vec::new();
        for &Switchover { at, delay, length } in &faults.switchover.0 {
            let Some((_, delay)) = self.delay_of("faults.switchover.", (delay, length))? else {
                return Err(self.error("faults.switchover", "it needs the new delay or the new length"));
            };
            if let Some((before, _)) = switchovers.last().filter(|(before, _)| *before >= at) {
                let message = format!("{at} does not come after {before}: the instants must ascend");
                return Err(self.error("faults.switchover", &message));
            }
            switchovers.push((at, delay));
        }
        Ok(switchovers)
    }

    /// Faults of links, checked; a pause needs to know which end sends it.
    fn link_faults(&self, faults: &'a Faults, has_direction: bool) -> Result<&'a Faults, ScenarioError> {
        if !has_direction && !faults.pause.0.is_empty() {
            let message = "it needs a node, or of links a direction: the receiving end sends the pause";
            return Err(self.error("faults.pause", message));
        }
        self.check_pauses(faults)?;
        if !faults.bypass.0.is_empty() {
            let message = "it needs relays, for example `switches = { tag = \"relay\" }`";
            return Err(self.error("faults.bypass", message));
        }
        self.check_periods("faults.down", &faults.down.0)?;
        for (key, span) in [("detection", faults.detection), ("convergence", faults.convergence)] {
            if span > Span::ZERO && faults.down.0.is_empty() {
                return Err(
                    self.error(&format!("faults.{key}"), "it needs `down`, that is when the link fails")
                );
            }
        }
        Ok(faults)
    }

    /// Periods in order and apart.
    fn check_periods(&self, key: &str, periods: &[Period]) -> Result<(), ScenarioError> {
        let mut end = Time::ZERO;
        for Period { from, to } in periods {
            if from >= to {
                let message = format!("it ends at {to}, which is not after its start at {from}");
                return Err(self.error(key, &message));
            }
            if *from < end {
                let message = format!("one begins at {from}, before the one before it has ended at {end}");
                return Err(self.error(key, &message));
            }
            end = *to;
        }
        Ok(())
    }

    fn check_pauses(&self, faults: &Faults) -> Result<(), ScenarioError> {
        for pause in &faults.pause.0 {
            if pause.from >= pause.to {
                return Err(self.error("faults.pause", "it ends before it begins"));
            }
            if pause.class.0 > 7 {
                let message = format!("class {} is not one from 0 to 7", pause.class.0);
                return Err(self.error("faults.pause.class", message));
            }
        }
        Ok(())
    }

    /// Nodes, with their ports if `ports` says so (defaults reach ports by the links).
    fn to_nodes(
        &self,
        plan: &mut Plan,
        network: &Network,
        of: impl Fn(usize) -> bool,
        ports: bool,
    ) -> Result<(), ScenarioError> {
        if let (Some(faults), true) = (self.slots.faults, ports) {
            let (pause, bypass) = (faults.pause.clone(), faults.bypass.clone());
            if *faults != (Faults { pause, bypass, ..Faults::default() }) {
                let message =
                    "of a node only `pause` can be set, and of a relay `bypass`; the others belong to links";
                return Err(self.error("faults", message));
            }
            self.check_pauses(faults)?;
            self.check_periods("faults.bypass", &faults.bypass.0)?;
        }
        let selected: Vec<bool> = (0..network.nodes.len()).map(of).collect();
        if self.slots.faults.is_some_and(|faults| !faults.bypass.0.is_empty()) {
            let stays = |node: &usize| selected[*node] && !network.is_relay(*node);
            if let Some(node) = (0..selected.len()).find(stays) {
                let message =
                    format!("{} is not a relay, and only relays are bypassed", network.nodes[node].name);
                return Err(self.error("faults.bypass", &message));
            }
        }
        let choices = self.choices();
        for (switch, _) in plan.nodes.iter_mut().zip(&selected).filter(|(_, selected)| **selected) {
            self.to_switch(&mut switch.switch);
        }
        for (i, link) in network.links.iter().enumerate() {
            for (end, &node) in link.ends.iter().enumerate().filter(|(_, node)| selected[**node]) {
                let end = &mut plan.links[i].ends[end];
                if self.slots.buffer.is_some() && !network.nodes[node].is_host {
                    // The switch's buffer is set again, so for its ports, too.
                    end.buffer = None;
                }
                if ports {
                    choices.to_egress(end, true);
                    if let Some(faults) = self.slots.faults {
                        end.pauses = pauses(&faults.pause.0);
                    }
                }
            }
        }
        Ok(())
    }

    fn to_hosts(
        &self,
        plan: &mut Plan,
        network: &Network,
        of: impl Fn(usize) -> bool,
    ) -> Result<(), ScenarioError> {
        if self.slots.drain == Some(Rate(0)) {
            return Err(self.error("drain", "a host needs a rate above 0; leave the key out for no limit"));
        }
        if self.slots.receive_buffer == Some(Bytes::ZERO) {
            return Err(self.error("receive-buffer", "a buffer of 0B holds no packet; give a size above 0"));
        }
        let (drain, size) = (self.slots.drain, self.slots.receive_buffer);
        let drain = drain.map(|drain| self.choice("drain", drain));
        let size = size.map(|size| self.choice("receive-buffer", size));
        let nics = self.slots.nics.map(|nics| self.choice("nics", nics));
        let failover = self.slots.nic_failover.map(|failover| self.choice("nic-failover", failover));
        for node in (0..network.nodes.len()).filter(|&node| network.nodes[node].is_host && of(node)) {
            let host = &mut plan.nodes[node].host;
            host.drain = drain.clone().or(host.drain.take());
            set(&mut host.nic_failover, failover.as_ref());
            set(&mut host.nics, nics.as_ref());
            host.receive_buffer = size.clone().or(host.receive_buffer.take());
        }
        Ok(())
    }

    fn to_switch(&self, switch: &mut super::SwitchPlan) {
        if let Some(buffer) = self.slots.buffer {
            switch.buffer = self.choice("buffer", buffer.clone());
        }
        if let Some(routing) = self.slots.routing {
            switch.routing = self.choice("routing", routing.clone());
        }
        if let Some(pipeline) = self.slots.pipeline {
            switch.pipeline = self.choice("pipeline", pipeline);
        }
        if let Some(cell) = self.slots.cell {
            switch.cell = self.choice("cell", cell);
        }
        if let Some(seed) = self.slots.hash_seed {
            switch.hash_seed = Some(seed);
        }
        if let Some(faults) = self.slots.faults {
            let periods = faults.bypass.0.iter().map(|period| (period.from, period.to)).collect();
            switch.bypass = self.choice("faults.bypass", periods);
        }
    }

    fn to_flows(&self, plan: &mut Plan, of: impl Fn(usize) -> bool) {
        for (_, flows) in plan.flows.iter_mut().enumerate().filter(|(i, _)| of(*i)) {
            if let Some(class) = self.slots.class {
                flows.class = self.choice("class", class);
            }
            if let Some(qp) = self.slots.qp {
                flows.qp = self.choice("qp", qp);
            }
            if let Some(payload) = self.slots.payload {
                flows.payload = Some(self.choice("payload", payload));
            }
            if let Some(reliability) = self.slots.reliability {
                flows.reliability = self.choice("reliability", reliability.clone());
            }
            if let Some(rate_control) = self.slots.rate_control {
                flows.rate_control = self.choice("rate-control", rate_control.0.clone());
            }
            if let Some(notification) = self.slots.notification {
                flows.notification = self.choice("notification", notification.clone());
            }
        }
    }
}

/// What a layer chooses for links and ports.
struct Choices {
    rate: Option<Choice<Rate>>,
    flow_control: Option<Choice<FlowControl>>,
    link_retry: Option<Choice<LinkRetryParams>>,
    buffer: Option<Choice<BufferParams>>,
    scheduler: Option<Choice<SchedulerParams>>,
    points: Option<Choice<Vec<CongestionPointParams>>>,
    output_queue: Option<Choice<Bytes>>,
}

impl Choices {
    fn to_direction(&self, direction: &mut DirectionPlan, keeps_flow_control: bool) {
        set(&mut direction.rate, self.rate.as_ref());
        set(&mut direction.link_retry, self.link_retry.as_ref());
        set(&mut direction.flow_control, self.flow_control.as_ref().filter(|_| !keeps_flow_control));
    }

    /// The order of classes is the network's at relays, too: one that served them otherwise would undo it.
    fn to_egress(&self, end: &mut EndPlan, takes_points: bool) {
        set(&mut end.scheduler, self.scheduler.as_ref());
        set(&mut end.congestion_points, self.points.as_ref().filter(|_| takes_points));
        if self.output_queue.is_some() {
            end.output_queue.clone_from(&self.output_queue);
        }
    }
}

/// Replaces a choice where there is another.
fn set<T: Clone>(choice: &mut Choice<T>, other: Option<&Choice<T>>) {
    if let Some(other) = other {
        choice.clone_from(other);
    }
}

/// Does `"x1>x2"` say that data go from end `from` of the link to the other?
fn leads(direction: &str, network: &Network, link: usize, from: usize) -> bool {
    let Some((sender, receiver)) = direction.split_once('>') else { return false };
    let names = |pattern: &str, node: usize| {
        let node = &network.nodes[node];
        glob(pattern.trim(), &node.name) || Selector::tag(pattern.trim()).matches(&node.name, &node.tags)
    };
    let matches = |pattern: &str, end: usize| {
        names(pattern, network.links[link].ends[end]) || names(pattern, network.behind(link, end))
    };
    matches(sender, from) && matches(receiver, 1 - from)
}

/// A direction of nodes that there are, where one of those given is not.
fn suggested_direction(direction: &str, network: &Network) -> Option<String> {
    let nodes = network.labels_of_nodes(|_| true);
    let words: BTreeSet<&str> =
        nodes.flat_map(|(name, tags)| tags.iter().map(String::as_str).chain([name])).collect();
    let suggestion = |side: &str, other: &str| {
        let others: BTreeSet<&str> = words.iter().copied().filter(|word| *word != other).collect();
        let is_there = words.iter().any(|word| glob(side, word));
        if is_there { Some(side.to_owned()) } else { nearest_match(side, &others) }
    };
    let (sender, receiver) = direction.split_once('>')?;
    let (sender, receiver) = (sender.trim(), receiver.trim());
    let suggestion = format!("{}>{}", suggestion(sender, receiver)?, suggestion(receiver, sender)?);
    (suggestion != direction).then_some(suggestion)
}

fn pauses(pauses: &[Pause]) -> Vec<PauseFault> {
    pauses.iter().map(|pause| PauseFault { class: pause.class, from: pause.from, to: pause.to }).collect()
}
