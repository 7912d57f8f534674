//! Readers of Chakra's traces: valid traces with any change are read or refused.

use floodway_programs::collective::AlgorithmName;
use floodway_programs::read::{Imported, Options, ReadError, chakra};
use floodway_programs::{Kind, Operation};
use floodway_units::{Bytes, Rate, Span};
use proptest::prelude::*;
use prost::encoding::{WireType, encode_key, encode_varint};

/// A value of an attribute: the number of its field, and what is in it.
#[derive(Clone)]
enum Value {
    /// `int64_val`.
    Number(u64),
    /// `string_val`.
    Text(&'static str),
    /// `string_list`.
    Texts(Vec<&'static str>),
    /// `bool_list`, packed.
    Truths(Vec<bool>),
}

fn bytes_field(field: u32, bytes: &[u8], out: &mut Vec<u8>) {
    encode_key(field, WireType::LengthDelimited, out);
    encode_varint(bytes.len() as u64, out);
    out.extend(bytes);
}

fn number_field(field: u32, number: u64, out: &mut Vec<u8>) {
    encode_key(field, WireType::Varint, out);
    encode_varint(number, out);
}

/// A node of a trace.
#[derive(Clone)]
struct Node {
    id: u64,
    name: &'static str,
    kind: u64,
    after: Vec<u64>,
    micros: u64,
    /// `values` of its inputs.
    inputs: &'static str,
    attributes: Vec<(&'static str, Value)>,
}

impl Node {
    fn new(id: u64, name: &'static str, kind: u64) -> Self {
        Node { id, name, kind, after: Vec::new(), micros: 0, inputs: "", attributes: Vec::new() }
    }

    fn after(mut self, before: u64) -> Self {
        self.after.push(before);
        self
    }

    fn micros(self, micros: u64) -> Self {
        Node { micros, ..self }
    }

    fn with(mut self, name: &'static str, value: Value) -> Self {
        self.attributes.push((name, value));
        self
    }

    fn number(self, name: &'static str, number: u64) -> Self {
        self.with(name, Value::Number(number))
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        number_field(1, self.id, &mut out);
        bytes_field(2, self.name.as_bytes(), &mut out);
        number_field(3, self.kind, &mut out);
        self.after.iter().for_each(|&before| number_field(5, before, &mut out));
        number_field(7, self.micros, &mut out);
        if !self.inputs.is_empty() {
            let mut inputs = Vec::new();
            bytes_field(1, self.inputs.as_bytes(), &mut inputs);
            bytes_field(8, &inputs, &mut out);
        }
        for (name, value) in &self.attributes {
            let mut attribute = Vec::new();
            bytes_field(1, name.as_bytes(), &mut attribute);
            match value {
                Value::Number(number) => number_field(9, *number, &mut attribute),
                Value::Text(text) => bytes_field(29, text.as_bytes(), &mut attribute),
                Value::Texts(texts) => {
                    let mut list = Vec::new();
                    for text in texts {
                        bytes_field(1, text.as_bytes(), &mut list);
                    }
                    bytes_field(30, &list, &mut attribute);
                }
                Value::Truths(truths) => {
                    let truths: Vec<u8> = truths.iter().map(|&truth| truth.into()).collect();
                    let mut list = Vec::new();
                    bytes_field(1, &truths, &mut list);
                    bytes_field(28, &list, &mut attribute);
                }
            }
            bytes_field(10, &attribute, &mut out);
        }
        out
    }
}

/// The files of ranks with these nodes.
fn traces(ranks: &[Vec<Node>]) -> Vec<(String, Vec<u8>)> {
    let file = |nodes: &Vec<Node>| {
        let mut bytes = vec![0];
        for node in nodes {
            let node = node.bytes();
            encode_varint(node.len() as u64, &mut bytes);
            bytes.extend(node);
        }
        bytes
    };
    (0..).zip(ranks).map(|(rank, nodes)| (format!("t.{rank}.et"), file(nodes))).collect()
}

fn read(ranks: &[Vec<Node>], options: &Options) -> Result<Imported, ReadError> {
    chakra(&traces(ranks), options)
}

fn refused(ranks: &[Vec<Node>]) -> String {
    read(ranks, &Options::default()).expect_err("it has a mistake").to_string()
}

const COMP: u64 = 4;
const SEND: u64 = 5;
const RECV: u64 = 6;
const COLL: u64 = 7;
const ALL_REDUCE: u64 = 0;

fn collective(id: u64, bytes: u64) -> Node {
    Node::new(id, "sum", COLL).number("comm_type", ALL_REDUCE).number("comm_size", bytes)
}

/// Of each rank: a computation, an all-reduce, a message to the next rank.
fn job(ranks: u64) -> Vec<Vec<Node>> {
    let rank = |rank: u64| {
        vec![
            Node::new(0, "forward", COMP).micros(5).number("num_ops", 1000),
            collective(1, 4096).after(0).with("pg_name", Value::Text("all")),
            Node::new(2, "out", SEND)
                .after(1)
                .number("comm_size", 100)
                .number("comm_dst", (rank + 1) % ranks),
            Node::new(3, "in", RECV)
                .after(1)
                .number("comm_size", 100)
                .number("comm_src", (rank + ranks - 1) % ranks)
                .number("comm_tag", 0),
        ]
    };
    (0..ranks).map(rank).collect()
}

/// Sizes of the collectives of a rank.
fn sizes(imported: &Imported, rank: u32) -> Vec<u64> {
    let program = &imported.program;
    let operations = &program.graph_of(rank).operations;
    let size = |kind: Kind| match kind {
        Kind::Collective { plan, .. } => Some(program.plans[plan as usize].size.0),
        _ => None,
    };
    operations.iter().filter_map(|operation| size(operation.kind)).collect()
}

#[test]
fn a_trace_is_read_as_it_is_written() {
    let imported = read(&job(3), &Options::default()).expect("it is a trace");
    let program = &imported.program;
    assert_eq!(program.check(), Ok(()));
    let operations = &program.graph_of(1).operations;
    assert_eq!(operations[0].kind, Kind::Compute { time: Span::us(5) });
    assert_eq!(operations[2].requires, vec![1]);
    assert!(matches!(operations[2].kind, Kind::Send { bytes: Bytes(100), .. }));
    assert_eq!((sizes(&imported, 1), imported.notes), (vec![4096], vec![]));
}

#[test]
fn splits_have_all_bytes_of_a_collective() {
    let ranks = vec![vec![collective(0, 1000)], vec![collective(0, 1000)]];
    let imported = read(&ranks, &Options { splits: 3, ..Options::default() }).expect("it is a trace");
    assert_eq!(sizes(&imported, 0), [333, 333, 334]);
    assert_eq!(sizes(&imported, 0).iter().sum::<u64>(), 1000);
}

#[test]
fn groups_are_named_by_texts_numbers_and_lists() {
    let named = |value: Value| collective(0, 1000).with("pg_name", value);
    let list = || Value::Texts(vec!["0", "1"]);
    let ranks = vec![vec![named(list())], vec![named(list())], vec![named(Value::Number(7))]];
    let imported = read(&ranks, &Options::default()).expect("it is a trace");
    assert_eq!(imported.program.groups, [vec![0, 1], vec![2]]);
    // Of one rank, it takes no time.
    assert_eq!(imported.program.graph_of(2).operations[0].kind, Kind::Compute { time: Span::ZERO });
    assert_eq!(imported.notes, ["collectives of a group of one rank take no time (1 node)"]);
    assert_eq!(imported.program.check(), Ok(()));
}

#[test]
fn the_cpu_half_of_a_communication_is_its_duration() {
    let rank = || {
        let half = Node::new(1, "c10d::allreduce_", COLL).micros(85).number("is_cpu_op", 1);
        vec![half, collective(2, 1 << 20).after(1).number("is_cpu_op", 0)]
    };
    let imported = read(&[rank(), rank()], &Options::default()).expect("it is a trace");
    let operations = &imported.program.graph_of(0).operations;
    assert_eq!(operations[0].kind, Kind::Compute { time: Span::us(85) });
    assert_eq!(sizes(&imported, 0), [1 << 20]);
    let note = "communication with is_cpu_op takes its duration on the CPU, and the kernels send (2 nodes)";
    assert_eq!(imported.notes, [note]);
    let alone = read(&[vec![rank()[0].clone()]], &Options::default()).expect("it is a trace");
    let note = "all communication has is_cpu_op and takes its duration on the CPU (1 node): nothing is sent";
    assert_eq!(alone.notes, [note]);
}

#[test]
fn barriers_and_tiny_collectives_have_the_least_bytes() {
    let of = |kind: u64| Node::new(0, "sync", COLL).number("comm_type", kind);
    let rank = || vec![of(9), collective(1, 2), collective(2, 0)];
    let imported = read(&[rank(), rank(), rank()], &Options::default()).expect("it is a trace");
    assert_eq!(sizes(&imported, 0), [0, 2]);
    assert_eq!(
        imported.notes,
        [
            "collectives of 0 bytes take no time, as in NCCL (3 nodes)",
            "barriers are all-reduces of the least bytes (3 nodes)",
            "collectives of fewer bytes than ranks have a byte for each rank here (3 nodes)",
        ]
    );
    assert_eq!(refused(&[vec![of(0)]]), "t.0.et, node 0 (\"sync\"): comm_size is missing");
    let unknown = |kind| refused(&[vec![of(kind).number("comm_size", 64)]]);
    assert!(
        unknown(11)
            .starts_with("t.0.et, node 0 (\"sync\"): comm_type 11 is not available; available are ALL_")
    );
}

#[test]
fn all_collectives_of_the_schema_are_there() {
    let rank =
        || (0..8).map(|kind| Node::new(kind, "any", COLL).number("comm_type", kind).number("comm_size", 60));
    let ranks: Vec<Vec<Node>> = (0..3).map(|_| rank().collect()).collect();
    let program = read(&ranks, &Options::default()).expect("it is a trace").program;
    let of = |operation: &Operation| match operation.kind {
        Kind::Collective { plan, .. } => {
            let plan = program.plan(plan, 0);
            Some((plan.purpose.name(), plan.size.0))
        }
        _ => None,
    };
    // `comm_size` is a rank's input: gathers count by their output.
    assert_eq!(
        program.graph_of(0).operations.iter().filter_map(of).collect::<Vec<_>>(),
        [
            ("all-reduce", 60),
            ("reduce", 60),
            ("all-gather", 180),
            ("gather", 180),
            ("scatter", 60),
            ("broadcast", 60),
            ("all-to-all", 60),
            ("reduce-scatter", 60),
        ]
    );
}

#[test]
fn dimensions_make_groups_of_ranks() {
    let involved = |truths: &[bool]| collective(0, 64).with("involved_dim", Value::Truths(truths.to_vec()));
    let all = |truths: &[bool]| (0..8).map(|_| vec![involved(truths)]).collect::<Vec<_>>();
    let options = Options { dims: vec![4, 2], ..Options::default() };
    let groups = |truths: &[bool]| read(&all(truths), &options).expect("it is a trace").program.groups;
    assert_eq!(groups(&[true, false]), [vec![0, 1, 2, 3], vec![4, 5, 6, 7]]);
    assert_eq!(groups(&[false, true]), [vec![0, 4], vec![1, 5], vec![2, 6], vec![3, 7]]);
    assert_eq!(groups(&[true, true]), [vec![0, 1, 2, 3, 4, 5, 6, 7]]);
    // Without sizes of dimensions, all of them are all ranks.
    assert_eq!(read(&all(&[true, true]), &Options::default()).expect("it is a trace").notes, [""; 0]);
    assert_eq!(
        refused(&all(&[true, false])),
        "t.0.et, node 0 (\"sum\"): involved_dim is [1, 0], and the sizes of the dimensions are not in the trace: give \
         \"dims\", like [4, 2] (npus_count of ASTRA-sim's network)"
    );
    let error = |truths: &[bool], dims: &[u32]| {
        let options = Options { dims: dims.to_vec(), ..Options::default() };
        read(&all(truths), &options).expect_err("it does not fit").to_string()
    };
    assert_eq!(
        error(&[true, false], &[4, 3]),
        "t.0.et, involved_dim: dims [4, 3] are 12 ranks, and there are files of 8"
    );
    assert!(
        error(&[false], &[4, 2]).ends_with("involved_dim is [0], which has fewer elements than dims [4, 2]")
    );
    assert!(error(&[true, false], &[8]).ends_with(
        "involved_dim is [1, 0], whose dimensions that are not involved are behind those of dims [8]"
    ));
}

#[test]
fn process_groups_are_those_of_the_metadata() {
    let metadata = |inputs| Node { inputs, ..Node::new(0, "## process_group:init ##", 1) };
    let named = |id, name| collective(id, 64).with("pg_name", Value::Text(name));
    let whole = r#"['[{"pg_name": "0", "pg_desc": "default_pg", "ranks": [], "group_size": 3}, {"pg_name": "1", "ranks": [0, 2]}]']"#;
    let ranks = vec![
        vec![metadata(whole), named(1, "0"), named(2, "1")],
        vec![metadata(whole), named(1, "0")],
        vec![metadata(whole), named(1, "0"), named(2, "1")],
    ];
    let program = read(&ranks, &Options::default()).expect("it is a trace").program;
    assert_eq!(program.groups, [vec![0, 1, 2], vec![0, 2]]);
    let mut missing = ranks.clone();
    missing[2].pop();
    assert_eq!(
        refused(&missing),
        "t.2.et, group \"1\": rank 2 is in it by METADATA of rank 0, and calls none of its collectives"
    );
    let mut other = ranks.clone();
    other[1].push(named(2, "1"));
    assert_eq!(
        refused(&other),
        "t.1.et, group \"1\": rank 1 calls its collectives, and is not in it by METADATA, which have [0, 2]"
    );
    assert_eq!(
        refused(&ranks[..2]),
        "t.0.et, node 0 (\"## process_group:init ##\"): group_size of \"0\" is 3, and there are files of 2 ranks"
    );
    let mut unknown = ranks;
    for rank in &mut unknown {
        rank.push(named(3, "10"));
    }
    let notes = read(&unknown, &Options::default()).expect("it is a trace").notes;
    assert!(
        notes[0].starts_with("pg_name \"10\" is none of the process groups in METADATA (3 nodes)"),
        "{notes:?}"
    );
}

#[test]
fn memory_takes_a_latency_and_its_bytes_over_a_rate() {
    let ranks = vec![vec![Node::new(1, "load", 2).number("tensor_size", 1 << 20)]];
    assert_eq!(
        refused(&ranks),
        "t.0.et, node 1 (\"load\"): it states tensor_size, 1048576, and no duration_micros: give \"memory-rate\", like \
         \"4096G\", and \"memory-latency\" if there is one"
    );
    let options =
        Options { memory_rate: Some(Rate::gbps(8)), memory_latency: Span::us(2), ..Options::default() };
    let time = |ranks: &[Vec<Node>]| {
        read(ranks, &options).expect("it is a trace").program.graph_of(0).operations[0].kind
    };
    assert_eq!(time(&ranks), Kind::Compute { time: Span::us(2) + Span::ns(1 << 20) });
    let stated = vec![vec![ranks[0][0].clone().micros(7)]];
    assert_eq!(time(&stated), Kind::Compute { time: Span::us(7) });
}

#[test]
fn an_algorithm_that_an_operation_does_not_have_is_told() {
    let gather = |id| Node::new(id, "gather", COLL).number("comm_type", 6).number("comm_size", 64);
    let ranks = vec![vec![collective(0, 64), gather(1)], vec![collective(0, 64), gather(1)]];
    let options = Options { algorithm: Some(AlgorithmName::HalvingDoubling), ..Options::default() };
    let imported = read(&ranks, &options).expect("it is a trace");
    let note = "\"halving-doubling\" is no algorithm of all-to-all: \"direct\" is used there (2 operations)";
    assert_eq!(imported.notes, [note]);
    let algorithms: Vec<&str> = imported.program.plans.iter().map(|plan| plan.algorithm).collect();
    assert_eq!(algorithms, ["halving-doubling", "direct"]);
}

#[test]
fn unmatched_messages_have_the_tag_of_the_file() {
    let receive =
        Node::new(4, "in", RECV).number("comm_size", 8).number("comm_src", 1).number("comm_tag", 77);
    let program = read(&[vec![receive], vec![]], &Options::default()).expect("it is a trace").program;
    let error = program.check().expect_err("nobody sends").to_string();
    assert_eq!(error, "rank 1 sends 0 messages with tag 77 and 8B to rank 0, which receives 1 of them");
}

#[test]
fn operations_without_a_rate_are_refused_with_the_key() {
    let computes = vec![vec![Node::new(3, "gemm", COMP).number("num_ops", 2000)]];
    let why = "it states num_ops, 2000, and no duration_micros: give \"flops\", the operations a second of a GPU, \
               like 4e14";
    assert_eq!(refused(&computes), format!("t.0.et, node 3 (\"gemm\"): {why}"));
    let imported = read(&computes, &Options { flops: Some(1e9), ..Options::default() }).expect("with a rate");
    assert_eq!(imported.program.graph_of(0).operations[0].kind, Kind::Compute { time: Span::us(2) });
}

#[test]
fn times_beyond_the_clock_are_refused() {
    let long = vec![vec![Node::new(1, "gemm", COMP).micros(u64::MAX / 1000)]];
    assert_eq!(
        refused(&long),
        "t.0.et, node 1 (\"gemm\"): duration_micros is 18446744073709551, more than 2^64 ps"
    );
    let many = vec![vec![Node::new(1, "gemm", COMP).number("num_ops", 1 << 60)]];
    let error = read(&many, &Options { flops: Some(1.0), ..Options::default() }).expect_err("it is too long");
    assert_eq!(
        error.to_string(),
        "t.0.et, node 1 (\"gemm\"): its num_ops of 1152921504606846976 take more than 2^64 ps at 1 a second"
    );
}

#[test]
fn mistakes_name_file_and_node() {
    assert_eq!(
        chakra(&[], &Options::default()).expect_err("no file").to_string(),
        "Chakra's traces, rank 0: there is no file; each rank has one"
    );
    let sends = Node::new(3, "s", SEND).number("comm_size", 5);
    assert_eq!(refused(&[vec![sends.clone()]]), "t.0.et, node 3 (\"s\"): comm_dst is missing");
    assert_eq!(
        refused(&[vec![sends.number("comm_dst", 4)], vec![]]),
        "t.0.et, node 3 (\"s\"): comm_dst is 4; another rank from 0 to 1 is expected (there are files of 2 \
         ranks, and none of rank 4, \"t.4.et\")"
    );
    assert_eq!(
        refused(&[vec![Node::new(1, "a", COMP).after(9)]]),
        "t.0.et, node 1 (\"a\"): it depends on node 9, which is not there"
    );
    let sizes = collective(0, 64).number("comm_size", 64);
    assert_eq!(refused(&[vec![sizes]]), "t.0.et, node 0 (\"sum\"): comm_size is there twice");
    let reduces = |bytes| vec![collective(0, bytes)];
    assert_eq!(
        refused(&[reduces(64), reduces(32)]),
        "t.1.et, collective 0 of all ranks: rank 1 has all-reduce of 32 bytes, and rank 0 all-reduce of 64 bytes"
    );
    let cut = chakra(&[("t.0.et".to_owned(), vec![0, 9, 1])], &Options::default());
    assert_eq!(
        cut.expect_err("it is cut").to_string(),
        "t.0.et, message 1, byte 1: the message has 9 bytes, of which 1 are there"
    );
}

/// A change of a byte, or of how long the file is.
#[derive(Clone, Debug)]
enum Damage {
    Set(usize, u8),
    Cut(usize),
    Insert(usize, Vec<u8>),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        any::<usize>().prop_map(Damage::Cut),
        (any::<usize>(), prop::collection::vec(any::<u8>(), 1..8))
            .prop_map(|(at, new)| Damage::Insert(at, new)),
    ]
}

proptest! {
    #[test]
    fn traces_with_any_change_are_read_or_refused(
        changes in prop::collection::vec((0..3usize, damage()), 0..4),
        splits in 0..5u32,
    ) {
        let mut files = traces(&job(3));
        for (file, change) in changes {
            let bytes = &mut files[file].1;
            match change {
                Damage::Set(at, byte) if !bytes.is_empty() => {
                    let at = at % bytes.len();
                    bytes[at] = byte;
                }
                Damage::Set(..) => {}
                Damage::Cut(at) => bytes.truncate(at % (bytes.len() + 1)),
                Damage::Insert(at, new) => {
                    let at = at % (bytes.len() + 1);
                    bytes.splice(at..at, new);
                }
            }
        }
        if let Ok(imported) = chakra(&files, &Options { splits, ..Options::default() }) {
            let _ = imported.program.check();
        }
    }
}
