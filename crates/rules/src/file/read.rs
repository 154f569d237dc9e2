//! Parses a file of rules.

use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fields::{FileSource, TableFields, TextField};
use super::nearest::nearest_word_hint;
use super::{
    LARGEST_FILE, MOST_RULES, RuleFile, RuleProblemLevel, arguments, danger, plain, rule_test,
};
use crate::act::ActClass;
use crate::moment::{DAY_NAMES, HourSpan, RuleEnd, Weekdays};
use crate::rule::command::CommandPattern;
use crate::rule::host::HostPattern;
use crate::rule::path::PathPattern;
use crate::rule::{NamePattern, Rule, RuleDecision, Trust};

const CONDITIONS: [&str; 13] = [
    "tool",
    "verb",
    "class",
    "command",
    "path",
    "host",
    "arguments",
    "local",
    "project",
    "agent",
    "between",
    "days",
    "until",
];
/// The other members of a rule.
const OTHER_KEYS: [&str; 6] = ["name", "decide", "options", "reason", "two_people", "not_own"];

pub(super) fn parse_rule_file(name: &str, text: &str, trust: Trust) -> RuleFile {
    read_by_part(name, text, trust).unwrap_or_else(|| read_whole(name, text, trust))
}

/// Reads a file one `[[rule]]` or `[[test]]` after the other, or returns `None` if anything is
/// wrong with it: then the whole file has to be read to say what.
///
/// The hook reads the rules before every call of a tool when no daemon runs, and the memory that a
/// TOML parser needs for a whole file costs more than the parsing.
fn read_by_part(name: &str, text: &str, trust: Trust) -> Option<RuleFile> {
    // `read_whole` reports it.
    if text.len() > LARGEST_FILE {
        return None;
    }
    let mut file = RuleFile::empty(name, trust);
    let mut source = FileSource::new(name, text);
    let mut start = 0;
    for end in part_ends(text) {
        source.begin_part(start);
        let part = &text[start..end];
        let parsed = || DeTable::parse(part).ok().map(Spanned::into_inner);
        // The first reads plainly written tables only, but several times as fast.
        parse_tables(&plain::parse_table(part).or_else(parsed)?, &mut file, &mut source);
        start = end;
    }
    if source.error_count() > 0 || file.rules.len().max(file.tests.len()) > MOST_RULES {
        return None;
    }
    Some(RuleFile { problems: source.into_problems(), ..file })
}

/// Returns where the parts of a file end. Each begins with a line that says only `[[rule]]` or
/// `[[test]]`. Within a value of several lines that is not the beginning of a table; the part
/// before it then lacks the end of that value, and cannot be parsed.
pub(super) fn part_ends(text: &str) -> impl Iterator<Item = usize> {
    let starts = memchr::memmem::find_iter(text.as_bytes(), "\n[[").map(|at| at + 1);
    let is_header = |at: &usize| {
        let line = text[*at..].lines().next().unwrap_or_default();
        matches!(line, "[[rule]]" | "[[test]]")
    };
    starts.filter(is_header).chain([text.len()])
}

fn read_whole(name: &str, text: &str, trust: Trust) -> RuleFile {
    let mut file = RuleFile::empty(name, trust);
    let mut source = FileSource::new(name, text);
    source.parse_whole(|table, source| parse_tables(table, &mut file, source));
    RuleFile { problems: source.into_problems(), ..file }
}

fn parse_tables(table: &DeTable<'_>, file: &mut RuleFile, source: &mut FileSource<'_>) {
    for (key, value) in table {
        let name: &str = key.get_ref();
        match name {
            "rule" => parse_each_table(value, "rule", source, |fields, source| {
                let rule = parse_rule(fields, file.trust, source)?;
                if let Some(first) = file.rules.iter().find(|other| other.name == rule.name) {
                    let message = format!(
                        "the name `{}` is already used by the rule in line {}",
                        rule.name, first.line
                    );
                    source.error(fields.find_member("name"), message);
                }
                // A rule with a repeated name is kept as well: while the file has errors nothing is
                // allowed, and a deny still applies.
                file.rules.push(Arc::new(rule));
                Some(())
            }),
            "test" => parse_each_table(value, "test", source, |fields, source| {
                file.tests.push(rule_test::parse_test(fields, source)?);
                Some(())
            }),
            _ => {
                let what = if value.get_ref().is_table() { "table" } else { "key" };
                source.error(
                    key.span().start,
                    format!(
                        "unknown {what} `{name}`{}",
                        nearest_word_hint(name, &["rule", "test"])
                    ),
                );
            }
        }
    }
}

/// Calls `read` with every table of a list.
pub(super) fn parse_each_table(
    value: &Spanned<DeValue<'_>>,
    name: &str,
    source: &mut FileSource<'_>,
    mut read: impl FnMut(&TableFields<'_>, &mut FileSource<'_>) -> Option<()>,
) {
    let at = value.span().start;
    let Some(values) = value.get_ref().as_array() else {
        source.error(at, format!("write `[[{name}]]`, with two brackets: there may be many"));
        return;
    };
    if values.len() > MOST_RULES {
        source.error(at, format!("there are more than {MOST_RULES} of `{name}`"));
    }
    // The error above already makes the file unusable, so the rest only costs time.
    for value in values.iter().take(MOST_RULES) {
        match TableFields::new(value) {
            Some(fields) => {
                read(&fields, source);
            }
            None => source
                .error(value.span().start, format!("write `[[{name}]]` and its keys below it")),
        }
    }
}

fn parse_rule(fields: &TableFields<'_>, trust: Trust, source: &mut FileSource<'_>) -> Option<Rule> {
    let errors = source.problems.len();
    fields.report_unknown_keys(&[&OTHER_KEYS[..], &CONDITIONS[..]].concat(), source);
    let name = fields.text("name", source);
    let decision = fields.decision("decide", source);
    let (path, path_except) = parse_paths(fields, source);
    let mut rule = Rule {
        name: name.map(|name| name.text.into()).unwrap_or_default(),
        // A rule without a valid decision is read to its end all the same, so that all of its
        // mistakes are reported at once.
        decision: decision.unwrap_or(RuleDecision::Ask),
        trust,
        file: source.name.into(),
        line: source.line(fields.at()),
        reason: fields.text("reason", source).map(|reason| reason.text.into()),
        demands: fields.demands(source),
        tool: parse_names(fields, "tool", source),
        verb: parse_names(fields, "verb", source),
        class: parse_classes(fields, source),
        command: parse_patterns(fields, "command", source, CommandPattern::from_text),
        options: parse_options(fields, source),
        path,
        path_except,
        host: parse_patterns(fields, "host", source, HostPattern::from_text),
        arguments: arguments::parse_conditions(fields, source),
        is_local: fields.is_set("local", source),
        project: parse_patterns(fields, "project", source, PathPattern::from_text),
        agent: parse_names(fields, "agent", source),
        between: parse_single(fields, "between", source, HourSpan::from_text),
        days: parse_days(fields, source),
        until: parse_single(fields, "until", source, RuleEnd::from_text),
        scope: None,
    };
    if rule.name.trim().is_empty() && !(fields.has("name") && source.problems.len() > errors) {
        source.error(fields.find_member("name"), "a rule needs a `name` of its own");
    }
    if !CONDITIONS.iter().any(|condition| fields.has(condition)) {
        let message =
            "a rule without any condition would hold for everything; add one of: ".to_owned();
        source.error(fields.at(), message + &CONDITIONS.join(", "));
    }
    if decision.is_none() || source.problems.len() > errors {
        return None;
    }
    // A warning and not an error: an error would keep the user's own rules from allowing anything
    // in every repository with such a file.
    if trust == Trust::Project && rule.decision == RuleDecision::Allow {
        let message = format!(
            "rule `{}` is left out: rules of a project may deny and ask, but not allow; \
             put it into your own rules",
            rule.name
        );
        source.report_problem(RuleProblemLevel::Warning, fields.at(), message);
        return None;
    }
    danger::check_rule(&mut rule, fields, source).then_some(rule)
}

pub(super) fn parse_names(
    fields: &TableFields<'_>,
    name: &str,
    source: &mut FileSource<'_>,
) -> Option<Vec<NamePattern>> {
    parse_patterns(fields, name, source, |text| Ok(NamePattern::new(text)))
}

/// Returns the options that may follow a command that ends in `*`; an empty list allows none.
fn parse_options(
    fields: &TableFields<'_>,
    source: &mut FileSource<'_>,
) -> Option<Vec<NamePattern>> {
    // Everywhere else an empty list is a mistake. Here it says that no option may follow.
    let is_empty = |value: &Spanned<DeValue<'_>>| {
        value.get_ref().as_array().is_some_and(|values| values.is_empty())
    };
    if fields.value("options").is_some_and(is_empty) {
        return Some(Vec::new());
    }
    parse_names(fields, "options", source)
}

/// Returns the paths of a rule, and those that it leaves out, written with `!`.
fn parse_paths(
    fields: &TableFields<'_>,
    source: &mut FileSource<'_>,
) -> (Option<Vec<PathPattern>>, Option<Vec<PathPattern>>) {
    let read = |text: &str| {
        let except = text.strip_prefix('!');
        Ok((PathPattern::from_text(except.unwrap_or(text))?, except.is_some()))
    };
    let Some(patterns) = parse_patterns(fields, "path", source, read) else { return (None, None) };
    let (except, named): (Vec<_>, Vec<_>) =
        patterns.into_iter().partition(|(_, is_except)| *is_except);
    let bare = |patterns: Vec<(PathPattern, bool)>| patterns.into_iter().map(|(p, _)| p).collect();
    let some = |patterns: Vec<_>| (!patterns.is_empty()).then(|| bare(patterns));
    (some(named), some(except))
}

pub(super) fn parse_classes(
    fields: &TableFields<'_>,
    source: &mut FileSource<'_>,
) -> Option<Vec<ActClass>> {
    parse_patterns(fields, "class", source, |text| {
        let known = ActClass::ALL.map(ActClass::name);
        let class = ActClass::parse(text);
        class
            .ok_or_else(|| format!("there is no class `{text}`{}", nearest_word_hint(text, &known)))
    })
}

pub(super) fn parse_patterns<T>(
    fields: &TableFields<'_>,
    name: &str,
    source: &mut FileSource<'_>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Option<Vec<T>> {
    let mut found = Vec::new();
    for TextField { text, at } in fields.texts(name, source)? {
        match read(&text) {
            Ok(pattern) => found.push(pattern),
            Err(reason) => source.error(at, format!("`{name}`: {reason}")),
        }
    }
    Some(found)
}

fn parse_single<T>(
    fields: &TableFields<'_>,
    name: &str,
    source: &mut FileSource<'_>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Option<T> {
    let TextField { text, at } = fields.text(name, source)?;
    read(&text).map_err(|reason| source.error(at, format!("`{name}`: {reason}"))).ok()
}

fn parse_days(fields: &TableFields<'_>, source: &mut FileSource<'_>) -> Option<Weekdays> {
    let days = parse_patterns(fields, "days", source, |text| {
        Weekdays::from_text(text).map_err(|word| {
            format!("there is no day `{word}`{}", nearest_word_hint(&word, &DAY_NAMES))
        })
    })?;
    days.into_iter().reduce(Weekdays::union_with)
}

#[cfg(test)]
mod tests;
