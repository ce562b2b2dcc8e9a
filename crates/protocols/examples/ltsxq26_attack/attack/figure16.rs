//! Figure 16 up to its generic part, both parties in one place: the pieces are those of the rows, and what the receiver is sent is kept.

use vesica_party::{Protocol, Security};
use vesica_protocols::psi::ltsxq26::{Ltsxq26, View};
use vesica_protocols::tasks::IntersectRequest;
use vesica_structures::facts::{FailureEvent, ceil_log2};
use vesica_structures::fields::Gf128;
use vesica_structures::hashing::{CuckooTable, Positions, cuckoo_bins};
use vesica_structures::okvs::{FreeCells, Okvs};
use vesica_structures::prf::DigestPrf;
use vesica_structures::rng::SecretRng;

use super::bins::{BinsView, Place, Shown};
use super::scene::Scene;
use super::{Line, Narrow, lines_of};

/// What the receiver holds before the generic part.
pub struct Figure16<V: Narrow> {
    /// That of step 4, without masks.
    psi: View<V>,
    positions: Positions,
    keys: [DigestPrf; 3],
    /// `T_Y`, without its dummies.
    own: Vec<Option<u128>>,
    hint_store: V::Okvs,
    hint: Vec<Gf128>,
    /// Bits of `r_i`.
    tag_bits: u32,
}

/// The payload of an item of the sender.
pub fn payload(item: u128) -> u64 {
    (item >> 64) as u64
}

/// Steps 1 to 7.
pub fn figure_16<V: Narrow>(scene: &Scene, seed: u64) -> Figure16<V> {
    let mut rng = SecretRng::insecure_from_seed(seed);
    // Steps 1 and 2.
    let bins = cuckoo_bins(scene.asked.len(), FailureEvent::HashTable.bits()).expect("sizes that are served");
    let positions = Positions::new(rng.block(), bins);
    let keys = [(); 3].map(|()| DigestPrf::new(rng.block()));
    let key_of = |choice: usize, item: u128| {
        let mut key = [0];
        keys[choice].eval(&[item], &mut key);
        key[0]
    };
    let table = CuckooTable::build(&positions.of(&scene.asked), bins).expect("a table");
    let own: Vec<Option<u128>> =
        (0..bins).map(|bin| table.bin(bin).map(|entry| key_of(entry.choice as usize, scene.asked[entry.item as usize]))).collect();
    // Step 3.
    let entries: Vec<(Place, u128)> = scene
        .sent
        .iter()
        .zip(positions.of(&scene.sent))
        .flat_map(|(&item, bins)| [0, 1, 2].map(|choice| (Place { bin: bins[choice], key: key_of(choice, item) }, item)))
        .collect();
    let sent_keys: Vec<u128> = entries.iter().map(|(place, _)| place.key).collect();

    // Step 4: Figure 14 on the tables, up to its masks. `l` is that of 3 n_s and m items, and the mask as long as the hint needs.
    let request = IntersectRequest {
        sender_items: sent_keys.len(),
        receiver_items: bins,
        security: Security::SemiHonest,
        payload_bytes: 0,
        both_learn: false,
    };
    let mut params = <Ltsxq26<V> as Protocol>::derive(&request).expect("sizes that are served");
    params.mask_bits = 128;
    let width = params.width;
    let transfers: Vec<[u128; 2]> = (0..width).map(|_| [rng.block(), rng.block()]).collect();
    let (r, omega) = (rng.block(), rng.block());
    let store = V::Okvs::new(bins, FailureEvent::Encoding.bits(), r).expect("sizes that are served");
    let zeros = vec![Gf128(0); store.len()];
    let mut psi = View { params, transfers, tau: None, r, table: zeros, omega, masks: Vec::new() };
    let asked_keys: Vec<u128> = own.iter().map(|key| key.unwrap_or_else(|| rng.block())).collect();
    // Below a table of zeros, delta is D.
    let d = psi.a_and_delta(&asked_keys).expect("sizes of the run").1;
    psi.table = store.encode(&asked_keys, &d, FreeCells::Random(&mut rng)).expect("a table");
    // `l` bits a cell are sent.
    psi.table.iter_mut().for_each(|cell: &mut Gf128| cell.0 &= u128::MAX >> (128 - width));
    // The sender has c_i twice where the receiver has a_i and b_i: its "A" is C, and its "delta" is Decode(P, x).
    let s = rng.block() & (u128::MAX >> (128 - width));
    let transfers = psi.transfers.iter().enumerate().map(|(i, pair)| [pair[(s >> i & 1) as usize]; 2]).collect();
    let of_sender = View::<V> { params: psi.params.clone(), transfers, tau: None, r, table: psi.table.clone(), omega, masks: Vec::new() };
    let (mut inputs, decoded) = of_sender.a_and_delta(&sent_keys).expect("sizes of the run");
    inputs.iter_mut().zip(&decoded).for_each(|(input, decoded)| input.0 ^= decoded.0 & s);
    let masks = of_sender.masks_of(&inputs, &sent_keys);

    // Steps 5 and 6.
    let tag_bits = 40 + ceil_log2(bins);
    let secrets: Vec<(u64, u64)> = (0..bins).map(|_| ((rng.block() as u64) >> (64 - tag_bits), rng.block() as u64)).collect();
    let value = |((place, item), mask): (&(Place, u128), &u128)| {
        let (tag, tau) = secrets[place.bin as usize];
        Gf128(truncate(*mask, tag_bits) ^ u128::from(tag) ^ u128::from(payload(*item) ^ tau) << tag_bits)
    };
    let values: Vec<Gf128> = entries.iter().zip(&masks).map(value).collect();
    let hint_store = V::Okvs::new(sent_keys.len(), FailureEvent::Encoding.bits(), rng.block()).expect("sizes that are served");
    let hint = hint_store.encode(&sent_keys, &values, FreeCells::Random(&mut rng)).expect("a hint");
    Figure16 { psi, positions, keys, own, hint_store, hint, tag_bits }
}

/// The bits of a mask that the hint uses: those of `r_i` and of a payload of 64 bits.
fn truncate(mask: u128, tag_bits: u32) -> u128 {
    mask & (u128::MAX >> (128 - tag_bits - 64))
}

impl<V: Narrow> BinsView for Figure16<V> {
    fn width(&self) -> u32 {
        self.psi.params.width as u32
    }

    fn places(&self, items: &[u128]) -> Vec<[Place; 3]> {
        let mut keys = [(); 3].map(|()| vec![0; items.len()]);
        self.keys.iter().zip(&mut keys).for_each(|(prf, keys)| prf.eval(items, keys));
        let place = |(i, bins): (usize, [u32; 3])| [0, 1, 2].map(|choice: usize| Place { bin: bins[choice], key: keys[choice][i] });
        self.positions.of(items).into_iter().enumerate().map(place).collect()
    }

    fn lines(&self, keys: &[u128]) -> Vec<Line> {
        lines_of(&self.psi, keys)
    }

    fn show(&self, keys: &[u128], inputs: &[u128], shown: &mut [Shown]) {
        let inputs: Vec<Gf128> = inputs.iter().copied().map(Gf128).collect();
        let masks = self.psi.masks_of(&inputs, keys);
        let mut hints = vec![Gf128(0); keys.len()];
        self.hint_store.decode(&self.hint, keys, &mut hints);
        for ((shown, hint), mask) in shown.iter_mut().zip(&hints).zip(&masks) {
            let value = hint.0 ^ truncate(*mask, self.tag_bits);
            *shown = Shown { tag: value as u64 & (u64::MAX >> (64 - self.tag_bits)), payload: (value >> self.tag_bits) as u64 };
        }
    }

    fn own(&self) -> &[Option<u128>] {
        &self.own
    }
}
