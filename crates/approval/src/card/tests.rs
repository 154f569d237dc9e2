//! What people see of each kind of question, and what goes back to the agent.

use callgate_wire::approval::ApprovalRequest;
use callgate_wire::desk::CardContent;
use callgate_wire::tool_act::{OWN_AGENT, ToolShell};
use expect_test::{Expect, expect};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::*;

fn card(tool: &str, input: &Value, suggestions: &Value) -> Card {
    let line = json!({
        "request_id": "550e8400-e29b-41d4-a716-446655440000",
        "tool_name": tool,
        "tool_input": input,
        "cwd": "/home/ada/engine",
        "session_id": "s1",
        "agent": "claude-code",
        "permission_suggestions": suggestions,
        "context": { "takes": ["always", "edit", "interrupt"], "last_words": "Now\u{202e} I build." },
    });
    let request = ApprovalRequest::decode(line.to_string().as_bytes()).unwrap();
    Card::new(&request, request.tool_input.get(), 1, 2)
}

fn body(tool: &str, input: &Value, expected: &Expect) {
    let card = card(tool, input, &json!([]));
    expected.assert_eq(&format!("{}\n{:?}", card.row.summary, card.body));
}

#[test]
fn a_summary_is_not_as_long_as_its_command() {
    // What cannot be seen is shown twelve times as long.
    let command = "\u{7f}".repeat(100_000);
    let summary = card("Bash", &json!({ "command": command }), &json!([])).shown.row.summary;
    assert_eq!(summary.chars().count(), 16 * 1024 + 1);
}

/// An input for a kind of tools, and the type of the body that it has.
pub(crate) fn sample(kind: ToolKind) -> (Value, &'static str) {
    let patch = "*** Begin Patch\n*** Delete File: a.rs\n*** End Patch";
    match kind {
        ToolKind::Run(ToolShell::Typed) => (json!({ "line": "make" }), "command"),
        ToolKind::Run(_) => (json!({ "command": "make" }), "command"),
        ToolKind::Code => (json!({ "code": "make" }), "command"),
        ToolKind::Write => (json!({ "path": "a.rs", "content": "x" }), "write"),
        ToolKind::Edit => (json!({ "path": "a.rs", "old_string": "x", "new_string": "y" }), "edit"),
        ToolKind::Notebook => (json!({ "notebook_path": "a.rs", "new_source": "x" }), "notebook"),
        ToolKind::Patch => (json!({ "input": patch }), "patch"),
        ToolKind::Fetch => (json!({ "url": "http://127.0.0.1/" }), "fetch"),
        ToolKind::Plan => (json!({ "plan": "Make it" }), "plan"),
        ToolKind::AskUser => (json!({ "questions": [{ "question": "Which?" }] }), "ask"),
        ToolKind::Script => (json!({ "question": "Which?" }), "ask"),
        ToolKind::Elicit => (json!({ "message": "Which?" }), "ask"),
        ToolKind::Mcp => (json!({}), "mcp"),
        ToolKind::Read | ToolKind::List | ToolKind::Find | ToolKind::Search => {
            (json!({ "path": "a.rs", "pattern": "x" }), "read")
        }
        ToolKind::Todo => (json!({ "todos": [{ "content": "x", "status": "pending" }] }), "todo"),
        _ => (json!({ "path": "a.rs", "pattern": "x" }), "other"),
    }
}

/// The card for an input of a tool of an agent.
pub(crate) fn card_of(agent: &str, tool: &str, input: &Value) -> Card {
    let request = json!({
        "request_id": "550e8400-e29b-41d4-a716-446655440000",
        "tool_name": tool, "tool_input": input, "cwd": "/", "session_id": "s1", "agent": agent,
    });
    let request = ApprovalRequest::decode(request.to_string().as_bytes()).unwrap();
    let card = Card::new(&request, request.tool_input.get(), 1, 2);
    let recorded = Card::summary_of(&request, request.tool_input.get());
    assert_eq!(recorded, card.row.summary, "the ledger has other words");
    card
}

#[test]
fn every_line_of_the_table_of_tools_has_its_card() {
    for (agent, tool, kind) in ToolKind::table() {
        let (input, expected) = sample(kind);
        let card = card_of(agent, tool, &input);
        let body = serde_json::to_value(&card.body).unwrap();
        assert_eq!(body["type"], expected, "{agent} {tool}");
        assert_eq!(card.row.deed, kind.deed(tool), "{agent} {tool}");
        let is_named = matches!(expected, "other" | "todo") || kind == ToolKind::Code;
        assert!(card.row.summary != tool || is_named, "{agent} {tool}");
    }
}

#[test]
fn bodies_by_tool() {
    body(
        "Bash",
        &json!({ "command": "make\u{200b} build\n", "description": "Build" }),
        &expect![[r#"
            make⟨U+200B⟩ build
            Command { segments: [CommandSegment { text: "make⟨U+200B⟩ build\n", style: Unclear, breaks: false }], description: Some("Build") }"#]],
    );
    body(
        "shell",
        &json!({ "command": ["bash", "-lc", "echo 'hi'"] }),
        &expect![[r#"
            bash -lc 'echo '\''hi'\'''
            Command { segments: [CommandSegment { text: "bash -lc 'echo '\\''hi'\\'''", style: Unclear, breaks: false }], description: None }"#]],
    );
    let own = json!({ "command": "git", "args": ["commit", "-m", "two words"], "cwd": "/a" });
    assert_eq!(
        card_of("callgate", "run_shell_command", &own).row.summary,
        "git commit -m 'two words' (in /a)"
    );
    // Only our own tool is known to take arguments.
    body(
        "run_shell_command",
        &own,
        &expect![[r#"
            git (in /a)
            Command { segments: [CommandSegment { text: "git", style: Unclear, breaks: false }], description: Some("args: [\"commit\",\"-m\",\"two words\"]; cwd: \"/a\"") }"#]],
    );
    body(
        "Write",
        &json!({ "file_path": "/a/b", "content": "one\ntwo" }),
        &expect![[r#"
            write /a/b
            Write { path: "/a/b", content: "one\ntwo", lines: 2 }"#]],
    );
    body(
        "Edit",
        &json!({ "file_path": "/a/b", "old_string": "x", "new_string": "y", "replace_all": true }),
        &expect![[r#"
            edit /a/b
            Edit { path: "/a/b", changes: [ContentChange { everywhere: true, place: None, lines: [ChangedLine { op: Removed, old: None, new: None, text: "x" }, ChangedLine { op: Added, old: None, new: None, text: "y" }] }] }"#]],
    );
    body(
        "edit_file",
        &json!({ "path": "b", "oldText": "x", "newText": "y", "replaceAll": true }),
        &expect![[r#"
            edit b
            Edit { path: "b", changes: [ContentChange { everywhere: true, place: None, lines: [ChangedLine { op: Removed, old: None, new: None, text: "x" }, ChangedLine { op: Added, old: None, new: None, text: "y" }] }] }"#]],
    );
    body(
        "MultiEdit",
        &json!({ "file_path": "/a", "edits": [{ "old_string": "x", "new_string": "y" }] }),
        &expect![[r#"
            edit /a
            Edit { path: "/a", changes: [ContentChange { everywhere: false, place: None, lines: [ChangedLine { op: Removed, old: None, new: None, text: "x" }, ChangedLine { op: Added, old: None, new: None, text: "y" }] }] }"#]],
    );
    body(
        "ExitPlanMode",
        &json!({ "plan": "\n# Plan\n1. build" }),
        &expect![[r#"
            Plan
            Plan { markdown: "\n# Plan\n1. build" }"#]],
    );
    body(
        "Ask",
        &json!({ "question": "Deploy?", "details": "v2" }),
        &expect![[r#"
            Deploy?
            Ask { question: "Deploy?", detail: Some("v2") }"#]],
    );
    body(
        "mcp__github__merge",
        &json!({ "number": 7 }),
        &expect![[r#"
        github: merge
        Mcp { server: "github", tool: "merge", input: "{\n  \"number\": 7\n}" }"#]],
    );
    body(
        "WebFetch",
        &json!({ "url": "http://127.0.0.1/" }),
        &expect![[r#"
            fetch http://127.0.0.1/
            Fetch { url: "http://127.0.0.1/", what: None }"#]],
    );
}

/// A patch is the change of each of its files, in whichever form Codex gives it.
#[test]
fn a_patch_is_shown_as_changes() {
    let patch = "*** Begin Patch\n*** Update File: a\u{202e}.rs\n@@ fn x()\n-old\n+new\n\
                 *** Delete File: b.rs\n*** End Patch\n";
    for (tool, input) in [
        ("apply_patch", json!({ "input": patch })),
        ("shell", json!({ "command": ["apply_patch", patch] })),
    ] {
        let card = card(tool, &input, &json!([]));
        assert_eq!(card.row.summary, "patch a⟨U+202E⟩.rs, b.rs", "{tool}");
        assert!(matches!(&card.body, CardContent::Patch { files } if files.len() == 2));
        let shown = "Update a⟨U+202E⟩.rs\n@@ fn x()\n-old\n+new\nDelete b.rs\n";
        assert_eq!(card.body.text(), shown, "{tool}");
        assert_eq!(card.grants.allow, "Makes these changes once.");
    }
}

/// Code is shown as it is, and an agent would not run it after a change.
#[test]
fn code_that_uses_tools_is_shown_and_not_edited() {
    let card = card("REPL", &json!({ "code": "await Bash({})\nx" }), &json!([]));
    assert_eq!(card.body.command(), "await Bash({})\nx");
    assert_eq!((card.can_edit, card.row.deed.as_str()), (false, "Run code that uses tools"));
}

#[test]
fn titles_of_our_own_tools_say_what_they_touch() {
    let check = |tool: &str, input: Value, expected: &str| {
        assert_eq!(card_of(OWN_AGENT, tool, &input).row.summary, expected, "{input}");
    };
    check("read_file", json!({ "path": "src/a b.rs", "offset": 3 }), "read src/a b.rs");
    check("write_file", json!({ "path": "a", "content": "" }), "write a");
    check("write_file", json!({ "path": "a" }), "write a");
    check("edit_file", json!({ "path": "a", "oldText": "x", "newText": "y" }), "edit a");
    check("edit_file", json!({ "path": "a\u{202e}", "oldText": 7 }), "edit a⟨U+202E⟩");
    check("list_files", json!({ "path": "src" }), "list src");
    check("list_files", json!({}), "list .");
    check("search_files", json!({ "pattern": "**/*.rs" }), "find '**/*.rs' in .");
    check("search_text", json!({ "pattern": "key", "path": "/a" }), "search for key in /a");
    let odd = json!({ "pattern": "x in src", "path": "/a" });
    check("search_text", odd, "search for 'x in src' in /a");
    for (tool, input) in [("read_file", json!({ "path": 7 })), ("search_text", json!({}))] {
        check(tool, input, tool);
    }
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let summary = &card_of(OWN_AGENT, "search_text", &json!({ "pattern": token })).row.summary;
    assert!(!summary.contains(token), "{summary}");
}

#[test]
fn the_title_of_a_command_names_the_folder_in_which_it_would_run() {
    let check = |input: Value, expected: &str| {
        assert_eq!(
            card_of(OWN_AGENT, "run_shell_command", &input).row.summary,
            expected,
            "{input}"
        );
    };
    let cp = json!(["evil.toml", "rules.toml"]);
    let elsewhere = json!({ "command": "cp", "args": cp, "cwd": "/home/ada/.config/callgate" });
    check(elsewhere, "cp evil.toml rules.toml (in /home/ada/.config/callgate)");
    check(json!({ "command": "make", "cwd": "two words" }), "make (in 'two words')");
    check(json!({ "command": "make", "args": ["all"], "cwd": null }), "make all");
    // No argument looks like it.
    check(json!({ "command": "make", "args": ["(in", "/a)"] }), "make '(in' '/a)'");
    let raw = "{\t\"command\":\t\"make\",\"args\":[],\n\"cwd\":\"/a\"}";
    let line = format!(
        r#"{{"request_id":"550e8400-e29b-41d4-a716-446655440000","tool_name":"run_shell_command","tool_input":{raw},"cwd":"/","session_id":"s1"}}"#
    );
    let request = ApprovalRequest::decode(line.replace('\n', " ").as_bytes()).unwrap();
    assert_eq!(Card::new(&request, raw, 1, 2).row.summary, "make (in /a)", "however it is spaced");
}

#[test]
fn how_a_command_would_be_run_is_shown_when_it_is_not_as_usual() {
    let input = json!({
        "command": "make", "description": "Build", "timeout": 1000, "run_in_background": true,
        "dangerouslyDisableSandbox": true, "quiet": false,
    });
    let CardContent::Command { description, .. } = card("Bash", &input, &json!([])).shown.body
    else {
        panic!()
    };
    let shown = "Build; run_in_background: true; dangerouslyDisableSandbox: true";
    assert_eq!(description.as_deref(), Some(shown));
}

#[test]
fn an_input_of_an_unusual_shape_is_shown_as_it_is() {
    for (tool, input) in [
        ("Bash", json!({ "command": 7 })),
        ("Write", json!({ "file_path": "/a" })),
        ("Write", json!({ "file_path": "/a", "path": "/b", "content": "" })),
        ("Edit", json!({ "file_path": "/a", "edits": [{ "old_string": "x" }] })),
        ("apply_patch", json!({ "input": "*** Add File: a" })),
        ("ExitPlanMode", json!({})),
    ] {
        let card = card(tool, &input, &json!([]));
        assert!(
            matches!(&card.body, CardContent::Other { input } if input.starts_with('{')),
            "{card:?}"
        );
        let summaries = [tool, "write /a", "edit /a", "patch a"];
        assert!(summaries.contains(&card.row.summary.as_str()), "{card:?}");
    }
}

fn offers(suggestions: &Value, expected: &Expect) {
    let card = card("Bash", &json!({ "command": "x" }), suggestions);
    let raw: Vec<_> = suggestions.as_array().unwrap().iter().map(to_raw_value).collect();
    let raw: Vec<_> = raw.into_iter().map(Result::unwrap).collect();
    let shown = card.offers.iter().enumerate().map(|(at, o)| {
        let members = super::offers::members_of_offer(&raw, at).unwrap();
        format!("{} | {} | {members:?}\n", o.meaning, o.lasts)
    });
    expected.assert_eq(&shown.collect::<String>());
}

#[test]
fn offers_are_grouped_by_where_they_are_kept_and_put_into_words() {
    offers(
        &json!([{ "type": "addRules", "rules": [{ "toolName": "Bash", "ruleContent": "make build *" }], "behavior": "allow", "destination": "localSettings" }]),
        &expect![[r"
            make build * | for good, in this project for you | [0]
        "]],
    );
    offers(
        &json!([
            { "type": "addDirectories", "directories": ["/work"], "destination": "session" },
            { "type": "setMode", "mode": "acceptEdits", "destination": "session" },
            { "type": "addRules", "rules": [{ "toolName": "mcp__a__b" }, { "toolName": "Read", "ruleContent": "//etc/**" }], "behavior": "allow", "destination": "userSettings" },
        ]),
        &expect![[r"
            work in /work; accept all edits | for this session | [0, 1]
            every use of mcp__a__b, Read(//etc/**) | for good, in all your projects | [2]
        "]],
    );
    offers(
        &json!([{ "type": "toolAlwaysAllow", "tool": "Bash" }, { "type": "toolAlwaysAllow", "tool": "Read" }, 7, { "type": "new" }]),
        &expect![[r#"
            every use of Bash | for as long as the agent keeps it | [0]
            every use of Read | for as long as the agent keeps it | [1]
            {"type":"new"} | for as long as the agent keeps it | [3]
        "#]],
    );
    offers(
        &json!([{ "type": "setMode", "mode": "bypassPermissions", "destination": "session" }]),
        &expect![[r"
            ask about nothing at all | for this session | [0]
        "]],
    );
    // What names no command is every command.
    offers(
        &json!([{ "type": "addRules", "rules": [{ "toolName": "Bash", "ruleContent": "" }, { "toolName": "Bash", "ruleContent": "*" }], "behavior": "allow", "destination": "session" }]),
        &expect![[r"
            every use of Bash, every use of Bash | for this session | [0]
        "]],
    );
}

#[test]
fn what_the_agent_says_is_masked_and_made_visible() {
    let card = card("Bash", &json!({ "command": "x" }), &json!([]));
    assert_eq!(card.last_words.as_deref(), Some("Now⟨U+202E⟩ I build."));
    assert_eq!(card.row.agent, "Claude Code");
}

#[test]
fn picks_go_back_in_the_shape_the_tool_expects() {
    let input = json!({ "questions": [
        { "question": "Colour?", "header": "C", "options": [{ "label": "Red", "description": "warm" }, { "label": "Blue" }] },
        { "question": "Sizes?", "header": "S", "multiSelect": true, "options": [{ "label": "S" }, { "label": "M" }, { "label": "L" }] },
    ]});
    let card = card("AskUserQuestion", &input, &json!([]));
    assert_eq!(card.pickers.len(), 2);
    assert!(card.pickers[1].many && !card.pickers[0].many);
    let picked = |picks: &[Vec<u8>]| {
        picks::answered_input(ToolKind::AskUser, &input.to_string(), picks, None)
    };
    let answer: Value = serde_json::from_str(&picked(&[vec![1], vec![0, 2]]).unwrap()).unwrap();
    assert_eq!(answer["answers"], json!({ "Colour?": "Blue", "Sizes?": "S, L" }));
    assert_eq!(answer["questions"], input["questions"]);
    assert_eq!(picked(&[vec![1]]), None);
    assert_eq!(picked(&[vec![9], vec![0]]), None);
}

#[test]
fn choices_of_scripts_and_of_tool_servers() {
    let ask = json!({ "question": "Where?", "choices": ["test", "live"] });
    assert_eq!(card("Ask", &ask, &json!([])).pickers[0].choices[1].label, "live");
    let chosen = picks::answered_input(ToolKind::Script, &ask.to_string(), &[vec![1]], None);
    assert_eq!(chosen.as_deref(), Some(r#"{"choice":"live"}"#));
    assert!(card("Ask", &json!({ "question": "Sure?" }), &json!([])).pickers.is_empty());

    let asked = |schema: Value| json!({ "message": "Which?", "requested_schema": { "type": "object", "properties": schema } });
    let one = asked(json!({ "tier": { "type": "string", "enum": ["a", "b"] } }));
    assert_eq!(card("Elicitation", &one, &json!([])).pickers.len(), 1);
    let chosen = picks::answered_input(ToolKind::Elicit, &one.to_string(), &[vec![0]], None);
    assert_eq!(chosen.as_deref(), Some(r#"{"tier":"a"}"#));
    assert_eq!(picks::answered_input(ToolKind::Elicit, &one.to_string(), &[], Some("c")), None);
    let words = asked(json!({ "name": { "type": "string" } }));
    let told = picks::answered_input(ToolKind::Elicit, &words.to_string(), &[], Some("Ada"));
    assert_eq!(told.as_deref(), Some(r#"{"name":"Ada"}"#));
    let two = asked(json!({ "a": { "type": "string" }, "b": { "type": "string" } }));
    assert_eq!(picks::answered_input(ToolKind::Elicit, &two.to_string(), &[], Some("Ada")), None);
}

#[test]
fn more_answers_than_can_be_shown_are_not_offered_at_all() {
    let many: Vec<String> = (0..40).map(|n| n.to_string()).collect();
    let input = json!({ "question": "Which?", "choices": many });
    assert!(card("Ask", &input, &json!([])).pickers.is_empty());
}

#[test]
fn a_card_says_that_something_hidden_could_run() {
    let token = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zC0aB3dE6");
    for (command, expected) in [
        (format!("X={token}; $X"), true),
        (format!("{token} --all"), true),
        (format!("echo {token}"), false),
        ("API_KEY='rm -rf ~'; $API_KEY".to_owned(), false),
        ("make".to_owned(), false),
    ] {
        let input = json!({ "command": command }).to_string();
        let masked = callgate_mask::mask_json(&input);
        let shown: Value = serde_json::from_str(masked.shown()).unwrap();
        let card = card("Bash", &shown, &json!([]));
        assert_eq!(card.hides_what_runs, expected, "{shown}");
        assert_eq!(card.row.summary.contains("rm -rf"), command.contains("rm -rf"), "{shown}");
    }
}

#[test]
fn notebooks_and_pages() {
    let cell = |more: Value| {
        let mut input = json!({ "notebook_path": "/a.ipynb", "new_source": "x = 1" });
        for (name, value) in more.as_object().unwrap() {
            input[name] = value.clone();
        }
        input
    };
    let check = |input: Value, expected: &str| {
        assert_eq!(card("NotebookEdit", &input, &json!([])).row.summary, expected);
    };
    check(cell(json!({ "cell_id": "c1" })), "replace the cell `c1` of /a.ipynb");
    check(
        cell(json!({ "cell_id": "c1", "cell_type": "code", "edit_mode": "insert" })),
        "insert a code cell after `c1` of /a.ipynb",
    );
    check(cell(json!({ "edit_mode": "insert" })), "insert a cell at the beginning of /a.ipynb");
    check(
        cell(json!({ "cell_id": "c1", "edit_mode": "delete" })),
        "delete the cell `c1` of /a.ipynb",
    );
    // What is not known is not left out.
    for odd in [json!({ "edit_mode": "burn" }), json!({ "run": true }), json!({ "cell_id": 7 })] {
        let card = card("NotebookEdit", &cell(odd.clone()), &json!([]));
        assert!(matches!(card.body, CardContent::Other { .. }), "{odd}: {:?}", card.body);
    }
    body(
        "WebFetch",
        &json!({ "url": "https://example.org/\u{202e}a", "prompt": "What is it?" }),
        &expect![[r#"
            fetch https://example.org/⟨U+202E⟩a
            Fetch { url: "https://example.org/⟨U+202E⟩a", what: Some("What is it?") }"#]],
    );
    let odd = card("WebFetch", &json!({ "url": "https://a", "method": "POST" }), &json!([]));
    assert!(matches!(odd.body, CardContent::Other { .. }), "{:?}", odd.body);
}
