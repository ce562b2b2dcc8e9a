//! The stores as values, for protocols that leave the choice open.

use std::ops::Range;

use super::{Arrangement, Band, Clustered, EncodeFailure, FreeCells, Gbf, Okvs, Paxos};
use crate::facts::Unsupported;
use crate::fields::Cell;

/// Which store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// [`Clustered`].
    Clustered,
    /// [`Band`].
    Band,
    /// [`Paxos`].
    Paxos,
    /// [`Gbf`].
    Gbf,
}

impl Kind {
    /// All stores.
    pub const ALL: [Self; 4] = [Self::Clustered, Self::Band, Self::Paxos, Self::Gbf];

    /// Its name where a protocol's users choose it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clustered => "clustered",
            Self::Band => "band",
            Self::Paxos => "2-hash",
            Self::Gbf => "gbf",
        }
    }

    /// The store of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The store of this kind for `pairs` pairs that fails to encode with probability at most `2^-failure_bits`, rows
    /// keyed by `seed`.
    ///
    /// # Errors
    /// If no table of that shape is derived.
    pub fn store(self, pairs: usize, failure_bits: u32, seed: u128) -> Result<AnyOkvs, Unsupported> {
        Ok(match self {
            Self::Clustered => AnyOkvs::Clustered(Clustered::new(pairs, failure_bits, seed)?),
            Self::Band => AnyOkvs::Band(Band::new(pairs, failure_bits, seed)?),
            Self::Paxos => AnyOkvs::Paxos(Paxos::new(pairs, failure_bits, seed)?),
            Self::Gbf => AnyOkvs::Gbf(Gbf::new(pairs, failure_bits, seed)?),
        })
    }
}

/// A store of some [`Kind`]. What it is is looked up once for each part of a table.
pub enum AnyOkvs {
    /// [`Kind::Clustered`].
    Clustered(Clustered),
    /// [`Kind::Band`].
    Band(Band),
    /// [`Kind::Paxos`].
    Paxos(Paxos),
    /// [`Kind::Gbf`].
    Gbf(Gbf),
}

macro_rules! of_store {
    ($any:expr, $store:ident => $result:expr) => {
        match $any {
            Self::Clustered($store) => $result,
            Self::Band($store) => $result,
            Self::Paxos($store) => $result,
            Self::Gbf($store) => $result,
        }
    };
}

impl Okvs for AnyOkvs {
    fn len(&self) -> usize {
        of_store!(self, store => store.len())
    }

    fn parts(&self) -> Vec<Range<usize>> {
        of_store!(self, store => store.parts())
    }

    fn arrange(&self, keys: &[u128]) -> Arrangement {
        of_store!(self, store => store.arrange(keys))
    }

    fn encode_arranged_vartime<V: Cell, E: From<EncodeFailure>>(
        &self,
        keys: &Arrangement,
        values: &[V],
        free: FreeCells<'_>,
        finished: impl FnMut(Range<usize>, &mut [V]) -> Result<(), E>,
    ) -> Result<(), E> {
        of_store!(self, store => store.encode_arranged_vartime(keys, values, free, finished))
    }

    fn decode_part<V: Cell>(&self, table: &[V], keys: &Arrangement, part: usize, out: &mut [V]) {
        of_store!(self, store => store.decode_part(table, keys, part, out));
    }
}
