//! The pieces of all circuit PSI around steps 4, 6 and 7, and the receiver's view of it all.

use vesica_mpc::tasks::PrfOutputs;
use vesica_party::{Abort, Channel, Party};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;

use super::{Params, Receiver, Sender, View};
use vesica_protocols::circuit_psi::bins::Hashes;
use vesica_protocols::circuit_psi::matching;
use vesica_protocols::circuit_psi::params::{POSITIONS, one_run};
use vesica_protocols::circuit_psi::{self, Asked, BinOpprf, Matched, OpprfSizes, Pairs};

/// Steps 4, 6 and 7. Empty bins are filled with random keys, as the figure has it.
#[derive(Clone, Copy, Debug)]
pub enum BrokenOpprf {}

impl BinOpprf for BrokenOpprf {
    type Params = Params;
    type Sender = Sender;
    type Receiver = Receiver;

    /// `l` leaves `2^-40` for all pairs of keys, and so next to nothing for one key of the
    /// receiver's; the paper does not count it either.
    fn failure(_sender_keys: usize) -> u128 {
        0
    }

    fn derive(sizes: &OpprfSizes) -> Result<Params, Unsupported> {
        one_run(sizes.runs)?;
        Params::derive(sizes.bins, sizes.sender_keys, sizes.output_bits, sizes.okvs)
    }

    fn predicted_bytes(params: &Params) -> u64 {
        params.predicted_bytes()
    }

    fn program(sender: Sender, pairs: Pairs, ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        sender.run(pairs.programmed, ch, rng)
    }

    fn ask(receiver: Receiver, asked: Asked, ch: &mut Channel, rng: &mut SecretRng) -> Result<PrfOutputs, Abort> {
        Ok(ask_observed(receiver, asked, ch, rng)?.0)
    }
}

/// A value for each key that is asked for, and the view.
fn ask_observed(
    receiver: Receiver,
    asked: Asked,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(PrfOutputs, View), Abort> {
    let bins = receiver.keys();
    let keys = asked.in_all_bins(bins, rng);
    let (outputs, view) = receiver.run_observed(keys, ch, rng)?;
    let blocks = outputs.values.chunks(bins);
    let values = blocks.flat_map(|block| asked.bins.iter().map(|&bin| block[bin as usize])).collect();
    Ok((PrfOutputs { values }, view))
}

/// The receiver's view of Figure 16 up to the tests.
pub struct BinsView {
    hashes: Hashes,
    /// That of steps 4, 6 and 7.
    pub opprf: View,
    /// The receiver's item in each bin, by number.
    pub items: Vec<Option<u32>>,
}

impl BinsView {
    /// Runs the receiver, from its set-up to the tests, and keeps its view: its shares, and nothing
    /// besides where a set is empty.
    ///
    /// # Errors
    /// As the row's.
    pub fn observe(
        params: &circuit_psi::Params<Params>,
        items: &[u128],
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(Matched, Option<Self>), Abort> {
        let receiver = matching::Receiver::<BrokenOpprf>::setup(params, ch, rng)?;
        let (matched, besides) = receiver.run_with(items, ask_observed, ch, rng)?;
        let view = besides.map(|(hashes, opprf)| Self { hashes, opprf, items: matched.items.clone() });
        Ok((matched, view))
    }

    /// The three bins of each of these items, and its key in each.
    pub fn places(&self, items: &[u128]) -> Vec<[(u32, u128); POSITIONS]> {
        let keys: [Vec<u128>; POSITIONS] = std::array::from_fn(|choice| self.hashes.keys(choice, items));
        let places = self.hashes.positions(items).into_iter().enumerate();
        places.map(|(i, bins)| std::array::from_fn(|choice| (bins[choice], keys[choice][i]))).collect()
    }
}
