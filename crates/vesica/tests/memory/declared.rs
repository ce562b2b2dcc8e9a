//! A partner's word is not memory: however many keys it declares, a side holds what has come.

use vesica::party::{Role, Security};
use vesica::plan::{SetTask, Terms};
use vesica::protocols::any::AnyProtocol;

use crate::measure::{alone, counted, is_on_a_curve, receive, rows, run, send, terms};

/// What the engine takes from a partner by default.
const MOST: usize = 1 << 28;

/// Items of the side that is measured.
const OWN: usize = 200;

/// What a side may hold for its own items and what has come of the partner's.
const LITTLE: usize = 4 << 20;

fn sizes(task: SetTask, security: Security, honest: Role, declared: usize) -> Terms {
    match honest {
        Role::Sender => terms(task, security, OWN, declared),
        Role::Receiver => terms(task, security, declared, OWN),
    }
}

/// Each row and mode against each honest role, with the terms in which the partner declares the most that the row serves.
fn cases() -> Vec<(AnyProtocol, Role, Terms)> {
    let of = |(row, task, security): (AnyProtocol, SetTask, Security)| {
        [Role::Sender, Role::Receiver].into_iter().map(move |honest| {
            let all = (0..=MOST.ilog2()).rev().map(|log| sizes(task, security, honest, 1 << log));
            let served = all.into_iter().find(|terms| row.predicted_bytes(terms).is_ok());
            (row, honest, served.unwrap_or_else(|| panic!("{} serves nothing", row.entry().id)))
        })
    };
    rows().into_iter().flat_map(of).collect()
}

#[test]
fn a_partner_that_declares_the_most_and_says_no_more_costs_no_memory() {
    let _alone = alone();
    for (row, honest, terms) in cases() {
        let (peaks, ends) = match honest {
            Role::Sender => counted(|ch, rng| send(row, &terms, ch, rng), |_, _| Ok(())),
            Role::Receiver => counted(|_, _| Ok(()), |ch, rng| receive(row, &terms, ch, rng)),
        };
        let what = format!("the {honest} of {} with {terms:?}", row.entry().id);
        let end = if honest == Role::Sender { ends.0 } else { ends.1 };
        assert!(end.is_err(), "{what} ends well without a partner");
        assert!(peaks.of(honest) < LITTLE, "{what} holds {} bytes", peaks.of(honest));
    }
}

/// Rows of points alone hold what has come in the middle of the protocol, too: the partner follows it for some of the items that it declared, and is gone.
#[test]
fn a_partner_that_brings_fewer_points_than_it_declared_costs_memory_for_those() {
    let _alone = alone();
    let of_points =
        |(row, _, declared): &(AnyProtocol, Role, Terms)| is_on_a_curve(row) && declared.sender_items.max(declared.receiver_items) == MOST;
    let mut shown = 0;
    for (row, honest, declared) in cases().into_iter().filter(of_points) {
        let brought = sizes(declared.task, declared.security, honest, OWN);
        let (of_sender, of_receiver) = if honest == Role::Sender { (declared, brought) } else { (brought, declared) };
        let (peaks, ends) = run(row, of_sender, of_receiver);
        let what = format!("the {honest} of {} with {declared:?}", row.entry().id);
        let end = if honest == Role::Sender { ends.0 } else { ends.1 };
        assert!(end.is_err(), "{what} ends well with fewer items than declared");
        assert!(peaks.of(honest) < LITTLE, "{what} holds {} bytes", peaks.of(honest));
        shown += 1;
    }
    assert!(shown >= 10, "only {shown} cases declare {MOST} items");
}
