//! The right column of the figure: the side that has the order.

use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use zeroize::Zeroize;

use super::batch::{Batch, STRIPES, WORDS};
use super::convert::{share, turn};
use super::function::{Function, Space};
use super::messages::{Answers, Inputs, Masked, Turns};
use super::params::{KEY, KEY_BITS, MIDDLE, Params};
use super::trits::{negated, pack, random, sum};
use crate::bits::Bits;
use crate::ot_extension;
use crate::permute_share::bits::params::check_order;
use crate::permute_share::bits::words::Words;
use crate::random_one_of_n_ot::each_batch_of_entries;
use crate::tasks::OtPairs;

/// The receiver, set up.
pub struct Receiver {
    params: Params,
    /// Nothing if no bit comes out.
    pub(super) parts: Option<Parts>,
}

/// What the receiver holds after the set-up.
pub(super) struct Parts {
    function: Function,
    /// For each key bit both seeds.
    pub(super) seeds: OtPairs,
    /// The two bits of each random table's choice.
    pub(super) choices: [Words; 2],
    /// The table's bit there.
    pub(super) chosen: Words,
}

impl Party for Receiver {
    type Params = Params;
    type Input = Vec<u32>;
    type Output = Bits;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        if params.kept == 0 {
            return Ok(Self { params: *params, parts: None });
        }
        let key = ch.reversed(|ch| ot_extension::sender(&KEY, ch, rng))?;
        let seeds = key.pairs(KEY_BITS);

        let len = params.tables.len;
        let (mut choices, mut chosen) = ([(); 2].map(|()| Words::zeros(len)), Words::zeros(len));
        each_batch_of_entries(&params.tables, ch, rng, |first, made| {
            for (bit, choices) in choices.iter_mut().enumerate() {
                choices.fill(first, made, |entry: u8| (entry >> bit).into());
            }
            chosen.fill(first, made, |entry| (entry >> 7).into());
        })?;
        let parts = Parts { function: Function::new(key.binding), seeds, choices, chosen };
        Ok(Self { params: *params, parts: Some(parts) })
    }

    fn run(self, order: Vec<u32>, ch: &mut Channel, _: &mut SecretRng) -> Result<Bits, Abort> {
        let (Self { params: Params { len, kept, .. }, parts }, order) = (self, Secret::new(order));
        check_order(&order, len)?;
        let Some(Parts { function, seeds, choices: mut own, chosen }) = parts else { return Ok(Bits::default()) };
        let _phase = ch.phase(Phase::Permute);

        let (mut space, mut planes) = (Space::new(), Secret::new(vec![[[0; WORDS]; STRIPES]; KEY_BITS]));
        let mut numbers = Vec::new();
        for batch in Batch::all(kept) {
            // Step 1.
            function.inputs(&batch, |evaluation| order[evaluation] as usize, &mut planes);
            numbers.resize(KEY_BITS * 64 * batch.words, 0);
            let sent = numbers.chunks_exact_mut(64 * batch.words).zip(planes.iter());
            for (((j, pair), trits), (numbers, ones)) in (0..).zip(&seeds.pairs).zip(space.inputs.iter_mut()).zip(sent)
            {
                let mut both = pair.map(|seed| random(seed, batch.counter(j), batch.words));
                let [zero, one] = &both;
                let masked = std::array::from_fn(|stripe| {
                    sum(&sum(&zero[stripe], &negated(&one[stripe])), &[ones[stripe], [0; WORDS]])
                });
                pack(&masked, numbers);
                *trits = *zero;
                both.zeroize();
            }
            ch.send_stream::<Inputs>(&numbers)?;

            // Step 2.
            let first = Params::tables_of(&batch, 0, 0, 0);
            let mut turns = vec![[0; 2]; MIDDLE * batch.all_words()];
            for stripe in 0..STRIPES {
                function.matrix.times(&space.inputs, stripe, &mut space.product);
                for (row, trits) in space.product.iter().enumerate() {
                    for (plane, trits) in negated(trits).iter().enumerate() {
                        for (word, &trits) in trits[..batch.words].iter().enumerate() {
                            let at = Params::tables_of(&batch, row, stripe, word);
                            let turn = turn(own[plane].word_at(64 * at), trits);
                            // The choice has served: from now on the own trits stand here.
                            own[plane].add(64 * at, turn);
                            turns[at - first][plane] = turn;
                        }
                    }
                }
            }
            ch.send_stream::<Turns>(turns.as_flattened())?;
        }

        let mut shares = Words::zeros(kept);
        for batch in Batch::all(kept) {
            // Step 3.
            let mut answers = vec![[0; 2]; MIDDLE * batch.all_words()];
            ch.recv_stream::<Answers>(answers.as_flattened_mut())?;
            let first = Params::tables_of(&batch, 0, 0, 0);
            let mut sums = [[0; WORDS]; STRIPES];
            for row in 0..MIDDLE {
                for (stripe, sums) in sums.iter_mut().enumerate() {
                    for (word, sum) in sums[..batch.words].iter_mut().enumerate() {
                        let at = Params::tables_of(&batch, row, stripe, word);
                        let trits = own.each_ref().map(|plane| plane.word_at(64 * at));
                        *sum ^= share(chosen.word_at(64 * at), trits, answers[at - first]);
                    }
                }
            }
            batch.each_word(|stripe, word, at, used| shares.add(at, sums[stripe][word] & used));
            sums.zeroize();
        }
        // Step 4.
        let masked = Words::receive::<Masked>(len + kept, ch)?;
        shares.add_all(&masked.part(len, kept));
        shares.fill(0, &order[..kept], |bit| masked.word_at(bit as usize));
        Ok(shares.first(kept))
    }
}
