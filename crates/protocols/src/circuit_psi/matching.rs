//! Steps 1 to 8 of the figure without the payload's share: both sides of what all functionalities begin with.

use rand_core::Rng;
use vesica_mpc::bits::Bits;
use vesica_mpc::tasks::Programmed;
use vesica_mpc::{opprf, peqt};
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::hashing::CuckooTable;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Variant;
use super::bins::{Hashes, join, split};
use super::messages::Salt;
use super::params::{POSITIONS, Params};

/// The left column, set up. Empty where a set is.
pub(super) struct Sender<V: Variant> {
    params: Params,
    parts: Option<(Hashes, opprf::Sender<V::Okvs>, peqt::Sender)>,
}

/// The right column, set up. Empty where a set is.
pub(super) struct Receiver<V: Variant> {
    params: Params,
    parts: Option<(Hashes, opprf::Receiver<V::Okvs>, peqt::Receiver)>,
}

/// What the receiver has of each bin once the hint is there.
pub(super) struct Matched {
    /// Its item.
    pub(super) items: Vec<Option<u32>>,
    /// Its share of whether the item is common.
    pub(super) membership: Bits,
    /// What the hint carried if the item is common, else something random.
    pub(super) carried: Secret<Vec<u8>>,
}

impl<V: Variant> Sender<V> {
    /// Step 1, and all that needs no input.
    pub(super) fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let (Some(opprf), Some(peqt)) = (&params.opprf, &params.peqt) else { return Ok(Self { params: params.clone(), parts: None }) };
        let mut salt = [0; 32];
        rng.fill_bytes(&mut salt);
        ch.send(&Salt(salt))?;
        let hashes = Hashes::derive(ch, params, &salt);
        // The OPPRF comes last: its receiver leaves some of the set-up to its run.
        let phase = ch.phase(Phase::Equality);
        let peqt = peqt::Sender::setup(peqt, ch, rng)?;
        drop(phase);
        Ok(Self { params: params.clone(), parts: Some((hashes, opprf::Sender::setup(opprf, ch, rng)?, peqt)) })
    }

    /// Steps 3 to 8. `carry` says what the hint carries for an item (by number) in a bin. Gives the share of membership of each bin.
    pub(super) fn run(
        self,
        items: &[u128],
        carry: impl Fn(usize, usize, &mut [u8]),
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Bits, Abort> {
        let Self { params, parts } = self;
        let Some((hashes, opprf, peqt)) = parts else { return Ok(Bits::zeros(params.bins)) };
        // Step 3: bins need not be listed, an item's key in a bin is all that is used of it.
        let phase = ch.phase(Phase::HashItems);
        let positions = hashes.positions(items);
        let blocks = (params.sigma as usize + 8 * params.carried_bytes).div_ceil(128);
        let (r, count) = (peqt.values(), POSITIONS * items.len());
        let mut programmed = Programmed { keys: Vec::with_capacity(count), values: vec![0; blocks * count] };
        let mut carried = Secret::new(vec![0; params.carried_bytes]);
        for choice in 0..POSITIONS {
            programmed.keys.extend(hashes.keys(choice, items));
            // Steps 5 and 6.
            for (item, positions) in positions.iter().enumerate() {
                let bin = positions[choice] as usize;
                carry(item, bin, &mut carried);
                let values = &mut programmed.values;
                join(r[bin], params.sigma, &carried, |block, value| values[block * count + choice * items.len() + item] = value);
            }
        }
        drop(phase);
        opprf.run(programmed, ch, rng)?;
        // Step 8.
        let _phase = ch.phase(Phase::Equality);
        peqt.test(ch)
    }
}

impl<V: Variant> Receiver<V> {
    /// Step 1, and all that needs no input.
    pub(super) fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let (Some(opprf), Some(peqt)) = (&params.opprf, &params.peqt) else { return Ok(Self { params: params.clone(), parts: None }) };
        let Salt(salt) = ch.recv(())?;
        let hashes = Hashes::derive(ch, params, &salt);
        let phase = ch.phase(Phase::Equality);
        let peqt = peqt::Receiver::setup(peqt, ch, rng)?;
        drop(phase);
        Ok(Self { params: params.clone(), parts: Some((hashes, opprf::Receiver::setup(opprf, ch, rng)?, peqt)) })
    }

    /// Steps 2 and 4 to 8.
    pub(super) fn run(self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Matched, Abort> {
        let Self { params, parts } = self;
        let Some((hashes, opprf, peqt)) = parts else { return Ok(Self::unmatched(&params)) };
        // Step 2.
        let phase = ch.phase(Phase::HashItems);
        let table = CuckooTable::build(&hashes.positions(items), params.bins)
            .map_err(|_| Abort::StatisticalFailure("the receiver's items do not fit into their bins; items must be distinct"))?;
        let keys: [Vec<u128>; POSITIONS] = std::array::from_fn(|choice| hashes.keys(choice, items));
        let (mut placed, mut asked) = (vec![None; params.bins], Vec::with_capacity(items.len()));
        for (bin, placed) in placed.iter_mut().enumerate() {
            if let Some(entry) = table.bin(bin) {
                *placed = Some(entry.item);
                asked.push(keys[usize::from(entry.choice)][entry.item as usize]);
            }
        }
        drop(phase);
        // Steps 4 to 7. An empty bin takes something random, which is equal to r_i as rarely as the function's value at a key that nobody programmed.
        let outputs = opprf.run(asked, ch, rng)?;
        let (count, blocks, mut full) = (items.len(), outputs.values.len() / items.len(), 0);
        let mut r = Secret::new(vec![0; params.bins]);
        let mut carried = Secret::new(vec![0; params.bins * params.carried_bytes]);
        for (bin, r) in r.iter_mut().enumerate() {
            let carried = &mut carried[bin * params.carried_bytes..][..params.carried_bytes];
            if placed[bin].is_some() {
                *r = split(params.sigma, |block| outputs.values[block * count + full], blocks, carried);
                full += 1;
            } else {
                *r = rng.next_u64() >> (64 - params.sigma);
                rng.fill_bytes(carried);
            }
        }
        drop(outputs);
        // Step 8.
        let _phase = ch.phase(Phase::Equality);
        Ok(Matched { items: placed, membership: peqt.test(&r, ch)?, carried })
    }

    /// All items in bins where nothing can match: an item in the bin of its number.
    fn unmatched(params: &Params) -> Matched {
        Matched {
            items: (0..params.bins).map(|bin| (bin < params.receiver_items).then_some(bin as u32)).collect(),
            membership: Bits::zeros(params.bins),
            carried: Secret::new(vec![0; params.bins * params.carried_bytes]),
        }
    }
}
