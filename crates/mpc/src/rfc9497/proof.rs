//! The proof that many elements were multiplied by the same secret key (RFC 9497, section 2.2), for
//! the generator `A = G`, the public key `B`, and pairs `D_i = k C_i`.
//!
//! The proof is one for the weighted sums `M` of all `C_i` and `Z` of all `D_i`. **The RFC's own
//! weights are too weak for many pairs**: the weight of a pair is a hash of that pair and of `B`
//! alone. A server that answers `D_i = k C_i + e_i T`, for any `T`, passes if the sum of all
//! `d_i e_i` is zero. It may look for each `e_i` by itself, as the other weights stay what they
//! are: that is the problem of k-sums (Wagner, CRYPTO 2002), whose solution takes about
//! `2^j 2^(252 / (j + 1))` steps for `2^j` pairs.
//!
//! | pairs | 2 | 4 | 8 | 16 | 64 | 512 |
//! |---|---|---|---|---|---|---|
//! | log2 of the steps | 127 | 86 | 66 | 54 | 42 | 34 |
//!
//! So [`Binding::Batch`] hashes all pairs into each weight, as the proofs of Privacy Pass (Davidson
//! and others, PETS 2018) did, and a context besides: nobody can then pass on a proof that was made
//! for another conversation. [`Binding::Pair`] is the RFC's, for clients of other makers, and as
//! good as it says for one pair.

use curve25519_dalek::Scalar;
use sha2::{Digest, Sha512};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::{Secret, wipe_stack};

use super::{Mode, SecretKey, prefix};
use crate::group::{Checked, Composites, Encoded, Stated, checked, composites};

/// A proof: the challenge `c` and the response `s`, 32 bytes each.
pub type Proof = [Encoded; 2];

/// Most pairs of one proof: a pair's number has 16 bits.
pub const MOST_PAIRS: usize = 1 << 16;

/// What the weight of a pair depends on.
#[derive(Clone, Copy, Debug)]
pub enum Binding<'a> {
    /// The pair, as in the RFC: weak where a proof has several.
    Pair,
    /// All pairs of the proof, and these bytes, which both sides know.
    Batch(&'a [u8; 32]),
}

impl Binding<'_> {
    /// What each weight is a hash of, beside the pair.
    fn seed(self, mode: Mode, public: &Encoded, blinded: &[Encoded], evaluated: &[Encoded]) -> [u8; 64] {
        let domain = match self {
            Self::Pair => mode.domain(b"Seed-"),
            Self::Batch(_) => mode.domain(b"vesica-v1-Seed-of-all-pairs-"),
        };
        let mut hasher = Sha512::new()
            .chain_update(prefix(public))
            .chain_update(public)
            .chain_update(prefix(&domain))
            .chain_update(&domain);
        if let Self::Batch(context) = self {
            hasher.update(context);
            hasher.update((blinded.len() as u64).to_be_bytes());
            blinded.iter().chain(evaluated).for_each(|element| hasher.update(element));
        }
        hasher.finalize().into()
    }
}

impl SecretKey {
    /// `GenerateProof` for at most [`MOST_PAIRS`] pairs; `None` if one of `blinded` is no element.
    /// [`SecretKey::evaluate_blinded`] has refused those.
    pub fn prove(
        &self,
        binding: Binding<'_>,
        blinded: &[Encoded],
        evaluated: &[Encoded],
        rng: &mut SecretRng,
    ) -> Option<Proof> {
        let proof = self.prove_with(binding, blinded, evaluated, |weights| self.nonce(weights, blinded, rng));
        // The hash does not wipe its block, in which the key was.
        wipe_stack();
        proof
    }

    /// A nonce that is random and also a hash of all that the challenge depends on: should the
    /// generator ever repeat itself, equal nonces still come with equal challenges only, and two
    /// proofs do not give the key away.
    fn nonce(&self, weights: &[Scalar], blinded: &[Encoded], rng: &mut SecretRng) -> Secret<Scalar> {
        let mut hasher = Sha512::new();
        hasher.update(b"vesica-v2-nonce-of-a-proof");
        hasher.update(self.mode.domain(b""));
        hasher.update(self.scalar.as_bytes());
        (0..2).for_each(|_| hasher.update(rng.block().to_le_bytes()));
        // With the key, these give both composites.
        hasher.update((weights.len() as u64).to_be_bytes());
        weights.iter().for_each(|weight| hasher.update(weight.as_bytes()));
        blinded.iter().for_each(|element| hasher.update(element));
        let wide: Secret<[u8; 64]> = Secret::new(hasher.finalize().into());
        Secret::new(Scalar::from_bytes_mod_order_wide(&wide))
    }

    #[inline(never)]
    pub(super) fn prove_with(
        &self,
        binding: Binding<'_>,
        blinded: &[Encoded],
        evaluated: &[Encoded],
        nonce: impl FnOnce(&[Scalar]) -> Secret<Scalar>,
    ) -> Option<Proof> {
        let weights = weights(self.mode, binding, &self.public, blinded, evaluated);
        let nonce = nonce(&weights);
        // `ComputeCompositesFast` and both commitments: what is weighted is public.
        let Composites { sum, sum_by_key, generator_by_nonce, sum_by_nonce } =
            composites(&weights, blinded, &self.scalar, &nonce)?;
        let challenge = challenge(self.mode, &self.public, [sum, sum_by_key], [generator_by_nonce, sum_by_nonce]);
        let product = Secret::new(challenge * **self.scalar);
        let response = *nonce - *product;
        Some([challenge.to_bytes(), response.to_bytes()])
    }
}

/// `VerifyProof`, in the mode [`Mode::Voprf`]: whether all of `evaluated` are `blinded` times the
/// key of `public`, of at most [`MOST_PAIRS`].
pub fn verify(
    binding: Binding<'_>,
    public: &Encoded,
    blinded: &[Encoded],
    evaluated: &[Encoded],
    proof: &Proof,
) -> bool {
    let weights = weights(Mode::Voprf, binding, public, blinded, evaluated);
    let [c, s] = proof.map(|scalar| Option::<Scalar>::from(Scalar::from_canonical_bytes(scalar)));
    let (Some(c), Some(s)) = (c, s) else { return false };
    let stated = Stated { blinded, evaluated, public, challenge: &c, response: &s };
    let Some(Checked { blinded_sum, evaluated_sum, of_generator, of_sum }) = checked(&weights, &stated) else {
        return false;
    };
    challenge(Mode::Voprf, public, [blinded_sum, evaluated_sum], [of_generator, of_sum]) == c
}

/// The weight `d_i` of each pair.
pub(super) fn weights(
    mode: Mode,
    binding: Binding<'_>,
    public: &Encoded,
    blinded: &[Encoded],
    evaluated: &[Encoded],
) -> Vec<Scalar> {
    assert!(blinded.len() == evaluated.len() && blinded.len() <= MOST_PAIRS, "pairs for one proof");
    let seed = binding.seed(mode, public, blinded, evaluated);
    let pairs = (0..=u16::MAX).zip(blinded.iter().zip(evaluated));
    let weight = |(number, (c, d)): (u16, (&Encoded, &Encoded))| {
        let fields: [&[u8]; 8] =
            [&prefix(&seed), &seed, &number.to_be_bytes(), &prefix(c), c, &prefix(d), d, b"Composite"];
        mode.hash_to_scalar(&fields.concat())
    };
    pairs.map(weight).collect()
}

/// The challenge over both composites, `M` and `Z`, and both commitments, `t2` and `t3`.
fn challenge(mode: Mode, public: &Encoded, composites: [Encoded; 2], commitments: [Encoded; 2]) -> Scalar {
    let mut transcript = [&prefix(public)[..], public].concat();
    for element in composites.into_iter().chain(commitments) {
        transcript.extend_from_slice(&prefix(&element));
        transcript.extend_from_slice(&element);
    }
    transcript.extend_from_slice(b"Challenge");
    mode.hash_to_scalar(&transcript)
}
