//! Table of operations.

use floodway_blueprint::network::blueprint::{Blueprint, job};
use floodway_programs::collective::Purpose;
use floodway_programs::{Kind, Operation, Program};
use floodway_units::cast::narrow;
use floodway_units::{NodeId, Time};
use rustc_hash::FxHashMap;

use super::{OperationLog, Row};
use crate::table::{NONE, Table, Values};

impl OperationLog {
    /// One row for each operation of a rank that is complete. A rank of the run is the `in_workload`-th of a
    /// workload, and on a host.
    pub fn table(
        &self,
        blueprint: &Blueprint,
        in_workload: impl Fn(u32) -> (u32, u32),
        host: impl Fn(u32) -> NodeId,
    ) -> Table {
        let rows = self.log.rows();
        let places: Vec<(u32, u32)> = rows.iter().map(|row| in_workload(row.rank)).collect();
        let mut names = Names::default();
        let mut columns = Columns::default();
        for (row, &(workload, rank)) in rows.iter().zip(&places) {
            let program = &job(blueprint, workload).program;
            let operation = program.operation_of(rank, row.ended.operation);
            columns.name.push(names.code(program, (workload, operation.name)));
            columns.add(program, rank, operation);
        }
        let us = |of: &dyn Fn(&Row) -> Time| Values::F64(rows.iter().map(|row| of(row).as_us()).collect());
        let whole = |of: &dyn Fn(&Row) -> u64| Values::U64(rows.iter().map(of).collect());
        let codes = |of: &dyn Fn(&(u32, u32)) -> u32| places.iter().map(of).collect();
        Table::new(vec![
            (
                "workload",
                Values::Text { codes: codes(&|place| place.0), dictionary: blueprint.workload_names() },
            ),
            ("rank", Values::U64(places.iter().map(|place| u64::from(place.1)).collect())),
            (
                "node",
                Values::Text {
                    codes: rows.iter().map(|row| host(row.rank).0).collect(),
                    dictionary: blueprint.node_names(),
                },
            ),
            ("iteration", whole(&|row| u64::from(row.ended.iteration))),
            ("operation", whole(&|row| u64::from(row.ended.operation))),
            ("name", Values::Text { codes: columns.name, dictionary: names.texts }),
            ("kind", Values::Text { codes: columns.kind, dictionary: kinds() }),
            ("bytes", Values::U64(columns.bytes)),
            ("group", Values::F64(columns.group)),
            ("sequence", Values::F64(columns.sequence)),
            ("group_ranks", Values::F64(columns.group_ranks)),
            ("bus_factor", Values::F64(columns.bus_factor)),
            ("peer", Values::F64(columns.peer)),
            ("ready_us", us(&|row| row.ended.ready)),
            ("start_us", us(&|row| row.ended.start)),
            ("end_us", us(&|row| row.ended.end)),
            ("after", Values::F64(rows.iter().map(|row| optional(row.ended.after)).collect())),
            ("last_from", Values::F64(rows.iter().map(|row| optional(row.ended.last_from)).collect())),
        ])
    }
}

/// Kinds of operations, behind which come the collectives.
const KINDS: [&str; 3] = ["send", "recv", "compute"];

/// Names of all kinds of operations.
fn kinds() -> Vec<String> {
    KINDS.into_iter().chain(Purpose::ALL.map(Purpose::name)).map(str::to_owned).collect()
}

/// A number that may not be there.
fn optional(value: Option<u32>) -> f64 {
    value.map_or(f64::NAN, f64::from)
}

/// Names of operations, each once.
#[derive(Default)]
struct Names<'a> {
    texts: Vec<String>,
    codes: FxHashMap<&'a str, u32>,
    /// By workload, and number of the name in its program.
    known: FxHashMap<(u32, u32), u32>,
}

impl<'a> Names<'a> {
    fn code(&mut self, program: &'a Program, key: (u32, u32)) -> u32 {
        let Some(text) = program.names.get(key.1 as usize) else { return NONE };
        let Names { texts, codes, known } = self;
        *known.entry(key).or_insert_with(|| {
            *codes.entry(text).or_insert_with(|| {
                texts.push(text.clone());
                narrow(texts.len() - 1)
            })
        })
    }
}

/// Columns that say what an operation is.
#[derive(Default)]
struct Columns {
    name: Vec<u32>,
    kind: Vec<u32>,
    bytes: Vec<u64>,
    group: Vec<f64>,
    sequence: Vec<f64>,
    group_ranks: Vec<f64>,
    bus_factor: Vec<f64>,
    peer: Vec<f64>,
}

impl Columns {
    fn add(&mut self, program: &Program, rank: u32, operation: &Operation) {
        let peer_of = |peer: u32| f64::from(program.ranks[rank as usize].peers[peer as usize]);
        let none = f64::NAN;
        let (kind, bytes, collective, peer) = match operation.kind {
            Kind::Send { peer, bytes, .. } => (0, bytes.0, [none; 4], peer_of(peer)),
            Kind::Recv { peer, .. } => (1, 0, [none; 4], peer.map_or(none, peer_of)),
            Kind::Compute { .. } => (2, 0, [none; 4], none),
            Kind::Collective { plan, group, sequence } => {
                let (group, _) = program.group_of(rank, group);
                let plan = program.plan(plan, group);
                let of = [f64::from(group), f64::from(sequence), f64::from(plan.ranks), plan.bus_factor()];
                (narrow::<u32>(KINDS.len()) + plan.purpose as u32, plan.size.0, of, none)
            }
        };
        self.kind.push(kind);
        self.bytes.push(bytes);
        let [group, sequence, ranks, factor] = collective;
        self.group.push(group);
        self.sequence.push(sequence);
        self.group_ranks.push(ranks);
        self.bus_factor.push(factor);
        self.peer.push(peer);
    }
}
