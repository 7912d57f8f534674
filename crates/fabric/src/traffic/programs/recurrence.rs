//! Recurrence of ranks: their state as texts, and iterations that are skipped.

use std::fmt::Write as _;

use floodway_programs::Message;
use floodway_units::Time;
use floodway_units::cast::narrow;

use super::scale_up::{Coming, ScaleUpPort};
use super::{Programs, RankState};
use crate::run::events::{EventKind, NEVER};
use crate::traffic::flows::{Source, Traffic};

impl Programs {
    /// The iteration of a workload's first rank, and when it began; none if it has no rank, or that has not
    /// begun, or is at its end.
    pub fn iteration(&self, workload: u32) -> Option<(u32, Time)> {
        let first = self.of_workload(workload).next()?;
        self.ranks[first as usize].walker.iteration()
    }

    /// The iteration of a rank; none if it has not begun, or is at its end.
    pub fn iteration_of(&self, rank: u32) -> Option<u32> {
        self.ranks[rank as usize].walker.iteration().map(|(iteration, _)| iteration)
    }

    /// Has a rank begun its program?
    pub fn has_begun(&self, rank: u32) -> bool {
        self.ranks[rank as usize].walker.has_begun()
    }

    /// Are all ranks of a workload at their ends?
    pub fn are_finished(&self, workload: u32) -> bool {
        self.of_workload(workload).all(|rank| self.ranks[rank as usize].walker.is_finished())
    }

    /// Iterations of a rank that were skipped.
    pub fn skipped(&self, rank: u32) -> u32 {
        self.ranks[rank as usize].walker.skipped()
    }

    /// So much time is skipped, and so many iterations of a rank: it counts them as done, or begins its
    /// program at the same time of the run.
    pub fn skip(&mut self, rank: u32, ps: u64, iterations: u32) {
        let state = &mut self.ranks[rank as usize];
        if state.walker.has_begun() {
            state.walker.skip(iterations);
        } else {
            state.walker.begin_earlier(ps);
            state.armed -= ps;
        }
    }

    /// Appends the state of a rank: instants count from `now`, iterations from `first`.
    pub fn write_state(&self, rank: u32, (now, first): (Time, u32), out: &mut String) {
        let RankState { walker, armed, behind, port } = &self.ranks[rank as usize];
        if !walker.has_begun() {
            out.push_str("begun= false ");
            return;
        }
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
    /// Appends how far what starts flows has come, but for ranks. When it goes on shows in pending events.
    pub fn write_sources(&self, out: &mut String) {
        for source in 0..self.sources.len() {
            let flows = match &self.sources[source] {
                Source::List { next, .. } => *next as u64,
                Source::Poisson { number, .. } => *number,
            };
            write!(out, "next_flow= {flows} ").expect("a text takes all");
        }
        self.triggers.write_state(out);
    }

    /// Does an event of this kind and object come at a fixed time of the run, and has no effect before? So do
    /// faults, flows that have an event, and the beginnings of programs; not what ranks do.
    pub fn is_fixed(&self, kind: EventKind, id: u32) -> bool {
        if kind != EventKind::Start {
            return kind == EventKind::Fault;
        }
        let trigger = id.checked_sub(narrow::<u32>(self.sources.len()));
        let rank = trigger.and_then(|trigger| self.triggers.rank(trigger));
        rank.is_none_or(|rank| !self.programs.has_begun(rank))
    }
}
