//! Every row of circuit PSI gives shares of what matched, and a share alone says nothing.

use vesica_party::Security;
use vesica_protocols::registry;
use vesica_protocols::tasks::{Shares, SharesInput, SharesRequest};
use vesica_testkit::{Run, Runnable, Thorough, assert_uniform, conformance_of, faults_of, transcript_of};

use crate::inputs::{every, inputs, request};

fn shares_request(sender_items: usize, receiver_items: usize, payloads: [usize; 2]) -> SharesRequest {
    let [sender_payload_bytes, receiver_payload_bytes] = payloads;
    SharesRequest { sender_items, receiver_items, security: Security::SemiHonest, sender_payload_bytes, receiver_payload_bytes }
}

/// Sets of these sizes with `overlap` items in common.
fn shares_inputs(of: &SharesRequest, overlap: usize) -> (SharesInput, SharesInput) {
    let sizes = request(of.sender_items, of.receiver_items, of.security);
    let (sent, asked) = inputs(&sizes, overlap, overlap as u64);
    let payloads = |items: &[u128], bytes: usize| items.iter().flat_map(|item| (0..bytes).map(move |i| (item >> (i % 16)) as u8)).collect();
    let (of_sender, of_receiver) = (payloads(&sent.items, of.sender_payload_bytes), payloads(&asked.items, of.receiver_payload_bytes));
    (SharesInput { items: sent.items.clone(), payloads: of_sender }, SharesInput { items: asked.items, payloads: of_receiver })
}

fn every_row(of: SharesRequest, overlap: usize) -> Vec<Run<Shares>> {
    every(registry::shares())
        .iter()
        .map(|row| {
            let (sent, asked) = shares_inputs(&of, overlap);
            let run = conformance_of(*row, &of, sent, asked);
            let members = run.sender.membership.iter().zip(&run.receiver.membership).filter(|(s, r)| s != r).count();
            assert_eq!(members, overlap, "{} on {of:?}", row.entry().id);
            run
        })
        .collect()
}

#[test]
fn every_row_shares_what_matched() {
    for (n_s, n_r) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (3, 1000), (1000, 3), (300, 300)] {
        let least: usize = n_s.min(n_r);
        let mut overlaps = vec![0, 1.min(least), least.saturating_sub(1), least];
        overlaps.dedup();
        for overlap in overlaps {
            every_row(shares_request(n_s, n_r, [0, 0]), overlap);
        }
    }
}

#[test]
fn every_row_shares_payloads_of_both_sides() {
    for (n_s, n_r, overlap) in [(0, 5, 0), (5, 0, 0), (1, 1, 1), (40, 300, 17), (300, 40, 17)] {
        for payloads in [[0, 3], [1, 0], [8, 8], [24, 5]] {
            every_row(shares_request(n_s, n_r, payloads), overlap);
        }
    }
}

#[test]
fn every_row_shares_sixteen_thousand_items() {
    every_row(shares_request(1 << 14, 1 << 14, [0, 0]), 1 << 13);
}

/// Of thousands of bins about half of either side's bits are set, whether items match or not, and payload shares take all values.
#[test]
fn a_share_alone_is_uniform() {
    for overlap in [0, 3000] {
        for run in every_row(shares_request(3000, 3000, [2, 2]), overlap) {
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
}

#[test]
fn every_row_refuses_malicious_parties_and_names_the_way_out() {
    for row in registry::shares() {
        let refused = row.predicted_bytes(&SharesRequest { security: Security::Malicious, ..shares_request(5, 5, [0, 0]) }).unwrap_err();
        assert!(refused.mend.contains("--security semi-honest"), "{refused}");
    }
}

/// The row of this name.
fn row(id: &str) -> Runnable<Shares> {
    *registry::shares().iter().find(|row| row.entry().id == id).expect("in the registry")
}

/// Tables look random, the places that nothing is in among them: which places are used depends on items.
#[test]
fn hints_look_random() {
    let of = shares_request(300, 200, [3, 1]);
    // Before the cells of the last one there is a byte for each bin.
    for (id, protocol, step, has_nonces) in
        [("vesica-circuit", "opprf", 3, false), ("psty19", "psty19", 6, false), ("cgs22", "cgs22", 6, false), ("cgs22", "cgs22", 9, true)]
    {
        let (sent, asked) = shares_inputs(&of, 100);
        let bins = conformance_of(row(id), &of, sent.clone(), asked.clone()).receiver.items.len();
        let bytes = transcript_of(row(id), &of, sent, asked).of(protocol, step);
        assert_uniform(&bytes[if has_nonces { bins } else { 0 }..], &format!("{id}, step {step}"));
    }
}

#[test]
fn no_fault_makes_a_side_hang() {
    // The others differ from these in parts whose own tests go through their faults.
    for id in ["vesica-circuit", "psty19", "cgs22"] {
        let of = shares_request(2, 2, [1, 0]);
        let (sent, asked) = shares_inputs(&of, 1);
        let harm = faults_of(row(id), &of, &sent, &asked, Thorough::InTurn);
        // A link that is cut or a wrong step fails a run; a bit of a ciphertext may go unnoticed.
        assert!(2 * harm.failed > harm.unharmed, "{id}: {harm:?}");
    }
}
