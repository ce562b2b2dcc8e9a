//! Membership by levelled homomorphic encryption: Chielle and Maniatakos, "Recurrent Private Set
//! Intersection for Unbalanced Databases with Cuckoo Hashing and Leveled FHE" (NDSS 2025), Protocol
//! 2 in both configurations, as printed and repaired. **What both sides compute; no row of a registry
//! yet**: messages, files and the refusals of a service are still to be written around it.
//!
//! ```text
//!   S: X                                                                       R: Y
//!
//!   (2) cuckoo tables T of X's right parts
//!   (3)                     C = Enc_S(T), key for products
//!      ------------------------------------------------------------------------>
//!                           keys for rotations, of R
//!      <------------------------------------------------------------------------
//!   for each y:                             (4a) S_j = C_j - P_j, zero where y is, j = 1..h
//!                                           (4b) M_i = product of h / partitions of them
//!                                           (4c) R_i random in every slot
//!                           (4d) D_i = M_i + R_i, Enc_R(R_i)
//!      <------------------------------------------------------------------------
//!   (5a) Enc_R(R_i) - D_i = Enc_R(-M_i)
//!   (5c) rho_i random, zero in no slot
//!                           (5d) E_i = rotate(rho_i (-M_i))
//!      ------------------------------------------------------------------------>
//!                                           (6) y is in X if E_i has a zero
//! ```
//!
//! | paper | here | what |
//! |---|---|---|
//! | `S`, `R` | [`Sender`], [`Receiver`] | |
//! | `T`, `H_j`, `g`, `sigma_L`, `sigma_R` | [`hashing::PermutedTables`](vesica_structures::hashing::PermutedTables), `PermutedHash`, `PermutedShape` | tables |
//! | `C` | [`Setup::cells`] | the tables under the sender's key |
//! | `P`, dummies | `unasked`, `empty` of [`Params`] | what no limb of an item is |
//! | `D`, `R` | [`Question`] | |
//! | `E` | [`Answer`] | |
//! | `rho`, `omega` | `factors`, `turn` of [`Sender::answer`] | a row's rotation, and the exchange of rows |
//! | `eta_s + 1`, `eta_r + 1` | [`Params::partitions`] | |
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
//!
//! # Repairs
//!
//! [`Form::Repaired`] keeps the steps, and changes:
//!
//! - `D_i` gets a fresh encryption of zero under the sender's key, `E_i` one under the receiver's, and then
//!   either is flooded: what arrives is a fresh ciphertext of uniform slots, but for a statistical distance of
//!   `2^-40` for `2^23` ciphertexts of one key (docs/parameters/cm25.md). That takes polynomials of 8,192
//!   coefficients and a modulus of 165 bits.
//! - A bin holds the right part and the function's index. Items of any width take several plaintexts, of 15
//!   bits each (*limbs*). Step 5c multiplies the limbs of a slot by a uniformly random invertible matrix:
//!   all are zero if all were, and uniform but not all zero otherwise.
//! - The sender permutes the partitions.
//!
//! **Semi-honest both ways only.** The sender's decryption is an oracle: a receiver that makes up `D_i` reads a
//! coefficient of the sender's key in two questions, in every form (a test does). It must not be offered to
//! clients that are not trusted to follow the protocol.
//!
//! Where two functions of an item have the same slot (`6 / 8192`), limbs of both cells are multiplied, and
//! some may match the one and some the other: an item outside of the set then matches with probability `2^-39`
//! a query for two limbs, `2^-53` for three, and `2^-66` for four. One limb has no such error.
//!
//! # Not here
//!
//! Footnote 1 of the paper (the sender learns the size of the intersection), `n_s > n_r`, partitions other than
//! those of the two configurations (step 5b then has `eta_s - eta_r` products, where the paper prints `h -
//! eta_s - 1 - eta_r`), Protocol 1, which is the blueprint of Protocol 2, and the compression of wider items
//! (Eqs. 4 and 5), which whoever calls does before.

mod params;
mod receiver;
mod sender;
mod slots;
#[cfg(test)]
mod tests;

pub use params::{Configuration, Form, Params};
pub use receiver::{Keys, Question, Receiver};
pub use sender::{Answer, ReceiverKeys, Sender, Setup};
