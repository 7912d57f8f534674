//! The parameters of delays at both ends: how long the far end's MAC takes to obey a pause, and the delay of
//! a port's own interface.

use std::borrow::Cow;

use floodway_units::{Bytes, Rate, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use crate::slots::{LinkInfo, ParamError, keyword_or, keyword_or_schema};

/// The keyword for the time that IEEE 802.3 allows.
const IEEE: &str = "ieee-802.3";
/// The keyword for the time that NVIDIA's headroom calculator counts.
const NVIDIA: &str = "nvidia";
/// A quantum of pause time: 512 bit times.
// IEEE 802.3, Annex 31B: the unit of pause times.
const QUANTUM: u64 = 64;
/// Quanta from a pause's arrival to its start, by Gbit/s.
// IEEE 802.3, Annex 31B.3.7: the longest reaction that is allowed, 30,720 bit times at 10G.
const QUANTA: [(u64, u64); 8] =
    [(10, 60), (25, 80), (40, 118), (50, 147), (100, 394), (200, 453), (400, 905), (800, 905)];
/// The same of NVIDIA's headroom calculator (`buffer_headroom_mellanox.lua` of `SONiC`), where it differs.
const NVIDIA_QUANTA: [(u64, u64); 1] = [(10, 67)];

/// From a pause's arrival to its start: `"2us"`, or at the link's rate `"ieee-802.3"` for the time that it
/// allows, and `"nvidia"` for the time that NVIDIA's headroom calculator counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum React {
    /// As given.
    After(Span),
    /// The time that IEEE 802.3 allows at the link's rate.
    Ieee,
    /// The time that NVIDIA's headroom calculator counts at the link's rate: more at 10G, else the same.
    Nvidia,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterfaceDelay {
    /// As given.
    After(Span),
    /// The most at the link's rate.
    Ieee,
}

impl InterfaceDelay {
    /// The time on this link; 0 at a rate for which none is known, which [`InterfaceDelay::check`] rejects.
    pub fn on(self, link: &LinkInfo) -> Span {
        match self {
            InterfaceDelay::After(span) => span,
            InterfaceDelay::Ieee => interface(link.rate).unwrap_or_default(),
        }
    }

    /// Is a time defined for the link's rate?
    ///
    /// # Errors
    /// None is known for it.
    pub fn check(self, link: &LinkInfo) -> Result<(), ParamError> {
        let unknown = self == InterfaceDelay::Ieee && interface(link.rate).is_none();
        if unknown {
            Err(unlisted("interface-delay", IEEE, "delay of an interface", link.rate))
        } else {
            Ok(())
        }
    }
}

impl Default for InterfaceDelay {
    fn default() -> Self {
        InterfaceDelay::After(Span::ZERO)
    }
}

impl Serialize for InterfaceDelay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            InterfaceDelay::After(span) => span.serialize(serializer),
            InterfaceDelay::Ieee => serializer.serialize_str(IEEE),
        }
    }
}

impl<'de> Deserialize<'de> for InterfaceDelay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(keyword_or::<Span, D>(IEEE, deserializer)?.map_or(InterfaceDelay::Ieee, InterfaceDelay::After))
    }
}

impl JsonSchema for InterfaceDelay {
    fn schema_name() -> Cow<'static, str> {
        "InterfaceDelay".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        keyword_or_schema::<Span>(IEEE, generator)
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
            React::Ieee => taking(allowed(link.rate), link.rate).unwrap_or_default(),
            React::Nvidia => taking(counted(link.rate), link.rate).unwrap_or_default(),
        }
    }

    /// Is a time defined for the link's rate?
    ///
    /// # Errors
    /// IEEE 802.3 lists none for it.
    pub fn check(self, link: &LinkInfo) -> Result<(), ParamError> {
        let keyword = match self {
            React::After(_) => return Ok(()),
            React::Ieee => IEEE,
            React::Nvidia => NVIDIA,
        };
        if allowed(link.rate).is_none() {
            return Err(unlisted("react", keyword, "reaction time", link.rate));
        }
        Ok(())
    }
}

/// The error of a rate for which there is no such time under this keyword.
fn unlisted(key: &'static str, keyword: &str, what: &str, rate: Rate) -> ParamError {
    let rates: Vec<String> = QUANTA.iter().map(|(gbps, _)| format!("{gbps}G")).collect();
    let listed = rates.join(", ");
    let message =
        format!("{keyword:?} has no {what} for {rate}, but for {listed}: write a time like \"2us\"");
    ParamError::new(key, message)
}

/// The quanta within which IEEE 802.3 lets a MAC react at a rate.
fn allowed(rate: Rate) -> Option<u64> {
    of_rate(&QUANTA, rate)
}

/// Those of NVIDIA's headroom calculator.
fn counted(rate: Rate) -> Option<u64> {
    of_rate(&NVIDIA_QUANTA, rate).or_else(|| allowed(rate))
}

fn taking(quanta: Option<u64>, rate: Rate) -> Option<Span> {
    quanta.map(|quanta| rate.time_to_send(Bytes(quanta * QUANTUM)))
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
            React::Nvidia => serializer.serialize_str(NVIDIA),
        }
    }
}

/// `"nvidia"` or a time.
struct NvidiaOr(Option<Span>);

impl<'de> Deserialize<'de> for NvidiaOr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        keyword_or::<Span, D>(NVIDIA, deserializer).map(NvidiaOr)
    }
}

impl<'de> Deserialize<'de> for React {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match keyword_or::<NvidiaOr, D>(IEEE, deserializer)? {
            None => React::Ieee,
            Some(NvidiaOr(None)) => React::Nvidia,
            Some(NvidiaOr(Some(span))) => React::After(span),
        })
    }
}

impl JsonSchema for React {
    fn schema_name() -> Cow<'static, str> {
        "React".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "const": IEEE }, { "const": NVIDIA }, generator.subschema_for::<Span>()] })
    }
}
