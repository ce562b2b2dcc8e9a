use super::packing::{DIGIT_BITS, DIGITS, DROPPED_BITS};
use super::ring::{COINS, ring};
use super::*;
use crate::fields::Gf64;
use crate::packing::{packed_len, unpack};
use crate::rng::SecretRng;

/// Records with many entries of either extreme.
fn records(shape: Shape, rng: &mut SecretRng) -> Vec<u8> {
    let mut records = vec![0; shape.matrix_bytes()];
    rand_core::Rng::fill_bytes(rng, &mut records);
    for (i, record) in records.chunks_exact_mut(shape.record_bytes()).enumerate() {
        match i % 5 {
            0 => record.fill(0xff),
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
    for (rows, columns, parts) in [(1, 64, 1), (2, 64, 1), (5, 64, 3), (67, 128, 1), (3, 512, 2), (9, 1024, 1)] {
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

/// With both packing keys; and the same from stored blocks.
#[test]
fn records_of_the_widest_part_are_found() {
    let rng = &mut SecretRng::insecure_from_seed(3);
    let (database, records, reader) = prepared(shape(6, DEGREE, 1), rng);
    assert_eq!(look_up(&database, &reader, &records, &[0, 1, 2, 3, 4, 5], rng), [true; 6]);
    let stored = Database::from_blocks(database.shape(), *database.seed(), database.blocks().to_vec()).unwrap();
    assert_eq!(stored.public(), database.public());
    assert!(Database::from_blocks(database.shape(), [0; 32], vec![[0; 64]; 3]).is_none());
}

/// The deviation that docs/parameters/pir.md computes from the rounding, the digits and the entries, in
/// units of the phase, `q / 2^28`.
fn deviation_bound(shape: Shape) -> f64 {
    let (rows, switches) = (shape.rows() as f64, (shape.columns() - 1) as f64);
    let (degree, error) = (DEGREE as f64, f64::from(COINS) / 2.0);
    let unit = f64::from(MODULUS_BITS - MASK_BITS).exp2();
    let keys = switches * DIGITS as f64 * degree * f64::from(DIGIT_BITS - 1).exp2().powi(2) * error;
    let dropped = switches * degree * f64::from(DROPPED_BITS).exp2().powi(2) / 12.0 * 2.0 / 3.0;
    let weights = rows * f64::from(ENTRY_BITS).exp2().powi(2) * error;
    let rounded = degree / 4.0 * 2.0 / 3.0 * unit * unit;
    (keys + dropped + weights + rounded).sqrt() / unit
}

/// The noise of answers, against its bound: within it, and not so far within that the bound would
/// be about something else.
#[test]
fn noise_stays_within_its_bound() {
    let rng = &mut SecretRng::insecure_from_seed(4);
    for (rows, columns) in [(3000, 64), (3, DEGREE)] {
        let shape = shape(rows, columns, 1);
        let (database, records, reader) = prepared(shape, rng);
        let mut squares = Vec::new();
        for record in [2, rows - 1] {
            let (sent, asked) = reader.query(record, rng);
            let answer = database.answer(&[Query::read(shape, &sent).unwrap()]).remove(0);
            let phases = reader.phases_of(&asked, &answer).unwrap();
            let record = &records[record * shape.record_bytes()..][..shape.record_bytes()];
            for (phase, entry) in phases.iter().zip(record.as_chunks().0) {
                let expected = u64::from(u16::from_le_bytes(*entry)) << (MASK_BITS - ENTRY_BITS);
                let shift = u64::BITS - MASK_BITS;
                let noise = (phase.wrapping_sub(expected) << shift) as i64 >> shift;
                // The rounding of answers is bounded, not a deviation: half a unit of 2^22.
                squares.push((noise.unsigned_abs().saturating_sub(1 << (MASK_BITS - SUM_BITS - 1)) as f64).powi(2));
            }
        }
        let (bound, largest) = (deviation_bound(shape), squares.iter().copied().fold(0.0, f64::max).sqrt());
        let deviation = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
        let half = f64::from(MASK_BITS - ENTRY_BITS - 1).exp2();
        eprintln!("{rows} x {columns}: deviation {deviation:.1}, largest {largest:.1}, bound {bound:.1}, half {half}");
        assert!(deviation < bound && largest < 6.0 * bound, "{deviation}, {largest}, {bound}");
        assert!(12.3 * bound < 0.98 * half, "{bound} leaves too little of {half}");
    }
    let largest = deviation_bound(Shape::new(Shape::MOST_ROWS, DEGREE, 1).unwrap());
    assert!(24.0 * largest < (1.0 - f64::from(SUM_BITS - ENTRY_BITS).exp2().recip()) * 2048.0, "{largest}");
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
        let mut words = vec![Gf64::default(); shape.key_elements() * DEGREE + shape.rows()];
        unpack(bytes, MODULUS_BITS, &mut words).unwrap();
        words
    };
    // Uniform elements agree in a place with probability 2^-50. Under one secret, all but the two
    // chosen weights would differ by small errors.
    let far = |(a, b): (&Gf64, &Gf64)| ring().centred(ring().difference(a.0, b.0)).unsigned_abs() > 1 << 20;
    let (first, second) = (words(&first), words(&second));
    assert!(first.iter().zip(&second).all(far));
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
    // An element that is not below q, among the keys and among the weights: 2^50 - 1.
    for (place, count) in [(0, 7), (sent.len() - 19, 8)] {
        let mut bad = sent.clone();
        bad[place..place + count].fill(0xff);
        assert!(Query::read(shape, &bad).is_none(), "bytes from {place}");
    }
    // 3 weights leave two bits of the last byte.
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
    let keys = packed_len(DIGITS * DEGREE, MODULUS_BITS);
    let record = records[2 * shape.record_bytes()..][..shape.record_bytes()].to_vec();
    let open = |sent: &[u8]| {
        let answer = database.answer(&[Query::read(shape, sent).unwrap()]).remove(0);
        reader.open(&asked, &answer).unwrap().to_vec()
    };
    assert_eq!(open(&sent), record);
    sent[..keys].copy_from_slice(&other[..keys]);
    let nonsense = open(&sent);
    assert!(nonsense.iter().zip(&record).filter(|(a, b)| a == b).count() < shape.record_bytes() / 8);
}

#[test]
fn shapes_have_bounds() {
    assert!(Shape::new(0, 64, 1).is_none() && Shape::new(1, 64, 0).is_none());
    assert!(Shape::new(1, 32, 1).is_none() && Shape::new(1, 4096, 1).is_none() && Shape::new(1, 96, 1).is_none());
    assert!(Shape::new(Shape::MOST_ROWS + 1, 64, 1).is_none() && Shape::new(1, 64, Shape::MOST_PARTS + 1).is_none());
    let widest = shape(54_000, DEGREE, 1);
    assert_eq!(widest.record_bytes(), 4096);
    assert_eq!(widest.query_bytes(), (4 * DEGREE + 54_000) * 50 / 8);
    assert_eq!((widest.answer_bytes(), widest.public_bytes()), (5632, 7168));
}

/// Prints what a matrix costs on one thread: `cargo test --release -p vesica-structures --lib pir --
/// --ignored --nocapture`.
#[test]
#[ignore = "takes a minute and 700 MB, and checks no more than the others"]
fn costs() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let rng = &mut SecretRng::insecure_from_seed(8);
        for (rows, columns) in [(3_400, 1024), (3_400, DEGREE), (14_000, DEGREE), (54_000, DEGREE)] {
            let shape = shape(rows, columns, 1);
            let mut clock = std::time::Instant::now();
            let mut lap = || std::mem::replace(&mut clock, std::time::Instant::now()).elapsed().as_secs_f64() * 1e3;
            let records = records(shape, rng);
            lap();
            let database = Database::new(shape, [1; 32], &records);
            let prepared = lap();
            let reader = Reader::new(shape, database.seed(), database.public()).unwrap();
            let enrolled = lap();
            let (sent, asked): (Vec<_>, Vec<_>) = (0..4).map(|i| reader.query(i * 700, rng)).unzip();
            let queried = lap() / 4.0;
            let queries: Vec<Query> = sent.iter().map(|sent| Query::read(shape, sent).unwrap()).collect();
            let read = lap() / 4.0;
            let one = (database.answer(&queries[..1]), lap()).1;
            let answers = database.answer(&queries);
            let four = lap() / 4.0;
            let opened = asked.iter().zip(&answers).map(|(asked, answer)| reader.open(asked, answer).unwrap());
            assert!(opened.zip(0..).all(|(record, i)| record[..] == records[i * 700 * shape.record_bytes()..][..record.len()]));
            let opened = lap() / 4.0;
            eprintln!(
                "{rows} x {columns}: records {:.1} MB, packing {:.1} MB; prepare {prepared:.0} ms, enrol {enrolled:.1} ms; a \
                 query: {} + {} bytes, make {queried:.2} ms, read {read:.2} ms, answer {one:.2} ms ({four:.2} ms each of \
                 four), open {opened:.2} ms",
                shape.matrix_bytes() as f64 / 1e6,
                shape.packing_bytes() as f64 / 1e6,
                shape.query_bytes(),
                shape.answer_bytes(),
            );
        }
    });
}
