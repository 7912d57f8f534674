//! Flows listed one by one, in the scenario or in a file.

use std::fmt;

use floodway_units::{Bytes, Class, Span, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::StrDeserializer;
use serde::de::{self, Deserialize, Deserializer, IntoDeserializer, Visitor};

use super::csv::FlowRow;
use crate::grammar::forms::{Many, named};

/// A file of flows: CSV, or Parquet where Python reads it, with floodway's columns or those of SWING's
/// authors; or the flow file of an HPCC simulation.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowList {
    /// Its path, relative to the scenario's folder; `${NAME}` is replaced by an environment variable.
    pub file: String,
    /// The format of the file.
    #[serde(default)]
    pub format: ListFormat,
    /// The file's time at which the run begins: it is subtracted from all start times. Default: with `format
    /// = "hpcc"` the scenario's `origin`, else 0.
    #[serde(default)]
    pub origin: Option<Time>,
    /// With `format = "hpcc"`: a file that pins the paths of flows, with one line for each: `n source
    /// destination source-port destination-port size | nodes of the data's path | nodes of the ACKs' path`,
    /// where n counts the flows from 0 and nodes are ids. Default: none; switches choose.
    #[serde(default)]
    pub paths: Option<String>,
}

/// The format of a file of flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ListFormat {
    /// A table with a header line.
    #[default]
    Table,
    /// The format of the HPCC simulator: the number of flows, then for each flow a line `source destination
    /// priority-group destination-port bytes seconds`, sorted by start time. Nodes are ids: host 3 is `h3`.
    /// The priority group is the flow's class; source ports count from 10000 for each pair of hosts.
    Hpcc,
    /// The format of ConWeave's simulator: as `hpcc`, but without the destination port, which counts from 100
    /// for each destination; source ports count from 10000 for each source.
    Conweave,
}

impl ListFormat {
    /// Whether it is the format of the HPCC simulator or of one derived from it.
    pub fn is_ns3(self) -> bool {
        self != ListFormat::Table
    }
}

/// A flow, which may wait for others.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ListedFlow {
    /// Sender.
    pub from: String,
    /// Receiver.
    pub to: String,
    /// Payload, or `"unbounded"` for a flow without end.
    pub size: FlowSize,
    /// Its id, which other flows of the list use in `after`, unique. Default: nothing.
    #[serde(default, deserialize_with = "named")]
    pub id: Option<String>,
    /// Flows of the list that must be complete before it starts, by their ids: `"a"`, `["a", "b"]`. Each of
    /// them must end at the sender of this flow (it is complete when its last byte arrives) or begin there
    /// (it is complete when its last byte is acknowledged, or has left the NIC where there are no
    /// acknowledgements). Default: none.
    #[serde(default)]
    pub after: Many<String>,
    /// Time from the end of the last of those flows to the start of this one: the computation in between.
    /// Default: 0.
    #[serde(default)]
    pub wait: Option<Span>,
    /// Start time; the earliest one, if it waits for others. Default: at the workload's `start`, else 0.
    #[serde(default)]
    pub start: Option<Time>,
    /// Its class. Default: the workload's.
    #[serde(default)]
    pub class: Option<Class>,
    /// Source port, as switches hash it. Default: drawn from the flow's id, 49152 to 65535.
    #[serde(default)]
    pub source_port: Option<u16>,
    /// Destination port, as switches hash it. Default: 4791, RoCEv2's.
    #[serde(default)]
    pub destination_port: Option<u16>,
    /// The nodes on its data's path, as in `"h1,s1,s2,h2"`; `s2#2` is the second of the links to s2.
    #[serde(default)]
    pub path: Option<String>,
    /// The nodes on its ACKs' path, starting at the receiver.
    #[serde(default)]
    pub ack_path: Option<String>,
}

impl ListedFlow {
    /// As a row of a list.
    pub fn row(&self, start: Time) -> FlowRow {
        FlowRow {
            source: self.from.clone(),
            destination: self.to.clone(),
            size: self.size.0,
            id: self.id.clone(),
            after: self.after.0.clone(),
            wait: self.wait.unwrap_or_default(),
            start: self.start.unwrap_or(start),
            class: self.class,
            source_port: self.source_port,
            destination_port: self.destination_port,
            path: self.path.clone(),
            ack_path: self.ack_path.clone(),
        }
    }
}

/// Payload of a flow; none for a flow without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSize(pub Option<Bytes>);

impl<'de> Deserialize<'de> for FlowSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FlowSizeVisitor)
    }
}

impl JsonSchema for FlowSize {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FlowSize".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let size = generator.subschema_for::<Bytes>();
        json_schema!({ "anyOf": [{ "const": "unbounded" }, size] })
    }
}

struct FlowSizeVisitor;

impl Visitor<'_> for FlowSizeVisitor {
    type Value = FlowSize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size like \"1MB\", or \"unbounded\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<FlowSize, E> {
        if text == "unbounded" {
            return Ok(FlowSize(None));
        }
        let from: StrDeserializer<'_, E> = text.into_deserializer();
        Bytes::deserialize(from)
            .map(|size| FlowSize(Some(size)))
            .map_err(|error| E::custom(format_args!("{error}, or \"unbounded\"")))
    }
}
