//! The log of allowances: the pacing rate and the window that reaction points allow a queue pair.

mod table;

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_blueprint::network::blueprint::AllowanceSpec;
use floodway_blueprint::network::path::FlowName;
use floodway_mechanisms::slots::Allowance;
use floodway_units::{Bytes, Rate, Span};

use crate::log::{Log, Logged};
use crate::outcome::RowTotals;

/// What senders may, from when on, up to a number of rows.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct AllowanceLog {
    log: Log<Row>,
    /// By workload: whether its flows are written down.
    chosen: Vec<bool>,
}

/// The allowance of a sender from an instant on.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct Row {
    /// When it begins.
    pub time: u64,
    /// The number of the sender's NIC.
    pub nic: u32,
    /// In a step of the whole network, which comes last of its instant.
    pub in_step: bool,
    /// What results call the flow.
    pub flow: FlowName,
    /// What its reaction points allow.
    pub allowance: Allowance,
    /// Gbit/s.
    pub allowed: f64,
}

impl Logged for Row {
    type TieKey = (u32, bool);

    fn time(&self) -> u64 {
        self.time
    }

    fn tie_key(&self) -> (u32, bool) {
        (self.nic, self.in_step)
    }
}

/// The least of the line's rate, the pacing rate and the window in each base round-trip time, in Gbit/s.
pub fn allowed_gbps(allowance: &Allowance, line: Rate, base_rtt: Span) -> f64 {
    let paced = allowance.rate.min(line).0 as f64 / 1e9;
    if allowance.window == Bytes::MAX || base_rtt == Span::ZERO {
        return paced;
    }
    // Bits in a picosecond are 1000 Gbit/s.
    paced.min(8e3 * allowance.window.0 as f64 / base_rtt.0 as f64)
}

impl AllowanceLog {
    /// Before the first flow.
    pub fn new(spec: &AllowanceSpec, workloads: usize) -> Self {
        let chosen = (0..workloads).map(|workload| spec.workloads.contains(&workload)).collect();
        AllowanceLog { log: Log::new(spec.rows), chosen }
    }

    /// Are the flows of a workload written down?
    pub fn is_chosen(&self, workload: u32) -> bool {
        self.chosen[workload as usize]
    }

    /// A sender is allowed something else.
    pub fn push(&mut self, row: Row) {
        self.log.push(row);
    }

    /// Takes all rows out.
    pub fn take(&mut self) -> Self {
        AllowanceLog { log: self.log.take(), chosen: self.chosen.clone() }
    }

    /// Moves its rows.
    pub(crate) fn move_by(&mut self, later: u64) {
        self.log.move_by(later, |row| row.time += later);
    }

    /// Adds the rows of another thread.
    pub fn absorb(&mut self, other: AllowanceLog) {
        self.log.absorb(other.log);
    }

    /// Puts the rows in order, and drops those beyond the most that are kept.
    pub fn close(&mut self) {
        self.log.close();
    }

    /// How much of the table there is.
    pub fn totals(&self) -> RowTotals {
        self.log.totals()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_may_send_the_least_of_line_rate_and_window() {
        let (line, rtt) = (Rate::gbps(40), Span::us(10));
        let of = |rate, window| allowed_gbps(&Allowance { rate, window }, line, rtt);
        assert_eq!(of(Rate::MAX, Bytes::MAX), 40.0);
        assert_eq!(of(Rate::gbps(25), Bytes::MAX), 25.0);
        // 12,500 B in each 10 us are 10 Gbit/s.
        assert_eq!(of(Rate::gbps(25), Bytes(12_500)), 10.0);
        assert_eq!(of(Rate::gbps(5), Bytes(12_500)), 5.0);
        assert_eq!(of(Rate::MAX, Bytes(100_000)), 40.0);
    }
}
