//! No fault of the link makes a side panic or hang.

use vesica_mpc::base_ot::BaseOt;
use vesica_mpc::opprf::Opprf;
use vesica_mpc::ot_extension::OtExtension;
use vesica_mpc::random_one_of_n_ot::OneOfN;
use vesica_mpc::silent::SilentVole;
use vesica_mpc::silent_ot::SilentOt;
use vesica_mpc::softspoken_one_of_n_ot::SoftSpokenOneOfN;
use vesica_mpc::tasks::{CorrelationRequest, OpprfRequest, Programmed};
use vesica_party::Security::{Malicious, SemiHonest};
use vesica_structures::fields::{Gf64, Gf128};
use vesica_structures::okvs::Band;
use vesica_testkit::{Runnable, Thorough, Trials, faults, faults_of};

use crate::examples::{Example, Suite};

#[test]
fn base_ot() {
    faults::<BaseOt>(&CorrelationRequest { len: 3, security: Malicious, width: None }, &(), &());
}

#[test]
fn ot_extension() {
    faults::<OtExtension>(&CorrelationRequest { len: 200, security: Malicious, width: None }, &(), &());
}

#[test]
fn silent_vole() {
    faults::<SilentVole<Gf64>>(&CorrelationRequest { len: 1 << 13, security: SemiHonest, width: None }, &(), &());
    faults::<SilentVole<Gf128>>(&CorrelationRequest { len: 1 << 13, security: Malicious, width: None }, &(), &());
}

#[test]
fn opprf() {
    let request =
        OpprfRequest { receiver_keys: 3, sender_keys: 2, output_bits: 70, security: SemiHonest, wide: false, runs: 1 };
    faults::<Opprf<Band>>(&request, &Programmed { keys: vec![1, 2], values: vec![3, 4] }, &vec![2, 3, 4]);
}

#[test]
fn bulk_correlations() {
    faults::<SoftSpokenOneOfN>(&CorrelationRequest { len: 200, security: SemiHonest, width: Some(3) }, &(), &());
    faults::<OneOfN>(&CorrelationRequest { len: 1 << 15, security: SemiHonest, width: Some(4) }, &(), &());
    faults::<SilentOt>(&CorrelationRequest { len: 200, security: SemiHonest, width: None }, &(), &());
}

/// Every row, with some faults: the tests above and those of single rows have them all.
struct Faults(Trials);

impl Suite for Faults {
    fn rows<T: Example>(&mut self, rows: &'static [Runnable<T>]) {
        self.0.modes(rows, |row, mode| {
            let (request, sent, asked) = T::example(mode.security, 20);
            let harm = faults_of(row, &request, &sent, &asked, Thorough::InTurn);
            // A link that is cut or a wrong step fails a run; a bit of a ciphertext may go unnoticed where
            // parties are taken to be honest.
            assert!(2 * harm.failed > harm.unharmed, "{harm:?}");
        });
    }
}

#[test]
fn every_row() {
    let mut suite = Faults(Trials::of("faults"));
    suite.all();
    suite.0.end();
}
