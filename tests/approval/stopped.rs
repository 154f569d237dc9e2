//! The daemon is stopped, as by Ctrl-Z or a debugger: it accepts connections and reads nothing.

use std::fs;

use callgate_store::LedgerEntry;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::fixture::{Hook, Stage, bash};

const RULES: &str = r#"
[[rule]]
name = "no-network"
decide = "deny"
command = "curl *"
reason = "nothing leaves this machine"

[[rule]]
name = "builds"
decide = "allow"
command = "make *"

[[rule]]
name = "pushes"
decide = "ask"
command = "git push *"
"#;

/// What an agent that asks nobody gives its hook before a shell command.
fn call(command: &str) -> Value {
    let mut call = bash(command);
    call["hook_event_name"] = json!("PreToolUse");
    call["permission_mode"] = json!("bypassPermissions");
    call
}

/// What a hook has printed.
fn printed(hook: Hook) -> Value {
    let ended = hook.end();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    let printed: Value = serde_json::from_str(&ended.stdout).unwrap();
    printed["hookSpecificOutput"].clone()
}

#[test]
fn a_stopped_daemon_does_not_keep_the_rules_from_deciding() {
    let stage = Stage::unstarted("timeout_seconds = 3600");
    fs::write(stage.path(".config/callgate/rules.toml"), RULES).unwrap();
    stage.up();
    stage.signal(Signal::STOP);
    let [asked, denied, allowed] = ["git push origin", "curl https://example.org", "make test"]
        .map(|it| stage.hook(&call(it)));
    let denied = printed(denied);
    assert_eq!(denied["permissionDecision"], "deny", "{denied}");
    let reason = denied["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.contains("nothing leaves this machine"), "{reason}");
    let allowed = printed(allowed);
    assert_eq!(allowed["permissionDecision"], "allow", "{allowed}");
    // What needs a person waits for the daemon, which then has all of it in its ledger.
    stage.signal(Signal::CONT);
    let question = stage.question("git push origin");
    stage.press(&question, "Allow");
    let asked = printed(asked);
    assert_eq!(asked["permissionDecision"], "allow", "{asked}");
    for command in ["curl https://example.org", "make test"] {
        let is_it = |entry: &LedgerEntry| entry.body.contains(command);
        stage
            .until("the call is in the ledger", || stage.entries().iter().any(is_it).then_some(()));
    }
}
