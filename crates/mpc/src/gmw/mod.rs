//! Boolean circuits on shared bits, many instances side by side: Goldreich, Micali and Wigderson
//! (STOC 1987), with random tables instead of triples.
//!
//! ```text
//!     sender                                                     receiver
//!     polynomials p, one an AND gate and instance                points c and values p(c)
//!     shares of the inputs                                       shares of the inputs
//!
//!     in each round, for all AND gates u v of one depth:
//!                       <----- 1: d = (u_r + c_1, v_r + c_2) -----
//!                       ------ 2: e = (a_1 + v_s, a_2 + u_s, a_12) ->
//!   u_s v_s + u_s d_2 + v_s d_1 + a_0                            u_r v_r + p(c) + e_1 c_1 + e_2 c_2 + e_12 c_1 c_2
//!
//!     shares of the outputs                                      shares of the outputs
//!     (open)            ------ 3: shares ------------------------>
//! ```
//!
//! The two messages of a round do not depend on each other and cross. With `p(c) = a_0 + a_1 c_1 +
//! a_2 c_2 + a_12 c_1 c_2` (see `polynomials.rs`) the two shares of an AND gate add up to `u_s v_s +
//! u_r v_r + u_s (c_2 + d_2) + v_s (c_1 + d_1)`, which is `u v`. XOR and NOT are local.
//!
//! **Security** (semi-honest). To the sender `c` is uniform, and so is `d`. To the receiver the
//! coefficients besides `a_0` are uniform and independent of `c` and `p(c)`: each of the three bits
//! it gets has a pad of its own. The shares of the result are padded by `a_0` and `p(c)`, which
//! nothing else uses: they are fresh, and only what is opened is learned. Five bits an AND gate,
//! and one polynomial.
//!
//! # A circuit of one's own
//!
//! Circuit PSI leaves both parties with shares, one bit for each bin, of whether it holds a common
//! item, and with shares of payloads. Both build the same circuit and evaluate it on those: here,
//! whether a bin is common and its payload of 8 bits is at least 100.
//!
//! ```
//! use vesica_mpc::gmw::Builder;
//!
//! let mut builder = Builder::new();
//! let common = builder.input();
//! let payload = builder.input_word(8);
//! let bound = builder.constant_word(100, 8);
//! let large = builder.at_least(&payload, &bound);
//! let both = builder.and(common, large);
//! let circuit = builder.finish(&[both]);
//!
//! // In the clear, to see that it is right: a common item with payload 105.
//! let inputs = [true, true, false, false, true, false, true, true, false];
//! assert_eq!(circuit.evaluate(&inputs), [true]);
//! ```
//!
//! Each party then gives its shares, an input of the circuit after the other, all instances of it
//! packed:
//!
//! ```no_run
//! use std::sync::Arc;
//! use vesica_mpc::bits::Bits;
//! use vesica_mpc::gmw::{Circuit, Evaluator, Params, open_to_receiver};
//! use vesica_party::{Abort, Channel, Party};
//! use vesica_structures::rng::SecretRng;
//!
//! fn common_and_large(circuit: Circuit, shares: Vec<Bits>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Option<Vec<Bits>>, Abort> {
//!     let params = Params::new(Arc::new(circuit), shares[0].len())?;
//!     let evaluator = Evaluator::setup(&params, ch, rng)?;
//!     let outputs = evaluator.run(shares, ch, rng)?;
//!     open_to_receiver(&outputs, ch)
//! }
//! ```

mod builder;
mod circuit;
mod evaluator;
pub mod messages;
mod open;
mod params;

pub use builder::Builder;
pub use circuit::{Circuit, Wire};
pub use evaluator::Evaluator;
pub use open::{open_to_receiver, open_to_sender};
pub use params::Params;
