//! The right column of the figure.

use vesica_mpc::code_oprf::{self, PseudoRandom};
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::hashing::CuckooTable;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{FinishArrows, Salt};
use super::{PAYLOAD_DOMAIN, Params};
use crate::bins::POSITIONS;
use crate::psi::finish::{self, StoredOutputs};
use crate::tasks::{IntersectReceiverInput, IntersectReceiverOutput};

/// The receiver, set up.
pub struct Receiver {
    params: Params,
    /// Unless a set is empty: the salt and the OPRF.
    ready: Option<([u8; 32], code_oprf::Receiver<PseudoRandom>)>,
}

impl Party for Receiver {
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
        let hashes = params.hashes(ch, &salt);
        let table = CuckooTable::build(&hashes.positions(&input.items), params.bins)
            .map_err(|_| Abort::StatisticalFailure("no cuckoo table holds the items"))?;
        let keys: [_; POSITIONS] = std::array::from_fn(|choice| Secret::new(hashes.keys(choice, &input.items)));
        let asked = (0..params.bins).map(|bin| match table.bin(bin) {
            Some(entry) => keys[usize::from(entry.choice)][entry.item as usize],
            // What nobody looks at.
            None => rng.block(),
        });
        let asked = asked.collect();
        drop((phase, keys));

        let outputs = oprf.run(asked, ch, rng)?;
        let phase = ch.phase(Phase::Match);
        let (of_tags, of_payloads) = outputs.values.split_at(params.bins);
        let (bins, numbers): (Vec<usize>, Vec<u32>) =
            (0..params.bins).filter_map(|bin| Some((bin, table.bin(bin)?.item))).unzip();
        // There are none for payloads where there are no payloads.
        let of_items = |outputs: &[u128]| -> Secret<Vec<u128>> {
            // With all its room from the start, so that no copy is left where it would grow.
            let mut of_items = Secret::new(Vec::with_capacity(bins.len()));
            of_items.extend(bins.iter().filter_map(|&bin| outputs.get(bin).copied()));
            of_items
        };
        let mut tags = finish::Receiver::new(finish);
        tags.add(&of_items(of_tags), numbers.iter().copied());
        let mut stored = StoredOutputs::new(finish, finish.receiver_items, PAYLOAD_DOMAIN);
        stored.put(&[], &of_items(of_payloads), numbers.iter().copied());
        drop(phase);

        // Steps 2 and 3.
        tags.finish::<FinishArrows>(input, stored, ch)
    }
}
