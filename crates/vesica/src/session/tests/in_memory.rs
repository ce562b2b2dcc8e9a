//! Sessions of a program that has its rows in memory, with a partner that has them in files.

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use vesica_data::table::{Batches, Collected, Delivered, Duplicates, PayloadSpec};

use super::*;
use crate::table::Format;

/// The rows of `ours.csv` in two batches of typed columns.
fn batches() -> Batches {
    let rows = [
        (Some("a"), 2, Some("north")),
        (Some("b"), -3, Some("south")),
        (Some("c"), 5, None),
        (Some("q"), 7, Some("north")),
        (None, 9, Some("west")),
    ];
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(rows.iter().map(|row| row.0).collect::<StringArray>())),
        ("quantity", Arc::new(rows.iter().map(|row| Some(row.1)).collect::<Int64Array>())),
        ("region", Arc::new(rows.iter().map(|row| row.2).collect::<StringArray>())),
    ];
    let whole = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .expect("columns");
    Batches::new("our rows", whole.schema(), vec![whole.slice(0, 2), whole.slice(2, 3)]).expect("one schema")
}

/// A run of `task` in which the receiver's rows and its result are in memory.
fn in_memory(task: &str, change: impl Fn(&mut Config)) -> (Folder, Report, Report, Delivered) {
    let folder = Folder::new();
    let (mut receiver, mut sender) = (folder.config(Role::Receiver, task), folder.config(Role::Sender, task));
    change(&mut receiver);
    change(&mut sender);
    let result = Collected::default();
    receiver.source.table = Arc::new(batches());
    receiver.destination = Some(Destination { sink: Arc::new(result.clone()), join: Join::Inner });
    let (received, sent) = both(receiver, sender);
    let (received, sent) = (received.expect("a result"), sent.expect("sent"));
    let delivered = result.take().expect("delivered");
    (folder, received, sent, delivered)
}

/// What is delivered, written as CSV.
fn as_csv(folder: &Folder, delivered: Delivered) -> String {
    let (schema, batches) = match delivered {
        Delivered::Rows { schema, batches } => (schema, batches),
        Delivered::Numbers(numbers) => (numbers.schema(), vec![numbers]),
        Delivered::Shares(_) => panic!("no rows"),
    };
    let source = Batches::new("the result", schema.clone(), batches.clone()).expect("one schema");
    let path = folder.path("delivered.csv").display().to_string();
    let options = OutputOptions { force: true, format: Some(Format::Csv) };
    let mut sink = crate::table::Output::create(&path, &options, &source).expect("a place");
    crate::table::write_rows(schema, &batches, &mut sink).expect("written");
    folder.read("delivered.csv")
}

#[test]
fn an_intersection_with_payload_comes_as_record_batches() {
    let (folder, received, sent, delivered) = in_memory("intersect", |config| {
        config.protocol = Some("ecdh-hfh99".into());
        config.pad_to = Some(9);
        if config.role == Role::Sender {
            config.settings.payload =
                Some(PayloadSpec { columns: vec!["amount".into()], duplicates: Duplicates::Refuse });
        }
    });
    assert_eq!((received.matched_keys, sent.matched_keys), (Some(3), None));
    assert_eq!(received.output.expect("a result").rows, 3);
    assert_eq!(as_csv(&folder, delivered), "id,quantity,region,amount\na,2,north,1\nb,-3,south,10.25\nc,5,,-0.5\n");
    assert!(!folder.path("result.csv").exists(), "no file is written");
}

#[test]
fn a_sum_by_group_comes_as_a_record_batch() {
    let (folder, _, _, delivered) = in_memory("sum", |config| {
        amount(config);
        match config.role {
            Role::Receiver => config.settings.values.group_by = Some("region".into()),
            Role::Sender => config.settings.max_groups = 3,
        }
    });
    assert_eq!(as_csv(&folder, delivered), "region,amount\n,-0.50\nnorth,1.00\nsouth,10.25\n");
}

#[test]
fn shares_come_as_bytes() {
    let (folder, _, _, delivered) = in_memory("shares", amount);
    let Delivered::Shares(ours) = delivered else { panic!("shares") };
    let theirs = ShareFile::from_bytes(&fs::read(folder.path("theirs.shares")).expect("there")).expect("shares");
    let bins = reconstruct(&theirs, &ShareFile::from_bytes(&ours).expect("shares")).expect("one run");
    assert_eq!(bins.iter().filter(|bin| bin.common).count(), 3);
}

#[test]
fn a_fault_of_a_table_in_memory_is_named_and_gives_no_result() {
    let folder = Folder::new();
    let mut receiver = folder.config(Role::Receiver, "sum");
    let mut sender = folder.config(Role::Sender, "sum");
    amount(&mut sender);
    let result = Collected::default();
    receiver.source.table = Arc::new(batches());
    receiver.source.key = KeySpec::parse(&["mail"], &[]).expect("a key");
    receiver.destination = Some(Destination { sink: Arc::new(result.clone()), join: Join::Inner });
    let (received, sent) = both(receiver, sender);
    let received = received.expect_err("no such column");
    assert!(received.code == 3 && received.fault.starts_with("our rows has no column `mail`"), "{received}");
    assert!(!sent.expect_err("told").to_string().contains("mail"), "the partner learns no name");
    assert!(result.take().is_none());
}
