//! Every mode of an agent: what the daemon answers before each tool call, what it remembers, and
//! what it shows. The requests are those of the approval protocol.

use std::fs;
use std::io::{BufReader, Read, Write};
use std::os::unix::net::UnixStream;

use callgate_store::LedgerEntry;
use callgate_testkit::process::DEADLINE;
use callgate_testkit::telegram::Message;
use callgate_testkit::terminal::Terminal;
use serde_json::{Value, json};

use crate::fixture::{ADA, Stage, bash};

const RULES: &str = r#"
[[rule]]
name = "never"
decide = "deny"
command = "rm *"

[[rule]]
name = "pushes"
decide = "ask"
command = "git push*"

[[rule]]
name = "builds"
decide = "allow"
command = "make build"
"#;

const MODES: [&str; 6] = ["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"];
const ATTENDED: [&str; 3] = ["default", "acceptEdits", "plan"];

fn stage(settings: &str) -> Stage {
    let stage = Stage::unstarted(settings);
    fs::write(stage.path(".config/callgate/rules.toml"), RULES).unwrap();
    stage.up();
    stage
}

/// A person's edit brings nothing that a rule denies or wants confirmed.
#[test]
fn what_a_person_makes_of_a_call_is_under_the_rules() {
    let stage = Stage::unstarted("");
    let pushes = RULES.replace("decide = \"ask\"", "decide = \"confirm\"");
    fs::write(stage.path(".config/callgate/rules.toml"), pushes).unwrap();
    stage.up();
    let mut page = stage.viewer();
    let mut changed = |command: &str, other: &str| {
        let hook = stage.hook(&bash(command));
        stage.question(command);
        stage.change(&mut page, command, &json!({ "command": other }));
        hook
    };
    let denied = changed("touch a", "rm -r a").decision();
    assert_eq!(denied["behavior"], "deny");
    let why = denied["message"].as_str().unwrap();
    assert!(why.contains("A person changed this call, but denied by rule `never`"), "{why}");
    let fine = changed("touch b", "touch c").decision();
    assert_eq!(fine, json!({ "behavior": "allow", "updatedInput": { "command": "touch c" } }));
    let pushes = changed("touch d", "git push");
    stage.press(&stage.question("git push"), "Deny");
    assert_eq!(pushes.decision()["behavior"], "deny");
}

/// An asker that waits for its answer.
struct Asker(BufReader<UnixStream>);

impl Asker {
    fn answer(self) -> Value {
        let bytes = self.0.bytes().map(Result::unwrap);
        let line: Vec<u8> = bytes.take_while(|byte| *byte != b'\n').collect();
        serde_json::from_slice(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }
}

/// Numbers of requests, which must all differ within a test.
fn request(number: u32, command: &str, kind: &str, context: &Value) -> Value {
    let mut whole = json!({ "prompt_id": "p1", "takes": [] });
    for (name, value) in context.as_object().unwrap() {
        whole[name] = value.clone();
    }
    json!({
        "request_id": format!("00000000-0000-4000-8000-{number:012x}"),
        "tool_name": "Bash",
        "tool_input": { "command": command },
        "cwd": "/home/ada/engine",
        "session_id": "s1",
        "agent": "claude-code",
        "kind": kind,
        "context": whole,
    })
}

fn check(number: u32, command: &str, mode: &str, asks: &str) -> Value {
    let context = json!({ "event": "PreToolUse", "mode": mode, "asks": asks });
    request(number, command, "check", &context)
}

fn blocked(number: u32, command: &str) -> Value {
    let reason = "it pushes to a shared branch";
    let context = json!({ "event": "PermissionDenied", "mode": "auto", "reason": reason });
    request(number, command, "ask", &context)
}

fn send(stage: &Stage, request: &Value) -> Asker {
    let mut stream = UnixStream::connect(stage.path("ask.sock")).unwrap();
    // Only for a test that would hang otherwise.
    stream.set_read_timeout(Some(DEADLINE * 4)).unwrap();
    stream.write_all(format!("{request}\n").as_bytes()).unwrap();
    Asker(BufReader::new(stream))
}

fn decision(stage: &Stage, request: &Value) -> String {
    send(stage, request).answer()["decision"].as_str().unwrap().to_owned()
}

/// Ada presses a button, and the asker reads what came of it.
fn press(stage: &Stage, question: &Message, button: &str, asker: Asker) -> String {
    let press = stage.phone.press(ADA, ADA, question.id, button);
    let answer = asker.answer();
    stage.told(&press);
    answer["decision"].as_str().unwrap().to_owned()
}

fn of_kind(stage: &Stage, kind: &str) -> Vec<Value> {
    let is_it = |entry: &LedgerEntry| entry.kind == kind;
    let body = |entry: LedgerEntry| serde_json::from_str(&entry.body).unwrap();
    stage.entries().into_iter().filter(is_it).map(body).collect()
}

#[test]
fn rules_hold_in_every_mode() {
    let stage = stage("");
    let mut number = 0;
    let mut ask = |command: &str, mode: &str, asks: &str| {
        number += 1;
        decision(&stage, &check(number, command, mode, asks))
    };
    for mode in MODES {
        for asks in ["agent", "desk"] {
            assert_eq!(ask("rm -rf /", mode, asks), "deny", "{mode}");
            assert_eq!(ask("make build", mode, asks), "allow", "{mode}");
            assert_eq!(ask("make test", mode, asks), "none", "{mode}");
        }
        assert_eq!(ask("git push", mode, "agent"), "ask", "{mode}");
    }
    let answer = send(&stage, &check(1_000, "rm x", "auto", "agent")).answer();
    assert!(answer["message"].as_str().unwrap().contains("never"), "{answer}");
    // One entry for each decision of a rule, and none for what no rule decides.
    let checked = of_kind(&stage, "checked");
    assert_eq!(checked.len(), 2 * 2 * MODES.len() + 1);
    let last = checked.last().unwrap();
    assert_eq!((&last["mode"], &last["decision"]), (&json!("auto"), &json!("deny")));
    assert!(of_kind(&stage, "asked").is_empty());
    let log = stage.callgate(&["log", "--decision", "deny", "-n", "1"]).output().unwrap();
    let log = String::from_utf8(log.stdout).unwrap();
    assert!(
        log.contains("deny") && log.contains("Bash: rm x") && log.contains("mode auto"),
        "{log}"
    );
    stage.assert_chain();
}

#[test]
fn with_nobody_to_ask_unattended_modes_wait_at_the_desk() {
    let stage = stage("gate.unattended = \"ask\"");
    for (number, mode) in (1..).zip(MODES) {
        let command = format!("make {mode}");
        let asker = send(&stage, &check(number, &command, mode, "agent"));
        if ATTENDED.contains(&mode) {
            assert_eq!(asker.answer()["decision"], "none", "{mode}");
            continue;
        }
        let question = stage.question(&command);
        assert!(question.shape.text.contains("no answer is a no"), "{}", question.shape.text);
        assert!(question.shape.text.contains(&format!("{mode} mode asks nobody")));
        let (button, expected) = if mode == "auto" { ("Allow", "allow") } else { ("Deny", "deny") };
        assert_eq!(press(&stage, &question, button, asker), expected, "{mode}");
    }
    assert_eq!(decision(&stage, &check(100, "make build", "auto", "desk")), "allow");
}

#[test]
fn a_check_that_nobody_can_answer_is_a_timeout_at_once() {
    let stage = Stage::unstarted("");
    let config = format!("socket = {:?}\n", stage.path("ask.sock").to_str().unwrap());
    fs::write(stage.path(".config/callgate/config.toml"), config).unwrap();
    fs::write(stage.path(".config/callgate/rules.toml"), RULES).unwrap();
    stage.up();
    assert_eq!(decision(&stage, &check(1, "git push", "auto", "desk")), "timeout");
}

#[test]
fn the_question_after_a_check_is_answered_from_memory_once() {
    let stage = stage("");
    let asker = send(&stage, &check(1, "git push", "default", "desk"));
    assert_eq!(press(&stage, &stage.question("git push"), "Allow", asker), "allow");
    // Codex tells what a command is for only when it asks.
    let mut permission = request(2, "git push", "ask", &json!({ "event": "PermissionRequest" }));
    permission["tool_input"]["description"] = json!("Publish the branch");
    assert_eq!(decision(&stage, &permission), "allow");
    permission["request_id"] = json!("00000000-0000-4000-8000-000000000003");
    let asker = send(&stage, &permission);
    let again = stage.question("Publish the branch");
    assert_eq!(press(&stage, &again, "Deny", asker), "deny");
    assert_eq!(of_kind(&stage, "pressed").len(), 2);
}

#[test]
fn what_auto_mode_blocked_comes_to_the_phone_and_may_try_again_once() {
    let stage = stage("");
    let asker = send(&stage, &blocked(1, "git commit"));
    let question = stage.question("git commit");
    let text = &question.shape.text;
    assert!(text.contains("auto mode") && text.contains("it pushes to a shared branch"), "{text}");
    assert!(text.contains("Let it try again?"), "{text}");
    assert_eq!(question.labels(), ["✅ Yes, try again", "❌ No"]);
    assert_eq!(press(&stage, &question, "Yes, try again", asker), "allow");
    stage.shows(&question, "Allowed by Ada to try again");
    // Another call is not meant; a desk that was killed meanwhile still knows.
    assert_eq!(decision(&stage, &check(2, "git commit -a", "auto", "agent")), "none");
    stage.kill();
    stage.up();
    assert_eq!(decision(&stage, &check(3, "git commit", "auto", "agent")), "allow");
    assert_eq!(decision(&stage, &check(4, "git commit", "auto", "agent")), "none");
    stage.phone.assert_nothing_refused();
}

#[test]
fn what_was_denied_here_is_not_brought_to_the_phone() {
    let stage = stage("");
    assert_eq!(decision(&stage, &check(1, "rm x", "auto", "agent")), "deny");
    assert_eq!(decision(&stage, &blocked(2, "rm x")), "deny");
    let asker = send(&stage, &check(3, "git push", "auto", "desk"));
    assert_eq!(press(&stage, &stage.question("git push"), "Deny", asker), "deny");
    assert_eq!(decision(&stage, &blocked(4, "git push")), "deny");
    assert_eq!(of_kind(&stage, "pressed").len(), 1);
}

#[test]
fn what_ran_unasked_is_in_the_ledger_and_in_one_line_of_the_terminal() {
    let stage = Stage::unstarted("");
    let config = format!("socket = {:?}\n", stage.path("ask.sock").to_str().unwrap());
    fs::write(stage.path(".config/callgate/config.toml"), config).unwrap();
    let terminal = Terminal::spawn(&stage.callgate(&["up"]));
    stage.home.wait_for_desk();
    terminal.wait_for("a key answers them");
    for (number, mode) in [(1, "default"), (2, "auto")] {
        let context = json!({ "event": "PostToolUse", "mode": mode, "ok": true });
        let ran = request(number, &format!("touch {mode}"), "settle", &context);
        drop(send(&stage, &ran));
    }
    terminal.wait_for("auto mode ran: touch auto");
    assert!(!terminal.written().contains("touch default"));
    let ran = stage
        .until("both are recorded", || Some(of_kind(&stage, "ran")).filter(|ran| ran.len() == 2));
    let auto = ran.iter().find(|ran| ran["mode"] == "auto").unwrap();
    assert_eq!(auto["input"], json!({ "command": "touch auto" }));
    let log = stage.callgate(&["log", "--kind", "ran"]).output().unwrap();
    let log = String::from_utf8(log.stdout).unwrap();
    assert!(log.contains("Bash: touch auto  mode auto"), "{log}");
}

/// What an agent gives its hook at an event about this command.
fn event(name: &str, mode: &str, command: &str, extra: &Value) -> Value {
    let mut input = bash(command);
    input["hook_event_name"] = json!(name);
    input["permission_mode"] = json!(mode);
    for (field, value) in extra.as_object().unwrap() {
        input[field] = value.clone();
    }
    input
}

#[test]
fn codex_asks_once_about_a_call_that_is_checked_and_asked_about() {
    let stage = stage("");
    let codex = json!({ "turn_id": "t1", "prompt_id": null, "tool_use_id": "call_1" });
    let mut checked = event("PreToolUse", "default", "git push", &codex);
    checked["tool_input"] = json!({ "command": "git push" });
    let hook = stage.hook(&checked);
    stage.press(&stage.question("git push"), "Allow");
    let ended = hook.end();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""), "{ended:?}");
    let codex = json!({ "turn_id": "t1", "prompt_id": null });
    let asked = event("PermissionRequest", "default", "git push", &codex);
    assert_eq!(stage.hook(&asked).decision(), json!({ "behavior": "allow" }));
    assert_eq!(of_kind(&stage, "pressed").len(), 1);
}

#[test]
fn a_hook_tells_claude_to_try_again_and_lets_it_through() {
    let stage = stage("");
    let blocked = json!({ "tool_use_id": "toolu_1", "reason": "Classifier unavailable" });
    let hook = stage.hook(&event("PermissionDenied", "auto", "git commit", &blocked));
    let question = stage.question("git commit");
    assert!(question.shape.text.contains("Classifier unavailable"), "{}", question.shape.text);
    stage.press(&question, "Yes, try again");
    let ended = hook.end();
    let printed: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(printed["hookSpecificOutput"]["retry"], true, "{ended:?}");
    for expected in [Some("allow"), None] {
        let again = json!({ "tool_use_id": "toolu_2" });
        let ended = stage.hook(&event("PreToolUse", "auto", "git commit", &again)).end();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let printed: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
        assert_eq!(printed["hookSpecificOutput"]["permissionDecision"].as_str(), expected);
    }
}
