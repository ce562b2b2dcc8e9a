//! How the rows are built, in the terms of PsiBench (its Tables 1 and 2), with the work that grows with
//! the sets. Rows that differ in none of it share a constant.

use vesica_party::{Compare, Map, MapAndCompare, Work};

/// `n_s` and `n_r` items hashed to the group; the receiver's go there, back, and get rid of its blinding.
const BLINDED_ONCE: &str = "n_s + 3 n_r";
const BLINDED_TWICE: &str = "2 n_s + 2 n_r";
const HASHES: &str = "n_s + n_r hashes to the group, and as many of results";

const fn style(map: Map, compare: Compare, work: Work) -> MapAndCompare {
    MapAndCompare::new(map, compare, work)
}

/// Diffie-Hellman.
pub const DH_PSI: MapAndCompare = style(Map::CommutativeWeakPrf, Compare::List, Work::new(BLINDED_ONCE, HASHES));
/// The same, where the receiver's values come back in another order.
pub const DH_COUNT: MapAndCompare = style(Map::CommutativeWeakPrf, Compare::Set, Work::new(BLINDED_ONCE, HASHES));
/// The same, where both sets are blinded twice.
pub const DH_COUNT_BOTH: MapAndCompare =
    style(Map::CommutativeWeakPrf, Compare::Set, Work::new(BLINDED_TWICE, "n_s + n_r hashes to the group"));
/// The same, with a ciphertext for each value.
pub const DH_SUM: MapAndCompare = style(
    Map::CommutativeWeakPrf,
    Compare::Set,
    Work::new(
        BLINDED_TWICE,
        "n_s + n_r hashes to the group, and as many of results; ring-LWE: n_s encryptions a column",
    ),
);
/// Whose set stays under one key for many queries.
pub const FIXED_KEY: MapAndCompare =
    style(Map::FixedKeyOprf, Compare::Set, Work::new("n_s once a key; 3 n_r a query, and more with proofs", HASHES));
/// The same, with one bucket for each item of the client.
pub const BUCKETS: MapAndCompare =
    style(Map::FixedKeyOprf, Compare::Set, Work::new("n_s once a key; 3 n_r a query", HASHES));
/// The same, with a record for each item of the client, fetched by ring-LWE.
pub const LOOK_UP: MapAndCompare = style(
    Map::FixedKeyOprf,
    Compare::LookUp,
    Work::new("n_s once a key; 3 n_r a query", "n_r products of a ring-LWE query and the whole set"),
);

/// A polynomial of the sender for each part of a bin.
pub const HE: MapAndCompare = style(
    Map::HomomorphicEncryption,
    Compare::Decryption,
    Work::symmetric(
        "products of plaintexts and ciphertexts, one for each coefficient of the polynomials in 2^12 or 2^13 slots; products of two ciphertexts for the powers",
    ),
);
/// The same on outputs of an OPRF.
pub const HE_OPRF: MapAndCompare = style(
    Map::HomomorphicEncryption,
    Compare::Decryption,
    Work::new("n_s once a key; 3 n_r a query", HE.work.symmetric_operations),
);
/// The same for a union, whose result is shared.
pub const HE_UNION: MapAndCompare = style(
    Map::HomomorphicEncryption,
    Compare::ObliviousTransfer,
    Work::symmetric(
        "as with clr17; an equality test a cell; a permutation of a bit and an OT a bin, 1.4 n_s and more bins",
    ),
);
/// Comparison of constant-weight codewords.
pub const HE_SHARES: MapAndCompare = style(
    Map::HomomorphicEncryption,
    Compare::Nothing,
    Work::symmetric(
        "for each 2^13 slots of the sender's bins about a hundred products of plaintexts and ciphertexts and four of two ciphertexts; an equality test of 17 bits a bin of 1.24 n_r",
    ),
);
/// The same, of which totals are opened.
pub const HE_TOTALS: MapAndCompare = style(
    Map::HomomorphicEncryption,
    Compare::ShareRecovery,
    Work::symmetric("as with pepsi; a conversion or a multiplexer a bin"),
);
/// Tables of the server under its key, and products with what the client selects.
pub const HE_PRODUCTS: MapAndCompare = style(
    Map::HomomorphicEncryption,
    Compare::Decryption,
    Work::symmetric("encryptions of the table, n_s once; products of two ciphertexts, several an item of the client"),
);
/// The same without products of ciphertexts.
pub const HE_SELECT: MapAndCompare = style(
    Map::HomomorphicEncryption,
    Compare::Decryption,
    Work::symmetric(
        "encryptions of the table, n_s once; for each limb of the client's items a selection, three encryptions and up to six key switches",
    ),
);

/// Strings in bins, by several transfers a bin.
pub const CUCKOO_CHUNKS: MapAndCompare = style(
    Map::SinglePointOprf,
    Compare::Sets,
    Work::symmetric(
        "for each byte of a string 3 n_s + 1.24 n_r hashes, and AES for three times 1.24 n_r rows of 256 bits; 3 n_s + 1.24 n_r hashes of sums",
    ),
);
/// The same by one.
pub const CUCKOO_ONE: MapAndCompare = style(
    Map::SinglePointOprf,
    Compare::Sets,
    Work::symmetric("3 n_s + 1.24 n_r hashes; AES for three times 1.24 n_r rows of some 400 to 480 bits"),
);
/// Encodings from transfers in both directions, for all slots of a bin.
pub const DUAL_EXECUTION: MapAndCompare = style(
    Map::SinglePointOprf,
    Compare::Sets,
    Work::symmetric(
        "30 to 50 hashes of two compressions for each of n_s + n_r; AES for three times 4 to 9 rows of 508 bits for each of n_s + n_r",
    ),
);
/// Encodings from transfers in one direction, and a commitment for each of the sender's items.
pub const ENCODE_COMMIT: MapAndCompare = style(
    Map::SinglePointOprf,
    Compare::Sets,
    Work::symmetric(
        "60 to 100 hashes of two compressions for each of n_s, and a commitment; AES for three times 4 to 9 rows of 508 bits for each of n_r",
    ),
);
/// Columns of bits.
pub const CM20: MapAndCompare = style(
    Map::MultiPointOprf,
    Compare::Set,
    Work::symmetric(
        "n_s + n_r hashes, and some 150 AES for each of n_s + n_r; AES for three times n_r rows of some 600 bits",
    ),
);
/// Polynomials over a set.
pub const SPOT_LOW: MapAndCompare = style(
    Map::MultiPointOprf,
    Compare::Set,
    Work::symmetric(
        "interpolation at n_r points and evaluation at n_s, 7 times over GF(2^64), or the cells of a table; n_s + n_r hashes; AES for rows of 448 bits or fewer",
    ),
);
/// Polynomials over bins of two choices.
pub const SPOT_FAST: MapAndCompare = style(
    Map::MultiPointOprf,
    Compare::Sets,
    Work::symmetric("interpolation and evaluation in bins; 2 n_s + n_r hashes; AES for rows of 448 bits"),
);
/// A table of rows.
pub const PRTY20: MapAndCompare = style(
    Map::MultiPointOprf,
    Compare::Set,
    Work::symmetric(
        "2 n_s + 2 n_r hashes; AES for a row of some 450 bits a cell (malicious: 838, and a code word for each cell and \
         each of n_s); the table's cells",
    ),
);
/// A garbled Bloom filter over the transfers of its cells, partly opened in the malicious row.
pub const GBF: MapAndCompare = style(
    Map::MultiPointOprf,
    Compare::Set,
    Work::symmetric(
        "20 to 30 AES for the positions of each of n_s + n_r, and a random transfer for each of 60 to 90 n_r cells (dcw13), or 67 to 164 AES and 200 to 715 n_r transfers (rr16, from 32 items on); n_s + n_r hashes of sums",
    ),
);
/// A table of messages of a key agreement.
pub const KEY_AGREEMENT: MapAndCompare = style(
    Map::MultiPointOprf,
    Compare::Set,
    Work::new(
        "n_s, and 3 n_r by tables of the base",
        "a map to the curve for each of n_s, and two tries at its inverse for each of n_r; 16 hashes for each of n_s + n_r; the table's cells",
    ),
);
/// A table in a silent VOLE.
pub const VOLE: MapAndCompare = style(
    Map::MultiPointOprf,
    Compare::Set,
    Work::symmetric("2 n_s + 2 n_r hashes; a silent VOLE a cell of the table, 1.045 to 1.45 n_r cells"),
);

/// Equality tests in bins, whose result stays shared.
pub const CIRCUIT_SHARES: MapAndCompare = style(
    Map::Circuits,
    Compare::Nothing,
    Work::symmetric(
        "an OPRF of 3 n_s + n_r values; a hint of 3 n_s pairs; an equality test a bin of 1.24 n_r, from silent OTs",
    ),
);
/// The same, of which totals are opened.
pub const CIRCUIT_TOTALS: MapAndCompare = style(
    Map::Circuits,
    Compare::ShareRecovery,
    Work::symmetric("as with vesica-circuit; a conversion or a multiplexer a bin"),
);
/// The same, of which all is opened to the receiver.
pub const CIRCUIT_OPENED: MapAndCompare = style(Map::Circuits, Compare::ShareRecovery, CIRCUIT_SHARES.work);
/// Equality tests in the sender's bins, permuted, and an OT a place.
pub const CIRCUIT_UNION: MapAndCompare = style(
    Map::Circuits,
    Compare::ObliviousTransfer,
    Work::symmetric(
        "an OPRF of n_s + 3 n_r values, and a hint of 3 n_r pairs; an equality test a bin of 1.24 n_s; a permutation of these, and an OT a place",
    ),
);
/// The same in each direction.
pub const CIRCUIT_UNION_BOTH: MapAndCompare =
    style(Map::Circuits, Compare::ObliviousTransfer, Work::symmetric("those of vesica-union, for either side's bins"));

/// Diffie-Hellman in an order that hides items, and an OT a place.
pub const DH_TEST: MapAndCompare =
    style(Map::MembershipTest, Compare::ObliviousTransfer, Work::new(BLINDED_TWICE, "hashes to the group; n_s OTs"));
/// The same without OTs: the number of places that match is the result.
pub const DH_TEST_COUNT: MapAndCompare = style(Map::MembershipTest, Compare::Set, Work::new(BLINDED_TWICE, HASHES));
/// A shuffled table, and an OPRF of its shares.
pub const SHUFFLED_TEST: MapAndCompare = style(
    Map::MembershipTest,
    Compare::ObliviousTransfer,
    Work::symmetric(
        "a permutation of a table of 1.24 n by OTs, of the set that is shuffled; an OPRF of that table, and of 3 values for each item of the other set; an OT a place",
    ),
);
/// The same without OTs of records.
pub const SHUFFLED_TEST_COUNT: MapAndCompare = style(Map::MembershipTest, Compare::Set, SHUFFLED_TEST.work);
/// The sender's own table shuffled, whose matches the sender learns.
pub const SHUFFLED_KEYS: MapAndCompare = style(
    Map::MembershipTest,
    Compare::Set,
    Work::symmetric(
        "three permutations of a table of 1.24 n_s by OTs; an OPRF of that table, and of 3 values for each of n_r; n_s records under keys",
    ),
);
/// Bits of hashes by base OTs.
pub const BITS_OF_HASHES: MapAndCompare = style(
    Map::MultiPointOprf,
    Compare::Set,
    Work::symmetric(
        "for each of log2(n_s n_r) + 40 bits a hash for each of n_s and two for each of n_r; a table of 1.045 to 1.45 n_r cells",
    ),
);
/// A polynomial and two OPRFs a place.
pub const BIN_TESTS: MapAndCompare = style(
    Map::MembershipTest,
    Compare::ObliviousTransfer,
    Work::symmetric("two OPRFs and a polynomial a place of the sender; an OT a place"),
);
/// Encryption on shares.
pub const ZCL23_SK: MapAndCompare = style(
    Map::MembershipTest,
    Compare::ObliviousTransfer,
    Work::symmetric("a table of n_r ciphertexts; a decryption by LowMC on shares for each of n_s places, and an OT"),
);
/// Encryption in a group.
pub const ZCL23_PK: MapAndCompare = style(
    Map::MembershipTest,
    Compare::ObliviousTransfer,
    Work::new("3 n_s, and 2 a cell of a table of 1.18 to 1.55 n_r cells", "n_s OTs"),
);
/// Bins of a lookup table, opened round by round.
pub const PEELING: MapAndCompare = style(
    Map::MembershipTest,
    Compare::ObliviousTransfer,
    Work::symmetric("an OT, a VOLE and four pads for each test of a bin, some times the union's size in all"),
);
