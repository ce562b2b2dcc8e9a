//! Task: many oblivious PRFs, each evaluated by the receiver once.

use std::collections::HashSet;

use vesica_party::{Security, Task};
use vesica_structures::facts::Unsupported;
use zeroize::Zeroize;

use super::PrfOutputs;

/// Batched single-point OPRF: a function for each instance. The receiver learns each at one key,
/// the sender evaluates them where it likes.
#[derive(Debug)]
pub struct BatchPrf;

/// Random 1-of-`2^k` OT: [`BatchPrf`] with keys of few bits, which choose among as many messages. The
/// sender makes the messages that it asks for. A corrupt party may choose its own outputs.
#[derive(Debug)]
pub struct OneOfNOt;

/// How many instances, and how often they are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchPrfRequest {
    /// Instances, each of which has a key.
    pub instances: usize,
    /// Bits of a key, the low ones of a block (`k`).
    pub key_bits: u32,
    /// The sender's evaluations, of all instances together.
    pub evaluations: usize,
    /// Evaluations of all such functions in the run of the whole protocol, these among them: they
    /// share the budget for two keys that one instance cannot tell apart.
    pub evaluations_in_all: usize,
    /// Blocks of 128 bits of an output.
    pub blocks: usize,
    /// Against which parties.
    pub security: Security,
}

/// Where the sender evaluates: instance `instances[i]` at `keys[i]`. Wiped on drop.
#[derive(Clone, Default)]
pub struct Evaluations {
    /// The instance of each evaluation.
    pub instances: Vec<u32>,
    /// The key of each evaluation.
    pub keys: Vec<u128>,
}

impl Evaluations {
    /// Refuses an input that is not of the agreed size, or names instances that do not exist.
    pub(crate) fn check(&self, request: &BatchPrfRequest) -> Result<(), Unsupported> {
        let BatchPrfRequest { instances, evaluations, .. } = *request;
        let there = self.instances.iter().all(|&instance| (instance as usize) < instances);
        Self::check_width(&self.keys, request)?;
        if self.keys.len() == evaluations && self.instances.len() == evaluations && there {
            return Ok(());
        }
        Err(Unsupported::new(
            format_args!("{} keys to evaluate {} of {instances} instances at", self.keys.len(), self.instances.len()),
            format_args!("give {evaluations} of both, as agreed"),
        ))
    }

    /// Refuses keys with more bits than agreed.
    pub(crate) fn check_width(keys: &[u128], request: &BatchPrfRequest) -> Result<(), Unsupported> {
        let all = keys.iter().fold(0, |all, key| all | key);
        if all.checked_shr(request.key_bits).unwrap_or(0) == 0 {
            return Ok(());
        }
        Err(Unsupported::new("a key of more bits than agreed", format_args!("give {} bits", request.key_bits)))
    }
}

impl Drop for Evaluations {
    fn drop(&mut self) {
        self.keys.zeroize();
        self.instances.zeroize();
    }
}

impl std::fmt::Debug for Evaluations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Evaluations(..)")
    }
}

impl Task for BatchPrf {
    const NAME: &'static str = "batch-oprf";
    type Request = BatchPrfRequest;
    type SenderInput = Evaluations;
    type ReceiverInput = Vec<u128>;
    type SenderOutput = PrfOutputs;
    type ReceiverOutput = PrfOutputs;

    /// Both sides agree where their keys do; different keys, instances and blocks have different
    /// values.
    fn holds(sent: &Evaluations, asked: &Vec<u128>, sender: &PrfOutputs, receiver: &PrfOutputs) -> Result<(), String> {
        let blocks = match (sent.keys.len(), asked.len()) {
            (0, 0) => 0,
            (0, asked) => receiver.values.len() / asked,
            (evaluated, _) => sender.values.len() / evaluated,
        };
        if sender.values.len() != blocks * sent.keys.len() || receiver.values.len() != blocks * asked.len() {
            return Err(format!("{} and {} values of {blocks} blocks", sender.values.len(), receiver.values.len()));
        }
        let mut seen: HashSet<u128> = receiver.values.iter().copied().collect();
        if seen.len() != receiver.values.len() {
            return Err("two of the receiver's values are equal".into());
        }
        let mut evaluated = HashSet::new();
        for block in 0..blocks {
            let (ours, theirs) = (&sender.values[block * sent.keys.len()..], &receiver.values[block * asked.len()..]);
            for (i, (&instance, &key)) in sent.instances.iter().zip(&sent.keys).enumerate() {
                let common = asked[instance as usize] == key;
                if common != (ours[i] == theirs[instance as usize]) {
                    return Err(format!(
                        "block {block} of evaluation {i}: the keys are {}equal, the values otherwise",
                        if common { "" } else { "un" }
                    ));
                }
                if evaluated.insert((block, instance, key)) && !common && !seen.insert(ours[i]) {
                    return Err(format!("block {block} of evaluation {i} has the value of another one"));
                }
            }
        }
        Ok(())
    }
}

impl Task for OneOfNOt {
    const NAME: &'static str = "one-of-n-ot";
    type Request = BatchPrfRequest;
    type SenderInput = Evaluations;
    type ReceiverInput = Vec<u128>;
    type SenderOutput = PrfOutputs;
    type ReceiverOutput = PrfOutputs;

    fn holds(sent: &Evaluations, asked: &Vec<u128>, sender: &PrfOutputs, receiver: &PrfOutputs) -> Result<(), String> {
        BatchPrf::holds(sent, asked, sender, receiver)
    }
}
