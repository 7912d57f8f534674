//! States that were looked at, and which of them repeats an earlier one.

use floodway_blueprint::network::facts::Facts;
use floodway_programs::walker::Position;
use floodway_units::cast::narrow;

use crate::run::runs::Runs;

/// A state that was looked at.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// By the clock of the simulation; and what rounds were skipped until then, in picoseconds.
    pub at: u64,
    pub rounds_ps: u64,
    /// By workload: where its first rank was.
    pub positions: Vec<Position>,
    /// By workload: rounds to which no rank had done anything yet, where all ranks were in theirs.
    pub ahead: Vec<Option<u32>>,
    pub hash: u64,
}

/// What a workload does from one state to another that is equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    pub iterations: u32,
    pub rounds: u32,
}

impl Step {
    /// From one position to another; none, if it is neither some iterations nor some rounds of one.
    pub fn between(before: Position, now: Position) -> Option<Self> {
        let iterations = now.iteration.checked_sub(before.iteration)?;
        if iterations > 0 {
            return (now.round == before.round).then_some(Step { iterations, rounds: 0 });
        }
        Some(Step { iterations: 0, rounds: now.round.checked_sub(before.round)? })
    }

    /// So many of it.
    pub fn times(self, times: u64) -> Self {
        let times = narrow::<u32>(times);
        Step { iterations: self.iterations * times, rounds: self.rounds * times }
    }
}

impl Seen {
    /// The state `at` a time by the clock of the simulation, with what rounds were skipped until then.
    pub fn new(
        (facts, runs): (&Facts<'_>, &Runs<'_>),
        positions: Vec<Position>,
        (at, rounds_ps): (u64, u64),
        hash: u64,
    ) -> Self {
        let programs = &runs.own.traffic.programs;
        let workloads = 0..narrow::<u32>(positions.len());
        let ahead = workloads.map(|workload| {
            let is_in_rounds = positions[workload as usize].round > 0;
            if is_in_rounds { programs.rounds_ahead(facts, workload) } else { None }
        });
        Seen { at, rounds_ps, ahead: ahead.collect(), positions, hash }
    }

    /// The state that this one repeats, and what each workload did from there on: one of earlier iterations,
    /// if there is one, else the last one of earlier rounds.
    pub fn repeats<'s>(&self, all: &'s [Seen]) -> Option<(&'s Seen, Vec<Step>)> {
        let equal = all.iter().filter(|before| before.hash == self.hash);
        let equal = equal.filter_map(|before| Some((before, self.since(before)?)));
        equal.max_by_key(|(before, steps)| (steps.iter().any(|step| step.iterations > 0), before.at))
    }

    /// What each workload did since an equal state.
    fn since(&self, before: &Seen) -> Option<Vec<Step>> {
        let positions = before.positions.iter().zip(&self.positions);
        let steps: Vec<Step> =
            positions.map(|(before, now)| Step::between(*before, *now)).collect::<Option<_>>()?;
        let are_in_rounds = (0..steps.len()).all(|workload| {
            steps[workload].rounds == 0
                || (before.ahead[workload].is_some() && self.ahead[workload].is_some())
        });
        let iterate = steps.iter().any(|step| step.iterations > 0);
        let have_rounds = steps.iter().any(|step| step.rounds > 0);
        // Where rounds were skipped between, an iteration was shorter for the simulation than in the run.
        let is_known = !(iterate && have_rounds) || before.rounds_ps == self.rounds_ps;
        (are_in_rounds && is_known && (iterate || have_rounds)).then_some(steps)
    }

    /// The time since an equal state, as if no rounds had been skipped of what workloads did since.
    pub fn time_since(&self, before: &Seen, steps: &[Step]) -> u64 {
        let of_rounds =
            if steps.iter().any(|step| step.iterations > 0) { self.rounds_ps - before.rounds_ps } else { 0 };
        self.at - before.at + of_rounds
    }
}
