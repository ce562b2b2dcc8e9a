//! The right column of the figure: multiplies by its vectors.

use rand_core::Rng;
use rayon::prelude::*;
use vesica_kernels::ntt;
use vesica_party::{Abort, Channel, Malformed, Message, Party, Step, Stream};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Blocks, Key, Reply};
use super::params::DEGREE;
use super::ring::{Prime, Ring};
use super::sampling::{error, flood, ternary};
use super::sender::BLOCKS_PER_MESSAGE;
use super::{NAME, Params};
use crate::binding::Binding;
use crate::tasks::{RingVectors, Shares};

/// The receiver, set up: all products hold an encryption of zero of their own.
pub struct Receiver {
    params: Params,
    seed: Binding,
    /// Empty where there is nothing to do.
    parts: Vec<Part>,
}

/// All sums modulo one prime.
pub(super) struct Part {
    pub prime: Prime,
    products: Vec<Product>,
    /// The values of a block's `a_k`, and those of its `b_k` times what gives the last coefficient.
    a: Vec<u64>,
    b: Vec<u64>,
    /// The values of a polynomial of ours.
    y: Secret<Vec<u64>>,
}

/// One of the inner products, unreduced.
struct Product {
    /// The values of `sum_k a_k Y_k`.
    a: Secret<Vec<u128>>,
    /// The last coefficient of `sum_k b_k Y_k`.
    b: Secret<u128>,
}

impl Part {
    pub fn new(prime: Prime, vectors: usize) -> Self {
        let product = || Product { a: Secret::new(vec![0; DEGREE]), b: Secret::new(0) };
        let products = (0..vectors).map(|_| product()).collect();
        Self { prime, products, a: vec![0; DEGREE], b: vec![0; DEGREE], y: Secret::new(vec![0; DEGREE]) }
    }

    /// Takes a block in.
    pub fn read(&mut self, seed: &Binding, block: usize, bytes: &[u8]) -> Result<(), Malformed> {
        let Self { prime, a, b, .. } = self;
        prime.uniform(seed, block, a);
        prime.read(bytes, b)?;
        b.iter_mut().zip(&prime.last).for_each(|(b, &last)| *b = prime.modulus.product(*b, last));
        Ok(())
    }

    /// Adds the block times the polynomial that `fill` makes.
    pub fn multiply(&mut self, vector: usize, fill: impl FnOnce(&Prime, &mut [u64])) {
        let Self { prime, products, a, b, y } = self;
        fill(prime, y);
        let Product { a: sum_a, b: sum_b } = &mut products[vector];
        ntt::accumulate(sum_a, a, y);
        **sum_b += ntt::dot(b, y);
    }
}

/// `Y_k`: elements from the last coefficient on downwards.
pub(super) fn reversed(prime: &Prime, y: &[u64], out: &mut [u64]) {
    let padded = y.iter().copied().chain(std::iter::repeat(0));
    out.iter_mut().rev().zip(padded).for_each(|(out, y)| *out = prime.modulus.signed_word(y));
    prime.ntt.forward(out);
}

fn misbehaved(step: Step) -> impl Fn(Malformed) -> Abort {
    move |fault| Abort::PeerMisbehaved(step, fault.0)
}

/// Re-randomises, masks with `mask` and floods with `flood - 2^params.flood`.
pub(super) fn reply(
    params: &Params,
    parts: &mut [Part],
    vector: usize,
    mask: u64,
    flood: &[u64; 3],
    rng: &mut SecretRng,
) -> Reply {
    let error = error(rng);
    let mut reply = Reply { a: Vec::with_capacity(params.polynomial_bytes()), b: Vec::new() };
    let mut b = Vec::with_capacity(parts.len());
    for Part { prime, products, y, .. } in parts {
        let modulus = prime.modulus;
        let product = &products[vector];
        prime.small(&error, y);
        y.iter_mut().zip(product.a.iter()).for_each(|(y, &a)| *y = modulus.below(*y + modulus.reduce(a)));
        prime.write(y, &mut reply.a);
        let masked = modulus.below(prime.encode(mask) + modulus.reduce(*product.b));
        b.push(modulus.below(masked + prime.wide(flood, params.flood)));
    }
    Ring::write_number(&b, params.prime_bits, &mut reply.b);
    reply
}

impl Receiver {
    fn check(&self, input: &RingVectors) -> Result<(), Unsupported> {
        let Params { len, vectors, bits, .. } = self.params;
        if input.vectors.len() != vectors || input.vectors.iter().any(|y| y.len() != len) {
            return Err(Unsupported::new(
                "the vectors are not of the agreed sizes",
                format_args!("give {vectors} of {len} elements"),
            ));
        }
        let largest = input.vectors.iter().flatten().fold(0, |largest: u64, &y| largest.max((y as i64).unsigned_abs()));
        if largest > 1 << bits {
            return Err(Unsupported::new(format_args!("an entry beyond 2^{bits}"), "agree on more bits"));
        }
        Ok(())
    }
}

impl Party for Receiver {
    type Params = Params;
    type Input = RingVectors;
    type Output = Shares<u64>;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let seed = Binding::new(ch, NAME);
        if params.is_empty() {
            return Ok(Self { params: *params, seed, parts: Vec::new() });
        }
        // Step 1.
        let Key { seed: theirs, zero } = ch.recv(*params)?;
        let seed = seed.extend("seed", &theirs);
        let mut parts: Vec<Part> =
            Ring::new(params).primes.into_iter().map(|prime| Part::new(prime, params.vectors)).collect();
        let secrets: Vec<_> = (0..params.vectors).map(|_| ternary(rng)).collect();
        parts.par_iter_mut().zip(zero.par_chunks_exact(params.part_bytes())).try_for_each(|(part, bytes)| {
            part.read(&seed, 0, bytes).map_err(misbehaved(Key::STEP))?;
            secrets.iter().enumerate().for_each(|(vector, v)| part.multiply(vector, |prime, out| prime.small(v, out)));
            Ok::<_, Abort>(())
        })?;
        Ok(Self { params: *params, seed, parts })
    }

    fn run(self, input: RingVectors, ch: &mut Channel, rng: &mut SecretRng) -> Result<Shares<u64>, Abort> {
        self.check(&input)?;
        let Self { params, seed, mut parts } = self;
        let mut shares = Shares { bits: 64, width: params.vectors, values: vec![0; params.vectors] };
        if params.is_empty() {
            return Ok(shares);
        }
        let (part_bytes, block_bytes) = (params.part_bytes(), params.polynomial_bytes());

        // Step 2.
        let mut bytes = vec![0; BLOCKS_PER_MESSAGE * block_bytes];
        for first in (0..params.blocks()).step_by(BLOCKS_PER_MESSAGE) {
            let count = BLOCKS_PER_MESSAGE.min(params.blocks() - first);
            let bytes = &mut bytes[..count * block_bytes];
            ch.recv_stream::<Blocks>(bytes)?;
            parts.par_iter_mut().enumerate().try_for_each(|(i, part)| {
                for (block, bytes) in (first..).zip(bytes.chunks_exact(block_bytes)) {
                    part.read(&seed, block + 1, &bytes[i * part_bytes..][..part_bytes])
                        .map_err(misbehaved(Blocks::STEP))?;
                    for (vector, y) in input.vectors.iter().enumerate() {
                        let y = &y[block * DEGREE..y.len().min((block + 1) * DEGREE)];
                        part.multiply(vector, |prime, out| reversed(prime, y, out));
                    }
                }
                Ok::<_, Abort>(())
            })?;
        }

        // Step 3.
        for (vector, share) in shares.values.iter_mut().enumerate() {
            let mask = rng.next_u64();
            let flood = flood(&params, rng);
            ch.send(&reply(&params, &mut parts, vector, mask, &flood, rng))?;
            *share = mask.wrapping_neg();
        }
        Ok(shares)
    }
}
