//! Typed keys: which columns form a key, how a value becomes canonical, and the digest that stands
//! for a key.
//!
//! **Canonical form.** Each component of a key becomes a byte string, so that equal values of
//! different formats agree: text is its UTF-8 bytes; an integer its shortest decimal (CSV `42`
//! equals a Parquet INT64 42, while CSV `042` and `+42` are other texts unless the column declares
//! `int`); a boolean `true` or `false`; a date `YYYY-MM-DD`; a timestamp `YYYY-MM-DDTHH:MM:SS[.
//! fraction]` (fraction without trailing zeros) with a `Z`, in UTC, when its column has
//! a time zone; a UUID its digits in lower case with dashes; other binary the bytes as they are. Floats have no reliable equality and are refused, as
//! are nested types.
//!
//! **Nothing is normalised unless declared.** A row with a null or empty component never matches.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub(crate) mod date;
mod digest;
mod email;
mod error;
mod hashed;
mod kind;
mod looks;
mod mend;
mod normalise;
mod notation;
mod null_words;
mod phone;
mod spec;
mod timestamp;
pub(crate) mod uuid;

pub use date::{DateFormat, iso_utc};
pub use digest::{DIGEST_VERSION, Digest, Digests, KeyFrame, digest};
pub use error::{SpecError, Unmatchable};
pub use hashed::HashSize;
pub use kind::{Form, Kind, KindCounts};
pub use looks::{Looks, Pitfall};
pub use mend::{Mend, mend};
pub use normalise::Normaliser;
pub use null_words::{EmptyWords, NullWordCounts, NullWords};
pub use phone::{Bare, Phone};
pub use spec::{KeyColumn, KeySpec};
pub use timestamp::{Precision, Timestamp};

pub(crate) use digest::KeyBatch;
pub(crate) use looks::pitfalls;
pub(crate) use normalise::Chain;
pub(crate) use null_words::{InColumn, NullWord};
pub(crate) use phone::Reading;
