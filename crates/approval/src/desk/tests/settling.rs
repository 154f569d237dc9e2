//! Reports of agents: runs, ends of turns, and notifications.

use callgate_wire::approval::{Action, Decision};
use serde_json::{Value, json};

use super::super::{AskerId, DeskInput, DeskOutput, DeskSettings};
use super::cases::{Table, answer, marks, shown};
use super::{ADA, ada, request, request_of, settings};
use crate::channel::{ChannelOrder, ChannelReport, MarkState, ReplyTo};

fn settle(event: &str, more: &Value) -> DeskInput {
    let mut line =
        json!({ "kind": "settle", "context": { "event": event, "prompt_id": "p1", "ok": true } });
    for (name, value) in more.as_object().unwrap() {
        line[name] = value.clone();
    }
    DeskInput::Told(request_of(900, "Bash", &json!({ "command": "make" }), &line))
}

#[test]
fn a_tool_that_has_run_settles_its_question_and_no_other() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    table.ask(2, request(2, "make test"));
    table.give(shown(1));
    let outputs = table.give(settle("PostToolUse", &json!({})));
    assert_eq!(marks(&outputs), [(MarkState::Settled, "Answered at the agent's own terminal")]);
    assert_eq!(answer(&outputs).decision, Decision::Timeout);
    assert_eq!((table.desk.open_count(), table.last("ran")["tool"].as_str()), (1, Some("Bash")));
}

#[test]
fn the_report_of_an_allowed_run_settles_no_other_question() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    table.button(1, Action::Allow);
    table.give(DeskInput::Delivered(AskerId(1)));
    table.ask(2, request(2, "make"));
    table.give(settle("PostToolUse", &json!({})));
    assert_eq!(table.desk.open_count(), 1, "the second one is still asked");
    table.give(settle("PostToolUse", &json!({})));
    assert_eq!(table.desk.open_count(), 0);
}

/// Also where what nobody was asked about is not kept.
#[test]
fn a_run_that_somebody_was_asked_about_is_always_recorded() {
    let mut table = Table::with(DeskSettings { record_runs: false, ..settings() });
    table.ask(1, request(1, "make"));
    table.button(1, Action::Allow);
    table.give(DeskInput::Delivered(AskerId(1)));
    let count = |table: &Table| table.kinds().iter().filter(|kind| **kind == "ran").count();
    table.give(settle("PostToolUse", &json!({})));
    assert_eq!(count(&table), 1, "it was allowed here");
    table.ask(2, request(2, "make"));
    table.give(settle("PostToolUse", &json!({})));
    assert_eq!(count(&table), 2, "it was allowed at the agent's own terminal");
    table.give(settle("PostToolUse", &json!({})));
    assert_eq!(count(&table), 2, "nobody was asked");
}

#[test]
fn a_question_that_the_user_answered_at_the_terminal_is_settled() {
    let mut table = Table::new();
    let questions = json!([{ "question": "Which?", "options": [{ "label": "A" }] }]);
    let asked = json!({ "questions": questions });
    table.ask(1, request_of(1, "AskUserQuestion", &asked, &json!({})));
    let ran = json!({ "questions": questions, "answers": { "Which?": "A" } });
    let context = json!({ "event": "PostToolUse", "prompt_id": "p1" });
    let more = json!({ "kind": "settle", "context": context });
    table.give(DeskInput::Told(request_of(900, "AskUserQuestion", &ran, &more)));
    assert_eq!(table.desk.open_count(), 0);
}

#[test]
fn stop_settles_its_own_prompt_and_leaves_subagents_alone() {
    let mut table = Table::new();
    let of = |number, context: Value| {
        request_of(number, "Bash", &json!({ "command": "x" }), &json!({ "context": context }))
    };
    table.ask(1, of(1, json!({ "prompt_id": "p1" })));
    table.ask(2, of(2, json!({ "prompt_id": "p2" })));
    table.ask(3, of(3, json!({ "prompt_id": "p1", "agent_id": "a" })));
    table.give(settle("Stop", &json!({})));
    assert_eq!(table.desk.open_count(), 2);
    table.give(settle("SessionEnd", &json!({ "session_id": "another" })));
    assert_eq!(table.desk.open_count(), 2);
    table.give(settle("SessionEnd", &json!({})));
    assert_eq!(table.desk.open_count(), 0);
}

#[test]
fn people_hear_of_finished_turns_and_notifications_if_they_want_to() {
    let said = |table: &mut Table, input: DeskInput| -> Vec<String> {
        let said = table.give(input).into_iter().filter_map(|output| match output {
            DeskOutput::Phones(ChannelOrder::Say { text, chats }) => {
                Some(format!("{chats:?} {text}"))
            }
            DeskOutput::Terminal(ChannelOrder::Say { text, .. }) => Some(text),
            _ => None,
        });
        said.collect()
    };
    let stop = || {
        let context = json!({ "event": "Stop", "last_words": "All tests pass." });
        let more = json!({ "kind": "settle", "context": context });
        DeskInput::Told(request_of(900, "Stop", &json!({}), &more))
    };
    let notification = |kind: &str| {
        let input = json!({ "message": "Claude is waiting", "notification_type": kind });
        let more = json!({ "kind": "notify", "context": { "event": "Notification" } });
        DeskInput::Told(request_of(901, "Notification", &input, &more))
    };
    let mut table =
        Table::with(DeskSettings { notify_on_stop: true, terminal: true, ..settings() });
    let finished = "Claude Code in /home/ada/engine has finished. All tests pass.";
    let waits = "Claude Code in /home/ada/engine says: Claude is waiting";
    let both = |text: &str| [format!("[-100, 7] {text}"), text.to_owned()];
    assert_eq!(said(&mut table, stop()), both(finished));
    assert_eq!(said(&mut table, notification("idle_prompt")), both(waits));
    let mute = ChannelReport::Command {
        who: ada(),
        name: "mute".to_owned(),
        rest: "1h".to_owned(),
        reply_to: ReplyTo::Message { chat: ADA, message: 1 },
    };
    table.give(DeskInput::News(mute));
    let others = [format!("[-100] {finished}"), finished.to_owned()];
    assert_eq!(said(&mut table, stop()), others, "a muted chat is left alone");
    let mut table = Table::with(DeskSettings { terminal: true, ..settings() });
    let in_dialog = "Claude Code in /home/ada/engine waits in its own dialog: Claude is waiting";
    for kind in ["permission_prompt", "elicitation_dialog"] {
        assert_eq!(said(&mut table, notification(kind)), both(in_dialog), "{kind}");
    }
    table.ask(1, request(1, "make"));
    assert_eq!(said(&mut table, notification("permission_prompt")), [""; 0], "it is asked here");
    table.button(1, Action::Allow);
    table.give(DeskInput::Delivered(AskerId(1)));
    assert_eq!(said(&mut table, notification("permission_prompt")), [""; 0], "it was a moment ago");
    table.ask(2, request_of(2, "Bash", &json!({}), &json!({ "session_id": "another" })));
    table.wait(11);
    assert_eq!(said(&mut table, notification("permission_prompt")), both(in_dialog));
    let silent = DeskSettings { terminal: true, notify_on_wait: false, ..settings() };
    let mut table = Table::with(silent);
    assert_eq!(said(&mut table, notification("permission_prompt")), [""; 0]);
    assert_eq!(said(&mut table, stop()), [""; 0]);
    assert_eq!(said(&mut table, notification("idle_prompt")), [""; 0]);
    // What would have opened the gate is told whatever the settings say.
    let context = json!({ "event": "ConfigChange", "reason": "/f: no hook runs" });
    let more = json!({ "kind": "notify", "context": context });
    let refused = request_of(902, "ConfigChange", &json!({ "file_path": "/f" }), &more);
    let text = "Claude Code in /home/ada/engine did not apply a change of its settings: \
                /f: no hook runs";
    assert_eq!(said(&mut table, DeskInput::Told(refused)), both(text));
}
