//! Which filter, as a value: for parameters that both sides agree on.

use super::{BinaryFuseFilter, BloomFilter, BuildFailure, CuckooFilter, Demand, Filter, Malformed, VacuumFilter};
use crate::facts::Unsupported;

/// A type of filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// [`BloomFilter`].
    Bloom,
    /// [`CuckooFilter`].
    Cuckoo,
    /// [`VacuumFilter`].
    Vacuum,
    /// [`BinaryFuseFilter`].
    Fuse,
}

/// A filter of any kind, ready for look-ups.
pub struct AnyFilter(Box<dyn LookUp>);

trait LookUp: Send + Sync {
    fn look_up(&self, tags: &[u128], found: &mut [bool]);
}

impl<F: Filter> LookUp for F {
    fn look_up(&self, tags: &[u128], found: &mut [bool]) {
        Filter::look_up(self, tags, found);
    }
}

/// What this kind of filter needs: `$body` with `$filter` as its type.
macro_rules! with_filter {
    ($kind:expr, $filter:ident => $body:expr) => {
        match $kind {
            Kind::Bloom => {
                type $filter = BloomFilter;
                $body
            }
            Kind::Cuckoo => {
                type $filter = CuckooFilter;
                $body
            }
            Kind::Vacuum => {
                type $filter = VacuumFilter;
                $body
            }
            Kind::Fuse => {
                type $filter = BinaryFuseFilter;
                $body
            }
        }
    };
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Bloom, Self::Cuckoo, Self::Vacuum, Self::Fuse];

    /// The exact length of such a filter, in bytes.
    ///
    /// # Errors
    /// If the demand is outside of what the parameters are derived for.
    pub fn bytes(self, demand: &Demand) -> Result<usize, Unsupported> {
        with_filter!(self, F => Ok(F::bytes(&F::shape(demand)?)))
    }

    /// The bytes of a filter of these tags; see [`Filter::build`].
    ///
    /// # Errors
    /// If the demand is outside of what the parameters are derived for, or no attempt builds the
    /// filter.
    pub fn build(self, demand: &Demand, tags: &mut Vec<u128>) -> Result<Vec<u8>, KindError> {
        with_filter!(self, F => Ok(F::build(&F::shape(demand)?, tags)?.into_bytes()))
    }

    /// The filter of these bytes.
    ///
    /// # Errors
    /// If the demand is outside of what the parameters are derived for, or no filter has these bytes.
    pub fn parse(self, demand: &Demand, bytes: Vec<u8>) -> Result<AnyFilter, KindError> {
        with_filter!(self, F => Ok(AnyFilter(Box::new(F::parse(&F::shape(demand)?, bytes)?))))
    }
}

impl AnyFilter {
    /// See [`Filter::look_up`].
    ///
    /// # Panics
    /// If `tags` and `found` have different lengths.
    pub fn look_up(&self, tags: &[u128], found: &mut [bool]) {
        self.0.look_up(tags, found);
    }
}

/// Why there is no filter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KindError {
    /// The demand is not served.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// No attempt built it.
    #[error(transparent)]
    Build(#[from] BuildFailure),
    /// The bytes are no filter.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}
