//! The left column of the figure.

use curve25519_dalek::scalar::Scalar;
use rayon::prelude::*;
use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::rlwe::{BLOCK, Key, Public, SUM_ELEMENTS};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::DIGEST_CONTEXT;
use super::messages::{Arrows, Digests, Results, Sums, Values, Zeros};
use super::params::Params;
use vesica_protocols::ecdh::digests::{self, digests};
use vesica_protocols::ecdh::{exchange, random_exponent, shuffled};
use vesica_protocols::tasks::AggregateSenderInput;

/// The sender, with its blinding `a` and its key.
#[derive(Debug)]
pub struct Sender {
    params: Params,
    exponent: Secret<Scalar>,
    key: Key,
}

impl Party for Sender {
    type Params = Params;
    type Input = AggregateSenderInput;
    type Output = ();

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let exponent = random_exponent(rng);
        let key = Key::new(Public::new(&ch.session()), rng);
        // Step 1.
        if !params.is_empty() {
            ch.send_stream::<Zeros>(&key.zeros(rng))?;
        }
        Ok(Self { params: params.clone(), exponent, key })
    }

    fn run(self, input: AggregateSenderInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        let request = &self.params.request;
        input.check(request)?;
        let mut results = vec![0; request.columns];
        if !self.params.is_empty() {
            // Steps 2 and 3.
            let (order, items) = shuffled(&input.items, rng);
            let points = exchange::sender::<Arrows>(&items, request.receiver_items, &self.exponent, ch)?;

            // Step 4.
            let digests = digests(DIGEST_CONTEXT, &ch.session(), points.chunks());
            digests::send::<Digests>(&digests, self.params.digest_bits, ch)?;

            let _phase = ch.phase(Phase::Payload);
            // Step 5.
            for column in 0..request.columns {
                self.send_column(column, &input.values, &order, ch, rng)?;
            }

            // Step 6.
            for result in &mut results {
                let mut sum = vec![[0; 2]; SUM_ELEMENTS];
                ch.recv_stream::<Sums>(&mut sum)?;
                *result =
                    self.key.decrypt(&sum).ok_or(Abort::PeerMisbehaved(Sums::STEP, "a sum that is no ciphertext"))?;
            }
        }

        // Step 7.
        ch.send_stream::<Results>(&results)
    }
}

impl Sender {
    /// Encrypts and sends a column, some blocks for each thread at a time.
    fn send_column(
        &self,
        column: usize,
        values: &[u64],
        order: &[u32],
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(), Abort> {
        let columns = self.params.request.columns;
        let mut first = 0;
        for order in order.chunks(BLOCK * rayon::current_num_threads()) {
            let jobs: Vec<(usize, &[u32], SecretRng)> =
                order.chunks(BLOCK).enumerate().map(|(block, order)| (first + block, order, rng.child())).collect();
            first += jobs.len();
            let encrypted = jobs.into_par_iter().map(|(block, order, mut rng)| {
                let values: Secret<Vec<u64>> =
                    Secret::new(order.iter().map(|&item| values[item as usize * columns + column]).collect());
                self.key.encrypt(self.params.block_number(column, block), &values, &mut rng)
            });
            for block in encrypted.collect::<Vec<_>>() {
                ch.send_stream::<Values>(&block)?;
            }
        }
        Ok(())
    }
}
