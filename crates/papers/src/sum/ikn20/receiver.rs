//! The right column of the figure.

use curve25519_dalek::scalar::Scalar;
use rand_core::Rng;
use rayon::prelude::*;
use vesica_mpc::bits::Bits;
use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::rlwe::{BLOCK, Choice, Element, Public, Sum, are_elements};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::DIGEST_CONTEXT;
use super::messages::{Arrows, Digests, Results, Sums, Values, Zeros};
use super::params::Params;
use vesica_protocols::ecdh::digests::{self, digests};
use vesica_protocols::ecdh::{exchange, random_exponent};
use vesica_protocols::tasks::{AggregateOutput, AggregateReceiverInput};

/// The receiver, with its blinding `b` and the sender's encryption of zeros.
#[derive(Debug)]
pub struct Receiver {
    params: Params,
    exponent: Secret<Scalar>,
    zeros: Vec<Element>,
}

impl Party for Receiver {
    type Params = Params;
    type Input = AggregateReceiverInput;
    type Output = AggregateOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let exponent = random_exponent(rng);
        // Step 1.
        let mut zeros = Vec::new();
        if !params.is_empty() {
            zeros.resize(BLOCK, [0; 2]);
            receive_elements::<Zeros>(&mut zeros, ch)?;
        }
        Ok(Self { params: params.clone(), exponent, zeros })
    }

    fn run(
        self,
        input: AggregateReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<AggregateOutput, Abort> {
        let request = &self.params.request;
        input.check(request, false)?;
        let masks: Secret<Vec<u64>> = Secret::new((0..request.columns).map(|_| rng.next_u64()).collect());
        if !self.params.is_empty() {
            // Steps 2 and 3.
            let points = exchange::receiver::<Arrows>(&input.items, request.sender_items, &self.exponent, ch)?;

            // Step 4.
            let own = digests(DIGEST_CONTEXT, &ch.session(), points.chunks());
            let found = digests::find::<Digests>(&own, request.receiver_items, self.params.digest_bits, ch)?;

            let _phase = ch.phase(Phase::Payload);
            // Step 5.
            let public = Public::new(&ch.session());
            let mut sums = self.public_halves(public, &found);
            for sum in &mut sums {
                self.add_column(sum, &found, ch)?;
            }

            // Step 6.
            for (sum, &mask) in sums.into_iter().zip(masks.iter()) {
                ch.send_stream::<Sums>(&sum.finish(public, &self.zeros, mask, self.params.flood_bits, rng))?;
            }
        }

        // Step 7.
        let mut results = vec![0u64; request.columns];
        ch.recv_stream::<Results>(&mut results)?;
        if !self.params.is_empty() {
            for (result, mask) in results.iter_mut().zip(masks.iter()) {
                *result = result.wrapping_sub(*mask);
            }
        }
        Ok(AggregateOutput::one(results))
    }
}

impl Receiver {
    /// What the sums of the values that were `found` need of the public polynomials, a sum a
    /// column.
    fn public_halves(&self, public: Public, found: &Bits) -> Vec<Sum> {
        let columns = self.params.request.columns;
        // Blocks without a common item, too: how long this takes must not show how many there are.
        let blocks = self.params.request.sender_items.div_ceil(BLOCK);
        let none = || (0..columns).map(|_| Sum::default()).collect::<Vec<Sum>>();
        let add_block = |mut sums: Vec<Sum>, block: usize| {
            let choice =
                Choice::new((block * BLOCK..found.len().min((block + 1) * BLOCK)).map(|place| found.get(place)));
            for (column, sum) in sums.iter_mut().enumerate() {
                sum.add_public(public, self.params.block_number(column, block), &choice);
            }
            sums
        };
        let add_all = |mut sums: Vec<Sum>, others: Vec<Sum>| {
            sums.iter_mut().zip(&others).for_each(|(sum, other)| sum.add(other));
            sums
        };
        (0..blocks).into_par_iter().fold(none, add_block).reduce(none, add_all)
    }

    /// Receives a column and adds up its values that were `found`.
    fn add_column(&self, sum: &mut Sum, found: &Bits, ch: &mut Channel) -> Result<(), Abort> {
        let mut values = vec![[0; 2]; BLOCK];
        for first in (0..self.params.request.sender_items).step_by(BLOCK) {
            values.truncate(self.params.request.sender_items - first);
            receive_elements::<Values>(&mut values, ch)?;
            for (place, value) in (first..).zip(&values) {
                sum.add_if(found.get(place), value);
            }
        }
        Ok(())
    }
}

/// Receives elements of the ciphertexts' ring, and nothing else.
fn receive_elements<S: Stream<Element = Element>>(elements: &mut [Element], ch: &mut Channel) -> Result<(), Abort> {
    ch.recv_stream::<S>(elements)?;
    if are_elements(elements) { Ok(()) } else { Err(Abort::PeerMisbehaved(S::STEP, "a number that is no residue")) }
}
