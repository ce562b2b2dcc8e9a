//! The left column of the figure.

use std::marker::PhantomData;

use vesica_mpc::base_ot::BaseOt;
use vesica_mpc::oprf::table;
use vesica_mpc::tasks::OtChosen;
use vesica_party::{Abort, Channel, Party, Phase, Protocol};
use vesica_structures::okvs::{AnyOkvs, Arrangement, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Commitment, Omega, Randomness, Table, Tags};
use super::oracle::{self, Oracle};
use super::params::Params;
use super::{Bits, Variant};
use vesica_protocols::tags;
use vesica_protocols::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The sender, set up.
pub struct Sender<V> {
    params: Params,
    keys: Option<Keys>,
    variant: PhantomData<fn() -> V>,
}

/// The result of the set-up, unless a set is empty.
struct Keys {
    /// `s` and the `c_i`.
    transfers: OtChosen,
    /// `w`; in Figure 15 `w_1`.
    omega: u128,
    /// Figure 15.
    tau: Option<u128>,
}

impl<V: Variant> Party for Sender<V> {
    type Params = Params;
    type Input = IntersectSenderInput;
    type Output = IntersectSenderOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let keys = if params.is_empty() { None } else { Some(Keys::setup::<V>(params, ch, rng)?) };
        Ok(Self { params: params.clone(), keys, variant: PhantomData })
    }

    fn run(
        self,
        input: IntersectSenderInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let params = &self.params;
        input.check(params.sender_items, 0)?;
        let output = IntersectSenderOutput { matches: None };
        let Some(Evaluated { items, mut inputs, omega }) = self.evaluate(&input.items, ch)? else { return Ok(output) };

        // Step 5; in Figure 15 step 6.
        let phase = ch.phase(Phase::Masks);
        let tags = oracle::outer::<V::Oracle>(params.security, omega, items.keys(), &mut inputs);
        drop(inputs);
        tags::send_unlabelled::<Tags>(&tags, params.coding, params.tag_bits, ch, rng)?;
        drop(phase);
        Ok(output)
    }
}

/// The inputs of the tags of the sender's items.
pub(crate) struct Evaluated<V: Variant> {
    /// The items, arranged.
    pub(crate) items: Arrangement,
    /// `v(x)` of each, in that order.
    pub(crate) inputs: Secret<Vec<Bits<V>>>,
    /// `w`.
    pub(crate) omega: u128,
}

impl<V: Variant> Sender<V> {
    /// Step 4, and `w` of step 5; nothing where a set is empty.
    pub(crate) fn evaluate(&self, items: &[u128], ch: &mut Channel) -> Result<Option<Evaluated<V>>, Abort> {
        let params = &self.params;
        let Some(keys) = &self.keys else { return Ok(None) };

        // C(x), for which the sender need not wait.
        let phase = ch.phase(Phase::HashItems);
        let c = oracle::bits::<V::Oracle>(&keys.transfers.chosen, keys.tau, items);
        drop(phase);

        let Randomness { r, offset } = ch.recv(params.is_malicious())?;
        let okvs = params.store(r)?;
        let items = okvs.arrange(items);
        let mut inputs = Secret::new(items.arranged(&c));
        drop(c);
        receive_and_decode::<V>(params, &okvs, &items, &keys.transfers.choices, &mut inputs, ch)?;
        ch.send(&Omega(keys.omega))?;
        Ok(Some(Evaluated { items, inputs, omega: keys.omega ^ offset.unwrap_or(0) }))
    }
}

#[cfg(test)]
impl<V> Sender<V> {
    /// `s`, for tests of what is made of it.
    pub(crate) fn choices(&self) -> Vec<bool> {
        self.keys.as_ref().map_or(Vec::new(), |keys| keys.transfers.choices.clone())
    }

    /// Cheats: `w` becomes another one after the set-up, which in Figure 15 has committed to it.
    pub(crate) fn change_omega(&mut self) {
        self.keys.iter_mut().for_each(|keys| keys.omega ^= 1);
    }
}

impl Keys {
    /// Steps 1 and 2.
    fn setup<V: Variant>(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let omega = rng.block();
        let mut tau = None;
        if params.is_malicious() {
            let salt = rng.block();
            ch.send(&Commitment { commitment: V::Oracle::commit(omega), tau: salt })?;
            tau = Some(salt);
        }
        let transfers =
            ch.reversed(|ch| <BaseOt as Protocol>::Receiver::setup(&params.transfers(), ch, rng)?.run((), ch, rng))?;
        Ok(Self { transfers, omega, tau })
    }
}

/// Receives the table part by part, and adds `s & Decode(P, x)` to each of `inputs`, which are in
/// the arrangement's order.
fn receive_and_decode<V: Variant>(
    params: &Params,
    okvs: &AnyOkvs,
    items: &Arrangement,
    choices: &[bool],
    inputs: &mut [Bits<V>],
    ch: &mut Channel,
) -> Result<(), Abort> {
    let _phase = ch.phase(Phase::Decode);
    let s = Secret::new(oracle::from_bits::<Bits<V>>(choices.iter().copied()));
    let mut table = vec![Bits::<V>::default(); okvs.len()];
    let mut decoded = Secret::new(Vec::new());
    for (part, cells) in okvs.parts().into_iter().enumerate() {
        let cells = &mut table[cells];
        table::receive::<Table, Bits<V>>(cells.len(), params.width as u32, ch, |place, values| {
            cells[place].copy_from_slice(values)
        })?;
        let range = items.part(part);
        decoded.clear();
        decoded.resize(range.len(), Bits::<V>::default());
        okvs.decode_part(&table, items, part, &mut decoded);
        oracle::add_masked(&mut inputs[range], &s, &decoded);
    }
    Ok(())
}
