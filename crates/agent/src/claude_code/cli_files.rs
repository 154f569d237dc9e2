//! The CLI's tools for files in the form of the runtime's own, so that front ends draw both alike.

use callgate_mask::text::{DiffLine, diff};
use serde_json::{Value, json};

use crate::engine::EquivalentCall;
use crate::tool::raw_json;

/// Returns the call of a tool of the runtime's that would change the same.
pub(super) fn equivalent(name: &str, input: &Value) -> Option<EquivalentCall> {
    let (tool, input) = match name {
        "Write" => (
            "write_file",
            json!({ "path": input.get("file_path")?, "content": input.get("content")? }),
        ),
        "Edit" => {
            let everywhere = input.get("replace_all").cloned().unwrap_or(json!(false));
            let (old, new) = (input.get("old_string")?, input.get("new_string")?);
            let path = input.get("file_path")?;
            (
                "edit_file",
                json!({ "path": path, "oldText": old, "newText": new, "replaceAll": everywhere }),
            )
        }
        _ => return None,
    };
    Some(EquivalentCall { tool, input: raw_json(&input) })
}

/// Returns the result of a call for front ends. `text` is what the model reads.
pub(super) fn result(name: &str, input: &Value, text: &str) -> Value {
    let path = &input["file_path"];
    let words = |key: &str| input[key].as_str().unwrap_or_default();
    match name {
        _ if !path.is_string() => json!({ "content": text }),
        "Write" => json!({ "path": path, "lines": words("content").lines().count() }),
        "Edit" => json!({ "path": path, "diff": edit_diff(input) }),
        "Read" => json!({ "path": path, "content": text, "totalLines": numbered_lines(text) }),
        _ => json!({ "path": path, "content": text }),
    }
}

/// Returns how many lines of a file the CLI has read. It numbers them, has an empty one after a
/// line feed at the end, and may add remarks of its own.
fn numbered_lines(text: &str) -> usize {
    let content = |line: &'_ str| -> Option<usize> {
        let (number, content) = line.split_once(['\t', '→'])?;
        let is_number = number.trim().bytes().all(|byte| byte.is_ascii_digit());
        is_number.then_some(content.len())
    };
    let lengths: Vec<usize> = text.lines().filter_map(content).collect();
    lengths.len() - usize::from(lengths.last() == Some(&0))
}

/// Returns the lines that an edit removes and adds. Their numbers are not known.
fn edit_diff(input: &Value) -> String {
    let words = |key: &str| input[key].as_str().unwrap_or_default();
    let path = words("file_path");
    let lines = diff(words("old_string"), words("new_string"));
    let lines: Vec<String> = lines.iter().map(DiffLine::to_string).collect();
    format!("--- {path}\n+++ {path}\n{}\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, input: &Value, expected: &Value) {
        assert_eq!(result(name, input, "1\tone\n2\ttwo\n3\t\n\nremark"), *expected, "{name}");
    }

    #[test]
    fn results_have_the_form_of_our_own_tools() {
        let edit = json!({"file_path": "/a", "old_string": "one\ntwo", "new_string": "one\nthree"});
        check(
            "Edit",
            &edit,
            &json!({"path": "/a", "diff": "--- /a\n+++ /a\n one\n-two\n+three\n"}),
        );
        let write = json!({"file_path": "/a", "content": "one\n"});
        check("Write", &write, &json!({"path": "/a", "lines": 1}));
        let read = json!({"file_path": "/a"});
        let text =
            json!({"path": "/a", "content": "1\tone\n2\ttwo\n3\t\n\nremark", "totalLines": 2});
        check("Read", &read, &text);
        let plain = json!({"content": text["content"]});
        check("Bash", &json!({"command": "ls"}), &plain);
        check("Write", &json!({"file_path": 7}), &plain);
    }

    #[test]
    fn a_change_is_previewed_by_our_own_tool() {
        let own = |name: &str, input: Value| {
            let own = equivalent(name, &input)?;
            Some((own.tool, serde_json::from_str::<Value>(own.input.get()).unwrap()))
        };
        let edit = json!({"file_path": "/a", "old_string": "x", "new_string": "y"});
        let expected = json!({"path": "/a", "oldText": "x", "newText": "y", "replaceAll": false});
        assert_eq!(own("Edit", edit), Some(("edit_file", expected)));
        let write = json!({"file_path": "/a", "content": "x"});
        let expected = json!({"path": "/a", "content": "x"});
        assert_eq!(own("Write", write), Some(("write_file", expected)));
        assert_eq!(own("Write", json!({"file_path": "/a"})), None);
        assert_eq!(own("Bash", json!({"command": "ls"})), None);
    }
}
