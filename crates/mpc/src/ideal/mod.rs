//! INSECURE: a trusted dealer, which hands both sides of a correlation out at once. For tests only.
//!
//! A test of what stands above oblivious transfer and VOLE takes its correlations from here in
//! microseconds, and does not fail because a set-up below does. Each block has a constructor that
//! takes a dealt half in place of its set-up (`from_tables`, `from_ots`, `from_vole`).
//!
//! | dealt | to |
//! |---|---|
//! | random OTs, chosen OTs | [`crate::share_conversion`], [`crate::permute_share`] |
//! | random tables (1-of-2^k OTs of bits), which is what triples are here | [`crate::gmw`], [`crate::peqt`], [`crate::permute_share::bits`] |
//! | subfield VOLE | [`crate::opprf`] |
//! | equality tests | circuits on their shares |
//!
//! This is a public module, and not one behind a feature or `cfg(test)`: features of a workspace
//! are unified, so that one crate's tests would switch it on for the shipped binary; and the tests
//! of this crate and of those above see it from outside. A test over all sources makes sure that no
//! shipped code names [`InsecureDealer`]; what nobody calls, the linker leaves out.

use rand_core::Rng;
use vesica_structures::fields::{Gf128, Value};
use vesica_structures::rng::SecretRng;

use crate::bits::Bits;
use crate::tasks::{Lookups, OtChosen, OtPairs, Tables, Tested, VoleReceiver, VoleSender};

/// INSECURE: knows everything that it hands out.
#[derive(Debug)]
pub struct InsecureDealer(SecretRng);

impl InsecureDealer {
    /// A dealer whose correlations follow from `seed`.
    pub fn new(seed: u64) -> Self {
        Self(SecretRng::insecure_from_seed(seed))
    }

    fn bit(&mut self) -> bool {
        self.0.next_u32() & 1 == 1
    }

    /// Random OTs of blocks with random choices.
    pub fn random_ots(&mut self, len: usize) -> (OtPairs, OtChosen) {
        let choices: Vec<bool> = (0..len).map(|_| self.bit()).collect();
        self.random_ots_with(choices)
    }

    /// Random OTs of blocks with these choices.
    pub fn random_ots_with(&mut self, choices: Vec<bool>) -> (OtPairs, OtChosen) {
        let pairs = choices.iter().map(|_| [self.0.block(), self.0.block()]).collect();
        Self::chosen_ots(pairs, choices)
    }

    /// OTs of these blocks with these choices, as many of the one as of the other.
    pub fn chosen_ots(pairs: Vec<[u128; 2]>, choices: Vec<bool>) -> (OtPairs, OtChosen) {
        let chosen = pairs.iter().zip(&choices).map(|(pair, &choice)| pair[usize::from(choice)]).collect();
        (OtPairs { pairs }, OtChosen { choices, chosen })
    }

    /// Random tables of `2^width` bits (`width` from 1 to 4), each with a random place that the
    /// receiver sees.
    pub fn random_tables(&mut self, len: usize, width: u32) -> (Tables, Lookups) {
        let places = 1u32 << width;
        let tables: Vec<u16> = (0..len).map(|_| (self.0.next_u32() & ((1u32 << places) - 1)) as u16).collect();
        let entry = |table: &u16| {
            let choice = self.0.next_u32() % places;
            (choice | (u32::from(*table) >> choice & 1) << 7) as u8
        };
        let entries = tables.iter().map(entry).collect();
        (Tables { width, tables }, Lookups { width, entries })
    }

    /// Subfield VOLE with values below `2^width`.
    pub fn vole<B: Value>(&mut self, len: usize, width: u32) -> (VoleSender, VoleReceiver<B>) {
        let delta = Gf128(self.0.block());
        let b: Vec<Gf128> = (0..len).map(|_| Gf128(self.0.block())).collect();
        let c: Vec<B> = (0..len).map(|_| B::from_bits(self.0.block() >> (128 - width))).collect();
        let a = b.iter().zip(&c).map(|(&b, c)| b + delta * c.embed()).collect();
        (VoleSender { delta, b }, VoleReceiver { c, a })
    }

    /// Equality tests of `width` bits: the sender's values are random, but for those at `equal`,
    /// which are the receiver's.
    pub fn equality(&mut self, receiver: &[u64], width: u32, equal: impl Fn(usize) -> bool) -> (Tested, Bits) {
        let draw = |(i, &value): (usize, &u64)| if equal(i) { value } else { self.0.next_u64() >> (64 - width) };
        let values: Vec<u64> = receiver.iter().enumerate().map(draw).collect();
        let shares = Bits::random(receiver.len(), &mut self.0);
        let mut others = shares.clone();
        others ^= &values.iter().zip(receiver).map(|(ours, theirs)| ours == theirs).collect::<Bits>();
        (Tested { values, shares }, others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::{Equality, RandomOneOfNOt, RandomOt, SubfieldVole};
    use vesica_party::Task;
    use vesica_structures::fields::Gf64;

    #[test]
    fn what_is_dealt_is_what_the_functionalities_say() {
        let mut dealer = InsecureDealer::new(1);
        for len in [0, 1, 1000] {
            let (sender, receiver) = dealer.random_ots(len);
            RandomOt::holds(&(), &(), &sender, &receiver).unwrap();
            for width in 1..=4 {
                let (sender, receiver) = dealer.random_tables(len, width);
                RandomOneOfNOt::holds(&(), &(), &sender, &receiver).unwrap();
            }
            let (sender, receiver) = dealer.vole::<Gf64>(len, 61);
            SubfieldVole::<Gf64>::holds(&(), &(), &sender, &receiver).unwrap();
            let (sender, receiver) = dealer.vole::<Gf128>(len, 128);
            SubfieldVole::<Gf128>::holds(&(), &(), &sender, &receiver).unwrap();
            let asked: Vec<u64> = (0..len as u64).collect();
            let (sender, receiver) = dealer.equality(&asked, 10, |i| i % 3 == 0);
            Equality::holds(&(), &asked, &sender, &receiver).unwrap();
        }
        let choices = vec![true, false];
        let (_, receiver) = InsecureDealer::chosen_ots(vec![[1, 2], [3, 4]], choices.clone());
        assert_eq!((&receiver.choices, &receiver.chosen), (&choices, &vec![2, 3]));
        assert_eq!(dealer.random_ots_with(choices.clone()).1.choices, choices);
    }

    #[test]
    fn all_values_are_dealt() {
        let mut dealer = InsecureDealer::new(2);
        let (tables, lookups) = dealer.random_tables(10_000, 4);
        assert_eq!(tables.tables.iter().fold(0, |all, table| all | table), u16::MAX);
        let seen: std::collections::BTreeSet<u8> = lookups.entries.iter().copied().collect();
        assert_eq!(seen.len(), 32, "16 places, a bit at each");
        let (_, vole) = dealer.vole::<Gf64>(1000, 61);
        assert_eq!(vole.c.iter().fold(0, |all, c| all | c.0), u64::MAX >> 3);
    }
}
