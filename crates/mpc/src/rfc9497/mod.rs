//! The oblivious pseudo-random functions (OPRF) of RFC 9497 on the suite `ristretto255-SHA512`, in
//! the modes OPRF and VOPRF: what either side computes, for many inputs at a time.
//!
//! ```text
//!   Server: skS                                                       Client: inputs x_i
//!
//!                                1. r_i H(x_i), each r_i random
//!      <------------------------------------------------------------------------
//!                                2. skS r_i H(x_i)
//!                                   (VOPRF) a proof that all have the factor skS of pkS = skS G
//!      ------------------------------------------------------------------------>
//!                                                                     Hash(x_i, skS H(x_i))
//! ```
//!
//! | RFC 9497 | here | what |
//! |---|---|---|
//! | `skS`, `pkS` | [`SecretKey`], [`SecretKey::public`] | the server's key pair |
//! | `Blind` | [`blind`] | arrow 1 |
//! | `BlindEvaluate` | [`SecretKey::evaluate_blinded`], [`SecretKey::prove`] | arrow 2 |
//! | `Finalize` | [`verify`], [`finalize`] | the client's outputs |
//! | `Evaluate` | [`SecretKey::evaluate`] | the server's own outputs, without a client |
//!
//! The RFC also has inputs of which `H(x)` is the neutral element fail; nobody can find one.
//!
//! Security (Jarecki, Kiayias, Krawczyk, ASIACRYPT 2014): all clients together learn no more
//! outputs than elements were answered, others are pseudo-random to them, and the server learns
//! nothing of inputs, if the one-more gap Diffie-Hellman problem on the group is hard, and both
//! hashes are random oracles. Once `q` elements were answered, to whomever, the known attacks on the
//! key have gained `log2(q) / 2` bits (RFC 9497, section 7.2.3). A proof holds the server to its
//! key; [`Binding`] says for how many elements at a time.

mod proof;

use std::sync::Arc;

use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::traits::IsIdentity;
use curve25519_dalek::{RistrettoPoint, Scalar};
use rayon::prelude::*;
use sha2::{Digest, Sha512};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::{Secret, WipedStack, wipe_stack};

pub use proof::{Binding, MOST_PAIRS, Proof, verify};

use crate::group::{
    BATCH, ENCODED_BYTES, Encoded, Uniform, hash_to_uniform, map_and_multiply, map_and_multiply_by_each, multiply_all,
    multiply_by_each, random_scalar,
};

/// An output of the function: 64 bytes.
pub type Output = [u8; 64];

/// Whether the server proves that it used its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mode {
    /// It does not.
    Oprf = 0,
    /// It does.
    Voprf = 1,
}

impl Mode {
    /// A tag that separates domains: `prefix` before the RFC's `contextString`.
    fn domain(self, prefix: &[u8]) -> Vec<u8> {
        [prefix, b"OPRFV1-", &[self as u8], b"-ristretto255-SHA512"].concat()
    }

    /// The tag of `HashToGroup`.
    fn group_domain(self) -> Vec<u8> {
        self.domain(b"HashToGroup-")
    }

    /// `HashToScalar`.
    fn hash_to_scalar(self, message: &[u8]) -> Scalar {
        Scalar::from_bytes_mod_order_wide(&hash_to_uniform(&self.domain(b"HashToScalar-"), message))
    }
}

/// The server's key. Its scalar stays at its one place in memory: one that moves would leave copies of itself.
#[derive(Clone, Debug)]
pub struct SecretKey {
    mode: Mode,
    scalar: Arc<Secret<Scalar>>,
    public: Encoded,
}

impl SecretKey {
    /// A new key.
    pub fn random(mode: Mode, rng: &mut SecretRng) -> Self {
        Self::new(mode, || random_scalar(rng))
    }

    /// The key in these bytes; `None` if they are no scalar in its one encoding, or zero.
    pub fn from_bytes(mode: Mode, bytes: &Secret<[u8; 32]>) -> Option<Self> {
        let scalar = || {
            let scalar: Option<Scalar> = Scalar::from_canonical_bytes(**bytes).into();
            Secret::new(scalar.unwrap_or(Scalar::ZERO))
        };
        Some(Self::new(mode, scalar)).filter(|key| **key.scalar != Scalar::ZERO)
    }

    fn new(mode: Mode, scalar: impl FnOnce() -> Secret<Scalar>) -> Self {
        /// A call of its own, so that the stack that it takes can be wiped.
        #[inline(never)]
        fn placed(mode: Mode, scalar: impl FnOnce() -> Secret<Scalar>) -> SecretKey {
            let scalar = Arc::new(scalar());
            let public = RistrettoPoint::mul_base(&scalar).compress().to_bytes();
            SecretKey { mode, scalar, public }
        }
        let key = placed(mode, scalar);
        wipe_stack();
        key
    }

    /// The key as bytes, to be stored.
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.scalar.as_bytes()
    }

    /// Whether it is used with proofs.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The public key, `pkS`.
    pub fn public(&self) -> &Encoded {
        &self.public
    }

    /// The output for each input, of at most 65,535 bytes.
    pub fn evaluate<I: AsRef<[u8]> + Sync>(&self, inputs: &[I]) -> Secret<Vec<Output>> {
        let domain = self.mode.group_domain();
        let mut outputs = Secret::new(vec![[0; 64]; inputs.len()]);
        outputs.par_chunks_mut(BATCH).zip(inputs.par_chunks(BATCH)).for_each(|(outputs, inputs)| {
            let hashed = hashed(&domain, inputs);
            let mut elements = Secret::new(vec![[0; ENCODED_BYTES]; inputs.len()]);
            map_and_multiply(&self.scalar, &hashed, &mut elements);
            for ((output, input), element) in outputs.iter_mut().zip(inputs).zip(elements.iter()) {
                *output = hash_output(input.as_ref(), element);
            }
        });
        outputs
    }

    /// Multiplies a client's blinded elements by the key, in place. Says whether all of them were
    /// elements, and none the neutral one; where it says no, they are of no use.
    #[must_use]
    pub fn evaluate_blinded(&self, elements: &mut [Encoded]) -> bool {
        multiply_all(&self.scalar, elements)
    }
}

/// The factors by which a client has blinded its inputs.
#[derive(Debug)]
pub struct Blinds(Secret<Vec<Scalar>>);

/// A random factor for each input, of at most 65,535 bytes, and the blinded elements.
pub fn blind<I: AsRef<[u8]> + Sync>(mode: Mode, inputs: &[I], rng: &mut SecretRng) -> (Blinds, Vec<Encoded>) {
    let mut blinds = Secret::new(Vec::with_capacity(inputs.len()));
    blinds.extend(inputs.iter().map(|_| *random_scalar(rng)));
    let blinds = Blinds(blinds);
    let elements = blind_with(mode, inputs, &blinds);
    (blinds, elements)
}

fn blind_with<I: AsRef<[u8]> + Sync>(mode: Mode, inputs: &[I], blinds: &Blinds) -> Vec<Encoded> {
    let domain = mode.group_domain();
    let mut elements = vec![[0; ENCODED_BYTES]; inputs.len()];
    let blind = |((elements, inputs), blinds): ((&mut [Encoded], &[I]), &[Scalar])| {
        let _wiped = WipedStack;
        map_and_multiply_by_each(blinds, &hashed(&domain, inputs), elements);
    };
    if inputs.len() <= BATCH {
        // Handing them to another thread takes longer than a few of them.
        blind(((&mut elements, inputs), &blinds.0));
    } else {
        let parts = elements.par_chunks_mut(BATCH).zip(inputs.par_chunks(BATCH));
        parts.zip(blinds.0.par_chunks(BATCH)).for_each(blind);
    }
    elements
}

/// What the elements of inputs are mapped from.
fn hashed<I: AsRef<[u8]>>(domain: &[u8], inputs: &[I]) -> Secret<Vec<Uniform>> {
    let mut hashed = Secret::new(Vec::with_capacity(inputs.len()));
    hashed.extend(inputs.iter().map(|input| hash_to_uniform(domain, input.as_ref())));
    hashed
}

/// The outputs, from the server's answers to [`blind`]'s elements; `None` if an answer is no
/// element or the neutral one. In the mode [`Mode::Voprf`], [`verify`] the proof first.
pub fn finalize<I: AsRef<[u8]> + Sync>(
    inputs: &[I],
    blinds: &Blinds,
    evaluated: &[Encoded],
) -> Option<Secret<Vec<Output>>> {
    assert!(inputs.len() == evaluated.len() && inputs.len() == blinds.0.len(), "an answer for each input");
    let mut outputs = Secret::new(vec![[0; 64]; inputs.len()]);
    let are_elements = if inputs.len() <= BATCH {
        unblind(&mut outputs, inputs, &blinds.0, evaluated)
    } else {
        let parts = outputs.par_chunks_mut(BATCH).zip(inputs.par_chunks(BATCH));
        let parts = parts.zip(blinds.0.par_chunks(BATCH)).zip(evaluated.par_chunks(BATCH));
        parts.all(|(((outputs, inputs), blinds), evaluated)| unblind(outputs, inputs, blinds, evaluated))
    };
    are_elements.then_some(outputs)
}

/// Fills in the outputs, and says whether all of `evaluated` are elements, and none the neutral one.
fn unblind<I: AsRef<[u8]>>(outputs: &mut [Output], inputs: &[I], blinds: &[Scalar], evaluated: &[Encoded]) -> bool {
    let _wiped = WipedStack;
    let mut inverses = Secret::new(blinds.to_vec());
    drop(Secret::new(Scalar::invert_batch_alloc(&mut inverses)));
    let mut unblinded = Secret::new(evaluated.to_vec());
    if !multiply_by_each(&inverses, &mut unblinded) {
        return false;
    }
    for ((output, input), element) in outputs.iter_mut().zip(inputs).zip(unblinded.iter()) {
        *output = hash_output(input.as_ref(), element);
    }
    true
}

/// What `Finalize` and `Evaluate` end with.
fn hash_output(input: &[u8], element: &Encoded) -> Output {
    Sha512::new()
        .chain_update(prefix(input))
        .chain_update(input)
        .chain_update(prefix(element))
        .chain_update(element)
        .chain_update(b"Finalize")
        .finalize()
        .into()
}

/// The length of a field that is hashed.
fn prefix(field: &[u8]) -> [u8; 2] {
    assert!(field.len() <= usize::from(u16::MAX), "an input has at most 65535 bytes");
    (field.len() as u16).to_be_bytes()
}

/// The element of this encoding, unless it is the neutral one.
fn element(encoded: &Encoded) -> Option<RistrettoPoint> {
    CompressedRistretto(*encoded).decompress().filter(|element| !element.is_identity())
}

/// Whether these bytes are a public key: an element, and not the neutral one.
pub fn is_public_key(encoded: &Encoded) -> bool {
    element(encoded).is_some()
}

#[cfg(test)]
mod tests;
