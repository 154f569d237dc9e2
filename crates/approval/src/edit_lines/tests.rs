//! Lines of edits in real files.

use callgate_wire::approval::ApprovalRequest;
use callgate_wire::desk::CardContent;
use serde_json::{Value, json};

use super::note_edit_lines;
use crate::card::Card;

fn noted(folder: &std::path::Path, tool: &str, input: &Value) -> ApprovalRequest {
    let line = json!({
        "request_id": "550e8400-e29b-41d4-a716-446655440000", "agent": "claude-code", "cwd": folder,
        "session_id": "s", "tool_name": tool, "tool_input": input, "permission_suggestions": [],
    });
    let mut request = ApprovalRequest::decode(line.to_string().as_bytes()).unwrap();
    note_edit_lines(&mut request);
    request
}

/// Returns the numbers of the lines that a card shows, old and new.
fn numbers(request: &ApprovalRequest) -> Vec<(Option<u64>, Option<u64>)> {
    let card = Card::new(request, request.tool_input.get(), 0, 0);
    let CardContent::Edit { changes, .. } = &card.body else { panic!("{:?}", card.body) };
    changes.iter().flat_map(|change| &change.lines).map(|line| (line.old, line.new)).collect()
}

#[test]
fn a_diff_has_the_line_numbers_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let text: Vec<String> = (1..=50).map(|at| format!("line {at}\n")).collect();
    std::fs::write(folder.path().join("a.txt"), text.concat()).unwrap();
    let edit = json!({ "file_path": "a.txt", "old_string": "line 40\n", "new_string": "x\ny\n" });
    let request = noted(folder.path(), "Edit", &edit);
    assert_eq!(numbers(&request), [(Some(40), None), (None, Some(40)), (None, Some(41))]);
    let edits = json!({ "file_path": "a.txt", "edits": [
        { "old_string": "line 20", "new_string": "x" },
        { "old_string": "line 10\n", "new_string": "a\nb\nc\n" },
        { "old_string": "line 30", "new_string": "z" },
        { "old_string": "not there", "new_string": "z" },
    ] });
    let request = noted(folder.path(), "MultiEdit", &edits);
    let context = request.context.as_ref().unwrap();
    assert_eq!(context.edit_lines.as_deref(), Some([20, 10, 30, 0].as_slice()));
    let shown = numbers(&request);
    assert_eq!(shown[..2], [(Some(20), None), (None, Some(20))]);
    let added = |at| (None, Some(at));
    assert_eq!(shown[2..6], [(Some(10), None), added(10), added(11), added(12)]);
    assert_eq!(shown[6..8], [(Some(30), None), (None, Some(32))], "two more lines stand above");
    assert_eq!(shown[8..], [(None, None), (None, None)], "it is not known where");
}

#[test]
fn lines_of_what_cannot_be_read_at_once_have_no_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let edit = |file: &str| json!({ "file_path": file, "old_string": "a\n", "new_string": "b\n" });
    let pipe = folder.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    std::fs::write(folder.path().join("bytes"), [0xff, b'a', b'\n']).unwrap();
    for file in ["missing", "pipe", "bytes", "."] {
        let request = noted(folder.path(), "Edit", &edit(file));
        assert_eq!(request.context.as_ref().unwrap().edit_lines, None, "{file}");
        assert_eq!(numbers(&request), [(None, None), (None, None)], "{file}");
    }
    assert_eq!(noted(folder.path(), "Read", &json!({ "file_path": "missing" })).context, None);
}
