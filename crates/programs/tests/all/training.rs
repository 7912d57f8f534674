//! Training iterations: their critical paths, and the bytes of each kind of communication.

use floodway_programs::collective::{CrossNic, Purpose};
use floodway_programs::training::{Model, Training};
use floodway_programs::{Kind, Program};
use floodway_units::{Bytes, Span};
use proptest::prelude::*;

use crate::support::{Drawn, Nics, execute};

const MODEL: Model = Model {
    layers: 8,
    hidden: 64,
    sequence: 128,
    parameters: 800_000,
    active_parameters: 800_000,
    experts_per_token: 0,
    experts: None,
};

fn training() -> Training {
    Training {
        model: MODEL,
        layers: MODEL.layers,
        tensor: 1,
        pipeline: 1,
        data: 1,
        expert: 1,
        micro_batch: 1,
        micro_batches: 4,
        element: 2,
        gradient: 2,
        layer: (Span::us(10), Span::us(20)),
        scatters: true,
        bucket: Bytes(1),
        algorithm: None,
        channels: 1,
        cross_nic: CrossNic::Alternate,
        pxn: true,
        iterations: 1,
    }
}

fn program(training: &Training) -> Program {
    let program = training.program().expect("it can be");
    assert_eq!(program.check(), Ok(()));
    program
}

/// Payload that a rank sends, by name of the operation.
fn sent(program: &Program, rank: u32, name: &str) -> u64 {
    let mut sum = 0;
    program.each_peer(rank, |operation, _, _, bytes| {
        let name_of = program.graph_of(rank).operations[operation as usize].name;
        sum += if program.names[name_of as usize] == name { bytes } else { 0 };
    });
    sum
}

#[test]
fn a_rank_alone_computes_all_layers_of_all_micro_batches() {
    let program = program(&training());
    let history = execute(&program, &mut Nics::new(1, 1));
    assert_eq!(history.end().map(|end| end.0), Some(4 * 8 * Span::us(30).0));
}

/// 1F1B: (m + p - 1) (f + b), if messages take no time (Narayanan et al. 2019; 2021, section 2.2).
#[test]
fn a_pipeline_has_its_bubble() {
    for (pipeline, micro_batches) in [(2, 1), (4, 4), (8, 3), (4, 12)] {
        let program = program(&Training { pipeline, micro_batches, ..training() });
        let history = execute(&program, &mut Nics::new(0, 0));
        let stage = u64::from(8 / pipeline) * Span::us(30).0;
        let slots = u64::from(micro_batches + pipeline - 1);
        assert_eq!(history.end().map(|end| end.0), Some(slots * stage), "{pipeline} stages, {micro_batches}");
    }
}

#[test]
fn communication_has_the_bytes_of_its_definition() {
    let model = Model { experts_per_token: 2, ..MODEL };
    let program = program(&Training { model, tensor: 2, expert: 2, data: 2, pipeline: 2, ..training() });
    assert_eq!(program.ranks.len(), 16);
    let activations = 128 * 64 * 2;
    // Of a ring of two an all-reduce sends its buffer once; two a pass and layer, four layers a stage.
    assert_eq!(sent(&program, 0, "tensor"), 4 * 4 * 2 * 2 * activations);
    // Half of what is routed leaves the rank.
    assert_eq!(sent(&program, 0, "dispatch"), 4 * 4 * 2 * activations);
    assert_eq!(sent(&program, 0, "combine"), 4 * 4 * 2 * activations);
    assert_eq!(sent(&program, 0, "activations"), 4 * activations);
    // Of 100,000 parameters a layer a quarter is here, and half of its two bytes is sent, there and back.
    assert_eq!(sent(&program, 0, "gradients"), 4 * 25_000);
    assert_eq!(sent(&program, 0, "parameters"), 4 * 25_000);
    // The first rank's peers: tensor, expert, data, pipeline.
    assert_eq!(program.receivers_of(0).into_iter().collect::<Vec<_>>(), [1, 2, 4, 8]);
}

#[test]
fn buckets_hold_several_layers() {
    let program = program(&Training { data: 4, bucket: Bytes(600_000), scatters: false, ..training() });
    let reductions = program.graph_of(0).operations.iter().filter(|operation| match operation.kind {
        Kind::Collective { plan, .. } => program.plans[plan as usize].purpose == Purpose::AllReduce,
        _ => false,
    });
    // 200,000 bytes a layer: three, three, two.
    assert_eq!(reductions.count(), 3);
}

#[test]
fn some_layers_are_those_of_the_whole_model() {
    let part = program(&Training { layers: 4, pipeline: 2, data: 4, scatters: false, ..training() });
    let whole = program(&Training { pipeline: 2, data: 4, scatters: false, ..training() });
    let reductions = |program: &Program| {
        let sizes = program.graph_of(0).operations.iter().filter_map(|operation| match operation.kind {
            Kind::Collective { plan, .. } => Some(program.plans[plan as usize].size),
            _ => None,
        });
        sizes.collect::<Vec<_>>()
    };
    // 200,000 bytes a layer, a bucket each: two layers of a stage in place of four.
    assert_eq!(reductions(&part), [Bytes(200_000); 2]);
    assert_eq!(reductions(&whole), [Bytes(200_000); 4]);
}

#[test]
fn what_cannot_be_is_refused_by_its_key() {
    let key = |training: Training| training.program().expect_err("it is refused").key;
    assert_eq!(key(Training { pipeline: 9, ..training() }), "pipeline");
    assert_eq!(key(Training { expert: 2, ..training() }), "expert");
    assert_eq!(key(Training { layers: 0, ..training() }), "layers");
    assert_eq!(key(Training { layers: 9, ..training() }), "layers");
    assert_eq!(key(Training { layers: 3, pipeline: 2, ..training() }), "layers");
    assert_eq!(key(Training { data: 0, ..training() }), "data");
    assert_eq!(key(Training { iterations: 0, ..training() }), "iterations");
}

proptest! {
    #[test]
    fn every_iteration_ends_and_takes_its_computations(
        (tensor, pipeline, data, expert) in (1..4u32, 1..5u32, 1..4u32, 1..3u32),
        (micro_batches, scatters, bucket) in (1..6u32, any::<bool>(), 1..1_000_000u64),
        delays in prop::collection::vec(1..50_000_000u64, 1..30),
    ) {
        let model = Model { experts_per_token: 1, ..MODEL };
        let bucket = Bytes(bucket);
        let training = Training {
            model, tensor, pipeline, data, expert, micro_batches, scatters, bucket, iterations: 2, ..training()
        };
        let history = execute(&program(&training), &mut Drawn(delays, 0, std::collections::BTreeMap::new()));
        let least = 2 * u64::from(micro_batches) * u64::from(8_u32.div_ceil(pipeline)) * Span::us(30).0;
        prop_assert!(history.end().is_some_and(|end| end.0 >= least));
    }
}

/// Each stage has rounds behind its first forward passes.
#[test]
fn rounds_of_a_pipeline_are_its_micro_batches() {
    let training = Training { pipeline: 4, data: 2, micro_batches: 24, ..training() };
    let program = program(&training);
    // The last stage reduces gradients in its last micro-batch; a stage's first round may wait for others.
    let counts: Vec<u32> = (0..8).map(|rank| program.rounds_of(rank).expect("it has rounds").count).collect();
    assert_eq!(counts, [20, 20, 21, 21, 22, 22, 22, 22]);
    assert_eq!(program.rounds(), 20);
    assert!(program.without_rounds(20).is_none());
    let collectives = Training { micro_batches: 2, ..training };
    assert_eq!(collectives.program().expect("it can be").rounds(), 0);
}

proptest! {
    #[test]
    fn a_program_without_rounds_is_that_of_fewer_micro_batches(
        (tensor, pipeline, data, expert) in (1..4u32, 1..5u32, 1..4u32, 1..3u32),
        (micro_batches, fewer, scatters, bucket) in (3..20u32, 1..16u32, any::<bool>(), 1..1_000_000u64),
    ) {
        let model = Model { experts_per_token: 1, ..MODEL };
        let bucket = Bytes(bucket);
        let training = Training {
            model, tensor, pipeline, data, expert, micro_batches, scatters, bucket, ..training()
        };
        let whole = program(&training);
        let shorter = whole.without_rounds(fewer);
        prop_assert_eq!(shorter.is_some(), fewer < whole.rounds(), "{} rounds", whole.rounds());
        if let Some(shorter) = shorter {
            let fewer = program(&Training { micro_batches: micro_batches - fewer, ..training });
            for rank in 0..whole.ranks.len() as u32 {
                let [one, other] = [&shorter, &fewer].map(|program| &program.graph_of(rank).operations);
                prop_assert_eq!(one, other);
                if let Some(rounds) = fewer.rounds_of(rank) {
                    prop_assert_eq!(shorter.rounds_of(rank), Some(rounds));
                }
            }
        }
    }
}

/// Megatron-LM refuses others, too: each rank has as many experts.
#[test]
fn the_degree_of_experts_divides_their_number() {
    let model = Model { experts_per_token: 2, experts: Some(8), ..MODEL };
    for expert in [1, 2, 4, 8] {
        assert!(Training { model, expert, ..training() }.program().is_ok(), "{expert}");
    }
    for (expert, near) in [(3, "2 and 4"), (6, "4 and 8"), (16, "8")] {
        let error = Training { model, expert, ..training() }.program().expect_err("it is refused");
        let why = format!(
            "{expert} does not divide the model's 8 experts, of which each rank has as many; the nearest that do: {near}"
        );
        assert_eq!((error.key, error.why), ("expert", why));
    }
    let unknown = Model { experts: None, ..model };
    assert!(Training { model: unknown, expert: 3, ..training() }.program().is_ok());
}
