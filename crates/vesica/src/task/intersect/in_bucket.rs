//! The result of an intersection in buckets.

use vesica_protocols::tasks::{IntersectReceiverOutput, SealedPayloads};

use crate::buckets::MemoryBuckets;

/// The places of the sender's matches among all its items, ascending; `matches` are those of each bucket.
pub(super) fn sender_matches(buckets: &MemoryBuckets, matches: Vec<Vec<u32>>) -> Vec<u32> {
    let mut keys = Vec::new();
    for (bucket, matches) in matches.into_iter().enumerate() {
        keys.extend(buckets.found(bucket, &matches).into_iter().map(|(key, _)| key));
    }
    keys.sort_unstable();
    keys
}

/// The places of the receiver's matches among all its items, ascending; their payloads of `width` bytes, in
/// this order; and how many items could not be looked up.
pub(super) fn receiver_matches(
    buckets: &MemoryBuckets,
    outputs: Vec<IntersectReceiverOutput>,
    width: usize,
) -> (Vec<u32>, SealedPayloads, usize) {
    // Each match with the number of its payload among those of all buckets.
    let (mut matches, mut opened, mut unread) = (Vec::new(), Vec::new(), 0);
    for (bucket, output) in outputs.into_iter().enumerate() {
        let first = opened.len().checked_div(width).unwrap_or(0);
        let found = buckets.found(bucket, &output.matches);
        matches.extend(found.into_iter().map(|(key, number)| (key, first + number)));
        opened.extend(output.payloads.open());
        unread += output.unread;
    }
    matches.sort_unstable();
    let payloads = if width == 0 {
        SealedPayloads::default()
    } else {
        let numbers = matches.iter().map(|&(_, number)| number * width);
        let records = numbers.flat_map(|start| opened.get(start..start + width).unwrap_or_default());
        SealedPayloads::plain(width, records.copied().collect())
    };
    (matches.into_iter().map(|(key, _)| key).collect(), payloads, unread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buckets::Buckets;

    /// Of the items 100, 101, ..., those of even places match, out of the order of the places, and a dummy, which
    /// stands last, behind all keys: `session::write` refuses it.
    #[test]
    fn results_come_in_the_order_of_the_keys_with_their_own_payloads() {
        let items: Vec<u128> = (100..150).collect();
        let buckets = Buckets::new(items, 3, 4, 50, 1000..).expect("room");
        let mut dummies = 0;
        let found: Vec<Vec<u32>> = (0..4)
            .map(|bucket| {
                let bucket = buckets.bucket(bucket).expect("in memory");
                let places: Vec<Option<usize>> = bucket.places().collect();
                let matching = places.into_iter().enumerate().filter(|(_, place)| match place {
                    Some(place) => place % 2 == 0,
                    None => {
                        dummies += 1;
                        dummies == 70
                    }
                });
                matching.map(|(number, _)| number as u32).collect()
            })
            .collect();
        assert_eq!((dummies, found.iter().map(Vec::len).sum::<usize>()), (150, 26));
        let expected_keys: Vec<u32> = (0..50).step_by(2).chain([u32::MAX]).collect();
        let in_memory = buckets.in_memory().expect("in memory");
        assert_eq!(sender_matches(in_memory, found.clone()), expected_keys);

        let payload = |item: u128| [item as u8, 7, !(item as u8)];
        let received = |width: usize| {
            let outputs = found.iter().enumerate().map(|(bucket, matches)| {
                let all = buckets.bucket(bucket).expect("in memory").items;
                let items = matches.iter().map(|&number| all[number as usize]);
                let bytes: Vec<u8> = items.flat_map(|item| payload(item)[..width].to_vec()).collect();
                let payloads = if width == 0 { SealedPayloads::default() } else { SealedPayloads::plain(width, bytes) };
                IntersectReceiverOutput { matches: matches.clone(), payloads, unread: bucket }
            });
            receiver_matches(in_memory, outputs.collect(), width)
        };
        for width in [0, 1, 3] {
            let (keys, payloads, unread) = received(width);
            assert_eq!((keys.as_slice(), unread), (expected_keys.as_slice(), 6));
            let expected: Vec<u8> =
                (0..50).step_by(2).flat_map(|place| payload(100 + place)[..width].to_vec()).collect();
            assert_eq!(payloads.open()[..25 * width], expected);
        }
    }
}
