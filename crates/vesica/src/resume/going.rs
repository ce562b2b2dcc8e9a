//! A run that is kept in a record while it goes on.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use vesica_party::{Abort, Channel, Role, Security};
use vesica_protocols::tasks::SealedPayloads;
use vesica_structures::fields::Gf128;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;
use zeroize::{Zeroize, Zeroizing};

use super::bucket_files::{Found, Pass, Place};
use super::messages::{AllCommitted, Unfinished};
use super::record::{Begun, Record};
use crate::failure::{Failure, code, escaped};
use crate::handshake::Agreement;
use crate::handshake::messages::{recv, send};
use crate::receipt::{from_hex, to_hex};
use crate::session::fresh;
use crate::task::AnyAgreed;

/// A run on which both sides agree, with the buckets that are due.
#[derive(Debug)]
pub(crate) struct Going {
    record: Record,
    /// Which buckets go through each pass in this conversation; most runs have one.
    due: Vec<Vec<usize>>,
    /// Attempts at buckets, of this conversation and those before it.
    pub attempts: u64,
    /// Whether the partner says that it has all that it needs, of a run that this side does not know any more.
    pub is_over_by_word: bool,
    /// Items of a bucket of this side, and bytes of a payload of its result.
    shape: (usize, usize),
    rng: SecretRng,
}

/// The hash of a run, or of a bucket, where there is none.
const NO_RUN: [u8; 32] = [0; 32];

/// Most conversations of a run in which no run of a bucket is begun. They show the partner nothing, but for their time.
const MOST_OTHERS: u32 = 64;

/// What both sides bring to [`go_on`].
pub(crate) struct Terms {
    /// This side's role.
    pub role: Role,
    /// Items of a bucket of this side, and bytes of a payload of its result. Of a run for totals, one record of all totals
    /// of a bucket.
    pub shape: (usize, usize),
    /// Whether all that is learned is totals over all buckets. The last step then shows them to the receiver: it is
    /// kept like a bucket behind all others.
    pub totals: bool,
    /// Items of a bucket of the partner.
    pub peer_items: usize,
    /// The most items that the partner may ask about, in all attempts.
    pub max_peer_items: u64,
}

/// Compares both sides' records. Gives the run that goes on, or begins anew if neither side has finished anything, and
/// sets the salt of the agreement to that of the run.
///
/// # Errors
/// If the two sides have records of different runs, if settings or sizes differ from the record, if there were too many
/// attempts, or if the record cannot be written.
pub(crate) fn go_on(
    ch: &mut Channel,
    agreement: &mut Agreement<Box<dyn AnyAgreed>>,
    mut record: Record,
    terms: &Terms,
    rng: &mut SecretRng,
) -> Result<Going, Failure> {
    let buckets = agreement.buckets;
    let passes: &[Pass] = match agreement.extent.security {
        Security::SemiHonest => &[Pass::Last],
        Security::Malicious => &[Pass::First, Pass::Last],
    };
    let has_files = record.has_files()?;
    let shape = (buckets, terms.shape.0, terms.shape.1);
    // Else nothing of it could be read, and all of it would be begun anew: by a partner that declares another size, too.
    if has_files && record.begun().is_some_and(|run| run.shape != shape) {
        return Err(differ(&record, "sizes or columns are not those of the record"));
    }
    // What goes through the last pass.
    let parts = buckets + u32::from(terms.totals);
    let ours = record.unfinished((buckets, parts), passes, terms.shape);
    send(ch, ours.clone())?;
    // A partner that sees first that the records differ may have given up before its own was read here.
    let theirs: Unfinished = recv(ch).map_err(|abort| {
        let failure = Failure::from(abort);
        let mend = format!("{}; the record of this side is {}", failure.mend, record.folder().display());
        Failure { mend: escaped(&mend), ..failure }
    })?;
    if theirs.buckets.len() != ours.buckets.len() {
        return Err(differ(&record, "your partner's record is of another number of buckets"));
    }
    let both_learn = agreement.terms.disclosure().both_learn;
    let learns = |role| role == Role::Receiver || both_learn;
    // One side has all that it needs, and the other, which learns nothing, has ended and removed its record.
    // If it has begun another one, its attempts would be forgotten.
    let has_begun_none = |side: &Unfinished| side.attempts == 0 && !side.has_finished_any();
    let we_have_all = ours.is_complete(parts) && has_begun_none(&theirs) && !learns(terms.role.peer());
    let they_have_all = theirs.is_complete(parts) && has_begun_none(&ours) && !learns(terms.role);
    let is_over = we_have_all || they_have_all;
    let has_shown = terms.totals && ours.buckets.last().is_some_and(|shown| *shown != NO_RUN);
    let have_compared = (ours.compares || has_shown) && has_files || theirs.compares && theirs.has_finished_any();
    let is_same = ours.run == theirs.run && ours.run != NO_RUN;
    let goes_on = is_same || we_have_all;
    if goes_on {
        let salt = record.begun().and_then(|run| from_hex(&run.salt)).map(u128::from_le_bytes);
        agreement.salt = salt.ok_or_else(|| differ(&record, "the record has no salt"))?;
        if id(agreement) != ours.run {
            return Err(differ(&record, "sizes, security, protocol or columns are not those of the record"));
        }
    } else if !is_over && (has_files || ours.has_finished_any() || theirs.has_finished_any()) {
        let has = |has_some| match has_some {
            true => "has finished buckets of a run that the other side does not know",
            false => "has no record of it",
        };
        let (ours, theirs) = (has(has_files || ours.has_finished_any()), has(theirs.has_finished_any()));
        let seen = if have_compared { seen(terms) } else { "" };
        return Err(differ(&record, &format!("this side {ours}, and the partner {theirs}{seen}")));
    }
    let counts = |(ours, theirs): (&[u8; 32], &[u8; 32])| is_over || is_same && ours == theirs && *ours != NO_RUN;
    let finished: Vec<bool> = ours.buckets.iter().zip(&theirs.buckets).map(counts).collect();
    let (first, last) = finished.split_at(finished.len() - parts as usize);
    let due_last: Vec<usize> = (0..).zip(last).filter(|(_, through)| !**through).map(|(bucket, _)| bucket).collect();
    // Of a bucket that is through the last pass, no message follows.
    let is_through = |bucket: &usize| first.get(*bucket).copied().unwrap_or_default();
    let is_begun = |bucket: &usize| *bucket < buckets as usize && !is_through(bucket);
    let due_first: Vec<usize> = due_last.iter().copied().filter(is_begun).collect();
    let begins = due_first.len();
    // A receiver could choose the set of a first pass by what it was shown in the second, and that of a bucket by the
    // totals of all.
    if begins > 0 && (passes.len() > 1 || terms.totals) && have_compared {
        let what = match terms.totals {
            true => "the two sides have not finished the same buckets",
            false => "the two sides do not have the same first pass of all buckets",
        };
        return Err(differ(&record, &format!("{what}{}", seen(terms))));
    }
    // What either side has begun counts, also of a run that is given up.
    let attempts = ours.attempts.max(theirs.attempts).saturating_add(begins as u64);
    check_attempts(attempts, buckets, terms)?;
    if !goes_on {
        let (id, salt) = (to_hex(&id(agreement)), to_hex(&agreement.salt.to_le_bytes()));
        let attempts = ours.attempts;
        record.begin(Begun { id, salt, shape, attempts, others: 0, compares: false })?;
    }
    if begins == 0 && !is_over && record.add_other()? > MOST_OTHERS {
        let fault = format_args!("the run was taken up more than {MOST_OTHERS} times since all buckets were begun");
        return Err(Failure::new(code::REFUSED, fault, "see why it breaks off, and begin anew"));
    }
    let due = vec![due_first, due_last];
    let is_over_by_word = they_have_all && ours.run == NO_RUN;
    Ok(Going { record, due, attempts, is_over_by_word, shape: terms.shape, rng: rng.child() })
}

/// What a partner may have seen of a run for which it does not bring the record.
fn seen(terms: &Terms) -> &'static str {
    match terms.totals {
        true => ". Totals have been shown: if you begin anew, your partner can choose its keys by them",
        false => {
            ". Keys have been compared, and your partner may have seen matches: if you begin anew, it can choose its keys \
             by them"
        }
    }
}

/// Refuses more attempts at buckets than the bounds on failures are derived for, or than the partner may ask for.
fn check_attempts(attempts: u64, buckets: u32, terms: &Terms) -> Result<(), Failure> {
    let begin_anew = "remove the record on both sides to begin anew";
    if attempts > 2 * u64::from(buckets) {
        let fault =
            format_args!("the run has broken off so often that {attempts} attempts at {buckets} buckets would be due");
        return Err(Failure::new(code::REFUSED, fault, begin_anew));
    }
    let asked = attempts.saturating_mul(terms.peer_items as u64);
    if asked > terms.max_peer_items {
        let fault = format_args!(
            "with {attempts} attempts at buckets, those that broke off among them, the {} asks about {asked} items, more \
             than the {} that the {} allows",
            terms.role.peer(),
            terms.max_peer_items,
            terms.role
        );
        return Err(Failure::new(
            code::REFUSED,
            fault,
            "raise --max-peer-items on the side that refused, or begin anew",
        ));
    }
    Ok(())
}

fn differ(record: &Record, what: &str) -> Failure {
    let fault = format_args!("the two sides cannot go on with one run: {what}");
    let mend = format_args!(
        "go on with the settings and the work folders of that run; or begin anew, without {} on this side and its like on the \
         other",
        record.folder().display()
    );
    let told = "the two sides cannot go on with one run: settings, work folders or what is finished there differ";
    Failure { told: Some(told), ..Failure::new(code::MISMATCH, fault, mend) }
}

/// What a run is: all that must be the same when it goes on.
fn id(agreement: &Agreement<Box<dyn AnyAgreed>>) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-29 id of a run that is kept v1");
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    };
    part(&agreement.salt.to_le_bytes());
    part(&(agreement.extent.sender_items as u64).to_le_bytes());
    part(&(agreement.extent.receiver_items as u64).to_le_bytes());
    part(&agreement.buckets.to_le_bytes());
    part(agreement.extent.security.to_string().as_bytes());
    part(agreement.entry.id.as_bytes());
    part(format!("{:?}", agreement.terms.disclosure()).as_bytes());
    *hasher.finalize().as_bytes()
}

impl Going {
    /// Names the run, in each of its conversations.
    pub fn id(&self) -> Option<&str> {
        self.record.run_id()
    }

    /// The buckets that go through the last pass in this conversation, ascending.
    pub fn due(&self) -> &[usize] {
        self.due.last().map_or(&[], |due| due)
    }

    /// Those that go through the first of two passes.
    pub fn due_first(&self) -> &[usize] {
        self.due.first().map_or(&[], |due| due)
    }

    /// How many buckets were finished before.
    pub fn finished_before(&self, buckets: usize) -> usize {
        buckets - self.due().iter().filter(|&&bucket| bucket < buckets).count()
    }

    /// How many buckets were through the first pass before.
    pub fn committed_before(&self, buckets: usize) -> usize {
        buckets - self.due_first().len()
    }

    /// The keys of this side's dummies: those behind its own keys, and those that fill buckets up. In each conversation
    /// the same: against a malicious partner, a pass that is taken again must say what it said.
    pub fn dummy_keys(&self) -> [Zeroizing<[u8; 32]>; 2] {
        let of_run = self.record.run_key();
        ["padding", "filling"].map(|what| {
            let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-29 dummies of a run that is kept v1");
            Zeroizing::new(*hasher.update(&*of_run).update(what.as_bytes()).finalize().as_bytes())
        })
    }

    /// Keeps what a bucket has committed to, in this session and on an input with this hash.
    ///
    /// # Errors
    /// If the record cannot be written.
    pub fn end_commit(
        &mut self,
        bucket: usize,
        transcript: &[u8; 32],
        (session, input): ([u8; 32], [u8; 32]),
        (keys, kept): (&[u8], &[Gf128]),
    ) -> Result<(), Failure> {
        let random = *fresh(&mut self.rng);
        let mut content = Zeroizing::new(Vec::with_capacity(64 + 4 + keys.len() + 16 * kept.len() + 16));
        content.extend_from_slice(&session);
        content.extend_from_slice(&input);
        content.extend_from_slice(&(keys.len() as u32).to_le_bytes());
        content.extend_from_slice(keys);
        kept.iter().for_each(|value| content.extend_from_slice(&value.0.to_le_bytes()));
        let place = Place { bucket, pass: Pass::First, shape: self.shape };
        self.record.put(place, transcript, content, &random)
    }

    /// What a bucket has committed to.
    ///
    /// # Errors
    /// If the record cannot be read.
    pub fn committed(&self, bucket: usize) -> Result<Committed, Failure> {
        let content = self.record.get(Place { bucket, pass: Pass::First, shape: self.shape })?;
        let read = || {
            let (session, rest) = content.split_first_chunk::<32>()?;
            let (input, rest) = rest.split_first_chunk::<32>()?;
            let (length, rest) = rest.split_first_chunk::<4>()?;
            let (keys, kept) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            let (kept, []) = kept.as_chunks() else { return None };
            let kept = kept.iter().map(|value| Gf128(u128::from_le_bytes(*value))).collect();
            Some(Committed {
                session: *session,
                input: *input,
                keys: Secret::new(keys.to_vec()),
                kept: Secret::new(kept),
            })
        };
        read().ok_or_else(|| self.record.damaged())
    }

    /// Both sides say that all buckets are through the first pass, before either begins with the second; or that all are
    /// through the only one, before the sender shows what their totals are.
    ///
    /// # Errors
    /// If the partner does not say so, or the record cannot be written.
    pub fn begin_to_compare(&mut self, ch: &mut Channel) -> Result<(), Abort> {
        send(ch, AllCommitted)?;
        let AllCommitted = recv(ch)?;
        Ok(self.record.set_compares()?)
    }

    /// How many records were removed that nobody went on with.
    pub fn swept(&self) -> usize {
        self.record.swept
    }

    /// See [`Record::lock`].
    pub fn lock(&self) -> Arc<File> {
        self.record.lock()
    }

    /// The folder of the record.
    pub fn folder(&self) -> &Path {
        self.record.folder()
    }

    /// Notes that an attempt at a bucket begins.
    ///
    /// # Errors
    /// If the record cannot be written.
    pub fn begin_bucket(&mut self) -> Result<(), Failure> {
        self.record.add_attempt()
    }

    /// Keeps what a bucket found, of which both sides have the hash of all that was said.
    ///
    /// # Errors
    /// If the record cannot be written.
    pub fn end_bucket(
        &mut self,
        bucket: usize,
        transcript: &[u8; 32],
        matches: Vec<u32>,
        payloads: SealedPayloads,
    ) -> Result<(), Failure> {
        let random = *fresh(&mut self.rng);
        let (size, width) = self.shape;
        let payloads = payloads.open_for_all(size, width);
        self.record.put_found(bucket, transcript, &Found { matches, payloads }, self.shape, &random)
    }

    /// Keeps the masked totals of a bucket, or the masks.
    ///
    /// # Errors
    /// If the record cannot be written.
    pub fn end_totals(&mut self, bucket: usize, transcript: &[u8; 32], totals: &[u64]) -> Result<(), Failure> {
        let random = *fresh(&mut self.rng);
        let mut found = Found { matches: vec![0], payloads: Vec::with_capacity(8 * totals.len()) };
        totals.iter().for_each(|total| found.payloads.extend_from_slice(&total.to_le_bytes()));
        let kept = self.record.put_found(bucket, transcript, &found, self.shape, &random);
        found.payloads.zeroize();
        kept
    }

    /// What [`Self::end_totals`] has kept.
    ///
    /// # Errors
    /// If the record cannot be read, or has another number of them.
    pub fn totals(&self, bucket: usize, results: usize) -> Result<Secret<Vec<u64>>, Failure> {
        let payloads = Zeroizing::new(self.record.found(bucket, self.shape)?.payloads);
        let totals: Vec<u64> = payloads.as_chunks().0.iter().map(|total| u64::from_le_bytes(*total)).collect();
        let totals = Secret::new(totals);
        if totals.len() == results { Ok(totals) } else { Err(self.record.damaged()) }
    }

    /// The numbers of the items of a bucket that matched, and their payloads, one behind the other.
    ///
    /// # Errors
    /// If the record cannot be read.
    pub fn found(&self, bucket: usize) -> Result<(Vec<u32>, Vec<u8>), Failure> {
        let Found { matches, payloads } = self.record.found(bucket, self.shape)?;
        let width = self.shape.1;
        let of = |&item: &u32| payloads.get(item as usize * width..(item as usize + 1) * width).unwrap_or_default();
        let records = matches.iter().flat_map(of).copied().collect();
        Ok((matches, records))
    }
}

/// What a bucket has kept of its first pass.
pub(crate) struct Committed {
    /// The session of the conversation and bucket in which it was taken.
    pub session: [u8; 32],
    /// The hash of the items and payloads on which it was taken.
    pub input: [u8; 32],
    /// [`Compare::keys`](vesica_protocols::passes::Compare::keys).
    pub keys: Secret<Vec<u8>>,
    /// [`Compare::kept`](vesica_protocols::passes::Compare::kept).
    pub kept: Secret<Vec<Gf128>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_bounded_by_the_failure_budget_and_by_what_the_partner_may_ask() {
        let check = |attempts, max_peer_items| {
            let terms = Terms { role: Role::Sender, shape: (100, 0), totals: false, peer_items: 1000, max_peer_items };
            check_attempts(attempts, 8, &terms).map_err(|failure| (failure.code, failure.fault))
        };
        assert_eq!((check(8, 8000), check(16, 16_000)), (Ok(()), Ok(())));
        let (number, fault) = check(17, u64::MAX).expect_err("too often");
        assert!(number == code::REFUSED && fault.contains("17 attempts at 8 buckets"), "{fault}");
        let (number, fault) = check(9, 8999).expect_err("too many items");
        assert!(number == code::REFUSED && fault.contains("the receiver asks about 9000 items"), "{fault}");
        assert!(check(u64::MAX, u64::MAX).is_err());
    }
}
