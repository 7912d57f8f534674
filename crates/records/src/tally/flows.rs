//! The table of flows, and what is said of all of them.

use floodway_blueprint::NEVER;
use floodway_blueprint::network::blueprint::{Arrivals, Blueprint, NodeSpec, UNBOUNDED};
use floodway_blueprint::network::facts::Facts;
use floodway_engine::memory::{self, Exhausted};
use floodway_units::Time;

use crate::outcome::{Verdict, WorkloadTotals};
use crate::table::{Table, Values};
use crate::tally::{FlowRow, ReceivedRow, Records, SentRow};

/// Below this many flows, tables are made without a check of the memory that is left.
const MANY_ROWS: u64 = 100_000;
/// Bytes of a flow's row in the table of flows.
pub const TABLE_ROW: u64 = 23 * 8;

impl Records {
    /// Ends the run where its tables do not fit beside it, before the system does.
    pub fn leave_room_for_tables(&self) {
        let rows = self.sent_rows.len() as u64;
        let bytes = rows * TABLE_ROW;
        if rows >= MANY_ROWS && memory::left().is_some_and(|left| left.bytes < bytes) {
            Exhausted { bytes }.end();
        }
    }

    /// The table of flows.
    pub fn flow_table(&self, facts: &Facts<'_>) -> Table {
        let rows: Vec<FlowRow> = memory::collect(self.rows());
        let us = |ps: u64| if ps == NEVER { f64::NAN } else { Time(ps).as_us() };
        let fct = |(_, received): &FlowRow| match received.finish {
            NEVER => f64::NAN,
            finish => Time(finish - received.key.start).as_us(),
        };
        let slowdown = |(sent, received): &FlowRow| match received.finish {
            NEVER => f64::NAN,
            finish => (finish - received.key.start) as f64 / sent.ideal.max(1) as f64,
        };
        let bounded = |sent: &SentRow| sent.size < UNBOUNDED.0;
        let text = |dictionary: Vec<String>, of: &dyn Fn(&SentRow) -> u32| Values::Text {
            codes: memory::collect(rows.iter().map(|(sent, _)| of(sent))),
            dictionary,
        };
        let column = |of: &dyn Fn(&FlowRow) -> u64| Values::U64(memory::collect(rows.iter().map(of)));
        let real = |of: &dyn Fn(&FlowRow) -> f64| Values::F64(memory::collect(rows.iter().map(of)));
        let truth = |of: &dyn Fn(&FlowRow) -> bool| {
            Values::Bool(memory::collect(rows.iter().map(|row| u8::from(of(row)))))
        };
        let (blueprint, classes) = (facts.blueprint, &facts.layout.classes);
        Table::new(vec![
            ("workload", text(blueprint.workload_names(), &|sent| sent.key.workload)),
            ("source", text(blueprint.node_names(), &|sent| sent.key.source)),
            ("number", column(&|(sent, _)| sent.key.number)),
            ("destination", text(blueprint.node_names(), &|sent| sent.destination)),
            ("source_port", column(&|(sent, _)| u64::from(sent.ports.0))),
            ("destination_port", column(&|(sent, _)| u64::from(sent.ports.1))),
            ("class", column(&|(sent, _)| u64::from(classes[sent.class as usize].0))),
            // An unbounded flow has the size that it delivered.
            (
                "size_bytes",
                column(&|(sent, received)| if bounded(sent) { sent.size } else { received.delivered }),
            ),
            ("start_us", real(&|(sent, _)| us(sent.key.start))),
            ("finish_receiver_us", real(&|(_, received)| us(received.finish))),
            ("finish_sender_us", real(&|(sent, _)| us(sent.finish))),
            ("fct_us", real(&fct)),
            ("ideal_fct_us", real(&|(sent, _)| if bounded(sent) { us(sent.ideal) } else { f64::NAN })),
            ("slowdown", real(&slowdown)),
            ("delivered_bytes", column(&|(_, received)| received.delivered)),
            ("retransmitted_bytes", column(&|(sent, _)| sent.retransmitted)),
            ("packets", column(&|(_, received)| u64::from(received.packets))),
            ("out_of_order_packets", column(&|(_, received)| u64::from(received.overtaken))),
            ("timeouts", column(&|(sent, _)| u64::from(sent.timeouts))),
            ("cnps", column(&|(sent, _)| u64::from(sent.cnps))),
            ("path_class", path_classes(blueprint, &rows)),
            ("measured", truth(&|(sent, _)| sent.measured)),
            ("finished", truth(&|(_, received)| received.finish != NEVER)),
        ])
    }

    /// No flow is faster than its ideal.
    pub fn slowdown(&self, blueprint: &Blueprint) -> Verdict {
        let took = |received: &ReceivedRow| received.finish - received.key.start;
        let too_fast = |(sent, received): &FlowRow| received.finish != NEVER && took(received) < sent.ideal;
        match self.rows().find(too_fast) {
            None => Verdict::Holds,
            Some((sent, received)) => Verdict::Broken(format!(
                "flow {} took {} ps, less than its ideal {} ps",
                blueprint.flow_id(sent.key.workload, sent.key.source, sent.key.number),
                took(received),
                sent.ideal
            )),
        }
    }

    /// What each workload offered and got; `waiting` are the starts that have not come, by workload.
    pub fn workload_totals(&self, blueprint: &Blueprint, waiting: &[u64]) -> Vec<WorkloadTotals> {
        // Ranks of jobs are no flows.
        let never_started = |i: usize| match blueprint.workloads[i].arrivals {
            Arrivals::Program(_) => 0,
            _ => waiting[i],
        };
        let specs = blueprint.workloads.iter();
        specs
            .zip(&self.totals)
            .enumerate()
            .map(|(i, (spec, totals))| WorkloadTotals {
                name: spec.name.clone(),
                flows: totals.flows,
                finished: totals.finished,
                measured: totals.measured,
                measured_finished: totals.measured_finished,
                offered_bytes: if totals.offered == 0 { totals.delivered } else { totals.offered },
                delivered_bytes: totals.delivered,
                never_started: never_started(i),
                span_us: self.span(i),
            })
            .collect()
    }
}

/// Whether a flow stays in its datacenter, by the tags `dc-…` of its ends.
fn path_classes<'b>(blueprint: &'b Blueprint, rows: &[FlowRow]) -> Values {
    let tag = |node: &'b NodeSpec| node.tags.iter().find(|tag| tag.starts_with("dc-"));
    let dc: Vec<Option<&String>> = blueprint.nodes.iter().map(tag).collect();
    let code = |(sent, _): &FlowRow| match (dc[sent.key.source as usize], dc[sent.destination as usize]) {
        (Some(a), Some(b)) if a != b => 1,
        _ => 0,
    };
    Values::Text {
        codes: memory::collect(rows.iter().map(code)),
        dictionary: vec!["intra-dc".into(), "inter-dc".into()],
    }
}
