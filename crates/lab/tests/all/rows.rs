//! Two processes join by protocols of papers, and lists and receipts name these as any other.

use vesica::receipt::Receipt;

use crate::harness::Folder;

/// Whatever order and alias each side types.
#[test]
fn a_variant_of_a_protocol_is_agreed_and_stated() {
    let folder = Folder::new();
    folder.write("ours.csv", "email\na@x.org\nb@x.org\n");
    let join = |ours: &str, theirs: &str| {
        folder.join(
            &format!("--input ours.csv --key email --output matches.csv --force --receipt ours.json --protocol {ours}"),
            &format!("--input ours.csv --key email --protocol {theirs}"),
        )
    };
    let (receiver, sender) = join("rr22:okvs=band,tags=sorted", "blazing-fast-psi:tags=sorted,okvs=band");
    receiver.expect(0, &["rr22:okvs=band,tags=sorted"]);
    sender.expect(0, &[]);
    let receipt: Receipt = serde_json::from_str(&folder.read("ours.json")).expect("a receipt");
    assert_eq!((receipt.statement.protocol.as_str(), receipt.verify()), ("rr22:okvs=band,tags=sorted", (true, true)));

    let (receiver, sender) = join("rr22:okvs=band", "rr22");
    receiver.expect(7, &["--protocol", "rr22:okvs=band"]);
    sender.expect(7, &["--protocol", "rr22:okvs=band"]);
    let (receiver, _) = join("rr22:okvs=paxos", "rr22");
    receiver.expect(11, &["paxos", "okvs=clustered or okvs=band"]);
}

#[test]
fn protocols_are_found_by_paper_and_shown_in_groups() {
    let folder = Folder::new();
    let kkrt = folder.run("protocols KKRT16");
    kkrt.expect(0, &[]);
    assert!(
        kkrt.stdout.starts_with("kkrt16 - intersect") && kkrt.stdout.contains("\noprf-kkrt16 - "),
        "{}",
        kkrt.stdout
    );
    let by_map = folder.run("protocols --by map").stdout;
    let group = by_map.find("\nsingle-point OPRF\n").expect("a group");
    let row = by_map.find("\n  kkrt16 (KKRT16), intersect, compare: sets\n    semi-honest: ").expect("a row");
    assert!(group < row && row < by_map.find("\nmulti-point OPRF\n").expect("the next group"), "{by_map}");
    assert!(by_map.contains("\n    multiplications in a group: n_s + 3 n_r\n"), "{by_map}");
    let by_compare = folder.run("protocols union --by compare").stdout;
    assert!(by_compare.contains("\noblivious transfer\n") && !by_compare.contains("kkrt16 ("), "{by_compare}");
    assert!(folder.run("protocols --by task").stdout.contains("\nrandom-ot\n"));
    let json: serde_json::Value = serde_json::from_str(&folder.run("protocols czz22 --json").stdout).expect("JSON");
    assert_eq!((&json[0]["id"], &json[0]["map"]), (&"czz24".into(), &"shares from membership tests".into()));
    let rs21 = folder.run("protocols rs21").stdout;
    assert!(rs21.contains("\n    okvs=gbf has other modes:\n      semi-honest: 4 rounds; "), "{rs21}");
    assert!(rs21.contains("For large sets m is 2.4 n_r"), "{rs21}");
    folder.run("protocols no-such").expect(2, &["there is no protocol, paper or task \"no-such\"", "--by task"]);
}

/// A protocol that only this program has, over TLS, by its name alone.
#[test]
fn a_paper_joins_tables() {
    let folder = Folder::new();
    folder.write("ours.csv", "email\na@x.org\nb@x.org\n");
    folder.write("theirs.csv", "email\nb@x.org\nc@x.org\n");
    let named = "--security semi-honest --protocol kkrt16";
    let (receiver, sender) = folder.join(
        &format!("--input ours.csv --key email --output matches.csv {named}"),
        &format!("--input theirs.csv --key email {named}"),
    );
    receiver.expect(0, &["kkrt16"]);
    sender.expect(0, &[]);
    assert_eq!(folder.read("matches.csv"), "email\nb@x.org\n");
}
