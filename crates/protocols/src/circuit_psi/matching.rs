//! Steps 1 to 8 of the figure without the multiplexer, around an OPPRF. All functionalities begin
//! with them.

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use rand_core::Rng;
use vesica_mpc::bits::Bits;
use vesica_mpc::peqt;
use vesica_mpc::tasks::{PrfOutputs, Programmed};
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::facts::Unsupported;
use vesica_structures::hashing::CuckooTable;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::bins::{Hashes, join, split};
use super::messages::Salt;
use super::params::{POSITIONS, Params};
use super::{Asked, BinOpprf, Carry, Matched, Matching, MatchingRequest, Pairs};

/// Steps 1 to 8 with one equality test a bin, after the OPPRF `O`.
pub struct OpprfMatching<O>(PhantomData<fn() -> O>);

/// The left column, set up. Empty where a set is.
pub struct Sender<O: BinOpprf> {
    params: Params<O::Params>,
    parts: Option<(Hashes, O::Sender, peqt::Sender)>,
}

/// The right column, set up. Empty where a set is.
pub struct Receiver<O: BinOpprf> {
    params: Params<O::Params>,
    parts: Option<(Hashes, O::Receiver, peqt::Receiver)>,
}

/// The sender's side of step 1.
pub fn send_salt<P>(params: &Params<P>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Hashes, Abort> {
    let mut salt = [0; 32];
    rng.fill_bytes(&mut salt);
    ch.send(&Salt(salt))?;
    Ok(Hashes::derive(ch, params, &salt))
}

/// The receiver's side of step 1.
pub fn receive_salt<P>(params: &Params<P>, ch: &mut Channel) -> Result<Hashes, Abort> {
    let Salt(salt) = ch.recv(())?;
    Ok(Hashes::derive(ch, params, &salt))
}

/// Steps 3, 5 and 6: the pairs of all items in each of their bins, the values `r[bin]`, of `width`
/// bits, and what `carry` says of an item (by number) in a bin. Bins need not be listed, an
/// item's key in a bin is all that is used of it.
pub fn pairs(
    hashes: &Hashes,
    items: &[u128],
    (r, width): (impl Fn(usize) -> u128, u32),
    carried_bytes: usize,
    carry: impl Fn(usize, usize, &mut [u8]),
) -> Pairs {
    let positions = hashes.positions(items);
    let blocks = (width as usize + 8 * carried_bytes).div_ceil(128);
    let count = POSITIONS * items.len();
    let mut programmed = Programmed { keys: Vec::with_capacity(count), values: vec![0; blocks * count] };
    let mut bins = Vec::with_capacity(count);
    let mut carried = Secret::new(vec![0; carried_bytes]);
    for choice in 0..POSITIONS {
        programmed.keys.extend(hashes.keys(choice, items));
        for (item, positions) in positions.iter().enumerate() {
            let bin = positions[choice] as usize;
            bins.push(positions[choice]);
            carry(item, bin, &mut carried);
            let values = &mut programmed.values;
            join(r(bin), width, &carried, |block, value| values[block * count + choice * items.len() + item] = value);
        }
    }
    Pairs { bins, programmed }
}

/// Step 2: the item in each bin, and what is asked of the full ones.
pub fn place(hashes: &Hashes, items: &[u128], bins: usize) -> Result<(Vec<Option<u32>>, Asked), Abort> {
    let table = CuckooTable::build_vartime(&hashes.positions(items), bins).map_err(|_| {
        Abort::StatisticalFailure("the items of the side with the bins do not fit into them; items must be distinct")
    })?;
    let keys: [Secret<Vec<u128>>; POSITIONS] = std::array::from_fn(|choice| Secret::new(hashes.keys(choice, items)));
    let mut placed = vec![None; bins];
    let mut asked = Asked { bins: Vec::with_capacity(items.len()), keys: Secret::new(Vec::with_capacity(items.len())) };
    for (bin, placed) in placed.iter_mut().enumerate() {
        if let Some(entry) = table.bin(bin) {
            *placed = Some(entry.item);
            asked.bins.push(bin as u32);
            asked.keys.push(keys[usize::from(entry.choice)][entry.item as usize]);
        }
    }
    Ok((placed, asked))
}

/// The receiver's outcome where nothing can match: an item in the bin of its number.
pub fn unmatched<P>(params: &Params<P>) -> Matched {
    Matched {
        items: (0..params.bins).map(|bin| (bin < params.receiver_items).then_some(bin as u32)).collect(),
        membership: Bits::zeros(params.bins),
        carried: Secret::new(vec![0; params.bins * params.carried_bytes]),
    }
}

/// Step 5: `tau_i` of all bins, and what the hint then carries for an item in a bin.
pub fn masked<'a>(payloads: &'a [u8], own: usize, masks: &'a [u8]) -> impl Fn(usize, usize, &mut [u8]) {
    move |item: usize, bin: usize, out: &mut [u8]| {
        let payload = payloads[item * own..][..own].iter().zip(&masks[bin * own..][..own]);
        out.iter_mut().zip(payload).for_each(|(out, (payload, mask))| *out = payload ^ mask);
    }
}

impl<O: BinOpprf> Sender<O> {
    /// Step 1, and all that needs no input.
    pub fn setup(params: &Params<O::Params>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let Some((opprf, peqt)) = &params.parts else { return Ok(Self { params: params.clone(), parts: None }) };
        let hashes = send_salt(params, ch, rng)?;
        // The OPPRF comes last: its receiver leaves some of the set-up to its run.
        let phase = ch.phase(Phase::Equality);
        let peqt = peqt::Sender::setup(peqt, ch, rng)?;
        drop(phase);
        Ok(Self { params: params.clone(), parts: Some((hashes, Party::setup(opprf, ch, rng)?, peqt)) })
    }

    /// The bins of items, as this side computes them; none where a side has no items.
    pub fn positions(&self, items: &[u128]) -> Vec<[u32; POSITIONS]> {
        self.parts.as_ref().map_or_else(Vec::new, |(hashes, ..)| hashes.positions(items))
    }

    /// Steps 3 to 8. `carry` says what the hint carries for an item (by number) in a bin. Gives the
    /// share of membership of each bin.
    pub fn run(
        self,
        items: &[u128],
        carry: impl Fn(usize, usize, &mut [u8]),
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Bits, Abort> {
        let Self { params, parts } = self;
        let Some((hashes, opprf, peqt)) = parts else { return Ok(Bits::zeros(params.bins)) };
        let phase = ch.phase(Phase::HashItems);
        let r = peqt.values();
        // Behind the low words are those with the bits above, if there are any.
        let r = |bin: usize| u128::from(r[bin]) | r.get(params.bins + bin).map_or(0, |&high| u128::from(high) << 64);
        let pairs = pairs(&hashes, items, (r, params.sigma), params.carried_bytes, carry);
        drop(phase);
        O::program(opprf, pairs, ch, rng)?;
        // Step 8.
        let _phase = ch.phase(Phase::Equality);
        peqt.test(ch)
    }
}

impl<O: BinOpprf> Receiver<O> {
    /// Step 1, and all that needs no input.
    pub fn setup(params: &Params<O::Params>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let Some((opprf, peqt)) = &params.parts else { return Ok(Self { params: params.clone(), parts: None }) };
        let hashes = receive_salt(params, ch)?;
        let phase = ch.phase(Phase::Equality);
        let peqt = peqt::Receiver::setup(peqt, ch, rng)?;
        drop(phase);
        Ok(Self { params: params.clone(), parts: Some((hashes, Party::setup(opprf, ch, rng)?, peqt)) })
    }

    /// Steps 2 and 4 to 8.
    pub fn run(self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Matched, Abort> {
        let ask = |opprf, asked, ch: &mut Channel, rng: &mut SecretRng| Ok((O::ask(opprf, asked, ch, rng)?, ()));
        Ok(self.run_with(items, ask, ch, rng)?.0)
    }

    /// Runs with steps 4 to 7 done by `ask`, and gives what `ask` gives besides the values; `None`
    /// where a set is empty.
    pub fn run_with<T>(
        self,
        items: &[u128],
        ask: impl FnOnce(O::Receiver, Asked, &mut Channel, &mut SecretRng) -> Result<(PrfOutputs, T), Abort>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(Matched, Option<(Hashes, T)>), Abort> {
        let Self { params, parts } = self;
        let Some((hashes, opprf, peqt)) = parts else { return Ok((unmatched(&params), None)) };
        // Step 2.
        let phase = ch.phase(Phase::HashItems);
        let (placed, asked) = place(&hashes, items, params.bins)?;
        drop(phase);
        // Steps 4 to 7. An empty bin takes something random, which is equal to r_i as rarely as the
        // function's value at a key that nobody programmed.
        let (outputs, besides) = ask(opprf, asked, ch, rng)?;
        let (count, blocks, mut full) = (items.len(), outputs.values.len() / items.len(), 0);
        // As equality tests have it: low words, and behind them those with the bits above, if there are any.
        let mut r = Secret::new(vec![0; params.bins * params.sigma.div_ceil(64) as usize]);
        let (low, high) = r.split_at_mut(params.bins);
        let mut carried = Secret::new(vec![0; params.bins * params.carried_bytes]);
        for (bin, low) in low.iter_mut().enumerate() {
            let carried = &mut carried[bin * params.carried_bytes..][..params.carried_bytes];
            let value = if placed[bin].is_some() {
                full += 1;
                split(params.sigma, |block| outputs.values[block * count + full - 1], blocks, carried)
            } else {
                let value = match params.sigma {
                    sigma @ ..=64 => u128::from(rng.next_u64() >> (64 - sigma)),
                    sigma => rng.block() >> (128 - sigma),
                };
                rng.fill_bytes(carried);
                value
            };
            *low = value as u64;
            if let Some(high) = high.get_mut(bin) {
                *high = (value >> 64) as u64;
            }
        }
        drop(outputs);
        // Step 8.
        let _phase = ch.phase(Phase::Equality);
        Ok((Matched { items: placed, membership: peqt.test(&r, ch)?, carried }, Some((hashes, besides))))
    }
}

impl<O: BinOpprf> Matching for OpprfMatching<O> {
    type Parts = O::Params;
    type Sender = Sender<O>;
    type Receiver = Receiver<O>;

    fn derive(request: &MatchingRequest) -> Result<Params<O::Params>, Unsupported> {
        Params::derive::<O>(request)
    }

    fn predicted_bytes(params: &Params<O::Params>) -> RangeInclusive<u64> {
        params.predicted_bytes(O::predicted_bytes)
    }

    fn sender(params: &Params<O::Params>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Sender<O>, Abort> {
        Sender::setup(params, ch, rng)
    }

    fn receiver(params: &Params<O::Params>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Receiver<O>, Abort> {
        Receiver::setup(params, ch, rng)
    }

    fn send(
        sender: Sender<O>,
        items: &[u128],
        carry: &Carry<'_>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Bits, Abort> {
        sender.run(items, carry, ch, rng)
    }

    fn receive(receiver: Receiver<O>, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Matched, Abort> {
        receiver.run(items, ch, rng)
    }
}
