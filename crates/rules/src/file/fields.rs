//! The members of one table of a file, each with its position.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use std::slice;

use callgate_wire::approval::{AllowDemand, AllowDemands};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::nearest::nearest_word_hint;
use super::{LARGEST_FILE, LONGEST_PATTERN, MOST_PATTERNS, Problem, RuleProblemLevel};
use crate::rule::RuleDecision;

pub(super) struct FileSource<'a> {
    pub(super) name: &'a str,
    text: &'a str,
    pub(super) problems: Vec<Problem>,
    /// Where the part begins that is being read: positions are counted from there.
    part: usize,
    /// The byte up to which lines were counted last, and how many line ends there are before it.
    counted: Cell<(usize, usize)>,
}

impl<'a> FileSource<'a> {
    pub(super) fn new(name: &'a str, text: &'a str) -> Self {
        Self { name, text, problems: Vec::new(), part: 0, counted: Cell::new((0, 0)) }
    }

    /// Calls `read` with the tables of the whole text. Reports an error if the text is too large or
    /// is not TOML.
    pub(super) fn parse_whole(&mut self, read: impl FnOnce(&DeTable<'_>, &mut Self)) {
        let text = self.text;
        // Before parsing, because the parser takes a multiple of the text in memory.
        if text.len() > LARGEST_FILE {
            return self.error(0, format!("the file is larger than {LARGEST_FILE} bytes"));
        }
        match DeTable::parse(text) {
            Ok(table) => read(table.get_ref(), self),
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                self.error(at, error.message().to_owned());
            }
        }
    }

    /// Returns all problems in the order of the file.
    pub(super) fn into_problems(self) -> Vec<Problem> {
        let mut problems = self.problems;
        // A rule is checked key by key and not line by line, so its problems are found in another
        // order.
        problems.sort_by_key(|problem| (problem.line, problem.column));
        problems
    }

    /// Returns the problems of a file that exists and could not be read, for the reason given.
    pub(super) fn unreadable(name: &str, reason: &str) -> Vec<Problem> {
        let mut source = FileSource::new(name, "");
        source.error(0, reason);
        source.problems
    }

    /// Begins a part of the file, at this byte.
    pub(super) fn begin_part(&mut self, start: usize) {
        self.part = start;
    }

    /// Returns the line of a byte of the part. The tables of a file are read in their order, so the
    /// lines before the last one are not counted again.
    pub(super) fn line(&self, at: usize) -> usize {
        let at = (self.part + at).min(self.text.len());
        let (from, ends) =
            // A position before the last one is counted from the beginning again.
            Some(self.counted.get()).filter(|(from, _)| *from <= at).unwrap_or_default();
        let ends = ends + memchr::memchr_iter(b'\n', &self.text.as_bytes()[from..at]).count();
        self.counted.set((at, ends));
        ends + 1
    }

    fn line_and_column(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..self.part + at).unwrap_or(self.text);
        let start = memchr::memrchr(b'\n', before.as_bytes()).map_or(0, |end| end + 1);
        let column = before[start..].chars().count() + 1;
        (self.line(at), column)
    }

    pub(super) fn report_problem(
        &mut self,
        level: RuleProblemLevel,
        at: usize,
        message: impl Into<String>,
    ) {
        let (line, column) = self.line_and_column(at);
        let message = message.into();
        self.problems.push(Problem { level, file: self.name.into(), line, column, message });
    }

    pub(super) fn error(&mut self, at: usize, message: impl Into<String>) {
        self.report_problem(RuleProblemLevel::Error, at, message);
    }

    pub(super) fn error_count(&self) -> usize {
        self.problems.iter().filter(|problem| problem.level == RuleProblemLevel::Error).count()
    }
}

/// A string in a file, and where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextField<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) at: usize,
}

pub(super) struct TableFields<'a> {
    pub(super) table: &'a DeTable<'a>,
    pub(super) span: Range<usize>,
}

impl<'a> TableFields<'a> {
    pub(super) fn new(value: &'a Spanned<DeValue<'a>>) -> Option<Self> {
        Some(Self { table: value.get_ref().as_table()?, span: value.span() })
    }

    pub(super) fn at(&self) -> usize {
        self.span.start
    }

    pub(super) fn report_unknown_keys(&self, known: &[&str], source: &mut FileSource<'_>) {
        for (key, _) in self.table {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                source.error(
                    key.span().start,
                    format!("unknown key `{name}`{}", nearest_word_hint(name, known)),
                );
            }
        }
    }

    pub(super) fn value(&self, name: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.get(name)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// Returns where the value of a member begins, or where the table begins if there is none.
    pub(super) fn find_member(&self, name: &str) -> usize {
        self.value(name).map_or(self.at(), |value| value.span().start)
    }

    /// Returns a member that is a text; a date counts as one.
    pub(super) fn text(&self, name: &str, source: &mut FileSource<'_>) -> Option<TextField<'a>> {
        let value = self.value(name)?;
        let at = value.span().start;
        let text = match value.get_ref() {
            DeValue::String(text) => Cow::Borrowed(text.as_ref()),
            // TOML has dates of its own, and `until = 2026-12-31` is natural to write without
            // quotes.
            DeValue::Datetime(date) => date.to_string().into(),
            other => {
                source.error(at, format!("`{name}` must be a string, not {}", other.type_str()));
                return None;
            }
        };
        Some(TextField { text, at })
    }

    pub(super) fn texts(
        &self,
        name: &str,
        source: &mut FileSource<'_>,
    ) -> Option<Vec<TextField<'a>>> {
        let value = self.value(name)?;
        let at = value.span().start;
        let values = match value.get_ref() {
            DeValue::Array(values) => &values[..],
            _ => slice::from_ref(value),
        };
        if values.is_empty() || values.len() > MOST_PATTERNS {
            source.error(
                at,
                format!("`{name}` must be a string or a list of 1 to {MOST_PATTERNS} strings"),
            );
        }
        // Reading goes on after an error, so that all mistakes of the file are reported at once.
        let mut texts = Vec::with_capacity(values.len());
        for value in values {
            let at = value.span().start;
            match value.get_ref().as_str() {
                Some(text) if text.len() <= LONGEST_PATTERN && !text.trim().is_empty() => {
                    texts.push(TextField { text: text.into(), at });
                }
                Some(_) => source.error(
                    at,
                    format!(
                        "`{name}` has a string that is empty or longer than {LONGEST_PATTERN} bytes"
                    ),
                ),
                None => source.error(at, format!("`{name}` must be a string or a list of strings")),
            }
        }
        Some(texts)
    }

    /// Returns a member that is a decision. A missing one is an error.
    pub(super) fn decision(&self, name: &str, source: &mut FileSource<'_>) -> Option<RuleDecision> {
        if !self.has(name) {
            let message =
                format!("`{name}` is missing: \"allow\", \"deny\", \"ask\" or \"confirm\"");
            source.error(self.at(), message);
            return None;
        }
        let TextField { text, at } = self.text(name, source)?;
        let known = RuleDecision::ALL;
        let found = known.into_iter().find(|decision| decision.name() == text);
        if found.is_none() {
            let hint = nearest_word_hint(&text, &known.map(RuleDecision::name));
            source.error(at, format!("`{name}` cannot be `{text}`{hint}"));
        }
        found
    }

    /// Reads a member that is true or not given.
    pub(super) fn is_set(&self, name: &str, source: &mut FileSource<'_>) -> bool {
        let value = self.value(name).map(|value| value.get_ref().as_bool());
        if !matches!(value, None | Some(Some(true))) {
            let message = format!("`{name}` can only be `true`; leave it out otherwise");
            source.error(self.find_member(name), message);
        }
        // Any given value counts as set. The rule is not used then, since this was an error.
        value.is_some()
    }

    pub(super) fn demands(&self, source: &mut FileSource<'_>) -> AllowDemands {
        let is_demanded = |demand: &AllowDemand| self.is_set(demand.name(), source);
        AllowDemand::ALL.into_iter().filter(is_demanded).collect::<Vec<_>>().into()
    }

    /// Returns a member that is a table of any values, as JSON.
    pub(super) fn json(
        &self,
        name: &str,
        source: &mut FileSource<'_>,
    ) -> Option<serde_json::Value> {
        let value = self.value(name)?;
        if value.get_ref().is_table() {
            return Some(json_value(value.get_ref()));
        }
        source.error(
            value.span().start,
            format!("`{name}` must be a table, such as {{ file_path = \"a.txt\" }}"),
        );
        None
    }
}

fn json_value(value: &DeValue<'_>) -> serde_json::Value {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or(serde_json::Value::Null, Into::into),
        DeValue::Float(number) => {
            number.as_str().parse::<f64>().map_or(serde_json::Value::Null, Into::into)
        }
        DeValue::Boolean(truth) => (*truth).into(),
        DeValue::Datetime(date) => date.to_string().into(),
        DeValue::Array(values) => values.iter().map(|value| json_value(value.get_ref())).collect(),
        DeValue::Table(table) => table
            .iter()
            .map(|(key, value)| (key.get_ref().to_string(), json_value(value.get_ref())))
            .collect(),
    }
}
