//! The cost model: what a run takes, in whole numbers, from a table of measured runs.
//!
//! ```text
//! time = speed(n) (share T(n_s) + (1 - share) T(n_r))     computing; T is linear between measured runs of n x n
//!      + bytes / rate                                     nothing of it is hidden behind the computing
//!      + round trips * round-trip time                    nor of this
//! ```
//!
//! Memory, and what the receiver sends of the bytes, are interpolated in the same way. `T`, the
//! share and the round trips are constants of a protocol in a mode (`costs.txt`), measured
//! on one machine, the reference. `speed` is how many thousandths of the reference machine's time
//! another machine takes, for n = max(n_s, n_r): measured by [`PROBES`].
//! docs/parameters/plan-time.md says how far off it is. A task in buckets takes what the run of a bucket
//! does, as many times.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use vesica_party::Security;
use vesica_party::transport::Link;
use vesica_party::variants::{self, split};
use vesica_protocols::psi::vole::params::value_bits;
use vesica_structures::fields::{Cell, Gf64};

use super::lines::{self, mode};
use super::workload::Workload;
use crate::rows;

/// What a protocol costs in one mode, on the reference machine with one thread a party. The program
/// `fit_plan` makes these from recorded runs.
#[derive(Debug)]
struct Costs {
    /// The protocol.
    id: &'static str,
    /// The mode.
    security: Security,
    /// What most of its time goes to.
    work: Work,
    /// Microseconds over loopback.
    micros: Surface,
    /// Hundredths of round trips, whatever the sizes.
    round_trips: u64,
    /// Items of the receiver for each further round trip; 0 where there are none.
    items_a_round_trip: u64,
    /// Peak memory of the sender.
    sender_kib: Surface,
    /// Peak memory of the receiver.
    receiver_kib: Surface,
    /// What the receiver sends.
    receiver_bytes: Surface,
    /// Picoseconds for each unit of [`Workload::extra_work`].
    extra_ps: u64,
}

/// A figure of runs of n x n items.
#[derive(Debug)]
struct Surface {
    /// `(log2 n, figure)`, ascending.
    points: Vec<(u32, u64)>,
    /// Thousandths of the figure that follow the sender's items; the others follow the receiver's.
    sender_share: u64,
}

/// What a protocol's time goes to, and so by which probe its machine is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// Multiplications on the curve.
    Curve,
    /// AES, carry-less products and memory.
    Vole,
}

/// How many thousandths of the reference machine's time a machine takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Curve multiplications.
    pub curve: u64,
    /// The set-up of small VOLEs.
    pub setup: u64,
    /// VOLE, OKVS and hashing within the caches.
    pub near: u64,
    /// VOLE, OKVS and hashing on data larger than the caches.
    pub far: u64,
}

/// A run by which a machine is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The protocol, in the semi-honest mode.
    pub protocol: &'static str,
    /// Items of either side, as a power of two.
    pub log_items: u32,
    /// How often it is run; the least time counts.
    pub repeats: usize,
}

/// The runs that measure a [`Machine`], in the order of its fields. Together they take less than a
/// second on the reference machine.
pub const PROBES: [Probe; 4] = [
    Probe { protocol: "ecdh-hfh99", log_items: 8, repeats: 2 },
    Probe { protocol: "vole-fast", log_items: 8, repeats: 2 },
    Probe { protocol: "vole-fast", log_items: 16, repeats: 2 },
    Probe { protocol: "vole-fast", log_items: 18, repeats: 1 },
];

impl Machine {
    /// The machine on which the constants were measured. By it, and it alone, `auto` chooses: the
    /// two sides' own machines differ.
    pub const REFERENCE: Self = Self { curve: 1000, setup: 1000, near: 1000, far: 1000 };

    /// The machine that took so many microseconds for each of [`PROBES`].
    pub fn from_probes(measured_us: [u64; 4]) -> Self {
        let mut of_reference = PROBES.iter().zip(measured_us).map(|(probe, measured)| {
            let expected =
                costs(probe.protocol, Security::SemiHonest).map_or(0, |costs| costs.micros.equal(1 << probe.log_items));
            (1000 * u128::from(measured) / u128::from(expected.max(1))).clamp(1, 1_000_000) as u64
        });
        let mut next = || of_reference.next().unwrap_or(1000);
        Self { curve: next(), setup: next(), near: next(), far: next() }
    }

    /// Thousandths of the reference machine's time for sets of up to `items`, by straight lines
    /// over log2 of the items.
    fn factor(&self, work: Work, items: u64) -> u64 {
        if work == Work::Curve {
            return self.curve;
        }
        let log = items.max(1).ilog2();
        let points =
            [(PROBES[1].log_items, self.setup), (PROBES[2].log_items, self.near), (PROBES[3].log_items, self.far)];
        line_through(&points.map(|(log, factor)| (u64::from(log), factor)), u64::from(log), false)
    }
}

/// What a run is predicted to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Prediction {
    /// Microseconds of computing that nobody can do meanwhile.
    pub compute_us: u64,
    /// Microseconds of transfer.
    pub transfer_us: u64,
    /// Microseconds of waiting for answers.
    pub round_trips_us: u64,
    /// Bytes of messages of both sides: exact where the coding has one length, else the middle of
    /// its range.
    pub bytes: u64,
    /// What of them the sender sends.
    pub sender_bytes: u64,
    /// What of them the receiver sends.
    pub receiver_bytes: u64,
    /// Peak memory of the sender's process in bytes, without the table's rows.
    pub sender_memory: u64,
    /// Peak memory of the receiver's.
    pub receiver_memory: u64,
}

impl Prediction {
    /// All the time together.
    pub fn total_us(&self) -> u64 {
        self.compute_us.saturating_add(self.transfer_us).saturating_add(self.round_trips_us)
    }
}

/// The costs of the product's protocols, then those of protocols that were added.
fn all_costs() -> &'static [Costs] {
    static ALL: OnceLock<Vec<Costs>> = OnceLock::new();
    ALL.get_or_init(|| {
        let texts = [include_str!("costs.txt")].into_iter().chain(rows::added().map(|added| added.costs));
        texts.flat_map(lines::of).filter_map(Costs::read).collect()
    })
}

impl Costs {
    /// One line; `None` if it is none.
    fn read(line: &'static str) -> Option<Self> {
        let mut parts = line.split(" | ");
        let mut words = parts.next()?.split(' ');
        let (id, security) = (words.next()?, mode(words.next()?)?);
        let work = match words.next()? {
            "vole" => Work::Vole,
            "curve" => Work::Curve,
            _ => return None,
        };
        let mut number = || words.next()?.parse().ok();
        let [round_trips, items_a_round_trip, extra_ps] = [number()?, number()?, number()?];
        let mut surface = || Surface::read(parts.next()?);
        Some(Self {
            id,
            security,
            work,
            micros: surface()?,
            round_trips,
            items_a_round_trip,
            sender_kib: surface()?,
            receiver_kib: surface()?,
            receiver_bytes: surface()?,
            extra_ps,
        })
    }
}

/// The costs of a protocol in a mode, for a variant that was never measured those of its row;
/// `None` for a row that was never measured.
fn costs(id: &str, security: Security) -> Option<&'static Costs> {
    let of = |id: &str| all_costs().iter().find(|costs| costs.id == id && costs.security == security);
    of(id).or_else(|| variants::by_one_choice(id).find_map(|id| of(&id))).or_else(|| of(split(id).0))
}

/// What protocol `id` takes for a workload that it serves with `bytes` bytes. `None` if it was
/// never measured. Groups, thresholds and noise are left out.
pub(super) fn predict(
    id: &str,
    workload: &dyn Workload,
    bytes: u64,
    machine: &Machine,
    link: &Link,
) -> Option<Prediction> {
    let extent = workload.extent();
    // Where the semi-honest mode needs the wide field, it costs what the malicious mode does, or a
    // little less.
    let wide = value_bits(extent.security, extent.sender_items.saturating_mul(extent.runs)) > Gf64::BITS;
    let narrow = costs(id, extent.security)?;
    let costs = if wide { costs(id, Security::Malicious).unwrap_or(narrow) } else { narrow };
    let (senders, receivers) = (extent.sender_items as u64, extent.receiver_items as u64);
    let runs = extent.runs as u64;
    let run_us =
        costs.micros.at(senders, receivers).saturating_add(scaled(workload.extra_work(), costs.extra_ps, 1_000_000));
    let reference_us = run_us.saturating_mul(runs);

    let further = receivers.saturating_mul(100).checked_div(costs.items_a_round_trip).unwrap_or(0);
    let receiver_bytes = costs.receiver_bytes.at(senders, receivers).saturating_mul(runs).min(bytes);
    let round_trips = costs.round_trips.saturating_add(further).saturating_mul(runs);
    Some(Prediction {
        compute_us: scaled(reference_us, machine.factor(costs.work, senders.max(receivers)), 1000),
        transfer_us: link.transfer_us(bytes),
        round_trips_us: scaled(round_trips, link.round_trip_us, 100),
        bytes,
        sender_bytes: bytes - receiver_bytes,
        receiver_bytes,
        sender_memory: scaled(costs.sender_kib.at(senders, receivers), 1024, 1),
        receiver_memory: scaled(costs.receiver_kib.at(senders, receivers), 1024, 1),
    })
}

/// `value * numerator / denominator`, or all that fits.
fn scaled(value: u64, numerator: u64, denominator: u64) -> u64 {
    u64::try_from(u128::from(value) * u128::from(numerator) / u128::from(denominator.max(1))).unwrap_or(u64::MAX)
}

impl Surface {
    fn read(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let sender_share = words.next()?.parse().ok()?;
        let point =
            |word: &str| word.split_once(':').and_then(|(log, figure)| Some((log.parse().ok()?, figure.parse().ok()?)));
        Some(Self { points: words.map(point).collect::<Option<_>>()?, sender_share })
    }

    /// The figure of `items` x `items`.
    fn equal(&self, items: u64) -> u64 {
        let points: Vec<(u64, u64)> = self.points.iter().map(|&(log, figure)| (1 << log, figure)).collect();
        line_through(&points, items, true)
    }

    fn at(&self, senders: u64, receivers: u64) -> u64 {
        let share = self.sender_share.min(1000);
        scaled(self.equal(senders), share, 1000).saturating_add(scaled(self.equal(receivers), 1000 - share, 1000))
    }
}

/// The value at `x` of straight lines through `points`, ascending in x; before the first it stays;
/// behind the last it stays too, or goes on.
fn line_through(points: &[(u64, u64)], x: u64, goes_on: bool) -> u64 {
    let Some(&(first_x, first)) = points.first() else { return 0 };
    if x <= first_x {
        return first;
    }
    let last = points.len().saturating_sub(2);
    let behind = |pair: &[(u64, u64)]| x > pair[1].0;
    for (number, pair) in points.windows(2).enumerate() {
        let [(x0, y0), (x1, y1)] = [pair[0], pair[1]];
        if behind(pair) && !(number == last && goes_on) {
            continue;
        }
        // Times and factors are far below 2^63.
        let rise = (i128::from(y1) - i128::from(y0)) * i128::from(x - x0) / i128::from(x1 - x0);
        return u64::try_from((i128::from(y0) + rise).max(0)).unwrap_or(u64::MAX);
    }
    points.last().map_or(first, |&(_, y)| y)
}

#[cfg(test)]
mod tests {
    use vesica_protocols::tasks::Extent;

    use vesica_party::CostClass;

    use super::*;
    use crate::task::{self, Amounts, SampleWorkload};

    #[test]
    fn straight_lines() {
        let points = [(4, 100), (8, 200), (16, 800)];
        let through = |x, goes_on| line_through(&points, x, goes_on);
        assert_eq!([0, 4, 6, 8, 12, 16].map(|x| through(x, true)), [100, 100, 150, 200, 500, 800]);
        assert_eq!((through(32, true), through(32, false)), (2000, 800));
        assert_eq!(line_through(&[(4, 100), (8, 10)], 1 << 40, true), 0);
        assert_eq!((line_through(&[], 5, true), line_through(&[(2, 7)], 5, true)), (0, 7));
    }

    #[test]
    fn every_recommended_protocol_in_every_mode_was_measured() {
        for (task, entry) in
            task::TASKS.iter().flat_map(|task| task.shipped_entries().into_iter().map(move |entry| (task, entry)))
        {
            for mode in entry.modes {
                let Some(costs) = costs(entry.id, mode.security) else {
                    assert_ne!(entry.status, vesica_party::Status::Recommended, "{} {}", entry.id, mode.security);
                    continue;
                };
                assert!(costs.round_trips > 0, "{costs:?}");
                // What records of 64 bytes take in a union is less than its runs differ by.
                let counted = !task.name().ends_with("cardinality") && task.name() != "union";
                assert!(costs.extra_ps > 0 || !counted, "{costs:?}");
                for surface in [&costs.micros, &costs.sender_kib, &costs.receiver_kib, &costs.receiver_bytes] {
                    let ascending =
                        surface.points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
                    assert!(surface.points.len() > 3 && ascending && surface.sender_share <= 1000, "{surface:?}");
                }
            }
        }
    }

    #[test]
    fn the_reference_machine_measures_itself() {
        let own = PROBES.map(|probe| {
            costs(probe.protocol, Security::SemiHonest).expect("measured").micros.equal(1 << probe.log_items)
        });
        assert_eq!(Machine::from_probes(own), Machine::REFERENCE);
        let slower = Machine::from_probes(own.map(|time| 3 * time));
        assert_eq!(slower, Machine { curve: 3000, setup: 3000, near: 3000, far: 3000 });
        assert_eq!(Machine::from_probes([0; 4]).near, 1, "no time at all is no speed");
    }

    fn sized(sender_items: usize, receiver_items: usize, security: Security) -> Box<dyn SampleWorkload> {
        task::tests::workload("intersect", Extent::new(sender_items, receiver_items, security))
    }

    #[test]
    fn more_of_anything_takes_no_less() {
        let link = Link { bits_per_second: 100_000_000, round_trip_us: 40_000 };
        let predict = |id: &str, workload: &dyn SampleWorkload, bytes, link| {
            predict(id, workload.workload(), bytes, &Machine::REFERENCE, link).expect("measured")
        };
        for costs in all_costs() {
            let mut before = 0;
            for log in 0..30 {
                let plain = sized(1 << log, 1 << log, costs.security);
                let now = predict(costs.id, &*plain, 1 << log, &link);
                assert!(now.total_us() >= before, "{} {} at 2^{log}", costs.id, costs.security);
                before = now.total_us();
                assert_eq!(now.sender_bytes + now.receiver_bytes, now.bytes);
                let intersect = task::find("intersect").expect("the task");
                let payload = intersect
                    .workload(plain.extent(), &Amounts { payload_bytes: 100, ..Amounts::NONE })
                    .expect("payloads");
                assert!(predict(costs.id, &*payload, 1 << log, &link).compute_us >= now.compute_us);
                let nearer = predict(costs.id, &*plain, 1 << log, &Link::LOOPBACK);
                assert!(nearer.total_us() <= now.total_us());
            }
            let most = sized(u32::MAX as usize, u32::MAX as usize, costs.security);
            predict(costs.id, &*most, u64::MAX, &Link { bits_per_second: 0, round_trip_us: u64::MAX });
        }
    }

    /// Rows on a curve take microseconds an item in the measured constants, and no other row does
    /// so in the registry.
    #[test]
    fn measured_work_is_of_the_entrys_class() {
        for costs in all_costs() {
            let entry = crate::rows::find(costs.id).expect("a row");
            let is_on_a_curve = entry.cost == CostClass::GroupOperations;
            assert_eq!(costs.work == Work::Curve, is_on_a_curve, "{}", costs.id);
            let slope = costs.micros.equal(1 << 16) as f64 / f64::from(1 << 16);
            assert!(!is_on_a_curve || slope > 4.0, "{} takes {slope} us an item", costs.id);
        }
    }

    #[test]
    fn a_wide_field_costs_what_the_malicious_mode_does() {
        let at = |items, security| {
            predict(
                "vole-fast",
                sized(items, items, security).workload(),
                1 << 27,
                &Machine::REFERENCE,
                &Link::LOOPBACK,
            )
            .expect("measured")
            .compute_us
        };
        let beyond = (1 << 23) + 1;
        assert_eq!(at(beyond, Security::SemiHonest), at(beyond, Security::Malicious));
        assert!(at(1 << 20, Security::SemiHonest) < at(1 << 20, Security::Malicious));
    }
}
