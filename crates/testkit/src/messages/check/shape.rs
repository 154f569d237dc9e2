//! The form of JSON objects as tables: which fields there are and what each may hold. A field
//! outside its table is refused.

use serde_json::{Map, Value};

use super::{Outcome, invalid};

/// One field of an object.
#[derive(Clone, Copy)]
pub(super) struct Field {
    name: &'static str,
    kind: Kind,
    required: bool,
    nullable: bool,
}

/// What a field may hold.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Checked elsewhere, or by nobody.
    Any,
    Text,
    /// A text that is not empty.
    Name,
    Texts,
    Bool,
    /// A whole number that is not below this.
    Whole(u64),
    /// A number from 0 to 1.
    Fraction,
    OneOf(&'static [&'static str]),
    Object,
    List,
    Cache,
    Fields(&'static [Field]),
    /// An object whose `type` chooses its fields.
    Tagged(&'static [(&'static str, &'static [Field])]),
    /// A list of such objects.
    ListOf(&'static [(&'static str, &'static [Field])]),
}

/// Returns a field that must be there.
pub(super) const fn field(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: true, nullable: false }
}

/// Returns a field that may be absent.
pub(super) const fn optional(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: false, nullable: false }
}

/// Returns a field that may be absent or null.
pub(super) const fn nullable(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: false, nullable: true }
}

const CACHE: [(&str, &[Field]); 1] =
    [("ephemeral", &[optional("ttl", Kind::OneOf(&["5m", "1h"]))])];

pub(super) fn refuse(message: &str) -> Outcome {
    Err(invalid(message.to_owned()))
}

/// Refuses with the place in front, as the API writes it.
pub(super) fn refuse_at(path: &str, message: &str) -> Outcome {
    Err(invalid(if path.is_empty() { message.to_owned() } else { format!("{path}: {message}") }))
}

/// Returns the path of a part.
pub(super) fn join(path: &str, part: impl std::fmt::Display) -> String {
    if path.is_empty() { part.to_string() } else { format!("{path}.{part}") }
}

/// Checks the fields of an object: those of the table in its order, then that there is no other.
pub(super) fn fields(path: &str, object: &Map<String, Value>, table: &[Field]) -> Outcome {
    for field in table {
        let place = join(path, field.name);
        match object.get(field.name) {
            None if field.required => return refuse_at(&place, "Field required"),
            None => {}
            Some(Value::Null) if field.nullable => {}
            Some(value) => kind(&place, value, field.kind)?,
        }
    }
    match object.keys().find(|key| !table.iter().any(|field| field.name == *key)) {
        Some(extra) => refuse_at(&join(path, extra), "Extra inputs are not permitted"),
        None => Ok(()),
    }
}

/// Checks an object by the table that its `type` names; the tag joins the path, as in the API's
/// messages.
pub(super) fn tagged(
    path: &str,
    value: &Value,
    tables: &[(&'static str, &'static [Field])],
) -> Outcome {
    let mut rest = object(path, value)?.clone();
    let Some(Value::String(tag)) = rest.remove("type") else {
        return refuse_at(path, "Unable to extract tag using discriminator 'type'");
    };
    let Some((_, table)) = tables.iter().find(|(name, _)| *name == tag) else {
        let expected: Vec<String> = tables.iter().map(|(name, _)| format!("'{name}'")).collect();
        let message = format!(
            "Input tag '{tag}' found using 'type' does not match any of the expected tags: {}",
            expected.join(", ")
        );
        return refuse_at(path, &message);
    };
    fields(&join(path, &tag), &rest, table)
}

/// Returns the value as an object.
pub(super) fn object<'a>(
    path: &str,
    value: &'a Value,
) -> Result<&'a Map<String, Value>, super::ApiRefusal> {
    let refusal = || invalid(format!("{path}: Input should be a valid dictionary"));
    value.as_object().ok_or_else(refusal)
}

/// Checks each object of a list by its `type`.
pub(super) fn list_of(
    path: &str,
    value: &Value,
    tables: &[(&'static str, &'static [Field])],
) -> Outcome {
    let Some(list) = value.as_array() else {
        return refuse_at(path, "Input should be a valid list");
    };
    list.iter().enumerate().try_for_each(|(index, item)| tagged(&join(path, index), item, tables))
}

fn kind(path: &str, value: &Value, kind: Kind) -> Outcome {
    match kind {
        Kind::Any => Ok(()),
        Kind::Text => need(value.is_string(), path, "Input should be a valid string"),
        Kind::Name => name(path, value),
        Kind::Texts => texts(path, value),
        Kind::Bool => need(value.is_boolean(), path, "Input should be a valid boolean"),
        Kind::Whole(least) => whole(path, value, least),
        Kind::Fraction => fraction(path, value),
        Kind::OneOf(options) => one_of(path, value, options),
        Kind::Object => need(value.is_object(), path, "Input should be a valid dictionary"),
        Kind::List => need(value.is_array(), path, "Input should be a valid list"),
        Kind::Cache => tagged(path, value, &CACHE),
        Kind::Fields(table) => fields(path, object(path, value)?, table),
        Kind::Tagged(tables) => tagged(path, value, tables),
        Kind::ListOf(tables) => list_of(path, value, tables),
    }
}

fn need(condition: bool, path: &str, message: &str) -> Outcome {
    if condition { Ok(()) } else { refuse_at(path, message) }
}

fn name(path: &str, value: &Value) -> Outcome {
    need(value.is_string(), path, "Input should be a valid string")?;
    need(value != "", path, "String should have at least 1 character")
}

fn texts(path: &str, value: &Value) -> Outcome {
    need(value.is_array(), path, "Input should be a valid list")?;
    let list = value.as_array().into_iter().flatten().enumerate();
    let mut wrong = list.filter(|(_, item)| !item.is_string());
    match wrong.next() {
        Some((index, _)) => refuse_at(&join(path, index), "Input should be a valid string"),
        None => Ok(()),
    }
}

fn whole(path: &str, value: &Value, least: u64) -> Outcome {
    need(value.is_i64() || value.is_u64(), path, "Input should be a valid integer")?;
    let enough = value.as_u64().is_some_and(|number| number >= least);
    need(enough, path, &format!("Input should be greater than or equal to {least}"))
}

fn fraction(path: &str, value: &Value) -> Outcome {
    need(value.is_number(), path, "Input should be a valid number")?;
    let number = value.as_f64().unwrap_or_default();
    need(number >= 0.0, path, "Input should be greater than or equal to 0")?;
    need(number <= 1.0, path, "Input should be less than or equal to 1")
}

fn one_of(path: &str, value: &Value, options: &[&str]) -> Outcome {
    if value.as_str().is_some_and(|text| options.contains(&text)) {
        return Ok(());
    }
    let quoted: Vec<String> = options.iter().map(|option| format!("'{option}'")).collect();
    let (last, first) = quoted.split_last().expect("there is an option");
    let names =
        if first.is_empty() { last.clone() } else { format!("{} or {last}", first.join(", ")) };
    refuse_at(path, &format!("Input should be {names}"))
}
