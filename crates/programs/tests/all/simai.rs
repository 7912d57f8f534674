//! Readers of `SimAI`'s workloads.

use floodway_programs::collective::{AlgorithmName, Purpose};
use floodway_programs::read::{Imported, Options, simai};
use floodway_programs::{Kind, Program};
use floodway_units::Bytes;
use proptest::prelude::*;

use crate::support::{Nics, changed, changes, execute};

const WORKLOAD: &str = include_str!("../../../../scenarios/jobs/transformer.txt");
const POLICY: &str = "HYBRID_TRANSFORMER_FWD_IN_BCKWD";

fn read(text: &str) -> Imported {
    simai(text, "a.txt", &Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// A workload with these degrees and rows.
fn workload(degrees: &str, rows: &[&str]) -> String {
    format!(
        "{POLICY} {degrees} checkpoints: 0 checkpoint_initiates: 0\n{}\n{}\n",
        rows.len(),
        rows.join("\n")
    )
}

/// Collectives of a rank: purpose, bytes, and the ranks of its group.
fn collectives(program: &Program, rank: u32) -> Vec<(Purpose, u64, Vec<u32>)> {
    let of = |kind: Kind| match kind {
        Kind::Collective { plan, group, .. } => {
            let plan = &program.plans[plan as usize];
            let members = program.groups[program.group_of(rank, group).0 as usize].clone();
            Some((plan.purpose, plan.size.0, members))
        }
        _ => None,
    };
    program.graph_of(rank).operations.iter().filter_map(|operation| of(operation.kind)).collect()
}

/// No time for messages, but 1 ps of delay.
fn free() -> Nics {
    Nics::new(1, 0)
}

#[test]
fn rows_run_forward_and_back_with_their_collectives() {
    let row = "mlp -1 1000 ALLREDUCE 64 2000 ALLGATHER 128 4000 REDUCESCATTER 256 500";
    let Imported { program, notes, .. } =
        read(&workload("model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 8", &[row, row]));
    assert_eq!((program.ranks.len(), program.check(), notes), (8, Ok(()), vec![]));
    let tensor = vec![4, 5];
    let data = vec![1, 3, 5, 7];
    let forward = (Purpose::AllReduce, 64, tensor.clone());
    let (input, weight) = ((Purpose::AllGather, 128, tensor), (Purpose::ReduceScatter, 256, data));
    assert_eq!(
        collectives(&program, 5),
        [forward.clone(), forward, input.clone(), weight.clone(), input, weight]
    );
    // Two rows of 7 us, and the update behind the last collective.
    let end = execute(&program, &mut free()).end().map(|end| end.0 / 1000);
    assert_eq!(end, Some(14_500));
    let names: Vec<&str> = program.names.iter().map(String::as_str).collect();
    assert_eq!(names, ["mlp forward", "mlp input gradient", "mlp weight gradient", "mlp update"]);
}

#[test]
fn the_ranks_that_a_server_holds_are_the_tensor_parallel_ones() {
    let degrees = "model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 8";
    let within = |row: &str| read(&workload(degrees, &[row])).within;
    assert_eq!(within("a -1 1 ALLREDUCE 64 1 NONE 0 1 NONE 0 1"), 2);
    assert_eq!(within("a -1 1 ALLREDUCE_EP 64 1 ALLREDUCE 0 1 ALLREDUCE 64 1"), 1);
}

#[test]
fn suffixes_name_groups() {
    let row = "moe -1 1 ALLTOALL_EP 64 1 ALLREDUCE_DP_EP 64 1 ALLGATHER_EP 64 0";
    let text = workload("model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 8", &[row]);
    // Data-parallel ranks of rank 5 are 1, 3, 5 and 7; experts are spread over 1 and 3, and over 5 and 7.
    let groups: Vec<_> = collectives(&read(&text).program, 5).into_iter().map(|(.., group)| group).collect();
    assert_eq!(groups, [vec![5, 7], vec![1, 5], vec![5, 7]]);
}

#[test]
fn gradients_are_reduced_beside_the_backward_pass() {
    let row = "mlp -1 1000 NONE 0 1000 NONE 0 1000 ALLREDUCE 2000 0";
    let text = workload("model_parallel_NPU_group: 1 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 2", &[row, row]);
    // A ring of two sends 1000 bytes twice, at a byte a nanosecond: 2 us beside the 2 us of the first row.
    let end = execute(&read(&text).program, &mut Nics::new(0, 1000)).end().map(|end| end.0 / 1000);
    assert_eq!(end, Some(6_000 + 2_000));
}

#[test]
fn stages_exchange_activations_of_each_micro_batch() {
    let Imported { program, notes, .. } = read(WORKLOAD);
    assert_eq!((program.ranks.len(), program.check(), notes), (8, Ok(()), vec![]));
    let messages = |rank: u32| {
        let of = |kind: Kind| match kind {
            Kind::Send { peer, bytes, .. } => {
                Some((program.ranks[rank as usize].peers[peer as usize], bytes))
            }
            _ => None,
        };
        program.graph_of(rank).operations.iter().filter_map(|of_rank| of(of_rank.kind)).collect::<Vec<_>>()
    };
    assert_eq!(messages(1), [(5, Bytes(1 << 20)); 2]);
    assert_eq!(messages(5), [(1, Bytes(1 << 20)); 2]);
    // Two stages and two micro-batches: three of 120 us forward, three of 240 us back, and the update.
    let end = execute(&program, &mut free()).end().map(|end| end.0 / 1000);
    assert_eq!(end, Some(3 * 120_000 + 3 * 240_000 + 1_000));
}

#[test]
fn what_is_changed_or_not_used_is_told() {
    let rows =
        ["a 4 1 ALLREDUCE_EP 64 1 NONE 0 1 ALLREDUCE 2 1", "b -1 1 ALLTOALL 64 1 REDUCESCATTER 0 1 NONE 0 1"];
    let degrees = "model_parallel_NPU_group: 2 ep: 1 pp: 2 vpp: 4 ga: 3 all_gpus: 16";
    let options = Options { algorithm: Some(AlgorithmName::HalvingDoubling), ..Options::default() };
    let text = workload(degrees, &rows).replace("checkpoints: 0", "checkpoints: 1 5");
    let notes = simai(&text, "a.txt", &options).unwrap_or_else(|error| panic!("{error}")).notes;
    assert_eq!(
        notes,
        [
            "\"halving-doubling\" is no algorithm of all-to-all: \"direct\" is used there (1 operation)",
            "over a group of one rank, and so without time: 1 collective of a rank",
            "of fewer bytes than ranks, and so with a byte for each rank here: 1 collective of a rank",
            "pp is 2, and there is no pp_comm: the stages exchange no messages",
            "vpp is not used: each stage executes its layers of a micro-batch one after another",
            "checkpoints are not used: no forward pass is executed again",
            "the dependencies of 1 rows are not used: rows follow one another",
        ]
    );
    let text = text.replace("checkpoint_initiates: 0", "checkpoint_initiates: 0 pp_comm: 4096.0");
    let notes = read(&text).notes;
    assert!(notes.contains(
        &"no row is there 3 times (ga) at equal distances: all rows are one micro-batch".to_owned()
    ));
}

fn refused(text: &str) -> String {
    simai(text, "a.txt", &Options::default()).expect_err("it has a mistake").to_string()
}

#[test]
fn mistakes_name_line_and_nearest_word() {
    let degrees = "model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 8";
    let row = |row: &str| refused(&workload(degrees, &[row]));
    let all =
        "allowed: NONE, and ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL with nothing, _EP or _DP_EP behind";
    assert_eq!(
        row("a -1 1 ALLREDUCE_PE 64 1 NONE 0 1 NONE 0 1"),
        format!("a.txt, line 3: \"ALLREDUCE_PE\" is no collective; {all}; did you mean \"ALLREDUCE_EP\"?")
    );
    assert_eq!(
        row("a -1 1 NONE 0 1 NONE 0 1 NONE 0"),
        "a.txt, line 3: a row has 12 columns: name, dependency, three times time, collective and bytes, update \
         time; there are 11"
    );
    assert_eq!(
        row("a -1 18446744073709552 NONE 0 1 NONE 0 1 NONE 0 1"),
        "a.txt, line 3: \"18446744073709552\" is not a time in whole nanoseconds below 2^64 ps"
    );
    assert_eq!(
        row("a -1 1 NONE -4 1 NONE 0 1 NONE 0 1"),
        "a.txt, line 3: \"-4\" is no size in bytes below 2^50"
    );
    let header = |text: &str| refused(&format!("{text}\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n"));
    assert_eq!(
        header("HYBRID_DLRM"),
        "a.txt, line 1: \"HYBRID_DLRM\" is not available; available is HYBRID_TRANSFORMER_FWD_IN_BCKWD"
    );
    let head = |words: &str| header(&format!("{POLICY} {words}"));
    assert_eq!(
        head("model_parallel_NPU_group: 2"),
        "a.txt, line 1: model_parallel_NPU_group: and all_gpus: are missing in the header, or one of them"
    );
    assert_eq!(
        head("model_parallel_NPU_group: 2 pp: 3 all_gpus: 8"),
        "a.txt, line 1: all_gpus: 8 is no multiple of the 6 ranks of tensor group and stages"
    );
    assert_eq!(
        head("model_parallel_NPU_group: 2 ep: 3 all_gpus: 8"),
        "a.txt, line 1: ep: 3 does not divide the 4 data-parallel ranks"
    );
    assert!(head("model_paralel_NPU_group: 2").ends_with("; did you mean \"model_parallel_NPU_group:\"?"));
    assert_eq!(head("ga: 2 pp: 1 ga: 2"), "a.txt, line 1: ga: is there twice");
    assert_eq!(head("pp_comm 2 pp_comm: 2"), "a.txt, line 1: pp_comm: is there twice");
    assert_eq!(head("ga: x"), "a.txt, line 1: ga: \"x\" is no whole number");
    assert_eq!(refused(""), "a.txt, line 1: the file is empty; a header is expected");
    let more = format!("{POLICY} {degrees}\n2\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n");
    assert_eq!(refused(&more), "a.txt, line 2: the number of rows is 2, and there are 1");
}

proptest! {
    #[test]
    fn workloads_with_any_change_are_read_or_refused(changes in changes("[A-Za-z0-9 :_.\\-\n]{0,6}")) {
        if let Ok(imported) = simai(&changed(WORKLOAD, &changes), "a.txt", &Options::default())
            && imported.program.ranks.len() <= 64
            && imported.program.check().is_ok()
        {
            execute(&imported.program, &mut Nics::new(1_000, 10));
        }
    }
}
