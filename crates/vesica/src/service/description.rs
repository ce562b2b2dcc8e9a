//! What a server says of itself to a client that knows only its address and its key.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

use serde::{Deserialize, Serialize};
use vesica_party::Security;
use vesica_party::service::MOST_DESCRIPTION_BYTES;
use vesica_protocols::tasks::IntersectRequest;

use super::{Quota, ServiceOptions, SlowHash, TableService, WithService, served, with_service};
use crate::failure::{Failure, code};
use crate::handshake::{Difference, list};
use crate::key::{DIGEST_VERSION, KeySpec, Kind};
use crate::memory::Bytes;
use crate::table::{MOST_INTEGER_BITS, PayloadSchema};
use crate::words::counted;

/// The version of descriptions.
const VERSION: u32 = 1;

/// The public description of a served set. Never holds a key or the exact number of keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Version of this structure.
    pub version: u32,
    /// Id of the protocol.
    pub protocol: String,
    /// What the protocol withstands.
    pub security: Security,
    /// Name and version of the digest that stands for a key.
    pub key_digest: String,
    /// The normalisers of each key column, in key order.
    pub key_columns: Vec<String>,
    /// How the values of each key column are written, in key order.
    pub key_kinds: Vec<Kind>,
    /// What digests are folded under: 32 hexadecimal digits. Public.
    pub salt: String,
    /// Items of the set, dummies included.
    pub capacity: u64,
    /// Items of each query, dummies included.
    pub items_per_query: u64,
    /// The columns that come with a match, and the width of their record.
    pub payload: Option<PayloadSchema>,
    /// How much each client may ask, as [`Quota`] is written.
    pub quota: Option<String>,
    /// Items that the client who asks may still ask about in the present period of the quota. Told at
    /// that moment, and kept nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota_left: Option<u64>,
    /// How many bits of a hash of each key the server sees; none with most protocols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leak_prefix: Option<u32>,
    /// The hash of each item, if there is one, as [`SlowHash`] is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_hash: Option<String>,
    /// The width of keys that are integers and are compared as such; none where digests of keys are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integer_bits: Option<u32>,
}

/// Most bytes of a query, in both directions.
const MOST_QUERY_BYTES: u64 = 256 << 20;

/// Most items of a query.
pub(super) const MOST_ITEMS_PER_QUERY: u64 = 1 << 16;

impl Description {
    /// As bytes.
    ///
    /// # Errors
    /// If they are too many: there are too many columns, or their names are too long.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, Failure> {
        let bytes = serde_json::to_vec(self)
            .map_err(|error| Failure::new(code::INTERNAL, error, "please report this with the command"))?;
        if bytes.len() <= MOST_DESCRIPTION_BYTES {
            return Ok(bytes);
        }
        Err(Failure::new(
            code::USAGE,
            format_args!(
                "the description of the table takes {} bytes, more than {MOST_DESCRIPTION_BYTES}",
                bytes.len()
            ),
            "name fewer columns with --key and --payload, or give them shorter names",
        ))
    }

    /// The description in these bytes of a server or a state file.
    ///
    /// # Errors
    /// If they are none, of another version, or describe what no honest server does.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, Failure> {
        /// The field that all versions have.
        #[derive(Deserialize)]
        struct Any {
            version: u32,
        }
        let malformed = |what: &str| {
            let mend = "make sure that both sides run the same vesica release; if they do, do not trust this server";
            Failure::new(code::PEER_MISBEHAVED, format_args!("the server's description is not usable: {what}"), mend)
        };
        let version = serde_json::from_slice::<Any>(bytes).map_err(|_| malformed("it is no such JSON object"))?.version;
        if version != VERSION {
            return Err(Failure::new(
                code::MISMATCH,
                format_args!("the server's description has version {version}, and this release reads {VERSION}"),
                "install the same release of vesica on both sides",
            ));
        }
        let read: Self = serde_json::from_slice(bytes).map_err(|_| malformed("a field is missing or malformed"))?;
        // What is kept for a server is kept under the protocol's id.
        if served().any(|entry| entry.aliases.contains(&read.protocol.as_str())) {
            return Err(malformed("it names its protocol by an alias"));
        }
        if read.key_columns.is_empty() || read.key_columns.len() != read.key_kinds.len() {
            return Err(malformed("it does not describe each key column"));
        }
        if !read.key_kinds.iter().all(|kind| kind.is_sound()) {
            return Err(malformed("it names a kind of key column that no side finds"));
        }
        if read.payload.as_ref().is_some_and(|schema| schema.check().is_err()) {
            return Err(malformed("it has a payload schema that no server declares"));
        }
        if read.salt_number().is_none() {
            return Err(malformed("its salt is not 32 hexadecimal digits"));
        }
        if read.items_per_query == 0 || read.capacity == 0 {
            return Err(malformed("a size is zero"));
        }
        if read.items_per_query > MOST_ITEMS_PER_QUERY {
            return Err(malformed("its queries have more items than any server's"));
        }
        if read.quota.as_ref().is_some_and(|quota| quota.parse::<Quota>().is_err()) {
            return Err(malformed("its quota is none"));
        }
        if read.quota_left.is_some() && read.quota.is_none() {
            return Err(malformed("something is left of a quota that it does not name"));
        }
        if read.slow_hash.is_some() && read.slow_hash().is_none() {
            return Err(malformed("its slow hash takes more than any server's"));
        }
        let is_integer = |bits| (1..=MOST_INTEGER_BITS).contains(&bits) && read.key_columns.len() == 1;
        if read.integer_bits.is_some_and(|bits| !is_integer(bits) || read.slow_hash.is_some()) {
            return Err(malformed("no server has such integers as keys"));
        }
        Ok(read)
    }

    /// The hash of each item, if there is one.
    pub(super) fn slow_hash(&self) -> Option<SlowHash> {
        self.slow_hash.as_ref()?.parse().ok()
    }

    /// The salt, if it is one.
    pub(super) fn salt_number(&self) -> Option<u128> {
        let is_canonical = self.salt.len() == 32 && self.salt.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_canonical.then(|| u128::from_str_radix(&self.salt, 16).ok()).flatten()
    }

    /// Refuses a description of a set that cannot be served; gives the most queries from one
    /// enrolment.
    ///
    /// # Errors
    /// If there is no such protocol, or it does not serve these sizes.
    pub(crate) fn check(&self) -> Result<u64, Failure> {
        struct Derive<'a>(&'a Description);

        impl WithService for Derive<'_> {
            type Output = Result<u64, Failure>;

            fn with<S: TableService>(self) -> Self::Output {
                let params = self.0.params::<S>()?;
                let bytes = *S::query_bytes(&params).end();
                if bytes > MOST_QUERY_BYTES {
                    return Err(Failure::new(
                        code::REFUSED,
                        format_args!(
                            "a query of {} takes {}",
                            counted(self.0.items_per_query, "item", "items"),
                            Bytes(bytes)
                        ),
                        format_args!("serve with fewer --items-per-query: at most {} a query", Bytes(MOST_QUERY_BYTES)),
                    ));
                }
                Ok(S::queries_an_enrolment(self.0.items_per_query))
            }
        }

        with_service(&self.protocol, Derive(self))?
    }

    /// Most bytes that a client fetches once, before it asks.
    ///
    /// # Errors
    /// If the protocol is unknown, or does not serve these sizes.
    pub(super) fn enrolment_bytes(&self) -> Result<u64, Failure> {
        struct Bytes<'a>(&'a Description);

        impl WithService for Bytes<'_> {
            type Output = Result<u64, Failure>;

            fn with<S: TableService>(self) -> Self::Output {
                Ok(*S::enrolment_bytes(&self.0.params::<S>()?).end())
            }
        }

        with_service(&self.protocol, Bytes(self))?
    }

    /// The parameters of the protocol `S`.
    ///
    /// # Errors
    /// If it does not serve these sizes.
    pub(super) fn params<S: TableService>(&self) -> Result<S::Params, Failure> {
        let size = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
        let request = IntersectRequest {
            sender_items: size(self.capacity),
            receiver_items: size(self.items_per_query),
            security: self.security,
            payload_bytes: self.payload.as_ref().map_or(0, |schema| schema.width),
            both_learn: false,
            runs: 1,
        };
        Ok(S::params(&request, ServiceOptions { leak_prefix: self.leak_prefix, integer_bits: self.integer_bits })?)
    }

    /// Names of the fields in which two descriptions of one server differ, as its user sets them.
    pub(super) fn differences(&self, other: &Self) -> Vec<&'static str> {
        let Self {
            version,
            protocol,
            security,
            key_digest,
            key_columns,
            key_kinds,
            salt,
            capacity,
            items_per_query,
            leak_prefix,
            slow_hash,
            integer_bits,
            ..
        } = self;
        [
            ("--protocol", *protocol != other.protocol),
            ("--security", *security != other.security),
            ("--key or --normalise", *key_columns != other.key_columns || *key_digest != other.key_digest),
            ("how the values of a key column are written", *key_kinds != other.key_kinds),
            ("--capacity", *capacity != other.capacity),
            ("--items-per-query", *items_per_query != other.items_per_query),
            ("--leak-prefix", *leak_prefix != other.leak_prefix),
            ("--slow-hash", *slow_hash != other.slow_hash),
            ("--integer-bits", *integer_bits != other.integer_bits),
            ("--payload, or the longest value of its columns", self.payload != other.payload),
            ("the version of vesica", *version != other.version || *salt != other.salt),
        ]
        .into_iter()
        .filter_map(|(name, differs)| differs.then_some(name))
        .collect()
    }

    /// Refuses a server whose keys cannot be compared with those of `key`: each difference is named.
    pub(super) fn check_key(&self, key: &KeySpec) -> Result<(), Failure> {
        let ours = key.agreement();
        let mut differences = Vec::new();
        if self.key_digest != DIGEST_VERSION {
            differences.push(Difference::new("key digest", &DIGEST_VERSION, &self.key_digest));
        }
        if ours.len() != self.key_columns.len() {
            let field = "number of --key columns";
            differences.push(Difference::new(field, &ours.len(), &self.key_columns.len()));
        } else if ours != self.key_columns {
            differences.push(Difference::new("--normalise", &list(&ours), &list(&self.key_columns)));
        }
        if differences.is_empty() {
            return Ok(());
        }
        let told = differences
            .iter()
            .map(|Difference { field, ours, theirs }| format!("{field} is {ours:?} here and {theirs:?} on the server"));
        Err(Failure::new(
            code::MISMATCH,
            format_args!("the server's keys are made in another way: {}", told.collect::<Vec<_>>().join("; ")),
            "use the server's values, and ask again",
        ))
    }
}

/// A description of a small set, for tests.
#[cfg(test)]
pub(super) fn example() -> Description {
    Description {
        version: VERSION,
        protocol: "oprf-rfc9497".into(),
        security: Security::Malicious,
        key_digest: DIGEST_VERSION.into(),
        key_columns: vec!["as it is".into()],
        key_kinds: vec![serde_json::from_str(r#"{"form":"text"}"#).expect("a kind")],
        salt: format!("{:032x}", 77),
        capacity: 1024,
        items_per_query: 16,
        payload: None,
        quota: Some("1000/day".into()),
        quota_left: None,
        leak_prefix: None,
        slow_hash: None,
        integer_bits: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_survives_its_bytes() {
        let bytes = example().to_bytes().expect("short");
        let read = Description::from_bytes(&bytes).expect("sound");
        assert_eq!((read.salt_number(), &read), (Some(77), &example()));
        read.check().expect("served");
    }

    #[test]
    fn unsound_descriptions_are_refused() {
        type Change = fn(&mut Description);
        let changes: [(&str, Change); 14] = [
            ("version 2", |d| d.version = 2),
            ("each key column", |d| d.key_columns.clear()),
            ("each key column", |d| d.key_kinds.clear()),
            ("32 hexadecimal digits", |d| d.salt = "+0000000000000000000000000000007".into()),
            ("32 hexadecimal digits", |d| d.salt.clear()),
            ("zero", |d| d.capacity = 0),
            ("zero", |d| d.items_per_query = 0),
            ("more items than any", |d| d.items_per_query = 65_537),
            ("quota", |d| d.quota = Some("much".into())),
            ("left of a quota", |d| (d.quota, d.quota_left) = (None, Some(5))),
            ("such integers", |d| d.integer_bits = Some(0)),
            ("such integers", |d| d.integer_bits = Some(65)),
            ("such integers", |d| (d.integer_bits, d.slow_hash) = (Some(33), Some("64KiB,1".into()))),
            ("such integers", |d| {
                d.integer_bits = Some(33);
                d.key_columns.push("as it is".into());
                d.key_kinds.push(d.key_kinds[0]);
            }),
        ];
        for (said, change) in changes {
            let mut changed = example();
            change(&mut changed);
            let bytes = serde_json::to_vec(&changed).expect("JSON");
            let failure = Description::from_bytes(&bytes).expect_err(said);
            assert!(failure.fault.contains(said), "{failure}");
        }
        for bytes in [&b""[..], b"{}", b"{\"version\":1}", b"[1]", &[0xff; 20]] {
            assert!(Description::from_bytes(bytes).is_err());
        }
        let other = Description { protocol: "\u{1b}[2J".into(), ..example() };
        assert!(!other.check().expect_err("unknown").fault.contains('\u{1b}'));
        let huge = Description { capacity: u64::MAX, ..example() };
        assert_eq!(huge.check().expect_err("too large").code, code::REFUSED);
    }

    #[test]
    fn keys_that_are_made_in_another_way_are_refused_by_name() {
        let key = |normalise: &[&str]| KeySpec::parse(&["url"], normalise).expect("a key");
        example().check_key(&key(&[])).expect("the same");
        let failure = example().check_key(&key(&["url=lower"])).expect_err("a normaliser more");
        assert!(failure.code == code::MISMATCH && failure.fault.contains("--normalise"), "{failure}");
        let two = KeySpec::parse(&["url", "day"], &[] as &[&str]).expect("a key");
        assert!(example().check_key(&two).expect_err("two columns").fault.contains("number of --key columns"));
    }
}
