//! Random polynomials over GF(2), one in each of many instances. A table of a 1-of-2^k OT is such a
//! polynomial in the bits of the choice.
//!
//! The sender's table `m` is the polynomial `p(c) = sum a_S c^S` over the subsets `S` of the `k`
//! bits of `c`, where `c^S` is their product; a Moebius transform gives the coefficients `a_S`. The
//! receiver has `c` and `p(c)`. To it all tables with this value at `c` are equally likely. Given
//! `c`, tables and coefficients determine each other, and so do `(a_S for all S)` and `(p(c), a_S
//! for S not empty)`: hence the `2^k - 1` coefficients besides `a_0` are uniform and independent of
//! all that the receiver has. That is the one fact on which [`crate::peqt`] and [`crate::gmw`]
//! stand.
//!
//! All is kept in planes: a word holds one coefficient, or one bit of `c`, of 64 instances.
//! Instances beyond the number asked for have zeros.

use std::ops::RangeInclusive;

use vesica_party::{Abort, Channel, Security};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use crate::OtSource;
use crate::bits::planes_8;
use crate::tasks::{CorrelationRequest, Lookups, Tables};

/// Tables made in one run, 2 bytes each beside the planes that come out.
const TABLES_PER_BATCH: usize = 1 << 27;

/// `2^k` planes: plane `S` has the coefficients `a_S`, where bit `i` of `S` stands for `c_i`.
pub(crate) type Coefficients = Secret<Vec<Vec<u64>>>;

/// `k + 1` planes: the bits of `c`, then `p(c)`.
pub(crate) type Evaluations = Secret<Vec<Vec<u64>>>;

/// `groups` groups of polynomials in `variables` variables, with one polynomial of each group in
/// each of `len` instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Polynomials {
    pub groups: usize,
    pub variables: u32,
    pub len: usize,
    /// Where the tables come from.
    pub source: OtSource,
}

impl Polynomials {
    /// Groups made in one run.
    fn groups_at_a_time(&self) -> usize {
        (TABLES_PER_BATCH / self.len.max(1)).clamp(1, self.groups.max(1))
    }

    /// The runs that make them.
    fn runs(&self) -> impl Iterator<Item = CorrelationRequest> + use<> {
        let Self { groups, variables, len, .. } = *self;
        let at_a_time = self.groups_at_a_time();
        let groups = if len == 0 { 0 } else { groups };
        (0..groups).step_by(at_a_time).map(move |first| CorrelationRequest {
            len: at_a_time.min(groups - first) * len,
            security: Security::SemiHonest,
            width: Some(variables),
        })
    }

    /// Refuses more instances than there are tables to be had.
    pub fn check(&self) -> Result<(), Unsupported> {
        self.runs().try_for_each(|run| self.source.tables().predicted_bytes(&run).map(drop))
    }

    /// Bytes that both sides send.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let runs = self.runs().filter_map(|run| self.source.tables().predicted_bytes(&run).ok());
        runs.fold(0..=0, |sum, run| sum.start() + run.start()..=sum.end() + run.end())
    }

    /// The side that knows the polynomials; the OT's sender.
    pub fn own(&self, ch: &mut Channel, rng: &mut SecretRng) -> Result<Vec<Coefficients>, Abort> {
        let mut all = self.none();
        for run in self.runs() {
            let mut fork = ch.fork(FORK)?;
            let tables = self.source.tables().sender(&run, &mut fork, rng)?.run((), &mut fork, rng)?;
            all.extend(tables.tables.chunks(self.len).map(|tables| coefficients(tables, self.variables)));
        }
        Ok(all)
    }

    /// The side that knows one value of each; the OT's receiver.
    pub fn evaluate(&self, ch: &mut Channel, rng: &mut SecretRng) -> Result<Vec<Evaluations>, Abort> {
        let mut all = self.none();
        for run in self.runs() {
            let mut fork = ch.fork(FORK)?;
            let lookups = self.source.tables().receiver(&run, &mut fork, rng)?.run((), &mut fork, rng)?;
            all.extend(lookups.entries.chunks(self.len).map(|entries| evaluations(entries, self.variables)));
        }
        Ok(all)
    }

    /// As [`own`](Self::own), from random tables that exist already, group after group.
    pub fn own_from(&self, tables: &Tables) -> Result<Vec<Coefficients>, Unsupported> {
        self.check_dealt(tables.tables.len(), tables.width)?;
        let mut all = self.none();
        all.extend(tables.tables.chunks(self.len.max(1)).map(|tables| coefficients(tables, self.variables)));
        Ok(all)
    }

    /// As [`evaluate`](Self::evaluate), from lookups that exist already, group after group.
    pub fn evaluate_from(&self, lookups: &Lookups) -> Result<Vec<Evaluations>, Unsupported> {
        self.check_dealt(lookups.entries.len(), lookups.width)?;
        let mut all = self.none();
        all.extend(lookups.entries.chunks(self.len.max(1)).map(|entries| evaluations(entries, self.variables)));
        Ok(all)
    }

    fn check_dealt(&self, tables: usize, width: u32) -> Result<(), Unsupported> {
        let needed = self.groups * self.len;
        if (tables, width) == (needed, self.variables) || tables == 0 && needed == 0 {
            return Ok(());
        }
        Err(Unsupported::new(
            format_args!("{tables} random tables of {width} variables"),
            format_args!("give {needed} of {} variables", self.variables),
        ))
    }

    /// What there is where there are no instances; the vector to which the groups are added,
    /// otherwise.
    fn none(&self) -> Vec<Secret<Vec<Vec<u64>>>> {
        let empty = if self.len == 0 { self.groups } else { 0 };
        (0..empty).map(|_| Secret::new(vec![Vec::new(); 1 << self.variables])).collect()
    }
}

const FORK: &str = "polynomials";

/// Tables of one group to planes of coefficients.
fn coefficients(tables: &[u16], variables: u32) -> Coefficients {
    let mut all = planes(1 << variables, tables.len());
    for tables in tables.chunks(64) {
        let mut planes = [0; 16];
        for (half, planes) in planes.chunks_mut(8).enumerate() {
            let mut bytes = [0; 64];
            bytes.iter_mut().zip(tables).for_each(|(byte, table)| *byte = (table >> (8 * half)) as u8);
            planes.copy_from_slice(&planes_8(&bytes));
        }
        for variable in 0..variables {
            for set in (0..1usize << variables).filter(|set| set >> variable & 1 == 1) {
                planes[set] ^= planes[set ^ 1 << variable];
            }
        }
        all.iter_mut().zip(planes).for_each(|(all, plane)| all.push(plane));
    }
    all
}

/// Entries of one group to planes of the point and of the value.
fn evaluations(entries: &[u8], variables: u32) -> Evaluations {
    let variables = variables as usize;
    let mut all = planes(variables + 1, entries.len());
    for entries in entries.chunks(64) {
        let mut bytes = [0; 64];
        bytes[..entries.len()].copy_from_slice(entries);
        let planes = planes_8(&bytes);
        let wanted = planes[..variables].iter().chain(&planes[7..]);
        all.iter_mut().zip(wanted).for_each(|(all, plane)| all.push(*plane));
    }
    all
}

/// Empty planes with room, so that nothing is left behind where they grow.
fn planes(count: usize, len: usize) -> Secret<Vec<Vec<u64>>> {
    Secret::new((0..count).map(|_| Vec::with_capacity(len.div_ceil(64))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_testkit::two_party;

    #[test]
    fn values_are_those_of_the_polynomials() {
        let sizes = [(3, 3, 100), (2, 4, 65), (1, 1, 1), (2, 2, 64), (2, 3, 0), (0, 3, 5)];
        for (i, (groups, variables, len)) in sizes.into_iter().chain(sizes).enumerate() {
            let source = if i < sizes.len() { OtSource::SILENT } else { OtSource::SOFT_SPOKEN };
            let all = Polynomials { groups, variables, len, source };
            let (own, seen) = two_party(|ch, rng| all.own(ch, rng), |ch, rng| all.evaluate(ch, rng));
            assert!(own.len() == groups && seen.len() == groups);
            let bit = |plane: &Vec<u64>, i: usize| plane[i / 64] >> (i % 64) & 1;
            for (own, seen) in own.iter().zip(&seen) {
                for i in 0..len {
                    let point = (0..variables as usize).fold(0, |point, j| point | (bit(&seen[j], i) as usize) << j);
                    let value =
                        (0..own.len()).filter(|set| set & !point == 0).fold(0, |sum, set| sum ^ bit(&own[set], i));
                    assert_eq!(value, bit(&seen[variables as usize], i));
                }
            }
        }
    }

    /// Two runs and a rest.
    #[test]
    fn groups_go_into_runs_of_a_bounded_length() {
        let source = OtSource::SILENT;
        let all = Polynomials { groups: 7, variables: 3, len: TABLES_PER_BATCH / 3, source };
        let runs: Vec<usize> = all.runs().map(|run| run.len / all.len).collect();
        assert_eq!(runs, [3, 3, 1]);
        let all = Polynomials { groups: 2, variables: 3, len: TABLES_PER_BATCH + 1, source };
        assert_eq!(all.runs().count(), 2);
    }
}
