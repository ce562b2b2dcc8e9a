//! The right column of the figure: brings values, and gets a share of each test.

use std::fmt;

use vesica_party::{Abort, Channel, Party, Role};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Params;
use super::tree::Tree;
use crate::bits::Bits;
use crate::tasks::{Lookups, Tables};

/// The receiver, set up.
pub struct Receiver(Tree);

impl Receiver {
    /// The receiver, set up with random tables that exist already: those that it owns, and lookups
    /// in the sender's, in the order of [`Params::tables`].
    ///
    /// # Errors
    /// If there are other tables than the parameters name.
    pub fn from_tables(params: &Params, own: &[Tables], seen: &[Lookups]) -> Result<Self, Abort> {
        Ok(Self(Tree::from_tables(params, Role::Receiver, own, seen)?))
    }

    /// The receiver's shares for its values, one for each test, below `2^width` and laid out like
    /// [`Sender::values`](super::Sender::values).
    ///
    /// # Errors
    /// If there is another number of values or one is too wide, or if the channel fails.
    pub fn test(self, values: &[u64], ch: &mut Channel) -> Result<Bits, Abort> {
        let params = self.0.params();
        let words = params.value_words();
        // The word that holds the highest bits.
        let (full, last) = values.split_at_checked(params.len * (words - 1)).unwrap_or_default();
        let low = u64::MAX >> (64 * words as u32 - params.width);
        if last.len() != params.len || last.iter().fold(0, |union, value| union | value) & !low != 0 {
            return Err(Abort::Unsupported(Unsupported::new(
                format_args!(
                    "{} words of values, perhaps too wide ones, for {} tests of {} bits",
                    values.len(),
                    params.len,
                    params.width
                ),
                "give one value of that width for each test",
            )));
        }
        let factors = full.iter().map(|value| !value).chain(last.iter().map(|value| !value & low));
        let factors = Secret::new(factors.collect::<Vec<_>>());
        self.0.run(&factors, ch)
    }
}

impl Party for Receiver {
    type Params = Params;
    type Input = Vec<u64>;
    type Output = Bits;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self(Tree::setup(params, ch, rng)?))
    }

    fn run(self, values: Vec<u64>, ch: &mut Channel, _: &mut SecretRng) -> Result<Bits, Abort> {
        self.test(&Secret::new(values), ch)
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Receiver({} tests)", self.0.params().len)
    }
}
