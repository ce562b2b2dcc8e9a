use super::packing::{DIGIT_BITS, DROPPED_BITS};
use super::ring::{COINS, ring};
use super::shape::KEY_BYTES;
use super::*;
use crate::fields::Gf64;
use crate::packing::unpack;
use crate::rng::SecretRng;

/// Records with many entries of either extreme.
fn records(shape: Shape, rng: &mut SecretRng) -> Vec<u8> {
    let mut records = vec![0; shape.matrix_bytes()];
    rand_core::Rng::fill_bytes(rng, &mut records);
    for (i, record) in records.chunks_exact_mut(shape.record_bytes()).enumerate() {
        match i % 5 {
            0 => record.fill(0x80),
            1 => record.fill(0),
            _ => {}
        }
    }
    records
}

fn shape(rows: usize, columns: usize, parts: usize) -> Shape {
    Shape::new(rows, columns, parts).unwrap()
}

/// A matrix, its records and a client of it.
fn prepared(shape: Shape, rng: &mut SecretRng) -> (Database, Vec<u8>, Reader) {
    let records = records(shape, rng);
    let database = Database::new(shape, [9; 32], &records);
    let reader = Reader::new(shape, database.seed(), database.public()).unwrap();
    (database, records, reader)
}

/// Queries for some records, answered together, and whether each gave its record.
fn look_up(database: &Database, reader: &Reader, records: &[u8], wanted: &[usize], rng: &mut SecretRng) -> Vec<bool> {
    let shape = database.shape();
    let (sent, asked): (Vec<_>, Vec<_>) = wanted.iter().map(|&record| reader.query(record, rng)).unzip();
    let queries: Vec<Query> = sent.iter().map(|sent| Query::read(shape, sent).unwrap()).collect();
    let answers = database.answer(&queries);
    let of = |&record: &usize| &records[record * shape.record_bytes()..][..shape.record_bytes()];
    let opened = asked.iter().zip(&answers).map(|(asked, answer)| reader.open(asked, answer).unwrap());
    wanted.iter().zip(opened).map(|(record, opened)| **opened == *of(record)).collect()
}

#[test]
fn every_record_of_many_shapes_is_found() {
    let rng = &mut SecretRng::insecure_from_seed(1);
    for (rows, columns, parts) in
        [(1, 64, 1), (2, 64, 1), (5, 64, 3), (67, 128, 1), (3, 512, 2), (9, 1024, 1), (6, 1024, 3)]
    {
        let (database, records, reader) = prepared(shape(rows, columns, parts), rng);
        let wanted: Vec<usize> = (0..rows).collect();
        for wanted in wanted.chunks(3) {
            let right = look_up(&database, &reader, &records, wanted, rng);
            assert!(right.iter().all(|&right| right), "{rows} x {columns} x {parts}, records {wanted:?}");
        }
    }
}

#[test]
fn records_of_several_groups_are_found() {
    let rng = &mut SecretRng::insecure_from_seed(2);
    let rows = 2 * DEGREE + 3;
    let (database, records, reader) = prepared(shape(rows, 64, 1), rng);
    let wanted = [0, 1, 255, 256, DEGREE - 1, DEGREE, 2 * DEGREE - 1, 2 * DEGREE, rows - 1];
    assert_eq!(look_up(&database, &reader, &records, &wanted, rng), [true; 9]);
}

#[test]
fn stored_pieces_are_the_same_matrix() {
    let rng = &mut SecretRng::insecure_from_seed(3);
    let (database, ..) = prepared(shape(6, 64, 2), rng);
    let stored = |pieces| Database::from_pieces(database.shape(), *database.seed(), pieces);
    let pieces = database.pieces().to_vec();
    assert_eq!(stored(pieces.clone()).unwrap().public(), database.public());
    assert!(stored(pieces[1..].to_vec()).is_none());
    // Rows 6 and 7 of each block do not exist.
    for row in [2, 3] {
        let mut spoilt = pieces.clone();
        spoilt[1][63][row] = 1;
        assert!(stored(spoilt).is_none(), "an entry of row {}", 4 + row);
    }
}

/// The two deviations that docs/parameters/pir.md computes, in units of the phase, `q / 2^22`: of the
/// weights, from their rounding and the entries; and of the packing, from digits, rounding and errors.
fn deviation_bounds(shape: Shape) -> [f64; 2] {
    let (rows, switches) = (shape.rows() as f64, (shape.columns() - 1) as f64);
    let (degree, error) = (DEGREE as f64, f64::from(COINS) / 2.0);
    let square = |bits: u32| f64::from(2 * bits).exp2();
    let unit = square(MODULUS_BITS - MASK_BITS);
    let weights = rows * square(ENTRY_BITS - 1) * (square(MODULUS_BITS - shape.weight_bits()) / 12.0 + error);
    let key = switches * degree * square(DIGIT_BITS - 1) * error;
    let dropped = switches * degree * square(DROPPED_BITS) / 12.0 * 2.0 / 3.0;
    let rounded = degree / 4.0 * 2.0 / 3.0 * unit;
    [weights, key + dropped + rounded].map(|variance| (variance / unit).sqrt())
}

/// What no deviation says, in units of the phase: roundings by a truncated factor, all in one direction, and the weights
/// that follow from others where a secret is zero at two roots, in groups of which all coefficients are weights.
fn constant_bounds(shape: Shape) -> f64 {
    let unit_of_weights = 2f64.powi(MASK_BITS as i32 - shape.weight_bits() as i32);
    let groups = ((shape.rows() + 1) / DEGREE) as f64;
    unit_of_weights * (shape.rows() as f64 / 128.0 + 2.0 * groups * 64.0)
}

/// Deviations that either sum exceeds with probability at most `2^-108`, for each of its two signs `2^-109`.
fn deviations() -> f64 {
    (2.0 * 109.0 * std::f64::consts::LN_2).sqrt()
}

/// What the noise may be, in units of the phase, beside the rounding of an answer.
fn most_noise() -> f64 {
    f64::from(MASK_BITS - ENTRY_BITS - 1).exp2() - f64::from(MASK_BITS - SUM_BITS - 1).exp2()
}

#[test]
fn noise_of_every_shape_is_within_what_may_be() {
    let widest = Shape::widths().max().unwrap();
    for log in 0..=Shape::MOST_ROWS.ilog2() {
        let shape = shape(1 << log, widest, 1);
        let [weights, packing] = deviation_bounds(shape);
        let constant = constant_bounds(shape);
        let noise = deviations() * (weights + packing) + constant;
        assert!(noise < most_noise(), "2^{log} rows: {noise} of {}", most_noise());
        // docs/parameters/pir.md says how much more the packing's variance may be.
        let room = (((most_noise() - constant) / deviations() - weights) / packing).powi(2);
        assert!(room > 1.4, "2^{log} rows: {room}");
    }
}

/// The noise of answers, against its bound: within it, and not so far within that the bound would
/// be about something else.
#[test]
fn noise_stays_within_its_bound() {
    let rng = &mut SecretRng::insecure_from_seed(4);
    for (rows, columns) in [(1 << 13, 64), (3, Shape::widths().max().unwrap())] {
        let shape = shape(rows, columns, 1);
        let (database, records, reader) = prepared(shape, rng);
        let mut squares = Vec::new();
        for record in [2, rows - 1] {
            let (sent, asked) = reader.query(record, rng);
            let answer = database.answer(&[Query::read(shape, &sent).unwrap()]).remove(0);
            let phases = reader.phases_of(&asked, &answer).unwrap();
            let record = &records[record * shape.record_bytes()..][..shape.record_bytes()];
            for (phase, &entry) in phases.iter().zip(record) {
                let expected = u64::from(entry) << (MASK_BITS - ENTRY_BITS);
                let shift = u64::BITS - MASK_BITS;
                let noise = (phase.wrapping_sub(expected) << shift) as i64 >> shift;
                squares.push((noise as f64).powi(2));
            }
        }
        // The rounding of answers is bounded, not a deviation; this is its share of that.
        let rounding = f64::from(MASK_BITS - SUM_BITS).exp2() / 12f64.sqrt();
        let [weights, packing] = deviation_bounds(shape);
        let bound = (weights.powi(2) + packing.powi(2) + rounding.powi(2)).sqrt();
        let largest = squares.iter().copied().fold(0.0, f64::max).sqrt();
        let deviation = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
        eprintln!("{rows} x {columns}: deviation {deviation:.1}, largest {largest:.1}, bound {bound:.1}");
        assert!((0.5 * bound..bound).contains(&deviation), "{deviation}, {bound}");
        assert!(largest < 6.0 * bound && largest < most_noise(), "{largest}, {bound}");
    }
}

/// Weights and sums at the ends of their ranges, where the rounding of either goes round.
#[test]
fn rounding_is_to_the_nearest_and_goes_round() {
    let ring = ring();
    for bits in [SUM_BITS, MASK_BITS, 19, 27] {
        let (rounded, q) = (ring.rounder(bits), u128::from(ring.q()));
        for x in [0, 1, ring.q() / 3, ring.q() / 2, ring.q() - (ring.q() >> (bits + 2)), ring.q() - 1] {
            let exact = ((u128::from(x) << bits) + q / 2) / q % (1 << bits);
            assert_eq!(u128::from(rounded(x)), exact, "{x} to {bits} bits");
            let back = ring.widened(exact as u32, bits);
            let far = ring.centred(ring.difference(back % ring.q(), x)).unsigned_abs();
            assert!(far <= (ring.q() >> (bits + 1)) + 1, "{x} is {far} from its multiple of 2^-{bits} q");
        }
    }
}

#[test]
fn queries_have_one_shape_and_their_elements_are_fresh() {
    let rng = &mut SecretRng::insecure_from_seed(5);
    let shape = shape(300, 64, 1);
    let (_, _, reader) = prepared(shape, rng);
    let (first, _) = reader.query(0, rng);
    let (second, _) = reader.query(299, rng);
    assert!(first.len() == second.len() && first.len() == shape.query_bytes());
    let words = |bytes: &[u8]| {
        let (key, weights) = bytes.split_at(KEY_BYTES);
        [(key, DEGREE, MODULUS_BITS), (weights, shape.rows(), shape.weight_bits())].map(|(bytes, count, bits)| {
            let mut words = vec![Gf64::default(); count];
            unpack(bytes, bits, &mut words).unwrap();
            words
        })
    };
    // Uniform elements of the key agree in a place with probability 2^-50, rounded weights with 2^-23. Under one
    // secret, all but the two chosen weights would differ by small errors, which mostly vanish in rounding.
    let ([first_key, first], [second_key, second]) = (words(&first), words(&second));
    let far = |(a, b): (&Gf64, &Gf64)| ring().centred(ring().difference(a.0, b.0)).unsigned_abs() > 1 << 20;
    assert!(first_key.iter().zip(&second_key).all(far));
    let near = |(a, b): (&Gf64, &Gf64)| a.0.abs_diff(b.0) <= 1;
    assert!(first.iter().zip(&second).filter(|&pair| near(pair)).count() < 2);
}

#[test]
fn malformed_queries_are_refused() {
    let rng = &mut SecretRng::insecure_from_seed(6);
    let shape = shape(3, 64, 1);
    let (_, _, reader) = prepared(shape, rng);
    let (sent, asked) = reader.query(1, rng);
    assert!(Query::read(shape, &sent).is_some());
    assert!(Query::read(shape, &sent[1..]).is_none(), "too short");
    assert!(Query::read(shape, &[&sent[..], &[0]].concat()).is_none(), "too long");
    // An element of the key that is not below q: 2^50 - 1, at either end.
    for place in [0, KEY_BYTES - 7] {
        let mut bad = sent.clone();
        bad[place..place + 7].fill(0xff);
        assert!(Query::read(shape, &bad).is_none(), "bytes from {place}");
    }
    // 3 weights of 20 bits leave four bits of the last byte, and any of them has a meaning.
    let mut full = sent.clone();
    full[KEY_BYTES..sent.len() - 1].fill(0xff);
    assert!(Query::read(shape, &full).is_some());
    let mut stray = sent.clone();
    *stray.last_mut().unwrap() |= 0x80;
    assert!(Query::read(shape, &stray).is_none(), "stray bits");
    assert!(reader.open(&asked, &[0; 3]).is_none() && reader.open(&asked, &vec![0xff; shape.answer_bytes()]).is_some());
    assert!(Reader::new(shape, &[0; 32], &[0; 3]).is_none());
}

/// A client that sends another's packing keys, or spoils its own, gets nonsense, and no more.
#[test]
fn wrong_packing_keys_give_no_record() {
    let rng = &mut SecretRng::insecure_from_seed(7);
    let shape = shape(4, 64, 1);
    let (database, records, reader) = prepared(shape, rng);
    let ((mut sent, asked), (other, _)) = (reader.query(2, rng), reader.query(2, rng));
    let record = records[2 * shape.record_bytes()..][..shape.record_bytes()].to_vec();
    let open = |sent: &[u8]| {
        let answer = database.answer(&[Query::read(shape, sent).unwrap()]).remove(0);
        reader.open(&asked, &answer).unwrap().to_vec()
    };
    assert_eq!(open(&sent), record);
    sent[..KEY_BYTES].copy_from_slice(&other[..KEY_BYTES]);
    let nonsense = open(&sent);
    assert!(nonsense.iter().zip(&record).filter(|(a, b)| a == b).count() < shape.record_bytes() / 8);
}

#[test]
fn shapes_have_bounds() {
    assert!(Shape::new(0, 64, 1).is_none() && Shape::new(1, 64, 0).is_none());
    assert!(Shape::new(1, 32, 1).is_none() && Shape::new(1, 2048, 1).is_none() && Shape::new(1, 96, 1).is_none());
    assert!(Shape::new(Shape::MOST_ROWS + 1, 64, 1).is_none() && Shape::new(1, 64, Shape::MOST_PARTS + 1).is_none());
    let widest = shape(32_000, 1024, 6);
    assert_eq!(widest.record_bytes(), 6144);
    assert_eq!(widest.query_bytes(), (DEGREE * 50 + 32_000 * 26) / 8);
    assert_eq!((widest.answer_bytes(), widest.public_bytes()), (6 * 1664, 6 * 5632));
    assert_eq!([1, 2048, 2049, 1 << 13, 1 << 17].map(|rows| shape(rows, 64, 1).weight_bits()), [19, 24, 25, 25, 27]);
}

/// Prints what a matrix costs on one thread: `cargo test --release -p vesica-structures --lib pir --
/// --ignored --nocapture`.
#[test]
#[ignore = "takes a minute and 700 MB, and checks no more than the others"]
fn costs() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let rng = &mut SecretRng::insecure_from_seed(8);
        for (rows, parts) in [(3_400, 2), (3_400, 4), (14_000, 4), (33_000, 6), (55_000, 4)] {
            let shape = shape(rows, 1024, parts);
            let mut clock = std::time::Instant::now();
            let mut lap = || std::mem::replace(&mut clock, std::time::Instant::now()).elapsed().as_secs_f64() * 1e3;
            let records = records(shape, rng);
            lap();
            let database = Database::new(shape, [1; 32], &records);
            let prepared = lap();
            let reader = Reader::new(shape, database.seed(), database.public()).unwrap();
            let enrolled = lap();
            let (sent, asked): (Vec<_>, Vec<_>) = (0..8).map(|i| reader.query(i * 400, rng)).unzip();
            let queried = lap() / 8.0;
            let queries: Vec<Query> = sent.iter().map(|sent| Query::read(shape, sent).unwrap()).collect();
            let read = lap() / 8.0;
            let one = (database.answer(&queries[..1]), lap()).1;
            let four = (database.answer(&queries[..4]), lap() / 4.0).1;
            let answers = database.answer(&queries);
            let eight = lap() / 8.0;
            let opened = asked.iter().zip(&answers).map(|(asked, answer)| reader.open(asked, answer).unwrap());
            assert!(opened.zip(0..).all(|(record, i)| record[..] == records[i * 400 * shape.record_bytes()..][..record.len()]));
            let opened = lap() / 8.0;
            eprintln!(
                "{rows} x {parts} x 1024: records {:.1} MB, packing {:.1} MB; prepare {prepared:.0} ms, enrol {enrolled:.1} ms; a \
                 query: {} + {} bytes, make {queried:.2} ms, read {read:.2} ms, answer {one:.2} ms ({four:.2} ms each of \
                 four, {eight:.2} ms each of eight), open {opened:.2} ms",
                shape.matrix_bytes() as f64 / 1e6,
                shape.packing_bytes() as f64 / 1e6,
                shape.query_bytes(),
                shape.answer_bytes(),
            );
        }
    });
}
