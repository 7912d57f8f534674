//! Table of signals.

use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::path::FlowNames;

use super::{Cn, EVENTS, Row, SignalLog, place};
use crate::port_columns::port_columns;
use crate::table::{NONE, Table, Values};

impl SignalLog {
    /// One row for each mark, CNP, CN and change of state.
    pub fn table(&self, facts: &Facts<'_>) -> Table {
        let (rows, layout) = (self.log.rows(), &facts.layout);
        let port_class = |row: &Row| layout.port_class_of(row.port_class as usize);
        let codes = |of: &dyn Fn(&Row) -> u32| rows.iter().map(of).collect();
        let (mut flows, mut states) = (FlowNames::default(), Vec::new());
        let flow_codes = rows.iter().map(|row| row.what.flow().map_or(NONE, |name| flows.code(facts, name)));
        let flow_codes = flow_codes.collect();
        let name = |state: u16| &self.states[usize::from(state)];
        let state_codes =
            rows.iter().map(|row| row.what.state().map_or(NONE, |state| place(&mut states, name(state))));
        let state_codes = state_codes.collect();
        let class = |row: &Row| u64::from(layout.classes[usize::from(port_class(row).1)].0);
        let window = |row: &Row| row.what.window().map_or(f64::NAN, |window| window.0 as f64);
        let of_cn = |of: fn(Cn) -> u8| -> Values {
            let number = |row: &Row| row.what.cn().map_or(f64::NAN, |cn| f64::from(of(cn)));
            Values::F64(rows.iter().map(number).collect())
        };
        let times = rows.iter().map(|row| row.time as f64 / 1e3).collect();
        let mut columns = vec![("time_ns", Values::F64(times))];
        columns.extend(port_columns(facts, rows.iter().map(|row| port_class(row).0)));
        columns.extend([
            ("class", Values::U64(rows.iter().map(class).collect())),
            (
                "event",
                Values::Text {
                    codes: codes(&|row| row.what.code()),
                    dictionary: EVENTS.map(String::from).into(),
                },
            ),
            ("state", Values::Text { codes: state_codes, dictionary: states }),
            ("flow_id", Values::Text { codes: flow_codes, dictionary: flows.words }),
            ("window_bytes", Values::F64(rows.iter().map(window).collect())),
            (
                "neighbour",
                Values::Text {
                    codes: codes(&|row| row.what.cn().map_or(NONE, |cn| cn.to.0)),
                    dictionary: facts.blueprint.node_names(),
                },
            ),
            ("degree", of_cn(|cn| cn.degree)),
            ("flows", of_cn(|cn| cn.flows)),
        ]);
        Table::new(columns)
    }
}
