//! Holding a run against rules.

use vesica_party::{Entry, Role, Security};

use super::rules::{Bounds, QUERY, mode_rests_on};
use super::{Policy, Rule, Ruled};
use crate::failure::{Failure, code};
use crate::session::{Config, OwnTable};
use crate::task;
use crate::words::counted;

/// What this side's user wants, before the partner is there.
#[derive(Debug)]
pub struct Intended<'a> {
    /// The task's name.
    pub task: &'a str,
    /// This side's role.
    pub role: Role,
    /// The least security that this side accepts.
    pub security: Security,
    /// Whether nothing may run that a quantum computer is known to break.
    pub post_quantum: bool,
    /// The own table.
    pub source: &'a OwnTable,
    /// Own columns beside the key whose values take part. What is grouped by stays with its side.
    pub columns: Vec<&'a str>,
    /// Results of fewer common keys are withheld; `None` of a task that withholds none.
    pub at_least: Option<u64>,
    /// Whether the sender learns a result, too.
    pub both_learn: bool,
    /// Whether this side, as a sender, adds noise.
    pub has_noise: bool,
    /// Whether the machines of a cluster have the table.
    pub on_cluster: bool,
}

impl<'a> Intended<'a> {
    /// What a run's configuration says.
    pub fn of(config: &'a Config, on_cluster: bool) -> Self {
        let settings = &config.settings;
        let payload = settings.payload.iter().flat_map(|payload| &payload.columns).map(String::as_str);
        let values = settings.values.columns.iter().map(|column| column.name.as_str());
        Self {
            task: config.task.name(),
            role: config.role,
            security: config.security,
            post_quantum: config.post_quantum,
            source: &config.source,
            columns: payload.chain(values).collect(),
            at_least: task::takes_threshold(config.task).then_some(settings.at_least),
            both_learn: settings.both_learn,
            has_noise: settings.noise.is_some(),
            on_cluster,
        }
    }

    /// What a query to a server is.
    pub fn query(security: Security, post_quantum: bool, source: &'a OwnTable) -> Self {
        Self {
            task: QUERY,
            role: Role::Receiver,
            security,
            post_quantum,
            source,
            columns: Vec::new(),
            at_least: None,
            both_learn: false,
            has_noise: false,
            on_cluster: false,
        }
    }
}

/// What both sides have agreed on.
#[derive(Debug)]
pub struct Agreed<'a> {
    /// The protocol.
    pub entry: &'a Entry,
    /// The security in which it runs.
    pub security: Security,
    /// The partner's distinct keys, its dummies included.
    pub partner_keys: u64,
    /// Groups of keys.
    pub groups: u64,
}

impl Policy {
    /// Refuses settings that are against a rule.
    ///
    /// # Errors
    /// If they are.
    pub fn check_settings(&self, run: &Intended<'_>) -> Result<(), Failure> {
        let each = self.rules.iter().map(|ruled| match against_settings(&ruled.rule, run) {
            Some(what) => Err(self.refusal(ruled, &what)),
            None => Ok(()),
        });
        each.collect()
    }

    /// Refuses an own table of another size than a rule says. The partner has not heard of it yet.
    ///
    /// # Errors
    /// If it is.
    pub fn check_own_keys(&self, keys: u64) -> Result<(), Failure> {
        self.check_bounds(keys, "the table has", |rule| match rule {
            Rule::OwnKeys(bounds) => Some(*bounds),
            _ => None,
        })
    }

    /// Refuses a table of the partner of another size than a rule says.
    ///
    /// # Errors
    /// If it is.
    pub fn check_partner_keys(&self, keys: u64) -> Result<(), Failure> {
        self.check_bounds(keys, "the partner's table has", |rule| match rule {
            Rule::PartnerKeys(bounds) => Some(*bounds),
            _ => None,
        })
    }

    /// Refuses what both sides have agreed on, if a rule does.
    ///
    /// # Errors
    /// If one does.
    pub fn check_agreed(&self, run: &Agreed<'_>) -> Result<(), Failure> {
        self.check_partner_keys(run.partner_keys)?;
        let each = self.rules.iter().map(|ruled| {
            let what = match &ruled.rule {
                Rule::MaxGroups(most) if run.groups > *most => {
                    format!("this run has {}", counted(run.groups, "group", "groups"))
                }
                rule if !self::allows(rule, run.entry, run.security) => {
                    format!("both sides would run {}", run.entry.id)
                }
                _ => return Ok(()),
            };
            Err(self.refusal(ruled, &what))
        });
        each.collect()
    }

    /// Whether the rules allow a protocol.
    pub fn allows(&self, entry: &Entry, security: Security) -> bool {
        self.rules.iter().all(|ruled| allows(&ruled.rule, entry, security))
    }

    /// The refusal of a run for which the rules leave no protocol.
    pub(crate) fn no_protocol(&self) -> Failure {
        let excludes = |ruled: &&Ruled| matches!(ruled.rule, Rule::ExcludeProtocols(_) | Rule::ExcludeAssumptions(_));
        match self.rules.iter().find(excludes) {
            Some(ruled) => self.refusal(ruled, "no other protocol serves this run"),
            None => Failure::new(code::REFUSED, "the policy leaves no protocol", "change the policy"),
        }
    }

    fn check_bounds(&self, keys: u64, whose: &str, of: fn(&Rule) -> Option<Bounds>) -> Result<(), Failure> {
        let broken = |ruled: &&Ruled| of(&ruled.rule).is_some_and(|bounds| !bounds.hold(keys));
        match self.rules.iter().find(broken) {
            Some(ruled) => {
                Err(self.refusal(ruled, &format!("{whose} {}", counted(keys, "distinct key", "distinct keys"))))
            }
            None => Ok(()),
        }
    }
}

/// Whether a rule allows a protocol.
fn allows(rule: &Rule, entry: &Entry, security: Security) -> bool {
    match rule {
        // A variant is as excluded as its row.
        Rule::ExcludeProtocols(ids) => !ids.iter().any(|id| id == entry.id || id == entry.row_id()),
        Rule::ExcludeAssumptions(words) => {
            let rests = |mode| words.iter().any(|words| mode_rests_on(mode, words));
            // What has no such mode is refused elsewhere, and here as well.
            entry.mode(security).is_some_and(|mode| !rests(mode))
        }
        _ => true,
    }
}

/// What of the settings is against a rule.
fn against_settings(rule: &Rule, run: &Intended<'_>) -> Option<String> {
    let on_cluster = || "the machines of a cluster have the table, of which this process sees no keys".to_owned();
    match rule {
        Rule::Tasks(tasks) if !tasks.iter().any(|task| task == run.task) => Some(format!("the task is {}", run.task)),
        Rule::Roles(roles) if !roles.contains(&run.role) => Some(format!("this side is the {}", run.role)),
        Rule::Security(Security::Malicious) if run.security == Security::SemiHonest => {
            Some("the security is semi-honest".into())
        }
        Rule::PostQuantum if !run.post_quantum => Some("the run does not say --post-quantum".into()),
        Rule::Inputs(inputs) => {
            let paths = run.source.table.paths();
            if paths.is_empty() {
                return Some(format!("the table is {}, and no file of a name", run.source.table.name()));
            }
            let outside = paths.iter().find(|path| !inputs.iter().any(|inputs| inputs.hold(path.as_ref())));
            outside.map(|path| format!("the table has the file {path}"))
        }
        Rule::Keys(keys) => {
            let columns = run.source.key.columns();
            let of = |places: std::ops::Range<usize>| -> Vec<String> {
                columns.get(places).unwrap_or_default().iter().map(|column| column.name.clone()).collect()
            };
            let others = run.source.key.alternatives().map(of).find(|columns| !keys.contains(columns));
            others.map(|columns| format!("the key is {}", columns.join(",")))
        }
        Rule::Payload(allowed) => {
            let other = run.columns.iter().find(|column| !allowed.iter().any(|allowed| allowed == *column));
            other.map(|column| format!("the column {column} would take part"))
        }
        Rule::RevealIfAtLeast(least) => match run.at_least {
            Some(said) if said < *least => Some(format!("the run says --reveal-if-at-least {said}")),
            None if *least > 0 => Some(format!("{} withholds no results", run.task)),
            _ => None,
        },
        Rule::NoBothLearn if run.both_learn => Some("the run says --both-learn".into()),
        Rule::Epsilon(_) if run.role == Role::Sender && !run.has_noise => Some("the run has no --epsilon".into()),
        Rule::RunsPerTable(_) | Rule::LeastChangedKeys { .. } if run.on_cluster => Some(on_cluster()),
        _ => None,
    }
}
