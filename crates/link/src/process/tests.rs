//! Tests of what is read about processes.

use super::*;

#[test]
fn a_process_descends_from_its_parents() {
    let own = ProcessStat::own().unwrap();
    assert_eq!(own.id, std::process::id());
    assert_eq!(own.parent, std::os::unix::process::parent_id());
    let parents: Vec<u32> = own.ancestors().map(|process| process.id).collect();
    assert!(parents.first().is_none_or(|first| *first == own.parent), "{parents:?}");
    assert!(parents.len() <= MOST_ANCESTORS);
}

#[test]
fn one_that_is_not_there_is_none() {
    assert_eq!(ProcessStat::read(u32::MAX), None);
}

#[test]
fn names_may_hold_parentheses_and_what_is_outside_is_zero() {
    let expected = ProcessStat { id: 7, parent: 1, group: 0, session: 0, foreground: Some(9) };
    let read = ProcessStat::parse("7 (a) b (c) S 1 0 0 34817 9 4194304").unwrap();
    assert_eq!(read, expected);
    assert!(!read.is_in_foreground());
    assert!(ProcessStat { foreground: Some(0), ..read }.is_in_foreground());
    let without = ProcessStat::parse("7 (sh) S 1 7 7 0 -1 4194304").unwrap();
    assert_eq!(without.foreground, None);
    assert!(!without.is_in_foreground());
    assert_eq!(ProcessStat::parse("7 (sh) S 1"), None);
    assert_eq!(ProcessStat::parse(""), None);
}
