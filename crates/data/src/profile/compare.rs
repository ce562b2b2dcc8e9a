//! Two tables of one user, side by side: how many keys would match, and if few do, which
//! normalisers make them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use crate::key::{Chain, KeyColumn, KeySpec, Mend, Normaliser, mend};
use crate::profile::cells;
use crate::profile::examples::{normal, shown};
use crate::table::{Source, TableError, collect_keys};

/// Rows of each table on which normalisers are tried.
const TRIED_ROWS: usize = 100_000;

/// Longer values are not tried.
const LONGEST_TRIED: usize = 1024;

/// Rows that are shown of each table.
const SHOWN_ROWS: usize = 3;

/// Of the values of a column, at least so many in ten must stay different under a normaliser that
/// drops something of them: else everything would match.
const DIFFERENT_IN_TEN: usize = 9;

/// At least one in so many bytes must stay. A timestamp with a fraction loses 19 of 29 to its date.
const KEPT_BYTES: usize = 3;

/// Normalisers that keep what tells two values apart, the simplest first.
const FAITHFUL: [&str; 12] = [
    "",
    "trim",
    "lower",
    "nfc",
    "trim,lower",
    "trim,nfc,lower",
    "email",
    "int",
    "trim,int",
    "decimal",
    "bool",
    "timestamp:utc",
];

/// Normalisers that drop something of a value.
const LOSSY: [&str; 6] =
    ["date", "timestamp:utc:day", "timestamp:utc:us", "timestamp:utc:ms", "timestamp:utc:s", "digits"];

/// Notations of dates.
const DATES: [&str; 9] = [
    "date",
    "date:%d.%m.%Y",
    "date:%d/%m/%Y",
    "date:%m/%d/%Y",
    "date:%d-%m-%Y",
    "date:%m-%d-%Y",
    "date:%Y/%m/%d",
    "date:%Y.%m.%d",
    "date:%d %m %Y",
];

/// How two tables of one user meet. It holds values, and nothing of it leaves this machine.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Comparison {
    /// Names of the two tables.
    pub tables: [String; 2],
    /// Different keys of each.
    pub keys: [u64; 2],
    /// Keys that both have.
    pub common: u64,
    /// The alternatives of the key; one where it has no others.
    pub alternatives: Vec<ComparedAlternative>,
    /// That a run would be refused since the normalisers differ.
    pub is_refused: bool,
    /// The key columns, in key order.
    pub columns: Vec<ComparedColumn>,
    /// What makes more keys match, if something known does.
    pub meeting: Option<Meeting>,
}

/// An alternative of the key in both tables.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ComparedAlternative {
    /// Names of its columns in either table, in key order.
    pub columns: [Vec<String>; 2],
    /// Different keys of each.
    pub keys: [u64; 2],
    /// Keys that both have.
    pub common: u64,
}

/// A key column of both tables.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ComparedColumn {
    /// Its name in either table.
    pub names: [String; 2],
    /// How most values are written, after normalising.
    pub kinds: [String; 2],
    /// What is said of two such kinds, if they differ.
    pub advice: Option<String>,
    /// Different values of this column alone, of the rows that were tried.
    pub values: [u64; 2],
    /// How many of them both tables have.
    pub common: u64,
}

/// Flags that make more rows meet.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Meeting {
    /// The arguments of `--normalise` for either table.
    pub normalise: [Vec<String>; 2],
    /// Rows of either table on which they were tried.
    pub rows: [u64; 2],
    /// Keys that both have then, among these rows.
    pub common: u64,
    /// The same without the flags.
    pub common_before: u64,
    /// Rows that meet.
    pub examples: Vec<MeetingRows>,
}

/// A row of either table with one key.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct MeetingRows {
    /// The rows, counted from 1.
    pub rows: [u64; 2],
    /// The values of either row, in key order.
    pub values: [Vec<String>; 2],
    /// The key that both become.
    pub key: Vec<String>,
}

/// Compares the keys of two tables, as far as a run would: keys of one alternative never meet those of
/// another.
///
/// # Errors
/// If a table cannot be read, or the keys have different numbers of columns or alternatives.
pub fn compare(tables: [(&dyn Source, &KeySpec); 2]) -> Result<Comparison, TableError> {
    let [(ours, our_key), (theirs, their_key)] = tables;
    check_shapes(our_key, their_key)?;
    let (first, second) = (collect_keys(ours, our_key)?, collect_keys(theirs, their_key)?);
    let known: HashSet<_> = first.digests.iter().collect();
    let both = (0u32..).zip(second.digests.iter()).filter(|(_, digest)| known.contains(digest));
    let both: Vec<u32> = both.map(|(key, _)| key).collect();
    let common = both.len() as u64;
    let of_alternatives = first.stats.alternatives.iter().zip(&second.stats.alternatives);
    let alternatives = of_alternatives.zip(second.by_alternative(&both)).map(|((a, b), common)| ComparedAlternative {
        columns: [a.columns.clone(), b.columns.clone()],
        keys: [a.distinct, b.distinct],
        common,
    });
    let alternatives = alternatives.collect();
    let keys = [first.stats.distinct, second.stats.distinct];
    let sides = [Tried::read(ours, our_key)?, Tried::read(theirs, their_key)?];
    let kinds = [first.stats.kinds(), second.stats.kinds()];
    let mut columns = Vec::new();
    let mut chosen = Vec::new();
    for (place, (a, b)) in our_key.columns().iter().zip(their_key.columns()).enumerate() {
        let [mut left, mut right] = sides.each_ref().map(|side| Forms::of(side, place));
        let declared = [a, b].map(declared);
        let (ours, theirs) = (left.under(&declared[0]), right.under(&declared[1]));
        let (ours, theirs) = (&ours.values, &theirs.values);
        let (values, as_given) = ([ours.len() as u64, theirs.len() as u64], shared(ours, theirs));
        let pair = [0, 1].map(|side: usize| kinds.get(side).and_then(|kinds| kinds.get(place)).copied());
        columns.push(ComparedColumn {
            names: [a.name.clone(), b.name.clone()],
            kinds: pair.map(|kind| kind.map(|kind| kind.to_string()).unwrap_or_default()),
            advice: match pair {
                [Some(first), Some(second)] if first != second => match mend(first, second) {
                    Mend::Both(normaliser, remark) => Some(format!("{normaliser}{remark}")),
                    Mend::Otherwise(text) => Some(text.to_owned()),
                    Mend::Nothing => None,
                },
                _ => None,
            },
            values,
            common: as_given as u64,
        });
        chosen.push(best(declared, as_given, &mut left, &mut right));
    }
    let smaller = keys[0].min(keys[1]);
    let meeting = if common < smaller { Meeting::of(&sides, [our_key, their_key], &chosen) } else { None };
    Ok(Comparison {
        tables: [ours.name().to_owned(), theirs.name().to_owned()],
        keys,
        common,
        alternatives,
        is_refused: our_key.agreement() != their_key.agreement() || our_key.or_agreement() != their_key.or_agreement(),
        columns,
        meeting,
    })
}

/// Refuses keys of which an alternative has another number of columns than the other's, or none.
fn check_shapes(ours: &KeySpec, theirs: &KeySpec) -> Result<(), TableError> {
    let (our_count, their_count) = (ours.alternatives().len(), theirs.alternatives().len());
    if our_count != their_count {
        let fault = format!("the key has {our_count} alternatives in the first table and {their_count} in the second");
        return Err(TableError::Option(fault, "say --second-or-key as often as --or-key, in the same order"));
    }
    for (number, (a, b)) in (1..).zip(ours.alternatives().zip(theirs.alternatives())) {
        if a.len() != b.len() {
            let what = if our_count > 1 { format!("alternative {number} of the key") } else { "the key".to_owned() };
            let fault = format!("{what} has {} columns in the first table and {} in the second", a.len(), b.len());
            let mend = "name as many columns for the second table as for the first, in the same order: --second-key, \
                        --second-or-key";
            return Err(TableError::Option(fault, mend));
        }
    }
    Ok(())
}

/// The declared normalisers as text.
fn declared(column: &KeyColumn) -> String {
    column.normalisers.iter().map(Normaliser::to_string).collect::<Vec<_>>().join(",")
}

fn shared(a: &HashSet<Vec<u8>>, b: &HashSet<Vec<u8>>) -> usize {
    let (small, large) = if a.len() < b.len() { (a, b) } else { (b, a) };
    small.iter().filter(|value| large.contains(*value)).count()
}

/// The chain for either table under which most values of a column are common. A later candidate
/// must be better than all before it.
fn best(declared: [String; 2], as_given: usize, left: &mut Forms<'_>, right: &mut Forms<'_>) -> [String; 2] {
    let (mut chosen, mut most) = (declared, as_given);
    for ([ours, theirs], is_lossy) in candidates(left, right) {
        let (a, b) = (left.under(&ours), right.under(&theirs));
        if is_lossy && !(a.keeps_apart() && b.keeps_apart()) {
            continue;
        }
        let found = shared(&a.values, &b.values);
        if found > most {
            (chosen, most) = ([ours, theirs], found);
        }
    }
    chosen
}

/// Chains for either table, and whether they drop something of a value.
fn candidates(left: &mut Forms<'_>, right: &mut Forms<'_>) -> Vec<([String; 2], bool)> {
    let both = |chain: &str, is_lossy| ([chain.to_owned(), chain.to_owned()], is_lossy);
    let mut found: Vec<_> = FAITHFUL.into_iter().map(|chain| both(chain, false)).collect();
    // Zones are tried where both columns are times at all.
    let times = [left.under("timestamp:utc"), right.under("timestamp:utc")];
    let zones: Vec<String> =
        if times.iter().any(|times| times.values.is_empty()) { Vec::new() } else { zones().collect() };
    for zone in &zones {
        let (local, utc) = (format!("timestamp:{zone}"), "timestamp:utc".to_owned());
        found.push(([local.clone(), utc.clone()], false));
        found.push(([utc, local], false));
    }
    for ours in DATES {
        found.extend(DATES.into_iter().map(|theirs| ([ours.to_owned(), theirs.to_owned()], true)));
    }
    found.extend(LOSSY.into_iter().map(|chain| both(chain, true)));
    found.extend(zones.iter().map(|zone| both(&format!("timestamp:{zone}:day"), true)));
    found
}

/// Offsets from UTC by half hours, the smallest first.
fn zones() -> impl Iterator<Item = String> {
    let halves = (1..=28).flat_map(|halves| [halves, -halves]).filter(|halves| (-24..=28).contains(halves));
    halves.map(|halves: i32| {
        let sign = if halves < 0 { '-' } else { '+' };
        format!("{sign}{:02}:{:02}", halves.abs() / 2, halves.abs() % 2 * 30)
    })
}

/// Rows of a table, value by value.
struct Tried {
    /// For each row its values, in key order; `None` for a null or a value that is too long.
    rows: Vec<Vec<Option<Vec<u8>>>>,
}

impl Tried {
    fn read(source: &dyn Source, spec: &KeySpec) -> Result<Self, TableError> {
        let columns = spec.columns().len();
        let mut rows: Vec<Vec<Option<Vec<u8>>>> = Vec::new();
        let mut count = 0;
        cells::for_each_cell(source, spec, &mut |index, cell| {
            if index == 0 {
                count += 1;
                if count <= TRIED_ROWS {
                    rows.push(Vec::with_capacity(columns));
                }
            }
            if let (true, Some(row)) = (count <= TRIED_ROWS, rows.last_mut()) {
                row.push(cell.filter(|value| (1..=LONGEST_TRIED).contains(&value.len())).map(<[u8]>::to_vec));
            }
        })?;
        Ok(Self { rows })
    }

    /// The keys of the alternatives, which have these columns, under a chain for each column: each
    /// with its alternative and the first row that has it.
    fn keys(&self, chains: &[String], alternatives: &[Range<usize>]) -> HashMap<(usize, Vec<Vec<u8>>), usize> {
        let parsed: Vec<Vec<Normaliser>> = chains.iter().map(|chain| parse(chain)).collect();
        let mut chains: Vec<Chain<'_>> = parsed.iter().map(|chain| Chain::new(chain)).collect();
        let mut keys = HashMap::new();
        for (place, row) in self.rows.iter().enumerate() {
            for (alternative, columns) in alternatives.iter().enumerate() {
                let cells = row.get(columns.clone()).unwrap_or_default();
                let chains = chains.get_mut(columns.clone()).unwrap_or_default();
                let key: Option<Vec<Vec<u8>>> = cells
                    .iter()
                    .zip(chains)
                    .map(|(value, chain)| normal(chain, value.as_deref()?).filter(|key| !key.is_empty()))
                    .collect();
                if let Some(key) = key.filter(|key| key.len() == columns.len()) {
                    keys.entry((alternative, key)).or_insert(place);
                }
            }
        }
        keys
    }
}

fn parse(chain: &str) -> Vec<Normaliser> {
    chain.split(',').filter_map(|name| Normaliser::parse(name).ok()).collect()
}

/// Values of one column under chains of normalisers.
struct Forms<'a> {
    raw: HashSet<&'a [u8]>,
    known: HashMap<String, Rc<Normal>>,
}

/// Different values of one column under one chain.
struct Normal {
    values: HashSet<Vec<u8>>,
    /// Different values that the chain has not refused, before and after it: how many, and their bytes.
    taken: usize,
    bytes: [usize; 2],
}

impl Normal {
    /// Whether most values that were different still are, and did not lose most of what they were:
    /// without that, `digits` makes any two texts with numbers match.
    fn keeps_apart(&self) -> bool {
        self.values.len() * 10 >= self.taken * DIFFERENT_IN_TEN && self.bytes[1] * KEPT_BYTES >= self.bytes[0]
    }
}

impl<'a> Forms<'a> {
    fn of(tried: &'a Tried, place: usize) -> Self {
        let values = tried.rows.iter().filter_map(|row| row.get(place)?.as_deref());
        Self { raw: values.collect(), known: HashMap::new() }
    }

    fn under(&mut self, chain: &str) -> Rc<Normal> {
        if let Some(known) = self.known.get(chain) {
            return known.clone();
        }
        let parsed = parse(chain);
        let mut applied = Chain::new(&parsed);
        let mut under = Normal { values: HashSet::new(), taken: 0, bytes: [0; 2] };
        for value in &self.raw {
            let Some(key) = normal(&mut applied, value).filter(|key| !key.is_empty()) else { continue };
            under.taken += 1;
            under.bytes[0] += value.len();
            under.bytes[1] += key.len();
            under.values.insert(key);
        }
        let under = Rc::new(under);
        self.known.insert(chain.to_owned(), under.clone());
        under
    }
}

impl Meeting {
    /// What the chains that were chosen for each column do together; `None` if not more keys meet.
    fn of(sides: &[Tried; 2], specs: [&KeySpec; 2], chosen: &[[String; 2]]) -> Option<Self> {
        // A column that stands in several alternatives has one chain.
        let first = |side: usize, place: usize| {
            let columns = specs[side].columns();
            columns.iter().position(|column| column.name == columns[place].name).unwrap_or(place)
        };
        let chains: [Vec<String>; 2] =
            [0, 1].map(|side: usize| (0..chosen.len()).map(|place| chosen[first(side, place)][side].clone()).collect());
        let given = specs.map(|spec| spec.columns().iter().map(declared).collect::<Vec<_>>());
        let alternatives: Vec<Range<usize>> = specs[0].alternatives().collect();
        let common = |chains: &[Vec<String>; 2]| {
            let (first, second) = (sides[0].keys(&chains[0], &alternatives), sides[1].keys(&chains[1], &alternatives));
            let met: Vec<_> = first
                .into_iter()
                .filter_map(|(key, ours)| second.get(&key).map(|&theirs| ([ours, theirs], key)))
                .collect();
            met
        };
        let before = common(&given).len();
        let mut met = common(&chains);
        if met.len() <= before {
            return None;
        }
        met.sort_unstable_by_key(|&(rows, (alternative, _))| (rows, alternative));
        let values = |side: usize, row: usize, alternative: usize| {
            let columns = alternatives.get(alternative).cloned().unwrap_or_default();
            let row = sides[side].rows.get(row).and_then(|row| row.get(columns)).into_iter().flatten();
            row.map(|value| shown(value.as_deref().unwrap_or_default())).collect()
        };
        let count = met.len() as u64;
        let examples = met.into_iter().take(SHOWN_ROWS).map(|([ours, theirs], (alternative, key))| MeetingRows {
            rows: [ours as u64 + 1, theirs as u64 + 1],
            values: [values(0, ours, alternative), values(1, theirs, alternative)],
            key: key.iter().map(|component| shown(component)).collect(),
        });
        let flags = |side: usize| {
            let each = specs[side].columns().iter().zip(&chains[side]).enumerate();
            let each = each.filter(|&(place, (_, chain))| !chain.is_empty() && first(side, place) == place);
            each.map(|(_, (column, chain))| format!("{}={chain}", column.name)).collect()
        };
        Some(Self {
            normalise: [flags(0), flags(1)],
            rows: [0, 1].map(|side: usize| sides[side].rows.len() as u64),
            common: count,
            common_before: before as u64,
            examples: examples.collect(),
        })
    }
}
