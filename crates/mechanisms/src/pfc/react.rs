//! The reaction-time parameter: how long a MAC takes to obey a pause.

use std::borrow::Cow;

use floodway_units::{Bytes, Rate, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use crate::slots::{LinkInfo, ParamError, keyword_or, keyword_or_schema};

/// The keyword for the time that IEEE 802.3 allows.
const IEEE: &str = "ieee-802.3";
/// A quantum of pause time: 512 bit times.
// IEEE 802.3, Annex 31B: the unit of pause times.
const QUANTUM: u64 = 64;
/// Quanta from a pause's arrival to its start, by Gbit/s (values of NVIDIA's headroom calculator in
/// `buffer_headroom_mellanox.lua` of `SONiC`).
// IEEE 802.3, Annex 31B.3.7: the longest reaction that is allowed.
const QUANTA: [(u64, u64); 8] =
    [(10, 67), (25, 80), (40, 118), (50, 147), (100, 394), (200, 453), (400, 905), (800, 905)];

/// From a pause's arrival to its start: `"2us"`, or `"ieee-802.3"` for the time that it allows at the link's
/// rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum React {
    /// As given.
    After(Span),
    /// The time that IEEE 802.3 allows at the link's rate.
    Ieee,
}

impl Default for React {
    fn default() -> Self {
        React::After(Span::ZERO)
    }
}

impl React {
    /// The time on this link; 0 at a rate that IEEE 802.3 does not list, which [`React::check`] rejects.
    pub fn on(self, link: &LinkInfo) -> Span {
        match self {
            React::After(span) => span,
            React::Ieee => allowed(link.rate).unwrap_or_default(),
        }
    }

    /// Is a time defined for the link's rate?
    ///
    /// # Errors
    /// IEEE 802.3 lists none for it.
    pub fn check(self, link: &LinkInfo) -> Result<(), ParamError> {
        if self == React::Ieee && allowed(link.rate).is_none() {
            let rates: Vec<String> = QUANTA.iter().map(|(gbps, _)| format!("{gbps}G")).collect();
            let message = format!(
                "{IEEE:?} has no reaction time for {}, but for {}: write a time like \"2us\"",
                link.rate,
                rates.join(", ")
            );
            return Err(ParamError::new("react", message));
        }
        Ok(())
    }
}

/// The time that IEEE 802.3 allows at a rate.
fn allowed(rate: Rate) -> Option<Span> {
    let quanta = QUANTA.iter().find(|(gbps, _)| Rate::gbps(*gbps) == rate).map(|(_, quanta)| *quanta)?;
    Some(rate.time_to_send(Bytes(quanta * QUANTUM)))
}

impl Serialize for React {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            React::After(span) => span.serialize(serializer),
            React::Ieee => serializer.serialize_str(IEEE),
        }
    }
}

impl<'de> Deserialize<'de> for React {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(keyword_or::<Span, D>(IEEE, deserializer)?.map_or(React::Ieee, React::After))
    }
}

impl JsonSchema for React {
    fn schema_name() -> Cow<'static, str> {
        "React".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        keyword_or_schema::<Span>(IEEE, generator)
    }
}
