//! All errors of a text, not only the first: the faulty part is removed, and the rest is read again.

use serde::de::DeserializeOwned;

use super::read::{Fault, KEY, What, attempt};
use super::tree::{Node, Value};
use crate::error::{ScenarioErrors, nearest};

/// The maximum number of faults that are reported.
const MOST: usize = 20;

/// Reads a value from a whole tree.
///
/// # Errors
/// All faults, except those that another fault hides; of a list, only the first.
pub fn read_all<T: DeserializeOwned>(tree: &Node) -> Result<T, ScenarioErrors> {
    let mut fault = match attempt(tree) {
        Ok(value) => return Ok(value),
        Err(fault) => fault,
    };
    let (mut rest, mut taken, mut errors) = (tree.clone(), Vec::new(), Vec::new());
    loop {
        let out = outward(&rest, &fault);
        let suggestion = match &fault.what {
            What::Unknown { given, what: KEY, allowed } => nearest(given, allowed),
            _ => None,
        };
        if !is_echo(&fault, &taken) {
            errors.push(fault.error(tree, &[]));
        }
        let Some(out) = out.filter(|_| errors.len() < MOST) else { break };
        take(&mut rest, &out);
        taken.push(Taken { path: out, suggestion });
        match attempt::<T>(&rest) {
            Ok(_) => break,
            Err(next) => fault = next,
        }
    }
    Err(ScenarioErrors(errors))
}

/// A removed part.
struct Taken {
    path: Vec<String>,
    /// The nearest key, where this one is unknown.
    suggestion: Option<String>,
}

/// The path of the part to remove so that a fault disappears: a key of a table, because elements of lists are
/// identified by their numbers.
fn outward(tree: &Node, fault: &Fault) -> Option<Vec<String>> {
    let mut path: Vec<String> = fault.path.iter().rev().cloned().collect();
    if let What::Unknown { given, what: KEY, .. } = &fault.what {
        path.push(given.clone());
    }
    while !path.is_empty() {
        let (last, above) = path.split_last()?;
        let table = above.iter().try_fold(tree, |node, key| node.get(key))?;
        if matches!(table.value, Value::Table(_)) && table.get(last).is_some() {
            return Some(path);
        }
        path.pop();
    }
    None
}

fn take(tree: &mut Node, path: &[String]) {
    let Some((last, above)) = path.split_last() else { return };
    let mut node = tree;
    for key in above {
        let below = match &mut node.value {
            Value::Table(entries) => {
                entries.iter_mut().find(|entry| entry.key == *key).map(|entry| &mut entry.node)
            }
            Value::List(items) => {
                items.iter_mut().enumerate().find(|(i, item)| item.label(*i) == *key).map(|(_, item)| item)
            }
            _ => None,
        };
        let Some(below) = below else { return };
        node = below;
    }
    node.remove(last);
}

/// A fault that exists only because another part was removed.
fn is_echo(fault: &Fault, taken: &[Taken]) -> bool {
    let is_table_of = |out: &&Taken| {
        let above = out.path.split_last().map_or(&[][..], |(_, above)| above);
        above.iter().eq(fault.path.iter().rev())
    };
    let mut taken = taken.iter().filter(is_table_of);
    match &fault.what {
        What::Message(_) => taken.next().is_some(),
        What::Missing(field) => {
            taken.any(|out| out.path.last().into_iter().chain(&out.suggestion).any(|key| key == field))
        }
        What::Unknown { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::document::Document;

    fn errors(text: &str) -> Vec<String> {
        let tree = Node::parse("a", text).expect("it is TOML");
        read_all::<Document>(&tree).expect_err("it is wrong").0.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn faults_beside_each_other_are_all_reported() {
        let lines = errors(
            "mtu = 1000\ntoplogy = 1\n[topology.dumbbell]\nleft = \"two\"\nright = -1\nrate = \"100Gb\"\n\
             [[workload]]\nname = \"w\"\nuntill = \"1ms\"\nstart = 3\n[[workload]]\nname = \"v\"\nclass = true\n",
        );
        let begins = [
            "a:1: mtu: ",
            "a:2: \"toplogy\" is not a key",
            "a:4: topology.dumbbell.left: ",
            "a:5: topology.dumbbell.right: ",
            "a:6: topology.dumbbell.rate: ",
            "a:9: workload.w: \"untill\"",
            "a:10: workload.w.start: ",
            "a:13: workload.v.class: ",
        ];
        assert_eq!(lines.len(), begins.len(), "{lines:#?}");
        for (line, begin) in lines.iter().zip(begins) {
            assert!(line.starts_with(begin), "{lines:#?}");
        }
    }

    #[test]
    fn what_is_taken_out_is_not_missed() {
        assert_eq!(errors("topology.dumbell = {}").len(), 1);
        assert_eq!(errors("topology = 3").len(), 1);
        assert_eq!(errors("topology.explicit = {}\ndefaults.flow-control.pcf = {}").len(), 1);
        let flows = "topology.explicit = {}\n[[workload]]\nflows = [{ from = 1, size = \"1\" }, 3]";
        assert_eq!(errors(flows).len(), 2, "of a list the first element that is at fault");
        assert_eq!(errors("seed = 1\nlimits = 3").len(), 2);
        assert_eq!(errors("toplogy = 3").len(), 1);
    }
}
