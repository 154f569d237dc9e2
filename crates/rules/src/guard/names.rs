//! Names of programs that are looked up often.

use std::collections::HashSet;

use callgate_mask::word_list::WordList;

use crate::act::Act;
use crate::place::last_name;
use crate::shell::ShellWord;

#[derive(Debug)]
pub(super) struct ProgramNames(HashSet<String>);

impl ProgramNames {
    pub(super) fn new(lists: &[&WordList]) -> Self {
        let names = lists.iter().flat_map(|list| list.iter());
        Self(names.map(str::to_ascii_lowercase).collect())
    }

    /// Returns true if a program's last name, with or without a version, is one of them.
    pub(super) fn has(&self, program: &str) -> bool {
        let name = last_name(program).to_ascii_lowercase();
        let is_version = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
        self.0.contains(&name) || self.0.contains(name.trim_end_matches(is_version))
    }

    /// Returns the name of the first of these programs that an act runs with arguments for which
    /// `is_meant` returns true.
    pub(super) fn run_by(
        &self,
        act: &Act,
        is_meant: fn(&str, &[String]) -> bool,
    ) -> Option<String> {
        act.runs.all_runs().find_map(|(_, words)| {
            let (program, rest) = words.split_first()?;
            let name = match program.text() {
                Some(text) => Some(text).filter(|text| self.has(text)).map(ToOwned::to_owned),
                // A name that is not written out could be that of any of them.
                None => self.0.iter().find(|name| program.could_end_in(name)).cloned(),
            }?;
            let texts: Vec<String> = rest.iter().map(ShellWord::gapped_text).collect();
            // An argument that could be anything could be the one that is meant.
            let is_open = rest.iter().any(ShellWord::counts_as_anything);
            (is_open || is_meant(&name, &texts)).then(|| last_name(&name).to_owned())
        })
    }
}

#[cfg(test)]
mod tests;
