//! The coefficients of the memory model, from measured peaks; PARAMETERS.md says how they are made.

use vesica_party::Security;

use super::memory::{Coefficients, Footprint};

/// `id`, mode, and for sender and receiver: KiB, bytes a sender's item, bytes a receiver's item.
const fn row(id: &'static str, security: Security, [sender, receiver]: [[u64; 3]; 2]) -> Footprint {
    Footprint { id, security, sender: coefficients(sender), receiver: coefficients(receiver) }
}

const fn coefficients([fixed_kib, per_sender_item, per_receiver_item]: [u64; 3]) -> Coefficients {
    Coefficients { fixed_kib, per_sender_item, per_receiver_item }
}

/// Ascending by id.
pub(super) const FOOTPRINTS: &[Footprint] = &[
    row("cgs22", Security::SemiHonest, [[2735, 165, 532], [2737, 75, 566]]),
    row("czz24", Security::SemiHonest, [[204, 110, 75], [204, 110, 32]]),
    row("czz24-cardinality", Security::SemiHonest, [[55, 45, 75], [43, 85, 32]]),
    row("czz24-sum", Security::SemiHonest, [[204, 110, 75], [205, 110, 32]]),
    row("ecdh-ca-cgt12", Security::SemiHonest, [[40, 95, 75], [38, 15, 105]]),
    row("ecdh-ca-hfh99", Security::SemiHonest, [[49, 45, 75], [47, 85, 32]]),
    row("ecdh-hfh99", Security::SemiHonest, [[72, 89, 0], [44, 13, 83]]),
    row("gmr21", Security::SemiHonest, [[956, 929, 75], [1229, 935, 658]]),
    row("gmr21-cardinality", Security::SemiHonest, [[1039, 863, 75], [1194, 920, 660]]),
    row("gmr21-sum", Security::SemiHonest, [[1053, 915, 75], [1193, 945, 661]]),
    row("ikn20", Security::SemiHonest, [[1119, 45, 75], [836, 85, 32]]),
    row("ltsxq26", Security::Malicious, [[282, 78, 22], [726, 1, 148]]),
    row("ltsxq26", Security::SemiHonest, [[280, 69, 30], [816, 2, 156]]),
    row("ltsxq26-aes", Security::Malicious, [[283, 78, 21], [726, 0, 149]]),
    row("ltsxq26-aes", Security::SemiHonest, [[276, 70, 30], [831, 1, 141]]),
    row("ltsxq26-aes-band", Security::Malicious, [[279, 78, 19], [379, 20, 196]]),
    row("ltsxq26-aes-band", Security::SemiHonest, [[283, 69, 27], [470, 5, 190]]),
    row("ltsxq26-band", Security::Malicious, [[281, 78, 19], [355, 21, 198]]),
    row("ltsxq26-band", Security::SemiHonest, [[282, 69, 27], [474, 5, 190]]),
    row("ltsxq26-circuit", Security::SemiHonest, [[3235, 471, 1555], [3230, 75, 1572]]),
    row("ltsxq26-wide", Security::SemiHonest, [[236, 163, 185], [2162, 2, 454]]),
    row("psty19", Security::SemiHonest, [[964, 213, 1781], [1030, 75, 1791]]),
    row("rr22", Security::Malicious, [[2916, 95, 118], [2833, 1, 225]]),
    row("rr22", Security::SemiHonest, [[1482, 96, 134], [1430, 2, 231]]),
    row("rr22-circuit", Security::SemiHonest, [[946, 542, 1779], [1001, 75, 1793]]),
    row("rs21", Security::Malicious, [[2932, 95, 106], [2829, 1, 249]]),
    row("rs21", Security::SemiHonest, [[2925, 95, 113], [2845, 1, 254]]),
    row("rs21-circuit", Security::SemiHonest, [[3244, 399, 1552], [3256, 75, 1570]]),
    row("spot-fast", Security::SemiHonest, [[1035, 313, 4], [895, 0, 122]]),
    row("spot-low", Security::SemiHonest, [[397, 357, 78], [551, 8, 526]]),
    row("vesica-cardinality", Security::SemiHonest, [[3002, 525, 849], [2787, 75, 1157]]),
    row("vesica-circuit", Security::SemiHonest, [[2988, 525, 811], [2760, 75, 1119]]),
    row("vesica-join-and-compute", Security::SemiHonest, [[4094, 615, 891], [5009, 75, 1206]]),
    row("vesica-sum", Security::SemiHonest, [[2991, 614, 891], [2673, 75, 1235]]),
    row("vole-fast", Security::Malicious, [[2932, 95, 106], [2825, 1, 253]]),
    row("vole-fast", Security::SemiHonest, [[1509, 96, 107], [1453, 2, 216]]),
    row("vole-lean", Security::Malicious, [[3009, 95, 106], [2847, 1, 311]]),
    row("vole-lean", Security::SemiHonest, [[1544, 96, 107], [1543, 2, 216]]),
];
