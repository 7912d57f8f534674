//! The first line of a topology file, which says whose format it is.

use crate::ns3::{LineError, Words, number};
use crate::shown::glimpse;
use crate::topology::network::MOST;

/// What the formats have in their first line.
const FORMS: &str = "nodes, switches, links (HPCC, ConWeave); nodes, switches, ToRs, links (PowerTCP), and two rates \
                     behind them (Reverie); nodes, GPUs of a server, NVSwitches, switches, links, GPU type (SimAI)";
/// Words of a link.
const LINK: usize = 5;

/// What the first line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub nodes: usize,
    pub switches: usize,
    pub links: usize,
    /// Of `SimAI`.
    pub servers: Option<Servers>,
}

/// What `SimAI`'s first line says of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Servers {
    pub gpus: usize,
    pub nv_switches: usize,
}

/// Whose format a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// HPCC's simulator, and ConWeave's.
    Hpcc,
    /// `PowerTCP`, with the number of `ToRs`.
    PowerTcp,
    /// Reverie: `PowerTCP`'s, and the rates of hosts' links and of all others.
    Reverie,
    /// `SimAI`, with the type of its GPUs.
    SimAi,
}

impl Header {
    /// Takes the first line.
    ///
    /// # Errors
    /// A word that is no number, or a line of no format.
    pub fn read(text: &str, words: &mut Words<'_>) -> Result<Self, LineError> {
        let form = Form::of(text)?;
        let nodes = count(words, "nodes")?;
        let servers = match form {
            Form::SimAi => Some(Servers {
                gpus: count(words, "GPUs of a server")?,
                nv_switches: count(words, "NVSwitches")?,
            }),
            _ => None,
        };
        let switches = count(words, "switches")?;
        if matches!(form, Form::PowerTcp | Form::Reverie) {
            let line = words.peek().map_or(1, |(line, _)| line);
            let tors = count(words, "ToRs")?;
            if tors > switches {
                return Err((line, format!("{tors} ToRs are more than all {switches} switches")));
            }
        }
        let links = count(words, "links")?;
        match form {
            Form::SimAi => _ = words.next("the type of GPUs")?,
            Form::Reverie => {
                for what in ["the rate of hosts' links", "the rate of links between switches"] {
                    let (line, word) = words.next(what)?;
                    number::<f64>(word, what).map_err(|why| (line, why))?;
                }
            }
            Form::Hpcc | Form::PowerTcp => {}
        }
        Ok(Header { nodes, switches, links, servers })
    }
}

impl Form {
    /// By the words of the first line. HPCC's file is words alone, so that its switches may follow there.
    fn of(text: &str) -> Result<Self, LineError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let Some((line, first)) = lines.next() else { return Ok(Form::Hpcc) };
        let first: Vec<&str> = first.split_whitespace().collect();
        let numbers = first.iter().take_while(|word| word.parse::<f64>().is_ok()).count();
        let links_follow = lines.next().is_some_and(|(_, next)| next.split_whitespace().count() == LINK);
        let with_switches =
            first.get(1).and_then(|word| word.parse::<usize>().ok()).map(|switches| 3 + switches);
        if numbers == first.len() && links_follow && with_switches == Some(first.len()) {
            return Ok(Form::Hpcc);
        }
        match (first.len(), numbers) {
            (..=3, _) => Ok(Form::Hpcc),
            (4, 4) => Ok(Form::PowerTcp),
            (6, 6) => Ok(Form::Reverie),
            (6, 5) => Ok(Form::SimAi),
            (5, 5) => Err((
                line,
                "5 numbers are none of the formats' first lines; one of SimAI has the type of its GPUs behind them, \
                 like A100"
                    .to_owned(),
            )),
            (count, numbers) if numbers < count => Err((
                line,
                format!("{} is none of the formats' first lines, which have: {FORMS}", glimpse(&first.join(" "))),
            )),
            (count, _) => {
                Err((line, format!("{count} numbers are none of the formats' first lines, which have: {FORMS}")))
            }
        }
    }
}

/// A number of the first line.
fn count(words: &mut Words<'_>, what: &str) -> Result<usize, LineError> {
    let line = words.peek().map_or(1, |(line, _)| line);
    let count = words.number::<usize>(&format!("the number of {what}"))?;
    if count > MOST {
        return Err((line, format!("{count} is not a number of {what} from 0 to {MOST}")));
    }
    Ok(count)
}
