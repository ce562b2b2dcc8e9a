//! A sorted list of pseudo-random tags that stays in the code in which it travels, and in which
//! tags are looked up again and again.
//!
//! Whoever made the list may know the tags that are looked for, and must not read from the time of
//! a search what was found. So every search decodes as much, and a part of the list whose gaps are
//! wider or narrower in all than those of random tags is refused, by the length of its code. A list
//! of a single part is always decoded whole.

use std::ops::RangeInclusive;

use rayon::prelude::*;

use crate::golomb::{Code, Malformed, PART};

/// The list, as the parts of its [`Code`].
#[derive(Clone, Debug)]
pub struct CodedTags {
    code: Code,
    count: usize,
    parts: Vec<Part>,
    /// Tags of `parts`, and the last one of them.
    held: usize,
    last: u128,
}

/// A part of the list.
#[derive(Clone, Debug)]
struct Part {
    /// The tag before its first one.
    previous: u128,
    coded: Box<[u8]>,
}

/// Where a tag was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// A place in the list: that of the tag if it is there.
    pub place: u32,
    /// Whether the tag is there.
    pub is_there: bool,
}

impl CodedTags {
    /// An empty list that will have `count` tags of `bits` bits. Room for them is taken as they
    /// come.
    ///
    /// # Panics
    /// If `bits` is not in `1..=128`, or there are more than `u32::MAX` tags.
    pub fn new(count: usize, bits: u32) -> Self {
        assert!(u32::try_from(count).is_ok(), "at most 2^32 - 1 tags");
        Self { code: Code::new(count, bits), count, parts: Vec::new(), held: 0, last: 0 }
    }

    /// How many bytes the next part may have; `None` when all parts are there.
    pub fn due(&self) -> Option<RangeInclusive<usize>> {
        let values = self.next_values();
        if values == 0 {
            return None;
        }
        let possible = self.code.part_len_range(values, self.last);
        if self.count <= PART {
            return Some(possible);
        }
        // The deviation of a gap's quotient is below 2: this is 12 deviations of a full part, and more of a
        // shorter last one.
        let (remainders, mean) = self.code.bits_of(values);
        let slack = 24 * values.isqrt() + 128;
        let least = (remainders + mean.saturating_sub(slack)) / 8;
        let most = (remainders + mean + slack).div_ceil(8);
        Some(*possible.start().max(&least)..=*possible.end().min(&most))
    }

    /// Adds the next part.
    ///
    /// # Errors
    /// If it is none: the list stays as it was.
    pub fn push(&mut self, coded: &[u8]) -> Result<(), Malformed> {
        let values = self.next_values();
        if !self.due().is_some_and(|lengths| lengths.contains(&coded.len())) {
            return Err(Malformed::Length);
        }
        let mut tags = Vec::with_capacity(values);
        self.code.decode(coded, values, self.last, &mut tags)?;
        let Some(&last) = tags.last() else { return Err(Malformed::Length) };
        self.parts.push(Part { previous: self.last, coded: coded.into() });
        (self.held, self.last) = (self.held + values, last);
        Ok(())
    }

    /// The list of `count` tags of `bits` bits that `sorted` gives.
    ///
    /// # Errors
    /// If there are fewer, or they are not spread as random ones.
    ///
    /// # Panics
    /// If they do not ascend, or one is too wide.
    pub fn encode(sorted: impl IntoIterator<Item = u128>, count: usize, bits: u32) -> Result<Self, Malformed> {
        let (mut list, mut sorted) = (Self::new(count, bits), sorted.into_iter());
        let (mut part, mut coded) = (Vec::with_capacity(PART.min(count)), Vec::new());
        while list.due().is_some() {
            let values = list.next_values();
            part.clear();
            part.extend(sorted.by_ref().take(values));
            if part.len() < values {
                return Err(Malformed::TooFew);
            }
            coded.clear();
            list.code.encode(&part, list.last, &mut coded);
            list.push(&coded)?;
        }
        Ok(list)
    }

    /// All tags of a list that is complete, in their order. A part at a time is decoded.
    pub fn iter(&self) -> impl Iterator<Item = u128> + '_ {
        (0..self.parts.len()).flat_map(|part| self.decoded(part).tags)
    }

    fn next_values(&self) -> usize {
        PART.min(self.count - self.held)
    }

    /// The parts that are there, in their code.
    pub fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.parts.iter().map(|part| &*part.coded)
    }

    /// Looks for each of `tags` in the whole list. A full part and the last one, which is shorter, are
    /// decoded for each tag, or every part once if that is less: the work goes by the numbers of
    /// tags, and by nothing that is known of them.
    pub fn find(&self, tags: &[u128]) -> Vec<Place> {
        let last = self.parts.len().saturating_sub(1);
        if 2 * tags.len() <= last {
            let in_one_of_two = |&tag: &u128| {
                let part = self.part_of(tag);
                let is_last = part == last;
                let places = [if is_last { 0 } else { part }, last].map(|part| self.decoded(part).find(tag));
                places[usize::from(is_last)]
            };
            return tags.par_iter().map(in_one_of_two).collect();
        }
        let mut of_parts = vec![Vec::new(); self.parts.len()];
        for (own, &tag) in tags.iter().enumerate() {
            // An empty list has no part.
            if let Some(of_part) = of_parts.get_mut(self.part_of(tag)) {
                of_part.push(own);
            }
        }
        let found = of_parts.par_iter().enumerate().flat_map_iter(|(part, of_part)| {
            let decoded = self.decoded(part);
            of_part.iter().map(move |&own| (own, decoded.find(tags[own])))
        });
        let mut places = vec![Place { place: 0, is_there: false }; tags.len()];
        for (own, place) in found.collect::<Vec<_>>() {
            places[own] = place;
        }
        places
    }

    /// The tags of a part that is there.
    fn decoded(&self, part: usize) -> Decoded {
        let Part { previous, ref coded } = self.parts[part];
        let mut tags = Vec::with_capacity(PART.min(self.count));
        let values = PART.min(self.count - part * PART);
        self.code.decode(coded, values, previous, &mut tags).expect("it was decoded when it came");
        Decoded { first: part * PART, tags }
    }

    /// The first part in which `tag` may be.
    fn part_of(&self, tag: u128) -> usize {
        self.parts.partition_point(|part| part.previous < tag).saturating_sub(1)
    }
}

/// The tags of a part.
struct Decoded {
    /// The place of its first one.
    first: usize,
    tags: Vec<u128>,
}

impl Decoded {
    fn find(&self, tag: u128) -> Place {
        let place = self.tags.partition_point(|&other| other < tag).min(self.tags.len() - 1);
        Place { place: (self.first + place) as u32, is_there: self.tags[place] == tag }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SecretRng;

    fn coded(sorted: &[u128], bits: u32) -> CodedTags {
        let mut list = CodedTags::new(sorted.len(), bits);
        let (code, mut previous) = (Code::new(sorted.len(), bits), 0);
        for part in sorted.chunks(PART) {
            let mut bytes = Vec::new();
            code.encode(part, previous, &mut bytes);
            assert!(list.due().unwrap().contains(&bytes.len()));
            list.push(&bytes).unwrap();
            previous = part[part.len() - 1];
        }
        assert!(list.due().is_none());
        list
    }

    /// `count` random tags in order.
    fn sorted(count: usize, bits: u32) -> Vec<u128> {
        let mut rng = SecretRng::insecure_from_seed(count as u64);
        let mut tags: Vec<u128> = (0..count).map(|_| rng.block() >> (128 - bits)).collect();
        tags.sort_unstable();
        tags
    }

    #[test]
    fn a_list_gives_back_what_it_was_made_of() {
        for bits in [64, 82, 128] {
            for count in [0, 1, PART, 2 * PART + 100] {
                let tags = sorted(count, bits);
                let list = CodedTags::encode(tags.iter().copied(), count, bits).unwrap();
                assert!(list.iter().eq(tags.iter().copied()), "{count} of {bits} bits");
                assert!(list.parts().eq(coded(&tags, bits).parts()), "one code for a list");
                let short = CodedTags::encode(tags.iter().copied(), count + 1, bits);
                assert!(matches!(short, Err(Malformed::TooFew)));
            }
        }
    }

    #[test]
    fn finds_what_is_there_and_nothing_else() {
        for bits in [3, 17, 64, 82, 128] {
            for count in [0, 1, 65, PART, PART + 1, PART + 100, 5 * PART + 1000] {
                let tags = sorted(count, bits);
                let list = coded(&tags, bits);
                let mut rng = SecretRng::insecure_from_seed(7);
                let most = u128::MAX >> (128 - bits);
                let strangers = (0..300).map(|_| rng.block() >> (128 - bits)).chain([0, most]);
                // The first and the last one of each part, others, and values close to them.
                let edges = (0..count).filter(|place| matches!(place % PART, 0 | 16383) || place % 97 == 0);
                let near = edges.flat_map(|place| {
                    [tags[place], tags[place].saturating_sub(1), tags[place].saturating_add(1).min(most)]
                });
                let asked: Vec<u128> = near.chain(strangers).collect();
                // Few at a time, and all: either way through the parts.
                let few: Vec<Place> = asked.chunks(2).flat_map(|asked| list.find(asked)).collect();
                for found in [list.find(&asked), few] {
                    for (asked, Place { place, is_there }) in asked.iter().zip(found) {
                        assert_eq!(is_there, tags.binary_search(asked).is_ok(), "{asked} of {count} with {bits} bits");
                        assert!(!is_there || tags[place as usize] == *asked, "{asked} of {count} with {bits} bits");
                        assert!((place as usize) < count.max(1), "{asked} of {count} with {bits} bits");
                    }
                }
            }
        }
    }

    #[test]
    fn equal_tags_on_both_sides_of_a_seam_are_found() {
        let mut tags = sorted(2 * PART + 5, 64);
        tags[PART] = tags[PART - 1];
        let list = coded(&tags, 64);
        let found = list.find(&[tags[PART], tags[PART] + 1, tags[PART + 1]]);
        assert_eq!(found.iter().map(|found| found.is_there).collect::<Vec<_>>(), [true, false, true]);
        assert_eq!(tags[found[0].place as usize], tags[PART]);
    }

    #[test]
    fn parts_that_are_none_are_refused_and_change_nothing() {
        let tags = sorted(PART + 100, 64);
        let good = coded(&tags, 64);
        let parts: Vec<&[u8]> = good.parts().collect();
        let mut list = CodedTags::new(tags.len(), 64);
        assert!(list.push(parts[1]).is_err(), "the last part first");
        assert!(list.push(&parts[0][..parts[0].len() - 1]).is_err());
        list.push(parts[0]).unwrap();
        assert!(list.push(&[]).is_err());
        list.push(parts[1]).unwrap();
        assert_eq!(list.push(&[]), Err(Malformed::Length), "one part too many");
        assert!(list.find(&tags).iter().all(|found| found.is_there));
    }

    /// A server that knows a tag could make the part that has it quicker or slower than others.
    #[test]
    fn parts_that_take_another_time_are_refused() {
        let (count, bits) = (4 * PART, 64);
        let honest = sorted(count, bits);
        let (code, mut list) = (Code::new(count, bits), CodedTags::new(count, bits));
        let encoded = |tags: &[u128], previous| {
            let mut bytes = Vec::new();
            code.encode(tags, previous, &mut bytes);
            bytes
        };
        list.push(&encoded(&honest[..PART], 0)).unwrap();
        let last = honest[PART - 1];
        assert_eq!(list.push(&encoded(&[last; PART], last)), Err(Malformed::Length), "no gaps at all");
        let mut wide = honest[PART..2 * PART].to_vec();
        wide.iter_mut().for_each(|tag| *tag += 1 << 62);
        assert_eq!(list.push(&encoded(&wide, last)), Err(Malformed::Length), "one wide gap");
        list.push(&encoded(&honest[PART..2 * PART], last)).unwrap();
    }
}
