//! The structures of a Parquet footer and of its page headers: `parquet.thrift`, as far as the
//! Parquet reader reads them.

/// The type of a field.
pub(super) enum Shape {
    Bool,
    Byte,
    I16,
    I32,
    I64,
    Double,
    Bytes,
    List(&'static Shape),
    Struct(&'static [(i16, Shape)]),
}

use Shape::{Bool, Byte, Bytes, Double, I16, I32, I64, List, Struct};

/// `FileMetaData`.
pub(super) const FOOTER: &[(i16, Shape)] = &[
    (1, I32),
    (2, List(&Struct(SCHEMA_ELEMENT))),
    (3, I64),
    (4, List(&Struct(ROW_GROUP))),
    (5, List(&Struct(KEY_VALUE))),
    (6, Bytes),
    (7, List(&Struct(COLUMN_ORDER))),
    (8, Struct(&[(1, Struct(ENCRYPTION)), (2, Struct(ENCRYPTION))])),
    (9, Bytes),
];

/// In [`FOOTER`], the path of what says how columns are encrypted. It is there only if some are.
pub(super) const ENCRYPTED: &[i16] = &[8];

/// In [`FOOTER`], the path of a schema element and of its number of children.
pub(super) const ELEMENT: &[i16] = &[2];
/// See [`ELEMENT`].
pub(super) const CHILDREN: &[i16] = &[2, 5];

const EMPTY: &[(i16, Shape)] = &[];

const ENCRYPTION: &[(i16, Shape)] = &[(1, Bytes), (2, Bytes), (3, Bool)];

const SCHEMA_ELEMENT: &[(i16, Shape)] = &[
    (1, I32),
    (2, I32),
    (3, I32),
    (4, Bytes),
    (5, I32),
    (6, I32),
    (7, I32),
    (8, I32),
    (9, I32),
    (10, Struct(LOGICAL_TYPE)),
];

const LOGICAL_TYPE: &[(i16, Shape)] = &[
    (1, Struct(EMPTY)),
    (2, Struct(EMPTY)),
    (3, Struct(EMPTY)),
    (4, Struct(EMPTY)),
    (5, Struct(&[(1, I32), (2, I32)])),
    (6, Struct(EMPTY)),
    (7, Struct(TIME)),
    (8, Struct(TIME)),
    (10, Struct(&[(1, Byte), (2, Bool)])),
    (11, Struct(EMPTY)),
    (12, Struct(EMPTY)),
    (13, Struct(EMPTY)),
    (14, Struct(EMPTY)),
    (15, Struct(EMPTY)),
    (16, Struct(&[(1, Byte)])),
    (17, Struct(&[(1, Bytes)])),
    (18, Struct(&[(1, Bytes), (2, I32)])),
];

const TIME: &[(i16, Shape)] = &[(1, Bool), (2, Struct(&[(1, Struct(EMPTY)), (2, Struct(EMPTY)), (3, Struct(EMPTY))]))];

const ROW_GROUP: &[(i16, Shape)] = &[
    (1, List(&Struct(COLUMN_CHUNK))),
    (2, I64),
    (3, I64),
    (4, List(&Struct(&[(1, I32), (2, Bool), (3, Bool)]))),
    (5, I64),
    (6, I64),
    (7, I16),
];

const COLUMN_CHUNK: &[(i16, Shape)] =
    &[(1, Bytes), (2, I64), (3, Struct(COLUMN)), (4, I64), (5, I32), (6, I64), (7, I32), (9, Bytes)];

const COLUMN: &[(i16, Shape)] = &[
    (1, I32),
    (2, List(&I32)),
    (3, List(&Bytes)),
    (4, I32),
    (5, I64),
    (6, I64),
    (7, I64),
    (8, List(&Struct(KEY_VALUE))),
    (9, I64),
    (10, I64),
    (11, I64),
    (12, Struct(STATISTICS)),
    (13, List(&Struct(&[(1, I32), (2, I32), (3, I32)]))),
    (14, I64),
    (15, I32),
    (16, Struct(&[(1, I64), (2, List(&I64)), (3, List(&I64))])),
    (17, Struct(&[(1, Struct(BOX)), (2, List(&I32))])),
];

const BOX: &[(i16, Shape)] =
    &[(1, Double), (2, Double), (3, Double), (4, Double), (5, Double), (6, Double), (7, Double), (8, Double)];

const STATISTICS: &[(i16, Shape)] =
    &[(1, Bytes), (2, Bytes), (3, I64), (4, I64), (5, Bytes), (6, Bytes), (7, Bool), (8, Bool)];

const KEY_VALUE: &[(i16, Shape)] = &[(1, Bytes), (2, Bytes)];

const COLUMN_ORDER: &[(i16, Shape)] = &[(1, Struct(EMPTY))];

/// `PageHeader`.
pub(super) const PAGE_HEADER: &[(i16, Shape)] = &[
    (1, I32),
    (2, I32),
    (3, I32),
    // A checksum, of which some writers take the sign for a bit.
    (4, I64),
    (5, Struct(&[(1, I32), (2, I32), (3, I32), (4, I32), (5, Struct(STATISTICS))])),
    (6, Struct(EMPTY)),
    (7, Struct(&[(1, I32), (2, I32), (3, Bool)])),
    (8, Struct(&[(1, I32), (2, I32), (3, I32), (4, I32), (5, I32), (6, I32), (7, Bool), (8, Struct(STATISTICS))])),
];
