//! The right column of the figure.

use std::ops::Range;

use vesica_mpc::code_oprf;
use vesica_mpc::tasks::PrfOutputs;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::hashing::CuckooTable;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{FinishArrows, Salt};
use super::places::Placed;
use super::sums::Sums;
use super::{Paper, Params};
use vesica_protocols::psi::finish::{self, StoredOutputs};
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectReceiverOutput};

/// The receiver, set up.
pub struct Receiver<P: Paper> {
    params: Params,
    /// Unless a set is empty: the salt and the transfers.
    ready: Option<([u8; 32], code_oprf::Receiver<P::Code>)>,
}

impl<P: Paper> Party for Receiver<P> {
    type Params = Params;
    type Input = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let ready = if params.finish.is_empty() {
            None
        } else {
            // Step 1.
            let Salt(salt) = ch.recv(())?;
            Some((salt, code_oprf::Receiver::setup(&params.oprf, ch, rng)?))
        };
        Ok(Self { params: params.clone(), ready })
    }

    fn run(
        self,
        input: IntersectReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        let Self { params, ready } = self;
        let finish = &params.finish;
        finish.check_receiver(&input)?;
        let Some((salt, oprf)) = ready else { return Ok(IntersectReceiverOutput::default()) };

        let phase = ch.phase(Phase::HashItems);
        let Placed { bins, strings: of_items } = params.places::<P>(ch, &salt).of(&input.items);
        let table = CuckooTable::build_vartime(&bins, params.bins)
            .map_err(|_| Abort::StatisticalFailure("no cuckoo table holds the items"))?;
        let strings: Secret<Vec<u128>> = Secret::new(
            (0..params.bins)
                .map(|bin| match table.bin(bin) {
                    Some(entry) => of_items[usize::from(entry.choice)][entry.item as usize],
                    // What nobody looks at.
                    None => rng.block(),
                })
                .collect(),
        );
        drop((phase, bins, of_items));

        let chunks = params.strings.chunks;
        let mut tags = finish::Receiver::new(finish);
        let mut stored = StoredOutputs::new(finish, finish.receiver_items, P::PAYLOAD_DOMAIN);
        let mut sums = Sums::new(chunks.count, params.blocks(), params.key_of_sums(ch, &salt));
        let choices = |part: Range<usize>, choices: &mut [u128]| {
            for (choice, transfer) in choices.iter_mut().zip(part) {
                *choice = chunks.chunk(strings[transfer / chunks.count], transfer % chunks.count);
            }
        };
        let take = |part: Range<usize>, values: &PrfOutputs| {
            let finished = sums.add(part, |_| 1, values);
            let (places, numbers): (Vec<usize>, Vec<u32>) =
                finished.bins.enumerate().filter_map(|(place, bin)| Some((place, table.bin(bin)?.item))).unzip();
            let of_places = |sums: &Secret<Vec<u128>>| -> Secret<Vec<u128>> {
                Secret::new(places.iter().map(|&place| sums[place]).collect())
            };
            if let Some((of_tags, of_payloads)) = finished.sums.split_first() {
                tags.add(&of_places(of_tags), numbers.iter().copied());
                // There are none for payloads where there are no payloads.
                let keys = of_payloads.first().map(of_places);
                stored.put(&[], keys.as_ref().map_or(&[][..], |keys| &keys[..]), numbers.iter().copied());
            }
        };
        oprf.run_in_parts(choices, take, ch, rng)?;
        drop(strings);

        // Steps 2 and 3.
        tags.finish::<FinishArrows>(input, stored, ch)
    }
}
