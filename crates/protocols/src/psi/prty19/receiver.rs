//! The right column of the figure.

use std::marker::PhantomData;

use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::tags::TagFinder;

use super::keys::{Keys, StoredOutputs};
use super::messages::{Payloads, Proofs, Tags};
use super::params::{Layout, Params};
use super::rows::{ReceiverColumns, ReceiverRows};
use super::{fast, low};
use crate::psi::{both_learn, payload};
use crate::tags;
use crate::tasks::{IntersectReceiverInput, IntersectReceiverOutput};

/// The receiver, Bob, set up.
pub struct Receiver<V> {
    params: Params,
    /// Unless a set is empty.
    ready: Option<(Keys, ReceiverColumns)>,
    variant: PhantomData<fn() -> V>,
}

impl<V> Party for Receiver<V> {
    type Params = Params;
    type Input = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let ready = if params.is_empty() {
            None
        } else {
            // Step 1, and the OTs.
            Some((Keys::receive(params, ch)?, ReceiverColumns::setup(params, ch, rng)?))
        };
        Ok(Self { params: params.clone(), ready, variant: PhantomData })
    }

    fn run(self, input: IntersectReceiverInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<IntersectReceiverOutput, Abort> {
        let params = &self.params;
        input.check(params.receiver_items)?;
        let Some((keys, columns)) = &self.ready else { return Ok(IntersectReceiverOutput::default()) };
        let rows = ReceiverRows { params, keys, own: columns };
        let mut own = TagFinder::new(params.receiver_items, params.tag_bits, params.payload_bytes > 0);
        let mut kept = StoredOutputs::new(params, params.receiver_items);

        // Step 2.
        match params.layout {
            Layout::Low { bins } => low::send_polynomial(&rows, bins, &input.items, (&mut own, &mut kept), ch, rng)?,
            Layout::Fast(table) => {
                let _phase = ch.phase(Phase::Encode);
                fast::send_polynomials(&rows, table, &input.items, (&mut own, &mut kept), ch, rng)?;
            }
        }

        // Step 3.
        let phase = ch.phase(Phase::Match);
        own.prepare();
        drop(phase);
        let phase = ch.phase(Phase::Masks);
        tags::receive::<Tags>(&mut own, params.evaluations(), params.tag_bits, ch)?;
        let found = own.found();
        let matches = found.list();
        let proofs: Option<Vec<u128>> = params.both_learn.then(|| matches.iter().map(|&item| kept.proofs[item as usize]).collect());
        drop(phase);

        // Step 4.
        let phase = ch.phase(Phase::Payload);
        let keystream = move |item: usize, out: &mut [u8]| kept.fill_keystream(item, input.items[item], out);
        let payloads = payload::receive::<Payloads>(params.evaluations(), params.payload_bytes, found, keystream, ch)?;
        drop(phase);

        // Step 5.
        if let Some(proofs) = proofs {
            let _phase = ch.phase(Phase::Match);
            both_learn::send::<Proofs>(params.sender_items.min(params.receiver_items), proofs, ch)?;
        }
        Ok(IntersectReceiverOutput { matches, payloads })
    }
}
