//! `cm25-select` with integers that both sides bound, which is a parameter of the library and of
//! `vesica serve`, and no row of a registry.

use std::ops::RangeInclusive;

use vesica_party::service::{OneShot, Service};
use vesica_party::{Entry, Security};
use vesica_protocols::recurrent::cm25_select::{Client, Cm25Select, Params, Server};
use vesica_protocols::tasks::{Intersect, IntersectReceiverInput, IntersectRequest, IntersectSenderInput};
use vesica_structures::facts::Unsupported;
use vesica_testkit::{conformance_of, row};

use crate::conformance::{FEW_SIZES, overlaps};
use crate::inputs::{Row, inputs, request};

/// The service for integers below `2^BITS`.
enum Integers<const BITS: u32> {}

impl<const BITS: u32> Service for Integers<BITS> {
    const ENTRY: Entry = Cm25Select::ENTRY;
    type Task = Intersect;
    type Params = Params;
    type Server = Server;
    type Client = Client;

    fn derive(request: &IntersectRequest) -> Result<Params, Unsupported> {
        Params::derive_for_integers(request, BITS)
    }

    fn terms(params: &Params) -> Vec<u8> {
        Cm25Select::terms(params)
    }

    fn enrolment_bytes(params: &Params) -> RangeInclusive<u64> {
        Cm25Select::enrolment_bytes(params)
    }

    fn query_bytes(params: &Params) -> RangeInclusive<u64> {
        Cm25Select::query_bytes(params)
    }
}

/// Rows by the width of their items.
fn rows() -> [(u32, Row); 3] {
    [(17, row::<OneShot<Integers<17>>>()), (33, row::<OneShot<Integers<33>>>()), (64, row::<OneShot<Integers<64>>>())]
}

/// Runs a row and checks all that every row must fulfil.
fn check(row: Row, sent: Vec<u128>, asked: Vec<u128>, matches: &[u32]) {
    let request = request(sent.len(), asked.len(), Security::SemiHonest);
    let sent = IntersectSenderInput { items: sent, payloads: Vec::new() };
    let run = conformance_of(row, &request, sent, IntersectReceiverInput { items: asked });
    run.assert_rounds(row.entry().mode(Security::SemiHonest).expect("its only mode"));
    assert_eq!((&run.receiver.matches[..], run.false_matches), (matches, 0), "{request:?}");
}

#[test]
fn integers_are_intersected_whatever_the_sizes_and_the_overlap() {
    for (bits, row) in rows() {
        for (n_s, n_r) in FEW_SIZES {
            for overlap in overlaps(n_s, n_r) {
                let (sent, asked) = inputs(&request(n_s, n_r, Security::SemiHonest), overlap, 3);
                let narrow = |items: Vec<u128>| items.iter().map(|item| item >> (128 - bits)).collect::<Vec<_>>();
                let (sent, asked) = (narrow(sent.items), narrow(asked.items));
                let found: Vec<u32> =
                    (0..).zip(&asked).filter(|(_, item)| sent.contains(item)).map(|(own, _)| own).collect();
                assert!(found.len() >= overlap);
                check(row, sent, asked, &found);
            }
        }
    }
}

/// The least and the largest integer, items that are there twice, and neighbours, which share parts.
#[test]
fn integers_at_the_ends_of_their_range_and_repeated_ones_are_intersected() {
    for (bits, row) in rows() {
        let last = (1 << bits) - 1;
        check(row, vec![0, 7, last, 7, 0], vec![0, last, 7, 1, last - 1, 6, 8, 0], &[0, 1, 2, 7]);
        check(row, (100..200).collect(), vec![99, 100, 199, 200], &[1, 2]);
        check(row, vec![5; 300], vec![5, 4], &[0]);
    }
}
