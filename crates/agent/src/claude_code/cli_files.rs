//! The CLI's tools for files in the form of the runtime's own, so that front ends draw both alike.

use callgate_mask::text::diff_pieces;
use callgate_wire::desk::ContentChange;
use callgate_wire::tool_act::{EditChange, ToolAct};
use serde_json::{Value, json};

/// Returns the result of a call for front ends. `text` is what the model reads.
pub(super) fn result(name: &str, input: &Value, text: &str) -> Value {
    let act = input.as_object().map(|input| ToolAct::of("", name, input));
    let known = act.and_then(|act| known(&act, text));
    known.unwrap_or_else(|| json!({ "content": text }))
}

fn known(act: &ToolAct<'_>, text: &str) -> Option<Value> {
    Some(match act {
        ToolAct::Write(file, content) => {
            json!({ "path": file.path()?, "lines": (*content)?.lines().count() })
        }
        ToolAct::Edit(file, EditChange::Texts(changes)) => {
            let path = file.path()?;
            // The numbers of the lines in the file are not known.
            let changes = changes.iter().map(|change| {
                let lines = diff_pieces(change.old, change.new);
                ContentChange { lines, ..ContentChange::default() }.to_string()
            });
            let diff: String = changes.collect();
            json!({ "path": path, "diff": format!("--- {path}\n+++ {path}\n{diff}") })
        }
        ToolAct::Read(file) => {
            json!({ "path": file.path()?, "content": text, "totalLines": numbered_lines(text) })
        }
        _ => return None,
    })
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
}
