//! How times are read, and how entries look.

use callgate_store::LedgerEntry;
use expect_test::{Expect, expect};
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};
use serde_json::{Value, json};

use super::entry_text::call_subject;
use super::entry_writer::{EntryWriter, QuestionSummary, is_detail};
use super::exported_entry::LedgerRow;
use super::time::parse_at;

/// Two hours ahead of UTC.
fn zone() -> TimeZone {
    TimeZone::fixed(Offset::constant(2))
}

fn now() -> Zoned {
    "2026-11-15T12:00:00Z".parse::<Timestamp>().unwrap().to_zoned(zone())
}

#[test]
fn times_are_read_as_people_write_them() {
    let check = |text: &str, expected: &str| {
        let expected: Timestamp = expected.parse().unwrap();
        assert_eq!(parse_at(text, &now()), Ok(expected.as_millisecond()), "{text}");
    };
    check("2h", "2026-11-15T10:00:00Z");
    check("90d", "2026-08-17T12:00:00Z");
    check("1w", "2026-11-08T12:00:00Z");
    check("1h30m", "2026-11-15T10:30:00Z");
    check(" 45s ", "2026-11-15T11:59:15Z");
    check("2026-11-01", "2026-10-31T22:00:00Z");
    check("2026-11-01 14:30", "2026-11-01T12:30:00Z");
    check("2026-11-01T14:30:05", "2026-11-01T12:30:05Z");
    check("2026-11-01T14:30:05Z", "2026-11-01T14:30:05Z");
    check("2026-11-01T14:30:05-08:00", "2026-11-01T22:30:05Z");
    for text in ["", "soon", "-2h", "0s", "2", "2026-13-01", "99999999d"] {
        let error = parse_at(text, &now()).unwrap_err();
        assert!(error.contains("2h"), "{text}: {error} should say how it is written");
    }
}

fn entry(kind: &str, question: Option<&str>, body: &Value) -> LedgerEntry {
    LedgerEntry {
        seq: 7,
        at_ms: now().timestamp().as_millisecond() + 123,
        kind: kind.to_owned(),
        question: question.map(str::to_owned),
        body: body.to_string(),
        hash: [0xab; 32],
    }
}

fn own_row(entry: &LedgerEntry) -> LedgerRow<'_> {
    LedgerRow { machine: "here", entry, labels: None }
}

const ID: Option<&str> = Some("550e8400-e29b-41d4-a716-446655440000");

/// How each row begins.
const TIME: &str = "2026-11-15 14:00:00  ";

fn row(entry: &LedgerEntry, asked: Option<&Value>, width: Option<usize>) -> String {
    let asked = asked.map(|asked| call_subject(&self::entry("asked", ID, asked)));
    let question = QuestionSummary { asked: asked.unwrap_or_default(), is_decided: false };
    row_of(entry, &question, width)
}

fn row_of(entry: &LedgerEntry, question: &QuestionSummary, width: Option<usize>) -> String {
    let mut out = Vec::new();
    EntryWriter::table_of(&mut out, zone(), width).write(&own_row(entry), question).unwrap();
    let out = String::from_utf8(out).unwrap();
    let (heading, row) = out.strip_suffix('\n').unwrap().split_once('\n').unwrap();
    if width.is_none() {
        assert_eq!(heading, "TIME                 WHAT       QUESTION");
    }
    row.to_owned()
}

#[test]
fn every_kind_has_its_row() {
    let asked = json!({
        "tool": "Bash", "summary": "make build", "cwd": "/home/ada/engine", "session": "34fb81ac",
    });
    let check = |kind: &str, question: Option<&str>, body: Value, expected: Expect| {
        let row = row(&entry(kind, question, &body), Some(&asked), None);
        expected.assert_eq(row.strip_prefix(TIME).unwrap());
    };
    check(
        "asked",
        ID,
        asked.clone(),
        expect!["asked      550e8400  Bash: make build  in /home/ada/engine"],
    );
    let input = json!({ "tool": "Write", "input": { "file_path": "a" } });
    check("asked", ID, input, expect![[r#"asked      550e8400  Write: {"file_path":"a"}"#]]);
    check(
        "asked",
        ID,
        json!({ "tool": "Bash", "input": "{\"command\":\"ls\"}" }),
        expect![[r#"asked      550e8400  Bash: {"command":"ls"}"#]],
    );
    check("asked", ID, json!({}), expect!["asked      550e8400"]);
    let decided = json!({ "decision": "deny", "by": "Ada", "message": "only `make test`" });
    check(
        "decided",
        ID,
        decided,
        expect!["deny       550e8400  by Ada  only `make test`  Bash: make build"],
    );
    check(
        "decided",
        ID,
        json!({ "decision": "allow", "by": "Ada" }),
        expect!["allow      550e8400  by Ada  Bash: make build"],
    );
    check(
        "decided",
        ID,
        json!({ "decision": "allow", "by": "Ada", "picks": [[11]], "chosen": "answer 12" }),
        expect!["allow      550e8400  by Ada  chose answer 12  Bash: make build"],
    );
    let rule = "denied by rule `pushes` (r.toml:1): it is `git push`";
    check(
        "decided",
        ID,
        json!({ "decision": "deny", "by": rule, "message": rule }),
        expect![
            "deny       550e8400  by rule `pushes` (r.toml:1): it is `git push`  Bash: make build"
        ],
    );
    check("decided", ID, json!({ "by": 7 }), expect!["decided    550e8400  Bash: make build"]);
    let pressed = json!({
        "by": "Eve", "channel": "telegram", "chat": 7, "action": "allow", "outcome": "stranger",
    });
    check("pressed", ID, pressed, expect!["pressed    550e8400  Eve on telegram allow: stranger"]);
    let ran = json!({ "tool": "Bash", "ok": false, "summary": "make build", "cwd": "/home/ada" });
    check("ran", None, ran, expect!["ran        -         Bash: make build  failed  in /home/ada"]);
    check("ran", None, json!({ "tool": "Bash", "ok": true }), expect!["ran        -         Bash"]);
    let refused = json!({ "tool": "write_file", "summary": "a.txt", "because": "nobody is there" });
    check(
        "refused",
        None,
        refused,
        expect!["refused    -         write_file: a.txt  nobody is there"],
    );
    check(
        "started",
        None,
        json!({ "version": "0.1.0", "pid": 7, "socket": null }),
        expect!["started    -         version=0.1.0 pid=7"],
    );
    let anchor = json!({ "through": 9, "hash": "ab", "count": 4, "from_ms": 1, "to_ms": 2 });
    check("anchor", None, anchor, expect!["anchor     -         4 entries up to 9 were pruned"]);
    check("anchor", None, json!({ "a": "b" }), expect!["anchor     -         a=b"]);
    check("delivered", ID, json!({}), expect!["delivered  550e8400"]);
    check("asked", Some("short"), json!({ "tool": "Bash" }), expect!["asked      short     Bash"]);
    check(
        "asked",
        Some("ä-ö-ü-ß-é"),
        json!({ "tool": "Bash" }),
        expect!["asked      ä-ö-ü     Bash"],
    );
    let row = row(
        &LedgerEntry { body: "no JSON".to_owned(), ..entry("asked", ID, &json!({})) },
        None,
        None,
    );
    expect!["asked      550e8400"].assert_eq(row.strip_prefix(TIME).unwrap());
}

#[test]
fn the_end_of_a_question_has_its_row() {
    let asked = json!({ "tool": "Bash", "summary": "make build" });
    let check = |kind: &str, question: Option<&str>, body: Value, expected: Expect| {
        let row = row(&entry(kind, question, &body), Some(&asked), None);
        expected.assert_eq(row.strip_prefix(TIME).unwrap());
    };
    check(
        "closed",
        ID,
        json!({ "how": "gone", "text": "The agent went away" }),
        expect!["withdrawn  550e8400  The agent went away  Bash: make build"],
    );
    check(
        "closed",
        ID,
        json!({ "how": "settled", "text": "Answered at the agent's own terminal" }),
        expect!["settled    550e8400  Answered at the agent's own terminal  Bash: make build"],
    );
    check(
        "closed",
        ID,
        json!({ "how": "answered" }),
        expect!["closed     550e8400  answered  Bash: make build"],
    );
    let unread = json!({ "how": "gone", "text": "Allowed by Ada, but the agent had gone" });
    let question = QuestionSummary { asked: String::new(), is_decided: true };
    expect!["closed     550e8400  Allowed by Ada, but the agent had gone"].assert_eq(
        row_of(&entry("closed", ID, &unread), &question, None).strip_prefix(TIME).unwrap(),
    );
}

/// How many columns a line takes at most.
fn columns(line: &str) -> usize {
    line.chars().map(|c| if c < '\u{1100}' || c == '…' { 1 } else { 2 }).sum()
}

#[test]
fn the_last_column_is_cut_to_the_terminal() {
    let check = |summary: &str, width: usize, expected: Expect| {
        let body = json!({ "tool": "Bash", "summary": summary });
        let row = row(&entry("asked", ID, &body), None, Some(width));
        assert!(columns(&row) <= width, "{row}");
        expected.assert_eq(row.strip_prefix(TIME).unwrap_or(&row));
    };
    check("make build and then some", 60, expect!["asked      550e8400  Bash: make build …"]);
    check("make build", 80, expect!["asked      550e8400  Bash: make build"]);
    check("漢字漢字漢字漢字漢字", 60, expect!["asked      550e8400  Bash: 漢字漢字漢…"]);
    let accents = row(
        &entry("asked", ID, &json!({ "tool": "Bash", "summary": "e\u{301}".repeat(10) })),
        None,
        Some(62),
    );
    assert!(accents.ends_with("e\u{301}…"), "no letter loses its accent: {accents}");
}

#[test]
fn in_a_narrow_terminal_an_entry_has_two_lines() {
    let check = |summary: &str, width: usize, expected: Expect| {
        let body = json!({ "tool": "Bash", "summary": summary });
        let row = row(&entry("asked", ID, &body), None, Some(width));
        assert!(row.lines().all(|line| columns(line) <= width), "{row}");
        expected.assert_eq(&row);
    };
    check(
        "make build and then some more of it",
        40,
        expect![[r"
            2026-11-15 14:00:00 asked     550e8400
              Bash: make build and then some more o…"]],
    );
    check(
        "漢字漢字漢字漢字漢字漢字漢字漢字漢字",
        40,
        expect![[r"
            2026-11-15 14:00:00 asked     550e8400
              Bash: 漢字漢字漢字漢字漢字漢字漢字漢…"]],
    );
    check(
        "make build",
        10,
        expect![[r"
            2026-11-1…
              Bash: m…"]],
    );
    let withdrawn = json!({ "how": "gone", "text": "The agent went away" });
    expect![[r"
        2026-11-15 14:00:00 withdrawn 550e8400
          The agent went away"]]
    .assert_eq(&row(&entry("closed", ID, &withdrawn), None, Some(40)));
    // Without details there is no second line.
    let delivered = row(&entry("delivered", ID, &json!({})), None, Some(40));
    assert_eq!(delivered, "2026-11-15 14:00:00 delivered 550e8400");
}

#[test]
fn what_would_deceive_is_shown_in_the_table() {
    let body = json!({ "tool": "Bash", "summary": "a\u{1b}[2J\nb\u{202e}c\u{9b}31m\u{200b}" });
    expect!["asked      550e8400  Bash: a⟨U+001B⟩[2J⏎b⟨U+202E⟩c⟨U+009B⟩31m⟨U+200B⟩"]
        .assert_eq(&row(&entry("asked", ID, &body), None, None)[TIME.len()..]);
    let id =
        LedgerEntry { kind: "a\u{1b}b".to_owned(), ..entry("asked", Some("\u{1b}[2J"), &body) };
    assert!(!row(&id, None, None).contains('\u{1b}'));
}

fn json_line(entry: &LedgerEntry) -> String {
    let mut out = Vec::new();
    EntryWriter::for_json(&mut out).write(&own_row(entry), &QuestionSummary::default()).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn json_has_everything_on_one_line() {
    let entry = LedgerEntry {
        body: "{\"a\": 1.50,\n\"b\":\"x\\ny\", \"c\":{}}".to_owned(),
        ..entry("asked", ID, &json!({}))
    };
    expect![[r#"
        {"seq":7,"time":"2026-11-15T12:00:00.123Z","at_ms":1794744000123,"kind":"asked","question":"550e8400-e29b-41d4-a716-446655440000","hash":"abababababababababababababababababababababababababababababababab","body":{"a": 1.50, "b":"x\ny", "c":{}}}
    "#]].assert_eq(&json_line(&entry));
    let entry = LedgerEntry { body: "no\nJSON".to_owned(), question: None, ..entry };
    expect![[r#"
        {"seq":7,"time":"2026-11-15T12:00:00.123Z","at_ms":1794744000123,"kind":"asked","question":null,"hash":"abababababababababababababababababababababababababababababababab","body":"no\nJSON"}
    "#]].assert_eq(&json_line(&entry));
}

#[test]
fn json_means_the_same_and_deceives_no_terminal() {
    let body = json!({ "text": "ä漢\u{202e}\u{9b}31m\u{7f}\u{200b}👩‍💻\u{e0041}" });
    let line = json_line(&entry("asked", ID, &body));
    let read: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(read["body"], body);
    assert!(line.contains("ä漢"), "{line}");
    assert!(!line.trim_end().contains(['\u{202e}', '\u{9b}', '\u{7f}', '\u{200b}', '\u{e0041}']));
}

#[test]
fn only_what_repeats_a_decision_is_a_detail() {
    let check = |kind: &str, body: Value, expected: bool| {
        assert_eq!(is_detail(&entry(kind, ID, &body)), expected, "{kind} {body}");
    };
    check("asked", json!({}), false);
    check("decided", json!({}), false);
    check("delivered", json!({}), true);
    check("returned", json!({}), true);
    check("closed", json!({ "how": "answered" }), true);
    check("closed", json!({ "how": "gone" }), false);
    check("pressed", json!({ "outcome": "decided" }), true);
    check("pressed", json!({ "outcome": "picked" }), true);
    check("pressed", json!({ "outcome": "stranger" }), false);
    check("pressed", json!({}), false);
    check("ran", json!({}), false);
    check("anything", json!({}), false);
}
