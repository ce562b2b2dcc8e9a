//! Exit codes of the command line, by which a failure is also told to the peer. 129, 130 and 143
//! follow signals.

/// Wrong usage.
pub const USAGE: u8 = 2;
/// The input is missing, unreadable or unfit.
pub const INPUT: u8 = 3;
/// The output exists already or cannot be written.
pub const OUTPUT: u8 = 4;
/// The peer did not come.
pub const PEER_ABSENT: u8 = 5;
/// An identity is missing, unreadable or not the pinned one.
pub const IDENTITY: u8 = 6;
/// The two sides are configured differently.
pub const MISMATCH: u8 = 7;
/// The peer sent what no honest peer sends.
pub const PEER_MISBEHAVED: u8 = 8;
/// The peer reported a failure of its own.
pub const PEER_FAILED: u8 = 9;
/// The link failed or a time limit passed.
pub const LINK: u8 = 10;
/// Refused or unsupported.
pub const REFUSED: u8 = 11;
/// A defect, or a statistical failure.
pub const INTERNAL: u8 = 70;
/// Ended by SIGHUP.
pub const HUNG_UP: u8 = 129;
/// Ended by SIGINT.
pub const INTERRUPTED: u8 = 130;
/// Ended by SIGTERM.
pub const TERMINATED: u8 = 143;
