//! All numbers of a run, and the bounds that they follow from.

use vesica_mpc::opprf::{Opprf, Store};
use vesica_mpc::tasks::OpprfRequest;
use vesica_mpc::{opprf, peqt};
use vesica_party::{Protocol, Security};
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::hashing::cuckoo_bins;

use super::Variant;

/// Positions of an item, the paper's `k`.
pub(super) const POSITIONS: usize = 3;

/// What both sides derive from the sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// `n_s`.
    pub sender_items: usize,
    /// `n_r`.
    pub receiver_items: usize,
    /// `m`: 1.27 `n_r` from 2^12 items on, more below.
    pub bins: usize,
    /// `sigma`: width of the `r_i`, so that in all bins together two that should differ are equal with a probability within the budget.
    pub sigma: u32,
    /// Bytes that the hint carries for each item beside `r_i`.
    pub carried_bytes: usize,
    /// Steps 1, 4, 6 and 7 of the figure; `None` where a set is empty: then nothing is sent and nothing matches.
    pub(super) opprf: Option<opprf::Params>,
    /// Step 8.
    pub(super) peqt: Option<peqt::Params>,
}

impl Params {
    /// Parameters of row `V` for sets of these sizes.
    ///
    /// # Errors
    /// Against malicious parties (cuckoo hashing on one side lets a cheating receiver learn from where its items do not fit), and for sizes beyond the bounds of the parts.
    pub fn derive<V: Variant>(sender_items: usize, receiver_items: usize, security: Security, carried_bytes: usize) -> Result<Self, Unsupported> {
        if security != Security::SemiHonest {
            return Err(Unsupported::new(
                "computing on the intersection against malicious parties",
                "allow --security semi-honest, if both parties are trusted to follow the protocol",
            ));
        }
        let bins = cuckoo_bins(receiver_items, FailureEvent::HashTable.bits())?;
        let sigma = FailureEvent::MaskCollision.bits() + ceil_log2(bins);
        let mut params = Self { sender_items, receiver_items, bins, sigma, carried_bytes, opprf: None, peqt: None };
        if sender_items == 0 || receiver_items == 0 {
            return Ok(params);
        }
        let sender_keys = sender_items.checked_mul(POSITIONS).filter(|&keys| keys < u32::MAX as usize);
        let sender_keys = sender_keys.ok_or_else(|| {
            Unsupported::new(format_args!("a circuit PSI of {sender_items} items of the sender"), "split the table by a public column")
        })?;
        let output_bits = u32::try_from(8 * carried_bytes as u64).ok().and_then(|bits| bits.checked_add(sigma));
        let output_bits = output_bits.ok_or_else(|| Unsupported::new(format_args!("a payload of {carried_bytes} bytes"), "send fewer columns"))?;
        let request = OpprfRequest { receiver_keys: receiver_items, sender_keys, output_bits, security, wide: V::WIDE };
        params.opprf = Some(Opprf::<V::Okvs>::derive(&request)?);
        params.peqt = Some(peqt::Params::new(bins, sigma, V::EQUALITY)?);
        Ok(params)
    }

    /// Whether a set is empty: then nothing is sent and nothing matches.
    pub fn is_empty(&self) -> bool {
        self.opprf.is_none()
    }

    /// Bytes of all messages: the salt, the OPPRF and the equality tests.
    pub fn predicted_bytes(&self) -> u64 {
        let (Some(opprf), Some(peqt)) = (&self.opprf, &self.peqt) else { return 0 };
        32 + opprf.predicted_bytes() + peqt.predicted_bytes()
    }
}
