//! The parameters of delays at both ends: how long the far end's MAC takes to obey a pause, and the delay of
//! a port's own interface.

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

/// Bit times of a port's own interface, out and in, by Gbit/s.
// IEEE 802.1Qbb, Annex O: the interface's delay, as Cisco quotes it for 10, 25, 40 and 100G ("How to compute
// headroom", part 2). For the others none is quoted, and what IEEE 802.3 allows the far end counts: it is the
// sum of the delays of an interface's sublayers, out and in, which bounds them at either end.
const INTERFACE_BITS: [(u64, u64); 8] = [
    (10, 8_192),
    (25, 6_144),
    (40, 24_576),
    (50, 147 * 512),
    (100, 122_880),
    (200, 453 * 512),
    (400, 905 * 512),
    (800, 905 * 512),
];

/// Delay of a port's own interface, of the pause on its way out and of data on their way in: `"1us"`, or
/// `"ieee-802.3"` for the most that an interface may take at the link's rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct InterfaceDelay(pub React);

impl InterfaceDelay {
    /// The time on this link; 0 at a rate for which none is known, which [`InterfaceDelay::check`] rejects.
    pub fn on(self, link: &LinkInfo) -> Span {
        match self.0 {
            React::After(span) => span,
            React::Ieee => interface(link.rate).unwrap_or_default(),
        }
    }

    /// Is a time defined for the link's rate?
    ///
    /// # Errors
    /// None is known for it.
    pub fn check(self, link: &LinkInfo) -> Result<(), ParamError> {
        let unknown = self.0 == React::Ieee && interface(link.rate).is_none();
        if unknown { Err(unlisted("interface-delay", "delay of an interface", link.rate)) } else { Ok(()) }
    }
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
        let unknown = self == React::Ieee && allowed(link.rate).is_none();
        if unknown { Err(unlisted("react", "reaction time", link.rate)) } else { Ok(()) }
    }
}

/// The error of a rate for which IEEE 802.3 has no such time.
fn unlisted(key: &'static str, what: &str, rate: Rate) -> ParamError {
    let rates: Vec<String> = QUANTA.iter().map(|(gbps, _)| format!("{gbps}G")).collect();
    let listed = rates.join(", ");
    let message = format!("{IEEE:?} has no {what} for {rate}, but for {listed}: write a time like \"2us\"");
    ParamError::new(key, message)
}

/// The reaction that IEEE 802.3 allows at a rate.
fn allowed(rate: Rate) -> Option<Span> {
    of_rate(&QUANTA, rate).map(|quanta| rate.time_to_send(Bytes(quanta * QUANTUM)))
}

/// The most that an interface takes at a rate, out and in.
fn interface(rate: Rate) -> Option<Span> {
    interface_bits(rate).map(|bits| rate.time_to_send(Bytes(bits / 8)))
}

fn of_rate(table: &[(u64, u64)], rate: Rate) -> Option<u64> {
    table.iter().find(|(gbps, _)| Rate::gbps(*gbps) == rate).map(|(_, value)| *value)
}

/// The most that an interface takes at a rate, out and in, in bit times; none where it is not known.
pub fn interface_bits(rate: Rate) -> Option<u64> {
    of_rate(&INTERFACE_BITS, rate)
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
