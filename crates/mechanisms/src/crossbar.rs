//! The scheduler of a switch's crossbar: round-robin maximal matching of its inputs and outputs (after iSLIP:
//! McKeown 1999).
//!
//! iSLIP matches all ports at once, cell by cell. Here packets have different lengths, so inputs and outputs
//! become free one by one. Each time, the free ones are matched until no pair is left that has something to
//! send.

use smallvec::{SmallVec, smallvec};

/// The state of a crossbar with as many inputs as outputs: busy ports, requests, and round-robin pointers.
#[derive(Clone, Debug, Default)]
pub struct Crossbar {
    /// By output: the input that it grants first.
    grants_from: Vec<usize>,
    /// By input: the output that it accepts first.
    accepts_from: Vec<usize>,
    busy_inputs: Ports,
    busy_outputs: Ports,
    /// By output: the inputs at which packets wait for it; and by input: the outputs for which packets wait
    /// there.
    asking: Vec<Ports>,
    asked: Vec<Ports>,
    /// Outputs for which something may have changed since the last matching.
    due: Ports,
    /// The inputs with a grant in the current round, and by input the best one.
    granted: Ports,
    best: Vec<usize>,
}

impl Crossbar {
    /// An idle crossbar with this many inputs.
    pub fn new(ports: usize) -> Self {
        let none = Ports::none(ports);
        Crossbar {
            grants_from: vec![0; ports],
            accepts_from: vec![0; ports],
            busy_inputs: none.clone(),
            busy_outputs: none.clone(),
            asking: vec![none.clone(); ports],
            asked: vec![none.clone(); ports],
            due: none.clone(),
            granted: none,
            best: vec![0; ports],
        }
    }

    /// One more packet waits at `input` for `output`.
    pub fn ask(&mut self, input: usize, output: usize) {
        self.asking[output].insert(input);
        self.asked[input].insert(output);
        self.due.insert(output);
    }

    /// No packet waits at `input` for `output` any more.
    pub fn withdraw(&mut self, input: usize, output: usize) {
        self.asking[output].remove(input);
        self.asked[input].remove(output);
    }

    /// The packets that may cross to `output` have changed: it has more room, or its queues were sorted
    /// again.
    pub fn touch(&mut self, output: usize) {
        self.due.insert(output);
    }

    /// A packet has crossed.
    pub fn release(&mut self, input: usize, output: usize) {
        self.busy_inputs.remove(input);
        self.busy_outputs.remove(output);
        self.due.insert(output);
        self.due.add(&self.asked[input]);
    }

    /// Like [`make_pairs`](Self::make_pairs) where only one output has changed: returns the input that is
    /// matched with it.
    pub fn serve(&mut self, output: usize, may: impl Fn(usize, usize) -> bool) -> Option<usize> {
        self.due.remove(output);
        if self.busy_outputs.contains(output) {
            return None;
        }
        let input = self.first_that_may(output, &may)?;
        self.pair(input, output, true);
        Some(input)
    }

    /// Matches free inputs with free outputs until no pair is left that has a request and for which
    /// `may(input, output)` is true. Those of `pairs` are busy from then on. Only outputs that were touched
    /// since the last call are examined: elsewhere no pair was left, and no new one has appeared.
    ///
    /// Each output grants the first input at or after its pointer, and each input accepts the first output
    /// that grants it at or after its own pointer; this repeats in rounds. Pointers move one beyond a pair
    /// that is made in the first round: a port that was served becomes the last to be served again, and
    /// outputs then serve different inputs first.
    pub fn make_pairs(&mut self, may: impl Fn(usize, usize) -> bool, pairs: &mut Vec<(usize, usize)>) {
        let mut first_round = true;
        loop {
            self.grant(&may);
            let mut next = self.granted.next(0, &self.busy_inputs);
            if next.is_none() {
                self.due.clear();
                return;
            }
            while let Some(input) = next {
                let output = self.best[input];
                self.granted.remove(input);
                self.pair(input, output, first_round);
                pairs.push((input, output));
                next = self.granted.next(input, &self.busy_inputs);
            }
            first_round = false;
        }
    }

    /// A packet starts to cross.
    fn pair(&mut self, input: usize, output: usize, moves_pointers: bool) {
        self.busy_inputs.insert(input);
        self.busy_outputs.insert(output);
        if moves_pointers {
            self.grants_from[output] = self.after(input);
            self.accepts_from[input] = self.after(output);
        }
    }

    /// Each free output grants an input; each input keeps the best of its grants.
    fn grant(&mut self, may: &impl Fn(usize, usize) -> bool) {
        let mut next = self.due.next(0, &self.busy_outputs);
        while let Some(output) = next {
            next = self.due.next(output + 1, &self.busy_outputs);
            let Some(input) = self.first_that_may(output, may) else { continue };
            let place = |output: usize| (self.accepts_from[input] > output, output);
            // In circular order from the pointer.
            if !self.granted.contains(input) || place(output) < place(self.best[input]) {
                self.granted.insert(input);
                self.best[input] = output;
            }
        }
    }

    /// The first free input, in circular order from the pointer, that has a request for `output` and may
    /// cross.
    fn first_that_may(&self, output: usize, may: &impl Fn(usize, usize) -> bool) -> Option<usize> {
        let (asking, from) = (&self.asking[output], self.grants_from[output]);
        let (mut at, mut end) = (from, self.best.len());
        loop {
            match asking.next(at, &self.busy_inputs).filter(|&input| input < end) {
                Some(input) if may(input, output) => return Some(input),
                Some(input) => at = input + 1,
                None if end > from => (at, end) = (0, from),
                None => return None,
            }
        }
    }

    fn after(&self, port: usize) -> usize {
        let next = port + 1;
        if next == self.best.len() { 0 } else { next }
    }
}

/// A set of ports, as bits.
#[derive(Clone, Debug, Default)]
struct Ports(SmallVec<[u64; 1]>);

impl Ports {
    /// The empty set for this many ports.
    fn none(ports: usize) -> Self {
        Ports(smallvec![0; ports.div_ceil(64)])
    }

    fn insert(&mut self, port: usize) {
        self.0[port / 64] |= 1 << (port % 64);
    }

    fn remove(&mut self, port: usize) {
        self.0[port / 64] &= !(1 << (port % 64));
    }

    fn contains(&self, port: usize) -> bool {
        self.0[port / 64] >> (port % 64) & 1 != 0
    }

    fn add(&mut self, others: &Ports) {
        self.0.iter_mut().zip(&others.0).for_each(|(word, more)| *word |= more);
    }

    fn clear(&mut self) {
        self.0.fill(0);
    }

    /// The first port at or after `from` that is not in `without`.
    fn next(&self, from: usize, without: &Ports) -> Option<usize> {
        let first = from / 64;
        let words = self.0.iter().zip(&without.0).enumerate().skip(first);
        for (at, (word, without)) in words {
            let before = if at == first { (1u64 << (from % 64)) - 1 } else { 0 };
            let left = word & !without & !before;
            if left != 0 {
                return Some(at * 64 + left.trailing_zeros() as usize);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The pairs made where `waiting` lists what may cross.
    fn pairs(crossbar: &mut Crossbar, waiting: &[(usize, usize)]) -> Vec<(usize, usize)> {
        let mut made = Vec::new();
        for &(input, output) in waiting {
            crossbar.ask(input, output);
        }
        crossbar.make_pairs(|_, _| true, &mut made);
        for &(input, output) in waiting {
            crossbar.withdraw(input, output);
        }
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
    fn beyond_64_ports_turns_go_round_as_well() {
        let mut crossbar = Crossbar::new(130);
        let asked = [(3, 129), (64, 129), (128, 129)];
        for input in [3, 64, 128, 3] {
            assert_eq!(pairs(&mut crossbar, &asked), [(input, 129)]);
            crossbar.release(input, 129);
        }
    }

    #[test]
    fn an_input_that_may_not_cross_leaves_its_turn_to_the_next() {
        let mut crossbar = Crossbar::new(3);
        let mut made = Vec::new();
        (0..3).for_each(|input| crossbar.ask(input, 0));
        crossbar.make_pairs(|input, _| input == 1, &mut made);
        assert_eq!(made, [(1, 0)]);
        assert_eq!(crossbar.serve(0, |_, _| true), None, "it is busy");
        crossbar.release(1, 0);
        assert_eq!(crossbar.serve(0, |input, _| input != 2), Some(0), "2 is the next, and may not");
        crossbar.release(0, 0);
        made.clear();
        crossbar.make_pairs(|_, _| true, &mut made);
        assert_eq!(made, [(1, 0)], "after 0");
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
    fn an_input_without_a_match_in_the_first_round_gets_one_in_the_next() {
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
        let first_grants: std::collections::BTreeSet<usize> = crossbar.grants_from.iter().copied().collect();
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
