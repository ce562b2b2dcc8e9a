//! Time and bytes of a union beside those of the circuit PSI that it stands on.

use std::time::Instant;

use vesica_papers::union::cssw25::Cssw25;
use vesica_party::{Abort, Channel, Party, Protocol, Security, Task};
use vesica_protocols::circuit_psi::vole::VesicaCircuit;
use vesica_protocols::membership::Membership;
use vesica_protocols::tasks::{SharesRequest, Union};
use vesica_protocols::union::vesica_union::VesicaUnion;
use vesica_structures::rng::SecretRng;
use vesica_testkit::{Side, try_two_party};

use crate::inputs::{shares_inputs, union_inputs, union_request};

/// A party on a thread of its own.
fn one_thread<T: Send>(
    party: impl FnOnce(&mut Channel, &mut SecretRng) -> Result<T, Abort> + Send,
) -> impl FnOnce(&mut Channel, &mut SecretRng) -> Result<T, Abort> + Send {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    move |ch, rng| pool.install(|| party(ch, rng))
}

fn print<T>(side: &str, done: &Side<T>) {
    let phases = done.tally.phases.iter().map(|(phase, of)| format!("{} {:.2}", phase.name(), of.seconds));
    let phases = phases.collect::<Vec<_>>().join(", ");
    eprintln!("  {side}: {} bytes sent; {phases}", done.tally.total().sent_payload);
}

fn measure<P: Protocol>(
    request: &<P::Task as Task>::Request,
    (sent, asked): (<P::Task as Task>::SenderInput, <P::Task as Task>::ReceiverInput),
) -> f64 {
    let params = P::derive(request).unwrap();
    let start = Instant::now();
    let (sender, receiver) = try_two_party(
        one_thread(|ch, rng| P::Sender::setup(&params, ch, rng)?.run(sent, ch, rng).map(drop)),
        one_thread(|ch, rng| P::Receiver::setup(&params, ch, rng)?.run(asked, ch, rng).map(drop)),
    );
    let seconds = start.elapsed().as_secs_f64();
    let bytes = sender.tally.total().sent_payload + receiver.tally.total().sent_payload;
    eprintln!("{}: {seconds:.2} s, {bytes} bytes", P::ENTRY.id);
    print("sender", &sender);
    print("receiver", &receiver);
    sender.result.and(receiver.result).unwrap();
    seconds
}

/// Prints what docs/parameters/union.md says of 2^20 items a side.
#[test]
#[ignore = "measures: cargo test --release --locked --workspace --test all -- --ignored --nocapture beside_circuit_psi"]
fn a_union_of_a_million_beside_circuit_psi() {
    let (n, security) = (1 << 20, Security::SemiHonest);
    for _ in 0..3 {
        let request = SharesRequest {
            sender_items: n,
            receiver_items: n,
            security,
            sender_payload_bytes: 0,
            receiver_payload_bytes: 0,
        };
        let of_circuit = measure::<VesicaCircuit>(&request, shares_inputs(&request, n / 2));
        let request = union_request(n, n, 16, security);
        let of_union = measure::<VesicaUnion>(&request, union_inputs(&request, n / 2, 1));
        let as_printed = measure::<Membership<Cssw25, Union>>(&request, union_inputs(&request, n / 2, 1));
        eprintln!(
            "a union takes {:.2} times as long, {:.2} times as printed",
            of_union / of_circuit,
            as_printed / of_circuit
        );
    }
}
