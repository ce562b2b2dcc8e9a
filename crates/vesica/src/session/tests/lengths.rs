//! Words that are too long for their message: the side that would say them refuses by itself.

use super::*;
use crate::failure::code;
use crate::table::{Duplicates, PayloadSpec};

/// The receiver's failure and the sender's, where the sender gives columns of these names.
fn failures(names: &[String]) -> (Failure, Failure) {
    let folder = Folder::new();
    let header = names.join(",");
    let cells = vec!["1"; names.len()].join(",");
    fs::write(folder.path("theirs.csv"), format!("id,{header}\na,{cells}\n")).expect("written");
    let (mut receiver, mut sender) =
        (folder.config(Role::Receiver, "intersect"), folder.config(Role::Sender, "intersect"));
    (receiver.protocol, sender.protocol) = (Some("ecdh-hfh99".into()), Some("ecdh-hfh99".into()));
    sender.settings.payload = Some(PayloadSpec { columns: names.to_vec(), duplicates: Duplicates::Refuse });
    let (received, sent) = both(receiver, sender);
    (received.expect_err("told"), sent.expect_err("refused"))
}

fn names(count: usize, bytes: usize) -> Vec<String> {
    (0..count).map(|place| format!("{place:0bytes$}")).collect()
}

/// With 40 bytes a name, the proposal fits its message, and the measure, which also states each
/// column's type, does not.
#[test]
fn a_sender_refuses_columns_that_its_sizes_cannot_state() {
    let (received, sent) = failures(&names(1000, 40));
    assert_eq!(sent.code, code::USAGE, "{sent}");
    assert!(sent.mend.contains("--payload") && sent.fault.contains("65536"), "{sent}");
    assert_eq!(received.code, code::PEER_FAILED, "nobody misbehaved: {received}");
}

#[test]
fn a_sender_refuses_more_or_longer_columns_than_a_receiver_takes() {
    for (names, bound) in [(names(1025, 4), "1024"), (names(1, 1025), "1024")] {
        let (received, sent) = failures(&names);
        assert_eq!(sent.code, code::USAGE, "{sent}");
        assert!(sent.fault.contains("--payload") && sent.fault.contains(bound), "{sent}");
        assert_eq!(received.code, code::PEER_FAILED, "nobody misbehaved: {received}");
    }
}

#[test]
fn a_side_refuses_key_columns_that_its_configuration_cannot_state() {
    let folder = Folder::new();
    let mut config = folder.config(Role::Receiver, "cardinality");
    config.source.key = KeySpec::parse(&names(10_000, 5), &[]).expect("a key");
    let failure = run(&config, &Interrupt::default(), &Silent).expect_err("refused");
    assert_eq!(failure.code, code::USAGE, "{failure}");
    assert!(failure.mend.contains("--key") && failure.fault.contains("65536"), "{failure}");
}
