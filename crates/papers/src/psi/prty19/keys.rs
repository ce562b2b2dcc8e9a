//! The functions of items, all keyed by the salt, and what follows from a row.

use rand_core::Rng;
use vesica_party::{Abort, Channel};
use vesica_structures::fields::Bits256;
use vesica_structures::ot_rows::{hash_items, hash_rows};
use vesica_structures::polynomial::Row;
use vesica_structures::prf::DigestPrf;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{ReceiverSalt, Salt};
use super::params::{Layout, Oracle, Params};
use vesica_protocols::psi::finish::{self, StoredOutputs};

/// Separates the keystreams of payloads from those of other protocols.
const DOMAIN: &[u8; 16] = b"spot-light paylo";

/// The public functions of a run.
#[derive(Debug)]
pub(super) struct Keys {
    layout: Layout,
    /// The numbers that turn an item `x` into `x || b`, one for each `b`: they are added to the
    /// item.
    choices: [u128; 2],
    bins: DigestPrf,
    inputs: DigestPrf,
    coordinates: DigestPrf,
    /// The keys of tag, proof and payload key.
    outputs: [[u8; 32]; 3],
    /// The seed of the table's rows.
    pub(super) table: u128,
    /// The key of the hash that takes the place of `inputs` and `coordinates`, where it is to be a random oracle.
    oracle: Option<[u8; 32]>,
}

/// Which output of the OPRF.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// The output that the sender sends for each item.
    Tag = 0,
    /// The output that the receiver returns for each match.
    Proof = 1,
    /// The key of a payload's keystream.
    PayloadKey = 2,
}

/// Hashes of items: where the rows and the polynomials are evaluated.
pub(super) struct Hashed {
    /// The 128 bits that select rows of the bin.
    pub(super) inputs: Secret<Vec<u128>>,
    /// The place at which a polynomial is evaluated; its top bit is set, so that it is in no space
    /// of a transform. What `H` takes of the item, too.
    pub(super) coordinates: Secret<Vec<u64>>,
    /// A second coordinate.
    pub(super) slopes: Secret<Vec<u64>>,
}

impl Keys {
    /// The sender's side of arrow 1.
    pub(super) fn of_sender(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let salt = match params.oracle {
            Oracle::Prf => {
                let salt = draw(rng);
                ch.send(&Salt(salt))?;
                salt
            }
            Oracle::Random => {
                let ReceiverSalt(salt) = ch.recv(())?;
                salt
            }
        };
        Ok(Self::derive(params, ch, &salt))
    }

    /// The receiver's.
    pub(super) fn of_receiver(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        let salt = match params.oracle {
            Oracle::Prf => {
                let Salt(salt) = ch.recv(())?;
                salt
            }
            // A sender that drew it could search for a salt under which the items that it guesses stop the run.
            Oracle::Random => {
                let salt = draw(rng);
                ch.send(&ReceiverSalt(salt))?;
                salt
            }
        };
        Ok(Self::derive(params, ch, &salt))
    }

    fn derive(params: &Params, ch: &Channel, salt: &[u8; 32]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("vesica v1 spot-light 2026 salt to keys");
        let mut keys = hasher.update(&ch.session()).update(&params.fingerprint()).update(salt).finalize_xof();
        let mut blocks = [[0; 16]; 5];
        keys.fill(blocks.as_flattened_mut());
        let [zero, one, bins, inputs, coordinates] = blocks.map(u128::from_le_bytes);
        let mut outputs = [[0; 32]; 3];
        keys.fill(outputs.as_flattened_mut());
        let mut table = [0; 16];
        keys.fill(&mut table);
        let table = u128::from_le_bytes(table);
        let oracle = (params.oracle == Oracle::Random).then(|| {
            let mut key = [0; 32];
            keys.fill(&mut key);
            key
        });
        let [bins, inputs, coordinates] = [bins, inputs, coordinates].map(DigestPrf::new);
        Self { layout: params.layout, choices: [zero, one], bins, inputs, coordinates, outputs, table, oracle }
    }

    /// The bins of each item, of which [`Layout::choices`] count.
    pub(super) fn positions(&self, items: &[u128]) -> Vec<[u32; 2]> {
        let mut bits = Secret::new(vec![0; items.len()]);
        self.bins.eval(items, &mut bits);
        match self.layout {
            Layout::Fast(table) => bits.iter().map(|&bits| table.positions(bits)).collect(),
            Layout::Low { bins } | Layout::Table { bins } => {
                bits.iter().map(|&bits| [((bits as u64 as u128 * bins as u128) >> 64) as u32, 0]).collect()
            }
        }
    }

    /// The hashes of `x || b` for each evaluation.
    pub(super) fn hash(&self, items: &[u128], evaluations: &[u32]) -> Hashed {
        let extended = |&evaluation: &u32| {
            let (item, choice) = self.layout.item_and_choice(evaluation);
            items[item] ^ self.choices[choice]
        };
        let extended = Secret::new(evaluations.iter().map(extended).collect::<Vec<u128>>());
        if let Some(key) = &self.oracle {
            let mut hashed = Secret::new(vec![Bits256::default(); extended.len()]);
            hash_items(key, &extended, &mut hashed);
            return Hashed {
                inputs: Secret::new(
                    hashed.iter().map(|&Bits256([a, b, ..])| u128::from(b) << 64 | u128::from(a)).collect(),
                ),
                coordinates: Secret::new(hashed.iter().map(|hash| hash.0[2] | 1 << 63).collect()),
                slopes: Secret::new(hashed.iter().map(|hash| hash.0[3]).collect()),
            };
        }
        let mut hashed = Secret::new(vec![0; extended.len()]);
        self.coordinates.eval(&extended, &mut hashed);
        let coordinates = Secret::new(hashed.iter().map(|&hash| hash as u64 | 1 << 63).collect());
        let slopes = Secret::new(hashed.iter().map(|&hash| (hash >> 64) as u64).collect());
        self.inputs.eval(&extended, &mut hashed);
        Hashed { inputs: hashed, coordinates, slopes }
    }

    /// `part` of the output of each row.
    pub(super) fn output(&self, part: Part, rows: &[Row]) -> Secret<Vec<u128>> {
        let mut out = Secret::new(vec![0; rows.len()]);
        hash_rows(&self.outputs[part as usize], rows, &mut out);
        out
    }
}

fn draw(rng: &mut SecretRng) -> [u8; 32] {
    let mut salt = [0; 32];
    rng.fill_bytes(&mut salt);
    salt
}

/// The outputs of some evaluations.
pub(super) struct OprfOutputs {
    pub(super) tags: Secret<Vec<u128>>,
    pub(super) proofs: Secret<Vec<u128>>,
    pub(super) payload_keys: Secret<Vec<u128>>,
}

impl OprfOutputs {
    /// The outputs that the run asks for.
    pub(super) fn of(keys: &Keys, params: &Params, rows: &[Row]) -> Self {
        let wanted = |part, wanted: bool| keys.output(part, if wanted { rows } else { &[] });
        Self {
            tags: keys.output(Part::Tag, rows),
            proofs: wanted(Part::Proof, params.finish.both_learn),
            payload_keys: wanted(Part::PayloadKey, params.finish.payload_bytes > 0),
        }
    }
}

/// The outputs of a party's evaluations, collected as rows are hashed; `T` takes the tags.
pub(super) struct Collected<T> {
    pub(super) tags: T,
    pub(super) stored: StoredOutputs,
}

impl Collected<finish::Sender> {
    /// For the sender.
    pub(super) fn of_sender(params: &Params) -> Self {
        Self {
            tags: finish::Sender::new(&params.finish),
            stored: StoredOutputs::new(&params.finish, params.finish.tags(), DOMAIN),
        }
    }

    /// Takes the outputs of some evaluations.
    pub(super) fn add(&mut self, outputs: &OprfOutputs, numbers: impl Iterator<Item = u32> + Clone) {
        self.tags.add(&outputs.tags, numbers.clone());
        self.stored.put(&outputs.proofs, &outputs.payload_keys, numbers);
    }
}

impl Collected<finish::Receiver> {
    /// For the receiver.
    pub(super) fn of_receiver(params: &Params) -> Self {
        let items = params.finish.receiver_items;
        Self { tags: finish::Receiver::new(&params.finish), stored: StoredOutputs::new(&params.finish, items, DOMAIN) }
    }

    /// Takes the outputs of some items.
    pub(super) fn add(&mut self, outputs: &OprfOutputs, numbers: impl Iterator<Item = u32> + Clone) {
        self.tags.add(&outputs.tags, numbers.clone());
        self.stored.put(&outputs.proofs, &outputs.payload_keys, numbers);
    }
}
