//! The parameters of a row: those of the computation, and the size of a query.

use vesica_party::Security;
use vesica_structures::facts::Unsupported;
use vesica_structures::prf::DigestPrf;
use vesica_structures::secret::Secret;

use super::params::{ITEMS_AN_ENROLMENT, ITEMS_OF_A_SET};
use super::setup::{SEED_BYTES, Setup};
use super::turns::Turns;
use super::{Configuration, Form, Params};
use vesica_protocols::bfv::ciphertexts::half_bytes;
use vesica_protocols::ecdh::CHUNKS_IN_FLIGHT;
use vesica_protocols::recurrent::ANSWER_BYTES_IN_FLIGHT;
use vesica_protocols::recurrent::Sizes;
use vesica_protocols::tasks::IntersectRequest;

/// Numbers that are written into terms and states.
pub(super) const WORDS: usize = 8;

/// Rises when compression, hashing, limbs or floods change.
const VERSION: u64 = 1;

/// Where the number of hash functions stands in the last of them.
const FUNCTIONS_SHIFT: u32 = 48;

/// Bytes of the key of the compression.
pub(super) const KEY_BYTES: usize = 16;

/// Bytes of a seed of the client's ciphertexts.
pub(super) const CLIENT_SEED_BYTES: usize = 32;

/// The parameters that both sides derive from a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowParams {
    /// Items of each query, `n_r`.
    pub query_items: usize,
    /// Those of the computation.
    pub params: Params,
}

impl RowParams {
    /// Parameters for a request, refused where a size or an option is not served.
    pub(super) fn derive(
        configuration: Configuration,
        form: Form,
        functions: usize,
        request: &IntersectRequest,
    ) -> Result<Self, Unsupported> {
        let Sizes { set_items, query_items, .. } = Sizes::of_slow_membership(request, ITEMS_AN_ENROLMENT)?;
        let params = Params::compressed(configuration, form, functions, set_items)?;
        if params.items_of_a_set() < ITEMS_OF_A_SET {
            return Err(Unsupported::new(
                format_args!("items of {} limbs, which a set floods too often", params.limbs),
                "choose another protocol",
            ));
        }
        Ok(Self { query_items, params })
    }

    /// Seeds, the server's keys and tables.
    pub(super) fn server_bytes(&self) -> u64 {
        let scheme = self.params.scheme();
        (KEY_BYTES + SEED_BYTES + Setup::halves(&self.params, scheme) * half_bytes(scheme)) as u64
    }

    /// These, and the client's keys.
    pub fn enrolment_bytes(&self) -> u64 {
        self.server_bytes() + (CLIENT_SEED_BYTES + client_bytes(&self.params)) as u64
    }

    /// For each item: a seed, sums, halves of masks, and results.
    pub fn query_bytes(&self) -> u64 {
        let (params, theirs) = (&self.params, self.params.receivers());
        let sums = params.sums() * params.scheme().ciphertext_bytes(params.primes_of_d());
        let masks = params.masks() * half_bytes(theirs);
        (self.query_items * (sums + CLIENT_SEED_BYTES + masks + self.bytes_of_results())) as u64
    }

    fn bytes_of_results(&self) -> usize {
        self.params.results() * self.params.receivers().ciphertext_bytes(self.params.primes_of_e())
    }

    /// How many answers a client awaits at a time.
    pub(super) fn items_in_flight(&self) -> usize {
        (ANSWER_BYTES_IN_FLIGHT / self.bytes_of_results()).clamp(1, CHUNKS_IN_FLIGHT)
    }

    /// All of them as numbers, and what another version may derive from them otherwise. The last number also
    /// has the layout, so that sides, and states, with unlike ones do not misread each other.
    pub(super) fn to_words(&self) -> [u64; WORDS] {
        let Params { configuration, form, set_items, shape, limbs, partitions, receivers, .. } = &self.params;
        [
            *configuration as u64,
            *form as u64,
            *set_items as u64,
            self.query_items as u64,
            shape.item_bits.into(),
            shape.bin_bits.into(),
            *limbs as u64,
            VERSION
                | (partitions[0] as u64) << 16
                | (partitions[1] as u64) << 24
                | (receivers.degree as u64) << 32
                | (shape.functions as u64) << FUNCTIONS_SHIFT,
        ]
    }

    /// The parameters that give these numbers; `None` if none do.
    pub(super) fn from_words(words: [u64; WORDS]) -> Option<Self> {
        let [configuration, form, set_items, query_items, .., layout] = words;
        let functions = (layout >> FUNCTIONS_SHIFT) as usize;
        let configuration = [Configuration::FastSetup, Configuration::FastIntersection]
            .into_iter()
            .find(|&one| one as u64 == configuration)?;
        let form = [Form::Faithful, Form::Repaired].into_iter().find(|&one| one as u64 == form)?;
        let request = Sizes::request([set_items, query_items, 0], Security::SemiHonest)?;
        Self::derive(configuration, form, functions, &request).ok().filter(|params| params.to_words() == words)
    }
}

/// Bytes of the first halves that a client sends once: keys that turn slots, its public key, and a key for
/// products where the sender has any.
fn client_bytes(params: &Params) -> usize {
    let scheme = params.receivers();
    let products = if params.has_senders_products() { scheme.digits() } else { 0 };
    (Turns::count(scheme) + 1 + products) * half_bytes(scheme)
}

/// Items compressed to as many bits as tables take, by AES under a key that both sides know (Eqs. 4 and 5).
pub(super) fn compressed(params: &Params, key: &[u8; KEY_BYTES], items: &[u128]) -> Secret<Vec<u128>> {
    let mut hashed = Secret::new(vec![0; items.len()]);
    DigestPrf::new(u128::from_le_bytes(*key)).eval(items, &mut hashed);
    hashed.iter_mut().for_each(|item| *item >>= u128::BITS - params.shape.item_bits);
    hashed
}
