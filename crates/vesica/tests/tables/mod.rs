//! Tables, keys and profiles.

mod csv_tables;
