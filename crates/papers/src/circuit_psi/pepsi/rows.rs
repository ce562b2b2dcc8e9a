//! The sender's items in rows of slots, and the sums of what is compared with them.

use rayon::prelude::*;
use vesica_party::Abort;
use vesica_structures::hashing::{Entry, SimpleTable};
use vesica_structures::rlwe::bfv::{Ciphertext, Product, SwitchKey, Values};
use vesica_structures::secret::Secret;

use super::Parts;
use super::codewords::{Codeword, Codewords, columns};
use super::equality::{INVERSE, PLAIN, equal};
use super::sender::{Masks, limb};
use vesica_protocols::circuit_psi::bins::Hashes;
use vesica_protocols::circuit_psi::params::POSITIONS;
use vesica_protocols::circuit_psi::{Carry, Params};

/// Products with plaintexts that are added up at a time.
const PRODUCTS_AT_A_TIME: usize = 16;

/// The sender's items: those of a bin are dealt to the copies of the table in turn, and in each copy to one
/// row after the other.
pub(super) struct Rows<'a> {
    parts: &'a Parts,
    bins: usize,
    carried_bytes: usize,
    table: SimpleTable,
    /// For each position of an item, its codeword there.
    codewords: [Secret<Vec<Codeword>>; POSITIONS],
    carry: &'a Carry<'a>,
}

impl<'a> Rows<'a> {
    /// Step 3.
    ///
    /// # Errors
    /// If a bin is fuller than any should be.
    pub fn new(
        params: &Params<Parts>,
        parts: &'a Parts,
        hashes: &Hashes,
        items: &[u128],
        carry: &'a Carry<'a>,
    ) -> Result<Self, Abort> {
        let table = SimpleTable::build_vartime(&hashes.positions(items), params.bins, parts.capacity)
            .map_err(|_| Abort::StatisticalFailure("a bin of the sender is fuller than any should be"))?;
        let codewords = Codewords::new(parts.item_bits);
        let codewords = std::array::from_fn(|choice| codewords.all(&Secret::new(hashes.keys(choice, items))));
        Ok(Self { parts, bins: params.bins, carried_bytes: params.carried_bytes, table, codewords, carry })
    }

    /// The item in a slot of a row of a batch, and the slot's bin.
    fn entry(&self, batch: usize, row: usize, slot: usize) -> Option<(usize, Entry)> {
        let (bin, replica) = self.parts.place(self.bins, batch, slot)?;
        let entry = self.table.bin(bin).get(row * self.parts.replicas + replica)?;
        Some((bin, *entry))
    }

    /// Step 6: `16!` where the receiver's item is one of the slot's, zero elsewhere; and for each limb, what
    /// takes the masked limb of a match from the number of a bin without one.
    pub fn sums(
        &self,
        batch: usize,
        bits: &[Ciphertext<Values>],
        key: &SwitchKey,
        masks: &Masks,
    ) -> Vec<Ciphertext<Values>> {
        let scheme = &self.parts.form.ring().scheme;
        let add = |sum: &mut Vec<Product>, number: usize, product: Product| match sum.get_mut(number) {
            Some(sum) => scheme.add_product(sum, &product),
            None => sum.push(product),
        };
        // What was found comes last: nothing needs it any more.
        let add_row = |mut sum: Vec<Product>, row: usize| {
            let found = equal(scheme, key, &self.common_ones(batch, row, bits));
            for number in 0..self.parts.limbs {
                let factor = Secret::new(scheme.encode(&self.differences(batch, row, number, masks)));
                let factor = Secret::new(scheme.multiplier(&factor, scheme.all_primes()));
                add(&mut sum, number, scheme.weighted(&found, &factor));
            }
            add(&mut sum, self.parts.limbs, found);
            sum
        };
        let add_all = |mut sum: Vec<Product>, other: Vec<Product>| {
            other.into_iter().enumerate().for_each(|(number, product)| add(&mut sum, number, product));
            sum
        };
        // Keys are switched once for all rows.
        let mut sum = (0..self.parts.rows).into_par_iter().fold(Vec::new, add_row).reduce(Vec::new, add_all);
        sum.rotate_right(1);
        sum.into_par_iter().map(|product| scheme.relinearise(product, key)).collect()
    }

    /// How many ones the codewords of both sides have in common.
    fn common_ones(&self, batch: usize, row: usize, bits: &[Ciphertext<Values>]) -> Ciphertext<Values> {
        let scheme = &self.parts.form.ring().scheme;
        let codeword = |slot: usize| {
            let (_, entry) = self.entry(batch, row, slot)?;
            self.codewords[usize::from(entry.choice)].get(entry.item as usize)
        };
        let sums = bits.chunks(PRODUCTS_AT_A_TIME).enumerate().map(|(chunk, bits)| {
            let own = columns(chunk * PRODUCTS_AT_A_TIME, bits.len(), scheme.slots(), codeword);
            let factor = |column: &Secret<Vec<u64>>| {
                Secret::new(scheme.multiplier(&Secret::new(scheme.encode(column)), scheme.all_primes()))
            };
            let own: Vec<_> = own.iter().map(factor).collect();
            scheme.combine(&bits.iter().zip(&own).map(|(bit, own)| (bit, &**own)).collect::<Vec<_>>())
        });
        let sum = sums.reduce(|mut sum, other| {
            scheme.add(&mut sum, &other);
            sum
        });
        // A codeword has bits.
        sum.unwrap_or_else(|| unreachable!("codewords of {} bits", self.parts.codeword_bits))
    }

    /// In each slot with an item, how its limb, under the sender's mask, differs from the number of a bin
    /// without a match; over `16!`.
    fn differences(&self, batch: usize, row: usize, number: usize, masks: &Masks) -> Secret<Vec<u64>> {
        let mut masked = Secret::new(vec![0; self.carried_bytes]);
        let mut difference = |slot: usize| {
            let Some((bin, entry)) = self.entry(batch, row, slot) else { return 0 };
            (self.carry)(entry.item as usize, bin, &mut masked);
            let unmatched = masks.unmatched[bin * self.parts.limbs + number];
            (limb(&masked, number) + PLAIN - unmatched) * INVERSE % PLAIN
        };
        Secret::new((0..self.parts.form.ring().scheme.slots()).map(&mut difference).collect())
    }
}
