//! Union.

use std::collections::HashSet;

use vesica_mpc::bits::Bits;
use vesica_party::{Security, Task};
use vesica_structures::facts::Unsupported;

use super::{Extent, IntersectRequest, SetFunctionality, check_input, differ};

/// Union: the receiver gets the records of the sender's items that it does not have. With its own
/// set, which it knows, that is the union. On request the sender gets the records of the receiver's
/// items that it does not have, too.
#[derive(Clone, Copy, Debug)]
pub enum Union {}

/// The public parameters of a union.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnionRequest {
    /// Number of distinct items of the sender, `n_s`.
    pub sender_items: usize,
    /// Number of distinct items of the receiver, `n_r`.
    pub receiver_items: usize,
    /// The least resistance asked for.
    pub security: Security,
    /// Width of the record of each of the sender's items, and of each of the receiver's where both
    /// learn, in bytes.
    pub record_bytes: usize,
    /// Whether the sender learns the union too.
    pub both_learn: bool,
    /// Runs of this request, one for each bucket, that keep to one failure budget together: see [`Extent::runs`].
    pub runs: usize,
}

/// What both sides agree on for a union.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnionOptions {
    /// Width of the record of each of the sender's items, and of each of the receiver's where both
    /// learn, in bytes.
    pub record_bytes: usize,
    /// Whether the sender learns the union too.
    pub both_learn: bool,
}

/// The sender's set, fixed before the set-up begins: a salt is tossed there, and sets that depend
/// on it void the bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnionSenderInput {
    /// 128-bit digests of the items, all distinct.
    pub items: Vec<u128>,
    /// `items.len() * record_bytes` bytes; item `i` has those from `i * record_bytes`. A digest
    /// cannot be turned back, so that a record carries whatever the receiver is to have of an item.
    pub records: Vec<u8>,
    /// How many of the items, the last ones, are dummies. The receiver has none of them. A protocol may give it their
    /// records, but not where there are several runs: it would learn how many items of each run are common.
    pub dummies: usize,
}

/// The receiver's set, fixed before the set-up begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnionReceiverInput {
    /// 128-bit digests of the items, all distinct.
    pub items: Vec<u128>,
    /// Where both learn, `items.len() * record_bytes` bytes, as the sender's; otherwise none.
    pub records: Vec<u8>,
    /// How many of the items, the last ones, are dummies, as the sender's.
    pub dummies: usize,
}

/// What the sender learns.
#[derive(Debug, Default)]
pub struct UnionSenderOutput {
    /// The records of the receiver's items that the sender does not have, to be picked out when the
    /// conversation is over; only when both learn. Their order is random.
    pub records: Option<NewRecords>,
}

/// What the receiver learns.
#[derive(Debug, Default)]
pub struct UnionReceiverOutput {
    /// The records of the sender's items that the receiver does not have, to be picked out when the
    /// conversation is over. Their order is random.
    pub records: NewRecords,
}

/// The records of new items among cells that hold other things too. Picking them out takes time for
/// each new item, which the sender must not see.
#[derive(Default)]
pub struct NewRecords {
    record_bytes: usize,
    cell_bytes: usize,
    cells: Vec<u8>,
    new: Bits,
}

impl NewRecords {
    /// The records at the places of `new`, each in the first `record_bytes` of its cell's
    /// `cell_bytes`.
    ///
    /// # Panics
    /// If there are not as many cells as bits, or cells are narrower than records.
    pub fn new(record_bytes: usize, cell_bytes: usize, cells: Vec<u8>, new: Bits) -> Self {
        assert!(record_bytes <= cell_bytes && cells.len() == new.len() * cell_bytes, "a cell for each place");
        Self { record_bytes, cell_bytes, cells, new }
    }

    /// The records, one after the other. Takes time that goes by their number.
    pub fn open(mut self) -> Vec<u8> {
        let mut cells = std::mem::take(&mut self.cells);
        let mut end = 0;
        for (place, _) in self.new.iter().enumerate().filter(|(_, is_new)| *is_new) {
            let start = place * self.cell_bytes;
            cells.copy_within(start..start + self.record_bytes, end);
            end += self.record_bytes;
        }
        cells.truncate(end);
        cells
    }

    /// The record of each place, one after the other; zeros where nothing is new. Takes the same time whatever is new.
    pub fn open_for_all(self) -> Vec<u8> {
        let Self { record_bytes, cell_bytes, mut cells, new } = self;
        for (place, is_new) in new.iter().enumerate() {
            let (start, end) = (place * cell_bytes, place * record_bytes);
            cells.copy_within(start..start + record_bytes, end);
            let kept = u8::from(is_new).wrapping_neg();
            cells[end..end + record_bytes].iter_mut().for_each(|byte| *byte &= kept);
        }
        cells.truncate(new.len() * record_bytes);
        cells
    }

    /// Whether there are no places for records at all.
    pub fn is_empty(&self) -> bool {
        self.new.is_empty()
    }

    /// The first `record_bytes` of each record.
    ///
    /// # Panics
    /// If records have fewer bytes.
    pub fn narrowed(self, record_bytes: usize) -> Self {
        assert!(record_bytes <= self.record_bytes, "a part of a record");
        Self { record_bytes, ..self }
    }

    /// The same as [`NewRecords::open`], and they stay closed: for comparisons.
    pub fn opened(&self) -> Vec<u8> {
        let Self { record_bytes, cell_bytes, .. } = *self;
        Self { record_bytes, cell_bytes, cells: self.cells.clone(), new: self.new.clone() }.open()
    }
}

impl std::fmt::Debug for NewRecords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NewRecords(..)")
    }
}

impl UnionRequest {
    /// Widest record, in bytes: a payload's bound.
    pub const MOST_RECORD_BYTES: usize = IntersectRequest::MOST_PAYLOAD_BYTES;

    /// For protocols whose failure bounds are derived for one run, or which show how many items of a run are common:
    /// refuses several runs, and what [`check_sizes_of_runs`](Self::check_sizes_of_runs) does.
    pub fn check_sizes(&self) -> Result<(), Unsupported> {
        self.check_one_run()?;
        self.check_sizes_of_runs()
    }

    /// Refuses what no protocol for the receiver's union serves: sizes beyond the bounds, records of
    /// nothing, which would make a cardinality of the union, and a sender that learns the union too.
    pub fn check_sizes_of_runs(&self) -> Result<(), Unsupported> {
        if self.both_learn {
            return Err(Unsupported::new(
                "the protocol gives the union to the receiver alone",
                "choose a protocol that serves --both-learn, for example vesica-union-both, or omit --both-learn",
            ));
        }
        self.check_bounds()
    }

    /// The same as [`check_sizes`](Self::check_sizes), for protocols for a union of both sides.
    pub fn check_mutual(&self) -> Result<(), Unsupported> {
        self.check_one_run()?;
        self.check_mutual_of_runs()
    }

    /// Refuses what no protocol for a union of both sides serves: the same sizes and records, and a
    /// sender that is to learn nothing.
    pub fn check_mutual_of_runs(&self) -> Result<(), Unsupported> {
        if !self.both_learn {
            return Err(Unsupported::new(
                "the protocol gives the union to both sides",
                "say --both-learn on both sides, or choose another protocol, for example vesica-union",
            ));
        }
        self.check_bounds()
    }

    fn check_one_run(&self) -> Result<(), Unsupported> {
        if self.runs <= 1 {
            return Ok(());
        }
        Err(Unsupported::new(
            format_args!(
                "{} buckets by a protocol that is for one run: its failure bounds are derived for one, or it would show \
                 how many items of each bucket are common",
                self.runs
            ),
            "choose vesica-union, or vesica-union-both with --both-learn, or omit --buckets",
        ))
    }

    fn check_bounds(&self) -> Result<(), Unsupported> {
        let Self { sender_items, receiver_items, security, record_bytes, both_learn: _, runs } = *self;
        IntersectRequest { sender_items, receiver_items, security, payload_bytes: 0, both_learn: false, runs }
            .check_sizes_of_runs()?;
        if record_bytes == 0 {
            return Err(Unsupported::new("a union whose records have no bytes", "give the records a width"));
        }
        if record_bytes > Self::MOST_RECORD_BYTES {
            return Err(Unsupported::new(
                format_args!("a record of {record_bytes} bytes is wider than {}", Self::MOST_RECORD_BYTES),
                "send fewer or narrower columns",
            ));
        }
        Ok(())
    }
}

impl UnionSenderInput {
    /// Refuses an input that is not of the agreed sizes.
    pub fn check(&self, items: usize, record_bytes: usize) -> Result<(), Unsupported> {
        check_input("the sender's input", &self.items, &self.records, items, record_bytes)?;
        check_dummies("the sender's input", self.dummies, items)
    }
}

impl UnionReceiverInput {
    /// Refuses an input that is not of the agreed size, for a protocol in which the receiver alone
    /// learns.
    pub fn check(&self, items: usize) -> Result<(), Unsupported> {
        self.check_mutual(items, 0)
    }

    /// Refuses an input that is not of the agreed sizes, for a protocol in which both learn.
    pub fn check_mutual(&self, items: usize, record_bytes: usize) -> Result<(), Unsupported> {
        check_input("the receiver's input", &self.items, &self.records, items, record_bytes)?;
        check_dummies("the receiver's input", self.dummies, items)
    }
}

fn check_dummies(what: &str, dummies: usize, items: usize) -> Result<(), Unsupported> {
    if dummies <= items {
        return Ok(());
    }
    Err(Unsupported::new(
        format_args!("{what} has {dummies} dummies among {items} items"),
        "give at most as many dummies as items",
    ))
}

impl Task for Union {
    const NAME: &'static str = "union";
    type Request = UnionRequest;
    type SenderInput = UnionSenderInput;
    type ReceiverInput = UnionReceiverInput;
    type SenderOutput = UnionSenderOutput;
    type ReceiverOutput = UnionReceiverOutput;

    fn holds(
        sent: &UnionSenderInput,
        asked: &UnionReceiverInput,
        sender_out: &UnionSenderOutput,
        receiver_out: &UnionReceiverOutput,
    ) -> Result<(), String> {
        let sender = (&sent.items[..], &sent.records[..], sent.dummies);
        let receiver = (&asked.items[..], &asked.records[..], asked.dummies);
        are_new("the receiver's new records", sender, &asked.items, &receiver_out.records)?;
        match &sender_out.records {
            Some(records) => are_new("the sender's new records", receiver, &sent.items, records),
            None => Ok(()),
        }
    }
}

/// Whether `got` are the records of `items` of one side that are not among `own` of the other: without those of dummies,
/// or with all of them.
fn are_new(
    what: &str,
    (items, records, dummies): (&[u128], &[u8], usize),
    own: &[u128],
    got: &NewRecords,
) -> Result<(), String> {
    let bytes = got.opened();
    let Some(width) = records.len().checked_div(items.len()) else {
        return differ(what, &[], &bytes);
    };
    let own: HashSet<&u128> = own.iter().collect();
    let records = items.iter().zip(records.chunks_exact(width));
    let keys = items.len() - dummies;
    let new = (0..).zip(records).filter(|(_, (item, _))| !own.contains(item));
    let mut with_dummies: Vec<&[u8]> = new.clone().map(|(_, (_, record))| record).collect();
    let mut expected: Vec<&[u8]> = new.filter(|(place, _)| *place < keys).map(|(_, (_, record))| record).collect();
    let mut got: Vec<&[u8]> = bytes.chunks(width).collect();
    for records in [&mut with_dummies, &mut expected, &mut got] {
        records.sort_unstable();
    }
    if got == with_dummies { Ok(()) } else { differ(what, &expected, &got) }
}

impl SetFunctionality for Union {
    const SUMMARY: &'static str =
        "The receiver gets the records of the sender's items that it does not have, and learns nothing else of them.";
    type Options = UnionOptions;

    fn request(extent: &Extent, options: &UnionOptions) -> UnionRequest {
        let Extent { sender_items, receiver_items, security, runs } = *extent;
        let UnionOptions { record_bytes, both_learn } = *options;
        UnionRequest { sender_items, receiver_items, security, record_bytes, both_learn, runs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(cells: &[u8], cell_bytes: usize, new: &[bool]) -> UnionReceiverOutput {
        UnionReceiverOutput { records: NewRecords::new(2, cell_bytes, cells.to_vec(), new.iter().copied().collect()) }
    }

    #[test]
    fn the_new_records_hold_in_any_order_and_others_do_not() {
        let sent = UnionSenderInput { items: vec![10, 11, 12], records: b"aabbcc".to_vec(), dummies: 0 };
        let asked = UnionReceiverInput { items: vec![11, 7], records: b"bbdd".to_vec(), dummies: 0 };
        let nobody = UnionSenderOutput::default();
        let holds = |cells: &[u8], cell_bytes, new: &[bool]| {
            Union::holds(&sent, &asked, &nobody, &output(cells, cell_bytes, new))
        };
        holds(b"aabbcc", 2, &[true, false, true]).unwrap();
        holds(b"cc-aa-??-", 3, &[true, true, false]).unwrap();
        // One less, a common one, one twice, an altered one.
        for (cells, new) in
            [(b"aabbcc", [true, false, false]), (b"aabbcc", [true; 3]), (b"aabbaa", [true, false, true])]
        {
            assert!(holds(cells, 2, &new).unwrap_err().contains("new records"));
        }
        assert!(holds(b"aabbcd", 2, &[true, false, true]).is_err());
        // The sender's, where both learn.
        let mutual = |new: &[bool]| {
            let records = Some(output(b"bbdd", 2, new).records);
            Union::holds(&sent, &asked, &UnionSenderOutput { records }, &output(b"aacc", 2, &[true, true]))
        };
        mutual(&[false, true]).unwrap();
        for new in [[true, false], [true, true], [false, false]] {
            assert!(mutual(&new).unwrap_err().contains("the sender's new records"));
        }
        let nothing = UnionSenderInput::default();
        Union::holds(&nothing, &asked, &nobody, &UnionReceiverOutput::default()).unwrap();
        assert!(Union::holds(&nothing, &asked, &nobody, &output(b"aa", 2, &[true])).is_err());
    }

    /// Records of dummies come all or not at all, and only those: `[true, false, false]` gives no dummy's.
    #[test]
    fn records_of_dummies_come_all_or_not_at_all() {
        let sent = UnionSenderInput { items: vec![10, 11, 12], records: b"aabbcc".to_vec(), dummies: 2 };
        let asked = UnionReceiverInput { items: vec![7], ..Default::default() };
        for (new, holds) in [
            ([true; 3], true),
            ([true, false, false], true),
            ([true, true, false], false),
            ([false, true, true], false),
        ] {
            let out = output(b"aabbcc", 2, &new);
            assert_eq!(Union::holds(&sent, &asked, &UnionSenderOutput::default(), &out).is_ok(), holds, "{new:?}");
        }
        assert!(sent.check(3, 2).is_ok() && UnionSenderInput { dummies: 4, ..sent }.check(3, 2).is_err());
        assert!(UnionReceiverInput { dummies: 2, ..asked }.check(1).is_err());
    }

    #[test]
    fn narrowed_records_are_the_beginnings_of_records() {
        let records = output(b"ab-cd-ef-", 3, &[true, false, true]).records;
        assert_eq!(records.narrowed(1).open(), b"ae");
        let records = output(b"ab-cd-ef-", 3, &[true, false, true]).records;
        assert_eq!(records.narrowed(1).open_for_all(), b"a\0e");
    }

    #[test]
    fn protocols_serve_one_side_or_both() {
        let of = |both_learn| UnionRequest {
            sender_items: 1,
            receiver_items: 1,
            security: Security::SemiHonest,
            record_bytes: 1,
            both_learn,
            runs: 1,
        };
        of(false).check_sizes().and(of(true).check_mutual()).unwrap();
        assert!(of(true).check_sizes().is_err() && of(false).check_mutual().is_err());
        let several = |both_learn, runs| UnionRequest { runs, ..of(both_learn) };
        several(false, 2).check_sizes_of_runs().and(several(true, 2).check_mutual_of_runs()).unwrap();
        assert!(several(false, 2).check_sizes().is_err() && several(true, 2).check_mutual().is_err());
        assert!(several(false, 0).check_sizes().is_err() && several(true, 0).check_mutual_of_runs().is_err());
    }

    #[test]
    fn records_of_no_bytes_and_of_too_many_are_refused() {
        let of = |record_bytes| {
            UnionRequest {
                sender_items: 1,
                receiver_items: 1,
                security: Security::SemiHonest,
                record_bytes,
                both_learn: false,
                runs: 1,
            }
            .check_sizes()
        };
        assert!(of(0).is_err() && of(UnionRequest::MOST_RECORD_BYTES + 1).is_err());
        of(1).and(of(UnionRequest::MOST_RECORD_BYTES)).unwrap();
    }
}
