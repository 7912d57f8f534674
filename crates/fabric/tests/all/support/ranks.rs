//! Runs in several ranks, which are threads here and share nothing but what they send each other.

use std::any::Any;
use std::panic::resume_unwind;
use std::thread::{self, ScopedJoinHandle};

use floodway_fabric::transport::{InProcess, in_process};
use floodway_fabric::{Blueprint, Control, Fabric, RankLost, RankPlan, Records};

/// What the first rank has of a run in several, each set up by `prepare`. A panic of a rank is one here.
pub fn run_in_ranks(
    blueprint: &Blueprint,
    plan: &RankPlan,
    prepare: impl for<'a> Fn(Fabric<'a>, usize) -> Fabric<'a> + Sync,
) -> Records {
    let part = |rank: usize, transport: InProcess| {
        let control = Control::default();
        let fabric = Fabric::build_part(blueprint, None, &control, (plan.clone(), &transport));
        prepare(fabric.unwrap_or_else(|error| panic!("{error}")), rank).run_part()
    };
    let part = &part;
    let all: Vec<_> = thread::scope(|scope| {
        let start = |(rank, transport)| scope.spawn(move || part(rank, transport));
        let ranks: Vec<_> = in_process(plan.ranks()).into_iter().enumerate().map(start).collect();
        ranks.into_iter().map(ScopedJoinHandle::join).collect()
    });
    let (mut records, mut panics) = (Vec::new(), Vec::new());
    for rank in all {
        match rank {
            Ok(kept) => records.push(kept),
            Err(panic) => panics.push(panic),
        }
    }
    if let Some(panic) = panics.into_iter().max_by_key(|panic| !is_of_another(panic)) {
        resume_unwind(panic);
    }
    assert!(records[1..].iter().all(Option::is_none), "the first rank alone has records");
    records.swap_remove(0).expect("the first rank has them")
}

/// Has a rank ended because another one has?
fn is_of_another(panic: &Box<dyn Any + Send>) -> bool {
    panic.is::<RankLost>()
}
