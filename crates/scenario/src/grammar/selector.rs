//! Which objects a part of a scenario speaks of: globs over names, tags, workloads.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Objects by name or tag: `"t*"`, `["t1", "t2"]`, `{ tag = "tor" }`, of flows also
/// `{ workload = "background" }`. A list selects what any of its members does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector(Vec<Term>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Term {
    Name(String),
    Tag(String),
    Workload(String),
}

impl Selector {
    /// All objects.
    pub fn all() -> Self {
        Selector(vec![Term::Name("*".into())])
    }

    /// The objects of this name.
    pub fn word(word: &str) -> Self {
        Selector(vec![Term::Name(word.to_owned())])
    }

    /// The objects of this tag.
    pub fn tag(tag: &str) -> Self {
        Selector(vec![Term::Tag(tag.to_owned())])
    }

    /// Is it just this word?
    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.0.as_slice(), [Term::Name(name)] if name == word)
    }

    /// Is the object of this name and these tags selected?
    pub fn matches(&self, name: &str, tags: &[String]) -> bool {
        self.0.iter().any(|term| match term {
            Term::Name(pattern) | Term::Workload(pattern) => glob(pattern, name),
            Term::Tag(pattern) => tags.iter().any(|tag| glob(pattern, tag)),
        })
    }

    /// Does it name a workload, which only flows have?
    pub fn names_workload(&self) -> bool {
        self.0.iter().any(|term| matches!(term, Term::Workload(_)))
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, term) in self.0.iter().enumerate() {
            let separator = if i > 0 { ", " } else { "" };
            match term {
                Term::Name(name) => write!(f, "{separator}{name:?}")?,
                Term::Tag(tag) => write!(f, "{separator}{{ tag = {tag:?} }}")?,
                Term::Workload(name) => write!(f, "{separator}{{ workload = {name:?} }}")?,
            }
        }
        Ok(())
    }
}

/// Does `text` match `pattern`, where `*` stands for any characters and `?` for one?
pub fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where to go back to: after the last star, with one character more for it.
    let mut star = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p + 1, t));
                p += 1;
            }
            Some(&c) if c == '?' || c == text[t] => (p, t) = (p + 1, t + 1),
            _ => match star {
                Some((after, from)) => {
                    star = Some((after, from + 1));
                    (p, t) = (after, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

impl<'de> Deserialize<'de> for Selector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SelectorVisitor)
    }
}

struct SelectorVisitor;

impl<'de> Visitor<'de> for SelectorVisitor {
    type Value = Selector;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name, a list of names, or { tag = \"...\" }")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Selector, E> {
        Ok(Selector(vec![Term::Name(name.to_owned())]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Selector, A::Error> {
        let mut terms = Vec::new();
        while let Some(Selector(more)) = items.next_element()? {
            terms.extend(more);
        }
        Ok(Selector(terms))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Selector, A::Error> {
        const KEYS: &[&str] = &["tag", "workload"];
        let mut terms = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "tag" => terms.push(Term::Tag(map.next_value()?)),
                "workload" => terms.push(Term::Workload(map.next_value()?)),
                _ => return Err(de::Error::unknown_field(&key, KEYS)),
            }
        }
        if terms.len() != 1 {
            return Err(de::Error::custom("name one of: tag, workload"));
        }
        Ok(Selector(terms))
    }
}

impl JsonSchema for Selector {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Selector".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let text = generator.subschema_for::<String>();
        json_schema!({ "anyOf": [
            text,
            { "type": "array", "items": { "$ref": "#/$defs/Selector" } },
            { "type": "object", "properties": { "tag": text, "workload": text }, "additionalProperties": false,
              "minProperties": 1, "maxProperties": 1 },
        ] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_match() {
        for (pattern, text, expected) in [
            ("t*", "t12", true),
            ("t*", "at1", false),
            ("*-x?", "c1-x2", true),
            ("*-x?", "c1-x22", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbY", false),
            ("", "", true),
            ("*", "", true),
            ("x1-x2#*", "x1-x2#3", true),
        ] {
            assert_eq!(glob(pattern, text), expected, "{pattern} {text}");
        }
    }
}
