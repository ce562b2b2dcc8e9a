//! Union: the receiver gets the records of the sender's items that it does not have. More unions are in
//! [`crate::membership`], whose transfer [`cssw25`], [`jsz22_r`] and [`krtw19`] have too.

pub mod cssw25;
mod jsz22;
pub mod jsz22_r;
pub mod jsz22_s;
pub mod jszg24;
pub mod krtw19;
pub mod pt26;

#[cfg(test)]
#[path = "../../../protocols/src/union/leakage.rs"]
pub(crate) mod leakage;
#[cfg(test)]
pub(crate) mod places;
