//! Safe display of untrusted text: no characters that break a line or control a terminal, and at most one
//! line.
//!
//! Texts of a scenario, and of the files that it names, are rejected if they contain such characters
//! (`grammar/bounds.rs`, `workload/files.rs`): so no name in results has any. Errors cut long values, and
//! show eight letters of files that do not have the expected format. Texts of the command line, such as
//! paths, are escaped when they are printed (`python/floodway/cli/output.py`).

use std::fmt::Write as _;

/// Number of characters of a value that are shown, with their total.
const VALUE: usize = 160;
/// Number of them from its end.
const TAIL: usize = 40;
/// Number of characters of an arbitrary file that are shown: enough to recognise it, not its content.
pub(crate) const GLIMPSE: usize = 8;

/// Whether a character breaks a line, is invisible, or changes the display of others: control characters,
/// direction marks, characters without a width.
pub(crate) fn hides(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Why a text cannot be shown as it is, if so; line breaks and tabs are allowed where it has `lines`.
pub(crate) fn unshowable(text: &str, lines: bool) -> Option<String> {
    let is_blank = |c: char| lines && matches!(c, '\n' | '\r' | '\t');
    let c = text.chars().find(|&c| hides(c) && !is_blank(c))?;
    Some(format!("it has the character U+{:04X}, which cannot be shown", u32::from(c)))
}

/// Why a text is not a name: spreadsheets that open a table of results would read it as a formula.
pub(crate) fn formula(name: &str) -> Option<String> {
    let is_formula = name.starts_with(['=', '+', '-', '@']);
    is_formula.then(|| {
        format!("{name:?} is not a name: spreadsheets read a name that begins like this as a formula")
    })
}

/// The beginning of a file that may not have the expected format.
pub(crate) fn glimpse(text: &str) -> String {
    match text.char_indices().nth(GLIMPSE) {
        Some((at, _)) => format!("{:?}...", &text[..at]),
        None => format!("{text:?}"),
    }
}

/// One word, the middle left out where it is very long.
pub(crate) fn cut(word: &str) -> String {
    let (kept, letters) = without_middle(word);
    letters.map_or(kept.clone(), |letters| format!("{kept} ({letters} characters)"))
}

/// A message in which every long word and quotation is cut in the same way.
pub(crate) fn cut_values(message: &str) -> String {
    let mut text = String::with_capacity(message.len().min(4 * VALUE));
    let mut rest = message;
    while let Some(c) = rest.chars().next() {
        let (piece, quoted) = match quoted(rest) {
            Some(end) => (&rest[..end], true),
            None if c.is_whitespace() => (&rest[..c.len_utf8()], false),
            None => (word(rest, c), false),
        };
        let _ = match (quoted, without_middle(piece)) {
            (true, (kept, Some(letters))) => write!(text, "{kept} ({} characters)", letters - 2),
            (false, (kept, Some(letters))) => write!(text, "{kept} ({letters} characters)"),
            (_, (kept, None)) => write!(text, "{kept}"),
        };
        rest = &rest[piece.len()..];
    }
    text
}

/// The text before the next blank or quotation mark.
fn word(text: &str, first: char) -> &str {
    let from = first.len_utf8();
    let ends = |c: char| c.is_whitespace() || c == '"';
    text[from..].find(ends).map_or(text, |at| &text[..from + at])
}

/// Where the quotation ends that a text begins with.
fn quoted(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('"')?;
    let mut escaped = false;
    let end = inside.find(|c: char| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    Some(end + 2)
}

/// A piece of text without its middle, and how many letters it has where that is left out.
fn without_middle(piece: &str) -> (String, Option<usize>) {
    let letters = piece.chars().count();
    if letters <= VALUE {
        return (piece.to_owned(), None);
    }
    let head: String = piece.chars().take(VALUE - TAIL).collect();
    let tail: String = piece.chars().skip(letters - TAIL).collect();
    (format!("{head}...{tail}"), Some(letters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut_with_their_length_and_other_words_stay() {
        let long = "x".repeat(1000);
        let text = cut_values(&format!("the key {long:?} is not one of \"a b\", c {long}"));
        let cut = format!("{}...{}", "x".repeat(119), "x".repeat(39));
        let bare = format!("{}...{}", "x".repeat(120), "x".repeat(40));
        let due =
            format!("the key \"{cut}\" (1000 characters) is not one of \"a b\", c {bare} (1000 characters)");
        assert_eq!(text, due);
        assert_eq!(cut_values("a \"quote without end"), "a \"quote without end");
        assert_eq!(cut_values(r#"a "quote \" within" b"#), r#"a "quote \" within" b"#);
    }

    #[test]
    fn blanks_in_a_quotation_do_not_save_it_from_being_cut() {
        let text = cut_values(&format!("{:?}", "word ".repeat(1000)));
        assert!(text.len() < 200 && text.ends_with("(5000 characters)"), "{text}");
    }

    #[test]
    fn letters_of_all_languages_may_be_shown_and_what_moves_others_may_not() {
        for name in ["h1", "Zürich", "北京", "e\u{301}", "a b"] {
            assert_eq!(unshowable(name, false), None);
        }
        for name in ["\u{1b}]0;x\u{7}", "a\nb", "a\0", "\u{202e}a", "\u{9b}31m", "\u{200b}", "\u{e0041}"] {
            assert!(unshowable(name, false).is_some(), "{name:?}");
        }
        assert_eq!(unshowable("two\r\nlines\t", true), None);
        assert_eq!(
            unshowable("a\u{1b}", true).as_deref(),
            Some("it has the character U+001B, which cannot be shown")
        );
    }

    #[test]
    fn a_glimpse_is_a_few_letters() {
        assert_eq!(glimpse("root:$6$secret"), "\"root:$6$\"...");
        assert_eq!(glimpse("\u{1b}x"), "\"\\u{1b}x\"");
    }
}
