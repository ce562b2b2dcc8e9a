//! All numbers of the service.

use std::io;

use vesica_mpc::rfc9497::Output;
use vesica_party::service::{Service, StateError, StateReader, StateWriter};
use vesica_structures::facts::Unsupported;
use vesica_structures::hashing::Positions;
use vesica_structures::secret::Secret;

use crate::bfv::keys::SEED_BYTES;
use crate::ecdh::POINT_BYTES;
use crate::psi::finish::fill_keystream;
use crate::recurrent::read_params;
use crate::recurrent::sizes::Sizes;
use crate::tasks::IntersectRequest;
use crate::unbalanced::Shape;
use crate::unbalanced::ring::{Form, LIMB_BITS, Ring};

/// Queries of a client from one enrolment, at most: they share one budget of false matches, and one
/// of cuckoo tables that do not exist.
pub const QUERIES_AN_ENROLMENT: u64 = 1 << 16;

/// Numbers that are written into terms and states, the last one a version.
const WORDS: usize = 14;

/// Rises when hashing, polynomials, scaling or answers change.
const VERSION: u64 = 3;

/// The version where there are payloads, which rises when labels change, too. The width of a payload
/// follows it.
const VERSION_WITH_PAYLOADS: u64 = 4;

// A state says by this number alone whether it has the width of payloads.
const _: () = assert!(VERSION != VERSION_WITH_PAYLOADS);

/// Separates the keystreams of payloads from others'.
const PAYLOAD_DOMAIN: &[u8; 16] = b"CMDG21  payloads";

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
        let Sizes { set_items, query_items, payload_bytes } = Sizes::of(request)?;
        let log_queries = QUERIES_AN_ENROLMENT.ilog2();
        let shape = Shape::with_payloads(set_items, query_items, log_queries, payload_bytes)?;
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

    /// About what a set with payloads takes while it is prepared on one thread, in bytes: all plaintexts, twice
    /// the slots of those of one group and part, and the limbs of all payloads.
    pub fn preparation_bytes(&self) -> u64 {
        let Shape { limbs, degree, .. } = self.shape;
        let slots = ring().scheme.slots();
        let plaintexts = size_of::<u32>() * self.shape.plaintexts() * slots;
        let of_part = 2 * size_of::<u64>() * self.shape.values() * degree * slots;
        let of_items = size_of::<u32>() * (1 + limbs * self.shape.labels()) * self.set_items;
        (plaintexts + of_part + of_items) as u64
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
    pub(super) fn to_words(self) -> Vec<u64> {
        let has_payloads = self.shape.payload_bytes > 0;
        let mut words = vec![self.set_items as u64, self.query_items as u64];
        words.extend(self.shape.to_words());
        words.push(if has_payloads { VERSION_WITH_PAYLOADS } else { VERSION });
        words.extend(has_payloads.then_some(self.shape.payload_bytes as u64));
        words
    }

    /// Writes them into a state.
    pub(super) fn write(self, out: &mut StateWriter<'_>) -> io::Result<()> {
        out.elements(&self.to_words())
    }

    /// Reads what `write` wrote, refused where no request has these parameters.
    pub(super) fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let fixed: [u64; WORDS] = read_params(bytes, Some)?;
        let with_payloads = fixed[WORDS - 1] == VERSION_WITH_PAYLOADS;
        let payload_bytes = if with_payloads { Some(bytes.u64()?) } else { None };
        let [set_items, query_items, ..] = fixed;
        let sizes = [set_items, query_items, payload_bytes.unwrap_or(0)];
        let derived = Sizes::request(sizes, vesica_party::Security::SemiHonest)
            .and_then(|request| Self::derive(&request).ok())
            .filter(|params| params.to_words().into_iter().eq(fixed.into_iter().chain(payload_bytes)));
        derived.ok_or(StateError::Damaged("its parameters are not those of any request"))
    }
}

/// Fills `out` with the keystream of an item's payload: its key is bytes 48 to 63 of the item's output.
/// Bins and limbs are other bytes.
pub(super) fn fill_payload_keystream(output: &Output, item: u128, out: &mut [u8]) {
    let [.., key] = bytemuck::cast::<Output, [u128; 4]>(*output);
    fill_keystream(PAYLOAD_DOMAIN, key, item, out);
}
