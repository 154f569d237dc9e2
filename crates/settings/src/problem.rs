//! What is wrong with the settings, and where each value came from.

use std::fmt;
use std::path::PathBuf;

use crate::setting_key::SettingKey;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingOrigin {
    /// Nobody set it.
    Default,
    /// A place in the settings file; its line and its character are counted from 1.
    File {
        path: PathBuf,
        line: usize,
        column: usize,
    },
    Environment(String),
    /// A flag on the command line.
    Flag(String),
}

impl SettingOrigin {
    /// Returns the rank of the source: a higher one overrides a lower one.
    pub(crate) fn source_rank(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File { .. } => 1,
            Self::Environment(_) if self.is_common_variable() => 2,
            Self::Environment(_) => 3,
            Self::Flag(_) => 4,
        }
    }

    /// Returns true for a variable that other programs use too.
    pub(crate) fn is_common_variable(&self) -> bool {
        matches!(self, Self::Environment(name) if !name.starts_with("CALLGATE_"))
    }
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line, column } => write!(f, "{}:{line}:{column}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// A value whose origin somebody asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    pub value: T,
    pub origin: SettingOrigin,
}

/// What a problem is about, so that a command can ignore what it does not use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemScope {
    /// The whole file: it cannot be read, or it is not TOML.
    File,
    Unknown,
    Key(&'static str),
}

impl ProblemScope {
    /// Returns true if the problem matters to whoever uses these keys and no others.
    pub fn concerns(self, keys: &[&SettingKey]) -> bool {
        match self {
            Self::File => true,
            // A mistyped key must not leave an agent without its hook.
            Self::Unknown => false,
            Self::Key(name) => keys.iter().any(|key| key.name == name),
        }
    }
}

/// One thing that is wrong with the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    pub scope: ProblemScope,
    pub origin: SettingOrigin,
    /// What is wrong and what to do.
    pub text: String,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.origin {
            SettingOrigin::Default => f.write_str(&self.text),
            _ => write!(f, "{}: {}", self.origin, self.text),
        }
    }
}

/// Everything that is wrong with the settings; never empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the settings are wrong:\n  {}",
    .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n  ")
)]
pub struct ConfigProblems(pub Vec<ConfigProblem>);

impl ConfigProblems {
    /// Returns the value if there are no problems, else all of them: first those of the file from
    /// its top, then those of the environment, then those of the flags.
    pub fn value_or_problems<T>(value: T, mut problems: Vec<ConfigProblem>) -> Result<T, Self> {
        problems.sort_by_key(|problem| match problem.origin {
            SettingOrigin::File { line, column, .. } => (0, line, column),
            SettingOrigin::Environment(_) => (1, 0, 0),
            SettingOrigin::Flag(_) => (2, 0, 0),
            SettingOrigin::Default => (3, 0, 0),
        });
        if problems.is_empty() { Ok(value) } else { Err(Self(problems)) }
    }

    /// Returns the first problem on one line, with the number of the others.
    pub fn one_line(&self) -> String {
        let first = self.0.first().map(ToString::to_string).unwrap_or_default();
        match self.0.len().saturating_sub(1) {
            0 => first,
            more => format!("{first} (and {more} more)"),
        }
    }
}
