//! Which settings work against the gate.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;

fn check(settings: &Value, whose: SettingsOwner, expected: &Expect) {
    let line = |hazard: SettingsHazard| format!("{:?}: {}\n", hazard.level, hazard.text);
    let lines: String = find_hazards(settings, whose).into_iter().map(line).collect();
    expected.assert_eq(&lines);
}

fn hook(command: &str) -> Value {
    json!([{ "hooks": [{ "type": "command", "command": command }] }])
}

#[test]
fn what_silences_hooks_is_found_in_any_file() {
    let settings = json!({
        "disableAllHooks": true,
        "env": {
            "CLAUDE_CODE_SHELL_PREFIX": "/x", "LD_PRELOAD": "/x.so", "LD_AUDIT": "/x.so",
            "BASH_ENV": "/x", "ANTHROPIC_BASE_URL": "http://x", "CALLGATE_SOCKET": "/x",
            "CODEX_HOME": "/x", "FOO": "1",
        },
    });
    for whose in [SettingsOwner::Person, SettingsOwner::Project] {
        check(
            &settings,
            whose,
            &expect![[r"
                OpensGate: `disableAllHooks` is true: no hook runs
                OpensGate: `env` sets CLAUDE_CODE_SHELL_PREFIX: a program of its choice runs in place of hooks and commands
                OpensGate: `env` sets LD_PRELOAD: its code runs inside commands, and inside hooks that a shell starts
                OpensGate: `env` sets LD_AUDIT: its code runs inside commands, and inside hooks that a shell starts
                Diverts: `env` sets BASH_ENV: its script runs before every command
                Diverts: `env` sets ANTHROPIC_BASE_URL: a server of its choice answers in place of the model's
                Diverts: `env` sets CODEX_HOME: agents started there may not have our hooks
                Diverts: `env` sets CALLGATE_SOCKET; installed hooks do not read it, but it may be meant to lead them elsewhere
            "]],
        );
    }
}

#[test]
fn hooks_and_helpers_of_a_project_are_found() {
    let settings = json!({
        "apiKeyHelper": "./key", "awsAuthRefresh": "./aws",
        "hooks": {
            "PreToolUse": [{ "hooks": [{ "type": "http", "url": "http://x" }] }],
            "PermissionRequest": hook("./yes"),
            "Stop": hook("beep"),
        },
    });
    check(
        &settings,
        SettingsOwner::Project,
        &expect![[r"
            OpensGate: it has a PreToolUse hook, which can change a call after callgate has checked it
            OpensGate: it has a PermissionRequest hook, which can answer in your place
            Diverts: `apiKeyHelper` runs a program without asking
            Diverts: `awsAuthRefresh` runs a program without asking
        "]],
    );
    check(&settings, SettingsOwner::Person, &expect![""]);
}

#[test]
fn plain_settings_and_our_own_hooks_are_none() {
    let direct = json!([{ "hooks": [
        { "type": "command", "command": "/a b/callgate-hook", "args": ["--agent", "claude"] }
    ] }]);
    for ours in [hook("/bin/callgate hook --agent claude"), direct] {
        let settings = json!({
            "disableAllHooks": false, "env": { "LD_PRELOAD": "" },
            "hooks": { "PreToolUse": ours, "PermissionRequest": ours },
        });
        check(&settings, SettingsOwner::Project, &expect![""]);
        assert!(has_our_hook(&settings));
    }
    for none in
        [json!({}), json!([]), json!(null), json!({ "hooks": { "Stop": hook("callgate hook") } })]
    {
        check(&none, SettingsOwner::Project, &expect![""]);
        assert!(!has_our_hook(&none));
    }
}

/// What might be taken for a yes counts as one.
#[test]
fn an_odd_switch_counts_as_on() {
    for odd in [json!("true"), json!(1), json!({})] {
        assert_eq!(
            find_hazards(&json!({ "disableAllHooks": odd }), SettingsOwner::Person).len(),
            1
        );
    }
    for off in [json!(null), json!(false), json!("false")] {
        assert_eq!(find_hazards(&json!({ "disableAllHooks": off }), SettingsOwner::Person), []);
    }
}
