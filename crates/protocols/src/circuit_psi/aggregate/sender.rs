//! The left column.

use vesica_mpc::gmw::Evaluator;
use vesica_mpc::inner_product;
use vesica_mpc::share_conversion::{BitsSender, MultiplexSender};
use vesica_mpc::tasks::{RingVector, SharedBits};
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::Opened;
use super::{Params, threshold};
use crate::circuit_psi::Matching;
use crate::tasks::AggregateSenderInput;

/// The sender, set up.
pub struct Sender<M: Matching> {
    params: Params<M::Parts>,
    count: Option<BitsSender>,
    columns: Option<MultiplexSender<u64>>,
    products: Vec<inner_product::Sender>,
    circuit: Option<Evaluator>,
    matching: M::Sender,
}

impl<M: Matching> Party for Sender<M> {
    type Params = Params<M::Parts>;
    type Input = AggregateSenderInput;
    type Output = ();

    fn setup(params: &Params<M::Parts>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self {
            params: params.clone(),
            count: params.count.as_ref().map(|count| BitsSender::setup(count, ch, rng)).transpose()?,
            columns: params.columns.as_ref().map(|columns| MultiplexSender::setup(columns, ch, rng)).transpose()?,
            products: params
                .products
                .iter()
                .map(|product| inner_product::Sender::setup(product, ch, rng))
                .collect::<Result<_, _>>()?,
            circuit: params.circuit.as_ref().map(|circuit| Evaluator::setup(circuit, ch, rng)).transpose()?,
            // Last: the matching's receiver leaves some of its set-up to its run.
            matching: M::sender(&params.matching, ch, rng)?,
        })
    }

    fn run(self, mut input: AggregateSenderInput, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        let Self { params, count, columns, products, circuit, matching } = self;
        input.check(&params.request)?;
        // Whoever reads the noise later reads the exact results.
        let noise = Secret::new(std::mem::take(&mut input.noise));
        if params.is_silent() {
            return Ok(());
        }
        let width = params.request.columns;
        // Step 5: the hint carries x + tau.
        let masks = columns.as_ref().map_or(&[][..], MultiplexSender::masks);
        let carry = |item: usize, bin: usize, out: &mut [u8]| {
            let values = input.values[item * width..][..width].iter().zip(&masks[bin * width..][..width]);
            for (out, (value, mask)) in out.as_chunks_mut::<8>().0.iter_mut().zip(values) {
                *out = value.wrapping_add(*mask).to_le_bytes();
            }
        };
        let bits: Vec<bool> = M::send(matching, &input.items, &carry, ch, rng)?.iter().collect();

        // Shares of the bins, total after total.
        let _phase = ch.phase(Phase::Payload);
        let mut bins: Vec<Secret<Vec<u64>>> = Vec::with_capacity(params.totals());
        if let Some(columns) = columns {
            let shares = columns.multiply(&bits, ch)?;
            bins.extend(
                (0..width)
                    .map(|column| Secret::new(shares.values.iter().skip(column).step_by(width).copied().collect())),
            );
        }
        if let Some(count) = count {
            bins.push(Secret::new(count.run(SharedBits { bits }, ch, rng)?.values.clone()));
        }

        // Shares of the groups' totals.
        let mut totals: Vec<Secret<Vec<u64>>> = Vec::with_capacity(params.totals());
        if products.is_empty() {
            totals.extend(
                bins.iter()
                    .map(|bins| Secret::new(vec![bins.iter().fold(0u64, |sum, &share| sum.wrapping_add(share))])),
            );
        }
        for (product, bins) in products.into_iter().zip(&mut bins) {
            totals.push(Secret::new(product.run(RingVector { values: std::mem::take(bins) }, ch, rng)?.values.clone()));
        }
        // Nothing is common where a set is empty.
        totals.resize_with(params.totals(), || Secret::new(vec![0; params.request.groups]));
        let of_all = input.sums(width).into_iter().chain([input.counted()]);
        for (total, of_all) in totals.iter_mut().zip(of_all) {
            total.iter_mut().for_each(|share| *share = params.over.sender_share(*share, of_all));
        }

        // The threshold goes by the exact count, also where the count is the result that gets noise.
        let counts = Secret::new(totals.last().map_or_else(Vec::new, |counts| counts.to_vec()));
        let opened = &mut totals[..params.request.opened()];
        for (group, noise) in noise.chunks(params.request.opened()).enumerate() {
            opened.iter_mut().zip(noise).for_each(|(opened, noise)| opened[group] = opened[group].wrapping_add(*noise));
        }
        let Some(circuit) = circuit else {
            // Step 9.
            let low = u64::MAX >> (64 - params.result_bits());
            let shares =
                (0..params.request.groups).flat_map(|group| opened.iter().map(move |opened| opened[group] & low));
            return ch.send(&Opened(shares.collect()));
        };
        let results: Vec<&[u64]> = opened.iter().map(|result| result.as_slice()).collect();
        threshold::send(circuit, &results, &counts, params.bits(), ch, rng)
    }
}
