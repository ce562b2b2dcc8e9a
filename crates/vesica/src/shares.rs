//! Files of shares: what a run of the task `shares` leaves with each side. `docs/shares-format.md`
//! is the format's description.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use serde::{Deserialize, Serialize};
use vesica_party::Role;
use vesica_protocols::tasks::{ReceiverShares, SenderShares};

use crate::failure::{Failure, code};
use crate::table::ValueColumn;

/// The first bytes of a file of shares.
const MAGIC: [u8; 8] = *b"vesica\0S";
/// Version of the format.
const VERSION: u32 = 1;
/// Longest header.
const HEADER_LIMIT: usize = 1 << 20;
/// The bin is empty, or holds a dummy.
pub const NO_ROW: u32 = u32::MAX;

/// What both files of a run say alike, but for `role`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Whose file it is.
    pub role: Role,
    /// Hash that identifies the session, in hexadecimal: two files belong together if it is the
    /// same.
    pub session: String,
    /// The protocol that made the shares.
    pub protocol: String,
    /// Number of bins.
    pub bins: u64,
    /// The sender's columns: the first values of a bin.
    pub sender_columns: Vec<ValueColumn>,
    /// The receiver's columns: the values behind them.
    pub receiver_columns: Vec<ValueColumn>,
}

impl Header {
    /// Values of a bin.
    fn columns(&self) -> usize {
        self.sender_columns.len() + self.receiver_columns.len()
    }
}

/// One side's shares.
#[derive(Clone, PartialEq, Eq)]
pub struct ShareFile {
    /// What the shares belong to: role, session, columns, bins.
    pub header: Header,
    /// Receiver: for each bin the place (from 0, without the header line) of the first row with the
    /// bin's key, or [`NO_ROW`].
    pub rows: Vec<u32>,
    /// For each bin a share of whether its key is common.
    pub membership: Vec<bool>,
    /// For each bin the shares of its values, eight bytes each.
    pub values: Vec<u8>,
}

impl std::fmt::Debug for ShareFile {
    /// Shares are secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShareFile").field("header", &self.header).finish_non_exhaustive()
    }
}

impl ShareFile {
    /// The sender's file.
    pub(crate) fn of_sender(header: Header, shares: SenderShares) -> Self {
        Self { header, rows: Vec::new(), membership: shares.membership, values: shares.payloads }
    }

    /// The receiver's file; `first_row` is the place of each key's first row.
    pub(crate) fn of_receiver(header: Header, shares: ReceiverShares, first_row: &[u32]) -> Self {
        let row = |item: &Option<u32>| item.and_then(|item| first_row.get(item as usize).copied()).unwrap_or(NO_ROW);
        Self {
            header,
            rows: shares.items.iter().map(row).collect(),
            membership: shares.membership,
            values: shares.payloads,
        }
    }

    /// The file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Plain fields into memory: serialising cannot fail.
        let header = serde_json::to_vec(&self.header).unwrap_or_default();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((header.len() as u32).to_le_bytes());
        bytes.extend(header);
        bytes.extend(self.rows.iter().flat_map(|row| row.to_le_bytes()));
        for eight in self.membership.chunks(8) {
            bytes.push(eight.iter().enumerate().fold(0, |byte, (place, &bit)| byte | u8::from(bit) << place));
        }
        bytes.extend(&self.values);
        bytes
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it is none of this version, or not whole.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Failure> {
        let refused = |what: &str| {
            Failure::new(
                code::INPUT,
                format_args!("this is no file of shares: {what}"),
                "name a file that --task shares wrote, in full",
            )
        };
        let mut rest = bytes;
        let mut take = |count: usize| {
            let (head, tail) = rest.split_at_checked(count)?;
            rest = tail;
            Some(head)
        };
        let number = |bytes: &[u8]| bytes.try_into().map(u32::from_le_bytes).unwrap_or_default();
        if take(8) != Some(&MAGIC) {
            return Err(refused("its first bytes are others"));
        }
        let short = || refused("it ends too early");
        if number(take(4).ok_or_else(short)?) != VERSION {
            return Err(refused("it is of another version"));
        }
        let length = number(take(4).ok_or_else(short)?) as usize;
        if length > HEADER_LIMIT {
            return Err(refused("its header is too long"));
        }
        let header: Header =
            serde_json::from_slice(take(length).ok_or_else(short)?).map_err(|_| refused("its header is malformed"))?;
        let bins = usize::try_from(header.bins).map_err(|_| refused("it has too many bins"))?;
        let of = |count: usize, each: usize| count.checked_mul(each).ok_or_else(short);
        let rows = if header.role == Role::Receiver { take(of(bins, 4)?).ok_or_else(short)? } else { &[] };
        let bits = take(bins.div_ceil(8)).ok_or_else(short)?;
        let values = take(of(of(bins, header.columns())?, 8)?).ok_or_else(short)?.to_vec();
        if !rest.is_empty() {
            return Err(refused("it goes on behind its end"));
        }
        let rows = rows.chunks_exact(4).map(number).collect();
        let membership = bits.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)).take(bins).collect();
        Ok(Self { header, rows, membership, values })
    }
}

/// What the shares of a bin stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bin {
    /// The receiver's first row with its key, or [`NO_ROW`].
    pub row: u32,
    /// Whether its key is common.
    pub common: bool,
    /// The sender's values and then the receiver's; zeros where the key is not common.
    pub values: Vec<i64>,
}

/// Puts the two sides' shares together. That reveals everything they hide: it is for tests, and for
/// a party to whom both sides gave theirs.
///
/// # Errors
/// If the files do not belong together.
pub fn reconstruct(sender: &ShareFile, receiver: &ShareFile) -> Result<Vec<Bin>, Failure> {
    let alike = Header { role: Role::Receiver, ..sender.header.clone() };
    if sender.header.role != Role::Sender || alike != receiver.header {
        return Err(Failure::new(
            code::INPUT,
            "the two files are not the two sides of one run",
            "compare the sessions in their headers",
        ));
    }
    let plain: Vec<u8> = sender.values.iter().zip(&receiver.values).map(|(a, b)| a ^ b).collect();
    let columns = sender.header.columns();
    let value = |bytes: &[u8]| bytes.try_into().map(i64::from_le_bytes).unwrap_or_default();
    let values =
        |bin: usize| plain.get(bin * columns * 8..).and_then(|rest| rest.get(..columns * 8)).unwrap_or_default();
    let common = sender.membership.iter().zip(&receiver.membership).map(|(ours, theirs)| ours ^ theirs);
    let bins = receiver.rows.iter().zip(common).enumerate();
    Ok(bins
        .map(|(bin, (&row, common))| Bin { row, common, values: values(bin).chunks_exact(8).map(value).collect() })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (ShareFile, ShareFile) {
        let column = ValueColumn { name: "amount".into(), scale: 2, clamp: None };
        let header = Header {
            role: Role::Sender,
            session: "00".into(),
            protocol: "any".into(),
            bins: 9,
            sender_columns: vec![column],
            receiver_columns: vec![],
        };
        let sender = SenderShares { membership: vec![true; 9], payloads: (0..72).collect() };
        let mut payloads = sender.payloads.clone();
        payloads[8] ^= 5;
        let items = (0..9).map(|bin| (bin != 2).then_some(bin)).collect();
        let membership = (0..9).map(|bin| bin != 1).collect();
        let receiver = ReceiverShares { items, membership, payloads };
        let receiver_header = Header { role: Role::Receiver, ..header.clone() };
        (
            ShareFile::of_sender(header, sender),
            ShareFile::of_receiver(receiver_header, receiver, &[10, 11, 12, 13, 14, 15, 16, 17]),
        )
    }

    #[test]
    fn files_are_read_back_and_put_together() {
        let (sender, receiver) = pair();
        let read = |file: &ShareFile| ShareFile::from_bytes(&file.to_bytes()).expect("its own bytes");
        assert_eq!((read(&sender), read(&receiver)), (sender.clone(), receiver.clone()));
        let bins = reconstruct(&sender, &receiver).expect("one run");
        assert_eq!(bins[1], Bin { row: 11, common: true, values: vec![5] });
        assert_eq!(bins[2], Bin { row: NO_ROW, common: false, values: vec![0] });
        // The last item is a dummy: no row has it.
        assert_eq!(bins[8], Bin { row: NO_ROW, common: false, values: vec![0] });
        assert!(reconstruct(&receiver, &sender).is_err() && reconstruct(&sender, &sender).is_err());
        let mut other = receiver;
        other.header.session = "01".into();
        assert!(reconstruct(&sender, &other).is_err());
    }

    #[test]
    fn whatever_the_bytes_are_they_are_a_file_or_an_error() {
        let whole = pair().1.to_bytes();
        for length in 0..whole.len() {
            assert!(ShareFile::from_bytes(&whole[..length]).is_err(), "{length}");
        }
        assert!(ShareFile::from_bytes(&[whole.as_slice(), &[0]].concat()).is_err());
        for place in 0..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 0x3f;
            let _ = ShareFile::from_bytes(&changed);
        }
    }
}
