//! Names of programs that are looked up often.

use std::collections::HashSet;

use crate::place::last_name;

#[derive(Debug)]
pub(super) struct ProgramNames(HashSet<String>);

impl ProgramNames {
    /// Takes the names from lists separated by blanks.
    pub(super) fn new(lists: &[&str]) -> Self {
        let names = lists.iter().flat_map(|list| list.split_ascii_whitespace());
        Self(names.map(str::to_ascii_lowercase).collect())
    }

    /// Returns true if a program's last name, with or without a version, is one of them.
    pub(super) fn has(&self, program: &str) -> bool {
        let name = last_name(program).to_ascii_lowercase();
        let is_version = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
        self.0.contains(&name) || self.0.contains(name.trim_end_matches(is_version))
    }
}

#[cfg(test)]
mod tests;
