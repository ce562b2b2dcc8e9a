//! The keyed functions of items, and the sums of their cells.

use std::ops::Range;

use vesica_mpc::oprf::outer_hash;
use vesica_structures::fields::Gf128;
use vesica_structures::okvs::Gbf;
use vesica_structures::okvs::gbf::Shape;
use vesica_structures::secret::Secret;

use vesica_protocols::psi::finish::{Outputs, fill_keystream};

/// Outputs that are made at a time: enough for all threads.
const OUTPUTS_PER_BATCH: usize = 1 << 15;

/// The public functions of a run, all keyed by its salt.
#[derive(Debug)]
pub(super) struct Filter {
    /// The positions of items.
    pub(super) gbf: Gbf,
    /// The keys of the hashes for tags, proofs and keys of payloads.
    outputs: [u128; 3],
    /// Separates the keystreams of payloads from those of other protocols.
    domain: &'static [u8; 16],
}

impl Filter {
    /// The functions that follow from `hasher`, which has taken the salt.
    pub(super) fn derive(shape: Shape, hasher: &blake3::Hasher, domain: &'static [u8; 16]) -> Self {
        let mut keys = [[0; 16]; 4];
        hasher.finalize_xof().fill(keys.as_flattened_mut());
        let [seed, outputs @ ..] = keys.map(u128::from_le_bytes);
        Self { gbf: Gbf::with_shape(shape, seed), outputs, domain }
    }
}

/// The sums of a party's items, and what follows from them.
pub(super) struct Sums<'a> {
    filter: &'a Filter,
    items: &'a [u128],
    sums: Secret<Vec<Gf128>>,
}

impl<'a> Sums<'a> {
    /// Of no cell yet.
    pub(super) fn new(filter: &'a Filter, items: &'a [u128]) -> Self {
        Self { filter, items, sums: Secret::new(vec![Gf128::default(); items.len()]) }
    }

    /// Adds the strings of these cells.
    pub(super) fn add(&mut self, cells: Range<usize>, strings: &[Gf128]) {
        self.filter.gbf.add_cells_vartime(self.items, cells, strings, &mut self.sums);
    }

    /// Hands the tags to `take`, some at a time, with the items' numbers.
    pub(super) fn each_tag(&self, take: impl FnMut(&[u128], Range<u32>)) {
        self.each(0, take);
    }

    /// Hands one of the three outputs to `take`: `H(x, sum)`, by Davies and Meyer with the salted item as
    /// the key.
    fn each(&self, output: usize, mut take: impl FnMut(&[u128], Range<u32>)) {
        let mut outputs = Secret::new(vec![0; self.items.len().min(OUTPUTS_PER_BATCH)]);
        let batches = self.items.chunks(OUTPUTS_PER_BATCH).zip(self.sums.chunks(OUTPUTS_PER_BATCH));
        for (first, (items, sums)) in (0u32..).step_by(OUTPUTS_PER_BATCH).zip(batches) {
            let outputs = &mut outputs[..items.len()];
            outer_hash(self.filter.outputs[output], items, sums, 0, outputs);
            take(outputs, first..first + items.len() as u32);
        }
    }

    fn all(&self, output: usize) -> Secret<Vec<u128>> {
        let mut all = Secret::new(Vec::with_capacity(self.items.len()));
        self.each(output, |outputs, _| all.extend_from_slice(outputs));
        all
    }
}

impl Outputs for Sums<'_> {
    fn proofs(&mut self, _items: &[u128]) -> Secret<Vec<u128>> {
        self.all(1)
    }

    fn into_keystream(self, _items: &[u128]) -> impl Fn(usize, u128, &mut [u8]) + Send + Sync + 'static {
        let (payload_keys, domain) = (self.all(2), self.filter.domain);
        move |number, item, out| fill_keystream(domain, payload_keys[number], item, out)
    }
}
