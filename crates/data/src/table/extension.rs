//! What the metadata of a field adds to its type: extension types of Arrow, and logical types of
//! Parquet that Arrow lacks.

use std::fmt;

use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{DataType, Field};

/// The key of a logical type of Parquet for which Arrow has neither a type nor a public extension.
pub(crate) const LOGICAL_TYPE_KEY: &str = "PARQUET:logical_type";

/// The key of a time of day that is in UTC: the one that the writer of Parquet looks for.
pub(crate) const TIME_IN_UTC_KEY: &str = "adjusted_to_utc";

/// Names of extension types.
pub(crate) const UUID: &str = "arrow.uuid";
pub(crate) const JSON: &str = "arrow.json";
pub(crate) const VARIANT: &str = "arrow.parquet.variant";
pub(crate) const GEOMETRY: &str = "geoarrow.wkb";

/// Values that [`LOGICAL_TYPE_KEY`] may have.
pub(crate) const ENUM: &str = "ENUM";
pub(crate) const BSON: &str = "BSON";
pub(crate) const INTERVAL: &str = "INTERVAL";

/// A type that stands on another one, in which its values are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extension<'a> {
    /// A UUID in 16 bytes.
    Uuid,
    /// A text of JSON.
    Json,
    /// Any other: what is stored is not what a reader would be shown.
    Other(&'a str),
}

impl<'a> Extension<'a> {
    /// That of a field, if it has one.
    pub fn of(field: &'a Field) -> Option<Self> {
        use DataType as T;
        let Some(name) = field.metadata().get(EXTENSION_TYPE_NAME_KEY) else {
            let name = field.metadata().get(LOGICAL_TYPE_KEY)?;
            return (name != ENUM).then_some(Self::Other(name));
        };
        Some(match (name.as_str(), field.data_type()) {
            (UUID, T::FixedSizeBinary(16)) => Self::Uuid,
            (JSON, T::Utf8 | T::LargeUtf8 | T::Utf8View) => Self::Json,
            (name, _) => Self::Other(name),
        })
    }
}

/// `field` as one of an extension type.
pub(crate) fn extended(field: Field, name: &str, metadata: &str) -> Field {
    let added = [(EXTENSION_TYPE_NAME_KEY, name), (EXTENSION_TYPE_METADATA_KEY, metadata)];
    with_metadata(field, &added)
}

/// `field` with more metadata.
pub(crate) fn with_metadata(field: Field, added: &[(&str, &str)]) -> Field {
    let mut metadata = field.metadata().clone();
    metadata.extend(added.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
    field.with_metadata(metadata)
}

/// The type of a field, as errors name it.
pub(crate) struct TypeName<'a>(pub &'a Field);

impl fmt::Display for TypeName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stored = self.0.data_type();
        match Extension::of(self.0) {
            None => write!(f, "{stored}"),
            Some(Extension::Uuid) => f.write_str("UUID"),
            Some(Extension::Json) => f.write_str("JSON"),
            Some(Extension::Other(VARIANT)) => f.write_str("VARIANT"),
            Some(Extension::Other(GEOMETRY)) => f.write_str("GEOMETRY"),
            // A name may come from anywhere.
            Some(Extension::Other(name)) => write!(f, "{} ({stored})", name.escape_debug()),
        }
    }
}
