//! One pass of a run against a malicious partner, and what its worker leaves for that of the next.
//!
//! What is left is secret: whoever has it knows the pseudo-random function's values of all keys of the bucket. It is
//! encrypted under a key that the driver keeps, and that is in files for as long as a ticket is. Beside it stands a
//! hash of the keys and payloads that the pass was taken on: a later pass on others is refused. With other payloads under
//! the same keystream, the sender would show the receiver their difference.

use vesica_party::{Abort, Channel};
use vesica_protocols::passes::{Compare, InPasses};
use vesica_protocols::tasks::{
    Intersect, IntersectReceiverInput, IntersectReceiverOutput, IntersectRequest, IntersectSenderOutput,
};
use vesica_structures::fields::Gf128;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Stage;
use super::seal::seal_of;
use super::worker::{Done, Input, received, unknown};
use crate::failure::{Failure, code};
use crate::spill::Seal;

/// Which of the receiver's items matched in the second pass: a bit an item, as many whatever matched.
pub(super) struct Matched(Vec<u8>);

impl Matched {
    pub fn of(matches: &[u32], items: usize) -> Self {
        let mut bits = vec![0; items.div_ceil(8)];
        for &place in matches {
            if let Some(byte) = bits.get_mut(place as usize / 8) {
                *byte |= 1 << (place % 8);
            }
        }
        Self(bits)
    }

    fn places(&self) -> Vec<u32> {
        let set = |(at, &byte): (usize, &u8)| {
            (0..8).filter(move |bit| byte >> bit & 1 == 1).map(move |bit| (8 * at + bit) as u32)
        };
        self.0.iter().enumerate().flat_map(set).collect()
    }
}

/// What the worker of a pass leaves for that of the next.
pub(super) struct LeftState {
    /// Of the keys and payloads that the pass was taken on.
    input: [u8; 32],
    /// [`Compare::keys`].
    keys: Secret<Vec<u8>>,
    /// [`Compare::kept`].
    kept: Secret<Vec<Gf128>>,
    /// After the second pass, if there is a third.
    pub matches: Matched,
}

impl LeftState {
    /// Encrypts it under the key of the attempt.
    pub fn sealed(self, key: &[u8; 32]) -> Result<Vec<u8>, Failure> {
        let Self { input, keys, kept, matches: Matched(matches) } = self;
        // Room for all of it and the seal at once: where it would grow, a copy would be left behind.
        let mut bytes = Vec::with_capacity(32 + 12 + keys.len() + 16 * kept.len() + matches.len() + 16);
        bytes.extend_from_slice(&input);
        for length in [keys.len(), kept.len(), matches.len()] {
            bytes.extend_from_slice(&(length as u32).to_le_bytes());
        }
        bytes.extend_from_slice(&keys);
        kept.iter().for_each(|value| bytes.extend_from_slice(&value.0.to_le_bytes()));
        bytes.extend_from_slice(&matches);
        seal(key)?.seal(&mut bytes).map_err(|error| Failure::new(code::INTERNAL, error, "please report this"))?;
        Ok(bytes)
    }

    /// What was left under this key for a pass on this input.
    pub fn open(sealed: Vec<u8>, key: &[u8; 32], input: &Input) -> Result<Self, Failure> {
        let lost = |what: &str| {
            let mend = "see that all machines read the same files in work=, and that nothing removes or changes them";
            Failure::new(code::INTERNAL, format_args!("what a pass has left cannot be used: {what}"), mend)
        };
        let mut bytes = Secret::new(sealed);
        seal(key)?.open(&mut bytes).map_err(|error| lost(&error.to_string()))?;
        let read = || {
            let (of_input, rest) = bytes.split_first_chunk::<32>()?;
            let (lengths, rest) = rest.split_first_chunk::<12>()?;
            let mut lengths = lengths.as_chunks().0.iter().map(|length| u32::from_le_bytes(*length) as usize);
            let (keys, rest) = rest.split_at_checked(lengths.next()?)?;
            let (kept, matches) = rest.split_at_checked(16 * lengths.next()?)?;
            let kept = kept.as_chunks().0.iter().map(|value| Gf128(u128::from_le_bytes(*value)));
            let of_lengths = matches.len() == lengths.next()?;
            of_lengths.then(|| Self {
                input: *of_input,
                keys: Secret::new(keys.to_vec()),
                kept: Secret::new(kept.collect()),
                matches: Matched(matches.to_vec()),
            })
        };
        let state = read().ok_or_else(|| lost("it is cut off"))?;
        match state.input == hash(input) {
            true => Ok(state),
            false => Err(lost("it is of other keys or payloads")),
        }
    }

    /// What the first pass has left, once more for the third.
    fn again(&self) -> Self {
        let (keys, kept) = (Secret::new(self.keys.to_vec()), Secret::new(self.kept.to_vec()));
        Self { input: self.input, keys, kept, matches: Matched(Vec::new()) }
    }
}

fn seal(key: &[u8; 32]) -> Result<Seal, Failure> {
    seal_of("vesica 2026-11-29 seal of what a pass leaves on a cluster v1", key, &[])
}

/// A hash of the items and payloads, in their order.
fn hash(input: &Input) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-29 input of a pass on a cluster v1");
    let mut items = |items: &[u128]| {
        hasher.update(&(items.len() as u64).to_le_bytes());
        items.iter().for_each(|item| _ = hasher.update(&item.to_le_bytes()));
    };
    match input {
        Input::Items(own) => items(own),
        Input::Payloads(sent) => {
            items(&sent.items);
            hasher.update(&sent.payloads);
        }
        Input::Values(sent) => items(&sent.items),
        Input::Asked(asked) => items(&asked.items),
        Input::Own(own) => items(&own.items),
        Input::Keys(sent) => items(&sent.items),
    }
    *hasher.finalize().as_bytes()
}

/// Takes a pass of a protocol; `left` is what the one before has left.
pub(super) fn take(
    row: &dyn InPasses<Intersect>,
    request: &IntersectRequest,
    (stage, both_learn): (Stage, bool),
    input: Input,
    left: Option<LeftState>,
    ch: &mut Channel,
    rng: &mut SecretRng,
) -> Result<Done, Abort> {
    let of_input = hash(&input);
    let leaves = |compare: (Option<Secret<Vec<u8>>>, Secret<Vec<Gf128>>)| match compare {
        (Some(keys), kept) => Ok(LeftState { input: of_input, keys, kept, matches: Matched(Vec::new()) }),
        (None, _) => Err(unknown("pass", "of this security")),
    };
    let missing = || unknown("state", "that a pass has left");
    match (stage, input) {
        (Stage::Commit, Input::Payloads(sent)) => {
            let Compare { keys, kept, .. } = row.commit_sender(request, &sent, ch, rng)?;
            Ok(Done { found: None, leaves: Some(leaves((keys, kept))?) })
        }
        (Stage::Commit, Input::Items(items)) => {
            let Compare { keys, kept, .. } =
                row.commit_receiver(request, &IntersectReceiverInput { items }, ch, rng)?;
            Ok(Done { found: None, leaves: Some(leaves((keys, kept))?) })
        }
        (Stage::Compare, Input::Payloads(sent)) => {
            let left = left.ok_or_else(missing)?;
            let leaves = both_learn.then(|| left.again());
            row.sender_again(request, &left.keys, left.kept)?.compare(sent, ch, rng)?;
            Ok(Done { found: None, leaves })
        }
        (Stage::Compare, Input::Items(items)) => {
            let left = left.ok_or_else(missing)?;
            let leaves = both_learn.then(|| left.again());
            let compare = row.receiver_again(request, &left.keys, left.kept)?;
            let found = received(compare.compare(IntersectReceiverInput { items }, ch, rng)?.found())?;
            Ok(Done { leaves, ..found })
        }
        (Stage::Finish, Input::Payloads(sent)) => {
            let left = left.ok_or_else(missing)?;
            let run = row.sender_again(request, &left.keys, left.kept)?;
            let output = run.finish(&sent, IntersectSenderOutput::default(), ch)?;
            Ok(Done::matches(output.matches, Default::default()))
        }
        (Stage::Finish, Input::Items(items)) => {
            let left = left.ok_or_else(missing)?;
            let run = row.receiver_again(request, &left.keys, left.kept)?;
            let found =
                IntersectReceiverOutput { matches: left.matches.places(), ..IntersectReceiverOutput::default() };
            // It has learned all that it learns in the pass before.
            run.finish(&IntersectReceiverInput { items }, found, ch)?;
            Ok(Done::default())
        }
        (Stage::Whole, _) | (_, Input::Values(_) | Input::Asked(_) | Input::Own(_) | Input::Keys(_)) => {
            Err(unknown("pass", "of this kind"))
        }
    }
}
