//! Tests of reading tool calls, and of the table of tools.

use std::collections::HashSet;

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;

#[test]
fn each_tool_of_an_agent_has_one_line() {
    let mut names = HashSet::new();
    for (agent, tool, kind) in ToolKind::table() {
        assert!(names.insert((agent, tool)), "{agent} {tool}");
        assert_eq!(ToolKind::for_tool(agent, tool), kind, "{agent} {tool}");
        assert!(!kind.deed(tool).is_empty());
    }
}

/// A name must not mean two things for an agent that is not in the table with it: then the reading
/// for the first agent that has the name would be a guess.
#[test]
fn a_name_is_the_same_act_for_every_agent() {
    let act = |kind| match kind {
        ToolKind::Run(ToolShell::Foreign | ToolShell::Typed) => kind,
        ToolKind::Run(_) => ToolKind::Run(ToolShell::Usual),
        kind => kind,
    };
    for (agent, tool, kind) in ToolKind::table() {
        assert_eq!(act(ToolKind::for_tool("", tool)), act(kind), "{agent} {tool}");
    }
}

#[test]
fn a_name_of_any_agent_is_understood() {
    let line = ToolKind::Run(ToolShell::Bare);
    for agent in ["claude-code", "", "other", "grok"] {
        assert_eq!(ToolKind::for_tool(agent, "run_terminal_command"), line, "{agent}");
    }
    assert_eq!(ToolKind::for_tool("gemini", "run_shell_command"), line);
    // Without a shell the command would be the name of a program.
    assert_eq!(ToolKind::for_tool("claude-code", "run_shell_command"), line);
    assert_eq!(
        ToolKind::for_tool("callgate", "run_shell_command"),
        ToolKind::Run(ToolShell::Program)
    );
    assert_eq!(ToolKind::for_tool("grok", "Bash"), ToolKind::Run(ToolShell::Usual));
    // A front end's tool, and one of another agent, which searches by contents.
    assert_eq!(ToolKind::for_tool("callgate", "list"), ToolKind::Other);
    assert_eq!(ToolKind::for_tool("cline", "search_files"), ToolKind::Other);
    assert_eq!(ToolKind::for_tool("codex", "mcp__files__read"), ToolKind::Mcp);
    assert_eq!(ToolKind::for_tool("codex", "mcp__files"), ToolKind::Other);
}

#[test]
fn inputs_of_agents_are_acts() {
    let check = |agent: &str, tool: &str, input: Value, expected: &str| {
        let act = ToolAct::from_call(agent, tool, input.as_object().unwrap());
        let said = match &act {
            ToolAct::Run(run) => format!("run {:?} {}", run.given_command(), run.others.len()),
            ToolAct::Read(file) => format!("read {:?}", file.path()),
            ToolAct::Write(file, content) => format!("write {:?} {content:?}", file.path()),
            ToolAct::Edit(file, EditChange::Texts(texts)) => {
                format!("edit {:?} {} {}", file.path(), texts[0].old, texts[0].new)
            }
            other => format!("{other:?}"),
        };
        assert_eq!(said, expected, "{agent} {tool}");
    };
    let made = r#"run Some(Line("touch made")) 0"#;
    check("cline", "run_commands", json!({ "commands": ["touch made"] }), made);
    check("cline", "run_commands", json!({ "commands": ["a", "b"] }), "run None 0");
    let droid = json!({ "command": "touch made", "summary": "s", "riskLevelReason": "r", "riskLevel": "low" });
    check("droid", "Execute", droid, made);
    let terminal = json!({ "command": "touch made", "is_input": false, "timeout": null, "reset": false, "kind": "TerminalAction" });
    check("openhands", "terminal", terminal, made);
    let typed = json!({ "command": "y", "is_input": true });
    check("openhands", "terminal", typed, r#"run Some(Line("y")) 1"#);
    check("amp", "Bash", json!({ "cmd": "touch made" }), made);
    check("grok", "read_file", json!({ "target_file": "/a" }), r#"read Some("/a")"#);
    check("gemini", "read_file", json!({ "absolute_path": "/a" }), r#"read Some("/a")"#);
    check("opencode", "read", json!({ "filePath": "/a" }), r#"read Some("/a")"#);
    let editor = |command: &str| json!({ "command": command, "path": "/a", "file_text": "x", "old_str": "o", "new_str": "n" });
    check("openhands", "file_editor", editor("view"), r#"read Some("/a")"#);
    check("openhands", "file_editor", editor("create"), r#"write Some("/a") Some("x")"#);
    check("openhands", "file_editor", editor("str_replace"), r#"edit Some("/a") o n"#);
    check(
        "goose",
        "edit",
        json!({ "path": "/a", "before": "o", "after": "n" }),
        r#"edit Some("/a") o n"#,
    );
    let opencode = json!({ "filePath": "/a", "oldString": "o", "newString": "n" });
    check("opencode", "edit", opencode, r#"edit Some("/a") o n"#);
    let pi = json!({ "path": "/a", "edits": [{ "oldText": "o", "newText": "n" }] });
    check("pi", "edit", pi, r#"edit Some("/a") o n"#);
}

fn files(patch: &str) -> Option<String> {
    let input = json!({ "input": patch });
    let act = ToolAct::from_call("codex", "apply_patch", input.as_object().unwrap());
    let ToolAct::Patch(patch) = act else { panic!("{act:?}") };
    patch.files().map(|files| serde_json::to_string(&files).unwrap())
}

fn check(lines: &[&str], expected: &Expect) {
    let patch = format!("*** Begin Patch\n{}\n*** End Patch\n", lines.join("\n"));
    let shown = files(&patch).unwrap_or_else(|| "unclear".to_owned());
    expected.assert_eq(&shown.replace(r#""old":null,"new":null,"#, ""));
}

#[test]
fn a_patch_is_a_change_of_each_file() {
    check(
        &["*** Add File: a.txt", "+one", "+", "*** Delete File: b.txt"],
        &expect![[
            r#"[{"operation":"add","path":"a.txt","changes":[{"everywhere":false,"lines":[{"op":"+","text":"one"},{"op":"+","text":""}]}]},{"operation":"delete","path":"b.txt","changes":[]}]"#
        ]],
    );
    check(
        &[
            "*** Update File: a.rs",
            "*** Move to: b.rs",
            "@@ fn main() {",
            " x",
            "-y",
            "+z",
            "",
            "@@",
            "+end",
            "*** End of File",
        ],
        &expect![[
            r#"[{"operation":"update","path":"a.rs","moved_to":"b.rs","changes":[{"everywhere":false,"place":"fn main() {","lines":[{"op":" ","text":"x"},{"op":"-","text":"y"},{"op":"+","text":"z"},{"op":" ","text":""}]},{"everywhere":false,"lines":[{"op":"+","text":"end"}]}]}]"#
        ]],
    );
}

/// What another program could read differently is not shown as a change.
#[test]
fn an_ambiguous_patch_is_no_change() {
    for lines in [
        &["+x"][..],
        &["*** Add File: a", " x"],
        &["*** Add File: a", " *** Add File: b"],
        &["*** Delete File: a", "-x"],
        &["*** Update File: a", "x"],
        &["*** Update File: a", "+x\r*** Add File: b"],
        &["*** Update File: a", "+x", "*** Move to: b"],
        &["*** Update file: a", "+x"],
        &[],
    ] {
        check(lines, &expect!["unclear"]);
    }
    assert_eq!(files("*** Add File: a\n+x"), None, "it has no frame");
    let twice = json!({ "input": "x", "patch": "y" });
    let act = ToolAct::from_call("codex", "apply_patch", twice.as_object().unwrap());
    assert!(matches!(act, ToolAct::Patch(patch) if patch.files().is_none()));
}

#[test]
fn a_command_is_a_line_or_words() {
    let check = |tool: &str, input: Value, expected: Option<GivenCommand<'_>>| {
        let act = ToolAct::from_call("", tool, input.as_object().unwrap());
        let ToolAct::Run(run) = act else { panic!("{act:?}") };
        assert_eq!(run.given_command(), expected, "{tool} {input}");
    };
    let line = |line| Some(GivenCommand::Line(line));
    let words = |words: &[&'static str]| Some(GivenCommand::Words(words.to_vec()));
    check("Bash", json!({ "command": "a b" }), line("a b"));
    check("exec_command", json!({ "cmd": "a" }), line("a"));
    check("shell", json!({ "command": ["a", "b c"] }), words(&["a", "b c"]));
    // A shell's tool would ignore the arguments, and so they are shown beside the command.
    check("Bash", json!({ "command": "a", "args": ["b"] }), line("a"));
    check("start_command", json!({ "command": "a", "args": ["b"] }), words(&["a", "b"]));
    check("start_command", json!({ "command": "a" }), words(&["a"]));
    check("start_command", json!({ "command": ["a"] }), None);
    check("start_command", json!({ "command": "a", "args": [1] }), None);
    check("shell", json!({ "command": ["a", 1] }), None);
    check("shell", json!({ "command": "a", "cmd": "b" }), None);
}

#[test]
fn what_is_given_twice_is_unclear() {
    let act = |tool: &str, input: Value| {
        let input = input.as_object().unwrap().clone();
        match ToolAct::from_call("", tool, &input) {
            ToolAct::Edit(_, EditChange::Texts(texts)) => {
                texts.iter().flat_map(|text| [text.old, " ", text.new]).collect()
            }
            ToolAct::Edit(_, EditChange::Unclear) | ToolAct::Write(_, None) => "unclear".to_owned(),
            ToolAct::Write(_, Some(content)) => content.to_owned(),
            other => format!("{other:?}"),
        }
    };
    let change = json!({ "file_path": "/a", "old_string": "o", "new_string": "n" });
    assert_eq!(act("Edit", change.clone()), "o n");
    let content = json!({ "file_path": "/a", "content": "x" });
    assert_eq!(act("Write", content.clone()), "x");
    let mut nothing = change.clone();
    nothing["oldString"] = Value::Null;
    assert_eq!(act("Edit", nothing), "o n");
    for (tool, input, name, value) in [
        ("Edit", &change, "oldString", json!("o")),
        ("Edit", &change, "newString", json!("other")),
        ("Edit", &change, "new_str", json!(1)),
        ("Edit", &change, "edits", json!([{ "old_string": "o", "new_string": "n" }])),
        ("Edit", &change, "replace_all", json!("true")),
        ("Write", &content, "file_text", json!("y")),
        ("Write", &content, "file_text", json!(["y"])),
    ] {
        let mut input = input.clone();
        input[name] = value;
        assert_eq!(act(tool, input.clone()), "unclear", "{tool} {input}");
    }
    let both = json!({ "file_path": "/a", "old_string": "o", "new_string": "n",
        "replace_all": true, "replaceAll": false });
    assert_eq!(act("Edit", both), "unclear");
    let editor = json!({ "command": "create", "path": "/a", "file_text": "x", "content": "y" });
    assert_eq!(act("str_replace_editor", editor), "unclear");
}
