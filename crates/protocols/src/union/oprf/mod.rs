//! The OPRF that a union applies to all items before it hashes them to bins, from VOLE and an OKVS.
//! The sender has the key, so that it evaluates the function at its items; the receiver learns it at
//! its own, and nowhere else. `jsz22-r` and `jsz22-s` have it for points that are no items.
//!
//! ```text
//!   Sender: X                                                         Receiver: Y
//!                                1. salt
//!      ------------------------------------------------------------------------>
//!   delta, b                        [ VOLE: a = b + delta c ]         c, a
//!                                                                     P = Encode(Y, H_B(y))
//!                                2. A = P + c
//!      <------------------------------------------------------------------------
//!   K = b + delta A
//!   F(x) = H(Decode(K, x) + delta H_B(x), x)                          F(y) = H(Decode(a, y), y)
//! ```
//!
//! The table travels on a fork: the trees of circuit PSI's VOLE wait for their reader on the channel
//! itself.

pub mod messages;
pub mod params;

use rand_core::Rng;
use rayon::prelude::*;
use vesica_mpc::oprf::{correct, outer_hash, table, values};
use vesica_mpc::silent;
use vesica_mpc::tasks::{VoleReceiver, VoleSender};
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::fields::{Gf128, Value};
use vesica_structures::okvs::{Arrangement, Band, FreeCells, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use self::messages::{Salt, Table};
pub use self::params::Params;

/// The OKVS of arrow 2.
type Store = Band;

/// The label of the fork on which the table travels.
const FORK: &str = "union oprf";

/// The public keys of the functions on items.
struct Keys {
    rows: u128,
    values: u128,
    outputs: u128,
}

impl Keys {
    fn derive(ch: &Channel, params: &Params, salt: &[u8; 32]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("vesica v1 union 2026 salt to keys of the OPRF");
        hasher.update(&ch.session()).update(salt);
        let sizes = [params.sender_items, params.receiver_items, params.value_bits as usize];
        for size in sizes {
            hasher.update(&(size as u64).to_le_bytes());
        }
        let mut keys = [[0u8; 16]; 3];
        hasher.finalize_xof().fill(keys.as_flattened_mut());
        let [rows, values, outputs] = keys.map(u128::from_le_bytes);
        Self { rows, values, outputs }
    }

    /// The function's values by the items' own numbers, from inner values in the arrangement's order.
    fn outputs(&self, arranged: &Arrangement, inner: &[Gf128]) -> Secret<Vec<u128>> {
        let (mut hashed, mut outputs) = (Secret::new(vec![0; inner.len()]), Secret::new(vec![0; inner.len()]));
        outer_hash(self.outputs, arranged.keys(), inner, 0, &mut hashed);
        hashed.iter().zip(arranged.places()).for_each(|(&hashed, &place)| outputs[place as usize] = hashed);
        outputs
    }
}

/// The sender's half: the key.
pub struct Sender {
    params: Params,
    salt: [u8; 32],
    keys: Keys,
    vole: VoleSender,
}

impl Sender {
    /// Step 1, and the VOLE.
    pub fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let mut salt = [0; 32];
        rng.fill_bytes(&mut salt);
        ch.send(&Salt(salt))?;
        let keys = Keys::derive(ch, params, &salt);
        let vole = silent::Sender::<Gf128>::setup(&params.vole, ch, rng)?.run((), ch, rng)?;
        Ok(Self { params: params.clone(), salt, keys, vole })
    }

    /// The salt, for further public functions of the run.
    pub fn salt(&self) -> &[u8; 32] {
        &self.salt
    }

    /// Step 2: the function at the sender's items.
    pub fn evaluate(self, items: &[u128], ch: &mut Channel) -> Result<Secret<Vec<u128>>, Abort> {
        let Self { params, keys, mut vole, .. } = self;
        let phase = ch.phase(Phase::HashItems);
        let store = Store::new(params.receiver_items, params.encoding_bits, keys.rows)?;
        let arranged = store.arrange(items);
        drop(phase);
        let _phase = ch.phase(Phase::Decode);
        let ch = &mut ch.fork(FORK)?;
        let mut inner = Secret::new(vec![Gf128::default(); items.len()]);
        // K = b + delta A, instead of b.
        let (delta, k) = (vole.delta, &mut vole.b);
        for (part, cells) in store.parts().into_iter().enumerate() {
            let k_part = &mut k[cells];
            table::receive::<Table, Gf128>(k_part.len(), params.value_bits, ch, |place, a| {
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

/// The receiver's half.
pub struct Receiver {
    params: Params,
    salt: [u8; 32],
    keys: Keys,
    vole: VoleReceiver<Gf128>,
}

impl Receiver {
    /// Step 1, and the VOLE.
    pub fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let Salt(salt) = ch.recv(())?;
        let keys = Keys::derive(ch, params, &salt);
        let vole = silent::Receiver::<Gf128>::setup(&params.vole, ch, rng)?.run((), ch, rng)?;
        Ok(Self { params: params.clone(), salt, keys, vole })
    }

    /// The salt, for further public functions of the run.
    pub fn salt(&self) -> &[u8; 32] {
        &self.salt
    }

    /// Step 2: the function at the receiver's items.
    pub fn ask(self, items: &[u128], ch: &mut Channel) -> Result<Secret<Vec<u128>>, Abort> {
        let Self { params, keys, vole, .. } = self;
        let phase = ch.phase(Phase::HashItems);
        let store = Store::new(params.receiver_items, params.encoding_bits, keys.rows)?;
        let arranged = store.arrange(items);
        let values = values::<Gf128>(keys.values, arranged.keys(), params.value_bits);
        drop(phase);
        let phase = ch.phase(Phase::Encode);
        // The whole table is masked by c, so that its free cells may be zero.
        let pairs = (&arranged, &values[..]);
        table::encode_and_send_vartime::<Table, Gf128>(
            &store,
            pairs,
            FreeCells::Zero,
            table::under(&vole.c),
            params.value_bits,
            &mut ch.fork(FORK)?,
        )?;
        drop(phase);
        let _phase = ch.phase(Phase::Decode);
        let mut inner = Secret::new(vec![Gf128::default(); items.len()]);
        for part in 0..store.parts().len() {
            store.decode_part(&vole.a, &arranged, part, &mut inner[arranged.part(part)]);
        }
        Ok(keys.outputs(&arranged, &inner))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use vesica_testkit::two_party;

    /// Both sides compute one function, and it is as random elsewhere.
    #[test]
    fn the_oprf_is_one_function_on_both_sides() {
        let (n, common) = (300, 100);
        let params = Params::derive(n, n, 44, 44).unwrap();
        let items: Vec<u128> = (0..n as u128).collect();
        let own: Vec<u128> = (0..common as u128).chain((1 << 64..).take(n - common)).collect();
        let (left, right) = two_party(
            |ch, rng| Sender::setup(&params, ch, rng)?.evaluate(&items, ch),
            |ch, rng| Receiver::setup(&params, ch, rng)?.ask(&own, ch),
        );
        assert_eq!(left[..common], right[..common]);
        let values: HashSet<u128> = left.iter().chain(right.iter()).copied().collect();
        assert_eq!(values.len(), 2 * n - common);
    }
}
