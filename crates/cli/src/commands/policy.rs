//! `vesica policy`.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use vesica::Failure;
use vesica::bounded::read_text;
use vesica::failure::code;
use vesica::locked::Wait;
use vesica::policy::{self, Policy, Rule, Ruled};
use vesica::session::Events;
use vesica::toml_text::MAX_BYTES;

use crate::args::{PolicyArgs, PolicyCheckArgs, PolicyCommand, PolicySignArgs, RoleName};
use crate::commands::sides;
use crate::identity::OwnKey;
use crate::outcome::{Outcome, print};
use crate::settings::{self, Asked, Refused, Revoked};
use crate::{identity, stderr};

pub fn run(args: PolicyArgs) -> Outcome {
    match args.command {
        PolicyCommand::Check(args) => check(&args),
        PolicyCommand::Sign(args) => sign(&args),
    }
}

/// Says what is waited for.
struct Notes;

impl Events for Notes {
    fn notice(&self, text: &str) {
        stderr::note(text);
    }
}

/// Waits for runs that are counted meanwhile, until a signal ends the process.
fn at_terminal() -> Wait<'static> {
    Wait { goes_on: &|| Ok(()), events: &Notes }
}

fn check(args: &PolicyCheckArgs) -> Outcome {
    let keys = settings::peer_keys_in(&args.partner, args.peers.as_deref())?;
    let Some(policy) = settings::policy(&keys, args.peers.as_deref())?.map(Arc::new) else {
        if args.json {
            return print(&format!("{}\n", json!({ "ok": true, "policy": null })));
        }
        return print("there is no policy for this partner: any run may be made with it\n");
    };
    let left = policy.left(&at_terminal())?;
    let tried = args.job.is_some();
    if let Some(job) = &args.job {
        try_job(args, job.clone(), policy.clone())?;
    }
    let of_line = |line| left.iter().find(|left| left.line == line).map(|left| left.text.clone());
    if args.json {
        let rules = policy.rules().iter().map(|Ruled { line, rule }| {
            json!({ "line": line, "rule": rule.to_string(), "counted": of_line(*line), "tried": tried && !is_later(rule) })
        });
        let rules = rules.collect::<Vec<_>>();
        let report = json!({ "ok": true, "policy": policy.digest_text(), "file": policy.file(), "rules": rules });
        return print(&format!("{report}\n"));
    }
    let mut text = format!("rules of {}, digest {}:\n", policy.file().display(), policy.digest_text());
    for Ruled { line, rule } in policy.rules() {
        text.push_str(&format!("  line {line}: {rule}\n"));
        text.extend(of_line(*line).map(|text| format!("    {text}\n")));
    }
    if let Some(job) = &args.job {
        text.push_str(&format!("{} is allowed, as far as its settings and the counts tell\n", job.display()));
        let later: Vec<String> = policy
            .rules()
            .iter()
            .filter(|ruled| is_later(&ruled.rule))
            .map(|Ruled { line, rule }| format!("{rule} (line {line})"))
            .collect();
        if !later.is_empty() {
            text.push_str(&format!("not tried, since tables and partner decide it: {}\n", later.join("; ")));
        }
    }
    print(&text)
}

/// Whether only a run can tell if a rule allows it.
fn is_later(rule: &Rule) -> bool {
    matches!(
        rule,
        Rule::OwnKeys(_)
            | Rule::PartnerKeys(_)
            | Rule::MaxGroups(_)
            | Rule::RunsPerTable(_)
            | Rule::LeastChangedKeys { .. }
    )
}

/// Holds a job with the partner against its policy.
fn try_job(args: &PolicyCheckArgs, job: PathBuf, policy: Arc<Policy>) -> Outcome {
    let mut arguments: Vec<OsString> = vec!["vesica".into(), "run".into(), job.into()];
    arguments.extend(["--peer".into(), OsString::from(&args.partner)]);
    if let Some(peers) = &args.peers {
        arguments.extend(["--peers".into(), peers.into()]);
    }
    if let Some(role) = args.role {
        let role = if role == RoleName::Sender { "sender" } else { "receiver" };
        arguments.extend(["--role".into(), role.into()]);
    }
    match settings::asked(arguments) {
        Ok(Asked::Command(cli)) => sides::check_policy(cli.command, policy, &at_terminal()),
        Ok(_) => Err(Failure::new(code::INTERNAL, "a job has become another command", "please report this")),
        Err(Refused::Failed(failure)) => Err(failure),
        Err(Refused::Usage(error)) => {
            Err(Failure::new(code::USAGE, settings::job::first_part(&error.to_string()), "see `vesica run --help`"))
        }
    }
}

fn sign(args: &PolicySignArgs) -> Outcome {
    let text = read_text(&args.file, MAX_BYTES).map_err(|error| {
        let fault = format_args!("cannot read the policy {}: {error}", args.file.display());
        Failure::new(code::INPUT, fault, "docs/policy.md shows such a file")
    })?;
    let key = OwnKey { identity: args.identity.as_deref(), passphrase_file: args.passphrase_file.as_deref() };
    let identity = identity::own(key, &|text| stderr::note(text))?;
    Revoked::of_partners(None)?.refuse_own(identity.public())?;
    // What cannot be used is not signed.
    let rules = vesica::written::settings(&text);
    let rules = rules.and_then(|rules| Policy::read((&args.file, "a partner", identity.public().into()), &rules, None));
    rules.map_err(|fault| settings::job::refused(&args.file, fault, "docs/policy.md has all rules"))?;
    let signature = policy::sign(&text, &identity)
        .ok_or_else(|| Failure::new(code::INTERNAL, "the policy could not be signed", "please report this"))?;
    let path = settings::signature_of(&args.file);
    fs::write(&path, signature).map_err(|error| {
        let fault = format_args!("cannot write {}: {error}", path.display());
        Failure::new(code::OUTPUT, fault, "choose a folder that you may write to")
    })?;
    print(&format!(
        "signed by {}: {}\nname that key beside the policy: policy-signer = \"{}\"\n",
        identity.public().fingerprint(),
        path.display(),
        identity.public()
    ))
}
