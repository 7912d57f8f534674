//! Cycles of a graph that is given by the successors of its nodes.

use std::collections::VecDeque;

use floodway_units::cast::narrow;

/// A node that was not met.
const NEW: u32 = u32::MAX;

/// A cycle, in order; the first that a depth-first search meets.
pub fn cycle(successors: &[Vec<u32>]) -> Option<Vec<u32>> {
    let mut done = vec![false; successors.len()];
    // By node: its place on the path.
    let mut places = vec![NEW; successors.len()];
    for start in 0..narrow::<u32>(successors.len()) {
        let mut path = Vec::new();
        if !done[start as usize] {
            places[start as usize] = 0;
            path.push((start, 0));
        }
        while let Some((node, next)) = path.last_mut() {
            let node = *node as usize;
            let Some(&successor) = successors[node].get(*next) else {
                (done[node], places[node]) = (true, NEW);
                path.pop();
                continue;
            };
            *next += 1;
            let place = &mut places[successor as usize];
            if *place != NEW {
                return Some(path[*place as usize..].iter().map(|&(on_path, _)| on_path).collect());
            }
            if !done[successor as usize] {
                *place = narrow(path.len());
                path.push((successor, 0));
            }
        }
    }
    None
}

/// The shortest cycle through the first node of one that a depth-first search meets, from that node on.
pub(crate) fn shortened_cycle(successors: &[Vec<u32>]) -> Option<Vec<u32>> {
    let first = *cycle(successors)?.first()?;
    let mut before = vec![NEW; successors.len()];
    let mut ahead = VecDeque::from([first]);
    while before[first as usize] == NEW {
        let node = ahead.pop_front()?;
        for &successor in &successors[node as usize] {
            if before[successor as usize] == NEW {
                before[successor as usize] = node;
                ahead.push_back(successor);
            }
        }
    }
    let back = std::iter::successors(Some(before[first as usize]), |&node| {
        (node != first).then(|| before[node as usize])
    });
    let mut cycle: Vec<u32> = back.collect();
    cycle.reverse();
    Some(cycle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_found_wherever_the_search_begins() {
        assert_eq!(cycle(&[vec![1], vec![2], vec![3], vec![1]]), Some(vec![1, 2, 3]));
        assert_eq!(cycle(&[vec![1, 2], vec![2], vec![]]), None);
        assert_eq!(cycle(&[vec![0]]), Some(vec![0]));
    }

    #[test]
    fn a_way_round_is_left_out_of_a_cycle() {
        let graph = [vec![1], vec![2], vec![3, 4], vec![4], vec![1]];
        assert_eq!(cycle(&graph), Some(vec![1, 2, 3, 4]));
        assert_eq!(shortened_cycle(&graph), Some(vec![1, 2, 4]));
        assert_eq!(shortened_cycle(&[vec![0]]), Some(vec![0]));
        assert_eq!(shortened_cycle(&[vec![1], vec![]]), None);
    }
}
