//! Whether times depend on secrets: for each piece of work, times with one fixed input are compared with times with others, by
//! Welch's t-test (Reparaz, Balasch, Verbauwhede, "Dude, is my code constant time?", 2017).
//!
//! `cargo run --release --locked -p vesica-protocols --example timing -- [RUNS]`, on one thread of a quiet machine. Each line has the
//! largest |t| over all runs and over those below a percentile of time, since interruptions fall on the slow ones. Above 4.5 the
//! times differ; above 10 beyond doubt. Below, this many runs show no difference, which is no proof. The two controls must come out
//! as they are named, and the program fails if they do not.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use rand_core::Rng;
use subtle::ConstantTimeEq;
use vesica_mpc::rfc9497::{Mode, SecretKey, blind};
use vesica_protocols::recurrent::filter::Shape as Sealed;
use vesica_structures::fields::Gf128;
use vesica_structures::hashing::{CuckooTable, Positions, SimpleTable, cuckoo_bins, simple_capacity};
use vesica_structures::okvs::{Band, FreeCells, Gbf, Okvs, Paxos};
use vesica_structures::pir::{Database, Query, Reader, Shape};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use vesica_structures::tags::{TagFinder, TagSorter};
use vesica_testkit::{DIFFERS_BEYOND_DOUBT, Times};

/// Items of tables, and tags.
const ITEMS: usize = 1 << 10;
const FAILURE_BITS: u32 = 40;
const TAG_BITS: u32 = 80;
/// Inputs of the class that has several.
const OTHERS: usize = 32;
/// Runs before any is counted.
const WARM_UP: usize = 50;

/// What measures and prints.
struct Bench {
    runs: usize,
    rng: SecretRng,
}

impl Bench {
    /// Times `work` on the fixed input or another, as a coin says. The input is first copied to where inputs of both classes lie,
    /// so that caches know both equally well. Prints a line and returns the largest |t|.
    fn compare<I: Clone, R>(
        &mut self,
        name: &str,
        runs: usize,
        fixed: &I,
        others: &[I],
        mut work: impl FnMut(&I) -> R,
    ) -> f64 {
        let mut place = fixed.clone();
        let mut times = Times::default();
        for run in 0..runs + WARM_UP {
            let coins = self.rng.next_u64();
            let (is_fixed, other) = (coins & 1 == 0, &others[(coins >> 32) as usize % others.len()]);
            let chosen = [other, fixed][usize::from(is_fixed)];
            place.clone_from(black_box(chosen));
            let began = Instant::now();
            black_box(work(black_box(&place)));
            let time = began.elapsed().as_nanos() as f64;
            if run >= WARM_UP {
                times.add(is_fixed, time);
            }
        }
        let compared = times.compare();
        let [of_fixed, of_others] = compared.medians;
        println!("| {name} | {runs} | {of_fixed:.0} | {of_others:.0} | {:.1} |", compared.t());
        compared.t()
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.rng.fill_bytes(&mut bytes);
        bytes
    }

    fn set(&mut self) -> Vec<u128> {
        (0..ITEMS).map(|_| self.rng.block()).collect()
    }

    fn sets(&mut self) -> (Vec<u128>, Vec<Vec<u128>>) {
        (self.set(), (0..OTHERS).map(|_| self.set()).collect())
    }

    /// Comparisons of 1,024 bytes with a secret: the fixed input is the secret, others differ from it somewhere. Whether both
    /// come out as they must.
    fn controls(&mut self) -> bool {
        let secret = self.bytes(1024);
        let others: Vec<Vec<u8>> = (0..OTHERS).map(|_| self.bytes(1024)).collect();
        let constant = self.compare("control: comparison by `subtle`", self.runs, &secret, &others, |input| {
            input.ct_eq(black_box(&secret))
        });
        let early = self.compare(
            "control: comparison that ends at the first difference",
            self.runs,
            &secret,
            &others,
            |input| input.iter().zip(black_box(&secret)).all(|(a, b)| black_box(a) == b),
        );
        constant < DIFFERS_BEYOND_DOUBT && early > DIFFERS_BEYOND_DOUBT
    }

    fn tables(&mut self) {
        let bins = cuckoo_bins(ITEMS, FAILURE_BITS).expect("bins");
        let capacity = simple_capacity(ITEMS, bins, FAILURE_BITS);
        let hash = Positions::new(7, bins);
        let (fixed, others) = self.sets();
        self.compare("positions of items", self.runs, &fixed, &others, |items| hash.of(items));
        let fixed = hash.of(&fixed);
        let others: Vec<_> = others.iter().map(|items| hash.of(items)).collect();
        self.compare("placing in a cuckoo table", self.runs, &fixed, &others, |items| {
            CuckooTable::build_vartime(items, bins).is_ok()
        });
        self.compare("placing in a simple table", self.runs, &fixed, &others, |items| {
            SimpleTable::build_vartime(items, bins, capacity).is_ok()
        });
    }

    fn encodings(&mut self) {
        self.encoding("band", &Band::new(ITEMS, FAILURE_BITS, 7).expect("a shape"));
        self.encoding("2-hash", &Paxos::new(ITEMS, FAILURE_BITS, 7).expect("a shape"));
        self.encoding("gbf", &Gbf::new(ITEMS, FAILURE_BITS, 7).expect("a shape"));
    }

    fn encoding(&mut self, name: &str, okvs: &impl Okvs) {
        let runs = self.runs / 4;
        let (fixed, others) = self.sets();
        let values: Vec<Gf128> = self.set().into_iter().map(Gf128).collect();
        let mut free = SecretRng::insecure_from_seed(3);
        self.compare(&format!("encoding, `okvs={name}`: other keys"), runs, &fixed, &others, |keys| {
            okvs.encode_vartime(keys, &values, FreeCells::Random(&mut free)).is_ok()
        });
        let table = okvs.encode_vartime(&fixed, &values, FreeCells::Zero).expect("a table");
        let mut out = vec![Gf128::default(); ITEMS];
        self.compare(&format!("decoding, `okvs={name}`: other keys"), runs, &fixed, &others, |keys| {
            okvs.decode(&table, keys, &mut out)
        });
        let other_values: Vec<Vec<Gf128>> = (0..OTHERS).map(|_| self.set().into_iter().map(Gf128).collect()).collect();
        let zero = vec![Gf128::default(); ITEMS];
        self.compare(
            &format!("encoding, `okvs={name}`: the same keys, values zero or others"),
            runs,
            &zero,
            &other_values,
            |values| okvs.encode_vartime(&fixed, values, FreeCells::Random(&mut free)).is_ok(),
        );
    }

    fn payloads(&mut self) {
        let shape =
            Sealed { items: 1, tag_bits: TAG_BITS, payload_bytes: 256, nonce_bytes: 16, domain: b"measured seals.." };
        let mut cell = vec![0; shape.cell_bytes()];
        let of = |bench: &mut Self| (bench.rng.block(), bench.rng.block(), bench.bytes(256));
        let others: Vec<_> = (0..OTHERS).map(|_| of(self)).collect();
        self.compare(
            "sealing a payload: key, item and payload zero or others",
            self.runs * 4,
            &(0, 0, vec![0; 256]),
            &others,
            |(key, item, payload)| {
                shape.seal(*key, *item, payload, &mut cell);
            },
        );
    }

    fn tags(&mut self) {
        let (own, others) = self.sets();
        self.compare("putting tags into their buckets", self.runs, &own, &others, |tags| {
            let mut sorter = TagSorter::new(ITEMS, TAG_BITS);
            sorter.add(tags, std::iter::repeat(()));
            sorter.finish()
        });
        // As they come from the other side: in ascending order.
        let low = |tags: &[u128]| {
            let mut low: Vec<u128> = tags.iter().map(|tag| tag & ((1 << TAG_BITS) - 1)).collect();
            low.sort_unstable();
            low
        };
        let (own, others): (Vec<u128>, Vec<Vec<u128>>) = (low(&own), others.iter().map(|tags| low(tags)).collect());
        let mut finder = TagFinder::new(ITEMS, TAG_BITS, true);
        finder.add(&own, 0..);
        finder.prepare();
        self.compare("looking up tags: all match, or none", self.runs, &own, &others, |theirs| finder.find(theirs));
    }

    fn answers(&mut self) {
        let runs = self.runs / 8;
        let key = SecretKey::random(Mode::Oprf, &mut self.rng);
        let asked = |bench: &mut Self| {
            let inputs: Vec<[u8; 16]> = (0..8).map(|_| bench.rng.block().to_le_bytes()).collect();
            let elements = blind(Mode::Oprf, &inputs, &mut bench.rng).1;
            (inputs, elements)
        };
        let (inputs, elements) = asked(self);
        let (other_inputs, other_elements): (Vec<_>, Vec<_>) = (0..OTHERS).map(|_| asked(self)).unzip();
        self.compare("OPRF, server: other inputs", runs, &inputs, &other_inputs, |inputs| key.evaluate(inputs));
        let mut place = elements.clone();
        self.compare("OPRF, server: other blinded elements", runs, &elements, &other_elements, |elements| {
            place.clone_from(elements);
            assert!(key.evaluate_blinded(&mut place));
        });
        let mut one = [0; 32];
        one[0] = 1;
        let small = SecretKey::from_bytes(Mode::Oprf, &Secret::new(one)).expect("a key");
        let keys: Vec<SecretKey> = (0..OTHERS).map(|_| SecretKey::random(Mode::Oprf, &mut self.rng)).collect();
        let numbers: Vec<usize> = (1..=OTHERS).collect();
        let keys: Vec<&SecretKey> = std::iter::once(&small).chain(&keys).collect();
        self.compare("OPRF, server: the key 1, or others", runs, &0, &numbers, |&number| {
            place.clone_from(&elements);
            assert!(keys[number].evaluate_blinded(&mut place));
        });
        let mut rng = self.rng.child();
        self.compare("OPRF, client: blinding other inputs", runs, &inputs, &other_inputs, |inputs| {
            blind(Mode::Oprf, inputs, &mut rng)
        });
    }

    fn look_ups(&mut self) {
        let runs = self.runs / 16;
        let shape = Shape::new(ITEMS, 64, 1).expect("a shape");
        let records = self.bytes(shape.matrix_bytes());
        let database = Database::new(shape, [9; 32], &records);
        let reader = Reader::new(shape, database.seed(), database.public()).expect("a client");
        let others: Vec<usize> = (0..OTHERS).map(|i| (i * 31 + 17) % ITEMS).collect();
        let mut rng = self.rng.child();
        self.compare("private look-up, client: asking for the first record or others", runs, &0, &others, |&record| {
            reader.query(record, &mut rng)
        });
        let sent = |record: usize, rng: &mut SecretRng| reader.query(record, rng).0;
        let (first, sent): (Vec<u8>, Vec<Vec<u8>>) =
            (sent(0, &mut rng), others.iter().map(|&record| sent(record, &mut rng)).collect());
        self.compare("private look-up, server: one query or others", runs, &first, &sent, |sent| {
            database.answer(&[Query::read(shape, sent).expect("a query")])
        });
    }
}

fn main() -> ExitCode {
    let runs = std::env::args().nth(1).map_or(20_000, |runs| runs.parse().expect("a number of runs"));
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("one thread");
    let mut bench = Bench { runs, rng: SecretRng::insecure_from_seed(1) };
    println!("| work | runs | median of the fixed input, ns | of others, ns | most \\|t\\| |\n|---|--:|--:|--:|--:|");
    let holds = bench.controls();
    bench.tables();
    bench.encodings();
    bench.payloads();
    bench.tags();
    bench.answers();
    bench.look_ups();
    if holds {
        return ExitCode::SUCCESS;
    }
    eprintln!("error: the controls do not come out as they are named: the machine is too busy for this");
    ExitCode::FAILURE
}
