//! What `jsz22-r` and `jsz22-s` have in common: the paper, and the parts that they stand on.

use vesica_mpc::opprf::Opprf;
use vesica_mpc::permute_share::{self, SwitchingNetwork};
use vesica_mpc::silent::SilentVole;
use vesica_mpc::tasks::PermuteShareRequest;
use vesica_party::{Abort, Assumption, Protocol, Security, assumptions};
use vesica_structures::facts::{FailureEvent, Paper, Unsupported};
use vesica_structures::fields::{Cell, Gf128};
use vesica_structures::hashing::CuckooTable;
use vesica_structures::okvs::Band;
use vesica_structures::rng::SecretRng;

use vesica_protocols::bins::Hashes;
use vesica_protocols::union::oprf;

pub(super) const PAPER: Paper = Paper {
    key: "JSZ22",
    title: "Shuffle-based Private Set Union: Faster and More Secure",
    reference: "Jia, Sun, Zhou, Du, Gu. USENIX Security 2022, ePrint 2022/157",
};

pub(super) const OPRF: &str = "The multi-point OPRF is this project's, from VOLE and an OKVS, instead of that of CM20.";
pub(super) const NETWORK: &str = "Permute and Share is permute-share-128: one element a switch of Waksman's network, \
                                  and the side with the values chooses its shares.";
pub(super) const BINS: &str =
    "Three distinct bins an item out of 1.24 an item, by a proven bound, and no second try, instead of 1.27.";
pub(super) const DUMMIES: &str =
    "A dummy is 128 random bits, another one in each empty bin, instead of one public value that is no item.";

/// The OPRF, which is the first half of the OPPRF on the band, and the network.
pub(super) const ASSUMPTIONS: &[Assumption] = assumptions![
    <Opprf<Band> as Protocol>::ENTRY.modes[0].assumptions,
    <SilentVole<Gf128> as Protocol>::ENTRY.modes[0].assumptions,
    <SwitchingNetwork<Gf128> as Protocol>::ENTRY.modes[0].assumptions,
];

/// The parameters of the building blocks.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub oprf: oprf::Params,
    pub permutation: permute_share::Params<Gf128>,
}

impl Parts {
    /// An OPRF that is evaluated at `points` points and asked about `bins`, and a network for these.
    pub fn derive(points: usize, bins: usize, security: Security) -> Result<Self, Unsupported> {
        let (encoding, zero) = (FailureEvent::Encoding.bits(), FailureEvent::ZeroDifference.bits());
        let permutation = PermuteShareRequest { len: bins, bits: Gf128::BITS, security };
        Ok(Self {
            oprf: oprf::Params::derive(points, bins, encoding, zero)?,
            permutation: SwitchingNetwork::<Gf128>::derive(&permutation)?,
        })
    }
}

/// The table of a side: each item in one of its three bins, a dummy in each empty bin.
pub(super) fn table(
    hashes: &Hashes,
    bins: usize,
    items: &[u128],
    rng: &mut SecretRng,
) -> Result<(CuckooTable, Vec<Gf128>), Abort> {
    let table = CuckooTable::build_vartime(&hashes.positions(items), bins)
        .map_err(|_| Abort::StatisticalFailure("items do not fit into their bins; they must be distinct"))?;
    let cell = |bin| Gf128(table.bin(bin).map_or_else(|| rng.block(), |entry| items[entry.item as usize]));
    let cells = (0..bins).map(cell).collect();
    Ok((table, cells))
}

/// Uniform shares, one for each bin.
pub(super) fn shares(bins: usize, rng: &mut SecretRng) -> Vec<Gf128> {
    (0..bins).map(|_| Gf128(rng.block())).collect()
}
