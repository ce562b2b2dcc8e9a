//! Payloads.

use std::collections::HashSet;

use vesica_mpc::rfc9497::{self, Output};
use vesica_party::service::{Client as _, Standing};
use vesica_structures::rlwe::bfv;
use vesica_structures::rng::SecretRng;
use vesica_testkit::two_party;

use super::super::params::{fill_payload_keystream, ring};
use super::super::server::labels;
use super::*;
use crate::recurrent::testing::{self, WIDTH, admit, answer, bytes_of, check, query, read};
use crate::tasks::{IntersectReceiverOutput, IntersectSenderInput};

fn params(set_items: usize, query_items: usize, payload_bytes: usize) -> Params {
    Params::derive(&IntersectRequest { payload_bytes, ..request(set_items, query_items) }).unwrap()
}

/// Items from `first` on with payloads of their own.
fn set(first: u128, count: usize, width: usize) -> IntersectSenderInput {
    let items: Vec<u128> = (first..first + count as u128).collect();
    let payload = |&item: &u128| (0..width).map(move |i| (item as usize * 31 + i * 7 + (item as usize >> 8)) as u8);
    IntersectSenderInput { payloads: items.iter().flat_map(payload).collect(), items }
}

/// Asks a set once.
fn asked(set: &IntersectSenderInput, params: &Params, items: &[u128]) -> IntersectReceiverOutput {
    let server: Server = testing::prepared(params, set);
    let ((), output) = two_party(
        |ch, rng| answer(&server, &mut admit(&server, Standing::New, ch, rng)?, ch, rng),
        |ch, rng| Client::enrol(params, ch, rng)?.query(0, query(items), ch, rng),
    );
    output
}

#[test]
fn payloads_of_all_widths_reach_the_client() {
    for width in [1, 16, 100] {
        for (set_items, queries) in [
            (0, vec![1, 2]),
            (1, vec![1]),
            (1, vec![0]),
            (1, vec![]),
            (2, vec![1, 0]),
            (2, vec![5, 1]),
            (40, vec![3, 50]),
        ] {
            let set = set(0, set_items, width);
            check(&set, &queries, &asked(&set, &params(set_items, queries.len(), width), &queries));
        }
    }
    // The widest, which has many labels; and two bits that fill up a limb.
    for width in [2, 17, 1024] {
        let set = set(0, 3, width);
        check(&set, &[2, 9], &asked(&set, &params(3, 2, width), &[2, 9]));
    }
}

/// Several groups and parts; of each part some items are asked about.
#[test]
fn payloads_of_several_groups_and_parts_are_right() {
    let set = set(0, 5000, 16);
    let params = params(5000, 700, 16);
    assert!(params.shape.groups > 1 && params.shape.parts > 1 && params.shape.degree > 1, "{params:?}");
    let items: Vec<u128> = (4700..5400).collect();
    check(&set, &items, &asked(&set, &params, &items));
}

/// Both sides go through files between queries.
#[test]
fn payloads_of_many_queries_are_right() {
    let set = testing::set(1000, 3000);
    testing::many_queries_are_right::<Cmdg21>(&params(set.items.len(), 3, WIDTH), &set);
}

#[test]
fn a_replaced_set_has_its_own_payloads() {
    let of = |query_items| params(10, query_items, WIDTH);
    testing::clients_move_over_to_a_replaced_set::<Cmdg21>(&of(2), &of(3), true);
}

#[test]
fn two_payloads_of_one_item_are_refused() {
    testing::a_set_with_an_item_twice_is_refused::<Server>(&params(5, 1, WIDTH));
}

/// A keystream that came twice would show where two payloads differ: of zeros, all limbs of all labels are
/// those of the keystream.
#[test]
fn no_part_of_a_keystream_comes_twice() {
    let items = 200;
    let set = IntersectSenderInput { items: (0..items as u128).collect(), payloads: vec![0; items * 100] };
    let shape = params(items, 1, 100).shape;
    let key = rfc9497::SecretKey::random(rfc9497::Mode::Oprf, &mut SecretRng::from_os().unwrap());
    let outputs = key.evaluate(crate::recurrent::items::inputs(&set.items));
    let labels = labels(shape, &set, &outputs);
    assert_eq!(labels.len(), items * shape.labels() * shape.limbs);
    // Four limbs are 68 bits: the bound on two equal ones by chance is below 2^-40.
    let of_item = labels.chunks_exact(shape.labels() * shape.limbs);
    let all: Vec<&[u32]> = of_item.flat_map(|limbs| limbs[..800 / 17].windows(4)).collect();
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
}

/// Whoever learns bins and limbs learns nothing of the key: it is made of other bytes of the output, and of
/// all of those that are left.
#[test]
fn the_key_of_a_payload_is_apart_from_bins_and_limbs() {
    let keystream = |output: &Output, item| {
        let mut out = [0; 32];
        fill_payload_keystream(output, item, &mut out);
        out
    };
    let none = [0; 64];
    for byte in 0..64 {
        let mut output = none;
        output[byte] = 1;
        assert_eq!(keystream(&output, 7) != keystream(&none, 7), byte >= 48, "byte {byte}");
    }
    assert_ne!(keystream(&none, 7), keystream(&none, 8), "a key tests guesses at one item");
}

/// What travels is the same for any set, and for any query.
#[test]
fn messages_are_as_long_as_predicted_whatever_matches() {
    let params = params(40, 3, 16);
    let mut all = HashSet::new();
    for (first, items) in [(0, [1, 2, 3]), (0, [100, 101, 102]), (50, [1, 51, 60])] {
        let server: Server = testing::prepared(&params, &set(first, 40, 16));
        let ((), bytes) = two_party(
            |ch, rng| answer(&server, &mut admit(&server, Standing::New, ch, rng)?, ch, rng),
            |ch, rng| {
                Client::enrol(&params, ch, rng)?.query(0, query(&items), ch, rng)?;
                let total = ch.tally().total();
                Ok([total.sent_payload, total.received_payload])
            },
        );
        all.insert(bytes);
        assert_eq!(bytes.iter().sum::<u64>(), params.enrolment_bytes() + params.query_bytes());
    }
    assert_eq!(all.len(), 1);
}

/// Where a value cannot be read, no payload is taken from it.
#[test]
fn exhausted_noise_gives_no_payload() {
    let (set, params) = (set(0, 10, 16), params(10, 1, 16));
    let server: Server = testing::prepared(&params, &set);
    let ((), output) = two_party(
        |ch, rng| answer(&server, &mut admit(&server, Standing::New, ch, rng)?, ch, rng),
        |ch, rng| {
            let mut client = Client::enrol(&params, ch, rng)?;
            client.key = bfv::SecretKey::new(&ring().scheme, rng);
            client.query(0, query(&[7]), ch, rng)
        },
    );
    assert_eq!((&output.matches[..], output.payloads.opened(), output.unread), (&[0u32; 0][..], vec![], 1));
}

#[test]
fn states_and_terms_tell_the_width_of_payloads() {
    let of = |payload_bytes| params(10, 1, payload_bytes);
    let server: Server = testing::prepared(&of(16), &set(0, 10, 16));
    let good = bytes_of(&server);
    assert!(read::<Server>(&good).is_ok() && read::<Client>(&good).is_err());
    for place in [60, good.len() / 2, good.len() - 1] {
        assert!(read::<Server>(&good[..place]).is_err(), "{place} bytes");
    }
    for (a, b) in [(0, 1), (1, 2), (1, 16), (0, 16)] {
        assert_ne!(Cmdg21::terms(&of(a)), Cmdg21::terms(&of(b)), "{a} and {b} bytes");
    }
    assert_eq!(of(0).to_words().len() + 1, of(16).to_words().len());
}

/// Prints what queries about 2^20 items take, of 256 items and of 1024 without payloads and with some of 16 bytes:
/// `cargo test --release -p vesica-protocols --lib cmdg21 -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes, and checks no more than the others"]
fn costs() {
    let items = 1 << 20;
    for (asked, width) in [(256, 0), (1024, 0), (1024, 16)] {
        let params = params(items, asked, width);
        let set = set(0, items, width);
        let start = std::time::Instant::now();
        let server: Server = testing::prepared(&params, &set);
        eprintln!(
            "{asked} items, {width} bytes: {:?}; prepared in {:.1} s; enrolment {} bytes, query {} bytes, {} MiB of plaintexts",
            params.shape,
            start.elapsed().as_secs_f64(),
            params.enrolment_bytes(),
            params.query_bytes(),
            params.shape.plaintexts() >> 6
        );
        two_party(
            |ch, rng| {
                let mut session = admit(&server, Standing::New, ch, rng)?;
                (0..3).try_for_each(|_| answer(&server, &mut session, ch, rng))
            },
            |ch, rng| {
                let mut client = Client::enrol(&params, ch, rng)?;
                for number in 0..3 {
                    let half = asked as u128 / 2;
                    let asked: Vec<u128> = (items as u128 - half..items as u128 + half).collect();
                    let start = std::time::Instant::now();
                    let output = client.query(number, query(&asked), ch, rng)?;
                    eprintln!("  asked in {:.2} s", start.elapsed().as_secs_f64());
                    check(&set, &asked, &output);
                }
                Ok(())
            },
        );
    }
}
