//! The right column of the figure.

use std::marker::PhantomData;
use std::ops::Range;

use vesica_mpc::oprf::table;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::okvs::{FreeCells, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::columns::{ReceiverColumns, rows};
use super::keys::Keys;
use super::messages::{Corrections, FinishArrows};
use super::{Params, Row, Variant};
use crate::psi::finish;
use crate::tasks::{IntersectReceiverInput, IntersectReceiverOutput};

/// The receiver, set up.
pub struct Receiver<V> {
    params: Params,
    /// Unless a set is empty.
    ready: Option<(Keys, ReceiverColumns)>,
    variant: PhantomData<fn() -> V>,
}

impl<V: Variant> Party for Receiver<V> {
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

    fn run(
        self,
        input: IntersectReceiverInput,
        ch: &mut Channel,
        _: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        let Self { params, ready, .. } = self;
        params.finish.check_receiver(&input)?;
        let Some((keys, ReceiverColumns([zeros, ones]))) = ready else {
            return Ok(IntersectReceiverOutput::default());
        };

        let phase = ch.phase(Phase::HashItems);
        let okvs = keys.okvs::<V>(&params)?;
        let items = okvs.arrange(&input.items);
        let values = keys.values(items.keys());
        drop(phase);

        // Step 2. The masks stand where the table would: nothing else of it is kept.
        let phase = ch.phase(Phase::Encode);
        let mut masks = Secret::new(vec![Row::default(); okvs.len()]);
        let mask = |place: Range<usize>, cells: &mut [Row]| {
            let (t, u) = (rows(&zeros, place.clone()), rows(&ones, place.clone()));
            for ((cell, &t), &u) in cells.iter_mut().zip(t.iter()).zip(u.iter()) {
                *cell += t + u;
            }
            masks[place].copy_from_slice(&t);
        };
        // Each cell leaves under T_i + U_i, of which the sender knows one summand in each column: free cells
        // need not be random.
        table::encode_and_send::<Corrections, Row>(&okvs, (&items, &values), FreeCells::Zero, mask, params.width, ch)?;
        drop((phase, values));

        let phase = ch.phase(Phase::Match);
        let finish = &params.finish;
        let mut collected = keys.collect(&params, finish::Receiver::new(finish), finish.receiver_items);
        for part in 0..params.parts.len() {
            let own = items.part(part);
            let mut decoded = Secret::new(vec![Row::default(); own.len()]);
            okvs.decode_part(&masks, &items, part, &mut decoded);
            keys.add(&items.keys()[own.clone()], &mut decoded, &items.places()[own], &mut collected);
        }
        drop((phase, masks));

        // Steps 3 to 5.
        collected.tags.finish::<FinishArrows>(input, collected.stored, ch)
    }
}
