//! Selectors of the objects that a part of a scenario applies to: globs over names, tags, workloads.

use std::collections::BTreeSet;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::error::nearest;

/// Objects by name or tag: `"t*"`, `["t1", "t2"]`, `{ tag = "tor" }`, of flows also `{ workload =
/// "background" }`. A list selects the objects of all its members.
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

    /// Whether it is exactly this word.
    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.0.as_slice(), [Term::Name(name)] if name == word)
    }

    /// A name, without wildcards, that it has twice.
    pub fn twice(&self) -> Option<&str> {
        let mut seen = BTreeSet::new();
        self.0.iter().find_map(|term| match term {
            Term::Name(name) if !name.contains(['*', '?']) && !seen.insert(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Whether the object of this name and these tags is selected.
    pub fn matches(&self, name: &str, tags: &[String]) -> bool {
        self.0.iter().any(|term| match term {
            Term::Name(pattern) | Term::Workload(pattern) => glob(pattern, name),
            Term::Tag(pattern) => tags.iter().any(|tag| glob(pattern, tag)),
        })
    }

    /// What of it selects none of these objects: itself where nothing is selected, else its first member that
    /// adds none.
    pub fn astray<'a>(
        &self,
        objects: impl Iterator<Item = (&'a str, &'a [String])> + Clone,
    ) -> Option<Selector> {
        let is_astray = |of: &Selector| !objects.clone().any(|(name, tags)| of.matches(name, tags));
        if is_astray(self) {
            return Some(self.clone());
        }
        let members = self.0.iter().map(|term| Selector(vec![term.clone()]));
        members.filter(|_| self.0.len() > 1).find(is_astray)
    }

    /// Where it selects none of these objects: the nearest name or tag, if one is near enough.
    pub fn suggestion<'a>(
        &self,
        objects: impl Iterator<Item = (&'a str, &'a [String])> + Clone,
    ) -> Option<String> {
        let names: BTreeSet<&str> = objects.clone().map(|(name, _)| name).collect();
        let tags: BTreeSet<&str> = objects.flat_map(|(_, tags)| tags).map(String::as_str).collect();
        self.0.iter().find_map(|term| match term {
            Term::Name(name) if tags.contains(name.as_str()) => Some(format!("{{ tag = {name:?} }}")),
            Term::Name(pattern) | Term::Workload(pattern) => nearest_match(pattern, &names),
            Term::Tag(pattern) => nearest_match(pattern, &tags),
        })
    }

    /// Whether it is a list without members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it uses only these tags.
    pub fn is_of_tags(&self, tags: &[&str]) -> bool {
        self.0.iter().all(|term| matches!(term, Term::Tag(tag) if tags.contains(&tag.as_str())))
    }

    /// Whether it names a workload, which only flows have.
    pub fn names_workload(&self) -> bool {
        self.0.iter().any(|term| matches!(term, Term::Workload(_)))
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("[]");
        }
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

/// Whether `text` matches `pattern`, where `*` matches any characters and `?` matches one.
pub fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // The position to return to: after the last star, which then matches one more character.
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

/// The word that a pattern matches after the fewest edits: without `*` and `?` as many edits as for any word,
/// otherwise one per three of its letters, because a glob restricts the word less.
pub fn nearest_match(pattern: &str, words: &BTreeSet<&str>) -> Option<String> {
    if !pattern.contains(['*', '?']) {
        return nearest(pattern, &words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
    }
    let letters = pattern.chars().filter(|c| !matches!(c, '*' | '?')).count();
    let best = words.iter().min_by_key(|word| slips(pattern, word))?;
    (slips(pattern, best) <= letters / 3).then(|| (*best).to_owned())
}

/// Number of letters of `text` to add, drop, change or swap with the next until `pattern` matches.
fn slips(pattern: &str, text: &str) -> usize {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let mut of = vec![vec![0; text.len() + 1]; pattern.len() + 1];
    of[0] = (0..=text.len()).collect();
    for (i, &c) in (1..).zip(&pattern) {
        let free = usize::from(c != '*');
        of[i][0] = of[i - 1][0] + free;
        for (j, &d) in (1..).zip(&text) {
            let change = usize::from(!matches!(c, '*' | '?') && c != d);
            let mut least = (of[i - 1][j] + free).min(of[i][j - 1] + free).min(of[i - 1][j - 1] + change);
            if i > 1 && j > 1 && c == text[j - 2] && pattern[i - 2] == d {
                least = least.min(of[i - 2][j - 2] + 1);
            }
            of[i][j] = least;
        }
    }
    of[pattern.len()][text.len()]
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
            return Err(de::Error::custom("give one of: tag, workload"));
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
        let (tag, workload) = (generator.subschema_for::<ByTag>(), generator.subschema_for::<ByWorkload>());
        json_schema!({
            "description": "Objects: a name with * and ? as wildcards, a tag, the workload of flows, or a list of these.",
            "anyOf": [text, tag, workload, { "type": "array", "items": { "$ref": "#/$defs/Selector" } }],
        })
    }
}

/// Objects that have a tag.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct ByTag {
    /// The tag, with `*` and `?` as wildcards.
    #[expect(dead_code, reason = "it describes a form")]
    tag: String,
}

/// Flows of a workload.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct ByWorkload {
    /// The workload's name, with `*` and `?` as wildcards.
    #[expect(dead_code, reason = "it describes a form")]
    workload: String,
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

    #[test]
    fn a_pattern_that_matches_nothing_gets_the_nearest_name() {
        let words = BTreeSet::from(["s1-s2", "h1-s1", "bottleneck", "tor12"]);
        for (pattern, expected) in [
            ("s1-x*", Some("s1-s2")),
            ("*-s3", Some("h1-s1")),
            ("*-core3", None),
            ("tro*", Some("tor12")),
            ("botleneck*", Some("bottleneck")),
            ("s1-s3", Some("s1-s2")),
            ("x*", None),
            ("*?", Some("bottleneck")),
        ] {
            assert_eq!(nearest_match(pattern, &words).as_deref(), expected, "{pattern}");
        }
        for pattern in ["", "*", "a*b*c", "x1-x2#*", "*-x?", "??"] {
            for text in ["", "aXbYbZc", "x1-x2#3", "c1-x2", "ab"] {
                assert_eq!(slips(pattern, text) == 0, glob(pattern, text), "{pattern} {text}");
            }
        }
    }
}
