//! State files of any bytes: an error, never a panic, and never a value that was not written.

use proptest::prelude::*;
use vesica_party::fuzzing::{state, state_seeds};

#[test]
fn well_formed_states_are_read() {
    let seeds = state_seeds();
    assert_eq!(seeds.len(), 3);
    assert!(seeds.iter().all(|seed| state(seed)));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(!state(&bytes));
    }

    #[test]
    fn a_damaged_state_is_refused(
        seed in 0usize..3,
        damage in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let whole = &state_seeds()[seed];
        let mut bytes = whole.clone();
        damage.iter().for_each(|(place, flips)| bytes[place.index(whole.len())] ^= flips);
        if let Some(cut) = cut {
            bytes.truncate(cut.index(whole.len()));
        }
        prop_assert!(bytes == *whole || !state(&bytes));
    }
}
