//! The left column of the figure: gets random values, and a share of each test.

use std::fmt;

use vesica_party::{Abort, Channel, Party, Role};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Params;
use super::params::{Group, MOST_WIDTH};
use super::tree::Tree;
use crate::bits::{Bits, fill, transpose_64};
use crate::tasks::{Lookups, Tables, Tested};

/// The sender, set up: it knows its values.
pub struct Sender {
    tree: Tree,
    values: Secret<Vec<u64>>,
}

impl Sender {
    /// The sender, set up with random tables that exist already: those that it owns, and lookups in
    /// the receiver's, in the order of [`Params::tables`].
    ///
    /// # Errors
    /// If there are other tables than the parameters name.
    pub fn from_tables(params: &Params, own: &[Tables], seen: &[Lookups], rng: &mut SecretRng) -> Result<Self, Abort> {
        let tree = Tree::from_tables(params, Role::Sender, own, seen)?;
        let values = values(params, tree.first(), rng);
        Ok(Self { tree, values })
    }

    /// The sender's values, uniform below `2^width`: of each test the low 64 bits, then, if they are wider, of
    /// each test the bits above.
    pub fn values(&self) -> &[u64] {
        &self.values
    }

    /// The sender's shares: [`Party::run`] without the values.
    ///
    /// # Errors
    /// If the channel fails.
    pub fn test(self, ch: &mut Channel) -> Result<Bits, Abort> {
        self.tree.run(&self.values, ch)
    }
}

impl Party for Sender {
    type Params = Params;
    type Input = ();
    type Output = Tested;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let tree = Tree::setup(params, ch, rng)?;
        let values = values(params, tree.first(), rng);
        Ok(Self { tree, values })
    }

    fn run(mut self, (): (), ch: &mut Channel, _: &mut SecretRng) -> Result<Tested, Abort> {
        let shares = self.tree.run(&self.values, ch)?;
        Ok(Tested { values: std::mem::take(&mut self.values), shares })
    }
}

/// The values whose bits are coefficients of the polynomials of the first layer, where the groups
/// say so, else drawn.
fn values(params: &Params, coefficients: &[Secret<Vec<Vec<u64>>>], rng: &mut SecretRng) -> Secret<Vec<u64>> {
    let mut values = Secret::new(vec![0; params.len * params.value_words()]);
    for word in 0..params.words() {
        let mut planes = Secret::new([0u64; MOST_WIDTH as usize]);
        fill(&mut planes[..params.width as usize], rng);
        let mut unset = planes.iter_mut();
        for (&Group { inputs, free }, coefficients) in params.layers()[0].groups.iter().zip(coefficients) {
            for (i, plane) in unset.by_ref().take(inputs).enumerate() {
                if free && inputs > 1 {
                    let all_others = ((1 << inputs) - 1) ^ 1 << i;
                    *plane = coefficients[all_others][word];
                }
            }
        }
        for (values, square) in values.chunks_mut(params.len).zip(planes.as_chunks_mut().0) {
            transpose_64(square);
            let values = &mut values[64 * word..];
            let count = values.len().min(64);
            values[..count].copy_from_slice(&square[..count]);
        }
    }
    values
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sender({} tests)", self.tree.params().len)
    }
}
