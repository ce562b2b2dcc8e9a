//! The local halves of the pseudo-random function `x -> G(a H(x))`.

use bytemuck::Pod;
use rayon::prelude::*;
use vesica_structures::secret::{Secret, WipedStack, in_frame_of_its_own};
use zeroize::Zeroize;

use crate::psi::finish;

/// Domain of `G`.
const OUTPUT_CONTEXT: &str = "vesica v1 ecdh-hfh99 2026 output of the pseudo-random function";

/// The outputs of `G` for one item.
struct Output {
    /// The tag `m`, 128 bits of which arrow 3 carries some.
    tag: u128,
    /// The proof of a match, `p`.
    proof: u128,
    keystream: blake3::OutputReader,
}

impl Output {
    /// `G(point)` under `session`.
    fn of(session: &[u8; 32], point: &impl Pod) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(OUTPUT_CONTEXT);
        let mut keystream = hasher.update(session).update(bytemuck::bytes_of(point)).finalize_xof();
        let mut halves = [0; 32];
        keystream.fill(&mut halves);
        let [tag, proof]: [u128; 2] = bytemuck::cast(halves);
        Self { tag, proof, keystream }
    }
}

/// `a H(x)` of a party's items, which all outputs follow from.
pub struct Outputs<P: Zeroize> {
    /// The session's identifier.
    pub session: [u8; 32],
    /// The points, by item.
    pub points: Secret<Vec<P>>,
}

impl<P: Pod + Zeroize + Send + Sync> Outputs<P> {
    /// The words whose low bits are the tags.
    pub fn tags(&self) -> Secret<Vec<u128>> {
        self.each(|output| output.tag)
    }

    /// A part of each output. A block of the hash has the beginning of the keystream as well: it is wiped from the stack.
    fn each(&self, part: impl Fn(Output) -> u128 + Send + Sync) -> Secret<Vec<u128>> {
        let of = |point| in_frame_of_its_own(|| part(Output::of(&self.session, point)));
        Secret::new(self.points.par_iter().map_init(|| WipedStack, |_, point| of(point)).collect())
    }
}

impl<P: Pod + Zeroize + Send + Sync> finish::Outputs for Outputs<P> {
    fn proofs(&mut self, _items: &[u128]) -> Secret<Vec<u128>> {
        self.each(|output| output.proof)
    }

    fn into_keystream(self, _items: &[u128]) -> impl Fn(usize, u128, &mut [u8]) + Send + Sync + 'static {
        let Self { session, points } = self;
        move |number, _item, out| Output::of(&session, &points[number]).keystream.fill(out)
    }
}
