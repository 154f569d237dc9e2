//! The table, JSON, and the filters.

use std::process::{Command, Stdio};

use callgate_testkit::process::run;
use callgate_testkit::terminal::Terminal;
use callgate_wire::raw::Members;
use expect_test::expect;
use serde_json::{Value, json};

use crate::ledger::{BUILD, LIMIT, Ledger, WRITE, callgate_log};

#[test]
fn the_table_shows_what_was_asked_decided_and_run() {
    let shown = Ledger::told().log(&[]).success();
    assert_eq!(shown.stderr, "");
    expect![[r#"
        TIME                 WHAT       QUESTION
        2026-11-01 14:00:00  started    -         version=0.1.0
        2026-11-01 14:01:00  asked      550e8400  Bash: make build  in /home/ada/engine
        2026-11-01 14:02:00  pressed    550e8400  Eve allow: stranger
        2026-11-01 14:04:00  deny       550e8400  by Ada  Bash: make build
        2026-11-01 14:06:00  asked      7f1c2b9e  Write: notes.md  in /home/ada/notes
        2026-11-01 14:07:00  allow      7f1c2b9e  by rule `notes`  Write: notes.md
        2026-11-01 14:09:00  ran        7f1c2b9e  Write
    "#]]
    .assert_eq(&shown.stdout);
}

#[test]
fn json_has_one_whole_entry_on_each_line() {
    let ledger = Ledger::told();
    let shown = ledger.log(&["--json", "--question", WRITE]).success().stdout;
    let lines: Vec<Value> = shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 4);
    let mut first = lines[0].clone();
    assert_eq!(first["hash"].as_str().unwrap().len(), 64);
    first["hash"] = json!(null);
    let expected = json!({
        "seq": 7,
        "time": "2026-11-01T12:06:00.000Z",
        "at_ms": 1_793_534_760_000_i64,
        "kind": "asked",
        "question": WRITE,
        "hash": null,
        "body": {
            "tool": "Write", "summary": "notes.md", "cwd": "/home/ada/notes", "session": "other",
        },
    });
    assert_eq!(first, expected);
}

struct DocumentedMember {
    name: &'static str,
    is_optional: bool,
}

/// The members of a kind, as each table of its section lists them.
fn documented(kind: &str) -> Vec<Vec<DocumentedMember>> {
    let document = include_str!("../../docs/protocol/ledger.md");
    let begin = format!("\n## `{kind}`\n");
    let section = document.split(&begin).nth(1).and_then(|text| text.split("\n## `").next());
    let row = |row: &'static str| {
        let mut cells = row.split('|').map(str::trim).skip(1);
        let name = cells.next().unwrap().trim_matches('`');
        DocumentedMember { name, is_optional: cells.next().unwrap().ends_with(", optional") }
    };
    let rows = |table: &'static str| {
        table.lines().take_while(|line| line.starts_with("| `")).map(row).collect()
    };
    let tables = section.unwrap().split("| member | value | meaning |\n|---|---|---|\n");
    tables.skip(1).map(rows).collect()
}

/// `docs/protocol/ledger.md` says what is printed; in `wire` the types are held against it.
#[test]
fn json_is_what_the_ledgers_document_says() {
    let ledger = Ledger::new();
    ledger.tamper(include_str!("../../crates/store/tests/store/old_ledger.sql"));
    assert!(ledger.log(&["--verify"]).success().stdout.contains("whole"));
    let shown = ledger.log(&["--json"]).success().stdout;
    assert_eq!(shown.lines().count(), 96);
    for line in shown.lines() {
        let members = Members::from_text(line).unwrap();
        let names: Vec<&str> = members.0.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["seq", "time", "at_ms", "kind", "question", "hash", "body"]);
        let kind = members.string("kind").unwrap();
        let body = members.get("body").unwrap().members();
        let printed: Vec<&str> = body.0.iter().map(|(name, _)| &**name).collect();
        let tables = documented(&kind);
        let is_as_documented = |table: &Vec<DocumentedMember>| {
            let is_there = |member: &&DocumentedMember| printed.contains(&member.name);
            let listed: Vec<&str> = table.iter().filter(is_there).map(|of| of.name).collect();
            listed == printed && table.iter().all(|of| of.is_optional || is_there(&of))
        };
        let is_empty = tables.is_empty() && printed.is_empty();
        assert!(is_empty || tables.iter().any(is_as_documented), "{line}");
    }
}

#[test]
fn the_entries_of_one_agent_are_found_by_its_name() {
    let mut ledger = Ledger::told();
    ledger.tell("asked", Some("q1"), &json!({ "tool": "Bash", "agent": "claude-code" }));
    ledger.tell("asked", Some("q2"), &json!({ "tool": "Bash", "agent": "kimi" }));
    ledger.tell("closed", Some("q2"), &json!({ "how": "answered" }));
    for name in ["claude", "claude-code"] {
        assert_eq!(ledger.seqs(&["--agent", name]), [11], "{name}");
    }
    assert_eq!(ledger.seqs(&["--agent", "kimi"]), [12, 13]);
    assert_eq!(ledger.seqs(&["--agent", "codex"]), [0_u64; 0]);
}

#[test]
fn every_filter_narrows_it() {
    let ledger = Ledger::told();
    let check = |arguments: &[&str], expected: &[u64]| {
        assert_eq!(ledger.seqs(arguments), expected, "{arguments:?}");
    };
    check(&[], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    check(&["--limit", "2"], &[9, 10]);
    check(&["-n", "0"], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    check(&["--limit", "99"], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    check(&["--since", "2026-11-01 14:08"], &[9, 10]);
    check(&["--since", "2026-11-01T12:08:00Z"], &[9, 10]);
    check(&["--until", "2026-11-01 14:02"], &[1, 2]);
    check(&["--since", "2026-11-02"], &[]);
    check(&["--kind", "asked"], &[2, 7]);
    check(&["--kind", "asked,ran", "--kind", "closed"], &[2, 6, 7, 9, 10]);
    check(&["--decision", "deny"], &[2, 3, 4, 5, 6]);
    check(&["--decision", "allow", "--kind", "asked"], &[7]);
    check(&["--decision", "timeout"], &[]);
    check(&["--tool", "bash"], &[2, 3, 4, 5, 6]);
    check(&["--session", "34fb81ac"], &[2, 3, 4, 5, 6]);
    check(&["--project", "engine"], &[2, 3, 4, 5, 6]);
    check(&["--project", "/home/ada"], &[2, 3, 4, 5, 6, 7, 8, 9, 10]);
    check(&["--grep", "MAKE \"build\""], &[2]);
    check(&["--question", &BUILD[..4], "--limit", "2"], &[5, 6]);
    check(&["--question", BUILD, "--grep", "Ada", "--kind", "decided"], &[5]);
}

#[test]
fn the_table_is_short_unless_asked_for_more() {
    let mut ledger = Ledger::new();
    for count in 0..60 {
        ledger.tell("ran", None, &json!({ "tool": "Bash", "summary": format!("no. {count}") }));
        ledger.tell("delivered", Some(BUILD), &json!({}));
    }
    let rows = |arguments: &[&str]| -> Vec<String> {
        let shown = ledger.log(arguments).success().stdout;
        shown.lines().skip(1).map(str::to_owned).collect()
    };
    let last = rows(&[]);
    assert_eq!(last.len(), 50);
    assert!(last[0].ends_with("no. 10") && last[49].ends_with("no. 59"), "{last:?}");
    assert_eq!(rows(&["--limit", "0"]).len(), 60);
    assert_eq!(rows(&["--all", "--limit", "0"]).len(), 120);
    assert_eq!(rows(&["--kind", "delivered", "-n", "7"]).len(), 7);
    assert_eq!(rows(&["--question", "550e"]).len(), 50);
    assert_eq!(ledger.seqs(&[]).len(), 120);
    assert_eq!(ledger.seqs(&["--limit", "3"]), [118, 119, 120]);
}

#[test]
fn a_question_is_named_by_the_beginning_of_its_id() {
    let mut ledger = Ledger::told();
    ledger.tell("asked", Some("550effff-0000-4000-8000-000000000000"), &json!({}));
    let refused = |id: &str, why: &str| {
        let shown = ledger.log(&["--question", id]);
        assert_eq!(shown.status.code(), Some(1));
        assert!(shown.stderr.contains(why), "{}", shown.stderr);
    };
    refused("550e", "more than one question");
    refused("99", "no question");
    assert_eq!(ledger.seqs(&["--question", "550e8"]).len(), 5);
}

#[test]
fn when_nothing_matches_a_person_is_told() {
    let told = |ledger: &Ledger, arguments: &[&str]| {
        let shown = ledger.log(arguments).success();
        assert_eq!(shown.stdout, "");
        shown.stderr
    };
    let yet = "callgate: nothing was asked, decided or run yet\n";
    assert_eq!(told(&Ledger::new(), &[]), yet);
    assert_eq!(told(&Ledger::new(), &["--kind", "asked"]), yet);
    let other = "callgate: nothing in the ledger matches\n";
    assert_eq!(told(&Ledger::told(), &["--kind", "paired"]), other);
}

#[test]
fn without_a_ledger_it_says_where_one_comes_from() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&[][..], &["--verify"], &["--prune-before", "90d"]] {
        let mut command = callgate_log(folder.path());
        command.args(arguments);
        let shown = run(command, LIMIT);
        assert_eq!(shown.status.code(), Some(1));
        assert!(shown.stderr.contains("`callgate up`"), "{}", shown.stderr);
        let files = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files, 0, "it makes none");
    }
}

#[test]
fn the_file_is_that_of_the_settings() {
    let ledger = Ledger::told();
    let mut command = callgate_log(ledger.folder.path());
    command.args(["--json", "--kind", "ran"]).env("CALLGATE_DATABASE", ledger.path());
    assert_eq!(run(command, LIMIT).success().stdout.lines().count(), 1);
}

#[test]
fn what_does_not_go_together_is_a_wrong_command_line() {
    let ledger = Ledger::told();
    for arguments in [
        &["--verify", "--follow"][..],
        &["--verify", "--kind", "asked"],
        &["--head", "1:00"],
        &["--verify", "--head", "1:00"],
        &["--prune-before", "90d", "--verify"],
        &["--prune-before", "90d", "--tool", "Bash"],
        &["--prune-before", "soon"],
        &["--follow", "--until", "2h"],
        &["--since", "yesteryear"],
        &["--decision", "maybe"],
        &["--yes"],
        &["--limit", "-1"],
    ] {
        let shown = ledger.log(arguments);
        assert_eq!(shown.status.code(), Some(64), "{arguments:?}: {}", shown.stderr);
        assert_eq!(shown.stdout, "");
    }
}

#[test]
fn an_unknown_kind_is_refused_with_the_list() {
    let shown = Ledger::told().log(&["--kind", "asked,decide"]);
    assert_eq!((shown.status.code(), shown.stdout.as_str()), (Some(64), ""));
    for words in ["'decide'", "a similar value exists: 'decided'", "asked, said, unsent, pressed"] {
        assert!(shown.stderr.contains(words), "{}", shown.stderr);
    }
}

#[test]
fn a_question_that_was_withdrawn_is_shown_as_such() {
    let mut ledger = Ledger::new();
    let gone = json!({ "how": "gone", "text": "The agent went away" });
    ledger.tell("asked", Some(BUILD), &json!({ "tool": "Bash", "summary": "make build" }));
    ledger.tell("closed", Some(BUILD), &gone);
    ledger.tell("asked", Some(WRITE), &json!({ "tool": "Write", "summary": "notes.md" }));
    ledger.tell("decided", Some(WRITE), &json!({ "decision": "allow", "by": "Ada" }));
    let late = json!({ "how": "gone", "text": "Allowed by Ada, but the agent had gone" });
    ledger.tell("closed", Some(WRITE), &late);
    expect![[r#"
        TIME                 WHAT       QUESTION
        2026-11-01 14:00:00  asked      550e8400  Bash: make build
        2026-11-01 14:01:00  withdrawn  550e8400  The agent went away  Bash: make build
        2026-11-01 14:02:00  asked      7f1c2b9e  Write: notes.md
        2026-11-01 14:03:00  allow      7f1c2b9e  by Ada  Write: notes.md
        2026-11-01 14:04:00  closed     7f1c2b9e  Allowed by Ada, but the agent had gone  Write: notes.md
    "#]]
    .assert_eq(&ledger.log(&[]).success().stdout);
}

#[test]
fn no_line_is_broken_at_any_width_of_the_terminal() {
    let mut ledger = Ledger::told();
    let wide = "漢字".repeat(100);
    ledger.tell("asked", Some(BUILD), &json!({ "tool": "Bash", "summary": wide, "cwd": "/a" }));
    for (width, is_narrow) in [(40, true), (200, false)] {
        let log = ledger.command(&[]);
        let mut shell = Command::new("/bin/sh");
        let line = format!(r#"stty cols {width}; "$@"; echo "the end""#);
        shell.args(["-c", &line, "sh"]).arg(log.get_program()).args(log.get_args());
        shell.env("TZ", "XYZ-2").env("HOME", ledger.folder.path());
        let terminal = Terminal::spawn(&shell);
        terminal.wait_for("the end");
        let written = terminal.written();
        for line in written.lines() {
            let columns =
                line.trim_end().chars().map(|c| if ('一'..='龥').contains(&c) { 2 } else { 1 });
            assert!(columns.sum::<usize>() <= width, "{line:?} is too long for {width} columns");
        }
        assert_eq!(written.contains("550e8400\r\n  Bash: 漢字"), is_narrow, "{written}");
        assert!(written.contains("Bash: make build"), "{written}");
    }
}

#[test]
fn a_reader_that_has_gone_is_no_failure() {
    let mut ledger = Ledger::told();
    let long = "x".repeat(100_000);
    for _ in 0..10 {
        ledger.tell("ran", None, &json!({ "summary": long }));
    }
    let mut command = ledger.command(&["--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
