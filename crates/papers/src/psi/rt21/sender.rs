//! The left column of the figure.

use curve25519_dalek::MontgomeryPoint;
use vesica_mpc::oprf::table;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::elligator;
use vesica_structures::fields::{Bits256, Cell};
use vesica_structures::okvs::Okvs;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Params;
use super::keys::{ITEMS_BETWEEN_CHANNEL_CHECKS, Keys, PAYLOADS, begin_as_sender};
use super::messages::{FinishArrows, Table};
use crate::ecdh::x25519::X25519;
use vesica_protocols::psi::finish::{self, StoredOutputs};
use vesica_protocols::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The sender, set up.
pub struct Sender {
    params: Params,
    /// Unless a set is empty.
    ready: Option<(Keys, Secret<X25519>)>,
}

impl Party for Sender {
    type Params = Params;
    type Input = IntersectSenderInput;
    type Output = IntersectSenderOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        // Steps 1 to 4.
        let ready = if params.is_empty() { None } else { Some(begin_as_sender(params, ch, rng)?) };
        Ok(Self { params: params.clone(), ready })
    }

    fn run(
        self,
        input: IntersectSenderInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let Self { params, ready } = self;
        params.finish.check_sender(&input)?;
        let Some((keys, exponent)) = ready else { return Ok(params.finish.no_matches()) };

        let phase = ch.phase(Phase::HashItems);
        let okvs = keys.okvs(&params)?;
        let items = okvs.arrange(&input.items);
        drop(phase);

        // Step 5, decoded part by part. The multiplications wait for the last part: else the receiver would see in the
        // time between it and the tags how many items it completes.
        let phase = ch.phase(Phase::Decode);
        let mut cells = vec![Bits256::default(); okvs.len()];
        let mut decoded = Secret::new(vec![Bits256::default(); items.keys().len()]);
        for (part, place) in params.parts.iter().enumerate() {
            let of_part = &mut cells[place.clone()];
            table::receive::<Table, Bits256>(place.len(), Bits256::BITS, ch, |place, values| {
                of_part[place].copy_from_slice(values);
            })?;
            okvs.decode_part(&cells, &items, part, &mut decoded[items.part(part)]);
        }
        drop((phase, cells));

        let phase = ch.phase(Phase::Masks);
        let mut tags = finish::Sender::new(&params.finish);
        let mut stored = StoredOutputs::new(&params.finish, params.finish.sender_items, PAYLOADS);
        let chunks = decoded.chunks(ITEMS_BETWEEN_CHANNEL_CHECKS);
        let of_items = items.keys().chunks(ITEMS_BETWEEN_CHANNEL_CHECKS);
        let numbers = items.places().chunks(ITEMS_BETWEEN_CHANNEL_CHECKS);
        for ((values, of_items), numbers) in chunks.zip(of_items).zip(numbers) {
            ch.check()?;
            // A point of small order gives the key of zeros, as if the receiver had sent it with an exponent that it
            // knows. To stop there would tell it no less.
            let shared = |at: usize| {
                let string = Secret::new(keys.permutation.apply(values[at] + keys.mask(of_items[at])));
                let point = Secret::new(MontgomeryPoint(elligator::map(&string)));
                Secret::new(exponent.times(&point))
            };
            keys.collect(&params, (of_items, numbers), shared, &mut stored, |outputs, numbers| {
                tags.add(outputs, numbers.iter().copied());
            });
        }
        drop((phase, decoded));

        // Steps 6 to 8.
        tags.finish::<FinishArrows>(&input, stored, ch, rng)
    }
}
