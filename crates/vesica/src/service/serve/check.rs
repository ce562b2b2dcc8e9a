//! Settings that are refused before a table is read.

use vesica_protocols::tasks::IntersectRequest;

use super::config::{Clients, ServeConfig};
use crate::failure::{Failure, code};
use crate::service::{ENTRIES, ServiceOptions, TableService, WithService, refuse_alternatives, require_post_quantum};
use crate::words::counted;

/// Refuses what only a protocol has that `auto` never takes.
pub(super) fn refuse_for_auto(config: &ServeConfig) -> Result<(), Failure> {
    if config.post_quantum {
        ENTRIES.iter().try_for_each(|entry| require_post_quantum(entry.id, config.security))?;
    }
    let what = [
        (config.leak_prefix.is_some(), "leaks a prefix", "--leak-prefix"),
        (config.trust_clients, "trusts its clients", "--trust-clients"),
        (config.integer_bits.is_some(), "compares integers", "--integer-bits"),
    ];
    match what.into_iter().find(|(is_said, ..)| *is_said) {
        None => Ok(()),
        Some((_, does, flag)) => Err(Failure::new(
            code::USAGE,
            format_args!("--protocol auto never takes a protocol that {does}"),
            format_args!("name the protocol with --protocol, or omit {flag}"),
        )),
    }
}

/// Refuses, before a table is read, what no table makes right.
pub(super) struct Settled<'a>(pub &'a ServeConfig);

impl WithService for Settled<'_> {
    type Output = Result<(), Failure>;

    fn with<S: TableService>(self) -> Self::Output {
        let ServeConfig { security, leak_prefix, integer_bits, .. } = *self.0;
        let least = IntersectRequest {
            sender_items: 1,
            receiver_items: 1,
            security,
            payload_bytes: 0,
            both_learn: false,
            runs: 1,
        };
        if self.0.post_quantum {
            require_post_quantum(S::ENTRY.id, security)?;
        }
        Ok(S::params(&least, ServiceOptions { leak_prefix, integer_bits }).map(drop)?)
    }
}

/// Refuses settings that contradict each other.
pub(super) fn check(config: &ServeConfig) -> Result<(), Failure> {
    refuse_alternatives(&config.source.key)?;
    if config.trust_clients && config.clients.are_anybody() {
        return Err(Failure::new(
            code::USAGE,
            "--trust-clients where anybody can ask: one client that does not follow the protocol reads the whole set",
            "name the clients that you trust in a file with --clients",
        ));
    }
    check_integers(config)?;
    if config.post_quantum && matches!(config.clients, Clients::InsecurePlaintext) {
        return Err(Failure::new(
            code::USAGE,
            "--post-quantum with --insecure-plaintext, which hides nothing from anybody",
            "omit one of them",
        ));
    }
    let Some(quota) = config.quota else { return Ok(()) };
    if quota.items < config.items_per_query {
        return Err(Failure::new(
            code::USAGE,
            format_args!(
                "--quota {quota} does not allow one query of {}",
                counted(config.items_per_query, "item", "items")
            ),
            "allow more, or make queries smaller with --items-per-query",
        ));
    }
    if config.state.is_none() {
        return Err(Failure::new(
            code::USAGE,
            "--quota without --state: whoever makes the server start again would have its quota back",
            "name a file with --state, in whose place the server also keeps what was used",
        ));
    }
    Ok(())
}

/// Refuses integers that are no key of one column, or are to be hashed.
fn check_integers(config: &ServeConfig) -> Result<(), Failure> {
    let columns = config.source.key.columns().len();
    let (fault, mend) = match config.integer_bits {
        Some(_) if columns != 1 => (
            format!("--integer-bits with a key of {columns} columns"),
            "name one column of integers with --key, or omit --integer-bits",
        ),
        Some(_) if config.payload.is_some() => (
            "--payload with --integer-bits: the protocol gives membership alone".into(),
            "omit --payload, or serve digests of keys with another protocol",
        ),
        Some(_) if config.slow_hash.is_some() => (
            "--slow-hash with --integer-bits: integers are compared as they are, and a hash of one is none".into(),
            "omit one of the two",
        ),
        _ => return Ok(()),
    };
    Err(Failure::new(code::USAGE, fault, mend))
}
