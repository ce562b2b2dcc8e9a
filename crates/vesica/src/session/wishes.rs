//! Whether a side's own configuration fits its task, before anything is opened; and what of it the partner hears.

use vesica_party::Role;
use vesica_protocols::tasks::AggregateRequest;

use super::{Config, Protection};
use crate::failure::{Failure, code};
use crate::handshake::Hello;
use crate::key::DIGEST_VERSION;
use crate::noise::check_budget;
use crate::plan::{self, Permissions, SetTask};
use crate::table::Join;

/// Refuses what the task does not take.
pub(super) fn check(config: &Config) -> Result<(), Failure> {
    let Config { task, role, .. } = *config;
    let refuse = |holds: bool, fault: &str, mend: &str| match holds {
        true => Err(Failure::new(code::USAGE, format_args!("{fault} (the task is {task}, this side the {role})"), mend)),
        false => Ok(()),
    };
    let values = &config.source.values;
    let columns = values.columns.len();
    if task == SetTask::Intersect {
        let computes = columns > 0 || values.group_by.is_some() || config.at_least > 0 || config.noise.is_some();
        return refuse(
            computes || !config.expected_ranges.is_empty(),
            "this run only joins",
            "choose a task that computes, for example --task sum",
        );
    }
    refuse(config.both_learn, "--both-learn is for intersections", "omit it")?;
    let joins = config.destination.as_ref().is_some_and(|to| to.join != Join::Inner);
    refuse(joins, "--join is for intersections", "omit it")?;
    let payload = config.source.payload.is_some() || config.expected_payload.is_some();
    refuse(payload, "payload columns other than numbers are for intersections", "give columns of numbers")?;
    let sender = role == Role::Sender;
    refuse(values.group_by.is_some() && sender, "--group-by is for the receiver", "omit it")?;
    refuse(config.noise.is_some() && !sender, "--epsilon is for the sender", "ask your partner to add noise")?;
    if !task.is_aggregate() {
        refuse(values.group_by.is_some(), "--group-by is for aggregates", "omit it")?;
        refuse(config.at_least > 0, "--reveal-if-at-least is for aggregates", "omit it")?;
        refuse(config.noise.is_some(), "--epsilon is for aggregates", "omit it")?;
        refuse(config.destination.is_none(), "each side gets a file of shares", "name a file with --output FILE")?;
    } else if !sender {
        refuse(config.destination.is_none(), "the receiver gets the result", "name a file with --output FILE")?;
    }
    match task {
        SetTask::Cardinality => refuse(columns > 0, "a cardinality takes no columns of values", "omit --payload, or say --task sum")?,
        SetTask::Sum if !sender => {
            refuse(columns > 0, "a sum is over the sender's columns", "omit --payload, or say --task join-and-compute")?
        }
        SetTask::Sum => refuse(columns == 0, "a sum needs a column", "name columns of numbers with --payload")?,
        SetTask::JoinAndCompute if !sender => {
            refuse(columns != 1, "join-and-compute takes one column of the receiver", "name one with --payload")?
        }
        SetTask::JoinAndCompute => refuse(columns == 0, "join-and-compute needs a column", "name columns of numbers with --payload")?,
        SetTask::Shares | SetTask::Intersect => {}
    }
    let most = AggregateRequest::MOST_COLUMNS;
    refuse(columns > most, &format!("{columns} columns are more than {most}"), "name fewer")?;
    let Some(noise) = &config.noise else { return Ok(()) };
    let kept_back = config.at_least > 1;
    refuse(
        kept_back,
        "noise does not cover a threshold: whether a group is shown depends on the exact number",
        "omit --epsilon or --reveal-if-at-least",
    )?;
    refuse(
        values.columns.iter().any(|column| column.clamp.is_none()),
        "noise needs to know how much a key can change a result",
        "give every column a range with --clamp COLUMN=LEAST..MOST",
    )?;
    match &config.protection {
        Protection::Tls { peer, .. } => check_budget(&noise.budget, &peer.fingerprint().to_string(), noise.epsilon),
        Protection::InsecurePlaintext => refuse(true, "a budget is for a partner whose key is known", "omit --insecure-plaintext"),
    }
}

/// What the partner is told, without the time and the randomness.
pub(super) fn hello(config: &Config) -> Result<Hello, Failure> {
    let permissions = Permissions { broken: config.allow_broken, count: config.allow_count };
    let rows = plan::allowed(config.task, config.protocol.as_deref(), config.security, permissions)?;
    Ok(Hello {
        role: config.role,
        task: config.task.name().into(),
        security: config.security,
        protocols: rows.into_iter().map(|row| row.entry().id.to_owned()).collect(),
        key_digest: DIGEST_VERSION.into(),
        key_columns: config.source.key.agreement(),
        payload: match config.role {
            Role::Sender => config.source.payload.as_ref().map(|payload| payload.columns.clone()),
            Role::Receiver => config.expected_payload.clone(),
        },
        both_learn: config.both_learn,
        values: config.source.values.columns.clone(),
        expected_ranges: config.expected_ranges.clone(),
        at_least: config.at_least,
        noise: config.noise.as_ref().map(|noise| noise.epsilon.to_string()),
        link: config.link,
        clock: 0,
        nonce: [0; 32],
        salt_commitment: [0; 32],
    })
}
