//! Which commands, paths and hosts rules match.

use super::*;

#[test]
fn patterns_of_commands_are_word_by_word() {
    for (pattern, command, holds) in [
        ("git status", "git status", true),
        ("git status", "git status -s", false),
        ("git status *", "git status", true),
        ("git status *", "git status -s x", true),
        ("git status *", "git stash", false),
        ("git * -s", "git status -s", true),
        ("git * -s", "git -s", false),
        ("git * -s", "git a b -s", false),
        ("git stat*", "git status", true),
        ("git stat*", "git status -s", false),
        ("make x?", "make xy", true),
        ("make x?", "make xyz", false),
        ("grep 'a b' *", "grep \"a b\" c", true),
        ("grep 'a *' x", "grep 'a *' x", true),
        ("grep 'a *' x", "grep 'a b' x", false),
        ("grep a\\\\ b", "grep 'a b'", true),
        ("ls ~/x", "ls ~/x", true),
        ("ls ~/x", "ls /home/ada/x", true),
        ("ls ~/x", "ls '~/x'", false),
        ("RUST_LOG=* cargo test", "RUST_LOG=debug cargo test", true),
        ("RUST_LOG=* cargo test", "cargo test", false),
        ("cargo test", "RUST_LOG=debug cargo test", false),
        ("RUST_LOG=* cargo test", "RUST_LOG=a PATH=b cargo test", false),
        ("ls *", "ls *.rs", true),
        ("ls *.rs", "ls *.rs", false),
        ("ls *.rs", "ls a.rs", true),
        ("timeout 5 make", "timeout 5 make", true),
        ("bash -c 'make build'", "bash -c 'make build'", true),
    ] {
        let allow = format!("allow; command = \"{pattern}\"");
        let expected = if holds { RuleDecision::Allow } else { RuleDecision::Ask };
        assert_eq!(decide(&[&allow], &bash(command)), expected, "{pattern:?} and {command:?}");
    }
}

#[test]
fn a_name_inside_a_file_is_judged_by_the_file() {
    let allow = "allow; command = \"pytest *\"; path = \"**\"";
    for (command, holds) in [
        ("pytest tests/a.py::test_b", true),
        ("pytest 'tests/a.py::TestIt::test_b[1-x]'", true),
        ("pytest ../a.py::test_b", false),
        ("pytest /opt/a.py::test_b", false),
        ("pytest tests/a.py::../../b", false),
        ("pytest tests/a.py::/opt/b", false),
        ("pytest tests/a.py:/opt/b", false),
        ("pytest a:b/c.py::d", false),
        ("pytest x=/opt/a.py::d", false),
        ("pytest tests/a.py::b,/opt/c", false),
        ("pytest -p/opt/a.py::b", false),
    ] {
        let expected = if holds { RuleDecision::Allow } else { RuleDecision::Ask };
        assert_eq!(decide(&[allow], &bash(command)), expected, "{command:?}");
    }
}

#[test]
fn a_denied_path_is_found_in_the_middle_of_a_word() {
    let rules = ["allow; command = \"*\"", "deny; path = [\"~/.ssh\", \"/**/secret\"]"];
    for command in [
        "podman create -v ~/.ssh:/keys image",
        "podman create -v /home/ada/.ssh:/keys:ro image",
        "podman create --mount=type=bind,src=/home/ada/.ssh,dst=/keys image",
        "pytest a/secret::test_b",
        "run secret@1",
    ] {
        assert_eq!(decide(&rules, &bash(command)), RuleDecision::Deny, "{command}");
    }
    // However many parts a word has.
    for end in ["/home/ada/.ssh", "/home/ada/.ssh,x", "/home/ada/.ssh/id,x=y"] {
        let command = format!("run --all={}{end}", "x,".repeat(100));
        assert_eq!(decide(&rules, &bash(&command)), RuleDecision::Deny, "{command}");
    }
    assert_eq!(decide(&rules, &bash("run a:b,c=d@e")), RuleDecision::Allow);
}

#[test]
fn a_rule_of_words_holds_for_programs_without_a_shell() {
    let allow = ["allow; command = \"git status\""];
    let runs = |tool: &str, input: serde_json::Value| decide(&allow, &act(tool, &input));
    assert_eq!(runs("shell", json!({"command": ["git", "status"]})), RuleDecision::Allow);
    assert_eq!(
        runs("shell", json!({"command": ["bash", "-lc", "git status"]})),
        RuleDecision::Allow
    );
    assert_eq!(
        runs("shell", json!({"command": ["bash", "-lc", "git status; rm x"]})),
        RuleDecision::Ask
    );
    assert_eq!(runs("shell", json!({"command": ["git", "status; rm x"]})), RuleDecision::Ask);
    assert_eq!(
        runs("run_shell_command", json!({"command": "git", "args": ["status"]})),
        RuleDecision::Allow
    );
    assert_eq!(
        runs("run_shell_command", json!({"command": "git status", "args": []})),
        RuleDecision::Ask
    );
    assert_eq!(
        runs("Bash", json!({"command": "git status", "dangerouslyDisableSandbox": true})),
        RuleDecision::Ask
    );
}

#[test]
fn a_line_for_a_tool_without_a_shell_is_allowed_by_nothing_and_denied_as_both() {
    let allow = "allow; command = \"git status *\"";
    for input in [
        json!({"command": "git status x/evil"}),
        json!({"command": "git status x/evil", "args": null}),
    ] {
        assert_eq!(
            decide(&[allow], &act("run_shell_command", &input)),
            RuleDecision::Ask,
            "{input}"
        );
        let deny = [allow, "deny; command = \"git status\""];
        assert_eq!(decide(&deny, &act("run_shell_command", &input)), RuleDecision::Deny, "{input}");
    }
}

#[test]
fn a_search_is_not_allowed_where_it_may_find_what_a_rule_denies() {
    let all = "allow; class = \"read\"; path = \"/**\"";
    let searched = |rule: &str, tool: &str, path: &str, agent: &str| {
        let input = json!({"pattern": "x", "path": path}).to_string();
        let act = Act::from_call(tool, &input, PROJECT, agent, HOME);
        decide(&[all, rule], &act)
    };
    for (pattern, path, asks) in [
        ("/**/.env", "/home/ada/engine", true),
        ("**/.env", ".", true),
        ("**/.env", "src", true),
        ("**/.env", "/srv", false),
        ("~/**/.env", ".", true),
        ("/**/secret/**", "src", true),
        ("src/**/.env", "src/app", true),
        ("src/*.key", "src", true),
        ("src/*.key", ".", true),
        ("src/*.key", "srv", false),
        ("*/keys", "src", true),
        ("*/keys", "src/app/x", false),
        ("secret", ".", true),
        ("secret", "src", false),
    ] {
        for kind in ["deny", "confirm", "ask"] {
            let rule = format!("{kind}; path = \"{pattern}\"");
            let expected = if asks { RuleDecision::Ask } else { RuleDecision::Allow };
            for tool in ["Grep", "LS", "list_directory"] {
                let decided = searched(&rule, tool, path, "claude");
                assert_eq!(decided, expected, "{tool} in {path}, {rule}");
            }
            // The runtime's own searches leave out what rules deny or ask for.
            for tool in ["search_text", "search_files"] {
                let decided = searched(&rule, tool, path, crate::act::OWN_AGENT);
                assert_eq!(decided, RuleDecision::Allow, "{tool} in {path}, {rule}");
            }
        }
    }
    let deny = "deny; path = \"/**/secret/**\"";
    for tool in ["Grep", "search_text", "search_files"] {
        assert_eq!(searched(deny, tool, "a/secret", crate::act::OWN_AGENT), RuleDecision::Deny);
    }
    // What is guarded is not left to the tool.
    assert_eq!(searched(deny, "search_text", HOME, crate::act::OWN_AGENT), RuleDecision::Ask);
    let glob = act("Glob", &json!({"pattern": "src/**/*.rs"}));
    assert_eq!(decide(&[all, "deny; path = \"/**/.env\""], &glob), RuleDecision::Ask);
}

#[test]
fn a_command_in_a_folder_that_is_denied_is_denied() {
    let allow = "allow; command = [\"grep *\", \"ls *\"]";
    for (tool, input) in [
        ("run_shell_command", json!({"command": "grep", "args": ["-r", "KEY"], "cwd": "secret"})),
        ("run_shell_command", json!({"command": "ls", "cwd": "secret/in"})),
        ("shell_command", json!({"command": "grep -r KEY", "workdir": "secret"})),
    ] {
        let act = act(tool, &input);
        assert_eq!(
            decide(&[allow, "deny; path = \"secret/**\""], &act),
            RuleDecision::Deny,
            "{input}"
        );
        assert_eq!(
            decide(&[allow, "deny; path = \"other/**\""], &act),
            RuleDecision::Allow,
            "{input}"
        );
        let here = "deny; path = \"/home/ada/engine/other\"";
        assert_eq!(decide(&[allow, here], &bash("ls")), RuleDecision::Allow);
    }
}

#[test]
fn no_member_leads_a_tool_of_ours_past_a_deny() {
    let searched = |rule: &str, input: serde_json::Value| {
        let act = Act::from_call("search_text", &input.to_string(), PROJECT, "callgate", HOME);
        let inside = PolicyDefaults::read_inside([PROJECT]);
        policy(&rules(&[rule])).with_defaults(inside).decide_by_names(&act, &now()).decision
    };
    for name in ["file_path", "dir_path", "filePath", "notebook_path"] {
        let deny = "deny; path = \"secret/**\"";
        assert_eq!(
            searched(deny, json!({"pattern": "x", name: "src"})),
            RuleDecision::Ask,
            "{name}"
        );
        assert_eq!(searched(deny, json!({"pattern": "x", name: "secret"})), RuleDecision::Deny);
    }
}

#[test]
fn paths_are_allowed_only_when_all_match() {
    let allow = ["allow; class = [\"read\", \"write\"]; path = [\"src/**\", \"~/notes/*.md\"]"];
    for (tool, input, holds) in [
        ("Read", json!({"file_path": "src/main.rs"}), true),
        ("Read", json!({"file_path": "/home/ada/engine/src/a/b"}), true),
        ("Read", json!({"file_path": "src"}), true),
        ("Read", json!({"file_path": "SRC/a"}), false),
        ("Read", json!({"file_path": "src/../../x"}), false),
        ("Read", json!({"file_path": "srcx/a"}), false),
        ("Read", json!({"file_path": "~/notes/a.md"}), true),
        ("Read", json!({"file_path": "~/notes/a/b.md"}), false),
        ("Write", json!({"file_path": "src/a"}), true),
        ("Read", json!({"file_path": "src/a", "path": "/etc/passwd"}), false),
        ("apply_patch", json!({"input": "*** Add File: src/a\n*** Update File: src/b"}), true),
        ("apply_patch", json!({"input": "*** Add File: src/a\n*** Update File: b"}), false),
        ("Grep", json!({"pattern": "x", "path": "src"}), true),
        ("Grep", json!({"pattern": "x"}), false),
        ("Glob", json!({"pattern": "src/**/*.rs"}), true),
        ("Glob", json!({"pattern": "src/../*"}), false),
        ("mcp__a__b", json!({"path": "src/a"}), false),
    ] {
        let expected = if holds { RuleDecision::Allow } else { RuleDecision::Ask };
        assert_eq!(decide(&allow, &act(tool, &input)), expected, "{tool} {input}");
    }
}

#[test]
fn a_command_with_a_path_acts_on_its_folder_and_on_every_word() {
    let allow = ["allow; command = \"cat *\"; path = \"**\"", "allow; command = \"cd *\""];
    for (command, holds) in [
        ("cat a src/b", true),
        ("cat -n a", true),
        ("cat", true),
        ("cat /etc/passwd", false),
        ("cat ../x", false),
        ("cat a /etc/passwd", false),
        ("cat -f/etc/passwd", false),
        ("cat --file=/etc/passwd", false),
        ("cat --file=a", false),
        ("cat x=../../y", false),
        ("cat x:/etc/passwd", false),
        ("cat *", false),
        ("cd /tmp && cat a", false),
        ("cd src && cat a", true),
    ] {
        let expected = if holds { RuleDecision::Allow } else { RuleDecision::Ask };
        assert_eq!(decide(&allow, &bash(command)), expected, "{command:?}");
    }
    let project =
        ["allow; command = \"make\"; project = \"~/engine\"", "allow; command = \"cd *\""];
    assert_eq!(decide(&project, &bash("cd src && make")), RuleDecision::Allow);
    assert_eq!(decide(&project, &bash("cd /tmp/evil && make")), RuleDecision::Ask);
}

#[test]
fn a_deny_by_path_finds_the_path_wherever_it_stands() {
    let deny = ["deny; path = \"~/.ssh\"", "allow; command = [\"cat *\", \"ls *\", \"rm *\"]"];
    for (command, expected) in [
        ("cat ~/.ssh/id_rsa", RuleDecision::Deny),
        ("cat /home/ada/.ssh/id_rsa", RuleDecision::Deny),
        ("cat ../.ssh/id_rsa", RuleDecision::Deny),
        ("cat ~/.SSH/id_rsa", RuleDecision::Deny),
        ("cat ~/.s*/id_rsa", RuleDecision::Deny),
        ("cat ~/.s[s]h/id_rsa", RuleDecision::Deny),
        ("cd ~ && cat .ssh/id_rsa", RuleDecision::Deny),
        ("cd ~/.ssh && cat id_rsa", RuleDecision::Deny),
        ("scp --key=~/.ssh/id_rsa x", RuleDecision::Deny),
        ("scp -i/home/ada/.ssh/id_rsa x", RuleDecision::Deny),
        ("echo x > ~/.ssh/authorized_keys", RuleDecision::Deny),
        ("cat $x/.ssh/id", RuleDecision::Ask),
        ("bash -c 'cat ~/.ssh/id'", RuleDecision::Deny),
        ("cat $x", RuleDecision::Ask),
        ("cat $x/y", RuleDecision::Ask),
        ("rm -rf ~/.s?h", RuleDecision::Deny),
        ("rm -rf ~", RuleDecision::Ask),
        ("cat /proc/self/root/home/ada/.ssh/id_rsa", RuleDecision::Deny),
        ("cat /proc/[0-9]*/root/home/ada/.ssh/id_rsa", RuleDecision::Deny),
        ("cd /proc/self/root/home/ada; cat .ssh/id_rsa", RuleDecision::Deny),
        ("cat /proc/self/cwd/../.ssh/id_rsa", RuleDecision::Deny),
        ("cat /proc/self/cwd/../.ssh/id_rsa > /tmp/x", RuleDecision::Deny),
        ("cat /dev/fd/3", RuleDecision::Deny),
        ("cat /proc/self/root/etc/hosts", RuleDecision::Allow),
        ("cat ~/ssh", RuleDecision::Allow),
        ("ls ~", RuleDecision::Allow),
    ] {
        assert_eq!(decide(&deny, &bash(command)), expected, "{command:?}");
    }
    for (tool, input) in [
        ("Read", json!({"file_path": "~/.ssh/id_rsa"})),
        ("mcp__a__b", json!({"x": ["see /home/ada/.ssh/id_rsa"]})),
        ("Grep", json!({"pattern": "x", "path": "/home/ada/.ssh"})),
        ("Read", json!({"file_path": "/proc/7/root/home/ada/.ssh/id_rsa"})),
        ("Read", json!({"file_path": "/proc/self/fd/3"})),
        ("Bash", json!({"command": "ls", "cmd": "cat ~/.ssh/id_rsa"})),
        ("Read", json!({"file_path": "a", "path": "~/.ssh/id_rsa"})),
        ("apply_patch", json!({"input": "*** Add File: a", "patch": "*** Add File: ~/.ssh/x"})),
    ] {
        assert_eq!(decide(&deny, &act(tool, &input)), RuleDecision::Deny, "{tool}");
    }
}

#[test]
fn hosts_are_matched_by_name() {
    let fetch = |url: &str| act("WebFetch", &json!({ "url": url }));
    let allow =
        ["allow; tool = \"WebFetch\"; host = [\"docs.rs\", \"*.python.org\", \"localhost:8080\"]"];
    for (url, holds) in [
        ("https://docs.rs/x", true),
        ("https://DOCS.rs:443/x", true),
        ("https://docs.rs.evil.com/", false),
        ("https://evil.com/docs.rs", false),
        ("https://docs.rs@evil.com/", false),
        ("https://docs.python.org", true),
        ("https://python.org", false),
        ("https://evilpython.org", false),
        ("http://localhost:8080", true),
        ("http://localhost:8081", false),
        ("http://localhost", false),
    ] {
        let expected = if holds { RuleDecision::Allow } else { RuleDecision::Ask };
        assert_eq!(decide(&allow, &fetch(url)), expected, "{url}");
    }
    let deny = ["deny; host = \"*.evil.com\"", "deny; host = \"evil.com\""];
    for act in [
        fetch("https://a.evil.com"),
        bash("curl https://EVIL.com/x"),
        bash("ssh bob@a.evil.com"),
        bash("nc evil.com 80"),
    ] {
        assert_eq!(decide(&deny, &act), RuleDecision::Deny);
    }
    assert_eq!(decide(&["deny; host = \"*\""], &bash("ls x")), RuleDecision::Ask);
    assert_eq!(decide(&["deny; host = \"*\""], &bash("curl http://x")), RuleDecision::Deny);
}
