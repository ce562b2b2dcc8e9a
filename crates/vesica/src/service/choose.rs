//! `--protocol auto`: the protocol with which a client exchanges the fewest bytes.

use std::path::Path;

use vesica_party::Entry;
use vesica_party::service::{State, StateError, StateReader, StateWriter};

use super::prepared::{Prepared, load, read_description};
use super::{Description, ENTRIES, TableService, WithService, must_be_named, served, trusts_clients, with_service};
use crate::failure::{Failure, code};
use crate::memory::Bytes;
use crate::words::counted;

/// The name that asks for a choice instead of naming a protocol.
pub const AUTO: &str = "auto";

/// A protocol that was chosen.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub protocol: String,
    /// Why this one, for the server's log.
    pub reason: String,
}

/// Chooses the protocol for a set that is described so, whatever protocol it names: of those that
/// serve it and show the server nothing of a key, the one with which a client that sends `queries`
/// queries exchanges the fewest bytes with the server.
///
/// # Errors
/// If none serves it.
pub(super) fn choose(wanted: &Description, queries: u64) -> Result<Choice, Failure> {
    let mut costs: Vec<(u64, &Entry)> = Vec::new();
    let mut refusal = None;
    for entry in ENTRIES.into_iter().filter(|entry| !must_be_named(entry)) {
        match bytes_of(entry, wanted, queries) {
            Ok(bytes) => costs.push((bytes, entry)),
            Err(failure) => refusal = refusal.or(Some(failure)),
        }
    }
    costs.sort_by_key(|(bytes, _)| *bytes);
    let Some(((bytes, chosen), others)) = costs.split_first() else {
        return Err(refusal.unwrap_or_else(|| Failure::new(code::INTERNAL, "no protocol serves tables", "report this")));
    };
    let reason = if others.is_empty() {
        format!("no other protocol serves a table with --security {} and these sizes and columns", wanted.security)
    } else {
        let others: Vec<String> =
            others.iter().map(|(bytes, entry)| format!("{} with {}", Bytes(*bytes), entry.id)).collect();
        format!(
            "{} of {}, and what a client fetches before them, take about {}; they would take {}",
            counted(queries, "query", "queries"),
            counted(wanted.items_per_query, "item", "items"),
            Bytes(*bytes),
            others.join(", ")
        )
    };
    Ok(Choice { protocol: chosen.id.into(), reason })
}

/// What a client and the server send each other for so many queries, enrolments included.
fn bytes_of(entry: &Entry, wanted: &Description, queries: u64) -> Result<u64, Failure> {
    struct Cost<'a>(&'a Description, u64);

    impl WithService for Cost<'_> {
        type Output = Result<u64, Failure>;

        fn with<S: TableService>(self) -> Self::Output {
            let Self(wanted, queries) = self;
            let params = wanted.params::<S>()?;
            let enrolments = queries.div_ceil(S::queries_an_enrolment(wanted.items_per_query).max(1)).max(1);
            let once = S::enrolment_bytes(&params).end().saturating_mul(enrolments);
            Ok(S::query_bytes(&params).end().saturating_mul(queries).saturating_add(once))
        }
    }

    let wanted = Description { protocol: entry.id.into(), ..wanted.clone() };
    wanted.check()?;
    with_service(entry.id, Cost(&wanted, queries))?
}

/// The protocol of the set in a state file; `None` if there is no file.
///
/// # Errors
/// If the file cannot be used.
pub(super) fn protocol_of(state: &Path) -> Result<Option<String>, Failure> {
    let Some(Described(Description { protocol, .. })) = load(state)? else { return Ok(None) };
    let entry = served().find(|entry| entry.id == protocol);
    let flag = match entry {
        Some(entry) if must_be_named(entry) => "its --leak-prefix",
        Some(entry) if trusts_clients(entry) => "--trust-clients",
        _ => return Ok(Some(protocol)),
    };
    Err(Failure::new(
        code::USAGE,
        format_args!("--protocol auto never takes {protocol}, for which the set in the state file is prepared"),
        format_args!("say --protocol {protocol} with {flag}, or --replace-state, or name another file"),
    ))
}

/// The description of a set in a state file, whatever protocol the set is prepared for.
struct Described(Description);

impl State for Described {
    const FORMAT: &'static str = <Prepared<super::OprfRfc9497> as State>::FORMAT;

    fn write(&self, _: &mut StateWriter<'_>) -> std::io::Result<()> {
        Err(std::io::Error::other("a description alone is no state of a server"))
    }

    fn read(bytes: &mut StateReader<'_>) -> Result<Self, StateError> {
        let description = read_description(bytes)?;
        // To the end, since the hash of the file is only known there.
        let mut skipped = vec![0; 64 << 10];
        while bytes.remaining() > 0 {
            let wanted = usize::try_from(bytes.remaining()).unwrap_or(usize::MAX).min(skipped.len());
            bytes.fill(skipped.get_mut(..wanted).unwrap_or_default())?;
        }
        zeroize::Zeroize::zeroize(&mut skipped);
        Ok(Self(description))
    }
}

#[cfg(test)]
mod tests {
    use vesica_party::Security;
    use vesica_party::service::Service;

    use super::super::Cmdg21;
    use super::*;
    use crate::table::{PayloadField, PayloadKind, PayloadSchema};

    fn chosen(capacity: u64, items_per_query: u64, security: Security, queries: u64) -> Choice {
        let wanted = Description { capacity, items_per_query, security, ..super::super::description::example() };
        choose(&wanted, queries).expect("a protocol")
    }

    #[test]
    fn the_protocol_with_the_fewest_bytes_is_chosen() {
        let semi_honest = Security::SemiHonest;
        // Eight bytes a key are less than tens of kilobytes an item.
        assert_eq!(chosen(1 << 20, 16, semi_honest, 1000).protocol, "oprf-rfc9497");
        // A few look-ups in a set whose tags alone take a hundred megabytes.
        let few = chosen(1 << 24, 1, semi_honest, 3);
        assert_eq!(few.protocol, "oprf-pir", "{few:?}");
        assert!(few.reason.contains("3 queries of 1 item,") && few.reason.contains("with oprf-rfc9497"), "{few:?}");
        // One query of a thousand items.
        assert_eq!(chosen(1 << 22, 1024, semi_honest, 1).protocol, "cmdg21");
    }

    /// Narrow ones make a query of polynomials longer, and what is sent of all keys of the set much longer;
    /// wide ones take too many polynomials.
    #[test]
    fn payloads_count() {
        let of = |width| {
            let fields = vec![PayloadField { name: "label".into(), kind: PayloadKind::Text }];
            let payload = (width > 0).then_some(PayloadSchema { fields, width });
            let example = super::super::description::example();
            Description { capacity: 1 << 22, items_per_query: 1024, security: Security::SemiHonest, payload, ..example }
        };
        let bytes = |width| bytes_of(&Cmdg21::ENTRY, &of(width), 1);
        assert!(bytes(0).expect("served") < bytes(16).expect("served"));
        assert_eq!(choose(&of(16), 1).expect("a protocol").protocol, "cmdg21");
        bytes(2000).expect_err("wider than any label");
        assert_eq!(choose(&of(2000), 1).expect("a protocol").protocol, "oprf-rfc9497");
    }

    /// Even where it would take the fewest bytes by far, and where its prefix is stated.
    #[test]
    fn what_leaks_a_prefix_is_never_chosen() {
        let example = super::super::description::example();
        for leak_prefix in [None, Some(16)] {
            let wanted =
                Description { capacity: 1 << 24, security: Security::SemiHonest, leak_prefix, ..example.clone() };
            let choice = choose(&wanted, 1);
            assert!(choice.is_err() || choice.is_ok_and(|choice| choice.protocol != "oprf-buckets"));
        }
        let named = Description {
            protocol: "oprf-buckets".into(),
            capacity: 1 << 24,
            security: Security::SemiHonest,
            leak_prefix: Some(16),
            ..example
        };
        assert!(bytes_of(ENTRIES[3], &named, 1).expect("it serves this") < 1 << 20);
    }

    #[test]
    fn nothing_is_chosen_that_does_not_serve_what_is_asked_for() {
        let choice = chosen(1 << 24, 1, Security::Malicious, 1);
        assert_eq!(choice.protocol, "oprf-rfc9497");
        assert!(choice.reason.contains("no other protocol") && choice.reason.contains("malicious"), "{choice:?}");
        let huge = Description { capacity: u64::MAX, ..super::super::description::example() };
        choose(&huge, 1).expect_err("no protocol serves it");
    }

    /// Clients that do not follow `cm25-select` learn the server's set.
    #[test]
    fn no_protocol_is_chosen_whose_clients_must_follow_it() {
        for capacity in [0, 10, 16, 20, 22, 24].map(|log| 1 << log) {
            for items in [1, 4, 64, 4096] {
                for queries in [1, 100, 100_000] {
                    let choice = chosen(capacity, items, Security::SemiHonest, queries);
                    let told = format!("{} {}", choice.protocol, choice.reason);
                    assert!(!told.contains("cm25"), "{told}");
                }
            }
        }
    }
}
