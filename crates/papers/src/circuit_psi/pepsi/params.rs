//! All numbers of a run: docs/parameters/pepsi.md derives them.

use std::sync::OnceLock;

use vesica_mpc::peqt;
use vesica_structures::facts::{FailureEvent, Unsupported};
use vesica_structures::hashing::{cuckoo_bins, simple_capacity};
use vesica_structures::packing::packed_len;
use vesica_structures::rlwe::bfv::{Params as BfvParams, Scheme};

use super::equality::PLAIN;
use super::{codewords, noise};
use vesica_protocols::bfv::Ring;
use vesica_protocols::bfv::keys::{self, SEED_BYTES};
use vesica_protocols::circuit_psi::params::{POSITIONS, Params, check_semi_honest, least_width, one_run, unit};
use vesica_protocols::circuit_psi::{Exchangeable, MatchingRequest};

/// Bits of a residue modulo `PLAIN`: what the equality tests compare.
pub const SHARE_BITS: u32 = u64::BITS - (PLAIN - 1).leading_zeros();

/// Bytes of a limb of a payload: with any mask it is below the plaintext modulus.
pub(super) const LIMB_BYTES: usize = 2;

/// Bytes of a payload, at most: the sender holds three polynomials for each limb while it adds up rows.
pub const MOST_CARRIED_BYTES: usize = 64;

/// Items of the sender, at most. The tables number an item in a bin with 32 bits.
const MOST_SENDER_ITEMS: usize = 1 << 28;

/// Bits of a value that has a codeword, at most: places of a longer one would not fit a byte.
const MOST_ITEM_BITS: u32 = 72;

/// Which ring: payloads are multiplied to what was compared, which takes a larger modulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// 8192 slots.
    Matches,
    /// 16,384 slots.
    Payloads,
}

impl Form {
    /// The ring, which is the same for all requests.
    pub(super) fn ring(self) -> &'static Ring {
        static RINGS: [OnceLock<Ring>; 2] = [OnceLock::new(), OnceLock::new()];
        RINGS[self as usize].get_or_init(|| {
            let (params, flood_bits) = match self {
                Self::Matches => (BfvParams::with_widths(8192, &[43, 43, 43, 43, 42], &[PLAIN], 22), 66),
                Self::Payloads => (BfvParams::with_widths(16_384, &[49; 5], &[PLAIN], 25), 78),
            };
            let scheme = Scheme::new(&params);
            let scheme = scheme.unwrap_or_else(|refused| unreachable!("a test makes them: {}", refused.what));
            Ring { scheme, kept_primes: 2, sent_primes: 1, flood_bits }
        })
    }
}

/// The parts in which this protocol differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Which ring.
    pub form: Form,
    /// Bits of an item's key in a bin that are compared, as a codeword.
    pub item_bits: u32,
    /// Bits of a codeword, `m`.
    pub codeword_bits: usize,
    /// Most items of the sender in a bin.
    pub capacity: usize,
    /// Copies of the receiver's table side by side in the slots, among which the items of a bin are dealt.
    pub replicas: usize,
    /// Items of the sender in a bin of a copy: how many times codewords are compared.
    pub rows: usize,
    /// Ciphertexts that the bins of all copies fill.
    pub batches: usize,
    /// Limbs of the sender's payload.
    pub limbs: usize,
}

/// Parameters for a request.
pub(super) fn derive(request: &MatchingRequest) -> Result<Params<Parts>, Unsupported> {
    let &MatchingRequest { sender_items, receiver_items, security, carried_bytes, exchangeable, runs } = request;
    let Exchangeable { equality, ots, .. } = exchangeable;
    one_run(runs)?;
    check_semi_honest(security)?;
    // The table of the receiver and the rows of the sender have half of the budget each.
    let table_bits = FailureEvent::HashTable.bits() + 1;
    let bins = cuckoo_bins(receiver_items, table_bits)?;
    let mut params = Params { sender_items, receiver_items, bins, sigma: SHARE_BITS, carried_bytes, parts: None };
    if sender_items == 0 || receiver_items == 0 {
        return Ok(params);
    }
    if sender_items > MOST_SENDER_ITEMS {
        return Err(Unsupported::new(
            format_args!("{sender_items} items, each of which lies in three bins"),
            format_args!("use at most {MOST_SENDER_ITEMS} items, or split them by a public column"),
        ));
    }
    if carried_bytes > MOST_CARRIED_BYTES {
        return Err(Unsupported::new(
            format_args!("a payload of {carried_bytes} bytes, each two of which are a ciphertext"),
            format_args!("send columns of at most {MOST_CARRIED_BYTES} bytes, or choose another protocol"),
        ));
    }
    let capacity = simple_capacity(sender_items, bins, table_bits).max(1);
    let parts = Parts::new(request, bins, capacity);
    if parts.item_bits > MOST_ITEM_BITS || !noise::is_within(&parts) {
        return Err(Unsupported::new(
            format_args!(
                "{sender_items} items in {bins} bins, up to {capacity} in one: their sums have more noise than answers \
                 can hide"
            ),
            "use fewer items, split them by a public column, or choose another protocol",
        ));
    }
    params.parts = Some((parts, peqt::Params::with(bins, SHARE_BITS, equality)?.with_tables_from(ots)?));
    Ok(params)
}

impl Parts {
    fn new(request: &MatchingRequest, bins: usize, capacity: usize) -> Self {
        let &MatchingRequest { sender_items, receiver_items, carried_bytes, .. } = request;
        let form = if carried_bytes == 0 { Form::Matches } else { Form::Payloads };
        let slots = form.ring().scheme.slots();
        // An item of the receiver is compared with those of the sender in one bin, and each of the
        // sender's with at most one in each of its bins.
        let compared = receiver_items.saturating_mul(capacity).min(POSITIONS * sender_items);
        let item_bits = least_width(compared, unit(FailureEvent::TagCollision.bits()));
        let replicas = (slots / bins).clamp(1, capacity);
        Self {
            form,
            item_bits,
            codeword_bits: codewords::length(item_bits.min(MOST_ITEM_BITS)),
            capacity,
            replicas,
            rows: capacity.div_ceil(replicas),
            batches: (replicas * bins).div_ceil(slots),
            limbs: carried_bytes.div_ceil(LIMB_BYTES),
        }
    }

    /// The bin and the copy of the table in a slot of a batch, where there is one.
    pub(super) fn place(&self, bins: usize, batch: usize, slot: usize) -> Option<(usize, usize)> {
        let number = batch * self.form.ring().scheme.slots() + slot;
        (number < self.replicas * bins).then_some((number % bins, number / bins))
    }

    /// Ciphertexts of the sender.
    pub fn answers(&self) -> usize {
        self.batches * (1 + self.limbs)
    }

    /// Ciphertexts of the receiver.
    pub fn questions(&self) -> usize {
        self.batches * self.codeword_bits
    }

    /// Bytes of all messages of steps 4 to 8.
    pub(super) fn predicted_bytes(&self, bins: usize) -> u64 {
        let ring = self.form.ring();
        let questions = SEED_BYTES + self.questions() * ring.half_bytes();
        let bytes = keys::bytes(ring) + questions + self.answers() * ring.answer_bytes();
        (bytes + packed_len(bins, SHARE_BITS)) as u64
    }
}
