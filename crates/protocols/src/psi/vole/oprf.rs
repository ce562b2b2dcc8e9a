//! The outputs of the OPRF for a party's items, from the decoded VOLE share.

use std::iter::Copied;
use std::ops::Range;
use std::slice::Iter;

use vesica_mpc::oprf::outer_hash;
use vesica_structures::fields::Gf128;
use vesica_structures::okvs::Arrangement;
use vesica_structures::secret::Secret;

use super::salt::Keys;
use crate::psi::finish::{Outputs, fill_keystream};

/// Separates the keystreams of payloads from those of other protocols.
const DOMAIN: &[u8; 16] = b"vesica payload 2";

/// Outputs that are handed over at a time: enough for all threads.
const OUTPUTS_PER_BATCH: usize = 1 << 15;

/// One of the three outputs of the OPRF.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// The output that the sender sends for each item.
    Tag = 0,
    /// The output that the receiver returns for each match.
    Proof = 1,
    /// The key of a payload's keystream.
    PayloadKey = 2,
}

/// The OPRF's inner values of a party's items, in the order of an [`Arrangement`], and the outputs
/// that follow from them.
pub(super) struct Output<'a> {
    keys: &'a Keys,
    items: &'a Arrangement,
    /// `q` of each item.
    pub(super) inner: Secret<Vec<Gf128>>,
    /// `w`: 0 in the semi-honest mode, and until it is opened.
    pub(super) offset: u128,
}

impl<'a> Output<'a> {
    /// For the arranged items, whose inner values are yet to be filled in.
    pub(super) fn new(keys: &'a Keys, items: &'a Arrangement) -> Self {
        Self { keys, items, inner: Secret::new(vec![Gf128::default(); items.keys().len()]), offset: 0 }
    }

    /// Hands `part` of the outputs of a range of arranged items to `take`, some at a time, with
    /// their numbers among the items as given.
    pub(super) fn each(&self, part: Part, range: Range<usize>, mut take: impl FnMut(&[u128], Copied<Iter<'_, u32>>)) {
        let mut outputs = Secret::new(vec![0; range.len().min(OUTPUTS_PER_BATCH)]);
        for start in range.clone().step_by(OUTPUTS_PER_BATCH) {
            let piece = start..range.end.min(start + OUTPUTS_PER_BATCH);
            let outputs = &mut outputs[..piece.len()];
            let key = self.keys.outputs[part as usize];
            outer_hash(key, &self.items.keys()[piece.clone()], &self.inner[piece.clone()], self.offset, outputs);
            take(outputs, self.items.places()[piece].iter().copied());
        }
    }

    /// `part` of the outputs, by the items' own numbers.
    fn by_item(&self, part: Part) -> Secret<Vec<u128>> {
        let mut by_item = Secret::new(vec![0; self.inner.len()]);
        self.each(part, 0..self.inner.len(), |outputs, places| {
            for (&output, place) in outputs.iter().zip(places) {
                by_item[place as usize] = output;
            }
        });
        by_item
    }
}

impl Outputs for Output<'_> {
    fn proofs(&mut self) -> Secret<Vec<u128>> {
        self.by_item(Part::Proof)
    }

    fn into_keystream(self) -> impl Fn(usize, u128, &mut [u8]) + Send + Sync + 'static {
        let payload_keys = self.by_item(Part::PayloadKey);
        move |number, item, out| fill_keystream(DOMAIN, payload_keys[number], item, out)
    }
}
