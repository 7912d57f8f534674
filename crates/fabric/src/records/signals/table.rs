//! Table of signals.

use floodway_units::PortId;
use floodway_units::cast::narrow;

use super::{Cn, EVENTS, Row, What, place};
use crate::network::path::FlowNames;
use crate::records::table::{NONE, Table, Values};
use crate::run::world::World;

impl World<'_> {
    /// Writes down the states that the queues of these ports start in.
    pub fn start_signals(&mut self, ports: &[PortId]) {
        if self.run.kept.signals.is_none() {
            return;
        }
        for &port in ports {
            let state = self.port(port);
            if state.has_cp && !state.at_host {
                let (mut at, port) = self.at_port(port);
                at.push_states(port, What::Start);
            }
        }
    }

    /// One row for each mark, CNP, CN and change of state; none where they are not kept.
    pub fn signal_table(&self) -> Option<Table> {
        let log = self.run.kept.signals.as_ref()?;
        let rows = log.log.rows();
        let classes = self.facts.layout.classes.len();
        let port_of = |row: &Row| row.port_class as usize / classes;
        let numbers = self.port_numbers();
        let codes = |of: &dyn Fn(&Row) -> u32| rows.iter().map(of).collect();
        let (mut flows, mut states) = (FlowNames::default(), Vec::new());
        let flow_codes =
            rows.iter().map(|row| row.what.flow().map_or(NONE, |name| flows.code(&self.facts, name)));
        let flow_codes = flow_codes.collect();
        let name = |state: u16| &log.states[usize::from(state)];
        let state_codes =
            rows.iter().map(|row| row.what.state().map_or(NONE, |state| place(&mut states, name(state))));
        let state_codes = state_codes.collect();
        let class = |row: &Row| u64::from(self.facts.layout.classes[row.port_class as usize % classes].0);
        let window = |row: &Row| row.what.window().map_or(f64::NAN, |window| window.0 as f64);
        let of_cn = |of: fn(Cn) -> u8| -> Values {
            let number = |row: &Row| row.what.cn().map_or(f64::NAN, |cn| f64::from(of(cn)));
            Values::F64(rows.iter().map(number).collect())
        };
        Some(Table::new(vec![
            ("time_ns", Values::F64(rows.iter().map(|row| row.time as f64 / 1e3).collect())),
            (
                "node",
                Values::Text {
                    codes: codes(&|row| self.facts.ports[port_of(row)].node.0),
                    dictionary: self.names(),
                },
            ),
            ("port", Values::U64(rows.iter().map(|row| numbers[port_of(row)]).collect())),
            (
                "link",
                Values::Text {
                    codes: codes(&|row| narrow::<u32>(port_of(row) / 2)),
                    dictionary: self.link_names(),
                },
            ),
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
                    dictionary: self.names(),
                },
            ),
            ("degree", of_cn(|cn| cn.degree)),
            ("flows", of_cn(|cn| cn.flows)),
        ]))
    }
}
