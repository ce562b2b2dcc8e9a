//! DH-PSI in other groups than the product's: Curve25519 by u-coordinates (X25519), and secp256k1. The figure is that of
//! [`vesica_protocols::psi::hfh99`].

use vesica_party::{CostClass, Entry, Mode, Rounds, Status, Task};
use vesica_protocols::psi::hfh99::{OWN_BLINDING, PAPER, TAGS, Variant};
use vesica_protocols::styles;
use vesica_protocols::tasks::{Intersect, SIZES};

use crate::ecdh::secp256k1::{ASSUMPTIONS as SECP256K1_ASSUMPTIONS, Secp256k1};
use crate::ecdh::x25519::{ASSUMPTIONS as X25519_ASSUMPTIONS, X25519};

/// `hfh99-x25519`: Curve25519 by u-coordinates.
#[derive(Clone, Copy, Debug)]
pub enum Montgomery {}

impl Variant for Montgomery {
    const ENTRY: Entry = Entry {
        id: "hfh99-x25519",
        aliases: &[],
        variants: &[],
        task: Intersect::NAME,
        paper: PAPER,
        status: Status::Sound,
        cost: CostClass::GroupOperations,
        map_and_compare: Some(styles::DH_PSI),
        deviations: &[
            "An elliptic curve (Curve25519, u-coordinates, as in X25519) instead of the integers modulo a prime. Items \
             are hashed by Elligator 2 (RFC 9380), into the subgroup of prime order; exponents are multiples of eight.",
            OWN_BLINDING,
            TAGS,
        ],
        modes: &[Mode::semi_honest(Rounds::exactly(3), X25519_ASSUMPTIONS, &[SIZES])],
    };
    const DOMAIN: &'static [u8] = b"vesica-v1-hfh99-x25519-with-curve25519_XMD:SHA-512_ELL2_RO_";
    type Exponent = X25519;
}

/// `hfh99-secp256k1`: secp256k1, compressed points.
#[derive(Clone, Copy, Debug)]
pub enum Koblitz {}

impl Variant for Koblitz {
    const ENTRY: Entry = Entry {
        id: "hfh99-secp256k1",
        aliases: &[],
        variants: &[],
        task: Intersect::NAME,
        paper: PAPER,
        status: Status::Sound,
        cost: CostClass::GroupOperations,
        map_and_compare: Some(styles::DH_PSI),
        deviations: &[
            "An elliptic curve group (secp256k1, items hashed by SSWU of RFC 9380) instead of the integers modulo a prime.",
            OWN_BLINDING,
            TAGS,
        ],
        modes: &[Mode::semi_honest(Rounds::exactly(3), SECP256K1_ASSUMPTIONS, &[SIZES])],
    };
    const DOMAIN: &'static [u8] = b"vesica-v1-hfh99-secp256k1-with-secp256k1_XMD:SHA-256_SSWU_RO_";
    type Exponent = Secp256k1;
}
