//! Circuit PSI: both sides get shares of which items are common. The figure is that of
//! [`vesica_protocols::circuit_psi`].

pub mod cgs22;
pub mod ltsxq26;
pub mod ots;
pub mod pepsi;
pub mod psty19;
pub mod vole;
