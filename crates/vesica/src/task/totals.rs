//! Totals over all buckets of a run.
//!
//! What a bucket gives the receiver is masked: uniform numbers, whatever the bucket has. When all buckets are through, the
//! sender says what its masks add up to, less what it adds to the totals; or, with a threshold, both run one more circuit,
//! which shows the totals of the groups that reach it.
//!
//! A run may be kept in a record (`--resume`). The receiver then keeps the masked totals of each bucket, and the sender the
//! masks. Those of an attempt are of it alone: of the attempts that do not count, the receiver has uniform numbers. From the
//! last step on no bucket is run again: with other keys in it, the receiver would learn a difference of totals.

use std::sync::Arc;

use vesica_party::{Abort, Channel, Registered, Role};
use vesica_protocols::tasks::AggregateOutput;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Unopened;
use super::job::{AgreedJob, InBuckets, Job, TotalsInBuckets};
use crate::buckets::{Buckets, KeptMatches};
use crate::cluster::messages::Unmask;
use crate::failure::Failure;
use crate::handshake::messages::send;
use crate::resume::Going;
use crate::table::KeyTable;

/// A task of totals, with one of its protocols.
pub(super) struct BucketTotals<'a, J: Job> {
    pub agreed: &'a Arc<AgreedJob<J>>,
    pub row: &'static dyn Registered<J::Functionality>,
    pub of: &'a InBuckets<J>,
    pub totals: &'a TotalsInBuckets<J>,
}

impl<J: Job> BucketTotals<'_, J> {
    /// Runs the buckets that are due, and shows the receiver the totals over all.
    pub fn run(
        self,
        buckets: &Buckets,
        kept: Option<KeptMatches>,
        table: &KeyTable,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Option<Unopened>, Abort> {
        let (request, numbers) = (self.agreed.workload.request(), self.agreed.numbers_of_bucket(self.totals));
        // Also where no bucket is due any more: what the last step is built on follows the protocol.
        ch.follow(self.row.entry());
        let added = self.agreed.added_to_totals(self.totals, rng);
        let mut kept = kept.filter(KeptMatches::is_recorded);
        let mut going = kept.as_mut().and_then(KeptMatches::going);
        let due = going.as_ref().map_or_else(|| (0..=buckets.count()).collect(), |going| going.due().to_vec());
        // The last step is kept like a bucket behind all others.
        let last = buckets.count();
        let due_buckets: Vec<usize> = due.iter().copied().filter(|&bucket| bucket != last).collect();
        let mut of_all = Secret::new(vec![0; numbers]);
        buckets.each(ch, &due_buckets, |bucket, ch| {
            if let Some(going) = &mut going {
                going.begin_bucket()?;
            }
            let own = buckets.bucket(bucket)?;
            let totals = match self.agreed.role {
                Role::Sender => {
                    let masks = masks(numbers, rng);
                    let input = (self.of.sender_input)(&self.agreed.terms, own, table, &masks);
                    self.row.sender(&request, ch, rng)?.run(input, ch, rng)?;
                    masks
                }
                Role::Receiver => {
                    let input = (self.of.receiver_input)(&self.agreed.terms, own, table);
                    let output = self.row.receiver(&request, ch, rng)?.run(input, ch, rng)?;
                    Secret::new((self.totals.of_bucket)(&output))
                }
            };
            match &mut going {
                Some(going) => going.end_totals(bucket, &ch.transcript().unwrap_or_default(), &totals)?,
                None => add(&mut of_all, &totals),
            }
            Ok(())
        })?;
        let Some(going) = going else {
            let shown = self.agreed.show_totals(self.totals, (&of_all, &added), ch, rng)?;
            return Ok(shown.and_then(|shown| (self.totals.result)(self.agreed.clone(), shown)));
        };
        // Not due where the receiver has it, and the sender has ended.
        if due.contains(&last) {
            going.begin_to_compare(ch)?;
            let of_all = sum(going, last, numbers)?;
            let shown = self.agreed.show_totals(self.totals, (&of_all, &added), ch, rng)?;
            let shown = shown.map_or_else(|| vec![0; numbers], |shown| (self.totals.kept)(&self.agreed.terms, &shown));
            going.end_totals(last, &ch.transcript().unwrap_or_default(), &Secret::new(shown))?;
        }
        if self.agreed.role == Role::Sender {
            return Ok(None);
        }
        let shown = (self.totals.shown)(&self.agreed.terms, &going.totals(last, numbers)?);
        Ok((self.totals.result)(self.agreed.clone(), shown))
    }
}

impl<J: Job> AgreedJob<J> {
    /// How many numbers a bucket gives.
    pub fn numbers_of_bucket(&self, totals: &TotalsInBuckets<J>) -> usize {
        (totals.numbers)(&self.workload.request())
    }

    /// What the sender adds to the totals over all buckets. It is drawn before the first bucket: how long that takes
    /// depends on it, and the partner could time it alone between two messages of the end.
    pub fn added_to_totals(&self, totals: &TotalsInBuckets<J>, rng: &mut SecretRng) -> Secret<Vec<u64>> {
        match self.role {
            Role::Sender => (totals.added)(&self.terms, rng),
            Role::Receiver => Secret::new(Vec::new()),
        }
    }

    /// The last step: the sender has `of_all` its masks added up, and what it adds to the totals; the receiver what it was
    /// given with these masks. Gives what the receiver is to see; nothing for the sender.
    ///
    /// # Errors
    /// If the partner says something else than totals of this task, or the conversation fails.
    pub fn show_totals(
        &self,
        totals: &TotalsInBuckets<J>,
        (of_all, added): (&[u64], &[u64]),
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Option<AggregateOutput>, Abort> {
        match ((totals.withheld)(&self.workload.request())?, self.role) {
            (Some(withheld), Role::Sender) => withheld.send(of_all, ch, rng).map(|()| None),
            (Some(withheld), Role::Receiver) => withheld.receive(of_all, ch, rng).map(Some),
            (None, Role::Sender) => {
                let masks = of_all.iter().zip(added.iter()).map(|(mask, added)| mask.wrapping_sub(*added));
                send(ch, Unmask(masks.collect()))?;
                Ok(None)
            }
            (None, Role::Receiver) => {
                let masks = Unmask::receive(ch, of_all.len())?;
                let shown: Vec<u64> = of_all.iter().zip(masks).map(|(total, mask)| total.wrapping_sub(mask)).collect();
                Ok(Some((totals.shown)(&self.terms, &shown)))
            }
        }
    }
}

/// What the sender adds to the numbers of a bucket: uniform and independent, in each attempt at it.
fn masks(numbers: usize, rng: &mut SecretRng) -> Secret<Vec<u64>> {
    let mut masks = Secret::new(vec![0; numbers]);
    masks.iter_mut().for_each(|mask| *mask = rng.block() as u64);
    masks
}

/// What a side has kept of all buckets, added up.
fn sum(going: &Going, buckets: usize, numbers: usize) -> Result<Secret<Vec<u64>>, Failure> {
    let mut all = Secret::new(vec![0u64; numbers]);
    for bucket in 0..buckets {
        add(&mut all, &going.totals(bucket, numbers)?);
    }
    Ok(all)
}

fn add(sums: &mut [u64], more: &[u64]) {
    sums.iter_mut().zip(more).for_each(|(sum, one)| *sum = sum.wrapping_add(*one));
}
