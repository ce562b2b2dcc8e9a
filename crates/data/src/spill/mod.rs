//! What outgrows memory: a file of streams that only this process can read, and rows sorted in runs and merged.
//!
//! The files of a [`Spill`] have no name in its folder and are gone when they are closed, however the process ends. What
//! stands in them is encrypted under a key that this process alone has and never writes down, so that a disk that is
//! lost, copied or sold shows nothing of a table's keys; and it is authenticated, so that a disk that gives back
//! something else is noticed.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod row_runs;

pub use row_runs::{MergedRows, RowRuns};

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::rand;
use zeroize::Zeroizing;

use crate::table::TableError;

/// The most bytes that are encrypted together. Longer ones are no faster on a disk.
const LONGEST_CHUNK: usize = 1 << 16;

/// The fewest, where there are so many streams that each has little room.
const SHORTEST_CHUNK: usize = 1 << 10;

/// Why no key can be made.
const NO_RANDOMNESS: &str = "the operating system gives no randomness";

/// Bytes by which the encryption of a chunk is longer.
const SEAL: usize = 16;

/// What encrypts and authenticates one text that is kept elsewhere, under a key that is for this text alone.
pub struct Seal(LessSafeKey);

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal(..)")
    }
}

impl Seal {
    /// With this key, under which nothing else may ever be encrypted.
    ///
    /// # Errors
    /// Never for keys of this length.
    pub fn once(key: &[u8; 32]) -> io::Result<Self> {
        let key = UnboundKey::new(&AES_256_GCM, key).map_err(|_| io::Error::other("not a key"))?;
        Ok(Self(LessSafeKey::new(key)))
    }

    /// Encrypts a text in its place; 16 bytes are appended.
    ///
    /// # Errors
    /// If it is longer than 64 GiB.
    pub fn seal(&self, text: &mut Vec<u8>) -> io::Result<()> {
        let sealed = self.0.seal_in_place_append_tag(nonce(0, 0), Aad::empty(), text);
        sealed.map_err(|_| io::Error::other("encryption failed"))
    }

    /// Decrypts what [`Self::seal`] has made.
    ///
    /// # Errors
    /// If it was changed.
    pub fn open(&self, sealed: &mut Vec<u8>) -> io::Result<()> {
        let changed = || io::Error::new(io::ErrorKind::InvalidData, "other bytes than were written");
        let length = self.0.open_in_place(nonce(0, 0), Aad::empty(), sealed).map_err(|_| changed())?.len();
        sealed.truncate(length);
        Ok(())
    }
}

/// Several streams of bytes in one file or a few, each of which is written from its beginning to its end and then read,
/// any number of times. Memory is a chunk for each stream while they are written, and 16 bytes for each chunk.
pub struct Spill {
    files: Vec<StreamsFile>,
    /// How many streams, one behind the other, share a file.
    streams_per_file: usize,
    folder: PathBuf,
    key: LessSafeKey,
    /// Bytes of a whole chunk.
    chunk: usize,
    streams: Vec<Stream>,
}

/// The file of some streams.
struct StreamsFile {
    /// `None` once all of its streams are released.
    file: Option<File>,
    /// Where the next chunk begins.
    end: u64,
    /// How many of its streams are not released.
    in_use: usize,
}

#[derive(Default)]
struct Stream {
    chunks: Vec<Chunk>,
    /// What follows the last chunk. Its room is made at once, so that no copy is left behind where it would grow.
    pending: Zeroizing<Vec<u8>>,
    /// Whether it has been given back.
    released: bool,
}

/// Bytes of a stream that were encrypted together.
#[derive(Clone, Copy)]
struct Chunk {
    offset: u64,
    length: usize,
}

impl fmt::Debug for Spill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spill").field("folder", &self.folder).field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

impl Spill {
    /// A file in `folder` with empty streams, which take about `room` bytes of memory together while they are written.
    ///
    /// # Errors
    /// If the folder takes no file.
    pub fn create(folder: &Path, streams: usize, room: usize) -> Result<Self, TableError> {
        Self::create_in_files(folder, streams, room, 1)
    }

    /// The same in at most so many files, each with as many streams, which give the disk back file by file as
    /// [`Self::release`] says.
    ///
    /// # Errors
    /// If the folder takes no file.
    pub fn create_in_files(folder: &Path, streams: usize, room: usize, files: usize) -> Result<Self, TableError> {
        let streams_per_file = if files == 1 { usize::MAX } else { streams.div_ceil(files).max(1) };
        let failed = |source| TableError::Work { folder: folder.display().to_string(), source };
        let mut key = Zeroizing::new([0; 32]);
        rand::fill(&mut *key).map_err(|_| failed(io::Error::other(NO_RANDOMNESS)))?;
        let Seal(key) = Seal::once(&key).map_err(failed)?;
        let file = |number: usize| {
            let in_use = streams.saturating_sub(number * streams_per_file).min(streams_per_file);
            Ok(StreamsFile { file: Some(tempfile::tempfile_in(folder)?), end: 0, in_use })
        };
        Ok(Self {
            files: (0..streams.div_ceil(streams_per_file).max(1))
                .map(file)
                .collect::<io::Result<_>>()
                .map_err(failed)?,
            streams_per_file,
            folder: folder.to_owned(),
            key,
            chunk: chunk(room, streams),
            streams: (0..streams).map(|_| Stream::default()).collect(),
        })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A random number, which nobody else knows.
    ///
    /// # Errors
    /// If the operating system gives none.
    pub(crate) fn random(&self) -> Result<u128, TableError> {
        let mut bytes = [0; 16];
        rand::fill(&mut bytes).map_err(|_| self.failed(io::Error::other(NO_RANDOMNESS)))?;
        Ok(u128::from_le_bytes(bytes))
    }

    /// How many bytes the files have that are not given back.
    pub fn bytes(&self) -> u64 {
        self.files.iter().filter(|file| file.file.is_some()).map(|file| file.end).sum()
    }

    /// The number of a stream's file.
    fn file_of(&self, stream: usize) -> usize {
        stream / self.streams_per_file
    }

    fn failed(&self, source: io::Error) -> TableError {
        TableError::Work { folder: self.folder.display().to_string(), source }
    }

    /// Makes chunks of a length at which so many streams are read at once in about `room` bytes of memory.
    fn set_room(&mut self, room: usize, streams: usize) {
        self.chunk = chunk(room, streams);
    }

    /// One more stream without bytes, where there is one file. Gives its number.
    pub fn add_stream(&mut self) -> usize {
        self.streams.push(Stream::default());
        if let [file] = &mut self.files[..] {
            file.in_use += 1;
        }
        self.streams.len() - 1
    }

    /// How many streams there are.
    pub fn streams(&self) -> usize {
        self.streams.len()
    }

    /// Appends bytes to a stream.
    ///
    /// # Errors
    /// If the disk does not take them.
    pub fn write(&mut self, stream: usize, mut bytes: &[u8]) -> Result<(), TableError> {
        let chunk = self.chunk;
        while let Some(pending) = self.streams.get_mut(stream).map(|stream| &mut stream.pending) {
            if pending.capacity() == 0 {
                pending.reserve_exact(chunk + SEAL);
            }
            let free = chunk.saturating_sub(pending.len());
            if bytes.len() < free {
                pending.extend_from_slice(bytes);
                return Ok(());
            }
            let (now, later) = bytes.split_at(free);
            pending.extend_from_slice(now);
            bytes = later;
            self.seal(stream)?;
        }
        Ok(())
    }

    /// Ends a stream, whose room is given back.
    ///
    /// # Errors
    /// As of [`Self::write`].
    pub fn end_stream(&mut self, stream: usize) -> Result<(), TableError> {
        if self.streams.get(stream).is_some_and(|stream| !stream.pending.is_empty()) {
            self.seal(stream)?;
        }
        if let Some(stream) = self.streams.get_mut(stream) {
            stream.pending = Zeroizing::default();
        }
        Ok(())
    }

    /// Ends all streams.
    ///
    /// # Errors
    /// As of [`Self::write`].
    pub fn end_all(&mut self) -> Result<(), TableError> {
        (0..self.streams.len()).try_for_each(|stream| self.end_stream(stream))
    }

    /// Encrypts and writes what is pending of a stream.
    fn seal(&mut self, number: usize) -> Result<(), TableError> {
        let file_number = self.file_of(number);
        let (Some(stream), Some(file)) = (self.streams.get_mut(number), self.files.get_mut(file_number)) else {
            return Err(self.failed(io::Error::other("the stream has no file")));
        };
        let offset = file.end;
        let mut sealed = std::mem::take(&mut stream.pending);
        let length = sealed.len();
        let place = place(number, stream.chunks.len());
        // Whatever fails from here on, nothing else is encrypted for this place.
        file.end += (length + SEAL) as u64;
        let encrypted = self.key.seal_in_place_append_tag(nonce(file_number, offset), Aad::from(place), &mut *sealed);
        encrypted.map_err(|_| self.failed(io::Error::other("encryption failed")))?;
        self.file(number).and_then(|file| file.write_all_at(&sealed, offset)).map_err(|source| self.failed(source))?;
        sealed.clear();
        if let Some(stream) = self.streams.get_mut(number) {
            stream.chunks.push(Chunk { offset, length });
            stream.pending = sealed;
        }
        Ok(())
    }

    /// Bytes of a stream, without what is pending.
    pub fn length(&self, stream: usize) -> u64 {
        self.streams.get(stream).map_or(0, |stream| stream.chunks.iter().map(|chunk| chunk.length as u64).sum())
    }

    /// That what stands in the file is not what belongs there, which is a defect.
    fn inconsistent(&self) -> TableError {
        self.failed(io::Error::other("rows and their records do not go together"))
    }

    /// All bytes of a stream that has ended.
    ///
    /// # Errors
    /// If the disk does not give back what was written.
    pub fn read(&self, stream: usize) -> Result<Vec<u8>, TableError> {
        // One chunk's seal behind the last bytes.
        let mut all = Vec::with_capacity(self.length(stream) as usize + SEAL);
        let chunks = self.chunks(stream)?;
        (0..chunks).try_for_each(|chunk| self.read_chunk(stream, chunk, &mut all))?;
        Ok(all)
    }

    /// Forgets a stream, which is neither written nor read again. A file all of whose streams are forgotten is closed:
    /// the system then gives the disk back, and writes nothing that it still has in memory. (A hole in a file would
    /// give the disk back at once, but file systems write what is in memory before they make one.)
    pub fn release(&mut self, stream: usize) {
        let number = self.file_of(stream);
        let (Some(stream), Some(file)) = (self.streams.get_mut(stream), self.files.get_mut(number)) else { return };
        if !std::mem::replace(&mut stream.released, true) {
            *stream = Stream { released: true, ..Stream::default() };
            file.in_use = file.in_use.saturating_sub(1);
        }
        if file.in_use == 0 {
            file.file = None;
        }
    }

    /// How many chunks a stream has that was not given back.
    fn chunks(&self, stream: usize) -> Result<usize, TableError> {
        match self.streams.get(stream) {
            Some(Stream { released: true, .. }) => Err(self.failed(io::Error::other("the stream has been given back"))),
            Some(stream) => Ok(stream.chunks.len()),
            None => Ok(0),
        }
    }

    /// The file of a stream.
    fn file(&self, stream: usize) -> io::Result<&File> {
        let file = self.files.get(self.file_of(stream)).and_then(|file| file.file.as_ref());
        file.ok_or_else(|| io::Error::other("the file has been given back"))
    }

    /// A stream that has ended, from its beginning.
    pub fn reader(&self, stream: usize) -> SpillReader<'_> {
        SpillReader { spill: self, stream, next: 0, bytes: Vec::new(), read: 0 }
    }

    /// Appends a chunk of a stream.
    fn read_chunk(&self, stream: usize, number: usize, to: &mut Vec<u8>) -> Result<(), TableError> {
        let Some(&Chunk { offset, length }) = self.streams.get(stream).and_then(|stream| stream.chunks.get(number))
        else {
            return Ok(());
        };
        let start = to.len();
        to.resize(start + length + SEAL, 0);
        let Some(sealed) = to.get_mut(start..) else { return Ok(()) };
        self.file(stream).and_then(|file| file.read_exact_at(sealed, offset)).map_err(|source| self.failed(source))?;
        let opened =
            self.key.open_in_place(nonce(self.file_of(stream), offset), Aad::from(place(stream, number)), sealed);
        opened.map_err(|_| self.failed(io::Error::other("the disk gave back other bytes than were written to it")))?;
        to.truncate(start + length);
        Ok(())
    }
}

/// Bytes of a chunk where so many streams have `room` bytes of memory together.
fn chunk(room: usize, streams: usize) -> usize {
    (room / streams.max(1)).clamp(SHORTEST_CHUNK, LONGEST_CHUNK)
}

/// No two chunks begin at one place of one file, and nothing is written twice: the nonces under a key differ.
fn nonce(file: usize, offset: u64) -> Nonce {
    let mut nonce = [0; 12];
    let (start, end) = nonce.split_at_mut(8);
    start.copy_from_slice(&offset.to_le_bytes());
    end.copy_from_slice(&(file as u32).to_le_bytes());
    Nonce::assume_unique_for_key(nonce)
}

/// What a chunk is bound to: its stream, and its number in it.
fn place(stream: usize, number: usize) -> [u8; 16] {
    ((stream as u128) << 64 | number as u128).to_le_bytes()
}

/// Reads a stream record by record.
pub struct SpillReader<'a> {
    spill: &'a Spill,
    stream: usize,
    /// The next chunk.
    next: usize,
    bytes: Vec<u8>,
    /// How many of `bytes` were given.
    read: usize,
}

impl SpillReader<'_> {
    /// See [`Spill::inconsistent`].
    fn inconsistent(&self) -> TableError {
        self.spill.inconsistent()
    }

    /// Reads on until there are `length` bytes, or the stream ends.
    fn fill(&mut self, length: usize) -> Result<(), TableError> {
        let chunks = self.spill.chunks(self.stream)?;
        while self.bytes.len() - self.read < length && self.next < chunks {
            self.bytes.drain(..self.read);
            self.read = 0;
            self.spill.read_chunk(self.stream, self.next, &mut self.bytes)?;
            self.next += 1;
        }
        Ok(())
    }

    /// The next records of `width` bytes each, as many as were read together, at most `most`; empty at the end of the
    /// stream.
    ///
    /// # Errors
    /// As of [`Self::next`].
    pub fn some(&mut self, width: usize, most: usize) -> Result<&[u8], TableError> {
        self.fill(width)?;
        let records = (self.bytes.len() - self.read) / width.max(1);
        if records == 0 && self.bytes.len() > self.read {
            return Err(self.spill.failed(io::ErrorKind::UnexpectedEof.into()));
        }
        let start = self.read;
        self.read += records.min(most) * width;
        Ok(self.bytes.get(start..self.read).unwrap_or_default())
    }

    /// The next `length` bytes; `None` at the end of the stream.
    ///
    /// # Errors
    /// If the disk does not give back what was written, or the stream ends within these bytes.
    pub fn next(&mut self, length: usize) -> Result<Option<&[u8]>, TableError> {
        self.fill(length)?;
        if self.bytes.len() == self.read {
            return Ok(None);
        }
        let start = self.read;
        self.read += length;
        match self.bytes.get(start..start + length) {
            Some(record) => Ok(Some(record)),
            None => Err(self.spill.failed(io::ErrorKind::UnexpectedEof.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }

    /// Streams that are written in turns come back as they were, whole and in records, whatever the chunks' borders.
    #[test]
    fn streams_come_back_as_they_were_written() {
        let folder = folder();
        for room in [0, 1 << 13, 1 << 20] {
            let mut spill = Spill::create(folder.path(), 5, room).expect("a spill");
            let mut expected = vec![Vec::new(); 5];
            for number in 0u32..9000 {
                let stream = number as usize * 7 % 4;
                let bytes = vec![number as u8; number as usize % 61];
                spill.write(stream, &bytes).expect("written");
                expected[stream].extend_from_slice(&bytes);
            }
            let long = vec![9; 300_000];
            spill.write(2, &long).expect("written");
            expected[2].extend_from_slice(&long);
            spill.end_all().expect("written");
            let added = spill.add_stream();
            spill.write(added, b"later").expect("written");
            spill.end_stream(added).expect("written");
            expected.push(b"later".to_vec());
            for (stream, expected) in expected.iter().enumerate() {
                assert_eq!(spill.length(stream), expected.len() as u64);
                assert!(spill.read(stream).expect("read") == *expected, "{stream}");
                let (mut reader, mut whole) = (spill.reader(stream), Vec::new());
                let records = expected.len() / 7;
                for _ in 0..records {
                    whole.extend_from_slice(reader.next(7).expect("read").expect("a record"));
                }
                let rest = expected.len() - 7 * records;
                if rest > 0 {
                    whole.extend_from_slice(reader.next(rest).expect("read").expect("the rest"));
                }
                assert!(whole == *expected && reader.next(1).expect("the end").is_none());
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "no file has a name");
    }

    #[test]
    fn what_is_released_takes_no_room_and_harms_no_other_stream() {
        let folder = folder();
        // Two streams a file, and one in the last.
        let mut spill = Spill::create_in_files(folder.path(), 5, usize::MAX, 3).expect("a spill");
        for number in 0..65u8 {
            spill.write(usize::from(number) % 5, &vec![number; LONGEST_CHUNK]).expect("written");
        }
        spill.end_all().expect("written");
        let expected: Vec<Vec<u8>> = (0..5).map(|stream| spill.read(stream).expect("read")).collect();
        assert!(expected.iter().all(|bytes| bytes.len() == 13 * LONGEST_CHUNK));
        let all = spill.bytes();
        for (released, [left, files]) in [(0, [5, 3]), (3, [5, 3]), (0, [5, 3]), (1, [3, 2]), (4, [2, 1]), (2, [0, 0])]
        {
            spill.release(released);
            assert!(spill.read(released).is_err() && spill.reader(released).next(1).is_err());
            assert_eq!(spill.bytes(), all / 5 * left, "{released}");
            assert_eq!(spill.files.iter().filter(|file| file.file.is_some()).count() as u64, files);
            let others = (0..5).filter(|&stream| !spill.streams[stream].released);
            others.for_each(|stream| assert!(spill.read(stream).expect("read") == expected[stream]));
        }
    }

    #[test]
    fn a_stream_that_ends_within_a_record_is_an_error() {
        let folder = folder();
        let mut spill = Spill::create(folder.path(), 1, 0).expect("a spill");
        spill.write(0, &[1; 10]).expect("written");
        spill.end_all().expect("written");
        let mut reader = spill.reader(0);
        assert!(reader.next(8).expect("read").is_some() && reader.next(8).is_err());
    }

    /// Nothing that is written stands in the file, and what is changed there, or stands elsewhere, is noticed.
    #[test]
    fn the_file_is_encrypted_and_bound_to_its_places() {
        let folder = folder();
        let mut spill = Spill::create(folder.path(), 2, 0).expect("a spill");
        for stream in [0, 1] {
            spill.write(stream, &[b'k'; SHORTEST_CHUNK]).expect("written");
        }
        spill.end_all().expect("written");
        let mut bytes = vec![0; spill.bytes() as usize];
        spill.file(0).expect("open").read_exact_at(&mut bytes, 0).expect("read");
        assert!(!bytes.windows(8).any(|window| window == b"kkkkkkkk"));
        // The file gives the chunk of one stream where an equally long one of another belongs.
        let one = spill.streams[1].chunks[0];
        let other = std::mem::replace(&mut spill.streams[0].chunks[0], one);
        assert!(spill.read(0).is_err());
        spill.streams[0].chunks[0] = other;
        assert!(spill.read(0).is_ok());
        spill.file(0).expect("open").write_all_at(&[bytes[5] ^ 1], 5).expect("changed");
        let error = spill.read(0).expect_err("changed").to_string();
        assert!(error.contains("other bytes than were written"), "{error}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let missing = folder().path().join("missing");
        let error = Spill::create(&missing, 1, 0).expect_err("no folder");
        assert!(error.to_string().contains("missing") && error.mend().contains("--work"), "{error}");
    }
}
