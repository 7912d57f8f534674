//! Who crosses a switch next: round-robin maximal matching of its inputs and outputs (after iSLIP: McKeown 1999).
//!
//! iSLIP matches all ports at once, cell by cell. Here packets have their own lengths, so inputs and outputs become
//! free one by one, and each time those that are free are matched until no pair is left that has something to send.

use std::ops::Range;

/// Nobody.
const NONE: u32 = u32::MAX;

/// The state of a crossbar with as many inputs as outputs: who is busy, and whose turn it is.
#[derive(Clone, Debug, Default)]
pub struct Crossbar {
    /// By output: the input that it grants first.
    grants_from: Vec<u32>,
    /// By input: the output that it accepts first.
    accepts_from: Vec<u32>,
    input_busy: Vec<bool>,
    output_busy: Vec<bool>,
    /// By input: the best grant of the round at work.
    best: Vec<u32>,
}

impl Crossbar {
    /// At rest, with so many inputs and outputs.
    pub fn new(ports: usize) -> Self {
        Crossbar {
            grants_from: vec![0; ports],
            accepts_from: vec![0; ports],
            input_busy: vec![false; ports],
            output_busy: vec![false; ports],
            best: vec![NONE; ports],
        }
    }

    /// Could a packet of `input` to `output` start to cross now?
    pub fn is_free(&self, input: usize, output: usize) -> bool {
        !self.input_busy[input] && !self.output_busy[output]
    }

    /// Does nothing cross to `output`?
    pub fn is_output_free(&self, output: usize) -> bool {
        !self.output_busy[output]
    }

    /// A packet has crossed.
    pub fn release(&mut self, input: usize, output: usize) {
        (self.input_busy[input], self.output_busy[output]) = (false, false);
    }

    /// Matches free inputs with free outputs until no pair is left of which `may(input, output)` says that something waits
    /// there and may cross; only outputs are asked for which `wanted` holds. Those of `pairs` are busy from then on.
    ///
    /// Each output grants the first input at or after its pointer, each input accepts the first output that grants it at
    /// or after its own; again and again. Pointers move one beyond a pair that is made in the first round: so who was served is
    /// the last to be served again, and outputs come to serve different inputs first.
    pub fn make_pairs(
        &mut self,
        wanted: impl Fn(usize) -> bool,
        may: impl Fn(usize, usize) -> bool,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        let mut first_round = true;
        while self.grant(&wanted, &may) {
            for input in self.ports() {
                let output = std::mem::replace(&mut self.best[input], NONE);
                if output == NONE {
                    continue;
                }
                let output = output as usize;
                (self.input_busy[input], self.output_busy[output]) = (true, true);
                pairs.push((input, output));
                if first_round {
                    self.grants_from[output] = self.after(input);
                    self.accepts_from[input] = self.after(output);
                }
            }
            first_round = false;
        }
    }

    /// Each free output grants an input, of whose grants the best is kept; false if there is none.
    fn grant(&mut self, wanted: &impl Fn(usize) -> bool, may: &impl Fn(usize, usize) -> bool) -> bool {
        let mut any = false;
        for output in self.ports().filter(|&output| wanted(output)) {
            if self.output_busy[output] {
                continue;
            }
            let from = self.grants_from[output] as usize;
            let asks = |&input: &usize| !self.input_busy[input] && may(input, output);
            let Some(input) = (from..self.ports().end).chain(0..from).find(asks) else { continue };
            any = true;
            let best = &mut self.best[input];
            let place = |output: u32| self.accepts_from[input] > output;
            // In the order from the pointer on, round and round: first what is not before it.
            if *best == NONE || (place(output as u32), output as u32) < (place(*best), *best) {
                *best = output as u32;
            }
        }
        any
    }

    fn ports(&self) -> Range<usize> {
        0..self.input_busy.len()
    }

    fn after(&self, port: usize) -> u32 {
        let next = port + 1;
        if next == self.ports().end { 0 } else { next as u32 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The pairs made where `waiting` lists what may cross.
    fn pairs(crossbar: &mut Crossbar, waiting: &[(usize, usize)]) -> Vec<(usize, usize)> {
        let mut made = Vec::new();
        crossbar.make_pairs(|_| true, |input, output| waiting.contains(&(input, output)), &mut made);
        made.sort_unstable();
        made
    }

    #[test]
    fn an_output_that_several_ask_for_serves_them_in_turn() {
        let mut crossbar = Crossbar::new(3);
        let asked = [(0, 1), (1, 1), (2, 1)];
        for input in [0, 1, 2, 0, 1] {
            assert_eq!(pairs(&mut crossbar, &asked), [(input, 1)]);
            assert_eq!(pairs(&mut crossbar, &asked), [], "the output is busy");
            crossbar.release(input, 1);
        }
    }

    #[test]
    fn an_input_that_several_grant_accepts_them_in_turn() {
        let mut crossbar = Crossbar::new(3);
        let asked = [(0, 0), (0, 1), (0, 2)];
        for output in [0, 1, 2, 0] {
            assert_eq!(pairs(&mut crossbar, &asked), [(0, output)]);
            crossbar.release(0, output);
        }
    }

    #[test]
    fn who_gets_nothing_in_the_first_round_gets_something_in_the_next() {
        // Both outputs grant input 0 first; output 1 is left with input 1 in a second round.
        let mut crossbar = Crossbar::new(2);
        assert_eq!(pairs(&mut crossbar, &[(0, 0), (0, 1), (1, 1)]), [(0, 0), (1, 1)]);
    }

    #[test]
    fn pointers_of_outputs_part_until_all_ports_are_matched_at_once() {
        let mut crossbar = Crossbar::new(4);
        let all: Vec<_> = (0..4).flat_map(|input| (0..4).map(move |output| (input, output))).collect();
        for _ in 0..5 {
            let made = pairs(&mut crossbar, &all);
            assert_eq!(made.len(), 4);
            for (input, output) in made {
                crossbar.release(input, output);
            }
        }
        let first_grants: std::collections::BTreeSet<u32> = crossbar.grants_from.iter().copied().collect();
        assert_eq!(first_grants.len(), 4, "each output would serve another input first");
    }

    proptest! {
        #[test]
        fn a_matching_is_one_and_is_maximal(
            ports in 1usize..9,
            rounds in prop::collection::vec(prop::collection::vec((0usize..9, 0usize..9), 0..40), 1..12),
            keep in any::<u64>(),
        ) {
            let mut crossbar = Crossbar::new(ports);
            let mut busy: Vec<(usize, usize)> = Vec::new();
            for (round, asked) in rounds.iter().enumerate() {
                let asked: Vec<_> = asked.iter().map(|&(i, o)| (i % ports, o % ports)).collect();
                let made = pairs(&mut crossbar, &asked);
                prop_assert!(made.iter().all(|pair| asked.contains(pair)));
                busy.extend(made);
                let mut inputs: Vec<usize> = busy.iter().map(|pair| pair.0).collect();
                let mut outputs: Vec<usize> = busy.iter().map(|pair| pair.1).collect();
                inputs.sort_unstable();
                outputs.sort_unstable();
                prop_assert!(inputs.windows(2).all(|two| two[0] < two[1]), "an input sends to two outputs");
                prop_assert!(outputs.windows(2).all(|two| two[0] < two[1]), "two inputs send to an output");
                let left = asked.iter().find(|(i, o)| !inputs.contains(i) && !outputs.contains(o));
                prop_assert_eq!(left, None, "both are free, and something waits");
                let done = busy.iter().position(|_| keep >> (round % 64) & 1 == 0).unwrap_or(busy.len());
                busy.drain(done..).for_each(|(input, output)| crossbar.release(input, output));
            }
        }
    }
}
