//! Jobs of training iterations.

use floodway_fabric::blueprint::Arrivals;
use floodway_programs::collective::AlgorithmName;
use floodway_programs::training::{Model, Training as Program};
use floodway_units::cast::whole;
use floodway_units::{Bytes, Span};

use super::jobs::RankKeys;
use super::map::Map;
use super::{Builder, workload_path};
use crate::workload::Workload;
use crate::workload::training::{Gradients, Training};

/// Bytes of an element of activations and of a gradient: 16 bits.
const ELEMENT: u64 = 2;
/// A bucket of gradients whose size is not given: `PyTorch`'s 25 MiB are of 32 bits an element, so that a
/// layer of a large model fills one in any case.
const BUCKET: Bytes = Bytes::mb(40);

impl Builder<'_> {
    /// The arrivals of a training job; none where errors say why.
    pub(super) fn training(
        &mut self,
        workload: &Workload,
        training: &Training,
        map: &Map<'_>,
    ) -> Option<Arrivals> {
        let mut model = training.model.model();
        model.sequence = training.sequence.unwrap_or(model.sequence);
        if let Some((key, why)) = fault(&model, training) {
            self.fault(&workload_path(workload, &format!("training.{key}")), why);
            return None;
        }
        let program = Program {
            model,
            layers: training.layers.unwrap_or(model.layers),
            tensor: training.tensor.unwrap_or(1),
            pipeline: training.pipeline.unwrap_or(1),
            data: training.data.unwrap_or(1),
            expert: training.expert.unwrap_or(1),
            micro_batch: training.micro_batch.unwrap_or(1),
            micro_batches: training.simulated_micro_batches.unwrap_or(all_micro_batches(training)),
            element: ELEMENT,
            gradient: ELEMENT,
            layer: layer(&model, training),
            scatters: training.gradients == Gradients::ReduceScatter,
            bucket: training.bucket.unwrap_or(BUCKET),
            algorithm: training.algorithm,
            channels: training.channels.unwrap_or(1),
            cross_nic: training.cross_nic,
            pxn: training.pxn.unwrap_or(true),
            iterations: training.iterations.unwrap_or(1),
        };
        let made = match program.program() {
            Ok(made) => made,
            Err(error) => {
                self.fault(&workload_path(workload, &format!("training.{}", error.key)), error.why);
                return None;
            }
        };
        let parts = [
            ("layers", training.layers, "layers", model.layers),
            (
                "simulated-micro-batches",
                training.simulated_micro_batches,
                "micro-batches",
                all_micro_batches(training),
            ),
        ];
        for (key, simulated, what, all) in parts {
            if let Some(simulated) = simulated.filter(|simulated| *simulated < all) {
                let why = format!(
                    "{simulated} of {all} {what} are simulated: an iteration is shorter than the whole one"
                );
                self.warn_at(&workload_path(workload, &format!("training.{key}")), why);
            }
        }
        if let Some(name) = training.algorithm.map(AlgorithmName::name)
            && made.plans.iter().all(|plan| plan.algorithm != name)
        {
            let why = format!("{name:?} is no algorithm of any of the job's collectives: it has no effect");
            self.warn_at(&workload_path(workload, "training.algorithm"), why);
        }
        let keys = RankKeys {
            table: "training",
            ranks: &training.ranks,
            rank_file: training.rank_file.as_deref(),
            count: None,
            placement: training.placement,
        };
        self.place(workload, (made, "the degrees make"), (&keys, training.flows), map)
    }
}

fn all_micro_batches(training: &Training) -> u32 {
    training.micro_batches.unwrap_or(1)
}

/// Why an iteration cannot be simulated by so many of its micro-batches.
fn micro_batches_fault(training: &Training) -> Option<(&'static str, String)> {
    let (simulated, all) = (training.simulated_micro_batches?, all_micro_batches(training));
    let stages = training.pipeline.unwrap_or(1);
    let why = if !(1..=all).contains(&simulated) {
        format!("{simulated} is not a number from 1 to {all}, micro-batches of an iteration")
    } else if simulated < stages.min(all) {
        // With fewer the pipeline is never full, and another micro-batch adds another time than in the whole.
        format!("{simulated} are fewer than the {stages} stages of the pipeline, which they do not fill")
    } else {
        return None;
    };
    Some(("simulated-micro-batches", why))
}

/// What of a job's description cannot be, by its key.
fn fault(model: &Model, training: &Training) -> Option<(&'static str, String)> {
    let sequence = if training.sequence.is_some() { "sequence" } else { "model.sequence" };
    let experts = model.experts.unwrap_or(1 << 16);
    let numbers = [
        ("model.layers", model.layers.into(), 1..=u64::from(u32::MAX)),
        ("model.hidden", model.hidden, 1..=1 << 24),
        (sequence, model.sequence, 1..=1 << 24),
        ("model.parameters", model.parameters, 1..=1 << 50),
        ("model.active-parameters", model.active_parameters, 1..=model.parameters),
        ("model.experts-per-token", model.experts_per_token, 0..=1 << 10),
        ("model.experts", experts, model.experts_per_token.max(1)..=1 << 16),
        ("micro-batch", training.micro_batch.unwrap_or(1), 1..=1 << 16),
        ("channels", training.channels.unwrap_or(1).into(), 1..=256),
    ];
    if let Some((key, given, allowed)) = numbers.into_iter().find(|(_, given, all)| !all.contains(given)) {
        let of = if key == "model.active-parameters" { ", the parameters of the model" } else { "" };
        let why = format!("{given} is not a number from {} to {}{of}", allowed.start(), allowed.end());
        return Some((key, why));
    }
    if model.experts.is_some() && model.experts_per_token == 0 {
        return Some(("model.experts", "it belongs to experts-per-token, which is missing".into()));
    }
    if let Some(fault) = micro_batches_fault(training) {
        return Some(fault);
    }
    match (training.flops, training.forward) {
        (Some(_), Some(_)) => Some(("flops", "it and \"forward\" are given together: give one".into())),
        (None, None) => {
            Some(("", "the time of a layer is missing: give \"flops\", like 4e14, or \"forward\"".into()))
        }
        (Some(flops), None) if !(flops.is_finite() && flops >= 1e6) => {
            Some(("flops", format!("{flops} is not a number of operations a second, at least 1e6")))
        }
        _ => None,
    }
}

/// Forward and backward time of a layer on a rank.
fn layer(model: &Model, training: &Training) -> (Span, Span) {
    let forward = training.forward.unwrap_or_else(|| {
        let tokens = training.micro_batch.unwrap_or(1).saturating_mul(model.sequence);
        let seconds = model.forward_flops(tokens) / training.flops.unwrap_or(f64::INFINITY);
        Span(whole(seconds / f64::from(training.tensor.unwrap_or(1).max(1)) * 1e12))
    });
    (forward, training.backward.unwrap_or(Span(forward.0.saturating_mul(2))))
}
