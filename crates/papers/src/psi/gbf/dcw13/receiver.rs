//! The right column of the figure.

use vesica_mpc::ot_extension::OtExtension;
use vesica_party::{Abort, Channel, Party, Phase, Protocol};
use vesica_structures::rng::SecretRng;
use vesica_structures::secret::Secret;

use super::messages::{Corrections, FinishArrows, Salt};
use super::{Params, filter};
use crate::psi::gbf::filter::{Filter, Sums};
use crate::psi::gbf::packed;
use vesica_protocols::psi::finish;
use vesica_protocols::tasks::{IntersectReceiverInput, IntersectReceiverOutput};

/// The receiver, set up.
#[derive(Debug)]
pub struct Receiver {
    params: Params,
    /// Unless a set is empty.
    filter: Option<Filter>,
}

impl Party for Receiver {
    type Params = Params;
    type Input = IntersectReceiverInput;
    type Output = IntersectReceiverOutput;

    fn setup(params: &Params, ch: &mut Channel, _: &mut SecretRng) -> Result<Self, Abort> {
        if params.finish.is_empty() {
            return Ok(Self { params: params.clone(), filter: None });
        }
        // Step 1.
        let Salt(salt) = ch.recv(())?;
        Ok(Self { params: params.clone(), filter: Some(filter(params, ch, &salt)) })
    }

    fn run(
        self,
        input: IntersectReceiverInput,
        ch: &mut Channel,
        rng: &mut SecretRng,
    ) -> Result<IntersectReceiverOutput, Abort> {
        let Self { params, filter } = self;
        params.finish.check_receiver(&input)?;
        let Some(filter) = filter else { return Ok(IntersectReceiverOutput::default()) };

        let items = Secret::new(input.items.clone());
        let mut sums = Sums::new(&filter, &items);
        for cells in params.groups.ranges() {
            let transfers = params.transfers(cells.len())?;
            let chosen = <OtExtension as Protocol>::Receiver::setup(&transfers, ch, rng)?.run((), ch, rng)?;
            // Step 2.
            let _phase = ch.phase(Phase::Encode);
            let taken = filter.gbf.taken_vartime(&items, cells.clone());
            let differ = taken.iter().zip(&chosen.choices).map(|(taken, choice)| taken ^ choice);
            ch.send_stream::<Corrections>(&packed(differ, Params::correction_bytes(cells.len())))?;
            sums.add(cells, bytemuck::cast_slice(&chosen.chosen));
        }

        // Steps 3 to 5.
        let mut tags = finish::Receiver::new(&params.finish);
        sums.each_tag(|outputs, numbers| tags.add(outputs, numbers));
        tags.finish::<FinishArrows>(input, sums, ch)
    }
}
