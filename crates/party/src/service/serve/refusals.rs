//! What a client is told that is not served.

use crate::{Abort, exit_code};

/// What a client is told that the server cannot serve any more.
pub(in crate::service) fn stopped() -> Abort {
    Abort::Local {
        code: exit_code::LINK,
        fault: "the server is shutting down".into(),
        mend: "connect again later".into(),
    }
}

pub(super) fn not_accepted() -> Abort {
    local(
        exit_code::IDENTITY,
        "this server does not accept the client any more",
        "ask whoever runs the server to accept the client's key again",
    )
}

pub(super) fn wiped_state() -> Abort {
    local(exit_code::LINK, "the server has wiped the set that this client had joined", "connect again")
}

pub(super) fn panicked() -> Abort {
    // What the panic says may hold the set: neither the log nor the client hears it.
    tracing::error!("a service panicked");
    local(exit_code::INTERNAL, "the server failed for a reason of its own", "report it to whoever runs the server")
}

pub(super) fn local(code: u8, fault: &str, mend: &str) -> Abort {
    Abort::Local { code, fault: fault.into(), mend: mend.into() }
}
