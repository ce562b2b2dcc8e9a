//! The drivers' conversation between handshake and goodbye: wave after wave, until every bucket counts.

use std::collections::VecDeque;

use vesica_party::transport::tls::{Identity, PublicKey};
use vesica_party::{Abort, Channel, Phase, Role};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Ended, Slots, WorkerKey, WorkerKeys};
use super::rendezvous::Passes;
use super::{
    Commit, EndedAttempt, Learned, Left, MOST_ATTEMPTS, MOST_SLOTS, Machines, Outcome, Rendezvous, Stage, Ticket, Work,
};
use crate::failure::{Failure, code};
use crate::handshake::messages::{peers_step, recv, send};
use crate::receipt::to_hex;
use crate::session::{self, Events};
use crate::words;

/// What the waves of a side are about.
pub(crate) struct Waves<'a> {
    /// The session of the conversation.
    pub session: [u8; 32],
    /// This side's role.
    pub role: Role,
    /// How many buckets there are.
    pub buckets: u32,
    /// How often buckets may be run again, all together: the failure budget is for no more.
    pub most_reruns: u32,
    /// Items that the partner brings for each run of a bucket.
    pub peer_items: u64,
    /// Most items that the partner may ask about, reruns included.
    pub max_peer_items: u64,
    /// What this side signs with, and whose signature it wants; `None` without keys.
    pub signing: Option<(&'a Identity, PublicKey)>,
    /// A ticket with all that is the same in each. Its key of dummies is that of all buckets.
    pub ticket: Ticket,
    /// How many keys each bucket has on this side.
    pub keys: Vec<usize>,
    /// Where workers meet.
    pub rendezvous: &'a Rendezvous,
    /// Hears of waves, and of attempts that failed.
    pub events: &'a dyn Events,
}

/// How many buckets a worker runs at most in one wave, one after the other. To start workers takes longer than to run a
/// small bucket; but when a worker is lost, all its buckets of the wave are run again.
const MOST_IN_TURN: usize = 16;

/// How many of the buckets that are due run in the next wave, with so many slots: up to
/// [`MOST_IN_TURN`] a slot of those that were not tried yet, and at the end one a slot of those that failed.
fn in_next_wave(due: &VecDeque<Due>, slots: usize) -> usize {
    let fresh = due.iter().take_while(|due| due.tried == 0).count();
    match fresh {
        0 => due.len().min(slots),
        _ => fresh.min(slots * MOST_IN_TURN).min(MOST_SLOTS as usize),
    }
}

/// A bucket that is due at a stage.
struct Due {
    bucket: u32,
    /// Which attempt at it is due, over all stages.
    attempt: u32,
    /// How many attempts at this stage have failed.
    tried: u32,
    /// The attempt with which its run began.
    run: u32,
    /// What an earlier stage has left.
    left: Option<Left>,
}

impl Due {
    fn first(bucket: u32) -> Self {
        Self { bucket, attempt: 0, tried: 0, run: 0, left: None }
    }

    /// At the next stage, after this attempt has counted.
    fn at_next_stage(self, ticket: &Ticket) -> Self {
        let left = Some(Left { attempt: self.attempt, seal: ticket.seal_key() });
        Self { attempt: self.attempt + 1, tried: 0, left, ..self }
    }

    /// Once more at this stage: where a run begins, on fresh randomness; else from what is left.
    fn again(self, stage: Stage) -> Self {
        let attempt = self.attempt + 1;
        let run = if stage.begins() { attempt } else { self.run };
        Self { attempt, tried: self.tried + 1, run, ..self }
    }
}

/// What has come of the buckets so far.
pub(crate) struct Sofar {
    /// What those that count gave together, on a side that learns it. Totals are masked.
    pub learned: Option<Learned>,
    /// Sender of totals: the sum of the masks of all attempts that count.
    pub masks: Secret<Vec<u64>>,
    /// Attempts with which runs of buckets began, of which both sides have the same number.
    pub attempts: u64,
    /// The hash of all commits ([`Commit::hash`]).
    pub commits: [u8; 32],
    /// Waves, over all stages.
    waves: u32,
}

impl Sofar {
    fn learn(&mut self, more: Learned) -> Result<(), Failure> {
        let together = match self.learned.take() {
            Some(before) => before.and(more),
            None => Some(more),
        };
        let fault = "two buckets gave what does not go together";
        let other = || Failure::new(code::INTERNAL, fault, "install one release on all machines");
        self.learned = Some(together.ok_or_else(other)?);
        Ok(())
    }
}

impl Waves<'_> {
    /// Runs all buckets.
    ///
    /// # Errors
    /// If a bucket fails too often, the partner says what no honest partner says, or the cluster is gone.
    pub fn run(
        &self,
        ch: &mut Channel,
        machines: &mut dyn Machines,
        rng: &mut SecretRng,
        stop: &dyn Fn(&Channel) -> Option<Failure>,
    ) -> Result<Sofar, Failure> {
        let masks = Secret::new(vec![0u64; self.ticket.work.totals()]);
        let mut sofar = Sofar { learned: None, masks, attempts: 0, commits: [0; 32], waves: 0 };
        let mut due: VecDeque<Due> = (0..self.buckets).map(Due::first).collect();
        let both_learn = matches!(self.ticket.work, Work::Matches { both_learn: true, .. });
        for &stage in Stage::all(self.ticket.security, both_learn) {
            let mut counted: Vec<Due> = Vec::new();
            let mut reruns = 0;
            // Against a malicious partner all rests on it that no bucket begins with a pass before all are through with
            // the one before it.
            while !due.is_empty() {
                let slots = machines.slots()?.clamp(1, MOST_SLOTS);
                send(ch, Slots { slots })?;
                let theirs = recv::<Slots>(ch)?.slots;
                let slots = slots.min(theirs) as usize;
                let now: Vec<Due> = due.drain(..in_next_wave(&due, slots)).collect();
                let workers = now.len().min(slots);
                let tickets = self.tickets(ch, stage, &now, rng)?;
                let outcomes = machines.wave(&tickets, workers, &|| stop(ch));
                self.rendezvous.close_wave();
                let outcomes = outcomes?;
                if outcomes.len() != now.len() {
                    return Err(Failure::new(
                        code::INTERNAL,
                        "a wave has other outcomes than buckets",
                        "please report this with the version of the system that runs the tasks",
                    ));
                }
                self.tell(&now, &outcomes)?;
                self.check(stage, &outcomes)?;
                let commit = self.commit(ch, (sofar.waves, stage), sofar.commits, &now, &outcomes)?;
                sofar.commits = commit.hash();
                machines.committed(&commit, &|| stop(ch))?;
                sofar.waves += 1;
                if stage.begins() {
                    sofar.attempts += now.len() as u64;
                }
                let ended = commit.attempts.iter().zip(&tickets).zip(outcomes);
                for (due_now, ((ended, ticket), outcome)) in now.into_iter().zip(ended) {
                    if ended.counts() {
                        if self.role == Role::Sender {
                            let added = ticket.work.masks();
                            let sums = sofar.masks.iter_mut().zip(added.iter());
                            sums.for_each(|(sum, mask)| *sum = sum.wrapping_add(*mask));
                        }
                        if let Outcome::Kept { learned: Some(more), .. } = outcome {
                            sofar.learn(more)?;
                        }
                        counted.push(due_now.at_next_stage(ticket));
                    } else {
                        if let Outcome::Kept { .. } = outcome {
                            let Due { bucket, attempt, .. } = due_now;
                            let text = format!("the partner says that it lost attempt {attempt} at bucket {bucket}");
                            self.events.notice(&text);
                        }
                        reruns += 1;
                        self.allow_rerun(stage, &due_now, reruns, outcome)?;
                        due.push_back(due_now.again(stage));
                    }
                }
                self.events.notice(&self.how_far(stage, counted.len()));
            }
            counted.sort_unstable_by_key(|due| due.bucket);
            due = counted.into();
        }
        Ok(sofar)
    }

    fn how_far(&self, stage: Stage, counted: usize) -> String {
        let of_all = words::counted(self.buckets, "bucket is", "buckets are");
        let number = match stage {
            Stage::Whole => return format!("{counted} of {of_all} done"),
            Stage::Commit => "first",
            Stage::Compare => "second",
            Stage::Finish => "third",
        };
        format!("{counted} of {of_all} through the {number} pass")
    }

    /// Refuses what no worker of this side gives.
    fn check(&self, stage: Stage, outcomes: &[Outcome]) -> Result<(), Failure> {
        let is_right = |outcome: &Outcome| match outcome {
            Outcome::Kept { learned, .. } => self.ticket.work.gives((self.role, stage), learned.as_ref()),
            Outcome::Failed(_) => true,
        };
        match outcomes.iter().all(is_right) {
            true => Ok(()),
            false => Err(Failure::new(
                code::INTERNAL,
                "a bucket gave something else than it was run for",
                "install one release on all machines",
            )),
        }
    }

    /// Tickets for a wave, with fresh keys on both sides.
    fn tickets(
        &self,
        ch: &mut Channel,
        stage: Stage,
        now: &[Due],
        rng: &mut SecretRng,
    ) -> Result<Vec<Ticket>, Failure> {
        let _phase = ch.phase(Phase::Handshake);
        let no_randomness = |error| Failure::new(code::INTERNAL, error, "the operating system gives no randomness");
        let mut fresh = || *session::fresh(rng);
        let (mut own, mut passes, mut identities) = (Vec::new(), Vec::new(), Vec::new());
        for _ in now {
            let (identity, link) = (Identity::generate().map_err(no_randomness)?, fresh());
            own.push(WorkerKey { public: *identity.public().as_bytes(), link });
            passes.push(Passes { worker: fresh(), link });
            identities.push(identity);
        }
        // Before the partner knows the passes, whose workers may be quick.
        if self.ticket.listens {
            self.rendezvous.open(&passes);
        }
        send(ch, WorkerKeys(own))?;
        let WorkerKeys(theirs) = recv(ch)?;
        if theirs.len() != now.len() {
            return Err(Abort::PeerMisbehaved(
                peers_step::<WorkerKeys>(ch),
                "keys of another number of workers than the wave has",
            )
            .into());
        }
        if !self.ticket.listens {
            for (passes, theirs) in passes.iter_mut().zip(&theirs) {
                passes.link = theirs.link;
            }
            self.rendezvous.open(&passes);
        }
        let tickets = now.iter().zip(passes).zip(identities).zip(theirs);
        let ticket = |(((due, passes), identity), theirs): (((&Due, Passes), Identity), WorkerKey)| {
            let mut ticket = self.ticket.clone();
            let bucket = due.bucket;
            (ticket.bucket, ticket.attempt, ticket.stage, ticket.run) = (bucket, due.attempt, stage, due.run);
            ticket.left = due.left.clone();
            ticket.keys = self.keys.get(bucket as usize).copied().unwrap_or_default();
            ticket.dummies = self.dummies(bucket);
            if let Work::Totals { masks, .. } = &mut ticket.work {
                *masks = fresh();
            }
            (ticket.mask, ticket.seal) = (fresh(), fresh());
            (ticket.pass, ticket.seed, ticket.peer) = (passes.worker, *identity.seed(), theirs.public);
            ticket
        };
        Ok(tickets.map(ticket).collect())
    }

    /// The key of a bucket's dummies.
    fn dummies(&self, bucket: u32) -> [u8; 32] {
        let mut hasher =
            blake3::Hasher::new_derive_key("vesica 2026-11-28 key of the dummies of a bucket on a cluster v1");
        *hasher.update(&self.ticket.dummies).update(&bucket.to_le_bytes()).finalize().as_bytes()
    }

    /// Says which attempts failed, and ends the run where no further attempt helps.
    fn tell(&self, now: &[Due], outcomes: &[Outcome]) -> Result<(), Failure> {
        for (Due { bucket, attempt, .. }, outcome) in now.iter().zip(outcomes) {
            if let Outcome::Failed(failure) = outcome {
                if matches!(failure.code, code::PEER_MISBEHAVED | code::INTERNAL | code::REFUSED | code::IDENTITY) {
                    return Err(failure.clone());
                }
                self.events.notice(&format!("attempt {attempt} at bucket {bucket} failed: {}", failure.fault));
            }
        }
        Ok(())
    }

    /// What of a wave both sides have kept, signed by both.
    fn commit(
        &self,
        ch: &mut Channel,
        (wave, stage): (u32, Stage),
        previous: [u8; 32],
        now: &[Due],
        outcomes: &[Outcome],
    ) -> Result<Commit, Failure> {
        let kept: Vec<Option<[u8; 32]>> = outcomes
            .iter()
            .map(|outcome| match outcome {
                Outcome::Kept { transcript, .. } => Some(*transcript),
                Outcome::Failed(_) => None,
            })
            .collect();
        let due: Vec<(u32, u32)> = now.iter().map(|due| (due.bucket, due.attempt)).collect();
        let of_run = (&self.session, &previous);
        let signed = |kept: &[Option<[u8; 32]>]| Ended::signed_bytes(of_run, (wave, stage), &due, kept);
        let signature = match self.signing {
            Some((identity, _)) => identity.sign(&signed(&kept)).ok_or_else(|| {
                Failure::new(code::INTERNAL, "what was kept could not be signed", "please report this")
            })?,
            None => [0; 64],
        };
        send(ch, Ended { signature, kept: kept.clone() })?;
        let theirs: Ended = recv(ch)?;
        let misbehaved = |ch: &Channel, what| Failure::from(Abort::PeerMisbehaved(peers_step::<Ended>(ch), what));
        if theirs.kept.len() != now.len() {
            return Err(misbehaved(ch, "it kept another number of buckets than the wave has"));
        }
        if self.signing.is_some_and(|(_, peer)| !peer.verifies(&signed(&theirs.kept), &theirs.signature)) {
            return Err(misbehaved(ch, "its signature under what it kept is wrong"));
        }
        let both = kept.iter().zip(&theirs.kept);
        if both.clone().any(|(ours, theirs)| ours.zip(*theirs).is_some_and(|(ours, theirs)| ours != theirs)) {
            return Err(misbehaved(ch, "its worker saw another conversation than ours"));
        }
        let by_role = |ours, theirs| match self.role {
            Role::Sender => (ours, theirs),
            Role::Receiver => (theirs, ours),
        };
        let hex = |kept: &Option<[u8; 32]>| kept.as_ref().map(|transcript| to_hex(transcript));
        let attempts = due.iter().zip(both).map(|(&(bucket, attempt), (ours, theirs))| {
            let (sender, receiver) = by_role(hex(ours), hex(theirs));
            EndedAttempt { bucket, attempt, sender, receiver }
        });
        let (attempts, session) = (attempts.collect(), to_hex(&self.session));
        let (ours, theirs) = self.signing.map(|_| (to_hex(&signature), to_hex(&theirs.signature))).unzip();
        let (sender_signature, receiver_signature) = by_role(ours, theirs);
        let previous = to_hex(&previous);
        Ok(Commit { session, wave, pass: stage, previous, attempts, sender_signature, receiver_signature })
    }

    /// Whether a bucket may be run again, after so many attempts of all buckets have failed at this stage. A run that begins
    /// anew shows the partner what a query shows, also if it breaks off.
    fn allow_rerun(&self, stage: Stage, failed: &Due, reruns: u32, last: Outcome) -> Result<(), Failure> {
        let (bucket, tried) = (failed.bucket, failed.tried + 1);
        let why = match last {
            Outcome::Failed(failure) => failure.fault,
            Outcome::Kept { .. } => "the partner's side of it was lost".into(),
        };
        if tried >= MOST_ATTEMPTS || reruns > self.most_reruns {
            let fault = match tried >= MOST_ATTEMPTS {
                true => format!("bucket {bucket} failed {tried} times"),
                false => format!("{reruns} attempts at buckets failed"),
            };
            return Err(Failure {
                // Why, may name own machines.
                told: Some("attempts at a bucket failed too often"),
                ..Failure::new(
                    code::LINK,
                    format_args!("{fault}, the last time because {why}"),
                    "see that executors stay up and reach their driver, then start both sides again",
                )
            });
        }
        if !stage.begins() {
            return Ok(());
        }
        let asked = self.peer_items.saturating_mul(u64::from(self.buckets) + u64::from(reruns));
        if asked > self.max_peer_items {
            return Err(Failure::new(
                code::REFUSED,
                format_args!(
                    "with {reruns} buckets run again, the {} would have asked about {asked} items, more than the {} that \
                     the {} allows",
                    self.role.peer(),
                    self.max_peer_items,
                    self.role
                ),
                "raise --max-peer-items on the side that refused, or see why executors were lost",
            ));
        }
        Ok(())
    }
}
