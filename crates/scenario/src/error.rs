//! Errors of a scenario: one line each, with the place, what was given and what is allowed.

use std::fmt::{self, Write as _};
use std::sync::Arc;

pub(crate) use floodway_units::nearest;

use crate::shown::{cut, cut_values, hides};

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file, or the `--set` that wrote it.
    pub file: Arc<str>,
    /// Its line, from 1, where the file has lines.
    pub line: Option<u32>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// A fault of a scenario. Its text is one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.line())]
pub struct ScenarioError {
    /// Where.
    pub place: Place,
    /// Path of the key, as `--set` spells it; empty for the file as a whole.
    pub key: String,
    /// What is wrong.
    pub message: Box<str>,
    /// What was written there.
    pub given: Option<Box<str>>,
    /// What may be written there, where that is a list.
    pub allowed: Box<[String]>,
    /// The right one that looks most like what was given.
    pub nearest: Option<String>,
}

impl ScenarioError {
    /// A fault without a list of what is allowed.
    pub(crate) fn new(place: Place, key: impl Into<String>, message: impl Into<String>) -> Self {
        ScenarioError {
            place,
            key: key.into(),
            message: one_line(&message.into()).into(),
            given: None,
            allowed: Box::default(),
            nearest: None,
        }
    }

    /// `given` is not one of `allowed`; `what` it should be: "a key", "a choice".
    pub(crate) fn unknown(
        place: Place,
        key: impl Into<String>,
        given: &str,
        what: &str,
        allowed: Vec<String>,
    ) -> Self {
        ScenarioError {
            nearest: nearest(given, &allowed),
            given: Some(given.into()),
            message: format!("{given:?} is not {what}").into(),
            allowed: allowed.into(),
            ..ScenarioError::new(place, key, "")
        }
    }

    /// The same error with the nearest right name, if one is known.
    pub(crate) fn with_suggestion(self, nearest: Option<String>) -> Self {
        ScenarioError { nearest, ..self }
    }

    fn line(&self) -> String {
        let mut text = cut(&self.place.file);
        if let Some(line) = self.place.line {
            _ = write!(text, ":{line}");
        }
        for part in [cut(&self.key), cut_values(&self.message)] {
            if !part.is_empty() {
                text.push_str(": ");
                text.push_str(&shortened(&part));
            }
        }
        if !self.allowed.is_empty() {
            text.push_str("; allowed: ");
            text.push_str(&shortened(&cut_values(&self.allowed.join(", "))));
        }
        match &self.nearest {
            Some(table) if table.starts_with('{') => _ = write!(text, "; did you mean {}?", cut(table)),
            Some(word) => _ = write!(text, "; did you mean {}?", cut(&format!("{word:?}"))),
            None => {}
        }
        text.replace(hides, " ")
    }
}

/// All that was found wrong, in the order in which it was found; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioErrors(pub Vec<ScenarioError>);

impl fmt::Display for ScenarioErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for ScenarioErrors {}

impl From<ScenarioError> for ScenarioErrors {
    fn from(error: ScenarioError) -> Self {
        ScenarioErrors(vec![error])
    }
}

/// Number of characters of a message that are shown: lists of what is allowed are long.
const MESSAGE: usize = 3000;

/// A message of thousands of words is left out of the middle.
fn shortened(part: &str) -> String {
    let letters = part.chars().count();
    if letters <= MESSAGE {
        return part.to_owned();
    }
    let head: String = part.chars().take(MESSAGE - MESSAGE / 4).collect();
    let tail: String = part.chars().skip(letters - MESSAGE / 4).collect();
    format!("{head} ... {tail}")
}

/// `text` with line breaks as blanks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_with_line_key_given_allowed_and_nearest() {
        let place = Place { file: "demo.toml".into(), line: Some(12) };
        let allowed = vec!["lossy".to_owned(), "pfc".to_owned()];
        let error = ScenarioError::unknown(place, "defaults.flow-control", "pcf", "a choice", allowed);
        assert_eq!(
            error.to_string(),
            r#"demo.toml:12: defaults.flow-control: "pcf" is not a choice; allowed: lossy, pfc; did you mean "pfc"?"#
        );
    }

    #[test]
    fn nothing_that_was_written_breaks_the_line() {
        let place = Place { file: "--set a=\u{1b}[2J\u{85}".into(), line: None };
        let error = ScenarioError::new(place, "a\nb\u{2028}", "x\0y").to_string();
        assert_eq!(error, "--set a= [2J : a b : x y");
    }

    #[test]
    fn only_near_names_are_suggested() {
        let allowed = vec!["flow-control".to_owned(), "buffer".to_owned()];
        assert_eq!(nearest("flow-contorl", &allowed), Some("flow-control".to_owned()));
        assert_eq!(nearest("xyz", &allowed), None);
        assert_eq!(nearest("", &[]), None);
        assert_eq!(nearest(&"flow".repeat(100_000), &allowed), None);
    }

    #[test]
    fn what_is_very_long_is_left_out_of_the_middle() {
        let place = Place { file: "a".repeat(1_000_000).into(), line: Some(1) };
        let error = ScenarioError::new(place, "b".repeat(1_000_000), "c".repeat(1_000_000)).to_string();
        assert!(error.len() < 600 && error.starts_with("aaa"), "{}", error.len());
        assert!(error.ends_with("ccc (1000000 characters)"), "{error}");
        assert_eq!(error.split(": ").count(), 3);
        let words = ScenarioError::new(Place { file: "a".into(), line: None }, "", "word ".repeat(100_000));
        assert!(words.to_string().len() < 4_000);
    }

    #[test]
    fn a_part_of_a_name_suggests_it() {
        let allowed = ["fb-hadoop-fine", "fb-hadoop", "swing-ns3"].map(str::to_owned);
        assert_eq!(nearest("hadoop", &allowed), Some("fb-hadoop".to_owned()));
        assert_eq!(nearest("Swing", &allowed), Some("swing-ns3".to_owned()));
        assert_eq!(nearest("fb", &allowed), None);
    }
}
