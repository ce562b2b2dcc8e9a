//! AES-128 in bulk: under one fixed key with the outer xors fused in, and under a key per item.
//!
//! A block is a `u128` whose little-endian bytes are the bytes of FIPS 197. `pi` stands for the
//! permutation under a fixed, public or session-wide key, as in Guo, Katz, Wang, Yu (IEEE S&P
//! 2020), from whom MMO and TMMO are taken.

#[cfg(target_arch = "x86_64")]
mod aesni;
mod lanes;
mod portable;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod vaes;

use std::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::dispatch::{Backend, backend, dispatch};

/// The eleven round keys, for the twins that hold them as blocks.
#[derive(Clone)]
struct RoundKeys([u128; 11]);

impl Drop for RoundKeys {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl ZeroizeOnDrop for RoundKeys {}

/// A key in the form that its backend reads.
#[derive(Clone)]
enum Schedule {
    /// Boxed: in software it is several times the size of the round keys.
    Portable(Box<portable::Cipher>),
    /// Round keys and the backend, which is `Avx2` or above it and came from [`backend`].
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(dead_code, reason = "elsewhere there is the portable backend alone")
    )]
    RoundKeys(Backend, RoundKeys),
}

impl Schedule {
    fn new(key: u128) -> Self {
        let on = backend();
        dispatch!(
            on,
            portable: Self::Portable(Box::new(portable::Cipher::new(key))),
            avx2: Self::RoundKeys(on, RoundKeys(aesni::round_keys(key))),
        )
    }
}

/// Runs `$pass` of the twin that `$schedule` was made for.
macro_rules! pass {
    ($schedule:expr, $pass:ident ($($argument:expr),*)) => {
        match $schedule {
            Schedule::Portable(cipher) => cipher.$pass($($argument),*),
            Schedule::RoundKeys(on, _keys) => dispatch!(
                *on,
                portable: unreachable!("round keys are made for Avx2 and above only"),
                avx2: aesni::$pass(&_keys.0, $($argument),*),
                vaes: vaes::$pass(&_keys.0, $($argument),*),
            ),
        }
    };
}

/// AES-128 under one key, for many blocks. The backend is the one of the thread that made it; round
/// keys are wiped on drop.
#[derive(Clone)]
pub struct Aes128(Schedule);

impl fmt::Debug for Aes128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Aes128(..)")
    }
}

impl Aes128 {
    /// Expands `key`.
    pub fn new(key: u128) -> Self {
        Self(Schedule::new(key))
    }

    /// The backend on which this key's passes run.
    pub fn backend(&self) -> Backend {
        match self.0 {
            Schedule::Portable(_) => Backend::Portable,
            Schedule::RoundKeys(on, _) => on,
        }
    }

    /// `x[i] = pi(x[i])`.
    pub fn encrypt(&self, x: &mut [u128]) {
        pass!(&self.0, encrypt(x));
    }

    /// `out[i] = pi(x[i]) ^ x[i]` (Matyas-Meyer-Oseas; GKWY20, section 7.2): correlation robust in
    /// the random-permutation model.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn mmo(&self, x: &[u128], out: &mut [u128]) {
        assert_eq!(x.len(), out.len(), "mmo takes slices of one length");
        pass!(&self.0, mmo(x, out));
    }

    /// `x[i] = pi(x[i]) ^ x[i]`.
    pub fn mmo_in_place(&self, x: &mut [u128]) {
        pass!(&self.0, mmo_in_place(x));
    }

    /// Bit `i` is the lowest bit of `pi(x[i]) ^ x[i]`.
    pub fn mmo_bits(&self, x: &[u128; 128]) -> u128 {
        pass!(&self.0, mmo_bits(x))
    }

    /// Bit `j` of `out[i]` is the lowest bit of `pi(y) ^ y` for `y = x[i] ^ offsets[j]`; the bits
    /// above are zero.
    ///
    /// # Panics
    /// If `x` and `out` differ in length, or there are not 1, 2, 4, 8 or 16 offsets.
    pub fn mmo_tables(&self, x: &[u128], offsets: &[u128], out: &mut [u16]) {
        assert_eq!(x.len(), out.len(), "mmo_tables takes a table for each block");
        assert!(matches!(offsets.len(), 1 | 2 | 4 | 8 | 16), "tables of 1, 2, 4, 8 or 16 bits");
        pass!(&self.0, mmo_tables(x, offsets, out));
    }

    /// `out[i] = pi(pi(x[i]) ^ tweak[i]) ^ pi(x[i])` (TMMO; GKWY20, section 7.4): tweakable
    /// circular correlation robust in the random-permutation model.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn tmmo(&self, x: &[u128], tweak: &[u128], out: &mut [u128]) {
        assert_eq!(x.len(), out.len(), "tmmo takes slices of one length");
        assert_eq!(x.len(), tweak.len(), "tmmo takes a tweak for each block");
        pass!(&self.0, tmmo(x, tweak, out));
    }

    /// `out[i] = pi(first + i)`, the sum modulo 2^128.
    pub fn ctr(&self, first: u128, out: &mut [u128]) {
        pass!(&self.0, ctr(first, out));
    }
}

/// `out[i] = AES_{keys[i]}(messages[i]) ^ messages[i]`: Davies-Meyer with a key schedule for each
/// item, in the ideal-cipher model.
///
/// # Panics
/// If the lengths differ.
pub fn davies_meyer(keys: &[u128], messages: &[u128], out: &mut [u128]) {
    assert_eq!(keys.len(), out.len(), "davies_meyer takes a key for each output");
    assert_eq!(messages.len(), out.len(), "davies_meyer takes a message for each output");
    dispatch!(
        backend(),
        portable: portable::davies_meyer(keys, messages, out),
        avx2: aesni::davies_meyer(keys, messages, out),
        vaes: vaes::davies_meyer(keys, messages, out),
    );
}

/// The length-doubling generator of a GGM tree from two fixed keys, `x -> (pi0(x) ^ x, pi1(x) ^ x)`
/// (GKWY20, section 7; one level of a tree).
#[derive(Clone)]
pub struct GgmPrg {
    left: Schedule,
    right: Schedule,
}

impl fmt::Debug for GgmPrg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GgmPrg(..)")
    }
}

impl GgmPrg {
    /// Expands the keys of the left (`pi0`) and right (`pi1`) children.
    pub fn new(k0: u128, k1: u128) -> Self {
        Self { left: Schedule::new(k0), right: Schedule::new(k1) }
    }

    /// One level: `children[2 i] = pi0(x) ^ x` and `children[2 i + 1] = pi1(x) ^ x` for `x =
    /// parents[i]`. The sums of all left and of all right children.
    ///
    /// # Panics
    /// If `children` is not twice as long as `parents`.
    pub fn expand(&self, parents: &[u128], children: &mut [u128]) -> [u128; 2] {
        assert_eq!(children.len(), 2 * parents.len(), "each parent has two children");
        match (&self.left, &self.right) {
            (Schedule::Portable(left), Schedule::Portable(right)) => portable::expand(left, right, parents, children),
            (Schedule::RoundKeys(on, _left), Schedule::RoundKeys(_, _right)) => dispatch!(
                *on,
                portable: unreachable!("round keys are made for Avx2 and above only"),
                avx2: aesni::expand(&_left.0, &_right.0, parents, children),
                vaes: vaes::expand(&_left.0, &_right.0, parents, children),
            ),
            _ => unreachable!("both keys were expanded on one thread by one backend"),
        }
    }
}
