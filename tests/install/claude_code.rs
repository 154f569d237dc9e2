//! The real Claude Code runs what was installed.

use callgate_testkit::claude::Claude;
use callgate_testkit::messages::{Messages, Turn};

use super::*;

/// Stands in for the hook: it keeps its input, and allows.
const SCRIPT: &str = r#"#!/bin/sh
input=$(cat)
echo "$input" >>"$0.log"
case $input in *'"hook_event_name":"PermissionRequest"'*)
    echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'
esac
"#;

#[test]
fn the_real_claude_code_runs_what_was_installed() {
    if Claude::find().is_none() {
        return;
    }
    let bash = json!({"command": "touch made-by-the-test", "description": "Makes a file"});
    let fake = Messages::start([Turn::new().tool("Bash", bash), Turn::text("All done.")]);
    let claude = Claude::new(&fake).prompt("Make it.").deadline(DEADLINE);
    let mut home = Home::new().env("CLAUDE_CONFIG_DIR", claude.folder().join("config"));
    let program = home.path("a folder/callgate");
    fs::create_dir(program.parent().unwrap()).unwrap();
    copy_program(CALLGATE.as_ref(), &program);
    home.program.clone_from(&program);
    home.does(&["install"]);
    // The command that was installed leads to a hook that keeps a log.
    fs::remove_file(&program).unwrap();
    write_program(&program, SCRIPT);
    let made = claude.work().join("made-by-the-test");
    let run = claude.run();
    assert_eq!(run.result_text(), "All done.", "{}", run.stderr());
    assert!(made.exists(), "{:?}", run.tool_results());
    let log = read(&program.with_file_name("callgate.log"));
    let told: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<&str> = told.iter().filter_map(|told| told["hook_event_name"].as_str()).collect();
    let expected = ["PreToolUse", "PermissionRequest", "PostToolUse", "Stop", "SessionEnd"];
    assert_eq!(told, expected);
}
