//! The right column of the figure.

use std::marker::PhantomData;

use vesica_mpc::tasks::VoleReceiver;
use vesica_party::{Abort, Channel, Party, Phase, Security};
use vesica_structures::facts::FailureEvent;
use vesica_structures::fields::{Gf64, Gf128, Value};
use vesica_structures::okvs::{FreeCells, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Payloads, Proofs, Table};
use super::oprf::{OuterHash, Part, fill_keystream, values};
use super::params::{Params, ValueField};
use super::salt::{AwaitedOffset, Keys, toss_as_receiver};
use super::{Variant, correlation, masks};
use crate::psi::{both_learn, payload};
use crate::tasks::{IntersectReceiverInput, IntersectReceiverOutput};

/// Cells of the table that are masked and sent at a time.
const PART: usize = 1 << 14;

/// The receiver, set up.
pub struct Receiver<V> {
    params: Params,
    correlation: Option<Correlation>,
    variant: PhantomData<fn() -> V>,
}

/// What the set-up leaves, unless a set is empty.
struct Correlation {
    keys: Keys,
    offset: Option<AwaitedOffset>,
    vole: Vole,
}

/// The VOLE's right side: `c` in `B` and `a` in `F`.
enum Vole {
    Gf64(VoleReceiver<Gf64>),
    Gf128(VoleReceiver<Gf128>),
}

impl<V: Variant> Party for Receiver<V> {
    type Params = Params;
    type Input = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let correlation = if params.is_empty() { None } else { Some(Correlation::setup(params, ch, rng)?) };
        Ok(Self { params: params.clone(), correlation, variant: PhantomData })
    }

    fn run(self, input: IntersectReceiverInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<IntersectReceiverOutput, Abort> {
        let params = &self.params;
        input.check(params.receiver_items)?;
        let Some(Correlation { keys, offset, vole }) = self.correlation else {
            return Ok(IntersectReceiverOutput::default());
        };

        // Steps 5 to 7.
        let okvs = V::Okvs::new(params.receiver_items, FailureEvent::Encoding.bits(), keys.rows)?;
        let a = match vole {
            Vole::Gf64(vole) => send_table(&okvs, &keys, &input.items, vole, ch)?,
            Vole::Gf128(vole) => send_table(&okvs, &keys, &input.items, vole, ch)?,
        };
        let share = offset.as_ref().map_or(Ok(0), |offset| offset.send_share(ch, rng))?;
        let phase = ch.phase(Phase::Decode);
        let mut inner = Secret::new(vec![Gf128::default(); input.items.len()]);
        okvs.decode(&a, &input.items, &mut inner);
        drop((a, okvs, phase));
        let offset = offset.map_or(Ok(0), |offset| offset.check_opening(share, ch))?;
        let output = |part| OuterHash::new(&keys, part, offset).eval(&inner, &input.items);

        // Step 8.
        let phase = ch.phase(Phase::Match);
        let mut own = masks::OwnMasks::new(params);
        own.add(&Secret::new(output(Part::Mask)), 0..);
        drop(phase);
        let found = own.receive(params, ch)?;

        // Step 9.
        let payloads = if params.payload_bytes > 0 {
            let _phase = ch.phase(Phase::Payload);
            let payload_keys = Secret::new(output(Part::PayloadKey));
            let keystream = |item: usize, out: &mut [u8]| fill_keystream(payload_keys[item], input.items[item], out);
            payload::receive::<Payloads>(params.sender_items, params.payload_bytes, &found, keystream, ch)?
        } else {
            Vec::new()
        };

        // Step 10.
        let matches: Vec<u32> = found.iter().map(|found| found.own).collect();
        if params.both_learn {
            let _phase = ch.phase(Phase::Match);
            let proofs = Secret::new(output(Part::Proof));
            let proofs = matches.iter().map(|&item| proofs[item as usize]).collect();
            both_learn::send::<Proofs>(params.most_matches(), proofs, ch)?;
        }
        Ok(IntersectReceiverOutput { matches, payloads })
    }
}

impl Correlation {
    /// Steps 1 to 4 and the VOLE.
    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let keys = toss_as_receiver(params, ch, rng)?;
        let offset = match params.security {
            Security::SemiHonest => None,
            Security::Malicious => Some(AwaitedOffset::receive(ch)?),
        };
        let vole = match params.field {
            ValueField::Gf64 => Vole::Gf64(correlation::as_receiver(params, ch, rng)?),
            ValueField::Gf128 => Vole::Gf128(correlation::as_receiver(params, ch, rng)?),
        };
        Ok(Self { keys, offset, vole })
    }
}

/// Step 5: `P` with `Decode(P, y) = H_B(y)`, sent as `A = P + c`; leaves `a`.
fn send_table<B: Value, O: Okvs>(
    okvs: &O,
    keys: &Keys,
    items: &[u128],
    mut vole: VoleReceiver<B>,
    ch: &mut Channel,
) -> Result<Secret<Vec<Gf128>>, Abort> {
    let phase = ch.phase(Phase::HashItems);
    let values = values::<B>(keys, items);
    drop(phase);
    let phase = ch.phase(Phase::Encode);
    // The whole table is masked by c, so that its free cells may be zero.
    let mut table = okvs
        .encode(items, &values, FreeCells::Zero)
        .map_err(|_| Abort::StatisticalFailure("the receiver's set could not be encoded; items must be distinct"))?;
    drop((values, phase));
    let _phase = ch.phase(Phase::Decode);
    for (table, c) in table.chunks_mut(PART).zip(vole.c.chunks(PART)) {
        for (cell, &c) in table.iter_mut().zip(c) {
            *cell += c;
        }
        ch.send_stream::<Table<B>>(table)?;
    }
    Ok(Secret::new(std::mem::take(&mut vole.a)))
}
