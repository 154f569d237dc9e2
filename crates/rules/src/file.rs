//! Files of rules in TOML: parsed and checked, with every mistake reported at its position.

mod arguments;
mod danger;
mod fields;
mod nearest;
mod plain;
mod read;
mod roles;
mod rule_test;

use std::fmt;
use std::sync::Arc;

pub use callgate_wire::desk::RuleProblemLevel;
pub use roles::{DESK_MACHINE, RoleFile, RoleSubject, TeamRole};
pub use rule_test::RuleTest;

use crate::moment::Moment;
use crate::rule::{Rule, Trust};
use fields::FileSource;

/// The largest file, in bytes. The hook reads all rules before every call while no desk runs.
pub const LARGEST_FILE: usize = 256 * 1024;
/// The most rules of a file, and the most tests.
pub const MOST_RULES: usize = 1_000;
pub const MOST_PATTERNS: usize = 256;
pub const LONGEST_PATTERN: usize = 1_024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub level: RuleProblemLevel,
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { level, file, line, column, message } = self;
        let level = if *level == RuleProblemLevel::Error { "error" } else { "warning" };
        write!(f, "{file}:{line}:{column}: {level}: {message}")
    }
}

#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RuleFile {
    pub name: String,
    pub trust: Trust,
    /// The rules that could be read.
    pub rules: Vec<Arc<Rule>>,
    pub tests: Vec<RuleTest>,
    /// What is wrong with it, in the order of the file.
    pub problems: Vec<Problem>,
}

impl RuleFile {
    /// Reads a file. It never fails: what is wrong is in [`RuleFile::problems`].
    pub fn from_toml(name: &str, text: &str, trust: Trust) -> Self {
        read::parse_rule_file(name, text, trust)
    }

    /// Returns a file that exists and could not be read, for the reason given. Nothing is allowed
    /// while it is part of a policy, because it may contain a deny.
    pub fn unreadable(name: &str, reason: &str, trust: Trust) -> Self {
        Self { problems: FileSource::unreadable(name, reason), ..Self::empty(name, trust) }
    }

    fn empty(name: &str, trust: Trust) -> Self {
        let name = name.into();
        Self { name, trust, rules: Vec::new(), tests: Vec::new(), problems: Vec::new() }
    }

    /// Returns true if the file has errors, so that its meaning is uncertain.
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.level == RuleProblemLevel::Error)
    }

    /// Returns all problems, including rules that have expired at this moment.
    pub fn problems_at(&self, moment: &Moment) -> Vec<Problem> {
        let expired = self.rules.iter().filter(|rule| rule.is_over(moment)).map(|rule| Problem {
            level: RuleProblemLevel::Warning,
            file: rule.file.clone(),
            line: rule.line,
            column: 1,
            message: format!("rule `{}` has expired and no longer applies; remove it", rule.name),
        });
        let mut problems: Vec<Problem> = self.problems.iter().cloned().chain(expired).collect();
        // The expired rules follow all others in the list, and readers expect the order of the
        // file.
        problems.sort_by_key(|problem| (problem.line, problem.column));
        problems
    }
}

#[cfg(test)]
mod tests;
