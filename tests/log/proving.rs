//! `--verify` and `--prune-before`.

use callgate_store::{ChainHead, Store};
use callgate_testkit::process::run;
use callgate_testkit::terminal::Terminal;
use expect_test::expect;
use serde_json::{Value, json};

use crate::ledger::{LIMIT, Ledger, callgate_log};

fn head(ledger: &Ledger) -> ChainHead {
    Store::open_read_only(&ledger.path()).unwrap().chain_head().unwrap()
}

#[test]
fn a_whole_ledger_ends_with_0_and_gives_its_head() {
    let ledger = Ledger::told();
    let head = head(&ledger).to_string();
    let shown = ledger.log(&["--verify"]).success().stdout;
    expect![[r#"
        The ledger is whole: 10 entries.
        Its head is HEAD
        Note that somewhere else: with --verify --head it shows later that nothing up to there was changed, not even by somebody who can write the file.
    "#]].assert_eq(&shown.replace(&head, "HEAD"));
    let shown = ledger.log(&["--verify", "--head", &head]).success().stdout;
    assert!(shown.contains("The head that you noted is part of it"), "{shown}");
    let shown = ledger.log(&["--verify", "--json"]).success().stdout;
    let expected = json!({
        "whole": true, "entries": 10, "head": head, "pruned_through": null, "noted": null,
        "unchained_links": [],
    });
    assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), expected);
}

#[test]
fn a_broken_ledger_ends_with_1_and_says_what_to_do() {
    let ledger = Ledger::told();
    ledger.tamper("UPDATE entries SET body = replace(body, 'deny', 'allow') WHERE seq = 5");
    let shown = ledger.log(&["--verify"]);
    assert_eq!(shown.status.code(), Some(1));
    let path = ledger.path().display().to_string();
    expect![[r#"
        The ledger is broken at entry 5: it was changed, or the entry before it was replaced.
        The entries before it are consistent; from entry 5 on nothing is proven.
        Keep a copy of FILE: it may be evidence. To begin a new ledger, stop `callgate up`, move the file away and start again.
    "#]].assert_eq(&shown.stdout.replace(&path, "FILE"));
    let shown = ledger.log(&["--verify", "--json"]);
    assert_eq!(shown.status.code(), Some(1));
    let said: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!((&said["whole"], &said["seq"]), (&json!(false), &json!(5)));
}

#[test]
fn a_link_written_by_hand_is_told_and_counts_for_nothing() {
    let ledger = Ledger::told();
    ledger.tamper("INSERT INTO kept VALUES ('paired/viewer/beef', 'Ada')");
    let shown = ledger.log(&["--verify"]);
    assert_eq!(shown.status.code(), Some(1));
    assert!(shown.stdout.starts_with("The ledger is whole: 10 entries."), "{}", shown.stdout);
    let expected = "somebody wrote them beside it: viewer/beef.";
    assert!(shown.stdout.contains(expected), "{}", shown.stdout);
    let shown = ledger.log(&["--verify", "--json"]);
    assert_eq!(shown.status.code(), Some(1));
    let said: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(said["unchained_links"], json!(["viewer/beef"]));
}

#[test]
fn a_noted_head_shows_a_ledger_that_was_cut() {
    let ledger = Ledger::told();
    let head = head(&ledger).to_string();
    ledger.tamper(
        "DELETE FROM entries WHERE seq > 8;
         UPDATE head SET (seq, hash) = (SELECT seq, hash FROM entries WHERE seq = 8)",
    );
    assert!(ledger.log(&["--verify"]).status.success(), "the ledger alone does not show it");
    let shown = ledger.log(&["--verify", "--head", &head]);
    assert_eq!(shown.status.code(), Some(1));
    assert!(shown.stdout.contains("broken at entry 9: it is missing"), "{}", shown.stdout);
}

#[test]
fn what_is_old_is_removed_and_the_rest_still_verified() {
    let ledger = Ledger::told();
    let before = head(&ledger);
    let shown = ledger.log(&["--prune-before", "2026-11-01 14:05"]).success().stdout;
    expect![[r#"
        5 entries, from 2026-11-01 14:00:00 to 2026-11-01 14:04:00, can be removed. Nothing was removed yet: add --yes to do it.
    "#]]
    .assert_eq(&shown);
    assert_eq!(head(&ledger), before, "only --yes removes anything");
    let shown = ledger.log(&["--prune-before", "2026-11-01 14:05", "--yes"]).success().stdout;
    let head = head(&ledger);
    expect![[r#"
        Removed 5 entries, from 2026-11-01 14:00:00 to 2026-11-01 14:04:00.
        The head is now HEAD
    "#]]
    .assert_eq(&shown.replace(&head.to_string(), "HEAD"));
    assert_eq!(ledger.seqs(&[]), [6, 7, 8, 9, 10, 11]);
    let shown = ledger.log(&["--verify"]).success().stdout;
    expect![[r#"
        The ledger is whole: 6 entries.
        Those up to 5 were pruned; it is verified from there on."#]]
    .assert_eq(shown.lines().take(2).collect::<Vec<_>>().join("\n").as_str());
    for yes in [&[][..], &["--yes"]] {
        let arguments = [&["--prune-before", "2026-11-01 14:05"], yes].concat();
        let shown = ledger.log(&arguments).success().stdout;
        assert!(shown.starts_with("Nothing to remove"), "{shown}");
    }
    let early = format!("2:{}", "0".repeat(64));
    let shown = ledger.log(&["--verify", "--head", &early]).success().stdout;
    assert!(shown.contains("nothing can be said"), "{shown}");
}

#[test]
fn a_broken_ledger_is_not_pruned() {
    let ledger = Ledger::told();
    ledger.tamper("DELETE FROM entries WHERE seq = 3");
    for yes in [&[][..], &["--yes"]] {
        let shown = ledger.log(&[&["--prune-before", "1d"], yes].concat());
        assert_eq!(shown.status.code(), Some(1));
        assert!(shown.stderr.contains("broken at entry 3"), "{}", shown.stderr);
    }
    assert_eq!(ledger.seqs(&[]).len(), 9);
}

#[test]
fn a_long_check_has_a_bar_at_a_terminal_and_nowhere_else() {
    let mut ledger = Ledger::new();
    ledger.tell_often("ran", 5_000);
    let quiet = ledger.log(&["--verify"]).success();
    assert!(quiet.stderr.is_empty(), "{}", quiet.stderr);
    let terminal = Terminal::spawn(&ledger.command(&["--verify"]));
    terminal.wait_for("The ledger is whole: 5000 entries.");
    let written = terminal.written();
    assert!(written.contains("Verifying the ledger [####"), "{written:?}");
    assert!(written.contains("\r\u{1b}[KThe ledger is whole"), "the bar is gone: {written:?}");
}

#[test]
fn what_was_found_whole_is_noted_in_the_ledger_of_the_settings_only() {
    let ledger = Ledger::told();
    assert!(ledger.log(&["--verify"]).status.success());
    let noted =
        |ledger: &Ledger| Store::open_read_only(&ledger.path()).unwrap().last_verified().unwrap();
    assert_eq!(noted(&ledger), None, "a file that was named may be evidence");
    let of_settings = || {
        let mut command = callgate_log(ledger.folder.path());
        command.env("CALLGATE_DATABASE", ledger.path()).arg("--verify");
        run(command, LIMIT)
    };
    assert!(of_settings().status.success());
    assert_eq!(noted(&ledger).unwrap().head, head(&ledger));
    ledger.tamper("UPDATE entries SET body = '{}' WHERE seq = 5");
    assert_eq!(of_settings().status.code(), Some(1), "no note keeps it from looking at all");
}
