//! What follows from the rows of an OPRF by bitwise AND: tags, proofs and keys of payloads, each by
//! a hash under a key of the run.

use vesica_structures::secret::Secret;

use super::finish::{self, Params, StoredOutputs};

/// The keys of the hashes for tags, proofs and keys of payloads.
pub type OutputKeys = [[u8; 32]; 3];

/// A party's tags, which it collects as they come.
pub trait Tags {
    /// Takes some outputs, of which tags are the low bits, with their numbers.
    fn add(&mut self, outputs: &[u128], numbers: impl Iterator<Item = u32>);
}

impl Tags for finish::Sender {
    fn add(&mut self, outputs: &[u128], numbers: impl Iterator<Item = u32>) {
        self.add(outputs, numbers);
    }
}

impl Tags for finish::Receiver {
    fn add(&mut self, outputs: &[u128], numbers: impl Iterator<Item = u32>) {
        self.add(outputs, numbers);
    }
}

/// The outputs of a party, collected as its rows come; `T` takes the tags.
pub struct Collected<T> {
    /// Tags.
    pub tags: T,
    /// What stays until matches are known.
    pub stored: StoredOutputs,
    keys: OutputKeys,
    wants_proofs: bool,
    wants_payloads: bool,
}

impl<T: Tags> Collected<T> {
    /// Of nothing yet; `count` numbers will come, and `domain` separates this protocol's keystreams
    /// from others'.
    pub fn new(params: &Params, tags: T, keys: OutputKeys, count: usize, domain: &'static [u8; 16]) -> Self {
        Self {
            tags,
            stored: StoredOutputs::new(params, count, domain),
            keys,
            wants_proofs: params.both_learn,
            wants_payloads: params.payload_bytes > 0,
        }
    }

    /// Takes the outputs of some rows, one for each number, which `hash` fills in for a key.
    pub fn add(&mut self, numbers: impl ExactSizeIterator<Item = u32> + Clone, hash: impl Fn(&[u8; 32], &mut [u128])) {
        let output = |key: &[u8; 32], wanted: bool| {
            let mut out = Secret::new(vec![0; if wanted { numbers.len() } else { 0 }]);
            if wanted {
                hash(key, &mut out);
            }
            out
        };
        let [tag, proof, payload_key] = &self.keys;
        self.tags.add(&output(tag, true), numbers.clone());
        self.stored.put(&output(proof, self.wants_proofs), &output(payload_key, self.wants_payloads), numbers);
    }
}
