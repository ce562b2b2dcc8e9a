//! Variants of `prty20`: other tables than the paper's.

use vesica_party::{Entry, deviations};
use vesica_protocols::psi::prty20::Variant;
use vesica_protocols::psi::prty20::variants::{BAND, CLUSTERED, ENTRY, MODES, TWO_HASHES};
use vesica_structures::okvs;

/// `prty20:okvs=clustered`.
#[derive(Clone, Copy, Debug)]
pub enum Clustered {}

impl Variant for Clustered {
    const ENTRY: Entry =
        ENTRY.variant("prty20:okvs=clustered", deviations![ENTRY.deviations, TWO_HASHES => CLUSTERED], MODES);
    type Okvs = okvs::Clustered;
}

/// `prty20:okvs=band`.
#[derive(Clone, Copy, Debug)]
pub enum Band {}

impl Variant for Band {
    const ENTRY: Entry = ENTRY.variant("prty20:okvs=band", deviations![ENTRY.deviations, TWO_HASHES => BAND], MODES);
    type Okvs = okvs::Band;
}

#[cfg(test)]
mod tests {
    use vesica_mpc::code_oprf::LongBch;
    use vesica_party::Security;
    use vesica_protocols::psi::prty20::{Params, Paxos};
    use vesica_protocols::tasks::IntersectRequest;

    use super::*;

    fn request_against(security: Security, sender_items: usize, receiver_items: usize) -> IntersectRequest {
        IntersectRequest { sender_items, receiver_items, security, payload_bytes: 0, both_learn: false, runs: 1 }
    }

    /// A row of 438 bits for each of 1.3 cells an item.
    #[test]
    fn a_table_of_three_hashes_takes_half_of_the_traffic() {
        let request = request_against(Security::SemiHonest, 1 << 20, 1 << 20);
        let bytes = *Params::derive::<Clustered>(&request).expect("served").predicted_bytes().end();
        assert!(bytes < 80_000_000, "{bytes}");
    }

    /// The least `n'` with `n' (192 - log2(e Q / n')) >= 192 m + 40`: of a random oracle that is asked `Q = 2^q` times
    /// no table encodes `n'` items, except with `2^-40`. What the entry says of a corrupt receiver.
    #[test]
    fn tables_of_corrupt_receivers_encode_few_more_items_than_they_have_cells() {
        let most = |cells: f64, q: f64| {
            let bits = LongBch::WORD_BITS as f64;
            let holds =
                |items: f64| items * (bits - (q + std::f64::consts::LOG2_E - items.log2())) >= bits * cells + 40.0;
            (0..).map(|step| cells * (1.0 + f64::from(step) / 100.0)).find(|&items| holds(items)).expect("some") / cells
        };
        for items in [1, 2, 1 << 10, 1 << 16, 1 << 20, 1 << 24] {
            let request = request_against(Security::Malicious, items, items);
            for params in [
                Params::derive::<Paxos>(&request),
                Params::derive::<Clustered>(&request),
                Params::derive::<Band>(&request),
            ] {
                let cells = params.expect("served").cells();
                assert!(cells >= if items == 1 { 7 } else { 45 }, "{items}: {cells}");
                let most = |q| most(cells as f64, q);
                assert!(most(64.0) < 1.6 && most(80.0) < 1.8 && most(128.0) < 3.0, "{cells}");
            }
        }
        assert!(most(40e6, 64.0) > 1.25 && most(40e6, 80.0) > 1.4, "the bound is stated for large sets, too");
    }
}
