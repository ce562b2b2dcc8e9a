//! Secrets: wiped on drop, redacted in `Debug`.

use std::fmt;
use std::hint::black_box;
use std::ops::{Deref, DerefMut};

pub use vesica_kernels::memory::wiping;
use zeroize::Zeroize;

/// How much of the stack [`wipe_stack`] reaches, in bytes: the calls of a library that works on a key take less.
const STACK_BYTES: usize = 32 << 10;

/// Wipes what calls that have returned left on the stack of this thread. For libraries that do not do so themselves.
#[inline(never)]
pub fn wipe_stack() {
    let mut left = [0u8; STACK_BYTES];
    left.zeroize();
    black_box(&left);
}

/// Calls a function below the frame of the caller, so that a [`wipe_stack`] of the same caller reaches what it leaves.
#[inline(never)]
pub fn in_frame_of_its_own<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Wipes the stack of its thread as [`wipe_stack`] does when it is dropped: for tasks in which a library works on secrets
/// again and again, and threads that outlive them.
#[derive(Debug)]
pub struct WipedStack;

impl Drop for WipedStack {
    fn drop(&mut self) {
        wipe_stack();
    }
}

/// A value that is wiped when dropped and never printed.
pub struct Secret<T: Zeroize>(T);

impl<T: Zeroize> Secret<T> {
    /// Takes the value into custody.
    pub fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T: Zeroize> Deref for Secret<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Zeroize> DerefMut for Secret<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Zeroize> Drop for Secret<T> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl<T: Zeroize> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}
