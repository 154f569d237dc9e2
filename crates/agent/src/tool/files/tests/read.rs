//! `read_file`.

use std::fs::File;
use std::os::unix::fs::FileExt;

use serde_json::json;

use super::Room;
use crate::tool::files::read_file::{MOST_SKIPPED, skip_to_line};
use crate::tool::files::{CancelFlag, FileLimits, MAX_FILE};

#[test]
fn a_text_is_given_as_it_is() {
    let room = Room::new();
    for text in ["a\n", "a", "a\nb", "a\r\nb\r\n", "\u{feff}bom\n", "ünï\n\n\n", "\n"] {
        room.put("file", text);
        let (result, for_model) = room.done("read_file", &json!({ "path": "file" }));
        assert_eq!(for_model, text);
        assert_eq!(result["content"], text);
        assert_eq!(result["totalLines"], text.split_inclusive('\n').count());
        assert_eq!(result["size"], text.len());
        assert_eq!(result["more"], false);
    }
    room.put("file", "");
    let (result, text) = room.done("read_file", &json!({ "path": "file" }));
    assert_eq!((&result["content"], text.as_str()), (&json!(""), "(the file is empty)"));
    assert_eq!(result["totalLines"], 0);
    room.check_failed(
        "read_file",
        &json!({ "path": "nothing" }),
        "does not exist: look with list_files",
    );
}

#[test]
fn ranges_count_lines() {
    let room = Room::new();
    room.put("file", "1\n2\r\n3\n4");
    let check = |offset: Option<u64>, limit: Option<u64>, content: &str, text: &str| {
        let input = json!({ "path": "file", "offset": offset, "limit": limit });
        let (result, for_model) = room.done("read_file", &input);
        assert_eq!(result["content"], content, "{input}");
        assert_eq!(for_model, text, "{input}");
        assert_eq!(result["totalLines"], 4);
    };
    check(None, Some(1), "1\n", "1\n[lines 1 to 1 of 4: read on with offset 2]");
    check(Some(2), Some(2), "2\r\n3\n", "2\r\n3\n[lines 2 to 3 of 4: read on with offset 4]");
    check(Some(3), None, "3\n4", "3\n4\n[lines 3 to 4 of 4: the end]");
    check(Some(4), Some(9), "4", "4\n[lines 4 to 4 of 4: the end]");
    check(Some(1), Some(4), "1\n2\r\n3\n4", "1\n2\r\n3\n4");
    for offset in [5, 6, u64::MAX] {
        let input = json!({ "path": "file", "offset": offset });
        room.check_failed("read_file", &input, &format!("ends before line {offset}"));
    }
    room.put("file", "1\n2\n");
    room.check_failed("read_file", &json!({ "path": "file", "offset": 3 }), "ends before line 3");
}

#[test]
fn results_are_cut_at_lines_and_say_how_to_go_on() {
    let room = Room::with(FileLimits { max_file: MAX_FILE, max_result: 10 });
    room.put("file", "12345\n789\nx\n");
    let (result, text) = room.done("read_file", &json!({ "path": "file" }));
    assert_eq!(result["content"], "12345\n789\n");
    assert_eq!(result["more"], true);
    assert_eq!(text, "12345\n789\n[lines 1 to 2 of 3: read on with offset 3]");
    room.put("file", "äääääääää\nnext\n");
    let (result, text) = room.done("read_file", &json!({ "path": "file", "limit": 1 }));
    assert_eq!(result["content"], "äääää");
    assert!(text.contains("was cut: read on with offset 2]"), "{text}");
    room.put("file", "a1234567890123");
    let text = room.done("read_file", &json!({ "path": "file" })).1;
    assert!(text.contains("was cut: the end]"), "{text}");
}

#[test]
fn binary_files_are_told_and_not_dumped() {
    let room = Room::with(FileLimits { max_file: 1000, max_result: 100 });
    let check = |bytes: &[u8], range: bool, reason: &str| {
        room.put("file", bytes);
        let limit = range.then_some(5);
        let text = room.failed("read_file", &json!({ "path": "file", "limit": limit }));
        assert!(text.contains(reason) && text.len() < 200, "{text}");
    };
    check(b"ELF\0\x01", false, "binary (5 bytes)");
    check(b"caf\xe9\n", false, "binary or in another encoding than UTF-8 (5 bytes)");
    let mut late = vec![b'a'; 900];
    late.push(0);
    check(&late, false, "binary (901 bytes)");
    check(&late, true, "binary (901 bytes)");
    check(&[b"\0".as_slice(), &vec![b'\n'; 2000]].concat(), true, "binary (2001 bytes)");
    check(&[b"\xff\n".as_slice(), &vec![b'\n'; 2000]].concat(), true, "(2002 bytes)");
}

#[test]
fn huge_files_are_read_in_ranges() {
    let room = Room::with(FileLimits { max_file: 1000, max_result: 50 });
    let lines: Vec<String> = (1..=500).map(|n| format!("line {n}\n")).collect();
    room.put("file", lines.concat());
    room.check_failed("read_file", &json!({ "path": "file" }), "give `offset` and `limit`");
    let (result, text) =
        room.done("read_file", &json!({ "path": "file", "offset": 300, "limit": 2 }));
    assert_eq!(result["content"], "line 300\nline 301\n");
    assert_eq!(result["totalLines"], json!(null));
    assert_eq!(text, "line 300\nline 301\n[lines 300 to 301: read on with offset 302]");
    let (result, _) = room.done("read_file", &json!({ "path": "file", "offset": 490 }));
    assert_eq!(result["content"], lines[489..494].concat());
    let (result, text) = room.done("read_file", &json!({ "path": "file", "offset": 500 }));
    assert_eq!(
        (result["more"].as_bool(), text.as_str()),
        (Some(false), "line 500\n[lines 500 to 500: the end]")
    );
    room.check_failed("read_file", &json!({ "path": "file", "offset": 501 }), "ends before");
    // A hole of many gigabytes costs next to nothing.
    let file = File::create(room.path("hole")).unwrap();
    file.write_all_at(b"first\n", 0).unwrap();
    file.set_len(MOST_SKIPPED * 8).unwrap();
    let (result, _) = room.done("read_file", &json!({ "path": "hole", "offset": 1, "limit": 1 }));
    assert_eq!(result["content"], "first\n");
    room.check_failed("read_file", &json!({ "path": "hole", "offset": 3 }), "binary");
    room.check_failed("read_file", &json!({ "path": "hole" }), "give `offset`");
    // Text is passed over only so far.
    let lines = "line\n".repeat(100);
    let skipped = |most| skip_to_line(&mut lines.as_bytes(), 90, most, &CancelFlag::default());
    assert_eq!(skipped(500), Ok(()));
    assert!(skipped(400).unwrap_err().contains("begins after more than 400 bytes"));
}

#[test]
fn a_size_that_is_no_promise_is_not_believed() {
    let room = crate::tool::files::build_file_tools(
        crate::tool::files::AllowedFolders::open("/proc/self".as_ref(), &["/proc/self".into()])
            .unwrap(),
        FileLimits { max_file: 4096, max_result: 100 },
        super::nothing(),
    );
    let status = super::run(&room, "read_file", &json!({ "path": "status" }));
    assert!(!status.is_error && status.text.contains("Name:"), "{}", status.text);
    let maps = super::run(&room, "read_file", &json!({ "path": "smaps" }));
    assert!(maps.is_error && maps.text.contains("more than 4096 bytes"), "{}", maps.text);
}
