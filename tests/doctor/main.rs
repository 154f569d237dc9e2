//! `callgate doctor` as a user runs it: it finds each thing that can be wrong, and says how to fix
//! it.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod agents;
mod team;

use std::fs::{self, Permissions};
use std::ops::Deref;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;

use callgate_testkit::process::{DEADLINE, Finished, Group, run};
use callgate_testkit::script::write_program;
use callgate_testkit::telegram::{BOT_NAME, Fault, Telegram};
use callgate_testkit::test_home::TestHome;
use callgate_testkit::until::{until, until_or};
use rustix::process::geteuid;
use serde_json::Value;

/// A home in which all is well until a test spoils something.
struct Home {
    base: TestHome,
    phone: Telegram,
    daemon: Option<Group>,
}

impl Home {
    /// With settings, a bot and its chat, Claude Code, and our hook in its settings.
    fn new() -> Self {
        let phone = Telegram::start();
        phone.add_private(7, "Ada");
        let home = Self { base: TestHome::new(), phone, daemon: None };
        for folder in ["bin", "work", ".config/callgate"] {
            fs::create_dir_all(home.path(folder)).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_callgate"), home.path("bin/callgate")).unwrap();
        home.claude("2.1.325");
        home.write_private("token", home.phone.token());
        home.set("");
        home.done(&["install"]);
        home
    }

    /// The same, with a daemon.
    fn up() -> Self {
        let mut home = Self::new();
        home.start();
        home
    }

    fn start(&mut self) {
        self.start_with(&[]);
        let log = || format!("the daemon serves: {}", self.text("up.log"));
        until_or(log, || self.doctor().iter().any(|it| text(it).contains("listens as")));
    }

    fn start_with(&mut self, more: &[&str]) {
        let errors = fs::File::create(self.path("up.log")).unwrap();
        let mut command = self.callgate(&["up", "--no-terminal"]);
        command.args(more).stdout(errors.try_clone().unwrap()).stderr(errors);
        self.daemon = Some(Group::spawn(command));
    }

    /// Claude Code as far as it tells its version.
    fn claude(&self, version: &str) {
        let script = format!("#!/bin/sh\necho '{version} (Claude Code)'\n");
        write_program(&self.path("bin/claude"), &script);
    }

    fn set(&self, more: &str) {
        let (socket, token) = (self.text_path("ask.sock"), self.text_path("token"));
        let url = self.phone.url();
        self.write_settings(&format!(
            "socket = {socket:?}\n{more}\n[telegram]\ntoken_file = {token:?}\n\
             api_url = {url:?}\nallowed_chats = [7]\n"
        ));
    }

    /// Changes the settings of Claude Code.
    fn change(&self, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(".claude/settings.json")).unwrap();
        assert!(text.contains(from), "{text}");
        self.write(".claude/settings.json", &text.replacen(from, to, 1));
    }

    fn callgate(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(self.path("bin/callgate"), arguments);
        command.env("PATH", self.path("bin")).current_dir(self.path("work"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        run(self.callgate(arguments), DEADLINE)
    }

    fn done(&self, arguments: &[&str]) -> String {
        self.run(arguments).success().stdout
    }

    /// All findings; the exit code says whether there is a problem among them.
    fn doctor(&self) -> Vec<Value> {
        self.doctor_with(&[])
    }

    fn doctor_with(&self, more: &[&str]) -> Vec<Value> {
        let Finished { status, stdout, stderr, .. } =
            self.run(&[&["doctor", "--json"][..], more].concat());
        let json: Value = serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{stderr}"));
        let findings = json["checks"].as_array().unwrap().clone();
        let count = |level: &str| findings.iter().filter(|it| it["level"] == level).count();
        assert_eq!(json["problems"], count("problem"));
        assert_eq!(json["warnings"], count("warning"));
        let expected = i32::from(count("problem") > 0);
        assert_eq!(status.code(), Some(expected), "{stdout}");
        // How these tests were built is no matter of theirs.
        findings.into_iter().filter(|it| it["about"] != "program").collect()
    }

    /// There is exactly one finding that is not well, and it is this one.
    fn finds(&self, level: &str, what: &str, advice: &str) {
        self.finds_with(&[], level, what, advice);
    }

    fn finds_with(&self, more: &[&str], level: &str, what: &str, advice: &str) {
        let findings = self.doctor_with(more);
        let bad: Vec<&Value> = findings.iter().filter(|it| it["level"] != "ok").collect();
        let [one] = bad.as_slice() else { panic!("not one, but {bad:#?}") };
        assert_eq!(one["level"], level, "{one}");
        assert!(text(one).contains(what), "{one}");
        assert!(one["do"].as_str().unwrap().contains(advice), "{one}");
    }
}

impl Deref for Home {
    type Target = TestHome;

    fn deref(&self) -> &TestHome {
        &self.base
    }
}

impl Home {
    /// There is a finding like this one, maybe beside others.
    fn finds_among(&self, level: &str, what: &str, advice: &str) {
        let findings = self.doctor();
        let is_it = |it: &&Value| it["level"] == level && text(it).contains(what);
        let found = findings.iter().find(is_it);
        let found = found.unwrap_or_else(|| panic!("no {what:?} in {findings:#?}"));
        assert!(found["do"].as_str().unwrap().contains(advice), "{found}");
    }
}

fn text(finding: &Value) -> &str {
    finding["text"].as_str().unwrap()
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn when_all_is_well_it_says_so_and_ends_with_0() {
    let home = Home::up();
    let said = home.done(&["doctor"]);
    for line in [
        "ok       settings  ",
        "ok       rules     none of yours\n",
        "ask.sock, the socket for hooks\n",
        "desk.sock, the socket for viewers\n",
        &format!("ask.sock.{}.lock is held\n", geteuid().as_raw()),
        "ok       daemon    `callgate up` ",
        "ok       page      served at http://127.0.0.1:",
        &format!("ok       telegram  `callgate up` listens as @{BOT_NAME}\n"),
        "linked chats: 1\n",
        "callgate.db is whole; entries: ",
        "ok       hooks     Claude Code has our hook in ",
        "ok       claude    Claude Code 2.1.325\n",
        "ok       gate      Claude Code: the hook denies what it has to deny\n",
        "ok       modes     Claude Code starts in auto mode (its default), which asks nobody: ",
        "ok       modes     Claude Code: a hook that is missing, killed, late or garbled counts as a yes ",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    // The test of the hook went all the way to the desk, whose rules denied it.
    let log = home.done(&["log", "--all"]);
    let denied = "callgate-self-test";
    assert!(log.contains(denied), "{log}");
    // Cargo names the folder after the profile.
    let profile = Path::new(env!("CARGO_BIN_EXE_callgate"))
        .parent()
        .unwrap()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap();
    let (built, end) = match profile {
        "dist" => ("ok       program   ", "no problem, no warning"),
        _ => ("warning  program   ", "no problem, 1 warning"),
    };
    assert!(said.starts_with(built) && said.ends_with(&format!("\n{end}\n")), "{said}");
    let first = said.lines().next().unwrap();
    assert!(first.contains(&format!("profile `{profile}`")) || profile == "dist", "{first}");
}

#[test]
fn wrong_settings_are_named_with_their_line() {
    let home = Home::new();
    home.set("timeout_secnds = 5");
    let findings = home.doctor();
    assert!(text(&findings[0]).contains("config.toml:2:1"), "{findings:?}");
    assert!(text(&findings[0]).contains("timeout_seconds"), "{findings:?}");
    assert_eq!((&findings[0]["level"], findings.len()), (&"problem".into(), 2));
    assert_eq!(home.run(&["doctor"]).status.code(), Some(1));
}

#[test]
fn files_that_others_can_change_are_found() {
    let home = Home::up();
    chmod(&home.path(".config/callgate/config.toml"), 0o666);
    home.finds("problem", "others can change ", "chmod go-w ");
    chmod(&home.path(".config/callgate/config.toml"), 0o600);
    chmod(&home.path("token"), 0o644);
    home.finds("problem", "others can read the token", "");
}

#[test]
fn rules_that_cannot_be_read_are_found() {
    let home = Home::up();
    home.write(".config/callgate/rules.toml", "[[rule]]\nallow = 7\n");
    let findings = home.doctor();
    let wrong = findings.iter().find(|it| it["about"] == "rules").unwrap();
    assert!(wrong["level"] == "problem" && text(wrong).contains("rules.toml:"), "{wrong}");
    fs::remove_file(home.path(".config/callgate/rules.toml")).unwrap();
    home.write("work/.callgate/rules.toml", "no TOML");
    let findings = home.doctor();
    let wrong = findings.iter().find(|it| it["about"] == "rules").unwrap();
    assert!(wrong["level"] == "problem" && text(wrong).contains("work/.callgate"), "{wrong}");
}

#[test]
fn a_daemon_that_does_not_run_is_found() {
    let home = Home::new();
    home.finds("problem", "`callgate up` is not running", "callgate up");
    // Nothing was made by looking.
    let names = fs::read_dir(home.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    let is_made = |name: &String| name.contains(".lock") || name == ".local";
    assert!(!names.iter().any(is_made), "{names:?}");
}

#[test]
fn sockets_that_are_not_as_they_should_be_are_found() {
    let home = Home::up();
    chmod(&home.path("ask.sock"), 0o666);
    home.finds("problem", "ask.sock, the socket for hooks, has mode 666, not 600", "chmod 600 ");
    let home = Home::new();
    home.write("ask.sock", "a file");
    let findings = home.doctor();
    assert!(findings.iter().any(|it| text(it).contains("is not a socket")), "{findings:?}");
}

#[test]
fn another_users_socket_is_found() {
    if !geteuid().is_root() {
        assert!(std::env::var_os("CI").is_none(), "CI runs these tests as root");
        eprintln!("skipped: only root can give a file away");
        return;
    }
    let home = Home::new();
    let _theirs = UnixListener::bind(home.path("ask.sock")).unwrap();
    chown(home.path("ask.sock"), Some(65_534), None).unwrap();
    let findings = home.doctor();
    let wrong = findings.iter().find(|it| it["about"] == "socket").unwrap();
    assert_eq!(wrong["level"], "problem");
    assert!(text(wrong).ends_with("belongs to user 65534, not to user 0"), "{wrong}");
}

#[test]
fn a_stranger_at_the_socket_is_found() {
    let home = Home::new();
    let _stranger = UnixListener::bind(home.path("ask.sock")).unwrap();
    chmod(&home.path("ask.sock"), 0o600);
    let findings = home.doctor();
    let wrong = findings.iter().find(|it| it["about"] == "lock").unwrap();
    assert_eq!(wrong["level"], "problem");
    assert!(text(wrong).ends_with("is served by something that is not callgate"), "{wrong}");
}

#[test]
fn a_daemon_with_other_settings_is_found() {
    let mut home = Home::new();
    let other = home.path("other.sock");
    home.start_with(&["--socket", other.to_str().unwrap()]);
    until("the daemon serves", || UnixStream::connect(&other).is_ok());
    let findings = home.doctor();
    let is_wrong = |it: &&Value| text(it).contains("the daemon serves hooks at ");
    let wrong = findings.iter().find(is_wrong).unwrap();
    assert!(wrong["level"] == "problem" && text(wrong).contains("other.sock; your settings say"));
}

#[test]
fn a_daemon_that_can_reach_nobody_is_found() {
    let mut home = Home::new();
    home.write_settings(&format!("socket = {:?}\n", home.text_path("ask.sock")));
    home.start_with(&[]);
    home.wait_for_desk();
    home.finds("problem", "nobody can be reached", "callgate pair");
    home.set("");
    let findings = home.doctor();
    let late = "`callgate up` was started before the bot was in the settings";
    assert!(findings.iter().any(|it| text(it) == late), "{findings:?}");
}

#[test]
fn telegram_is_asked_only_when_it_is_wanted() {
    let home = Home::up();
    let calls = || home.phone.look(|seen| seen.calls_of("getMe").count());
    let before = calls();
    home.doctor();
    assert_eq!(calls(), before);
    let findings = home.doctor_with(&["--telegram"]);
    assert_eq!(calls(), before + 1);
    let known = format!("Telegram knows the bot, @{BOT_NAME}");
    assert!(findings.iter().any(|it| text(it) == known), "{findings:?}");
    home.phone.fault("getMe", Fault::Status(502));
    home.finds_with(&["--telegram"], "problem", "Telegram answered 502", "");
    home.write("token", "1:wrong");
    home.finds_with(&["--telegram"], "problem", "the token is wrong or was revoked", "");
}

#[test]
fn chats_that_cannot_answer_are_found() {
    let home = Home::up();
    let config = home.path(".config/callgate/config.toml");
    let with = |chats: &str| {
        let text = fs::read_to_string(&config).unwrap();
        let text = text.split("allowed_chats").next().unwrap().to_owned();
        fs::write(&config, format!("{text}allowed_chats = {chats}\n")).unwrap();
    };
    with("[]");
    home.finds("warning", "no chat is linked", "callgate pair");
    with("[-100]");
    home.finds("warning", "a group is linked, but nobody may answer in it", "allowed_users");
    with("[-100]\nallowed_users = [7]");
    assert!(home.doctor().iter().all(|it| it["level"] == "ok"));
}

#[test]
fn a_ledger_that_is_not_as_it_should_be_is_found() {
    let home = Home::up();
    let ledger = home.path(".local/share/callgate/callgate.db");
    chmod(ledger.parent().unwrap(), 0o755);
    home.finds("problem", "others can reach ", "chmod 700 ");
    chmod(ledger.parent().unwrap(), 0o700);
    chmod(&ledger, 0o640);
    home.finds("problem", "callgate.db", "chmod 600 ");
    chmod(&ledger, 0o600);
    let database = rusqlite::Connection::open(&ledger).unwrap();
    database.execute("UPDATE entries SET body = '{}' WHERE seq = 1", []).unwrap();
    drop(database);
    home.finds("problem", "is broken at entry 1: it was changed", "keep a copy");
}
