//! From one version of a prepared set to the next.

use std::path::Path;

use vesica_party::service::Server as _;
use vesica_protocols::recurrent::kept::Keeper;
use vesica_structures::rng::SecretRng;

use crate::failure::{Failure, code};
use crate::service::answers::Answers;
use crate::service::preparation::Preparation;
use crate::service::prepared::{self, Prepared};
use crate::service::roster::{Changes, Roster, Update};
use crate::service::set::Set;
use crate::service::{Description, TableService};
use crate::words::counted;

/// The prepared set of a table: an update of the one before if there is one, with what has changed.
pub(super) fn follow<S: TableService>(
    description: &Description,
    before: Option<(&S::Server, &Roster, u64)>,
    set: Set,
    preparation: Option<&Preparation<'_>>,
    rng: &mut SecretRng,
) -> Result<(Prepared<S>, Option<Changes>), Failure> {
    let Some((server, roster, made)) = before else {
        return Ok((Prepared::new(description.clone(), set, preparation, rng)?, None));
    };
    // Dummies that come and go are the same if this breaks off and goes on.
    let mut of_dummies = preparation.map_or_else(|| rng.child(), |preparation| preparation.rng("changes", &set.hash));
    let changes = roster.changes_to(&set.roster);
    // An item of an update that goes and one that comes take the work of two. Beyond half of the set, all
    // of it takes less, and no more memory than preparing it took.
    let (server, roster) = if changes.items().saturating_mul(2) > roster.len() as u64 {
        let Set { mut input, roster: now, .. } = set;
        let roster = roster.renew_to(now, &mut input, &mut of_dummies);
        let width = description.payload.as_ref().map_or(0, |schema| schema.width);
        input.payloads.resize(roster.len().saturating_mul(width), 0);
        (S::renew_kept(server, input, keeper(preparation), rng)?, roster)
    } else {
        let Update { removed, added, roster } = roster.update_to(set.roster, &set.input, &mut of_dummies);
        (S::update_kept(server, [removed, added], keeper(preparation), rng)?, roster)
    };
    let Some(server) = server else {
        let mend = "start the server again with another file for --state; then each client enrols again";
        return Err(Failure::new(code::INTERNAL, "the set cannot be updated any more", mend));
    };
    let prepared =
        Prepared { description: description.clone(), set_hash: set.hash, roster: Some(roster), server, made };
    Ok((prepared, Some(changes)))
}

/// What keeps the parts of a set while it is prepared.
pub(super) fn keeper<'a>(preparation: Option<&'a Preparation<'_>>) -> Option<&'a dyn Keeper> {
    preparation.map(|preparation| preparation as &dyn Keeper)
}

/// Writes a set that is about to be served to the state file, and to that of what it answers.
pub(super) fn keep<S: TableService>(
    prepared: &Prepared<S>,
    state: Option<&Path>,
    answers: Option<&Answers>,
) -> Result<(), Failure> {
    let set = prepared.server.state_id();
    if let Some(answers) = answers {
        answers.announce(set)?;
    }
    if let Some(path) = state {
        prepared::save(prepared, path)?;
    }
    // Clients join it only after this. What the set before answers from now on counts in its own memory
    // alone: no file has its key any more.
    if let Some(answers) = answers {
        answers.begin(set);
    }
    Ok(())
}

/// The table has more keys than the set has room for.
pub(super) fn outgrown(keys: u64, capacity: u64) -> Failure {
    Failure::new(
        code::REFUSED,
        format_args!("the table has {keys} keys now, and the set has room for {capacity}"),
        "start the server again with --replace-state, and with a larger --capacity if you name one; then each client \
         enrols again",
    )
}

/// Refuses a table that has lost many keys: one that was cut short looks like that, and clients would
/// take what is missing for harmless.
pub(super) fn refuse_shrunk(before: u64, now: u64, most_percent: u8) -> Result<(), Failure> {
    let lost = before.saturating_sub(now);
    if u128::from(lost) * 100 <= u128::from(before) * u128::from(most_percent) {
        return Ok(());
    }
    Err(Failure::new(
        code::REFUSED,
        format_args!(
            "the table has {}, and had {before} before: more than {most_percent} percent are gone, as if it had been cut \
             short",
            counted(now, "key", "keys")
        ),
        "write the whole table; or, if this is the whole table, start the server again with --max-shrink 100",
    ))
}
