//! The steps in which the protocol runs: on all items, on one bucket after the other, or on the machines of a cluster.

use std::time::Instant;

use vesica_party::{Channel, Role};
use vesica_structures::rng::SecretRng;

use super::agree::{Carried, InAgreement};
use super::context::{Context, in_role};
use super::on_cluster::{Divided, OfCluster, Ran};
use super::ready::fresh;
use crate::buckets::{self, Buckets};
use crate::failure::Failure;
use crate::plan::{self, Link};
use crate::progress::{Gauge, Stage};
use crate::resume::Going;
use crate::task::Unopened;

/// Who runs the protocol, and on what.
pub(super) enum Execution<'m> {
    /// This process, on all items at once.
    Whole(Vec<u128>),
    /// This process, on one bucket after the other.
    Buckets(Box<Buckets>),
    /// The machines of a cluster, on buckets.
    Cluster(Box<Divided<'m>>),
}

/// A side whose items are ready for the protocol.
pub(super) struct SetUp<'m> {
    carried: Carried,
    rng: SecretRng,
    execution: Execution<'m>,
}

impl<'m> InAgreement<'m> {
    /// Makes the items: salted keys with dummies behind them, in buckets if that was agreed.
    pub fn set_up(self, ctx: &Context<'_>, ch: &Channel) -> Result<SetUp<'m>, Failure> {
        let Self { mut carried, mut rng, link, workers } = self;
        let execution = match workers {
            None => set_up_here(ctx, ch, &mut carried, &link, &mut rng)?,
            Some(workers) => {
                ctx.watch.enter(Stage::Running(carried.agreement.entry.id), Gauge::Nothing);
                let divided = workers.divide(ctx, ch, &carried.agreement, carried.own.distinct, &mut rng)?;
                Execution::Cluster(Box::new(divided))
            }
        };
        Ok(SetUp { carried, rng, execution })
    }
}

fn set_up_here<'m>(
    ctx: &Context<'_>,
    ch: &Channel,
    carried: &mut Carried,
    link: &Link,
    rng: &mut SecretRng,
) -> Result<Execution<'m>, Failure> {
    let Carried { agreement, own, padded, going, warnings, .. } = carried;
    let entry = agreement.entry;
    if let Some(own) = agreement.own_view {
        let chosen = entry.id;
        warnings.push(format!(
            "the receiver chose {chosen}, where this side would have chosen {own}; are the releases of vesica the same?"
        ));
    }
    let workload = agreement.terms.workload();
    let gauge = match going {
        None => Gauge::Traffic(plan::expected(entry, workload, &ctx.config.machine, link)),
        // Some buckets are finished already.
        Some(_) => Gauge::Nothing,
    };
    ctx.watch.enter(Stage::Running(entry.id), gauge);
    let role = ctx.config.role;
    let missing = *padded - own.distinct;
    let run = workload.extent();
    if let Some(keys) = &mut own.table.spilled {
        let keys_of_dummies = going.as_ref().map_or_else(|| [fresh(rng), fresh(rng)], Going::dummy_keys);
        let [padding, filling] = keys_of_dummies.map(|key| dummies(role, &key));
        let padding = padding.take(missing);
        let shape = (agreement.buckets as usize, buckets::size(run, role));
        let stop = || ctx.reason(ch, "the keys were divided");
        let buckets = Buckets::in_work_folder(keys, padding, agreement.salt, shape, filling, &stop)?;
        return Ok(Execution::Buckets(Box::new(buckets.going(going.take()))));
    }
    let mut items = std::mem::take(&mut own.table.digests).fold(agreement.salt);
    items.extend(dummies(role, &fresh(rng)).take(missing));
    if run.runs == 1 {
        return Ok(Execution::Whole(items));
    }
    let dummies = dummies(role, &fresh(rng));
    let buckets = Buckets::new(items, agreement.salt, run.runs, buckets::size(run, role), dummies)?;
    Ok(Execution::Buckets(Box::new(buckets)))
}

/// A side whose protocol has come to its end.
pub(super) struct ProtocolEnded {
    pub carried: Carried,
    /// When the protocol began.
    pub began: Instant,
    pub outcome: ProtocolOutcome,
}

/// What the protocol gave this side; nothing of it has been looked at.
pub(super) struct ProtocolOutcome {
    /// Whether this side learns something, and has it completely.
    pub is_complete: bool,
    /// The result, if this process has it.
    pub result: Option<Unopened>,
    /// How many keys matched, where the machines of a cluster keep which.
    pub matched_elsewhere: Option<u64>,
    /// How many keys of the partner are new, where the machines of a cluster keep them.
    pub new_elsewhere: Option<u64>,
    /// What is to be said of a cluster, if one has run it.
    pub cluster: Option<OfCluster>,
}

impl ProtocolOutcome {
    fn here(result: Option<Unopened>) -> Self {
        Self { is_complete: result.is_some(), result, matched_elsewhere: None, new_elsewhere: None, cluster: None }
    }

    fn of_cluster(Ran { matched, new, result, cluster }: Ran) -> Self {
        let is_complete = matched.is_some() || new.is_some() || result.is_some();
        Self { is_complete, result, matched_elsewhere: matched, new_elsewhere: new, cluster: Some(cluster) }
    }
}

impl SetUp<'_> {
    /// Runs the protocol.
    pub fn run(self, ctx: &Context<'_>, ch: &mut Channel) -> Result<ProtocolEnded, Failure> {
        let Self { mut carried, mut rng, execution } = self;
        let Carried { agreement, own, .. } = &mut carried;
        let (entry, terms, table) = (agreement.entry, &agreement.terms, &mut own.table);
        let role = ctx.config.role;
        let began = Instant::now();
        let outcome = match execution {
            Execution::Whole(items) => {
                ProtocolOutcome::here(in_role(role, ch, |ch| terms.run(entry, items, table, ch, &mut rng))?)
            }
            Execution::Buckets(buckets) => ProtocolOutcome::here(in_role(role, ch, |ch| {
                terms.run_in_buckets(entry, *buckets, table, ch, &mut rng)
            })?),
            Execution::Cluster(divided) => ProtocolOutcome::of_cluster(divided.run(ctx, ch, agreement, &mut rng)?),
        };
        // From here on a side with a result keeps it.
        if outcome.is_complete {
            ctx.interrupt.complete();
        }
        Ok(ProtocolEnded { carried, began, outcome })
    }
}

/// Items that are nobody's key: from a domain of the side's own, under a secret `key` of the run, so that
/// neither the own keys, nor the peer's, nor the peer's dummies are among them but with probability
/// 2^-128 each.
pub(crate) fn dummies(role: Role, key: &[u8; 32]) -> impl Iterator<Item = u128> + use<> {
    let domain = match role {
        Role::Sender => "vesica 2026-11-20 dummy items of the sender v1",
        Role::Receiver => "vesica 2026-11-20 dummy items of the receiver v1",
    };
    let mut stream = blake3::Hasher::new_derive_key(domain).update(key).finalize_xof();
    let mut item = [0; 16];
    std::iter::repeat_with(move || {
        stream.fill(&mut item);
        u128::from_le_bytes(item)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dummies_of_the_two_sides_differ_under_one_seed_and_are_fresh() {
        let of = |role, seed| {
            dummies(role, &fresh(&mut SecretRng::insecure_from_seed(seed))).take(1000).collect::<Vec<u128>>()
        };
        let mut all = [of(Role::Sender, 1), of(Role::Receiver, 1), of(Role::Sender, 2)].concat();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 3000);
    }
}
