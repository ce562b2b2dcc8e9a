//! Sums over the intersection from additively homomorphic encryption. [`crate::membership`] and the
//! protocols on circuit PSI have sums too.

pub mod ikn20;
