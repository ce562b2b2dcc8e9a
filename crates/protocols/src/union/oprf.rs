//! A multi-point OPRF from VOLE and an OKVS ([`vesica_mpc::oprf`]), for unions: the asking side learns
//! the function at its own keys and nowhere else, the side with the function's key evaluates it where it
//! likes.
//!
//! ```text
//!   key holder (sender)                                               asking side (receiver): keys y
//!                                1. salt
//!      ------------------------------------------------------------------------>
//!   delta, b                        [ VOLE: a = b + delta c ]         c, a
//!                                                                     P = Encode(y, H_B(y))
//!                                2. A = P + c
//!      <------------------------------------------------------------------------
//!   K = b + delta A
//!   F(x) = H(Decode(K, x) + delta H_B(x), x)                          F(y) = H(Decode(a, y), y)
//! ```
//!
//! The table travels on a fork: in some rows the trees of another VOLE wait for their reader on the
//! channel itself.

use std::marker::PhantomData;

use rand_core::Rng;
use rayon::prelude::*;
use vesica_mpc::oprf::{correct, outer_hash, table, values};
use vesica_mpc::silent::{self, SilentVole};
use vesica_mpc::tasks::{CorrelationRequest, VoleReceiver, VoleSender};
use vesica_party::{Abort, Channel, Fixed, Party, Phase, Protocol, Security, Stream};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::{Gf128, Value};
use vesica_structures::okvs::{Arrangement, Band, FreeCells, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

/// The OKVS of the table.
type Store = Band;

/// Bytes of the salt.
const SALT_BYTES: usize = 32;

/// A row's arrows 1 and 2, and its names for what is bound to them.
pub(super) trait Arrows: Send + Sync + 'static {
    /// Arrow 1, of 32 bytes.
    type Salt: Fixed;
    /// Arrow 2, packed.
    type Table: Stream<Element = u8>;
    /// Context of the derivation of keys from the salt.
    const KEYS: &'static str;
    /// The label of the fork on which the table travels.
    const FORK: &'static str;
}

/// The parameters that both sides derive from the sizes.
pub(super) struct Params<A> {
    /// Keys that are asked.
    asked: usize,
    /// `-log2` of the probability that the table cannot be encoded.
    encoding_bits: u32,
    /// Width of `H_B` and of a cell: see [`vesica_mpc::oprf::value_bits`].
    value_bits: u32,
    /// The sizes to which the functions are bound.
    sizes: [usize; 4],
    vole: silent::params::Params,
    table_bytes: u64,
    arrows: PhantomData<fn() -> A>,
}

impl<A> Clone for Params<A> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<A> std::fmt::Debug for Params<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Params").field("asked", &self.asked).field("value_bits", &self.value_bits).finish()
    }
}

impl<A: Arrows> Params<A> {
    /// Parameters for so many asked keys, bound to `sizes`.
    ///
    /// # Errors
    /// For sizes beyond the bounds of the VOLE and the OKVS.
    pub(super) fn derive(
        asked: usize,
        encoding_bits: u32,
        value_bits: u32,
        sizes: [usize; 4],
    ) -> Result<Self, Unsupported> {
        let store = Store::new(asked, encoding_bits, 0)?;
        let (len, security) = (store.len(), Security::SemiHonest);
        Ok(Self {
            asked,
            encoding_bits,
            value_bits,
            sizes,
            vole: SilentVole::<Gf128>::derive(&CorrelationRequest { len, security, width: Some(value_bits) })?,
            table_bytes: table::predicted_bytes(&store.parts(), value_bits),
            arrows: PhantomData,
        })
    }

    /// Bytes of all messages: the salt, the VOLE, the table.
    pub(super) fn predicted_bytes(&self) -> u64 {
        SALT_BYTES as u64 + SilentVole::<Gf128>::predicted_bytes(&self.vole).end() + self.table_bytes
    }

    /// The OKVS of a run.
    fn store(&self, keys: &Keys) -> Result<Store, Unsupported> {
        Store::new(self.asked, self.encoding_bits, keys.rows)
    }
}

/// The public keys of the functions on keys of the OPRF.
struct Keys {
    rows: u128,
    values: u128,
    outputs: u128,
}

impl Keys {
    fn derive<A: Arrows>(ch: &Channel, params: &Params<A>, salt: &[u8; SALT_BYTES]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(A::KEYS);
        hasher.update(&ch.session()).update(salt);
        for size in params.sizes {
            hasher.update(&(size as u64).to_le_bytes());
        }
        let mut keys = [[0u8; 16]; 3];
        hasher.finalize_xof().fill(keys.as_flattened_mut());
        let [rows, values, outputs] = keys.map(u128::from_le_bytes);
        Self { rows, values, outputs }
    }

    /// The function's values in the order of the keys as they were given, from inner values in the
    /// arrangement's order.
    fn outputs(&self, arranged: &Arrangement, inner: &[Gf128]) -> Secret<Vec<u128>> {
        let (mut hashed, mut outputs) = (Secret::new(vec![0; inner.len()]), Secret::new(vec![0; inner.len()]));
        outer_hash(self.outputs, arranged.keys(), inner, 0, &mut hashed);
        hashed.iter().zip(arranged.places()).for_each(|(&hashed, &place)| outputs[place as usize] = hashed);
        outputs
    }
}

/// The side that has the function's key.
pub(super) struct Sender<A> {
    params: Params<A>,
    salt: [u8; SALT_BYTES],
    keys: Keys,
    vole: VoleSender,
}

impl<A: Arrows> Sender<A> {
    /// Step 1, and the VOLE.
    pub(super) fn setup(params: &Params<A>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let mut salt = [0; SALT_BYTES];
        rng.fill_bytes(&mut salt);
        ch.send(&bytemuck::cast::<_, A::Salt>(salt))?;
        let keys = Keys::derive(ch, params, &salt);
        let vole = silent::Sender::<Gf128>::setup(&params.vole, ch, rng)?.run((), ch, rng)?;
        Ok(Self { params: params.clone(), salt, keys, vole })
    }

    /// The salt, for further public functions of the run.
    pub(super) fn salt(&self) -> &[u8; SALT_BYTES] {
        &self.salt
    }

    /// Step 2: the function at these keys.
    pub(super) fn evaluate(self, keys_asked: &[u128], ch: &mut Channel) -> Result<Secret<Vec<u128>>, Abort> {
        let Self { params, keys, mut vole, .. } = self;
        let phase = ch.phase(Phase::HashItems);
        let store = params.store(&keys)?;
        let arranged = store.arrange(keys_asked);
        drop(phase);
        let _phase = ch.phase(Phase::Decode);
        let ch = &mut ch.fork(A::FORK)?;
        let mut inner = Secret::new(vec![Gf128::default(); keys_asked.len()]);
        // K = b + delta A, instead of b.
        let (delta, k) = (vole.delta, &mut vole.b);
        for (part, cells) in store.parts().into_iter().enumerate() {
            let k_part = &mut k[cells];
            table::receive::<A::Table, Gf128>(k_part.len(), params.value_bits, ch, |place, a| {
                let piece = a.len().div_ceil(rayon::current_num_threads());
                k_part[place]
                    .par_chunks_mut(piece)
                    .zip(a.par_chunks(piece))
                    .for_each(|(k, a)| Gf128::scale_add(k, delta, a));
            })?;
            let range = arranged.part(part);
            let inner = &mut inner[range.clone()];
            store.decode_part(k, &arranged, part, inner);
            correct::<Gf128>(keys.values, &arranged.keys()[range], params.value_bits, delta, inner);
        }
        Ok(keys.outputs(&arranged, &inner))
    }
}

/// The side that asks.
pub(super) struct Receiver<A> {
    params: Params<A>,
    salt: [u8; SALT_BYTES],
    keys: Keys,
    vole: VoleReceiver<Gf128>,
}

impl<A: Arrows> Receiver<A> {
    /// Step 1, and the VOLE.
    pub(super) fn setup(params: &Params<A>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let salt = bytemuck::cast(ch.recv::<A::Salt>(())?);
        let keys = Keys::derive(ch, params, &salt);
        let vole = silent::Receiver::<Gf128>::setup(&params.vole, ch, rng)?.run((), ch, rng)?;
        Ok(Self { params: params.clone(), salt, keys, vole })
    }

    /// The salt, for further public functions of the run.
    pub(super) fn salt(&self) -> &[u8; SALT_BYTES] {
        &self.salt
    }

    /// Step 2: the function at the asked keys.
    pub(super) fn ask(self, asked: &[u128], ch: &mut Channel) -> Result<Secret<Vec<u128>>, Abort> {
        let Self { params, keys, vole, .. } = self;
        let phase = ch.phase(Phase::HashItems);
        let store = params.store(&keys)?;
        let arranged = store.arrange(asked);
        let values = values::<Gf128>(keys.values, arranged.keys(), params.value_bits);
        drop(phase);
        let phase = ch.phase(Phase::Encode);
        // The whole table is masked by c, so that its free cells may be zero.
        let pairs = (&arranged, &values[..]);
        table::encode_and_send::<A::Table, Gf128>(
            &store,
            pairs,
            FreeCells::Zero,
            table::under(&vole.c),
            params.value_bits,
            &mut ch.fork(A::FORK)?,
        )?;
        drop(phase);
        let _phase = ch.phase(Phase::Decode);
        let mut inner = Secret::new(vec![Gf128::default(); asked.len()]);
        for part in 0..store.parts().len() {
            store.decode_part(&vole.a, &arranged, part, &mut inner[arranged.part(part)]);
        }
        Ok(keys.outputs(&arranged, &inner))
    }
}
