//! The left column of the figure.

use rand_core::Rng;
use vesica_mpc::bits::Bits;
use vesica_mpc::peqt;
use vesica_mpc::permute_share::bits;
use vesica_party::{Abort, Channel, Party, Phase, Stream};
use vesica_structures::rlwe::bfv::{NoiseExhausted, SecretKey};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::shuffle::random_order;

use super::Params;
use super::cells::{Functions, of_bins};
use super::messages::{Answers, Corrections, Keys, PermutedBits, Question, Salt};
use super::params::{SALT_BYTES, ring};
use vesica_protocols::bfv::ciphertexts::{exhausted, receive_short};
use vesica_protocols::bfv::keys;
use vesica_protocols::membership::NO_ITEM;
use vesica_protocols::unbalanced::Shape;
use vesica_protocols::unbalanced::query::Slots;
use vesica_protocols::union::bit_streams;

/// The sender, set up.
pub struct Sender {
    pub(super) functions: Functions,
    pub(super) asker: Asker,
    equality: peqt::Receiver,
    permutation: bits::Receiver,
}

/// The sender's part of steps 3 and 4.
pub(super) struct Asker {
    pub(super) shape: Shape,
    pub(super) key: SecretKey,
}

/// What the sender has of its cells.
pub(super) struct Asked {
    /// The item in each bin, or [`NO_ITEM`].
    held: Secret<Vec<u32>>,
    /// The digest of each cell, which is random where the bin holds no item.
    digests: Secret<Vec<u64>>,
}

impl Sender {
    /// Steps 1 and 2, and all that needs no input.
    pub(super) fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let mut salt = [0; SALT_BYTES];
        rng.fill_bytes(&mut salt);
        ch.send_stream::<Salt>(&salt)?;
        let functions = Functions::new(ch, params, &salt);
        let key = SecretKey::new(&ring().scheme, rng);
        keys::send::<Keys>(&ring().scheme, &key, ch, rng)?;
        let phase = ch.phase(Phase::Equality);
        let equality = ch.reversed(|ch| peqt::Receiver::setup(&params.equality, ch, rng))?;
        drop(phase);
        let permutation = ch.reversed(|ch| bits::Receiver::setup(&params.permutation, ch, rng))?;
        Ok(Self { functions, asker: Asker { shape: params.shape, key }, equality, permutation })
    }

    /// Steps 3 to 6; which item each place holds.
    pub(super) fn ask(self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Secret<Vec<u32>>, Abort> {
        let order = Secret::new(random_order(self.asker.shape.bins(), rng));
        self.ask_in_order(items, order, ch, rng)
    }

    /// The same with a given order of all bins.
    pub(super) fn ask_in_order(
        self,
        items: &[u128],
        order: Secret<Vec<u32>>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Secret<Vec<u32>>, Abort> {
        let Self { functions, asker, equality, permutation } = self;
        let Asked { held, mut digests } = asker.ask(&functions, items, ch, rng)?;

        // Step 5.
        let phase = ch.phase(Phase::Equality);
        let mut corrections = vec![0; digests.len()];
        ch.recv_stream::<Corrections>(&mut corrections)?;
        if corrections.iter().any(|correction| correction & !functions.low != 0) {
            return Err(Abort::PeerMisbehaved(Corrections::STEP, "a digest that is too wide"));
        }
        digests.iter_mut().zip(&corrections).for_each(|(digest, correction)| *digest ^= correction);
        let cells = ch.reversed(|ch| equality.test(&digests, ch))?;
        let shares = of_bins(&asker.shape, &cells);
        drop(phase);

        // Step 6.
        let _phase = ch.phase(Phase::Permute);
        let fresh = ch.reversed(|ch| permutation.run(order.to_vec(), ch, rng))?;
        let mut permuted: Bits = order.iter().map(|&bin| shares.get(bin as usize)).collect();
        permuted ^= &fresh;
        bit_streams::send::<PermutedBits>(&permuted, ch)?;
        let mut places = order;
        places.iter_mut().for_each(|place| *place = held[*place as usize]);
        Ok(places)
    }
}

impl Asker {
    /// Steps 3 and 4.
    pub(super) fn ask(
        &self,
        functions: &Functions,
        items: &[u128],
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Asked, Abort> {
        let Self { shape, key } = self;
        let (ring, scheme) = (ring(), &ring().scheme);
        let phase = ch.phase(Phase::HashItems);
        let (positions, limbs) = functions.hash(items);
        let slots = Slots::new(scheme, *shape, &positions, &limbs)?;
        let held = slots.items(NO_ITEM);
        drop(phase);

        let _phase = ch.phase(Phase::Match);
        slots.send::<Question>(key, ch, rng)?;
        let mut digests = Secret::new(Vec::with_capacity(shape.cells()));
        for held in held.chunks_exact(shape.bins_per_group()) {
            for _ in 0..shape.parts {
                let value = receive_short::<Answers>(scheme, ring.sent_primes, ch)?;
                let plain = scheme.decrypt(&value, key).map_err(|NoiseExhausted| exhausted::<Answers>())?;
                let slots = Secret::new(scheme.decode(&Secret::new(plain)));
                digests.extend(functions.digests(&slots).zip(held).map(|(digest, &item)| {
                    // No branch on whether a bin holds an item.
                    let (random, empty) = (rng.next_u64() & functions.low, u64::from(item == NO_ITEM).wrapping_neg());
                    digest & !empty | random & empty
                }));
            }
        }
        Ok(Asked { held, digests })
    }
}
