//! What is wrong with the settings, and where each value came from.

use std::fmt;
use std::path::PathBuf;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nobody set it.
    Default,
    /// A line of the settings file.
    File {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// The character in the line, from 1.
        column: usize,
    },
    /// An environment variable.
    Environment(&'static str),
    /// A flag on the command line.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line, column } => write!(f, "{}:{line}:{column}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// A value and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting<T> {
    /// The value.
    pub(crate) value: T,
    /// Where it came from.
    pub(crate) origin: Origin,
}

/// What a problem is about, so that a command can pass over what it does not use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Matter {
    /// The whole file: it cannot be read, or it is no TOML.
    File,
    /// A key that there is not.
    Unknown,
    /// The value of this key.
    Key(&'static str),
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// What it is about.
    pub(crate) matter: Matter,
    /// Where it stands.
    pub(crate) origin: Origin,
    /// What is wrong and what to do.
    pub(crate) text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.origin {
            Origin::Default => f.write_str(&self.text),
            _ => write!(f, "{}: {}", self.origin, self.text),
        }
    }
}

/// Everything that is wrong with the settings; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problems(pub(crate) Vec<Problem>);

impl Problems {
    /// Nothing wrong, or all of it: first the file from its top, then the environment, then flags.
    pub(crate) fn check<T>(value: T, mut problems: Vec<Problem>) -> Result<T, Self> {
        let place = |problem: &Problem| match problem.origin {
            Origin::File { line, column, .. } => (0, line, column),
            Origin::Environment(_) => (1, 0, 0),
            Origin::Flag(_) => (2, 0, 0),
            Origin::Default => (3, 0, 0),
        };
        problems.sort_by_key(place);
        if problems.is_empty() { Ok(value) } else { Err(Self(problems)) }
    }

    /// One thing that is wrong with what nobody has set.
    pub(crate) fn one(name: &'static str, text: &str) -> Self {
        let (matter, text) = (Matter::Key(name), text.to_owned());
        Self(vec![Problem { matter, origin: Origin::Default, text }])
    }

    /// The first of them on one line, for a program whose complaint is one line.
    pub(crate) fn one_line(&self) -> String {
        let first = self.0.first().map(ToString::to_string).unwrap_or_default();
        match self.0.len().saturating_sub(1) {
            0 => first,
            more => format!("{first} (and {more} more)"),
        }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the settings are wrong:")?;
        self.0.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

impl std::error::Error for Problems {}
