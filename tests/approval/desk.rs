//! The desk's own terminal: questions appear in it, and keys answer them.

use std::fs;

use callgate_testkit::process::{DEADLINE, Group};
use callgate_testkit::terminal::Terminal;
use rustix::process::Signal;
use serde_json::json;

use crate::fixture::{Stage, bash};

/// `callgate up` in a terminal, with a rule that allows `make build`.
fn desk() -> (Stage, Terminal) {
    let stage = Stage::unstarted("");
    let config = format!("socket = {:?}\n", stage.path("ask.sock").to_str().unwrap());
    fs::write(stage.path(".config/callgate/config.toml"), config).unwrap();
    let rules = "[[rule]]\nname = \"builds\"\ndecide = \"allow\"\ncommand = \"make build\"\n";
    fs::write(stage.path(".config/callgate/rules.toml"), rules).unwrap();
    let terminal = Terminal::spawn(&stage.callgate(&["up"]));
    stage.wait_for_daemon();
    (stage, terminal)
}

#[test]
fn a_key_answers_the_question_in_the_terminal() {
    let (stage, mut terminal) = desk();
    terminal.wait_for("a key answers them");
    let hook = stage.hook(&bash("make install"));
    terminal.wait_for("make install");
    terminal.press("a");
    assert_eq!(hook.decision(), json!({ "behavior": "allow" }));
    terminal.wait_for("Allowed by");
    let hook = stage.hook(&bash("make clean"));
    terminal.wait_for("make clean");
    terminal.press("rnot now\r");
    assert_eq!(hook.decision()["message"], "not now");
}

#[test]
fn what_was_started_to_outlive_its_terminal_does() {
    let stage = Stage::unstarted("");
    let up = stage.callgate(&["up", "--no-terminal"]);
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" up --no-terminal"]).arg(up.get_program());
    command.env_clear().envs(stage.environment()).stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut group = Group::spawn(command);
    stage.wait_for_daemon();
    group.signal(Signal::HUP);
    let hook = stage.hook(&bash("make build"));
    stage.press(&stage.question("make build"), "Allow");
    hook.decision();
    group.signal(Signal::TERM);
    assert!(group.wait(DEADLINE).unwrap().success());
}

#[test]
fn a_terminal_that_somebody_has_stopped_holds_nobody_up() {
    let (stage, mut terminal) = desk();
    terminal.wait_for("a key answers them");
    // Ctrl-S: nothing is printed until Ctrl-Q.
    terminal.press("\u{13}");
    let waiting = stage.hook(&bash("make install"));
    for _ in 0..3 {
        let hook = stage.hook(&bash("make build"));
        assert_eq!(hook.decision(), json!({ "behavior": "allow" }));
    }
    assert!(!terminal.written().contains("make install"), "the terminal was not stopped");
    terminal.press("\u{11}");
    terminal.wait_for("make install");
    terminal.press("d");
    assert_eq!(waiting.decision()["behavior"], "deny");
}
