//! Conditions on the arguments of a tool: the values that a member of its input may have.
//!
//! For allowing, a condition is exact: the argument is given once, has the type that the rule
//! names, and a `*` does not match a separator (a comma, a blank, a slash). For denying and asking
//! it is generous: whatever a tool could take for such an argument matches.

mod decimal;
mod file_glob;
mod lookup;
mod pattern;

use callgate_wire::raw::Json;

use crate::act::Act;
use crate::glob::ComparisonBias;
use crate::steps;
use decimal::Decimal;
use lookup::{ArgumentMatch, find_all, find_one, find_scalars, list_elements};
use pattern::ArgumentPattern;

/// A relation between an argument and a number of the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberRelation {
    Less,
    AtMost,
    Equal,
    AtLeast,
    Greater,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ExpectedValue {
    /// A text that matches the pattern.
    Text(ArgumentPattern),
    Number(Vec<(NumberRelation, Decimal)>),
    /// `true` or `false`.
    Truth(bool),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArgumentCondition {
    /// The names that lead to it: more than one for a nested member.
    names: Vec<String>,
    /// Whether none of the values may match, written `!`.
    is_not: bool,
    /// One of these has to match. If there are none, the argument must not be given.
    choices: Vec<ExpectedValue>,
}

impl NumberRelation {
    const ALL: [(&'static str, Self); 6] = [
        // The longer signs come first, because `<` also begins `<=`.
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("==", Self::Equal),
        ("<", Self::Less),
        (">", Self::Greater),
        ("=", Self::Equal),
    ];

    fn holds(self, number: &Decimal, limit: &Decimal) -> bool {
        let order = number.cmp(limit);
        match self {
            Self::Less => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Equal => order.is_eq(),
            Self::AtLeast => order.is_ge(),
            Self::Greater => order.is_gt(),
        }
    }
}

pub(crate) enum WrittenValue {
    /// A text: a pattern, or comparisons.
    Text(String),
    /// A number, in decimal digits.
    Number(String),
    /// `true` or `false`.
    Truth(bool),
}

impl ArgumentCondition {
    /// Reads a condition on the argument to which `names` lead. No values mean that the argument
    /// must not be given.
    pub(crate) fn from_values(names: Vec<String>, values: &[WrittenValue]) -> Result<Self, String> {
        let mut choices = Vec::new();
        let mut negated = 0;
        for value in values {
            choices.push(match value {
                WrittenValue::Truth(truth) => ExpectedValue::Truth(*truth),
                WrittenValue::Number(text) => {
                    ExpectedValue::Number(vec![(NumberRelation::Equal, parse_number(text)?)])
                }
                WrittenValue::Text(text) => {
                    let rest = text.strip_prefix('!');
                    negated += usize::from(rest.is_some());
                    parse_expected(rest.unwrap_or(text))?
                }
            });
        }
        if negated != 0 && negated != choices.len() {
            return Err("write `!` before every value of the list, or before none".into());
        }
        Ok(Self { names, is_not: negated != 0, choices })
    }

    fn fits(&self, input: &str, lean: ComparisonBias, is_search: bool) -> bool {
        match lean {
            ComparisonBias::Strict => self.fits_strictly(input, self.is_not),
            ComparisonBias::Generous if self.choices.is_empty() => {
                find_all(input, &self.names).iter().all(|value| is_absent(*value))
            }
            // A deny with `!` holds wherever an allow of the same values would not.
            ComparisonBias::Generous if self.is_not => !self.fits_strictly(input, false),
            ComparisonBias::Generous => {
                // A search chooses its files by a pattern, so `.e*` also names the file `.env`.
                let is_glob = is_search && self.names == [file_glob::NAME];
                find_all(input, &self.names)
                    .iter()
                    .any(|value| self.could_be(*value) || (is_glob && self.is_chosen_by(*value)))
            }
        }
    }

    /// Returns true if the argument is given once and has one of the values or, if `is_not`, cannot
    /// be taken for one of them.
    fn fits_strictly(&self, input: &str, is_not: bool) -> bool {
        let value = match find_one(input, &self.names) {
            ArgumentMatch::Absent => return self.choices.is_empty(),
            // An allow needs one reading, since the tool may take another than the one that was
            // checked.
            ArgumentMatch::Unclear => return false,
            ArgumentMatch::Value(value) if is_absent(value) => return self.choices.is_empty(),
            ArgumentMatch::Value(value) => value,
        };
        if is_not {
            return !self.could_be(value);
        }
        let is_one = |value: Json<'_>| self.choices.iter().any(|choice| choice.is_match(value));
        match list_elements(value) {
            // A tool that takes a list acts on every element, so one bad element prevents an allow.
            Some(values) => values.into_iter().all(is_one),
            None => is_one(value),
        }
    }

    /// Returns true if the value is a pattern of files that chooses one of the named files.
    fn is_chosen_by(&self, value: Json<'_>) -> bool {
        let names = self.choices.iter().filter_map(|choice| match choice {
            ExpectedValue::Text(pattern) => pattern.file_name(),
            _ => None,
        });
        let glob = value.string();
        glob.is_some_and(|glob| names.into_iter().any(|name| file_glob::is_aimed_at(&glob, name)))
    }

    /// Returns true if something in the value could be taken for one of the named values.
    fn could_be(&self, value: Json<'_>) -> bool {
        // A value that is too deep or too large to examine may contain anything.
        let Some(scalars) = find_scalars(value) else { return true };
        let could = |scalar: &Json<'_>| self.choices.iter().any(|choice| choice.could_be(*scalar));
        scalars.iter().any(could)
    }
}

impl ExpectedValue {
    fn is_match(&self, value: Json<'_>) -> bool {
        match self {
            Self::Text(pattern) => value.string().is_some_and(|text| pattern.is_match(&text)),
            Self::Truth(truth) => value.get() == truth.to_string(),
            Self::Number(relations) => Decimal::from_text(value.get()).is_some_and(|number| {
                relations.iter().all(|(relation, limit)| relation.holds(&number, limit))
            }),
        }
    }

    /// Returns true if a tool could take the value for one that matches, or if that is unknown.
    fn could_be(&self, value: Json<'_>) -> bool {
        let text = value.string();
        let text = text.as_deref().unwrap_or(value.get());
        match self {
            Self::Text(pattern) => pattern.could_be(text),
            Self::Truth(truth) => parse_truth(text).is_none_or(|value| value == *truth),
            Self::Number(relations) => Decimal::read_loosely(text).is_none_or(|number| {
                relations.iter().all(|(relation, limit)| relation.holds(&number, limit))
            }),
        }
    }
}

/// Parses comparisons, `<= 100` or `>= 0, <= 100`, or else a pattern.
fn parse_expected(text: &str) -> Result<ExpectedValue, String> {
    if !text.trim_start().starts_with(['<', '>', '=']) {
        return ArgumentPattern::from_text(text).map(ExpectedValue::Text);
    }
    let mut relations = Vec::new();
    for comparison in text.split(',').map(str::trim) {
        let parts = NumberRelation::ALL
            .iter()
            .find_map(|(sign, relation)| Some((*relation, comparison.strip_prefix(sign)?)));
        let (relation, rest) = parts.ok_or_else(|| {
            format!("`{comparison}` is not a comparison; write it as in \">= 0, <= 100\"")
        })?;
        relations.push((relation, parse_number(rest.trim())?));
    }
    Ok(ExpectedValue::Number(relations))
}

fn parse_number(text: &str) -> Result<Decimal, String> {
    Decimal::from_text(text).ok_or_else(|| {
        format!(
            "`{text}` is not a number; for a text that begins with `<`, `>` or `=` write `?` for it"
        )
    })
}

/// Returns true if a value means the same as no value.
fn is_absent(value: Json<'_>) -> bool {
    value.is_null()
        || value.string().is_some_and(|text| text.is_empty())
        || list_elements(value).is_some_and(|values| values.is_empty())
}

/// Returns what a tool could take a text for where it expects true or false.
fn parse_truth(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "y" | "on" => Some(true),
        "false" | "f" | "no" | "n" | "off" | "" => Some(false),
        other => Decimal::from_text(other).map(|number| !number.is_zero()),
    }
}

/// Checks that the arguments of an act match all conditions. The error names the one that fails.
pub(crate) fn check_all_conditions(
    conditions: &[ArgumentCondition],
    act: &Act,
    lean: ComparisonBias,
) -> Result<(), String> {
    let Some(input) = act.input.as_deref() else {
        return match lean {
            ComparisonBias::Strict => Err("its arguments cannot be looked into".into()),
            // What was not read may be what the rule is about.
            ComparisonBias::Generous => Ok(()),
        };
    };
    let fits = |condition: &&ArgumentCondition| {
        // Each condition reads the whole input. Once the budget is spent none fits, and the verdict
        // is to ask.
        steps::spend_budget(1 + input.len() / 4) && condition.fits(input, lean, act.is_search)
    };
    match conditions.iter().find(|condition| !fits(condition)) {
        Some(condition) => {
            Err(format!("the argument `{}` does not fit", condition.names.join(".")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
