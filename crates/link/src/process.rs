//! Reads the parent, the group and the session of a process from `/proc`.
//!
//! The system calls return the same, but give 0 for a group or a session from outside our process
//! namespace, which `rustix` considers impossible.

use std::fs;

/// How many ancestors of a process are visited. One that ends meanwhile may give its id to another,
/// and the way up could lead in a circle.
const MOST_ANCESTORS: usize = 64;

/// A process, as `/proc/PID/stat` describes it. 0 means anything outside our namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessStat {
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
    pub fn read(id: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
    }

    pub fn own() -> Option<Self> {
        // Not by its id, which may differ in the namespace of whoever mounted `/proc`.
        Self::parse(&fs::read_to_string("/proc/self/stat").ok()?)
    }

    /// Returns true if it may read from its terminal. A background process that does so is stopped.
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
mod tests;
