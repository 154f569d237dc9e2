//! The list of programs is complete.

use super::*;

#[test]
fn the_list_of_programs_is_that_of_the_rules() {
    let mut all: Vec<&str> = RULES.iter().flat_map(|rule| rule.programs.iter()).collect();
    all.sort_unstable();
    all.dedup();
    let known: Vec<&str> = PROGRAMS.split_ascii_whitespace().collect();
    assert_eq!(all, known);
}
