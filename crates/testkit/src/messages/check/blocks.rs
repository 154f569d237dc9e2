//! Messages and their content blocks, each for itself.

use serde_json::{Map, Value};

use super::shape::{
    self, Field, Kind, field, join, list_of, nullable, optional, refuse, refuse_at,
};
use super::{Context, EFFORT, Outcome};

const CACHE: Field = nullable("cache_control", Kind::Cache);
const CALLER: Field = optional("caller", Kind::Object);
const TOOLSET: Field = nullable("toolset_name", Kind::Text);
const CITATIONS: Field = nullable("citations", Kind::Fields(&[optional("enabled", Kind::Bool)]));

type Table = (&'static str, &'static [Field]);

const TEXT: Table =
    ("text", &[field("text", Kind::Text), CACHE, nullable("citations", Kind::List)]);
const IMAGE: Table = (
    "image",
    &[
        field("source", Kind::Tagged(&IMAGE_SOURCES)),
        CACHE,
        nullable("transformations", Kind::Object),
    ],
);
const IMAGE_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const IMAGE_SOURCES: [Table; 3] = [
    ("base64", &[field("media_type", Kind::OneOf(&IMAGE_TYPES)), field("data", Kind::Text)]),
    ("url", &[field("url", Kind::Name)]),
    ("file", &[field("file_id", Kind::Name)]),
];
const DOCUMENT: Table = (
    "document",
    &[
        field("source", Kind::Tagged(&DOCUMENT_SOURCES)),
        CACHE,
        CITATIONS,
        nullable("context", Kind::Text),
        nullable("title", Kind::Text),
    ],
);
const DOCUMENT_SOURCES: [Table; 5] = [
    (
        "base64",
        &[field("media_type", Kind::OneOf(&["application/pdf"])), field("data", Kind::Text)],
    ),
    ("text", &[field("media_type", Kind::OneOf(&["text/plain"])), field("data", Kind::Text)]),
    ("content", &[field("content", Kind::Any)]),
    ("url", &[field("url", Kind::Name)]),
    ("file", &[field("file_id", Kind::Name)]),
];
const SEARCH_RESULT: Table = (
    "search_result",
    &[
        field("content", Kind::List),
        field("source", Kind::Text),
        field("title", Kind::Text),
        CACHE,
        CITATIONS,
    ],
);
const TOOL_REFERENCE: Table = ("tool_reference", &[field("tool_name", Kind::Name), CACHE]);
const TOOL_ADDITION: Table = ("tool_addition", &[field("tool", Kind::Object), CACHE]);
const TOOL_REMOVAL: Table = ("tool_removal", &[field("tool", Kind::Object), CACHE]);
const BROWSER_STATE: Table =
    ("browser_state", &[field("tabs", Kind::List), CACHE, nullable("state_changes", Kind::List)]);
/// What the service's own tools leave in an answer, to be sent back as it came.
const SERVED_RESULT: &[Field] =
    &[field("tool_use_id", Kind::Name), field("content", Kind::Any), CACHE, CALLER];

const BLOCKS: [Table; 24] = [
    TEXT,
    IMAGE,
    DOCUMENT,
    SEARCH_RESULT,
    ("thinking", &[field("thinking", Kind::Text), field("signature", Kind::Text)]),
    ("redacted_thinking", &[field("data", Kind::Text)]),
    (
        "tool_use",
        &[
            field("id", Kind::Text),
            field("name", Kind::Text),
            field("input", Kind::Object),
            CACHE,
            CALLER,
            TOOLSET,
        ],
    ),
    (
        "tool_result",
        &[
            field("tool_use_id", Kind::Text),
            CACHE,
            optional("content", Kind::Any),
            optional("is_error", Kind::Bool),
            TOOLSET,
        ],
    ),
    (
        "server_tool_use",
        &[
            field("id", Kind::Name),
            field("name", Kind::Name),
            field("input", Kind::Object),
            CACHE,
            CALLER,
        ],
    ),
    ("web_search_tool_result", SERVED_RESULT),
    ("web_fetch_tool_result", SERVED_RESULT),
    ("advisor_tool_result", SERVED_RESULT),
    ("code_execution_tool_result", SERVED_RESULT),
    ("bash_code_execution_tool_result", SERVED_RESULT),
    ("text_editor_code_execution_tool_result", SERVED_RESULT),
    ("tool_search_tool_result", SERVED_RESULT),
    (
        "mcp_tool_use",
        &[
            field("id", Kind::Name),
            field("name", Kind::Name),
            field("server_name", Kind::Name),
            field("input", Kind::Object),
            CACHE,
        ],
    ),
    (
        "mcp_tool_result",
        &[
            field("tool_use_id", Kind::Name),
            optional("content", Kind::Any),
            optional("is_error", Kind::Bool),
            CACHE,
        ],
    ),
    ("container_upload", &[field("file_id", Kind::Name), CACHE]),
    (
        "compaction",
        &[
            nullable("content", Kind::Text),
            nullable("encrypted_content", Kind::Text),
            nullable("signature", Kind::Text),
            nullable("tool_changes", Kind::List),
            CACHE,
        ],
    ),
    TOOL_ADDITION,
    TOOL_REMOVAL,
    ("mcp_tool_listing", &[field("mcp_server_name", Kind::Name), field("tools", Kind::List)]),
    (
        "fallback",
        &[field("from", Kind::Object), field("to", Kind::Object), optional("trigger", Kind::Any)],
    ),
];

const RESULT_BLOCKS: [Table; 6] =
    [TEXT, IMAGE, SEARCH_RESULT, DOCUMENT, TOOL_REFERENCE, BROWSER_STATE];
const SYSTEM_BLOCKS: [Table; 3] = [TEXT, TOOL_ADDITION, TOOL_REMOVAL];

/// Checks the top-level `system`.
pub(super) fn system(system: Option<&Value>) -> Outcome {
    match system {
        None | Some(Value::String(_)) => Ok(()),
        Some(blocks) => {
            list_of("system", blocks, &[TEXT])?;
            each_text("system", blocks)
        }
    }
}

/// Checks each message by itself.
pub(super) fn messages(body: &Map<String, Value>, context: &Context<'_>) -> Outcome {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    if messages.is_empty() {
        return refuse("messages: at least one message is required");
    }
    let each = messages.iter().enumerate();
    each.into_iter().try_for_each(|(at, message)| one(&join("messages", at), message, context))
}

fn one(path: &str, message: &Value, context: &Context<'_>) -> Outcome {
    let role = message["role"].as_str().unwrap_or_default();
    let mut table = vec![
        field("role", Kind::OneOf(&["user", "assistant", "system"])),
        field("content", Kind::Any),
    ];
    if role == "system" {
        table.extend(per_turn(context));
    }
    shape::fields(path, shape::object(path, message)?, &table)?;
    content(path, role, &message["content"])?;
    if context.newest { since_2026_10_21(path, role, &message["content"]) } else { Ok(()) }
}

/// Returns what a message of the role `system` may carry beside its content, by beta flag.
fn per_turn(context: &Context<'_>) -> Vec<Field> {
    const CONFIG: Field = nullable("output_config", Kind::Fields(&[nullable("effort", EFFORT)]));
    const CLEAR: Field = nullable("clear_at", Kind::OneOf(&["next_user_message", "never"]));
    let has = |start: &str| context.has_beta(start);
    let mut fields = Vec::new();
    if has("per-turn-control-") || has("mid-conversation-output-config-") {
        fields.push(CONFIG);
    }
    if has("per-turn-control-") || has("mid-conversation-system-clear-at-") {
        fields.push(CLEAR);
    }
    fields
}

/// Returns what version 2026-10-21 refuses beside the sampling parameters. The words are not the
/// service's own.
fn since_2026_10_21(path: &str, role: &str, content: &Value) -> Outcome {
    for (at, block) in content.as_array().into_iter().flatten().enumerate() {
        let place = format!("{path}.content.{at}");
        let found = [block].into_iter().chain(block["content"].as_array().into_iter().flatten());
        let mut cited = found.filter(|part| part["type"] == "text").map(|part| &part["citations"]);
        if role == "assistant" && block["type"] == "document" {
            return refuse_at(&place, "`document` blocks can only be in `user` messages");
        }
        if role == "user" && cited.any(|list| list.as_array().is_some_and(|l| !l.is_empty())) {
            return refuse_at(&place, "`citations` can only be in `assistant` messages");
        }
    }
    Ok(())
}

fn content(path: &str, role: &str, content: &Value) -> Outcome {
    let empty = match content {
        Value::String(text) => text.is_empty(),
        Value::Array(blocks) => blocks.is_empty(),
        _ => return refuse_at(&join(path, "content"), "Input should be a valid list"),
    };
    if empty {
        let message = "all messages must have non-empty content except for the optional final \
                       assistant message";
        return refuse_at(path, message);
    }
    let Value::Array(blocks) = content else { return text("messages", content) };
    let tables = if role == "system" { &SYSTEM_BLOCKS[..] } else { &BLOCKS[..] };
    let path = join(path, "content");
    list_of(&path, content, tables)?;
    each_text("messages", content)?;
    let mut each = blocks.iter().enumerate();
    each.try_for_each(|(at, item)| block(&join(&path, at), role, item))
}

/// Returns the rules of a block that no table holds.
fn block(path: &str, role: &str, block: &Value) -> Outcome {
    let kind = block["type"].as_str().unwrap_or_default();
    if let Some(owner) = owner(kind).filter(|owner| *owner != role) {
        return refuse_at(path, &format!("`{kind}` blocks can only be in `{owner}` messages"));
    }
    match kind {
        "tool_use" => tool_use(&join(path, kind), block),
        "tool_result" => tool_result(&join(path, kind), &block["content"]),
        "image" => image(&join(path, "image.source.base64"), &block["source"]),
        _ => Ok(()),
    }
}

/// Returns the only role that may use a kind of block, where there is one.
fn owner(kind: &str) -> Option<&'static str> {
    match kind {
        "tool_use" | "thinking" | "redacted_thinking" | "server_tool_use" => Some("assistant"),
        "tool_result" => Some("user"),
        _ => None,
    }
}

fn tool_use(path: &str, block: &Value) -> Outcome {
    let id = block["id"].as_str().unwrap_or_default();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    if id.is_empty() || !id.bytes().all(plain) {
        return refuse_at(&join(path, "id"), "String should match pattern '^[a-zA-Z0-9_-]+$'");
    }
    let name = block["name"].as_str().unwrap_or_default();
    match name.chars().count() {
        0 => refuse_at(&join(path, "name"), "String should have at least 1 character"),
        1..=200 => Ok(()),
        _ => refuse_at(&join(path, "name"), "String should have at most 200 characters"),
    }
}

fn tool_result(path: &str, content: &Value) -> Outcome {
    let place = join(path, "content");
    match content {
        Value::Null | Value::String(_) => Ok(()),
        Value::Array(blocks) => {
            list_of(&place, content, &RESULT_BLOCKS)?;
            each_text("messages", content)?;
            let images = blocks.iter().filter(|block| block["type"] == "image");
            images.into_iter().try_for_each(|block| image(&place, &block["source"]))
        }
        _ => refuse_at(&place, "Input should be a valid list"),
    }
}

fn each_text(path: &str, blocks: &Value) -> Outcome {
    let blocks = blocks.as_array().map_or(&[][..], Vec::as_slice);
    let mut texts = blocks.iter().filter(|block| block["type"] == "text");
    texts.try_for_each(|block| text(path, &block["text"]))
}

fn text(path: &str, text: &Value) -> Outcome {
    let text = text.as_str().unwrap_or_default();
    if text.is_empty() {
        return refuse_at(path, "text content blocks must be non-empty");
    }
    if text.trim().is_empty() {
        return refuse_at(path, "text content blocks must contain non-whitespace text");
    }
    Ok(())
}

/// Checks that the first bytes are those of the named type, as the API does.
fn image(path: &str, source: &Value) -> Outcome {
    if source["type"] != "base64" {
        return Ok(());
    }
    let data = source["data"].as_str().unwrap_or_default();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    if data.is_empty() || !data.len().is_multiple_of(4) || !data.bytes().all(plain) {
        return refuse_at(path, "invalid base64 data");
    }
    let starts = ["/9j/", "iVBORw0KGgo", "R0lGOD", "UklGR"];
    let found = starts.iter().zip(IMAGE_TYPES).find(|(start, _)| data.starts_with(**start));
    let named = source["media_type"].as_str().unwrap_or_default();
    match found {
        Some((_, kind)) if kind == named => Ok(()),
        Some((_, kind)) => refuse_at(
            path,
            &format!(
                "The image was specified using the {named} media type, but the image appears to \
                 be a {kind} image"
            ),
        ),
        None => refuse("Could not process image"),
    }
}
