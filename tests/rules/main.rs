//! `callgate rules` as a user runs it, and rules as the daemon applies them.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod starter;

use std::fs;
use std::path::Path;
use std::process::Command;

use callgate_store::{EntryDraft, Store};
use callgate_testkit::process::{DEADLINE, Finished, run};
use serde_json::json;
use tempfile::TempDir;

const RULES: &str = r#"
[[rule]]
name = "builds"
decide = "allow"
command = "make build"

[[rule]]
name = "no removing"
decide = "deny"
command = "rm *"

[[test]]
command = "make build"
expect = "allow"

[[test]]
command = "make build; rm -rf /"
expect = "deny"
"#;

fn home(rules: &str) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join(".config/callgate")).unwrap();
    fs::write(home.path().join(".config/callgate/rules.toml"), rules).unwrap();
    home
}

fn rules(home: &Path, arguments: &[&str]) -> Finished {
    let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
    command.arg("rules").args(arguments).env_clear().env("HOME", home).current_dir(home);
    run(command, DEADLINE)
}

/// Whoever copies an example of the guide finds that its tests pass, wherever they stand.
#[test]
fn the_examples_of_the_guide_pass_their_own_tests() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide/rules.md");
    let guide = fs::read_to_string(guide).unwrap();
    let examples = guide.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let mut tests = 0;
    for example in examples {
        let home = home(example);
        let checked = rules(home.path(), &["check"]).success().stdout;
        let told = rules(home.path(), &["test"]);
        assert!(told.status.success(), "{checked}{}\n{example}", told.stdout);
        tests += example.matches("[[test]]").count();
    }
    assert!(tests >= 7, "{tests}");
}

#[test]
fn check_says_what_is_wrong_and_where() {
    let good = home(RULES);
    let told = rules(good.path(), &["check"]).success();
    assert!(told.stdout.contains("2 rules, 2 tests"), "{}", told.stdout);
    let bad = home("[[rule]]\nname = \"x\"\ndecide = \"alow\"\ncommand = \"ls\"\n");
    let told = rules(bad.path(), &["check"]);
    assert_eq!(told.status.code(), Some(1));
    assert!(told.stdout.contains("rules.toml:3:"), "{}", told.stdout);
    assert!(told.stdout.contains("allow"), "{}", told.stdout);
    let told = rules(bad.path(), &["check", "nowhere.toml"]);
    assert_eq!(told.status.code(), Some(1));
    assert!(told.stderr.contains("there is no file `nowhere.toml`\n"));
}

#[test]
fn explain_says_what_is_decided_and_why() {
    let home = home(RULES);
    let explain = |command: &str| rules(home.path(), &["explain", command]).success().stdout;
    assert!(explain("make build").starts_with("allow: allowed by rule `builds`"));
    assert!(explain("make build; rm -rf /").starts_with("deny: "));
    assert!(explain("make build $(id)").starts_with("ask: the command is not fully understood: "));
    assert!(explain("callgate pair").starts_with("ask: no rule can allow this"));
    let told =
        rules(home.path(), &["explain", "--tool", "Write", "--input", "{\"file_path\":\"/a\"}"]);
    let told = told.success().stdout;
    assert!(told.starts_with("undecided: no rule decides this\n"), "{told}");
    let nobody = "modes that ask nobody (auto, dontAsk, bypassPermissions, codex exec): ";
    assert!(told.contains(&format!("{nobody}it is left to the mode, which may run it")), "{told}");
    assert!(told.contains("no `callgate up` runs: it is left to the agent"), "{told}");
    fs::write(home.path().join(".config/callgate/config.toml"), "[gate]\nunattended = \"ask\"\n")
        .unwrap();
    let told = explain("ls");
    assert!(told.starts_with("undecided: no rule decides `ls`\n"), "{told}");
    assert!(told.contains(&format!("{nobody}you are asked, and no answer is a no")), "{told}");
    assert!(told.contains("no `callgate up` runs: it is denied"), "{told}");
    assert_eq!(rules(home.path(), &["explain"]).status.code(), Some(64));
    let told = rules(home.path(), &["explain", "--tool", "Write", "--input", "7"]);
    assert_eq!(told.status.code(), Some(1));
}

/// With many rules, those that hold are what a reader looks for.
#[test]
fn explain_shows_the_rule_that_decides_and_its_rivals_and_the_rest_on_demand() {
    let home = home(
        r#"
[[rule]]
name = "git"
decide = "allow"
command = "git *"

[[rule]]
name = "pushes"
decide = "ask"
command = "git push *"

[[rule]]
name = "no force"
decide = "deny"
command = "git push --force *"

[[rule]]
name = "builds"
decide = "allow"
command = "make build"
"#,
    );
    let explain = |words: &[&str]| {
        let arguments = [&["explain"], words].concat();
        rules(home.path(), &arguments).success().stdout
    };
    let told = explain(&["--", "git", "push", "--force", "origin", "a b"]);
    let lines: Vec<&str> = told.lines().collect();
    let [verdict, runs, decides, first, second, rest] = lines[..] else { panic!("{told}") };
    assert!(verdict.starts_with("deny: "), "{told}");
    assert_eq!(runs, "  runs: git push --force origin 'a b'");
    assert!(
        decides.starts_with("  deny `no force` (") && decides.contains("): decides: "),
        "{told}"
    );
    assert!(first.starts_with("  allow `git` (") && first.contains("): holds: "), "{told}");
    assert!(second.starts_with("  ask `pushes` (") && second.contains("): holds: "), "{told}");
    assert_eq!(rest, "  1 rule does not hold; --all shows it");
    let told = explain(&["--all", "--", "git", "push", "--force", "origin"]);
    assert!(told.contains("  allow `builds` (") && told.contains("): does not hold: "), "{told}");
    assert!(!told.contains("--all shows"), "{told}");
    assert!(explain(&["ls"]).ends_with("  4 rules do not hold; --all shows them\n"));
    // One word is a whole command, as without the hyphens.
    assert!(explain(&["--", "git push --force x"]).starts_with("deny: "));
}

/// What could be guarded is asked about whatever the settings say.
#[test]
fn a_command_that_is_not_understood_asks_like_a_rule_or_is_left_to_the_mode() {
    let home = home(
        r#"
[[rule]]
name = "key"
decide = "deny"
path = "keys/master"

[[test]]
command = "cat $(find keys -type f)"
project = "/work"
expect = "ask"
"#,
    );
    let told = |arguments: &[&str]| rules(home.path(), arguments).success().stdout;
    let explain = |command: &str| told(&["explain", "--project", "/work", command]);
    let (by_rule, by_guard) = ("cat $(find keys -type f)", "cat \"$X\"");
    let like_asked = "\n  in every mode: it is treated like a command that an ask rule names\n";
    let check_asks = |command: &str, reason: &str| {
        let told = explain(command);
        let start = format!("ask: the command is not fully understood: {reason}");
        assert!(told.starts_with(&start) && told.contains(like_asked), "{command}: {told}");
    };
    check_asks(by_rule, "it could touch keys/master, which rule `key`");
    check_asks(by_guard, "something in it is not known and could be what is guarded");
    assert!(!told(&["test"]).contains("passed, but"));
    fs::write(home.path().join(".config/callgate/config.toml"), "[gate]\nunclear = \"mode\"\n")
        .unwrap();
    let undecided = explain(by_rule);
    let is_left = undecided.starts_with("undecided: ") && !undecided.contains(like_asked);
    assert!(is_left, "{undecided}");
    check_asks(by_guard, "something in it is not known and could be what is guarded");
    assert!(told(&["test"]).contains("passed, but no rule allows this"));
}

#[test]
fn the_programs_themselves_are_guarded_against_every_tool() {
    let all = "[[rule]]\nname = \"all\"\ndecide = \"allow\"\nclass = \"write\"\npath = \"/**\"\n";
    let home = home(all);
    let program = Path::new(env!("CARGO_BIN_EXE_callgate"));
    let explain = |path: &Path| {
        let input = json!({ "file_path": path, "content": "" }).to_string();
        rules(home.path(), &["explain", "--tool", "Write", "--input", &input]).success().stdout
    };
    assert!(explain(Path::new("/home/ada/notes")).starts_with("allow: "));
    for path in [program, &program.with_file_name("callgate-hook")] {
        assert!(explain(path).starts_with("ask: no rule can allow this"), "{}", path.display());
    }
}

#[test]
fn what_is_guarded_is_guarded_under_every_name() {
    let all = "[[rule]]\nname = \"all\"\ndecide = \"allow\"\nclass = \"write\"\npath = \"/**\"\n";
    let home = home(all);
    let kept = home.path().join("dotfiles");
    fs::create_dir_all(&kept).unwrap();
    fs::rename(home.path().join(".config/callgate"), kept.join("callgate")).unwrap();
    std::os::unix::fs::symlink(kept.join("callgate"), home.path().join(".config/callgate"))
        .unwrap();
    fs::create_dir_all(kept.join("claude")).unwrap();
    fs::write(kept.join("claude/settings.json"), "{}").unwrap();
    std::os::unix::fs::symlink(kept.join("claude"), home.path().join(".claude")).unwrap();
    for name in ["callgate/rules.toml", "claude/settings.json"] {
        let input = json!({ "file_path": kept.join(name), "content": "" }).to_string();
        let told = rules(home.path(), &["explain", "--tool", "Write", "--input", &input]);
        assert!(told.success().stdout.starts_with("ask: no rule can allow this"), "{name}");
    }
}

#[test]
fn rules_that_cannot_be_read_allow_nothing_and_hold_nobody_up() {
    let home = home(RULES);
    let project = home.path().join("engine");
    fs::create_dir_all(project.join(".callgate")).unwrap();
    let explain = |folder: &Path| {
        let folder = folder.to_str().unwrap();
        rules(home.path(), &["explain", "make build", "--project", folder]).success().stdout
    };
    assert!(explain(&project).starts_with("allow: "));
    // A pipe that nobody writes to, and a device that never ends.
    let pipe = project.join(".callgate/rules.toml");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(explain(&project).starts_with("ask: "));
    fs::remove_file(&pipe).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &pipe).unwrap();
    assert!(explain(&project).starts_with("ask: "));
    fs::remove_file(&pipe).unwrap();
    let deep: std::path::PathBuf = project.join(vec!["d"; 40].join("/"));
    assert!(explain(&deep).starts_with("ask: "), "a rule above may have denied it");
}

#[test]
fn a_project_can_only_tighten() {
    let home = home(RULES);
    let project = home.path().join("engine");
    fs::create_dir_all(project.join(".callgate")).unwrap();
    let stricter = "[[rule]]\nname = \"ask first\"\ndecide = \"ask\"\ncommand = \"make *\"\n\
                    [[rule]]\nname = \"all\"\ndecide = \"allow\"\ncommand = \"ls\"\n";
    fs::write(project.join(".callgate/rules.toml"), stricter).unwrap();
    let explain = |command: &str, folder: &str| {
        rules(home.path(), &["explain", command, "--project", folder]).success().stdout
    };
    assert!(explain("make build", project.to_str().unwrap()).starts_with("ask: "));
    assert!(explain("make build", home.path().to_str().unwrap()).starts_with("allow: "));
    assert!(explain("ls", project.to_str().unwrap()).starts_with("undecided: "));
}

#[test]
fn tests_in_the_rules_are_run() {
    let home = home(RULES);
    assert!(rules(home.path(), &["test"]).success().stdout.contains("2 tests, 0 failed"));
    let wrong = format!("{RULES}\n[[test]]\ncommand = \"ls\"\nexpect = \"allow\"\n");
    fs::write(home.path().join("new.toml"), wrong).unwrap();
    let told = rules(home.path(), &["test", "new.toml"]);
    assert_eq!(told.status.code(), Some(1));
    let why = "expected allow, got undecided: no rule decides `ls`";
    assert!(told.stdout.contains(why), "{}", told.stdout);
    // Expecting a question where no rule decides holds only in some modes.
    let open = format!("{RULES}\n[[test]]\ncommand = \"ls\"\nexpect = \"ask\"\n");
    fs::write(home.path().join("new.toml"), open).unwrap();
    let told = rules(home.path(), &["test", "new.toml"]).success().stdout;
    assert!(
        told.contains(": passed, but no rule decides `ls`\nWhere no rule decides:\n"),
        "{told}"
    );
    assert!(told.contains("in modes that ask nobody"), "{told}");
}

#[test]
fn backtest_says_what_would_have_been_decided() {
    let home = home(RULES);
    let mut store = Store::open(&home.path().join(".local/share/callgate/callgate.db")).unwrap();
    let mut asked = |number: u8, command: &str, decision: &str| {
        let question = Some(format!("0000000{number}-0000-4000-8000-000000000000"));
        let request = json!({ "tool_name": "Bash", "tool_input": { "command": command }, "cwd": "/w", "agent": "claude-code" });
        let body = json!({ "request": request, "summary": command }).to_string();
        let decided = json!({ "decision": decision }).to_string();
        let draft = |kind: &str, body: String| EntryDraft {
            at_ms: 1_700_000_000_000,
            kind: kind.to_owned(),
            question: question.clone(),
            body,
        };
        store.append_entries(&[draft("asked", body), draft("decided", decided)]).unwrap();
    };
    asked(1, "make build", "allow");
    asked(2, "rm x", "allow");
    asked(3, "ls", "deny");
    let told = rules(home.path(), &["backtest"]).success();
    assert!(
        told.stdout.contains("3 questions: 1 would be allowed, 1 denied, 1 asked"),
        "{}",
        told.stdout
    );
    assert!(
        told.stdout.contains("1 allowed then, denied now:\n  00000002 rm x"),
        "{}",
        told.stdout
    );
    let loose = "[[rule]]\nname = \"lists\"\ndecide = \"allow\"\ncommand = \"ls\"\n";
    fs::write(home.path().join("loose.toml"), loose).unwrap();
    let told = rules(home.path(), &["backtest", "loose.toml"]);
    assert_eq!(told.status.code(), Some(1), "a past denial would be let through");
    assert!(
        told.stdout.contains("1 denied then, let through now:\n  00000003 ls"),
        "{}",
        told.stdout
    );
}

#[test]
fn backtest_takes_every_question_at_its_own_time() {
    let weekend = "[[rule]]\nname = \"weekend\"\ndecide = \"allow\"\ncommand = \"make build\"\n\
                   days = [\"sat\"]\n";
    let home = home(weekend);
    let mut store = Store::open(&home.path().join(".local/share/callgate/callgate.db")).unwrap();
    let request =
        json!({ "tool_name": "Bash", "tool_input": { "command": "make build" }, "cwd": "/w" });
    // Noon of a Tuesday and of the Saturday after it, each twice.
    for (number, at_ms) in (0..).zip([1_699_963_200_000, 1_700_308_800_000].repeat(2)) {
        let question = Some(format!("0000000{number}-0000-4000-8000-000000000000"));
        let body = json!({ "request": request }).to_string();
        store
            .append_entries(&[EntryDraft { at_ms, kind: "asked".to_owned(), question, body }])
            .unwrap();
    }
    let told = rules(home.path(), &["backtest"]).success().stdout;
    assert!(told.contains("4 questions: 2 would be allowed, 0 denied, 2 asked"), "{told}");
}

/// Runs git in a folder, without the settings of this machine.
fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder).env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("HOME", folder).env("GIT_CEILING_DIRECTORIES", "/");
    let _finished = run(command, DEADLINE);
}

#[test]
fn git_in_a_folder_that_looks_like_a_repository_is_asked_about() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().canonicalize().unwrap();
    let _written = rules(&home, &["init"]).success();
    let project = home.join("engine");
    let trap = project.join("vendor/x");
    for folder in ["objects", "refs", "deep/er/.git"] {
        fs::create_dir_all(trap.join(folder)).unwrap();
    }
    git(&project, &["init", "--quiet"]);
    let explain = |folder: &Path, command: &str| {
        let project = folder.to_str().unwrap();
        rules(&home, &["explain", "--project", project, command]).success().stdout
    };
    assert!(explain(&trap, "git status").starts_with("allow: "));

    let ran = home.join("ran");
    let script = trap.join("monitor");
    fs::write(&script, format!("#!/bin/sh\ntouch '{}'\n", ran.display())).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(&script, mode).unwrap();
    let config = format!(
        "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = {}\n",
        script.display()
    );
    fs::write(trap.join("config"), config).unwrap();
    fs::write(trap.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    git(&trap, &["status"]);
    assert!(ran.exists(), "git takes the folder for a repository and runs its monitor");

    // The `.git` in the last folder is empty, so that git passes over it.
    for folder in [trap.clone(), trap.join("deep"), trap.join("deep/er")] {
        let told = explain(&folder, "git status");
        assert!(told.starts_with("ask: "), "{told}");
        assert!(told.contains("looks like a repository of its own"), "{told}");
    }
    for command in
        ["cd vendor/x && git log", "git -C vendor/x status", "make; (cd vendor/x; git x)"]
    {
        let told = explain(&project, command);
        assert!(told.contains("looks like a repository of its own"), "{command}: {told}");
    }
    assert!(explain(&project, "git status").starts_with("allow: "));
    assert!(explain(&trap, "ls").starts_with("allow: "));
}

#[test]
fn a_command_in_the_wrong_place_is_answered_with_the_right_one() {
    let home = home("");
    let told = rules(home.path(), &["test", "rm -rf /"]);
    assert_eq!(told.status.code(), Some(1));
    let expected = "callgate: there is no file `rm -rf /`; to see what is decided about a command: \
                    callgate rules explain 'COMMAND'\n";
    assert_eq!(told.stderr, expected);
    let told = rules(home.path(), &["explain", "git", "status"]);
    assert_eq!(told.status.code(), Some(64));
    assert!(told.stderr.contains("put the command in quotes"), "{}", told.stderr);
    assert!(told.stderr.contains("explain -- git status"), "{}", told.stderr);
}

#[test]
fn suggest_proposes_what_was_allowed_and_never_what_was_denied() {
    let home = home("");
    let database = home.path().join("ledger.db");
    let mut store = Store::open(&database).unwrap();
    let mut number = 0_u64;
    let machine = std::cell::Cell::new(None);
    let mut asked = |tool: &str, input: serde_json::Value, decision: &str| {
        number += 1;
        let question = Some(format!("00000000-0000-4000-8000-{number:012}"));
        let draft = |kind: &str, body: serde_json::Value| EntryDraft {
            at_ms: 0,
            kind: kind.to_owned(),
            question: question.clone(),
            body: body.to_string(),
        };
        let request = json!({
            "tool_name": tool, "tool_input": input,
            "cwd": "/home/ada/engine", "agent": "claude-code",
        });
        let mut body = json!({ "summary": "what it is", "ruling": "ask", "request": request });
        if let Some(machine) = machine.get() {
            body["machine"] = json!(machine);
        }
        store.append_entries(&[
            draft("asked", body),
            draft("decided", json!({ "decision": decision })),
        ])
    };
    let command = |line: &str| json!({ "command": line });
    for _ in 0..3 {
        asked("Bash", command("make build"), "allow").unwrap();
        asked("Bash", command("make deploy"), "allow").unwrap();
        // No rule gives an answer in words, which is what these ask for.
        asked("Ask", json!({ "question": "Deploy?" }), "allow").unwrap();
        asked("AskUserQuestion", json!({ "questions": [] }), "allow").unwrap();
    }
    asked("Bash", command("make deploy"), "deny").unwrap();
    // The rules here do not apply to another machine.
    machine.set(Some("build-7"));
    for _ in 0..3 {
        asked("Bash", command("cargo publish"), "allow").unwrap();
    }
    drop(store);
    let told = rules(home.path(), &["suggest", "--database", database.to_str().unwrap()]);
    let told = told.success().stdout;
    assert!(told.starts_with("# saves 3 questions\n[[rule]]\nname = \"make-build\"\n"), "{told}");
    assert!(!told.contains("deploy") && !told.contains("Ask"), "{told}");
    assert!(!told.contains("publish"), "{told}");
    // What is printed is a file of rules.
    let file = home.path().join("suggested.toml");
    fs::write(&file, told).unwrap();
    let checked = rules(home.path(), &["check", file.to_str().unwrap()]).success().stdout;
    assert!(checked.contains("1 rules, 0 tests"), "{checked}");
}
