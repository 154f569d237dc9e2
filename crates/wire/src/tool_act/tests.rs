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
        assert_eq!(ToolKind::of(agent, tool), kind, "{agent} {tool}");
        assert!(!kind.deed(tool).is_empty());
    }
    let mut common = HashSet::new();
    for (tool, kind) in ToolKind::common() {
        assert!(common.insert(tool), "{tool} would mean two things for an unknown agent");
        assert_eq!(ToolKind::of("", tool), kind, "{tool}");
    }
}

#[test]
fn an_agent_has_its_own_names_and_the_common_ones() {
    assert_eq!(ToolKind::of("claude-code", "run_terminal_command"), ToolKind::Other);
    assert_eq!(ToolKind::of("grok", "run_terminal_command"), ToolKind::Run(ToolShell::Bare));
    assert_eq!(ToolKind::of("gemini", "run_shell_command"), ToolKind::Run(ToolShell::Bare));
    assert_eq!(ToolKind::of("other", "run_shell_command"), ToolKind::Run(ToolShell::Program));
    assert_eq!(ToolKind::of("grok", "Bash"), ToolKind::Run(ToolShell::Usual));
    assert_eq!(ToolKind::of("codex", "mcp__files__read"), ToolKind::Mcp);
    assert_eq!(ToolKind::of("codex", "mcp__files"), ToolKind::Other);
}

fn files(patch: &str) -> Option<String> {
    let input = json!({ "input": patch });
    let act = ToolAct::of("codex", "apply_patch", input.as_object().unwrap());
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
    let act = ToolAct::of("codex", "apply_patch", twice.as_object().unwrap());
    assert!(matches!(act, ToolAct::Patch(patch) if patch.files().is_none()));
}

#[test]
fn a_command_is_a_line_or_words() {
    let check = |tool: &str, input: Value, expected: Option<GivenCommand<'_>>| {
        let act = ToolAct::of("", tool, input.as_object().unwrap());
        let ToolAct::Run(run) = act else { panic!("{act:?}") };
        assert_eq!(run.words(), expected, "{tool} {input}");
    };
    let line = |line| Some(GivenCommand::Line(line));
    let words = |words: &[&'static str]| Some(GivenCommand::Words(words.to_vec()));
    check("Bash", json!({ "command": "a b" }), line("a b"));
    check("exec_command", json!({ "cmd": "a" }), line("a"));
    check("shell", json!({ "command": ["a", "b c"] }), words(&["a", "b c"]));
    check("Bash", json!({ "command": "a", "args": ["b"] }), words(&["a", "b"]));
    check("run_shell_command", json!({ "command": "a" }), words(&["a"]));
    check("run_shell_command", json!({ "command": ["a"] }), None);
    check("run_shell_command", json!({ "command": "a", "args": [1] }), None);
    check("shell", json!({ "command": ["a", 1] }), None);
    check("shell", json!({ "command": "a", "cmd": "b" }), None);
}
