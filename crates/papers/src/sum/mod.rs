//! Sums over the intersection from additively homomorphic encryption.

pub mod ikn20;
