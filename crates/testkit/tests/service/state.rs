//! State that is written and read again, and what damage does to it: an error, and never a panic.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use vesica_party::service::{Enrolled, Server, State, StateError, StateId, load, read_state, save, write_state};
use vesica_structures::rng::SecretRng;
use vesica_testkit::insecure_lookup::{LookupClient, LookupServer};

use crate::support::prepared;

const LIMIT: u64 = 1 << 20;

fn bytes_of<S: State>(state: &S) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_state(state, &mut bytes).expect("written");
    bytes
}

fn read<S: State>(mut bytes: &[u8]) -> Result<S, StateError> {
    let length = bytes.len() as u64;
    read_state(&mut bytes, length, LIMIT)
}

/// A file of its own for each test, gone with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("vesica-service-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_server_reads_back_from_bytes_and_from_a_file() {
    // More than the buffer, and a part of it.
    for count in [0, 1, 7, 8191, 8192, 20_000] {
        let server = prepared(&(0..count).map(|i| i * i).collect::<Vec<_>>());
        let again: LookupServer = read(&bytes_of(&server)).expect("read");
        assert_eq!((again.state_id(), again.set()), (server.state_id(), server.set()));
    }
    let scratch = Scratch::new("server");
    let path = scratch.0.join("set.state");
    for set in [vec![1, 2, 3], vec![4]] {
        let server = prepared(&set);
        save(&server, &path).expect("saved");
        let again: LookupServer = load(&path, LIMIT).expect("loaded");
        assert_eq!((again.state_id(), again.set()), (server.state_id(), &set[..]));
    }
    assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o7777, 0o600);
    assert_eq!(fs::read_dir(&scratch.0).expect("a folder").count(), 1, "nothing is left beside the file");
}

#[test]
fn a_file_that_others_can_read_or_that_is_too_long_is_refused() {
    let scratch = Scratch::new("refused");
    let path = scratch.0.join("set.state");
    let inner = |error| match error {
        StateError::File { path: named, error } => {
            assert_eq!(named, path);
            *error
        }
        other => panic!("{other}"),
    };
    assert!(matches!(inner(load::<LookupServer>(&path, LIMIT).err().expect("absent")), StateError::Io(_)));
    save(&prepared(&[1, 2]), &path).expect("saved");
    let error = inner(load::<LookupServer>(&path, 20).err().expect("too long"));
    assert!(matches!(error, StateError::TooLong { limit: 20, .. }), "{error}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("changed");
    let error = inner(load::<LookupServer>(&path, LIMIT).err().expect("exposed"));
    assert!(matches!(error, StateError::Exposed { mode: 0o640 }), "{error}");
    assert!(save(&prepared(&[1]), &scratch.0.join("no/such/folder")).is_err());
}

#[test]
fn another_sides_file_is_named() {
    let enrolled = Enrolled { state: prepared(&[1]).state_id(), terms: [7; 32], client: client(5) };
    let bytes = bytes_of(&enrolled);
    assert_eq!(read::<Enrolled<LookupClient>>(&bytes).expect("read"), enrolled);
    let error = read::<LookupServer>(&bytes).err().expect("another format");
    assert_eq!(
        error.to_string(),
        "it holds \"insecure-lookup client 1\", and \"insecure-lookup server 1\" is expected"
    );
    assert!(matches!(read::<LookupServer>(b"a,b\n1,2\n"), Err(StateError::NotAState)));
    assert!(matches!(read::<LookupServer>(b""), Err(StateError::NotAState)));
}

fn client(set_size: u64) -> LookupClient {
    struct Plain(u64);
    impl State for Plain {
        const FORMAT: &'static str = LookupClient::FORMAT;
        fn write(&self, out: &mut vesica_party::service::StateWriter<'_>) -> std::io::Result<()> {
            out.u64(self.0)?;
            out.u64(3)
        }
        fn read(_: &mut vesica_party::service::StateReader<'_>) -> Result<Self, StateError> {
            Err(StateError::NotAState)
        }
    }
    read(&bytes_of(&Plain(set_size))).expect("read")
}

/// Every bit of a whole file, every length of it, and bytes after its end.
#[test]
fn no_damage_goes_unnoticed() {
    let bytes = bytes_of(&prepared(&[1, 2, 3, 1 << 40]));
    for bit in 0..8 * bytes.len() {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(read::<LookupServer>(&damaged).is_err(), "bit {bit} is flipped");
    }
    for length in 0..bytes.len() {
        assert!(read::<LookupServer>(&bytes[..length]).is_err(), "cut to {length} bytes");
    }
    assert!(read::<LookupServer>(&[&bytes[..], &[0]].concat()).is_err());
}

/// A file with a valid hash may still be nonsense: counts of any size reserve nothing, and what is
/// no value is an error.
#[test]
fn nonsense_with_a_valid_hash_is_an_error_too() {
    struct Raw(Vec<u8>);
    impl State for Raw {
        const FORMAT: &'static str = LookupServer::FORMAT;
        fn write(&self, out: &mut vesica_party::service::StateWriter<'_>) -> std::io::Result<()> {
            out.bytes(&self.0)
        }
        fn read(_: &mut vesica_party::service::StateReader<'_>) -> Result<Self, StateError> {
            Err(StateError::NotAState)
        }
    }
    let mut rng = SecretRng::insecure_from_seed(1);
    let id = StateId::random(&mut rng).to_bytes();
    let body = |id: [u8; 16], count: u64, items: &[u64]| {
        let numbers: Vec<u8> = [&[3, count], items].concat().iter().flat_map(|number| number.to_le_bytes()).collect();
        Raw([&id[..], &numbers].concat())
    };
    assert!(read::<LookupServer>(&bytes_of(&body(id, 2, &[1, 2]))).is_ok());
    for (nonsense, why) in [
        (body([0; 16], 2, &[1, 2]), "no identifier"),
        (body(id, 2, &[2, 1]), "not sorted"),
        (body(id, 3, &[1, 2]), "too early"),
        (body(id, 1 << 50, &[1, 2]), "too early"),
        (body(id, u64::MAX, &[1, 2]), "too large"),
        (body(id, 1, &[1, 2]), "left over"),
        (Raw(Vec::new()), "too early"),
    ] {
        let error = read::<LookupServer>(&bytes_of(&nonsense)).err().expect(why).to_string();
        assert!(error.contains(why), "{error}, and not {why}");
    }
    for length in 0..300 {
        let random: Vec<u8> = (0..length).map(|_| rng.block() as u8).collect();
        assert!(read::<LookupServer>(&random).is_err());
        let _ = read::<LookupServer>(&bytes_of(&Raw(random)));
    }
}
