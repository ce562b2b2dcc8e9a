//! A partner's word is not memory: however many keys it declares, a side holds what has come.

use vesica::party::{CostClass, Entry, Role, Security};
use vesica::protocols::tasks::Extent;
use vesica::task::AnyTask;

use crate::measure::{Case, alone, counted, is_on_a_curve, rows, run};

/// What the engine takes from a partner by default.
const MOST: usize = 1 << 28;

/// Items of the side that is measured.
const OWN: usize = 200;

/// What a side may hold for its own items and what has come of the partner's.
const LITTLE: usize = 4 << 20;

/// The same where a sender prepares keys and tables of transforms, whose size goes by no number of items.
const LITTLE_ON_LATTICES: usize = 24 << 20;

/// The same where a sender prepares 2^16 buckets, or what packs looked-up records, however few items it has.
const LITTLE_IN_BUCKETS: usize = 8 << 20;

/// The same where a sender prepares keys by which clients turn slots.
const LITTLE_WITH_TURNS: usize = 64 << 20;

fn little(entry: &Entry) -> usize {
    match (entry.cost, entry.id) {
        (_, id) if id.starts_with("cm25-fast-intersection-count-repaired") => LITTLE_WITH_TURNS,
        (CostClass::Lattice, _) => LITTLE_ON_LATTICES,
        (_, "oprf-buckets" | "oprf-pir") => LITTLE_IN_BUCKETS,
        _ => LITTLE,
    }
}

fn extent(security: Security, honest: Role, declared: usize) -> Extent {
    match honest {
        Role::Sender => Extent::new(OWN, declared, security),
        Role::Receiver => Extent::new(declared, OWN, security),
    }
}

/// Each row and mode against each honest role, in the case that the partner declares the most that
/// the row serves.
fn cases() -> Vec<(Role, Case)> {
    let of = |(task, entry, security): (&'static dyn AnyTask, &'static Entry, Security)| {
        [Role::Sender, Role::Receiver].into_iter().map(move |honest| {
            let all = (0..=MOST.ilog2()).rev().map(|log| Case::plain(task, entry, extent(security, honest, 1 << log)));
            let served = all.into_iter().find(Case::is_served);
            (honest, served.unwrap_or_else(|| panic!("{} serves nothing", entry.id)))
        })
    };
    rows().into_iter().flat_map(of).collect()
}

#[test]
fn a_partner_that_declares_the_most_and_says_no_more_costs_no_memory() {
    let _alone = alone();
    for (honest, case) in cases() {
        let sample = case.sample(honest);
        let (peaks, ends) = match honest {
            Role::Sender => counted(|ch, rng| case.play(&sample, ch, rng), |_, _| Ok(())),
            Role::Receiver => counted(|_, _| Ok(()), |ch, rng| case.play(&sample, ch, rng)),
        };
        let what = format!("the {honest} of {case:?}");
        let end = if honest == Role::Sender { ends.0 } else { ends.1 };
        assert!(end.is_err(), "{what} ends well without a partner");
        assert!(peaks.of(honest) < little(case.entry), "{what} holds {} bytes", peaks.of(honest));
    }
}

/// Rows of points alone hold what has come in the middle of the protocol, too: the partner follows
/// it for some of the items that it declared, and is gone.
#[test]
fn a_partner_that_brings_fewer_points_than_it_declared_costs_memory_for_those() {
    let _alone = alone();
    let of_points = |(_, case): &(Role, Case)| {
        is_on_a_curve(case.entry) && case.extent.sender_items.max(case.extent.receiver_items) == MOST
    };
    let mut shown = 0;
    for (honest, declared) in cases().into_iter().filter(of_points) {
        let brought = Case { extent: extent(declared.extent.security, honest, OWN), ..declared };
        let (of_sender, of_receiver) = if honest == Role::Sender { (declared, brought) } else { (brought, declared) };
        let (peaks, ends) = run(of_sender, of_receiver);
        let what = format!("the {honest} of {declared:?}");
        let end = if honest == Role::Sender { ends.0 } else { ends.1 };
        assert!(end.is_err(), "{what} ends well with fewer items than declared");
        assert!(peaks.of(honest) < little(declared.entry), "{what} holds {} bytes", peaks.of(honest));
        shown += 1;
    }
    assert!(shown >= 10, "only {shown} cases declare {MOST} items");
}
