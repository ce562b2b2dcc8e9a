//! mqRPMT from re-randomisable encryption: Zhang, Chen, Liu, Zhang, Lin, "Linear Private Set Union
//! from Multi-Query Reverse Private Membership Test" (USENIX Security 2023, ePrint 2022/358), the
//! instantiation with public keys, on ElGamal over Ristretto255.
//!
//! ```text
//!   Sender: X in a random order                                       Receiver: Y, secret key k
//!                                1. P = k G, salt
//!      <------------------------------------------------------------------------
//!                                                                     2. Z with Decode(Z, y) = 0 for y in Y,
//!                                                                        random otherwise
//!                                3. for each cell: u G, u P + Z_j G, with a fresh u
//!      <------------------------------------------------------------------------
//!   4. (A_i, B_i) = Decode(table, x_i)
//!                                5. A_i + r G, B_i + r P, with a fresh r
//!      ------------------------------------------------------------------------>
//!                                                                     6. e_i = 1 if the second is k times the first
//!                                [ 7 to 9: arrows I to III of the membership tests ]
//! ```
//!
//! | paper | here | what |
//! |---|---|---|
//! | sender, receiver | sender, receiver | who asks about its items, who learns the bits |
//! | the indicator string `s` | the neutral element | what is encrypted at the receiver's items |
//! | OKVS of ciphertexts | `Z`, encrypted cell by cell | see below |
//! | `ReRand` | arrow 5 | |
//!
//! # Why the table may be encrypted cell by cell
//!
//! The paper encodes pairs `(y, ciphertext)`. An ElGamal ciphertext is a pair of group elements, and
//! an encoded group element is no uniform string, so that the OKVS does not work on strings. It
//! works over the group: a key's row is a set of cells, and decoding adds up their group elements
//! ([`BinaryRows`]). The receiver knows all discrete logarithms, since it makes the ciphertexts. The
//! paper's table is therefore `(u_j G, v_j G)` where `u` and `v` are uniform vectors of scalars,
//! under the condition that at each of its keys `Decode(v) = k Decode(u)`: the randomness of the
//! ciphertext at the key is `Decode(u)`. Put `v = k u + Z`. Then the condition says `Decode(Z) = 0`
//! at each key, `u` is uniform and independent of `Z`, and the table is the encryption of `Z`, cell
//! by cell. So only one vector is solved for, and the table hides `Z` because ElGamal hides
//! plaintexts (DDH), whatever an OKVS hides.
//!
//! # What is learned
//!
//! - **The sender** sees the salt, a key, and fresh encryptions, whose number depends on `n_r` only.
//! - **The receiver** sees at each place an encryption of `Decode(Z, x_i)` whose randomness is
//!   uniform, since `r` is. Without that it would see `Decode(u, x_i)`, and so which of its items a
//!   common one is. All common items give the same: an encryption of zero. A new item gives
//!   the plaintext `Decode(Z, x_i) G`, which is a function of the item that the receiver can compute
//!   for any guess. The output of a union says which item it is, so that this is nothing beyond the
//!   output; but it comes *before* the records. So the test serves unions only, and the leakage of
//!   its rows says so.
//! - **A wrong bit.** For a new item `Decode(Z, x_i)` is uniform, and zero with probability about
//!   `2^-252`, unless the item's row is a linear combination of rows of the receiver's items.
//!   [`BinaryRows::shape`] bounds the probability of that, and of a `Z` that cannot be solved for.

mod bands;
mod ciphertexts;
mod entries;
mod garbled;
pub(crate) mod messages;
mod rows;
#[cfg(test)]
mod tests;

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::IsIdentity;
use rand_core::Rng;
use vesica_mpc::bits::Bits;
use vesica_party::{Abort, Channel, Fixed, Phase};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;

use self::messages::{PublicKey, Transfer};
use vesica_protocols::ecdh::{BAD_POINT, POINT_BYTES, random_exponent};
use vesica_protocols::membership::MembershipTest;

pub use bands::NarrowBand;
pub use garbled::Garbled;
pub use rows::{BinaryRows, RowSets};

/// The test of `zcl23-pk` and `bpsy23-union`, on the OKVS `O`.
#[derive(Debug)]
pub struct Zcl23Pk<O>(PhantomData<fn() -> O>);

/// Bytes of a ciphertext: two group elements.
const CIPHERTEXT_BYTES: usize = 2 * POINT_BYTES;

/// The parameters that both sides derive from the sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params<S> {
    /// `n_s`.
    pub sender_items: usize,
    /// `n_r`.
    pub receiver_items: usize,
    /// Of the OKVS.
    pub shape: S,
}

/// The sender, set up.
#[derive(Debug)]
pub struct Sender<O> {
    receiver_key: RistrettoPoint,
    okvs: O,
}

/// The receiver, set up.
#[derive(Debug)]
pub struct Receiver<O> {
    sender_items: usize,
    secret_key: Secret<Scalar>,
    okvs: O,
}

/// The OKVS that both sides derive from the salt.
fn okvs<O: BinaryRows>(shape: O::Shape, ch: &Channel, salt: &[u8; 32]) -> O {
    let session = blake3::derive_key("vesica v1 zcl23-pk 2026 salt to rows", &ch.session());
    O::keyed(shape, blake3::keyed_hash(&session, salt).into())
}

impl<O: BinaryRows> MembershipTest for Zcl23Pk<O> {
    type Params = Params<O::Shape>;
    type Sender = Sender<O>;
    type Receiver = Receiver<O>;
    type Arrows = Transfer;
    const HAS_EMPTY_PLACES: bool = false;

    fn derive(sender_items: usize, receiver_items: usize) -> Result<Self::Params, Unsupported> {
        Ok(Params { sender_items, receiver_items, shape: O::shape(sender_items, receiver_items)? })
    }

    fn places(params: &Self::Params) -> usize {
        params.sender_items
    }

    /// The key and the salt, a ciphertext for each cell and for each item of the sender.
    fn predicted_bytes(params: &Self::Params) -> RangeInclusive<u64> {
        let ciphertexts = O::cells(&params.shape) + params.sender_items;
        let bytes = (size_of::<PublicKey>() + CIPHERTEXT_BYTES * ciphertexts) as u64;
        bytes..=bytes
    }

    /// Step 1.
    fn sender(params: &Self::Params, ch: &mut Channel, _: &mut SecretRng) -> Result<Self::Sender, Abort> {
        let PublicKey { point, salt } = ch.recv(())?;
        let key = ciphertexts::element(&point).filter(|key| !key.is_identity());
        let receiver_key = key.ok_or(Abort::PeerMisbehaved(PublicKey::STEP, BAD_POINT))?;
        Ok(Sender { receiver_key, okvs: okvs(params.shape, ch, &salt) })
    }

    /// Step 1.
    fn receiver(params: &Self::Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self::Receiver, Abort> {
        let secret_key = random_exponent(rng);
        let mut salt = [0; 32];
        rng.fill_bytes(&mut salt);
        let point = (RISTRETTO_BASEPOINT_TABLE * &*secret_key).compress().to_bytes();
        ch.send(&PublicKey { point, salt })?;
        Ok(Receiver { sender_items: params.sender_items, secret_key, okvs: okvs(params.shape, ch, &salt) })
    }

    /// Steps 3 to 5.
    fn ask(
        Sender { receiver_key, okvs }: Sender<O>,
        items: &[u128],
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Secret<Vec<u32>>, Abort> {
        let _phase = ch.phase(Phase::HashItems);
        let table = ciphertexts::receive_table(okvs.table_len(), ch)?;
        let decoded = ciphertexts::decode(&okvs, &table, items, &receiver_key, ch, rng)?;
        drop(table);
        let order = Secret::new(random_order(items.len(), rng));
        ciphertexts::answer(&decoded, &order, ch)?;
        Ok(order)
    }

    /// Steps 2, 3, 5 and 6.
    fn test(
        Receiver { sender_items, secret_key, okvs }: Receiver<O>,
        items: &[u128],
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Bits, Abort> {
        let _phase = ch.phase(Phase::HashItems);
        let zeros = okvs.kernel(items, rng).map_err(|_| {
            Abort::StatisticalFailure("the receiver's items could not be encoded; items must be distinct")
        })?;
        ciphertexts::send_table(&zeros, &secret_key, ch, rng)?;
        drop(zeros);
        ciphertexts::zeros_among(sender_items, &secret_key, ch)
    }
}
