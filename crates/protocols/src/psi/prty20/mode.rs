//! What the modes differ in: the functions of items, the linear code, and how the receiver's table is sent.

use std::ops::Range;

use vesica_party::{Abort, Channel};
use vesica_structures::fields::Cell;
use vesica_structures::okvs::{Arrangement, Okvs};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Params;
use super::keys::Keys;
use crate::psi::row_outputs::{Collected, Tags};

/// `H_1` and `H_2`, and the toss of the salt that keys them.
pub(super) trait Functions: Sized {
    /// A value of `H_1`, and a cell of the table.
    type Value: Cell;
    /// A row of the OT extension.
    type Row: Cell;

    /// The sender's side of the salt.
    fn send_salt(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Keys<Self>, Abort>;

    /// The receiver's.
    fn receive_salt(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Keys<Self>, Abort>;

    /// `H_1` of each item.
    fn values(&self, items: &[u128]) -> Secret<Vec<Self::Value>>;

    /// Takes `H_2` of some items and their rows, of which the words beyond the width are used up.
    fn add<T: Tags>(&self, items: &[u128], rows: &mut [Self::Row], numbers: &[u32], collected: &mut Collected<T>);
}

/// The sender's result of the OTs.
pub(super) trait SenderRows: Sized {
    /// The functions of items of the mode.
    type Functions: Functions;

    /// Whether the receiver's table has to be complete and checked before anything follows from it.
    const IS_CHECKED: bool;

    /// The OTs.
    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort>;

    /// Rows of these numbers, of the columns that the sender has.
    fn rows(&self, numbers: Range<usize>) -> Secret<Vec<RowOf<Self>>>;

    /// `rows += s corrections`.
    fn correct(&self, rows: &mut [RowOf<Self>], corrections: &[RowOf<Self>]);

    /// `rows += s C(values)`.
    fn correct_by_values(&self, rows: &mut [RowOf<Self>], values: &[ValueOf<Self>]);

    /// That all corrections were to words of the code.
    ///
    /// # Errors
    /// If they were not.
    fn check(&self, q: &[RowOf<Self>], ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort>;
}

/// The receiver's.
pub(super) trait ReceiverRows: Sized {
    /// The functions of items of the mode.
    type Functions: Functions;

    /// The OTs.
    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort>;

    /// Encodes the items' values and sends the table, cell by cell as `C(D_i) + T_i + U_i`. Gives `T`.
    fn send_table(
        self,
        params: &Params,
        okvs: &impl Okvs,
        pairs: (&Arrangement, &[<Self::Functions as Functions>::Value]),
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Secret<Vec<<Self::Functions as Functions>::Row>>, Abort>;
}

/// The row of a mode.
pub(super) type RowOf<S> = <<S as SenderRows>::Functions as Functions>::Row;

/// The value of a mode.
pub(super) type ValueOf<S> = <<S as SenderRows>::Functions as Functions>::Value;
