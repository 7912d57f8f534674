//! Readers of Chakra's traces: valid traces with any change are read or refused.

use floodway_programs::Kind;
use floodway_programs::collective::AlgorithmName;
use floodway_programs::read::{Imported, Options, ReadError, chakra};
use floodway_units::{Bytes, Span};
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
    attributes: Vec<(&'static str, Value)>,
}

impl Node {
    fn new(id: u64, name: &'static str, kind: u64) -> Self {
        Node { id, name, kind, after: Vec::new(), micros: 0, attributes: Vec::new() }
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
    assert_eq!(imported.notes, ["collectives of a group of one rank take no time (1 nodes)"]);
    assert_eq!(imported.program.check(), Ok(()));
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
