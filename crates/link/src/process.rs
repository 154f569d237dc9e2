//! Reads the parent, the group and the session of a process from `/proc`.
//!
//! The system calls return the same, but give 0 for a group or a session that was made outside of
//! our process namespace, and `rustix` takes that for impossible.

use std::fs;

/// How many ancestors of a process are visited.
const MOST_ANCESTORS: usize = 64;

/// A process, as `/proc/PID/stat` describes it. 0 stands for anything outside of our namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessStat {
    /// Its id.
    pub id: u32,
    /// Its parent, or the process that adopted it.
    pub parent: u32,
    /// Its process group, which a shell stops and continues as one job.
    pub group: u32,
    /// Its session, which shares one terminal.
    pub session: u32,
    /// The group in the foreground of its terminal, if it has one.
    pub foreground: Option<u32>,
}

impl ProcessStat {
    /// Reads a process; `None` if there is none with this id.
    #[must_use]
    pub fn read(id: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
    }

    /// Reads the process that runs this code.
    #[must_use]
    pub fn own() -> Option<Self> {
        // Not by its id, which may differ in the namespace of whoever mounted `/proc`.
        Self::parse(&fs::read_to_string("/proc/self/stat").ok()?)
    }

    /// Returns true if it may read from its terminal. A background process that does so is stopped.
    #[must_use]
    pub fn is_in_foreground(self) -> bool {
        self.foreground == Some(self.group)
    }

    /// Returns the parent of this process, its parent, and so on.
    pub fn ancestors(self) -> impl Iterator<Item = Self> {
        std::iter::successors(Self::read(self.parent), |process| Self::read(process.parent))
            .take(MOST_ANCESTORS)
    }

    fn parse(stat: &str) -> Option<Self> {
        // The program's name is in parentheses and may contain others.
        let (before, rest) = stat.rsplit_once(')')?;
        let (id, _) = before.split_once(' ')?;
        let mut fields = rest.split_ascii_whitespace().skip(1);
        let mut next = || fields.next();
        Some(Self {
            id: id.parse().ok()?,
            parent: next()?.parse().ok()?,
            group: next()?.parse().ok()?,
            session: next()?.parse().ok()?,
            // It follows the terminal's number, and is -1 without a terminal.
            foreground: next().and_then(|_| next())?.parse().ok(),
        })
    }
}

#[cfg(test)]
mod tests {
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
}
