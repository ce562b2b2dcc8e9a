//! Throughput of each kernel on each backend of the machine, one thread, in elements (blocks,
//! products, rows) a second.
//!
//! Inputs are 2^13 elements, which stay in the second-level cache. `cargo bench -p vesica-kernels --
//! --test` runs each once.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use vesica_kernels::{
    Backend, aes, blake3, clmul, gf64, ntt, ristretto, selection, sha256, transpose, with_backend, xor,
};

/// Elements of each input.
const LEN: usize = 1 << 13;

/// Measures `kernel`, which handles `elements` elements a call, on each backend of the machine.
fn on_backends<K: FnMut()>(criterion: &mut Criterion, name: &str, elements: usize, kernel: impl Fn() -> K) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(elements as u64));
    for backend in Backend::available() {
        group.bench_function(BenchmarkId::from_parameter(backend.name()), |bencher| {
            with_backend(backend, || {
                let mut kernel = kernel();
                bencher.iter(&mut kernel);
            });
        });
    }
    group.finish();
}

fn random_blocks(rng: &mut impl Rng, len: usize) -> Vec<u128> {
    let mut bytes = vec![0; 16 * len];
    rng.fill_bytes(&mut bytes);
    let (blocks, _) = bytes.as_chunks();
    blocks.iter().map(|block| u128::from_le_bytes(*block)).collect()
}

fn aes(criterion: &mut Criterion) {
    let rng = &mut ChaCha20Rng::seed_from_u64(1);
    let (x, y) = (random_blocks(rng, LEN), random_blocks(rng, LEN));
    let (x, y) = (&x[..], &y[..]);
    on_backends(criterion, "aes/encrypt", LEN, || {
        let (cipher, mut x) = (aes::Aes128::new(1), x.to_vec());
        move || cipher.encrypt(black_box(&mut x))
    });
    on_backends(criterion, "aes/encrypt-1-block", 1, || {
        let (cipher, mut x) = (aes::Aes128::new(1), [1]);
        move || cipher.encrypt(black_box(&mut x))
    });
    on_backends(criterion, "aes/mmo", LEN, || {
        let (cipher, mut out) = (aes::Aes128::new(1), vec![0; LEN]);
        move || cipher.mmo(black_box(x), black_box(&mut out))
    });
    on_backends(criterion, "aes/mmo-bits", LEN, || {
        let (cipher, (x, _)) = (aes::Aes128::new(1), x.as_chunks());
        move || x.iter().for_each(|x| _ = black_box(cipher.mmo_bits(black_box(x))))
    });
    on_backends(criterion, "aes/tmmo", LEN, || {
        let (cipher, mut out) = (aes::Aes128::new(1), vec![0; LEN]);
        move || cipher.tmmo(black_box(x), black_box(y), black_box(&mut out))
    });
    on_backends(criterion, "aes/ctr", LEN, || {
        let (cipher, mut out) = (aes::Aes128::new(1), vec![0; LEN]);
        move || cipher.ctr(black_box(5), black_box(&mut out))
    });
    // Elements are parents; each gives two children.
    on_backends(criterion, "aes/ggm-expand", LEN, || {
        let (prg, mut children) = (aes::GgmPrg::new(1, 2), vec![0; 2 * LEN]);
        move || {
            black_box(prg.expand(black_box(x), black_box(&mut children)));
        }
    });
    // Elements are tables.
    on_backends(criterion, "aes/mmo-tables-of-8", LEN, || {
        let (cipher, offsets, mut out) = (aes::Aes128::new(1), &y[..8], vec![0; LEN]);
        move || cipher.mmo_tables(black_box(x), offsets, black_box(&mut out))
    });
    on_backends(criterion, "aes/davies-meyer", LEN, || {
        let mut out = vec![0; LEN];
        move || aes::davies_meyer(black_box(x), black_box(y), black_box(&mut out))
    });
}

fn clmul(criterion: &mut Criterion) {
    let rng = &mut ChaCha20Rng::seed_from_u64(2);
    let (x, y) = (random_blocks(rng, LEN), random_blocks(rng, LEN));
    let short: Vec<u64> = x.iter().map(|&x| x as u64).collect();
    let (x, y, short, delta) = (&x[..], &y[..], &short[..], y[0]);
    // One product after the other: the latency of a call.
    on_backends(criterion, "clmul/gf64-mul", 1, || {
        let mut product = delta as u64;
        move || product = clmul::gf64_mul(product, black_box(delta as u64))
    });
    on_backends(criterion, "clmul/gf128-mul", 1, || {
        let mut product = delta;
        move || product = clmul::gf128_mul(product, black_box(delta))
    });
    on_backends(criterion, "clmul/gf128-scale-add", LEN, || {
        let mut acc = y.to_vec();
        move || clmul::gf128_scale_add(black_box(&mut acc), black_box(delta), black_box(x))
    });
    on_backends(criterion, "clmul/gf128-scale-add-gf64", LEN, || {
        let mut acc = y.to_vec();
        move || clmul::gf128_scale_add_gf64(black_box(&mut acc), black_box(delta), black_box(short))
    });
    on_backends(criterion, "clmul/gf128-inner-product", LEN, || {
        move || {
            black_box(clmul::gf128_inner_product(black_box(x), black_box(y)));
        }
    });
    on_backends(criterion, "clmul/gf128-powers", LEN, || {
        let mut out = vec![0; LEN];
        move || clmul::gf128_powers(black_box(delta), black_box(&mut out))
    });
}

fn matrices(criterion: &mut Criterion) {
    let rng = &mut ChaCha20Rng::seed_from_u64(3);
    let mut bits = vec![0; 128 * LEN / 8];
    rng.fill_bytes(&mut bits);
    let columns: Vec<&[u8]> = bits.chunks(LEN / 8).collect();
    let columns = &columns[..];
    on_backends(criterion, "transpose/128-columns", LEN, || {
        let mut out = vec![0; LEN];
        move || transpose::transpose_128(black_box(columns), black_box(&mut out))
    });
    let x = random_blocks(rng, LEN);
    let x = &x[..];
    on_backends(criterion, "xor/blocks", LEN, || {
        let mut acc = x.to_vec();
        move || xor::xor_into(black_box(&mut acc), black_box(x))
    });
}

fn polynomials(criterion: &mut Criterion) {
    let rng = &mut ChaCha20Rng::seed_from_u64(4);
    let modulus = ntt::Modulus::largest(49, 2 * LEN as u64, 1)[0];
    let x: Vec<u64> = random_blocks(rng, LEN).iter().map(|&x| modulus.reduce(x)).collect();
    for len in [LEN / 2, LEN] {
        let (table, x) = (ntt::Ntt::new(modulus, len), &x[..len]);
        on_backends(criterion, &format!("ntt/forward/{len}"), len, || {
            let (table, mut x) = (&table, x.to_vec());
            move || table.forward(black_box(&mut x))
        });
        on_backends(criterion, &format!("ntt/inverse/{len}"), len, || {
            let (table, mut x) = (&table, x.to_vec());
            move || table.inverse(black_box(&mut x))
        });
    }
    on_backends(criterion, "ntt/products of 6 pairs", LEN, || {
        let (x, mut out) = (&x, vec![0; LEN]);
        move || ntt::sum_of_products(modulus, black_box(&[[&x[..], &x[..]]; 6]), black_box(&mut out))
    });
    on_backends(criterion, "ntt/accumulate", LEN, || {
        let (x, mut acc) = (&x, vec![0; LEN]);
        move || {
            acc.fill(0);
            ntt::accumulate(black_box(&mut acc), black_box(x), black_box(x));
        }
    });
}

fn rows(criterion: &mut Criterion) {
    let rng = &mut ChaCha20Rng::seed_from_u64(5);
    let x: Vec<u64> = random_blocks(rng, LEN).iter().map(|&x| x as u64).collect();
    on_backends(criterion, "gf64/multiply-add", LEN, || {
        let (x, mut out) = (&x, vec![0; LEN]);
        move || gf64::multiply_add(black_box(x), black_box(x), 1, black_box(&mut out))
    });
    let transform = gf64::Transform::new(LEN.ilog2());
    on_backends(criterion, "gf64/transform", LEN, || {
        let (transform, mut x) = (&transform, x.clone());
        move || transform.apply(gf64::Direction::Forward, LEN.ilog2(), 0, black_box(&mut x))
    });
    // Elements are sums of 41 rows with factors of their own, and of about 64 of 128 rows.
    let lines: Vec<gf64::Row> = x.as_chunks::<8>().0.to_vec();
    on_backends(criterion, "gf64/combine-41", 80, || {
        let (x, lines, mut out) = (&x, &lines, vec![[0; 8]; 80]);
        move || {
            gf64::combine(
                gf64::Matrix { elements: black_box(x), row: 1, column: 80 },
                &lines[..41],
                black_box(&mut out),
            )
        }
    });
    let (lines, selectors) = (lines.first_chunk::<128>().expect("1024 lines"), random_blocks(rng, 80));
    on_backends(criterion, "selection/128-rows", 80, || {
        let (selectors, mut out) = (&selectors, vec![[0; 8]; 80]);
        move || selection::select(black_box(lines), black_box(selectors), black_box(&mut out))
    });
}

/// Elements of the Ristretto group: 64 of them, as protocols multiply them.
fn group(criterion: &mut Criterion) {
    let rng = &mut ChaCha20Rng::seed_from_u64(7);
    let mut uniform = [[0; 64]; 64];
    uniform.iter_mut().for_each(|uniform| rng.fill_bytes(uniform));
    let scalar = curve25519_dalek::Scalar::from_bytes_mod_order([0x5a; 32]);
    let mut elements = [[0; ristretto::ENCODED_BYTES]; 64];
    on_backends(criterion, "ristretto/map-and-multiply", 64, || {
        let (scalar, uniform, mut out) = (scalar, uniform, elements);
        move || ristretto::map_and_multiply(black_box(&scalar), black_box(&uniform), black_box(&mut out))
    });
    ristretto::map_and_multiply(&scalar, &uniform, &mut elements);
    on_backends(criterion, "ristretto/multiply", 64, || {
        let (scalar, mut elements) = (scalar, elements);
        move || assert!(ristretto::multiply(black_box(&scalar), black_box(&mut elements)))
    });
    on_backends(criterion, "ristretto/multiply-few", 4, || {
        let (scalar, mut few) = (scalar, [elements[0], elements[1], elements[2], elements[3]]);
        move || assert!(ristretto::multiply(black_box(&scalar), black_box(&mut few)))
    });
    let weights = [scalar; 64];
    for (name, count) in [("ristretto/composites-few", 4), ("ristretto/composites", 64)] {
        on_backends(criterion, name, count, || {
            let (weights, elements) = (&weights[..count], &elements[..count]);
            move || assert!(ristretto::composites(weights, black_box(elements), &scalar, &scalar).is_some())
        });
    }
}

fn sha_256(criterion: &mut Criterion) {
    let rng = &mut ChaCha20Rng::seed_from_u64(5);
    let (x, y, keys) = (random_blocks(rng, LEN), random_blocks(rng, LEN), random_blocks(rng, 80));
    let (x, y) = (&x[..], &y[..]);
    on_backends(criterion, "sha256/digests", LEN, || {
        let mut out = vec![0; LEN];
        move || sha256::digests(black_box(x), black_box(y), &[1; 17], black_box(&mut out))
    });
    // Compressions: a bit of 80 keys for each message.
    on_backends(criterion, "sha256/bits-80-keys", 80 * 1024, || {
        let (keys, mut out) = (sha256::KeyedBits::new(&keys, None), vec![0; 5 * 1024]);
        move || keys.eval(black_box(&x[..1024]), 5, black_box(&mut out))
    });
}

/// Messages as the key columns of a table give them: one block each.
fn blake_3(criterion: &mut Criterion) {
    let rng = &mut ChaCha20Rng::seed_from_u64(8);
    let messages: Vec<[u8; 64]> = bytemuck::cast_slice(&random_blocks(rng, 4 * LEN)).to_vec();
    let (messages, lengths) = (&messages[..], &vec![64; LEN][..]);
    on_backends(criterion, "blake3/128-bits", LEN, || {
        let mut out = vec![0; LEN];
        move || blake3::keyed_digests(&[1; 32], black_box(messages), lengths, black_box(&mut out))
    });
    on_backends(criterion, "blake3/256-bits", LEN, || {
        let (mut low, mut high) = (vec![0; LEN], vec![0; LEN]);
        move || {
            blake3::keyed_digests_256(&[1; 32], black_box(messages), lengths, black_box(&mut low), black_box(&mut high))
        }
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(std::time::Duration::from_millis(200))
        .measurement_time(std::time::Duration::from_millis(600));
    targets = aes, sha_256, blake_3, clmul, matrices, polynomials, group, rows
}
criterion_main!(benches);
