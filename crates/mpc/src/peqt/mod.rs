//! Private equality test with shared output (PEQT). The sender's values are uniform and come out of
//! its set-up.
//!
//! ```text
//!     sender: x (out of set-up)                                     receiver: y
//!     polynomials p of the layers it owns                           points c and values p(c) there;  its own polynomials in the others
//!                                                                   factors: bits of x, and of y + 1
//!                       <----- 1: d = t + c of layer 1 -------------
//!   z = s + d, corrections e
//!                       ------ 2: e of layer 1, d of layer 2 ------>  shares of the products of layer 1
//!                       <----- 3: e of layer 2, d of layer 3 -------
//!                       ------ 2: e of layer 3, d of layer 4 ------>
//!                                       ...
//! ```
//!
//! Values are equal if the product of all `x_i + y_i + 1` is 1. A layer multiplies its inputs in
//! groups of three (63 bits: 63, 21, 7, 3, 1) until one is left; `gates.rs` has the one formula.
//! Its owner has a random polynomial `p` in three variables over GF(2), a table of a 1-of-8 OT
//! written out, the chooser a random point `c` and `p(c)`: see `polynomials.rs`. Owners take turns,
//! so that an answer and the next question are one message: a test of four layers takes five
//! messages, not eight.
//!
//! **The first layer** spends less. The owner's inputs `s = x` need only be uniform, so that they
//! are the quadratic coefficients of `p`, which then need no correction: the sender sends four bits
//! (of `c_1 c_2 c_3` and of each `c_i`), the receiver three. A rest of two bits takes a quadratic
//! `p`, whose linear coefficients are `x`, and three bits in all; of a rest of one bit `x` is
//! drawn, and the factor is passed on.
//!
//! **Security** (semi-honest). *The chooser* has `c`, `p(c)` and corrections `e_S = a_S + (what the
//! owner's inputs say)`. Given `c` and `p(c)`, the coefficients besides `a_0` are uniform and
//! independent, for given `c` the map from the eight bits of the table to `p(c)` and these seven is
//! a bijection. Each correction has a coefficient of its own, that nothing else uses, as its pad;
//! in the first layer the coefficients that are `x` are among those that pad nothing, and the
//! coefficient of `c_1 c_2 c_3` is sent plus the constant 1. So all that the chooser sees is
//! uniform and independent of `x`, and its share of the product is padded by `p(c)`. *The owner*
//! sees `t + c` with `c` uniform to it, and its share of the product is padded by `a_0`, which
//! nothing else uses. Shares of a product are therefore fresh, and a simulator needs no more than
//! them. Only where the width is 1 is there no product: there the shares are the bits themselves,
//! `x` and `y + 1`, which is a sharing, but not a fresh one.
//!
//! | here | what |
//! |---|---|
//! | owner, chooser | who has `p`, and who has `c` and `p(c)` |
//! | `inputs`: `s`, `t` | the owner's and the chooser's shares of what is multiplied |
//! | `masked`: `d` | `t + c` |
//! | `corrections`: `e_S` | by set `S` of variables |
//! | piece | 64 Ki tests, which go through the layers together |
//!
//! Bits of a test, 63 wide, and polynomials (docs/parameters/equality-tests.md compares): 247 and
//! 31 here, 310 and 62 by products of two.

mod gates;
pub mod messages;
mod params;
mod receiver;
mod sender;
mod tree;

use std::ops::RangeInclusive;

use vesica_party::{CostClass, Entry, Mode, Protocol, Rounds, Security, Status, Task};
use vesica_structures::facts::{Paper, Unsupported};

use crate::random_one_of_n_ot::OneOfN;
use crate::tasks::{Equality, EqualityRequest};

pub use params::{MOST_WIDTH, Params, Variant};
pub use receiver::Receiver;
pub use sender::Sender;

/// The mode of random tables, in the rounds of a tree's layers.
const fn mode(rounds: Rounds) -> Mode {
    Mode { rounds, ..<OneOfN as Protocol>::ENTRY.modes[0] }
}

macro_rules! equality {
    ($(#[$doc:meta])+ $name:ident, $variant:ident, $entry:expr) => {
        $(#[$doc])+
        #[derive(Debug)]
        pub enum $name {}

        impl Protocol for $name {
            const ENTRY: Entry = $entry;
            type Task = Equality;
            type Params = Params;
            type Sender = Sender;
            type Receiver = Receiver;

            fn derive(request: &EqualityRequest) -> Result<Params, Unsupported> {
                if request.security != Security::SemiHonest {
                    return Err(Unsupported::new("equality tests against malicious parties", "ask for the semi-honest mode"));
                }
                Params::with(request.len, request.width, Variant::$variant)
            }

            fn predicted_bytes(params: &Params) -> RangeInclusive<u64> {
                params.predicted_bytes()
            }
        }
    };
}

equality! {
    /// Products of three factors, the sender's values out of its tables.
    CubicEquality,
    Cubic,
    Entry {
        id: "peqt-cubic",
        aliases: &[],
        variants: &[],
        task: Equality::NAME,
        paper: Paper {
            key: "this work",
            title: "Equality of random values from random cubic polynomials over GF(2)",
            reference: "after Ishai, Kushilevitz, Meldgaard, Orlandi, Paskin-Cherniavsky (TCC 2013), one-time truth tables",
        },
        status: Status::Recommended,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &["truth tables are random, their corrections are sent as polynomials, and the sender's values are coefficients of its tables"],
        modes: &[mode(Rounds::between(8, 16))],
    }
}

equality! {
    /// Products of two factors, as a circuit of AND gates.
    AndTreeEquality,
    AndTree,
    Entry {
        id: "peqt-and-tree",
        aliases: &[],
        variants: &[],
        task: Equality::NAME,
        paper: Paper {
            key: "GMW87",
            title: "How to play any mental game",
            reference: "O. Goldreich, S. Micali, A. Wigderson, STOC 1987; as used in circuit PSI",
        },
        status: Status::Sound,
        cost: CostClass::Symmetric,
        map_and_compare: None,
        deviations: &["an AND gate takes a random table of four bits instead of a Beaver triple", "the sender's values are drawn in its set-up"],
        modes: &[mode(Rounds::between(10, 18))],
    }
}
