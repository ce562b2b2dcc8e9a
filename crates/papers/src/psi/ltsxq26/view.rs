//! What the receiver holds when the protocol has ended: its own randomness and all that the sender
//! sent. No secret of the sender's is in it.
//!
//! [`Receiver::hash`] and [`Receiver::run_observed`] are
//! [`Receiver::run`](vesica_party::Party::run) in two steps, with the view kept. Between
//! them lies `D`, which a receiver that does not follow Figure 15 may encode as it likes.

use vesica_party::{Abort, Channel};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::Cell;
use vesica_structures::okvs::Okvs;
use vesica_structures::rng::SecretRng;

use super::params::Params;
use super::receiver::{Keys, Own, Receiver};
use super::{Bits, Variant, oracle};
use vesica_protocols::tags::truncate;
use vesica_protocols::tasks::IntersectReceiverOutput;

/// The receiver's view of one run.
pub struct View<V: Variant> {
    /// The agreed numbers, `l` and `out` among them.
    pub params: Params,
    /// The pairs `(a_i, b_i)`, one for each of the `l` base OTs.
    pub transfers: Vec<[u128; 2]>,
    /// Figure 15: `tau`.
    pub tau: Option<u128>,
    /// `r`.
    pub r: u128,
    /// `P`.
    pub table: Vec<Bits<V>>,
    /// `w`; in Figure 15 `w_1 + w_2`.
    pub omega: u128,
    /// `X'`, in the order in which it came.
    pub tags: Vec<u128>,
}

impl<V: Variant> Receiver<V> {
    /// Steps 4 to 7 for what step 3 gave (see [`Receiver::hash`]), and the view.
    ///
    /// # Errors
    /// Fails as [`Receiver::run`](vesica_party::Party::run) does.
    pub fn run_observed(
        self,
        own: Own<V>,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<(IntersectReceiverOutput, View<V>), Abort> {
        let mut view = View::empty(&self.params);
        let output = self.exchange(&own, Some(&mut view), ch, rng)?;
        Ok((output, view))
    }
}

/// A string an item.
type Strings<V> = Vec<Bits<V>>;

impl<V: Variant> View<V> {
    /// Before anything came.
    pub(crate) fn empty(params: &Params) -> Self {
        Self {
            params: params.clone(),
            transfers: Vec::new(),
            tau: None,
            r: 0,
            table: Vec::new(),
            omega: 0,
            tags: Vec::new(),
        }
    }

    pub(super) fn fill(&mut self, keys: &Keys, r: u128, mut table: Vec<Bits<V>>, omega: u128) {
        // The bits that are sent.
        let sent = oracle::from_bits::<Bits<V>>((0..self.params.width).map(|_| true));
        for cell in &mut table {
            cell.words_mut().iter_mut().zip(sent.words()).for_each(|(word, sent)| *word &= sent);
        }
        self.transfers.clone_from(&keys.transfers.pairs);
        (self.tau, self.r, self.table, self.omega) = (keys.tau(), r, table, omega);
    }

    /// `A(x)` and `delta(x) = D(x) + Decode(P, x)` of any items: bit `i` is that of base OT number
    /// `i`. The sender's tag for `x` is the one of `A(x) + (s & delta(x))`, since `C(x) = A(x) +
    /// (s & D(x))`.
    ///
    /// # Errors
    /// None for the sizes of a run.
    pub fn a_and_delta(&self, items: &[u128]) -> Result<(Strings<V>, Strings<V>), Unsupported> {
        let [a, b] = [0, 1].map(|slot| {
            let keys: Vec<u128> = self.transfers.iter().map(|pair| pair[slot]).collect();
            oracle::bits::<V::Oracle>(&keys, self.tau, items)
        });
        let okvs = self.params.store(self.r)?;
        let mut delta = vec![Bits::<V>::default(); items.len()];
        okvs.decode(&self.table, items, &mut delta);
        for ((delta, &a), &b) in delta.iter_mut().zip(&*a).zip(&*b) {
            *delta += a + b;
        }
        Ok((a.to_vec(), delta))
    }

    /// The tag that each of these inputs gives for the item beside it: `H^o(input, x, w)`, in
    /// Figure 15 `H^o(input + w, x)`.
    pub fn tags_of(&self, inputs: &[Bits<V>], items: &[u128]) -> Vec<u128> {
        let mut tags =
            oracle::outer::<V::Oracle>(self.params.security, self.omega, items, &mut inputs.to_vec()).to_vec();
        tags.iter_mut().for_each(|tag| *tag = truncate(*tag, self.params.tag_bits));
        tags
    }
}
