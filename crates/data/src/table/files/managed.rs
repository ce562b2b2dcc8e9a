//! Folders whose files are a table only by a log that stands beside them: Delta Lake, Iceberg, Hudi. Read by
//! themselves, their files give rows that were deleted, and rows in several versions.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::table::TableError;

/// Refuses the folder that holds a file, or one around it up to `base`, if such a table is there.
#[derive(Debug, Default)]
pub(crate) struct Managed {
    looked_at: HashSet<PathBuf>,
}

impl Managed {
    /// Looks at `folder`; around it at all folders up to `base`, and beyond at those in which such tables keep their
    /// files.
    pub fn refuse(&mut self, folder: &Path, base: &Path) -> Result<(), TableError> {
        let mut at = folder;
        let mut is_below = folder.starts_with(base);
        while self.looked_at.insert(at.to_owned()) {
            if let Some((what, mend)) = table_of(at) {
                let path = at.to_str().filter(|path| !path.is_empty()).unwrap_or(".").to_owned();
                return Err(TableError::Foreign { path, what: what.to_owned(), mend });
            }
            is_below &= at != base;
            let name = at.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            match at.parent() {
                Some(parent) if is_below || name.contains('=') || name == "data" => at = parent,
                _ => break,
            }
        }
        Ok(())
    }
}

/// Which table a folder is, and what to do with it.
fn table_of(folder: &Path) -> Option<(&'static str, &'static str)> {
    let is_iceberg = || {
        let entries = fs::read_dir(folder.join("metadata")).ok()?;
        let mut names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.find(|name| name.ends_with(".metadata.json") || name == "version-hint.text")
    };
    if folder.join("_delta_log").is_dir() {
        return Some((
            "a table of Delta Lake (its files may hold rows that are deleted)",
            "write its current version to a file, for example with DuckDB: INSTALL delta; LOAD delta; COPY (FROM \
             delta_scan('TABLE')) TO 'current.parquet'",
        ));
    }
    if folder.join(".hoodie").is_dir() || folder.join(".hoodie_partition_metadata").is_file() {
        return Some((
            "a table of Apache Hudi (its files may hold rows that are deleted)",
            "write its current version to files, for example with Spark: \
             spark.read.format('hudi').load('TABLE').write.parquet('current')",
        ));
    }
    is_iceberg().map(|_| {
        (
            "a table of Apache Iceberg (its files may hold rows that are deleted)",
            "write its current version to a file, for example with DuckDB: INSTALL iceberg; LOAD iceberg; COPY (FROM \
             iceberg_scan('TABLE')) TO 'current.parquet'",
        )
    })
}
