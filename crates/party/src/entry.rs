//! A protocol's description as data: security, assumptions, leakage, deviations. Docs and choices
//! are made from it.

use std::fmt;

use vesica_structures::facts::{Paper, Unsupported};

use crate::{Assumption, Attack, MapAndCompare};

/// The resistance of a protocol against one corrupted party.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resistance {
    /// The protocol does not resist that party.
    None,
    /// The protocol resists a party that follows it.
    SemiHonest,
    /// The protocol resists a party that does anything.
    Malicious,
}

impl fmt::Display for Resistance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::SemiHonest => "semi-honest",
            Self::Malicious => "malicious",
        })
    }
}

/// What a user asks for: the least resistance against either party.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Security {
    /// Both parties follow the protocol.
    SemiHonest,
    /// Either party may do anything.
    Malicious,
}

impl fmt::Display for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SemiHonest => "semi-honest",
            Self::Malicious => "malicious",
        })
    }
}

/// The party that learns something beyond its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learner {
    /// The sender.
    Sender,
    /// The receiver.
    Receiver,
    /// Both parties.
    Both,
}

/// What a protocol shows beyond the promise of its task's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extra {
    /// The exact number of common items, beside a task that hides it.
    Count,
    /// The first bits of a hash of each of the receiver's items.
    Prefix,
}

impl Extra {
    /// The flag by which a side lets `auto` choose such a protocol; nothing where a side can only name the
    /// protocol.
    pub const fn flag(self) -> Option<&'static str> {
        match self {
            Self::Count => Some("--allow-count"),
            Self::Prefix => None,
        }
    }
}

/// Something that a party learns beyond its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leak {
    /// The party that learns it.
    pub to: Learner,
    /// The information, in words.
    pub what: &'static str,
    /// What it is, if the task's name promises that it stays hidden: `auto` takes such a protocol
    /// only if both sides permit it.
    pub extra: Option<Extra>,
}

/// What most of a run's time goes into where sets are large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CostClass {
    /// Operations in a group, some for each item: tens of microseconds an item.
    GroupOperations,
    /// Ciphers, hashes and linear algebra over small fields. Operations in a group are as many for
    /// any number of items.
    Symmetric,
    /// Interpolation and evaluation of polynomials over the sets, or over parts of them.
    Polynomials,
    /// Encryption by ring-LWE.
    Lattice,
}

impl fmt::Display for CostClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GroupOperations => "group operations",
            Self::Symmetric => "symmetric operations",
            Self::Polynomials => "polynomials",
            Self::Lattice => "lattice operations",
        })
    }
}

/// The number of rounds of a run, set-up included: of messages of which each is sent after the one
/// before has arrived. Messages that cross each other are of one round. A stream counts as one
/// message, however often its sender waits for room (flow control), and so do two streams of which
/// the second answers the first part by part. What only `--both-learn` sends is counted. Sets of a
/// few items may take fewer; groups of an aggregate, thresholds on them and further columns some
/// more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// For sets of some tens of items, or at the sizes that take the fewest.
    pub least: usize,
    /// The number for sets of up to 2^20 items.
    pub most: usize,
}

impl Rounds {
    /// The same number of rounds at any size.
    pub const fn exactly(rounds: usize) -> Self {
        Self { least: rounds, most: rounds }
    }

    /// Rounds that depend on the sizes of the sets.
    pub const fn between(least: usize, most: usize) -> Self {
        Self { least, most }
    }

    /// The same with what `new` has more or fewer than `old`.
    pub(crate) const fn changed(self, old: Self, new: Self) -> Self {
        Self {
            least: (self.least + new.least).saturating_sub(old.least),
            most: (self.most + new.most).saturating_sub(old.most),
        }
    }
}

impl fmt::Display for Rounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { least, most } = self;
        if least == most { write!(f, "{most}") } else { write!(f, "{least} to {most}") }
    }
}

/// One way to run a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// The request that selects it.
    pub security: Security,
    /// The resistance against a corrupt sender.
    pub corrupt_sender: Resistance,
    /// The resistance against a corrupt receiver.
    pub corrupt_receiver: Resistance,
    /// The number of rounds.
    pub rounds: Rounds,
    /// The assumptions of the security proof.
    pub assumptions: &'static [Assumption],
    /// The information that leaks beyond the output.
    pub leakage: &'static [Leak],
}

impl Mode {
    /// A mode for two parties that follow the protocol.
    pub const fn semi_honest(rounds: Rounds, assumptions: &'static [Assumption], leakage: &'static [Leak]) -> Self {
        Self {
            security: Security::SemiHonest,
            corrupt_sender: Resistance::SemiHonest,
            corrupt_receiver: Resistance::SemiHonest,
            rounds,
            assumptions,
            leakage,
        }
    }

    /// The attacks whose work was counted.
    pub fn attacks(&self) -> impl Iterator<Item = Attack> {
        self.assumptions.iter().filter_map(|assumption| assumption.attack)
    }

    /// What the mode shows beyond the promise of the task's name.
    pub fn extras(&self) -> impl Iterator<Item = Extra> {
        self.leakage.iter().filter_map(|leak| leak.extra)
    }

    /// Whether it shows a side the exact number of common items beside a task that hides it.
    pub fn shows_count(&self) -> bool {
        self.extras().any(|extra| extra == Extra::Count)
    }

    /// The first of its assumptions that a large quantum computer refutes. Then whoever keeps the messages of a run reads
    /// what they hide as soon as there is one. `None` says that no such way is known.
    pub fn falls_to_quantum(&self) -> Option<&'static Assumption> {
        self.assumptions.iter().find(|assumption| assumption.falls_to_quantum)
    }

    /// Whether it resists as much as `security` asks, against either party.
    pub fn meets(&self, security: Security) -> bool {
        let least = match security {
            Security::SemiHonest => Resistance::SemiHonest,
            Security::Malicious => Resistance::Malicious,
        };
        self.corrupt_sender.min(self.corrupt_receiver) >= least
    }
}

/// Our judgement of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Sound, and what we would use. Not a claim of an audit.
    Recommended,
    /// No attack known; kept for comparison.
    Sound,
    /// Attacked. Never chosen by `auto`; sessions and benchmarks run it only with an explicit
    /// permission. This library asks for none, for it is also where such a protocol is
    /// attacked: whoever runs rows past `vesica`'s engine looks at [`Entry::broken`] first.
    Broken {
        /// The way in which the protocol fails.
        how: &'static str,
        /// `-log2` of the probability, at most, that an item which only the receiver has matches; nothing
        /// where such false matches are within the failure budget, as in every row that is not broken.
        false_match_bits: Option<u32>,
    },
}

/// Something that a row leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What stands before the `=`.
    pub name: &'static str,
    /// What is chosen, in one sentence.
    pub what: &'static str,
    /// The values; the first is the default.
    pub values: &'static [ChoiceValue],
}

/// A value of a [`Choice`], and what it changes of the row's description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChoiceValue {
    /// What stands behind the `=`.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub what: &'static str,
    /// Where the row differs from its paper with this value. Those of the default are among the
    /// row's own, and make way for those of another value.
    pub deviations: &'static [&'static str],
    /// Rounds, assumptions and leakage, if they are not those of the row. A mode that is not among them falls away.
    /// Where other choices change modes, too, what differs here from the row's is what counts: rounds that come or go
    /// add up, and an assumption of the row falls away if all values that change assumptions do without it.
    pub modes: Option<&'static [Mode]>,
    /// What any mode resists of a corrupt sender at most, whatever the row and other values say.
    pub sender_at_most: Resistance,
    /// Assumptions that make way, each for the one behind it, in what the row and other values say.
    pub replaced: &'static [[Assumption; 2]],
    /// What most of the time goes into, if that is not as in the row.
    pub cost: Option<CostClass>,
}

impl ChoiceValue {
    /// A value with the security and the deviations of the row.
    pub const fn new(name: &'static str, what: &'static str) -> Self {
        Self {
            name,
            what,
            deviations: &[],
            modes: None,
            sender_at_most: Resistance::Malicious,
            replaced: &[],
            cost: None,
        }
    }

    /// The same value with further deviations.
    pub const fn deviating(self, deviations: &'static [&'static str]) -> Self {
        Self { deviations, ..self }
    }
}

/// A protocol's row in a registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The id on the command line.
    pub id: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// What the row leaves open; a user names a variant by the values that are not the default. Of a variant what was
    /// chosen: each choice with that one value.
    pub variants: &'static [Choice],
    /// `Task::NAME` of its task.
    pub task: &'static str,
    /// The paper that the protocol comes from.
    pub paper: Paper,
    /// Our judgement of the protocol.
    pub status: Status,
    /// The operation that takes most of the time.
    pub cost: CostClass,
    /// How it is built; nothing for what is no protocol for sets.
    pub map_and_compare: Option<MapAndCompare>,
    /// Where it differs from its paper, and why that is sound.
    pub deviations: &'static [&'static str],
    /// The ways to run it.
    pub modes: &'static [Mode],
}

impl Entry {
    /// The way in which the protocol fails, if it is broken.
    pub fn broken(&self) -> Option<&'static str> {
        match self.status {
            Status::Broken { how, .. } => Some(how),
            Status::Recommended | Status::Sound => None,
        }
    }

    /// `-log2` of the probability, at most, that an item which only the receiver has matches, where that is
    /// above the failure budget.
    pub fn false_match_bits(&self) -> Option<u32> {
        match self.status {
            Status::Broken { false_match_bits, .. } => false_match_bits,
            Status::Recommended | Status::Sound => None,
        }
    }

    /// The value of a choice, as a user types it, with which a mode that falls to a quantum computer does not.
    pub fn lasts_with(&self, mode: &Mode) -> Option<String> {
        let falling = || mode.assumptions.iter().filter(|own| own.falls_to_quantum);
        let mends = |value: &ChoiceValue| {
            falling().all(|own| value.replaced.iter().any(|[old, new]| old == own && !new.falls_to_quantum))
        };
        falling().next()?;
        let each = self.variants.iter().flat_map(|choice| choice.values.iter().map(move |value| (choice, value)));
        each.into_iter()
            .find(|(_, value)| mends(value))
            .map(|(choice, value)| format!("{}={}", choice.name, value.name))
    }

    /// What a large quantum computer does to one of the modes, in words.
    pub fn quantum(&self, mode: &Mode) -> String {
        match (mode.falls_to_quantum(), self.lasts_with(mode)) {
            (None, _) => "no attack by a quantum computer is known".to_owned(),
            (Some(assumption), None) => format!("falls to a quantum computer, which refutes: {}", assumption.what),
            (Some(assumption), Some(value)) => {
                format!("falls to a quantum computer, which refutes: {}; not with {value}", assumption.what)
            }
        }
    }

    /// What to tell whoever asks for the protocol, if it is broken.
    pub fn warning(&self) -> Option<String> {
        self.broken().map(|how| format!("protocol {} is broken: {how}", self.id))
    }

    /// The mode that a request for `security` selects: the one of that name that also meets it.
    /// What is broken meets nothing, and goes by the name alone: who may run it is asked
    /// before.
    pub fn mode(&self, security: Security) -> Option<&'static Mode> {
        self.modes.iter().find(|mode| mode.security == security && (self.broken().is_some() || mode.meets(security)))
    }

    /// Refuses a security that the protocol does not offer, naming those that it does.
    ///
    /// # Errors
    /// If no mode of the protocol answers a request for `security`.
    pub fn require(&self, security: Security) -> Result<&'static Mode, Unsupported> {
        self.mode(security).ok_or_else(|| {
            let offered: Vec<String> = self.modes.iter().map(|mode| mode.security.to_string()).collect();
            Unsupported::new(
                format_args!("protocol {} has no {security} mode", self.id),
                format_args!("choose another protocol, or allow --security {}", offered.join(" or ")),
            )
        })
    }
}
