//! Union with the sender's set shuffled: Jia, Sun, Zhou, Du, Gu, "Shuffle-based Private Set Union:
//! Faster and More Secure" (USENIX Security 2022), the protocol named `PSU^S` there. **Broken** as a
//! one-sided union: the sender learns how many items are common.
//!
//! ```text
//!   Sender: X, records w_x                                            Receiver: Y
//!                                1. salt
//!      <------------------------------------------------------------------------
//!   cuckoo table T: x in one of its 3 bins,
//!   a random dummy in each empty bin;
//!   a random key kappa of each bin
//!   values T, shares a_i          [ permute-share-128 ]               order pi of the bins
//!   values kappa, shares c_i      [ permute-share-128 ]               the same order
//!                                                                     a'_i = T_pi(i) + a_i
//!                                                                     c'_i = kappa_pi(i) + c_i
//!   F(k, a_i) for each i          [ OPRF ]                            key k
//!                                2. A
//!      ------------------------------------------------------------------------>
//!                                                                     I_i = F(k, y + a'_i) for each y with bin pi(i)
//!                                                                     among its 3, and random values
//!                                3. I_i for each i, ascending
//!      <------------------------------------------------------------------------
//!   u_i = 1 if F(k, a_i) is not in I_i
//!   order pi' of the places       [ permute-share-128, roles swapped ] values c'_i, shares s_i
//!   s'_i = c'_pi'(i) + s_i
//!                                4. z_i = c_pi'(i) + s'_i if u_pi'(i) = 1, else random
//!      ------------------------------------------------------------------------>
//!                                                                     z_i + s_i, the key of the bin pi(pi'(i))
//!                                                                     if that holds no common item
//!                                5. H(kappa_x), w_x + G(kappa_x) for each x, in a random order
//!      ------------------------------------------------------------------------>
//!                                                                     w_x of each key that it has
//! ```
//!
//! | paper | here | what |
//! |---|---|---|
//! | `S`, `R` | sender, receiver | `R` learns the union |
//! | `X_C`, dummy `d` | `table` | the sender's cuckoo table |
//! | `Y_B` | `SimpleTable` | the receiver's items in all of their bins |
//! | first `F_PS`, `a_i`, `a'_i` | before step 2 | the receiver has the order |
//! | `F_mpOPRF` | `super::oprf`, with roles swapped | the receiver has the key |
//! | `I_i`, `U` | arrow 3, `Compared::common` | the sender learns which places hold no common item |
//! | second `F_PS` | step 4 | the sender has the order |
//! | `z_i`, "nothing" | arrow 4, random | what the receiver opens |
//!
//! The steps are those of the paper's authors' program. There the second network carries the shares
//! `a'_i` of the items themselves. A union here is of records of any width, and an item is a digest that
//! the receiver is not to have: so a key of each bin travels beside the item, and opens the record.
//!
//! # What the sender learns
//!
//! `pi` is the receiver's and uniform, and the `I_i` are pseudo-random values in ascending order. So the
//! `u_i` tell the sender how many of its items are common, and nothing else. A union promises a sender
//! that it learns no more than a size: hence the row's status. A test shows it.
//!
//! # What the receiver learns
//!
//! Its shares are uniform under those that the sender chooses. The keys that it opens are those of bins
//! without a common item, in the order `pi'` after `pi`, which is uniform to it; at the other places it
//! has noise, as is the record of a key that it does not have. Empty bins have keys, too, that open
//! nothing. It knows how many records it gets from arrow 5, not before.

mod entry;
mod messages;
mod pads;
pub mod params;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

use vesica_party::Channel;

use vesica_protocols::bins::Hashes;

pub use entry::Jsz22S;
pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

/// The bins of a run.
fn bins(ch: &Channel, params: &Params, salt: &[u8; 32]) -> Hashes {
    let sizes = [params.request.sender_items, params.request.receiver_items, params.bins];
    Hashes::new("vesica v1 jsz22-s 2026 salt to bins", ch, salt, &sizes, params.bins)
}
