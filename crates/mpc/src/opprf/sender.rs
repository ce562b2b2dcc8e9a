//! The left column of the figure: programs values.

use rand_core::Rng;
use rayon::prelude::*;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::fields::{Cell, Gf64, Gf128, Value};
use vesica_structures::okvs::{AnyOkvs, Arrangement, FreeCells, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Params;
use super::keys::Keys;
use super::messages::{Hint, Salt, Table};
use crate::oprf::{ValueField, correct, outer_hash, table};
use crate::silent;
use crate::tasks::{Programmed, VoleSender};

/// The sender, set up.
pub struct Sender {
    params: Params,
    correlation: Option<(Keys, Vole)>,
}

/// The VOLE's left side.
enum Vole {
    Gf64(silent::Sender<Gf64>),
    Gf128(silent::Sender<Gf128>),
}

impl Sender {
    /// The sender, set up with a VOLE of values in `B` that exists already; the other side does the
    /// same. Sends the salt.
    ///
    /// # Errors
    /// If it is another VOLE than [`Params::vole`] names, or if the channel fails.
    pub fn from_vole<B: Value>(
        params: &Params,
        vole: VoleSender,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Self, Abort> {
        params.check_vole::<B>(vole.b.len())?;
        Self::with(params, ch, rng, |_, _| match params.field {
            ValueField::Gf64 => Ok(Vole::Gf64(vole.into())),
            ValueField::Gf128 => Ok(Vole::Gf128(vole.into())),
        })
    }

    /// With the VOLE that `make` makes.
    fn with(
        params: &Params,
        ch: &mut Channel,
        rng: &mut SecretRng,
        make: impl FnOnce(&mut Channel, &mut SecretRng) -> Result<Vole, Abort>,
    ) -> Result<Self, Abort> {
        let mut salt = [0; 32];
        rng.fill_bytes(&mut salt);
        ch.send(&Salt(salt))?;
        let keys = Keys::derive(ch, params, &salt);
        let correlation = Some((keys, make(ch, rng)?));
        Ok(Self { params: params.clone(), correlation })
    }
}

impl Party for Sender {
    type Params = Params;
    type Input = Programmed;
    type Output = ();

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let Some(vole) = &params.vole else {
            return Ok(Self { params: params.clone(), correlation: None });
        };
        Self::with(params, ch, rng, |ch, rng| match params.field {
            ValueField::Gf64 => Ok(Vole::Gf64(silent::Sender::setup(vole, ch, rng)?)),
            ValueField::Gf128 => Ok(Vole::Gf128(silent::Sender::setup(vole, ch, rng)?)),
        })
    }

    fn run(self, input: Programmed, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        let params = &self.params;
        input.check(params.sender_keys, params.blocks())?;
        let Some((keys, vole)) = self.correlation else { return Ok(()) };

        let phase = ch.phase(Phase::HashItems);
        let okvs = params.okvs.store(params.receiver_keys, params.encoding_bits, keys.table)?;
        let arranged = okvs.arrange(&input.keys);
        let hint = params.okvs.store(params.sender_keys, params.encoding_bits, keys.hint)?;
        let pairs = hint.arrange(&input.keys);
        drop(phase);

        // Step 2.
        let inner = match vole {
            Vole::Gf64(vole) => evaluate(params, &keys, &okvs, &arranged, vole, ch, rng)?,
            Vole::Gf128(vole) => evaluate(params, &keys, &okvs, &arranged, vole, ch, rng)?,
        };

        // Step 3.
        let mut outputs = Secret::new(vec![0; input.keys.len()]);
        let mut masked = Secret::new(vec![0; input.keys.len()]);
        for ((block, width), values) in params.block_widths().enumerate().zip(input.values.chunks(input.keys.len())) {
            outer_hash(keys.output(block), arranged.keys(), &inner, 0, &mut outputs);
            for (&output, &place) in outputs.iter().zip(arranged.places()) {
                masked[place as usize] = output;
            }
            masked.par_iter_mut().zip(values).for_each(|(masked, value)| *masked ^= value);
            if width <= Gf64::BITS {
                send_hint::<Gf64>(&hint, &pairs, &masked, width, ch, rng)?;
            } else {
                send_hint::<Gf128>(&hint, &pairs, &masked, width, ch, rng)?;
            }
        }
        Ok(())
    }
}

/// Receives the table and gives `F`'s inner values in the arrangement's order.
fn evaluate<B: Value>(
    params: &Params,
    keys: &Keys,
    okvs: &AnyOkvs,
    arranged: &Arrangement,
    vole: silent::Sender<B>,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<Secret<Vec<Gf128>>, Abort> {
    let mut vole = vole.run((), ch, rng)?;
    let _phase = ch.phase(Phase::Decode);
    let mut inner = Secret::new(vec![Gf128::default(); arranged.keys().len()]);
    // K = b + delta A, instead of b.
    let (delta, k) = (vole.delta, &mut vole.b);
    for (part, cells) in okvs.parts().into_iter().enumerate() {
        let k_part = &mut k[cells];
        table::receive::<Table, B>(k_part.len(), params.value_bits, ch, |place, a| {
            let piece = a.len().div_ceil(rayon::current_num_threads());
            k_part[place].par_chunks_mut(piece).zip(a.par_chunks(piece)).for_each(|(k, a)| B::scale_add(k, delta, a));
        })?;
        let range = arranged.part(part);
        let inner = &mut inner[range.clone()];
        okvs.decode_part(k, arranged, part, inner);
        correct::<B>(keys.values, &arranged.keys()[range], params.value_bits, delta, inner);
    }
    Ok(inner)
}

/// Sends the table of a block of the masked values, the low `width` bits of each.
fn send_hint<V: Value>(
    hint: &AnyOkvs,
    pairs: &Arrangement,
    masked: &[u128],
    width: u32,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(), Abort> {
    let _phase = ch.phase(Phase::Encode);
    let low = u128::MAX >> (128 - width);
    let values = Secret::new(
        pairs.places().par_iter().map(|&place| V::from_bits(masked[place as usize] & low)).collect::<Vec<V>>(),
    );
    // Of the free cells, too, only the low bits leave.
    table::encode_and_send_vartime::<Hint, V>(hint, (pairs, &values), FreeCells::Random(rng), |_, _| (), width, ch)
}
