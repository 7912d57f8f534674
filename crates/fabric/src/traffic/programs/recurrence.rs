//! Recurrence of ranks: their state as texts, and iterations that are skipped.

use std::fmt::Write as _;

use floodway_programs::Message;
use floodway_units::Time;

use super::scale_up::{Coming, ScaleUpPort};
use super::{Programs, RankState};
use crate::run::events::NEVER;
use crate::traffic::flows::Traffic;

impl Programs {
    /// The iteration of a workload's first rank, and when it began; none if it has none or is at its end.
    pub fn iteration(&self, workload: u32) -> Option<(u32, Time)> {
        let first = self.of_workload(workload).next()?;
        self.ranks[first as usize].walker.iteration()
    }

    /// The iteration of a rank; none if it is at its end.
    pub fn iteration_of(&self, rank: u32) -> Option<u32> {
        self.ranks[rank as usize].walker.iteration().map(|(iteration, _)| iteration)
    }

    /// A rank counts so many iterations as done.
    pub fn skip(&mut self, rank: u32, iterations: u32) {
        self.ranks[rank as usize].walker.skip(iterations);
    }

    /// Appends the state of a rank: instants count from `now`, iterations from `first`.
    pub fn write_state(&self, rank: u32, (now, first): (Time, u32), out: &mut String) {
        let RankState { walker, armed, behind, port } = &self.ranks[rank as usize];
        let at = |at: u64| if at == NEVER { NEVER } else { at.wrapping_sub(now.0) };
        let message =
            |message: Message| Message { iteration: message.iteration.wrapping_sub(first), ..message };
        let ScaleUpPort { begins, sends_until, waiting, receives_until, incoming, looks } = port;
        let until = |at: &u64| at.saturating_sub(now.0);
        let mut write = |what: std::fmt::Arguments<'_>| out.write_fmt(what).expect("a text takes all");
        write(format_args!("armed= {} behind= {} looks= {} ", at(*armed), at(*behind), at(*looks)));
        let [begins, sends, receives] = [until(begins), until(sends_until), until(receives_until)];
        write(format_args!("begins= {begins} sends_until= {sends} receives_until= {receives} "));
        for &(to, posting) in waiting {
            let posting = floodway_programs::Posting { message: message(posting.message), ..posting };
            write(format_args!("waiting= {to} {posting:?} "));
        }
        let mut coming: Vec<Coming> = incoming.iter().map(|coming| coming.0).collect();
        coming.sort_unstable();
        for Coming { first, from, message: of, step, takes } in coming {
            write(format_args!("incoming= {} {from} {:?} {step} {takes:?} ", at(first), message(of)));
        }
        walker.write_state(now, first, out);
    }
}

impl Traffic {
    /// Appends the state of what starts flows, but for ranks.
    pub fn write_sources(&self, out: &mut String) {
        for source in 0..self.sources.len() {
            write!(out, "{:?} ", self.sources[source]).expect("a text takes all");
        }
        self.triggers.write_state(out);
    }
}
