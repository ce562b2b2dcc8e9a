//! Values in a suite file.

use vesica_structures::facts::Unsupported;

pub(super) fn loopback() -> Vec<String> {
    vec!["loopback".into()]
}

pub(super) const fn three() -> usize {
    3
}

/// The sizes of both sides: `2^16` or `65536` for equal ones, `2^20 x 2^10` for sender and receiver.
pub(super) fn pair(text: &str) -> Result<(usize, usize), Unsupported> {
    let (sender, receiver) = text.split_once('x').unwrap_or((text, text));
    match (size(sender), size(receiver)) {
        (Some(sender), Some(receiver)) => Ok((sender, receiver)),
        _ => Err(Unsupported::new(
            format_args!("the size {text:?} is not understood"),
            "write \"2^16\" or \"65536\" for both sides, or \"2^20 x 2^10\" for sender and receiver",
        )),
    }
}

fn size(text: &str) -> Option<usize> {
    match text.trim().split_once('^') {
        Some(("2", power)) => 1usize.checked_shl(power.parse().ok()?).filter(|size| *size > 0),
        Some(_) => None,
        None => text.trim().parse().ok(),
    }
}
