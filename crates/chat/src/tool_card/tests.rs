//! Cards while their tools run, and after.

use callgate_wire::tool_act::{OWN_AGENT, ToolKind};
use expect_test::{Expect, expect};
use serde_json::json;
use serde_json::value::to_raw_value;

use super::*;
use crate::styled_text::tests::page;

fn card(name: &str, input: &Value) -> ToolCard {
    let call = ToolUse::new("1".to_owned(), name.to_owned(), to_raw_value(input).unwrap());
    ToolCard::new(&call, "/w/engine")
}

fn check(name: &str, input: &Value, result: &Value, expected: &Expect) {
    let result = ToolResult {
        tool_id: "1".to_owned(),
        tool_name: name.to_owned(),
        result: to_raw_value(result).unwrap(),
        is_error: Some(result.get("error").is_some()),
    };
    let rows = card(name, input).final_rows(&result, ResultExtent::Brief, &page(40));
    expected.assert_eq(&(rows.join("\n") + "\n"));
}

#[test]
fn results_are_shown_briefly() {
    let run = json!({"command": "make", "args": ["test"]});
    let lines: Vec<String> = (0..12).map(|number| format!("test {number}")).collect();
    let stdout = lines.join("\n");
    check(
        "run_shell_command",
        &run,
        &json!({"exitCode": 2, "stdout": stdout, "stderr": ""}),
        &expect![[r"
            ✗ exit code 2 Ran a command · make test
              … 4 more lines · Ctrl-O shows all
              test 4
              test 5
              test 6
              test 7
              test 8
              test 9
              test 10
              test 11
        "]],
    );
    check(
        "run_shell_command",
        &run,
        &json!({"exitCode": 0, "stdout": "", "stderr": ""}),
        &expect![[r"
            ✓ Ran a command · make test
        "]],
    );
    let read = json!({"path": "src/a-file-with-a-very-long-name-indeed.rs"});
    check(
        "read_file",
        &read,
        &json!({"content": "x", "totalLines": 1}),
        &expect![[r"
            ✓ Read a file · …/a-file-with-a-very-lo…
              1 line
        "]],
    );
    check(
        "read_file",
        &read,
        &json!({"error": "it does not\nexist"}),
        &expect![[r"
            ✗ Read a file · …/a-file-with-a-very-lo…
              it does not
              exist
        "]],
    );
    check(
        "other",
        &json!({"a": 1}),
        &json!({"b": [2]}),
        &expect![[r"
            ✓ Used other · a: 1
              b: 2
        "]],
    );
}

#[test]
fn a_path_is_shown_from_the_working_folder_and_keeps_the_name_of_the_file() {
    let check = |name: &str, input: Value, expected: &str| {
        assert_eq!(card(name, &input).live_rows(&page(40)), [expected]);
    };
    let path = "/w/engine/crates/agent/src/lib.rs";
    check("read_file", json!({"path": path}), "● Read a file · crates/agent/src/lib.rs");
    let path = "/w/engine/crates/agent/src/session/drive.rs";
    check("read_file", json!({"path": path}), "● Read a file · …/src/session/drive.rs");
    check(
        "write_file",
        json!({"path": path, "content": ""}),
        "● Write a file · …/src/session/drive.rs",
    );
    check("list_files", json!({"path": "/w/engine"}), "● List a folder · .");
    let search = json!({"path": "/w/engine/crates/agent/src", "pattern": "fn"});
    check("search_text", search, "● Search in files · fn in …/agent/src");
    let lost = card("read_file", &json!({"path": path})).lost_row(&page(40));
    assert_eq!(lost, "✗ Read a file · …/drive.rs (no result)");
}

/// The tools of the runtime, each with an input and a result as their protocol has them.
const OWN_CALLS: &str = r#"
run_shell_command {"command": "make"} {"exitCode": 0, "stdout": "ok"}
start_command {"command": "make"} {"id": "command-1"}
read_command {"id": "command-1", "waitSeconds": 5} {"id": "command-1", "running": true, "exitCode": null, "output": "1 ok\n2 ok\n"}
read_command {"id": "command-1"} {"id": "command-1", "running": false, "exitCode": 2, "output": "3 failed\n"}
write_to_command {"id": "command-1", "line": "y"} {"id": "command-1", "bytes": 2}
write_to_command {"id": "command-1", "endInput": true} {"id": "command-1", "bytes": 0}
stop_command {"id": "command-1"} {"id": "command-1", "running": false, "exitCode": null, "signal": "SIGTERM", "output": "stopping\n"}
read_file {"path": "a.rs"} {"path": "a.rs", "content": "x", "totalLines": 1}
list_files {} {"path": ".", "files": ["a.rs"], "entries": [{"name": "a.rs", "type": "file"}]}
search_files {"pattern": "*.rs"} {"files": ["a.rs"], "truncated": false}
search_text {"pattern": "fn"} {"matches": [{"path": "a.rs", "line": 7, "text": "fn x()"}], "searched": 3}
write_file {"path": "a", "content": "x"} {"path": "a", "created": true, "bytes": 1, "lines": 1}
edit_file {"path": "a", "oldText": "x", "newText": "y"} {"path": "a", "replacements": 1, "diff": "-x\n+y\n"}
get_system_info {} {"os": "Debian", "memory": {"totalBytes": 1024}, "timeZone": null, "programs": ["git", "make"]}
todo_write {"items": [{"text": "look", "status": "done"}]} {"items": [{"text": "look", "status": "done"}]}
ask_user {"questions": [{"question": "Which?", "options": [{"label": "Red"}]}]} {"answers": {"Which?": "Red"}}
analyze_image {"path": "a.png"} {"path": "a.png", "mediaType": "image/png", "size": 70}
open_in_default_app {"target": "a.pdf"} {"target": "a.pdf"}
read_clipboard {} {"text": "copied"}
write_clipboard {"content": "copied\ntext"} {"characters": 11}
capture_screenshot {"mode": "screen"} {"image": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
"#;

fn own_calls() -> impl Iterator<Item = (&'static str, Value, Value)> {
    OWN_CALLS.trim().lines().map(|line| {
        let (name, values) = line.split_once(' ').unwrap();
        let mut values = serde_json::Deserializer::from_str(values).into_iter();
        (name, values.next().unwrap().unwrap(), values.next().unwrap().unwrap())
    })
}

/// Neither a name that only the model knows nor JSON is shown of a tool that we know.
#[test]
fn calls_of_our_own_tools_are_shown_in_words() {
    let mut shown = String::new();
    for (name, input, result) in own_calls() {
        let result = ToolResult {
            tool_id: "1".to_owned(),
            tool_name: name.to_owned(),
            result: to_raw_value(&result).unwrap(),
            is_error: Some(false),
        };
        let piece = ToolInput {
            tool_id: "1".to_owned(),
            tool_name: name.to_owned(),
            deed: None,
            text: input.to_string(),
        };
        let draft = ToolCard::from_draft(&piece, "/w/engine").live_rows(&page(60));
        let card = card(name, &input);
        let rows = |extent| card.final_rows(&result, extent, &page(60));
        let brief = rows(ResultExtent::Brief);
        shown.push_str(&(brief.join("\n") + "\n"));
        for row in [draft, card.live_rows(&page(60)), brief, rows(ResultExtent::Full)].concat() {
            assert!(!row.contains(['{', '[']) && !row.contains(name), "{name}: {row}");
        }
    }
    expect![[r"
        ✓ Ran a command · make
          ok
        ✓ Started a command · make
        ✓ Read a command's output · command-1
          1 ok
          2 ok
        ✗ exit code 2 Read a command's output · command-1
          3 failed
        ✓ Typed into a running command · y
        ✓ Typed into a running command · id: command-1, endInput: t…
        ✓ Stopped a command · command-1
          stopping
        ✓ Read a file · a.rs
          1 line
        ✓ Listed a folder · .
          1 entry
        ✓ Found files · '*.rs' in .
          1 file
        ✓ Searched in files · fn in .
          1 match
        ✓ Wrote a file · a
          1 line
        ✓ Changed a file · a
          -x
          +y
        ✓ Described the machine
          os: Debian
          memory.totalBytes: 1024
          programs: git, make
        ✓ Wrote a plan
          ☑ look
        ✓ Asked a question · Which?
          Which? Red
        ✓ Looked at a picture · a.png
          mediaType: image/png
          size: 70
        ✓ Opened on the desktop · a.pdf
        ✓ Read the clipboard
          copied
        ✓ Wrote to the clipboard · copied⏎text
          characters: 11
        ✓ Took a screenshot · screen
          image: image/png, 1 KiB
    "]]
    .assert_eq(&shown);
    for (agent, tool, kind) in ToolKind::table().filter(|line| line.0 == OWN_AGENT) {
        // A front end undoes a turn, and no model.
        let is_tested = own_calls().any(|call| call.0 == tool) || kind == ToolKind::Undo;
        assert!(is_tested, "{agent} {tool}");
    }
}

#[test]
fn how_a_command_failed_comes_first() {
    let run = json!({"command": "make", "args": ["test"]});
    let check = |result: &Value, expected: &Expect| {
        check("run_shell_command", &run, result, expected);
    };
    check(
        &json!({"error": "ended by the time limit of 2.5 s", "exitCode": null,
            "stdout": "begun\n", "stderr": "", "timedOut": true}),
        &expect![[r"
            ✗ time limit Run a command · make test
              ended by the time limit of 2.5 s
              begun
        "]],
    );
    check(
        &json!({"error": "ended by the signal SIGKILL", "exitCode": null, "signal": "SIGKILL",
            "stdout": "", "stderr": "oops\n", "timedOut": false}),
        &expect![[r"
            ✗ SIGKILL Run a command · make test
              ended by the signal SIGKILL
              oops
        "]],
    );
    // The engine claude-code says that such a call failed.
    check(
        &json!({"error": "failed with exit code 2", "exitCode": 2, "stdout": "no rule",
            "timedOut": false}),
        &expect![[r"
            ✗ exit code 2 Run a command · make test
              failed with exit code 2
              no rule
        "]],
    );
}

#[test]
fn a_change_is_shown_as_a_diff() {
    let edit = json!({"path": "notes.txt"});
    check(
        "edit_file",
        &edit,
        &json!({"diff": "@@ -1 +1 @@\n-Milk\n+Bread\n"}),
        &expect![[r"
            ✓ Changed a file · notes.txt
              @@ -1 +1 @@
              -Milk
              +Bread
        "]],
    );
    let colours = ChatPage { colours: true, ..page(40) };
    let rows = diff_rows("-a\n+b\n c\n", 2, &colours).join("\n").replace('\u{1b}', "");
    assert_eq!(rows, "  [31m-a[0m\n[2m  … more changes · Ctrl-O shows all[0m");
}

#[test]
fn a_plan_is_a_list() {
    let items = json!({"items": [
        {"text": "look", "status": "done"},
        {"text": "write", "status": "active"},
        {"text": "check", "status": "pending"},
    ]});
    check(
        "todo_write",
        &items,
        &json!({}),
        &expect![[r"
            ✓ Wrote a plan
              ☑ look
              ▶ write
              ☐ check
        "]],
    );
}

#[test]
fn the_input_is_shown_while_the_model_writes_it() {
    let piece = |text: &str| ToolInput {
        tool_id: "1".to_owned(),
        tool_name: "write_file".to_owned(),
        deed: None,
        text: text.to_owned(),
    };
    let mut card = ToolCard::from_draft(&piece("{\"path\": \"no"), "/w/engine");
    let rows = |card: &ToolCard| card.live_rows(&page(40)).join("\n");
    assert_eq!(rows(&card), "○ Write a file · no");
    card.add_input("tes.txt\", \"content\": \"milk\\nbre");
    assert_eq!(rows(&card), "○ Write a file · notes.txt\n  milk\n  bre");
    card.add_input(&"ad\\n".repeat(2000));
    assert_eq!(rows(&card).lines().count(), 1 + LIVE_ROWS);
    assert!(card.output.len() <= LIVE_ROWS + 1);
    assert_eq!(card.lost_row(&page(60)), "✗ Write a file · notes.txt (not finished)");
}

#[test]
fn live_output_is_the_last_lines_and_drawn_over_as_its_program_does() {
    let mut card = card("run_shell_command", &json!({"command": "make"}));
    for text in ["one\ntw", "o\nthree\nfour\nfive\nsix\n", "10 %\r20 %\r", "30 %\u{1b}[K"] {
        card.add_output(text);
    }
    let rows = card.live_rows(&page(40)).join("\n");
    assert_eq!(rows, "● Run a command · make\n  three\n  four\n  five\n  six\n  30 %⟨U+001B⟩[K");
}
