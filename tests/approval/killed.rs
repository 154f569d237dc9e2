//! The daemon is killed, and no answer is lost.

use callgate_store::Store;
use serde_json::json;

use crate::fixture::{ADA, Stage, bash};

#[test]
fn buttons_on_the_phone_work_after_a_restart() {
    let stage = Stage::new();
    let hook = stage.hook(&bash("make build"));
    let question = stage.question("make build");
    // What was sent a moment before a kill may be sent again; this one is known to have arrived.
    stage.until("the copy is known", || {
        let store = Store::open_read_only(&stage.database()).unwrap();
        store.kept_under("copy/").unwrap().pop()
    });
    stage.kill();
    stage.up();
    stage.phone.press(ADA, ADA, question.id, "Allow");
    assert_eq!(hook.decision(), json!({ "behavior": "allow" }));
    stage.shows(&question, "Allowed by Ada");
    let sent = stage
        .phone
        .look(|seen| seen.chat(ADA).filter(|m| m.shape.text.contains("make build")).count());
    assert_eq!(sent, 1, "it is not shown twice");
    stage.assert_chain();
}

/// A long command that was shown in full is allowed while the daemon is dead, and after it is back.
#[test]
fn what_was_shown_in_full_can_be_allowed_after_a_kill() {
    let stage = Stage::new();
    for is_dead in [true, false] {
        let command = format!("echo {is_dead} {}", "a long word ".repeat(500));
        let hook = stage.hook(&bash(&command));
        let question = stage.question(&format!("echo {is_dead}"));
        assert!(question.button("Allow").is_none(), "not before it was read");
        stage.press(&question, "Show in full");
        let buttons = stage.phone.wait_for("the buttons below it", |seen| {
            seen.chat(ADA).rfind(|m| m.id > question.id && m.button("Allow").is_some()).cloned()
        });
        stage.kill();
        if is_dead {
            stage.phone.press(ADA, ADA, buttons.id, "Allow");
        }
        stage.up();
        if !is_dead {
            stage.phone.press(ADA, ADA, buttons.id, "Allow");
        }
        assert_eq!(hook.decision(), json!({ "behavior": "allow" }));
        let below = stage.shows(&buttons, "Allowed by Ada");
        assert!(!below.shape.text.contains("long word"), "{}", below.shape.text);
    }
}

#[test]
fn a_press_while_the_daemon_is_dead_counts() {
    let stage = Stage::new();
    let hook = stage.hook(&bash("make build"));
    let question = stage.question("make build");
    stage.kill();
    stage.phone.press(ADA, ADA, question.id, "Deny");
    stage.up();
    assert_eq!(hook.decision()["behavior"], "deny");
    stage.shows(&question, "Denied by Ada");
}

#[test]
fn a_daemon_that_stays_dead_sends_the_agent_back() {
    let stage = Stage::with("grace_seconds = 1");
    let hook = stage.hook(&bash("make build"));
    stage.question("make build");
    stage.kill();
    hook.fell_back();
}

#[test]
fn a_daemon_that_ends_properly_leaves_no_socket_and_its_questions_go_on() {
    let stage = Stage::new();
    let hook = stage.hook(&bash("make build"));
    let question = stage.question("make build");
    stage.down();
    assert!(!stage.path("ask.sock").exists());
    stage.up();
    stage.press(&question, "Allow");
    assert_eq!(hook.decision()["behavior"], "allow");
}
