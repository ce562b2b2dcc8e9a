//! Totals over the buckets of a run that is kept in a record (`--resume`).
//!
//! The receiver keeps the masked totals of each bucket, and the sender the masks. Those of an attempt are of it alone, and
//! nothing says what those of all attempts add up to: of the attempts that do not count, the receiver has uniform numbers.
//! When both sides have all buckets, the sender says what the masks of these add up to. From then on no bucket is run
//! again: with other keys in it, the receiver would learn a difference of totals.

use std::sync::Arc;

use vesica_party::{Abort, Channel, Registered, Role};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::Unopened;
use super::job::{AgreedJob, InBuckets, Job, TotalsOf};
use crate::buckets::{Buckets, KeptMatches, Masks};
use crate::cluster::messages::Unmask;
use crate::failure::{Failure, code};
use crate::handshake::messages::send;
use crate::resume::Going;
use crate::table::KeyTable;

/// A task of totals, with one of its protocols.
pub(super) struct KeptTotals<'a, J: Job> {
    pub agreed: &'a Arc<AgreedJob<J>>,
    pub row: &'static dyn Registered<J::Functionality>,
    pub of: InBuckets<J>,
    /// The masked totals in the receiver's output.
    pub totals_of: TotalsOf<J>,
}

impl<J: Job> KeptTotals<'_, J> {
    /// Runs the buckets that are due, and takes the masks off.
    pub fn run(
        self,
        buckets: &Buckets,
        mut kept: KeptMatches,
        table: &KeyTable,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<Option<Unopened>, Abort> {
        let Self { agreed, row, of, totals_of } = self;
        let (request, role) = (agreed.workload.request(), agreed.role);
        let results = (of.added)(&agreed.terms, rng).len();
        let masks = Masks::independent(buckets.count(), results, rng);
        let due = kept.due().to_vec();
        let going = kept.going().ok_or_else(no_record)?;
        buckets.each(ch, &due, |bucket, ch| {
            going.begin_bucket()?;
            let own = buckets.bucket(bucket)?;
            let totals = match role {
                Role::Sender => {
                    let input = (of.sender_input)(&agreed.terms, own, table, &masks);
                    row.sender(&request, ch, rng)?.run(input, ch, rng)?;
                    Secret::new(masks.of(bucket).to_vec())
                }
                Role::Receiver => {
                    let party = row.receiver(&request, ch, rng)?;
                    Secret::new(totals_of(&party.run((of.receiver_input)(&agreed.terms, own, table), ch, rng)?))
                }
            };
            Ok(going.end_totals(bucket, &ch.transcript().unwrap_or_default(), &totals)?)
        })?;
        // Kept like a bucket behind all others. It is not due where the receiver has it, and the sender has ended.
        let last = buckets.count();
        if going.due().contains(&last) {
            going.begin_to_compare(ch)?;
            let masks = match role {
                Role::Sender => {
                    let masks = sum(going, last, results)?;
                    send(ch, Unmask(masks.to_vec()))?;
                    masks
                }
                Role::Receiver => Secret::new(Unmask::receive(ch, results)?),
            };
            going.end_totals(last, &ch.transcript().unwrap_or_default(), &masks)?;
        }
        if role == Role::Sender {
            return Ok(None);
        }
        let (masked, masks) = (sum(going, last, results)?, going.totals(last, results)?);
        let totals = masked.iter().zip(masks.iter()).map(|(total, mask)| total.wrapping_sub(*mask)).collect();
        Ok((of.result_of_totals)(agreed.clone(), totals))
    }
}

/// What a side has kept of all buckets, added up.
fn sum(going: &Going, buckets: usize, results: usize) -> Result<Secret<Vec<u64>>, Failure> {
    let mut all = Secret::new(vec![0u64; results]);
    for bucket in 0..buckets {
        let of_bucket = going.totals(bucket, results)?;
        all.iter_mut().zip(of_bucket.iter()).for_each(|(sum, one)| *sum = sum.wrapping_add(*one));
    }
    Ok(all)
}

fn no_record() -> Failure {
    Failure::new(code::INTERNAL, "a run is to be kept in a record and has none", "please report this")
}
