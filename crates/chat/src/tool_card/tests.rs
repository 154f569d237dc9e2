//! Cards while their tools run, and after.

use expect_test::{Expect, expect};
use serde_json::json;
use serde_json::value::to_raw_value;

use super::*;
use crate::styled_text::tests::page;

fn card(name: &str, input: &Value) -> ToolCard {
    ToolCard::new(&ToolUse::new("1".to_owned(), name.to_owned(), to_raw_value(input).unwrap()))
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
            ✓ Read a file · src/a-file-with-a-very-…
              1 line
        "]],
    );
    check(
        "read_file",
        &read,
        &json!({"error": "it does not\nexist"}),
        &expect![[r"
            ✗ Read a file · src/a-file-with-a-very-…
              it does not
              exist
        "]],
    );
    check(
        "other",
        &json!({"a": 1}),
        &json!({"b": [2]}),
        &expect![[r#"
            ✓ Used other · {"a":1}
              {"b":[2]}
        "#]],
    );
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
        text: text.to_owned(),
    };
    let mut card = ToolCard::from_draft(&piece("{\"path\": \"no"));
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
