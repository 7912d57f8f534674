//! Answers of mechanisms from outside the tree with which a run cannot go on: timers that do not move, and
//! rates of zero.

use floodway_blueprint::network::blueprint::Blueprint;
use floodway_blueprint::network::path::Path;
use floodway_engine::panics::Misused;
use floodway_mechanisms::registry::ReactionParams;
use floodway_units::{FlowId, PortId, Time};

use crate::pool::Pool;
use crate::run::ctx::Ctx;

/// A machine from outside the tree that has just been called for a timer, and when it wants to be called
/// next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Timed {
    CongestionPoint(PortId, usize),
    FlowControl { ingress: PortId, class: u8 },
    Notification(FlowId),
    RateControl(FlowId),
    Reliability(FlowId),
}

/// When a machine that was served at `now` is due again, if it is from outside the tree and that is not
/// later.
#[inline]
pub(crate) fn due_again(is_own: bool, next: impl FnOnce() -> Option<Time>, now: Time) -> Option<Time> {
    if is_own { next().filter(|at| *at <= now) } else { None }
}

impl Timed {
    /// Ends the run: a timer that is due again at the same instant would be served without end.
    #[cold]
    pub fn refuse(self, blueprint: &Blueprint, paths: &Pool<Path, FlowId>, now: Time, at: Time) -> ! {
        let message = format!(
            "{}: after a timer was served at {} us, `next_timeout` is {} us again; allowed: later than that, or none",
            self.own_name(blueprint, paths),
            now.as_us(),
            at.as_us()
        );
        Misused { message }.end()
    }

    fn own_name(self, blueprint: &Blueprint, paths: &Pool<Path, FlowId>) -> String {
        let of_flow = |flow: FlowId| {
            let path = &paths[flow.index()];
            let workload = &blueprint.workloads[path.workload as usize].name;
            format!("of flow {workload}:{}:{}", blueprint.nodes[path.source.index()].name, path.number)
        };
        match self {
            Timed::CongestionPoint(port, at) => {
                let link = &blueprint.links[port.index() / 2];
                let name = link.ends[port.index() % 2].congestion_points.get(at).map_or("", |own| own.name());
                format!("congestion point {name:?} at port {:?}", blueprint.port_name(port))
            }
            Timed::FlowControl { ingress, class } => {
                let class = blueprint.classes()[usize::from(class)];
                let name = blueprint.control_into(ingress, class).map_or("", |own| own.name());
                format!("flow control {name:?} into port {:?}", blueprint.port_name(ingress))
            }
            Timed::Notification(flow) => format!("the notification {}", of_flow(flow)),
            Timed::Reliability(flow) => format!("the reliability {}", of_flow(flow)),
            Timed::RateControl(flow) => {
                let all = blueprint.settings.iter().flat_map(|settings| &settings.rate_control);
                let mut names: Vec<_> = all
                    .filter(|own| matches!(own, ReactionParams::Custom(_)))
                    .map(ReactionParams::name)
                    .collect();
                names.dedup();
                format!("rate control {:?} {}", names.join(", "), of_flow(flow))
            }
        }
    }
}

/// Ends the run: a rate of zero never sends, and has no gap between packets.
#[cold]
pub(crate) fn refuse_rate(flow: FlowId, blueprint: &Blueprint, paths: &Pool<Path, FlowId>, now: Time) -> ! {
    let message = format!(
        "{}: `allowance` has a rate of 0, which never sends, at {} us; allowed: 1 bit/s or more",
        Timed::RateControl(flow).own_name(blueprint, paths),
        now.as_us()
    );
    Misused { message }.end()
}

impl Ctx<'_, '_> {
    /// Ends the run, as [`Timed::refuse`].
    #[cold]
    pub fn refuse_timer(&self, timed: Timed, at: Time) -> ! {
        timed.refuse(self.facts.blueprint, &self.run.pairs.paths, self.time(), at)
    }
}
