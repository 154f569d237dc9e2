//! The tools a server offers, read from a schema file.
//!
//! One bad tool makes many clients refuse the whole list, without telling the user. So every entry
//! is checked against what all of them accept: a fault in a required member removes the tool, a
//! fault in an optional member removes that member, and both are reported.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use callgate_wire::raw::{Json, Members, json_string};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::schema::{SchemaChecker, misfit_message};

/// The largest schema file, in bytes: its tools have to fit on one line of a client, with room to
/// spare.
pub(crate) const LARGEST_SCHEMA_FILE: usize = 8 * 1024 * 1024;

/// The tools that a server offers.
#[derive(Debug)]
pub struct Catalogue {
    schemas: HashMap<String, InputSchema>,
    /// MCP's array of tools, on one line, as clients receive it.
    pub(super) tools: String,
}

/// The schema of a tool's arguments.
#[derive(Debug)]
struct InputSchema {
    schema: Value,
    /// Made at the first call, so that the start does not pay for tools that are never called.
    /// Absent if there is nothing to check, or no way to check it.
    checker: OnceLock<Option<SchemaChecker>>,
}

impl InputSchema {
    fn checker(&self) -> Option<&SchemaChecker> {
        let make = || {
            // The bridge has no say in the schemas: where one cannot be used, the arguments are
            // left to the host.
            let checker = SchemaChecker::new(&self.schema, "input_schema").ok();
            checker.filter(|checker| !checker.takes_any_object())
        };
        self.checker.get_or_init(make).as_ref()
    }
}

impl Catalogue {
    /// Reads a schema file. Returns the tools that can be offered, and a line for each thing that
    /// is left out; an error if the whole file is unusable.
    pub fn from_schema_file(file: &[u8]) -> Result<(Self, Vec<String>), String> {
        if file.len() > LARGEST_SCHEMA_FILE {
            return Err(format!("it is over the limit of {LARGEST_SCHEMA_FILE} bytes"));
        }
        let entries: Vec<&RawValue> = serde_json::from_slice(file)
            .map_err(|error| format!("it is not a JSON array of tools: {error}"))?;
        let mut left_out = Vec::new();
        let mut schemas = HashMap::new();
        let mut tools = Vec::new();
        for (entry, number) in entries.iter().zip(1..) {
            match translate_entry(entry) {
                Ok(tool) if schemas.contains_key(&tool.name) => {
                    // It would be unknown which of them a call means.
                    return Err(format!("two tools are called {:?}", tool.name));
                }
                Ok(tool) => {
                    let input = InputSchema { schema: tool.schema, checker: OnceLock::new() };
                    schemas.insert(tool.name, input);
                    left_out.extend(tool.left_off);
                    tools.push(tool.json);
                }
                Err(reason) => left_out.push(format!("tool {number} is left out: {reason}")),
            }
        }
        if tools.is_empty() && !entries.is_empty() {
            return Err(format!("none of its tools can be offered: {}", left_out.join("; ")));
        }
        let tools = format!("[{}]", tools.join(","));
        Ok((Self { schemas, tools }, left_out))
    }

    /// Checks the arguments of a call, for hosts that do not. The error says why they do not fit.
    /// Arguments that are valid JSON but nested too deeply to be checked fit no schema that demands
    /// anything.
    pub(crate) fn check_arguments(&self, name: &str, arguments: &str) -> Result<(), String> {
        let Some(checker) = self.schemas.get(name).and_then(InputSchema::checker) else {
            return Ok(());
        };
        let reason = match serde_json::from_str(arguments) {
            Ok(arguments) => checker.errors(&arguments),
            Err(error) => Some(error.to_string()),
        };
        reason.map_or(Ok(()), |reason| Err(misfit_message(name, &reason)))
    }

    /// Returns true if there is a tool of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.schemas.contains_key(name)
    }
}

struct ListedTool {
    name: String,
    schema: Value,
    json: String,
    left_off: Vec<String>,
}

/// Reads an entry of the schema file and translates it into MCP's spelling.
fn translate_entry(entry: &RawValue) -> Result<ListedTool, String> {
    // It is parsed twice: the members are passed on as the text that they are, and the values are
    // checked.
    let members: Members =
        Members::from_text(entry.get()).map_err(|_| "it is not an object".to_owned())?;
    let mut value: Value = serde_json::from_str(entry.get()).map_err(|error| error.to_string())?;
    let faults = check_entry(&value)?;
    let name = value["name"].as_str().unwrap_or_default().to_owned();
    let mut listed = HashSet::new();
    let kept = members.0.iter().filter(|(key, member)| {
        // Some clients drop the whole list because of one member that is `null`.
        let is_wanted = !member.is_null() && key != "execution" && listed.insert(mcp_name(key));
        is_wanted && !faults.iter().any(|fault| fault.member == *key)
    });
    let pairs: Vec<String> = kept
        .map(|(key, member)| {
            format!("{}:{}", json_string(mcp_name(key)), listed_member(key, *member))
        })
        .collect();
    let left_off = faults
        .iter()
        .map(|fault| format!("tool {name:?}: `{}` is left off: {}", fault.member, fault.reason))
        .collect();
    let schema = value["input_schema"].take();
    Ok(ListedTool { json: format!("{{{}}}", pairs.join(",")), name, schema, left_off })
}

/// Returns a member as it is listed. A schema of arguments always says that they are an object,
/// because some clients drop the whole list otherwise.
fn listed_member(key: &str, member: Json<'_>) -> String {
    let line = one_line(member);
    if key != "input_schema" || member.members().get("type").is_some() {
        return line;
    }
    match line.trim_start_matches('{').trim_start() {
        "}" => r#"{"type":"object"}"#.to_owned(),
        members => format!(r#"{{"type":"object",{members}"#),
    }
}

fn mcp_name(key: &str) -> &str {
    match key {
        "input_schema" => "inputSchema",
        "output_schema" => "outputSchema",
        key => key,
    }
}

fn one_line(member: Json<'_>) -> String {
    // JSON has bare line ends only between tokens, so no string changes.
    member.get().replace(['\n', '\r'], " ")
}

/// A fault in an optional member of a tool: clients would not accept it.
#[derive(Debug)]
pub(crate) struct MemberFault {
    member: &'static str,
    reason: &'static str,
}

impl std::fmt::Display for MemberFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`: {}", self.member, self.reason)
    }
}

/// An optional member, what is wrong with it if the check fails, and the check.
type MemberCheck = (&'static str, &'static str, fn(&Value) -> bool);

/// Checks an entry of a schema file. Returns the faulty optional members, or an error if the tool
/// cannot be offered at all.
pub(crate) fn check_entry(entry: &Value) -> Result<Vec<MemberFault>, String> {
    match entry.get("name").and_then(Value::as_str) {
        None => return Err("its `name` is not a string".to_owned()),
        Some("") => return Err("its `name` is empty".to_owned()),
        Some(_) => {}
    }
    let named = |reason: &str| format!("{} {reason}", entry["name"]);
    if !matches!(entry.get("description"), None | Some(Value::Null | Value::String(_))) {
        return Err(named("has a `description` that is not a string"));
    }
    let schema = entry.get("input_schema").unwrap_or(&Value::Null);
    check_input_schema(schema)
        .map_err(|reason| named(&format!("has an `input_schema` {reason}")))?;
    let checks: [MemberCheck; 5] = [
        ("title", "it is not a string", Value::is_string),
        ("annotations", "it is not an object of hints", is_annotations),
        ("output_schema", "it is not the schema of an object", |schema| {
            check_schema(schema).is_ok()
        }),
        ("icons", "it is not a list of icons", is_icons),
        ("_meta", "it is not an object", Value::is_object),
    ];
    let faults = checks.into_iter().filter_map(|(member, reason, is_good)| {
        let value = entry.get(member).filter(|value| !value.is_null())?;
        (!is_good(value)).then_some(MemberFault { member, reason })
    });
    Ok(faults.collect())
}

/// Checks a schema of arguments. It need not say that they are an object.
fn check_input_schema(schema: &Value) -> Result<(), &'static str> {
    match schema {
        Value::Object(members) if !members.contains_key("type") => check_members(schema),
        schema => check_schema(schema),
    }
}

fn check_schema(schema: &Value) -> Result<(), &'static str> {
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err("without `\"type\": \"object\"`");
    }
    check_members(schema)
}

fn check_members(schema: &Value) -> Result<(), &'static str> {
    let is_schema = |value: &Value| value.is_object() || value.is_boolean();
    match schema.get("properties") {
        None => {}
        Some(Value::Object(properties)) if properties.values().all(is_schema) => {}
        Some(_) => return Err("whose `properties` are not an object of schemas"),
    }
    match schema.get("required") {
        None => {}
        Some(Value::Array(names)) if names.iter().all(Value::is_string) => {}
        Some(_) => return Err("whose `required` is not a list of names"),
    }
    match schema.get("$schema") {
        None | Some(Value::String(_)) => Ok(()),
        Some(_) => Err("whose `$schema` is not a string"),
    }
}

fn is_annotations(value: &Value) -> bool {
    value.as_object().is_some_and(|hints| {
        hints.iter().all(|(name, hint)| match name.as_str() {
            "title" => hint.is_string(),
            name if name.ends_with("Hint") => hint.is_boolean(),
            _ => true,
        })
    })
}

fn is_icons(value: &Value) -> bool {
    value.as_array().is_some_and(|icons| icons.iter().all(is_icon))
}

fn is_icon(icon: &Value) -> bool {
    let is_list =
        |value: &Value| value.as_array().is_some_and(|values| values.iter().all(Value::is_string));
    icon.get("src").is_some_and(Value::is_string)
        && icon.get("mimeType").is_none_or(Value::is_string)
        && icon.get("sizes").is_none_or(is_list)
        && icon.get("theme").is_none_or(|theme| theme == "light" || theme == "dark")
}

#[cfg(test)]
mod tests;
