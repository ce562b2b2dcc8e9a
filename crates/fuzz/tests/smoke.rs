//! Runs every target on its corpus and on seeded mutations of it, on stable Rust: 1000 of each, or as many as `VESICA_FUZZ` says.

use std::path::Path;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use vesica_fuzz::TARGETS;

#[test]
fn no_bytes_make_a_parser_panic() {
    let mutations = std::env::var("VESICA_FUZZ").map_or(1000u64, |text| text.parse().expect("VESICA_FUZZ is a number of mutations"));
    for target in TARGETS {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut corpus = corpus(target.name);
        corpus.extend((target.seeds)());
        corpus.push(Vec::new());
        println!("{}: {} inputs, {mutations} mutations", target.name, corpus.len());
        for input in &corpus {
            (target.run)(input);
        }
        for _ in 0..mutations {
            (target.run)(&mutant(&corpus, &mut rng));
        }
    }
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

/// An input of the corpus after one to eight edits: flipped bits, set bytes, cut, repeated or spliced parts.
fn mutant(corpus: &[Vec<u8>], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let below = |n: usize, rng: &mut ChaCha8Rng| (rng.next_u64() % n.max(1) as u64) as usize;
    let mut bytes = corpus[below(corpus.len(), rng)].clone();
    for _ in 0..=below(8, rng) {
        let at = below(bytes.len(), rng);
        match below(7, rng) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << below(8, rng),
            1 if !bytes.is_empty() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff, b',', b'"', b'\n'][below(8, rng)],
            2 => bytes.truncate(at),
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
