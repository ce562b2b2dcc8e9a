//! All numbers of the service.

use vesica_party::service::Service;
use vesica_structures::facts::Unsupported;
use vesica_structures::secret::Secret;

use vesica_protocols::bfv::keys::{self, SEED_BYTES};
use vesica_protocols::recurrent::sizes::Sizes;
use vesica_protocols::tasks::IntersectRequest;
use vesica_protocols::unbalanced::ring::{Form, Ring};
use vesica_protocols::unbalanced::{Shape, noise};

/// Queries of a client from one enrolment, at most: they share one budget of false matches, and one
/// of cuckoo tables that do not exist.
pub const QUERIES_AN_ENROLMENT: u64 = 1 << 16;

/// Flooded ciphertexts that a prepared set answers with, at most, for all clients together: what noise
/// may say of the set shares one budget.
pub const ANSWERS_OF_A_SET: u64 = noise::ANSWERS_OF_A_SET;

/// Numbers that are written into terms and states.
pub(super) const WORDS: usize = 15;

/// Rises when hashing, polynomials or scaling change.
const VERSION: u64 = 1;

/// Bytes of the seeds of the hash functions: for positions, and for limbs.
pub(super) const HASH_SEED_BYTES: usize = 32;

/// The ring.
pub(super) fn ring() -> &'static Ring {
    Form::Apart.ring()
}

/// The parameters that both sides derive from the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Items of the server's set, `n_s`.
    pub set_items: usize,
    /// Items of each query, `n_r`.
    pub query_items: usize,
    /// Limbs, bins, parts and powers.
    pub shape: Shape,
}

impl Params {
    /// Parameters for a request, refused where the mode, a size or an option is not served.
    pub fn derive(request: &IntersectRequest) -> Result<Self, Unsupported> {
        super::Clr17::ENTRY.require(request.security)?;
        let Sizes { set_items, query_items, .. } = Sizes::of_membership(request)?;
        let shape = Shape::new(Form::Apart, set_items, query_items, QUERIES_AN_ENROLMENT.ilog2())?;
        Ok(Self { set_items, query_items, shape })
    }

    /// Seeds, the client's public key, and its key for products.
    pub fn enrolment_bytes(&self) -> u64 {
        (HASH_SEED_BYTES + keys::bytes(ring())) as u64
    }

    /// A seed, powers, and values.
    pub fn query_bytes(&self) -> u64 {
        let seed = if self.query_items > 0 { SEED_BYTES } else { 0 };
        (seed + self.shape.question_bytes() + self.shape.answer_bytes()) as u64
    }

    /// The positions and the limbs of items.
    pub(super) fn hash(&self, seeds: &[u8; HASH_SEED_BYTES], items: &[u128]) -> (Vec<[u32; 3]>, Secret<Vec<u64>>) {
        self.shape.hash(bytemuck::pod_read_unaligned(seeds), items)
    }

    /// All of them as numbers, and what another version may derive from them otherwise.
    pub(super) fn to_words(self) -> [u64; WORDS] {
        let mut words = [VERSION; WORDS];
        words[..2].copy_from_slice(&[self.set_items as u64, self.query_items as u64]);
        words[2..WORDS - 2].copy_from_slice(&self.shape.to_words());
        words[WORDS - 2] = ring().flood_bits.into();
        words
    }

    /// The parameters that give these numbers; `None` if none do.
    pub(super) fn from_words(words: [u64; WORDS]) -> Option<Self> {
        let [set_items, query_items, ..] = words;
        let request = Sizes::request([set_items, query_items, 0], vesica_party::Security::SemiHonest)?;
        Self::derive(&request).ok().filter(|params| params.to_words() == words)
    }
}
