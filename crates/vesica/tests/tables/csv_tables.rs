//! CSV in and out.

use vesica::key::KeySpec;
use vesica::table::{Input, InputOptions, Join, Matches, NO_KEY, Output, OutputOptions, read_keys, write_matches};

#[test]
fn a_semi_join_keeps_rows_as_they_stand() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.csv");
    let text = "\u{feff}id,\"na\"\"me\"\r\n1,\"a\r\nb\"\r\n,x\r\n2,\"\"\r\n\r\n1,\"c\"\"d\"\r\n3,e";
    std::fs::write(&path, text).unwrap();
    let input = Input::open(path.to_str().unwrap(), &InputOptions::default()).unwrap();
    let spec = KeySpec::parse(&["id"], &[]).unwrap();
    let table = read_keys(&input, &spec, None).unwrap();
    assert_eq!(table.row_key, [0, NO_KEY, 1, 0, 2]);
    assert_eq!((table.stats.rows, table.stats.null_rows, table.stats.distinct, table.stats.duplicate_rows), (5, 1, 3, 1));
    let written = |join| {
        let out = folder.path().join(format!("{join:?}.csv"));
        let output = Output::create(out.to_str().unwrap(), &OutputOptions::default(), &input).unwrap();
        write_matches(&input, &table, Matches { keys: &[0, 2], payload: None }, join, output).unwrap();
        std::fs::read_to_string(out).unwrap()
    };
    assert_eq!(written(Join::Inner), "\u{feff}id,\"na\"\"me\"\r\n1,\"a\r\nb\"\r\n1,\"c\"\"d\"\r\n3,e\r\n");
    assert_eq!(written(Join::Difference), "\u{feff}id,\"na\"\"me\"\r\n,x\r\n2,\"\"\r\n");
}
