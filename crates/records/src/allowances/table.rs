//! Table of allowances.

use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::path::FlowNames;
use floodway_units::{Bytes, Rate};

use super::{AllowanceLog, Row};
use crate::table::{Table, Values};

impl AllowanceLog {
    /// One row each time that a sender's allowance changed.
    pub fn table(&self, facts: &Facts<'_>) -> Table {
        let rows = self.log.rows();
        let mut flows = FlowNames::default();
        let codes = rows.iter().map(|row| flows.code(facts, row.flow)).collect();
        let real = |of: &dyn Fn(&Row) -> f64| Values::F64(rows.iter().map(of).collect());
        let rate = |row: &Row| match row.allowance.rate {
            Rate::MAX => f64::NAN,
            rate => rate.0 as f64 / 1e9,
        };
        let window = |row: &Row| match row.allowance.window {
            Bytes::MAX => f64::NAN,
            window => window.0 as f64,
        };
        Table::new(vec![
            ("time_ns", real(&|row| row.time as f64 / 1e3)),
            ("flow_id", Values::Text { codes, dictionary: flows.words }),
            ("rate_gbps", real(&rate)),
            ("window_bytes", real(&window)),
            ("allowed_gbps", real(&|row| row.allowed)),
        ])
    }
}
