//! What a bucket has come to, in a file of the record's folder for each pass that it has gone through.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use vesica_data::spill::Seal;
use zeroize::Zeroizing;

/// The first bytes of a file: its version.
const MAGIC: [u8; 8] = *b"vesbkt1\n";

/// Bytes before what is encrypted: [`MAGIC`], the hash of all that was said, and a random number under which the file is
/// encrypted.
const HEAD: usize = 8 + 32 + 32;

/// Writes a file of a record's folder so that a crash leaves this one or the one before.
pub(super) fn replace(folder: &Path, unfinished: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    let unfinished = folder.join(unfinished);
    let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    fs::rename(&unfinished, folder.join(name))?;
    File::open(folder)?.sync_all()
}

/// The name of a bucket's file: of the last pass, or of one before it.
fn name(Place { bucket, pass, .. }: Place) -> String {
    match pass {
        Pass::Last => format!("bucket-{bucket:05}"),
        Pass::First => format!("commit-{bucket:05}"),
    }
}

/// How far a bucket has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// Through the first of two passes.
    First,
    /// Through the last, or the only one.
    Last,
}

/// Of what a file is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub bucket: usize,
    pub pass: Pass,
    /// Items of a bucket, and bytes of a payload.
    pub shape: (usize, usize),
}

/// What a bucket found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// The numbers of the items that matched.
    pub matches: Vec<u32>,
    /// The partner's payloads, in the places of all items of the bucket; zeros for those that did not match.
    pub payloads: Vec<u8>,
}

/// The files of a run's buckets.
pub(super) struct BucketFiles {
    folder: PathBuf,
    /// Of the record.
    key: Zeroizing<[u8; 32]>,
    /// Of which run they are.
    run: [u8; 32],
}

impl BucketFiles {
    pub fn new(folder: &Path, key: &[u8; 32], run: [u8; 32]) -> Self {
        Self { folder: folder.to_owned(), key: Zeroizing::new(*key), run }
    }

    /// Of which run they are from here on.
    pub fn set_run(&mut self, run: [u8; 32]) {
        self.run = run;
    }

    /// Keeps what a bucket found until both sides have finished it with this hash. `random` is fresh. As many bytes are
    /// written whatever was found: the partner may time it.
    pub fn put_found(
        &self,
        bucket: usize,
        transcript: &[u8; 32],
        found: &Found,
        shape: (usize, usize),
        random: &[u8; 32],
    ) -> io::Result<()> {
        let (size, width) = shape;
        let mut content = Zeroizing::new(Vec::with_capacity(8 + size * (4 + width) + 64));
        content.extend_from_slice(&(found.matches.len() as u64).to_le_bytes());
        found.matches.iter().for_each(|number| content.extend_from_slice(&number.to_le_bytes()));
        content.resize(8 + 4 * size, 0);
        content.extend_from_slice(&found.payloads);
        content.resize(8 + size * (4 + width), 0);
        self.put(Place { bucket, pass: Pass::Last, shape }, transcript, content, random)
    }

    /// Keeps what a bucket has come to. `content` has room for a seal.
    pub fn put(
        &self,
        place: Place,
        transcript: &[u8; 32],
        mut content: Zeroizing<Vec<u8>>,
        random: &[u8; 32],
    ) -> io::Result<()> {
        let mut bytes = [&MAGIC[..], transcript, random].concat();
        self.seal(place, transcript, random)?.seal(&mut content)?;
        bytes.extend_from_slice(&content);
        replace(&self.folder, "bucket.new", &name(place), &bytes)
    }

    /// The hash with which a bucket has come so far; zeros if it has not, or its file is not whole. Takes the same time
    /// whatever was found.
    pub fn transcript(&self, place: Place) -> [u8; 32] {
        self.open(place).map_or([0; 32], |(transcript, _)| transcript)
    }

    /// What a finished bucket found.
    pub fn found(&self, bucket: usize, (size, width): (usize, usize)) -> io::Result<Found> {
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the record of a bucket is damaged");
        let (_, content) = self.open(Place { bucket, pass: Pass::Last, shape: (size, width) })?;
        let (count, rest) = content.split_first_chunk().ok_or_else(damaged)?;
        let count =
            usize::try_from(u64::from_le_bytes(*count)).ok().filter(|&count| count <= size).ok_or_else(damaged)?;
        let (numbers, payloads) = rest.split_at_checked(4 * size).ok_or_else(damaged)?;
        if payloads.len() != size * width {
            return Err(damaged());
        }
        let matches = numbers.as_chunks().0.iter().copied().map(u32::from_le_bytes).take(count).collect();
        Ok(Found { matches, payloads: payloads.to_vec() })
    }

    /// The hash of all that was said, and what was written.
    pub fn open(&self, place: Place) -> io::Result<([u8; 32], Zeroizing<Vec<u8>>)> {
        let bytes = fs::read(self.folder.join(name(place)))?;
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the record of a bucket is damaged");
        let (head, sealed) = bytes.split_at_checked(HEAD).ok_or_else(damaged)?;
        let (transcript, random) =
            head.strip_prefix(&MAGIC).and_then(|rest| rest.split_at_checked(32)).ok_or_else(damaged)?;
        let [transcript, random] = [transcript, random].map(|part| part.first_chunk().copied().unwrap_or_default());
        let mut content = Zeroizing::new(sealed.to_vec());
        self.seal(place, &transcript, &random)?.open(&mut content)?;
        Ok((transcript, content))
    }

    /// Whether there is anything of any bucket.
    pub fn are_there(&self) -> io::Result<bool> {
        Ok(!self.all()?.is_empty())
    }

    /// Removes what there is of any bucket.
    pub fn clear(&self) -> io::Result<()> {
        self.all()?.into_iter().try_for_each(fs::remove_file)
    }

    /// The files of buckets, finished or not.
    fn all(&self) -> io::Result<Vec<PathBuf>> {
        let is_of_bucket = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            ["bucket", "commit"].iter().any(|first| name.starts_with(first))
        };
        let all = fs::read_dir(&self.folder)?.map(|entry| entry.map(|entry| entry.path()));
        Ok(all.collect::<io::Result<Vec<_>>>()?.into_iter().filter(is_of_bucket).collect())
    }

    /// What encrypts a file: under a key of its own, since a folder that is set back to an earlier state would have a
    /// number twice.
    fn seal(&self, place: Place, transcript: &[u8; 32], random: &[u8; 32]) -> io::Result<Seal> {
        let Place { bucket, pass, shape: (size, width) } = place;
        let mut hasher = blake3::Hasher::new_derive_key("vesica 2026-11-29 key of a finished bucket v1");
        hasher.update(&*self.key).update(&self.run).update(random).update(transcript);
        for number in [bucket, size, width, usize::from(pass == Pass::First)] {
            hasher.update(&(number as u64).to_le_bytes());
        }
        Seal::once(hasher.finalize().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(bucket: usize, shape: (usize, usize)) -> Place {
        Place { bucket, pass: Pass::Last, shape }
    }

    fn path(folder: &Path, bucket: usize) -> PathBuf {
        folder.join(name(place(bucket, (0, 0))))
    }

    fn files(folder: &Path) -> BucketFiles {
        BucketFiles::new(folder, &[7; 32], [5; 32])
    }

    #[test]
    fn what_a_bucket_found_comes_back_and_its_file_is_of_one_length() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = files(folder.path());
        let mut lengths = Vec::new();
        for (bucket, (matches, width)) in [(vec![], 3), (vec![4, 9], 3), ((0..10).collect(), 3)].into_iter().enumerate()
        {
            let payloads = vec![bucket as u8; 10 * width];
            let found = Found { matches, payloads };
            files.put_found(bucket, &[bucket as u8 + 1; 32], &found, (10, width), &[9; 32]).expect("kept");
            assert_eq!(files.found(bucket, (10, width)).expect("there"), found);
            assert_eq!(files.transcript(place(bucket, (10, width))), [bucket as u8 + 1; 32]);
            lengths.push(fs::metadata(path(folder.path(), bucket)).expect("there").len());
        }
        assert!(lengths.iter().all(|length| *length == lengths[0]), "{lengths:?}");
        assert_eq!(files.transcript(place(3, (10, 3))), [0; 32]);
        files.clear().expect("removed");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn a_file_that_was_changed_or_belongs_to_another_bucket_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = files(folder.path());
        let found = Found { matches: vec![1, 2], payloads: Vec::new() };
        files.put_found(0, &[1; 32], &found, (5, 0), &[3; 32]).expect("kept");
        let whole = fs::read(path(folder.path(), 0)).expect("there");
        fs::write(path(folder.path(), 1), &whole).expect("written");
        assert!(files.found(0, (5, 0)).is_ok() && files.found(1, (5, 0)).is_err());
        for at in [9, 50, HEAD + 2, whole.len() - 1] {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            fs::write(path(folder.path(), 0), &changed).expect("written");
            assert!(files.found(0, (5, 0)).is_err() && files.transcript(place(0, (5, 0))) == [0; 32], "{at}");
        }
        for length in [0, HEAD - 1, HEAD + 3, whole.len() - 1] {
            fs::write(path(folder.path(), 0), &whole[..length]).expect("written");
            assert!(files.found(0, (5, 0)).is_err() && files.transcript(place(0, (5, 0))) == [0; 32], "{length}");
        }
        fs::write(path(folder.path(), 0), &whole).expect("written");
        assert_eq!((files.transcript(place(0, (5, 0))), files.transcript(place(0, (5, 1)))), ([1; 32], [0; 32]));
        let first = Place { pass: Pass::First, ..place(0, (5, 0)) };
        fs::write(folder.path().join(name(first)), &whole).expect("written");
        assert_eq!(files.transcript(first), [0; 32], "of another pass");
        let mut files = files;
        files.set_run([6; 32]);
        assert_eq!(files.transcript(place(0, (5, 0))), [0; 32], "of another run");
    }
}
