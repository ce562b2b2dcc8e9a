//! The outputs of the OPRF for a party's items, from the decoded VOLE share; and what a party keeps of a run while
//! other runs are at their first pass.

use std::ops::Range;

use vesica_mpc::oprf::outer_hash;
use vesica_party::{Channel, Security};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::Gf128;
use vesica_structures::okvs::Arrangement;
use vesica_structures::secret::Secret;

use super::params::Params;
use super::salt::Keys;
use crate::passes::{Compare, LaterPasses, not_kept};
use crate::psi::finish::{self, Outputs, OwnProofs, fill_keystream};
use crate::psi::row_outputs::Tags;

/// Separates the keystreams of payloads from those of other protocols.
const DOMAIN: &[u8; 16] = b"vesica payload 2";

/// Outputs that are handed over at a time: enough for all threads.
const OUTPUTS_PER_BATCH: usize = 1 << 15;

/// One of the three outputs of the OPRF.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// The output that the sender sends for each item.
    Tag = 0,
    /// The output that the receiver returns for each match.
    Proof = 1,
    /// The key of a payload's keystream.
    PayloadKey = 2,
}

/// The OPRF's inner values of a party's items, from which all outputs follow.
pub(super) struct Inner {
    /// The keys of the outputs.
    keys: [u128; 3],
    /// `q` of each item, in the order in which the party brought them; empty where nothing follows but tags that
    /// are there already.
    values: Secret<Vec<Gf128>>,
    /// `w`: 0 in the semi-honest mode.
    offset: u128,
}

impl Inner {
    /// Hands `part` of the outputs of these items to `take`, some at a time; with what `numbers` makes of the range
    /// that they have among them.
    fn each<N>(
        &self,
        part: Part,
        (items, values): (&[u128], &[Gf128]),
        numbers: impl Fn(Range<usize>) -> N,
        mut take: impl FnMut(&[u128], N),
    ) {
        let mut outputs = Secret::new(vec![0; items.len().min(OUTPUTS_PER_BATCH)]);
        for start in (0..items.len()).step_by(OUTPUTS_PER_BATCH) {
            let piece = start..items.len().min(start + OUTPUTS_PER_BATCH);
            let outputs = &mut outputs[..piece.len()];
            let key = self.keys[part as usize];
            outer_hash(key, &items[piece.clone()], &values[piece.clone()], self.offset, outputs);
            take(outputs, numbers(piece));
        }
    }

    /// The keys and the offset.
    fn keys_to_bytes(&self) -> Secret<Vec<u8>> {
        let [tag, proof, payload_key] = self.keys;
        let words = Secret::new([tag, proof, payload_key, self.offset].map(u128::to_le_bytes));
        Secret::new(words.as_flattened().to_vec())
    }

    /// The same of [`Self::keys_to_bytes`], without values.
    fn without_values(bytes: &[u8]) -> Option<Self> {
        let ([tag, proof, payload_key, offset], []) = bytes.as_chunks() else { return None };
        let keys = [*tag, *proof, *payload_key].map(u128::from_le_bytes);
        Some(Self { keys, values: Secret::new(Vec::new()), offset: u128::from_le_bytes(*offset) })
    }

    /// `part` of the outputs of all items.
    fn all(&self, part: Part, items: &[u128]) -> Secret<Vec<u128>> {
        let mut all = Secret::new(vec![0; items.len()]);
        outer_hash(self.keys[part as usize], items, &self.values, self.offset, &mut all);
        all
    }
}

impl Outputs for Inner {
    fn proofs(&mut self, items: &[u128]) -> Secret<Vec<u128>> {
        self.all(Part::Proof, items)
    }

    fn into_keystream(self, items: &[u128]) -> impl Fn(usize, u128, &mut [u8]) + Send + Sync + 'static {
        let payload_keys = self.all(Part::PayloadKey, items);
        move |number, item, out| fill_keystream(DOMAIN, payload_keys[number], item, out)
    }
}

/// What a party keeps of a run whose table has travelled: an inner value of 16 bytes for each of its items, or where
/// tags have nothing to wait for, these. `T` collects tags.
pub(super) struct Kept<T> {
    pub(super) params: finish::Params,
    /// The tags so far, if they are made as inner values come.
    tags: Option<T>,
    /// How many inner values there are.
    count: usize,
    inner: Inner,
}

impl<T: Tags> Kept<T> {
    /// Of a party whose `count` items are to be evaluated. Without `tags` these are made at the end, when the offset
    /// has come.
    pub(super) fn new(params: &finish::Params, keys: &Keys, count: usize, tags: Option<T>) -> Self {
        let is_asked_for = tags.is_none() || params.both_learn || params.payload_bytes > 0;
        let count = if is_asked_for { count } else { 0 };
        let values = Secret::new(vec![Gf128::default(); count]);
        Self { params: params.clone(), tags, count, inner: Inner { keys: keys.outputs, values, offset: 0 } }
    }

    /// Takes the inner values of a range of arranged items.
    pub(super) fn take(&mut self, items: &Arrangement, range: Range<usize>, values: &[Gf128]) {
        let Self { tags, inner, .. } = self;
        let (items, places) = (&items.keys()[range.clone()], &items.places()[range]);
        if let Some(tags) = tags {
            let places = |piece: Range<usize>| places[piece].iter().copied();
            inner.each(Part::Tag, (items, values), places, |outputs, places| tags.add(outputs, places));
        }
        if !inner.values.is_empty() {
            for (&value, &place) in values.iter().zip(places) {
                inner.values[place as usize] = value;
            }
        }
    }

    /// Notes the offset, which all outputs wait for in the malicious mode.
    pub(super) fn set_offset(&mut self, offset: u128) {
        self.inner.offset = offset;
    }

    /// The run at the end of its first pass, with the inner values by themselves until [`Self::with_values`]. Tags that
    /// are made as inner values come cannot be written down.
    pub(super) fn into_compare<I, O>(mut self) -> Compare<I, O>
    where
        Self: LaterPasses<I, O> + 'static,
    {
        let kept = std::mem::replace(&mut self.inner.values, Secret::new(Vec::new()));
        let keys = self.tags.is_none().then(|| self.inner.keys_to_bytes());
        Compare { kept, keys, later: Box::new(self) }
    }

    /// What [`Self::into_compare`] was called on, from what it gave; of a party with `count` items. An empty set leaves
    /// nothing but the output `if_empty`.
    pub(super) fn again<I, O: Send + 'static>(
        params: &Params,
        count: usize,
        (keys, values): (&[u8], Secret<Vec<Gf128>>),
        if_empty: O,
    ) -> Result<Compare<I, O>, Unsupported>
    where
        Self: LaterPasses<I, O> + 'static,
    {
        if params.is_empty() && keys.is_empty() && values.is_empty() {
            return Ok(Compare::ended(if_empty));
        }
        if params.is_empty() || params.security != Security::Malicious {
            return Err(not_kept());
        }
        let inner = Inner::without_values(keys).ok_or_else(not_kept)?;
        let kept = Self { params: params.finish.clone(), tags: None, count, inner };
        kept.with_values(values).map(Self::into_compare)
    }

    /// The same with its inner values again.
    pub(super) fn with_values(mut self, values: Secret<Vec<Gf128>>) -> Result<Self, Unsupported> {
        if values.len() != self.count {
            return Err(not_kept());
        }
        self.inner.values = values;
        Ok(self)
    }

    /// What step 10 takes.
    pub(super) fn proofs(&mut self, items: &[u128], ch: &mut Channel) -> OwnProofs {
        OwnProofs::new(&self.params, &mut self.inner, items, ch)
    }

    /// The tags of all `items`, in which `begin` has none yet; and what the other outputs follow from.
    pub(super) fn into_tags(self, begin: fn(&finish::Params) -> T, items: &[u128]) -> (T, Inner) {
        let Self { params, tags, inner, .. } = self;
        let tags = tags.unwrap_or_else(|| {
            let mut tags = begin(&params);
            let numbers = |piece: Range<usize>| piece.start as u32..piece.end as u32;
            inner.each(Part::Tag, (items, &inner.values), numbers, |outputs, numbers| tags.add(outputs, numbers));
            tags
        });
        (tags, inner)
    }
}

/// Room for the inner values of any part of these items.
pub(super) fn room_for_part(items: &Arrangement, parts: usize) -> Secret<Vec<Gf128>> {
    let longest = (0..parts).map(|part| items.part(part).len()).max();
    Secret::new(vec![Gf128::default(); longest.unwrap_or(0)])
}
