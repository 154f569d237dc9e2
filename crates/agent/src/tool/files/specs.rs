//! The names, descriptions and schemas of the file tools, as the model sees them.

use callgate_wire::session::tool_kind;

use serde_json::{Value, json};

use crate::tool::{ToolSpec, raw_json};

const PATH: &str = "Absolute, or relative to the working folder. Links that stay inside the \
                    allowed folders are followed.";
const IGNORED: &str = "Also what .gitignore and .ignore exclude, and .git.";
const TEXT: &str = "The text exactly, or with regex a regular expression.";
const GLOB: &str = "Only files whose name matches, such as *.rs.";

fn file_tool_spec(
    name: &'static str,
    description: &'static str,
    properties: &Value,
    required: &[&str],
    kind: &'static str,
) -> ToolSpec {
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    let is_read_only = matches!(kind, tool_kind::READ | tool_kind::SEARCH);
    let (name, description) = (name.into(), description.into());
    ToolSpec { name, description, input_schema: raw_json(&schema), is_read_only, kind }
}

/// Returns the members that the input of a tool may have.
pub(super) fn input_members(spec: &ToolSpec) -> Vec<String> {
    let schema: Value = serde_json::from_str(spec.input_schema.get()).unwrap_or_default();
    let properties = schema["properties"].as_object();
    properties.into_iter().flat_map(|members| members.keys().cloned()).collect()
}

pub(super) fn list_files() -> ToolSpec {
    file_tool_spec(
        "list_files",
        "Lists what is in a folder: names, types and sizes. Folders end with a slash.",
        &json!({ "path": { "type": "string", "description": PATH } }),
        &[],
        tool_kind::READ,
    )
}

pub(super) fn read_file() -> ToolSpec {
    file_tool_spec(
        "read_file",
        "Reads a text file, or a range of its lines. For a large file, read a range.",
        &json!({
            "path": { "type": "string", "description": PATH },
            "offset": { "type": "integer", "minimum": 1, "description": "The first line, from 1." },
            "limit": { "type": "integer", "minimum": 1, "description": "How many lines." },
        }),
        &["path"],
        tool_kind::READ,
    )
}

pub(super) fn write_file() -> ToolSpec {
    file_tool_spec(
        "write_file",
        "Writes a whole file: creates it, with its folders, or replaces what is in it. To change \
         a part of a file use edit_file.",
        &json!({
            "path": { "type": "string", "description": PATH },
            "content": { "type": "string", "description": "The whole new content." },
        }),
        &["path", "content"],
        tool_kind::EDIT,
    )
}

pub(super) fn edit_file() -> ToolSpec {
    file_tool_spec(
        "edit_file",
        "Replaces a text in a file by another, and shows the diff. The text has to occur \
         exactly once, with its blanks and line ends, unless replaceAll is set.",
        &json!({
            "path": { "type": "string", "description": PATH },
            "oldText": { "type": "string", "description": "The text to replace, exactly." },
            "newText": { "type": "string", "description": "The text that replaces it." },
            "replaceAll": { "type": "boolean", "description": "Replace every occurrence." },
        }),
        &["path", "oldText", "newText"],
        tool_kind::EDIT,
    )
}

pub(super) fn search_files() -> ToolSpec {
    file_tool_spec(
        "search_files",
        "Finds files and folders by name, in any case. A word matches every name that contains it; a \
         pattern may have *, ?, [a-z], {a,b} and ** for any folders. A pattern with a slash \
         begins at the folder that is searched.",
        &json!({
            "pattern": { "type": "string", "description": "A word, or a pattern such as **/*.rs." },
            "path": { "type": "string", "description": PATH },
            "maxResults": { "type": "integer", "minimum": 1 },
            "includeIgnored": { "type": "boolean", "description": IGNORED },
        }),
        &["pattern"],
        tool_kind::SEARCH,
    )
}

pub(super) fn analyze_image() -> ToolSpec {
    file_tool_spec(
        "analyze_image",
        "Shows you a picture (PNG, JPEG, GIF or WebP) from a file.",
        &json!({ "path": { "type": "string", "description": "The picture." } }),
        &["path"],
        tool_kind::READ,
    )
}

pub(super) fn search_text() -> ToolSpec {
    file_tool_spec(
        "search_text",
        "Finds lines by their text, in one file or all files of a folder. Returns file:line:text.",
        &json!({
            "pattern": { "type": "string", "description": TEXT },
            "path": { "type": "string", "description": PATH },
            "glob": { "type": "string", "description": GLOB },
            "regex": { "type": "boolean" },
            "ignoreCase": { "type": "boolean" },
            "maxResults": { "type": "integer", "minimum": 1 },
            "includeIgnored": { "type": "boolean", "description": IGNORED },
        }),
        &["pattern"],
        tool_kind::SEARCH,
    )
}
