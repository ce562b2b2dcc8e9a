//! The receiver's view of a real run.

use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_testkit::two_party;

use super::*;
use crate::union::leakage::{Sets, Shown, View};
use crate::union::places::Order;
use vesica_protocols::membership::NO_ITEM;

/// The receiver's view of a run on these sets.
pub(in crate::union) fn view(sets: &Sets, order: Order) -> View {
    let params = Cssw25::derive(sets.sender.len(), sets.receiver.len()).unwrap();
    let (held, (found, own_bins, new_bins)) = two_party(
        |ch, rng| {
            let sender = match order {
                Order::Uniform => Sender::setup(&params, ch, rng)?,
                Order::AsBins => {
                    let bins = Secret::new((0..params.circuit.bins as u32).collect());
                    Sender::setup_in_order(&params, bins, ch, rng)?
                }
            };
            sender.ask(&sets.sender, ch, rng)
        },
        |ch, rng| {
            let Receiver { oprf, rest } = Receiver::setup(&params, ch, rng)?;
            let values = oprf.ask(&sets.receiver, ch)?;
            // At new items it has no value of the OPRF: it can take the items themselves.
            let [own_bins, new_bins] = [&values[..], &sets.new_items()].map(|items| rest.circuit.positions(items));
            Ok((rest.test(&values, ch, rng)?, own_bins, new_bins))
        },
    );
    let shown = held.iter().zip(found.iter()).map(|(&item, is_common)| match item {
        _ if is_common => Shown::Common,
        NO_ITEM => Shown::Empty,
        _ => Shown::New,
    });
    View { bins: params.circuit.bins, shown: shown.collect(), own_bins, new_bins }
}

/// Every bin is a place, whatever is common.
#[test]
fn places_of_each_kind_are_as_many_as_the_sizes_say() {
    let mut rng = SecretRng::insecure_from_seed(1);
    for common in [0, 40, 100] {
        let sets = Sets::random(100, 150, common, &mut rng);
        let shown = view(&sets, Order::Uniform).shown;
        let count = |kind| shown.iter().filter(|&&shown| shown == kind).count();
        assert_eq!((count(Shown::Common), count(Shown::New)), (common, 100 - common));
        assert_eq!(shown.len(), Cssw25::derive(100, 150).unwrap().circuit.bins);
    }
}
