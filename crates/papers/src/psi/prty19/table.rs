//! `spot-low:okvs=clustered`: a table of the clustered OKVS instead of the polynomial, part by part.

use vesica_mpc::oprf;
use vesica_party::{Abort, Channel, Phase};
use vesica_structures::facts::{FailureEvent, Unsupported};
use vesica_structures::fields::Bits512;
use vesica_structures::okvs::{Arrangement, Clustered, FreeCells, Okvs};
use vesica_structures::polynomial::Row;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::bins::Bins;
use super::keys::Collected;
use super::low::{self, Arranged};
use super::messages::Table;
use super::rows::{ReceiverRows, SenderRows};
use vesica_protocols::psi::finish;

/// The table of so many items of the receiver.
pub(super) fn store(receiver_items: usize, seed: u128) -> Result<Clustered, Unsupported> {
    Clustered::new(receiver_items, FailureEvent::Encoding.bits(), seed)
}

/// The items as the table's keys; the place of a key is that of its row.
fn arrange(okvs: &Clustered, items: &[u128], bins: &Bins) -> Arrangement {
    let keys = Secret::new(bins.order.iter().map(|&item| items[item as usize]).collect::<Vec<u128>>());
    okvs.arrange(&keys)
}

/// Step 2 of the right column: sends the table, and keeps the tags, proofs and keys of its own items.
pub(super) fn send_table(
    rows: &ReceiverRows<'_>,
    bins: usize,
    items: &[u128],
    collected: &mut Collected<finish::Receiver>,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<(), Abort> {
    let Arranged { bins, rows: differences, .. } = low::receiver_rows(rows, bins, items, collected, ch);

    // Step 2: P with Decode(P, y) = R(y), each part sent as soon as it is there.
    let _phase = ch.phase(Phase::Encode);
    let okvs = store(items.len(), rows.keys.table)?;
    let keys = arrange(&okvs, items, &bins);
    let values: Secret<Vec<Bits512>> = Secret::new(keys.arranged(bytemuck::cast_slice(&differences)));
    drop(differences);
    // Nothing masks the table: only with random free cells is it uniform.
    let (free, width) = (FreeCells::Random(rng), rows.params.width);
    oprf::table::encode_and_send_vartime::<Table, Bits512>(&okvs, (&keys, &values[..]), free, |_, _| (), width, ch)
}

/// Step 2 of the left column: decodes the parts as they come, and keeps the tags, proofs and keys of
/// its own items.
pub(super) fn evaluate_table(
    rows: &SenderRows<'_>,
    bins: usize,
    items: &[u128],
    collected: &mut Collected<finish::Sender>,
    ch: &mut Channel,
) -> Result<(), Abort> {
    let own = corrected_rows(rows, bins, items, ch)?;
    // Step 3, the sender's side of it: H(Q(x) + s Decode(P, x)).
    low::hash_sender_rows(rows, &own, collected, ch);
    Ok(())
}

/// The rows `Q(x) + s Decode(P, x)`, each with its item's coordinate.
pub(super) fn corrected_rows(
    rows: &SenderRows<'_>,
    bins: usize,
    items: &[u128],
    ch: &mut Channel,
) -> Result<Arranged, Abort> {
    // Step 2: the rows Q(x).
    let mut own = low::sender_rows(rows, bins, items, ch);

    // Step 2: Q(x) + s Decode(P, x).
    let _phase = ch.phase(Phase::Decode);
    let okvs = store(rows.params.finish.receiver_items, rows.keys.table)?;
    let keys = arrange(&okvs, items, &own.bins);
    // Zeroed by the allocator, so that memory follows what has come.
    let mut table = vec![Row::default(); okvs.len()];
    let mut decoded = Secret::new(Vec::new());
    for (part, place) in okvs.parts().into_iter().enumerate() {
        let cells: &mut [Bits512] = bytemuck::cast_slice_mut(&mut table[place]);
        oprf::table::receive::<Table, Bits512>(cells.len(), rows.params.width, ch, |place, received| {
            cells[place].copy_from_slice(received);
        })?;
        let range = keys.part(part);
        decoded.resize(range.len(), Bits512::default());
        okvs.decode_part(bytemuck::cast_slice(&table), &keys, part, &mut decoded);
        for (&place, value) in keys.places()[range].iter().zip(decoded.iter()) {
            let place = place as usize;
            rows.correct(&mut own.rows[place], &value.0, own.hashed.coordinates[place]);
        }
    }
    Ok(own)
}

#[cfg(test)]
mod tests {
    use vesica_party::{Security, Stream};
    use vesica_testkit::{assert_uniform, transcript_of};

    use vesica_party::Row;

    use super::super::{Prty19, SpotLow};
    use super::*;
    use vesica_protocols::tasks::{IntersectReceiverInput, IntersectRequest, IntersectSenderInput};

    /// With zeros in its free cells, half of all, it would show which cells the items take.
    #[test]
    fn the_table_looks_random() {
        let request = IntersectRequest {
            sender_items: 1,
            receiver_items: 40,
            security: Security::SemiHonest,
            payload_bytes: 0,
            both_learn: false,
            runs: 1,
        };
        let sent = IntersectSenderInput { items: vec![7 << 100], payloads: Vec::new() };
        let asked = IntersectReceiverInput { items: (0..40).map(|item| item << 100 | 1).collect() };
        let spot_low = Row::<Prty19<SpotLow>>::chosen("okvs=clustered").expect("a variant");
        let transcript = transcript_of(spot_low, &request, sent, asked);
        let table = transcript.of(Table::STEP.protocol, Table::STEP.number);
        let cells = store(40, 0).expect("a table").len();
        assert_eq!(table.len(), (396 * cells).div_ceil(8), "{cells} cells of 396 bits");
        assert_uniform(&table, "the table");
    }
}
