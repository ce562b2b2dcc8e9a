//! Both sides' outputs fulfil the task, and the bytes are the predicted ones, for every protocol, mode and length.

use vesica_mpc::base_ot::BaseOt;
use vesica_mpc::ot_extension::OtExtension;
use vesica_mpc::silent::SilentVole;
use vesica_mpc::tasks::CorrelationRequest;
use vesica_mpc::vole::SmallFieldVole;
use vesica_party::{Protocol, Security, Task};
use vesica_structures::fields::{Gf64, Gf128};
use vesica_testkit::conformance;

/// [`conformance`] for correlations, which have no inputs.
fn conforms<P>(len: usize, security: Security)
where
    P: Protocol,
    P::Task: Task<Request = CorrelationRequest, SenderInput = (), ReceiverInput = ()>,
{
    conformance::<P>(&CorrelationRequest { len, security }, (), ());
}

const MODES: [Security; 2] = [Security::SemiHonest, Security::Malicious];

#[test]
fn base_ot() {
    for security in MODES {
        for len in [0, 1, 2, 100, 300] {
            conforms::<BaseOt>(len, security);
        }
    }
}

#[test]
fn ot_extension() {
    for security in MODES {
        for len in [0, 1, 2, 100, 128, 5000, 1 << 14] {
            conforms::<OtExtension>(len, security);
        }
    }
}

#[test]
fn small_field_vole() {
    for security in MODES {
        for len in [0, 1, 2, 100, 5000] {
            conforms::<SmallFieldVole<Gf64>>(len, security);
            conforms::<SmallFieldVole<Gf128>>(len, security);
        }
    }
}

#[test]
fn silent_vole() {
    for security in MODES {
        for len in [0, 1, 2, 100, 5000, 1 << 14, 1 << 17] {
            conforms::<SilentVole<Gf64>>(len, security);
            conforms::<SilentVole<Gf128>>(len, security);
        }
    }
}
