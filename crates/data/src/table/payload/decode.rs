//! The receiver's side: records, which are the partner's bytes, to values.

use crate::table::TableError;
use crate::table::payload::{LONGEST_NAME, MAX_PAYLOAD_WIDTH, MOST_COLUMNS, PayloadField, PayloadKind, PayloadSchema};

/// Records as the protocol delivered them: one a match, in the order of the matches.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedPayload<'a> {
    /// As agreed in the handshake.
    pub schema: &'a PayloadSchema,
    /// `schema.width` bytes a match.
    pub bytes: &'a [u8],
}

/// One field's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Text(&'a str),
    Binary(&'a [u8]),
    Boolean(bool),
    /// As many bytes as the kind has; they are a value of it.
    Fixed(&'a [u8]),
}

impl PayloadSchema {
    /// Refuses a schema that no sender of ours declares: run it on what the partner sent, before
    /// anything is allocated by it.
    pub fn check(&self) -> Result<(), TableError> {
        if self.fields.is_empty() || self.fields.len() > MOST_COLUMNS {
            return Err(TableError::PeerPayload("its number of columns is not between 1 and 1024"));
        }
        if self.width < self.presence_bytes() || self.width > MAX_PAYLOAD_WIDTH {
            return Err(TableError::PeerPayload("its width is out of range"));
        }
        if self.fields.iter().any(|field| field.name.len() > LONGEST_NAME) {
            return Err(TableError::PeerPayload("a column name is too long"));
        }
        if self.fields.iter().any(|field| field.kind.data_type().is_none()) {
            return Err(TableError::PeerPayload("a column is of a type that does not travel"));
        }
        Ok(())
    }

    /// Whether a record of `self.width` bytes can be read.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn check_record(&self, record: &[u8]) -> Result<(), TableError> {
        self.decode_each(record, |_, _| Ok(()))
    }

    /// The values of one record of `self.width` bytes.
    pub(crate) fn decode<'a>(&self, record: &'a [u8], values: &mut Vec<Value<'a>>) -> Result<(), TableError> {
        values.clear();
        self.decode_each(record, |_, value| {
            values.push(value);
            Ok(())
        })
    }

    /// Calls `each` with the fields of one record of `self.width` bytes, in order.
    pub(crate) fn decode_each<'a>(
        &self,
        record: &'a [u8],
        mut each: impl FnMut(&PayloadField, Value<'a>) -> Result<(), TableError>,
    ) -> Result<(), TableError> {
        let short = TableError::PeerPayload("a record is cut off");
        let Some((presence, mut rest)) = record.split_at_checked(self.presence_bytes()) else { return Err(short) };
        for (index, field) in self.fields.iter().enumerate() {
            let present = presence.get(index / 8).is_some_and(|byte| byte >> (index % 8) & 1 == 1);
            each(field, if present { value(&field.kind, &mut rest)? } else { Value::Null })?;
        }
        let spare = 8 * presence.len() - self.fields.len();
        if presence.last().is_some_and(|last| spare > 0 && last >> (8 - spare) != 0) {
            return Err(TableError::PeerPayload("a record has more fields than the schema"));
        }
        if rest.iter().any(|&byte| byte != 0) {
            return Err(TableError::PeerPayload("a record's padding is not zero"));
        }
        Ok(())
    }
}

fn value<'a>(kind: &PayloadKind, rest: &mut &'a [u8]) -> Result<Value<'a>, TableError> {
    use PayloadKind as K;
    let text = "a text is not UTF-8";
    Ok(match kind {
        K::Null => return Err(TableError::PeerPayload("a column of nulls has a value")),
        K::Text | K::LargeText | K::TextView | K::Json => {
            Value::Text(std::str::from_utf8(framed(rest)?).map_err(|_| TableError::PeerPayload(text))?)
        }
        K::Binary | K::LargeBinary | K::BinaryView => Value::Binary(framed(rest)?),
        K::Boolean => match take(rest, 1)? {
            [0] => Value::Boolean(false),
            [1] => Value::Boolean(true),
            _ => return Err(TableError::PeerPayload("a boolean is neither true nor false")),
        },
        fixed => {
            let bytes = take(rest, fixed.width().unwrap_or_default())?;
            match fixed.holds(bytes) {
                true => Value::Fixed(bytes),
                false => return Err(TableError::PeerPayload("a decimal has more digits than its column")),
            }
        }
    })
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Result<&'a [u8], TableError> {
    let (head, tail) = rest.split_at_checked(count).ok_or(TableError::PeerPayload("a record is cut off"))?;
    *rest = tail;
    Ok(head)
}

/// Bytes behind their LEB128 length.
fn framed<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], TableError> {
    let mut length = 0usize;
    for shift in [0, 7, 14] {
        let byte = take(rest, 1)?.first().copied().unwrap_or(0);
        length |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return take(rest, length);
        }
    }
    Err(TableError::PeerPayload("a length is out of range"))
}
