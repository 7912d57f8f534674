//! ns-3's random generator, MRG32k3a (`L'Ecuyer` 1999), with the operations that profiles need.
//!
//! Stream s and substream t of a seed begin s·2^127 + t·2^76 steps after the initial state, which is the seed
//! repeated six times. A step is a multiplication by a matrix, so a jump is a multiplication by a power of
//! it.

const M1: u64 = 4_294_967_087;
const M2: u64 = 4_294_944_443;
const A12: u64 = 1_403_580;
const A13: u64 = 810_728;
const A21: u64 = 527_612;
const A23: u64 = 1_370_589;

type Matrix = [[u64; 3]; 3];

/// The generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mrg32k3a {
    first: [u64; 3],
    second: [u64; 3],
}

impl Mrg32k3a {
    /// Stream 0, substream 1 of `seed`: the first one that ns-3 assigns.
    pub fn first_of(seed: u32) -> Self {
        let seed = [u64::from(seed); 3];
        let [one, two] = steps();
        Mrg32k3a { first: times(jump(one, 76, M1), seed, M1), second: times(jump(two, 76, M2), seed, M2) }
    }

    /// Stream 2^63, substream 1 of `seed`: the stream of ns-3's variables with an explicit stream number 0,
    /// because the streams below are assigned automatically.
    pub fn first_by_hand(seed: u32) -> Self {
        let Mrg32k3a { first, second } = Mrg32k3a::first_of(seed);
        let [one, two] = steps();
        Mrg32k3a {
            first: times(jump(one, 190, M1), first, M1),
            second: times(jump(two, 190, M2), second, M2),
        }
    }

    /// Substream 1 of `seed` in the `stream`-th stream, counted from 0: ns-3 assigns these to the variables
    /// of a run, one after another.
    pub fn of_stream(seed: u32, stream: u64) -> Self {
        FirstDraws::new(seed, stream).next
    }

    /// The next draw, uniform in (0, 1), times 2^32, rounded down.
    #[expect(clippy::cast_possible_truncation, reason = "a draw below 1 times 2^32, rounded down")]
    pub fn next_u32(&mut self) -> u32 {
        (self.next_f64() * 4_294_967_296.0) as u32
    }

    /// The next draw, uniform in (0, 1).
    pub fn next_f64(&mut self) -> f64 {
        let first = (A12 * self.first[1] + (M1 - A13) * self.first[0] % M1) % M1;
        let second = (A21 * self.second[2] + (M2 - A23) * self.second[0] % M2) % M2;
        self.first = [self.first[1], self.first[2], first];
        self.second = [self.second[1], self.second[2], second];
        let difference = if first > second { first - second } else { first + M1 - second };
        // The factor is 1 / (m1 + 1), the double nearest to the published code's.
        difference as f64 * 2.328_306_549_295_728e-10
    }
}

/// The first draws of consecutive streams, as of ns-3 variables that are each created, drawn from once and
/// discarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstDraws {
    /// The beginning of the next stream.
    next: Mrg32k3a,
    /// The jump from the beginning of a stream to that of the next one.
    jumps: [Matrix; 2],
}

impl FirstDraws {
    /// Upper limit of seeds (exclusive). Seeds are above 0, where the generator's state never changes.
    pub const SEEDS: u64 = M2;

    /// The streams from stream `from` of `seed` on, in substream 1.
    pub fn new(seed: u32, from: u64) -> Self {
        let [one, two] = steps();
        let mut draws =
            FirstDraws { next: Mrg32k3a::first_of(seed), jumps: [jump(one, 127, M1), jump(two, 127, M2)] };
        (0..from).for_each(|_| draws.skip());
        draws
    }

    /// Skips a stream.
    pub fn skip(&mut self) {
        self.next.first = times(self.jumps[0], self.next.first, M1);
        self.next.second = times(self.jumps[1], self.next.second, M2);
    }

    /// The next stream's first draw, uniform in (0, 1).
    pub fn draw(&mut self) -> f64 {
        let drawn = self.next.clone().next_f64();
        self.skip();
        drawn
    }
}

/// One step of each half.
fn steps() -> [Matrix; 2] {
    [[[0, 1, 0], [0, 0, 1], [M1 - A13, A12, 0]], [[0, 1, 0], [0, 0, 1], [M2 - A23, 0, A21]]]
}

/// 2^`power` steps at once.
fn jump(step: Matrix, power: u32, modulus: u64) -> Matrix {
    (0..power).fold(step, |matrix, _| product(matrix, matrix, modulus))
}

fn product(a: Matrix, b: Matrix, modulus: u64) -> Matrix {
    let cell = |i: usize, j: usize| (0..3).fold(0, |sum, k| (sum + a[i][k] * b[k][j] % modulus) % modulus);
    std::array::from_fn(|i| std::array::from_fn(|j| cell(i, j)))
}

fn times(matrix: Matrix, state: [u64; 3], modulus: u64) -> [u64; 3] {
    std::array::from_fn(|i| (0..3).fold(0, |sum, k| (sum + matrix[i][k] * state[k] % modulus) % modulus))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_the_hash_seeds_of_swings_switches_in_configuration_order() {
        let mut generator = Mrg32k3a::first_of(1);
        let seeds: Vec<u32> = (0..42).map(|_| generator.next_u32()).collect();
        // s1-s4, s21-s24, s5, …; s19, s20; s25; s41, s42.
        assert_eq!(
            seeds[..9],
            [
                3_506_978_425,
                2_606_383_083,
                2_128_476_236,
                1_638_928_128,
                1_585_152_108,
                3_464_367_242,
                433_302_024,
                2_511_677_460,
                4_033_148_213
            ]
        );
        assert_eq!(seeds[22..25], [1_616_462_032, 1_567_332_858, 4_116_788_230]);
        assert_eq!(seeds[40..], [745_875_361, 1_471_068_050]);
    }

    #[test]
    fn streams_begin_where_the_first_draws_of_one_after_another_come_from() {
        let mut draws = FirstDraws::new(7, 0);
        for stream in 0..40 {
            assert_eq!(Mrg32k3a::of_stream(7, stream).next_f64(), draws.draw(), "stream {stream}");
        }
        assert_eq!(Mrg32k3a::of_stream(7, 0), Mrg32k3a::first_of(7));
    }

    #[test]
    fn stream_2_to_the_63_lies_2_to_the_190_steps_on() {
        let mut by_hand = Mrg32k3a::first_by_hand(1);
        // Doubling a jump: 2^62 streams twice.
        let [one, two] = steps();
        let Mrg32k3a { mut first, mut second } = Mrg32k3a::first_of(1);
        for _ in 0..2 {
            (first, second) = (times(jump(one, 189, M1), first, M1), times(jump(two, 189, M2), second, M2));
        }
        assert_eq!(by_hand, Mrg32k3a { first, second });
        let draws: Vec<u32> = (0..3).map(|_| by_hand.next_u32()).collect();
        // With this state, every random mark of ConWeave's recorded runs is reproduced.
        assert_eq!(draws, [4_107_895_768, 3_905_916_689, 2_357_657_433]);
    }
}
