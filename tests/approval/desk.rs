//! The desk's own terminal: questions appear in it, and keys answer them.

use std::process::Stdio;
use std::time::Duration;
use std::{fs, thread};

use callgate_testkit::process::{DEADLINE, Group, run};
use callgate_testkit::terminal::Terminal;
use callgate_testkit::until::until;
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
    stage.home.wait_for_desk();
    (stage, terminal)
}

/// Waits for a question, and until keys count: before that, they are taken for those of somebody
/// who meant the question before it.
fn read(terminal: &mut Terminal, question: &str) {
    terminal.wait_for(question);
    // Keys without a meaning have the desk show those that have one, once it takes any. A key that
    // was ignored and comes again at once is taken for one that is held down, so there are two.
    let mut keys = ["x", "y"].into_iter().cycle();
    until("keys count", || {
        terminal.press(keys.next().unwrap());
        let written = terminal.written();
        let shown = written.rfind(question).map_or("", |at| &written[at..]);
        shown.matches(" reply").count() > 1
    });
}

#[test]
fn a_key_answers_the_question_in_the_terminal() {
    let (stage, mut terminal) = desk();
    terminal.wait_for("a key answers them");
    let hook = stage.hook(&bash("make install"));
    read(&mut terminal, "make install");
    terminal.press("a");
    assert_eq!(hook.decision(), json!({ "behavior": "allow" }));
    terminal.wait_for("Allowed by");
    let hook = stage.hook(&bash("make clean"));
    read(&mut terminal, "make clean");
    terminal.press("rnot now\r");
    assert_eq!(hook.decision()["message"], "not now");
    // One of more answers than there are digits.
    let choices: Vec<String> = (1..=12).map(|number| format!("answer {number}")).collect();
    let mut arguments = vec!["ask", "Which one?"];
    arguments.extend(choices.iter().flat_map(|choice| ["--choice", choice]));
    let command = stage.callgate(&arguments);
    let asked = thread::spawn(move || run(command, DEADLINE));
    terminal.wait_for("Which one?");
    terminal.press_until("12\r", |_| asked.is_finished());
    assert_eq!(asked.join().unwrap().success().stdout, "answer 12\n");
    terminal.wait_for(": answer 12: Which one?");
}

#[test]
fn a_desk_that_is_ended_while_it_starts_ends_properly() {
    for signal in [Signal::TERM, Signal::INT] {
        let stage = Stage::unstarted("");
        let (settings, socket) = (stage.path("settings"), stage.path("ask.sock"));
        fs::write(&settings, format!("socket = {:?}\n", socket.to_str().unwrap())).unwrap();
        let mut command =
            stage.callgate(&["--config", settings.to_str().unwrap(), "up", "--no-terminal"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut group = Group::spawn(command);
        // It is in the middle of its start: it does not serve anybody yet.
        stage.until("the socket is there", || socket.exists().then_some(()));
        group.signal(signal);
        let status = group.wait(DEADLINE).unwrap();
        assert!(status.success(), "{signal:?}: {status:?}");
        assert!(!socket.exists());
    }
}

#[test]
fn what_is_no_key_answers_nothing() {
    let (stage, mut terminal) = desk();
    terminal.wait_for("\u{1b}[?2004h");
    let hook = stage.hook(&bash("make install"));
    read(&mut terminal, "make install");
    // Arrows, one of them in two pieces, a capital letter and a paste; the reply that is given up
    // shows that all of them were read.
    terminal.press("\u{1b}[a\u{1b}Oa\u{1b}[");
    thread::sleep(Duration::from_millis(100));
    terminal.press("aA\u{1b}[200~a\r\u{1b}[201~r");
    terminal.wait_for("Your words to the agent");
    let questions = |terminal: &Terminal| terminal.written().matches("make install").count();
    let before = questions(&terminal);
    terminal.press("\u{1b}");
    until("the question again", || questions(&terminal) > before);
    assert!(!terminal.written().contains("Allowed by"));
    terminal.press("r\u{1b}[200~not\ryet\u{1b}[201~\r");
    assert_eq!(hook.decision()["message"], "not yet");
    terminal.press("\u{3}");
    terminal.wait_for("\u{1b}[?2004l");
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
    stage.home.wait_for_desk();
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
    read(&mut terminal, "make install");
    terminal.press("d");
    assert_eq!(waiting.decision()["behavior"], "deny");
}
