//! The right column of the figure.

use vesica_mpc::bits::Bits;
use vesica_party::{Abort, Channel, Party, Phase, Protocol};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Membership, Payloads};
use super::{Opened, Params};
use vesica_protocols::tasks::{
    IntersectReceiverInput, IntersectReceiverOutput, ReceiverShares, SealedPayloads, SharesInput,
};

/// About how many bytes of payloads are received at a time.
const BYTES_PER_PART: usize = 1 << 18;

/// The receiver, set up.
pub struct Receiver<O: Opened> {
    params: Params<O>,
    circuit: <O::Circuit as Protocol>::Receiver,
}

impl<O: Opened> Party for Receiver<O> {
    type Params = Params<O>;
    type Input = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn setup(params: &Params<O>, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        Ok(Self { params: params.clone(), circuit: Party::setup(&params.circuit, ch, rng)? })
    }

    fn run(
        self,
        input: IntersectReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        let Self { params, circuit } = self;
        input.check(params.receiver_items)?;
        let shares = circuit.run(SharesInput { items: input.items, payloads: Vec::new() }, ch, rng)?;
        let bins = params.bins();
        if bins == 0 {
            return Ok(IntersectReceiverOutput::default());
        }
        let _phase = ch.phase(Phase::Match);
        let ReceiverShares { items, membership, payloads } = shares;
        let own = Secret::new(payloads);
        // Step 1.
        let mut theirs = vec![0; bins.div_ceil(64)];
        ch.recv_stream::<Membership>(&mut theirs)?;
        let mut opened: Bits = membership.into_iter().collect();
        opened ^= &Bits::from_words(theirs, bins);
        let mut is_common = Bits::zeros(params.receiver_items);
        let mut bin_of = vec![0; params.receiver_items];
        for (bin, item) in items.iter().enumerate() {
            if let Some(item) = item.map(|item| item as usize) {
                is_common.set(item, opened.get(bin));
                bin_of[item] = bin;
            }
        }
        // Step 2.
        let width = params.payload_bytes;
        let cells = if width == 0 { Vec::new() } else { receive_cells(&items, params.receiver_items, width, ch)? };
        let matches = list(&is_common);
        if width == 0 {
            return Ok(IntersectReceiverOutput { matches, ..IntersectReceiverOutput::default() });
        }
        let payloads = SealedPayloads::new(
            width,
            cells,
            move || list(&is_common).into_iter().map(|item| (item, item)).collect(),
            move |item, out| out.copy_from_slice(&own[bin_of[item] * width..][..width]),
        );
        Ok(IntersectReceiverOutput { matches, payloads, unread: 0 })
    }
}

/// The places of the ones. The same work whatever they are, for the sender has not taken its leave yet.
fn list(bits: &Bits) -> Vec<u32> {
    // Written before, so that no more memory is touched where more is common.
    let (mut list, mut length) = (vec![u32::MAX; bits.len() + 1], 0);
    for (place, bit) in (0..).zip(bits.iter()) {
        list[length] = place;
        length += usize::from(bit);
    }
    list.truncate(length);
    list
}

/// The sender's shares of payloads, in the order of the receiver's items; those of empty bins come
/// into one cell that nobody reads. The same work whatever matched.
fn receive_cells(
    items: &[Option<u32>],
    receiver_items: usize,
    width: usize,
    ch: &mut Channel,
) -> Result<Vec<u8>, Abort> {
    let mut cells = vec![0; (receiver_items + 1) * width];
    let bins_per_part = (BYTES_PER_PART / width).max(1);
    let mut part = vec![0; bins_per_part.min(items.len()) * width];
    for items in items.chunks(bins_per_part) {
        let part = &mut part[..items.len() * width];
        ch.recv_stream::<Payloads>(part)?;
        for (share, item) in part.chunks_exact(width).zip(items) {
            let cell = item.map_or(receiver_items, |item| item as usize);
            cells[cell * width..][..width].copy_from_slice(share);
        }
    }
    Ok(cells)
}
