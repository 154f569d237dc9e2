//! The settings as the program reads them: files, environment, exit codes, and what is told.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;
use std::process::Command;

use callgate_testkit::process::{DEADLINE, Finished, run};
use tempfile::TempDir;

/// Runs a command that reads the settings and changes nothing.
fn read_settings(home: &TempDir, variables: &[(&str, &str)], arguments: &[&str]) -> Finished {
    let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
    command.args(["install", "--dry-run"]).args(arguments).current_dir(home.path());
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
