//! Runtimes that misbehave, or that know little: each is a script in place of `callgate agent`.

use std::fs;

use serde_json::json;

use crate::manners::{press, type_message};
use crate::stage::{Stage, StageOptions};

/// Reads requests, and has the id of each in `$id` and the whole line in `$line`.
const READ: &str = r#"
ready() { printf '{"type":"ready","timestamp":1%s}\n' "$1"; }
say() { printf '{"type":"token","id":"%s","token":"%s","timestamp":2}\n' "$id" "$1"; }
over() { printf '{"type":"done","id":"%s","timestamp":3}\n' "$id"; }
next() { IFS= read -r line || exit 0; id=$(sed 's/.*"id":"\([^"]*\)".*/\1/' <<<"$line"); }
"#;

fn with_runtime(script: &str, arguments: &[&str]) -> Option<Stage> {
    let script = format!("{READ}\n{script}");
    let options = StageOptions { runtime: Some(&script), arguments, ..StageOptions::default() };
    Stage::start(&options)
}

#[test]
fn a_bare_runtime_that_knows_no_hello_is_enough() {
    let script = r#"ready
        while next; do
            case $line in
            *get_status*) printf '{"type":"status","id":"%s","data":{"state":"idle","conversationLength":2,"uptime":61000},"timestamp":4}\n' "$id" ;;
            *) printf '%s\n' "$line" >>"$HOME/requests"; say 'Plain '; say 'and simple.'; over ;;
            esac
        done"#;
    let Some(stage) = with_runtime(script, &[]) else { return };
    stage.begin_chat();
    stage.say("Are you there?");
    stage.wait_for_answer("Plain and simple.");
    let requests = fs::read_to_string(stage.path("requests")).unwrap();
    assert!(!requests.contains("hello"), "it was not asked for what it does not know: {requests}");
    let line = json!({ "id": "x", "kind": "user_message", "message": "With metadata",
        "metadata": { "userId": "user-789", "deep": [1, 2.50] } });
    stage.invoke("chat_send", &json!({ "line": line.to_string() })).unwrap();
    stage.desktop.until("the metadata", || {
        let requests = fs::read_to_string(stage.path("requests")).unwrap();
        requests.contains(r#""metadata":{"userId":"user-789","deep":[1,2.5]}"#).then_some(())
    });
    let line = json!({ "id": "y", "kind": "clear_history" }).to_string();
    stage.invoke("chat_send", &json!({ "line": line })).unwrap();
    stage.desktop.until("clear_history", || {
        let requests = fs::read_to_string(stage.path("requests")).unwrap();
        requests.contains("clear_history").then_some(())
    });
}

#[test]
fn unreadable_lines_are_logged_and_survived_and_debug_shows_no_contents() {
    let script = r#"ready
        while next; do
            printf 'this is no JSON, with a-secret-word\n'
            printf '{"type":"dance","id":"%s"}\n' "$id"
            printf '\xff\xfe\n'
            say 'a-secret-word'; over
        done"#;
    let Some(stage) = with_runtime(script, &["--debug"]) else { return };
    stage.begin_chat();
    stage.say("Are you there? another-secret");
    stage.wait_for_answer("a-secret-word");
    let log = stage.desktop.until("the log", || {
        let log = stage.desktop.log();
        (log.contains("unreadable line") && log.contains("unknown line")).then_some(log)
    });
    assert!(log.contains("sent user_message ") && log.contains("received token "), "{log}");
    assert!(log.contains("received done "), "{log}");
    assert!(!log.contains("secret"), "{log}");
}

#[test]
fn a_runtime_that_does_not_start_is_reported_with_its_last_words() {
    let Some(stage) = with_runtime("echo 'there is no model here' >&2; exit 3", &[]) else {
        return;
    };
    start_chat(&stage);
    stage.page.wait_for_text("[data-runtime]", "there is no model here");
    stage.page.wait_for("a way out", "return document.querySelector('[data-restart]')");
    // Once it can start, the button is enough.
    let fixed = "#!/bin/bash\nprintf '{\"type\":\"ready\",\"timestamp\":1}\\n'; cat >/dev/null\n";
    fs::write(stage.path("scripted-callgate"), fixed).unwrap();
    stage.page.click("[data-restart]");
    stage.page.wait_until_gone("[data-runtime]");
    assert!(stage.desktop.log().contains("its last output was: there is no model here"));
}

#[test]
fn a_message_that_is_sent_while_the_runtime_starts_is_sent_when_it_is_ready() {
    let script = r#"until [ -e "$HOME/go" ]; do sleep 0.05; done
        ready
        while next; do
            case $line in
            *get_status*) printf '{"type":"status","id":"%s","data":{"state":"idle","conversationLength":0,"uptime":1},"timestamp":4}\n' "$id" ;;
            *) say 'Good morning.'; over ;;
            esac
        done"#;
    let Some(stage) = with_runtime(script, &[]) else { return };
    let window = stage.desktop.wait_for_window();
    stage.desktop.xdotool(&["windowactivate", "--sync", &window]).unwrap();
    type_message(&stage, "Hello");
    press(&stage.desktop, "Return");
    stage.page.wait_for_text("[data-send]", "Waiting");
    fs::write(stage.path("go"), "").unwrap();
    stage.wait_for_answer("Good morning.");
    let written = "return document.querySelector('[data-message]').value";
    assert_eq!(stage.page.run(written, &json!([])), "");
}

#[test]
fn a_version_that_does_not_fit_is_refused_with_the_reason() {
    let script = "ready ',\"version\":\"2.0.0\",\"capabilities\":[\"streaming\"]'; cat >/dev/null";
    let Some(stage) = with_runtime(script, &[]) else { return };
    start_chat(&stage);
    stage.page.wait_for_text("[data-runtime]", "2.0.0");
}

/// Opens the chat, which starts the runtime, without waiting for it to be ready.
fn start_chat(stage: &Stage) {
    let _ = stage.page.run("location.hash = '#/chat'", &json!([]));
}
