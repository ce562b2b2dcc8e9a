//! Every row of circuit PSI gives shares of what matched, and a share alone says nothing.

use vesica_party::Security;
use vesica_party::variants::resolve;
use vesica_protocols::tasks::{Shares, SharesRequest};
use vesica_testkit::{Run, Runnable, Trials, assert_uniform, conformance_of, transcript_of};

use crate::conformance::overlaps;
use crate::inputs::{every, shares_inputs, shares_request};
use crate::registry;
use crate::registry::trials_of;

/// Runs every one of these rows, and gives what the runs gave.
fn every_row(trials: &mut Trials, rows: &[Runnable<Shares>], of: SharesRequest, overlap: usize) -> Vec<Run<Shares>> {
    let mut runs = Vec::new();
    trials.modes(rows, |row, mode| {
        let of = SharesRequest { security: mode.security, ..of };
        let (sent, asked) = shares_inputs(&of, overlap);
        let run = conformance_of(row, &of, sent, asked);
        run.assert_rounds(mode);
        let members = run.sender.membership.iter().zip(&run.receiver.membership).filter(|(s, r)| s != r).count();
        assert_eq!(members, overlap, "{of:?}");
        runs.push(run);
    });
    runs
}

/// The choice of OTs: what it sends more for a test, and which assumption goes.
#[test]
fn circuits_on_ot_extension_send_more_and_rest_on_lpn_only_where_their_oprf_does() {
    let row = |name| resolve(registry::all_shares(), name).unwrap().unwrap();
    let lpn = |name| {
        row(name).entry().modes[0].assumptions.iter().filter(|assumption| assumption.what.contains("LPN")).count()
    };
    for (silent, softspoken, of_oprf) in [
        ("psty19", "psty19:ot=softspoken", 0),
        ("cgs22", "cgs22:ot=softspoken", 0),
        ("rs21-circuit", "rs21-circuit:ot=softspoken", 1),
    ] {
        if !is_here(silent) {
            continue;
        }
        assert_eq!((lpn(silent), lpn(softspoken)), (2, of_oprf), "{softspoken}");
        let bytes = |name, payloads| {
            *row(name).predicted_bytes(&shares_request(1 << 20, 1 << 20, payloads)).unwrap().end() as f64
        };
        // Of 62 to 64 bits a test: tables of two and four bits take 3.75 and 7.5 bytes.
        let bins = 1.24 * f64::from(1 << 20);
        let of_test = (bytes(softspoken, [0, 0]) - bytes(silent, [0, 0])) / bins;
        assert!((150.0..235.0).contains(&of_test), "{softspoken}: {of_test} bytes a test more");
        // Two OTs a row.
        let of_row = (bytes(softspoken, [8, 8]) - bytes(silent, [8, 8])) / bins - of_test;
        assert!((2.0..3.75).contains(&of_row), "{softspoken}: {of_row} bytes a row more");
    }
}

#[test]
fn every_row_shares_what_matched() {
    let mut trials = trials_of("shares");
    let all = every(registry::shares());
    every_row(&mut trials, &all, shares_request(300, 300, [0, 0]), 299);
    let rows = trials.in_full(&all);
    for (n_s, n_r) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (3, 1000), (1000, 3), (300, 300)] {
        for overlap in overlaps(n_s, n_r) {
            every_row(&mut trials, &rows, shares_request(n_s, n_r, [0, 0]), overlap);
        }
    }
    trials.end();
}

#[test]
fn every_row_shares_payloads_of_both_sides() {
    let mut trials = trials_of("shares of payloads");
    let all = every(registry::shares());
    every_row(&mut trials, &all, shares_request(40, 300, [8, 8]), 17);
    let rows = trials.in_full(&all);
    for (n_s, n_r, overlap) in [(0, 5, 0), (5, 0, 0), (1, 1, 1), (40, 300, 17), (300, 40, 17)] {
        for payloads in [[0, 3], [1, 0], [8, 8], [24, 5]] {
            every_row(&mut trials, &rows, shares_request(n_s, n_r, payloads), overlap);
        }
    }
    trials.end();
}

#[test]
fn every_row_shares_sixteen_thousand_items() {
    let mut trials = trials_of("shares of 2^14 items");
    let rows = trials.in_full(&every(registry::shares()));
    every_row(&mut trials, &rows, shares_request(1 << 14, 1 << 14, [0, 0]), 1 << 13);
    trials.end();
}

/// Of thousands of bins about half of either side's bits are set, whether items match or not, and
/// payload shares take all values.
#[test]
fn a_share_alone_is_uniform() {
    let mut trials = trials_of("shares alone");
    let rows = every(registry::shares());
    for overlap in [0, 3000] {
        for run in every_row(&mut trials, &rows, shares_request(3000, 3000, [2, 2]), overlap) {
            let bins = run.receiver.items.len();
            for share in [&run.sender.membership, &run.receiver.membership] {
                let ones = share.iter().filter(|&&bit| bit).count();
                // Within six standard deviations.
                let away = ones.abs_diff(bins / 2) as f64;
                assert!(away < 6.0 * (bins as f64).sqrt() / 2.0, "{ones} of {bins} bits");
            }
            for share in [&run.sender.payloads, &run.receiver.payloads] {
                assert_uniform(share, "payloads");
            }
        }
    }
    trials.end();
}

#[test]
fn every_row_refuses_malicious_parties_and_names_the_way_out() {
    for row in registry::shares() {
        let refused = row
            .predicted_bytes(&SharesRequest { security: Security::Malicious, ..shares_request(5, 5, [0, 0]) })
            .unwrap_err();
        assert!(refused.mend.contains("--security semi-honest"), "{refused}");
    }
}

/// The row of this name.
fn row(id: &str) -> Runnable<Shares> {
    registry::all_shares().into_iter().find(|row| row.entry().id == id).expect("in the registry")
}

/// Whether the row of this name is known here: rows of papers are tried with their crate alone.
fn is_here(id: &str) -> bool {
    registry::all_shares().iter().any(|row| row.entry().id == id)
}

/// Tables look random, the places that nothing is in among them: which places are used depends on
/// items.
#[test]
fn hints_look_random() {
    let of = shares_request(300, 200, [3, 1]);
    // Before the cells of the last one there is a byte for each bin.
    for (id, protocol, step, has_nonces) in [
        ("vesica-circuit", "opprf", 3, false),
        ("psty19", "psty19", 6, false),
        ("cgs22", "cgs22", 6, false),
        ("cgs22", "cgs22", 9, true),
    ] {
        if !is_here(id) {
            continue;
        }
        let (sent, asked) = shares_inputs(&of, 100);
        let bins = conformance_of(row(id), &of, sent.clone(), asked.clone()).receiver.items.len();
        let bytes = transcript_of(row(id), &of, sent, asked).of(protocol, step);
        assert_uniform(&bytes[if has_nonces { bins } else { 0 }..], &format!("{id}, step {step}"));
    }
}
