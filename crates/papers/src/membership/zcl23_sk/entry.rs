//! The row of the registry.

use vesica_mpc::base_ot;
use vesica_mpc::random_one_of_n_ot::OneOfN;
use vesica_mpc::silent_ot::SilentOt;
use vesica_party::{CostClass, Entry, Protocol, Rounds, Status, Task, assume, assumptions};
use vesica_structures::facts::Paper;

use super::Zcl23Sk;
use vesica_protocols::membership::{BESIDE_UNION, For, semi_honest};
use vesica_protocols::styles;
use vesica_protocols::tasks::Union;

impl For<Union> for Zcl23Sk {
    const ENTRY: Entry = Entry {
        id: "zcl23-sk",
        aliases: &[],
        variants: &[base_ot::CHOICE],
        task: Union::NAME,
        paper: Paper {
            key: "ZCL23",
            title: "Linear Private Set Union from Multi-Query Reverse Private Membership Test",
            reference: "Zhang, Chen, Liu, Zhang, Lin. USENIX Security 2023, ePrint 2022/358",
        },
        // vesica-union sends a seventh of it.
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: Some(styles::ZCL23_SK),
        deviations: &[
            "A ciphertext is one block of the cipher, which holds the indicator and random bits that differ from item \
             to item.",
            "LowMC has 31 S-boxes a round and 13 rounds, as its designers' formula asks for with 2^64 blocks under a \
             key: attacks on instances with fewer S-boxes a round have got better since.",
            "An AND gate takes a random table of four bits instead of a Beaver triple, and the tables of a round are \
             made just before it.",
            "The OKVS is a random band whose width follows from a proven bound.",
            "Random OTs by ot-silent, each turned by a bit: one string a place, under a pad that BLAKE3 makes of an \
             OT's block, for records of any width.",
        ],
        modes: &semi_honest(
            Rounds::between(37, 167),
            assumptions![
                assume![
                    "LowMC with 31 S-boxes and 13 rounds is a pseudo-random permutation",
                    "BLAKE3 and AES are pseudo-random functions",
                ],
                <OneOfN as Protocol>::ENTRY.modes[0].assumptions,
                <SilentOt as Protocol>::ENTRY.modes[0].assumptions,
            ],
            BESIDE_UNION,
        ),
    };
}
