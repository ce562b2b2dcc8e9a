//! The columns of values of both sides: whether they go together, and what is computed from them.

use vesica_party::Task;
use vesica_protocols::tasks::{AggregateRequest, Extent, Over};

use super::kind::{AggregateKind, is_over_union};
use super::terms::{Proposal, Terms};
use crate::failure::{Failure, code};
use crate::handshake::{Difference, list, printable};
use crate::noise::NoiseScale;
use crate::table::{ExpectedRange, ValueColumn, decimal};
use crate::task::Side;

/// Refuses more columns than any protocol takes.
pub(in crate::task) fn refuse_too_many_columns(side: &Side<'_>, task: &str) -> Result<(), Failure> {
    let (columns, most) = (side.settings.values.columns.len(), AggregateRequest::MOST_COLUMNS);
    side.refuse(task, columns > most, &format!("--payload names {columns} columns, more than {most}"), "name fewer")
}

/// The differences in ranges: each side may insist on ranges of the other's columns. Either side
/// has its columns and the ranges that it expects.
pub(in crate::task) fn range_differences(
    ours: (&[ValueColumn], &[ExpectedRange]),
    theirs: (&[ValueColumn], &[ExpectedRange]),
) -> Vec<Difference> {
    let missed = |expected: &[ExpectedRange], columns: &[ValueColumn]| {
        let missed = |range: &&ExpectedRange| !columns.iter().any(|column| range.is_of(column));
        let wanted: Vec<String> = expected.iter().filter(missed).map(ToString::to_string).collect();
        let given: Vec<String> = columns.iter().map(ToString::to_string).collect();
        (!wanted.is_empty()).then(|| (format!("expected {}", list(&wanted)), list(&given)))
    };
    let by_us = missed(ours.1, theirs.0).map(|(wanted, given)| Difference::new("--clamp", &wanted, &given));
    let by_them = missed(theirs.1, ours.0).map(|(wanted, given)| Difference::new("--clamp", &given, &wanted));
    by_us.into_iter().chain(by_them).collect()
}

/// Where the columns of a union do not go together: each of the receiver's, if it has any, is added
/// to the sender's of the same place.
pub(super) fn unlike_columns(ours: &[ValueColumn], theirs: &[ValueColumn]) -> Option<Difference> {
    if ours.is_empty() || theirs.is_empty() {
        return None;
    }
    let listed = |columns: &[ValueColumn], show: &dyn Fn(&ValueColumn) -> String| {
        list(&columns.iter().map(show).collect::<Vec<_>>())
    };
    let difference =
        |flag, show: &dyn Fn(&ValueColumn) -> String| Difference::new(flag, &listed(ours, show), &listed(theirs, show));
    if ours.len() != theirs.len() {
        return Some(difference("--payload", &|column| column.name.clone()));
    }
    let scales_differ = ours.iter().zip(theirs).any(|(ours, theirs)| ours.scale != theirs.scale);
    scales_differ.then(|| difference("--scale", &|column| format!("{}={}", column.name, column.scale)))
}

/// Whether the two sides' columns, thresholds and noise are what the task takes. Each side has
/// checked its own.
pub(super) fn go_together<K: AggregateKind>(sender: &Proposal, receiver: &Proposal) -> bool {
    let receivers_fit = if is_over_union::<K>() {
        [0, sender.values.len()].contains(&receiver.values.len())
    } else {
        receiver.values.len() == usize::from(K::RECEIVER_HAS_COLUMN)
    };
    let columns_fit = sender.values.is_empty() != K::SENDER_HAS_COLUMNS && receivers_fit;
    columns_fit && (sender.noise.is_none() || sender.at_least <= 1) && receiver.noise.is_none()
}

/// Refuses columns whose products would have more digits after the point than a result can show.
/// Neither side can check that alone.
pub(super) fn check_scales(senders: &[ValueColumn], receivers: &[ValueColumn]) -> Result<(), Failure> {
    for (ours, theirs) in receivers.iter().flat_map(|ours| senders.iter().map(move |theirs| (ours, theirs))) {
        let digits = u16::from(ours.scale) + u16::from(theirs.scale);
        if digits > u16::from(decimal::MOST_SCALE) {
            let fault = format_args!(
                "the product of the receiver's column `{}` ({} digits) and the sender's column `{}` ({} digits) would \
                 have {digits} digits after the point, more than {}",
                printable(&ours.name),
                ours.scale,
                printable(&theirs.name),
                theirs.scale,
                decimal::MOST_SCALE
            );
            return Err(Failure::new(code::REFUSED, fault, "agree on smaller --scale values"));
        }
    }
    Ok(())
}

/// That a result may not fit 64 bits and wrap around, in words; `None` if it cannot.
///
/// # Errors
/// If it may although every column has a range: a range promises that results are right.
pub(super) fn may_wrap(
    over: Over,
    extent: &Extent,
    senders: &[ValueColumn],
    receivers: &[ValueColumn],
    noise: &[NoiseScale],
) -> Result<Option<String>, Failure> {
    // Those of all buckets.
    let [n_s, n_r] = [extent.sender_items, extent.receiver_items].map(|items| items as u128 * extent.runs as u128);
    let keys = match over {
        Over::Common => n_s.min(n_r),
        Over::New => n_s + n_r,
    };
    let factor = receivers.iter().map(|column| u128::from(column.bound())).max().unwrap_or(1);
    let fits = |(place, bound): (usize, u64)| {
        let sum = match over {
            Over::Common => u128::from(bound).checked_mul(factor)?.checked_mul(keys)?,
            Over::New => {
                let own = receivers.get(place).map_or(0, ValueColumn::bound);
                u128::from(bound).checked_mul(n_s)?.checked_add(u128::from(own).checked_mul(n_r)?)?
            }
        };
        let all = sum.checked_add(noise.get(place).map_or(0, NoiseScale::bound))?;
        (all <= i64::MAX as u128).then_some(())
    };
    if senders.iter().enumerate().all(|(place, column)| fits((place, column.bound())).is_some()) {
        return Ok(None);
    }
    let open = senders.iter().chain(receivers).find(|column| column.clamp.is_none());
    match open {
        Some(open) => Ok(Some(format!(
            "column `{}` has no range (--clamp): a result beyond 64 bits wraps around, and nobody notices",
            printable(&open.name)
        ))),
        None => Err(Failure::new(
            code::REFUSED,
            format_args!(
                "with these ranges and up to {keys} {} a result may not fit 64 bits",
                match over {
                    Over::Common => "common keys",
                    Over::New => "keys in the union",
                }
            ),
            "clamp to narrower ranges or use fewer digits (--scale); without any --clamp the run goes on, and results \
             may wrap around",
        )),
    }
}

/// The name of each result, and its digits behind the point.
pub(super) fn result_columns<K: AggregateKind>(terms: &Terms) -> Vec<(String, u8)> {
    if !K::SENDER_HAS_COLUMNS {
        return vec![(K::Functionality::NAME.into(), 0)];
    }
    if is_over_union::<K>() {
        // Without columns of the receiver, it is a sum over new keys.
        let new = if terms.receiver.is_empty() { "new_" } else { "" };
        return terms.sender.iter().map(|column| (format!("{new}{}", column.name), column.scale)).collect();
    }
    let result = |column: &ValueColumn| {
        let (mut name, mut scale) = (column.name.clone(), column.scale);
        for factor in &terms.receiver {
            name.push_str(&format!("_times_{}", factor.name));
            scale += factor.scale;
        }
        (name, scale)
    };
    terms.sender.iter().map(result).collect()
}
