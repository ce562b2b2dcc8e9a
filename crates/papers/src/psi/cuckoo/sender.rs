//! The left column of the figure.

use std::ops::Range;

use rand_core::Rng;
use vesica_mpc::code_oprf::{self, Functions};
use vesica_mpc::tasks::Evaluations;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::hashing::SimpleTable;
use vesica_structures::rng::SecretRng;

use super::messages::{FinishArrows, Salt};
use super::places::Placed;
use super::sums::Sums;
use super::{Paper, Params};
use vesica_protocols::bins::POSITIONS;
use vesica_protocols::psi::finish::{self, StoredOutputs};
use vesica_protocols::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// About how many evaluations are made at a time. A small table of the receiver has many in a bin.
const EVALUATIONS_PER_BATCH: usize = 1 << 15;

/// The sender, set up.
pub struct Sender<P: Paper> {
    params: Params,
    /// Unless a set is empty: the salt and the transfers.
    ready: Option<([u8; 32], code_oprf::Sender<P::Code>)>,
}

impl<P: Paper> Party for Sender<P> {
    type Params = Params;
    type Input = IntersectSenderInput;
    type Output = IntersectSenderOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let ready = if params.finish.is_empty() {
            None
        } else {
            // Step 1.
            let mut salt = [0; 32];
            rng.fill_bytes(&mut salt);
            ch.send(&Salt(salt))?;
            Some((salt, code_oprf::Sender::setup(&params.oprf, ch, rng)?))
        };
        Ok(Self { params: params.clone(), ready })
    }

    fn run(
        self,
        input: IntersectSenderInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let Self { params, ready } = self;
        let finish = &params.finish;
        finish.check_sender(&input)?;
        let Some((salt, oprf)) = ready else { return Ok(finish.no_matches()) };

        // In the order of the bins, so that rows of transfers are used as they come, and then dropped.
        let phase = ch.phase(Phase::HashItems);
        let Placed { bins, strings } = params.places::<P>(ch, &salt).of(&input.items);
        let table = SimpleTable::build_vartime(&bins, params.bins, usize::MAX)
            .map_err(|_| Abort::StatisticalFailure("a bin overflows"))?;
        drop((phase, bins));

        let chunks = params.strings.chunks;
        let mut tags = finish::Sender::new(finish);
        let mut stored = StoredOutputs::new(finish, finish.tags(), P::PAYLOAD_DOMAIN);
        let mut sums = Sums::new(chunks.count, params.blocks(), params.key_of_sums(ch, &salt));
        let load = |bin: usize| table.bin(bin).len();
        let mut evaluate = |part: Range<usize>, functions: &Functions<P::Code>| {
            let count = sums.bins_in(&part).map(|bin| sums.transfers_in(bin, &part).len() * load(bin)).sum();
            let mut evaluations = Evaluations { instances: Vec::with_capacity(count), keys: Vec::with_capacity(count) };
            for bin in sums.bins_in(&part) {
                let first = bin * chunks.count;
                for transfer in sums.transfers_in(bin, &part) {
                    for entry in table.bin(bin) {
                        let string = strings[usize::from(entry.choice)][entry.item as usize];
                        evaluations.instances.push(transfer as u32);
                        evaluations.keys.push(chunks.chunk(string, transfer - first));
                    }
                }
            }
            let finished = sums.add(part, load, &functions.evaluate(&evaluations));
            let entries = finished.bins.flat_map(|bin| table.bin(bin));
            let numbers = entries.map(|entry| POSITIONS as u32 * entry.item + u32::from(entry.choice));
            if let Some((of_tags, of_payloads)) = finished.sums.split_first() {
                tags.add(of_tags, numbers.clone());
                stored.put(&[], of_payloads.first().map_or(&[][..], |keys| &keys[..]), numbers);
            }
        };
        let in_batches = |part: Range<usize>, functions: &Functions<P::Code>| {
            let mut start = part.start;
            while start < part.end {
                let (mut end, mut count) = (start, 0);
                while end < part.end && count < EVALUATIONS_PER_BATCH {
                    count += load(end / chunks.count);
                    end += 1;
                }
                evaluate(start..end, functions);
                start = end;
            }
        };
        oprf.functions_in_parts(in_batches, ch, rng)?;
        drop((table, strings));

        // Steps 2 and 3.
        tags.finish::<FinishArrows>(&input, stored, ch, rng)
    }
}
