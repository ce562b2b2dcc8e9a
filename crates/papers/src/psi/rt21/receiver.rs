//! The right column of the figure.

use curve25519_dalek::edwards::EdwardsBasepointTable;
use curve25519_dalek::traits::BasepointTable;
use curve25519_dalek::{EdwardsPoint, Scalar};
use rayon::prelude::*;
use vesica_mpc::oprf::table;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::fields::{Bits256, Cell};
use vesica_structures::okvs::{FreeCells, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Params;
use super::agreement::message;
use super::keys::{BATCH, ITEMS_BETWEEN_CHANNEL_CHECKS, Keys, PAYLOADS, begin_as_receiver};
use super::messages::{FinishArrows, Table};
use vesica_protocols::psi::finish::{self, StoredOutputs};
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectReceiverOutput};

/// The receiver, set up.
pub struct Receiver {
    params: Params,
    /// Unless a set is empty.
    ready: Option<(Keys, EdwardsPoint)>,
}

impl Party for Receiver {
    type Params = Params;
    type Input = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        // Steps 1 to 4.
        let ready = if params.is_empty() { None } else { Some(begin_as_receiver(params, ch, rng)?) };
        Ok(Self { params: params.clone(), ready })
    }

    fn run(
        self,
        input: IntersectReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        let Self { params, ready } = self;
        params.finish.check_receiver(&input)?;
        let Some((keys, public_key)) = ready else { return Ok(IntersectReceiverOutput::default()) };

        let phase = ch.phase(Phase::HashItems);
        let okvs = keys.okvs(&params)?;
        let items = okvs.arrange(&input.items);
        let (exponents, values) = messages(&keys, items.keys(), ch, rng)?;
        drop(phase);

        // Step 5. Free cells are random: with uniform values all of the table is uniform.
        let phase = ch.phase(Phase::Encode);
        let pairs = (&items, &values[..]);
        table::encode_and_send_vartime::<Table, Bits256>(
            &okvs,
            pairs,
            FreeCells::Random(rng),
            |_, _| (),
            Bits256::BITS,
            ch,
        )?;
        drop((phase, values));

        // While the sender works on its items.
        let phase = ch.phase(Phase::Match);
        let powers = EdwardsBasepointTable::create(&public_key);
        let mut tags = finish::Receiver::new(&params.finish);
        let mut stored = StoredOutputs::new(&params.finish, params.finish.receiver_items, PAYLOADS);
        let chunks = exponents.chunks(ITEMS_BETWEEN_CHANNEL_CHECKS);
        let of_items = items.keys().chunks(ITEMS_BETWEEN_CHANNEL_CHECKS);
        let numbers = items.places().chunks(ITEMS_BETWEEN_CHANNEL_CHECKS);
        for ((exponents, of_items), numbers) in chunks.zip(of_items).zip(numbers) {
            ch.check()?;
            let shared = |at: usize| Secret::new(powers.mul_base(&exponents[at]).to_montgomery().0);
            keys.collect(&params, (of_items, numbers), shared, &mut stored, |outputs, numbers| {
                tags.add(outputs, numbers.iter().copied());
            });
        }
        drop((phase, exponents));

        // Steps 6 to 8.
        tags.finish::<FinishArrows>(input, stored, ch)
    }
}

/// The exponents of items' messages, and the table's values for them.
type Messages = (Secret<Vec<Scalar>>, Secret<Vec<Bits256>>);

/// Draws the messages of some items.
fn messages(keys: &Keys, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Messages, Abort> {
    let mut exponents = Secret::new(vec![Scalar::ZERO; items.len()]);
    let mut values = Secret::new(vec![Bits256::default(); items.len()]);
    let of_exponents = exponents.chunks_mut(ITEMS_BETWEEN_CHANNEL_CHECKS);
    let of_values = values.chunks_mut(ITEMS_BETWEEN_CHANNEL_CHECKS);
    let of_items = items.chunks(ITEMS_BETWEEN_CHANNEL_CHECKS);
    for ((exponents, values), items) in of_exponents.zip(of_values).zip(of_items) {
        ch.check()?;
        // A generator for each batch: what is drawn does not depend on the number of threads.
        let rngs: Vec<SecretRng> = (0..items.len().div_ceil(BATCH)).map(|_| rng.child()).collect();
        let batches = exponents.par_chunks_mut(BATCH).zip(values.par_chunks_mut(BATCH)).zip(items.par_chunks(BATCH));
        batches.zip(rngs).for_each(|(((exponents, values), items), mut rng)| {
            for ((exponent, value), &item) in exponents.iter_mut().zip(values).zip(items) {
                let (drawn, string) = message(&mut rng);
                *exponent = *drawn;
                *value = keys.permutation.invert(string) + keys.mask(item);
            }
        });
    }
    Ok((exponents, values))
}
