//! The cards of the runtime's own tools in the page. People read them: none shows JSON.

use callgate_mask::call_card::call_card;
use callgate_testkit::page_barriers::assert_open_to_all;
use serde_json::{Value, json};

use crate::chat::DOT;
use crate::conversations::report_call;
use crate::desktop::{say, shell, wait_until_ready};

const DOCUMENTED: &str = include_str!("../../docs/protocol/runtime-tools.md");

/// A call of each tool, in the order of the document, and its result.
fn calls() -> Vec<(&'static str, Value, Value)> {
    let run = json!({ "exitCode": 0, "stdout": "done\n", "stderr": "", "timedOut": false,
        "durationMs": 7, "truncated": false });
    let choice = json!({ "question": "Which colour?", "options": [{ "label": "Red" }, { "label": "Blue" }] });
    let items = json!({ "items": [{ "text": "look", "status": "done" }] });
    let picture = json!({ "type": "base64", "media_type": "image/png", "data": DOT });
    let system = json!({ "os": "Linux", "kernel": "6.1", "architecture": "x86_64", "cpus": 2,
        "memory": { "totalBytes": 8, "availableBytes": null }, "cwd": "/w", "roots": ["/w", "/x"],
        "time": "now", "timeZone": null, "programs": ["git", "make"] });
    vec![
        (
            "list_files",
            json!({ "path": "src" }),
            json!({ "path": "src", "files": ["a.rs"], "entries": [{ "name": "a.rs", "type": "file", "size": 3 }],
                "more": 0, "truncated": false }),
        ),
        (
            "read_file",
            json!({ "path": "empty.txt" }),
            json!({ "path": "empty.txt", "content": "", "firstLine": 1, "lastLine": 0, "totalLines": 0,
                "more": false, "size": 0 }),
        ),
        (
            "write_file",
            json!({ "path": "a.txt", "content": "milk\n" }),
            json!({ "path": "a.txt", "created": true, "lines": 1, "bytes": 5 }),
        ),
        (
            "edit_file",
            json!({ "path": "a.txt", "oldText": "milk", "newText": "bread" }),
            json!({ "path": "a.txt", "replacements": 1,
                "diff": "--- a.txt\n+++ a.txt\n@@ -1,1 +1,1 @@\n-milk\n+bread\n" }),
        ),
        (
            "search_files",
            json!({ "pattern": "*.rs" }),
            json!({ "files": ["a.rs"], "truncated": false, "leftOutByRules": 0 }),
        ),
        (
            "search_text",
            json!({ "pattern": "fn", "regex": true }),
            json!({ "matches": [{ "path": "a.rs", "line": 3, "text": "fn main()" }], "searched": 1,
                "truncated": false, "leftOutByRules": 0 }),
        ),
        (
            "analyze_image",
            json!({ "path": "a.png" }),
            json!({ "path": "a.png", "mediaType": "image/png", "size": 70 }),
        ),
        ("run_shell_command", json!({ "command": "make" }), run),
        (
            "start_command",
            json!({ "command": "make", "args": ["serve"] }),
            json!({ "id": "cmd-1" }),
        ),
        (
            "read_command",
            json!({ "id": "cmd-1" }),
            json!({ "id": "cmd-1", "running": true, "exitCode": null, "output": "listening\n",
                "truncated": false }),
        ),
        (
            "write_to_command",
            json!({ "id": "cmd-1", "line": "stop" }),
            json!({ "id": "cmd-1", "bytes": 5 }),
        ),
        (
            "stop_command",
            json!({ "id": "cmd-1" }),
            json!({ "id": "cmd-1", "running": false, "exitCode": null, "signal": "SIGTERM",
                "output": "bye\n", "truncated": false }),
        ),
        ("todo_write", items.clone(), items),
        (
            "ask_user",
            json!({ "questions": [choice] }),
            json!({ "answers": { "Which colour?": "Red" } }),
        ),
        ("get_system_info", json!({}), system),
        ("open_in_default_app", json!({ "target": "a.png" }), json!({ "target": "/w/a.png" })),
        ("read_clipboard", json!({}), json!({ "text": "copied" })),
        ("write_clipboard", json!({ "content": "words" }), json!({ "characters": 5 })),
        ("capture_screenshot", json!({ "mode": "full" }), json!({ "image": picture })),
    ]
}

#[test]
fn no_card_of_an_own_tool_shows_json() {
    let names = DOCUMENTED.lines().filter_map(|line| line.strip_prefix("## `")?.strip_suffix('`'));
    let calls = calls();
    assert_eq!(calls.iter().map(|(name, ..)| *name).collect::<Vec<_>>(), names.collect::<Vec<_>>());
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    say(&browser, "stall");
    browser.wait_for_text(".chat-inner", "One moment");
    let folded = calls.len() - 1;
    for (name, input, result) in &calls {
        let Value::Object(input) = input.clone() else { panic!("{name}") };
        report_call(&browser, name, &json!(call_card(name, input)), result);
    }
    // The plan has no card that opens.
    browser.wait_for_text("[data-plan]", "look");
    let open = format!(
        "const cards = [...document.querySelectorAll('.tool')];
        cards.forEach((one) => {{ one.open = true; }});
        return cards.length === {folded} && cards.every((one) => one.children.length > 1)"
    );
    browser.wait_for("all cards", &open);
    for (name, ..) in calls.iter().filter(|(name, ..)| *name != "todo_write") {
        let text = browser.text(&format!("[data-tool={name}]"));
        assert!(!text.contains('{'), "{name}: {text}");
    }
    for (name, css, text) in [
        ("read_command", ".terminal", "listening\nstill running"),
        ("stop_command", ".terminal", "bye\nSIGTERM"),
        ("ask_user", ".output", "Which colour? Red"),
        ("get_system_info", ".output", "roots: /w, /x"),
        ("read_command", "summary code", "id: cmd-1"),
    ] {
        let shown = browser.text(&format!("[data-tool={name}] {css}"));
        assert!(shown.contains(text), "{name}: {shown}");
    }
    assert!(!browser.text("[data-tool=start_command]").contains("cmd-1"));
    let failed = "return document.querySelectorAll('[data-tool=stop_command] .is-bad').length";
    assert_eq!(browser.run(failed, &json!([])), 0, "a signal is how a stopped command ends");
    let drawn = "return document.querySelector('[data-tool=capture_screenshot] img').naturalWidth";
    assert_eq!(browser.run(drawn, &json!([])), 1);
    assert_open_to_all(&browser);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
