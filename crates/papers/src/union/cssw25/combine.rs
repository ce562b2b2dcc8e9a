//! Combine and permute (Figure 8): the receiver gets the bits that both sides share, in an order that the sender alone
//! knows. The order is independent of all items, so that it is drawn in the set-up.
//!
//! On share translation (Figures 12 and 13), which is done in the set-up: it gives the receiver random `a` and `b`,
//! and the sender `Delta = pi(a) + b`. Permute and share does that: the receiver enters `a` and chooses `b` as its
//! share.
//!
//! Directly (section 6.3.1): the receiver enters its shares of the bits and chooses `b`. So the sender gets `pi` of
//! these, plus `b`. A network is linear: instead of entering its own shares, the sender adds them in the order that it
//! knows, and opens the sum in arrow 4. Arrow 3 falls away, and the shuffle is part of the run. The sender sees what
//! permute and share shows it, which is simulated from uniform bits; `b` is fresh, so that it learns no bit. The
//! receiver sees a function of `Z` and its own `b`, as in Figure 12.

use vesica_mpc::bits::Bits;
use vesica_mpc::tasks::{BitsToPermute, PermuteShareBits};
use vesica_party::{Abort, AnyReceiver, AnySender, Channel, Phase};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Params;
use super::messages::{MaskedShares, PermutedBits};
use vesica_protocols::union::bit_streams;

/// The sender, set up.
pub(super) struct Sender {
    /// `pi`: the bin at each place.
    order: Secret<Vec<u32>>,
    shuffle: SenderShuffle,
}

enum SenderShuffle {
    /// `Delta`.
    Translated(Bits),
    Direct(AnyReceiver<PermuteShareBits>),
}

impl Sender {
    /// The shuffle's set-up, and its run where it is share translation.
    pub(super) fn setup(
        params: &Params,
        order: Secret<Vec<u32>>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Self, Abort> {
        let shuffle = ch.reversed(|ch| -> Result<_, Abort> {
            let receiver = params.shuffle.receiver(&params.permuted, ch, rng)?;
            Ok(match params.is_direct {
                true => SenderShuffle::Direct(receiver),
                false => SenderShuffle::Translated(receiver.run(order.to_vec(), ch, rng)?),
            })
        })?;
        Ok(Self { order, shuffle })
    }

    /// Arrows 3 and 4, from the sender's shares; the order.
    pub(super) fn permute(
        self,
        shares: &Bits,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Secret<Vec<u32>>, Abort> {
        let Self { order, shuffle } = self;
        let _phase = ch.phase(Phase::Permute);
        let in_order = |bits: &Bits| -> Bits { order.iter().map(|&bin| bits.get(bin as usize)).collect() };
        let permuted = match shuffle {
            SenderShuffle::Translated(delta) => {
                let mut combined = bit_streams::receive::<MaskedShares>(order.len(), ch)?;
                combined ^= shares;
                let mut permuted = in_order(&combined);
                permuted ^= &delta;
                permuted
            }
            SenderShuffle::Direct(shuffle) => {
                let mut permuted = ch.reversed(|ch| shuffle.run(order.to_vec(), ch, rng))?;
                permuted ^= &in_order(shares);
                permuted
            }
        };
        bit_streams::send::<PermutedBits>(&permuted, ch)?;
        Ok(order)
    }
}

/// The receiver, set up.
pub(super) struct Receiver {
    b: Bits,
    shuffle: ReceiverShuffle,
}

enum ReceiverShuffle {
    /// `a`.
    Translated(Bits),
    Direct(AnySender<PermuteShareBits>),
}

impl Receiver {
    /// The shuffle's set-up, and its run where it is share translation.
    pub(super) fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let b = Bits::random(params.circuit.bins, rng);
        let shuffle = ch.reversed(|ch| -> Result<_, Abort> {
            let sender = params.shuffle.sender(&params.permuted, ch, rng)?;
            if params.is_direct {
                return Ok(ReceiverShuffle::Direct(sender));
            }
            let a = Bits::random(params.circuit.bins, rng);
            sender.run(BitsToPermute { values: a.clone(), shares: b.clone() }, ch, rng)?;
            Ok(ReceiverShuffle::Translated(a))
        })?;
        Ok(Self { b, shuffle })
    }

    /// Arrows 3 and 4, from the receiver's shares; the bits in the sender's order.
    pub(super) fn permute(self, shares: &Bits, ch: &mut Channel, rng: &mut SecretRng) -> Result<Bits, Abort> {
        let Self { b, shuffle } = self;
        let _phase = ch.phase(Phase::Permute);
        match shuffle {
            ReceiverShuffle::Translated(mut masked) => {
                masked ^= shares;
                bit_streams::send::<MaskedShares>(&masked, ch)?;
            }
            ReceiverShuffle::Direct(shuffle) => {
                let input = BitsToPermute { values: shares.clone(), shares: b.clone() };
                ch.reversed(|ch| shuffle.run(input, ch, rng))?;
            }
        }
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
        let values = |name| ENTRY.variants.iter().find(|own| own.name == name).expect("a choice").values;
        for (shuffle, combine) in
            values("shuffle").iter().flat_map(|shuffle| values("combine").iter().map(move |combine| (shuffle, combine)))
        {
            let entry = ENTRY.with(&format!("shuffle={},combine={}", shuffle.name, combine.name)).expect("a variant");
            for items in [1, 2, 3, 17, 200, 1000, 1 << 13] {
                let params = Cssw25::derive_chosen(items, 1, entry).expect("served");
                let len = params.circuit.bins;
                let mut rng = SecretRng::insecure_from_seed(items as u64);
                let [left, right] = [(); 2].map(|()| Bits::random(len, &mut rng));
                let order = random_order(len, &mut rng);
                let (_, permuted) = two_party(
                    |ch, rng| Sender::setup(&params, Secret::new(order.clone()), ch, rng)?.permute(&left, ch, rng),
                    |ch, rng| Receiver::setup(&params, ch, rng)?.permute(&right, ch, rng),
                );
                let of_bin = |&bin: &u32| left.get(bin as usize) ^ right.get(bin as usize);
                assert_eq!(permuted, order.iter().map(of_bin).collect(), "{len} bits by {}", entry.id);
            }
        }
    }
}
