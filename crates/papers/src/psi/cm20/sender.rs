//! The left column of the figure.

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
use vesica_protocols::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The sender, set up.
#[derive(Debug)]
pub struct Sender {
    params: Params,
    /// Unless a set is empty.
    ready: Option<Ready>,
}

#[derive(Debug)]
struct Ready {
    keys: Keys,
    /// `G(k_j[s_j])`.
    chosen: Streams,
    /// For each column a block of ones or of zeros, by `s_j`.
    secret: Secret<Vec<u128>>,
}

impl Party for Sender {
    type Params = Params;
    type Input = IntersectSenderInput;
    type Output = IntersectSenderOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let ready = if params.is_empty() {
            None
        } else {
            // Step 1, and the OTs.
            let keys = Keys::receive(params, ch)?;
            let base = params.transfers;
            let chosen =
                ch.reversed(|ch| <OtExtension as Protocol>::Receiver::setup(&base, ch, rng)?.run((), ch, rng))?;
            let secret = chosen.choices.iter().map(|&choice| u128::from(choice).wrapping_neg()).collect();
            let streams = Streams::new(chosen.chosen.iter().copied());
            Some(Ready { keys, chosen: streams, secret: Secret::new(secret) })
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
        params.finish.check_sender(&input)?;
        let Some(ready) = ready else { return Ok(params.finish.no_matches()) };

        // Step 2, a group of columns for each thread at a time.
        let phase = ch.phase(Phase::Decode);
        let (items, group_blocks) = (&input.items[..], params.group_blocks());
        let bits_of_group = COLUMNS_PER_GROUP * item_blocks(items.len());
        let mut bits = Secret::new(vec![0; params.groups() * bits_of_group]);
        let at_once = rayon::current_num_threads().min(params.groups()).min(MOST_GROUPS_AT_ONCE);
        let mut received = vec![0; at_once * group_blocks];
        for (part, bits) in bits.chunks_mut(at_once * bits_of_group).enumerate() {
            let received = &mut received[..bits.len() / bits_of_group * group_blocks];
            ch.recv_stream::<Columns>(received)?;
            let groups = bits.par_chunks_mut(bits_of_group).zip(received.par_chunks(group_blocks)).enumerate();
            groups.for_each(|(group, (bits, received))| ready.group(part * at_once + group, items, received, bits));
        }
        drop(phase);

        let finish = finish::Sender::new(&params.finish);
        let collected = ready.keys.collect(&params, items, &bits, finish, ch);
        drop(bits);

        // Steps 3 to 5.
        collected.tags.finish::<FinishArrows>(&input, collected.stored, ch, rng)
    }
}

impl Ready {
    /// Step 2 for a group of columns: the bits `C_j[v_j]` of the own items.
    fn group(&self, group: usize, items: &[u128], received: &[u128], bits: &mut [u128]) {
        let mut columns = Secret::new(vec![0; received.len()]);
        self.chosen.fill(group, &mut columns);
        let column_blocks = received.len() / COLUMNS_PER_GROUP;
        let secret = &self.secret[COLUMNS_PER_GROUP * group..];
        for ((column, received), mask) in
            columns.chunks_exact_mut(column_blocks).zip(received.chunks_exact(column_blocks)).zip(secret)
        {
            column.iter_mut().zip(received).for_each(|(block, received)| *block ^= received & mask);
        }
        self.keys.places.look_up(group, items, &columns, bits);
    }
}
