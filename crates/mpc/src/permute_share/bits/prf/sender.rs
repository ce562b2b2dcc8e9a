//! The left column of the figure: the side that has the bits and the key.

use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use zeroize::Zeroize;

use super::batch::{Batch, STRIPES, WORDS};
use super::convert::answer;
use super::function::{Function, Space, key_masks};
use super::messages::{Answers, Inputs, Masked, Turns};
use super::params::{KEY, KEY_BITS, MIDDLE, Params};
use super::trits::{NUMBERS, masked, random, sum, unpack};
use crate::ot_extension;
use crate::permute_share::bits::words::Words;
use crate::random_one_of_n_ot::each_batch_of_tables;
use crate::tasks::BitsToPermute;

/// The sender, set up.
pub struct Sender {
    params: Params,
    /// Nothing if no bit comes out.
    pub(super) parts: Option<Parts>,
}

/// What the sender holds after the set-up.
pub(super) struct Parts {
    function: Function,
    /// The key, 128 bits a block.
    pub(super) key: Secret<Vec<u128>>,
    /// For each key bit the seed that it chose.
    pub(super) seeds: Secret<Vec<u128>>,
    /// The four bits of each random table.
    pub(super) tables: [Words; 4],
}

impl Party for Sender {
    type Params = Params;
    type Input = BitsToPermute;
    type Output = ();

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        if params.kept == 0 {
            return Ok(Self { params: *params, parts: None });
        }
        let mut key = ch.reversed(|ch| ot_extension::receiver(&KEY, ch, rng))?;
        let seeds = key.chosen(KEY_BITS);
        let bits = std::mem::replace(&mut key.bits, Secret::new(Vec::new()));

        let mut tables = [(); 4].map(|()| Words::zeros(params.tables.len));
        each_batch_of_tables(&params.tables, ch, rng, |first, made| {
            for (entry, tables) in tables.iter_mut().enumerate() {
                tables.fill(first, made, |table: u16| (table >> entry).into());
            }
        })?;
        let parts = Parts { function: Function::new(key.binding), key: bits, seeds, tables };
        Ok(Self { params: *params, parts: Some(parts) })
    }

    fn run(self, input: BitsToPermute, ch: &mut Channel, _: &mut SecretRng) -> Result<(), Abort> {
        let Self { params: Params { len, kept, .. }, parts } = self;
        input.check(len, kept)?;
        let Some(Parts { function, key, seeds, tables }) = parts else { return Ok(()) };
        let _phase = ch.phase(Phase::Permute);

        let mut bits = Words::zeros(len + kept);
        function.add_outputs(&key, len, &mut bits);
        bits.add_all(&input.values);
        bits.add_all_at(len, &input.shares);

        let all_answers = Batch::all(kept).map(|batch| MIDDLE * batch.all_words()).sum();
        let (mut space, mut answers) = (Space::new(), Vec::with_capacity(all_answers));
        let mut numbers = Vec::new();
        for batch in Batch::all(kept) {
            // Step 1.
            numbers.resize(KEY_BITS * 64 * batch.words, 0);
            ch.recv_stream::<Inputs>(&mut numbers)?;
            if numbers.iter().any(|&number| number >= NUMBERS) {
                return Err(Abort::PeerMisbehaved(Inputs::STEP, "a byte above 242, which is not five trits"));
            }
            let received = numbers.chunks_exact(64 * batch.words).zip(key_masks(&key));
            for (((j, seed), trits), (numbers, mask)) in
                (0..).zip(seeds.iter()).zip(space.inputs.iter_mut()).zip(received)
            {
                let (mut own, sent) = (random(*seed, batch.counter(j), batch.words), unpack(numbers));
                let mut products = sent.map(|stripe| masked(&stripe, mask));
                *trits = std::array::from_fn(|stripe| sum(&own[stripe], &products[stripe]));
                own.zeroize();
                products.zeroize();
            }

            // Step 2.
            let mut turns = vec![0; 2 * MIDDLE * batch.all_words()];
            ch.recv_stream::<Turns>(&mut turns)?;
            let first = Params::tables_of(&batch, 0, 0, 0);
            let (turns, _) = turns.as_chunks::<2>();
            // Those of step 3.
            let mut sent = vec![[0; 2]; turns.len()];
            let mut sums = [[0; WORDS]; STRIPES];
            for (stripe, sums) in sums.iter_mut().enumerate() {
                function.matrix.times(&space.inputs, stripe, &mut space.product);
                for (row, trits) in space.product.iter().enumerate() {
                    for (word, sum) in sums[..batch.words].iter_mut().enumerate() {
                        let at = Params::tables_of(&batch, row, stripe, word);
                        let table = tables.each_ref().map(|entries| entries.word_at(64 * at));
                        let (share, answers) = answer(table, turns[at - first], trits.map(|plane| plane[word]));
                        sent[at - first] = answers;
                        *sum ^= share;
                    }
                }
            }
            answers.extend_from_slice(&sent);
            batch.each_word(|stripe, word, at, used| bits.add(len + at, sums[stripe][word] & used));
            sums.zeroize();
        }
        // Step 3.
        ch.send_stream::<Answers>(answers.as_flattened())?;
        // Step 4.
        bits.send::<Masked>(len + kept, ch)
    }
}
