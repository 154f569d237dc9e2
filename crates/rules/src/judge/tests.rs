//! Tests of verdicts on a disk with links.

use serde_json::{Value, json};

use super::*;
use crate::disk::tests::MadeUpDisk;
use crate::disk::{DiskEntry, MOST_LOOKUPS, NoLinks};
use crate::{GuardedSet, RuleFile, Trust, UnclearCommands};

const HOME: &str = "/home/ada";
const PROJECT: &str = "/home/ada/engine";

/// What a running shell does with a line depends on the lines before it: `cd ~/.ssh`,
/// `alias g=git`.
#[test]
fn a_line_that_is_typed_into_a_program_is_asked_about_in_every_mode() {
    let rules = "[[rule]]\nname = \"keys\"\ndecide = \"deny\"\npath = \"~/.ssh\"\n";
    for unclear in [UnclearCommands::Ask, UnclearCommands::Mode] {
        for rules in [rules, ""] {
            let file = RuleFile::from_toml("rules.toml", rules, Trust::User);
            let policy =
                Policy::new(GuardedSet::new(HOME)).with_file(&file, None).with_unclear(unclear);
            for line in ["cat id_rsa", "g push", "git \\", "y"] {
                let input = json!({ "id": "command-1", "line": line }).to_string();
                let act = Act::from_call("write_to_command", &input, PROJECT, "callgate", HOME);
                let verdict = judge_act(&policy, &act, &NoLinks, &Moment::from_unix_ms(0, 0));
                assert!(verdict.is_unclear, "{line}: {verdict:?}");
            }
        }
    }
}

const LINKS: &[(&str, &str)] = &[
    ("/home/ada/engine/src/out", "/srv/out"),
    ("/home/ada/engine/src/in", "lib"),
    ("/home/ada/engine/open", "secret/in"),
    ("/home/ada/engine/far/er/open", "../../secret/in"),
    ("/home/ada/engine/ours", "/home/ada/.config/callgate"),
    ("/home/ada/engine/circle", "circle"),
    ("/home/ada/engine/self", "/proc/self/cwd"),
    ("/home/ada/engine/tool", "/usr/local/bin/callgate"),
    ("/home/ada/alias", "/home/ada/engine"),
];

const RULES: &str = r#"
    [[rule]]
    name = "sources"
    decide = "allow"
    class = ["read", "write"]
    path = "src/**"

    [[rule]]
    name = "looks"
    decide = "allow"
    command = ["cat *", "ls", "ls *"]
    path = ["", "src/**", "open/**", "new/**"]

    [[rule]]
    name = "echo"
    decide = "allow"
    command = ["echo *", "./tool *"]

    [[rule]]
    name = "any tool"
    decide = "allow"
    tool = "mcp__files__*"

    [[rule]]
    name = "secret"
    decide = "deny"
    path = "secret/**"
"#;

fn policy() -> Policy {
    let rules = RULES.replace("\"\", ", "\"/home/ada/engine\", ");
    let file = RuleFile::from_toml("rules.toml", &rules, Trust::User);
    assert!(!file.has_errors(), "{:?}", file.problems);
    Policy::new(GuardedSet::new(HOME)).with_file(&file, None)
}

fn verdict_in(project: &str, tool: &str, input: &Value, disk: &dyn Disk) -> Verdict {
    let act = Act::from_call(tool, &input.to_string(), project, "claude-code", HOME);
    judge_act(&policy(), &act, disk, &Moment::from_unix_ms(0, 0))
}

fn verdict(tool: &str, input: &Value) -> Verdict {
    verdict_in(PROJECT, tool, input, &MadeUpDisk::new(LINKS))
}

fn bash(command: &str) -> Verdict {
    verdict("Bash", &json!({ "command": command }))
}

#[test]
fn a_file_is_judged_by_both_its_names() {
    for (path, expected) in [
        ("src/a.rs", RuleDecision::Allow),
        ("src/in/a.rs", RuleDecision::Allow),
        ("src/out/a.rs", RuleDecision::Ask),
        ("src/out", RuleDecision::Ask),
        ("src/circle", RuleDecision::Allow),
        ("secret/key", RuleDecision::Deny),
        ("open/key", RuleDecision::Deny),
        ("open", RuleDecision::Deny),
        ("/srv/out/a.rs", RuleDecision::Ask),
        ("ours/rules.toml", RuleDecision::Ask),
        ("self/x", RuleDecision::Ask),
    ] {
        for (tool, member) in [("Read", "file_path"), ("Write", "file_path"), ("read_file", "path")]
        {
            let verdict = verdict(tool, &json!({ member: path }));
            let expected = if path == "self/x" { RuleDecision::Deny } else { expected };
            assert_eq!(verdict.decision, expected, "{tool} {path}: {}", verdict.because);
        }
    }
    let led = verdict("Read", &json!({ "file_path": "src/out/a.rs" }));
    assert!(led.because.starts_with("it leads through a link, and "), "{}", led.because);
    assert!(led.wants_person);
    assert!(verdict("Write", &json!({ "file_path": "ours/rules.toml" })).is_guarded);
}

#[test]
fn a_command_is_judged_by_both_names_of_its_words() {
    for (command, expected) in [
        ("cat src/a.rs", RuleDecision::Allow),
        ("cat src/in/a.rs", RuleDecision::Allow),
        ("cat src/out/a.rs", RuleDecision::Ask),
        ("cat src/out", RuleDecision::Ask),
        ("cat new/a", RuleDecision::Allow),
        ("cat open/key", RuleDecision::Deny),
        ("cat --from=open/key", RuleDecision::Deny),
        // The system climbs from where the link leads.
        ("cat open/../key", RuleDecision::Deny),
        ("cat open/*", RuleDecision::Deny),
        ("cat open/*.pem", RuleDecision::Deny),
        ("cd open && ls", RuleDecision::Deny),
        ("cd open; cat key", RuleDecision::Deny),
        ("sh -c 'cat open/key'", RuleDecision::Deny),
        ("cd src && sh -c 'cat out/key'", RuleDecision::Ask),
        ("echo x > open/key", RuleDecision::Deny),
        ("echo hello", RuleDecision::Allow),
        ("echo src/out", RuleDecision::Allow),
        ("cat ours/rules.toml", RuleDecision::Ask),
        ("./tool unpair", RuleDecision::Ask),
        ("./tools", RuleDecision::Ask),
    ] {
        let verdict = bash(command);
        assert_eq!(verdict.decision, expected, "{command}: {}", verdict.because);
    }
    assert!(bash("echo ours/x").is_guarded);
    assert!(bash("./tool up").is_guarded, "{}", bash("./tool up").because);
}

#[test]
fn the_texts_of_other_tools_are_followed_where_they_look_like_paths() {
    let other = |input: &Value| verdict("mcp__files__get", input).decision;
    assert_eq!(other(&json!({ "path": "src/a" })), RuleDecision::Allow);
    assert_eq!(other(&json!({ "path": "open" })), RuleDecision::Deny);
    assert_eq!(other(&json!({ "text": "see open/key there" })), RuleDecision::Deny);
    assert_eq!(other(&json!({ "text": "an open question" })), RuleDecision::Allow);
}

#[test]
fn a_project_behind_a_link_has_two_names() {
    let disk = MadeUpDisk::new(LINKS);
    for (path, expected) in [
        ("src/a.rs", RuleDecision::Allow),
        ("/home/ada/engine/src/a.rs", RuleDecision::Allow),
        ("/home/ada/alias/src/a.rs", RuleDecision::Allow),
        ("src/out/a.rs", RuleDecision::Ask),
        ("open/key", RuleDecision::Deny),
        ("/home/ada/engine/secret/x", RuleDecision::Deny),
    ] {
        let input = json!({ "file_path": path });
        let verdict = verdict_in("/home/ada/alias", "Read", &input, &disk);
        assert_eq!(verdict.decision, expected, "{path}: {}", verdict.because);
    }
}

#[test]
fn rules_of_a_project_hold_by_either_name_of_it() {
    let rules = "[[rule]]\nname = \"own\"\ndecide = \"deny\"\npath = \"private/**\"\n";
    let file = RuleFile::from_toml("project.toml", rules, Trust::Project);
    let disk = MadeUpDisk::new(LINKS);
    for scope in ["/home/ada/alias", PROJECT] {
        let policy = policy().with_file(&file, Some(scope));
        for path in ["private/x", "/home/ada/engine/private/x", "/home/ada/alias/private/x"] {
            let input = json!({ "file_path": path }).to_string();
            let act = Act::from_call("Read", &input, "/home/ada/alias", "codex", HOME);
            let verdict = judge_act(&policy, &act, &disk, &Moment::from_unix_ms(0, 0));
            assert_eq!(
                verdict.decision,
                RuleDecision::Deny,
                "{path} in {scope}: {}",
                verdict.because
            );
        }
    }
}

#[test]
fn without_a_disk_names_are_all_there_is() {
    let input = json!({ "file_path": "open/key" });
    assert_eq!(verdict_in(PROJECT, "Read", &input, &NoLinks).decision, RuleDecision::Ask);
    let input = json!({ "file_path": "src/out/x" });
    assert_eq!(verdict_in(PROJECT, "Read", &input, &NoLinks).decision, RuleDecision::Allow);
}

#[test]
fn what_takes_too_many_looks_at_the_disk_is_asked_about() {
    let many: Vec<String> = (0..MOST_LOOKUPS).map(|n| format!("src/{n}")).collect();
    let verdict_of = |words: &[String]| bash(&format!("cat {}", words.join(" ")));
    assert_eq!(verdict_of(&many[..500]).decision, RuleDecision::Allow);
    let verdict = verdict_of(&many);
    assert!(verdict.because.starts_with("it is too long to judge"), "{}", verdict.because);
    assert!(verdict.wants_person && verdict.decision == RuleDecision::Ask);
    let denied = [many.as_slice(), &["secret/x".to_owned()]].concat();
    assert_eq!(verdict_of(&denied).decision, RuleDecision::Deny);
}

#[test]
fn a_path_that_no_system_takes_is_refused() {
    for (length, expected) in
        [(4_095, RuleDecision::Allow), (4_096, RuleDecision::Deny), (60_000, RuleDecision::Deny)]
    {
        let path = format!("src/{}", "x".repeat(length - 4));
        for (tool, member) in [("Read", "file_path"), ("write_file", "path"), ("Edit", "path")] {
            let verdict = verdict(tool, &json!({ member: path }));
            assert_eq!(verdict.decision, expected, "{tool} {length}: {}", verdict.because);
            let is_refused = verdict.because.contains("no system takes more than 4095");
            assert_eq!(is_refused, expected == RuleDecision::Deny, "{}", verdict.because);
        }
        let added = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch");
        let verdict = verdict("apply_patch", &json!({ "input": added }));
        assert_eq!(verdict.decision, expected, "{}", verdict.because);
    }
}

#[test]
fn what_is_too_long_is_asked_about_unless_a_rule_has_denied_it() {
    let long = "{a,".repeat(1_000_000);
    for command in [
        format!("echo {}", "x ".repeat(200_000)),
        format!("cat src/a; {}", "echo x;".repeat(100_000)),
        format!("sh -c '{}'", "echo x;".repeat(100_000)),
    ] {
        let verdict = bash(&command);
        assert_eq!(verdict.decision, RuleDecision::Ask, "{}", verdict.because);
        assert!(verdict.wants_person, "{}", verdict.because);
        assert!(verdict.because.contains("too long to judge"), "{}", verdict.because);
    }
    assert_eq!(bash(&format!("cat secret/key; {long}")).decision, RuleDecision::Deny);
    assert_eq!(
        bash(&format!("cat secret/key {}", "x ".repeat(200_000))).decision,
        RuleDecision::Deny
    );
}

#[test]
fn a_wildcard_does_not_hide_a_link() {
    for command in [
        "cat open/*",
        "cat s*/../open/*",
        "cat s*/../open/k?y",
        "cat o?en/key",
        "cat *n/key",
        "cat ope[n]/*",
        "cat */er/open/key",
        "cat f?r/e*/o*/key",
        "cat far/{x,e?}/open/*",
        "cat */../f*/er/open/key",
    ] {
        assert_eq!(bash(command).decision, RuleDecision::Deny, "{command}");
    }
}

#[test]
fn links_lead_out_for_what_commands_write_and_what_arguments_name() {
    let rules = r#"
        [[rule]]
        name = "outside"
        decide = "ask"
        class = "write"
        path = "!**"

        [[rule]]
        name = "all"
        decide = "allow"
        command = ["cp *", "cat *"]

        [[rule]]
        name = "tools"
        decide = "allow"
        tool = "mcp__*"
        verb = "read"
        local = true
    "#;
    let file = RuleFile::from_toml("rules.toml", rules, Trust::User);
    assert!(!file.has_errors(), "{:?}", file.problems);
    let policy = Policy::new(GuardedSet::new(HOME)).with_file(&file, None);
    let decide = |tool: &str, input: &Value| {
        let act = Act::from_call(tool, &input.to_string(), PROJECT, "claude", HOME);
        judge_act(&policy, &act, &MadeUpDisk::new(LINKS), &Moment::from_unix_ms(0, 0)).decision
    };
    for (command, expected) in [
        ("cp a src/out/b", RuleDecision::Ask),
        ("cp a src/in/b", RuleDecision::Allow),
        ("cp src/out/b a", RuleDecision::Allow),
        ("cat src/out/b", RuleDecision::Allow),
    ] {
        assert_eq!(decide("Bash", &json!({ "command": command })), expected, "{command}");
    }
    let redirect = json!({ "command": "cat a > src/out/b" });
    let act = Act::from_call("Bash", &redirect.to_string(), PROJECT, "claude", HOME);
    let verdict = judge_act(&policy, &act, &MadeUpDisk::new(LINKS), &Moment::from_unix_ms(0, 0));
    assert_eq!(verdict.rule.map(|rule| rule.name).as_deref(), Some("outside"));
    for (path, expected) in [("src/out/b", RuleDecision::Ask), ("src/in/b", RuleDecision::Allow)] {
        assert_eq!(decide("mcp__x__read_file", &json!({ "path": path })), expected, "{path}");
    }
}

/// A disk with one folder that git takes for a repository.
struct TrapDisk;

impl Disk for TrapDisk {
    fn entry(&self, _path: &str) -> DiskEntry {
        DiskEntry::Present
    }

    fn exists(&self, path: &str) -> bool {
        let name = path.strip_prefix("/home/ada/engine/a/b/c/d/trap/");
        matches!(name, Some("HEAD" | "objects" | "refs"))
    }
}

#[test]
fn a_repository_is_found_where_the_options_of_git_lead() {
    let policy = Policy::new(GuardedSet::new(HOME));
    for (line, is_found) in [
        ("git -C a/b/c/d/trap status", true),
        ("git -C a -C b -C c -C d -C trap status", true),
        ("cd a; cd b; git -C c -C d -C trap status", true),
        ("x=-C; [ \"$Y\" ] && x=-v; git $x a/b/c/d/trap status", true),
        ("x=src; [ \"$Y\" ] && x=a/b/c/d/trap; git -C $x status", true),
        ("git -C 1 -C 2 -C 3 -C 4 -C 5 -C 6 -C 7 status", true),
        ("git -C a -C b -C c -C d status", false),
    ] {
        let act =
            Act::from_call("Bash", &json!({ "command": line }).to_string(), PROJECT, "", HOME);
        let verdict = judge_act(&policy, &act, &TrapDisk, &Moment::from_unix_ms(0, 0));
        assert_eq!(verdict.wants_person, is_found, "{line}: {}", verdict.because);
    }
}

/// However much of the budget other commands take, what could not be examined is not let through.
#[test]
fn a_repository_is_not_missed_for_lack_of_steps() {
    let rules = "[[rule]]\nname = \"git\"\ndecide = \"allow\"\ncommand = \"git status\"";
    let file = RuleFile::from_toml("rules.toml", rules, Trust::User);
    let policy = Policy::new(GuardedSet::new(HOME)).with_file(&file, None);
    for count in (200..2_000).step_by(300) {
        let line = "git status; ".repeat(count) + "cd a/b/c/d/trap; git status";
        let act =
            Act::from_call("Bash", &json!({ "command": line }).to_string(), PROJECT, "", HOME);
        let verdict = judge_act(&policy, &act, &TrapDisk, &Moment::from_unix_ms(0, 0));
        assert!(verdict.wants_person, "{count}: {:?} {}", verdict.decision, verdict.because);
    }
}
