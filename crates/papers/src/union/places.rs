//! What places show, on the rows of this crate and on what leaves out a step.

use vesica_structures::hashing::{CuckooTable, Positions};
use vesica_structures::rng::SecretRng;
use vesica_structures::shuffle::random_order;

use super::leakage::{MOST, N, RUNS, Sets, Shown, View, half_common, largest_score, real, scores};
use super::{cssw25, jszg24};
use crate::unbalanced::tcl23;

/// 1.3 bins an item.
const BINS: usize = 13 * N / 10;

/// How the sender orders its bins.
#[derive(Clone, Copy)]
pub enum Order {
    /// As the row does.
    Uniform,
    /// INSECURE: a place is a bin.
    AsBins,
}

/// What is left out, and so INSECURE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    /// Neither OPRF nor order.
    Nothing,
    /// Places are bins of the OPRF's values.
    OprfOnly,
    /// The same without the empty bins: `vesica-union` where full bins keep their order.
    FullBinsInOrder,
    /// Places are in a uniform order, bins are functions of the items themselves.
    OrderOnly,
}

/// INSECURE: what the receiver sees of a run of a variant with `bins` bins, without the run. `None`
/// if the sender's items do not fit.
fn simulated(variant: Variant, sets: &Sets, bins: usize, rng: &mut SecretRng) -> Option<View> {
    let positions = Positions::new(rng.block(), bins);
    let table = CuckooTable::build_vartime(&positions.of(&sets.sender), bins).ok()?;
    let in_bin = |bin: u32| match table.bin(bin as usize) {
        Some(entry) if sets.is_common_of_sender[entry.item as usize] => Shown::Common,
        Some(_) => Shown::New,
        None => Shown::Empty,
    };
    let order = if variant == Variant::OrderOnly { random_order(bins, rng) } else { (0..bins as u32).collect() };
    let mut shown: Vec<Shown> = order.into_iter().map(in_bin).collect();
    if variant == Variant::FullBinsInOrder {
        shown.retain(|&shown| shown != Shown::Empty);
    }
    // The OPRF's values at new items are random to the receiver, and so are their bins.
    let has_oprf = matches!(variant, Variant::OprfOnly | Variant::FullBinsInOrder);
    let known = if has_oprf { &Positions::new(rng.block(), bins) } else { &positions };
    Some(View { bins, shown, own_bins: positions.of(&sets.receiver), new_bins: known.of(&sets.new_items()) })
}

/// INSECURE: simulated views of `count` runs in which the sender's items fit into their bins.
fn insecure(variant: Variant, count: usize, rng: &mut SecretRng) -> Vec<(Sets, View)> {
    let runs = std::iter::repeat_with(|| {
        let sets = half_common(rng);
        let view = simulated(variant, &sets, BINS, rng)?;
        Some((sets, view))
    });
    runs.flatten().take(count).collect()
}

#[test]
fn places_of_the_rows_show_nothing() {
    let mut rng = SecretRng::insecure_from_seed(1);
    let score = largest_score(&real(RUNS, &mut rng, |sets| cssw25::tests::view(sets, Order::Uniform)));
    assert!(score <= MOST, "cssw25: {score}");
    let score = largest_score(&real(RUNS, &mut rng, |sets| jszg24::tests::view(sets, Order::Uniform)));
    assert!(score <= MOST, "jszg24: {score}");
    let score = largest_score(&real(RUNS, &mut rng, |sets| tcl23::tests::view(sets, Order::Uniform)));
    assert!(score <= MOST, "tcl23: {score}");
}

/// The same assertion fails where places are bins: on runs of the rows themselves, and on simulated
/// ones.
#[test]
fn places_without_an_order_show_what_is_common() {
    let mut rng = SecretRng::insecure_from_seed(2);
    let score = largest_score(&real(RUNS, &mut rng, |sets| cssw25::tests::view(sets, Order::AsBins)));
    assert!(score > 2.0 * MOST, "cssw25 without an order: {score}");
    let score = largest_score(&real(RUNS, &mut rng, |sets| jszg24::tests::view(sets, Order::AsBins)));
    assert!(score > MOST, "jszg24 without an order: {score}");
    let score = largest_score(&real(RUNS, &mut rng, |sets| tcl23::tests::view(sets, Order::AsBins)));
    assert!(score > 2.0 * MOST, "tcl23 without an order: {score}");
    for variant in [Variant::Nothing, Variant::OprfOnly] {
        let score = largest_score(&insecure(variant, RUNS, &mut rng));
        assert!(score > 2.0 * MOST, "{variant:?}: {score}");
    }
}

/// Without its empty bins the table says less of where an item lies: four times as many runs show it
/// with a score near 11. A test in `vesica_union::sender` holds the order itself against this.
#[test]
fn full_bins_in_their_order_show_what_is_common() {
    let mut rng = SecretRng::insecure_from_seed(8);
    let score = largest_score(&insecure(Variant::FullBinsInOrder, 4 * RUNS, &mut rng));
    assert!(score > MOST, "{score}");
}

/// Without an order, an item none of whose bins shows a common one is not common for certain: a
/// share of `(1 - s / t)^3` of the others, 23 percent. Equation (5) has no such case.
#[test]
fn places_without_an_order_show_some_items_with_certainty() {
    let mut rng = SecretRng::insecure_from_seed(3);
    for variant in [Variant::Nothing, Variant::OprfOnly] {
        let mut count = 0.0;
        for (sets, view) in insecure(variant, RUNS, &mut rng) {
            let [common_places, ..] = view.statistics();
            let excluded = common_places.iter().zip(&sets.is_common).filter(|(places, _)| **places == 0);
            assert!(excluded.clone().all(|(_, is_common)| !is_common), "{variant:?}");
            count += excluded.count() as f64;
        }
        let others = (RUNS * N / 2) as f64;
        let share = (1.0 - (N / 2) as f64 / BINS as f64).powi(3);
        assert!((count - share * others).abs() <= MOST * (share * (1.0 - share) * others).sqrt(), "{count}");
    }
}

/// A uniform order alone shows nothing either at 1.3 bins an item, where some table fails once in
/// very many runs: bins are functions of items that were there before.
#[test]
fn a_uniform_order_alone_shows_nothing_where_tables_can_be_built() {
    let mut rng = SecretRng::insecure_from_seed(4);
    let score = largest_score(&insecure(Variant::OrderOnly, 4 * RUNS, &mut rng));
    assert!(score <= MOST, "{score}");
}

/// Where building often fails, that it did not fail shows something: items whose bins meet those of
/// many other items are less likely to be in the sender's set. The OPRF hides the bins of new items.
/// The receiver still knows those of its own, some of which are the sender's too: so failures must
/// be rare in any case.
#[test]
fn tables_that_often_cannot_be_built_show_something() {
    let mut rng = SecretRng::insecure_from_seed(5);
    let (items, bins, mut failures) = (12, 12, 0);
    let mut runs = Vec::new();
    while runs.len() < 6000 {
        let sets = Sets::random(items, items, items / 2, &mut rng);
        match simulated(Variant::OrderOnly, &sets, bins, &mut rng) {
            Some(view) => runs.push((sets, view)),
            None => failures += 1,
        }
    }
    assert!(failures > 1000, "{failures}");
    let score = largest_score(&runs);
    assert!(score > 2.0 * MOST, "{score}");
    for (sets, view) in &mut runs {
        view.new_bins = Positions::new(rng.block(), bins).of(&sets.new_items());
    }
    let [others @ .., met_by_own] = scores(&runs);
    assert!(others.iter().all(|&score| score <= MOST) && met_by_own > MOST, "with the OPRF: {others:?} {met_by_own}");
}

/// Pairs of a new item and one of the receiver's, common ones and others, for which an event occurs.
#[derive(Debug, Default)]
struct Pairs {
    common: f64,
    others: f64,
}

impl Pairs {
    fn add(&mut self, is_common: bool, count: usize) {
        *(if is_common { &mut self.common } else { &mut self.others }) += count as f64;
    }

    fn all(&self) -> f64 {
        self.common + self.others
    }

    /// `P[A | B]`.
    fn common_share(&self) -> f64 {
        self.common / self.all()
    }
}

/// Whether a count of rare events is as expected, within six deviations of a Poisson variable.
fn is_near(count: f64, expected: f64) -> bool {
    (count - expected).abs() <= MOST * expected.sqrt()
}

/// Equations (1) to (3) with an order and without the OPRF: `B` is that one of the three bins of `x`
/// is one of those of `y`.
#[test]
fn bins_of_two_items_meet_with_nine_over_t_whether_one_is_common_or_not() {
    let mut rng = SecretRng::insecure_from_seed(6);
    let mut met = Pairs::default();
    for (sets, view) in insecure(Variant::OrderOnly, 4 * RUNS, &mut rng) {
        for (own, &is_common) in view.own_bins.iter().zip(&sets.is_common) {
            met.add(is_common, view.new_bins.iter().filter(|new| new.iter().any(|bin| own.contains(bin))).count());
        }
    }
    let (t, pairs) = (BINS as f64, (4 * RUNS * N / 2 * N) as f64);
    let chance = 1.0 - (t - 3.0) * (t - 4.0) * (t - 5.0) / (t * (t - 1.0) * (t - 2.0));
    assert!((chance * t - 9.0).abs() < 0.1);
    // Pairs are independent in twos, so that their number has the variance of as many draws.
    assert!(is_near(met.all(), pairs * chance), "{met:?}");
    assert!(!is_near(met.all(), pairs * 3.0 / t), "equation (2): {met:?}");
    assert!(is_near(met.common, pairs / 2.0 * chance), "{met:?}");
    assert!(!is_near(met.common, pairs / 2.0 * 2.0 / (t - 1.0)), "equation (2): {met:?}");
    let random = 0.5;
    let deviation = (0.25 / met.all()).sqrt();
    assert!((met.common_share() - random).abs() <= MOST * deviation, "{met:?}");
    assert!((met.common_share() - random * 2.0 * t / (3.0 * (t - 1.0))).abs() > MOST * deviation, "equation (3)");
}

/// Equations (2) to (5) without an order: `B` is that the bin that holds `x` is one of those of `y`.
#[test]
fn the_bin_of_a_new_item_is_one_of_an_items_less_often_where_it_is_common() {
    let mut rng = SecretRng::insecure_from_seed(7);
    let (mut met, mut full_others, mut most) = (Pairs::default(), 0.0, 0);
    for (sets, view) in insecure(Variant::Nothing, 4 * RUNS, &mut rng) {
        for (own, &is_common) in view.own_bins.iter().zip(&sets.is_common) {
            let held = view.count(own, Shown::New, 0);
            most = most.max(held);
            met.add(is_common, held);
            if is_common {
                full_others += (held + view.count(own, Shown::Common, 0) - 1) as f64;
            }
        }
    }
    let [t, n, runs] = [BINS, N, 4 * RUNS].map(|number| number as f64);
    let pairs = runs * n / 2.0 * n / 2.0;
    // Of the two bins of a common item that do not hold it.
    let full = full_others / (runs * n);
    assert!((0.86..0.88).contains(&full), "{full}");
    let (of_common, of_others) = (2.0 * full / (n - 1.0), 3.0 / t);
    assert!(is_near(met.common, pairs * of_common) && is_near(met.others, pairs * of_others), "{met:?}");
    assert!(!is_near(met.common, pairs * 2.0 / (t - 1.0)), "equation (2): {met:?}");
    let expected = of_common / (of_common + of_others);
    let deviation = (0.25 / met.all()).sqrt();
    assert!((met.common_share() - expected).abs() <= MOST * deviation, "{met:?}");
    for printed in [t / (3.0 * (t - 1.0)), 0.5] {
        assert!((met.common_share() - printed).abs() > MOST * deviation, "{printed} of {met:?}");
    }
    // Equation (4) gives all new items together a chance to be in the bins of one item.
    assert_eq!(most, 3);
}
