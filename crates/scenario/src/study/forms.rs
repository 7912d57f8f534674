//! Forms of values in a study: texts alone or in lists, numbers, seeds, any value of TOML.

use std::fmt;

use floodway_units::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Any value of TOML.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Toml(pub Value);

/// A file, or keys as a table.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "it is the form in the schema")]
pub enum ScenarioForm {
    /// A scenario file, relative to the study's folder.
    File(String),
    /// Its keys.
    Keys(serde_json::Map<String, Value>),
}

/// Texts; a single one needs no list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(pub Vec<String>);

impl JsonSchema for Words {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Words".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }]
        })
    }
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Words;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of strings")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Words, E> {
                Ok(Words(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Words, A::Error> {
                let mut found = Vec::new();
                while let Some(item) = items.next_element()? {
                    found.push(item);
                }
                Ok(Words(found))
            }
        }
        deserializer.deserialize_any(OneOrMany)
    }
}

/// A finite number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Number(pub f64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        if number.is_finite() {
            return Ok(Number(number));
        }
        Err(D::Error::custom(format_args!("{number} is not a finite number")))
    }
}

/// A list of finite numbers.
pub type Numbers = Vec<Number>;

/// Seeds: how many, or which.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Seeds {
    /// So many, from the scenario's own on.
    Count(u64),
    /// These.
    List(Vec<u64>),
}

impl JsonSchema for Seeds {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Seeds".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "anyOf": [
                { "type": "integer", "minimum": 1 },
                { "type": "array", "items": { "type": "integer", "minimum": 0 } }
            ]
        })
    }
}

impl<'de> Deserialize<'de> for Seeds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountOrList;
        impl<'de> Visitor<'de> for CountOrList {
            type Value = Seeds;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of at least 1 or a list of seeds")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Seeds, E> {
                match u64::try_from(number) {
                    Ok(count) if count >= 1 => Ok(Seeds::Count(count)),
                    _ => Err(E::custom(format_args!(
                        "{number} is neither a number of at least 1 nor a list of seeds"
                    ))),
                }
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Seeds, E> {
                Ok(Seeds::Count(number))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Seeds, A::Error> {
                let mut found: Vec<u64> = Vec::new();
                while let Some(seed) = items.next_element()? {
                    if found.contains(&seed) {
                        return Err(A::Error::custom(format_args!("{seed} is given twice")));
                    }
                    found.push(seed);
                }
                if found.is_empty() {
                    return Err(A::Error::custom("an empty list is no list of seeds"));
                }
                Ok(Seeds::List(found))
            }
        }
        deserializer.deserialize_any(CountOrList)
    }
}

/// A value as TOML in one line, as `--set` takes it; None if TOML has no such value.
pub fn toml_text(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Option<Vec<_>> = items.iter().map(toml_text).collect();
            format!("[{}]", items?.join(", "))
        }
        Value::Object(table) if table.is_empty() => "{}".to_owned(),
        Value::Object(table) => {
            let pair =
                |(name, value): (&String, &Value)| Some(format!("{} = {}", key(name), toml_text(value)?));
            let pairs: Option<Vec<_>> = table.iter().map(pair).collect();
            format!("{{ {} }}", pairs?.join(", "))
        }
    })
}

/// A value as people name it: text without quotes, a whole number without its point.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => {
                format!("{float:.0}")
            }
            _ => number.to_string(),
        },
        other => toml_text(other).unwrap_or_default(),
    }
}

/// The number that a value is, or a quantity in us, Gbit/s, bytes or km; none for anything else.
pub fn number_of(value: &Value) -> Option<f64> {
    let text = match value {
        Value::Number(number) => return number.as_f64(),
        Value::String(text) => text,
        _ => return None,
    };
    if let Some(number) = text.parse().ok().filter(|number: &f64| number.is_finite()) {
        return Some(number);
    }
    if let Ok(span) = text.parse::<Span>() {
        return Some(span.as_us());
    }
    if let Ok(rate) = text.parse::<Rate>() {
        return Some(rate.as_gbps());
    }
    if let Ok(Bytes(bytes)) = text.parse() {
        return Some(exact(bytes));
    }
    text.strip_suffix("km")?.trim_end().parse().ok().filter(|km: &f64| km.is_finite())
}

/// Bytes as a number; counts of them are below 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts of bytes are below 2^53")]
fn exact(bytes: u64) -> f64 {
    bytes as f64
}

fn key(name: &str) -> String {
    let is_bare =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if is_bare { name.to_owned() } else { quoted(name) }
}

/// JSON's escapes are TOML's, but for a character that JSON leaves as it is.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_written_as_set_takes_them() {
        let value = json!({ "pfc": { "xoff": "1MB", "resume-offset": 0, "a b": [0.5, true, {}] } });
        let text = toml_text(&value).expect("TOML has it");
        assert_eq!(text, r#"{ pfc = { xoff = "1MB", resume-offset = 0, "a b" = [0.5, true, {}] } }"#);
        let read: toml::Value =
            toml::from_str::<toml::Table>(&format!("x = {text}")).expect("it is TOML")["x"].clone();
        assert_eq!(serde_json::to_value(read).expect("JSON has it"), value);
        assert_eq!(toml_text(&json!([null])), None);
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..3)
                    .prop_map(|table| Value::Object(table.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_read_again(value in value()) {
            let text = toml_text(&value).expect("TOML has it");
            let read: toml::Table = toml::from_str(&format!("x = {text}")).expect("it is TOML");
            prop_assert_eq!(serde_json::to_value(&read["x"]).expect("JSON has it"), value);
        }
    }

    #[test]
    fn values_have_names_and_numbers() {
        for (value, name, number) in [
            (json!("80km"), "80km", Some(80.0)),
            (json!("80 km"), "80 km", Some(80.0)),
            (json!("3ms"), "3ms", Some(3000.0)),
            (json!("400G"), "400G", Some(400.0)),
            (json!("1MB"), "1MB", Some(1e6)),
            (json!(2.0), "2", Some(2.0)),
            (json!(0.3), "0.3", Some(0.3)),
            (json!("7"), "7", Some(7.0)),
            (json!("pfc"), "pfc", None),
            (json!({ "pfc": {} }), "{ pfc = {} }", None),
        ] {
            assert_eq!((plain(&value).as_str(), number_of(&value)), (name, number));
        }
    }
}
