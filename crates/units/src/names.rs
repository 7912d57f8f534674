//! Names of a list, and those that a user may have meant.

/// The allowed word nearest to `given`, if it is near enough: a slip or two away, else the shortest
/// that it is a part of.
pub fn nearest(given: &str, allowed: &[String]) -> Option<String> {
    let lower = given.to_lowercase();
    let letters = given.chars().count();
    // Words of other lengths are too far, and texts of any length may be given.
    let slips = |word: &String| 1 + word.chars().count().min(letters) / 4;
    let comparable = allowed.iter().filter(|word| word.chars().count().abs_diff(letters) <= slips(word));
    let distance = |word: &String| strsim::osa_distance(&lower, &word.to_lowercase());
    let near =
        comparable.map(|word| (distance(word), word)).filter(|(distance, word)| *distance <= slips(word));
    // Of words equally far, one that begins alike.
    let best = near.min_by_key(|(distance, word)| (*distance, word.chars().next() != given.chars().next()));
    best.map(|(_, word)| word.clone()).or_else(|| {
        let holds =
            |word: &&String| letters >= PART && word.split('-').any(|part| part.to_lowercase() == lower);
        allowed.iter().filter(holds).min_by_key(|word| word.len()).cloned()
    })
}

/// Minimum number of characters that identify a word of which they are a part.
const PART: usize = 3;
