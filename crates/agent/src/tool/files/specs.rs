//! The names, descriptions and schemas of the file tools, as the model sees them.

use callgate_wire::session::tool_kind;
use serde_json::{Value, json};

use crate::tool::ToolSpec;

const PATH: &str = "Absolute, or relative to the working folder. Links that stay inside the \
                    allowed folders are followed.";
const IGNORED: &str = "Also what .gitignore and .ignore exclude, and .git.";
const TEXT: &str = "The text exactly, or with regex a regular expression.";
const GLOB: &str = "Only files whose name matches, such as *.rs.";

pub(super) fn input_members(spec: &ToolSpec) -> Vec<String> {
    let schema: Value = serde_json::from_str(spec.input_schema.get()).unwrap_or_default();
    let properties = schema["properties"].as_object();
    properties.into_iter().flat_map(|members| members.keys().cloned()).collect()
}

pub(super) fn list_files() -> ToolSpec {
    ToolSpec::new(
        "list_files",
        "Lists what is in a folder: names, types and sizes. Folders end with a slash.",
        &json!({ "path": { "type": "string", "description": PATH } }),
        &[],
        tool_kind::READ,
    )
    .read_only()
}

pub(super) fn read_file() -> ToolSpec {
    ToolSpec::new(
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
    .read_only()
}

pub(super) fn write_file() -> ToolSpec {
    ToolSpec::new(
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
    ToolSpec::new(
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
    ToolSpec::new(
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
    .read_only()
}

pub(super) fn analyze_image() -> ToolSpec {
    ToolSpec::new(
        "analyze_image",
        "Shows you a picture (PNG, JPEG, GIF or WebP) from a file.",
        &json!({ "path": { "type": "string", "description": "The picture." } }),
        &["path"],
        tool_kind::READ,
    )
    .read_only()
}

pub(super) fn search_text() -> ToolSpec {
    ToolSpec::new(
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
    .read_only()
}
