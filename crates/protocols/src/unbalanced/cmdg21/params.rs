//! All numbers of the service.

use vesica_mpc::rfc9497::Output;
use vesica_party::service::Service;
use vesica_structures::facts::Unsupported;
use vesica_structures::hashing::Positions;
use vesica_structures::secret::Secret;

use crate::bfv::keys::SEED_BYTES;
use crate::ecdh::POINT_BYTES;
use crate::recurrent::sizes::Sizes;
use crate::tasks::IntersectRequest;
use crate::unbalanced::Shape;
use crate::unbalanced::ring::{Form, LIMB_BITS, Ring};

/// Queries of a client from one enrolment, at most: they share one budget of false matches, and one
/// of cuckoo tables that do not exist.
pub const QUERIES_AN_ENROLMENT: u64 = 1 << 16;

/// Numbers that are written into terms and states.
pub(super) const WORDS: usize = 14;

/// Rises when hashing, polynomials or scaling change.
const VERSION: u64 = 1;

/// The ring.
pub(super) fn ring() -> &'static Ring {
    Form::Together.ring()
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
        super::Cmdg21::ENTRY.require(request.security)?;
        let Sizes { set_items, query_items, .. } = Sizes::of_membership(request)?;
        let shape = Shape::new(Form::Together, set_items, query_items, QUERIES_AN_ENROLMENT.ilog2())?;
        Ok(Self { set_items, query_items, shape })
    }

    /// The seed and the first halves of the key for products.
    pub fn enrolment_bytes(&self) -> u64 {
        (SEED_BYTES + ring().scheme.digits() * ring().half_bytes()) as u64
    }

    /// For each item two elements; a seed, powers, and values.
    pub fn query_bytes(&self) -> u64 {
        let seed = if self.query_items > 0 { SEED_BYTES } else { 0 };
        (2 * self.query_items * POINT_BYTES + seed + self.shape.question_bytes() + self.shape.answer_bytes()) as u64
    }

    /// The positions of items, by their outputs.
    pub(super) fn positions(&self, outputs: &[Output]) -> Vec<[u32; 3]> {
        // Where nothing is asked, there are no bins.
        if outputs.is_empty() {
            return Vec::new();
        }
        // Outputs are uniform, and need no key.
        let choosers: Secret<Vec<u128>> =
            Secret::new(outputs.iter().map(|output| bytemuck::cast::<Output, [u128; 4]>(*output)[0]).collect());
        Positions::new(0, self.shape.bins()).of(&choosers)
    }

    /// The limbs of items, by their outputs.
    pub(super) fn limbs(&self, outputs: &[Output]) -> Secret<Vec<u64>> {
        let limb = |output: &Output, index: usize| {
            // Bytes 16 to 47 hold 15 limbs, and a byte more than the last one begins in is there.
            let bit = index * LIMB_BITS as usize;
            let mut word = [0; 4];
            word.copy_from_slice(&output[16 + bit / 8..][..4]);
            u64::from(u32::from_le_bytes(word) >> (bit % 8)) & ((1 << LIMB_BITS) - 1)
        };
        let limbs = |output: &Output| (0..self.shape.limbs).map(|index| limb(output, index)).collect::<Vec<u64>>();
        Secret::new(outputs.iter().flat_map(limbs).collect())
    }

    /// All of them as numbers, and what another version may derive from them otherwise.
    pub(super) fn to_words(self) -> [u64; WORDS] {
        let mut words = [VERSION; WORDS];
        words[..2].copy_from_slice(&[self.set_items as u64, self.query_items as u64]);
        words[2..WORDS - 1].copy_from_slice(&self.shape.to_words());
        words
    }

    /// The parameters that give these numbers; `None` if none do.
    pub(super) fn from_words(words: [u64; WORDS]) -> Option<Self> {
        let [set_items, query_items, ..] = words;
        let request = Sizes::request([set_items, query_items, 0], vesica_party::Security::SemiHonest)?;
        Self::derive(&request).ok().filter(|params| params.to_words() == words)
    }
}
