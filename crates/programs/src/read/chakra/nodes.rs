//! Nodes of a trace, decoded.

use std::collections::{BTreeMap, BTreeSet};

use prost::Message as _;

use super::super::ReadError;
use super::communication::purpose_of;
use crate::collective::Purpose;

/// A node.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub id: u64,
    pub name: String,
    pub kind: NodeKind,
    pub requires: Vec<u64>,
    pub micros: u64,
    /// `comm_size`.
    pub size: Option<u64>,
    /// `tensor_size` of a node of memory.
    pub tensor_size: Option<u64>,
    pub tag: i64,
    pub from: Option<u64>,
    pub to: Option<u64>,
    pub group: String,
    pub on_cpu: bool,
    pub num_ops: Option<u64>,
    pub comm_type: Option<i128>,
    /// `involved_dim`.
    pub involved: Option<Vec<bool>>,
    /// Text of the inputs of METADATA.
    pub inputs: String,
}

/// What a node is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum NodeKind {
    #[default]
    Nothing,
    Memory,
    Compute,
    Send,
    Recv,
    Collective,
    /// What the CPU does of a communication, whose messages are another node's.
    CpuHalf,
}

/// `Node` of `et_def.proto`, as far as it is used.
#[derive(Clone, PartialEq, prost::Message)]
struct NodeProto {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(int32, tag = "3")]
    r#type: i32,
    #[prost(uint64, repeated, tag = "4")]
    ctrl_deps: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    data_deps: Vec<u64>,
    #[prost(uint64, tag = "7")]
    duration_micros: u64,
    #[prost(message, optional, tag = "8")]
    inputs: Option<IoInfo>,
    #[prost(message, repeated, tag = "10")]
    attr: Vec<AttributeProto>,
}

/// `IOInfo`: of all its texts, the values.
#[derive(Clone, PartialEq, prost::Message)]
struct IoInfo {
    #[prost(string, tag = "1")]
    values: String,
}

/// `AttributeProto`; of lists those of numbers that name ranks, of truth values, and of texts.
#[derive(Clone, PartialEq, prost::Message)]
struct AttributeProto {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(
        oneof = "Value",
        tags = "3, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 19, 21, 23, 25, 27, 28, 29, 30"
    )]
    value: Option<Value>,
}

/// A value of an attribute.
#[derive(Clone, PartialEq, prost::Oneof)]
enum Value {
    #[prost(double, tag = "3")]
    Double(f64),
    #[prost(float, tag = "5")]
    Float(f32),
    #[prost(int32, tag = "7")]
    Int32(i32),
    #[prost(message, tag = "8")]
    Int32List(Int32List),
    #[prost(int64, tag = "9")]
    Int64(i64),
    #[prost(message, tag = "10")]
    Int64List(Int64List),
    #[prost(uint32, tag = "11")]
    Uint32(u32),
    #[prost(message, tag = "12")]
    Uint32List(Uint32List),
    #[prost(uint64, tag = "13")]
    Uint64(u64),
    #[prost(message, tag = "14")]
    Uint64List(Uint64List),
    #[prost(sint32, tag = "15")]
    Sint32(i32),
    #[prost(sint64, tag = "17")]
    Sint64(i64),
    #[prost(fixed32, tag = "19")]
    Fixed32(u32),
    #[prost(fixed64, tag = "21")]
    Fixed64(u64),
    #[prost(sfixed32, tag = "23")]
    Sfixed32(i32),
    #[prost(sfixed64, tag = "25")]
    Sfixed64(i64),
    #[prost(bool, tag = "27")]
    Bool(bool),
    #[prost(message, tag = "28")]
    BoolList(BoolList),
    #[prost(string, tag = "29")]
    Text(String),
    #[prost(message, tag = "30")]
    TextList(TextList),
}

macro_rules! lists {
    ($($name:ident: $kind:tt $type:ty),* $(,)?) => { $(
        #[derive(Clone, PartialEq, prost::Message)]
        struct $name {
            #[prost($kind, repeated, tag = "1")]
            values: Vec<$type>,
        }
    )* };
}

lists! {
    Int32List: int32 i32,
    Int64List: int64 i64,
    Uint32List: uint32 u32,
    Uint64List: uint64 u64,
    BoolList: bool bool,
    TextList: string String,
}

impl Value {
    /// A whole number, of whatever kind.
    fn whole(&self) -> Option<i128> {
        Some(match *self {
            Value::Int32(value) | Value::Sint32(value) | Value::Sfixed32(value) => value.into(),
            Value::Int64(value) | Value::Sint64(value) | Value::Sfixed64(value) => value.into(),
            Value::Uint32(value) | Value::Fixed32(value) => value.into(),
            Value::Uint64(value) | Value::Fixed64(value) => value.into(),
            Value::Bool(value) => i128::from(value),
            Value::Text(ref text) => text.trim().parse().ok()?,
            _ => return None,
        })
    }

    /// A list of truth values, also as numbers.
    fn truths(&self) -> Option<Vec<bool>> {
        Some(match self {
            Value::BoolList(list) => list.values.clone(),
            Value::Int32List(list) => list.values.iter().map(|&value| value != 0).collect(),
            Value::Int64List(list) => list.values.iter().map(|&value| value != 0).collect(),
            Value::Uint32List(list) => list.values.iter().map(|&value| value != 0).collect(),
            Value::Uint64List(list) => list.values.iter().map(|&value| value != 0).collect(),
            _ => return None,
        })
    }

    /// A name: a text, a number, or a list of these, as its elements with commas between.
    fn name(&self) -> Option<String> {
        fn joined<T: ToString>(values: &[T]) -> String {
            values.iter().map(T::to_string).collect::<Vec<_>>().join(",")
        }
        Some(match self {
            Value::Text(text) => text.clone(),
            Value::TextList(list) => joined(&list.values),
            Value::Int32List(list) => joined(&list.values),
            Value::Int64List(list) => joined(&list.values),
            Value::Uint32List(list) => joined(&list.values),
            Value::Uint64List(list) => joined(&list.values),
            other => other.whole()?.to_string(),
        })
    }
}

/// The nodes of a trace, in the order of their ids; `unused` counts what is not used.
pub(super) fn nodes(
    file: &str,
    bytes: &[u8],
    unused: &mut BTreeMap<String, u64>,
) -> Result<Vec<Node>, ReadError> {
    let error = |place: String, why: String| ReadError { file: file.to_owned(), place, why };
    let mut rest = bytes;
    let mut nodes: Vec<Node> = Vec::new();
    let mut count = 0_u64;
    while !rest.is_empty() {
        let at = bytes.len() - rest.len();
        let place = || format!("message {count}, byte {at}");
        let length = prost::decode_length_delimiter(&mut rest)
            .map_err(|why| error(place(), format!("it is no stream of length-delimited messages: {why}")))?;
        if length > rest.len() {
            let why = format!("the message has {length} bytes, of which {} are there", rest.len());
            return Err(error(place(), why));
        }
        let (message, behind) = rest.split_at(length);
        rest = behind;
        // Metadata have no type; a file without them begins with a node.
        let is_node = |proto: NodeProto| (1..=7).contains(&proto.r#type);
        if count > 0 || NodeProto::decode(message).is_ok_and(is_node) {
            let proto = NodeProto::decode(message)
                .map_err(|why| error(place(), format!("it is no node of et_def.proto: {why}")))?;
            nodes.push(Node::of(proto, unused).map_err(|(node, why)| error(node, why))?);
        }
        count += 1;
    }
    if count == 0 {
        return Err(error("byte 0".into(), "the file is empty".into()));
    }
    nodes.sort_by_key(|node| node.id);
    if let Some(two) = nodes.windows(2).find(|two| two[0].id == two[1].id) {
        return Err(error(format!("node {}", two[0].id), "two nodes have this id".into()));
    }
    Ok(nodes)
}

impl Node {
    /// # Errors
    /// The node, and what of it is no trace.
    fn of(proto: NodeProto, unused: &mut BTreeMap<String, u64>) -> Result<Self, (String, String)> {
        let place = format!("node {} ({:?})", proto.id, proto.name);
        let kind = match proto.r#type {
            1 => NodeKind::Nothing,
            2 | 3 => NodeKind::Memory,
            4 => NodeKind::Compute,
            5 => NodeKind::Send,
            6 => NodeKind::Recv,
            7 => NodeKind::Collective,
            other => {
                let why = format!("its type is {other}; types are 1 (METADATA) to 7 (COMM_COLL)");
                return Err((place, why));
            }
        };
        let mut node = Node {
            id: proto.id,
            name: proto.name,
            kind,
            requires: [proto.data_deps, proto.ctrl_deps].concat(),
            micros: proto.duration_micros,
            inputs: if kind == NodeKind::Nothing {
                proto.inputs.unwrap_or_default().values
            } else {
                String::new()
            },
            ..Node::default()
        };
        node.requires.sort_unstable();
        node.requires.dedup();
        let mut given = BTreeSet::new();
        for attribute in proto.attr {
            let name = attribute.name.clone();
            let is_used = node.set(attribute, unused).map_err(|why| (place.clone(), why))?;
            if is_used && given.contains(&name) {
                return Err((place, format!("{name} is there twice")));
            }
            given.insert(name);
        }
        let communicates = matches!(kind, NodeKind::Send | NodeKind::Recv | NodeKind::Collective);
        if communicates && node.on_cpu {
            node.kind = NodeKind::CpuHalf;
            return Ok(node);
        }
        node.check_size().map_or(Ok(node), |why| Err((place, why)))
    }

    /// Why a message or a collective cannot have its size.
    fn check_size(&self) -> Option<String> {
        let is_message = matches!(self.kind, NodeKind::Send | NodeKind::Recv);
        let has_size = |number| purpose_of(number) != Ok(Purpose::Barrier);
        let needs = is_message || self.kind == NodeKind::Collective && self.comm_type.is_none_or(has_size);
        match self.size {
            None if needs => Some("comm_size is missing".to_owned()),
            Some(0) if is_message => Some("comm_size is 0; a message has at least 1 byte".to_owned()),
            _ => None,
        }
    }

    /// Takes an attribute; false if it is not used.
    fn set(&mut self, attribute: AttributeProto, unused: &mut BTreeMap<String, u64>) -> Result<bool, String> {
        let AttributeProto { name, value } = attribute;
        let refuse = || format!("{name} has a value that is no whole number in range");
        let whole = || value.as_ref().and_then(Value::whole).ok_or_else(refuse);
        let number = || whole().and_then(|number| u64::try_from(number).map_err(|_| refuse()));
        match name.as_str() {
            "comm_size" => {
                self.size = Some(number().and_then(|size| below(size, 1 << 50).ok_or_else(refuse))?);
            }
            "tensor_size" if self.kind == NodeKind::Memory => {
                self.tensor_size = Some(number().and_then(|size| below(size, 1 << 50).ok_or_else(refuse))?);
            }
            "involved_dim" if self.kind == NodeKind::Collective => {
                let no_list = || format!("{name} is no list of truth values");
                self.involved = Some(value.as_ref().and_then(Value::truths).ok_or_else(no_list)?);
            }
            "comm_src" => self.from = Some(number()?),
            "comm_dst" => self.to = Some(number()?),
            "comm_tag" => self.tag = i64::try_from(whole()?).map_err(|_| refuse())?,
            "pg_name" => {
                let no_name = || format!("{name} is no text, no whole number and no list of these");
                self.group = value.as_ref().and_then(Value::name).ok_or_else(no_name)?;
            }
            "is_cpu_op" => self.on_cpu = whole()? != 0,
            "num_ops" => self.num_ops = Some(number()?),
            // Of sends and receives it means nothing.
            "comm_type" if self.kind == NodeKind::Collective => self.comm_type = Some(whole()?),
            "comm_type" => return Ok(false),
            _ => {
                *unused.entry(format!("the attribute {name:?}")).or_default() += 1;
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn below(number: u64, limit: u64) -> Option<u64> {
    Some(number).filter(|&number| number < limit)
}
