//! What a user says of a task: the flags as they were typed, what a task reads in them, and what
//! follows for the table and the output.

use std::path::{Path, PathBuf};

use vesica_party::Role;

use crate::buckets;
use crate::failure::{Failure, code};
use crate::key::KeySpec;
use crate::memory::Budget;
use crate::noise::{Epsilon, NoiseConfig};
use crate::table::{
    BesideKeys, Duplicates, Examined, ExpectedRange, Join, KeyTable, PayloadSpec, Source, TableError, UnionSpec,
    ValueDuplicates, ValueSpec, examine, examine_spilled, read_integers, read_keys_within, read_spilled,
    read_union_within, read_values_within,
};

/// Flags of `receive` and `send` that tasks read, each in its own way.
#[derive(Clone, Debug)]
pub struct Flags {
    /// `--payload`: names of columns.
    pub payload: Vec<String>,
    /// `--payload-duplicates`: `refuse`, `first` or `sum`.
    pub payload_duplicates: String,
    /// `--scale`.
    pub scale: Vec<String>,
    /// `--clamp`.
    pub clamp: Vec<String>,
    /// `--partner-clamp`.
    pub partner_clamp: Vec<String>,
    /// `--group-by`.
    pub group_by: Option<String>,
    /// `--reveal-if-at-least`.
    pub reveal_if_at_least: u64,
    /// `--max-groups`.
    pub max_groups: u32,
    /// `--epsilon`.
    pub epsilon: Option<String>,
    /// `--budget`.
    pub budget: Option<PathBuf>,
    /// `--both-learn`.
    pub both_learn: bool,
    /// `--max-item-bytes`.
    pub max_item_bytes: Option<usize>,
}

/// What the flags are if nobody gives them.
impl Default for Flags {
    fn default() -> Self {
        Self {
            payload: Vec::new(),
            payload_duplicates: "refuse".into(),
            scale: Vec::new(),
            clamp: Vec::new(),
            partner_clamp: Vec::new(),
            group_by: None,
            reveal_if_at_least: 0,
            max_groups: 1,
            epsilon: None,
            budget: None,
            both_learn: false,
            max_item_bytes: None,
        }
    }
}

/// What one side's user wants of a task. A task refuses what it has no use for.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The sender's columns that go along with matches as they stand.
    pub payload: Option<PayloadSpec>,
    /// Names of payload columns on which the receiver insists.
    pub expected_payload: Option<Vec<String>>,
    /// The columns to compute with, and the receiver's groups.
    pub values: ValueSpec,
    /// Ranges of the partner's columns on which this side insists.
    pub expected_ranges: Vec<ExpectedRange>,
    /// A group with fewer common keys than this gives nothing.
    pub at_least: u64,
    /// The sender refuses a receiver that asks for more groups.
    pub max_groups: u32,
    /// The sender's noise for the results.
    pub noise: Option<NoiseConfig>,
    /// Whether the sender learns its matches too.
    pub both_learn: bool,
    /// The widest record of a union that this side lets travel, if it says so.
    pub max_item_bytes: Option<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            payload: None,
            expected_payload: None,
            values: ValueSpec::default(),
            expected_ranges: Vec::new(),
            at_least: 0,
            max_groups: 1,
            noise: None,
            both_learn: false,
            max_item_bytes: None,
        }
    }
}

impl Flags {
    /// The settings of a task that computes on numbers: `--payload` names columns of values.
    ///
    /// # Errors
    /// If a flag does not say what it should.
    pub(super) fn with_values(&self) -> Result<Settings, Failure> {
        let duplicates = match self.payload_duplicates.as_str() {
            "first" => ValueDuplicates::First,
            "sum" => ValueDuplicates::Sum,
            _ => ValueDuplicates::Refuse,
        };
        if self.payload.is_empty() && self.group_by.is_none() {
            self.refuse_duplicates(
                "--payload-duplicates needs columns to work on",
                "omit it, or name columns with --payload",
            )?;
        }
        let group_by = self.group_by.clone();
        let values = ValueSpec { group_by, duplicates, ..ValueSpec::parse(&self.payload, &self.scale, &self.clamp)? };
        Ok(Settings { values, ..self.without_columns()? })
    }

    /// The settings of a task whose payload travels as it stands: the sender's `--payload` names
    /// columns that it gives, the receiver's those on which it insists.
    ///
    /// # Errors
    /// If a flag does not say what it should, or is for tasks that compute.
    pub(super) fn with_payload(&self, role: Role) -> Result<Settings, Failure> {
        if !(self.scale.is_empty() && self.clamp.is_empty()) {
            return Err(usage(
                "--scale and --clamp are for tasks that compute",
                "omit them, or say for example --task sum",
            ));
        }
        if self.group_by.is_some() {
            return Err(usage("--group-by is for aggregates", "omit it, or say for example --task cardinality"));
        }
        self.refuse_max_groups()?;
        let mut settings = self.without_columns()?;
        let columns = (!self.payload.is_empty()).then(|| self.payload.clone());
        match (role, columns) {
            (Role::Receiver, columns) => {
                self.refuse_duplicates("--payload-duplicates is for the side that gives payload columns", "omit it")?;
                settings.expected_payload = columns;
            }
            (Role::Sender, Some(columns)) => {
                let duplicates = match self.payload_duplicates.as_str() {
                    "first" => Duplicates::First,
                    "sum" => {
                        return Err(usage("--payload-duplicates sum is for tasks that compute", "say refuse or first"));
                    }
                    _ => Duplicates::Refuse,
                };
                settings.payload = Some(PayloadSpec { columns, duplicates });
            }
            (Role::Sender, None) => {
                self.refuse_duplicates(
                    "--payload-duplicates needs columns to work on",
                    "omit it, or name columns with --payload",
                )?;
            }
        }
        Ok(settings)
    }

    /// Refuses `--max-groups`, other than its default, for a task without groups.
    pub(super) fn refuse_max_groups(&self) -> Result<(), Failure> {
        if self.max_groups == 1 {
            return Ok(());
        }
        Err(usage("--max-groups is for aggregates", "omit it, or say for example --task cardinality"))
    }

    /// Refuses `--payload-duplicates`, other than its default, where it would have no effect.
    fn refuse_duplicates(&self, fault: &str, mend: &str) -> Result<(), Failure> {
        if self.payload_duplicates == "refuse" { Ok(()) } else { Err(usage(fault, mend)) }
    }

    fn without_columns(&self) -> Result<Settings, Failure> {
        if self.max_item_bytes.is_some() {
            return Err(usage("--max-item-bytes is for unions", "omit it, or say --task union"));
        }
        let noise = match (&self.epsilon, &self.budget) {
            (Some(epsilon), Some(budget)) => {
                Some(NoiseConfig { epsilon: Epsilon::parse(epsilon)?, budget: budget.clone() })
            }
            (None, Some(_)) => {
                return Err(usage(
                    "there is --budget but no --epsilon: your partner would get exact results, which no budget counts",
                    "add noise with --epsilon; to give exact results, omit --budget",
                ));
            }
            (Some(_), None) => {
                return Err(usage(
                    "there is --epsilon but no --budget: nothing would count what this partner has used",
                    "name the file with the total epsilon of each partner with --budget; docs/tasks.md shows one",
                ));
            }
            (None, None) => None,
        };
        Ok(Settings {
            expected_ranges: self
                .partner_clamp
                .iter()
                .map(|argument| ExpectedRange::parse(argument))
                .collect::<Result<_, _>>()?,
            at_least: self.reveal_if_at_least,
            max_groups: self.max_groups,
            noise,
            both_learn: self.both_learn,
            ..Settings::default()
        })
    }
}

fn usage(fault: &str, mend: &str) -> Failure {
    Failure::new(code::USAGE, fault, mend)
}

/// One side's own configuration, as far as its task reads it.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Whether it sends or receives.
    pub role: Role,
    /// What its user wants of the task.
    pub settings: &'a Settings,
    /// Whether the key has alternatives (`--or-key`).
    pub or_keys: bool,
    /// In how many buckets the task runs; [`BY_SIZE`](crate::buckets::BY_SIZE) if that is not known yet.
    pub buckets: u32,
    /// Whether keys and buckets are kept in a work folder.
    pub work: bool,
    /// Whether the run is kept in a record.
    pub resume: bool,
    /// Which own rows go to the output; `None` without an output.
    pub output: Option<Join>,
}

impl Side<'_> {
    /// Refuses `fault` if it `holds`, naming the task and the side.
    pub(super) fn refuse(&self, task: &str, holds: bool, fault: &str, mend: &str) -> Result<(), Failure> {
        match holds {
            true => Err(Failure::new(
                code::USAGE,
                format_args!("{fault} (the task is {task}, this side the {})", self.role),
                mend,
            )),
            false => Ok(()),
        }
    }
}

/// Where the system keeps large temporary files. `/tmp` is memory on some systems.
fn large_files() -> PathBuf {
    std::env::var_os("TMPDIR").filter(|folder| !folder.is_empty()).map_or_else(|| "/var/tmp".into(), PathBuf::from)
}

/// What a task takes from a table beside the key.
#[derive(Clone, Debug)]
pub enum Columns {
    /// Columns as they stand, if any: a record a key.
    Payload(Option<PayloadSpec>),
    /// A side of a union: the sender's keys and payload, or nothing of the receiver's.
    Union(Option<UnionSpec>),
    /// Columns of numbers, and groups.
    Values(ValueSpec),
    /// Nothing; the key itself is an integer of at most so many bits.
    Integers(u32),
}

impl Columns {
    /// Reads the key columns and these as [`Self::read`] does, and goes on behind faults.
    pub fn examine(&self, source: &dyn Source, key: &KeySpec, memory: Option<u64>) -> Examined {
        examine(source, key, self.beside_keys(), &|| Budget::now(memory).map(|budget| budget.left))
    }

    /// [`Self::examine`] of a table whose keys go to the folder `work`.
    pub fn examine_spilled(&self, source: &dyn Source, key: &KeySpec, work: &Path) -> Examined {
        examine_spilled(source, key, self.beside_keys(), work)
    }

    /// [`Self::read`] of a table whose keys go to the folder `work`, and which is hashed under `hash_key`.
    ///
    /// # Errors
    /// As of [`Self::read`], and if the folder takes no files.
    pub fn read_spilled(
        &self,
        source: &dyn Source,
        key: &KeySpec,
        work: &Path,
        hash_key: Option<&[u8; 32]>,
    ) -> Result<KeyTable, TableError> {
        read_spilled(source, key, self.beside_keys(), work, hash_key)
    }

    /// [`Self::read`]; a table that does not fit in memory goes to the system's folder for large temporary files instead, if
    /// it `may` and a work folder keeps what it has.
    ///
    /// # Errors
    /// As of [`Self::read`] and [`Self::read_spilled`].
    pub fn read_or_spill(
        &self,
        source: &dyn Source,
        key: &KeySpec,
        memory: Option<u64>,
        may: bool,
    ) -> Result<KeyTable, TableError> {
        match self.read(source, key, memory) {
            Err(error) if may && self.fits_in_work_folder(key, &error) => {
                self.read_spilled(source, key, &large_files(), None)
            }
            read => read,
        }
    }

    /// [`Self::examine`], where a table may go to the folder of [`Self::read_or_spill`].
    pub fn examine_or_spill(&self, source: &dyn Source, key: &KeySpec, memory: Option<u64>, may: bool) -> Examined {
        let examined = self.examine(source, key, memory);
        match &examined.table {
            Err(error) if may && self.fits_in_work_folder(key, error) => {
                self.examine_spilled(source, key, &large_files())
            }
            _ => examined,
        }
    }

    /// Whether a table that cannot be read for this reason may be kept in a work folder: one that is too large for memory,
    /// and has enough keys for buckets.
    fn fits_in_work_folder(&self, key: &KeySpec, error: &TableError) -> bool {
        let stays = match self {
            Self::Values(values) => values.group_by.is_some(),
            Self::Union(_) => true,
            Self::Payload(_) | Self::Integers(_) => false,
        };
        let has_enough = error.keys_beyond_memory().is_some_and(|keys| keys >= 2 * buckets::LEAST_UNASKED);
        has_enough && !key.has_alternatives() && !stays
    }

    fn beside_keys(&self) -> BesideKeys<'_> {
        match self {
            Self::Payload(payload) => payload.as_ref().map_or(BesideKeys::Nothing, BesideKeys::Payload),
            Self::Union(sender) => BesideKeys::Union(sender.as_ref()),
            Self::Values(values) if values.columns.is_empty() && values.group_by.is_none() => BesideKeys::Nothing,
            Self::Values(values) => BesideKeys::Values(values),
            Self::Integers(bits) => BesideKeys::Integers(*bits),
        }
    }

    /// Reads the key columns and these. `memory` is the bound on the process; `None` stands for what
    /// is free.
    ///
    /// # Errors
    /// If the table cannot be read, holds what the columns do not take, or has a payload that takes
    /// more memory than there is.
    pub fn read(&self, source: &dyn Source, key: &KeySpec, memory: Option<u64>) -> Result<KeyTable, TableError> {
        let room = || Budget::now(memory).map(|budget| budget.left);
        match self {
            Self::Payload(payload) => read_keys_within(source, key, payload.as_ref(), &room),
            Self::Union(sender) => read_union_within(source, key, sender.as_ref(), &room),
            Self::Values(values) => read_values_within(source, key, values, &room),
            Self::Integers(bits) => read_integers(source, key, *bits),
        }
    }
}
