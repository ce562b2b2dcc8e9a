//! The left column of the figure.

use rand_core::Rng;
use vesica_mpc::code_oprf::{self, PseudoRandom};
use vesica_mpc::tasks::Evaluations;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;

use super::messages::{FinishArrows, Salt};
use super::{PAYLOAD_DOMAIN, Params};
use crate::bins::POSITIONS;
use crate::psi::finish::{self, StoredOutputs};
use crate::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// Items whose values are made at a time.
const ITEMS_PER_PART: usize = 1 << 15;

/// The sender, set up.
pub struct Sender {
    params: Params,
    /// Unless a set is empty: the salt and the OPRF.
    ready: Option<([u8; 32], code_oprf::Sender<PseudoRandom>)>,
}

impl Party for Sender {
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
        let functions = oprf.functions(ch, rng)?;

        let phase = ch.phase(Phase::HashItems);
        let hashes = params.hashes(ch, &salt);
        let mut tags = finish::Sender::new(finish);
        let mut stored = StoredOutputs::new(finish, finish.tags(), PAYLOAD_DOMAIN);
        for (part, items) in input.items.chunks(ITEMS_PER_PART).enumerate() {
            let positions = hashes.positions(items);
            for choice in 0..POSITIONS {
                let evaluations = Evaluations {
                    instances: positions.iter().map(|bins| bins[choice]).collect(),
                    keys: hashes.keys(choice, items),
                };
                let outputs = functions.evaluate(&evaluations);
                let (of_tags, of_payloads) = outputs.values.split_at(items.len());
                let first = part * ITEMS_PER_PART;
                let numbers = (first..first + items.len()).map(|item| (POSITIONS * item + choice) as u32);
                tags.add(of_tags, numbers.clone());
                stored.put(&[], of_payloads, numbers);
            }
        }
        drop((phase, functions));

        // Steps 2 and 3.
        tags.finish::<FinishArrows>(&input, stored, ch, rng)
    }
}
