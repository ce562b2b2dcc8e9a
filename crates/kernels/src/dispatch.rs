//! Which code runs: detection, the `VESICA_BACKEND` variable, and an override for tests and
//! benches.

use std::cell::Cell;
use std::sync::OnceLock;

/// The environment variable that lowers the backend: `portable`, `avx2`, `avx512` or `vaes`.
const VARIABLE: &str = "VESICA_BACKEND";

/// A set of instructions that kernels are written for, in ascending order of speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Backend {
    /// No assumption about the machine. (AES comes from the `aes` crate, constant-time in software
    /// or on the machine's own instructions.)
    Portable,
    /// AES-NI, PCLMULQDQ, AVX2.
    Avx2,
    /// AVX-512 F, BW, VL and DQ, over all that [`Backend::Avx2`] has.
    Avx512,
    /// VAES, VPCLMULQDQ and AVX-512 IFMA, over all that [`Backend::Avx512`] has: what Ice Lake and
    /// Zen 4 brought, and all that came after them.
    Vaes,
}

impl Backend {
    /// All backends, slowest first.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Avx2, Self::Avx512, Self::Vaes];

    /// The name that `VESICA_BACKEND` takes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Vaes => "vaes",
        }
    }

    /// Whether this machine has the instructions.
    pub fn is_available(self) -> bool {
        self <= detected()
    }

    /// The backends of this machine, slowest first: what a test that compares them runs through.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|backend| backend.is_available())
    }
}

/// Why `VESICA_BACKEND` cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackendError {
    /// The value names no backend.
    Unknown(String),
    /// The machine lacks the instructions of the backend named.
    Unavailable(Backend),
}

impl std::fmt::Display for BackendError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown(value) => {
                write!(f, "{VARIABLE} is {value:?}; it takes portable, avx2, avx512 or vaes")
            }
            Self::Unavailable(backend) => write!(
                f,
                "{VARIABLE} asks for {}, but this machine goes up to {}; unset it or name a lower one",
                backend.name(),
                detected().name()
            ),
        }
    }
}

impl std::error::Error for BackendError {}

fn detected() -> Backend {
    static DETECTED: OnceLock<Backend> = OnceLock::new();
    *DETECTED.get_or_init(detect)
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Backend {
    macro_rules! has {
        ($($feature:tt)+) => { $(std::arch::is_x86_feature_detected!($feature))&&+ };
    }
    let avx2 = has!("aes" "pclmulqdq" "avx2" "bmi2" "sse4.1" "ssse3");
    let avx512 = avx2 && has!("avx512f" "avx512bw" "avx512vl" "avx512dq");
    let vaes = avx512 && has!("vaes" "vpclmulqdq" "avx512ifma");
    match (avx2, avx512, vaes) {
        (_, _, true) => Backend::Vaes,
        (_, true, _) => Backend::Avx512,
        (true, ..) => Backend::Avx2,
        _ => Backend::Portable,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Backend {
    Backend::Portable
}

/// The backend that the machine and `VESICA_BACKEND` give; the variable is read once, at the first
/// call of this or [`backend`].
///
/// A program calls this at its start and shows the error: kernels themselves cannot fail, and take
/// the best backend the machine has where the variable is wrong.
pub fn backend_from_env() -> Result<Backend, BackendError> {
    static FROM_ENV: OnceLock<Result<Backend, BackendError>> = OnceLock::new();
    FROM_ENV
        .get_or_init(|| {
            let value = std::env::var_os(VARIABLE);
            parse(value.as_deref().map(|value| value.to_string_lossy()).as_deref())
        })
        .clone()
}

/// The backend that `value` of the variable gives.
fn parse(value: Option<&str>) -> Result<Backend, BackendError> {
    let Some(value) = value.filter(|value| !value.is_empty()) else {
        return Ok(detected());
    };
    let named = Backend::ALL
        .into_iter()
        .find(|backend| backend.name() == value)
        .ok_or_else(|| BackendError::Unknown(value.to_owned()))?;
    if named.is_available() { Ok(named) } else { Err(BackendError::Unavailable(named)) }
}

thread_local! {
    /// The backend of this thread: the override if there is one, else what [`backend_from_env`] gave, kept to make a call cheap.
    static CURRENT: Cell<Option<Backend>> = const { Cell::new(None) };
}

/// The backend that kernels called from this thread run on. Always one that the machine has:
/// `unsafe` code relies on it.
#[inline]
pub fn backend() -> Backend {
    CURRENT.get().unwrap_or_else(first_call)
}

#[cold]
fn first_call() -> Backend {
    let backend = backend_from_env().unwrap_or_else(|_| detected());
    CURRENT.set(Some(backend));
    backend
}

/// Runs `body` with this thread's kernels on `backend`; for tests and benches.
///
/// The override does not cross threads: what `body` gives to rayon or to threads of its own runs
/// there on the process's backend (except through an [`aes::Aes128`](crate::aes::Aes128) or
/// [`aes::GgmPrg`](crate::aes::GgmPrg), which keep the backend they were made on).
///
/// # Panics
/// If the machine lacks `backend`; see [`Backend::available`].
pub fn with_backend<R>(backend: Backend, body: impl FnOnce() -> R) -> R {
    assert!(backend.is_available(), "this machine has no {} instructions", backend.name());

    /// Restores the backend, also when `body` panics.
    struct Restore(Option<Backend>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let _restore = Restore(CURRENT.replace(Some(backend)));
    body()
}

/// Calls the twin of a kernel for `$backend` (a [`Backend`] that [`backend`] gave): that of the
/// backend itself, or of the next below that has one.
macro_rules! dispatch {
    ($backend:expr, portable: $portable:expr, avx2: $avx2:expr $(, avx512: $avx512:expr)? $(, vaes: $vaes:expr)? $(,)?) => {
        match $backend {
            $(
                #[cfg(target_arch = "x86_64")]
                // SAFETY: the twin is safe but for its target features, and `backend()` gives Vaes only where `detect` found all of them.
                on if on >= $crate::Backend::Vaes => unsafe { $vaes },
            )?
            $(
                #[cfg(target_arch = "x86_64")]
                // SAFETY: as above; a backend has the features of those below it.
                on if on >= $crate::Backend::Avx512 => unsafe { $avx512 },
            )?
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            on if on >= $crate::Backend::Avx2 => unsafe { $avx2 },
            _ => $portable,
        }
    };
}
pub(crate) use dispatch;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_lowers_the_backend_and_refuses_what_it_does_not_know() {
        assert_eq!(parse(None), Ok(detected()));
        assert_eq!(parse(Some("")), Ok(detected()));
        assert_eq!(parse(Some("portable")), Ok(Backend::Portable));
        assert_eq!(parse(Some("AVX2")), Err(BackendError::Unknown("AVX2".to_owned())));
        for named in Backend::ALL {
            let expected = if named <= detected() { Ok(named) } else { Err(BackendError::Unavailable(named)) };
            assert_eq!(parse(Some(named.name())), expected);
        }
    }

    #[test]
    fn the_override_holds_on_its_thread_and_ends_with_its_body() {
        let before = backend();
        for forced in Backend::available() {
            with_backend(forced, || {
                assert_eq!(backend(), forced);
                let elsewhere = std::thread::spawn(backend).join().unwrap();
                assert_eq!(elsewhere, before, "an override must not cross threads");
            });
            assert_eq!(backend(), before);
        }
        let panicked = std::panic::catch_unwind(|| with_backend(Backend::Portable, || panic!("x")));
        assert!(panicked.is_err());
        assert_eq!(backend(), before, "a panic must restore the backend");
    }

    #[test]
    fn the_backend_that_ran_is_printed() {
        eprintln!(
            "backends of this machine: {:?}; in use: {}",
            Backend::available().map(Backend::name).collect::<Vec<_>>(),
            backend().name()
        );
        assert!(backend().is_available());
    }
}
