//! VOLE-PSI as its papers have it. The figure is that of [`vesica_protocols::psi::vole`].

use vesica_mpc::base_ot;
use vesica_mpc::opprf;
use vesica_party::{Choice, ChoiceValue, CostClass, Entry, Leak, Mode, Status, Task};
use vesica_protocols::okvs_choice;
use vesica_protocols::psi::finish::compare;
use vesica_protocols::psi::prty20::TWO_HASH_BINS;
use vesica_protocols::psi::vole::VoleRow;
use vesica_protocols::psi::vole::entries::{
    BOTH_LEARN, MALICIOUS, MODES, OUTER_HASH, RR22, SALT, SEMI_HONEST, SHUFFLED, SORTED, VOLE_MALICIOUS, joined, tags,
};
use vesica_protocols::psi::vole::params::Values;
use vesica_protocols::tasks::{Intersect, SIZES};
use vesica_protocols::{larger_set, styles};
use vesica_structures::okvs::Kind;

const LARGER_SET_OF_TWO_HASHES: Leak = larger_set!(
    "For large sets m is 2.4 n_r: 3.4 to 3.7 n_r items with 2^64 queries, 4.1 to 4.5 n_r with 2^80. Who declares \
                 150 items tests 4.8 to 6.1 times as many, who declares 2 tests 84 to 108, and who declares 1 tests 14 to 18"
);

/// With the two-hash table.
const MALICIOUS_WITH_TWO_HASHES: Mode = Mode {
    leakage: &joined::<_, { VOLE_MALICIOUS.leakage.len() + 2 }>(
        VOLE_MALICIOUS.leakage,
        &[SIZES, LARGER_SET_OF_TWO_HASHES],
    ),
    ..MALICIOUS
};

const TWO_HASH_MODES: &[Mode] = &[SEMI_HONEST, MALICIOUS_WITH_TWO_HASHES];
/// A table of tens of cells an item lets a corrupt receiver use as many items, and a filter of tags a corrupt
/// sender.
const SEMI_HONEST_MODES: &[Mode] = &[SEMI_HONEST];

const NO_PAXOS: &str =
    "The clustered 3-hash table instead of the PaXoS OKVS (2.4 n cells): fewer cells at the same failure bound.";
const NO_INPUT_ORDER: &str = "Tags are shuffled; the paper's code sends them in the order of the input, which leaks.";

/// `rs21`: everything in `F`.
#[derive(Clone, Copy, Debug)]
pub enum Rs21 {}

impl VoleRow for Rs21 {
    const ENTRY: Entry = Entry {
        id: "rs21",
        aliases: &["vole-psi"],
        variants: &[
            okvs(&[CLUSTERED_FOR_PAXOS, BAND, TWO_HASHES_OF_PAPER, BLOOM]),
            tags(&[SHUFFLED, SORTED]),
            compare::choice(&[LIST, VACUUM, FUSE]),
            base_ot::CHOICE,
        ],
        task: Intersect::NAME,
        paper: opprf::PAPER,
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::VOLE),
        deviations: &[
            NO_PAXOS,
            "Silent VOLE on a code with a stated distance instead of the Silver-era code.",
            OUTER_HASH,
            SALT,
            BOTH_LEARN,
        ],
        modes: MODES,
    };
    const OKVS: Kind = Kind::Clustered;
    const VALUES: Values = Values::F;
}

/// `rr22`: the table in a subfield, the clustered OKVS.
#[derive(Clone, Copy, Debug)]
pub enum Rr22 {}

impl VoleRow for Rr22 {
    const ENTRY: Entry = Entry {
        id: "rr22",
        aliases: &["blazing-fast-psi"],
        variants: &[
            okvs(&[CLUSTERED, BAND, TWO_HASHES, BLOOM]),
            tags(&[SHUFFLED_FOR_UNSHUFFLED, SORTED]),
            compare::choice(&[LIST_FOR_UNSHUFFLED, VACUUM, FUSE]),
            base_ot::CHOICE,
        ],
        task: Intersect::NAME,
        paper: RR22,
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::VOLE),
        deviations: &[
            NO_INPUT_ORDER,
            "Semi-honest mode: B = GF(2^64) while 41 + log2(n_s) <= 64, else GF(2^128).",
            "A VOLE code with a stated distance, and the weight that VOLE (and not OT) needs.",
            OUTER_HASH,
            SALT,
            BOTH_LEARN,
        ],
        modes: MODES,
    };
    const OKVS: Kind = Kind::Clustered;
    const VALUES: Values = Values::Field;
}

const CLUSTERED: ChoiceValue =
    ChoiceValue::new("clustered", "The clustered 3-hash table: 1.23 cells an item for large sets, the fastest.");
/// As [`CLUSTERED`], where the paper has another table.
const CLUSTERED_FOR_PAXOS: ChoiceValue = CLUSTERED.deviating(&[NO_PAXOS]);
const BAND: ChoiceValue = ChoiceValue::new(
    "band",
    "The band table, one row of bits an item: 1.05 cells an item, the least traffic, and slower.",
)
.deviating(&["The band OKVS (Bienstock, Patel, Seo, Yeo, USENIX Security 2023) instead of the paper's, at the \
              failure bound of the row."]);
const TWO_HASHES: ChoiceValue = ChoiceValue {
    modes: Some(TWO_HASH_MODES),
    ..ChoiceValue::new("2-hash", "The two-hash garbled cuckoo table, PaXoS: 2.4 cells an item.").deviating(&[
        "The two-hash table PaXoS (Pinkas, Rosulek, Trieu, Yanai, EUROCRYPT 2020), in bins, instead of the paper's, at \
         the failure bound of the row.",
    ])
};
/// As [`TWO_HASHES`], where the paper has this table.
const TWO_HASHES_OF_PAPER: ChoiceValue = TWO_HASHES.deviating(&[TWO_HASH_BINS]);
const BLOOM: ChoiceValue = ChoiceValue {
    modes: Some(SEMI_HONEST_MODES),
    ..ChoiceValue::new(
        "gbf",
        "The garbled Bloom filter: 50 to 87 cells an item, far more traffic, time and memory than the others; \
         semi-honest mode only.",
    )
    .deviating(&[
        "A garbled Bloom filter (Dong, Chen, Wen, CCS 2013) of a segment for each hash function instead of the paper's \
         table, at the failure bound of the row. There is no malicious mode: a corrupt receiver could encode as many \
         items as there are cells, tens of times what it declared.",
    ])
};

/// As [`SHUFFLED`], where the paper's code does not shuffle.
const SHUFFLED_FOR_UNSHUFFLED: ChoiceValue = SHUFFLED.deviating(&[NO_INPUT_ORDER]);

/// What makes way for a filter.
const LIST: ChoiceValue = ChoiceValue::new("list", "The list of the sender's tags, which travels as `tags` says.");
/// As [`LIST`], where the paper's code does not shuffle.
const LIST_FOR_UNSHUFFLED: ChoiceValue = LIST.deviating(&[NO_INPUT_ORDER]);
/// With a filter there is no malicious mode.
const VACUUM: ChoiceValue = ChoiceValue { modes: Some(SEMI_HONEST_MODES), ..compare::VACUUM };
const FUSE: ChoiceValue = ChoiceValue { modes: Some(SEMI_HONEST_MODES), ..compare::FUSE };

/// Which OKVS, the first value being the default. `vole-fast` and `vole-lean` leave it fixed: they
/// differ in nothing else.
const fn okvs(values: &'static [ChoiceValue]) -> Choice {
    Choice { name: okvs_choice::NAME, what: "The table that encodes the receiver's items.", values }
}

#[cfg(test)]
mod tests {
    use vesica_mpc::oprf::ValueField;
    use vesica_party::{Protocol, Registered, Row, Security};
    use vesica_protocols::psi::vole::VolePsi;
    use vesica_protocols::psi::vole::entries::LARGER_SET;
    use vesica_protocols::tasks::IntersectRequest;
    use vesica_structures::facts::{FailureEvent, Unsupported};
    use vesica_structures::okvs::Okvs;

    use super::*;

    fn chosen<V: VoleRow>(choices: &str) -> &'static Row<VolePsi<V>> {
        Row::chosen(choices).expect("a variant")
    }

    /// The paper's own table is no deviation, and what a corrupt receiver may use goes by the table.
    #[test]
    fn what_an_entry_says_follows_its_table() {
        let [row, paxos] = ["tags=shuffled", "okvs=2-hash"].map(|choices| chosen::<Rs21>(choices).entry());
        assert!(row.deviations.contains(&NO_PAXOS) && !paxos.deviations.contains(&NO_PAXOS));
        assert_eq!(paxos.deviations.iter().filter(|deviation| row.deviations.contains(deviation)).count(), 4);
        for entry in [paxos, chosen::<Rr22>("okvs=2-hash,tags=sorted").entry()] {
            let malicious = entry.mode(Security::Malicious).expect("the bound holds for any table");
            assert!(malicious.leakage.contains(&LARGER_SET_OF_TWO_HASHES) && !malicious.leakage.contains(&LARGER_SET));
        }
        // A filter has no order of tags, and no malicious mode; nor has the garbled Bloom filter.
        for choices in ["okvs=gbf", "compare=vacuum", "compare=fuse", "okvs=2-hash,compare=fuse"] {
            for entry in [chosen::<Rs21>(choices).entry(), chosen::<Rr22>(choices).entry()] {
                assert_eq!(entry.modes, [SEMI_HONEST], "{}", entry.id);
                let is_filter = choices.contains("compare");
                assert!(!(is_filter && entry.deviations.contains(&NO_INPUT_ORDER)), "{}", entry.id);
            }
        }
        let request = request(9, 9, Security::SemiHonest);
        let refused = chosen::<Rr22>("compare=fuse,tags=sorted").params(&request).expect_err("no list travels");
        assert!(refused.what.contains("rr22:tags=sorted,compare=fuse"), "{refused}");
    }

    fn request(sender_items: usize, receiver_items: usize, security: Security) -> IntersectRequest {
        IntersectRequest { sender_items, receiver_items, security, payload_bytes: 0, both_learn: false, runs: 1 }
    }

    #[test]
    fn the_field_of_values_follows_their_width() {
        let derive = |id: &str, log: u32| {
            let request = request(1 << log, 2, Security::SemiHonest);
            let params = match id {
                "rs21" => VolePsi::<Rs21>::derive(&request),
                _ => VolePsi::<Rr22>::derive(&request),
            };
            params.map(|params| (params.field, params.value_bits)).unwrap()
        };
        assert_eq!(derive("rr22", 20), (ValueField::Gf64, 64));
        assert_eq!(derive("rr22", 24), (ValueField::Gf128, 128));
        assert_eq!(derive("rs21", 2), (ValueField::Gf128, 128));
    }

    /// The table is the chosen one at the failure budget's share, and all that depends on its length
    /// follows it.
    #[test]
    fn the_table_is_the_one_chosen() {
        fn check<V: VoleRow>(okvs: Kind, security: Security, cell_bytes: u64) {
            let row = chosen::<V>(&format!("okvs={}", okvs.name()));
            for receiver_items in [1, 2, 300, 20_000] {
                let params = row.params(&request(1000, receiver_items, security)).unwrap();
                let expected = okvs.store(receiver_items, FailureEvent::Encoding.bits(), 0).unwrap().len();
                assert_eq!(params.table_len, expected, "{}, {receiver_items} items", params.id);
                assert_eq!(params.table_bytes, cell_bytes * expected as u64, "{}, {receiver_items} items", params.id);
            }
        }
        check::<Rs21>(Kind::Clustered, Security::SemiHonest, 16);
        check::<Rs21>(Kind::Paxos, Security::SemiHonest, 16);
        check::<Rs21>(Kind::Paxos, Security::Malicious, 16);
        check::<Rr22>(Kind::Paxos, Security::SemiHonest, 8);
        check::<Rr22>(Kind::Paxos, Security::Malicious, 16);
        check::<Rs21>(Kind::Gbf, Security::SemiHonest, 16);
        check::<Rr22>(Kind::Gbf, Security::SemiHonest, 8);
    }

    #[test]
    fn the_garbled_bloom_filter_is_refused_where_it_does_not_serve() {
        fn refusal<V: VoleRow>(receiver_items: usize, security: Security) -> Unsupported {
            chosen::<V>("okvs=gbf").params(&request(1000, receiver_items, security)).expect_err("refused")
        }
        for refused in [refusal::<Rs21>(1000, Security::Malicious), refusal::<Rr22>(1000, Security::Malicious)] {
            assert!(refused.what.contains("no malicious mode") && refused.mend.contains("semi-honest"), "{refused:?}");
        }
        // 86.6 cells an item, and at most 2^28 in a VOLE.
        let of_items = |receiver_items| request(1000, receiver_items, Security::SemiHonest);
        assert!(chosen::<Rr22>("okvs=gbf").params(&of_items(3_000_000)).is_ok());
        let refused = refusal::<Rr22>(3_200_000, Security::SemiHonest);
        assert!(refused.what.contains("3200000 items") && refused.mend.contains("okvs for rr22"), "{refused:?}");
        assert!(chosen::<Rr22>("okvs=2-hash").params(&of_items(1 << 26)).is_ok());
    }

    /// What the entries say of a corrupt receiver with the table of two hashes: the most items `n'` with
    /// `n' (128 - log2(e Q / n')) < 128 m + 40`, for `Q = 2^q` queries.
    #[test]
    fn corrupt_receivers_encode_as_many_items_as_the_entry_says() {
        let most = |declared: usize, q: f64| {
            let request = request(1000, declared, Security::Malicious);
            let cells = chosen::<Rr22>("okvs=2-hash").params(&request).expect("served").table_len as f64;
            let fits =
                |items: f64| items * (128.0 - q - std::f64::consts::LOG2_E + items.log2()) < 128.0 * cells + 40.0;
            // By halving: what fits is all up to the most.
            let (mut below, mut above) = (1, 1usize << 40);
            while above - below > 1 {
                let middle = usize::midpoint(below, above);
                *(if fits(middle as f64) { &mut below } else { &mut above }) = middle;
            }
            below
        };
        assert_eq!([1, 2].map(|declared| [64.0, 80.0].map(|q| most(declared, q))), [[14, 18], [84, 108]]);
        let shares = |declared: usize| [64.0, 80.0].map(|q| (most(declared, q) * 10 / declared) as f64 / 10.0);
        assert_eq!(shares(150), [4.7, 6.1]);
        assert_eq!([shares(1 << 20), shares(1 << 26)], [[3.6, 4.4], [3.4, 4.1]]);
    }
}
