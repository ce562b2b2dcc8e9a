//! A request and inputs for every task, so that a suite can go through all rows of the registry.

use vesica_mpc::bits::Bits;
use vesica_mpc::registry;
use vesica_mpc::tasks::{
    BatchPrf, BatchPrfRequest, BitsToPermute, BitsToRing, BitsToRingRequest, CorrelationRequest, Equality,
    EqualityRequest, Evaluations, InnerProduct, InnerProductRequest, Multiplex, MultiplexRequest, OneOfNOt,
    OpprfRequest, PermuteBitsRequest, PermuteShare, PermuteShareBits, PermuteShareRequest, Programmed, ProgrammedPrf,
    RandomOneOfNOt, RandomOt, RingVector, RingVectors, Share, SharedBits, SharedRows, SubfieldVole, ToPermute,
};
use vesica_party::{Security, Task};
use vesica_structures::fields::Value;
use vesica_structures::rng::SecretRng;
use vesica_structures::shuffle::random_order;
use vesica_testkit::{ExampleOf, Runnable};

/// A task of which a suite over the registry can run every row.
pub(crate) trait Example: Task {
    /// A request for `len` of what the task makes, and inputs to it.
    fn example(security: Security, len: usize) -> ExampleOf<Self>
    where
        Self: Sized;
}

/// Correlations have no inputs.
macro_rules! correlation_example {
    ([$($bound:tt)*] $task:ty, $width:expr) => {
        impl<$($bound)*> Example for $task {
            fn example(security: Security, len: usize) -> ExampleOf<Self> {
                (CorrelationRequest { len, security, width: $width }, (), ())
            }
        }
    };
}
correlation_example!([] RandomOt, None);
correlation_example!([] RandomOneOfNOt, Some(3));
correlation_example!([B: Value] SubfieldVole<B>, None);

fn seeded(len: usize) -> SecretRng {
    SecretRng::insecure_from_seed(len as u64)
}

fn blocks(len: usize, rng: &mut SecretRng) -> Vec<u128> {
    (0..len).map(|_| rng.block()).collect()
}

fn bits(len: usize, rng: &mut SecretRng) -> Vec<bool> {
    (0..len).map(|_| rng.block() & 1 == 1).collect()
}

/// Each instance evaluated at the key that is asked of it.
fn batch_prf_example(security: Security, len: usize, key_bits: u32) -> ExampleOf<BatchPrf> {
    let asked: Vec<u128> =
        blocks(len, &mut seeded(len)).into_iter().map(|block| block >> (u128::BITS - key_bits)).collect();
    let request =
        BatchPrfRequest { instances: len, key_bits, evaluations: len, evaluations_in_all: len, blocks: 1, security };
    (request, Evaluations { instances: (0..len as u32).collect(), keys: asked.clone() }, asked)
}

impl Example for BatchPrf {
    fn example(security: Security, len: usize) -> ExampleOf<Self> {
        batch_prf_example(security, len, u128::BITS)
    }
}

impl Example for OneOfNOt {
    fn example(security: Security, len: usize) -> ExampleOf<Self> {
        // What all protocols of the task serve.
        batch_prf_example(security, len, 8)
    }
}

impl Example for ProgrammedPrf {
    fn example(security: Security, len: usize) -> ExampleOf<Self> {
        let keys = blocks(len, &mut seeded(len));
        let request =
            OpprfRequest { receiver_keys: len, sender_keys: len, output_bits: 70, security, wide: true, runs: 1 };
        (request, Programmed { keys: keys.clone(), values: keys.iter().map(|key| key >> 58).collect() }, keys)
    }
}

impl Example for Equality {
    fn example(security: Security, len: usize) -> ExampleOf<Self> {
        (EqualityRequest { len, width: 61, security }, (), vec![5; len])
    }
}

impl Example for BitsToRing {
    fn example(security: Security, len: usize) -> ExampleOf<Self> {
        let rng = &mut seeded(len);
        let [sent, asked] = [0; 2].map(|_| SharedBits { bits: bits(len, rng) });
        (BitsToRingRequest { len, bits: 40, security }, sent, asked)
    }
}

impl<E: Share> Example for Multiplex<E> {
    fn example(security: Security, len: usize) -> ExampleOf<Self> {
        let rng = &mut seeded(len);
        let request = MultiplexRequest { len, masked: 1, width: 2, bits: 8 * size_of::<E>() as u32, security };
        (
            request,
            SharedBits { bits: bits(len, rng) },
            SharedRows { bits: bits(len, rng), values: vec![E::default(); 2 * len] },
        )
    }
}

impl Example for InnerProduct {
    fn example(security: Security, len: usize) -> ExampleOf<Self> {
        let vector: Vec<u64> = (0..len as u64).collect();
        let request = InnerProductRequest { len, vectors: 1, products: 1, bits: 63, security };
        (request, RingVector { values: vector.clone() }, RingVectors { vectors: vec![vector] })
    }
}

impl<V: Value> Example for PermuteShare<V> {
    fn example(security: Security, len: usize) -> ExampleOf<Self> {
        let rng = &mut seeded(len);
        let mut values = || blocks(len, rng).into_iter().map(|block| V::from_bits(block >> (128 - 61))).collect();
        let sent = ToPermute { values: values(), shares: values() };
        (PermuteShareRequest { len, bits: 61, security }, sent, random_order(len, rng))
    }
}

impl Example for PermuteShareBits {
    fn example(security: Security, len: usize) -> ExampleOf<Self> {
        let (rng, kept) = (&mut seeded(len), len - len / 5);
        let sent = BitsToPermute { values: Bits::random(len, rng), shares: Bits::random(kept, rng) };
        (PermuteBitsRequest { len, kept, security }, sent, random_order(len, rng))
    }
}

/// A suite over all rows.
pub(crate) trait Suite {
    /// Goes through the rows of one task.
    fn rows<T: Example>(&mut self, rows: &'static [Runnable<T>]);

    /// Goes through the whole registry.
    fn all(&mut self) {
        self.rows(registry::random_ot());
        self.rows(registry::random_tables());
        self.rows(registry::vole_64());
        self.rows(registry::vole_128());
        self.rows(registry::batch_prf());
        self.rows(registry::one_of_n_ot());
        self.rows(registry::opprf());
        self.rows(registry::equality());
        self.rows(registry::bits_to_ring());
        self.rows(registry::multiplex_ring());
        self.rows(registry::multiplex_bytes());
        self.rows(registry::inner_product());
        self.rows(registry::permute_share_1());
        self.rows(registry::permute_share_64());
        self.rows(registry::permute_share_128());
    }
}

#[test]
fn suites_go_through_every_row() {
    struct Ids(Vec<&'static str>);
    impl Suite for Ids {
        fn rows<T: Example>(&mut self, rows: &'static [Runnable<T>]) {
            self.0.extend(rows.iter().map(|row| row.entry().id));
        }
    }
    let mut ids = Ids(Vec::new());
    ids.all();
    assert_eq!(ids.0, registry::entries().map(|entry| entry.id).collect::<Vec<_>>());
}
