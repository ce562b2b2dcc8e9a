//! The left column of the figure.

use std::marker::PhantomData;

use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::tags::TagSorter;

use super::keys::{Keys, StoredOutputs};
use super::messages::{Payloads, Proofs, Tags};
use super::params::{Layout, Params};
use super::rows::{SenderColumns, SenderRows};
use super::{fast, low};
use crate::psi::{both_learn, payload};
use crate::tags;
use crate::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The sender, Alice, set up.
pub struct Sender<V> {
    params: Params,
    /// Unless a set is empty.
    ready: Option<(Keys, SenderColumns)>,
    variant: PhantomData<fn() -> V>,
}

impl<V> Party for Sender<V> {
    type Params = Params;
    type Input = IntersectSenderInput;
    type Output = IntersectSenderOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let ready = if params.is_empty() {
            None
        } else {
            // Step 1, and the OTs.
            Some((Keys::send(params, ch, rng)?, SenderColumns::setup(params, ch, rng)?))
        };
        Ok(Self { params: params.clone(), ready, variant: PhantomData })
    }

    fn run(self, input: IntersectSenderInput, ch: &mut Channel, _rng: &mut SecretRng) -> Result<IntersectSenderOutput, Abort> {
        let params = &self.params;
        input.check(params.sender_items, params.payload_bytes)?;
        let Some((keys, columns)) = &self.ready else {
            return Ok(IntersectSenderOutput { matches: params.both_learn.then(Vec::new) });
        };
        let rows = SenderRows { params, keys, own: columns };
        let mut own = TagSorter::new(params.evaluations(), params.tag_bits);
        let mut kept = StoredOutputs::new(params, params.evaluations());

        // Step 2.
        match params.layout {
            Layout::Low { bins } => low::evaluate_polynomial(&rows, bins, &input.items, (&mut own, &mut kept), ch)?,
            Layout::Fast(table) => {
                let _phase = ch.phase(Phase::Decode);
                fast::evaluate_polynomials(&rows, table, &input.items, (&mut own, &mut kept), ch)?;
            }
        }

        // Step 3.
        let phase = ch.phase(Phase::Masks);
        let order = tags::send::<Tags, u32>(own, params.evaluations(), params.tag_bits, ch)?;
        drop(phase);

        // Step 4: an item's payload under each of its tags.
        if params.payload_bytes > 0 {
            let _phase = ch.phase(Phase::Payload);
            let choices = params.layout.choices();
            let payloads = input.payloads.chunks_exact(params.payload_bytes);
            let payloads: Vec<u8> = payloads.flat_map(|payload| std::iter::repeat_n(payload, choices).flatten().copied()).collect();
            let keystream = |number: usize, out: &mut [u8]| kept.fill_keystream(number, input.items[number / choices], out);
            payload::send::<Payloads>(&payloads, params.payload_bytes, &order, keystream, ch)?;
        }

        // Step 5.
        if !params.both_learn {
            return Ok(IntersectSenderOutput { matches: None });
        }
        let _phase = ch.phase(Phase::Match);
        let most = params.sender_items.min(params.receiver_items);
        Ok(IntersectSenderOutput { matches: Some(both_learn::receive::<Proofs>(most, &kept.proofs, ch)?) })
    }
}
