//! The right column of the figure: asks for the values of its keys.

use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::fields::{Cell, Gf64, Gf128, Value};
use vesica_structures::okvs::{AnyOkvs, Arrangement, FreeCells, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Params;
use super::keys::Keys;
use super::messages::{Hint, Salt, Table};
use crate::oprf::{ValueField, outer_hash, table, values};
use crate::silent;
use crate::tasks::{PrfOutputs, VoleReceiver};

/// The receiver, set up.
pub struct Receiver {
    params: Params,
    correlation: Option<(Keys, Vole)>,
}

/// The VOLE's right side.
enum Vole {
    Gf64(silent::Receiver<Gf64>),
    Gf128(silent::Receiver<Gf128>),
}

impl Receiver {
    /// The receiver, set up with a VOLE of values in `GF(2^64)` that exists already; the other side
    /// does the same. Receives the salt.
    ///
    /// # Errors
    /// If it is another VOLE than [`Params::vole`] names, or if the channel fails.
    pub fn from_vole(params: &Params, vole: VoleReceiver<Gf64>, ch: &mut Channel) -> Result<Self, Abort> {
        params.check_vole::<Gf64>(vole.c.len())?;
        Self::with(params, ch, |_| Ok(Vole::Gf64(vole.into())))
    }

    /// As [`from_vole`](Self::from_vole), for values in `GF(2^128)`.
    ///
    /// # Errors
    /// As `from_vole`.
    pub fn from_wide_vole(params: &Params, vole: VoleReceiver<Gf128>, ch: &mut Channel) -> Result<Self, Abort> {
        params.check_vole::<Gf128>(vole.c.len())?;
        Self::with(params, ch, |_| Ok(Vole::Gf128(vole.into())))
    }

    /// With the VOLE that `make` makes.
    fn with(
        params: &Params,
        ch: &mut Channel,
        make: impl FnOnce(&mut Channel) -> Result<Vole, Abort>,
    ) -> Result<Self, Abort> {
        let Salt(salt) = ch.recv(())?;
        let keys = Keys::derive(ch, params, &salt);
        let correlation = Some((keys, make(ch)?));
        Ok(Self { params: params.clone(), correlation })
    }
}

impl Party for Receiver {
    type Params = Params;
    type Input = Vec<u128>;
    type Output = PrfOutputs;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let Some(vole) = &params.vole else {
            return Ok(Self { params: params.clone(), correlation: None });
        };
        Self::with(params, ch, |ch| match params.field {
            ValueField::Gf64 => Ok(Vole::Gf64(silent::Receiver::setup(vole, ch, rng)?)),
            ValueField::Gf128 => Ok(Vole::Gf128(silent::Receiver::setup(vole, ch, rng)?)),
        })
    }

    fn run(self, asked: Vec<u128>, ch: &mut Channel, rng: &mut SecretRng) -> Result<PrfOutputs, Abort> {
        Ok(self.run_while(asked, |_| (), ch, rng)?.0)
    }
}

impl Receiver {
    /// [`Party::run`] with work of the caller's once the table is sent, while the sender evaluates the
    /// function and encodes the hint.
    ///
    /// # Errors
    /// As `run`.
    pub fn run_while<T>(
        self,
        asked: Vec<u128>,
        meanwhile: impl FnOnce(&mut Channel) -> T,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(PrfOutputs, T), Abort> {
        let params = &self.params;
        PrfOutputs::check_keys(&asked, params.receiver_keys)?;
        let mut outputs = PrfOutputs { values: vec![0; asked.len() * params.blocks()] };
        let Some((keys, vole)) = self.correlation else {
            // Nothing is programmed: any random function is as good.
            let widths = params.block_widths().flat_map(|width| std::iter::repeat_n(width, asked.len()));
            outputs.values.iter_mut().zip(widths).for_each(|(value, width)| *value = rng.block() >> (128 - width));
            return Ok((outputs, meanwhile(ch)));
        };

        // Step 2.
        let phase = ch.phase(Phase::HashItems);
        let okvs = params.okvs.store(params.receiver_keys, params.encoding_bits, keys.table)?;
        let arranged = okvs.arrange(&asked);
        drop(phase);
        let (inner, done) = match vole {
            Vole::Gf64(vole) => evaluate(params, &keys, (&okvs, &arranged), vole, meanwhile, ch, rng)?,
            Vole::Gf128(vole) => evaluate(params, &keys, (&okvs, &arranged), vole, meanwhile, ch, rng)?,
        };

        // Step 3.
        let phase = ch.phase(Phase::HashItems);
        let hint = params.okvs.store(params.sender_keys, params.encoding_bits, keys.hint)?;
        let at_hint = hint.arrange(&asked);
        let mut hashed = Secret::new(vec![0; asked.len()]);
        drop(phase);
        if asked.is_empty() {
            return Ok((outputs, done));
        }
        for ((block, width), out) in params.block_widths().enumerate().zip(outputs.values.chunks_mut(asked.len())) {
            outer_hash(keys.output(block), arranged.keys(), &inner, 0, &mut hashed);
            let low = u128::MAX >> (128 - width);
            for (&hashed, &place) in hashed.iter().zip(arranged.places()) {
                out[place as usize] = hashed & low;
            }
            if width <= Gf64::BITS {
                add_hint::<Gf64>(&hint, &at_hint, width, out, ch)?;
            } else {
                add_hint::<Gf128>(&hint, &at_hint, width, out, ch)?;
            }
        }
        Ok((outputs, done))
    }
}

/// Sends the table, does what is to be done meanwhile, and gives `F`'s inner values in the
/// arrangement's order.
fn evaluate<B: Value, T>(
    params: &Params,
    keys: &Keys,
    (okvs, arranged): (&AnyOkvs, &Arrangement),
    vole: silent::Receiver<B>,
    meanwhile: impl FnOnce(&mut Channel) -> T,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(Secret<Vec<Gf128>>, T), Abort> {
    let phase = ch.phase(Phase::Encode);
    let values = values::<B>(keys.values, arranged.keys(), params.value_bits);
    // The whole table is masked by c, so that its free cells may be zero.
    table::encode_and_send_vartime::<Table, B>(
        okvs,
        (arranged, &values),
        FreeCells::Zero,
        table::under(vole.values()),
        params.value_bits,
        ch,
    )?;
    drop(phase);
    let done = meanwhile(ch);
    let vole = vole.run((), ch, rng)?;
    let _phase = ch.phase(Phase::Decode);
    let mut inner = Secret::new(vec![Gf128::default(); arranged.keys().len()]);
    for part in 0..okvs.parts().len() {
        okvs.decode_part(&vole.a, arranged, part, &mut inner[arranged.part(part)]);
    }
    Ok((inner, done))
}

/// Receives a hint of `width` bits a cell, and adds what it holds for each key to `out`.
fn add_hint<V: Value>(
    hint: &AnyOkvs,
    keys: &Arrangement,
    width: u32,
    out: &mut [u128],
    ch: &mut Channel,
) -> Result<(), Abort> {
    let _phase = ch.phase(Phase::Decode);
    let mut cells = vec![V::default(); hint.len()];
    let mut decoded = Secret::new(Vec::new());
    for (part, place) in hint.parts().into_iter().enumerate() {
        let to = &mut cells[place];
        table::receive::<Hint, V>(to.len(), width, ch, |place, values| to[place].copy_from_slice(values))?;
        let range = keys.part(part);
        decoded.clear();
        decoded.resize(range.len(), V::default());
        hint.decode_part(&cells, keys, part, &mut decoded);
        for (value, &place) in decoded.iter().zip(&keys.places()[range]) {
            out[place as usize] ^= value.embed().0;
        }
    }
    Ok(())
}
