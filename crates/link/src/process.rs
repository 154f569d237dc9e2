//! What `/proc` tells about a process: its parent, its group and its session.
//!
//! The calls of the kernel tell the same, but give 0 for a group or a session that was made
//! outside of our process namespace, and `rustix` takes that for impossible.

use std::fs;

/// How many ancestors of a process are looked at.
const MOST_ANCESTORS: usize = 64;

/// One process as `/proc/PID/stat` shows it. 0 stands for what is outside of our namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub id: u32,
    /// The process that started it, or the one that took its place.
    pub parent: u32,
    /// Its process group: what a shell stops and continues as one job.
    pub group: u32,
    /// Its session: what shares a terminal.
    pub session: u32,
    /// The group in the foreground of its terminal, if it has one.
    pub foreground: Option<u32>,
}

impl Process {
    /// Reads one process, or `None` if there is none with this id.
    #[must_use]
    pub fn read(id: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
    }

    /// Creates the process that runs this code.
    #[must_use]
    pub fn own() -> Option<Self> {
        // Not by its id, which may be another one to whoever mounted `/proc`.
        Self::parse(&fs::read_to_string("/proc/self/stat").ok()?)
    }

    /// Returns true if it may read from its terminal. Whoever does so from the background is
    /// stopped.
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
        // The program's name stands in parentheses and may hold any others.
        let (before, rest) = stat.rsplit_once(')')?;
        let (id, _) = before.split_once(' ')?;
        let mut fields = rest.split_ascii_whitespace().skip(1);
        let mut next = || fields.next();
        Some(Self {
            id: id.parse().ok()?,
            parent: next()?.parse().ok()?,
            group: next()?.parse().ok()?,
            session: next()?.parse().ok()?,
            // After the number of its terminal; -1 where it has none.
            foreground: next().and_then(|_| next())?.parse().ok(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_descends_from_its_parents() {
        let own = Process::own().unwrap();
        assert_eq!(own.id, std::process::id());
        assert_eq!(own.parent, std::os::unix::process::parent_id());
        let parents: Vec<u32> = own.ancestors().map(|process| process.id).collect();
        assert!(parents.first().is_none_or(|first| *first == own.parent), "{parents:?}");
        assert!(parents.len() <= MOST_ANCESTORS);
    }

    #[test]
    fn one_that_is_not_there_is_none() {
        assert_eq!(Process::read(u32::MAX), None);
    }

    #[test]
    fn names_may_hold_parentheses_and_what_is_outside_is_zero() {
        let expected = Process { id: 7, parent: 1, group: 0, session: 0, foreground: Some(9) };
        let read = Process::parse("7 (a) b (c) S 1 0 0 34817 9 4194304").unwrap();
        assert_eq!(read, expected);
        assert!(!read.is_in_foreground());
        assert!(Process { foreground: Some(0), ..read }.is_in_foreground());
        let without = Process::parse("7 (sh) S 1 7 7 0 -1 4194304").unwrap();
        assert_eq!(without.foreground, None);
        assert!(!without.is_in_foreground());
        assert_eq!(Process::parse("7 (sh) S 1"), None);
        assert_eq!(Process::parse(""), None);
    }
}
