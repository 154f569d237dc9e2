//! What a use of callgate's own tools is about, on one line, where its body alone does not say it.

use super::CardBody;
use super::body::quoted;
use crate::plain;
use serde_json::{Map, Value};

/// The line for a tool's masked input; nothing when the body or the tool's name says it all.
pub(super) fn of(tool: &str, input: &str, body: &CardBody) -> Option<String> {
    let fields: Map<String, Value> = serde_json::from_str(input).ok()?;
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    // In quotes unless it is plain, so that nothing in it reads as a word of ours.
    let word = |name: &str| text(name).map(quoted);
    let folder = || word("path").unwrap_or_else(|| ".".to_owned());
    let line = match tool {
        "run_shell_command" => {
            let (command, cwd) = (body.line()?, word("cwd")?);
            format!("{} (in {cwd})", command.trim())
        }
        "read_file" => format!("read {}", text("path")?),
        // Of their usual shape, the body says it.
        "write_file" => format!("write {}", text("path")?),
        "edit_file" => format!("edit {}", text("path")?),
        "list_files" => format!("list {}", folder()),
        "search_files" => format!("find {} in {}", word("pattern")?, folder()),
        "search_text" => format!("search for {} in {}", word("pattern")?, folder()),
        _ => return None,
    };
    Some(plain::visible(&line))
}
