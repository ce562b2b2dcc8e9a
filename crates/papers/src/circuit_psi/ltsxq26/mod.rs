//! Ling, Tang, Shan, Xiang, Qiu, "Faster Than Ever" (2026), Figure 16: circuit PSI on the PSI of
//! Figure 14. **Broken** as that is: see [`crate::psi::ltsxq26`] and docs/ltsxq26.md. Here are
//! steps 4, 6 and 7, an oblivious programmable PRF; bins and tests are those of all circuit PSI.
//!
//! ```text
//!   Sender: keys t_x, values r_i || (payload_x + tau_i)               Receiver: keys t_y
//!
//!      s, c_i                       [ Figure 14 up to w, on 3 n_s and m keys ]       a_i, b_i, P, r
//!   v(t_x) = C(t_x) + (s & Decode(P, t_x))
//!   t'_x = H^o(v(t_x), t_x, w)                                        t'_y = H^o(A(t_y), t_y, w)
//!   P' = Encode({t_x, t'_x + value})
//!                                6. P'
//!      ------------------------------------------------------------------------>
//!                                                                     r'_i || tau'_i = Decode(P', t_y) + t'_y
//! ```
//!
//! Why it is broken: with `s`, which the receiver comes to know, it computes `t'_x` of any `x`,
//! takes it off the hint `P'`, and sees for all keys of the sender's in one bin the same `r_i`, and
//! for any other key something random. Until then two keys of a bin that show the same `r_i` tell
//! when bits of `s` were guessed right. [`View`] is what it needs.
//!
//! | paper | here | what |
//! |---|---|---|
//! | `t_x`, `t_y` | `keys` | `H(x || j, r)` |
//! | `t'_x`, `t'_y` | `masks` | the PSI's masks, as long as a value |
//! | `P` of step 4 | `psi::ltsxq26::messages::Table` | the PSI's table |
//! | `P` of step 6 | `Hint` | the hint |
//!
//! The rows of Figures 17 to 19 are this one with the totals of [`vesica_protocols::circuit_psi::aggregate`] behind it.
//!
//! A value wider than 128 bits takes a hint for each 128 bits, its masks with `w` counted up.

mod bins;
mod messages;
mod receiver;
mod rows;
mod sender;
mod view;

use vesica_mpc::opprf::params::block_widths;
use vesica_mpc::oprf::table;
use vesica_party::Security;
use vesica_structures::facts::{FailureEvent, Unsupported};
use vesica_structures::fields::Gf128;
use vesica_structures::okvs::{AnyOkvs, Kind, Okvs};
use vesica_structures::secret::Secret;

pub use bins::{BinsView, BrokenOpprf};
pub use receiver::Receiver;
pub use rows::{Circuit, Ltsxq26Cardinality, Ltsxq26JoinAndCompute, Ltsxq26Sum};
pub use sender::Sender;
pub use view::View;

use crate::psi::ltsxq26::oracle::{self, Sha256};
use crate::psi::ltsxq26::{self, Sha};
use vesica_protocols::tasks::IntersectRequest;

/// The parameters that both sides derive from the sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// Figure 14 on the keys: `l = log2(3 n_s m) + 40`, 74 at 2^16 items.
    pub oprf: ltsxq26::Params,
    /// Width of a value.
    pub output_bits: u32,
    /// Bytes of step 6.
    pub hint_bytes: u64,
}

impl Params {
    /// Parameters for these numbers of keys.
    ///
    /// # Errors
    /// For sizes that the OKVS refuses.
    pub fn derive(receiver_keys: usize, sender_keys: usize, output_bits: u32, okvs: Kind) -> Result<Self, Unsupported> {
        let request = IntersectRequest {
            sender_items: sender_keys,
            receiver_items: receiver_keys,
            security: Security::SemiHonest,
            payload_bytes: 0,
            both_learn: false,
            runs: 1,
        };
        let mut params = Self { oprf: ltsxq26::Params::derive_on::<Sha>(&request, okvs)?, output_bits, hint_bytes: 0 };
        let parts = params.hint(0)?.parts();
        if !params.oprf.is_empty() {
            params.hint_bytes = block_widths(output_bits).map(|width| table::predicted_bytes(&parts, width)).sum();
        }
        Ok(params)
    }

    /// Blocks of 128 bits of a value, the last one partly used.
    fn blocks(&self) -> usize {
        block_widths(self.output_bits).count()
    }

    /// The hint's store, its rows keyed by `w`.
    fn hint(&self, omega: u128) -> Result<AnyOkvs, Unsupported> {
        self.oprf.okvs.store(self.oprf.sender_items, FailureEvent::Encoding.bits(), omega)
    }

    /// Bytes of all messages.
    pub fn predicted_bytes(&self) -> u64 {
        self.oprf.bytes_before_tags() + self.hint_bytes
    }
}

/// The masks of these keys for block number `block` of the values.
fn masks(omega: u128, block: usize, keys: &[u128], inputs: &[Gf128]) -> Secret<Vec<u128>> {
    let mut inputs = Secret::new(inputs.to_vec());
    oracle::outer::<Sha256>(Security::SemiHonest, omega.wrapping_add(block as u128), keys, &mut inputs)
}

/// The low `width` bits.
fn low(width: u32) -> u128 {
    u128::MAX >> (128 - width)
}

#[cfg(test)]
mod tests {
    use vesica_mpc::tasks::Programmed;
    use vesica_party::Party;
    use vesica_testkit::two_party;

    use super::*;

    /// Values come to whoever has their keys, in as many bytes as predicted; and the view shows
    /// them to whoever has `s`.
    #[test]
    fn what_is_programmed_is_found() {
        let clustered = [(0, 5, 60u32), (5, 0, 60), (1, 1, 1), (300, 200, 57), (90, 90, 300)];
        let sizes = clustered.map(|sizes| (sizes, Kind::Clustered)).into_iter().chain([((300, 200, 57), Kind::Band)]);
        for ((sender_keys, receiver_keys, output_bits), okvs) in sizes {
            let blocks = output_bits.div_ceil(128) as usize;
            let keys: Vec<u128> = (0..sender_keys as u128).map(|i| i * i + 1).collect();
            let asked: Vec<u128> = (sender_keys as u128 / 2..).map(|i| i * i + 1).take(receiver_keys).collect();
            let values: Vec<u128> = (0..(blocks * sender_keys) as u128)
                .map(|i: u128| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835))
                .collect();
            let params = Params::derive(receiver_keys, sender_keys, output_bits, okvs).expect("served");
            let ((s, sent), ((out, view), received)) = two_party(
                |ch, rng| {
                    let sender = Sender::setup(&params, ch, rng)?;
                    let s = sender.choices();
                    sender.run(Programmed { keys: keys.clone(), values: values.clone() }, ch, rng)?;
                    Ok((s, ch.tally().total().sent_payload))
                },
                |ch, rng| {
                    let out = Receiver::setup(&params, ch, rng)?.run_observed(asked.clone(), ch, rng)?;
                    Ok((out, ch.tally().total().sent_payload))
                },
            );
            assert_eq!(sent + received, params.predicted_bytes());
            let common =
                asked.iter().enumerate().filter_map(|(j, key)| Some((j, keys.iter().position(|own| own == key)?)));
            let mut found = 0;
            for (block, width) in block_widths(output_bits).enumerate() {
                for (j, i) in common.clone() {
                    assert_eq!(out.values[block * asked.len() + j], values[block * keys.len() + i] & low(width));
                    found += 1;
                }
            }
            assert!(found > 0 || sender_keys * receiver_keys < 2);
            if found == 0 {
                continue;
            }
            let (mut inputs, delta) = view.oprf.a_and_delta(&keys).expect("sizes of the run");
            oracle::add_masked(&mut inputs, &oracle::from_bits(s.into_iter()), &delta);
            for (block, width) in block_widths(output_bits).enumerate() {
                let shown = view.shown(block, &keys, &view.hinted(block, &keys).expect("sizes of the run"), &inputs);
                assert!(
                    shown.iter().zip(&values[block * keys.len()..]).all(|(shown, value)| *shown == value & low(width))
                );
            }
        }
    }
}
