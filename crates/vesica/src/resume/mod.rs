//! Runs that go on where they broke off (`--resume`).
//!
//! A side keeps a *record* of its run in a folder of its own in the work folder: what the run is, and for each bucket that
//! is finished what it found. If the run breaks off, whatever the reason, both sides type the same command again. They
//! tell each other which buckets they have finished, by the hash of all that was said until then; a bucket counts if both
//! sides have finished it in the same conversation. The others are run again, in a conversation of its own with fresh
//! randomness throughout. What stays is the salt of the first conversation, under which keys are divided, and which
//! nobody knew before the keys were fixed: the table must be the same as then.
//!
//! Against a malicious partner, a bucket goes through two [passes](vesica_protocols::passes), and is kept after each. First
//! passes are taken anew until both sides have said that all buckets are through; from then on only second ones are taken
//! again, from what was kept, on the same items, dummies among them.
//!
//! [`Record`] is the folder, `messages` is what the two sides tell each other, and [`Going`] a run that goes on.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod bucket_files;
mod going;
mod messages;
mod record;

pub(crate) use going::{Committed, Going, Terms, go_on};
pub(crate) use messages::{AllCommitted, Unfinished};
pub(crate) use record::{Record, RunFolder, name, remove};
