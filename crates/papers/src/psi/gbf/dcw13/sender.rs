//! The left column of the figure.

use rand_core::Rng;
use vesica_mpc::ot_extension::OtExtension;
use vesica_party::{Abort, Channel, Party, Phase, Protocol, Stream};
use vesica_structures::fields::Gf128;
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Corrections, FinishArrows, Salt};
use super::{Params, filter};
use crate::psi::gbf::bit;
use crate::psi::gbf::filter::{Filter, Sums};
use vesica_protocols::psi::finish;
use vesica_protocols::tasks::{IntersectSenderInput, IntersectSenderOutput};

/// The sender, set up.
#[derive(Debug)]
pub struct Sender {
    params: Params,
    /// Unless a set is empty.
    filter: Option<Filter>,
}

impl Party for Sender {
    type Params = Params;
    type Input = IntersectSenderInput;
    type Output = IntersectSenderOutput;

    fn setup(params: &Params, ch: &mut Channel, rng: &mut SecretRng) -> Result<Self, Abort> {
        if params.finish.is_empty() {
            return Ok(Self { params: params.clone(), filter: None });
        }
        // Step 1.
        let mut salt = [0; 32];
        rng.fill_bytes(&mut salt);
        ch.send(&Salt(salt))?;
        Ok(Self { params: params.clone(), filter: Some(filter(params, ch, &salt)) })
    }

    fn run(
        self,
        input: IntersectSenderInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectSenderOutput, Abort> {
        let Self { params, filter } = self;
        params.finish.check_sender(&input)?;
        let Some(filter) = filter else { return Ok(params.finish.no_matches()) };

        let mut sums = Sums::new(&filter, &input.items);
        for cells in params.groups.ranges() {
            let transfers = params.transfers(cells.len())?;
            let pairs = <OtExtension as Protocol>::Sender::setup(&transfers, ch, rng)?.run((), ch, rng)?;
            // Step 2.
            let _phase = ch.phase(Phase::Decode);
            let mut corrections = vec![0; Params::correction_bytes(cells.len())];
            ch.recv_stream::<Corrections>(&mut corrections)?;
            if (cells.len()..8 * corrections.len()).any(|stray| bit(&corrections, stray)) {
                return Err(Abort::PeerMisbehaved(Corrections::STEP, "the corrections end in stray bits"));
            }
            let strings = pairs.pairs.iter().enumerate();
            let strings: Vec<Gf128> =
                strings.map(|(cell, pair)| Gf128(pair[usize::from(!bit(&corrections, cell))])).collect();
            sums.add(cells, &Secret::new(strings));
        }

        // Steps 3 to 5.
        let mut tags = finish::Sender::new(&params.finish);
        sums.each_tag(|outputs, numbers| tags.add(outputs, numbers));
        tags.finish::<FinishArrows>(&input, sums, ch, rng)
    }
}
