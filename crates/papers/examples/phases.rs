//! Where the time and the bytes of a protocol go, both parties in one process over memory:
//! `cargo run --release -p vesica-papers --example phases -- vole-fast semi-honest 20`. Values
//! of 64 bits, one an item, where the task takes any.

use std::time::Instant;

use vesica_papers::registry as papers;
use vesica_party::variants::with_variants;
use vesica_party::{ChannelOptions, Registered, Security, Task};
use vesica_protocols::registry;
use vesica_protocols::tasks::{
    AggregateReceiverInput, AggregateRequest, AggregateSenderInput, IntersectReceiverInput, IntersectRequest,
    IntersectSenderInput, SharesInput, SharesRequest,
};
use vesica_structures::rng::SecretRng;
use vesica_testkit::{options, two_party_over};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, id, security, log_n] = arguments.as_slice() else { panic!("phases ID semi-honest|malicious LOG2_ITEMS") };
    let security = if security == "malicious" { Security::Malicious } else { Security::SemiHonest };
    let n: usize = 1 << log_n.parse::<u32>().expect("a number");
    let mut rng = SecretRng::insecure_from_seed(1);
    let items: Vec<u128> = (0..n + n / 2).map(|_| rng.block()).collect();
    let (x, y) = (items[..n].to_vec(), items[n / 2..].to_vec());
    let name = format!("{id}, {security}, 2^{log_n}");
    let total = |columns| AggregateRequest {
        sender_items: n,
        receiver_items: n,
        security,
        columns,
        groups: 1,
        at_least: 0,
        noisy: false,
        runs: 1,
    };
    let values = |columns| vec![7; n * columns];

    let mut joins = with_variants(registry::intersect().iter().chain(papers::intersect()).copied());
    if let Some(row) = joins.find(|row| row.entry().id == id || row.entry().aliases.contains(&id.as_str())) {
        let request = IntersectRequest {
            sender_items: n,
            receiver_items: n,
            security,
            payload_bytes: 0,
            both_learn: false,
            runs: 1,
        };
        let sent = IntersectSenderInput { items: x, payloads: Vec::new() };
        let output = show(&name, n, row, &request, sent, IntersectReceiverInput { items: y });
        println!("  {} matches", output.matches.len());
        return;
    }
    let task = papers::find(id).expect("an id of `vesica protocols`").task;
    if task == "shares" {
        let request = SharesRequest {
            sender_items: n,
            receiver_items: n,
            security,
            sender_payload_bytes: 0,
            receiver_payload_bytes: 0,
        };
        let input = |items| SharesInput { items, payloads: Vec::new() };
        let output = show(&name, n, row_of(registry::shares(), papers::shares(), id), &request, input(x), input(y));
        println!("  {} bins", output.items.len());
        return;
    }
    let (columns, valued) = (usize::from(!task.ends_with("cardinality")), usize::from(task == "join-and-compute"));
    let sent = AggregateSenderInput { items: x, values: values(columns), ..AggregateSenderInput::default() };
    let asked = AggregateReceiverInput { items: y, values: values(valued), groups: Vec::new() };
    let output = match task {
        "cardinality" => {
            show(&name, n, row_of(registry::cardinality(), papers::cardinality(), id), &total(0), sent, asked)
        }
        "union-cardinality" => show(
            &name,
            n,
            row_of(registry::union_cardinality(), papers::union_cardinality(), id),
            &total(0),
            sent,
            asked,
        ),
        "union-sum" => show(&name, n, row_of(registry::union_sum(), papers::union_sum(), id), &total(1), sent, asked),
        "sum" => show(&name, n, row_of(registry::sum(), papers::sum(), id), &total(1), sent, asked),
        "join-and-compute" => show(&name, n, row_of(registry::join_and_compute(), &[], id), &total(1), sent, asked),
        other => panic!("no inputs for the task {other}"),
    };
    println!("  {:?}", output.groups);
}

/// The row of this id or alias.
fn row_of<T: Task>(
    product: &[&'static dyn Registered<T>],
    papers: &[&'static dyn Registered<T>],
    id: &str,
) -> &'static dyn Registered<T> {
    let mut rows = with_variants(product.iter().chain(papers).copied());
    rows.find(|row| row.entry().answers_to(id)).expect("a row of the task")
}

/// Runs a protocol and prints its times and bytes; the receiver's output.
fn show<T: Task>(
    name: &str,
    n: usize,
    row: &'static dyn Registered<T>,
    request: &T::Request,
    sent: T::SenderInput,
    asked: T::ReceiverInput,
) -> T::ReceiverOutput {
    let started = Instant::now();
    let (sender, receiver) = two_party_over(
        vesica_party::transport::memory::pair(),
        ChannelOptions { deadline: None, ..options() },
        |ch, rng| row.sender(request, ch, rng)?.run(sent, ch, rng),
        |ch, rng| row.receiver(request, ch, rng)?.run(asked, ch, rng),
    );
    let seconds = started.elapsed().as_secs_f64();
    let output = receiver.result.expect("the receiver succeeds");
    sender.result.map(drop).expect("the sender succeeds");
    let bytes = sender.tally.total().sent() + receiver.tally.total().sent();
    println!("{name}: {:.0} ms, {bytes} bytes, {:.1} bits an item", seconds * 1e3, bytes as f64 * 8.0 / n as f64);
    for (side, tally) in [("sender", &sender.tally), ("receiver", &receiver.tally)] {
        for (phase, count) in &tally.phases {
            println!("  {side:8} {:12} {:8.1} ms {:10} bytes sent", phase.name(), count.seconds * 1e3, count.sent());
        }
    }
    output
}
