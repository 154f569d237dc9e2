//! `list_files`, and names as they are shown.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use serde_json::json;

use super::Room;
use crate::tool::files::list_files::{MOST_READ, MOST_SHOWN};
use crate::tool::files::name::shown_name;
use crate::tool::files::{FileLimits, MAX_FILE};

#[test]
fn entries_have_types_and_sizes_and_an_order() {
    let room = Room::new();
    room.put("b.txt", "12345");
    room.put("a/inner", "");
    room.put("c", "");
    room.link("link", "a/inner");
    room.link("out", "/etc");
    let (result, text) = room.done("list_files", &json!({ "path": "." }));
    assert_eq!(result["files"], json!(["a/", "b.txt", "c", "link", "out"]));
    assert_eq!(
        result["entries"],
        json!([
            { "name": "a", "type": "folder" },
            { "name": "b.txt", "type": "file", "size": 5 },
            { "name": "c", "type": "file", "size": 0 },
            { "name": "link", "type": "link", "target": "a/inner" },
            { "name": "out", "type": "link", "target": "/etc" },
        ])
    );
    assert_eq!(
        text,
        ".: 5 entries\na/\nb.txt (5 bytes)\nc (0 bytes)\nlink (link to a/inner)\nout (link to /etc)\n"
    );
    assert_eq!(room.done("list_files", &json!({})).0["files"], result["files"]);
    fs::create_dir(room.path("empty")).unwrap();
    let (result, text) = room.done("list_files", &json!({ "path": "empty/" }));
    assert_eq!((&result["files"], text.as_str()), (&json!([]), "empty/: empty\n"));
    room.check_failed("list_files", &json!({ "path": "b.txt" }), "not a folder: use read_file");
    room.check_failed("list_files", &json!({ "path": "nothing" }), "does not exist");
}

#[test]
fn long_lists_say_how_many_more_there_are() {
    let room = Room::new();
    for n in 0..MOST_SHOWN + 7 {
        room.put(&format!("{n:05}"), "");
    }
    let (result, text) = room.done("list_files", &json!({}));
    assert_eq!(result["files"].as_array().unwrap().len(), MOST_SHOWN);
    assert_eq!(result["files"][0], "00000");
    assert_eq!((&result["more"], &result["truncated"]), (&json!(7), &json!(false)));
    assert!(text.ends_with("[7 more: find one by its name with search_files]\n"), "{text}");
    let short = Room::with(FileLimits { max_file: MAX_FILE, max_result: 100 });
    for n in 0..50 {
        short.put(&format!("{n:05}"), "");
    }
    let (result, text) = short.done("list_files", &json!({}));
    assert_eq!(result["files"].as_array().unwrap().len(), 50);
    let shown = text.lines().count() - 2;
    assert!(
        text.ends_with(&format!("[{} more: find one by its name with search_files]\n", 50 - shown))
    );
    assert!(text.len() < 180);
}

#[test]
fn a_folder_that_is_not_read_wholly_is_told_of() {
    let room = Room::new();
    fs::create_dir(room.path("sub")).unwrap();
    for n in 0..MOST_READ {
        room.link(&format!("sub/{n}"), "/");
    }
    let search = |tool: &str| {
        let (result, text) = room.done(tool, &json!({ "pattern": "needle" }));
        (result["truncated"].clone(), text.contains("[folders not read completely: 1]"))
    };
    let (result, _) = room.done("list_files", &json!({ "path": "sub" }));
    assert_eq!((&result["more"], &result["truncated"]), (&json!(2000), &json!(false)));
    assert_eq!(search("search_files"), (json!(false), false));
    room.link("sub/one more", "/");
    let (result, text) = room.done("list_files", &json!({ "path": "sub" }));
    assert_eq!((&result["more"], &result["truncated"]), (&json!(2001), &json!(true)));
    assert!(text.contains("[at least 2001 more: "), "the end says how many");
    assert_eq!(search("search_files"), (json!(true), true));
    assert_eq!(search("search_text"), (json!(true), true));
}

#[test]
fn odd_names_are_escaped_and_unmistakable() {
    let check = |name: &[u8], expected: &str| assert_eq!(shown_name(name), expected, "{name:?}");
    check(b"plain name.txt", "plain name.txt");
    check("größe-файл-文件".as_bytes(), "größe-файл-文件");
    check(b"two\nlines", r#""two\nlines""#);
    check(b"tab\there", r#""tab\there""#);
    check(b"\xff\xfe", r#""\xff\xfe""#);
    check(b"a\xffb", r#""a\xffb""#);
    check(b"esc\x1b[31m", r#""esc\u{1b}[31m""#);
    check("evil\u{202e}txt.exe".as_bytes(), r#""evil\u{202e}txt.exe""#);
    check("no\u{200b}space".as_bytes(), r#""no\u{200b}space""#);
    // What looks like an escaped name is escaped itself.
    check(br#""two\nlines""#, r#""\"two\\nlines\"""#);
    check(br"a\nb", r#""a\\nb""#);
    check(b"", r#""""#);
}

#[test]
fn names_with_newlines_and_bytes_are_listed_and_found() {
    let room = Room::new();
    room.put("two\nfiles.txt", "needle");
    fs::write(room.path("").join(OsStr::from_bytes(b"bytes\xff.txt")), "needle").unwrap();
    let names = json!([r#""bytes\xff.txt""#, r#""two\nfiles.txt""#]);
    let (result, text) = room.done("list_files", &json!({}));
    assert_eq!(result["files"], names);
    assert_eq!(text.lines().count(), 3);
    assert_eq!(room.done("search_files", &json!({ "pattern": "*.txt" })).0["files"], names);
    let (result, text) = room.done("search_text", &json!({ "pattern": "needle" }));
    assert_eq!(result["matches"][0]["path"], names[0]);
    assert_eq!(text, "\"bytes\\xff.txt\":1:needle\n\"two\\nfiles.txt\":1:needle");
    assert_eq!(room.done("read_file", &json!({ "path": "two\nfiles.txt" })).1, "needle");
    room.check_failed("read_file", &json!({ "path": "no\nsuch" }), r#"cannot read "no\nsuch": "#);
}
