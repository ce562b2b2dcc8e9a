//! Polynomials under encryption, for one set that is much larger than the other. What the papers share is in
//! [`vesica_protocols::unbalanced`].
//!
//! In the union [`tcl23`] the union's sender is the client; it is here, and not in [`crate::union`], because all
//! but its last steps are those of this folder.

pub mod clr17;
pub mod tcl23;
