//! `vesica selftest`: does this machine compute what it should?

use std::fmt;

use serde_json::json;
use vesica::Failure;
use vesica::failure::code;
use vesica::memory;
use vesica::party::{CostClass, Entry, Security};
use vesica::probe::{self, Probed};
use vesica::task::{AnyTask, MadeUp, TASKS};
use vesica_kernels::{Backend, aes, backend, clmul, with_backend};
use vesica_structures::rng::SecretRng;

use crate::args::SelftestArgs;
use crate::outcome::{Outcome, print};
use crate::progress::Counter;

/// What was checked, and why it failed if it did.
struct Check {
    name: String,
    failure: Option<String>,
}

/// Address space for both parties of any of its runs.
const LEAST: u64 = 256 << 20;

pub fn run(args: SelftestArgs) -> Outcome {
    memory::check_limits(LEAST)?;
    let mut checks = Vec::new();
    for kernels in Backend::available() {
        checks.push(with_backend(kernels, || kernels_compute(kernels)));
    }
    let entries = TASKS.iter().flat_map(|&task| task.entries().into_iter().map(move |entry| (task, entry)));
    let runs: Vec<_> =
        entries.flat_map(|(task, entry)| entry.modes.iter().map(move |mode| (task, entry, mode))).collect();
    let mut counter = Counter::new(args.progress, runs.len());
    for (task, entry, mode) in runs {
        let name = format!("{} ({})", entry.id, mode.security);
        counter.begin(&name, None);
        checks.push(Check { name, failure: small_run(task, entry, mode.security).err() });
        counter.pass();
    }
    counter.finish();
    let failed = checks.iter().filter(|check| check.failure.is_some()).count();
    if args.json {
        let each: Vec<_> = checks
            .iter()
            .map(|check| json!({ "name": check.name, "ok": check.failure.is_none(), "failure": check.failure }))
            .collect();
        print(&format!("{}\n", json!({ "ok": failed == 0, "backend": backend().name(), "checks": each })))?;
    } else {
        let lines: String = checks.iter().map(|check| format!("{check}\n")).collect();
        print(&format!("kernels in use: {}\n{lines}", backend().name()))?;
    }
    match failed {
        0 => Ok(()),
        count => Err(Failure::new(
            code::INTERNAL,
            format_args!("{count} of {} checks failed", checks.len()),
            "do not use vesica on this machine, and report its processor",
        )),
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.failure {
            None => write!(f, "ok      {}", self.name),
            Some(failure) => write!(f, "FAILED  {}: {failure}", self.name),
        }
    }
}

/// AES-128 against FIPS 197, and products in GF(2^64) and its tower against the portable kernel.
fn kernels_compute(kernels: Backend) -> Check {
    let mut failure = None;
    // FIPS 197, appendix C.1. Blocks are little-endian numbers, so byte 0 is the lowest.
    let key = u128::from_le_bytes(std::array::from_fn(|i| i as u8));
    let plain = u128::from_le_bytes(std::array::from_fn(|i| 0x11 * i as u8));
    let cipher = 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a_u128.swap_bytes();
    // A length that no vector width divides, so that every path of the kernel is taken.
    let mut blocks = vec![plain; 131];
    aes::Aes128::new(key).encrypt(&mut blocks);
    if blocks.iter().any(|&block| block != cipher) {
        failure = Some("AES-128 differs from FIPS 197".to_owned());
    }
    let mut rng = SecretRng::insecure_from_seed(1);
    for _ in 0..100 {
        let (a, b) = (rng.block(), rng.block());
        let here = (clmul::gf64_mul(a as u64, b as u64), clmul::gf128_mul(a, b));
        let portable =
            with_backend(Backend::Portable, || (clmul::gf64_mul(a as u64, b as u64), clmul::gf128_mul(a, b)));
        if here != portable {
            failure = Some("carry-less products differ from the portable kernel".to_owned());
        }
    }
    Check { name: format!("kernels {}", kernels.name()), failure }
}

/// One run of a protocol between two threads, checked against the plain function.
fn small_run(task: &'static dyn AnyTask, entry: &Entry, security: Security) -> Result<(), String> {
    let (receiver_items, common) = match entry.cost {
        // Where a stranger's item may match falsely, nothing is asked about one.
        CostClass::Lattice if entry.false_match_bits().is_some() => (3, 3),
        // An item takes up to half a second.
        CostClass::Lattice => (3, 2),
        _ => (50, 20),
    };
    let probed = Probed {
        task,
        protocol: entry.id,
        security,
        items: MadeUp { sender_items: 40, receiver_items, common, item_bytes: 16 },
        amounts: task.least_amounts_of(entry),
        threads: 1,
    };
    match probe::run(&probed, 1) {
        Ok(ran) if ran.iter().all(|ran| ran.is_right) => Ok(()),
        Ok(_) => Err("an output is wrong".into()),
        Err(failure) => Err(failure.fault),
    }
}
