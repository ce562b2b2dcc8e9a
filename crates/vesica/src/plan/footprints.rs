//! The coefficients of the memory model, from measured peaks; docs/parameters/plan-memory.md says
//! how they are made.

use vesica_party::Security;
use vesica_structures::filters::Kind;

use super::memory::{Coefficients, Footprint, Totals};

/// `id`, mode, and for sender and receiver: KiB, bytes a sender's item, bytes a receiver's item.
const fn row(id: &'static str, security: Security, [sender, receiver]: [[u64; 3]; 2]) -> Footprint {
    Footprint { id, security, sender: coefficients(sender), receiver: coefficients(receiver), totals: Totals::Plain }
}

/// A row that computes totals on shares.
const fn on_shares(row: Footprint) -> Footprint {
    Footprint { totals: Totals::OnShares, ..row }
}

/// A row that looks up records in a matrix.
const fn look_up(row: Footprint) -> Footprint {
    Footprint { totals: Totals::LookUp, ..row }
}

/// A row that fills up buckets.
const fn in_buckets(row: Footprint) -> Footprint {
    Footprint { totals: Totals::Buckets, ..row }
}

/// A row that tests cells.
const fn of_cells(row: Footprint) -> Footprint {
    Footprint { totals: Totals::Cells, ..row }
}

/// A row that makes polynomials of payloads.
const fn with_labels(row: Footprint) -> Footprint {
    Footprint { totals: Totals::Labels, ..row }
}

/// A row that multiplies payloads to ciphertexts.
const fn in_ciphertexts(row: Footprint) -> Footprint {
    Footprint { totals: Totals::InCiphertexts, ..row }
}

/// A row that holds what some transfers give at a time.
const fn of_transfers(row: Footprint) -> Footprint {
    Footprint { totals: Totals::Transfers, ..row }
}

/// A semi-honest variant that compares by a filter of its tags. By count it takes what its row does,
/// and the filter.
const fn filtered(id: &'static str, (kind, tags_per_item): (Kind, usize), coefficients: [[u64; 3]; 2]) -> Footprint {
    Footprint { totals: Totals::Filter { kind, tags_per_item }, ..row(id, Security::SemiHonest, coefficients) }
}

const fn coefficients([fixed_kib, per_sender_item, per_receiver_item]: [u64; 3]) -> Coefficients {
    Coefficients { fixed_kib, per_sender_item, per_receiver_item }
}

/// Ascending by id.
pub(super) const FOOTPRINTS: &[Footprint] = &[
    row("bpsy23-union", Security::SemiHonest, [[799, 244, 957], [1700, 16, 300]]),
    row("cgs22", Security::SemiHonest, [[2735, 289, 670], [2737, 75, 689]]),
    on_shares(row("cgs22-psi", Security::SemiHonest, [[739, 316, 670], [752, 63, 673]])),
    on_shares(row("cgs22-psi:ot=softspoken", Security::SemiHonest, [[1822, 282, 181], [822, 61, 592]])),
    row("cgs22:ot=softspoken", Security::SemiHonest, [[1747, 291, 191], [840, 62, 587]]),
    row("clr17", Security::SemiHonest, [[29037, 415, 97], [4190, 4, 16]]),
    row("cm20", Security::SemiHonest, [[211, 138, 9], [466, 7, 148]]),
    filtered("cm20:compare=bloom", (Kind::Bloom, 1), [[211, 138, 9], [466, 7, 148]]),
    filtered("cm20:compare=cuckoo", (Kind::Cuckoo, 1), [[211, 138, 9], [466, 7, 148]]),
    filtered("cm20:compare=fuse", (Kind::Fuse, 1), [[211, 138, 9], [466, 7, 148]]),
    filtered("cm20:compare=vacuum", (Kind::Vacuum, 1), [[211, 138, 9], [466, 7, 148]]),
    row("cm25-fast-intersection", Security::SemiHonest, [[32000, 240, 0], [23200, 75, 16]]),
    row("cm25-fast-intersection-repaired", Security::SemiHonest, [[117000, 420, 0], [69000, 290, 16]]),
    row("cm25-fast-setup", Security::SemiHonest, [[32000, 200, 0], [23200, 40, 16]]),
    row("cm25-fast-setup-repaired", Security::SemiHonest, [[121500, 290, 0], [69000, 150, 16]]),
    row("cm25-select", Security::SemiHonest, [[28900, 86, 2596], [6512, 97, 16]]),
    with_labels(row("cmdg21", Security::SemiHonest, [[5727, 192, 0], [1135, 1, 225]])),
    row("cssw25", Security::SemiHonest, [[1654, 1047, 45], [738, 1032, 698]]),
    row("cssw25:shuffle=prf", Security::SemiHonest, [[3759, 3152, 19], [3631, 3136, 645]]),
    row("czz24", Security::SemiHonest, [[204, 110, 75], [204, 110, 32]]),
    row("czz24-cardinality", Security::SemiHonest, [[55, 45, 79], [43, 87, 34]]),
    row("czz24-sum", Security::SemiHonest, [[204, 110, 75], [205, 110, 32]]),
    row("czz24-union", Security::SemiHonest, [[204, 140, 75], [204, 140, 32]]),
    row("czz24-union-cardinality", Security::SemiHonest, [[55, 45, 79], [43, 87, 34]]),
    row("czz24-union-sum", Security::SemiHonest, [[204, 110, 75], [205, 110, 32]]),
    of_transfers(row("dcw13", Security::SemiHonest, [[400, 60, 4], [400, 4, 80]])),
    row("ecdh-ca-cgt12", Security::SemiHonest, [[107, 95, 75], [38, 16, 106]]),
    row("ecdh-ca-hfh99", Security::SemiHonest, [[52, 45, 75], [48, 85, 32]]),
    row("ecdh-hfh99", Security::SemiHonest, [[75, 89, 0], [44, 13, 86]]),
    filtered("ecdh-hfh99:compare=fuse", (Kind::Fuse, 1), [[75, 92, 0], [44, 13, 86]]),
    filtered("ecdh-hfh99:compare=vacuum", (Kind::Vacuum, 1), [[75, 92, 0], [44, 13, 86]]),
    row("gmr21", Security::SemiHonest, [[956, 1009, 75], [1229, 1113, 717]]),
    row("gmr21-cardinality", Security::SemiHonest, [[1039, 964, 75], [1194, 1090, 714]]),
    row("gmr21-sum", Security::SemiHonest, [[1053, 1008, 75], [1193, 1113, 714]]),
    row("gmr21-union", Security::SemiHonest, [[1053, 1050, 75], [1229, 1140, 717]]),
    row("gmr21-union-cardinality", Security::SemiHonest, [[1039, 964, 75], [1194, 1090, 714]]),
    row("gmr21-union-sum", Security::SemiHonest, [[1053, 1008, 75], [1193, 1113, 714]]),
    row("hfh99-secp256k1", Security::SemiHonest, [[33, 93, 4], [43, 12, 87]]),
    row("hfh99-x25519", Security::SemiHonest, [[42, 82, 0], [22, 21, 96]]),
    row("ikn20", Security::SemiHonest, [[1119, 45, 75], [836, 85, 32]]),
    row("jsz22-r", Security::SemiHonest, [[903, 345, 1116], [949, 92, 1445]]),
    row("jsz22-s", Security::SemiHonest, [[1408, 1651, 0], [1291, 1458, 290]]),
    row("jszg24", Security::SemiHonest, [[860, 1510, 44], [673, 1900, 681]]),
    row("kkrt16", Security::SemiHonest, [[1922, 159, 2], [1960, 0, 111]]),
    filtered("kkrt16:compare=bloom", (Kind::Bloom, 3), [[1922, 159, 2], [1960, 0, 111]]),
    filtered("kkrt16:compare=cuckoo", (Kind::Cuckoo, 3), [[1922, 159, 2], [1960, 0, 111]]),
    filtered("kkrt16:compare=fuse", (Kind::Fuse, 3), [[1922, 159, 2], [1960, 0, 111]]),
    filtered("kkrt16:compare=vacuum", (Kind::Vacuum, 3), [[1922, 159, 2], [1960, 0, 111]]),
    row("krtw19", Security::SemiHonest, [[2745, 670, 133], [5379, 359, 161]]),
    row("ltsxq26", Security::Malicious, [[282, 78, 22], [898, 1, 148]]),
    row("ltsxq26", Security::SemiHonest, [[280, 76, 30], [959, 3, 156]]),
    row("ltsxq26-aes", Security::Malicious, [[283, 78, 22], [799, 0, 149]]),
    row("ltsxq26-aes", Security::SemiHonest, [[276, 76, 30], [979, 2, 141]]),
    row("ltsxq26-aes-band", Security::Malicious, [[293, 78, 19], [460, 20, 196]]),
    row("ltsxq26-aes-band", Security::SemiHonest, [[283, 76, 27], [484, 10, 190]]),
    row("ltsxq26-band", Security::Malicious, [[298, 78, 19], [432, 21, 198]]),
    row("ltsxq26-band", Security::SemiHonest, [[282, 77, 27], [512, 9, 190]]),
    row("ltsxq26-circuit", Security::SemiHonest, [[3235, 573, 1798], [3230, 75, 1815]]),
    row("ltsxq26-wide", Security::SemiHonest, [[1004, 163, 185], [2602, 2, 454]]),
    row("oos17", Security::SemiHonest, [[1943, 159, 2], [2174, 0, 91]]),
    filtered("oos17:compare=fuse", (Kind::Fuse, 3), [[1943, 159, 2], [2174, 0, 91]]),
    filtered("oos17:compare=vacuum", (Kind::Vacuum, 3), [[1943, 159, 2], [2174, 0, 91]]),
    in_buckets(row("oprf-buckets", Security::SemiHonest, [[3200, 70, 0], [200, 0, 170]])),
    look_up(row("oprf-pir", Security::SemiHonest, [[500, 60, 200], [1300, 16, 260]])),
    row("oprf-rfc9497", Security::Malicious, [[1073, 63, 0], [466, 18, 152]]),
    row("oprf-rfc9497", Security::SemiHonest, [[1203, 55, 0], [372, 11, 153]]),
    in_ciphertexts(row("pepsi", Security::SemiHonest, [[78000, 160, 400], [13000, 75, 600]])),
    row("prty20", Security::Malicious, [[4600, 250, 345], [8500, 0, 560]]),
    row("prty20", Security::SemiHonest, [[2048, 202, 167], [4252, 0, 296]]),
    filtered("prty20:compare=fuse", (Kind::Fuse, 1), [[2048, 202, 167], [4252, 0, 296]]),
    filtered("prty20:compare=vacuum", (Kind::Vacuum, 1), [[2048, 202, 167], [4252, 0, 296]]),
    row("pssz15", Security::SemiHonest, [[1487, 203, 0], [1265, 1, 210]]),
    filtered("pssz15:compare=fuse", (Kind::Fuse, 3), [[1487, 203, 0], [1265, 1, 210]]),
    filtered("pssz15:compare=vacuum", (Kind::Vacuum, 3), [[1487, 203, 0], [1265, 1, 210]]),
    row("psty19", Security::SemiHonest, [[964, 228, 1853], [1030, 75, 1870]]),
    on_shares(row("psty19-psi", Security::SemiHonest, [[911, 228, 1853], [970, 1, 1853]])),
    on_shares(row("psty19-psi:ot=softspoken", Security::SemiHonest, [[2337, 212, 138], [2364, 0, 133]])),
    row("psty19:ot=softspoken", Security::SemiHonest, [[2339, 212, 138], [2220, 0, 146]]),
    row("psz14", Security::SemiHonest, [[1517, 200, 0], [1610, 0, 200]]),
    filtered("psz14:compare=fuse", (Kind::Fuse, 3), [[1517, 200, 0], [1610, 0, 200]]),
    filtered("psz14:compare=vacuum", (Kind::Vacuum, 3), [[1517, 200, 0], [1610, 0, 200]]),
    row("pt26", Security::SemiHonest, [[2360, 245, 214], [2791, 347, 347]]),
    row("ra17", Security::SemiHonest, [[842, 60, 0], [374, 11, 153]]),
    of_transfers(row("rr16", Security::Malicious, [[400, 60, 4], [400, 4, 80]])),
    row("rr17-de", Security::Malicious, [[3275, 936, 430], [2383, 352, 1590]]),
    row("rr17-ec", Security::Malicious, [[4789, 393, 188], [1945, 0, 406]]),
    row("rr22", Security::Malicious, [[2916, 95, 118], [2833, 1, 225]]),
    row("rr22", Security::SemiHonest, [[1482, 96, 134], [1779, 2, 231]]),
    row("rr22-circuit", Security::SemiHonest, [[946, 542, 1853], [1009, 75, 1869]]),
    filtered("rr22:compare=fuse", (Kind::Fuse, 1), [[1482, 96, 134], [1779, 2, 231]]),
    filtered("rr22:compare=vacuum", (Kind::Vacuum, 1), [[1482, 96, 134], [1779, 2, 231]]),
    // By count: 66 bytes for each of up to 87 cells an item at the receiver, 50 at the sender.
    row("rr22:okvs=gbf", Security::SemiHonest, [[2925, 95, 4500], [2845, 1, 6000]]),
    row("rs21", Security::Malicious, [[2932, 95, 106], [2829, 1, 249]]),
    row("rs21", Security::SemiHonest, [[2925, 95, 113], [2845, 1, 254]]),
    row("rs21-circuit", Security::SemiHonest, [[3244, 501, 1798], [3256, 75, 1815]]),
    on_shares(row("rs21-circuit-psi", Security::SemiHonest, [[852, 511, 1799], [963, 15, 1798]])),
    on_shares(row("rs21-circuit-psi:ot=softspoken", Security::SemiHonest, [[2398, 452, 105], [2496, 0, 223]])),
    row("rs21-circuit:ot=softspoken", Security::SemiHonest, [[2393, 452, 106], [2486, 0, 225]]),
    filtered("rs21:compare=fuse", (Kind::Fuse, 1), [[2925, 95, 113], [2845, 1, 254]]),
    filtered("rs21:compare=vacuum", (Kind::Vacuum, 1), [[2925, 95, 113], [2845, 1, 254]]),
    row("rs21:okvs=gbf", Security::SemiHonest, [[2925, 95, 4500], [2845, 1, 6000]]),
    row("rt21", Security::Malicious, [[60, 129, 54], [615, 0, 263]]),
    row("spot-fast", Security::SemiHonest, [[1035, 323, 4], [1115, 0, 122]]),
    filtered("spot-fast:compare=fuse", (Kind::Fuse, 2), [[1035, 323, 4], [1115, 0, 122]]),
    filtered("spot-fast:compare=vacuum", (Kind::Vacuum, 2), [[1035, 323, 4], [1115, 0, 122]]),
    row("spot-low", Security::SemiHonest, [[397, 428, 78], [551, 8, 577]]),
    filtered("spot-low:compare=fuse", (Kind::Fuse, 1), [[397, 428, 78], [551, 8, 577]]),
    filtered("spot-low:compare=vacuum", (Kind::Vacuum, 1), [[397, 428, 78], [551, 8, 577]]),
    of_cells(row("tcl23", Security::SemiHonest, [[1500, 80, 0], [19267, 1625, 367]])),
    on_shares(row("vesica-cardinality", Security::SemiHonest, [[3002, 686, 1053], [2787, 75, 1157]])),
    row("vesica-circuit", Security::SemiHonest, [[2988, 688, 1008], [2760, 75, 1119]]),
    on_shares(row("vesica-join-and-compute", Security::SemiHonest, [[4094, 757, 1088], [5009, 75, 1206]])),
    on_shares(row("vesica-sum", Security::SemiHonest, [[2991, 751, 1087], [2673, 75, 1235]])),
    row("vesica-union", Security::SemiHonest, [[1678, 1036, 44], [732, 1032, 703]]),
    row("vesica-union-both", Security::SemiHonest, [[1678, 1046, 1080], [1678, 1046, 1080]]),
    on_shares(row("vesica-union-cardinality", Security::SemiHonest, [[3002, 686, 1053], [2787, 75, 1157]])),
    on_shares(row("vesica-union-sum", Security::SemiHonest, [[2991, 751, 1087], [2673, 75, 1235]])),
    row("vole-fast", Security::Malicious, [[2932, 95, 106], [2825, 1, 253]]),
    row("vole-fast", Security::SemiHonest, [[1509, 96, 107], [1737, 2, 216]]),
    row("vole-lean", Security::Malicious, [[3009, 95, 106], [2847, 1, 311]]),
    row("vole-lean", Security::SemiHonest, [[1544, 96, 107], [1543, 2, 216]]),
    row("zcl23-pk", Security::SemiHonest, [[889, 250, 333], [209, 18, 150]]),
    row("zcl23-sk", Security::SemiHonest, [[1500, 3900, 60], [1700, 3900, 330]]),
];
