//! Whether a side's own configuration fits its task, before anything is opened; and what of it the
//! partner hears.

use super::{Config, Protection};
use crate::buckets::MOST_BUCKETS;
use crate::failure::{Failure, code};
use crate::handshake::Hello;
use crate::key::DIGEST_VERSION;
use crate::noise::check_budget;
use crate::plan::{self, Permissions};
use crate::policy::Intended;
use crate::task::{AnyJob, Side};
use vesica_party::{Mode, Resistance, Security};

/// The own side of the task.
///
/// # Errors
/// If the configuration has what the task does not take, is against the policy for the partner, or the budget does not
/// cover its noise.
pub(super) fn configure(config: &Config) -> Result<Box<dyn AnyJob>, Failure> {
    let job = config.task.configure(&side(config))?;
    if let Some(policy) = &config.policy {
        policy.check_connection(&config.protection)?;
        policy.check_settings(&Intended::of(config, false))?;
    }
    match (&config.settings.noise, &config.protection) {
        (None, _) => {}
        (Some(noise), Protection::Tls { peer, .. }) => {
            check_budget(&noise.budget, &peer.known_as().fingerprint().to_string(), noise.epsilon)?
        }
        (Some(_), Protection::InsecurePlaintext) => {
            let fault = format_args!(
                "a budget is for a partner whose key is known (the task is {}, this side the {})",
                config.task, config.role
            );
            return Err(Failure::new(code::USAGE, fault, "omit --insecure-plaintext"));
        }
    }
    Ok(job)
}

/// Whether a configuration can be run, as far as it tells by itself: no file is read, and nobody is
/// asked.
///
/// # Errors
/// If it has what the task does not take, allows no protocol, or is against the policy for the partner.
pub fn check(config: &Config) -> Result<(), Failure> {
    let job = config.task.configure(&side(config))?;
    if let Some(policy) = &config.policy {
        policy.check_partner(&config.protection)?;
        policy.check_settings(&Intended::of(config, false))?;
    }
    hello(config, &*job).map(drop)
}

fn side(config: &Config) -> Side<'_> {
    let output = config.destination.as_ref().map(|to| to.join);
    let or_keys = config.source.key.has_alternatives();
    let Config { role, buckets, ref settings, .. } = *config;
    Side { role, settings, or_keys, buckets, work: config.work.is_some(), resume: config.resume, output }
}

/// What the partner is told, without the time and the randomness.
///
/// # Errors
/// If no protocol is allowed, or the configuration is too long for its message.
pub(super) fn hello(config: &Config, job: &dyn AnyJob) -> Result<Hello, Failure> {
    check_buckets(config)?;
    check_resume(config)?;
    check_post_quantum(config.post_quantum, &config.protection)?;
    let Config { allow_broken: broken, allow_count: count, post_quantum, .. } = *config;
    let permissions = Permissions { broken, count, post_quantum };
    let (task, entries) = (config.task, config.task.entries());
    let mut entries = plan::allowed(task.name(), &entries, config.protocol.as_deref(), config.security, permissions)?;
    if config.resume && config.settings.both_learn {
        // A sender that goes on after it has learned its matches may ask about other items.
        let resists = |mode: &Mode| mode.corrupt_sender == Resistance::Malicious;
        entries.retain(|entry| !entry.mode(config.security).is_some_and(resists));
        if entries.is_empty() {
            return Err(Failure::new(
                code::USAGE,
                "--resume with --both-learn is for a partner that is trusted to follow the protocol, and the protocol is against one that does not",
                "omit one of them, or name another --protocol",
            ));
        }
    }
    if let Some(policy) = &config.policy {
        entries.retain(|entry| policy.allows(entry, config.security));
        if entries.is_empty() {
            return Err(policy.no_protocol());
        }
    }
    let hello = Hello {
        role: config.role,
        task: task.name().into(),
        security: config.security,
        post_quantum,
        protocols: entries.into_iter().map(|entry| entry.id.to_owned()).collect(),
        key_digest: DIGEST_VERSION.into(),
        key_columns: config.source.key.agreement(),
        or_keys: config.source.key.or_agreement(),
        buckets: config.buckets,
        may_divide: may_divide(config),
        resume: config.resume,
        cluster: false,
        link: config.link,
        dry_run: false,
        clock: 0,
        policy: None,
        nonce: [0; 32],
        salt_commitment: [0; 32],
        proposal: job.proposal(),
    };
    hello.check_length()?;
    Ok(hello)
}

/// Whether a run on the whole tables that does not fit in memory becomes one in buckets, as far as this side is concerned.
pub(super) fn may_divide(config: &Config) -> bool {
    config.may_divide && config.buckets == 1 && config.task.check_buckets(2).is_ok()
}

/// Refuses a record of a run that cannot go on.
fn check_resume(config: &Config) -> Result<(), Failure> {
    let refuse = |fault: &str, mend: &str| Err(Failure::new(code::USAGE, fault, mend));
    match config {
        Config { resume: false, .. } => Ok(()),
        Config { work: None, .. } => {
            refuse("--resume without --work: the record of the run needs a folder", "say --work FOLDER on both sides")
        }
        Config { protection: Protection::InsecurePlaintext, .. } => {
            refuse("--resume is for a partner whose key is known", "omit --insecure-plaintext, or --resume")
        }
        Config { security: Security::Malicious, settings, .. } if settings.both_learn => refuse(
            "--resume with --both-learn is for a partner that is trusted to follow the protocol",
            "omit one of them, or say --security semi-honest on both sides",
        ),
        _ => Ok(()),
    }
}

/// Refuses a connection without TLS where everything must last.
///
/// # Errors
/// If there is none.
pub(crate) fn check_post_quantum(post_quantum: bool, protection: &Protection) -> Result<(), Failure> {
    match protection {
        Protection::InsecurePlaintext if post_quantum => Err(Failure::new(
            code::USAGE,
            "--post-quantum with --insecure-plaintext, which hides nothing from anybody",
            "omit one of them",
        )),
        _ => Ok(()),
    }
}

/// Refuses a number of buckets that cannot be run.
fn check_buckets(config: &Config) -> Result<(), Failure> {
    let most = match config.task.most_buckets() {
        // The task says that it takes none.
        1 => MOST_BUCKETS,
        most => most,
    };
    if config.buckets <= most {
        return Ok(());
    }
    let fault = format_args!("--buckets {} is more than {most}", config.buckets);
    Err(Failure::new(code::USAGE, fault, "say fewer, the same number on both sides"))
}
