//! The right column.

use vesica_mpc::gmw::Evaluator;
use vesica_mpc::inner_product;
use vesica_mpc::share_conversion::{BitsReceiver, MultiplexReceiver};
use vesica_mpc::tasks::{RingVectors, SharedBits, SharedRows};
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::Opened;
use super::{Params, threshold};
use crate::circuit_psi::Matching;
use crate::tasks::{AggregateOutput, AggregateReceiverInput};

/// The receiver, set up.
pub struct Receiver<M: Matching> {
    params: Params<M::Parts>,
    count: Option<BitsReceiver>,
    columns: Option<MultiplexReceiver<u64>>,
    products: Vec<inner_product::Receiver>,
    circuit: Option<Evaluator>,
    matching: M::Receiver,
}

impl<M: Matching> Party for Receiver<M> {
    type Params = Params<M::Parts>;
    type Input = AggregateReceiverInput;
    type Output = AggregateOutput;

    fn setup(params: &Params<M::Parts>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self {
            params: params.clone(),
            count: params.count.as_ref().map(|count| BitsReceiver::setup(count, ch, rng)).transpose()?,
            columns: params.columns.as_ref().map(|columns| MultiplexReceiver::setup(columns, ch, rng)).transpose()?,
            products: params
                .products
                .iter()
                .map(|product| inner_product::Receiver::setup(product, ch, rng))
                .collect::<Result<_, _>>()?,
            circuit: params.circuit.as_ref().map(|circuit| Evaluator::setup(circuit, ch, rng)).transpose()?,
            matching: M::receiver(&params.matching, ch, rng)?,
        })
    }

    fn run(
        self,
        input: AggregateReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<AggregateOutput, Abort> {
        let Self { params, count, columns, products, circuit, matching } = self;
        input.check(&params.request, params.valued)?;
        let (groups, width) = (params.request.groups, params.request.columns);
        if params.is_silent() {
            return Ok(AggregateOutput { groups: vec![Some(vec![0; params.request.results()]); groups] });
        }
        let matched = M::receive(matching, &input.items, ch, rng)?;
        let bits: Vec<bool> = matched.membership.iter().collect();

        // Shares of the bins, total after total.
        let _phase = ch.phase(Phase::Payload);
        let mut bins: Vec<Secret<Vec<u64>>> = Vec::with_capacity(params.totals());
        if let Some(columns) = columns {
            let values = matched.carried.as_chunks::<8>().0.iter().map(|value| u64::from_le_bytes(*value)).collect();
            let shares = columns.run(SharedRows { bits: bits.clone(), values }, ch, rng)?;
            bins.extend(
                (0..width)
                    .map(|column| Secret::new(shares.values.iter().skip(column).step_by(width).copied().collect())),
            );
        }
        if let Some(count) = count {
            bins.push(Secret::new(count.run(SharedBits { bits }, ch, rng)?.values.clone()));
        }

        // Shares of the groups' totals: what the inner product with the sender's share gives, and that with
        // the own one.
        let mut totals: Vec<Vec<u64>> = Vec::with_capacity(params.totals());
        if products.is_empty() {
            totals.extend(bins.iter().map(|bins| vec![bins.iter().fold(0u64, |sum, &share| sum.wrapping_add(share))]));
        }
        for (total, (product, bins)) in products.into_iter().zip(&bins).enumerate() {
            let weighted = total < params.request.results();
            let vectors = RingVectors { vectors: vectors(&params, &input, &matched.items, weighted) };
            let own: Vec<u64> = vectors.vectors.iter().map(|vector| inner(vector, bins)).collect();
            let shares = product.run(vectors, ch, rng)?;
            totals.push(shares.values.iter().zip(own).map(|(share, own)| share.wrapping_add(own)).collect());
        }
        totals.resize(params.totals(), vec![0; groups]);
        totals.iter_mut().flatten().for_each(|share| *share = params.over.receiver_share(*share));

        let opened = &totals[..params.request.opened()];
        let Some(circuit) = circuit else {
            // Step 9.
            let Opened(shares) = ch.recv(params.opened())?;
            let low = u64::MAX >> (64 - params.result_bits());
            let group = |(group, theirs): (usize, &[u64])| {
                Some(theirs.iter().zip(opened).map(|(theirs, own)| theirs.wrapping_add(own[group]) & low).collect())
            };
            return Ok(AggregateOutput { groups: shares.chunks(opened.len()).enumerate().map(group).collect() });
        };
        let counts = totals.last().map_or(&[][..], |counts| &counts[..]);
        let results: Vec<&[u64]> = opened.iter().map(Vec::as_slice).collect();
        threshold::receive(circuit, &results, counts, params.bits(), ch, rng)
    }
}

/// For each group: the value of each bin's item, or 1, if the item is in the group, else 0.
fn vectors<P>(
    params: &Params<P>,
    input: &AggregateReceiverInput,
    items: &[Option<u32>],
    weighted: bool,
) -> Vec<Vec<u64>> {
    let mut vectors = vec![vec![0; params.matching.bins]; params.request.groups];
    for (bin, item) in items.iter().enumerate() {
        if let Some(item) = item.map(|item| item as usize) {
            let group = input.groups.get(item).map_or(0, |&group| group as usize);
            vectors[group][bin] = if weighted { input.values.get(item).copied().unwrap_or(1) } else { 1 };
        }
    }
    vectors
}

fn inner(a: &[u64], b: &[u64]) -> u64 {
    a.iter().zip(b).fold(0, |sum, (a, b)| sum.wrapping_add(a.wrapping_mul(*b)))
}
