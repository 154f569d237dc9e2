//! The starter rules, as `callgate rules init` writes them.

use std::fs;
use std::process::Command;

use callgate_testkit::process::{DEADLINE, run};
use serde_json::json;

use crate::rules;

#[test]
fn starter_rules_are_written_once_are_right_and_pass_their_own_tests() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(".config/callgate/rules.toml");
    let told = rules(home.path(), &["init"]).success();
    assert!(told.stdout.starts_with("wrote "), "{}", told.stdout);
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let told = rules(home.path(), &["check"]).success();
    assert!(!told.stdout.contains("warning") && !told.stdout.contains("error"), "{}", told.stdout);
    let project = home.path().join("engine");
    fs::create_dir(&project).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
    command.args(["rules", "test"]).env_clear().env("HOME", home.path()).current_dir(&project);
    let told = run(command, DEADLINE).success();
    assert!(told.stdout.contains("42 tests, 0 failed"), "{}", told.stdout);
    let printed = rules(home.path(), &["init", "--print"]).success().stdout;
    assert_eq!(printed, fs::read_to_string(&path).unwrap());
    fs::write(&path, "# mine").unwrap();
    let told = rules(home.path(), &["init"]);
    assert_eq!(told.status.code(), Some(1));
    assert!(told.stderr.contains("is already there and was not changed"), "{}", told.stderr);
    assert_eq!(fs::read_to_string(&path).unwrap(), "# mine");
}

#[test]
fn starter_rules_allow_looking_and_testing_inside_the_project_only() {
    let home = tempfile::tempdir().unwrap();
    let _written = rules(home.path(), &["init"]).success();
    let check = |command: &str, expected: &str| {
        let told = rules(home.path(), &["explain", "--project", "/home/ada/engine", command]);
        assert!(told.stdout.starts_with(expected), "{command}: {}", told.stdout);
    };
    for inside in [
        "pytest",
        "pytest -x tests/test_a.py",
        "pytest tests/test_a.py::TestIt::test_b",
        "go test ./... -run TestIt",
        "cargo test -p core a::b",
        "git diff main..topic -- src",
        "git diff HEAD~3 --stat",
        "git show HEAD:src/main.rs",
        "git log --oneline origin/main..",
    ] {
        check(inside, "allow: ");
    }
    // The last ones have others' files shown, or run as code.
    for outside in [
        "pytest ../other/test_a.py",
        "pytest /opt/other",
        "pytest ../other/test_a.py::test_b",
        "python3 -m pytest /tmp/test_a.py",
        "go test ../other/...",
        "cargo fmt -- /opt/other.rs",
        "git diff /etc/passwd /etc/hosts",
    ] {
        check(outside, "undecided: ");
    }
}

#[test]
fn starter_rules_ask_about_writes_outside_and_about_the_network() {
    let home = tempfile::tempdir().unwrap();
    let _written = rules(home.path(), &["init"]).success();
    let check = |command: &str, expected: &str| {
        let told = rules(home.path(), &["explain", "--project", "/srv/engine", command]);
        assert!(told.stdout.starts_with(expected), "{command}: {}", told.stdout);
    };
    for (rule, commands) in [
        (
            "ask: asked by rule `writes outside the project`",
            &["echo x >> /srv/.bashrc", "cp x /srv/x", "make | tee /srv/x", "tar xf a -C /opt"][..],
        ),
        (
            "ask: asked by rule `network`",
            &["dig evil.example", "ping -c1 x", "openssl s_client -connect x:1", "host x.example"],
        ),
        (
            "ask: asked by rule `network by git`",
            &["git clone x", "git fetch", "git pull --rebase", "git ls-remote x"],
        ),
        ("ask: asked by rule `network by the shell`", &["cat < /dev/tcp/evil.example/80"]),
        (
            // Some have the name of another program in them, too.
            "ask: asked by rule `network",
            &[
                "python3 -c 'import urllib.request'",
                "python -Ic 'import http.client'",
                "python3.12 -c 'import socket'",
                "/usr/bin/python3 -c 'import requests'",
                "node -e 'fetch(1)'",
                "node -e 'require(\"http2\")'",
                "node --eval \"require('net')\"",
                "perl -MIO::Socket -e 1",
                "perl -e 'use LWP::Simple'",
                "ruby -rnet/http -e 1",
                "ruby -e 'require \"open-uri\"'",
                "python3 - <<'EOF'\nimport urllib.request\nEOF",
                "echo 'import requests' | python3",
                "node <<< 'fetch(1)'",
                "php -r 'file_get_contents(\"http://x\");'",
            ],
        ),
        (
            "deny: denied by rule `commands that print secrets`",
            &["gh auth token", "echo x | git credential fill"],
        ),
        ("deny: denied by rule `env files`", &["cat .env.staging", "cat a/.env.local"]),
        (
            "deny: denied by rule `secrets`",
            &["cat ~/.vault-token", "cat ~/.databrickscfg", "ls ~/.config/rclone"],
        ),
        ("deny: denied by rule `keys of agents`", &["cat ~/.claude/.credentials.json"]),
        // What only reads, or stays in the project, is as free as before.
        ("undecided: ", &["cat /etc/hosts", "ls /usr/include", "python3 x.py", "node x.js"]),
        ("undecided: ", &["python3 - <<'EOF'\nprint(1)\nEOF", "cat x | python3 y.py"]),
        ("undecided: ", &["echo x > src/a", "cp /etc/hosts src/hosts", "git commit -m x"]),
        ("allow: ", &["cat .env.example", "git status", "grep -rn x src"]),
    ] {
        for command in commands {
            check(command, rule);
        }
    }
}

#[test]
fn starter_rules_know_what_mcp_tools_do_by_their_words_and_arguments() {
    let home = tempfile::tempdir().unwrap();
    let _written = rules(home.path(), &["init"]).success();
    for (tool, input, expected) in [
        ("mcp__slack__slack_send_message", json!({}), "ask: asked by rule `MCP tools that act`"),
        ("mcp__x__notion-create-page", json!({}), "ask: asked by rule `MCP tools that act`"),
        ("mcp__gh__GitHub_CreateIssue", json!({}), "ask: asked by rule `MCP tools that act`"),
        ("mcp__db__find_and_modify", json!({}), "ask: asked by rule `MCP tools that act`"),
        ("mcp__db__read_query", json!({"query": "DROP TABLE x"}), "ask: "),
        ("mcp__db__get_rows", json!({"q": "drop table x"}), "ask: asked by rule `queries that"),
        ("mcp__web__get_page", json!({"address": "x"}), "undecided: "),
        ("mcp__web__get_page", json!({"link": "x"}), "undecided: "),
        ("mcp__web__get_page", json!({"urls": ["x"]}), "undecided: "),
        ("mcp__web__get_page", json!({"target_url": "x"}), "undecided: "),
        ("mcp__web__get_page", json!({"page": "evil.example/?k=v"}), "undecided: "),
        ("mcp__fs__read_file", json!({"path": "/etc/shadow"}), "undecided: "),
        ("mcp__fs__read_file", json!({"path": ".env"}), "deny: denied by rule `env files by MCP"),
        ("mcp__fs__read_file", json!({"path": "a/.env.staging"}), "deny: "),
        ("mcp__fs__read_file", json!({"path": ".env.example"}), "allow: "),
        ("mcp__fs__read_file", json!({"path": "src/main.rs"}), "allow: "),
        ("mcp__fs__fs_read_file", json!({"path": "src/main.rs"}), "allow: "),
        ("mcp__mail__search_emails", json!({"query": "lunch", "from": "a@x.example"}), "allow: "),
    ] {
        let input = input.to_string();
        let told = rules(home.path(), &["explain", "--tool", tool, "--input", &input]);
        assert!(told.stdout.starts_with(expected), "{tool} {input}: {}", told.stdout);
    }
}
