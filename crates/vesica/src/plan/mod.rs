//! Which protocol serves a request, and what it takes.
//!
//! **The rule of `auto`.** Candidates are the protocols that both sides allow: each lists those
//! whose declared security meets the request, none of them broken, none that shows more than
//! the task's name promises unless its user permits that ([`Permissions`]), or the one that its
//! user named. Of these, the recommended ones before those that are kept for comparison, the
//! receiver chooses the fastest by the cost model of the *reference* machine and the agreed link,
//! and the sender checks that the choice is on its own list. The model is one of whole numbers over
//! what both sides know, so that the sender comes to the same choice by itself and says so if it
//! does not. A side's own calibration never enters: the two differ, and a wish that only one side
//! can check is no agreement. Whatever a peer says of its link, or chooses, only a protocol can
//! come of it that this side allows: never a lower security.

mod lines;
mod memory;
mod model;
pub(crate) mod post_quantum;
mod prices;
mod workload;

use vesica_party::{Entry, Extra, Security, Status, variants};

pub use memory::{Memory, PROCESS_MEMORY, memory, memory_with_work};
pub use model::{Machine, PROBES, Prediction, Probe};
pub use prices::{Prices, Traffic};
pub use vesica_party::transport::Link;
pub use workload::{Totals, Workload};

use vesica_structures::facts::Unsupported;

use crate::failure::{Failure, code};
use crate::progress::Expected;
use crate::rows;

/// Over a link below this rate, what was never measured is compared by its bytes alone.
const SLOW_BITS_PER_SECOND: u64 = 10_000_000;

/// Predictions up to this say no more than that of `time`: they lie within one part in 32 of it. The
/// model was fitted on one machine, and two protocols so close to each other change places on the
/// next. The catalogue's order then decides, and the choice does not depend on such a fit.
const fn as_fast_as(time: u64) -> u64 {
    time.saturating_add(time / 32)
}

/// What a side permits beyond what every run may do, and what it asks for beyond a security.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// A broken protocol, if one is named.
    pub broken: bool,
    /// Protocols that show the receiver the exact number of common keys where the task hides it.
    pub count: bool,
    /// Only what no quantum computer is known to break: no discrete logarithm, and base OTs from ML-KEM.
    pub post_quantum: bool,
}

impl Permissions {
    fn include(self, extra: Extra) -> bool {
        match extra {
            Extra::Count => self.count,
            // Whoever names the protocol has said enough.
            Extra::Prefix => false,
        }
    }
}

/// What `entry` shows beyond its task's promise, and `permissions` do not include.
fn unpermitted(entry: &Entry, security: Security, permissions: Permissions) -> Option<Extra> {
    entry.mode(security)?.extras().find(|&extra| !permissions.include(extra))
}

/// The protocols that a side allows, among `entries` (the protocols of a task): the one named, which may be a variant,
/// or all rows that reach `security` and show no more than is permitted, in the
/// registry's order. A variant runs only where both sides name it, or where both ask for what lasts and its row does not.
pub(crate) fn allowed(
    task: &str,
    entries: &[&'static Entry],
    named: Option<&str>,
    security: Security,
    permissions: Permissions,
) -> Result<Vec<&'static Entry>, Failure> {
    if let Some(name) = named {
        let found = variants::find(entries.iter().copied(), name)
            .map_err(|unknown| Unsupported { mend: rows::mend(name, &unknown.mend), ..unknown })?;
        let entry = found.ok_or_else(|| {
            let known: Vec<&str> = entries.iter().map(|entry| entry.id).collect();
            Failure::new(
                code::REFUSED,
                format_args!("there is no protocol {name:?} for {task}"),
                rows::mend(name, format_args!("choose one of {}", known.join(", "))),
            )
        })?;
        if let Some(fault) = entry.warning()
            && !permissions.broken
        {
            let mend = "choose another one; to run it nevertheless, for research, add --allow-broken";
            return Err(Failure::new(code::REFUSED, fault, mend));
        }
        if entry.mode(security).is_none() {
            let offered: Vec<String> = entry.modes.iter().map(|mode| mode.security.to_string()).collect();
            return Err(Failure::new(
                code::REFUSED,
                format_args!("protocol {} has no {security} mode", entry.id),
                format_args!("choose another protocol, or say --security {} on both sides", offered.join(" or ")),
            ));
        }
        return match permissions.post_quantum {
            true => post_quantum::required(task, entries, entry, security).map(|entry| vec![entry]),
            false => Ok(vec![entry]),
        };
    }
    let reach = |security| {
        let reaches = |entry: &&'static Entry| entry.mode(security).is_some() && entry.broken().is_none();
        entries.iter().copied().filter(reaches).collect::<Vec<_>>()
    };
    let mut found = reach(security);
    if permissions.post_quantum && !found.is_empty() {
        found = post_quantum::all(entries, security);
        if found.is_empty() {
            return Err(post_quantum::refusal(task, entries, security));
        }
    }
    if found.is_empty() {
        let mend = match security {
            Security::Malicious if !reach(Security::SemiHonest).is_empty() => {
                "if the partner is trusted to follow the protocol, say --security semi-honest on both sides"
            }
            _ => "choose another task",
        };
        return Err(Failure::new(
            code::REFUSED,
            format_args!("no protocol for {task} withstands a {security} partner"),
            mend,
        ));
    }
    let (discreet, others): (Vec<&'static Entry>, Vec<&'static Entry>) =
        found.into_iter().partition(|entry| unpermitted(entry, security, permissions).is_none());
    match others.first().and_then(|entry| unpermitted(entry, security, permissions)) {
        Some(extra) if discreet.is_empty() => Err(Failure::new(
            code::REFUSED,
            format_args!("every protocol for {task} shows more than the task's name says"),
            match extra.flag() {
                Some(flag) => format!("say {flag} on both sides, or choose another task"),
                None => "name one with --protocol, or choose another task".to_owned(),
            },
        )),
        _ => Ok(discreet),
    }
}

/// The receiver's choice, or the sender's own view of it.
pub(crate) struct Chosen {
    pub entry: &'static Entry,
    /// The protocols that it was chosen from, in the registry's order.
    pub candidates: Vec<&'static str>,
    by: Rule,
}

/// What a choice went by.
#[derive(Clone, Copy)]
enum Rule {
    /// The cost model's time.
    Time,
    /// Bytes: the link is slow, and no time is known.
    Bytes,
    /// The order of the registry: no time is known.
    Order,
}

/// The fastest for the reference machine of what both sides allow. Where none was ever measured:
/// over a slow link the one with the fewest bytes, else the first.
///
/// # Errors
/// If no protocol is allowed on both sides and serves the request.
pub(crate) fn choose(
    workload: &dyn Workload,
    ours: &[String],
    theirs: &[String],
    link: &Link,
) -> Result<Chosen, Failure> {
    let both_allow = ours.iter().filter(|id| theirs.contains(id));
    // In the registry's order.
    let entries = workload.entries().into_iter().flat_map(|row| {
        let named =
            both_allow.clone().map(move |id| variants::find([row], id).ok().flatten().filter(|own| own.id == id));
        named.flatten()
    });
    // What is kept for comparison runs where it is named, or where there is nothing else. It is not looked at before:
    // the parameters of some such rows take milliseconds.
    let (recommended, others): (Vec<_>, Vec<_>) = entries.partition(|&entry| recommended(entry));
    let mut serving = Vec::new();
    let mut refusal = None;
    for entries in [recommended, others] {
        if !serving.is_empty() {
            break;
        }
        for entry in entries {
            match workload.predicted_bytes(entry) {
                Ok(bytes) => serving.push((entry, middle(&bytes))),
                Err(refused) => refusal = refusal.or(Some(refused)),
            }
        }
    }
    let candidates = serving.iter().map(|(entry, _)| entry.id).collect();
    let time = |id, bytes| Some(model::predict(id, workload, bytes, &Machine::REFERENCE, link)?.total_us());
    let times: Vec<Option<u64>> = serving.iter().map(|&(entry, bytes)| time(entry.id, bytes)).collect();
    let (by, weights): (_, Vec<u64>) = if let Some(fastest) = times.iter().flatten().min() {
        // What was never measured comes last, and of what is about as fast the first is taken.
        let bound = as_fast_as(*fastest);
        let weight = |time: &Option<u64>| time.map_or(u64::MAX, |time| if time <= bound { 0 } else { time });
        (Rule::Time, times.iter().map(weight).collect())
    } else if link.bits_per_second < SLOW_BITS_PER_SECOND {
        (Rule::Bytes, serving.iter().map(|&(_, bytes)| link.transfer_us(bytes)).collect())
    } else {
        (Rule::Order, (0..serving.len() as u64).collect())
    };
    match (serving.iter().zip(weights).min_by_key(|&(_, weight)| weight), refusal) {
        (Some((&(entry, _), _)), _) => Ok(Chosen { entry, candidates, by }),
        (None, Some(refused)) => Err(refused.into()),
        (None, None) => Err(Failure::new(
            code::MISMATCH,
            "no protocol is allowed on both sides",
            "omit --protocol, or name the same on both sides",
        )),
    }
}

fn recommended(entry: &Entry) -> bool {
    entry.status == Status::Recommended
}

fn middle(range: &std::ops::RangeInclusive<u64>) -> u64 {
    u64::midpoint(*range.start(), *range.end())
}

impl Chosen {
    /// Why, in one sentence that both sides come to: it stands in reports and receipts.
    pub(crate) fn why(&self, link: &Link) -> String {
        let candidates = match self.candidates.as_slice() {
            [_] => return "the only one that both sides allow".into(),
            candidates => candidates.join(", "),
        };
        match self.by {
            Rule::Time => format!("the fastest of {candidates} by the reference model, over {link}"),
            Rule::Bytes => format!("the one of {candidates} with the fewest bytes, over {link}; none was measured"),
            Rule::Order => format!("the first of {candidates} in the order of the catalogue; none was measured"),
        }
    }
}

/// What `auto` runs for a workload when both sides give these permissions and name no protocol.
///
/// # Errors
/// If no protocol serves them.
pub fn automatic(workload: &dyn Workload, link: &Link, permissions: Permissions) -> Result<&'static Entry, Failure> {
    let allowed = allowed(workload.task(), &workload.entries(), None, workload.extent().security, permissions)?;
    let all: Vec<String> = allowed.into_iter().map(|entry| entry.id.to_owned()).collect();
    Ok(choose(workload, &all, &all, link)?.entry)
}

/// What a run of `entry` is expected to take on this machine over this link, for whoever watches it.
pub(crate) fn expected(entry: &Entry, workload: &dyn Workload, machine: &Machine, link: &Link) -> Expected {
    let seconds = predict(entry, workload, machine, link).map(|predicted| predicted.total_us() as f64 / 1e6);
    Expected { seconds, bytes: total_bytes(entry, workload) }
}

/// Bytes of both sides by the protocol's formula: the middle of its range. `None` if it does not serve the workload.
pub(crate) fn total_bytes(entry: &Entry, workload: &dyn Workload) -> Option<u64> {
    Some(middle(&workload.predicted_bytes(entry).ok()?))
}

/// What a run with the protocol `entry` takes on two machines like `machine`. `None` if the protocol does not serve the
/// workload, or was never measured.
pub(crate) fn predict(entry: &Entry, workload: &dyn Workload, machine: &Machine, link: &Link) -> Option<Prediction> {
    model::predict(entry.id, workload, total_bytes(entry, workload)?, machine, link)
}

/// What `vesica plan` shows.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Protocols that would serve, in the registry's order.
    pub eligible: Vec<Eligible>,
    /// The others, each with the reason.
    pub refused: Vec<Refused>,
    /// What `auto` runs.
    pub choice: &'static str,
    /// Why, in one sentence.
    pub reason: String,
}

/// A protocol that can serve.
#[derive(Clone, Debug)]
pub struct Eligible {
    /// The protocol's description.
    pub entry: &'static Entry,
    /// The predicted cost on the given machine.
    pub here: Prediction,
    /// The predicted cost on the reference machine, by which `auto` chooses.
    pub reference: Prediction,
    /// Least and most bytes of both sides, by the protocol's formula.
    pub bytes: [u64; 2],
    /// The cost of the run on the given machine, in US dollars.
    pub usd: f64,
    /// What the protocol shows beyond its task's promise, if `auto` leaves it out for that.
    pub unpermitted: Option<Extra>,
    /// The most memory that the protocol may take; `--memory` refuses by it.
    pub memory: Memory,
}

/// A protocol that would not serve.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The protocol's description.
    pub entry: &'static Entry,
    /// What kind of reason it is.
    pub kind: Refusal,
    /// Why the protocol cannot serve.
    pub why: String,
}

/// Kinds of reasons why a protocol would not serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The protocol is broken.
    Broken,
    /// The protocol has no mode of the security that is asked for.
    NoMode,
    /// The protocol falls to a quantum computer, and that is asked about.
    FallsToQuantum,
    /// The protocol does not serve this workload.
    Unsupported,
    /// The protocol would serve, but the model has no constants for it.
    NeverMeasured,
}

/// Who asks for a plan.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// Either side's machine.
    pub machine: &'a Machine,
    /// Threads of either side.
    pub threads: usize,
    /// The link between them.
    pub link: &'a Link,
    /// What things cost.
    pub prices: &'a Prices,
    /// What traffic costs.
    pub traffic: &'a Traffic,
    /// What both sides permit.
    pub permissions: Permissions,
}

/// What each protocol of a task takes for this workload, and which one `auto` would run.
///
/// # Errors
/// If none serves them.
pub fn plan(workload: &dyn Workload, setting: &Setting<'_>) -> Result<Plan, Failure> {
    let (mut eligible, mut refused) = (Vec::new(), Vec::new());
    let (entries, security) = (workload.entries(), workload.extent().security);
    for &entry in &entries {
        let asked = Permissions { post_quantum: setting.permissions.post_quantum, ..Permissions::default() };
        // With --post-quantum a row stands for its variant on other base OTs.
        let outcome = match allowed(workload.task(), &entries, Some(entry.id), security, asked).as_deref() {
            Err(failure) if entry.broken().is_some() => Err((Refusal::Broken, failure.fault.clone())),
            Err(failure) if entry.mode(security).is_none() => Err((Refusal::NoMode, failure.fault.clone())),
            Err(failure) => Err((Refusal::FallsToQuantum, failure.fault.clone())),
            Ok(&[entry, ..]) => Ok(entry),
            Ok([]) => Ok(entry),
        };
        let outcome = outcome.and_then(|entry| {
            let bytes = workload.predicted_bytes(entry);
            Ok((entry, bytes.map_err(|unsupported| (Refusal::Unsupported, unsupported.what))?))
        });
        let predicted = outcome.and_then(|(entry, bytes)| {
            let on = |machine| model::predict(entry.id, workload, middle(&bytes), machine, setting.link);
            match (on(setting.machine), on(&Machine::REFERENCE), memory(entry.id, workload)) {
                (Some(here), Some(reference), Some(memory)) => Ok((entry, bytes, here, reference, memory)),
                _ => Err((Refusal::NeverMeasured, "it was never measured; see bench/plan".into())),
            }
        });
        match predicted {
            Err((kind, why)) => refused.push(Refused { entry, kind, why }),
            Ok((entry, bytes, here, reference, memory)) => {
                let usd = setting.prices.usd(setting.traffic, &here, setting.threads);
                let unpermitted = unpermitted(entry, security, setting.permissions);
                let bytes = [*bytes.start(), *bytes.end()];
                eligible.push(Eligible { entry, here, reference, bytes, usd, unpermitted, memory });
            }
        }
    }
    let choice = automatic(workload, setting.link, setting.permissions)?.id;
    let reason = reason(&eligible, choice);
    Ok(Plan { eligible, refused, choice, reason })
}

/// Why `auto` chooses `choice`, and what this machine would rather have.
fn reason(eligible: &[Eligible], choice: &str) -> String {
    let seconds = |us: u64| us as f64 / 1e6;
    let find = |id: &str| eligible.iter().find(|one| one.entry.id == id);
    let Some(chosen) = find(choice) else { return format!("{choice} is chosen, though its time is not known") };
    let others = || {
        let rivals = eligible.iter().filter(|one| one.entry.id != choice && one.unpermitted.is_none());
        rivals.filter(|one| recommended(one.entry) || !recommended(chosen.entry))
    };
    let Some(next) = others().min_by_key(|one| one.reference.total_us()) else {
        return format!("{choice} is the only recommended one that serves");
    };
    let what = if chosen.reference.total_us() <= next.reference.total_us() {
        "the fastest recommended one"
    } else {
        "about as fast as any recommended one, and the first of these,"
    };
    let mut text = format!(
        "{choice} is {what} on the reference machine, by which both sides choose: {:.3} s against {:.3} s for {}",
        seconds(chosen.reference.total_us()),
        seconds(next.reference.total_us()),
        next.entry.id
    );
    if let Some(faster) =
        others().filter(|one| one.here.total_us() < chosen.here.total_us()).min_by_key(|one| one.here.total_us())
    {
        text.push_str(&format!(
            "; here {} would take {:.3} s instead of {:.3} s: if your partner's machine is like yours, name it on \
             both sides",
            faster.entry.id,
            seconds(faster.here.total_us()),
            seconds(chosen.here.total_us())
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use vesica_party::{CostClass, Protocol};
    use vesica_protocols::psi::vole::{VoleFast, VolePsi};
    use vesica_protocols::tasks::Extent;

    use super::*;
    use crate::task::{self, AnyTask, SampleWorkload};

    fn of(task: &dyn AnyTask, items: usize, security: Security) -> Box<dyn SampleWorkload> {
        task.workload(&Extent::new(items, items, security), &task.least_amounts()).expect("the least")
    }

    fn named(task: &str) -> &'static dyn AnyTask {
        task::find(task).expect("a task")
    }

    fn joined(items: usize, security: Security) -> Box<dyn SampleWorkload> {
        of(named("intersect"), items, security)
    }

    fn allowed_of(
        task: &dyn AnyTask,
        named: Option<&str>,
        security: Security,
        permissions: Permissions,
    ) -> Result<Vec<&'static Entry>, Failure> {
        super::allowed(task.name(), &task.entries(), named, security, permissions)
    }

    const DEFAULT: Permissions = Permissions { broken: false, count: false, post_quantum: false };
    const COUNT: Permissions = Permissions { count: true, ..DEFAULT };
    const BROKEN: Permissions = Permissions { broken: true, ..DEFAULT };

    fn allowed(named: Option<&str>, security: Security) -> Result<Vec<&'static Entry>, Failure> {
        allowed_of(self::named("intersect"), named, security, DEFAULT)
    }

    fn ids(security: Security) -> Vec<String> {
        allowed(None, security).expect("some").iter().map(|entry| entry.id.into()).collect()
    }

    fn chosen(workload: &dyn SampleWorkload, ours: &[String], theirs: &[String], link: &Link) -> &'static str {
        choose(workload.workload(), ours, theirs, link).expect("a protocol").entry.id
    }

    #[test]
    fn small_semi_honest_sets_go_by_elliptic_curve_and_large_ones_do_not() {
        let all = ids(Security::SemiHonest);
        assert_eq!(chosen(&*joined(100, Security::SemiHonest), &all, &all, &Link::ASSUMED), "ecdh-hfh99");
        assert_ne!(chosen(&*joined(1 << 20, Security::SemiHonest), &all, &all, &Link::ASSUMED), "ecdh-hfh99");
    }

    #[test]
    fn aggregates_go_by_elliptic_curve_for_small_sets_and_slow_links() {
        let slow = Link { bits_per_second: 1_000_000, round_trip_us: 40_000 };
        for (task, curves, circuit) in [
            ("cardinality", &["czz24-cardinality", "ecdh-ca-cgt12"][..], "vesica-cardinality"),
            ("sum", &["czz24-sum"], "vesica-sum"),
        ] {
            let choice = |items, link| {
                automatic(of(named(task), items, Security::SemiHonest).workload(), link, COUNT).expect("a protocol").id
            };
            assert!(curves.contains(&choice(50, &Link::LAN)) && curves.contains(&choice(1 << 12, &slow)), "{task}");
            assert_eq!(choice(1 << 18, &Link::LAN), circuit);
        }
    }

    /// Of two protocols whose predictions differ by less than the model knows, the first is taken, on
    /// whichever side of the other the fit has it.
    #[test]
    fn predictions_that_are_about_the_same_do_not_decide() {
        let (all, joined) = (ids(Security::SemiHonest), joined(1 << 20, Security::SemiHonest));
        let time = |id: &str| {
            let entry = joined.entries().into_iter().find(|entry| entry.id == id).expect("a row");
            let bytes = middle(&joined.predicted_bytes(entry).expect("served"));
            let predicted = model::predict(id, joined.workload(), bytes, &Machine::REFERENCE, &Link::ASSUMED);
            predicted.expect("measured").total_us()
        };
        let (fast, lean) = (time("vole-fast"), time("vole-lean"));
        assert!(fast <= as_fast_as(lean) && lean <= as_fast_as(fast), "{fast} and {lean}: take another example");
        assert_eq!(chosen(&*joined, &all, &all, &Link::ASSUMED), "vole-fast");
        assert_eq!((as_fast_as(3200), as_fast_as(u64::MAX)), (3300, u64::MAX));
    }

    #[test]
    fn a_slow_link_is_spared() {
        let slow = Link { bits_per_second: 5_000_000, round_trip_us: 40_000 };
        for security in [Security::SemiHonest, Security::Malicious] {
            let (all, joined) = (ids(security), joined(1 << 20, security));
            let choice = chosen(&*joined, &all, &all, &slow);
            let bytes = |entry: &&Entry| middle(&joined.predicted_bytes(entry).expect("served"));
            let least = allowed(None, security)
                .expect("some")
                .into_iter()
                .filter(|entry| recommended(entry) && entry.id != "ecdh-hfh99")
                .min_by_key(bytes);
            assert_eq!(choice, least.expect("one").id, "{security}");
        }
    }

    #[test]
    fn only_what_both_allow_and_what_reaches_the_security_is_chosen() {
        for security in [Security::SemiHonest, Security::Malicious] {
            let rows = allowed(None, security).expect("some");
            assert!(rows.iter().all(|entry| entry.mode(security).is_some_and(|mode| mode.meets(security))));
            let all = ids(security);
            for id in &all {
                for (ours, theirs) in
                    [(all.as_slice(), std::slice::from_ref(id)), (std::slice::from_ref(id), all.as_slice())]
                {
                    let choice =
                        choose(joined(5000, security).workload(), ours, theirs, &Link::ASSUMED).expect("the one");
                    assert_eq!(
                        (choice.entry.id, choice.why(&Link::ASSUMED).as_str()),
                        (id.as_str(), "the only one that both sides allow")
                    );
                }
            }
        }
        let none = choose(joined(5, Security::SemiHonest).workload(), &[], &["ecdh-hfh99".into()], &Link::ASSUMED);
        assert_eq!(none.err().map(|failure| failure.code), Some(code::MISMATCH));
        // A peer that lists a protocol without a malicious mode gains nothing by it.
        let theirs = ["ecdh-hfh99".to_owned(), "no-such-protocol".into()];
        assert!(
            choose(joined(5, Security::Malicious).workload(), &ids(Security::Malicious), &theirs, &Link::ASSUMED)
                .is_err()
        );
    }

    #[test]
    fn what_is_kept_for_comparison_is_chosen_only_if_there_is_nothing_else() {
        let all = ids(Security::Malicious);
        let kept: Vec<String> = ["prty20", "oprf-rfc9497"].map(String::from).to_vec();
        for log in 0..24 {
            let joined = joined(1 << log, Security::Malicious);
            assert!(
                recommended(choose(joined.workload(), &all, &all, &Link::LOOPBACK).expect("a protocol").entry),
                "2^{log}"
            );
            assert!(kept.iter().any(|id| id == chosen(&*joined, &all, &kept, &Link::LOOPBACK)));
        }
    }

    /// Only where both sides name it.
    #[test]
    fn no_permission_and_no_partner_brings_about_a_protocol_that_shows_prefixes() {
        let shows = |entry: &&'static Entry| {
            entry.modes.iter().flat_map(|mode| mode.extras()).any(|extra| extra == Extra::Prefix)
        };
        let intersect = self::named("intersect");
        let rows = intersect.entries();
        let showing: Vec<&Entry> = rows.into_iter().filter(shows).collect();
        assert_eq!(showing.iter().map(|entry| entry.id).collect::<Vec<_>>(), ["oprf-buckets"]);
        for permissions in [DEFAULT, COUNT, BROKEN] {
            let all = allowed_of(intersect, None, Security::SemiHonest, permissions).expect("some");
            assert!(!all.iter().any(|entry| showing.contains(entry)), "{permissions:?}");
            let all: Vec<String> = all.into_iter().map(|entry| entry.id.into()).collect();
            let named: Vec<String> = showing.iter().map(|entry| entry.id.into()).collect();
            let choice =
                |ours, theirs| choose(joined(50, Security::SemiHonest).workload(), ours, theirs, &Link::ASSUMED);
            for (ours, theirs) in [(&all, &named), (&named, &all)] {
                assert_eq!(choice(ours, theirs).err().map(|failure| failure.code), Some(code::MISMATCH));
            }
            assert_eq!(choice(&named, &named).expect("both name it").entry.id, "oprf-buckets");
        }
    }

    #[test]
    fn no_side_alone_brings_about_a_protocol_that_shows_the_count() {
        let list = |task, permissions| -> Vec<String> {
            let entries = allowed_of(task, None, Security::SemiHonest, permissions).expect("some");
            entries.iter().map(|entry| entry.id.into()).collect()
        };
        for task in task::all() {
            let shows =
                |entry: &&'static Entry| entry.mode(Security::SemiHonest).is_some_and(|mode| mode.shows_count());
            let showing: Vec<&Entry> = task.entries().into_iter().filter(shows).collect();
            assert_eq!(!showing.is_empty(), ["sum", "union-cardinality", "union-sum"].contains(&task.name()), "{task}");
            let (discreet, all) = (list(task, DEFAULT), list(task, COUNT));
            for entry in &showing {
                let id = entry.id;
                assert!(!discreet.iter().any(|other| other == id) && all.iter().any(|other| other == id), "{id}");
                // Who names it has said enough.
                assert!(allowed_of(task, Some(id), Security::SemiHonest, DEFAULT).is_ok());
            }
            for link in [
                Link { bits_per_second: 1, round_trip_us: 0 },
                Link { bits_per_second: 1_000_000, round_trip_us: 40_000 },
                Link::LAN,
            ] {
                for items in [1, 50, 1 << 12, 1 << 18] {
                    let workload = of(task, items, Security::SemiHonest);
                    for (ours, theirs) in [(&discreet, &all), (&all, &discreet), (&discreet, &discreet)] {
                        assert!(
                            !shows(&choose(workload.workload(), ours, theirs, &link).expect("a protocol").entry),
                            "{task}, {items} items, {link}"
                        );
                    }
                    // What was never measured goes by its bytes, over slow links only.
                    let is_compared = task.name() == "sum" || link.bits_per_second < SLOW_BITS_PER_SECOND;
                    if !showing.is_empty() && items == 50 && is_compared {
                        assert!(
                            shows(&choose(workload.workload(), &all, &all, &link).expect("a protocol").entry),
                            "both permit it"
                        );
                    }
                }
            }
        }
    }

    /// Whatever link a peer claims: the choice is one of ours, and the same on both sides.
    #[test]
    fn no_link_lowers_the_security() {
        let all = ids(Security::Malicious);
        for bits_per_second in [0, 1, 1_000_000, u64::MAX] {
            for round_trip_us in [0, 1_000_000, u64::MAX] {
                let claimed = Link { bits_per_second, round_trip_us };
                let [here, there] =
                    [Link::agreed(Some(Link::LAN), Some(claimed)), Link::agreed(Some(claimed), Some(Link::LAN))];
                let joined = joined(1 << 16, Security::Malicious);
                let choice = chosen(&*joined, &all, &all, &here);
                assert!(all.iter().any(|id| id == choice));
                assert_eq!(choice, chosen(&*joined, &all, &all, &there));
            }
        }
    }

    #[test]
    fn a_plan_lists_every_protocol_once_and_agrees_with_auto() {
        let prices = Prices::built_in().expect("prices");
        let machine = Machine { curve: 200, ..Machine::REFERENCE };
        let setting = Setting {
            machine: &machine,
            threads: 1,
            link: &Link::LAN,
            prices: &prices,
            traffic: prices.of("internet").expect("a kind"),
            permissions: DEFAULT,
        };
        for (security, items) in [(Security::SemiHonest, 1 << 11), (Security::Malicious, 1 << 20)] {
            let joined = joined(items, security);
            let plan = plan(joined.workload(), &setting).expect("a plan");
            assert_eq!(plan.eligible.len() + plan.refused.len(), joined.entries().len());
            assert_eq!(plan.choice, automatic(joined.workload(), &Link::LAN, DEFAULT).expect("a protocol").id);
            assert!(plan.reason.starts_with(plan.choice), "{}", plan.reason);
            for one in &plan.eligible {
                assert!(one.entry.mode(security).is_some() && !matches!(one.entry.status, Status::Broken { .. }));
                assert!(one.bytes[0] <= one.here.bytes && one.here.bytes <= one.bytes[1] && one.usd > 0.0);
            }
        }
        let refused = plan(joined(5, Security::Malicious).workload(), &setting).expect("a plan").refused;
        assert!(
            refused.iter().any(|refused| refused.entry.id == "ecdh-hfh99" && refused.why.contains("no malicious mode")),
            "{refused:?}"
        );
    }

    #[test]
    fn what_is_broken_runs_only_if_it_is_named_and_allowed() {
        const HOW: &str = "it is a test's";
        static ROW: Entry = Entry {
            id: "insecure-broken",
            aliases: &[],
            status: Status::Broken { how: HOW, false_match_bits: None },
            ..<VolePsi<VoleFast> as Protocol>::ENTRY
        };
        let task = named("intersect");
        let entries: Vec<&'static Entry> = task.entries().into_iter().chain([&ROW]).collect();
        for security in [Security::SemiHonest, Security::Malicious] {
            let allowed = |named, permissions| super::allowed(task.name(), &entries, named, security, permissions);
            let failure = allowed(Some(ROW.id), DEFAULT).expect_err("it is broken");
            assert_eq!(failure.code, code::REFUSED);
            assert!(failure.fault.contains(HOW) && failure.mend.contains("--allow-broken"), "{failure}");
            assert_eq!(allowed(Some(ROW.id), BROKEN).expect("permitted"), [&ROW]);
            // Permission is not a wish.
            assert!(!allowed(None, BROKEN).expect("others").contains(&&ROW));
        }
        // A peer that allows it gets nothing from a side that does not.
        let theirs = [ROW.id.to_owned()];
        let none =
            choose(joined(5, Security::SemiHonest).workload(), &ids(Security::SemiHonest), &theirs, &Link::ASSUMED);
        assert_eq!(none.err().map(|failure| failure.code), Some(code::MISMATCH));
    }

    /// An item takes their server tens of milliseconds, and parties must follow them: these rows run where
    /// they are named.
    #[test]
    fn auto_takes_no_protocol_on_lattices() {
        let task = named("intersect");
        let on_lattices = |entry: &Entry| entry.cost == CostClass::Lattice;
        let rows: Vec<&Entry> = task.entries().into_iter().filter(|entry| on_lattices(entry)).collect();
        for id in ["cm25-select", "cmdg21"] {
            assert!(rows.iter().any(|entry| entry.id == id && !recommended(entry)), "{id}");
        }
        assert!(rows.iter().all(|entry| entry.mode(Security::Malicious).is_none_or(|_| entry.broken().is_some())));
        for senders in [0, 1, 1 << 10, 1 << 20, 1 << 24] {
            for receivers in [0, 1, 4, 1 << 10, 1 << 20] {
                let extent = Extent::new(senders, receivers, Security::SemiHonest);
                let workload = task.workload(&extent, &task.least_amounts()).expect("the least");
                for bits_per_second in [1, 1_000_000, u64::MAX] {
                    let link = Link { bits_per_second, round_trip_us: 40_000 };
                    for permissions in [DEFAULT, BROKEN] {
                        let choice = automatic(workload.workload(), &link, permissions).expect("a protocol");
                        assert!(!on_lattices(choice), "{} for {extent:?}, {link}", choice.id);
                    }
                }
            }
        }
    }

    #[test]
    fn an_unknown_protocol_and_a_missing_mode_are_refused() {
        assert_eq!(allowed(Some("md5"), Security::SemiHonest).err().map(|failure| failure.code), Some(code::REFUSED));
        let failure = allowed(Some("ecdh-hfh99"), Security::Malicious).expect_err("it has no such mode");
        assert!(failure.mend.contains("--security semi-honest"), "{failure}");
    }

    #[test]
    fn a_variant_runs_only_where_both_sides_name_it() {
        let shares = self::named("shares");
        let id = |name| allowed_of(shares, Some(name), Security::SemiHonest, DEFAULT).map(|entries| entries[0].id);
        assert_eq!(id("psty19:ot=softspoken,equality=tree").ok(), Some("psty19:ot=softspoken"));
        assert_eq!(id("psty19:ot=silent").ok(), Some("psty19"));
        for (name, mend) in [
            ("psty19:ot=simple", "ot=softspoken"),
            ("psty19:hash=sha", "equality=cubic"),
            ("vesica-circuit:ot=silent", "okvs=clustered"),
        ] {
            let failure = id(name).expect_err("no such variant");
            assert!(failure.code == code::REFUSED && failure.mend.contains(mend), "{failure}");
        }
        assert!(id("psty19:ot=simple").is_err_and(|failure| failure.fault.contains("simple")));

        let all = allowed_of(shares, None, Security::SemiHonest, DEFAULT).expect("some");
        let all: Vec<String> = all.iter().map(|entry| entry.id.to_owned()).collect();
        let variant = vec!["psty19:ot=softspoken".to_owned()];
        assert!(all.iter().all(|id| !id.contains(':')), "auto lists rows only");
        let joined = of(shares, 5000, Security::SemiHonest);
        assert_eq!(chosen(&*joined, &variant, &variant, &Link::ASSUMED), "psty19:ot=softspoken");
        for (ours, theirs) in [(&all, &variant), (&variant, &all), (&variant, &vec!["psty19".to_owned()])] {
            let choice = choose(joined.workload(), ours, theirs, &Link::ASSUMED);
            assert_eq!(choice.err().map(|failure| failure.code), Some(code::MISMATCH));
        }
        assert!(memory("no-such-protocol:okvs=band", joined.workload()).is_none());
    }

    /// Two insecure stand-ins for each new task: the first is large and recommended, the second
    /// small.
    #[test]
    fn what_was_never_measured_is_chosen_by_order_or_over_a_slow_link_by_bytes() {
        let workload = of(named("sum"), 1000, Security::SemiHonest);
        let both = ["insecure-plain-large".to_owned(), "insecure-plain".into()];
        let slow = Link { bits_per_second: 1_000_000, round_trip_us: 1000 };
        for (link, id, says) in
            [(Link::LAN, "insecure-plain-large", "the first of"), (slow, "insecure-plain", "the fewest bytes")]
        {
            let choice = choose(workload.workload(), &both, &both, &link).expect("a protocol");
            assert_eq!(choice.entry.id, id);
            assert!(choice.why(&link).contains(says), "{}", choice.why(&link));
        }
    }

    #[test]
    fn a_task_without_a_malicious_protocol_names_the_flag_to_type() {
        for task in task::all().filter(|task| task.name() != "intersect") {
            let failure = allowed_of(task, None, Security::Malicious, DEFAULT).expect_err("none is malicious");
            assert_eq!(failure.code, code::REFUSED);
            assert!(failure.mend.contains("--security semi-honest"), "{failure}");
            assert!(allowed_of(task, None, Security::SemiHonest, DEFAULT).is_ok());
        }
    }
}
