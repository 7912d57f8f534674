//! Critical path of a collective or an iteration, whose messages are broken down like flows.
//!
//! The run is repeated twice: once until the target is complete, while ranks log from which event what
//! followed, and once while the messages of the path are followed one after another.
//!
//! All that a walker does at an instant follows from the input that it handles then: an event for each input
//! from which something followed, and the event in which each message was posted, are enough
//! (`walker/predecessors.rs` of the programs). The path is found back through these logs, from the event in
//! which the last rank was complete. What ranks do before the target's start is not logged, and all logs
//! together have at most 2 GiB. Ordinary runs test one pointer for each input.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use floodway_blueprint::error::BuildError;
use floodway_blueprint::network::blueprint::{Blueprint, ScaleUp};
use floodway_programs::collective::Step as CollectiveStep;
use floodway_programs::critical_path::{Extent, Step, StepKind, Target, critical_path};
use floodway_programs::{Kind, Message, Program};
use floodway_records::outcome::Control;
use floodway_records::table::{Table, Values};
use floodway_units::{Bytes, Span, Time};

use super::parts::{Cause, FlowRef, Found, Part, Section, texts};
use super::trace::Trace;
use crate::run::fabric::Fabric;
use crate::run::world::World;
use crate::traffic::programs::{Programs, job};

/// What ranks may log in all, in bytes.
const ROOM: usize = 2 << 30;
/// Of an event and a message.
const BYTES: usize = 48;

/// A collective, or an iteration, of a job.
#[derive(Clone, Copy, Debug)]
pub struct PathTarget {
    /// Index of the workload, which is a job.
    pub workload: u32,
    /// Iteration of its program, from 0.
    pub iteration: u32,
    /// A collective, by its group and its number there; else the whole iteration.
    pub call: Option<(u32, u32)>,
    /// Its start, or earlier: what ranks did before is not logged.
    pub from: Time,
}

impl PathTarget {
    fn target(&self) -> Target {
        Target { iteration: self.iteration, call: self.call }
    }
}

/// A critical path.
#[derive(Clone, Debug)]
pub struct CriticalPath {
    /// The start of the target at its first rank.
    pub start: Time,
    /// Its end at its last rank.
    pub end: Time,
    /// They follow each other from start to end; none if the log had too little room.
    pub steps: Option<Vec<PathStep>>,
}

/// A step of a critical path.
#[derive(Clone, Debug)]
pub struct PathStep {
    /// When it began; of the first step, the start of the path, if that is later.
    pub from: Time,
    /// When it ended.
    pub to: Time,
    /// The rank at which it ended.
    pub rank: u32,
    /// The rank at which it began.
    pub began_at: u32,
    /// The other end of the message, if it is one.
    pub peer: Option<u32>,
    /// `message`, `completion`, `turn`, `computation` or `reduction`.
    pub kind: &'static str,
    /// The operation that it is a part of, at the rank where it began.
    pub iteration: u32,
    /// Its number in the graph of that rank.
    pub operation: u32,
    /// In words.
    pub name: String,
    /// Is that operation one of the target's?
    pub is_of_target: bool,
    /// They add up to the step.
    pub parts: Vec<PathPart>,
}

/// A part of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPart {
    /// What it went to: a cause of a flow's time, `computation`, `reduction`, or `acknowledgement`.
    pub cause: &'static str,
    /// The egress port where, or "scale-up".
    pub port: Option<String>,
    /// Of pauses: where they began.
    pub origin: Option<String>,
    /// How long, in all.
    pub time: Span,
}

impl CriticalPath {
    /// Finds the path of a target; none if it is not complete at the end of the run, or was interrupted.
    ///
    /// # Errors
    /// What makes the blueprint unfit, with the place.
    pub fn find(
        blueprint: &Blueprint,
        control: &Control,
        target: PathTarget,
    ) -> Result<Option<Self>, BuildError> {
        let Some((start, end, steps)) = logged(blueprint, control, target)? else { return Ok(None) };
        let Some(steps) = steps else { return Ok(Some(CriticalPath { start, end, steps: None })) };
        let fabric = Fabric::build(blueprint, control)?;
        let job = JobOfPath { blueprint, programs: &fabric.world.runs.own.traffic.programs, target };
        let sections: Vec<Option<Section>> = steps.iter().map(|step| job.section(step)).collect();
        let Some((world, found)) = followed(fabric, control, &sections) else { return Ok(None) };
        let job = JobOfPath { blueprint, programs: &world.runs.own.traffic.programs, target };
        let mut found = found.iter();
        let steps = steps.iter().zip(&sections).map(|(step, section)| {
            let parts = section.and_then(|_| found.next()).map(|found| found.parts(blueprint));
            job.step(step, parts.as_deref())
        });
        Ok(Some(CriticalPath { start, end, steps: Some(steps.collect()) }))
    }

    /// One row a step, and one row a part of a step.
    pub fn tables(&self) -> (Table, Table) {
        let steps = self.steps.as_deref().unwrap_or_default();
        let whole = |of: &dyn Fn(&PathStep) -> u64| Values::U64(steps.iter().map(of).collect());
        let names: Vec<Option<&str>> = steps.iter().map(|step| Some(step.name.as_str())).collect();
        let kinds: Vec<Option<&str>> = steps.iter().map(|step| Some(step.kind)).collect();
        let of_steps = Table::new(vec![
            ("from_ps", whole(&|step| step.from.0)),
            ("to_ps", whole(&|step| step.to.0)),
            ("rank", whole(&|step| step.rank.into())),
            ("began_at", whole(&|step| step.began_at.into())),
            ("peer", Values::F64(steps.iter().map(|step| step.peer.map_or(f64::NAN, f64::from)).collect())),
            ("kind", texts(&kinds)),
            ("iteration", whole(&|step| step.iteration.into())),
            ("operation", whole(&|step| step.operation.into())),
            ("name", texts(&names)),
            ("of_target", Values::Bool(steps.iter().map(|step| step.is_of_target.into()).collect())),
        ]);
        let parts: Vec<(u64, &PathPart)> = (0..)
            .zip(steps)
            .flat_map(|(number, step)| step.parts.iter().map(move |part| (number, part)))
            .collect();
        let text = |of: &dyn Fn(&PathPart) -> Option<String>| {
            let all: Vec<Option<String>> = parts.iter().map(|(_, part)| of(part)).collect();
            texts(&all.iter().map(Option::as_deref).collect::<Vec<_>>())
        };
        let of_parts = Table::new(vec![
            ("step", Values::U64(parts.iter().map(|&(number, _)| number).collect())),
            ("cause", text(&|part| Some(part.cause.to_owned()))),
            ("port", text(&|part| part.port.clone())),
            ("origin", text(&|part| part.origin.clone())),
            ("time_ps", Values::U64(parts.iter().map(|(_, part)| part.time.0).collect())),
        ]);
        (of_steps, of_parts)
    }
}

/// Start and end of a target, and its path, in a run until it is complete.
type Logged = (Time, Time, Option<Vec<Step>>);

fn logged(
    blueprint: &Blueprint,
    control: &Control,
    target: PathTarget,
) -> Result<Option<Logged>, BuildError> {
    let mut fabric = Fabric::build(blueprint, control)?.without_skips();
    let job = job(blueprint, target.workload);
    let ranks = job.hosts.len();
    let run = &mut fabric.world.runs.own;
    run.events.go_in_one_order();
    let extent = Extent::new(&job.program, target.target());
    // The run ends when the target is complete.
    let most = ROOM / BYTES / ranks.max(1);
    run.traffic.programs.log_predecessors((target.workload, extent), target.from, most);
    let ran = fabric.go();
    let programs = &ran.first().runs.own.traffic.programs;
    let extent = programs.extent();
    let Some((start, end)) = extent.and_then(Extent::complete) else { return Ok(None) };
    let walkers: Vec<_> = programs.walkers(target.workload, ranks).collect();
    let steps = extent.and_then(|extent| critical_path(extent, &walkers));
    Ok(Some((start, end, steps)))
}

/// The network after a run in which the flows of these sections were followed, and what was found.
fn followed<'a>(
    mut fabric: Fabric<'a>,
    control: &Control,
    sections: &[Option<Section>],
) -> Option<(World<'a>, Vec<Found>)> {
    let mut following: VecDeque<Section> = sections.iter().copied().flatten().collect();
    let Some(first) = following.pop_front() else { return Some((fabric.world, Vec::new())) };
    fabric.follow(first, following);
    fabric.end_when_found();
    let mut world = fabric.go().into_first()?;
    if control.stop.load(Ordering::Relaxed) {
        return None;
    }
    let found: Vec<Found> = world.runs.own.traces.iter_mut().flat_map(Trace::all_found).collect();
    (found.len() == sections.iter().flatten().count()).then_some((world, found))
}

/// The job of a path, and where its ranks are.
struct JobOfPath<'p> {
    blueprint: &'p Blueprint,
    programs: &'p Programs,
    target: PathTarget,
}

impl JobOfPath<'_> {
    /// Rank, receiver and bytes of the message of a step, if it is one.
    fn message_of(&self, step: &Step) -> Option<(u32, u32, Bytes, Message)> {
        let (from, message) = match step.kind {
            StepKind::Message { from, message } => (from, message),
            StepKind::Completion { message } | StepKind::Turn { message } => (step.rank, message),
            StepKind::Computation { .. } | StepKind::Reduction { .. } => return None,
        };
        let program = &job(self.blueprint, self.target.workload).program;
        let (to, bytes) = program.posting_of(from, message, &mut CollectiveStep::default());
        Some((from, to, bytes, message))
    }

    /// The flow of the message of a step, if it is one, and what of its time counts.
    fn section(&self, step: &Step) -> Option<Section> {
        let (from, to, _, message) = self.message_of(step)?;
        let (programs, workload) = (self.programs, self.target.workload);
        if programs.domain_of(workload, from, to).is_some() {
            return None;
        }
        let (source, number) = programs.flow_of(workload, from, message);
        Some(Section { flow: FlowRef { workload, source, number }, from: step.from.0, until: step.to.0 })
    }

    fn step(&self, step: &Step, parts: Option<&[Part]>) -> PathStep {
        let &JobOfPath { blueprint, programs, target } = self;
        let workload = target.workload;
        let program = &job(blueprint, workload).program;
        let message = self.message_of(step);
        let (began_at, iteration, operation) = step.operation();
        let length = step.to.0 - step.from.0;
        let (kind, alone) = match step.kind {
            StepKind::Message { .. } => ("message", None),
            StepKind::Completion { .. } => ("completion", None),
            StepKind::Turn { .. } => ("turn", None),
            StepKind::Computation { .. } => ("computation", Some("computation")),
            StepKind::Reduction { .. } => ("reduction", Some("reduction")),
        };
        let domain = message.and_then(|(from, to, ..)| programs.domain_of(workload, from, to));
        let parts = match (alone, domain, message) {
            (Some(cause), ..) => vec![part_of(cause, length)],
            (None, Some(domain), Some((_, _, bytes, _))) => {
                in_domain(&blueprint.scale_up[domain as usize], bytes, kind, length)
            }
            _ => of_flow(parts.unwrap_or_default(), length),
        };
        PathStep {
            from: step.from,
            to: step.to,
            rank: step.rank,
            began_at,
            peer: message.map(|(from, to, ..)| if kind == "message" { from } else { to }),
            kind,
            iteration,
            operation,
            name: name_of(program, began_at, operation),
            is_of_target: target.target().has(program, began_at, (iteration, operation)),
            parts,
        }
    }
}

/// A collective by its name, which says what it is; all others in words.
fn name_of(program: &Program, rank: u32, operation: u32) -> String {
    let its = program.operation_of(rank, operation);
    match (its.kind, program.names.get(its.name as usize)) {
        (Kind::Collective { .. }, Some(name)) if !name.is_empty() => name.clone(),
        _ => program.describe(rank, operation),
    }
}

fn part_of(cause: &'static str, time: u64) -> PathPart {
    PathPart { cause, port: None, origin: None, time: Span(time) }
}

/// The parts of a flow; what of the step is after its arrival is the way back.
fn of_flow(parts: &[Part], length: u64) -> Vec<PathPart> {
    let own = parts.iter().map(|part| PathPart {
        cause: part.cause.name(),
        port: part.port.clone(),
        origin: part.origin.clone(),
        time: part.time,
    });
    let rest = length - parts.iter().map(|part| part.time.0).sum::<u64>().min(length);
    own.chain((rest > 0).then(|| part_of("acknowledgement", rest))).collect()
}

/// The parts of a message within a scale-up domain: what is neither its bytes nor latency is waiting.
fn in_domain(domain: &ScaleUp, bytes: Bytes, kind: &str, length: u64) -> Vec<PathPart> {
    let serial = domain.rate.time_to_send(bytes).0.min(length);
    // To its sender it is over when its bytes have left.
    let latency = if kind == "message" { domain.latency.0.min(length - serial) } else { 0 };
    let times = [
        (Cause::Serialisation, serial),
        (Cause::Propagation, latency),
        (Cause::Queueing, length - serial - latency),
    ];
    let part = |(cause, time): (Cause, u64)| PathPart {
        port: Some("scale-up".into()),
        ..part_of(cause.name(), time)
    };
    times.into_iter().filter(|&(_, time)| time > 0).map(part).collect()
}
