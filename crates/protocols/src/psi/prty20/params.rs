//! All numbers of a run. Their derivation is in docs/parameters/paxos.md.

use std::ops::{Range, RangeInclusive};

use vesica_mpc::code_oprf::LongBch;
use vesica_mpc::oprf::table;
use vesica_mpc::ot_extension::{OtExtension, OtParams};
use vesica_mpc::tasks::CorrelationRequest;
use vesica_party::{Entry, Protocol, Security};
use vesica_structures::facts::{FailureEvent, Unsupported, bitwise_and_width};
use vesica_structures::okvs::{self, Okvs};
use vesica_structures::ot_rows::COLUMNS;

use super::coded::{OPENED_HASHES, rows_made};
use crate::okvs_choice::chosen_okvs;
use crate::psi::finish::{self, compare};
use crate::tags::{self, TagCoding};
use crate::tasks::IntersectRequest;

/// The share of the failure budget of the table's encoding.
pub const ENCODING_BITS: u32 = FailureEvent::Encoding.bits();

/// Width of a tag in the malicious mode, in bits: the simulator finds a corrupt sender's items by their tags.
pub const MALICIOUS_TAG_BITS: u32 = 128;

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug)]
pub struct Params {
    /// The row's id, for the derivation of keys.
    pub id: &'static str,
    /// The mode.
    pub security: Security,
    /// Width of a row, in bits; of a cell, too, in the semi-honest mode.
    pub width: u32,
    /// An OT for each column.
    pub transfers: OtParams,
    /// The table.
    pub okvs: okvs::Kind,
    /// The cells of each part of it.
    pub parts: Vec<Range<usize>>,
    /// Arrows 3 to 5, and the sizes of the sets.
    pub finish: finish::Params,
}

impl Params {
    /// Parameters of the row or variant of this description for a request, refused where the mode or a size is not
    /// served.
    pub fn derive(request: &IntersectRequest, entry: &Entry) -> Result<Self, Unsupported> {
        entry.require(request.security)?;
        request.check_sizes()?;
        let &IntersectRequest { sender_items, receiver_items, security, .. } = request;
        let (width, tag_bits) = match security {
            Security::SemiHonest => (semi_honest_width(sender_items)?, tags::tag_bits(sender_items, receiver_items)),
            Security::Malicious => (LongBch::WIDTH, MALICIOUS_TAG_BITS),
        };
        let okvs = chosen_okvs(entry, okvs::Kind::Paxos);
        let correlation = CorrelationRequest { len: width, security, width: None };
        Ok(Self {
            id: entry.id,
            security,
            width: width as u32,
            transfers: OtExtension::derive(&correlation)?,
            // The table's shape does not depend on its seed.
            parts: okvs.store(receiver_items, ENCODING_BITS, 0)?.parts(),
            okvs,
            finish: finish::Params::new(request, tag_bits, TagCoding::SortedCoded)
                .with_filter(compare::filter(entry))?,
        })
    }

    /// Cells of the table.
    pub fn cells(&self) -> usize {
        self.parts.iter().map(ExactSizeIterator::len).sum()
    }

    /// Rows of the OT extension: one for each cell, and in the malicious mode those of the check.
    pub fn rows_made(&self) -> usize {
        match self.security {
            Security::SemiHonest => self.cells(),
            Security::Malicious => rows_made(self.cells()),
        }
    }

    /// Whether a set is empty: then nothing is sent and nothing matches.
    pub fn is_empty(&self) -> bool {
        self.finish.is_empty()
    }

    /// All that the keys of a run are bound to, besides session and salt.
    pub fn fingerprint(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("vesica v1 prty20 2026 parameters");
        let finish = &self.finish;
        hasher.update(self.id.as_bytes()).update(&[0, u8::from(finish.both_learn)]);
        for size in [
            finish.sender_items,
            finish.receiver_items,
            self.width as usize,
            finish.tag_bits as usize,
            finish.payload_bytes,
        ] {
            hasher.update(&(size as u64).to_le_bytes());
        }
        if self.security == Security::Malicious {
            hasher.update(b"malicious");
        }
        *hasher.finalize().as_bytes()
    }

    /// The salt, the OTs, a row for each cell, the check, tags, payloads and proofs.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        if self.is_empty() {
            return 0..=0;
        }
        let base = OtExtension::predicted_bytes(&self.transfers);
        let finish = self.finish.predicted_bytes();
        let table = table::predicted_bytes(&self.parts, self.width);
        let fixed = match self.security {
            Security::SemiHonest => 32 + table,
            Security::Malicious => {
                let further = self.cells()..self.rows_made();
                3 * 32 + table + table::predicted_bytes(&[further], self.width) + 16 * (1 + OPENED_HASHES as u64)
            }
        };
        fixed + base.start() + finish.start()..=fixed + base.end() + finish.end()
    }
}

/// Width of a row in the semi-honest mode, refused where it has no space in a row.
fn semi_honest_width(sender_items: usize) -> Result<usize, Unsupported> {
    // Half of the budget, FailureEvent::ZeroDifference, is as the whole of it for twice as many.
    let width = bitwise_and_width(sender_items.saturating_mul(2))?;
    if width > COLUMNS {
        return Err(Unsupported::new(
            format_args!("{sender_items} items of the sender, which take rows of {width} bits"),
            format_args!("use fewer, for rows of {COLUMNS} bits, or another protocol"),
        ));
    }
    Ok(width)
}

#[cfg(test)]
mod tests {
    use vesica_party::Row;

    use super::super::Prty20;
    use super::*;

    fn request(sender_items: usize, receiver_items: usize) -> IntersectRequest {
        request_against(Security::SemiHonest, sender_items, receiver_items)
    }

    fn request_against(security: Security, sender_items: usize, receiver_items: usize) -> IntersectRequest {
        IntersectRequest { sender_items, receiver_items, security, payload_bytes: 0, both_learn: false, runs: 1 }
    }

    /// A row of 438 bits for each of 2.4 cells an item, and tags of some 8 bytes.
    #[test]
    fn a_million_items_take_what_their_cells_take() {
        let params = Prty20::derive(&request(1 << 20, 1 << 20)).expect("served");
        assert_eq!(params.width, 438);
        let bytes = *params.predicted_bytes().end();
        assert!((140_000_000..150_000_000).contains(&bytes), "{bytes}");
    }

    #[test]
    fn what_is_not_served_is_refused() {
        for (bad, said) in [
            (request((1 << 25) + 1, 1), "rows of"),
            (request(usize::MAX / 2, 1), ""),
            (request(1, (1 << 26) + 1), "two-hash table"),
        ] {
            let refusal = Prty20::derive(&bad).expect_err("refused").to_string();
            assert!(refusal.contains(said), "{refusal}");
        }
        assert!(Prty20::derive(&request(1 << 25, 1)).is_ok());
        // The code's distance does not go by the number of items.
        assert!(Prty20::derive(&request_against(Security::Malicious, 1 << 26, 1)).is_ok());
    }

    /// Cells, and megabytes of all, of the table of docs/parameters/prty20.md.
    #[test]
    fn malicious_sets_of_all_sizes_have_the_rows_of_the_check() {
        for (items, cells, megabytes) in [
            (1, 7, 0.06),
            (2, 45, 0.06),
            (1 << 10, 2501, 0.33),
            (1 << 16, 157_619, 17.5),
            (1 << 20, 2_521_995, 278.7),
            (1 << 24, 40_359_256, 4450.0),
        ] {
            let params = Prty20::derive(&request_against(Security::Malicious, items, items)).expect("served");
            assert_eq!((params.width, params.finish.tag_bits), (838, 128));
            assert_eq!(params.cells(), cells, "{items}");
            let further = params.rows_made() - cells;
            assert!(params.rows_made().is_multiple_of(128) && (128..256).contains(&further), "{items}: {further}");
            let predicted = *params.predicted_bytes().end() as f64 / 1e6;
            assert!((predicted - megabytes).abs() <= megabytes / 100.0, "{items}: {predicted} MB");
        }
    }

    fn chosen(choices: &str) -> &'static Row<Prty20> {
        Row::chosen(choices).expect("a variant")
    }

    /// A row of 438 bits for each of 1.3 cells an item.
    #[test]
    fn a_table_of_three_hashes_takes_half_of_the_traffic() {
        let request = request_against(Security::SemiHonest, 1 << 20, 1 << 20);
        let bytes = *chosen("okvs=clustered").params(&request).expect("served").predicted_bytes().end();
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
            for okvs in ["2-hash", "clustered", "band"] {
                let cells = chosen(&format!("okvs={okvs}")).params(&request).expect("served").cells();
                assert!(cells >= if items == 1 { 7 } else { 45 }, "{items}: {cells}");
                let most = |q| most(cells as f64, q);
                assert!(most(64.0) < 1.6 && most(80.0) < 1.8 && most(128.0) < 3.0, "{cells}");
            }
        }
        assert!(most(40e6, 64.0) > 1.25 && most(40e6, 80.0) > 1.4, "the bound is stated for large sets, too");
    }
}
