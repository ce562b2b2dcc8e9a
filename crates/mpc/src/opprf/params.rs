//! The parameters of a run.

use vesica_party::{Protocol, Security};
use vesica_structures::facts::{FailureEvent, Unsupported, ceil_log2};
use vesica_structures::fields::{Cell, Gf64, Gf128, Value};
use vesica_structures::okvs::{self, Okvs};

use crate::oprf::{ValueField, table, value_bits};
use crate::silent::{self, SilentVole};
use crate::tasks::{CorrelationRequest, OpprfRequest};

/// The widest output, in bits.
pub const MAX_OUTPUT_BITS: u32 = 1 << 20;

/// What both sides derive from the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// Keys that the receiver asks for.
    pub receiver_keys: usize,
    /// Keys that the sender programs.
    pub sender_keys: usize,
    /// Width of an output.
    pub output_bits: u32,
    /// Which stores hold the table and the hint.
    pub okvs: okvs::Kind,
    /// The field of `B`.
    pub(super) field: ValueField,
    /// Width of `B`.
    pub(super) value_bits: u32,
    /// Neither of the two stores fails to encode but with probability at most `2^-encoding_bits`.
    pub(super) encoding_bits: u32,
    /// The VOLE over the table's cells; `None` where a side has no keys.
    pub(super) vole: Option<silent::params::Params>,
    /// Bytes of arrow 2.
    table_bytes: u64,
    /// Bytes of arrow 3.
    hint_bytes: u64,
}

impl Params {
    /// Parameters for a request, on this OKVS. Each of its runs has an equal part of every share of the failure budget, and the
    /// two stores of a run share that of encoding.
    ///
    /// # Errors
    /// Against malicious parties (a sender could program other pairs than its own), for sizes that
    /// the stores refuse, and for outputs wider than [`MAX_OUTPUT_BITS`].
    pub fn derive(request: &OpprfRequest, okvs: okvs::Kind) -> Result<Self, Unsupported> {
        let &OpprfRequest { receiver_keys, sender_keys, output_bits, security, wide, runs } = request;
        if security != Security::SemiHonest {
            return Err(Unsupported::new("an OPPRF against malicious parties", "allow --security semi-honest"));
        }
        if runs == 0 {
            return Err(Unsupported::new("no run of an OPPRF", "ask for one, or for one for each bucket"));
        }
        if !(1..=MAX_OUTPUT_BITS).contains(&output_bits) {
            return Err(Unsupported::new(
                format_args!("OPPRF outputs of {output_bits} bits"),
                format_args!("ask for 1 to {MAX_OUTPUT_BITS}: give fewer or narrower payload columns"),
            ));
        }
        let narrowest = value_bits(security, sender_keys.saturating_mul(runs));
        let encoding_bits = FailureEvent::Encoding.bits() + 1 + ceil_log2(runs);
        let (field, value_bits) = match wide {
            true => (ValueField::Gf128, Gf128::BITS),
            false if narrowest <= Gf64::BITS => (ValueField::Gf64, narrowest),
            false => (ValueField::Gf128, narrowest),
        };
        let table = okvs.store(receiver_keys, encoding_bits, 0)?;
        let hint = okvs.store(sender_keys, encoding_bits, 0)?;
        let mut params = Self {
            receiver_keys,
            sender_keys,
            output_bits,
            okvs,
            field,
            value_bits,
            encoding_bits,
            vole: None,
            table_bytes: table::predicted_bytes(&table.parts(), value_bits),
            hint_bytes: block_widths(output_bits).map(|width| table::predicted_bytes(&hint.parts(), width)).sum(),
        };
        if receiver_keys > 0 && sender_keys > 0 {
            let correlation = CorrelationRequest { len: table.len(), security, width: Some(value_bits) };
            params.vole = Some(match field {
                ValueField::Gf64 => SilentVole::<Gf64>::derive(&correlation)?,
                ValueField::Gf128 => SilentVole::<Gf128>::derive(&correlation)?,
            });
        }
        Ok(params)
    }

    /// Blocks of 128 bits of an output, the last one partly used.
    pub fn blocks(&self) -> usize {
        block_widths(self.output_bits).count()
    }

    /// Width in bits of each block.
    pub fn block_widths(&self) -> impl Iterator<Item = u32> + use<> {
        block_widths(self.output_bits)
    }

    /// The VOLE that a run takes: how many values, in which field, and how wide they are; `None`
    /// where a side has no keys.
    pub fn vole(&self) -> Result<Option<(usize, ValueField, u32)>, Unsupported> {
        let table = self.okvs.store(self.receiver_keys, self.encoding_bits, 0)?;
        Ok(self.vole.as_ref().map(|_| (table.len(), self.field, self.value_bits)))
    }

    /// Refuses another VOLE than the run takes.
    pub(super) fn check_vole<B: Value>(&self, len: usize) -> Result<(), Unsupported> {
        let given = if B::BITS == Gf64::BITS { ValueField::Gf64 } else { ValueField::Gf128 };
        let needed = self.vole()?;
        if needed.is_some_and(|(needed, field, _)| (needed, field) == (len, given)) {
            return Ok(());
        }
        let mend = match needed {
            Some((len, field, bits)) => format!("give {len} values of {bits} bits in {field:?}"),
            None => "give none where a side has no keys".into(),
        };
        Err(Unsupported::new(format_args!("a VOLE of {len} values in {given:?} for an OPPRF"), mend))
    }

    /// Bytes of all messages.
    pub fn predicted_bytes(&self) -> u64 {
        self.vole.as_ref().map_or(0, |vole| 32 + vole.predicted_bytes() + self.table_bytes + self.hint_bytes)
    }

    /// All that the keys of a run are bound to, besides its place and the salt.
    pub(super) fn fingerprint(&self) -> Vec<u8> {
        let sizes =
            [self.receiver_keys as u64, self.sender_keys as u64, self.output_bits.into(), self.value_bits.into()];
        sizes.iter().flat_map(|size| size.to_le_bytes()).chain(self.okvs.name().bytes()).collect()
    }
}

/// Widths of the blocks of 128 bits of an output, the last one perhaps narrower.
pub fn block_widths(output_bits: u32) -> impl Iterator<Item = u32> + use<> {
    (0..output_bits.div_ceil(128)).map(move |block| (output_bits - 128 * block).min(128))
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_structures::okvs::Kind;

    fn request(receiver_keys: usize, sender_keys: usize, output_bits: u32) -> OpprfRequest {
        OpprfRequest { receiver_keys, sender_keys, output_bits, security: Security::SemiHonest, wide: false, runs: 1 }
    }

    #[test]
    fn a_million_keys_send_what_the_design_says() {
        let params = Params::derive(&request(1 << 20, 3 << 20, 63), Kind::Band).unwrap();
        assert_eq!((params.field, params.value_bits), (ValueField::Gf64, 63));
        let megabytes = params.predicted_bytes() as f64 / 1e6;
        assert!((34.5..36.0).contains(&megabytes), "{megabytes}");
        assert_eq!(
            Params::derive(&request(5, 9, 300), Kind::Clustered).unwrap().block_widths().collect::<Vec<_>>(),
            [128, 128, 44]
        );
    }

    /// The probabilities of the bad events of all runs together are those of one run.
    #[test]
    fn several_runs_share_one_failure_budget() {
        let derive =
            |keys, runs| Params::derive(&OpprfRequest { runs, ..request(keys, keys, 63) }, Kind::Band).unwrap();
        let (whole, alone, shared) = (derive(1 << 20, 1), derive(1 << 14, 1), derive(1 << 14, 64));
        assert_eq!((whole.value_bits, alone.value_bits, shared.value_bits), (61, 55, 61));
        assert_eq!((alone.encoding_bits, shared.encoding_bits), (44, 50));
        assert!(shared.predicted_bytes() > alone.predicted_bytes());
        // Three billion keys.
        assert_eq!(derive(3 << 20, 1 << 10).field, ValueField::Gf128);
    }

    #[test]
    fn what_is_not_served_is_refused() {
        assert!(Params::derive(&OpprfRequest { runs: 0, ..request(1, 1, 1) }, Kind::Band).is_err());
        assert!(Params::derive(&request(1, 1, 0), Kind::Band).is_err());
        assert!(Params::derive(&request(1, 1, MAX_OUTPUT_BITS + 1), Kind::Band).is_err());
        assert!(
            Params::derive(&OpprfRequest { security: Security::Malicious, ..request(1, 1, 1) }, Kind::Band).is_err()
        );
    }
}
