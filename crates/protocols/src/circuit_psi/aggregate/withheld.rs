//! A threshold for what several runs give together.
//!
//! ```text
//!   Sender                                                            Receiver
//!      M_g, the masks of all runs        [ the runs ]                 T_g + M_g, of totals and counts T_g over all runs
//!
//!      -M_g              [ circuit: add, and compare the count ]      T_g + M_g
//!
//!                                                                     T_g, if its count is at least the threshold
//! ```
//!
//! The masks of all runs are uniform and independent, and their sum is told to nobody: what the receiver has before the
//! circuit is uniform, and what it has after it follows from its result. The sender has no output, and the circuit is the
//! one of a single run ([`threshold`](super::threshold)), with another origin of the shares.

use std::ops::RangeInclusive;

use vesica_mpc::gmw::{self, Evaluator};
use vesica_mpc::share_conversion;
use vesica_party::{Abort, Channel, Party, Phase};
use vesica_structures::facts::Unsupported;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::threshold::{self, Widths};
use crate::tasks::{AggregateOutput, AggregateRequest, Over};

/// What both sides do with the totals over all runs of a request with a threshold.
#[derive(Clone, Debug)]
pub struct Withheld {
    request: AggregateRequest,
    widths: Widths,
    circuit: gmw::Params,
}

impl Withheld {
    /// For all runs of this request; `None` where there is one run alone, or no threshold.
    ///
    /// # Errors
    /// If there are more groups and columns than a circuit serves, the threshold is out of reach, or noise would go
    /// with it.
    pub fn derive(request: &AggregateRequest, over: Over) -> Result<Option<Self>, Unsupported> {
        if !request.withholds_over_runs() {
            return Ok(None);
        }
        request.check_sizes_of_runs()?;
        let &AggregateRequest { sender_items, receiver_items, columns, groups, at_least, runs, .. } = request;
        let most = match over {
            Over::Common => sender_items.min(receiver_items),
            Over::New => sender_items,
        };
        let most = most.saturating_mul(runs);
        if at_least > most as u64 {
            return Err(Unsupported::new(
                format_args!("results from {at_least} {over} items on, of {most} at most"),
                "lower the threshold",
            ));
        }
        let count = share_conversion::count_bits(most);
        let widths = Widths { results: if columns == 0 { count } else { 64 }, count };
        let circuit = threshold::circuit(&vec![widths.results; request.results()], count, at_least);
        Ok(Some(Self { request: *request, widths, circuit: gmw::Params::new(circuit, groups)? }))
    }

    /// Bytes that both sides send.
    pub fn predicted_bytes(&self) -> RangeInclusive<u64> {
        let (evaluation, opening) = (self.circuit.predicted_bytes(), threshold::opening_bytes(&self.circuit));
        evaluation.start() + opening..=evaluation.end() + opening
    }

    /// The sender's half, with the sums of the masks of all runs, as many for each group as a run
    /// [opens](AggregateRequest::opened).
    ///
    /// # Errors
    /// If these are of another number, or the conversation fails.
    pub fn send(&self, masks: &[u64], ch: &mut Channel, rng: &mut SecretRng) -> Result<(), Abort> {
        let negated = Secret::new(masks.iter().map(|mask| mask.wrapping_neg()).collect::<Vec<u64>>());
        let shares = self.by_number(&negated)?;
        let circuit = Evaluator::setup(&self.circuit, ch, rng)?;
        let _phase = ch.phase(Phase::Payload);
        let (results, counts) = self.parts(&shares);
        threshold::send(circuit, &results, counts, self.widths, ch, rng)
    }

    /// The receiver's half, with the sums of what all runs opened.
    ///
    /// # Errors
    /// As of [`Self::send`].
    pub fn receive(&self, masked: &[u64], ch: &mut Channel, rng: &mut SecretRng) -> Result<AggregateOutput, Abort> {
        let shares = self.by_number(masked)?;
        let circuit = Evaluator::setup(&self.circuit, ch, rng)?;
        let _phase = ch.phase(Phase::Payload);
        let (results, counts) = self.parts(&shares);
        threshold::receive(circuit, &results, counts, self.widths, ch, rng)
    }

    /// The numbers of each group as one list for each of a group's numbers, with the group's shares in it.
    fn by_number(&self, of_groups: &[u64]) -> Result<Vec<Secret<Vec<u64>>>, Unsupported> {
        let (groups, opened) = (self.request.groups, self.request.opened());
        if of_groups.len() != groups * opened {
            return Err(Unsupported::new(
                format_args!("{} totals over all runs", of_groups.len()),
                format_args!("give {} for {groups} groups", groups * opened),
            ));
        }
        let number = |number| of_groups.iter().skip(number).step_by(opened).copied().collect();
        Ok((0..opened).map(|place| Secret::new(number(place))).collect())
    }

    /// The results among these numbers, and the count, which is the last of them.
    fn parts<'a>(&self, shares: &'a [Secret<Vec<u64>>]) -> (Vec<&'a [u64]>, &'a [u64]) {
        let results = shares.iter().take(self.request.results()).map(|result| result.as_slice()).collect();
        (results, shares.last().map_or(&[], |counts| counts.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use vesica_party::Security;
    use vesica_testkit::two_party;

    use super::*;

    /// What the receiver gets, where all runs together give these numbers for each group.
    fn shown(columns: usize, at_least: u64, totals: &[u64]) -> Vec<Option<Vec<u64>>> {
        let request = AggregateRequest {
            sender_items: 100,
            receiver_items: 90,
            security: Security::SemiHonest,
            columns,
            groups: totals.len() / (columns + 1).max(1),
            at_least,
            noisy: false,
            runs: 7,
        };
        let withheld = Withheld::derive(&request, Over::Common).expect("in reach").expect("a threshold over runs");
        let mut rng = SecretRng::insecure_from_seed(5);
        let masks: Vec<u64> = totals.iter().map(|_| rng.block() as u64).collect();
        let masked: Vec<u64> = totals.iter().zip(&masks).map(|(total, mask)| total.wrapping_add(*mask)).collect();
        two_party(|ch, rng| withheld.send(&masks, ch, rng), |ch, rng| withheld.receive(&masked, ch, rng)).1.groups
    }

    #[test]
    fn totals_are_shown_from_exactly_the_threshold_on() {
        // 90 common items in each of 7 runs are the most.
        assert_eq!(shown(0, 5, &[4, 5, 0, 630]), [None, Some(vec![5]), None, Some(vec![630])]);
        let totals = [u64::MAX, 7, 4, 3, u64::MAX - 1, 5, 0, 0, 0, 1 << 63, 1, 630];
        let expected = [None, Some(vec![3, u64::MAX - 1]), None, Some(vec![1 << 63, 1])];
        assert_eq!(shown(2, 5, &totals), expected);
    }

    /// A bound is a constant of as many bits as a count, which must hold it; and nobody adds noise to what a circuit shows.
    #[test]
    fn thresholds_out_of_reach_or_beside_noise_are_refused() {
        let extent = crate::tasks::Extent::new(90, 100, Security::SemiHonest).in_runs(7);
        let derive = |at_least, noisy| {
            let options = crate::tasks::AggregateOptions { at_least, noisy, ..Default::default() };
            Withheld::derive(&AggregateRequest::new(&extent, &options), Over::Common).is_ok()
        };
        assert_eq!(
            [derive(630, false), derive(631, false), derive(1030, false), derive(5, true)],
            [true, false, false, false]
        );
    }

    #[test]
    fn there_is_nothing_to_withhold_in_one_run_or_without_a_threshold() {
        for (runs, at_least) in [(1, 5), (3, 1), (3, 0)] {
            let extent = crate::tasks::Extent::new(9, 9, Security::SemiHonest).in_runs(runs);
            let options = crate::tasks::AggregateOptions { at_least, ..Default::default() };
            let request = AggregateRequest::new(&extent, &options);
            assert!(Withheld::derive(&request, Over::Common).expect("in reach").is_none());
        }
    }
}
