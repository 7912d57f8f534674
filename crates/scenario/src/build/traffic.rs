//! Workloads: settings of flows, and their arrivals.

use std::sync::Arc;

use floodway_fabric::Blueprint;
use floodway_fabric::blueprint::{Arrivals, FlowSpec, WorkloadSpec};
use floodway_fabric::routing::Routes;
use floodway_units::{Bytes, Class, Time};

use super::map::{Map, check_class, settings};
use super::waiting::{self, Row};
use super::{Builder, WORTH_A_LOOK, workload_path};
use crate::cost::too_much;
use crate::error::{Place, ScenarioError};
use crate::grammar::bounds::MOST_TIME;
use crate::grammar::gpu_nodes::ScaleUpKeys;
use crate::grammar::selector::Selector;
use crate::resolve::{Choice, FlowPlan, Plan};
use crate::topology::Network;
use crate::workload::Workload;
use crate::workload::csv::{self, FlowRow, RowError};
use crate::workload::flows::{FlowList, ListFormat};
use crate::workload::hpcc;
use crate::workload::pairs::around;

/// The most flows of a pattern that repeats.
pub(super) const MOST_FLOWS: u64 = 1 << 20;

/// Rows with the place and path that errors about them name.
type Rows = Vec<Row>;

/// Senders and receivers of flows that start at the same time.
pub(super) struct Pattern {
    /// The key that defines them.
    key: &'static str,
    /// Payload of each flow; none without end.
    size: Option<Bytes>,
    /// Senders and receivers.
    pub pairs: Vec<(usize, usize)>,
}

impl Builder<'_> {
    /// Settings of each workload's flows; gives the classes in use.
    pub(super) fn settings(&mut self, plan: &Plan, blueprint: &mut Blueprint) -> Vec<Class> {
        for flows in &plan.flows {
            if let Err(why) = check_class(flows.class.value) {
                let origin = &flows.class.origin;
                self.errors.push(ScenarioError::new(self.place_of(origin), &*origin.key, why));
            }
            self.check_payload(flows, blueprint.mtu);
            self.check_needs(flows);
            self.check_marks(plan, flows);
            self.check_windows(plan, flows);
            self.check_messages(plan, flows);
            blueprint.settings.push(settings(flows, flows.class.value));
        }
        self.check_telling(plan);
        self.check_routing(plan);
        blueprint.classes()[1..].to_vec()
    }

    fn check_payload(&mut self, flows: &FlowPlan, mtu: Bytes) {
        let Some(Choice { value, origin }) = &flows.payload else { return };
        if !(Bytes(1)..=mtu).contains(value) {
            let why = format!("{value} is not a payload from 1B to the run's mtu, {mtu}");
            self.errors.push(ScenarioError::new(self.place_of(origin), &*origin.key, why));
        }
    }

    /// Arrivals of each workload.
    pub(super) fn traffic(
        &mut self,
        network: &Network,
        plan: &Plan,
        blueprint: &mut Blueprint,
        (routes, scale_up): (&Routes, &[Option<ScaleUpKeys>]),
    ) {
        let map = Map::new(network, routes, scale_up);
        for (i, workload) in self.document.workload.iter().enumerate() {
            if let Err(error) = check_kinds(workload) {
                self.fault(&workload_path(workload, ""), error);
                continue;
            }
            let is_job =
                workload.collective.is_some() || workload.training.is_some() || workload.trace.is_some();
            if is_job && workload.until.is_some() {
                let why = "a job runs to its end: only \"limit\" ends it before";
                self.fault(&workload_path(workload, "until"), why);
                continue;
            }
            let arrivals = if let Some(poisson) = &workload.poisson {
                self.poisson(workload, poisson, &map, blueprint)
            } else if let Some(perftest) = &workload.perftest {
                self.perftest(workload, perftest, &map)
            } else if let Some(collective) = &workload.collective {
                self.collective(workload, collective, &map)
            } else if let Some(training) = &workload.training {
                self.training(workload, training, &map)
            } else if let Some(trace) = &workload.trace {
                self.trace(workload, trace, &map)
            } else if let Some(burst) = workload.burst.as_ref().filter(|burst| burst.back_to_back) {
                self.back_to_back(workload, burst, &map, blueprint)
            } else if workload.is_generated() {
                self.generated(workload, &map, blueprint)
            } else {
                self.list(i, workload, &map, plan, blueprint)
            };
            if let Some(arrivals) = arrivals {
                let measure = (Time::ZERO, Time::NEVER);
                let (name, until) = (workload.name.clone(), workload.until.unwrap_or(Time::NEVER));
                blueprint.workloads.push(WorkloadSpec { name, settings: i, arrivals, measure, until });
            }
        }
    }

    /// Hosts that a selector at `key` of a workload names.
    pub(super) fn hosts(
        &mut self,
        workload: &Workload,
        key: &str,
        selector: &Selector,
        map: &Map<'_>,
    ) -> Option<Vec<usize>> {
        let is_chosen = |&node: &usize| {
            let node = &map.network.nodes[node];
            node.is_host && selector.matches(&node.name, &node.tags)
        };
        let labels = map.network.labels_of_nodes(|node| node.is_host);
        self.check_matches(&workload_path(workload, key), (selector, "no host"), labels)?;
        Some((0..map.network.nodes.len()).filter(is_chosen).collect())
    }

    fn list(
        &mut self,
        index: usize,
        workload: &Workload,
        map: &Map<'_>,
        plan: &Plan,
        blueprint: &mut Blueprint,
    ) -> Option<Arrivals> {
        let rows = self.rows(workload, map)?;
        let before = self.errors.len();
        let mut flows = Vec::with_capacity(rows.len());
        for (place, key, row) in &rows {
            match map.flow(row, &plan.flows[index], blueprint) {
                Ok(mut flow) => {
                    flow.settings = flow.settings.filter(|settings| *settings != index);
                    flows.push(flow);
                }
                Err(why) if self.errors.len() < before + 10 => {
                    self.errors.push(ScenarioError::new(place.clone(), key.as_str(), why));
                }
                Err(_) => return None,
            }
        }
        if self.errors.len() > before {
            return None;
        }
        if let Err(errors) = waiting::tie(&mut flows, &rows, blueprint) {
            self.errors.extend(errors);
            return None;
        }
        let flows = waiting::in_order(flows, workload.until);
        if flows.is_empty() {
            self.fault(&workload_path(workload, ""), "it has no flow");
            return None;
        }
        Some(Arrivals::List(flows))
    }

    fn rows(&mut self, workload: &Workload, map: &Map<'_>) -> Option<Rows> {
        let start = workload.start.unwrap_or_default();
        if let Some(list) = &workload.flow_list {
            return self.file_rows(workload, list, start, map.network);
        }
        if let Some(flows) = &workload.flows {
            let row = |(i, flow): (usize, &crate::workload::ListedFlow)| {
                let number = (i + 1).to_string();
                let mut path = workload_path(workload, "flows");
                path.push(&number);
                (self.tree.place_of(path.iter().copied()), path.join("."), flow.row(start))
            };
            return Some(flows.iter().enumerate().map(row).collect());
        }
        let Pattern { key, size, pairs } = self.pattern(workload, map)?;
        let path = workload_path(workload, key);
        let place = self.tree.place_of(path.iter().copied());
        let every = workload.burst.as_ref().and_then(|burst| burst.every);
        let starts = self.starts(workload, ("a burst", "burst.every"), every, pairs.len())?;
        let mut rows = Vec::with_capacity(starts.len() * pairs.len());
        for start in starts {
            for &(from, to) in &pairs {
                let row = FlowRow {
                    source: map.name(from).to_owned(),
                    destination: map.name(to).to_owned(),
                    size,
                    start,
                    ..FlowRow::default()
                };
                rows.push((place.clone(), path.join("."), row));
            }
        }
        Some(rows)
    }

    /// A pattern of senders and receivers.
    pub(super) fn pattern(&mut self, workload: &Workload, map: &Map<'_>) -> Option<Pattern> {
        let both = |builder: &mut Self, kind: &str, from: &Selector, to: &Selector| {
            let key = format!("{kind}.to");
            let from = builder.hosts(workload, &format!("{kind}.from"), from, map);
            let to = builder.hosts(workload, &key, to, map);
            let pairs = around(&from?, &to?);
            builder.paired(workload, &key, pairs.len())?;
            Some(pairs)
        };
        if let Some(burst) = &workload.burst {
            let pairs = both(self, "burst", &burst.from, &burst.to)?;
            self.sized(workload, "burst.size", burst.size)?;
            return Some(Pattern { key: "burst", size: Some(burst.size), pairs });
        }
        let long = workload.long_lived.as_ref()?;
        let pairs = both(self, "long-lived", &long.from, &long.to)?;
        Some(Pattern { key: "long-lived", size: None, pairs })
    }

    fn file_rows(
        &mut self,
        workload: &Workload,
        list: &FlowList,
        start: Time,
        network: &Network,
    ) -> Option<Rows> {
        let rows = match list.format {
            ListFormat::Table => self.table_rows(workload, list),
            ListFormat::Hpcc | ListFormat::Conweave => self.hpcc_rows(workload, list, network),
        }?;
        let of_scenario = self.document.origin.filter(|_| list.format.is_ns3());
        let origin = list.origin.or(of_scenario).unwrap_or_default();
        let mut shifted = Vec::with_capacity(rows.len());
        for (place, key, mut row) in rows {
            if row.start < origin || row.start.since(origin) > MOST_TIME {
                let message = format!("its start, {}, is before {origin}, the start of the run", row.start);
                self.errors.push(ScenarioError::new(place, key, message));
                return None;
            }
            row.start = start + row.start.since(origin);
            shifted.push((place, key, row));
        }
        Some(shifted)
    }

    /// The text of a file that a workload names at `key`, whose lines are flows.
    fn text_of(&mut self, workload: &Workload, key: &str, file: &str) -> Option<String> {
        let text = self.files.read(file).and_then(|text| match too_many_rows(&text) {
            Some(why) => Err(why),
            None => Ok(text),
        });
        text.map_err(|why| self.fault(&workload_path(workload, key), why)).ok()
    }

    fn table_rows(&mut self, workload: &Workload, list: &FlowList) -> Option<Rows> {
        if list.paths.is_some() {
            let message =
                "it goes with the formats hpcc and conweave; a table has the columns path and ack_path";
            self.fault(&workload_path(workload, "flow-list.paths"), message);
            return None;
        }
        let text = self.text_of(workload, "flow-list.file", &list.file)?;
        self.placed(workload, &list.file, csv::parse(&text))
    }

    /// The flows of an HPCC simulation's files.
    fn hpcc_rows(&mut self, workload: &Workload, list: &FlowList, network: &Network) -> Option<Rows> {
        let text = self.text_of(workload, "flow-list.file", &list.file)?;
        let listed = hpcc::flows(&text, list.format, network).map(|listed| listed.rows);
        let mut rows = self.placed(workload, &self.files.shown(&list.file), listed)?;
        if let Some(paths) = &list.paths {
            let text = self.text_of(workload, "flow-list.paths", paths)?;
            let pinned = hpcc::pin(rows.iter_mut().map(|(_, _, row)| row), &text, network);
            self.placed(workload, &self.files.shown(paths), pinned.map(|()| Vec::new()))?;
        }
        Some(rows)
    }

    /// Rows with their places in `file`.
    fn placed(
        &mut self,
        workload: &Workload,
        file: &str,
        rows: Result<Vec<(u32, FlowRow)>, RowError>,
    ) -> Option<Rows> {
        let file: Arc<str> = file.into();
        let place = |line| Place { file: file.clone(), line: Some(line) };
        let key = format!("workload.{}", workload.name);
        match rows {
            Ok(rows) => Some(rows.into_iter().map(|(line, row)| (place(line), key.clone(), row)).collect()),
            Err((line, why)) => {
                self.errors.push(ScenarioError::new(place(line), key, why));
                None
            }
        }
    }
}

/// A flow of a list while it is read: its row, its place and names, and the flow that it becomes.
const LISTED: u64 = (size_of::<Row>() + size_of::<FlowRow>() + size_of::<FlowSpec>() + 128) as u64;

/// Why the flows of a list do not fit into what memory is left, if so.
fn too_many_rows(text: &str) -> Option<String> {
    let rows = text.bytes().filter(|&byte| byte == b'\n').count() as u64;
    let bytes = rows * LISTED;
    let why = if bytes > WORTH_A_LOOK { too_much(bytes) } else { None };
    why.map(|why| format!("it has {rows} flows: {why}"))
}

/// Exactly one way of arriving.
fn check_kinds(workload: &Workload) -> Result<(), String> {
    match workload.kinds()[..] {
        [_] => Ok(()),
        [] => Err(format!("it has no flows; name one of: {}", Workload::KINDS.join(", "))),
        [first, second, ..] => Err(format!("{first:?} and {second:?} are given together: give one")),
    }
}
