//! All numbers of a run. Their derivation is in docs/parameters/psi-cuckoo.md.

use std::ops::RangeInclusive;

use vesica_mpc::code_oprf::{self, CodeOprf};
use vesica_mpc::tasks::BatchPrfRequest;
use vesica_party::{Channel, Entry, Protocol, Security};
use vesica_structures::facts::{FailureEvent, Unsupported};
use vesica_structures::hashing::cuckoo_bins;

use super::places::Places;
use super::{Paper, Strings};
use vesica_protocols::bins::{Hashes, POSITIONS};
use vesica_protocols::psi::finish::{self, compare};
use vesica_protocols::tags::{self, TagCoding};
use vesica_protocols::tasks::IntersectRequest;

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug)]
pub struct Params {
    /// The row's or variant's id, for the derivation of keys.
    pub(super) id: &'static str,
    /// Bins of the receiver's table.
    pub bins: usize,
    /// What is compared in a bin.
    pub strings: Strings,
    /// The transfers: a block for the tag, and a second one for the payload's key if there are payloads.
    pub(super) oprf: code_oprf::Params,
    /// Bytes of the transfers.
    oprf_bytes: u64,
    /// Arrows 2 and 3, and the sizes of the sets.
    pub finish: finish::Params,
}

impl Params {
    /// Parameters for a request, refused where the mode, a size or an option is not served.
    pub(super) fn derive<P: Paper>(request: &IntersectRequest, entry: &'static Entry) -> Result<Self, Unsupported> {
        entry.require(request.security)?;
        request.check_sizes()?;
        let &IntersectRequest { sender_items, receiver_items, payload_bytes, .. } = request;
        let bins = cuckoo_bins(receiver_items, FailureEvent::HashTable.bits())?;
        let strings = P::strings(request, bins)?;
        let pairs = POSITIONS.saturating_mul(sender_items);
        let evaluations = strings.chunks.count.saturating_mul(pairs);
        let oprf = CodeOprf::<P::Code>::derive(&BatchPrfRequest {
            instances: strings.chunks.count.saturating_mul(bins),
            key_bits: strings.chunks.bits,
            evaluations,
            evaluations_in_all: evaluations,
            blocks: if payload_bytes > 0 { 2 } else { 1 },
            security: Security::SemiHonest,
        })?;
        let oprf_bytes = *CodeOprf::<P::Code>::predicted_bytes(&oprf).end();
        let tag_bits = tags::tag_bits(pairs, receiver_items);
        let finish = finish::Params::new(request, tag_bits, TagCoding::SortedCoded)
            .with_tags_per_item(POSITIONS)?
            .with_filter(compare::filter(entry))?;
        Ok(Self { id: entry.id, bins, strings, oprf, oprf_bytes, finish })
    }

    /// Blocks of a value.
    pub(super) fn blocks(&self) -> usize {
        1 + usize::from(self.finish.payload_bytes > 0)
    }

    /// The functions of items of a run.
    pub(super) fn places<P: Paper>(&self, ch: &Channel, salt: &[u8; 32]) -> Places {
        let finish = &self.finish;
        let sizes =
            [finish.sender_items, finish.receiver_items, self.bins, finish.tag_bits as usize, finish.payload_bytes];
        Places::new(self, Hashes::new(P::CONTEXT, ch, salt, &sizes, self.bins))
    }

    /// The key of the hash of sums of a run.
    pub(super) fn key_of_sums(&self, ch: &Channel, salt: &[u8; 32]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("vesica v1 psi-cuckoo 2026 salt to the key of sums");
        hasher.update(&ch.session()).update(salt).update(self.id.as_bytes());
        *hasher.finalize().as_bytes()
    }

    /// The salt, the transfers, tags and payloads; nothing if a set is empty.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        if self.finish.is_empty() {
            return 0..=0;
        }
        let (fixed, finish) = (32 + self.oprf_bytes, self.finish.predicted_bytes());
        fixed + finish.start()..=fixed + finish.end()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Chunks, CuckooPsi, Kkrt16, Oos17, Pssz15, Psz14};
    use super::*;
    use vesica_party::Row;

    fn request(sender_items: usize, receiver_items: usize) -> IntersectRequest {
        let security = Security::SemiHonest;
        IntersectRequest { sender_items, receiver_items, security, payload_bytes: 0, both_learn: false, runs: 1 }
    }

    /// Against Table 3 of "PsiBench", for 2^20 items a side: 133, 147 and 512 MB. It has no PSSZ15.
    #[test]
    fn a_million_items_take_less_than_what_was_measured_elsewhere() {
        fn derived<P: Paper>() -> (Chunks, u64) {
            let params = CuckooPsi::<P>::derive(&request(1 << 20, 1 << 20)).expect("served");
            assert_eq!((params.bins, params.finish.tag_bits), (1_300_235, 84));
            (params.strings.chunks, *params.predicted_bytes().end() / 1_000_000)
        }
        let chunks = |count, bits| Chunks { count, bits };
        assert_eq!(derived::<Kkrt16>(), (chunks(1, 128), 98));
        assert_eq!(derived::<Oos17>(), (chunks(1, 63), 99));
        assert_eq!(derived::<Psz14>(), (chunks(11, 8), 482));
        assert_eq!(derived::<Pssz15>(), (chunks(8, 8), 358));
    }

    fn comparing<P: Paper>(what: &str) -> &'static Row<CuckooPsi<P>> {
        Row::chosen(&format!("compare={what}")).expect("a variant")
    }

    /// 3 n fingerprints, and what its structure leaves empty; the list takes 25.3 MB.
    #[test]
    fn filters_take_what_their_tags_take() {
        let bits = |filter: &str| {
            let params = comparing::<Kkrt16>(filter).params(&request(1 << 20, 1 << 20)).expect("served");
            params.finish.predicted_bytes().end() * 8 / (3 << 20)
        };
        assert_eq!(["bloom", "cuckoo", "vacuum", "fuse"].map(bits), [89, 86, 69, 69]);
    }

    /// What travels on arrow 2 changes nothing of a row's bins, strings and transfers.
    #[test]
    fn filters_change_the_tags_alone() {
        fn check<P: Paper>(filter: &str) {
            for request in [request(1 << 10, 1 << 16), request(1 << 16, 1 << 10), request(1, 1)] {
                let [list, filtered] =
                    ["list", filter].map(|what| comparing::<P>(what).params(&request).expect("served"));
                assert_eq!((list.bins, list.strings), (filtered.bins, filtered.strings));
                assert_eq!((list.oprf, list.oprf_bytes), (filtered.oprf, filtered.oprf_bytes));
                assert_eq!((list.finish.tags(), filtered.finish.tag_bits), (filtered.finish.tags(), 128));
            }
        }
        check::<Psz14>("vacuum");
        check::<Pssz15>("fuse");
        check::<Kkrt16>("cuckoo");
        check::<Oos17>("vacuum");
    }

    /// Strings that two different items of a run share with probability `2^-41` at most.
    #[test]
    fn strings_are_as_long_as_the_sets_ask() {
        for sender_bits in [0, 3, 12, 20, 26] {
            for receiver_bits in [0, 3, 12, 20, 26] {
                let request = request(1 << sender_bits, 1 << receiver_bits);
                let bits = |strings: Strings| strings.chunks.string_bits();
                let bins = cuckoo_bins(request.receiver_items, 43).unwrap();
                assert!(bits(Psz14::strings(&request, bins).unwrap()) >= 41 + sender_bits + receiver_bits);
                let right = bits(Pssz15::strings(&request, bins).unwrap()) - 2;
                assert!(f64::from(right) + (bins as f64).log2() >= f64::from(41 + sender_bits + receiver_bits));
                assert!(2 * right + 3 >= 4 * receiver_bits + 43);
                assert!(bits(Oos17::strings(&request, bins).unwrap()) > 41 + sender_bits);
            }
        }
    }

    #[test]
    fn what_is_not_served_is_refused() {
        for (bad, said) in [
            (IntersectRequest { security: Security::Malicious, ..request(1, 1) }, "malicious"),
            (IntersectRequest { both_learn: true, ..request(1, 1) }, "several tags"),
            (request(1, (1 << 26) + 1), "cuckoo table"),
            (request(usize::MAX / 2, 1), ""),
        ] {
            for refusal in
                [CuckooPsi::<Kkrt16>::derive(&bad), CuckooPsi::<Psz14>::derive(&bad), CuckooPsi::<Oos17>::derive(&bad)]
            {
                let refusal = refusal.expect_err("refused").to_string();
                assert!(refusal.contains(said), "{refusal}");
            }
        }
    }
}
