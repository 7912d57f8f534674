//! The grammar of quantities: a number and a unit, `"10us"`, `"400G"`, `"9.5MiB"`, `"80km"`.
//!
//! A number may have a fraction and a power of ten (`"1.5e6B"`) if the quantity is whole in the base unit. A
//! bare number without a required unit is an error that shows the correct spelling. The module also has serde
//! and JSON Schema for all quantities, so that every interface uses the same grammar.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::cast::saturated;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::{Bytes, Length, Quanta, Rate, Span, Time};

/// A count with what is counted, a noun whose plural ends in s.
pub fn counted<N: fmt::Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let ending = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// The reason why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is not a {what}: {why}; write it like {example:?}")]
pub struct UnitError {
    /// The text as written.
    pub given: String,
    /// The expected quantity: "time", "rate", "size", "length".
    pub what: &'static str,
    /// The fault.
    pub why: String,
    /// A correct spelling: of the given quantity, if its unit is recognised.
    pub example: String,
}

/// The units of one kind of quantity, smallest first.
#[derive(Clone, Copy)]
pub(crate) struct Units {
    what: &'static str,
    example: &'static str,
    /// (suffix, base units in one); the units for printing first, from small to large.
    table: &'static [(&'static str, u64)],
    /// Number of entries of the table that are used for printing.
    printed: usize,
}

pub(crate) const SPAN: Units = Units {
    what: "time",
    example: "10us",
    table: &[("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)],
    printed: 5,
};

pub(crate) const RATE: Units = Units {
    what: "rate",
    example: "400G",
    table: &[
        ("bps", 1),
        ("K", 1_000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
        ("T", 1_000_000_000_000),
        ("Kbps", 1_000),
        ("Mbps", 1_000_000),
        ("Gbps", 1_000_000_000),
        ("Tbps", 1_000_000_000_000),
    ],
    printed: 5,
};

pub(crate) const BYTES: Units = Units {
    what: "size",
    example: "288KB",
    table: &[
        ("B", 1),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ],
    printed: 5,
};

pub(crate) const LENGTH: Units =
    Units { what: "length", example: "80km", table: &[("m", 1), ("km", 1_000)], printed: 2 };

impl Units {
    /// The correct unit for a wrong one: the same in other letter case, or with the extra words that other
    /// programs use.
    fn unit_for(self, suffix: &str) -> Option<&'static str> {
        let bare = suffix.replace(['\u{b5}', '\u{3bc}'], "u").to_lowercase();
        let stem = ["it/s", "its/s", "/s", "it", "ytes", "yte", "econds", "ec"]
            .iter()
            .find_map(|end| bare.strip_suffix(end));
        let words =
            [Some(bare.as_str()), stem, bare.strip_suffix("b"), stem.and_then(|stem| stem.strip_suffix('b'))];
        let with_b = format!("{bare}b");
        let mut words = words.into_iter().flatten().chain([with_b.as_str()]).filter(|word| !word.is_empty());
        words.find_map(|word| {
            let same = |(name, _): &&(&str, u64)| name.to_lowercase() == word;
            self.table.iter().find(same).map(|(name, _)| *name)
        })
    }
}

/// The exact number of base units in `text`.
pub(crate) fn parse(text: &str, units: Units) -> Result<u64, UnitError> {
    let error = |why: String| UnitError {
        given: text.to_owned(),
        what: units.what,
        why,
        example: units.example.to_owned(),
    };
    let trimmed = text.trim();
    let split = unit_at(trimmed);
    let (number, suffix) = (trimmed[..split].trim(), trimmed[split..].trim());
    if number.starts_with('-') {
        return Err(error("it is negative".into()));
    }
    if suffix.is_empty() {
        return Err(error("its unit is missing".into()));
    }
    if number.is_empty() {
        return Err(error("it does not begin with a number".into()));
    }
    let Some(&(_, unit)) = units.table.iter().find(|(name, _)| *name == suffix) else {
        let allowed: Vec<_> = units.table.iter().map(|(name, _)| *name).collect();
        let fault = error(format!("the unit {suffix:?} is not one of {}", allowed.join(", ")));
        let unit = units.unit_for(suffix).map(|unit| format!("{number}{unit}"));
        return Err(UnitError { example: unit.unwrap_or(fault.example), ..fault });
    };
    let not_a_number = || error(format!("{number:?} is not a number"));
    let (digits, power) = decimal(number).ok_or_else(not_a_number)?;
    let too_large = || error("it is too large".into());
    let scale = 10u128.checked_pow(power.unsigned_abs()).ok_or_else(too_large)?;
    let value = digits.and_then(|digits| digits.checked_mul(u128::from(unit))).ok_or_else(too_large)?;
    if power >= 0 {
        let whole = value.checked_mul(scale).and_then(|value| u64::try_from(value).ok());
        return whole.ok_or_else(too_large);
    }
    if value % scale != 0 {
        return Err(error(format!("it is not a whole number of {}", units.table[0].0)));
    }
    u64::try_from(value / scale).map_err(|_| too_large())
}

/// The start of the unit: the first letter that is not part of a power of ten.
fn unit_at(text: &str) -> usize {
    let letter = |from: usize| text[from..].find(char::is_alphabetic).map_or(text.len(), |at| from + at);
    let first = letter(0);
    match text.as_bytes()[first..] {
        [b'e' | b'E', b'0'..=b'9' | b'+' | b'-', ..] => letter(first + 1),
        _ => first,
    }
}

/// `"1.5e6"` as 15 and the power of ten 5; none if it is not a number, and no digits if there are too many.
fn decimal(number: &str) -> Option<(Option<u128>, i32)> {
    let (mantissa, power) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digit = |c: char| c.is_ascii_digit();
    let are_digits = |part: &str| part.chars().all(|c| is_digit(c) || c == '_');
    if !mantissa.contains(is_digit) || !are_digits(whole) || !are_digits(fraction) {
        return None;
    }
    let digit = |sum: u128, byte: u8| sum.checked_mul(10)?.checked_add(u128::from(byte - b'0'));
    let digits = whole.bytes().chain(fraction.bytes()).filter(u8::is_ascii_digit).try_fold(0, digit);
    let decimals = i32::try_from(fraction.chars().filter(|c| is_digit(*c)).count()).ok()?;
    Some((digits, power.parse::<i32>().ok()?.checked_sub(decimals)?))
}

/// The shortest exact text: the largest unit that leaves at most three decimals.
pub(crate) fn with_unit(value: u64, units: Units) -> String {
    for &(suffix, unit) in units.table[..units.printed].iter().rev() {
        if value >= unit && u128::from(value) * 1000 % u128::from(unit) == 0 {
            let thousandths = saturated(u128::from(value) * 1000 / u128::from(unit));
            let text = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
            return format!("{}{suffix}", text.trim_end_matches('0').trim_end_matches('.'));
        }
    }
    format!("{value}{}", units.table[0].0)
}

macro_rules! quantity {
    ($($name:ident: $units:expr, $schema:literal;)*) => {$(
        impl FromStr for $name {
            type Err = UnitError;
            fn from_str(text: &str) -> Result<Self, UnitError> {
                parse(text, $units).map($name)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(Text($units)).map($name)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                $schema.into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let units: Vec<_> = $units.table.iter().map(|(suffix, _)| *suffix).collect();
                json_schema!({
                    "type": "string",
                    "pattern": format!("^[0-9_]+(\\.[0-9_]+)?([eE][+-]?[0-9]+)? *({})$", units.join("|")),
                    "examples": [$units.example],
                })
            }
        }
    )*};
}

quantity! {
    Span: SPAN, "Time";
    Rate: RATE, "Rate";
    Bytes: BYTES, "Size";
    Length: LENGTH, "Length";
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Span(self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Span::deserialize(deserializer).map(|span| Time(span.0))
    }
}

impl JsonSchema for Time {
    fn schema_name() -> Cow<'static, str> {
        Span::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Span::json_schema(generator)
    }
}

impl Serialize for Quanta {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u16(self.0)
    }
}

impl<'de> Deserialize<'de> for Quanta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u16::deserialize(deserializer).map(Quanta)
    }
}

impl JsonSchema for Quanta {
    fn schema_name() -> Cow<'static, str> {
        "Quanta".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        u16::json_schema(generator)
    }
}

/// Reads a quantity; a bare number is an error that shows the unit.
struct Text(Units);

impl Text {
    fn bare<E: de::Error>(&self, given: impl fmt::Display) -> E {
        E::custom(UnitError {
            given: given.to_string(),
            what: self.0.what,
            why: "its unit is missing".into(),
            example: self.0.example.to_owned(),
        })
    }
}

impl Visitor<'_> for Text {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {} like {:?}", self.0.what, self.0.example)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<u64, E> {
        parse(text, self.0).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<u64, E> {
        Err(self.bare(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<u64, E> {
        Err(self.bare(number))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<u64, E> {
        Err(self.bare(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_a_thing_has_no_plural() {
        assert_eq!([0_u64, 1, 2].map(|count| counted(count, "word")), ["0 words", "1 word", "2 words"]);
    }

    #[test]
    fn quantities_are_read_exactly() {
        assert_eq!("10us".parse(), Ok(Span::us(10)));
        assert_eq!("1.5 us".parse(), Ok(Span::ns(1_500)));
        assert_eq!("400G".parse(), Ok(Rate::gbps(400)));
        assert_eq!("100Gbps".parse(), Ok(Rate::gbps(100)));
        assert_eq!("9.5MiB".parse(), Ok(Bytes(9_961_472)));
        assert_eq!(
            "1.000_5KB".parse::<Bytes>().map_err(|error| error.why),
            Err("it is not a whole number of B".into())
        );
        assert_eq!("1_000.2_5KB".parse(), Ok(Bytes(1_000_250)));
        assert_eq!("80km".parse::<Length>().map(Length::delay), Ok(Span::us(400)));
    }

    #[test]
    fn powers_of_ten_are_exact() {
        assert_eq!("1e6B".parse(), Ok(Bytes::mb(1)));
        assert_eq!("1.5E+3 KB".parse(), Ok(Bytes(1_500_000)));
        assert_eq!("2500e-3us".parse(), Ok(Span::ns(2_500)));
        assert_eq!("18446744073709551615e0B".parse(), Ok(Bytes::MAX));
        let why = |text: &str| text.parse::<Bytes>().unwrap_err().why;
        assert_eq!(why("1e-1B"), "it is not a whole number of B");
        assert_eq!(why("1e30B"), "it is too large");
        assert_eq!(why("1e999999999B"), "it is too large");
        assert_eq!(why("1e99999999999B"), "\"1e99999999999\" is not a number");
        assert_eq!(why("1e+B"), "\"1e+\" is not a number");
        assert_eq!(why("1e6"), "its unit is missing");
        assert!(why("1eB").starts_with("the unit \"eB\" is not one of"));
    }

    #[test]
    fn what_is_not_a_quantity_is_refused_with_the_reason() {
        let why = |text: &str| text.parse::<Span>().unwrap_err().to_string();
        assert_eq!(why("10"), r#""10" is not a time: its unit is missing; write it like "10us""#);
        assert_eq!(why("-1us"), r#""-1us" is not a time: it is negative; write it like "10us""#);
        assert!(why("1m").contains("not one of ps, ns, us, ms, s"));
        assert!(why("0.5ps").contains("not a whole number of ps"));
        assert!(why("99999999999999s").contains("too large"));
        assert!(why("1.2.3us").contains("not a number"));
        assert!(why("us").contains("begin with a number"));
    }

    #[test]
    fn a_wrong_unit_gets_a_suggestion() {
        let example = |error: UnitError| error.example;
        for (given, right) in [
            ("100Gb", "100G"),
            ("100g", "100G"),
            ("40Gbit/s", "40G"),
            ("9 gbps", "9Gbps"),
            ("1Gb/s", "1G"),
            ("5x", "400G"),
        ] {
            assert_eq!(given.parse::<Rate>().map_err(example), Err(right.into()), "{given}");
        }
        for (given, right) in
            [("1\u{b5}s", "1us"), ("10US", "10us"), ("3sec", "3s"), ("2usec", "2us"), ("3km", "10us")]
        {
            assert_eq!(given.parse::<Span>().map_err(example), Err(right.into()), "{given}");
        }
        for (given, right) in
            [("320kb", "320KB"), ("1M", "1MB"), ("5bytes", "5B"), ("9kib", "9KiB"), ("1Ki", "1KiB")]
        {
            assert_eq!(given.parse::<Bytes>().map_err(example), Err(right.into()), "{given}");
        }
    }

    #[test]
    fn text_survives_a_round_trip() {
        for text in ["84us", "1.5us", "0ps", "83884800ps"] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.to_string().parse(), Ok(span));
        }
        assert_eq!(Rate::gbps(400).to_string(), "400G");
        assert_eq!(Bytes(288_000).to_string(), "288KB");
        assert_eq!(Bytes(1_048).to_string(), "1.048KB");
    }
}
