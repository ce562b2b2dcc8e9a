//! No core dumps: a process holds keys and the cells of a table.

use std::env;

use rustix::process::{Resource, Rlimit, setrlimit};

/// The variable by which somebody who looks for a fault in the program allows dumps and debuggers, with the value `allow`.
const VARIABLE: &str = "VESICA_CORE_DUMPS";

/// Has the system write no core dump of this process from here on, and on Linux let only root read its memory or trace it.
/// Where the system refuses, everything goes on as before.
pub fn forbid() {
    if env::var_os(VARIABLE).is_some_and(|value| value == "allow") {
        return;
    }
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    // That limit does not hold where the system hands dumps to a program.
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // Read once, on old systems from a file of /proc, which then belongs to root.
        let _ = rustix::param::page_size();
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}
