//! What a side has before it reaches its partner.

use vesica_structures::rng::SecretRng;
use zeroize::Zeroizing;

use super::context::Context;
use super::validate;
use crate::failure::{Failure, code};
use crate::handshake::{self, Hello};
use crate::policy;
use crate::task::AnyJob;

/// What a side has before the partner is there.
pub(super) struct Ready {
    pub job: Box<dyn AnyJob>,
    pub hello: Hello,
    pub salt_share: handshake::salt::Share,
    pub rng: SecretRng,
}

impl Ready {
    /// All that can fail for want of usable flags and small files.
    pub fn new(ctx: &Context<'_>) -> Result<Self, Failure> {
        let config = ctx.config;
        let job = validate::configure(config)?;
        if let Some(policy) = config.policy.as_ref().filter(|_| !config.resume) {
            policy.check_now(config, &ctx.wait(&|| ctx.may_start()))?;
        }
        let mut hello = validate::hello(config, &*job)?;
        let mut rng = randomness()?;
        fill(&mut rng, &mut hello.nonce);
        hello.policy = config.policy.as_ref().map(|policy| policy::bound_to(&policy.digest(), &hello.nonce));
        let mut salt_share = [0; 32];
        fill(&mut rng, &mut salt_share);
        hello.salt_commitment = handshake::salt::commit(config.role, &salt_share);
        Ok(Self { job, hello, salt_share, rng })
    }
}

/// Random numbers of the operating system.
pub(crate) fn randomness() -> Result<SecretRng, Failure> {
    SecretRng::from_os()
        .map_err(|error| Failure::new(code::INTERNAL, error, "the operating system gives no randomness"))
}

/// A fresh secret.
pub(crate) fn fresh(rng: &mut SecretRng) -> Zeroizing<[u8; 32]> {
    let mut key = Zeroizing::new([0; 32]);
    fill(rng, &mut *key);
    key
}

fn fill(rng: &mut SecretRng, bytes: &mut [u8]) {
    for part in bytes.chunks_mut(16) {
        part.copy_from_slice(&rng.block().to_le_bytes()[..part.len()]);
    }
}
