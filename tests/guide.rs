//! The guide works word for word: its commands are run, with the real Claude Code in its default
//! state.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use callgate_testkit::process::{DEADLINE, run};
use callgate_testkit::terminal::Terminal;
use callgate_testkit::trial::{AgentProgram, Trial, TrialMode};

const CALLGATE: &str = env!("CARGO_BIN_EXE_callgate");

/// The guide's blocks of this language, in order.
fn blocks(language: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide/phone.md");
    let guide = fs::read_to_string(path).unwrap();
    let fence = format!("```{language}\n");
    let blocks = guide.split(&fence).skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// A home with nothing of callgate's in it, and the environment of somebody who works there.
struct Home {
    folder: PathBuf,
    variables: Vec<(std::ffi::OsString, std::ffi::OsString)>,
}

impl Home {
    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder).env_clear();
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        // Nobody else's desk is in the way.
        command.env("CALLGATE_SOCKET", self.folder.join("ask.sock"));
        command
    }

    /// Runs a block as its reader does, who has callgate on the PATH.
    fn run(&self, block: &str) -> String {
        let folder = Path::new(CALLGATE).parent().unwrap().display();
        let script = format!("set -e\nPATH={folder}:$PATH\n{block}");
        run(self.command("/bin/sh", &["-c", &script]), 2 * DEADLINE).success().stdout
    }
}

/// The first two steps, with Claude Code as it starts by itself: at its terminal, in auto mode.
#[test]
fn the_guide_leads_to_a_command_that_was_allowed_at_the_desk() {
    let agent = AgentProgram::Claude;
    let mode = TrialMode { agent, mode: "", is_attended: true, is_escalated: false };
    let Some(trial) = Trial::new(mode, &["make build"]) else { return };
    let home = Home { folder: trial.home(), variables: trial.environment() };
    let [up, build, install, rules, ..] = &blocks("sh")[..] else {
        panic!("the guide has too few steps")
    };
    assert_eq!(up, "cargo run -- up\n");
    let mut desk = Terminal::spawn(&home.command(CALLGATE, &["up"]));
    desk.wait_for(" install` in another terminal");
    assert_eq!(build, "cargo install --path . --profile dist\n");
    assert_eq!(install, "callgate install\n");
    let said = home.run(install);
    assert!(said.contains("starts in auto mode (its default), which asks nobody"), "{said}");
    home.run(rules);
    fs::write(trial.work().join("Makefile"), "build:\n\t@touch built\n").unwrap();
    let running = trial.start();
    let shown = &blocks("text")[0];
    for line in shown.lines().filter(|line| !line.contains("/home/ada")) {
        // Keys are bold, and the model has words of its own.
        let words = line.split("   ").next().unwrap().trim_start_matches("a ");
        desk.wait_for(if words.contains('#') { "  # For the test" } else { words });
    }
    desk.wait_for("Claude Code wants to run a command in ");
    desk.wait_for("reply\r\n");
    assert!(!running.work().join("built").exists());
    desk.press_until("a", |written| written.contains("Allowed by"));
    let outcome = running.end_after_dialog();
    assert!(outcome.made("built"), "{:?}", outcome.results);
}

/// The table of the modes is made by running the agents; the pages say the same in words.
#[test]
fn the_pages_agree_about_what_no_rule_decides() {
    let page = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide").join(name);
        fs::read_to_string(path).unwrap()
    };
    let modes = page("modes.md");
    let row = modes.lines().find(|line| line.starts_with("| `claude`, auto mode |")).unwrap();
    assert_eq!(row.split('|').nth(6).unwrap().trim(), "runs", "no rule decides it");
    for text in [&modes, &page("rules.md")] {
        assert!(text.contains("What no rule decides is left to the agent's mode"), "{text}");
    }
}

/// The settings of the third step are settings.
#[test]
fn the_settings_of_the_guide_are_understood() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home {
        folder: folder.path().to_owned(),
        variables: vec![
            ("HOME".into(), folder.path().into()),
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
        ],
    };
    let token = blocks("sh").into_iter().find(|block| block.contains("token")).unwrap();
    assert_eq!(token, "callgate config set telegram.token --stdin\n");
    home.run(&format!("echo 1:token | {token}"));
    let told = run(home.command(CALLGATE, &["doctor"]), DEADLINE).stdout;
    assert!(told.contains("ok       settings  "), "{told}");
    assert!(!told.contains("others can read"), "{told}");
    let get = home.command(CALLGATE, &["config", "get", "telegram.token"]);
    assert_eq!(run(get, DEADLINE).success().stdout, "set\n");
}
