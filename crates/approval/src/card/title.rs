//! Titles for calls of callgate's own tools whose body alone does not say what they are about.

use super::CardBody;
use super::body::quoted;
use crate::plain;
use serde_json::{Map, Value};

/// Returns the title for a tool's masked input, or `None` if the body or the tool's name says it
/// all.
pub(super) fn of(tool: &str, input: &str, body: &CardBody) -> Option<String> {
    let fields: Map<String, Value> = serde_json::from_str(input).ok()?;
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    // Quoted unless it is plain, so that nothing in it reads as our own text.
    let word = |name: &str| text(name).map(quoted);
    let folder = || word("path").unwrap_or_else(|| ".".to_owned());
    let line = match tool {
        "run_shell_command" => {
            let (command, cwd) = (body.line()?, word("cwd")?);
            format!("{} (in {cwd})", command.trim())
        }
        "read_file" => format!("read {}", text("path")?),
        // An input of usual shape has a body that says it.
        "write_file" => format!("write {}", text("path")?),
        "edit_file" => format!("edit {}", text("path")?),
        "list_files" => format!("list {}", folder()),
        "search_files" => format!("find {} in {}", word("pattern")?, folder()),
        "search_text" => format!("search for {} in {}", word("pattern")?, folder()),
        _ => return None,
    };
    Some(plain::visible(&line))
}
