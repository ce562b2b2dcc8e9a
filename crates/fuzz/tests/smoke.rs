//! Runs every target on its corpus and on seeded mutations of it, on stable Rust: 1000 of each, or
//! as many as `VESICA_FUZZ` says. `VESICA_SEED` starts from another number, `VESICA_TARGET` chooses
//! one target.

use std::path::Path;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use vesica_fuzz::{Reach, TARGETS};

#[test]
fn no_bytes_make_a_parser_panic() {
    let number = |name, default| {
        std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
    };
    let (mutations, seed) = (number("VESICA_FUZZ", 1000u64), number("VESICA_SEED", 1));
    let chosen = std::env::var("VESICA_TARGET").ok();
    let targets: Vec<_> =
        TARGETS.iter().filter(|target| chosen.as_deref().is_none_or(|chosen| chosen == target.name)).collect();
    let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
    assert!(!targets.is_empty(), "VESICA_TARGET is one of {}", names.join(", "));
    for target in targets {
        let start = std::time::Instant::now();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut corpus = corpus(target.name);
        corpus.extend((target.seeds)());
        corpus.push(Vec::new());
        for input in &corpus {
            (target.run)(input);
        }
        for _ in 0..mutations {
            (target.run)(&mutant(&corpus, &mut rng));
        }
        let (inputs, milliseconds) = (corpus.len(), start.elapsed().as_millis());
        println!("{}: {inputs} inputs, {mutations} mutations from seed {seed}, {milliseconds} ms", target.name);
    }
}

/// Mutations of what is refused at the first byte test nothing.
#[test]
fn seeds_reach_the_inside() {
    for target in TARGETS {
        let reached: Vec<bool> = (target.seeds)().iter().map(|seed| (target.run)(seed)).collect();
        match target.reach {
            Reach::All => {
                assert!(!reached.is_empty() && reached.iter().all(|&reached| reached), "{}: {reached:?}", target.name)
            }
            Reach::Some => assert!(reached.contains(&true), "{}: {reached:?}", target.name),
            Reach::Unknown => {}
        }
        assert!(target.reach == Reach::Unknown || !(target.run)(b""), "{} takes nothing for something", target.name);
    }
    let [.., longest] = &vesica_fuzz::conversations()[..] else { panic!("there are conversations") };
    let fed = vesica_party::fuzzing::conversation(longest);
    assert_eq!((fed.opened, fed.closed, fed.queued, fed.credited, fed.finished), (3, 2, 2, 1000, true));
}

/// Inputs kept because they once failed, or because mutation does not find their shape.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let Ok(files) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = files.flatten().map(|file| file.path()).collect();
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read(path).ok()).collect()
}

/// An input of the corpus after one to eight edits: flipped bits, set bytes, cut, repeated or
/// spliced parts.
fn mutant(corpus: &[Vec<u8>], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let below = |n: usize, rng: &mut ChaCha8Rng| (rng.next_u64() % n.max(1) as u64) as usize;
    let mut bytes = corpus[below(corpus.len(), rng)].clone();
    // Where places are written down, inserting a byte breaks all of them: half of the inputs keep
    // theirs.
    let kinds = if below(2, rng) == 0 { 3 } else { 8 };
    for _ in 0..=below(8, rng) {
        let at = below(bytes.len(), rng);
        match below(kinds, rng) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << below(8, rng),
            1 if !bytes.is_empty() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff, b',', b'"', b'\n'][below(8, rng)],
            2 => {
                let long = [0u64, 1, 0x7fff_ffff, 0xffff_ffff, 1 << 40, u64::MAX][below(6, rng)].to_le_bytes();
                let count = (bytes.len() - at).min([2, 4, 8][below(3, rng)]);
                bytes[at..at + count].copy_from_slice(&long[..count]);
            }
            7 => bytes.truncate(at),
            3 => bytes.insert(at, rng.next_u32() as u8),
            4 if !bytes.is_empty() => drop(bytes.remove(at)),
            5 if bytes.len() < 4096 => {
                let part = bytes[at..].to_vec();
                bytes.extend(part);
            }
            _ => {
                let other = &corpus[below(corpus.len(), rng)];
                bytes.truncate(at);
                bytes.extend_from_slice(&other[below(other.len(), rng)..]);
            }
        }
    }
    bytes
}
