//! Limits of quantities, so that sums never overflow, and of texts with characters that cannot be displayed,
//! so that no name that a run prints or writes contains any.

use floodway_units::{Bytes, Length, Rate, Span};

use super::read::key_path;
use super::tree::{Node, Value};
use crate::error::ScenarioError;
use crate::shown::unshowable;

/// The largest size: 1 PB.
pub const MOST_BYTES: Bytes = Bytes(1_000_000_000_000_000);
/// The longest time: 10^5 s, more than a day.
pub const MOST_TIME: Span = Span(100_000_000_000_000_000);
/// The highest rate: 100 Tbit/s.
const MOST_RATE: Rate = Rate(100_000_000_000_000);
/// The longest fibre: 2·10^8 km, a propagation of 1000 s.
const MOST_LENGTH: Length = Length(200_000_000_000);

/// The key of a scenario's description, which may have several lines.
const DESCRIPTION: &str = "description";

/// Checks every key and every text.
///
/// # Errors
/// The first quantity that is too large, or the first text that cannot be displayed.
pub fn check(tree: &Node) -> Result<(), ScenarioError> {
    walk(tree, &mut Vec::new())
}

fn walk<'a>(node: &'a Node, path: &mut Vec<std::borrow::Cow<'a, str>>) -> Result<(), ScenarioError> {
    match &node.value {
        Value::Text(text) => match fault(text, path) {
            Some(why) => {
                let segments: Vec<&str> = path.iter().map(AsRef::as_ref).collect();
                Err(ScenarioError::new(node.place.clone(), key_path(&segments), why))
            }
            None => Ok(()),
        },
        Value::List(items) => items.iter().enumerate().try_for_each(|(i, item)| {
            path.push(item.label(i).into());
            walk(item, path)?;
            path.pop();
            Ok(())
        }),
        Value::Table(entries) => entries.iter().try_for_each(|entry| {
            if let Some(why) = unshowable(&entry.key, false) {
                return Err(ScenarioError::new(entry.place.clone(), "", format!("{:?}: {why}", entry.key)));
            }
            path.push(entry.key.as_str().into());
            walk(&entry.node, path)?;
            path.pop();
            Ok(())
        }),
        _ => Ok(()),
    }
}

/// The fault of a text at a path of keys.
fn fault(text: &str, path: &[std::borrow::Cow<'_, str>]) -> Option<String> {
    if let Some(most) = most(text) {
        return Some(format!("{text:?} is too large: the maximum is {most}"));
    }
    let lines = matches!(path, [key] if key == DESCRIPTION);
    unshowable(text, lines).map(|why| format!("{text:?}: {why}"))
}

/// The limit that a text exceeds, if it exceeds one.
fn most(text: &str) -> Option<String> {
    let too_much = |over: Option<bool>, most: String| (over == Some(true)).then_some(most);
    too_much(text.parse::<Bytes>().ok().map(|size| size > MOST_BYTES), MOST_BYTES.to_string())
        .or_else(|| too_much(text.parse::<Span>().ok().map(|time| time > MOST_TIME), MOST_TIME.to_string()))
        .or_else(|| too_much(text.parse::<Rate>().ok().map(|rate| rate > MOST_RATE), MOST_RATE.to_string()))
        .or_else(|| {
            too_much(text.parse::<Length>().ok().map(|length| length > MOST_LENGTH), MOST_LENGTH.to_string())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_out_of_range_are_refused_with_their_line() {
        let check = |text: &str| check(&Node::parse("a", text).expect("it is TOML"));
        assert!(check("a = { b = [\"1PB\", \"1TB\"] }\nc = \"99999s\"\nd = \"400G\"").is_ok());
        let error = check("\na = { b = [\"1TB\", \"1001TB\"] }").unwrap_err().to_string();
        assert_eq!(error, "a:2: a.b.2: \"1001TB\" is too large: the maximum is 1000TB");
        assert!(check("a = \"100001s\"").is_err() && check("a = \"101T\"").is_err());
        assert!(check("a = \"200000001km\"").is_err());
    }

    #[test]
    fn texts_and_keys_that_cannot_be_shown_are_refused_but_for_lines_of_the_description() {
        let check = |text: &str| check(&Node::parse("a", text).expect("it is TOML"));
        assert!(check("description = \"two\\nlines\"\na = \"\u{5317}\u{4eac}\"").is_ok());
        let error = check("a = [\"x\\u001b]0;y\"]").unwrap_err().to_string();
        assert_eq!(error, "a:1: a.1: \"x\\u{1b}]0;y\": it has the character U+001B, which cannot be shown");
        let error = check("[a]\n\"b\\u202e\" = 1").unwrap_err().to_string();
        assert_eq!(error, "a:2: \"b\\u{202e}\": it has the character U+202E, which cannot be shown");
        assert!(check("a.description = \"two\\nlines\"").is_err());
    }
}
