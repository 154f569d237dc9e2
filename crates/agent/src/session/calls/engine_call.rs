//! What is announced about the calls of tools that an engine brings itself.

use std::path::Path;

use callgate_wire::session::{ToolLocation, tool_kind};
use callgate_wire::tool_act::{FileAct, ToolAct, ToolKind};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Returns the kind of a tool that the runtime does not have, and the files and folders that a call
/// is about. Relative paths are beneath `folder`.
pub(in crate::session) fn describe_call(
    tool: &str,
    input: &RawValue,
    folder: &Path,
) -> (&'static str, Vec<ToolLocation>) {
    let kind = ToolKind::for_tool("", tool);
    if !kind.is_about_files() {
        // Without parsing the input, which may be long.
        return (kind_word(kind), Vec::new());
    }
    let input: Map<String, Value> = serde_json::from_str(input.get()).unwrap_or_default();
    let line = input.get("offset").and_then(Value::as_u64).filter(|_| kind == ToolKind::Read);
    let place = |path: &str, line| ToolLocation {
        path: folder.join(path).to_string_lossy().into_owned(),
        line,
    };
    let locations = match ToolAct::from_call("", tool, &input) {
        ToolAct::Read(file) | ToolAct::Write(file, _) | ToolAct::Edit(file, _) => {
            file.path().map(|path| place(path, line)).into_iter().collect()
        }
        // Without a path, the whole folder is searched.
        ToolAct::Search(FileAct { named, .. }) => {
            vec![place(named.first().copied().unwrap_or_default(), None)]
        }
        _ => Vec::new(),
    };
    (kind_word(kind), locations)
}

fn kind_word(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Run(_) | ToolKind::Code => tool_kind::EXECUTE,
        ToolKind::Read | ToolKind::List => tool_kind::READ,
        ToolKind::Find | ToolKind::Search => tool_kind::SEARCH,
        _ if kind.changes_files() => tool_kind::EDIT,
        ToolKind::Fetch | ToolKind::WebSearch => tool_kind::FETCH,
        _ => tool_kind::OTHER,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    fn check(tool: &str, input: &Value, kind: &str, at: &[(&str, Option<u64>)]) {
        let input = to_raw_value(input).unwrap();
        let (word, places) = describe_call(tool, &input, Path::new("/project"));
        let places: Vec<(&str, Option<u64>)> =
            places.iter().map(|place| (&*place.path, place.line)).collect();
        assert_eq!((word, &places[..]), (kind, at), "{tool}");
    }

    #[test]
    fn tools_of_engines_have_kinds_and_locations() {
        let file = json!({"file_path": "/a/b.txt", "offset": 7});
        check("Read", &file, "read", &[("/a/b.txt", Some(7))]);
        check("Write", &file, "edit", &[("/a/b.txt", None)]);
        check("Edit", &json!({"file_path": "b.txt"}), "edit", &[("/project/b.txt", None)]);
        check("NotebookEdit", &json!({"notebook_path": "/n"}), "edit", &[("/n", None)]);
        check("Grep", &json!({"pattern": "x"}), "search", &[("/project/", None)]);
        check("Glob", &json!({"pattern": "*", "path": "/s"}), "search", &[("/s", None)]);
        check("Bash", &json!({"command": "ls"}), "execute", &[]);
        check("WebFetch", &json!({"url": "http://a"}), "fetch", &[]);
        check("Task", &json!({}), "other", &[]);
        check("Read", &json!({"file_path": 7}), "read", &[]);
        check("Read", &json!([]), "read", &[]);
    }
}
