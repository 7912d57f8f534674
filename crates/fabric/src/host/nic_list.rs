//! Turns at a NIC of the HPCC simulator (its `RdmaEgressQueue` and `QbbNetDevice`).
//!
//! Queue pairs stand in a list in the order in which they came. A turn goes round it from the place after the
//! last turn's. Finished ones are taken out when a round comes across one, but the place of the last turn is
//! not moved with them, so that now and then a queue pair has a turn too many or too few. A NIC that finds
//! nothing to send is woken at the least pacing time of all queue pairs with something left, even those that
//! wait for their window; if that lies in the past, nothing but an arrival wakes it.
//!
//! ConWeave's simulator builds on it, and there finished queue pairs keep their places, so that turns stay in
//! order, and those whose pacing time lies in the past do not keep others from waking the NIC.

mod look;

/// A queue pair that is finished, in the list until a round comes across it.
const FINISHED: u32 = u32::MAX;

/// The queue pairs of a NIC.
#[derive(Debug, Default)]
pub(crate) struct List {
    places: Vec<u32>,
    /// Place of the last turn; before the first, where that queue pair was the first and is gone.
    last: isize,
}

/// What a round finds of a queue pair.
enum Found {
    Finished,
    Waits,
    MaySend,
}

impl List {
    pub fn push(&mut self, flow: u32) {
        self.places.push(flow);
    }

    /// A queue pair has nothing more to send, and all of it is acknowledged.
    pub fn finish(&mut self, flow: u32) {
        if let Some(place) = self.places.iter_mut().find(|place| **place == flow) {
            *place = FINISHED;
        }
    }

    /// Likewise where turns stay in order: it leaves the list, and the turn goes on from its place.
    pub fn leave(&mut self, flow: u32) {
        if let Some(place) = self.places.iter().position(|&other| other == flow) {
            self.places.remove(place);
            self.last -= isize::from(place.cast_signed() <= self.last);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The queue pair with the next turn.
    fn turn(&mut self, mut look: impl FnMut(u32) -> Found) -> Option<u32> {
        let count = self.places.len();
        let mut first_finished = None;
        let mut chosen = None;
        for place in (1..=count).map(|step| (self.last + step.cast_signed()) as usize % count) {
            match look(self.places[place]) {
                Found::Finished => {
                    first_finished = Some(first_finished.map_or(place, |at: usize| at.min(place)));
                }
                Found::Waits => {}
                Found::MaySend => {
                    chosen = Some(place);
                    break;
                }
            }
        }
        let flow = chosen.map(|place| self.places[place]);
        if let Some(first) = first_finished {
            chosen = self.take_out(first, chosen);
        }
        self.last = chosen.map_or(self.last, usize::cast_signed);
        flow
    }

    /// Takes out the finished queue pairs from place `first` on; the place of `chosen` then.
    fn take_out(&mut self, first: usize, chosen: Option<usize>) -> Option<usize> {
        let before = |place: usize| {
            let gone = self.places[..place].iter().skip(first);
            gone.filter(|&&flow| flow == FINISHED).count()
        };
        let chosen = chosen.map(|place| place - before(place));
        let mut place = 0;
        self.places.retain(|&flow| {
            place += 1;
            place <= first || flow != FINISHED
        });
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(places: &[u32], last: isize) -> List {
        List { places: places.to_vec(), last }
    }

    fn turn(list: &mut List, ready: &[u32]) -> Option<u32> {
        list.turn(|flow| match flow {
            FINISHED => Found::Finished,
            flow if ready.contains(&flow) => Found::MaySend,
            _ => Found::Waits,
        })
    }

    #[test]
    fn turns_go_round() {
        let mut list = list(&[10, 11, 12], 0);
        let turns = [(); 5].map(|()| turn(&mut list, &[10, 11, 12]));
        assert_eq!(turns, [11, 12, 10, 11, 12].map(Some));
        assert_eq!(turn(&mut list, &[]), None);
        assert_eq!(list.last, 2, "a round that finds nothing is no turn");
    }

    /// The last turn was at place 1. Finished queue pairs at places 0 and 2: the round comes across 2, takes
    /// out that one and none before it, and 3 moves to place 2.
    #[test]
    fn finished_ones_before_the_first_that_a_round_meets_stay() {
        let mut list = list(&[FINISHED, 11, FINISHED, 13, FINISHED], 1);
        assert_eq!(turn(&mut list, &[11, 13]), Some(13));
        assert_eq!((list.places.as_slice(), list.last), ([FINISHED, 11, 13].as_slice(), 2));
    }

    #[test]
    fn turns_stay_in_order_where_finished_ones_leave() {
        let mut list = list(&[10, 11, 12, 13], 1);
        list.leave(10);
        assert_eq!(turn(&mut list, &[11, 12, 13]), Some(12));
        list.leave(12);
        assert_eq!(turn(&mut list, &[11, 13]), Some(13));
        list.leave(13);
        list.push(14);
        assert_eq!(turn(&mut list, &[11, 14]), Some(14));
        assert_eq!(turn(&mut list, &[11, 14]), Some(11));
        list.leave(11);
        assert_eq!((turn(&mut list, &[14]), list.last), (Some(14), 0));
    }

    /// Places shift under the last turn's: after 12 at place 2 and the end of 10, the round from place 3
    /// wraps to 11, although 13 was next.
    #[test]
    fn the_last_turn_keeps_its_position_when_others_are_removed() {
        let mut list = list(&[10, 11, 12, 13], 1);
        assert_eq!(turn(&mut list, &[12]), Some(12));
        list.finish(10);
        assert_eq!(turn(&mut list, &[]), None);
        assert_eq!(list.places, [11, 12, 13]);
        assert_eq!(turn(&mut list, &[11, 12, 13]), Some(11));
    }
}
