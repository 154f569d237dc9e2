//! Reads the `arguments` of a rule: a table of conditions, nested as the arguments are.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fields::{FileSource, TableFields};
use super::{LONGEST_PATTERN, MOST_PATTERNS};
use crate::rule::arguments::{ArgumentCondition, WrittenValue};

/// How deep a condition may be nested.
const DEEPEST: usize = 8;

/// Parses all conditions, and reports errors at their positions.
pub(super) fn parse_conditions(
    fields: &TableFields<'_>,
    source: &mut FileSource<'_>,
) -> Vec<ArgumentCondition> {
    let mut found = Vec::new();
    let Some(value) = fields.value("arguments") else { return found };
    match value.get_ref().as_table() {
        Some(table) if !table.is_empty() => parse_members(table, &[], source, &mut found),
        _ => source.error(
            value.span().start,
            "`arguments` must be a table, such as { to = \"*@example.org\", amount = \"<= 100\" }",
        ),
    }
    if found.len() > MOST_PATTERNS {
        source.error(
            value.span().start,
            format!("`arguments` has more than {MOST_PATTERNS} members"),
        );
    }
    found
}

fn parse_members(
    table: &DeTable<'_>,
    above: &[String],
    source: &mut FileSource<'_>,
    found: &mut Vec<ArgumentCondition>,
) {
    for (key, value) in table {
        let at = value.span().start;
        let mut names = above.to_vec();
        names.push(key.get_ref().to_string());
        if let Some(table) = value.get_ref().as_table() {
            // An empty table would name no condition, and so would make the rule wider than it
            // looks.
            if table.is_empty() || names.len() >= DEEPEST {
                source.error(at, format!("`{}` names no condition", names.join(".")));
            } else {
                parse_members(table, &names, source, found);
            }
            continue;
        }
        let shown = names.join(".");
        match argument_values(value)
            .and_then(|values| ArgumentCondition::from_values(names, &values))
        {
            Ok(condition) => found.push(condition),
            Err(reason) => source.error(at, format!("`{shown}`: {reason}")),
        }
    }
}

fn argument_values(value: &Spanned<DeValue<'_>>) -> Result<Vec<WrittenValue>, String> {
    match value.get_ref() {
        DeValue::Array(values) if values.len() > MOST_PATTERNS => {
            Err(format!("there are more than {MOST_PATTERNS} values"))
        }
        DeValue::Array(values) => {
            values.iter().map(|value| written_value(value.get_ref())).collect()
        }
        value => Ok(vec![written_value(value)?]),
    }
}

fn written_value(value: &DeValue<'_>) -> Result<WrittenValue, String> {
    match value {
        DeValue::String(text) if text.len() <= LONGEST_PATTERN => {
            Ok(WrittenValue::Text(text.to_string()))
        }
        DeValue::String(_) => Err(format!("the string is longer than {LONGEST_PATTERN} bytes")),
        DeValue::Boolean(truth) => Ok(WrittenValue::Truth(*truth)),
        // TOML allows a `+` before a number, and JSON does not.
        DeValue::Integer(number) if number.radix() == 10 => {
            Ok(WrittenValue::Number(number.as_str().trim_start_matches('+').to_owned()))
        }
        DeValue::Float(number) => {
            Ok(WrittenValue::Number(number.as_str().trim_start_matches('+').to_owned()))
        }
        _ => {
            Err("a value must be a string, a decimal number, true, false, or a list of these"
                .into())
        }
    }
}
