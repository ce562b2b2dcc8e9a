//! Sessions of a toy task that is neither an intersection nor an aggregate: the receiver gets rows
//! of its partner.

use super::*;
use crate::insecure::new_rows::NewRows;
use crate::table::{Duplicates, PayloadSpec};
use vesica_party::Task;
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectSenderInput};

const TASK: &str = NewRows::NAME;

fn gives(config: &mut Config) {
    if config.role == Role::Sender {
        let columns = ["id", "amount"].map(str::to_owned).to_vec();
        config.settings.payload = Some(PayloadSpec { columns, duplicates: Duplicates::Refuse });
    }
}

#[test]
fn the_receiver_gets_the_rows_of_its_partner_that_it_lacks() {
    for pad_to in [None, Some(20)] {
        let (folder, received, sent) = result(TASK, |config| {
            gives(config);
            config.pad_to = pad_to;
        });
        assert_eq!(folder.read("result.csv"), "id,amount\nz,99\n");
        assert_eq!((received.output.map(|output| output.rows), sent.output.is_none()), (Some(1), true));
        assert_eq!((received.matched_keys, received.groups), (None, None));
        assert_eq!((&received.payload_columns, &received.revealed), (&sent.payload_columns, &sent.revealed));
        assert_eq!(received.payload_columns, ["id", "amount"]);
        assert!(received.revealed[0].contains("the sender's rows"), "{:?}", received.revealed);
        assert_eq!(received.choice, "the only one that both sides allow");
    }
}

#[test]
fn columns_that_differ_are_named_on_both_sides() {
    let (received, sent) = failures(TASK, |config| {
        gives(config);
        if config.role == Role::Receiver {
            config.settings.expected_payload = Some(vec!["points".into()]);
        }
    });
    for failure in [received, sent] {
        assert!(failure.code == 7 && failure.fault.contains("--payload is "), "{failure}");
        assert!(failure.fault.contains("points") && failure.fault.contains("id, amount"), "{failure}");
    }
}

#[test]
fn sides_of_different_tasks_name_the_task_and_read_nothing_of_each_other() {
    let folder = Folder::new();
    let mut sender = folder.config(Role::Sender, TASK);
    gives(&mut sender);
    let (received, sent) = both(folder.config(Role::Receiver, "cardinality"), sender);
    for failure in [received.expect_err("refused"), sent.expect_err("refused")] {
        assert!(failure.code == 7 && failure.fault.contains("--task is "), "{failure}");
        assert!(
            failure.fault.contains(TASK) && failure.fault.contains("cardinality") && !failure.fault.contains("amount"),
            "{failure}"
        );
    }
}

#[test]
fn what_the_toy_task_does_not_take_is_refused_at_once() {
    let folder = Folder::new();
    let sender = Config { wait: Duration::ZERO, ..folder.config(Role::Sender, TASK) };
    let failure = run(&sender, &Interrupt::default(), &Silent).expect_err("no columns");
    assert!(failure.code == 2 && failure.fault.contains("new rows need columns"), "{failure}");
}

#[test]
fn the_functionality_holds_for_new_rows_alone() {
    let sent = IntersectSenderInput { items: vec![1, 2, 3], payloads: b"aabbcc".to_vec() };
    let asked = IntersectReceiverInput { items: vec![2, 9] };
    NewRows::holds(&sent, &asked, &(), &b"aacc".to_vec()).expect("the new ones");
    assert!(NewRows::holds(&sent, &asked, &(), &b"aabbcc".to_vec()).is_err());
}
