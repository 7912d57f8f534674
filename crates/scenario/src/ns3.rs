//! Syntax of texts for ns-3's models: words separated by blanks, numbers, and rates and times as ns-3 reads
//! them.

use std::iter::Peekable;
use std::str::FromStr;

use floodway_units::cast::whole;
use floodway_units::text::counted;
use floodway_units::{Rate, Span, Time};

use crate::grammar::bounds::MOST_TIME;
use crate::shown::glimpse;

/// A fault of a text: its line and what is wrong.
pub type LineError = (u32, String);

/// The words of a text with their lines.
pub struct Words<'a> {
    words: Peekable<Box<dyn Iterator<Item = (u32, &'a str)> + 'a>>,
    /// Line of the last word that was taken; of the first, before.
    line: u32,
}

impl<'a> Words<'a> {
    /// Those of `text`.
    pub fn of(text: &'a str) -> Self {
        // Editors of some systems begin a file with a mark of its encoding.
        let lines = (1..).zip(text.strip_prefix('\u{feff}').unwrap_or(text).lines());
        let words = lines.flat_map(|(line, words)| words.split_whitespace().map(move |word| (line, word)));
        let words: Box<dyn Iterator<Item = _>> = Box::new(words);
        Words { words: words.peekable(), line: 1 }
    }

    /// The next word and its line, which is not taken.
    pub fn peek(&mut self) -> Option<(u32, &'a str)> {
        self.words.peek().copied()
    }

    /// Takes the next word.
    ///
    /// # Errors
    /// It is missing.
    pub fn next(&mut self, what: &str) -> Result<(u32, &'a str), LineError> {
        match self.words.next() {
            Some((line, word)) => {
                self.line = line;
                Ok((line, word))
            }
            None => Err((self.line, format!("the text ends here, but {what} is required"))),
        }
    }

    /// Takes a number.
    ///
    /// # Errors
    /// It is missing.
    pub fn number<T: FromStr>(&mut self, what: &str) -> Result<T, LineError> {
        let (line, word) = self.next(what)?;
        number(word, what).map_err(|why| (line, why))
    }

    /// Takes a line of `N` words, which are called `due`; gives its number and its words.
    ///
    /// # Errors
    /// It is missing, or has more or fewer.
    pub fn row<const N: usize>(&mut self, due: &str) -> Result<(u32, [&'a str; N]), LineError> {
        let (line, first) = self.next(due)?;
        let mut words = vec![first];
        while let Some((_, word)) = self.words.next_if(|(at, _)| *at == line) {
            words.push(word);
        }
        let wrong = |words: Vec<&str>| {
            let found = counted(words.len(), "word");
            (line, format!("{found}, but {N} are required: {due}"))
        };
        words.try_into().map(|words| (line, words)).map_err(wrong)
    }

    /// The line of what follows, if it is one more row: a number first, and as many words. That simulator
    /// reads as many rows as the first line of a file counts, and leaves the rest.
    pub fn one_more(mut self, words: usize) -> Option<u32> {
        let (line, first) = self.words.next()?;
        let rest = self.words.take_while(|(at, _)| *at == line).count();
        (rest + 1 == words && first.parse::<u64>().is_ok()).then_some(line)
    }
}

/// A number, or that `word` is not `what`.
///
/// # Errors
/// It is not a number, or not in range.
pub fn number<T: FromStr>(word: &str, what: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("{} is not {what}", glimpse(word)))
}

/// Prefixes of units with their factors.
const PREFIXES: [(&str, u64); 8] = [
    ("Ki", 1 << 10),
    ("Mi", 1 << 20),
    ("Gi", 1 << 30),
    ("k", 1_000),
    ("K", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("", 1),
];

/// A rate as ns-3 reads it: `100Gbps`, `40Mb/s`, a bare number in bit/s; what is less than 1 bit/s is cut
/// off.
///
/// # Errors
/// It is not one.
pub fn rate(word: &str) -> Result<Rate, String> {
    match rate_from_0(word)? {
        Rate(0) => Err(format!("{} is not a rate above 0", glimpse(word))),
        rate => Ok(rate),
    }
}

/// A rate that may be 0.
///
/// # Errors
/// It is not one.
pub fn rate_from_0(word: &str) -> Result<Rate, String> {
    let refuse = || format!("{} is not a rate like \"100Gbps\" or \"40Mb/s\"", glimpse(word));
    let (value, unit) = split(word).ok_or_else(refuse)?;
    let factor = |(prefix, factor): (&str, u64)| {
        let bits = match unit.strip_prefix(prefix)? {
            "bps" | "b/s" => 1,
            "Bps" | "B/s" => 8,
            "" if unit.is_empty() => 1,
            _ => return None,
        };
        Some(factor * bits)
    };
    let factor = PREFIXES.into_iter().find_map(factor).ok_or_else(refuse)?;
    let bits = value * factor as f64;
    if (0.0..1e15).contains(&bits) { Ok(Rate(whole(bits))) } else { Err(refuse()) }
}

/// A time as ns-3 reads it: `1000ns`, `0.001ms`, a bare number in seconds; cut to nanoseconds.
///
/// # Errors
/// It is not one.
pub fn span(word: &str) -> Result<Span, String> {
    let refuse = || format!("{} is not a time like \"1000ns\" or \"0.001ms\"", glimpse(word));
    let (value, unit) = split(word).ok_or_else(refuse)?;
    let per_unit = match unit {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" | "" => 1_000_000_000,
        _ => return Err(refuse()),
    };
    whole_ns(value, per_unit).ok_or_else(refuse)
}

/// An instant in seconds.
///
/// # Errors
/// It is not one.
pub fn seconds(word: &str) -> Result<Time, String> {
    let instant = word.parse().ok().and_then(|value| whole_ns(value, 1_000_000_000));
    instant.map(|span| Time(span.0)).ok_or_else(|| {
        format!("{} is not a number of seconds from 0 to {}", glimpse(word), MOST_TIME.as_secs())
    })
}

/// The number that a quantity begins with, and its unit.
fn split(word: &str) -> Option<(f64, &str)> {
    let at = word.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(word.len());
    Some((word[..at].parse().ok()?, &word[at..]))
}

/// `value` times `per_unit` nanoseconds as older versions of ns-3 compute: the double cut to 64.64 fixed
/// point, the product cut to whole nanoseconds. So 2.000002446 s, whose double lies below it, is
/// 2,000,002,445 ns.
#[expect(clippy::cast_possible_truncation, reason = "below 2^47 and 2^64")]
fn whole_ns(value: f64, per_unit: u64) -> Option<Span> {
    let most = MOST_TIME.0 / 1_000;
    if !(0.0..=most as f64 / per_unit as f64).contains(&value) {
        return None;
    }
    let whole = value.floor();
    let fraction = ((value - whole) * 18_446_744_073_709_551_616.0) as u128;
    let fixed = ((whole as u128) << 64) + fraction;
    // Both below 2^47 and 2^64, and the unit below 2^30.
    u64::try_from((fixed * u128::from(per_unit)) >> 64).ok().map(|ns| Span(ns * 1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_cut_to_the_nanosecond_below_its_double() {
        assert_eq!(seconds("2.000002446"), Ok(Time(2_000_002_445_000)));
        assert_eq!(seconds("2.05"), Ok(Time(2_049_999_999_000)));
        assert_eq!(seconds("2"), Ok(Time(2_000_000_000_000)));
        assert_eq!(seconds("2.003000000"), Ok(Time(2_003_000_000_000)));
        assert!(seconds("-1").unwrap_err().starts_with("\"-1\" is not a number of seconds from 0 to 100000"));
        assert!(seconds("nan").is_err() && seconds("1e300").is_err() && seconds("2s").is_err());
    }

    #[test]
    fn rates_and_times_have_the_units_of_ns3() {
        for (text, bps) in [
            ("100Gbps", 100_000_000_000),
            ("40.0Mb/s", 40_000_000),
            ("1KB/s", 8_000),
            ("1Kib/s", 1_024),
            ("7", 7),
        ] {
            assert_eq!(rate(text), Ok(Rate(bps)), "{text}");
        }
        assert_eq!(rate("100G").unwrap_err(), "\"100G\" is not a rate like \"100Gbps\" or \"40Mb/s\"");
        assert_eq!(rate("0Gbps").unwrap_err(), "\"0Gbps\" is not a rate above 0");
        assert_eq!(rate_from_0("0Gbps"), Ok(Rate(0)));
        assert!(rate("").is_err() && rate("1.2.3Gbps").is_err());
        assert_eq!(span("1000ns"), Ok(Span::us(1)));
        assert_eq!(span("0.001ms"), Ok(Span::us(1)));
        assert_eq!(span("4us"), Ok(Span::us(4)));
        assert_eq!(span("1m").unwrap_err(), "\"1m\" is not a time like \"1000ns\" or \"0.001ms\"");
    }

    #[test]
    fn words_know_their_lines() {
        let mut words = Words::of("3 x\n\n 1 2\n4 5\nnotes 6");
        assert_eq!(words.number::<u32>("a count"), Ok(3));
        assert_eq!(words.number::<u32>("a count"), Err((1, "\"x\" is not a count".into())));
        assert_eq!(words.row::<2>("a b"), Ok((3, ["1", "2"])));
        assert_eq!(words.row::<3>("a b c"), Err((4, "2 words, but 3 are required: a b c".into())));
        assert_eq!(words.one_more(2), None);
        assert_eq!(Words::of("1 2").one_more(2), Some(1));
        assert_eq!(Words::of("\u{feff}7").number::<u32>("a count"), Ok(7));
        assert_eq!(
            Words::of("").next("a word"),
            Err((1, "the text ends here, but a word is required".into()))
        );
    }
}
