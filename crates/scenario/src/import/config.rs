//! Reader of a configuration of the HPCC simulator or of ConWeave's: keys with their values, in any order;
//! later ones win.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use floodway_units::cast::whole;
use floodway_units::{Rate, Time};

use super::Warning;
use super::keys::{self, CONWEAVE_KEYS, Effect, HPCC_ONLY, KEYS, SIMAI_KEYS, Takes, UNUSED_BY_CONWEAVE};
use crate::error::{Place, ScenarioError, nearest};
use crate::ns3::{self, LineError, Words};

/// A configuration.
#[derive(Clone, Debug)]
pub struct Config {
    file: Arc<str>,
    given: BTreeMap<&'static str, Given>,
    /// Maps by rate in bit/s, all their lines together.
    maps: BTreeMap<&'static str, BTreeMap<u64, Given>>,
    /// It has a key that only ConWeave's simulator knows, and so is one of it.
    conweave: bool,
    /// It has a key that only `SimAI` has.
    simai: bool,
    /// Unknown keys, and what is not as it was.
    pub warnings: Vec<Warning>,
    /// Known keys without effect.
    pub idle: Vec<Warning>,
}

/// A value as it was written.
#[derive(Clone, Debug)]
struct Given {
    line: u32,
    words: Vec<String>,
}

impl Config {
    /// Reads a configuration; `file` is what messages call it.
    ///
    /// # Errors
    /// A key without its value.
    pub fn read(file: &str, text: &str) -> Result<Self, ScenarioError> {
        let mut config = Config {
            file: file.into(),
            given: BTreeMap::new(),
            maps: BTreeMap::new(),
            conweave: false,
            simai: false,
            warnings: Vec::new(),
            idle: Vec::new(),
        };
        let mut words = Words::of(text);
        while let Some((line, key)) = words.peek() {
            let taken = words.next("a key").and_then(|_| config.take(key, line, &mut words));
            taken.map_err(|(line, why)| ScenarioError::new(config.place(Some(line)), key, why))?;
        }
        if config.conweave {
            config.become_conweaves();
        }
        Ok(config)
    }

    /// Leaves out what ConWeave's simulator does not know, or does not leave idle.
    fn become_conweaves(&mut self) {
        let own =
            |key: &str| key == "PAUSE_TIME" || UNUSED_BY_CONWEAVE.contains(&key) || HPCC_ONLY.contains(&key);
        self.idle.retain(|idle| !own(&idle.key));
        for key in UNUSED_BY_CONWEAVE {
            if !self.has(key) {
                continue;
            }
            let message = "has no effect: that simulator does not use it either".to_owned();
            self.idle.push(Warning { place: self.place(self.line(key)), key: (*key).to_owned(), message });
        }
        for key in HPCC_ONLY {
            if let Some(given) = self.given.remove(key) {
                self.warn(Some(given.line), key, "is not a key of ConWeave's simulator");
            }
        }
    }

    /// Is it one of `SimAI`?
    pub fn is_simai(&self) -> bool {
        self.simai
    }

    /// Is it one of ConWeave's simulator?
    pub fn is_conweave(&self) -> bool {
        self.conweave
    }

    fn take(&mut self, key: &str, line: u32, words: &mut Words<'_>) -> Result<(), LineError> {
        let Some(&(key, takes, effect)) = keys::find(key) else { return self.skip(key, line, words) };
        self.conweave |= keys::is_conweave(key);
        self.simai |= keys::is_simai(key);
        if let (Some(earlier), false) = (self.line(key), matches!(effect, Effect::Idle(_))) {
            let said =
                format!("is there twice, first in line {earlier}: this value counts, as in that simulator");
            self.warn(Some(line), key, &said);
        }
        match takes {
            Takes::Words(count) => {
                let value = |_| words.next("its value").map(|(_, word)| word.to_owned());
                let given = Given { line, words: (0..count).map(value).collect::<Result<_, _>>()? };
                self.given.insert(key, given);
            }
            Takes::Map => {
                self.given.insert(key, Given { line, words: Vec::new() });
                for _ in 0..words.number::<u32>("a count of rates")? {
                    let rate = words.number::<u64>("a rate in bit/s")?;
                    let (line, word) = words.next("the value of a rate")?;
                    let given = Given { line, words: vec![word.to_owned()] };
                    self.maps.entry(key).or_default().insert(rate, given);
                }
            }
        }
        if let Effect::Idle(why) = effect {
            let place = self.place(Some(line));
            self.idle.retain(|before| before.key != key);
            self.idle.push(Warning { place, key: key.to_owned(), message: format!("has no effect: {why}") });
        }
        Ok(())
    }

    /// A key that the simulator would not know either. It knows no comments: what follows is read word by
    /// word.
    fn skip(&mut self, key: &str, line: u32, words: &mut Words<'_>) -> Result<(), LineError> {
        if keys::is_comment(key) {
            return self.skip_comment(line, words);
        }
        let known: Vec<String> =
            KEYS.iter().chain(CONWEAVE_KEYS).chain(SIMAI_KEYS).map(|(name, ..)| (*name).to_owned()).collect();
        let hint = nearest(key, &known).map_or_else(String::new, |near| format!("; did you mean {near}?"));
        skip_to_key(line, words)?;
        self.warn(Some(line), key, &format!("is not a key of the HPCC simulator{hint}"));
        Ok(())
    }

    fn skip_comment(&mut self, line: u32, words: &mut Words<'_>) -> Result<(), LineError> {
        skip_to_key(line, words)?;
        if let Some((_, key)) = words.peek().filter(|(at, _)| *at == line) {
            self.warn(Some(line), key, "is in a comment, and counts, as in that simulator");
        }
        Ok(())
    }

    fn place(&self, line: Option<u32>) -> Place {
        Place { file: self.file.clone(), line }
    }

    /// Adds a warning about a key.
    pub fn warn(&mut self, line: Option<u32>, key: &str, message: &str) {
        let place = self.place(line);
        self.warnings.push(Warning { place, key: key.to_owned(), message: message.to_owned() });
    }

    /// Adds a warning at the place of a key, or at the file where it is missing.
    pub fn note(&mut self, key: &str, message: &str) {
        self.warn(self.line(key), key, message);
    }

    /// An error at the place of a key, or at the file where it is missing.
    pub fn error(&self, key: &str, message: impl Into<String>) -> ScenarioError {
        ScenarioError::new(self.place(self.line(key)), key, message)
    }

    /// The line of a key.
    pub fn line(&self, key: &str) -> Option<u32> {
        self.given.get(key).map(|given| given.line)
    }

    /// Is a key there?
    pub fn has(&self, key: &str) -> bool {
        self.given.contains_key(key)
    }

    /// The words of a key.
    pub fn words(&self, key: &str) -> Option<&[String]> {
        self.given.get(key).map(|given| given.words.as_slice())
    }

    /// The only word of a key.
    pub fn word(&self, key: &str) -> Option<&str> {
        self.words(key)?.first().map(String::as_str)
    }

    /// A value of one word, as `read` reads it; `default` where the key is missing.
    fn value<T>(
        &self,
        key: &str,
        default: T,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, ScenarioError> {
        self.word(key).map_or(Ok(default), read).map_err(|why| self.error(key, why))
    }

    /// A number of at least 0.
    ///
    /// # Errors
    /// It is not one.
    pub fn number<T: FromStr>(&self, key: &str, default: T) -> Result<T, ScenarioError> {
        self.value(key, default, |word| ns3::number(word, "a whole number of at least 0"))
    }

    /// A real number of at least 0.
    ///
    /// # Errors
    /// It is not one.
    pub fn real(&self, key: &str, default: f64) -> Result<f64, ScenarioError> {
        self.value(key, default, |word| match ns3::number::<f64>(word, "a number of at least 0") {
            Ok(value) if !(value >= 0.0 && value.is_finite()) => {
                Err(format!("{word:?} is not a number of at least 0"))
            }
            value => value,
        })
    }

    /// A real number from 0 to 1.
    ///
    /// # Errors
    /// It is not one.
    pub fn share(&self, key: &str, default: f64) -> Result<f64, ScenarioError> {
        let value = self.real(key, default)?;
        if value <= 1.0 {
            Ok(value)
        } else {
            Err(self.error(key, format!("{value} is not a number from 0 to 1")))
        }
    }

    /// Whether a number is other than 0.
    ///
    /// # Errors
    /// It is not one.
    pub fn flag(&self, key: &str, default: bool) -> Result<bool, ScenarioError> {
        self.number::<u32>(key, u32::from(default)).map(|value| value != 0)
    }

    /// Whole microseconds of a real number, as that simulator cuts them: a period.
    ///
    /// # Errors
    /// It is not a time, or less than 1 us.
    pub fn microseconds(&mut self, key: &str, default: f64) -> Result<u64, ScenarioError> {
        let given = self.real(key, default)?;
        let whole = whole(given);
        if whole == 0 {
            let message = format!("{given} us, cut to whole ones as in that simulator, is a period of 0");
            return Err(self.error(key, message));
        }
        if whole as f64 != given {
            self.note(key, &format!("is cut to {whole} us, as in that simulator"));
        }
        Ok(whole)
    }

    /// A rate above 0.
    ///
    /// # Errors
    /// It is not one.
    pub fn rate(&self, key: &str, default: Rate) -> Result<Rate, ScenarioError> {
        self.value(key, default, ns3::rate)
    }

    /// A rate that is added to another, at least 0; without a default it must be there.
    ///
    /// # Errors
    /// It is not one.
    pub fn step(&self, key: &str, default: Option<Rate>) -> Result<Rate, ScenarioError> {
        match (self.word(key), default) {
            (Some(word), _) => ns3::rate_from_0(word).map_err(|why| self.error(key, why)),
            (None, Some(rate)) => Ok(rate),
            (None, None) => Err(self.error(key, "is missing, and that simulator has no default for it")),
        }
    }

    /// An instant in seconds.
    ///
    /// # Errors
    /// It is not one.
    pub fn seconds(&self, key: &str, default: &str) -> Result<Time, ScenarioError> {
        ns3::seconds(self.word(key).unwrap_or(default)).map_err(|why| self.error(key, why))
    }

    /// What a map says of a rate.
    ///
    /// # Errors
    /// It is no number.
    pub fn of_rate<T: FromStr>(&self, key: &str, rate: Rate) -> Result<Option<T>, ScenarioError> {
        let Some(given) = self.maps.get(key).and_then(|map| map.get(&rate.0)) else { return Ok(None) };
        let word = given.words.first().map_or("", String::as_str);
        let value = ns3::number(word, "a number");
        value.map(Some).map_err(|why| ScenarioError::new(self.place(Some(given.line)), key, why))
    }

    /// Rates that a map has.
    pub fn rates_of(&self, key: &str) -> Vec<String> {
        let map = self.maps.get(key).into_iter().flatten();
        map.map(|(rate, _)| Rate(*rate).to_string()).collect()
    }
}

/// Takes the words of a line up to a key.
fn skip_to_key(line: u32, words: &mut Words<'_>) -> Result<(), LineError> {
    while words.peek().is_some_and(|(at, word)| at == line && keys::find(word).is_none()) {
        words.next("a word")?;
    }
    Ok(())
}
