//! Failures as Python's exceptions.

use pyo3::prelude::*;
use vesica::Failure;
use vesica::failure::code;

/// The exception of a failure: a class of `vesica._errors` for each exit code of the command line.
pub fn raised(py: Python<'_>, failure: &Failure) -> PyErr {
    let made = || {
        let errors = py.import("vesica._errors")?;
        errors.call_method1("of", (failure.code, &failure.fault, &failure.mend))
    };
    match made() {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// A defect.
pub fn defect(what: &str) -> Failure {
    Failure::new(code::INTERNAL, what, "please report this")
}
