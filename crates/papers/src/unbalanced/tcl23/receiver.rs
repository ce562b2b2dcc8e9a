//! The right column of the figure.

use rayon::prelude::*;
use vesica_mpc::bits::Bits;
use vesica_mpc::peqt;
use vesica_mpc::permute_share::bits;
use vesica_mpc::tasks::BitsToPermute;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::rlwe::bfv::{Ciphertext, PublicKey, SwitchKey, Values};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Params;
use super::cells::{Functions, of_bins};
use super::messages::{Answers, Corrections, Keys, PermutedBits, Question, Salt};
use super::params::{SALT_BYTES, ring};
use vesica_protocols::bfv::ciphertexts::send_short;
use vesica_protocols::bfv::hide;
use vesica_protocols::bfv::keys;
use vesica_protocols::recurrent::scramble::uniform;
use vesica_protocols::unbalanced::Shape;
use vesica_protocols::unbalanced::evaluation::{all_powers, value};
use vesica_protocols::unbalanced::polynomials::Polynomials;
use vesica_protocols::unbalanced::query::receive_powers;
use vesica_protocols::union::bit_streams;

/// Parts that are evaluated side by side.
const PARTS_AT_A_TIME: usize = 16;

/// The receiver, set up.
pub struct Receiver {
    pub(super) functions: Functions,
    pub(super) answerer: Answerer,
    equality: peqt::Sender,
    permutation: bits::Sender,
}

/// The receiver's part of steps 3 and 4.
pub(super) struct Answerer {
    pub(super) shape: Shape,
    pub(super) public: PublicKey,
    pub(super) product: SwitchKey,
}

impl Receiver {
    /// Steps 1 and 2, and all that needs no input.
    pub(super) fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let mut salt = [0; SALT_BYTES];
        ch.recv_stream::<Salt>(&mut salt)?;
        let functions = Functions::new(ch, params, &salt);
        let (public, product) = keys::receive::<Keys>(&ring().scheme, ch)?;
        let phase = ch.phase(Phase::Equality);
        let equality = ch.reversed(|ch| peqt::Sender::setup(&params.equality, ch, rng))?;
        drop(phase);
        let permutation = ch.reversed(|ch| bits::Sender::setup(&params.permutation, ch, rng))?;
        Ok(Self { functions, answerer: Answerer { shape: params.shape, public, product }, equality, permutation })
    }

    /// Steps 3 to 6; for each place whether its item is common.
    pub(super) fn test(self, items: &[u128], ch: &mut Channel, rng: &mut SecretRng) -> Result<Bits, Abort> {
        let Self { functions, answerer, equality, permutation } = self;
        let polynomials = answerer.polynomials(&functions, items, ch)?;
        let digests = answerer.answer(&functions, &polynomials, ch, rng)?;
        drop(polynomials);

        // Step 5.
        let phase = ch.phase(Phase::Equality);
        let corrections: Vec<u64> =
            digests.iter().zip(equality.values()).map(|(digest, value)| digest ^ value).collect();
        ch.send_stream::<Corrections>(&corrections)?;
        let cells = ch.reversed(|ch| equality.test(ch))?;
        let values = of_bins(&answerer.shape, &cells);
        drop(phase);

        // Step 6.
        let _phase = ch.phase(Phase::Permute);
        let shares = Bits::random(values.len(), rng);
        let mut bits = shares.clone();
        ch.reversed(|ch| permutation.run(BitsToPermute { values, shares }, ch, rng))?;
        bits ^= &bit_streams::receive::<PermutedBits>(bits.len(), ch)?;
        Ok(bits)
    }
}

impl Answerer {
    /// The polynomials of the receiver's items. Those of a bin go to its parts in any order, since
    /// nobody sees in which part one is.
    pub(super) fn polynomials(
        &self,
        functions: &Functions,
        items: &[u128],
        ch: &mut Channel,
    ) -> Result<Polynomials, Abort> {
        let _phase = ch.phase(Phase::HashItems);
        // An item that is there twice would be found twice in its bin, and so count as new.
        let mut items = Secret::new(items.to_vec());
        items.par_sort_unstable();
        items.dedup();
        let (positions, limbs) = functions.hash(&items);
        Polynomials::new(&ring().scheme, self.shape, &positions, &limbs, None)
            .map_err(|_| Abort::StatisticalFailure("a bin of the receiver is fuller than any should be"))
    }

    /// Steps 3 and 4; the digest of each cell's mask.
    pub(super) fn answer(
        &self,
        functions: &Functions,
        polynomials: &Polynomials,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Secret<Vec<u64>>, Abort> {
        let (ring, shape, powers) = (ring(), &self.shape, self.shape.powers());
        let _phase = ch.phase(Phase::Match);
        let mut fresh = receive_powers::<Question>(shape, ch)?;
        let mut digests = Secret::new(Vec::with_capacity(shape.cells()));
        for group in 0..shape.groups {
            let powers = all_powers(ring, &powers, fresh.by_ref().take(powers.sent.len()).collect(), &self.product);
            for first in (0..shape.parts).step_by(PARTS_AT_A_TIME) {
                let parts = first..shape.parts.min(first + PARTS_AT_A_TIME);
                let seeds: Vec<SecretRng> = parts.clone().map(|_| rng.child()).collect();
                let of_part = |(part, mut rng): (usize, SecretRng)| {
                    let (masked, mask) = self.masked(polynomials, group, part, &powers, &mut rng);
                    (hide(ring, &self.public, &ring.scheme.ciphertext_coefficients(masked), &mut rng), mask)
                };
                let answers: Vec<_> = parts.into_par_iter().zip(seeds).map(of_part).collect();
                for (answer, mask) in answers {
                    send_short::<Answers>(&ring.scheme, &answer, ch)?;
                    digests.extend(functions.digests(&mask));
                }
            }
        }
        Ok(digests)
    }

    /// The value of a part under a uniform mask, and the mask.
    pub(super) fn masked(
        &self,
        polynomials: &Polynomials,
        group: usize,
        part: usize,
        powers: &[Ciphertext<Values>],
        rng: &mut SecretRng,
    ) -> (Ciphertext<Values>, Secret<Vec<u64>>) {
        let scheme = &ring().scheme;
        let mut masked = value(ring(), polynomials, group, part, powers);
        let mut mask = Secret::new(vec![0; scheme.slots()]);
        mask.iter_mut().for_each(|slot| *slot = uniform(rng));
        scheme.add_plain(&mut masked, &Secret::new(scheme.encode(&mask)));
        (masked, mask)
    }
}
