//! The content of Parquet pages, as far as it says how much there is: the delta encodings begin
//! with a count of their own, which the reader makes room for, and one value of a dictionary may
//! stand for many rows.

use parquet::basic::Encoding;

/// The values of a page of version 1: what is behind its repetition and definition levels. `None`
/// when the page is shorter.
pub(super) fn behind_levels(mut page: &[u8], most: [i16; 2], encodings: [Encoding; 2], values: u32) -> Option<&[u8]> {
    for (most, encoding) in most.into_iter().zip(encodings) {
        if most == 0 {
            continue;
        }
        let length = if encoding == Encoding::RLE {
            let (length, rest) = page.split_first_chunk()?;
            page = rest;
            u32::from_le_bytes(*length) as usize
        } else {
            let bits = u64::from(most.unsigned_abs().ilog2() + 1);
            usize::try_from((u64::from(values) * bits).div_ceil(8)).ok()?
        };
        page = page.get(length..)?;
    }
    Some(page)
}

/// How many bytes the whole numbers at the start of `bytes` take, which are delta-encoded; `None`
/// when they are more than `most` or do not lie in `bytes`.
pub(super) fn lengths(bytes: &[u8], most: u32) -> Option<usize> {
    let mut at = 0;
    let (block, per_block, count) = (number(bytes, &mut at)?, number(bytes, &mut at)?, number(bytes, &mut at)?);
    number(bytes, &mut at)?;
    if count > u64::from(most) || per_block == 0 || block % per_block != 0 {
        return None;
    }
    let per_mini_block = block / per_block;
    // The first one stands in the header.
    let mut left = count.saturating_sub(1);
    while left > 0 {
        number(bytes, &mut at)?;
        let widths = at..at.checked_add(usize::try_from(per_block).ok()?)?;
        at = widths.end;
        for &width in bytes.get(widths)? {
            // What is behind the last one may be left out, whatever the width says.
            if left > 0 {
                let bits = u64::from(width).checked_mul(per_mini_block)?;
                at = at.checked_add(usize::try_from(bits / 8).ok()?)?;
                left = left.saturating_sub(per_mini_block.max(1));
            }
        }
    }
    // Padding of the last one may be missing.
    Some(at.min(bytes.len()))
}

/// Bytes of the longest of `count` strings that stand one behind the other, each behind its length.
pub(super) fn longest_plain(mut bytes: &[u8], count: u32) -> usize {
    let mut longest = 0;
    for _ in 0..count {
        let Some((length, rest)) = bytes.split_first_chunk() else { break };
        let length = u32::from_le_bytes(*length) as usize;
        longest = longest.max(length.min(rest.len()));
        bytes = rest.get(length..).unwrap_or_default();
    }
    longest
}

fn number(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
