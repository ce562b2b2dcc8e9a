//! An intersection in buckets: what goes into the run of a bucket, and the result of all.

use vesica_protocols::tasks::{IntersectReceiverOutput, SealedPayloads};

use crate::buckets::Buckets;

/// The payloads of a bucket's items, of `width` bytes each, from the `own` ones of the table's keys; those of
/// dummies are zero. The work is the same for keys and for dummies: the other side could time it.
pub(super) fn payloads(buckets: &Buckets, bucket: usize, own: &[u8], width: usize) -> Vec<u8> {
    let items = buckets.items(bucket).len();
    let keys = own.len().checked_div(width).unwrap_or(0);
    let mut all = Vec::with_capacity(items * width);
    if keys == 0 {
        all.resize(items * width, 0);
        return all;
    }
    for (number, place) in buckets.places(bucket).enumerate() {
        // Behind the table's keys are the dummies of --pad-to. A bucket's keys are this far apart, about.
        let place = place.filter(|&place| place < keys);
        let other = (number * buckets.count() + bucket) % keys;
        let (record, mask) = place.map_or((other, 0), |place| (place, u8::MAX));
        all.extend(own[record * width..(record + 1) * width].iter().map(|byte| byte & mask));
    }
    all
}

/// The places of the sender's matches among all its items, ascending; `matches` are those of each bucket.
pub(super) fn sender_matches(buckets: &Buckets, matches: Vec<Vec<u32>>) -> Vec<u32> {
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
    buckets: &Buckets,
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

    #[test]
    fn every_key_brings_its_payload_and_dummies_bring_zeros() {
        // Of 40 items the last 10 are dummies of --pad-to.
        let buckets = Buckets::new((100..140).collect(), 3, 4, 40, 1000..).expect("room");
        let own: Vec<u8> = (0..30).flat_map(|place| [place + 1, 200]).collect();
        let mut seen = 0;
        for bucket in 0..4 {
            let all = payloads(&buckets, bucket, &own, 2);
            assert_eq!(all.len(), 80);
            for (record, place) in all.chunks(2).zip(buckets.places(bucket)) {
                let key = place.filter(|&place| place < 30);
                assert_eq!(record, key.map_or([0, 0], |place| [place as u8 + 1, 200]));
                seen += usize::from(key.is_some());
            }
            assert_eq!(payloads(&buckets, bucket, &[], 3), [0; 120]);
            assert_eq!(payloads(&buckets, bucket, &[], 0), [0; 0]);
        }
        assert_eq!(seen, 30);
    }

    /// Of the items 100, 101, ..., those of even places match, out of the order of the places, and a dummy, which
    /// stands last, behind all keys: `session::write` refuses it.
    #[test]
    fn results_come_in_the_order_of_the_keys_with_their_own_payloads() {
        let items: Vec<u128> = (100..150).collect();
        let buckets = Buckets::new(items, 3, 4, 50, 1000..).expect("room");
        let mut dummies = 0;
        let found: Vec<Vec<u32>> = (0..4)
            .map(|bucket| {
                let places = buckets.places(bucket).enumerate();
                let matching = places.filter(|(_, place)| match place {
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
        assert_eq!(sender_matches(&buckets, found.clone()), expected_keys);

        let payload = |item: u128| [item as u8, 7, !(item as u8)];
        let received = |width: usize| {
            let outputs = found.iter().enumerate().map(|(bucket, matches)| {
                let items = matches.iter().map(|&number| buckets.items(bucket)[number as usize]);
                let bytes: Vec<u8> = items.flat_map(|item| payload(item)[..width].to_vec()).collect();
                let payloads = if width == 0 { SealedPayloads::default() } else { SealedPayloads::plain(width, bytes) };
                IntersectReceiverOutput { matches: matches.clone(), payloads, unread: bucket }
            });
            receiver_matches(&buckets, outputs.collect(), width)
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
