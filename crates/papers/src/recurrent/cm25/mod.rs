//! Membership by levelled homomorphic encryption: Chielle and Maniatakos, "Recurrent Private Set
//! Intersection for Unbalanced Databases with Cuckoo Hashing and Leveled FHE" (NDSS 2025), Protocol
//! 2 in both configurations, each as printed and repaired.
//!
//! ```text
//!   Server: X                                                                  Client: Y
//!
//!   (1, 2) compress, cuckoo tables T of X's right parts
//!   enrol:                       1. keys of compression and hash functions, a seed
//!      ------------------------------------------------------------------------>
//!                                2. a key for products, pk_S
//!      ------------------------------------------------------------------------>
//!                                3. (3) C = Enc_S(T)
//!      ------------------------------------------------------------------------>
//!                                4. keys for rotations and the exchange of rows, pk_R
//!      <------------------------------------------------------------------------
//!   query, for each y:
//!                                             (4a) S_j = C_j - P_j, zero where y is, j = 1..h
//!                                             (4b) M_i = product of h / partitions of them
//!                                             (4c) R_i random in every slot
//!                                5. (4d) D_i = M_i + R_i
//!      <------------------------------------------------------------------------
//!                                6. (4d) Enc_R(R_i)
//!      <------------------------------------------------------------------------
//!   (5a) Enc_R(R_i) - D_i = Enc_R(-M_i)
//!   (5c) rho_i random, zero in no slot
//!                                7. (5d) E_i = rotate(rho_i (-M_i))
//!      ------------------------------------------------------------------------>
//!                                                         (6) y is in X if E_i has a zero
//! ```
//!
//! | paper | here | what |
//! |---|---|---|
//! | sender `S`, receiver `R` | [`Server`] around [`Sender`], [`Client`] around [`Receiver`] and [`Tables`] | messages and states around what is computed |
//! | `Z` (Eqs. 4 and 5) | `request::compressed` | from 128-bit items to those of the tables |
//! | `T`, `H_j`, `g`, `sigma_L`, `sigma_R` | [`hashing::PermutedTables`](vesica_structures::hashing::PermutedTables), `PermutedHash`, `PermutedShape` | tables |
//! | `C` | [`Setup::cells`] | the tables under the sender's key |
//! | `P`, dummies | `unasked`, `empty` of [`Params`] | what no limb of an item is |
//! | `D`, `R` | [`Question`] | |
//! | `E` | [`Answer`] | |
//! | `rho`, `omega` | `factors` of [`Sender::answer`], [`Turns`] | a row's rotation, and the exchange of rows |
//! | `eta_s + 1`, `eta_r + 1` | [`Params::partitions`] | |
//! | `n_s`, `n_r` | `scheme`, `receivers` of [`Params`] | coefficients, and slots |
//! | `k`, `t_i` | `tables`, `plain` | tables side by side in a ciphertext, and their moduli |
//!
//! Second halves of fresh ciphertexts come from seeds; what both sides send of sums and results is switched
//! down to two primes. Packing uses the same roots of unity on both sides, modulus by modulus.
//!
//! # What the faithful forms get wrong
//!
//! [`Form::Faithful`] is the paper's protocol at its parameters. **Broken**, as the tests in `tests/attacks.rs`
//! show:
//!
//! - *The sender recognises `y`.* `R_i` changes the first half of `D_i` only. The second one is a function of
//!   `C`, `y` and keys, all known to the sender: some products for each guess.
//! - *The receiver tells tables with equal answers apart.* The second half of `E_i` is one of `rho_i`, `omega` and
//!   the receiver's own ciphertext. Whoever supposes a table has `rho_i` from the slots of `E_i`, and
//!   checks.
//! - *Another function's item matches*, since bins hold right parts without a function's index.
//! - *Partitions tell half of the function* (Fast Setup): `E_i` comes back in the order of the functions.
//! - *Noise is not flooded*, where the paper's theorem asks for circuit privacy.
//! - *Items are compressed to too few bits.* Right parts must have 15, for the packing modulus 40,961: 35 bits in
//!   all for tables of 2^20 bins, where Eq. 4 asks for about 79.
//!
//! # Repairs, and why they hold
//!
//! [`Form::Repaired`] keeps the steps, and changes:
//!
//! - `D_i` gets a fresh encryption of zero under the sender's key, `E_i` one under the receiver's, and then
//!   either is flooded: what arrives is a fresh ciphertext of uniform slots, but for a statistical distance of
//!   `2^-40` for `2^23` ciphertexts of one key (docs/parameters/cm25.md). That takes polynomials of 8,192
//!   coefficients and a modulus of 165 bits.
//! - A bin holds the right part and the function's index, in several plaintexts (*limbs*). Step 5c multiplies the
//!   limbs of a slot by a uniformly random invertible matrix: all are zero if all were, and uniform but
//!   not all zero otherwise.
//! - The sender permutes the partitions.
//!
//! *The server* sees `D` and an encryption of `R`: uniform slots, a second half that is a ring-LWE sample under
//! a fresh secret, and noise that tells nothing but with the distance above. *A client* sees the set encrypted, and
//! `E`: uniform slots, not zero but for the match, which comes to a uniform place of a uniform partition.
//! Both sides count items, and refuse more than [`ITEMS_AN_ENROLMENT`] of a client and
//! [`ITEMS_OF_A_SET`] of a set; in the rows of footnote 1, which run once, the client does alone. What either side does takes as long for every answer.
//!
//! # What they do not hold
//!
//! - Nothing where a side does not follow the protocol. The sender's decryption is an oracle: a receiver that makes
//!   up `D_i` reads a coefficient of the sender's key in two questions, in every form (a test does). The
//!   protocol must not be offered to clients that are not trusted to follow it, and `vesica serve` does not.
//! - What is counted is kept in memory and in states: as for [`cm25_select`](vesica_protocols::recurrent::cm25_select), whose list of such
//!   limits holds here, too. A client that follows the protocol also shows in microseconds, by the cache, which
//!   parts of the tables an item needs.
//!
//! Where two functions of an item have different bins of one slot, limbs of both cells are multiplied, and some
//! may match the one and some the other. [`Params::compressed`] bounds the probability for all items of an
//! enrolment, and refuses what is above its share of the failure budget.
//!
//! # Other partitions, and rings of two sizes
//!
//! [`Params::with_partitions`] takes any `eta_s` and `eta_r` of the paper that the modulus has room for: all ten
//! pairs in Fast Intersection, and in Fast Setup those with `eta_s = eta_r > 0`. Where they differ, the sender
//! has a key of the receiver for products, and step 5b has `eta_s - eta_r` of them (the paper prints `h - eta_s
//! - 1 - eta_r`). [`Params::with_receivers_degree`] takes `n_s > n_r`: masks and results are `n_s / n_r`
//! ciphertexts each, and the sender permutes those of a result. `n_s < n_r` is refused, as in the paper,
//! which fears false matches: uniform numbers in slots that no table fills would match by chance, with
//! probability 2^-3.4 for 4,096 slots and `t` = 40,961. Known constants that are not zero would not, but the
//! larger ring has no use. The rows have the paper's partitions and equal rings; for other layouts nothing is
//! claimed in an entry, and what is asked of one set must stay below [`Params::items_of_a_set`].
//!
//! # Without a row
//!
//! [`basic`] is Protocol 1, the blueprint of Protocol 2, as printed.
//!
//! # Footnote 1
//!
//! [`counted`] is footnote 1 carried over to Protocol 2. Repaired, the sender learns the size of the intersection;
//! literally, which is **broken**, it learns items.

pub mod basic;
mod client;
pub mod counted;
mod messages;
mod params;
mod receiver;
mod request;
mod rows;
mod sender;
mod server;
mod setup;
mod slots;
mod tables;
#[cfg(test)]
mod tests;
mod turns;

pub use client::Client;
pub use counted::{CountedQuestion, CountedSetup, CountingReceiver, CountingSender, check as check_counted};
pub use params::{Configuration, Form, ITEMS_AN_ENROLMENT, ITEMS_OF_A_SET, Params};
pub use receiver::{Keys, Question, Receiver};
pub use request::RowParams;
pub use rows::{Cm25, FastIntersection, FastIntersectionRepaired, FastSetup, FastSetupRepaired, Variant};
pub use sender::{Answer, ReceiverKeys, Sender};
pub use server::{Server, Session};
pub use setup::Setup;
pub use tables::Tables;
pub use turns::Turns;
