//! What both drivers have signed of each wave, and whether it is what a receipt is about.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use vesica_party::transport::tls::PublicKey;

use super::Stage;
use super::messages::Ended;
use crate::bounded::read_text;
use crate::failure::{Failure, code};
use crate::receipt::{Receipt, from_hex, to_hex};

/// Longest file of a wave that is read: it has at most [`MOST_SLOTS`](super::MOST_SLOTS) attempts.
const FILE_LIMIT: u64 = 1 << 21;

/// What a wave came to, and who says so: all that is needed to check the two signatures, beside the keys of a receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commit {
    /// The session of the drivers' conversation, in hexadecimal, as in the receipt.
    pub session: String,
    /// The wave, from 0.
    pub wave: u32,
    /// The pass of which it was a wave; absent where a bucket is run in one go.
    #[serde(default = "whole", skip_serializing_if = "is_whole")]
    pub pass: Stage,
    /// The hash, in hexadecimal, of the commit of the wave before; zeros before the first.
    pub previous: String,
    /// The attempts that were due in this wave, in their order.
    pub attempts: Vec<EndedAttempt>,
    /// The sender's signature, in hexadecimal, under what it kept of these attempts; absent without keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_signature: Option<String>,
    /// The receiver's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_signature: Option<String>,
}

fn whole() -> Stage {
    Stage::Whole
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_whole(stage: &Stage) -> bool {
    *stage == Stage::Whole
}

/// How an attempt at a bucket ended on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndedAttempt {
    /// The bucket's number, from 0.
    pub bucket: u32,
    /// Which attempt at it this was, from 0.
    pub attempt: u32,
    /// The hash, in hexadecimal, of all that was said, if the sender has kept the attempt.
    pub sender: Option<String>,
    /// The same of the receiver.
    pub receiver: Option<String>,
}

impl EndedAttempt {
    /// Whether both sides have kept it: then the bucket counts.
    pub fn counts(&self) -> bool {
        self.sender.is_some() && self.sender == self.receiver
    }
}

/// What the commits of a run say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Committed {
    /// How many waves there were.
    pub waves: usize,
    /// How many attempts at buckets, over all passes.
    pub attempts: usize,
}

impl Commit {
    /// Reads all waves that a driver has kept in a folder.
    ///
    /// # Errors
    /// If a file cannot be read or is no commit.
    pub fn load_all(folder: &Path) -> Result<Vec<Self>, Failure> {
        let refused = |path: &Path, error: &dyn std::fmt::Display| {
            let fault = format!("cannot read the commits in {}: {error}", path.display());
            Failure::new(code::INPUT, fault, "name the folder `commits` that a driver left in its folder of the run")
        };
        let mut commits = Vec::new();
        for entry in fs::read_dir(folder).map_err(|error| refused(folder, &error))? {
            let path = entry.map_err(|error| refused(folder, &error))?.path();
            if path.extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            let text = read_text(&path, FILE_LIMIT).map_err(|error| refused(&path, &error))?;
            // A parser's message may hold the file's text.
            let place = |error: serde_json::Error| format!("no commit (line {})", error.line());
            commits.push(serde_json::from_str(&text).map_err(|error| refused(&path, &place(error)))?);
        }
        Ok(commits)
    }

    /// A hash of what both sides have signed of this wave and, by [`Self::previous`], of all before it.
    pub fn hash(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-29 commit of a wave on a cluster v1");
        // Plain fields into memory: serialising cannot fail.
        *hasher.update(&serde_json::to_vec(self).unwrap_or_default()).finalize().as_bytes()
    }

    /// Whether both signatures are right.
    fn verifies(&self, sender: PublicKey, receiver: PublicKey) -> bool {
        let right = |key: PublicKey, signature: &Option<String>, of: fn(&EndedAttempt) -> &Option<String>| {
            let session: Option<[u8; 32]> = from_hex(&self.session);
            let kept: Option<Vec<_>> = self
                .attempts
                .iter()
                .map(|ended| match of(ended) {
                    None => Some(None),
                    Some(transcript) => from_hex(transcript).map(Some),
                })
                .collect();
            let due: Vec<_> = self.attempts.iter().map(|ended| (ended.bucket, ended.attempt)).collect();
            let signature = signature.as_deref().and_then(from_hex::<64>);
            let of_run = session.zip(from_hex(&self.previous));
            of_run.zip(kept).zip(signature).is_some_and(|(((session, previous), kept), signature)| {
                let of_run = (&session, &previous);
                key.verifies(&Ended::signed_bytes(of_run, (self.wave, self.pass), &due, &kept), &signature)
            })
        };
        right(sender, &self.sender_signature, |ended| &ended.sender)
            && right(receiver, &self.receiver_signature, |ended| &ended.receiver)
    }

    /// Whether these are all the waves of the run of a receipt, which itself must have been verified: both sides have
    /// signed each of them, each bucket counts once in each pass, no pass begins before all buckets count in the one
    /// before it, and as many attempts began a run of a bucket as the receipt says. Each wave names the one before, and the
    /// receipt the last: neither side alone can sign one anew.
    ///
    /// # Errors
    /// If they are not.
    pub fn check_all(mut commits: Vec<Self>, receipt: &Receipt) -> Result<Committed, Failure> {
        let refuse = |what: &str| {
            let fault = format!("the commits do not belong to this receipt: {what}");
            Err(Failure::new(code::IDENTITY, fault, "name the folder of commits of the run that the receipt is about"))
        };
        let statement = &receipt.statement;
        let (Ok(sender), Ok(receiver)) = (statement.sender_key.parse(), statement.receiver_key.parse()) else {
            return refuse("it names no keys");
        };
        commits.sort_by_key(|commit| commit.wave);
        let mut counted = HashSet::new();
        let mut attempts = HashSet::new();
        let mut stages = Stage::all(statement.security, statement.both_learn).iter().copied();
        let mut stage = stages.next();
        let mut previous = [0; 32];
        for (wave, commit) in (0..).zip(&commits) {
            if commit.session != statement.session {
                return refuse("a wave is of another session");
            }
            if commit.wave != wave {
                return refuse(&format!("wave {wave} is missing, or is there twice"));
            }
            if counted.len() == statement.buckets as usize {
                counted.clear();
                stage = stages.next();
            }
            if stage != Some(commit.pass) {
                return refuse(&format!("wave {wave} is of another pass than is due"));
            }
            if commit.previous != to_hex(&previous) {
                return refuse(&format!("wave {wave} follows another one than is there"));
            }
            previous = commit.hash();
            if !commit.verifies(sender, receiver) {
                return refuse(&format!("a signature under wave {wave} is wrong"));
            }
            for ended in &commit.attempts {
                if !attempts.insert((ended.bucket, ended.attempt)) || ended.bucket >= statement.buckets {
                    return refuse(&format!("wave {wave} has an attempt that no run has"));
                }
                if ended.counts() && !counted.insert(ended.bucket) {
                    return refuse(&format!("bucket {} counts twice", ended.bucket));
                }
            }
        }
        if counted.len() != statement.buckets as usize {
            return refuse(&format!("{} of {} buckets count", counted.len(), statement.buckets));
        }
        if stages.next().is_some() {
            return refuse("a pass is missing");
        }
        if statement.commits.as_ref() != Some(&to_hex(&previous)) {
            return refuse("the last wave is another one than the receipt names");
        }
        // Else one side alone could count an attempt that failed, and leave out the wave that ran it again.
        let of_begun = commits.iter().filter(|commit| commit.pass.begins()).map(|commit| commit.attempts.len() as u64);
        let begun: u64 = of_begun.sum();
        if statement.attempts != Some(begun) {
            let signed = statement.attempts.map_or_else(|| "none".to_owned(), |signed| signed.to_string());
            return refuse(&format!("they show {begun} attempts, and it names {signed}"));
        }
        Ok(Committed { waves: commits.len(), attempts: attempts.len() })
    }
}

#[cfg(test)]
mod tests {
    use vesica_party::Security;
    use vesica_party::transport::tls::Identity;

    use super::*;

    /// Two waves of a run in two buckets: at first, the sender lost one of them. And what the sender signs later, so
    /// that this one seems to have counted in the first wave.
    fn run() -> (Vec<Commit>, Receipt, Commit) {
        let [sender, receiver] = [(); 2].map(|()| Identity::generate().expect("randomness"));
        let mut receipt = Receipt::example().expect("randomness");
        (receipt.statement.session, receipt.statement.buckets) = (to_hex(&[3; 32]), 2);
        receipt.statement.security = Security::SemiHonest;
        receipt.statement.attempts = Some(3);
        receipt.statement.sender_key = sender.public().to_string();
        receipt.statement.receiver_key = receiver.public().to_string();
        let commit = |wave, previous: [u8; 32], attempts: &[(u32, u32, Option<u8>, Option<u8>)]| {
            let due: Vec<_> = attempts.iter().map(|&(bucket, attempt, ..)| (bucket, attempt)).collect();
            let [of_sender, of_receiver] = [0, 1].map(|side| -> Vec<_> {
                attempts.iter().map(|&(_, _, ours, theirs)| [ours, theirs][side].map(|byte| [byte; 32])).collect()
            });
            let sign = |identity: &Identity, kept: &[Option<[u8; 32]>]| {
                identity
                    .sign(&Ended::signed_bytes((&[3; 32], &previous), (wave, Stage::Whole), &due, kept))
                    .map(|signature| to_hex(&signature))
            };
            let hex = |byte: Option<u8>| byte.map(|byte| to_hex(&[byte; 32]));
            let ended = |&(bucket, attempt, ours, theirs): &(u32, u32, Option<u8>, Option<u8>)| EndedAttempt {
                bucket,
                attempt,
                sender: hex(ours),
                receiver: hex(theirs),
            };
            Commit {
                session: to_hex(&[3; 32]),
                wave,
                pass: Stage::Whole,
                previous: to_hex(&previous),
                attempts: attempts.iter().map(ended).collect(),
                sender_signature: sign(&sender, &of_sender),
                receiver_signature: sign(&receiver, &of_receiver),
            }
        };
        let first = commit(0, [0; 32], &[(0, 0, Some(1), Some(1)), (1, 0, None, Some(2))]);
        let second = commit(1, first.hash(), &[(1, 1, Some(4), Some(4))]);
        receipt.statement.commits = Some(to_hex(&second.hash()));
        let mut forged = commit(0, [0; 32], &[(0, 0, Some(1), Some(1)), (1, 0, Some(2), Some(2))]);
        forged.receiver_signature.clone_from(&first.receiver_signature);
        (vec![second, first], receipt, forged)
    }

    /// Against a malicious partner: both passes of both buckets, in this order.
    #[test]
    fn commits_of_passes_verify_in_their_order_alone() {
        let [sender, receiver] = [(); 2].map(|()| Identity::generate().expect("randomness"));
        let mut receipt = Receipt::example().expect("randomness");
        (receipt.statement.session, receipt.statement.buckets) = (to_hex(&[3; 32]), 2);
        (receipt.statement.attempts, receipt.statement.security) = (Some(2), Security::Malicious);
        receipt.statement.sender_key = sender.public().to_string();
        receipt.statement.receiver_key = receiver.public().to_string();
        let commit = |wave, pass, previous: [u8; 32], due: [(u32, u32); 2]| {
            let signed = Ended::signed_bytes((&[3; 32], &previous), (wave, pass), &due, &[Some([9; 32]); 2]);
            let sign = |identity: &Identity| identity.sign(&signed).map(|signature| to_hex(&signature));
            let hex = Some(to_hex(&[9; 32]));
            let ended =
                |(bucket, attempt)| EndedAttempt { bucket, attempt, sender: hex.clone(), receiver: hex.clone() };
            Commit {
                session: to_hex(&[3; 32]),
                wave,
                pass,
                previous: to_hex(&previous),
                attempts: due.map(ended).to_vec(),
                sender_signature: sign(&sender),
                receiver_signature: sign(&receiver),
            }
        };
        let (first, second) = ([(0, 0), (1, 0)], [(0, 1), (1, 1)]);
        let two = |one, other| {
            let first = commit(0, one, [0; 32], first);
            let second = commit(1, other, first.hash(), second);
            vec![first, second]
        };
        let passes = || two(Stage::Commit, Stage::Compare);
        receipt.statement.commits = passes().last().map(|last| to_hex(&last.hash()));
        assert_eq!(Commit::check_all(passes(), &receipt), Ok(Committed { waves: 2, attempts: 4 }));
        let refused = |commits, said: &str| {
            let failure = Commit::check_all(commits, &receipt).expect_err("refused");
            assert!(failure.fault.contains(said), "{failure}");
        };
        refused(vec![passes().remove(0)], "a pass is missing");
        for (one, other) in
            [(Stage::Compare, Stage::Commit), (Stage::Whole, Stage::Whole), (Stage::Commit, Stage::Commit)]
        {
            refused(two(one, other), "of another pass");
        }
        // Both keys together could sign a wave anew: the receipt names another one.
        let anew = [commit(0, Stage::Commit, [0; 32], first), commit(1, Stage::Compare, [0; 32], second)];
        refused(anew.to_vec(), "wave 1 follows another one");
        let turned = vec![passes().remove(0), commit(1, Stage::Compare, passes()[0].hash(), [(1, 1), (0, 1)])];
        refused(turned, "the last wave is another one than the receipt names");
        let mut forged = passes();
        forged[1].pass = Stage::Finish;
        refused(forged, "of another pass");
    }

    #[test]
    fn commits_verify_after_an_attempt_that_failed_and_changed_ones_do_not() {
        let (commits, receipt, forged) = run();
        let text: Vec<_> = commits.iter().map(|commit| serde_json::to_vec(commit).expect("JSON")).collect();
        let again =
            || text.iter().map(|text| serde_json::from_slice(text).expect("its own JSON")).collect::<Vec<Commit>>();
        assert_eq!(Commit::check_all(again(), &receipt), Ok(Committed { waves: 2, attempts: 3 }));
        let changed = |change: &dyn Fn(&mut Vec<Commit>), said: &str| {
            let mut commits = again();
            change(&mut commits);
            let failure = Commit::check_all(commits, &receipt).expect_err("refused");
            assert!(failure.code == code::IDENTITY && failure.fault.contains(said), "{failure}");
        };
        changed(&|commits| commits[0].session.replace_range(0..2, "00"), "another session");
        changed(&|commits| drop(commits.pop()), "wave 0 is missing");
        changed(&|commits| drop(commits.remove(0)), "1 of 2 buckets count");
        changed(&|commits| commits.push(commits[0].clone()), "wave 2 is missing");
        changed(&|commits| commits[1].attempts[1].receiver = None, "a signature under wave 0");
        changed(&|commits| commits[1].attempts[1].attempt = 1, "a signature under wave 0");
        changed(&|commits| commits[0].sender_signature = None, "a signature under wave 1");
        changed(&|commits| commits[0].receiver_signature = commits[0].sender_signature.clone(), "under wave 1");
        changed(&|commits| *commits = vec![forged.clone()], "another one than the receipt names");
        let mut other = receipt.clone();
        other.statement.attempts = None;
        assert!(Commit::check_all(again(), &other).is_err_and(|failure| failure.fault.contains("it names none")));
        let mut other = receipt.clone();
        other.statement.sender_key.clone_from(&other.statement.receiver_key);
        assert!(Commit::check_all(again(), &other).is_err());
    }
}
