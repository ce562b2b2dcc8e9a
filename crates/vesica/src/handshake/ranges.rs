//! What follows from both sides' columns of values: whether they go with the task, whether results may wrap, and how wide noise is.
//! Both sides come to the same, or to the same refusal.

use crate::failure::{Failure, code};
use crate::noise::{Epsilon, NoiseScale};
use crate::plan::{SetTask, Terms};
use crate::table::decimal;

use super::Hello;

/// Whether the two sides' columns, thresholds and noise are what the task takes. Each side has checked its own.
pub(super) fn go_with(task: SetTask, sender: &Hello, receiver: &Hello) -> bool {
    let columns = (sender.values.len(), receiver.values.len());
    let columns_fit = match task {
        SetTask::Intersect | SetTask::Cardinality => columns == (0, 0),
        SetTask::Sum => columns.0 > 0 && columns.1 == 0,
        SetTask::JoinAndCompute => columns.0 > 0 && columns.1 == 1,
        SetTask::Shares => true,
    };
    let scales_fit = receiver.values.iter().all(|ours| sender.values.iter().all(|theirs| ours.scale + theirs.scale <= decimal::MOST_SCALE));
    columns_fit
        && (scales_fit || task != SetTask::JoinAndCompute)
        && (sender.at_least == 0 || task.is_aggregate())
        && (sender.noise.is_none() || (task.is_aggregate() && sender.at_least <= 1))
        && receiver.noise.is_none()
}

/// The noise of each result of a group; none without noise.
pub(super) fn noise(terms: &Terms, sender: &Hello, receiver: &Hello) -> Result<Vec<NoiseScale>, Failure> {
    match &sender.noise {
        None => Ok(Vec::new()),
        Some(epsilon) => NoiseScale::of(terms.task, Epsilon::parse(epsilon)?, &sender.values, &receiver.values),
    }
}

/// That a result may not fit 64 bits and wrap around, in words; `None` if it cannot.
///
/// # Errors
/// If it may although every column has a range: a range promises that results are right.
pub(super) fn may_wrap(terms: &Terms, sender: &Hello, receiver: &Hello, noise: &[NoiseScale]) -> Result<Option<String>, Failure> {
    if !matches!(terms.task, SetTask::Sum | SetTask::JoinAndCompute) {
        return Ok(None);
    }
    let common = terms.sender_items.min(terms.receiver_items) as u128;
    let factor = receiver.values.iter().map(|column| u128::from(column.bound())).max().unwrap_or(1);
    let fits = |(place, bound): (usize, u64)| {
        let sum = u128::from(bound).checked_mul(factor)?.checked_mul(common)?;
        let all = sum.checked_add(noise.get(place).map_or(0, NoiseScale::bound))?;
        (all <= i64::MAX as u128).then_some(())
    };
    if sender.values.iter().enumerate().all(|(place, column)| fits((place, column.bound())).is_some()) {
        return Ok(None);
    }
    let open = sender.values.iter().chain(&receiver.values).find(|column| column.clamp.is_none());
    match open {
        Some(open) => {
            Ok(Some(format!("column `{}` has no range (--clamp): a result beyond 64 bits wraps around, and nobody notices", open.name)))
        }
        None => Err(Failure::new(
            code::REFUSED,
            format_args!("with these ranges and up to {common} common keys a result may not fit 64 bits"),
            "clamp to narrower ranges or use fewer digits (--scale); without any --clamp the run goes on, and results may wrap around",
        )),
    }
}

#[cfg(test)]
mod tests {
    use vesica_party::{Role, Security};

    use super::*;
    use crate::table::{Clamp, ValueColumn};

    fn side(role: Role, values: &[(i64, i64)]) -> Hello {
        let column = |(place, &(least, most)): (usize, &(i64, i64))| {
            let clamp = (least <= most).then_some(Clamp { least, most });
            ValueColumn { name: format!("column {place}"), scale: 1, clamp }
        };
        Hello { role, values: values.iter().enumerate().map(column).collect(), ..super::super::tests::hello(role) }
    }

    /// Without a range.
    const OPEN: (i64, i64) = (1, 0);

    #[test]
    fn each_task_takes_its_columns() {
        let fit = |task, senders: &[(i64, i64)], receivers: &[(i64, i64)]| {
            go_with(task, &side(Role::Sender, senders), &side(Role::Receiver, receivers))
        };
        let one: &[(i64, i64)] = &[(0, 1)];
        let two: &[(i64, i64)] = &[(0, 1), OPEN];
        let none: &[(i64, i64)] = &[];
        assert!(fit(SetTask::Cardinality, none, none) && !fit(SetTask::Cardinality, one, none) && !fit(SetTask::Intersect, none, one));
        assert!(fit(SetTask::Sum, two, none) && !fit(SetTask::Sum, none, none) && !fit(SetTask::Sum, one, one));
        assert!(
            fit(SetTask::JoinAndCompute, two, one) && !fit(SetTask::JoinAndCompute, one, none) && !fit(SetTask::JoinAndCompute, one, two)
        );
        assert!(fit(SetTask::Shares, none, two) && fit(SetTask::Shares, none, none));
        let scaled = |role, scale| {
            let column = ValueColumn { name: "column".into(), scale, clamp: None };
            Hello { values: vec![column], ..side(role, none) }
        };
        let product = |task, sender, receiver| go_with(task, &scaled(Role::Sender, sender), &scaled(Role::Receiver, receiver));
        let most = decimal::MOST_SCALE;
        assert!(product(SetTask::JoinAndCompute, most - 1, 1) && !product(SetTask::JoinAndCompute, most, 1), "digits of a product");
        assert!(product(SetTask::Shares, most, 1));
        let noisy = |at_least| Hello { noise: Some("1".into()), at_least, ..side(Role::Sender, one) };
        assert!(go_with(SetTask::Sum, &noisy(0), &side(Role::Receiver, none)));
        assert!(!go_with(SetTask::Sum, &noisy(2), &side(Role::Receiver, none)));
        assert!(!go_with(SetTask::Sum, &side(Role::Sender, one), &Hello { role: Role::Receiver, ..noisy(0) }));
    }

    #[test]
    fn a_result_may_wrap_only_where_a_side_left_its_range_open() {
        let wrap = |task, items, senders: &[(i64, i64)], receivers: &[(i64, i64)]| {
            let terms = Terms::new(task, 1 << 20, items, Security::SemiHonest);
            may_wrap(&terms, &side(Role::Sender, senders), &side(Role::Receiver, receivers), &[])
        };
        assert_eq!(wrap(SetTask::Sum, 1000, &[(-5, 9_000_000_000_000_000)], &[]), Ok(None));
        assert_eq!(wrap(SetTask::Sum, 2000, &[(-5, 9_000_000_000_000_000)], &[]).expect_err("too much").code, code::REFUSED);
        assert!(wrap(SetTask::Sum, 1, &[OPEN], &[]).expect("goes on").expect("may wrap").contains("column 0"));
        assert_eq!(wrap(SetTask::JoinAndCompute, 1000, &[(0, 1 << 30)], &[(0, 1 << 20)]), Ok(None));
        assert!(wrap(SetTask::JoinAndCompute, 1000, &[(0, 1 << 40)], &[(0, 1 << 20)]).is_err());
        assert!(wrap(SetTask::JoinAndCompute, 1000, &[(0, 1)], &[OPEN]).expect("goes on").is_some());
        assert_eq!(wrap(SetTask::Shares, 1000, &[OPEN], &[OPEN]), Ok(None));
        // What is always zero stays zero.
        assert_eq!(wrap(SetTask::JoinAndCompute, 1000, &[(0, 0)], &[OPEN]), Ok(None));
    }

    #[test]
    fn noise_counts_towards_what_may_wrap() {
        let terms = Terms { columns: 1, ..Terms::new(SetTask::Sum, 1500, 1500, Security::SemiHonest) };
        let receiver = side(Role::Receiver, &[]);
        let wrap = |epsilon: &str| {
            let sender = Hello { noise: Some(epsilon.into()), ..side(Role::Sender, &[(0, 1 << 52)]) };
            may_wrap(&terms, &sender, &receiver, &noise(&terms, &sender, &receiver)?)
        };
        assert_eq!(wrap("1"), Ok(None));
        assert_eq!(wrap("0.1").expect_err("too wide").code, code::REFUSED);
    }
}
