//! Circuit PSI from VOLE: Rindal and Schoppmann, "VOLE-PSI" (Eurocrypt 2021), Raghuraman and Rindal
//! (CCS 2022), and Figures 16 to 19 of "Faster Than Ever" (LTSXQ26) on a sound OPRF; generic over
//! the OKVS, the field `B` and the equality test.
//!
//! The figure is that of [`crate::circuit_psi`], with one OPPRF for all bins: its table holds the
//! keys of the receiver's full bins, its hint the keys of all of the sender's items, wherever they
//! lie.
//!
//! | LTSXQ26, Figure 16 | here | what |
//! |---|---|---|
//! | `r` | `messages::Salt` | keys bins, items' keys |
//! | `m`, `k`, `h_j` | `params.bins`, `POSITIONS`, `bins::Hashes` | bins, positions |
//! | `T_Y`, `T_X` | `CuckooTable`; not listed | the tables |
//! | `t'_x`, `P` | inside of `vesica_mpc::opprf` | OPRF, hint |
//! | `r_i`, `r'_i` | `peqt.values()`, `r` | what is compared, `sigma` bits |
//! | `tau_i`, `tau'_i` | `multiplexer.masks()`, `carried` | the payload's mask |
//! | `F_2PC` | `vesica_mpc::peqt`, `vesica_mpc::share_conversion` | tests and multiplexers |

pub mod entries;
pub mod opprf;

pub use entries::NarrowOpprf;
pub use entries::{
    LTSXQ26, VesicaCardinality, VesicaCircuit, VesicaJoinAndCompute, VesicaSum, VesicaUnionCardinality, VesicaUnionSum,
};
