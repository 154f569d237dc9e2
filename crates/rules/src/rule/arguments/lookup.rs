//! Finds an argument in the JSON text of a tool's input.

use callgate_wire::raw::{Json, Members};
use serde_json::value::RawValue;

/// How deep an argument may be nested for its values to be checked one by one.
const DEEPEST: usize = 8;
/// The most values of one argument that are checked.
const MOST_VALUES: usize = 10_000;

/// The name that stands for all arguments.
const ANY: &str = "*";

/// What was found under the names of a condition.
pub(super) enum ArgumentMatch<'a> {
    Absent,
    /// More than one that a tool could take for it, or one inside something that is not an
    /// object.
    Unclear,
    Value(Json<'a>),
}

/// Finds the one argument with exactly these names.
///
/// Some JSON parsers do not distinguish `to` from `To`, and they differ in which of two they take,
/// so a second one makes it unclear.
pub(super) fn find_one<'a>(input: &'a str, names: &[String]) -> ArgumentMatch<'a> {
    if names == [ANY] {
        let whole = serde_json::from_str::<&RawValue>(input).map(Json::from);
        return whole.map_or(ArgumentMatch::Unclear, ArgumentMatch::Value);
    }
    let mut text = input;
    let mut found = None;
    for name in names {
        let Ok(members) = Members::from_text(text) else { return ArgumentMatch::Unclear };
        let folded = fold_name(name);
        let mut alike = members.0.iter().filter(|(key, _)| fold_name(key) == folded);
        match (alike.next(), alike.next()) {
            (None, _) => return ArgumentMatch::Absent,
            (Some((key, value)), None) if key == name => {
                text = value.get();
                found = Some(*value);
            }
            _ => return ArgumentMatch::Unclear,
        }
    }
    found.map_or(ArgumentMatch::Absent, ArgumentMatch::Value)
}

/// Finds every argument that a tool could take for the one with these names.
pub(super) fn find_all<'a>(input: &'a str, names: &[String]) -> Vec<Json<'a>> {
    let mut texts = vec![input];
    let mut found = Vec::new();
    for name in names {
        let folded = fold_name(name);
        let objects = texts.iter().flat_map(|text| find_objects(text));
        found = objects
            .flat_map(|members| members.0)
            .filter(|(key, _)| fold_name(key) == folded || name == ANY)
            .map(|(_, value)| value)
            .collect();
        texts = found.iter().map(|value| value.get()).collect();
    }
    found
}

/// Returns the object in a JSON text, or the objects in its list.
fn find_objects(text: &str) -> Vec<Members<'_>> {
    if let Ok(members) = Members::from_text(text) {
        return vec![members];
    }
    let values: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
    values.into_iter().filter_map(|value| Members::from_text(value.get()).ok()).collect()
}

/// Returns the elements of a list; `None` for every other value.
pub(super) fn list_elements(value: Json<'_>) -> Option<Vec<Json<'_>>> {
    let values: Vec<&RawValue> = serde_json::from_str(value.get()).ok()?;
    Some(values.into_iter().map(Json::from).collect())
}

/// Returns all texts, numbers and truth values in a value; `None` if they are too many or too
/// deep.
pub(super) fn find_scalars(value: Json<'_>) -> Option<Vec<Json<'_>>> {
    let mut found = Vec::new();
    let mut level = vec![value];
    // Level by level instead of by recursion, so that no depth of the input exhausts the stack.
    for _ in 0..DEEPEST {
        let mut next = Vec::new();
        for value in level {
            if value.is_object() {
                next.extend(value.members().0.into_iter().map(|(_, value)| value));
            } else if let Some(values) = list_elements(value) {
                next.extend(values);
            } else if !value.is_null() {
                found.push(value);
            }
        }
        if found.len() + next.len() > MOST_VALUES {
            return None;
        }
        if next.is_empty() {
            return Some(found);
        }
        level = next;
    }
    None
}

/// Returns a name as a lenient JSON parser compares it: without case, `_` and `-`.
fn fold_name(name: &str) -> String {
    let chars = name.chars().filter(|c| !matches!(c, '_' | '-'));
    // Converted to upper case first, because a lenient parser also takes `ſ` for `s`.
    chars.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}
