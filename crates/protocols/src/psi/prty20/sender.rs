//! The left column of the figure.

use std::marker::PhantomData;

use vesica_mpc::oprf::table;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::okvs::Okvs;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::columns::{SenderColumns, rows};
use super::keys::Keys;
use super::messages::{Corrections, FinishArrows};
use super::{Params, Row, Variant};
use crate::psi::finish;
use crate::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The sender, set up.
pub struct Sender<V> {
    params: Params,
    /// Unless a set is empty.
    ready: Option<(Keys, SenderColumns)>,
    variant: PhantomData<fn() -> V>,
}

impl<V: Variant> Party for Sender<V> {
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

    fn run(
        self,
        input: IntersectSenderInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let Self { params, ready, .. } = self;
        let finish = &params.finish;
        finish.check_sender(&input)?;
        let Some((keys, columns)) = ready else { return Ok(finish.no_matches()) };

        let phase = ch.phase(Phase::HashItems);
        let okvs = keys.okvs::<V>(&params)?;
        let items = okvs.arrange(&input.items);
        drop(phase);

        // Step 2: Q, part by part, and the rows of the items that a part completes.
        let phase = ch.phase(Phase::Decode);
        let mut collected = keys.collect(&params, finish::Sender::new(finish), finish.sender_items);
        let mut q = Secret::new(vec![Row::default(); okvs.len()]);
        for (part, place) in params.parts.iter().enumerate() {
            let q_part = &mut q[place.clone()];
            q_part.copy_from_slice(&rows(&columns.chosen, place.clone()));
            table::receive::<Corrections, Row>(place.len(), params.width, ch, |cells, corrections| {
                for (row, correction) in q_part[cells].iter_mut().zip(corrections) {
                    columns.correct(row, correction);
                }
            })?;
            let own = items.part(part);
            let of_part = &items.keys()[own.clone()];
            let mut decoded = Secret::new(vec![Row::default(); of_part.len()]);
            okvs.decode_part(&q, &items, part, &mut decoded);
            let values = keys.values(of_part);
            for (row, value) in decoded.iter_mut().zip(values.iter()) {
                columns.correct(row, value);
            }
            keys.add(of_part, &mut decoded, &items.places()[own], &mut collected);
        }
        drop((phase, q));

        // Steps 3 to 5.
        collected.tags.finish::<FinishArrows>(&input, collected.stored, ch, rng)
    }
}
