//! The glossary names types that exist.

use std::fs;

use super::root;
use super::type_names::DEFINED_TYPES;

#[test]
fn every_type_in_the_glossary_exists() {
    let glossary = fs::read_to_string(root().join("docs/GLOSSARY.md")).unwrap();
    let mut words = 0;
    for row in glossary.lines().filter(|line| line.starts_with("| **")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        assert_eq!(cells.len(), 3, "a row has a word, its meaning and its types: {row}");
        words += 1;
        for type_name in cells[2].split('`').skip(1).step_by(2) {
            let last = type_name.rsplit("::").next().unwrap();
            assert!(
                DEFINED_TYPES.contains_key(last),
                "docs/GLOSSARY.md names `{type_name}`, which no file defines. Name the type that \
                 holds this idea now."
            );
        }
    }
    assert!(words >= 20, "the glossary has a row `| **word** | meaning | `Type` |` for each word");
}
