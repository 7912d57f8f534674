//! Sorting of the events of an inbox.

use floodway_engine::{Event, memory, sink};
use floodway_units::cast::to_usize;

/// Number of intervals of time into which an inbox is divided before it is sorted, so that few events are
/// compared.
pub(super) const STRETCHES: usize = 64;
/// In an inbox of no more than `SMALL` events there are fewer: an interval costs as much as a comparison.
const COARSE: usize = 16;
const SMALL: usize = 24;
/// From this number of events in an interval on, they are sorted by comparison.
const CROWDED: usize = 24;

/// Moves events before `stop` from an inbox into `sorted`, those of an earlier stretch before those of a
/// later one.
pub(super) fn deal(
    inbox: &mut Vec<Event>,
    sorted: &mut Vec<Event>,
    stop: u64,
    stretch: impl Fn(&Event) -> u64,
) {
    if inbox.len() <= SMALL {
        deal_into::<COARSE>(inbox, sorted, stop, |event| stretch(event) / (STRETCHES / COARSE) as u64);
    } else {
        deal_into::<STRETCHES>(inbox, sorted, stop, stretch);
    }
}

/// The same, with so many intervals.
#[inline]
fn deal_into<const INTERVALS: usize>(
    inbox: &mut Vec<Event>,
    sorted: &mut Vec<Event>,
    stop: u64,
    stretch: impl Fn(&Event) -> u64,
) {
    let mut places = [0u32; INTERVALS];
    let mut later = 0;
    for event in inbox.iter().filter(|event| event.time.0 < stop) {
        places[to_usize(stretch(event)) % INTERVALS] += 1;
    }
    let (mut sum, mut most) = (0, 0);
    for place in &mut places {
        most = most.max(*place);
        let before = sum;
        sum += *place;
        *place = before;
    }
    // The values do not matter: each place is written below.
    if sorted.capacity() - sorted.len() < sum as usize {
        memory::reserve(sorted, sum as usize);
    }
    sorted.extend_from_slice(&inbox[..sum as usize]);
    for i in 0..inbox.len() {
        let event = inbox[i];
        if event.time.0 < stop {
            let place = &mut places[to_usize(stretch(&event)) % INTERVALS];
            sorted[*place as usize] = event;
            *place += 1;
        } else {
            inbox[later] = event;
            later += 1;
        }
    }
    inbox.truncate(later);
    if most as usize <= CROWDED {
        return;
    }
    let mut from = 0;
    for &to in &places {
        if to as usize - from > CROWDED {
            sorted[from..to as usize].sort_unstable();
        }
        from = to as usize;
    }
}

/// Sorts events of which few are far from their places.
pub(super) fn sort_nearly(events: &mut [Event]) {
    let Some(first) = events.first() else { return };
    let mut last = first.key();
    for at in 1..events.len() {
        let key = events[at].key();
        if key >= last {
            last = key;
        } else {
            // The greatest so far moves to this place.
            sink(&mut events[..=at]);
        }
    }
}
