//! Building blocks as the harness measures them: `vesica-lab bench block`. PsiBench exchanges them (its sections 6.2 and 6.3 and
//! its Tables 6 and 7) to see what each costs a protocol.
//!
//! A block that two parties run has its protocols in the registry of the building blocks. What one party computes
//! alone, an OKVS or a filter, is timed together with its way to the other one: the sender makes it and sends it, the
//! receiver looks all its items up.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod alone;
mod primitives;
mod together;

use std::ops::RangeInclusive;

use vesica::task::SampleRun;
use vesica_papers::psi::hfh99::{Koblitz, Montgomery};
use vesica_party::{Abort, Channel, Role};
use vesica_protocols::psi::hfh99::Ristretto;
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;

use crate::Settings;

/// A building block.
pub(crate) trait Block: Sync {
    /// Its name, which a user types.
    fn name(&self) -> &'static str;
    /// Its protocols or kinds.
    fn ids(&self) -> Vec<&'static str>;
    /// Bytes of both sides by the formula of the protocol.
    fn predicted_bytes(&self, id: &str, settings: &Settings) -> Result<RangeInclusive<u64>, Unsupported>;
    /// Sets up one side.
    fn set_up(
        &self,
        id: &str,
        settings: &Settings,
        role: Role,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<SampleRun, Abort>;
}

/// All blocks. Some stand several times, for protocols of other types.
static BLOCKS: &[&dyn Block] = &[
    together::RANDOM_OT,
    together::RANDOM_TABLES,
    together::VOLE_64,
    together::VOLE_128,
    together::OPPRF,
    together::EQUALITY,
    &alone::Okvs,
    &alone::Filter,
    &primitives::Group::<Ristretto>::new("ristretto255"),
    &primitives::Group::<Montgomery>::new("x25519"),
    &primitives::Group::<Koblitz>::new("secp256k1"),
    &primitives::Hash,
];

/// The names of all blocks, each once.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = BLOCKS.iter().map(|block| block.name()).collect();
    names.dedup();
    names
}

/// Whether there is a block of this name.
pub(crate) fn is_block(task: &str) -> bool {
    names().contains(&task)
}

/// The protocols or kinds of the block of this name.
pub(crate) fn ids(task: &str) -> Vec<&'static str> {
    BLOCKS.iter().filter(|block| block.name() == task).flat_map(|block| block.ids()).collect()
}

/// The id of a protocol of the block of this name.
///
/// # Errors
/// If it has no such protocol.
pub(crate) fn id(task: &str, protocol: &str) -> Result<&'static str, Unsupported> {
    let ids = ids(task);
    ids.iter().find(|id| **id == protocol).copied().ok_or_else(|| {
        let mend = format_args!("choose one of {}", ids.join(", "));
        Unsupported::new(format_args!("there is no {protocol:?} of {task}"), mend)
    })
}

/// The block that these settings name.
///
/// # Errors
/// If there is none, or it has no such protocol.
pub(crate) fn find(settings: &Settings) -> Result<&'static dyn Block, Unsupported> {
    let Settings { task, protocol, .. } = settings;
    let id = id(task, protocol)?;
    let block = BLOCKS.iter().find(|block| block.name() == task && block.ids().contains(&id));
    block.copied().ok_or_else(|| Unsupported::new(format_args!("there is no block {task:?}"), "see --help"))
}

vesica_party::arrows! { "vesica-lab-block" =>
    /// What a receiver needs of the sender's outputs to check both, handed over after the clock has stopped.
    stream Told[u8] = 1, Sender, "outputs to be checked";
    /// The cells of a table.
    stream Cells[u128] = 2, Sender, "a table";
    /// The bytes of a filter.
    stream FilterBytes[u8] = 3, Sender, "a filter";
    /// Points of a group.
    stream Points[u8] = 4, Sender, "points";
}

/// The little-endian number in each 16 bytes.
fn blocks(bytes: &[u8]) -> impl Iterator<Item = u128> + '_ {
    let (blocks, _) = bytes.as_chunks::<16>();
    blocks.iter().map(|block| u128::from_le_bytes(*block))
}

#[cfg(test)]
mod tests {
    use vesica_party::Security;

    use super::*;

    /// Every block computes what it should between two parties, in each of its modes.
    #[test]
    fn every_block_is_checked_and_sends_what_its_formula_says() {
        for task in names() {
            for id in ids(task) {
                let mut served = 0;
                for security in [Security::SemiHonest, Security::Malicious] {
                    let settings = Settings::new(task, id, security, 300, 200);
                    let settings = Settings { receiver_items: if task == "opprf" { 200 } else { 300 }, ..settings };
                    let Ok(settings) = settings.checked() else { continue };
                    served += 1;
                    let report = crate::in_process(&settings).unwrap_or_else(|fault| panic!("{task} {id}: {fault}"));
                    assert!(report.correct, "{task} {id} {security}");
                    let [least, most] = report.predicted_bytes;
                    let framing = 4096;
                    assert!(
                        (least..=most + framing).contains(&report.total_bytes),
                        "{task} {id} {security}: {} bytes, {least} to {most} predicted",
                        report.total_bytes
                    );
                }
                assert!(served > 0, "{task} {id}");
            }
        }
    }

    #[test]
    fn unknown_protocols_of_a_block_are_refused() {
        let settings = Settings::new("random-ot", "vole-fast", Security::SemiHonest, 10, 10);
        let refused = settings.checked().expect_err("no such protocol").to_string();
        assert!(refused.contains("no \"vole-fast\" of random-ot"), "{refused}");
        assert!(!is_block("intersect") && is_block("okvs"));
    }
}
