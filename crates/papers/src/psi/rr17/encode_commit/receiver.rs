//! The right column of the figure.

use rayon::prelude::*;
use vesica_mpc::code_oprf::{self, Bch};
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::search::{Candidates, OwnTags};
use crate::psi::rr17::Params;
use crate::psi::rr17::bins::{Hashed, Slots};
use crate::psi::rr17::messages::Groups;
use crate::psi::rr17::salt::{Keys, toss_as_receiver};
use crate::psi::rr17::transfers::choose;
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectReceiverOutput, SealedPayloads};

/// About how many bytes are received at a time.
const BYTES_PER_PART: usize = 1 << 18;

/// The receiver, set up.
pub struct Receiver {
    params: Params,
    /// Unless a set is empty.
    ready: Option<(Keys, code_oprf::Receiver<Bch>)>,
}

impl Party for Receiver {
    type Params = Params;
    type Input = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let ready = if params.is_empty() {
            None
        } else {
            // Steps 1 to 3, and the transfers.
            let keys = toss_as_receiver(params, ch, rng)?;
            Some((keys, code_oprf::Receiver::setup(&params.chosen_by_receiver, ch, rng)?))
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
        input.check(params.receiver_items)?;
        let Some((keys, oprf)) = ready else { return Ok(IntersectReceiverOutput::default()) };

        let phase = ch.phase(Phase::HashItems);
        let hashed = Hashed::new(&keys, params.bins, &input.items);
        let slots = Slots::fill(&hashed, params.bins, params.receiver_slots, rng)?;
        drop((phase, hashed));

        // A mask for the opening, and the tag.
        let layout = params.layout();
        let mut masks = choose(oprf, &slots, params.receiver_items, 2, ch, rng)?;
        let of_tags = Secret::new(masks.split_off(params.receiver_items));
        let mut tags = Secret::new(vec![(0, 0); params.receiver_items]);
        for (slot, item) in slots.filled() {
            tags[item] = (layout.tag_of(of_tags[item]), (slot % layout.slots) as u32);
        }
        let (own, places) = OwnTags::new(&tags);
        drop((tags, of_tags, slots));

        // Step 4.
        let phase = ch.phase(Phase::Masks);
        let mut candidates = Candidates::new(own.places());
        let at_a_time = (BYTES_PER_PART / layout.group_bytes()).max(1);
        let mut part = Vec::new();
        for first in (0..params.sender_items).step_by(at_a_time) {
            let groups = at_a_time.min(params.sender_items - first);
            part.resize(groups * layout.group_bytes(), 0);
            ch.recv_stream::<Groups>(&mut part)?;
            let found: Vec<u32> = part
                .par_chunks_exact(layout.group_bytes())
                .flat_map_iter(|group| {
                    let own = &own;
                    layout.read(group).1.enumerate().map(move |(slot, (tag, _))| own.find(tag, slot))
                })
                .collect();
            for (group, places) in part.chunks_exact(layout.group_bytes()).zip(found.chunks_exact(layout.slots)) {
                let (commitment, cells) = layout.read(group);
                for (&place, (_, wrapped)) in places.iter().zip(cells) {
                    candidates.add(place, commitment, wrapped);
                }
            }
        }
        drop(phase);

        let _phase = ch.phase(Phase::Match);
        let matches = candidates.matches(&keys.commitments, &input.items, &places, &masks);
        Ok(IntersectReceiverOutput { matches, payloads: SealedPayloads::default(), unread: 0 })
    }
}
