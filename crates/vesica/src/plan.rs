//! Which protocol serves a request. A fixed rule for now; the cost model will replace the order of preference below.

use vesica_party::{Entry, Registered, Security, Status};
use vesica_protocols::registry;
use vesica_protocols::tasks::{Intersect, IntersectRequest};

use crate::failure::{Failure, code};

/// What a run is about, in numbers that both sides know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub sender_items: usize,
    pub receiver_items: usize,
    pub security: Security,
    pub payload_bytes: usize,
    pub both_learn: bool,
}

impl Terms {
    pub(crate) fn request(&self) -> IntersectRequest {
        IntersectRequest {
            sender_items: self.sender_items,
            receiver_items: self.receiver_items,
            security: self.security,
            payload_bytes: self.payload_bytes,
            both_learn: self.both_learn,
        }
    }
}

/// A protocol of the registry.
pub(crate) type Row = &'static dyn Registered<Intersect>;

/// Ids from the most to the least wanted. What is not listed comes after, in the registry's order.
const PREFERENCE: [&str; 5] = ["vole-fast", "vole-lean", "rr22", "rs21", "ecdh-hfh99"];

/// Sets up to this size go by elliptic curve where that is allowed: the set-up of the others costs more.
const SMALL: usize = 1 << 11;

/// All protocols for the task.
pub(crate) fn rows() -> &'static [Row] {
    registry::intersect()
}

/// The protocols that a side allows, most wanted first: the one named, or all that reach `security`.
pub(crate) fn allowed(named: Option<&str>, security: Security, allow_broken: bool) -> Result<Vec<Row>, Failure> {
    if let Some(name) = named {
        let row = registry::find_intersect(name).ok_or_else(|| {
            let known: Vec<&str> = rows().iter().map(|row| row.entry().id).collect();
            Failure::new(
                code::REFUSED,
                format_args!("there is no protocol {name:?} for intersect"),
                format_args!("choose one of {}", known.join(", ")),
            )
        })?;
        let entry = row.entry();
        if let Status::Broken { how } = entry.status
            && !allow_broken
        {
            let fault = format!("protocol {} is broken: {how}", entry.id);
            let mend = "choose another one; to run it nevertheless, for research, add --allow-broken";
            return Err(Failure::new(code::REFUSED, fault, mend));
        }
        if entry.mode(security).is_none() {
            let offered: Vec<String> = entry.modes.iter().map(|mode| mode.security.to_string()).collect();
            return Err(Failure::new(
                code::REFUSED,
                format_args!("protocol {} has no {security} mode", entry.id),
                format_args!("choose another protocol, or say --security {} on both sides", offered.join(" or ")),
            ));
        }
        return Ok(vec![row]);
    }
    let mut found: Vec<Row> = rows()
        .iter()
        .copied()
        .filter(|row| row.entry().mode(security).is_some() && !matches!(row.entry().status, Status::Broken { .. }))
        .collect();
    found.sort_by_key(|row| rank(row.entry().id));
    if found.is_empty() {
        let mend = match security {
            Security::Malicious => "if the partner is trusted to follow the protocol, say --security semi-honest on both sides",
            Security::SemiHonest => "choose another task",
        };
        return Err(Failure::new(code::REFUSED, format_args!("no protocol for intersect withstands a {security} partner"), mend));
    }
    Ok(found)
}

fn rank(id: &str) -> usize {
    PREFERENCE.iter().position(|preferred| *preferred == id).unwrap_or(PREFERENCE.len())
}

/// What `auto` runs for a request when both sides allow everything that reaches its security.
///
/// # Errors
/// If no protocol serves it.
pub fn automatic(request: &IntersectRequest) -> Result<&'static Entry, Failure> {
    let all: Vec<String> = allowed(None, request.security, false)?.into_iter().map(|row| row.entry().id.to_owned()).collect();
    let terms = Terms {
        sender_items: request.sender_items,
        receiver_items: request.receiver_items,
        security: request.security,
        payload_bytes: request.payload_bytes,
        both_learn: request.both_learn,
    };
    Ok(choose(&terms, &all, &all)?.entry())
}

/// The receiver's choice among what both sides allow.
pub(crate) fn choose(terms: &Terms, ours: &[String], theirs: &[String]) -> Result<Row, Failure> {
    let mut candidates: Vec<Row> =
        rows().iter().copied().filter(|row| [ours, theirs].iter().all(|list| list.iter().any(|id| id == row.entry().id))).collect();
    let small = terms.sender_items.max(terms.receiver_items) <= SMALL;
    candidates.sort_by_key(|row| match row.entry().id {
        "ecdh-hfh99" if small => 0,
        id => 1 + rank(id),
    });
    let request = terms.request();
    let mut refusal = None;
    for row in candidates {
        match row.predicted_bytes(&request) {
            Ok(_) => return Ok(row),
            Err(refused) => refusal = refusal.or(Some(refused)),
        }
    }
    match refusal {
        Some(refused) => Err(refused.into()),
        None => Err(Failure::new(
            code::MISMATCH,
            "no protocol is allowed on both sides",
            "leave --protocol away, or name the same on both sides",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(items: usize, security: Security) -> Terms {
        Terms { sender_items: items, receiver_items: items, security, payload_bytes: 0, both_learn: false }
    }

    #[test]
    fn small_semi_honest_sets_go_by_elliptic_curve() {
        let all: Vec<String> = allowed(None, Security::SemiHonest, false).expect("some").iter().map(|row| row.entry().id.into()).collect();
        let row = choose(&terms(100, Security::SemiHonest), &all, &all).expect("a protocol");
        assert_eq!(row.entry().id, "ecdh-hfh99");
    }

    #[test]
    fn only_what_both_allow_and_what_reaches_the_security_is_chosen() {
        for security in [Security::SemiHonest, Security::Malicious] {
            let Ok(rows) = allowed(None, security, false) else { continue };
            assert!(rows.iter().all(|row| row.entry().mode(security).is_some()));
            let all: Vec<String> = rows.iter().map(|row| row.entry().id.into()).collect();
            for id in &all {
                let row = choose(&terms(5000, security), &all, std::slice::from_ref(id)).expect("the one");
                assert_eq!(row.entry().id, id);
            }
        }
        assert_eq!(
            choose(&terms(5, Security::SemiHonest), &[], &["ecdh-hfh99".into()]).err().map(|failure| failure.code),
            Some(code::MISMATCH)
        );
    }

    #[test]
    fn an_unknown_protocol_and_a_missing_mode_are_refused() {
        assert_eq!(allowed(Some("md5"), Security::SemiHonest, false).err().map(|failure| failure.code), Some(code::REFUSED));
        let failure = allowed(Some("ecdh-hfh99"), Security::Malicious, false).err().expect("it has no such mode");
        assert!(failure.mend.contains("--security semi-honest"), "{failure}");
    }
}
