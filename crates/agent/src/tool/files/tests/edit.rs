//! `edit_file`: exact, once, with its diff.

use std::fs;
use std::process::Command;
use std::thread;

use callgate_wire::tool_act::TextChange;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

use super::Room;
use crate::tool::files::edit_file::TextEdit;
use crate::tool::files::hunks::unified_diff;
use crate::tool::files::target::WriteTarget;
use crate::tool::files::{AllowedFolders, CancelFlag, FileLimits, MAX_FILE, MAX_RESULT};

#[test]
fn one_text_is_replaced_and_the_diff_is_shown() {
    let room = Room::new();
    room.put("src/main.rs", "1\n2\n3\n4\nold\n6\n7\n8\n9\n");
    let input = json!({ "path": "src/main.rs", "oldText": "old\n", "newText": "new\nmore\n" });
    let (result, text) = room.done("edit_file", &input);
    let diff = "--- src/main.rs\n+++ src/main.rs\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-old\n+new\n+more\n 6\n 7\n 8\n";
    assert_eq!(result, json!({ "path": "src/main.rs", "replacements": 1, "diff": diff }));
    assert_eq!(text, format!("edited src/main.rs in 1 place\n{diff}"));
    assert_eq!(
        fs::read_to_string(room.path("src/main.rs")).unwrap(),
        "1\n2\n3\n4\nnew\nmore\n6\n7\n8\n9\n"
    );
}

#[test]
fn the_text_has_to_stand_there_exactly_once() {
    let room = Room::new();
    room.put("file", "one\ntwo\none two\naaa\n");
    let check = |old: &str, reason: &str| {
        let input = json!({ "path": "file", "oldText": old, "newText": "x" });
        room.check_failed("edit_file", &input, reason);
    };
    check("three", "0 times");
    check("One", "0 times");
    check("one\n\ntwo", "0 times");
    check("one", "2 times (lines 1, 3)");
    check("two", "2 times (lines 2, 3)");
    check("aa", "2 times (lines 4)");
    check("", "`oldText` is empty");
    check("x", "the same");
    assert_eq!(fs::read_to_string(room.path("file")).unwrap(), "one\ntwo\none two\naaa\n");
    let all = json!({ "path": "file", "oldText": "one", "newText": "1", "replaceAll": true });
    assert_eq!(room.done("edit_file", &all).0["replacements"], 2);
    assert_eq!(fs::read_to_string(room.path("file")).unwrap(), "1\ntwo\n1 two\naaa\n");
    room.check_failed("edit_file", &all, "0 times");
    room.put("many", "x\n".repeat(100));
    let input = json!({ "path": "many", "oldText": "x", "newText": "y" });
    let text = room.failed("edit_file", &input);
    assert!(text.contains("more than 20 times (lines 1, 2,") && text.contains("20, …)"), "{text}");
    room.put("twenty", "x\n".repeat(20));
    let input = json!({ "path": "twenty", "oldText": "x", "newText": "y" });
    let text = room.failed("edit_file", &input);
    assert!(text.contains("occurs 20 times (lines 1, 2,") && text.contains(", 20)"), "{text}");
}

/// To count all places of such a text would take hours.
#[test]
fn a_text_that_repeats_itself_is_not_counted_to_its_end() {
    let room = Room::new();
    room.put("file", "a".repeat(1_000_000));
    let old = "a".repeat(500_000);
    let input = json!({ "path": "file", "oldText": old, "newText": "b" });
    room.check_failed("edit_file", &input, "more than 20 times (lines 1, …)");
}

/// Each place of a long line costs the same, however long the line is.
#[test]
fn many_places_in_one_line_are_replaced() {
    let room = Room::new();
    room.put("file", "a".repeat(300_000));
    let all = json!({ "path": "file", "oldText": "a", "newText": "b", "replaceAll": true });
    let (result, _) = room.done("edit_file", &all);
    assert_eq!(result["replacements"], 300_000);
    assert!(result["diff"].as_str().unwrap().ends_with("[the diff was cut]\n"));
    assert_eq!(fs::read_to_string(room.path("file")).unwrap(), "b".repeat(300_000));
    room.put("lines", "a\n".repeat(100_000));
    let all = json!({ "path": "lines", "oldText": "a", "newText": "b", "replaceAll": true });
    assert_eq!(room.done("edit_file", &all).0["replacements"], 100_000);
}

#[test]
fn an_edit_that_nobody_waits_for_stops_while_it_looks_for_places() {
    let stop = CancelFlag::default();
    stop.0.store(true, std::sync::atomic::Ordering::Relaxed);
    for everywhere in [false, true] {
        let edit = TextEdit(TextChange { old: "a", new: "b", everywhere });
        assert_eq!(edit.find_occurrences("aaa", &stop).unwrap_err(), "it was cancelled");
    }
}

#[test]
fn line_ends_are_kept_and_told_of() {
    let room = Room::new();
    room.put("dos", "one\r\ntwo\r\nthree\r\n");
    let input = json!({ "path": "dos", "oldText": "one\ntwo", "newText": "1\n2" });
    room.check_failed("edit_file", &input, r"are CRLF, so write `\r\n`");
    let all = json!({ "path": "dos", "oldText": "one\ntwo", "newText": "1", "replaceAll": true });
    room.check_failed("edit_file", &all, "other line ends");
    room.done("edit_file", &json!({ "path": "dos", "oldText": "two", "newText": "2" }));
    room.done("edit_file", &json!({ "path": "dos", "oldText": "one\r\n2", "newText": "1\r\n2" }));
    assert_eq!(fs::read(room.path("dos")).unwrap(), b"1\r\n2\r\nthree\r\n");
    room.put("unix", "one\ntwo\n");
    let input = json!({ "path": "unix", "oldText": "one\r\ntwo", "newText": "1\n2" });
    room.check_failed("edit_file", &input, r"are LF, so write `\n`");
}

#[test]
fn what_cannot_be_edited() {
    let room = Room::with(FileLimits { max_file: 100, max_result: MAX_RESULT });
    let edit = |path: &str| json!({ "path": path, "oldText": "a", "newText": "b" });
    room.check_failed("edit_file", &edit("missing"), "create it with write_file");
    room.check_failed("edit_file", &edit("missing/file"), "does not exist");
    assert!(room.names().is_empty());
    room.put("binary", "a\0");
    room.check_failed("edit_file", &edit("binary"), "binary (2 bytes)");
    room.put("large", "a".repeat(101));
    room.check_failed("edit_file", &edit("large"), "more than 100 bytes");
    room.check_failed("edit_file", &edit(""), "not the name of a file");
    room.check_failed("edit_file", &edit("."), "folder");
}

/// A change of somebody else between the reading and the writing.
#[test]
fn a_change_meanwhile_is_seen() {
    let room = Room::new();
    let check = |change: &dyn Fn()| {
        room.put("file", "text");
        let roots = AllowedFolders::open(&room.path(""), &[room.path("")]).unwrap();
        let target = WriteTarget::find(&roots.locate("file").unwrap(), false).unwrap();
        let original =
            crate::tool::files::edit_file::OriginalFile::read(&target, MAX_FILE).unwrap();
        assert_eq!(original.is_still_there(&target), Ok(()));
        change();
        let error = original.is_still_there(&target).unwrap_err();
        assert!(error.contains("somebody else has changed it"), "{error}");
    };
    check(&|| fs::write(room.path("file"), "other").unwrap());
    check(&|| {
        // The same size and time, and yet another text.
        let old = fs::metadata(room.path("file")).unwrap().modified().unwrap();
        fs::write(room.path("file"), "tex!").unwrap();
        let file = fs::File::options().write(true).open(room.path("file")).unwrap();
        file.set_modified(old).unwrap();
    });
    check(&|| {
        fs::write(room.path("new"), "text").unwrap();
        fs::rename(room.path("new"), room.path("file")).unwrap();
    });
    check(&|| fs::remove_file(room.path("file")).unwrap());
}

#[test]
fn edits_at_the_same_time_lose_nothing() {
    let room = Room::new();
    let lines: Vec<String> = (0..40).map(|n| format!("line {n};\n")).collect();
    // Large enough that they would meet.
    let text = lines.concat() + &"padding\n".repeat(50_000);
    room.put("file", &text);
    thread::scope(|scope| {
        for n in 0..40 {
            let room = &room;
            scope.spawn(move || {
                let (old, new) = (format!("line {n};"), format!("edited {n};"));
                let input = json!({ "path": "file", "oldText": old, "newText": new });
                room.done("edit_file", &input);
            });
        }
    });
    let expected = text.replace("line", "edited");
    assert_eq!(fs::read_to_string(room.path("file")).unwrap(), expected);
}

fn check_diff(text: &str, old: &str, new: &str, expected: &Expect) {
    let places: Vec<usize> = text.match_indices(old).map(|(at, _)| at).collect();
    expected.assert_eq(&unified_diff("f", text, old.len(), new, &places, usize::MAX));
}

#[test]
fn diffs_are_unified() {
    check_diff(
        "a",
        "a",
        "b",
        &expect![[r"
        --- f
        +++ f
        @@ -1,1 +1,1 @@
        -a
        \ No newline at end of file
        +b
        \ No newline at end of file
    "]],
    );
    check_diff(
        "a\n",
        "a\n",
        "",
        &expect![[r"
        --- f
        +++ f
        @@ -1,1 +0,0 @@
        -a
    "]],
    );
    check_diff(
        "a\nb\n",
        "\n",
        "",
        &expect![[r"
        --- f
        +++ f
        @@ -1,2 +1,1 @@
        -a
        -b
        +ab
        \ No newline at end of file
    "]],
    );
    let line = |n: i32| if n % 12 == 0 { "x\n".to_owned() } else { format!("{n}\n") };
    let far: String = (1..=30).map(line).collect();
    check_diff(
        &far,
        "x",
        "y\nz",
        &expect![[r"
        --- f
        +++ f
        @@ -9,7 +9,8 @@
         9
         10
         11
        -x
        +y
        +z
         13
         14
         15
        @@ -21,7 +22,8 @@
         21
         22
         23
        -x
        +y
        +z
         25
         26
         27
    "]],
    );
}

#[test]
fn many_far_changes_show_only_what_changed() {
    let text: String =
        (0..5000).map(|n| if n % 1000 == 0 { "x\n".into() } else { format!("{n}\n") }).collect();
    let places: Vec<usize> = text.match_indices('x').map(|(at, _)| at).collect();
    let diff = unified_diff("f", &text, 1, "y", &places, usize::MAX);
    assert_eq!(diff.matches("-x\n+y\n").count(), 5);
    assert_eq!(diff.lines().count(), 2 + 5 * 3 + 4 * 6 + 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    /// What we show is what `patch` understands.
    #[test]
    fn patch_makes_the_new_file_of_the_old_one(
        text in "[ab\n]{1,60}", old in "[ab\n]{1,3}", new in "[abc\n]{0,4}",
    ) {
        let places: Vec<usize> = text.match_indices(&old).map(|(at, _)| at).collect();
        prop_assume!(!places.is_empty() && old != new);
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("f"), &text).unwrap();
        fs::write(dir.path().join("d"), unified_diff("f", &text, old.len(), &new, &places, usize::MAX)).unwrap();
        let git = Command::new("git")
            .args(["apply", "-p0", "--unidiff-zero", "--whitespace=nowarn", "d"])
            .current_dir(dir.path())
            .output()
            .unwrap();
        prop_assert!(git.status.success(), "{}", String::from_utf8_lossy(&git.stderr));
        let expected = text.replace(&old, &new);
        let patched = fs::read_to_string(dir.path().join("f")).unwrap_or_default();
        prop_assert_eq!(patched, expected);
    }
}
