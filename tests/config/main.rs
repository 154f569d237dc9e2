//! The settings as the program reads them: files, environment, exit codes, and error messages.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod command;
mod keyring;
mod typed;

use std::fs;
use std::process::Command;

use callgate_testkit::process::{DEADLINE, Finished, run};
use tempfile::TempDir;

/// Runs a command that reads the settings and changes nothing.
fn read_settings(home: &TempDir, variables: &[(&str, &str)], arguments: &[&str]) -> Finished {
    let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
    command
        .args(["install", "--agent", "claude", "--dry-run"])
        .args(arguments)
        .current_dir(home.path());
    command.env_clear().env("HOME", home.path()).envs(variables.iter().copied());
    run(command, DEADLINE)
}

fn home(name: &str, text: &str) -> TempDir {
    let home = TempDir::new().unwrap();
    let path = home.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    home
}

/// The socket and the rules that the hook's command line would name.
fn places(finished: Finished) -> (String, String) {
    let said = finished.success().stdout;
    let after = |flag: &str| {
        let (_, rest) = said.split_once(flag).unwrap_or_else(|| panic!("no {flag}: {said}"));
        rest.split_whitespace().next().unwrap().to_owned()
    };
    (after("--socket "), after("--rules "))
}

#[test]
fn flags_and_environment_stand_over_the_file() {
    let text = "socket = \"/a/sock\"\nrules = \"/a/rules\"\n";
    let home = home(".config/callgate/config.toml", text);
    let check = |variables: &[(&str, &str)], arguments: &[&str], socket: &str, rules: &str| {
        let found = places(read_settings(&home, variables, arguments));
        assert_eq!(found, (socket.to_owned(), rules.to_owned()), "{variables:?} {arguments:?}");
    };
    check(&[], &[], "/a/sock", "/a/rules");
    check(&[("CALLGATE_SOCKET", "/b/sock")], &[], "/b/sock", "/a/rules");
    fs::write(home.path().join("other.toml"), text.replace("/a/", "/c/")).unwrap();
    check(&[], &["--config", "other.toml"], "/c/sock", "/c/rules");
    let variables = [("CALLGATE_CONFIG", "other.toml"), ("CALLGATE_RULES", "/d/rules")];
    check(&variables, &[], "/c/sock", "/d/rules");
    let default = home.path().join(".local/share/callgate/ask.sock").display().to_string();
    let variables = [("XDG_CONFIG_HOME", "/nowhere")];
    check(&variables, &[], &default, "/nowhere/callgate/rules.toml");
    let variables = [("XDG_CONFIG_HOME", "/nowhere"), ("XDG_RUNTIME_DIR", "/run/user/7")];
    check(&variables, &[], "/run/user/7/callgate/ask.sock", "/nowhere/callgate/rules.toml");
}

#[test]
fn all_that_is_wrong_is_told_with_its_place_and_without_the_token() {
    let text = "timout_seconds = 5\n[telegram]\ntoken = \"1:SECRET\"\ntoken_file = 3\n";
    let home = home(".config/callgate/config.toml", text);
    let variables = [("CALLGATE_GRACE_SECONDS", "x"), ("CALLGATE_TELEGRAM_TOKEN", "2:SECRET")];
    let finished = read_settings(&home, &variables, &[]);
    assert_eq!(finished.status.code(), Some(78));
    assert_eq!(finished.stdout, "");
    let file = home.path().join(".config/callgate/config.toml").display().to_string();
    let expected = format!(
        "callgate: the settings are wrong:\n  \
         {file}:1:1: there is no key `timout_seconds`; did you mean `timeout_seconds`?\n  \
         {file}:4:14: `telegram.token_file` must be a path in quotes\n  \
         environment CALLGATE_GRACE_SECONDS: `grace_seconds` must be a whole number\n"
    );
    assert_eq!(finished.stderr, expected);
}

#[test]
fn a_broken_file_shows_no_line_of_itself() {
    let home = home("c.toml", "[telegram]\ntoken = \"1:SECRET\nallowed_chats = [1\n");
    let finished = read_settings(&home, &[], &["--config", "c.toml"]);
    assert_eq!(finished.status.code(), Some(78));
    assert!(finished.stderr.contains("c.toml:2:"), "{}", finished.stderr);
    assert!(!finished.stderr.contains("SECRET"), "{}", finished.stderr);
}

#[test]
fn a_typo_is_told_by_every_command() {
    let home = home(".config/callgate/config.toml", "timout_seconds = 5\n");
    fs::write(home.path().join("rules.toml"), "").unwrap();
    let run_in = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(home.path()).env_clear().env("HOME", home.path());
        run(command, DEADLINE)
    };
    let typo = "config.toml:1:1: there is no key `timout_seconds`; did you mean `timeout_seconds`?";
    let callgate = env!("CARGO_BIN_EXE_callgate");
    for (arguments, code) in [
        (&["up"][..], 78),
        (&["up", "--service"], 78),
        (&["install"], 78),
        (&["pair"], 78),
        (&["pair", "--list"], 78),
        (&["config", "show"], 78),
        (&["config", "set", "timeout_seconds", "60"], 78),
        (&["log"], 78),
        (&["log", "--verify"], 78),
        (&["rules", "check"], 78),
        (&["rules", "init"], 78),
        (&["rules", "backtest", "rules.toml"], 78),
        (&["agent"], 78),
        (&["ask", "Deploy?"], 78),
        // What can be done without the settings is done.
        (&["log", "--database", "absent.db"], 1),
        (&["uninstall"], 0),
    ] {
        let done = run_in(callgate, arguments);
        assert_eq!(done.status.code(), Some(code), "{arguments:?}: {}", done.stderr);
        assert_eq!(done.stderr.matches(typo).count(), 1, "{arguments:?}: {}", done.stderr);
        assert!(done.stderr.starts_with("callgate: the settings are wrong:"), "{}", done.stderr);
    }
    let doctor = run_in(callgate, &["doctor"]);
    assert!(doctor.stdout.contains(typo), "{}", doctor.stdout);
}

/// Also by the hook, which does its work all the same: without a desk the agent asks.
#[test]
fn a_typo_is_told_by_the_hook() {
    let home = home(".config/callgate/config.toml", "timout_seconds = 5\n");
    let event = concat!(
        r#"{"session_id":"s","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","#,
        r#""tool_input":{"command":"ls"},"permission_mode":"default"}"#
    );
    fs::write(home.path().join("event.json"), event).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_callgate-hook"));
    command.env_clear().env("HOME", home.path());
    command.stdin(fs::File::open(home.path().join("event.json")).unwrap());
    let done = command.output().unwrap();
    assert_eq!((done.status.code(), &done.stdout[..]), (Some(0), &b""[..]));
    let told = String::from_utf8(done.stderr).unwrap();
    let typo = "config.toml:1:1: there is no key `timout_seconds`; did you mean `timeout_seconds`?";
    assert!(told.starts_with("callgate hook: the settings are wrong: "), "{told}");
    assert!(told.contains(typo) && told.lines().count() == 1, "{told}");
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_settings() {
    let text = "\u{feff}socket = \"/a/sock\"\nrules = \"RULES\"\n";
    let home = home(".config/callgate/config.toml", text);
    let rules = home.path().join("rules.toml").display().to_string();
    fs::write(home.path().join(".config/callgate/config.toml"), text.replace("RULES", &rules))
        .unwrap();
    assert_eq!(places(read_settings(&home, &[], &[])), ("/a/sock".to_owned(), rules));
    let deny = "\u{feff}[[rule]]\nname = \"no\"\ndecide = \"deny\"\ncommand = \"make\"\n";
    fs::write(home.path().join("rules.toml"), deny).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
    command.args(["rules", "explain", "make"]).current_dir(home.path());
    command.env_clear().env("HOME", home.path());
    let explained = run(command, DEADLINE).success().stdout;
    assert!(explained.contains("deny") && explained.contains("`no`"), "{explained}");
    // What is wrong in the first line has the column that an editor shows.
    fs::write(home.path().join(".config/callgate/config.toml"), "\u{feff}sokcet = 1\n").unwrap();
    let wrong = read_settings(&home, &[], &[]);
    assert!(wrong.stderr.contains("config.toml:1:1: there is no key `sokcet`"), "{}", wrong.stderr);
}
