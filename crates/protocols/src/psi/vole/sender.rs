//! The left column of the figure.

use std::marker::PhantomData;

use rayon::prelude::*;
use vesica_mpc::tasks::VoleSender;
use vesica_party::{Abort, Channel, Party, Phase, Security};
use vesica_structures::facts::FailureEvent;
use vesica_structures::fields::{Gf64, Gf128, Value};
use vesica_structures::okvs::Okvs;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::masks::SentMasks;
use super::messages::{Payloads, Proofs, Table};
use super::oprf::{OuterHash, Part, correct, fill_keystream};
use super::params::{Params, ValueField};
use super::salt::{CommittedOffset, Keys, toss_as_sender};
use super::{Variant, correlation};
use crate::psi::{both_learn, payload};
use crate::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// Cells of the table that are received and multiplied at a time.
const PART: usize = 1 << 14;

/// The sender, set up.
pub struct Sender<V> {
    params: Params,
    correlation: Option<Correlation>,
    variant: PhantomData<fn() -> V>,
}

/// What the set-up leaves, unless a set is empty.
struct Correlation {
    keys: Keys,
    offset: Option<CommittedOffset>,
    vole: VoleSender,
}

impl<V: Variant> Party for Sender<V> {
    type Params = Params;
    type Input = IntersectSenderInput;
    type Output = IntersectSenderOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let correlation = if params.is_empty() { None } else { Some(Correlation::setup(params, ch, rng)?) };
        Ok(Self { params: params.clone(), correlation, variant: PhantomData })
    }

    fn run(self, input: IntersectSenderInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<IntersectSenderOutput, Abort> {
        let params = &self.params;
        input.check(params.sender_items, params.payload_bytes)?;
        let Some(correlation) = self.correlation else {
            return Ok(IntersectSenderOutput { matches: params.both_learn.then(Vec::new) });
        };

        // Steps 5 to 7.
        let (keys, offset, inner) = match params.field {
            ValueField::Gf64 => correlation.evaluate::<Gf64, V::Okvs>(params, &input.items, ch)?,
            ValueField::Gf128 => correlation.evaluate::<Gf128, V::Okvs>(params, &input.items, ch)?,
        };
        let output = |part| OuterHash::new(&keys, part, offset).eval(&inner, &input.items);

        // Step 8.
        let phase = ch.phase(Phase::Masks);
        let mut masks = SentMasks::new(params);
        masks.add(&output(Part::Mask), 0..);
        let order = masks.send(params, ch, rng)?;
        drop(phase);

        // Step 9.
        if params.payload_bytes > 0 {
            let _phase = ch.phase(Phase::Payload);
            let payload_keys = Secret::new(output(Part::PayloadKey));
            let keystream = |item: usize, out: &mut [u8]| fill_keystream(payload_keys[item], input.items[item], out);
            payload::send::<Payloads>(&input.payloads, params.payload_bytes, &order, keystream, ch)?;
        }

        // Step 10.
        if !params.both_learn {
            return Ok(IntersectSenderOutput { matches: None });
        }
        let _phase = ch.phase(Phase::Match);
        let proofs = Secret::new(output(Part::Proof));
        let matches = both_learn::receive::<Proofs>(params.most_matches(), &proofs, ch)?;
        Ok(IntersectSenderOutput { matches: Some(matches) })
    }
}

impl Correlation {
    /// Steps 1 to 4 and the VOLE.
    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let keys = toss_as_sender(params, ch, rng)?;
        let offset = match params.security {
            Security::SemiHonest => None,
            Security::Malicious => Some(CommittedOffset::send(ch, rng)?),
        };
        let vole = match params.field {
            ValueField::Gf64 => correlation::as_sender::<Gf64>(params, ch, rng)?,
            ValueField::Gf128 => correlation::as_sender::<Gf128>(params, ch, rng)?,
        };
        Ok(Self { keys, offset, vole })
    }

    /// Steps 5 to 7: receives the whole table, opens the offset, and gives the keys, `w`, and `Decode(K, x) + delta H_B(x)` for each item.
    fn evaluate<B: Value, O: Okvs>(
        self,
        params: &Params,
        items: &[u128],
        ch: &mut Channel,
    ) -> Result<(Keys, u128, Secret<Vec<Gf128>>), Abort> {
        let Self { keys, offset, mut vole } = self;
        let phase = ch.phase(Phase::Decode);
        // K = b + delta A, in the place of b.
        let (delta, k) = (vole.delta, &mut vole.b);
        let mut part = vec![B::default(); PART.min(k.len())];
        for k in k.chunks_mut(PART) {
            let part = &mut part[..k.len()];
            ch.recv_stream::<Table<B>>(part)?;
            k.par_chunks_mut(PART / 8).zip(part.par_chunks(PART / 8)).for_each(|(k, a)| B::scale_add(k, delta, a));
        }
        let offset = offset.map_or(Ok(0), |offset| offset.open(ch))?;
        let okvs = O::new(params.receiver_items, FailureEvent::Encoding.bits(), keys.rows)?;
        let mut inner = Secret::new(vec![Gf128::default(); items.len()]);
        okvs.decode(k, items, &mut inner);
        drop((vole, phase));
        let _phase = ch.phase(Phase::HashItems);
        correct::<B>(&keys, items, delta, &mut inner);
        Ok((keys, offset, inner))
    }
}
