//! A question in full shows each thing once.

use super::*;
use crate::telegram::look::full::{FullQuestion, full_question};

fn shown_in_full(tool: &str, input: &Value) -> String {
    let request = json!({
        "request_id": ID, "tool_name": tool, "tool_input": input, "cwd": "/home/ada/engine",
        "session_id": "s", "agent": "claude-code", "context": { "takes": ["edit"] },
    });
    let request = ApprovalRequest::decode(request.to_string().as_bytes()).unwrap();
    let card = Card::new(&request, &input.to_string(), 1_800_000_000_000, 1_800_000_300_000);
    match full_question(&card, 1) {
        FullQuestion::Pages(pages) => pages.iter().map(ToString::to_string).collect(),
        FullQuestion::File { content, .. } => content,
    }
}

#[test]
fn what_is_shown_is_not_repeated_as_json() {
    let edit = json!({ "old_string": "one\ntwo", "new_string": "one\n2" });
    let edits = json!([edit, { "old_string": "x", "new_string": "y", "replace_all": false }]);
    let options = json!([{ "label": "SQLite", "description": "a file" }, { "label": "None" }]);
    let questions = json!([{ "question": "Which?", "multiSelect": false, "options": options }]);
    for (tool, input) in [
        ("Bash", json!({ "command": "make build", "description": "Build" })),
        ("Edit", json!({ "file_path": "/a", "old_string": "one\ntwo", "new_string": "one\n2" })),
        ("MultiEdit", json!({ "file_path": "/a", "edits": edits })),
        ("AskUserQuestion", json!({ "questions": questions })),
    ] {
        let shown = shown_in_full(tool, &input);
        assert!(!shown.contains("The rest of the input"), "{tool}: {shown}");
    }
}

#[test]
fn what_is_not_shown_is_in_the_rest() {
    let bash = json!({ "command": "make build", "env": "make", "run_in_background": true });
    for part in ["The rest of the input", "env", "run_in_background"] {
        assert!(shown_in_full("Bash", &bash).contains(part), "{part}");
    }
    // Lines of a text that a diff leaves out.
    let lines: Vec<String> = (0..40).map(|number| format!("line {number}")).collect();
    let long = lines.join("\n");
    let changed = format!("first\n{long}\nlast");
    let edit = json!({ "file_path": "/a", "old_string": long, "new_string": changed });
    assert!(shown_in_full("Edit", &edit).contains("line 20"));
}
