//! Recurrence of ranks: their state as texts, and iterations that are skipped.

use std::fmt::Write as _;

use floodway_blueprint::network::facts::Facts;
use floodway_programs::walker::{Count, Position};
use floodway_programs::{Course, Message, Program, Rounds};
use floodway_units::Time;
use floodway_units::cast::narrow;

use super::scale_up::{Coming, ScaleUpPort};
use super::{Programs, RankState, Shorter, course, job};
use crate::run::events::{EventKind, NEVER};
use crate::traffic::flows::{Source, Traffic};

impl Programs {
    /// Where a workload's first rank is; nowhere if it has no rank, or that has not begun, or is at its end.
    pub fn position(&self, workload: u32) -> Option<Position> {
        let first = self.of_workload(workload).next()?;
        self.ranks[first as usize].walker.position()
    }

    /// When a workload's first rank began the iteration, and the round, in which it is.
    pub fn began(&self, workload: u32) -> Option<(Time, Option<Time>)> {
        let first = self.of_workload(workload).next()?;
        Some(self.ranks[first as usize].walker.began())
    }

    /// The iteration of a rank; none if it has not begun, or is at its end.
    pub fn iteration_of(&self, rank: u32) -> Option<u32> {
        self.ranks[rank as usize].walker.position().map(|position| position.iteration)
    }

    /// The rounds of a rank's graph, if they are known.
    pub fn rounds_of(&self, facts: &Facts<'_>, rank: u32) -> Option<Rounds> {
        let (workload, own) = self.in_workload(rank);
        self.course(facts, workload).whole().rounds_of(own)
    }

    /// By how much the number of a message of a rank is larger in the run, of which parts were skipped.
    pub(super) fn later(&self, rank: u32, message: Message, program: &Program) -> u64 {
        let (workload, own) = self.in_workload(rank);
        let shorter = self.shorter.get(workload as usize).and_then(Option::as_ref);
        let rounds = shorter.filter(|of| of.iteration == message.iteration).map_or(0, |of| of.rounds);
        let operations = program.rounds_of(own).map_or(0, |of| of.stride * rounds);
        Message::iterations(self.skipped(rank)) + Message::operations(operations)
    }

    /// Of iterations of which rounds were skipped: workload, iteration as ranks count it, and rounds.
    pub fn rounds_skipped(&self) -> &[(u32, u32, u32)] {
        &self.rounds_skipped
    }

    /// Workload, host, and which of that host's ranks a rank is.
    pub fn place(&self, rank: u32) -> (u32, u32, u8) {
        let place = &self.places[rank as usize];
        (place.workload, place.host.0, place.local)
    }

    /// Of a workload whose ranks are all in one iteration, and in the rounds of their graphs: the fewest
    /// rounds to which nothing has been done yet.
    pub fn rounds_ahead(&self, facts: &Facts<'_>, workload: u32) -> Option<u32> {
        let position = self.position(workload)?;
        let program = self.course(facts, workload).of(position.iteration);
        let ahead = |rank: u32| {
            let walker = &self.ranks[rank as usize].walker;
            let is_there = walker.position().is_some_and(|at| at.iteration == position.iteration);
            walker.rounds_ahead(program).filter(|_| is_there)
        };
        self.of_workload(workload).map(ahead).min().flatten()
    }

    /// What ranks of a workload execute.
    fn course<'p>(&'p self, facts: &'p Facts<'_>, workload: u32) -> Course<'p> {
        match facts.lists.of(workload) {
            Some(list) => (&list.program).into(),
            None => course(&self.shorter, workload, &job(facts.blueprint, workload).program),
        }
    }

    /// All ranks of a job skip so many rounds of the iteration in which they are. What threads share is
    /// changed by [`shorten`](Self::shorten).
    pub fn skip_rounds(&mut self, workload: u32, rounds: u32) {
        let Some(shorter) = self.shorter.get(workload as usize).and_then(Clone::clone) else { return };
        for rank in self.of_workload(workload) {
            self.ranks[rank as usize].walker.skip_rounds(&shorter.program, rounds);
        }
    }

    /// From now on the program of an iteration of a job is so many rounds shorter than it was.
    pub fn shorten(&mut self, facts: &Facts<'_>, workload: u32, (iteration, rounds): (u32, u32)) {
        let before = self.shorter.get(workload as usize).and_then(Option::as_ref);
        let before = before.filter(|before| before.iteration == iteration).map_or(0, |before| before.rounds);
        let whole = &job(facts.blueprint, workload).program;
        let program = whole.without_rounds(before + rounds).expect("all ranks have rounds ahead");
        self.shorter.resize(facts.blueprint.workloads.len(), None);
        self.shorter[workload as usize] =
            Some(Shorter { iteration, rounds: before + rounds, program: program.into() });
        self.rounds_skipped.push((workload, iteration, rounds));
    }

    /// What another thread knows of programs that are shorter.
    pub fn shorten_as(&mut self, other: &Self) {
        self.shorter.clone_from(&other.shorter);
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

    /// How the texts of a workload's ranks count: instants from `now`, iterations and rounds from `first`.
    pub fn count_from<'p>(
        &'p self,
        facts: &'p Facts<'_>,
        workload: u32,
        (now, first): (Time, Position),
    ) -> Count<'p> {
        Count::new(self.course(facts, workload).of(first.iteration), now, first)
    }

    /// Appends the state of a rank.
    pub fn write_state(&self, rank: u32, (now, count): (Time, Count<'_>), out: &mut String) {
        let RankState { walker, armed, behind, port } = &self.ranks[rank as usize];
        if !walker.has_begun() {
            out.push_str("begun= false ");
            return;
        }
        let at = |at: u64| match at {
            NEVER => "never".to_owned(),
            at => at.wrapping_sub(now.0).cast_signed().to_string(),
        };
        let ScaleUpPort { begins, sends_until, waiting, receives_until, incoming, looks } = port;
        let until = |at: &u64| at.saturating_sub(now.0);
        let mut write = |what: std::fmt::Arguments<'_>| out.write_fmt(what).expect("a text takes all");
        write(format_args!("armed= {} behind= {} looks= {} ", at(*armed), at(*behind), at(*looks)));
        let [begins, sends, receives] = [until(begins), until(sends_until), until(receives_until)];
        write(format_args!("begins= {begins} sends_until= {sends} receives_until= {receives} "));
        let (_, own) = self.in_workload(rank);
        for (to, posting) in waiting {
            write(format_args!("waiting= {to} {:?} ", count.posting(own, posting)));
        }
        let mut coming: Vec<Coming> = incoming.iter().map(|coming| coming.0).collect();
        coming.sort_unstable();
        for Coming { first, from, message, step, takes } in coming {
            let (first, message) = (count.time(first), count.message(from, message));
            write(format_args!("incoming= {first} {from} {message:?} {step} {takes:?} "));
        }
        walker.write_state(count, out);
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
