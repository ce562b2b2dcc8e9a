//! The VOLE that the protocol stands on: silent subfield VOLE of the table's length, over the mode's field.

use std::ops::RangeInclusive;

use vesica_mpc::silent::SilentVole;
use vesica_mpc::tasks::{CorrelationRequest, VoleReceiver, VoleSender};
use vesica_party::{Abort, Channel, Party, Protocol};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::{Gf64, Gf128, Value};
use vesica_structures::rng::SecretRng;

use super::params::{Params, ValueField};

fn request(params: &Params) -> CorrelationRequest {
    CorrelationRequest { len: params.table_len, security: params.security }
}

/// The left side: `delta` and `b`.
pub(super) fn as_sender<B: Value>(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<VoleSender, Abort> {
    let vole = SilentVole::<B>::derive(&request(params))?;
    <SilentVole<B> as Protocol>::Sender::setup(&vole, ch, rng)?.run((), ch, rng)
}

/// The right side: `c` and `a`.
pub(super) fn as_receiver<B: Value>(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<VoleReceiver<B>, Abort> {
    let vole = SilentVole::<B>::derive(&request(params))?;
    <SilentVole<B> as Protocol>::Receiver::setup(&vole, ch, rng)?.run((), ch, rng)
}

/// Bytes that both sides send.
pub(super) fn predicted_bytes(params: &Params) -> Result<RangeInclusive<u64>, Unsupported> {
    let request = request(params);
    Ok(match params.field {
        ValueField::Gf64 => SilentVole::<Gf64>::predicted_bytes(&SilentVole::<Gf64>::derive(&request)?),
        ValueField::Gf128 => SilentVole::<Gf128>::predicted_bytes(&SilentVole::<Gf128>::derive(&request)?),
    })
}
