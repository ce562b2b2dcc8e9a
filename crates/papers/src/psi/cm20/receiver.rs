//! The right column of the figure.

use rayon::prelude::*;
use vesica_mpc::ot_extension::OtExtension;
use vesica_party::{Abort, Channel, Party, Phase, Protocol};
use vesica_structures::hashed_columns::{COLUMNS_PER_GROUP, Streams, item_blocks};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Params;
use super::keys::Keys;
use super::messages::{Columns, FinishArrows};
use super::params::MOST_GROUPS_AT_ONCE;
use vesica_protocols::psi::finish;
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectReceiverOutput};

/// The receiver, set up.
#[derive(Debug)]
pub struct Receiver {
    params: Params,
    /// Unless a set is empty.
    ready: Option<Ready>,
}

#[derive(Debug)]
struct Ready {
    keys: Keys,
    /// `G(k_j[0])` and `G(k_j[1])`.
    streams: [Streams; 2],
}

impl Party for Receiver {
    type Params = Params;
    type Input = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let ready = if params.is_empty() {
            None
        } else {
            // Step 1, and the OTs.
            let keys = Keys::send(params, ch, rng)?;
            let base = params.transfers;
            let pairs = ch.reversed(|ch| <OtExtension as Protocol>::Sender::setup(&base, ch, rng)?.run((), ch, rng))?;
            let streams = [0, 1].map(|side| Streams::new(pairs.pairs.iter().map(|pair| pair[side])));
            Some(Ready { keys, streams })
        };
        Ok(Self { params: params.clone(), ready })
    }

    fn run(
        self,
        input: IntersectReceiverInput,
        ch: &mut Channel,
        _: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        let Self { params, ready } = self;
        params.finish.check_receiver(&input)?;
        let Some(ready) = ready else { return Ok(IntersectReceiverOutput::default()) };

        // Step 2, a group of columns for each thread at a time.
        let phase = ch.phase(Phase::Encode);
        let (items, group_blocks) = (&input.items[..], params.group_blocks());
        let bits_of_group = COLUMNS_PER_GROUP * item_blocks(items.len());
        let mut bits = Secret::new(vec![0; params.groups() * bits_of_group]);
        let at_once = rayon::current_num_threads().min(params.groups()).min(MOST_GROUPS_AT_ONCE);
        let mut sent = vec![0; at_once * group_blocks];
        for (part, bits) in bits.chunks_mut(at_once * bits_of_group).enumerate() {
            let groups = bits.par_chunks_mut(bits_of_group).zip(sent.par_chunks_mut(group_blocks)).enumerate();
            groups.for_each(|(group, (bits, sent))| ready.group(part * at_once + group, items, bits, sent));
            ch.send_stream::<Columns>(&sent[..bits.len() / bits_of_group * group_blocks])?;
        }
        drop(phase);

        let finish = finish::Receiver::new(&params.finish);
        let collected = ready.keys.collect(&params, items, &bits, finish, ch);
        drop(bits);

        // Steps 3 to 5.
        collected.tags.finish::<FinishArrows>(input, collected.stored, ch)
    }
}

impl Ready {
    /// Step 2 for a group of columns: what is sent, and the bits `A_j[v_j]` of the own items.
    fn group(&self, group: usize, items: &[u128], bits: &mut [u128], sent: &mut [u128]) {
        let [zeros, ones] = &self.streams;
        // D.
        sent.fill(u128::MAX);
        self.keys.places.clear(group, items, sent);
        let mut columns = Secret::new(vec![0; sent.len()]);
        ones.fill(group, &mut columns);
        add(sent, &columns);
        // A.
        zeros.fill(group, &mut columns);
        add(sent, &columns);
        self.keys.places.look_up(group, items, &columns, bits);
    }
}

/// `sum += other`, bit by bit.
fn add(sum: &mut [u128], other: &[u128]) {
    sum.iter_mut().zip(other).for_each(|(block, other)| *block ^= other);
}
