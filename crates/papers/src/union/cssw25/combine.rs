//! Combine and permute (Figure 12) on share translation (Figure 13): the receiver gets the bits that
//! both sides share, in an order that the sender alone knows.
//!
//! Share translation gives the receiver random `a` and `b`, and the sender `Delta = pi(a) + b`.
//! Permute and share does that: the receiver enters `a` and chooses `b` as its share. The order is
//! independent of all items, so that both sides do it in the set-up.

use vesica_mpc::bits::Bits;
use vesica_mpc::tasks::BitsToPermute;
use vesica_party::{Abort, Channel, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Params;
use super::messages::{MaskedShares, PermutedBits};
use vesica_protocols::union::bit_streams;

/// The sender, set up.
pub(super) struct Sender {
    /// `pi`: the bin at each place.
    order: Secret<Vec<u32>>,
    delta: Bits,
}

impl Sender {
    /// Share translation.
    pub(super) fn setup(
        params: &Params,
        order: Secret<Vec<u32>>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Self, Abort> {
        let delta = ch.reversed(|ch| {
            let receiver = params.translation.receiver(&params.permuted, ch, rng)?;
            receiver.run(order.to_vec(), ch, rng)
        })?;
        Ok(Self { order, delta })
    }

    /// Arrows 3 and 4, from the sender's shares; the order.
    pub(super) fn permute(self, shares: &Bits, ch: &mut Channel) -> Result<Secret<Vec<u32>>, Abort> {
        let Self { order, delta } = self;
        let _phase = ch.phase(Phase::Permute);
        let mut combined = bit_streams::receive::<MaskedShares>(order.len(), ch)?;
        combined ^= shares;
        let mut permuted: Bits = order.iter().map(|&bin| combined.get(bin as usize)).collect();
        permuted ^= &delta;
        bit_streams::send::<PermutedBits>(&permuted, ch)?;
        Ok(order)
    }
}

/// The receiver, set up.
pub(super) struct Receiver {
    a: Bits,
    b: Bits,
}

impl Receiver {
    /// Share translation.
    pub(super) fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let [a, b] = [(); 2].map(|()| Bits::random(params.circuit.bins, rng));
        let input = BitsToPermute { values: a.clone(), shares: b.clone() };
        ch.reversed(|ch| params.translation.sender(&params.permuted, ch, rng)?.run(input, ch, rng))?;
        Ok(Self { a, b })
    }

    /// Arrows 3 and 4, from the receiver's shares; the bits in the sender's order.
    pub(super) fn permute(self, shares: &Bits, ch: &mut Channel) -> Result<Bits, Abort> {
        let Self { a: mut masked, b } = self;
        let _phase = ch.phase(Phase::Permute);
        masked ^= shares;
        bit_streams::send::<MaskedShares>(&masked, ch)?;
        let mut bits = bit_streams::receive::<PermutedBits>(b.len(), ch)?;
        bits ^= &b;
        Ok(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_party::Entry;
    use vesica_protocols::membership::{For, MembershipTest};
    use vesica_protocols::tasks::Union;
    use vesica_structures::shuffle::random_order;
    use vesica_testkit::two_party;

    use crate::union::cssw25::Cssw25;

    #[test]
    fn the_receiver_gets_the_shared_bits_in_the_senders_order() {
        static ENTRY: Entry = <Cssw25 as For<Union>>::ENTRY;
        for entry in ENTRY.alternatives().chain([&ENTRY]) {
            for items in [1, 2, 3, 17, 200, 1000, 1 << 13] {
                let params = Cssw25::derive_chosen(items, 1, entry).expect("served");
                let len = params.circuit.bins;
                let mut rng = SecretRng::insecure_from_seed(items as u64);
                let [left, right] = [(); 2].map(|()| Bits::random(len, &mut rng));
                let order = random_order(len, &mut rng);
                let (_, permuted) = two_party(
                    |ch, rng| Sender::setup(&params, Secret::new(order.clone()), ch, rng)?.permute(&left, ch),
                    |ch, rng| Receiver::setup(&params, ch, rng)?.permute(&right, ch),
                );
                let of_bin = |&bin: &u32| left.get(bin as usize) ^ right.get(bin as usize);
                assert_eq!(permuted, order.iter().map(of_bin).collect(), "{len} bits by {}", entry.id);
            }
        }
    }
}
