//! Reading rules, and saying them.

use std::fmt;
use std::path::{Path, PathBuf};

use vesica_party::transport::tls::Day;
use vesica_party::{Entry, Mode, Role, Security};

use super::inputs::Inputs;
use super::shapes::{ON_SMALL_CHANGE, ROLES, SECURITY, names, tasks};
use super::{Ruled, changes};
use crate::nearest::nearest;
use crate::noise::Epsilon;
use crate::rows;
use crate::task::{self, AnyTask};
use crate::written::{Setting, Value};

/// What a file of partners calls the task of a query to a server.
pub const QUERY: &str = "query";

/// Seconds of a day.
pub(super) const DAY: u64 = 86_400;

/// The longest period of a rule, in seconds.
const LONGEST: u64 = 3_660 * DAY;

/// One thing that a policy demands of each run.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// One of these tasks.
    Tasks(Vec<String>),
    /// This side in one of these roles.
    Roles(Vec<Role>),
    /// At least this security.
    Security(Security),
    /// Nothing that a quantum computer is known to break.
    PostQuantum,
    /// The own table in one of these files.
    Inputs(Vec<Inputs>),
    /// The own key, and each alternative of it, one of these lists of columns.
    Keys(Vec<Vec<String>>),
    /// No values of own columns beside the key but these. What is grouped by may be any column.
    Payload(Vec<String>),
    /// So many own distinct keys.
    OwnKeys(Bounds),
    /// So many distinct keys of the partner, its dummies included.
    PartnerKeys(Bounds),
    /// Results withheld of fewer common keys than this.
    RevealIfAtLeast(u64),
    /// At most so many groups.
    MaxGroups(u64),
    /// No result for the sender.
    NoBothLearn,
    /// Noise in all that this side gives as the sender, with at most so much epsilon in each period.
    Epsilon(Vec<Per<Epsilon>>),
    /// At most so many runs in each period.
    Runs(Vec<Per<u32>>),
    /// At most so many runs with the same own keys.
    RunsPerTable(u32),
    /// No run after this day, by UTC.
    Expires(Day),
    /// None of these protocols.
    ExcludeProtocols(Vec<String>),
    /// No protocol that rests on an assumption with one of these words.
    ExcludeAssumptions(Vec<String>),
    /// Own keys that are those of an earlier table, or differ from it in at least so many.
    LeastChangedKeys {
        /// How many.
        least: u32,
        /// Whether a run with fewer is warned of, and not refused.
        warns: bool,
    },
}

/// A least and a most number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The least.
    pub least: u64,
    /// The most; `None` for any.
    pub most: Option<u64>,
}

impl Bounds {
    /// Whether a number is within them.
    pub fn hold(&self, number: u64) -> bool {
        number >= self.least && self.most.is_none_or(|most| number <= most)
    }
}

/// A bound on what there is in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Per<T> {
    /// The most.
    pub most: T,
    /// The period, in seconds.
    pub seconds: u64,
}

/// What settings of a file say.
pub(super) struct Read {
    pub rules: Vec<Ruled>,
    pub state: Option<PathBuf>,
}

/// Reads rules. Paths start at `folder`.
///
/// # Errors
/// The line, and what is wrong there.
pub(super) fn read(settings: &[Setting], folder: &Path) -> Result<Read, String> {
    let mut read = Read { rules: Vec::new(), state: None };
    let mut warns = None;
    for (place, setting) in settings.iter().enumerate() {
        let Setting { key, line, .. } = setting;
        if let Some(earlier) = settings.iter().take(place).find(|earlier| earlier.key == *key) {
            return Err(format!("line {line}: `{key}` is there a second time: line {} has it", earlier.line));
        }
        match key.as_str() {
            "state" => read.state = Some(folder.join(word(setting)?)),
            "on-small-change" => {
                let is_warning = choice(setting, &ON_SMALL_CHANGE, &[false, true])?;
                warns = Some((*line, is_warning));
            }
            _ => {
                if let Some(rule) = rule(setting, folder)? {
                    read.rules.push(Ruled { line: *line, rule });
                }
            }
        }
    }
    let mut changed = read.rules.iter_mut().filter_map(|ruled| match &mut ruled.rule {
        Rule::LeastChangedKeys { warns, .. } => Some(warns),
        _ => None,
    });
    match (warns, changed.next()) {
        (Some((_, is_warning)), Some(warns)) => *warns = is_warning,
        (Some((line, _)), None) => {
            return Err(format!("line {line}: `on-small-change` needs `least-changed-keys` beside it"));
        }
        (None, _) => {}
    }
    contradiction(&read.rules).map_or(Ok(read), Err)
}

/// The rule that a setting states; `None` of a switch that demands nothing.
fn rule(setting: &Setting, folder: &Path) -> Result<Option<Rule>, String> {
    Ok(Some(match setting.key.as_str() {
        "tasks" => Rule::Tasks(known(setting, "task", &tasks())?),
        "roles" => {
            let names = known(setting, "role", &ROLES)?;
            let role = |name: &String| if name == "sender" { Role::Sender } else { Role::Receiver };
            Rule::Roles(names.iter().map(role).collect())
        }
        "security" => Rule::Security(choice(setting, &SECURITY, &[Security::SemiHonest, Security::Malicious])?),
        "post-quantum" => return Ok(switch(setting)?.then_some(Rule::PostQuantum)),
        "both-learn" => return Ok((!switch(setting)?).then_some(Rule::NoBothLearn)),
        "inputs" => Rule::Inputs(
            list(setting)?
                .iter()
                .map(|pattern| Inputs::parse(pattern, folder).map_err(|fault| faulty(setting, &fault)))
                .collect::<Result<_, _>>()?,
        ),
        "keys" => Rule::Keys(list(setting)?.iter().map(|key| columns(key)).collect()),
        "payload" => Rule::Payload(list(setting)?),
        "own-keys" => Rule::OwnKeys(bounds(setting)?),
        "partner-keys" => Rule::PartnerKeys(bounds(setting)?),
        "reveal-if-at-least" => Rule::RevealIfAtLeast(number(setting)?),
        "max-groups" => Rule::MaxGroups(number(setting)?),
        "epsilon" => Rule::Epsilon(per(setting, "0.5 per 30d", |text| Epsilon::parse(text).ok())?),
        "runs" => Rule::Runs(per(setting, "2 per 1d", |text| text.parse().ok())?),
        "runs-per-table" => Rule::RunsPerTable(number(setting)?),
        "expires" => {
            let day = word(setting)?.parse();
            Rule::Expires(day.map_err(|_| faulty(setting, "must be a day, for example \"2027-03-31\""))?)
        }
        "exclude-protocols" => {
            let rows: Vec<&str> = rows::all().map(|entry| entry.id).collect();
            Rule::ExcludeProtocols(known(setting, "protocol", &rows)?)
        }
        "exclude-assumptions" => {
            let words = list(setting)?;
            if let Some(unknown) =
                words.iter().find(|word| word.trim().is_empty() || !rows::all().any(|entry| rests_on(entry, word)))
            {
                let fault = format!("names {unknown:?}, and no assumption of a protocol has these words");
                return Err(faulty(setting, &format!("{fault}: `vesica protocols` lists them")));
            }
            Rule::ExcludeAssumptions(words)
        }
        "least-changed-keys" => {
            let least = number(setting)?;
            if !(2..=changes::MOST_LEAST).contains(&least) {
                return Err(faulty(setting, &format!("must be from 2 to {}", changes::MOST_LEAST)));
            }
            Rule::LeastChangedKeys { least, warns: false }
        }
        unknown => {
            let mend = match nearest(unknown, names()) {
                Some(close) => format!("did you mean `{close}`?"),
                None => format!("the rules are {}", names().collect::<Vec<_>>().join(", ")),
            };
            return Err(format!("line {}: a policy has no rule `{unknown}`: {mend}", setting.line));
        }
    }))
}

/// Whether a protocol rests, in any mode, on an assumption with these words.
pub(super) fn rests_on(entry: &Entry, words: &str) -> bool {
    entry.modes.iter().any(|mode| mode_rests_on(mode, words))
}

/// Whether a mode of a protocol rests on an assumption with these words, in capitals or not.
pub(super) fn mode_rests_on(mode: &Mode, words: &str) -> bool {
    let words = words.to_lowercase();
    mode.assumptions.iter().any(|assumption| assumption.what.to_lowercase().contains(&words))
}

/// Rules that no run could keep together.
fn contradiction(rules: &[Ruled]) -> Option<String> {
    let line_of = |is: fn(&Rule) -> bool| rules.iter().find(|ruled| is(&ruled.rule)).map(|ruled| ruled.line);
    let tasks = rules.iter().find_map(|ruled| match &ruled.rule {
        Rule::Tasks(tasks) => Some(tasks.iter().filter_map(|name| task::find(name).ok()).collect::<Vec<_>>()),
        _ => None,
    });
    for Ruled { line, rule } in rules {
        let text = match rule {
            Rule::RevealIfAtLeast(least) if *least > 0 => {
                if let Some(other) = line_of(|rule| matches!(rule, Rule::Epsilon(_))) {
                    Some(format!(
                        "`{rule}` and the epsilon of line {other} exclude each other: a threshold goes by the exact number"
                    ))
                } else {
                    let without = tasks.iter().flatten().find(|task| !task::takes_threshold(**task));
                    without.map(|task| format!("`{rule}`, and the task {task} that you allow withholds no results"))
                }
            }
            Rule::Security(security) => {
                let reaches = |task: &&&dyn AnyTask| {
                    task.entries().iter().any(|entry| entry.mode(*security).is_some() && entry.broken().is_none())
                };
                let without = tasks.iter().flatten().find(|task| !reaches(task));
                without.map(|task| format!("`{rule}`, and no protocol for the task {task} that you allow has it"))
            }
            _ => None,
        };
        if let Some(text) = text {
            return Some(format!("line {line}: {text}"));
        }
    }
    None
}

fn faulty(setting: &Setting, fault: &str) -> String {
    format!("line {}: `{}` {fault}", setting.line, setting.key)
}

fn word(setting: &Setting) -> Result<String, String> {
    match &setting.value {
        Value::Word(word) => Ok(word.clone()),
        value => Err(faulty(setting, &format!("is {}, and must be a string or a number", value.kind()))),
    }
}

fn list(setting: &Setting) -> Result<Vec<String>, String> {
    match &setting.value {
        Value::Word(word) => Ok(vec![word.clone()]),
        Value::List(words) => Ok(words.clone()),
        value => Err(faulty(setting, &format!("is {}, and must be an array of strings", value.kind()))),
    }
}

fn switch(setting: &Setting) -> Result<bool, String> {
    match &setting.value {
        Value::Switch(is_on) => Ok(*is_on),
        value => Err(faulty(setting, &format!("is {}, and must be true or false", value.kind()))),
    }
}

fn number<T: std::str::FromStr>(setting: &Setting) -> Result<T, String> {
    let text = word(setting)?;
    text.replace('_', "").parse().map_err(|_| faulty(setting, &format!("is {text:?}, and must be a whole number")))
}

/// What one of these words stands for.
fn choice<T: Copy>(setting: &Setting, words: &[&str], values: &[T]) -> Result<T, String> {
    let text = word(setting)?;
    let found = words.iter().zip(values).find(|(word, _)| **word == text);
    found
        .map(|(_, value)| *value)
        .ok_or_else(|| faulty(setting, &format!("is {text:?}, and must be {}", words.join(" or "))))
}

/// Names that there are.
fn known(setting: &Setting, what: &str, names: &[&str]) -> Result<Vec<String>, String> {
    let said = list(setting)?;
    let Some(unknown) = said.iter().find(|said| names.iter().all(|name| name != said)) else { return Ok(said) };
    let mend = match nearest(unknown, names.iter().copied()) {
        Some(close) => format!("did you mean {close}?"),
        None => format!("there are {}", names.join(", ")),
    };
    Err(faulty(setting, &format!("names {unknown:?}, and there is no such {what}: {mend}")))
}

/// The columns of one key, with commas between them.
fn columns(text: &str) -> Vec<String> {
    text.split(',').map(|column| column.trim().to_owned()).collect()
}

/// `1000..50000`, `1000..` or `..50000`.
fn bounds(setting: &Setting) -> Result<Bounds, String> {
    let text = word(setting)?;
    let read = || {
        let (least, most) = text.split_once("..")?;
        let number = |text: &str| text.trim().replace('_', "").parse::<u64>().ok();
        let least = if least.trim().is_empty() { 0 } else { number(least)? };
        let most = if most.trim().is_empty() { None } else { Some(number(most)?) };
        Some(Bounds { least, most }).filter(|bounds| most.is_none_or(|most| bounds.least <= most))
    };
    read().ok_or_else(|| {
        faulty(setting, &format!("is {text:?}, and must be two numbers as in \"1000..50000\", \"1000..\""))
    })
}

/// `2 per 1d`, or several of these.
fn per<T>(setting: &Setting, example: &str, read: impl Fn(&str) -> Option<T>) -> Result<Vec<Per<T>>, String> {
    let one = |text: &String| {
        let (most, period) = text.split_once(" per ")?;
        let seconds = period_seconds(period.trim()).filter(|seconds| (1..=LONGEST).contains(seconds))?;
        Some(Per { most: read(most.trim())?, seconds })
    };
    let texts = list(setting)?;
    if texts.is_empty() {
        return Err(faulty(setting, &format!("is empty, and bounds nothing: write for example [{example:?}]")));
    }
    texts
        .iter()
        .map(|text| {
            one(text).ok_or_else(|| {
                faulty(
                    setting,
                    &format!("has {text:?}, and must say how much in what time, as in {example:?} (h, d or w)"),
                )
            })
        })
        .collect()
}

/// A number of hours, days or weeks.
fn period_seconds(text: &str) -> Option<u64> {
    let unit = match text.chars().last()? {
        'h' => 3_600,
        'd' => DAY,
        'w' => 7 * DAY,
        _ => return None,
    };
    text.get(..text.len() - 1)?.parse::<u64>().ok()?.checked_mul(unit)
}

/// A period in words.
pub(super) fn period(seconds: u64) -> String {
    match seconds {
        seconds if seconds % DAY == 0 => format!("{}d", seconds / DAY),
        seconds => format!("{}h", seconds / 3_600),
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..", self.least)?;
        self.most.map_or(Ok(()), |most| write!(f, "{most}"))
    }
}

impl<T: fmt::Display> fmt::Display for Per<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} per {}", self.most, period(self.seconds))
    }
}

/// The rule as a file states it.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let array = |words: &mut dyn Iterator<Item = String>| {
            let words: Vec<String> = words.map(|word| format!("{word:?}")).collect();
            format!("[{}]", words.join(", "))
        };
        let names = |words: &[String]| array(&mut words.iter().cloned());
        match self {
            Self::Tasks(tasks) => write!(f, "tasks = {}", names(tasks)),
            Self::Roles(roles) => write!(f, "roles = {}", array(&mut roles.iter().map(ToString::to_string))),
            Self::Security(security) => write!(f, "security = \"{security}\""),
            Self::PostQuantum => f.write_str("post-quantum = true"),
            Self::Inputs(inputs) => write!(f, "inputs = {}", array(&mut inputs.iter().map(ToString::to_string))),
            Self::Keys(keys) => write!(f, "keys = {}", array(&mut keys.iter().map(|key| key.join(",")))),
            Self::Payload(columns) => write!(f, "payload = {}", names(columns)),
            Self::OwnKeys(bounds) => write!(f, "own-keys = \"{bounds}\""),
            Self::PartnerKeys(bounds) => write!(f, "partner-keys = \"{bounds}\""),
            Self::RevealIfAtLeast(least) => write!(f, "reveal-if-at-least = {least}"),
            Self::MaxGroups(most) => write!(f, "max-groups = {most}"),
            Self::NoBothLearn => f.write_str("both-learn = false"),
            Self::Epsilon(bounds) => write!(f, "epsilon = {}", array(&mut bounds.iter().map(ToString::to_string))),
            Self::Runs(bounds) => write!(f, "runs = {}", array(&mut bounds.iter().map(ToString::to_string))),
            Self::RunsPerTable(most) => write!(f, "runs-per-table = {most}"),
            Self::Expires(day) => write!(f, "expires = \"{day}\""),
            Self::ExcludeProtocols(ids) => write!(f, "exclude-protocols = {}", names(ids)),
            Self::ExcludeAssumptions(words) => write!(f, "exclude-assumptions = {}", names(words)),
            Self::LeastChangedKeys { least, warns: false } => write!(f, "least-changed-keys = {least}"),
            Self::LeastChangedKeys { least, warns: true } => {
                write!(f, "least-changed-keys = {least} with on-small-change = \"warn\"")
            }
        }
    }
}
