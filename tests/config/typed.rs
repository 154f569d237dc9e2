//! A value that is typed at a terminal, which must not show it.

use std::fs;
use std::path::Path;
use std::process::Command;

use callgate_testkit::proc;
use callgate_testkit::terminal::Terminal;
use rustix::process::{Pid, Signal, kill_process};

use crate::command::Home;

const KEY: &str = "sk-ant-api03-typed-by-hand-0123456789";

/// A shell that runs the command in a terminal and then tells its exit code and whether the
/// terminal echoes.
fn shell(home: &Home, arguments: &str) -> Terminal {
    let script = format!(
        "trap : INT; {} config {arguments}; echo \"code=$?\"; \
         case $(/usr/bin/stty -a) in *-echo' '*) echo hidden=;; *) echo shown=;; esac",
        env!("CARGO_BIN_EXE_callgate"),
    );
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &script]).current_dir(home.home.folder());
    command.env_clear().env("HOME", home.home.folder());
    Terminal::spawn(&command)
}

/// Waits for the end of the command. Returns what was written.
fn end(terminal: Terminal, code: u8) -> String {
    terminal.wait_for("shown=");
    let written = terminal.written();
    assert!(written.contains(&format!("code={code}\r\n")), "{written:?}");
    assert!(!written.contains("hidden="), "{written:?}");
    drop(terminal);
    written
}

#[test]
fn a_typed_secret_is_not_shown_and_ends_with_enter() {
    let home = Home::new();
    let mut terminal = shell(&home, "set agent.api_key --stdin");
    terminal.wait_for("agent.api_key (not shown): ");
    terminal.press(&format!("wrong\x7f\x7f\x7f\x7f\x7f{KEY}\r"));
    let written = end(terminal, 0);
    assert!(!written.contains("sk-ant") && !written.contains("wrong"), "{written:?}");
    assert!(written.contains("agent.api_key: set"), "{written:?}");
    assert!(home.text().contains(KEY), "{}", home.text());
}

#[test]
fn ctrl_c_changes_nothing_and_the_terminal_echoes_again() {
    let home = Home::new();
    let mut terminal = shell(&home, "set agent.api_key --stdin");
    terminal.wait_for("(not shown): ");
    terminal.press("sk-ant-half\x03");
    let written = end(terminal, 130);
    assert!(!written.contains("sk-ant"), "{written:?}");
    assert!(written.contains("cancelled; nothing was changed"), "{written:?}");
    assert!(!home.file().exists());
}

#[test]
fn ctrl_d_and_an_empty_line_change_nothing() {
    let home = Home::new();
    for (keys, code) in [("\x04", 1), ("\r", 78)] {
        let mut terminal = shell(&home, "set agent.api_key --stdin");
        terminal.wait_for("(not shown): ");
        terminal.press(keys);
        end(terminal, code);
        assert!(!home.file().exists());
    }
}

#[test]
fn a_line_that_the_terminal_cuts_is_refused() {
    let home = Home::new();
    let mut terminal = shell(&home, "set agent.api_key --stdin");
    terminal.wait_for("(not shown): ");
    terminal.press(&format!("sk-ant-{}\r", "x".repeat(5000)));
    let written = end(terminal, 1);
    assert!(written.contains("too long to be typed"), "{written:?}");
    assert!(!home.file().exists());
}

#[test]
fn a_command_that_is_ended_gives_the_terminal_back() {
    let home = Home::new();
    let terminal = shell(&home, "set agent.api_key --stdin");
    terminal.wait_for("(not shown): ");
    let is_it = |pid: u32| {
        fs::read_link(format!("/proc/{pid}/exe"))
            .is_ok_and(|exe| exe == Path::new(env!("CARGO_BIN_EXE_callgate")))
            && fs::read_link(format!("/proc/{pid}/cwd"))
                .is_ok_and(|folder| folder == home.home.folder())
    };
    let process = proc::all().into_iter().find(|process| is_it(process.pid)).unwrap();
    let pid = Pid::from_raw(i32::try_from(process.pid).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    let written = end(terminal, 130);
    assert!(written.contains("cancelled; nothing was changed"), "{written:?}");
}
