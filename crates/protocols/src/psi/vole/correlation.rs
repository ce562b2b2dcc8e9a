//! The VOLE that the protocol stands on: silent subfield VOLE of the table's length, over the
//! mode's field. Set up before there is an input; `b` and `a` are finished where the protocol needs
//! them.

use std::ops::RangeInclusive;

use vesica_mpc::oprf::ValueField;
use vesica_mpc::silent::{Receiver, Sender, SilentVole};
use vesica_mpc::tasks::CorrelationRequest;
use vesica_party::{Abort, Channel, Party, Protocol};
use vesica_structures::facts::Unsupported;
use vesica_structures::fields::{Gf64, Gf128, Value};
use vesica_structures::rng::SecretRng;

use super::params::Params;

fn request(params: &Params) -> CorrelationRequest {
    CorrelationRequest { len: params.table_len, security: params.security, width: Some(params.value_bits) }
}

/// The left side, set up over `B`; running it gives `delta` and `b`.
pub(super) fn as_sender<B: Value>(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Sender<B>, Abort> {
    Sender::setup(&SilentVole::<B>::derive(&request(params))?, ch, rng)
}

/// The right side, set up over `B`: it has `c`, and running it gives `a` as well.
pub(super) fn as_receiver<B: Value>(
    params: &Params,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<Receiver<B>, Abort> {
    Receiver::setup(&SilentVole::<B>::derive(&request(params))?, ch, rng)
}

/// Bytes that both sides send.
pub(super) fn predicted_bytes(params: &Params) -> Result<RangeInclusive<u64>, Unsupported> {
    let request = request(params);
    Ok(match params.field {
        ValueField::Gf64 => SilentVole::<Gf64>::predicted_bytes(&SilentVole::<Gf64>::derive(&request)?),
        ValueField::Gf128 => SilentVole::<Gf128>::predicted_bytes(&SilentVole::<Gf128>::derive(&request)?),
    })
}
