//! The README is true: its first command does what it says, its second is what CI runs. So are the
//! help, the completions and the manual pages.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use callgate_testkit::process::{DEADLINE, Finished, Piped, run};
use callgate_testkit::terminal::Terminal;
use rustix::process::Signal;

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// An example as it was built for the tests, and as the README builds it.
fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().parent().unwrap().join("examples").join(name)
}

#[test]
fn the_first_command_serves_with_nothing_configured_and_says_what_to_do_next() {
    assert!(read("README.md").contains("\ncargo run -- up\n"));
    let home = tempfile::tempdir().unwrap();
    let socket = home.path().join("ask.sock");
    let callgate = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", home.path())
            .env("CALLGATE_SOCKET", &socket);
        command
    };
    let mut up = Piped::spawn(callgate(&["up"]));
    let said: Vec<String> = (0..4).map(|_| up.recv_line()).collect();
    assert_eq!(said[0], format!("callgate is up: agents ask at {}", socket.display()));
    let install = format!("Next: `{} install` ", env!("CARGO_BIN_EXE_callgate"));
    assert!(said[2].starts_with("The page is at http://127.0.0.1:"), "{said:?}");
    assert!(said[3].starts_with(&install), "{said:?}");
    // Nobody is at its terminal, so nobody can be reached, and that is said at once.
    let asked = run(callgate(&["ask", "Deploy?"]), DEADLINE);
    assert_eq!(asked.status.code(), Some(69), "{}", asked.stderr);
    assert!(asked.stderr.starts_with("callgate: nobody can be reached: "), "{}", asked.stderr);
    up.signal(Signal::TERM);
    up.recv_end();
    assert!(up.wait_exit(DEADLINE).success() && !socket.exists());
}

/// Nobody finds out after half an hour that it is for another system, or not on the registry.
#[test]
fn the_readme_says_first_where_it_runs_and_that_it_is_not_published() {
    let readme = read("README.md");
    let top = readme.lines().take(8).collect::<Vec<_>>().join(" ");
    assert!(top.contains("Linux") && top.contains("not published yet"), "{top}");
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let repository = manifest["workspace"]["package"]["repository"].as_str().unwrap();
    let mut examples = 0;
    for block in readme.split("```toml\n").skip(1) {
        let block: toml::Table = block.split("```").next().unwrap().parse().unwrap();
        for (name, source) in block["dependencies"].as_table().unwrap() {
            if name.starts_with("callgate") {
                assert_eq!(source["git"].as_str(), Some(repository), "{name}");
                assert!(manifest["workspace"]["dependencies"].get(name).is_some(), "{name}");
                examples += 1;
            }
        }
    }
    assert_eq!(examples, 3);
    assert!(!readme.contains("cargo install callgate") && !readme.contains("cargo add callgate"));
}

/// What is installed is what is measured.
#[test]
fn the_documents_install_what_is_shipped_and_say_how_long_it_takes() {
    let guides = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide");
    let guides = fs::read_dir(guides).unwrap().map(|guide| guide.unwrap().path());
    let mut told = 0;
    for path in guides.chain(["README.md".into(), "CONTRIBUTING.md".into()]) {
        let text = read(path.to_str().unwrap());
        let shown = path.display();
        for rest in text.split("cargo install --path").skip(1) {
            assert!(
                rest.starts_with(" . --profile dist\n") || rest.starts_with(" . --profile dist ")
            );
            let is_told = text.contains("minutes of processor time");
            assert!(is_told || shown.to_string().ends_with("CONTRIBUTING.md"), "{shown}");
            told += 1;
        }
    }
    assert!(told >= 3, "{told}");
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    assert!(manifest["profile"].get("dist").is_some());
}

#[test]
fn every_command_of_the_readme_is_there() {
    let readme = read("README.md");
    let lines = readme.lines().filter_map(|line| line.strip_prefix("callgate "));
    let commands: Vec<&str> = lines.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.contains(&"doctor"), "{commands:?}");
    for name in commands.into_iter().filter(|name| *name != "is") {
        let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
        command.args([name, "--help"]);
        let told = run(command, DEADLINE);
        assert!(told.status.success(), "{name}: {}", told.stderr);
    }
}

#[test]
fn the_example_shows_a_function_of_its_own_process() {
    assert!(read("README.md").contains("`cargo run --example host_a_tool`"));
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(example("host_a_tool"));
    command.env("TMPDIR", folder.path());
    let output = run(command, DEADLINE).success().stdout;
    let lines: Vec<&str> = output.lines().collect();
    let [tool, answer, process] = lines[..] else { panic!("{output}") };
    assert_eq!(tool, "tool    weigh: Weighs a thing on the scales of this process.");
    let id = process.strip_prefix("this is process ").unwrap();
    assert!(answer.contains(&format!("a feather weighs 9 g, says process {id}")), "{output}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "files are left");
}

#[test]
fn the_second_command_is_the_one_that_ci_runs() {
    assert!(read("README.md").contains("\nscripts/test\n"));
    assert!(read(".ci/run").contains("/../scripts/test\""));
}

const CALLGATE: &str = env!("CARGO_BIN_EXE_callgate");
const HOOK: &str = env!("CARGO_BIN_EXE_callgate-hook");

/// Runs one of the programs with nothing on standard input.
fn program(path: &str, arguments: &[&str]) -> Finished {
    let mut command = Command::new(path);
    command.args(arguments).stdin(std::process::Stdio::null());
    run(command, DEADLINE)
}

#[test]
fn both_programs_tell_their_help_and_version() {
    let told = |path: &str, arguments: &[&str]| {
        let told = program(path, arguments).success();
        assert_eq!(told.stderr, "", "{arguments:?}");
        told.stdout
    };
    for arguments in [&["--help"][..], &["-h"], &["help"], &[]] {
        let help = told(CALLGATE, arguments);
        assert!(help.starts_with("One small program"), "{help}");
        assert!(help.contains("\n  log ") && !help.contains("\n  hook "), "{help}");
    }
    for arguments in [&["help", "log"][..], &["log", "--help"]] {
        assert!(told(CALLGATE, arguments).contains("Usage: callgate log"));
    }
    let version = concat!(" ", env!("CARGO_PKG_VERSION"), "\n");
    for option in ["--version", "-V"] {
        assert_eq!(told(CALLGATE, &[option]), format!("callgate{version}"));
        assert_eq!(told(HOOK, &[option]), format!("callgate-hook{version}"));
        assert_eq!(told(CALLGATE, &["hook", option]), format!("callgate-hook{version}"));
        assert_eq!(told(CALLGATE, &["bridge", option]), format!("callgate-bridge{version}"));
        assert_eq!(
            told(CALLGATE, &["rules", "check", option]),
            format!("callgate-rules-check{version}")
        );
    }
    let help = told(HOOK, &["--help"]);
    assert!(help.starts_with("Answer one event of a coding agent\n"), "{help}");
    assert_eq!(told(HOOK, &["-h"]), help);
    assert_eq!(told(CALLGATE, &["hook", "--help"]), help);
    assert_eq!(told(CALLGATE, &["help", "hook"]), help);
    assert_eq!(told(CALLGATE, &["bridge", "--help"]), told(CALLGATE, &["help", "bridge"]));
}

#[test]
fn a_wrong_word_is_refused_and_named() {
    let wrong = program(CALLGATE, &["dance"]);
    assert_eq!(wrong.status.code(), Some(64));
    assert!(wrong.stderr.contains("unrecognized subcommand 'dance'"), "{}", wrong.stderr);
    let wrong = program(CALLGATE, &["log", "--folow"]);
    assert_eq!(wrong.status.code(), Some(64));
    assert!(wrong.stderr.contains("a similar argument exists: '--follow'"), "{}", wrong.stderr);
    // No event is named, so the agent is told no.
    let wrong = program(HOOK, &["--sokcet", "/s"]);
    assert_eq!((wrong.status.code(), wrong.stdout.as_str()), (Some(2), ""));
    assert!(wrong.stderr.contains("--sokcet: did you mean --socket?"), "{}", wrong.stderr);
}

#[test]
fn bash_completes_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("callgate.bash");
    fs::write(&script, program(CALLGATE, &["completions", "bash"]).success().stdout).unwrap();
    let completed = |words: &[&str]| {
        let (last, before) = (words[words.len() - 1], words[words.len() - 2]);
        let mut bash = Command::new("bash");
        // What the shell itself does when the tab key is pressed behind these words.
        let ask = r#"source "$1"; shift; complete -p callgate >&2
            last=$1 before=$2; shift 2; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
            _callgate callgate "$last" "$before"; printf '%s\n' "${COMPREPLY[@]}""#;
        bash.args(["--norc", "--noprofile", "-c", ask, "bash"]).arg(&script).arg(last).arg(before);
        bash.args(words);
        let said = run(bash, DEADLINE).success();
        assert!(said.stderr.contains("-F _callgate"), "{}", said.stderr);
        said.stdout.lines().map(str::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(completed(&["callgate", "do"]), ["doctor"]);
    assert_eq!(completed(&["callgate", "log", "--fo"]), ["--follow"]);
    assert_eq!(completed(&["callgate", "rules", "back"]), ["backtest"]);
    assert_eq!(completed(&["callgate", "log", "--decision", "d"]), ["deny"]);
    assert_eq!(completed(&["callgate", "completions", "z"]), ["zsh"]);
    assert_eq!(
        completed(&["callgate", "config", "set", "gate.un"]),
        ["gate.unattended", "gate.unclear"]
    );
    assert_eq!(
        completed(&["callgate", "config", "get", "telegram.token_f"]),
        ["telegram.token_file"]
    );
    assert_eq!(completed(&["callgate", "config", "unset", "page."]), ["page.enabled", "page.port"]);
    let commands = completed(&["callgate", ""]);
    assert!(commands.contains(&"up".to_owned()), "{commands:?}");
    assert!(!commands.contains(&"hook".to_owned()), "what agents start is nothing to type");
}

#[test]
fn the_other_shells_get_completions_too() {
    let zsh = program(CALLGATE, &["completions", "zsh"]).success().stdout;
    assert!(zsh.starts_with("#compdef callgate"), "{zsh}");
    assert!(zsh.contains("gate.unattended"), "{zsh}");
    let fish = program(CALLGATE, &["completions", "fish"]).success().stdout;
    assert!(fish.contains("gate.unattended"), "{fish}");
    assert!(fish.contains("complete -c callgate "), "{fish}");
    let wrong = program(CALLGATE, &["completions", "tcsh"]);
    assert_eq!(wrong.status.code(), Some(64));
    assert!(wrong.stderr.contains("bash, zsh, fish"), "{}", wrong.stderr);
}

#[test]
fn the_manual_pages_are_well_formed() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("share/man1");
    let said = program(CALLGATE, &["man", pages.to_str().unwrap()]).success().stdout;
    let names: Vec<String> = fs::read_dir(&pages)
        .unwrap()
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(said.starts_with(&format!("{} pages", names.len())), "{said}");
    for name in ["callgate.1", "callgate-log.1", "callgate-rules-check.1", "callgate-hook.1"] {
        assert!(names.iter().any(|page| page == name), "{names:?}");
    }
    let groff = Path::new("/usr/bin/groff");
    if !groff.exists() && std::env::var_os("CI").is_none() {
        eprintln!("groff is not here: the pages are not checked");
        return;
    }
    let mut command = Command::new(groff);
    command.args(["-man", "-Tutf8", "-ww", "-P-c"]);
    command.args(names.iter().map(|name| pages.join(name)));
    let formatted = run(command, DEADLINE).success();
    assert_eq!(formatted.stderr, "", "groff has something to say");
    for words in ["Show what was asked, decided and run", "Answer one event of a coding agent"] {
        assert!(formatted.stdout.contains(words), "{words}");
    }
    // A folder that cannot be made is told.
    let wrong = program(CALLGATE, &["man", "/dev/null/man1"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(wrong.stderr.contains("cannot write /dev/null/man1"), "{}", wrong.stderr);
}

/// Whoever tries the runtime by hand is told what it waits for.
#[test]
fn the_runtime_in_a_terminal_says_what_to_type() {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
    command.arg("agent").env_clear().env("HOME", home.path()).current_dir(home.path());
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command.env("CALLGATE_SOCKET", home.path().join("ask.sock"));
    let mut terminal = Terminal::spawn(&command);
    terminal.wait_for("this serves a front end, not a person");
    let shown = terminal.written();
    let typed = shown.lines().find_map(|line| line.strip_prefix("Try: ")).unwrap().to_owned();
    terminal.wait_for("\"type\":\"ready\"");
    terminal.press(&format!("{typed}\r"));
    terminal.wait_for("\"type\":\"done\"");
    terminal.press("\u{4}");
    assert!(terminal.end().success());
}
