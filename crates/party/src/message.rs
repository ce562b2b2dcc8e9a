//! Typed messages, one for each arrow of a figure. The reader knows every size before a byte is
//! allocated.

use std::ops::RangeInclusive;

use bytemuck::Pod;

use crate::Step;

/// Bytes that are not the message they claim to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub &'static str);

/// A message that travels in one frame. For messages of many megabytes see [`Stream`].
pub trait Message: Sized {
    /// The arrow of the figure.
    const STEP: Step;
    /// What the reader knows beforehand: counts and widths, from agreed parameters.
    type Shape;

    /// The length in bytes of every valid encoding; the channel refuses others before it allocates.
    fn len(shape: &Self::Shape) -> RangeInclusive<usize>;

    /// Appends the encoding of the message.
    fn write(&self, out: &mut Writer);

    /// Parses the encoding. Total: any input gives a value or `Malformed`, never a panic. The
    /// channel checks that nothing is left over.
    fn read(bytes: &mut Reader<'_>, shape: Self::Shape) -> Result<Self, Malformed>;
}

/// A message of one frame and one size, of which every bit pattern is valid. Travels in
/// little-endian memory order.
pub trait Fixed: Pod {
    /// The arrow of the figure.
    const STEP: Step;
}

impl<T: Fixed> Message for T {
    const STEP: Step = <T as Fixed>::STEP;
    type Shape = ();

    fn len((): &()) -> RangeInclusive<usize> {
        size_of::<T>()..=size_of::<T>()
    }

    fn write(&self, out: &mut Writer) {
        out.bytes(bytemuck::bytes_of(self));
    }

    fn read(bytes: &mut Reader<'_>, (): ()) -> Result<Self, Malformed> {
        Ok(bytemuck::pod_read_unaligned(bytes.bytes(size_of::<T>())?))
    }
}

/// A message that is a sequence of fixed-size elements, sent and received in chunks; the count
/// comes from agreed parameters. Elements travel in little-endian memory order.
pub trait Stream {
    /// The arrow of the figure.
    const STEP: Step;
    /// The type of an element, of which every bit pattern is valid.
    type Element: Pod + Send + Sync;
}

/// Declares arrows of a figure: for each a type, with its [`Step`]. The protocol's name comes first; then each arrow has
/// a kind, a name, what it carries, its number, the side that sends it, and words for error messages.
///
/// | kind | what the type is |
/// |---|---|
/// | `fixed Salt([u8; 32])`, `fixed Points { first: [u8; 32], .. }` | a [`Fixed`] message of one value, or of fields |
/// | `counted Shares[u64]` | a [`Message`] of elements; its shape is their number |
/// | `stream Tags[u8]` | a [`Stream`] of elements; the type has no values |
///
/// A stream may have one type parameter: `stream<V: Variant> Tags[u8]`. The other two kinds belong into the list of the
/// file's [`messages!`](crate::messages).
///
/// ```
/// vesica_party::arrows! { "lookup" =>
///     /// Arrow 1: what keys the hash functions.
///     pub fixed Salt([u8; 32]) = 1, Sender, "the salt";
///     /// Arrow 2: the tags of the receiver's items.
///     pub stream Tags[u8] = 2, Receiver, "the receiver's tags";
/// }
/// vesica_party::messages![Salt];
///
/// assert_eq!(<Tags as vesica_party::Stream>::STEP.number, 2);
/// ```
#[macro_export]
macro_rules! arrows {
    (@fixed $(#[$attribute:meta])* [$vis:vis] $name:ident [] ($value:ty) $step:expr) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, ::bytemuck::Pod, ::bytemuck::Zeroable)]
        #[repr(transparent)]
        $vis struct $name($vis $value);

        impl $crate::Fixed for $name {
            const STEP: $crate::Step = $step;
        }
    };
    (@fixed $(#[$attribute:meta])* [$vis:vis] $name:ident [] {$($fields:tt)+} $step:expr) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, ::bytemuck::Pod, ::bytemuck::Zeroable)]
        #[repr(C)]
        $vis struct $name {$($fields)+}

        impl $crate::Fixed for $name {
            const STEP: $crate::Step = $step;
        }
    };
    (@counted $(#[$attribute:meta])* [$vis:vis] $name:ident [] [$element:ty] $step:expr) => {
        $(#[$attribute])*
        #[derive(Debug)]
        $vis struct $name($vis Vec<$element>);

        impl $crate::Message for $name {
            const STEP: $crate::Step = $step;
            /// Elements.
            type Shape = usize;

            fn len(&elements: &usize) -> ::std::ops::RangeInclusive<usize> {
                let bytes = elements.saturating_mul(size_of::<$element>());
                bytes..=bytes
            }

            fn write(&self, out: &mut $crate::Writer) {
                out.elements(&self.0);
            }

            fn read(bytes: &mut $crate::Reader<'_>, elements: usize) -> Result<Self, $crate::Malformed> {
                bytes.elements(elements).map(Self)
            }
        }
    };
    (@stream $(#[$attribute:meta])* [$vis:vis] $name:ident [] [$element:ty] $step:expr) => {
        $(#[$attribute])*
        #[derive(Debug)]
        $vis enum $name {}

        impl $crate::Stream for $name {
            const STEP: $crate::Step = $step;
            type Element = $element;
        }
    };
    (@stream $(#[$attribute:meta])* [$vis:vis] $name:ident [$of:ident: $bound:ident] [$element:ty] $step:expr) => {
        $(#[$attribute])*
        #[derive(Debug)]
        $vis struct $name<$of>(::std::marker::PhantomData<fn() -> $of>);

        impl<$of: $bound> $crate::Stream for $name<$of> {
            const STEP: $crate::Step = $step;
            type Element = $element;
        }
    };
    ($protocol:expr => $(
        $(#[$attribute:meta])*
        $vis:vis $kind:ident $(<$of:ident: $bound:ident>)? $name:ident $carried:tt
            = $number:expr, $from:ident, $carries:literal;
    )+) => {$(
        $crate::arrows! {
            @$kind $(#[$attribute])* [$vis] $name [$($of: $bound)?] $carried
            $crate::Step { protocol: $protocol, number: $number, from: $crate::Role::$from, carries: $carries }
        }
    )+};
}

/// A buffer to which a message appends its encoding.
#[derive(Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// An empty writer with room for `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity))
    }

    /// A writer whose encoding starts with `length` zero bytes, to be filled in later.
    pub(crate) fn after_header(length: usize) -> Self {
        Self(vec![0; length])
    }

    /// Appends raw bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Appends fixed-size elements in memory order (little-endian).
    pub fn elements<T: Pod>(&mut self, elements: &[T]) {
        self.0.extend_from_slice(bytemuck::cast_slice(elements));
    }

    /// Appends a number as 8 little-endian bytes.
    pub fn u64(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    /// Appends a number as 4 little-endian bytes.
    pub fn u32(&mut self, number: u32) {
        self.bytes(&number.to_le_bytes());
    }

    /// The bytes that were appended.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// The bytes of an encoding, taken off field by field.
#[derive(Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// A reader of these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next `count` bytes.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (head, tail) = self.0.split_at_checked(count).ok_or(Malformed("message is too short"))?;
        self.0 = tail;
        Ok(head)
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (head, tail) = self.0.split_first_chunk::<N>().ok_or(Malformed("message is too short"))?;
        self.0 = tail;
        Ok(*head)
    }

    /// The next `count` fixed-size elements.
    pub fn elements<T: Pod>(&mut self, count: usize) -> Result<Vec<T>, Malformed> {
        let length = count.checked_mul(size_of::<T>()).ok_or(Malformed("message is too long"))?;
        let bytes = self.bytes(length)?;
        let mut elements = vec![T::zeroed(); count];
        bytemuck::cast_slice_mut(&mut elements).copy_from_slice(bytes);
        Ok(elements)
    }

    /// The next 8 bytes as a little-endian number.
    pub fn u64(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// The next 4 bytes as a little-endian number.
    pub fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// All bytes that are left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// The number of bytes that are left.
    pub fn remaining(&self) -> usize {
        self.0.len()
    }
}
