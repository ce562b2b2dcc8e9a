//! From shares of a trit modulo three to shares of its lowest bit by exclusive or, 64 at a time.
//!
//! ```text
//!   Sender: trit b, random table T of four bits                       Receiver: trit a, choice c, T[c]
//!                                2. d = c + a
//!      <------------------------------------------------------------------------
//!   f(a) = 1 if a + b = 1 mod 3
//!   r = T[d] + f(0)
//!                                3. T[j + d] + f(j) + r, for j = 1 and 2
//!      ------------------------------------------------------------------------>
//!   share r                                                           share T[c], plus what came for j = a
//!                                                                     if a is 1 or 2
//! ```
//!
//! Indices of a table are added bit by bit. `T[c] = T[a + d]` is `f(a) + r` where `a = 0`, and the
//! third message makes it so for other `a`. The receiver lacks the two further entries of the table
//! that hide what came; `r` is uniform, and only the sum of all 64 of an evaluation is ever opened.
//!
//! A trit takes four bits of messages and a random table of four bits. As a circuit it would be two
//! AND gates, each of five bits in GMW: for trits `a_0 + 2 a_1` and `b_0 + 2 b_1` the lowest bit of
//! the sum is `a_0 + b_0` plus `a_1 (b_0 + b_1)` plus `a_0 b_1`. The receiver knows one factor of
//! each product, so that two OTs of two bits each would do as well. They take twice as many
//! correlations, on which most of the time is spent.

/// The step that corrects choices.
pub(super) fn turn(choice: u64, own: u64) -> u64 {
    choice ^ own
}

/// The sender's share, and what it sends for trits one and two.
pub(super) fn answer(table: [u64; 4], turn: [u64; 2], [ones, twos]: [u64; 2]) -> (u64, [u64; 2]) {
    let pairs = [[table[0], table[1]], [table[2], table[3]]];
    let [low, high] = pairs.map(|pair| exchanged(pair, turn[0]));
    let [zero, two] = exchanged([low[0], high[0]], turn[1]);
    let [one, _] = exchanged([low[1], high[1]], turn[1]);
    let share = zero ^ ones;
    (share, [one ^ !(ones | twos) ^ share, two ^ twos ^ share])
}

/// The receiver's share.
pub(super) fn share(chosen: u64, own: [u64; 2], answers: [u64; 2]) -> u64 {
    chosen ^ own[0] & answers[0] ^ own[1] & answers[1]
}

/// Both words, exchanged where `turns` has ones.
fn exchanged([a, b]: [u64; 2], turns: u64) -> [u64; 2] {
    let differ = (a ^ b) & turns;
    [a ^ differ, b ^ differ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ones and twos of a trit in every lane.
    fn planes(trit: u8) -> [u64; 2] {
        [1, 2].map(|value| if trit == value { u64::MAX } else { 0 })
    }

    /// All pairs of trits with all tables and all choices: the shares are right, and over the
    /// tables that agree with what the receiver has, what it gets is uniform.
    #[test]
    fn every_pair_of_trits_is_converted_under_every_table() {
        for (a, b) in (0..9).map(|pair| (pair / 3, pair % 3)) {
            for choice in 0..4usize {
                let mut seen = [[0; 4]; 2];
                for table in 0..16u64 {
                    let table: [u64; 4] = std::array::from_fn(|j| (table >> j & 1).wrapping_neg());
                    let own = planes(a);
                    let choices = [choice & 1, choice >> 1].map(|bit| (bit as u64).wrapping_neg());
                    let turns = [0, 1].map(|plane| turn(choices[plane], own[plane]));
                    let (of_sender, answers) = answer(table, turns, planes(b));
                    let sum = of_sender ^ share(table[choice], own, answers);
                    assert_eq!(sum, planes((a + b) % 3)[0], "{a} + {b}");
                    let [first, second] = answers.map(|answer| answer as usize & 1);
                    seen[table[choice] as usize & 1][first | second << 1] += 1;
                }
                assert_eq!(seen, [[2; 4]; 2], "{a} + {b}");
            }
        }
    }

    /// The formula that the module's text compares with.
    #[test]
    fn the_lowest_bit_of_a_sum_takes_two_products() {
        for (a, b) in (0..9u8).map(|pair| (pair / 3, pair % 3)) {
            let ([a0, a1], [b0, b1]) = ([a & 1, a >> 1], [b & 1, b >> 1]);
            assert_eq!(a0 ^ b0 ^ a1 & (b0 ^ b1) ^ a0 & b1, u8::from((a + b) % 3 == 1));
        }
    }
}
