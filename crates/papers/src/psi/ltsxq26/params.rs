//! All numbers of a run.

use std::ops::RangeInclusive;

use vesica_mpc::base_ot::BaseOt;
use vesica_mpc::oprf::table;
use vesica_mpc::tasks::CorrelationRequest;
use vesica_party::{Protocol, Security};
use vesica_structures::facts::{FailureEvent, KAPPA, LAMBDA, Unsupported, ceil_log2};
use vesica_structures::okvs::{AnyOkvs, Kind, Okvs};

use super::{Ltsxq26, Variant};
use vesica_protocols::tags::TagCoding;
use vesica_protocols::tasks::IntersectRequest;

/// The parameters that both sides derive from the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// The mode: Figure 14, or Figure 15.
    pub security: Security,
    /// `n_s`.
    pub sender_items: usize,
    /// `n_r`.
    pub receiver_items: usize,
    /// `l`: base OTs, and bits of `A`, `B`, `C`, `D` and of a cell of `P`.
    pub width: usize,
    /// `out`, bits of a tag.
    pub tag_bits: u32,
    /// The coding of the tags.
    pub coding: TagCoding,
    /// The OKVS.
    pub okvs: Kind,
    /// Cells of `P`.
    pub table_len: usize,
    /// Bytes of arrow 3.
    pub table_bytes: u64,
}

/// `l = out = log2(n_s n_r) + 40` of Figure 14: 72 at 2^16, 80 at 2^20, 88 at 2^24 (the paper's
/// Appendix A). Correctness asks for no more; security does.
pub fn figure_14(sender_items: usize, receiver_items: usize) -> u32 {
    LAMBDA + ceil_log2(sender_items * receiver_items)
}

/// `l = out = kappa` of Figure 15.
pub const FIGURE_15: u32 = KAPPA;

impl Params {
    /// Parameters of row `V` for a request, refused where the mode or a size is not served.
    pub fn derive<V: Variant>(request: &IntersectRequest) -> Result<Self, Unsupported> {
        Self::derive_on::<V>(request, V::OKVS)
    }

    /// The same on another OKVS.
    pub(crate) fn derive_on<V: Variant>(request: &IntersectRequest, okvs: Kind) -> Result<Self, Unsupported> {
        <Ltsxq26<V>>::ENTRY.require(request.security)?;
        request.check_sizes()?;
        let &IntersectRequest { sender_items, receiver_items, security, payload_bytes, both_learn, .. } = request;
        if payload_bytes > 0 || both_learn {
            return Err(Unsupported::new(
                format_args!("protocol {} has neither payloads nor an answer to the sender", V::ENTRY.id),
                "ask for the receiver's matches alone, or choose another protocol",
            ));
        }
        let (width, tag_bits) = match security {
            Security::SemiHonest => V::widths(sender_items, receiver_items)?,
            Security::Malicious => (FIGURE_15 as usize, FIGURE_15),
        };
        let mut params = Self {
            security,
            sender_items,
            receiver_items,
            width,
            tag_bits,
            coding: V::CODING,
            okvs,
            table_len: 0,
            table_bytes: 0,
        };
        let store = params.store(0)?;
        params.table_len = store.len();
        params.table_bytes = table::predicted_bytes(&store.parts(), width as u32);
        Ok(params)
    }

    /// The store of `P`, its rows keyed by `r`.
    pub(super) fn store(&self, r: u128) -> Result<AnyOkvs, Unsupported> {
        self.okvs.store(self.receiver_items, FailureEvent::Encoding.bits(), r)
    }

    /// Whether a set is empty: then nothing is sent and nothing matches.
    pub fn is_empty(&self) -> bool {
        self.sender_items == 0 || self.receiver_items == 0
    }

    /// Whether the run follows Figure 15.
    pub(super) fn is_malicious(&self) -> bool {
        self.security == Security::Malicious
    }

    /// The base OTs.
    pub(super) fn transfers(&self) -> CorrelationRequest {
        CorrelationRequest { len: self.width, security: self.security, width: None }
    }

    /// All but the tags: `l` base OTs, `m l` bits for the table, and a few strings.
    pub(crate) fn bytes_before_tags(&self) -> u64 {
        if self.is_empty() {
            return 0;
        }
        let strings = match self.security {
            Security::SemiHonest => 16 + 16,
            Security::Malicious => 32 + 32 + 16,
        };
        strings + BaseOt::predicted_bytes(&self.transfers()).end() + self.table_bytes
    }

    /// The above, and `n_s out` bits for the tags.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        if self.is_empty() {
            return 0..=0;
        }
        let tags = self.coding.predicted_bytes(self.sender_items, self.tag_bits);
        let fixed = self.bytes_before_tags();
        fixed + tags.start()..=fixed + tags.end()
    }
}
