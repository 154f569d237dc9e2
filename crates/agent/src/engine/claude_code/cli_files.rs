//! The CLI's tools for files in the form of the runtime's own, so that front ends draw both alike.

use std::fmt::Write as _;

use callgate_mask::text::diff_pieces;
use callgate_wire::desk::ContentChange;
use callgate_wire::tool_act::{EditChange, TextChange, ToolAct};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

const LONGEST_DIFF: usize = 64 * 1024;

/// What the CLI reports about a call of one of its tools for files.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CliFileReport {
    /// `create` or `update`, of a file that was written.
    #[serde(rename = "type")]
    kind: String,
    /// The lines that were changed, and those around them.
    structured_patch: Vec<CliHunk>,
    file: Option<CliReadFile>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CliHunk {
    old_start: u64,
    old_lines: u64,
    new_start: u64,
    new_lines: u64,
    lines: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct CliReadFile {
    content: String,
}

/// Returns the result of a call for front ends. `text` is what the model reads, and `details` what
/// the CLI reports beside it.
pub(super) fn result_for_front(
    name: &str,
    input: &Value,
    text: &str,
    details: Option<&RawValue>,
) -> Value {
    let act = input.as_object().map(|input| ToolAct::from_call("", name, input));
    let report = details.and_then(|details| serde_json::from_str(details.get()).ok());
    let known = act.and_then(|act| known_result(&act, text, report.unwrap_or_default()));
    known.unwrap_or_else(|| json!({ "content": text }))
}

fn known_result(act: &ToolAct<'_>, text: &str, report: CliFileReport) -> Option<Value> {
    Some(match act {
        ToolAct::Write(file, content) => {
            let (path, content) = (file.path()?, (*content)?);
            let mut result = json!({
                "path": path, "bytes": content.len(), "lines": content.lines().count(),
            });
            // Left out where the CLI does not say it: the file may have existed.
            if !report.kind.is_empty() {
                result["created"] = json!(report.kind == "create");
            }
            if !report.structured_patch.is_empty() {
                result["diff"] = json!(diff_text(path, &hunk_lines(&report.structured_patch)));
            }
            result
        }
        ToolAct::Edit(file, EditChange::Texts(changes)) => {
            let path = file.path()?;
            let lines = match &report.structured_patch[..] {
                // The numbers of the lines in the file are not known.
                [] => changes.iter().map(unnumbered_lines).collect(),
                numbered => hunk_lines(numbered),
            };
            json!({ "path": path, "diff": diff_text(path, &lines) })
        }
        ToolAct::Read(file) => {
            let lines = numbered_lines(text);
            // The text for the model has line numbers and remarks, which are not in the file.
            let content = report.file.map_or_else(|| text.to_owned(), |file| file.content);
            json!({ "path": file.path()?, "content": content, "totalLines": lines })
        }
        _ => return None,
    })
}

fn diff_text(path: &str, changed: &str) -> String {
    format!("--- {path}\n+++ {path}\n{changed}")
}

fn unnumbered_lines(change: &TextChange<'_>) -> String {
    let lines = diff_pieces(change.old, change.new);
    ContentChange { lines, ..ContentChange::default() }.to_string()
}

/// Returns the changed lines in the unified form, as many as fit.
fn hunk_lines(patch: &[CliHunk]) -> String {
    let mut written = String::new();
    for hunk in patch {
        let CliHunk { old_start, old_lines, new_start, new_lines, lines } = hunk;
        let size: usize = lines.iter().map(|line| line.len() + 1).sum();
        if written.len() + size > LONGEST_DIFF {
            written.push_str("[The rest is not shown.]\n");
            break;
        }
        // Writing to a string cannot fail.
        writeln!(written, "@@ -{old_start},{old_lines} +{new_start},{new_lines} @@").ok();
        for line in lines {
            writeln!(written, "{line}").ok();
        }
    }
    written
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
        let text = "1\tone\n2\ttwo\n3\t\n\nremark";
        assert_eq!(result_for_front(name, input, text, None), *expected, "{name}");
    }

    #[test]
    fn what_the_cli_reports_is_used() {
        let check = |name: &str, input: Value, report: Value, expected: Value| {
            let report = serde_json::value::to_raw_value(&report).unwrap();
            assert_eq!(result_for_front(name, &input, "1\tone", Some(&report)), expected, "{name}");
        };
        let patch = json!([{"oldStart": 7, "oldLines": 2, "newStart": 7, "newLines": 2,
            "lines": [" one", "-two", "+three"]}]);
        let diff = "--- /a\n+++ /a\n@@ -7,2 +7,2 @@\n one\n-two\n+three\n";
        check(
            "Edit",
            json!({"file_path": "/a", "old_string": "two", "new_string": "three"}),
            json!({"filePath": "/a", "structuredPatch": patch, "originalFile": "one\ntwo\n"}),
            json!({"path": "/a", "diff": diff}),
        );
        check(
            "Write",
            json!({"file_path": "/a", "content": "one\nthree\n"}),
            json!({"type": "update", "structuredPatch": patch}),
            json!({"path": "/a", "bytes": 10, "lines": 2, "created": false, "diff": diff}),
        );
        check(
            "Read",
            json!({"file_path": "/a"}),
            json!({"type": "text", "file": {"filePath": "/a", "content": "one\n"}}),
            json!({"path": "/a", "content": "one\n", "totalLines": 1}),
        );
        let long = json!([{"lines": ["+".repeat(LONGEST_DIFF)]}]);
        check(
            "Edit",
            json!({"file_path": "/a", "old_string": "two", "new_string": "three"}),
            json!({"structuredPatch": long}),
            json!({"path": "/a", "diff": "--- /a\n+++ /a\n[The rest is not shown.]\n"}),
        );
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
        check("Write", &write, &json!({"path": "/a", "bytes": 4, "lines": 1}));
        let read = json!({"file_path": "/a"});
        let text =
            json!({"path": "/a", "content": "1\tone\n2\ttwo\n3\t\n\nremark", "totalLines": 2});
        check("Read", &read, &text);
        let plain = json!({"content": text["content"]});
        check("Bash", &json!({"command": "ls"}), &plain);
        check("Write", &json!({"file_path": 7}), &plain);
    }
}
