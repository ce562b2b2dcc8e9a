//! What `--post-quantum` leaves of a task's protocols.

use vesica_party::{BaseOtChoice, Entry, Security, variants};

use crate::failure::{Failure, code};

/// The row or variant itself, if no quantum computer is known to break its mode of this security; or its variant on base
/// OTs from ML-KEM, if that holds of it. `None` if it falls all the same, or has no such mode.
fn lasting(entries: &[&'static Entry], entry: &'static Entry, security: Security) -> Option<&'static Entry> {
    let lasts = |entry: &&'static Entry| entry.mode(security).is_some_and(|mode| mode.falls_to_quantum().is_none());
    let on_ml_kem = || {
        let rows = entries.iter().copied();
        variants::with_value(rows, entry, BaseOtChoice::CHOICE, BaseOtChoice::MlKem.name())
    };
    Some(entry).filter(lasts).or_else(|| on_ml_kem().filter(lasts))
}

/// What no quantum computer is known to break, of all rows but broken ones.
pub(super) fn all(entries: &[&'static Entry], security: Security) -> Vec<&'static Entry> {
    let sound = entries.iter().copied().filter(|entry| entry.broken().is_none());
    sound.filter_map(|entry| lasting(entries, entry, security)).collect()
}

/// The protocol to run where `entry` was named.
///
/// # Errors
/// If it falls to a quantum computer.
pub(super) fn required(
    task: &str,
    entries: &[&'static Entry],
    entry: &'static Entry,
    security: Security,
) -> Result<&'static Entry, Failure> {
    lasting(entries, entry, security).ok_or_else(|| {
        let mut can = all(entries, security).into_iter().map(Entry::row_id).peekable();
        let mend = match can.peek() {
            Some(_) => {
                format!("name one that does not, {}, or omit --protocol", can.collect::<Vec<_>>().join(" or "))
            }
            None => refusal(task, entries, security).mend,
        };
        Failure::new(code::REFUSED, falls(entry, security), mend)
    })
}

/// Why a protocol falls.
pub(crate) fn falls(entry: &Entry, security: Security) -> String {
    let assumption = entry.mode(security).and_then(|mode| mode.falls_to_quantum());
    format!(
        "protocol {} falls to a quantum computer (--post-quantum): it assumes {}",
        entry.id,
        assumption.map_or("what one refutes", |assumption| assumption.what)
    )
}

/// The refusal of a task of which no protocol lasts.
pub(super) fn refusal(task: &str, entries: &[&'static Entry], security: Security) -> Failure {
    let fault = format_args!("every protocol for {task} with {security} security falls to a quantum computer");
    let mend = match security {
        Security::Malicious if !all(entries, Security::SemiHonest).is_empty() => {
            "if the partner is trusted to follow the protocol, say --security semi-honest on both sides; or omit \
             --post-quantum on both sides"
        }
        _ => "omit --post-quantum on both sides, or choose another task",
    };
    Failure::new(code::REFUSED, fault, mend)
}
