//! Thrift's compact protocol, walked by a [`Shape`]: the Parquet reader skips what it does not
//! know, takes a field's type on trust, and spends as many steps on a list as its length says, even
//! where the elements take no bytes. What this walk passes takes the reader no more steps than
//! bytes.

use super::shapes::Shape;

/// Bytes that are no structure of that shape, and how.
pub(super) struct Malformed(pub &'static str);

/// Structures in structures beyond which nothing sound goes.
const DEPTH: usize = 32;

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BYTES: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;
const UUID: u8 = 13;

/// Is told what a walk meets. A path is the fields' numbers from the outermost structure on; a
/// list's elements have the list's path.
pub(super) trait Visitor {
    /// A whole number of a known field.
    fn number(&mut self, path: &[i16], value: i64);
    /// The end of a structure.
    fn end(&mut self, _path: &[i16]) {}
}

/// Walks the structure at the start of `bytes`: how many bytes it takes.
pub(super) fn walk(
    bytes: &[u8],
    fields: &'static [(i16, Shape)],
    visitor: &mut dyn Visitor,
) -> Result<usize, Malformed> {
    let mut walk = Walk { bytes, at: 0, path: Vec::new(), visitor };
    walk.fields(fields)?;
    Ok(walk.at)
}

/// The error of bytes that end too early: more of them may mend it.
pub(super) const CUT_OFF: &str = "it ends in the middle";

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    path: Vec<i16>,
    visitor: &'a mut dyn Visitor,
}

impl Walk<'_> {
    fn byte(&mut self) -> Result<u8, Malformed> {
        let byte = *self.bytes.get(self.at).ok_or(Malformed(CUT_OFF))?;
        self.at += 1;
        Ok(byte)
    }

    fn pass(&mut self, count: u64) -> Result<(), Malformed> {
        let left = self.bytes.len() - self.at;
        let count = usize::try_from(count).ok().filter(|&count| count <= left).ok_or(Malformed(CUT_OFF))?;
        self.at += count;
        Ok(())
    }

    fn unsigned(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed("a number in it has more than 64 bits"))
    }

    fn signed(&mut self, bits: u32) -> Result<i64, Malformed> {
        let folded = self.unsigned()?;
        let value = (folded >> 1) as i64 ^ -((folded & 1) as i64);
        let unused = 64 - bits;
        if value << unused >> unused == value {
            Ok(value)
        } else {
            Err(Malformed("a number in it is too large for its field"))
        }
    }

    fn number(&mut self, bits: u32) -> Result<(), Malformed> {
        let value = self.signed(bits)?;
        self.visitor.number(&self.path, value);
        Ok(())
    }

    /// A structure's fields up to its end.
    fn fields(&mut self, known: &'static [(i16, Shape)]) -> Result<(), Malformed> {
        if self.path.len() > DEPTH {
            return Err(Malformed("it is nested too deeply"));
        }
        let mut id = 0i16;
        loop {
            let head = self.byte()?;
            let kind = head & 0x0f;
            if kind == 0 {
                self.visitor.end(&self.path);
                return Ok(());
            }
            let next = match head >> 4 {
                0 => i16::try_from(self.signed(16)?).ok(),
                delta => id.checked_add(i16::from(delta)),
            };
            id = next.ok_or(Malformed("a field's number in it is too large"))?;
            self.path.push(id);
            match known.iter().find(|(known, _)| *known == id) {
                Some((_, shape)) if shape.kinds().contains(&kind) => self.known(shape, kind)?,
                Some(_) => return Err(Malformed("a field in it is of another type than the format says")),
                None => self.unknown(kind)?,
            }
            self.path.pop();
        }
    }

    fn known(&mut self, shape: &'static Shape, kind: u8) -> Result<(), Malformed> {
        match shape {
            Shape::Bool => Ok(()),
            Shape::Byte => self.byte().map(|_| ()),
            Shape::I16 => self.number(16),
            Shape::I32 => self.number(32),
            Shape::I64 => self.number(64),
            Shape::Struct(fields) => self.fields(fields),
            Shape::List(element) => {
                let (count, kind) = self.list()?;
                if count > 0 && !element.kinds().contains(&kind) {
                    return Err(Malformed("a list in it has elements of another type than the format says"));
                }
                (0..count).try_for_each(|_| self.known(element, kind))
            }
            Shape::Double | Shape::Bytes => self.unknown(kind),
        }
    }

    /// A list's length and its elements' type. Each element takes at least a byte, so a length
    /// beyond the bytes is wrong.
    fn list(&mut self) -> Result<(usize, u8), Malformed> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.unsigned()? } else { u64::from(head >> 4) };
        let left = self.bytes.len() - self.at;
        Ok((usize::try_from(count).ok().filter(|&count| count <= left).ok_or(Malformed(CUT_OFF))?, head & 0x0f))
    }

    /// A value of a field that the format did not have when this was written.
    fn unknown(&mut self, kind: u8) -> Result<(), Malformed> {
        match kind {
            TRUE | FALSE => Ok(()),
            BYTE => self.pass(1),
            I16 | I32 | I64 => self.unsigned().map(|_| ()),
            DOUBLE => self.pass(8),
            UUID => self.pass(16),
            BYTES => {
                let count = self.unsigned()?;
                self.pass(count)
            }
            LIST | SET => {
                let (count, kind) = self.list()?;
                (0..count).try_for_each(|_| self.element(kind))
            }
            MAP => {
                let count = self.unsigned()?;
                if count == 0 {
                    return Ok(());
                }
                let kinds = self.byte()?;
                let left = (self.bytes.len() - self.at) as u64;
                if count > left {
                    return Err(Malformed(CUT_OFF));
                }
                (0..count).try_for_each(|_| {
                    self.element(kinds >> 4)?;
                    self.element(kinds & 0x0f)
                })
            }
            STRUCT => self.fields(&[]),
            _ => Err(Malformed("a field in it is of no type that Thrift has")),
        }
    }

    fn element(&mut self, kind: u8) -> Result<(), Malformed> {
        // The reader takes these for empty, whatever their number.
        if matches!(kind, TRUE | FALSE) {
            return Err(Malformed("an unknown list in it has elements that the reader cannot skip"));
        }
        self.path.push(0);
        if self.path.len() > DEPTH {
            return Err(Malformed("it is nested too deeply"));
        }
        self.unknown(kind)?;
        self.path.pop();
        Ok(())
    }
}

impl Shape {
    /// Thrift's type codes for it. Whole numbers of all widths are written alike, and there are
    /// writers that take one for another.
    fn kinds(&self) -> &'static [u8] {
        match self {
            Self::Bool => &[TRUE, FALSE],
            Self::Byte => &[BYTE],
            Self::I16 | Self::I32 | Self::I64 => &[I16, I32, I64],
            Self::Double => &[DOUBLE],
            Self::Bytes => &[BYTES],
            Self::List(_) => &[LIST],
            Self::Struct(_) => &[STRUCT],
        }
    }
}
