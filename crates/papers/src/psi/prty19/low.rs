//! `spot-low`: the rows of all items, and one polynomial (Figure 5), slice by slice over one tree (section 5.2).
//!
//! Coordinates have 63 bits. Two of a million items share a coordinate with probability 2^-24,
//! which is too often: such a set could not be encoded. So the value at an item is `P(coordinate) +
//! slope D`, with one more coefficient `D` in each slice. `D` is random, unless two items
//! share a coordinate: then `D` is what tells the two apart.

use rand_core::Rng;
use vesica_party::{Abort, Channel, Phase};
use vesica_structures::fields::Gf64;
use vesica_structures::polynomial::{Interpolator, LANES, Row, Space, Tree, inverse, scale_add};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::bins::Bins;
use super::keys::{Collected, Hashed, OprfOutputs};
use super::messages::Polynomials;
use super::rows::{ReceiverRows, SenderRows};
use vesica_protocols::psi::finish;

/// Rows that are hashed at a time.
const ROWS_PER_BATCH: usize = 1 << 12;

const COINCIDENCE: Abort =
    Abort::StatisticalFailure("the receiver's items have equal coordinates; items must be distinct");

/// A side's items in the order of their bins, and a row of each.
pub(super) struct Arranged {
    pub(super) bins: Bins,
    pub(super) hashed: Hashed,
    pub(super) rows: Secret<Vec<Row>>,
}

/// The items by their bins, and their hashes in that order.
fn arrange(keys: &super::keys::Keys, bins: usize, items: &[u128]) -> (Bins, Hashed) {
    let positions = keys.positions(items);
    let bins = Bins::new(bins, (0..).zip(positions.iter().map(|position| position[0])));
    let hashed = keys.hash(items, &bins.order);
    (bins, hashed)
}

/// The receiver's rows `R(y)`, and of step 3 its side, the tags, proofs and keys of its own items.
pub(super) fn receiver_rows(
    rows: &ReceiverRows<'_>,
    bins: usize,
    items: &[u128],
    collected: &mut Collected<finish::Receiver>,
    ch: &mut Channel,
) -> Arranged {
    // Step 2: the rows T(y) and R(y) = T(y) + U(y) of its own items.
    let _phase = ch.phase(Phase::HashItems);
    let (bins, hashed) = arrange(rows.keys, bins, items);
    let [mut own, differences] = rows.of_items(&bins, &hashed.inputs);
    set_coordinates(&mut own, &hashed);
    // Step 3, the receiver's side of it: H(T(y)) for its own items.
    for (rows_of_part, numbers) in own.chunks(ROWS_PER_BATCH).zip(bins.order.chunks(ROWS_PER_BATCH)) {
        let made = OprfOutputs::of(rows.keys, rows.params, rows_of_part);
        collected.add(&made, numbers.iter().copied());
    }
    Arranged { bins, hashed, rows: differences }
}

/// Puts the coordinate of each item beside its row.
fn set_coordinates(rows: &mut [Row], hashed: &Hashed) {
    rows.iter_mut().zip(hashed.coordinates.iter()).for_each(|(row, &coordinate)| row[LANES] = coordinate);
}

/// The sender's rows `Q(x)`.
pub(super) fn sender_rows(rows: &SenderRows<'_>, bins: usize, items: &[u128], ch: &mut Channel) -> Arranged {
    let _phase = ch.phase(Phase::HashItems);
    let (bins, hashed) = arrange(rows.keys, bins, items);
    let mut rows = rows.of_items(&bins, &hashed.inputs);
    set_coordinates(&mut rows, &hashed);
    Arranged { bins, hashed, rows }
}

/// Of step 3 the sender's side: the tags, proofs and keys of its own items from `Q(x) + s P(x)`.
pub(super) fn hash_sender_rows(
    rows: &SenderRows<'_>,
    own: &Arranged,
    collected: &mut Collected<finish::Sender>,
    ch: &mut Channel,
) {
    let _phase = ch.phase(Phase::Masks);
    for (rows_of_part, numbers) in own.rows.chunks(ROWS_PER_BATCH).zip(own.bins.order.chunks(ROWS_PER_BATCH)) {
        let made = OprfOutputs::of(rows.keys, rows.params, rows_of_part);
        collected.add(&made, numbers.iter().copied());
    }
}

/// Step 2 of the right column: sends the polynomial, and keeps the tags, proofs and keys of its own
/// items.
pub(super) fn send_polynomial(
    rows: &ReceiverRows<'_>,
    bins: usize,
    items: &[u128],
    collected: &mut Collected<finish::Receiver>,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(), Abort> {
    let Arranged { mut hashed, rows: mut differences, .. } = receiver_rows(rows, bins, items, collected, ch);

    // Step 2: P with P(y) = R(y), slice by slice (section 5.2 of the paper), each sent as soon as it is
    // there.
    let _phase = ch.phase(Phase::Encode);
    let constants = set_apart(&mut hashed, &mut differences, rng)?;
    let space = Space::new(items.len());
    let interpolator = Interpolator::new(&space, &hashed.coordinates).map_err(|_| COINCIDENCE)?;
    let mut values = Secret::new(vec![0; items.len()]);
    for (slice, &constant) in constants.iter().enumerate() {
        values.iter_mut().zip(differences.iter()).for_each(|(value, row)| *value = row[slice]);
        scale_add(&mut values, constant, &hashed.slopes);
        let coefficients = interpolator.coefficients(&mut values);
        ch.send_stream::<Polynomials>(&[constant])?;
        ch.send_stream::<Polynomials>(&coefficients[..items.len()])?;
    }
    Ok(())
}

/// Chooses `D` for each slice. Of two items with one coordinate, one gets a random point in its
/// place.
fn set_apart(hashed: &mut Hashed, values: &mut [Row], rng: &mut SecretRng) -> Result<[u64; LANES], Abort> {
    let mut sorted = Secret::new((0u32..).zip(hashed.coordinates.iter()).map(|(i, &x)| (x, i)).collect::<Vec<_>>());
    sorted.sort_unstable();
    let mut constants = std::array::from_fn(|_| rng.next_u64());
    let mut pairs =
        sorted.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| [pair[0].1 as usize, pair[1].1 as usize]);
    let Some([one, other]) = pairs.next() else { return Ok(constants) };
    let apart = hashed.slopes[one] ^ hashed.slopes[other];
    if pairs.next().is_some() || apart == 0 {
        return Err(COINCIDENCE);
    }
    for (slice, constant) in constants.iter_mut().enumerate() {
        *constant = (Gf64(values[one][slice] ^ values[other][slice]) * Gf64(inverse(apart))).0;
    }
    values[other].fill_with(|| rng.next_u64());
    hashed.coordinates[other] = rng.next_u64() | 1 << 63;
    Ok(constants)
}

/// Step 2 of the left column: evaluates the slices as they come, and keeps the tags, proofs and
/// keys of its own items.
pub(super) fn evaluate_polynomial(
    rows: &SenderRows<'_>,
    bins: usize,
    items: &[u128],
    collected: &mut Collected<finish::Sender>,
    ch: &mut Channel,
) -> Result<(), Abort> {
    let own = corrected_rows(rows, bins, items, ch)?;
    // Step 3, the sender's side of it: H(Q(x) + s P(x)).
    hash_sender_rows(rows, &own, collected, ch);
    Ok(())
}

/// The rows `Q(x) + s P(x)`, each with its item's coordinate.
pub(super) fn corrected_rows(
    rows: &SenderRows<'_>,
    bins: usize,
    items: &[u128],
    ch: &mut Channel,
) -> Result<Arranged, Abort> {
    // Step 2: the rows Q(x).
    let mut own = sender_rows(rows, bins, items, ch);

    // Step 2: Q(x) + s P(x), a slice at a time; all slices share the trees of the coordinates (section
    // 5.2).
    let _phase = ch.phase(Phase::Decode);
    let coefficients = rows.params.finish.receiver_items;
    let space = Space::new(coefficients);
    let trees: Vec<Tree<'_>> =
        own.hashed.coordinates.chunks(space.len()).map(|points| Tree::new(&space, points)).collect();
    let mut polynomial = vec![0; space.len()];
    for slice in 0..LANES {
        let mut constant = [0];
        ch.recv_stream::<Polynomials>(&mut constant)?;
        ch.recv_stream::<Polynomials>(&mut polynomial[..coefficients])?;
        polynomial[coefficients..].fill(0);
        space.values(&mut polynomial);
        let of_trees = own.rows.chunks_mut(space.len()).zip(own.hashed.slopes.chunks(space.len())).zip(&trees);
        for ((rows_of_tree, slopes), tree) in of_trees {
            let mut values = tree.evaluate(&polynomial);
            scale_add(&mut values, constant[0], slopes);
            rows.correct_slice(slice, rows_of_tree, &values);
        }
    }
    Ok(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_items_with_one_coordinate_are_told_apart() {
        let mut rng = SecretRng::insecure_from_seed(1);
        let mut draw = |count: usize| (0..count).map(|_| rng.next_u64() | 1 << 63).collect::<Vec<_>>();
        let (mut coordinates, slopes) = (draw(50), draw(50));
        coordinates[40] = coordinates[3];
        let mut hashed = Hashed {
            inputs: Secret::new(Vec::new()),
            coordinates: Secret::new(coordinates.clone()),
            slopes: Secret::new(slopes.clone()),
        };
        let wanted: Vec<Row> = (0..50).map(|i| std::array::from_fn(|slice| draw(1)[0] ^ (i + slice as u64))).collect();
        let mut values = Secret::new(wanted.clone());
        let mut rng = SecretRng::insecure_from_seed(2);
        let constants = set_apart(&mut hashed, &mut values, &mut rng).unwrap();
        let space = Space::new(50);
        let interpolator = Interpolator::new(&space, &hashed.coordinates).unwrap();
        for (slice, &constant) in constants.iter().enumerate() {
            let mut of_slice: Vec<u64> = values.iter().map(|row| row[slice]).collect();
            scale_add(&mut of_slice, constant, &slopes);
            let mut polynomial = interpolator.coefficients(&mut of_slice);
            space.values(&mut polynomial);
            let mut found = Tree::new(&space, &coordinates).evaluate(&polynomial);
            scale_add(&mut found, constant, &slopes);
            assert!(found.iter().zip(&wanted).all(|(found, wanted)| *found == wanted[slice]), "slice {slice}");
        }
        // Three of a kind, and two that have both coordinates in common.
        hashed.coordinates[40] = hashed.coordinates[3];
        hashed.coordinates[41] = hashed.coordinates[3];
        assert!(set_apart(&mut hashed, &mut values, &mut rng).is_err());
        hashed.coordinates[41] = 1 << 63;
        hashed.slopes[40] = hashed.slopes[3];
        assert!(set_apart(&mut hashed, &mut values, &mut rng).is_err());
    }
}
