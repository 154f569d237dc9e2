//! What is found in the agents' settings.

use std::fs;

use callgate_testkit::script::{copy_program, write_program};

use crate::{Home, text};

#[test]
fn hooks_that_are_not_as_they_should_be_are_found() {
    let home = Home::up();
    let installed = fs::read_to_string(home.path(".claude/settings.json")).unwrap();
    let restore = || home.write(".claude/settings.json", &installed);
    let program = home.path("bin/callgate").display().to_string();

    fs::remove_file(home.path(".claude/settings.json")).unwrap();
    home.finds("problem", "no agent has our hook in its settings", "callgate install");
    home.write(".claude/settings.json", "{ \"hooks\": [ }");
    let findings = home.doctor();
    assert!(findings.iter().any(|it| text(it).contains("it is not JSON")), "{findings:?}");

    restore();
    home.change("\"timeout\": 4260", "\"timeout\": 60");
    let ends = "ends our hook at PreToolUse after 60 s, but a question may take 315 s";
    home.finds("problem", ends, "callgate install");

    // All of them start another program.
    let with = |other: &str| {
        home.write(".claude/settings.json", &installed.replace(&format!("{program} hook"), other));
    };
    with("/nowhere/callgate hook");
    home.finds_among(
        "problem",
        "starts /nowhere/callgate, and there is no such program",
        "install",
    );
    home.finds_among("problem", "the hook failed (exit status: 127)", "callgate install");
    with("callgate hook");
    home.finds_among("warning", "starts callgate, wherever its PATH has that", "callgate install");
    copy_program(env!("CARGO_BIN_EXE_callgate").as_ref(), &home.path("work/callgate"));
    with(&format!("{} hook", home.path("work/callgate").display()));
    home.finds("warning", "starts another callgate than this", "callgate install");
    let small = env!("CARGO_BIN_EXE_callgate-hook");
    with(small);
    home.finds("warning", "with a shell, which a project's settings can wrap", "callgate install");
    copy_program(small.as_ref(), &home.path("work/callgate-hook"));
    with(&home.path("work/callgate-hook").display().to_string());
    home.finds_among("warning", "starts another callgate than this", "callgate install");
    // One that says nothing lets everything through.
    write_program(&home.path("work/callgate"), "#!/bin/sh\nexit 0\n");
    with(&format!("{} hook", home.path("work/callgate").display()));
    home.finds_among(
        "problem",
        "the hook does not deny what it has to deny; it says \"\"",
        "install",
    );

    restore();
    home.change("\"SessionEnd\"", "\"SessionStart\"");
    home.finds("warning", "does not notify us of SessionEnd", "callgate install");
    restore();
    home.change("\"PermissionRequest\"", "\"SessionStart\"");
    home.finds("problem", "its own questions do not come here", "callgate install");
    restore();
    home.change("\"PreToolUse\"", "\"SessionStart\"");
    home.finds("problem", "rules do not apply in modes that ask nobody", "callgate install");

    restore();
    home.change("ask.sock", "old.sock");
    home.finds("problem", "old.sock, but `callgate up` serves ", "callgate install");
    restore();
    home.change(" --socket ", " --agent claude --config ");
    home.finds("warning", "a project's environment can lead it elsewhere", "callgate install");
    restore();
    home.change("{\n", "{\n  \"disableAllHooks\": true,\n");
    home.finds("problem", "settings.json: `disableAllHooks` is true: no hook runs", "take it out");
}

/// A project may bring settings of its own.
#[test]
fn an_environment_that_a_project_sets_is_found() {
    let home = Home::up();
    home.write("work/.claude/settings.json", r#"{"env":{"CALLGATE_SOCKET":"/x","A":"1"}}"#);
    home.finds("warning", "sets CALLGATE_SOCKET", "take it out");
    home.write("work/.claude/settings.json", r#"{"env":{"CLAUDE_CONFIG_DIR":"/x"}}"#);
    home.finds("warning", "sets CLAUDE_CONFIG_DIR", "take it out");
    home.write("work/.claude/settings.json", r#"{"env":{"CLAUDE_CODE_SHELL_PREFIX":"./x"}}"#);
    home.finds(
        "problem",
        "work/.claude/settings.json: `env` sets CLAUDE_CODE_SHELL_PREFIX",
        "--managed",
    );
    home.write("work/.claude/settings.json", "{}");
    home.write("work/.claude/settings.local.json", r#"{"disableAllHooks":true}"#);
    home.finds("problem", "settings.local.json: `disableAllHooks` is true", "--managed");
}

#[test]
fn the_mode_in_which_an_agent_starts_is_told() {
    let home = Home::up();
    home.write("work/.claude/settings.json", r#"{"permissions":{"defaultMode":"plan"}}"#);
    let tells = |expected: &str| {
        let findings = home.doctor();
        assert!(findings.iter().any(|it| text(it).contains(expected)), "{expected}: {findings:?}");
    };
    tells("Claude Code starts in plan mode (by ");
    fs::remove_file(home.path("work/.claude/settings.json")).unwrap();
    home.set("[gate]\nunattended = \"ask\"");
    tells(
        "auto mode (its default), which asks nobody: your rules apply, what no rule allows comes",
    );
}

#[test]
fn hooks_of_a_project_are_looked_at_too() {
    let home = Home::up();
    home.done(&["install", "--project"]);
    let findings = home.doctor();
    assert!(findings.iter().all(|it| it["level"] == "ok"), "the same command runs once");
    let settings = home.path("work/.claude/settings.local.json");
    let text = fs::read_to_string(&settings).unwrap();
    fs::rename(&settings, home.path("work/.claude/settings.json")).unwrap();
    assert!(home.doctor().iter().all(|it| it["level"] == "ok"));
    let other = text.replacen("callgate hook", "callgate hook --config /x.toml", 1);
    fs::write(&settings, other).unwrap();
    let findings = home.doctor();
    let wrong = findings.iter().find(|it| it["level"] == "problem").unwrap();
    assert!(self::text(wrong).contains("asks twice: at PreToolUse in "), "{wrong}");
    assert!(wrong["do"].as_str().unwrap().contains("callgate uninstall --project"), "{wrong}");
}

#[test]
fn codex_says_itself_whether_it_runs_our_hooks() {
    let home = Home::up();
    home.done(&["install", "--agent", "codex"]);
    home.finds("warning", "it is not known whether Codex trusts our hooks", "PATH");
    let codex = |state: &str| {
        let script = CODEX.replace("STATE", state);
        write_program(&home.path("bin/codex"), &script);
    };
    codex(r#""enabled":true,"trustStatus":"trusted""#);
    let findings = home.doctor();
    assert!(findings.iter().all(|it| it["level"] == "ok"), "{findings:?}");
    for expected in [
        "Codex has our hook in ",
        "Codex says that it runs our 5 hooks",
        "Codex: the hook denies what it has to deny",
        "Codex starts with approval policy on-request (its default)",
    ] {
        assert!(findings.iter().any(|it| text(it).starts_with(expected)), "{expected}");
    }
    codex(r#""enabled":true,"trustStatus":"modified""#);
    home.finds("problem", "Codex skips 5 of our hooks", "callgate install --agent codex");
    codex(r#""enabled":false,"trustStatus":"trusted""#);
    home.finds("problem", "is switched off", "/hooks");
    write_program(&home.path("bin/codex"), "#!/bin/sh\nexit 3\n");
    home.finds("warning", "`codex app-server` ended without an answer", "PATH");
    codex(r#""enabled":true,"trustStatus":"trusted""#);
    let file = home.path(".codex/hooks.json");
    let settings = fs::read_to_string(&file).unwrap();
    fs::write(&file, settings.replacen("\"timeout\": 4260", "\"timeout\": 30", 1)).unwrap();
    home.finds("problem", "Codex ends our hook at ", "callgate install --agent codex");
}

/// Codex as far as it lists the hooks in the user's `hooks.json`.
const CODEX: &str = r#"#!/bin/sh
key=$HOME/.codex/hooks.json
printf '%s' '{"id":2,"result":{"data":[{"hooks":['
for event in pre_tool_use permission_request post_tool_use stop; do
    printf '{"key":"%s","eventName":"%s","command":"callgate hook",STATE,' $event $event
    printf '"sourcePath":"%s"},' "$key"
done
printf '{"key":"x","eventName":"session_end","command":"callgate hook",STATE,'
echo "\"sourcePath\":\"$key\"}]}]}}"
"#;

#[test]
fn an_old_claude_code_is_found() {
    let home = Home::up();
    home.claude("2.1.267");
    home.finds("warning", "Claude Code 2.1.267 asks nobody in `-p` runs", "update it");
    fs::remove_file(home.path("bin/claude")).unwrap();
    home.finds("warning", "`claude --version` says nothing", "PATH");
}
