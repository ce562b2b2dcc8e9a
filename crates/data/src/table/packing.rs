//! Compression of text as a whole: what a file's name and its first bytes say of it, and streams in
//! either direction.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use std::io::{self, BufReader, Read, Write};

use bzip2::bufread::MultiBzDecoder;
use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;

/// Bytes of a packed file that are read at once.
const PACKED_BLOCK_BYTES: usize = 1 << 16;

/// How a text is compressed as a whole. What is several compressed pieces one after the other
/// (members, frames, streams) is one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Packing {
    /// gzip, RFC 1952.
    Gzip,
    /// Zstandard, RFC 8878. A window beyond 128 MiB is refused, so that a file cannot say how much
    /// memory it takes.
    Zstd,
    /// bzip2. Read and not written.
    Bzip2,
}

impl Packing {
    const ALL: [Self; 3] = [Self::Gzip, Self::Zstd, Self::Bzip2];

    /// The name that reports and errors use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
        }
    }

    /// The ending of names.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Gzip => ".gz",
            Self::Zstd => ".zst",
            Self::Bzip2 => ".bz2",
        }
    }

    /// A name in small letters without the ending of a packing, and this packing.
    pub(crate) fn of_name(lower: &str) -> (&str, Option<Self>) {
        let packed = |packing: Self| Some((lower.strip_suffix(packing.ending())?, Some(packing)));
        Self::ALL.into_iter().find_map(packed).unwrap_or((lower, None))
    }

    /// The packing of a file with these first eight bytes.
    pub(crate) fn of_magic(magic: &[u8]) -> Option<Self> {
        match magic {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            // A frame, or one to skip, as parallel packers write in front.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            // `BZh1` alone could begin a CSV header: the first block's or the end's number follows.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, ..] => Some(Self::Bzip2),
            _ => None,
        }
    }

    /// The text in the packed `file`.
    pub(crate) fn unpack(self, file: impl Read + 'static) -> io::Result<Unpacker> {
        let file = BufReader::with_capacity(PACKED_BLOCK_BYTES, file);
        Ok(Unpacker {
            packing: self,
            stream: match self {
                Self::Gzip => Box::new(MultiGzDecoder::new(file)),
                Self::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(file)?),
                Self::Bzip2 => Box::new(MultiBzDecoder::new(file)),
            },
        })
    }
}

/// Reads a packed text.
pub(crate) struct Unpacker {
    packing: Packing,
    stream: Box<dyn Read>,
}

impl Read for Unpacker {
    /// What the operating system does not report is a fault of the packed bytes.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.read(into).map_err(|error| match (error.raw_os_error(), error.kind()) {
            (Some(_), _) | (_, io::ErrorKind::Interrupted) => error,
            (None, io::ErrorKind::UnexpectedEof) => {
                io::Error::new(error.kind(), format!("its {} data are cut off", self.packing.name()))
            }
            (None, _) => io::Error::new(
                io::ErrorKind::InvalidData,
                format!("its {} data cannot be unpacked ({error})", self.packing.name()),
            ),
        })
    }
}

/// Writes a text, packed or as it is.
pub(crate) enum Packer<W: Write> {
    None(W),
    Gzip(Box<GzEncoder<W>>),
    Zstd(Box<zstd::stream::write::Encoder<'static, W>>),
}

impl<W: Write> Packer<W> {
    /// Packs as `packing` says. bzip2 is not written.
    pub fn new(writer: W, packing: Option<Packing>) -> io::Result<Self> {
        Ok(match packing {
            None => Self::None(writer),
            Some(Packing::Gzip) => Self::Gzip(Box::new(GzEncoder::new(writer, Compression::default()))),
            Some(Packing::Zstd) => {
                let mut encoder = zstd::stream::write::Encoder::new(writer, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                encoder.include_checksum(true)?;
                Self::Zstd(Box::new(encoder))
            }
            Some(Packing::Bzip2) => return Err(io::ErrorKind::Unsupported.into()),
        })
    }

    /// Takes text.
    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::None(writer) => writer.write_all(bytes),
            Self::Gzip(writer) => writer.write_all(bytes),
            Self::Zstd(writer) => writer.write_all(bytes),
        }
    }

    /// Writes the end, and gives the writer back.
    pub fn finish(self) -> io::Result<W> {
        match self {
            Self::None(writer) => Ok(writer),
            Self::Gzip(writer) => writer.finish(),
            Self::Zstd(writer) => writer.finish(),
        }
    }
}
