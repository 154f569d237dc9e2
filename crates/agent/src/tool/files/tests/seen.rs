//! Nothing is overwritten that the model has not seen, and nobody is asked in vain.

use std::fs;

use serde_json::{Value, json};

use super::{Room, run_in};
use crate::tool::files::FileLimits;

fn write(path: &str, content: &str) -> Value {
    json!({ "path": path, "content": content })
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({ "path": path, "oldText": old, "newText": new })
}

const UNREAD: &str = "you have not read it in this conversation: read it with read_file first";
const CHANGED: &str = "it has changed since you read it: read it again";

#[test]
fn a_file_that_was_not_read_is_not_replaced() {
    let room = Room::new();
    room.put("a.txt", "one\n");
    room.check_failed("write_file", &write("a.txt", "two\n"), UNREAD);
    assert_eq!(fs::read_to_string(room.path("a.txt")).unwrap(), "one\n");
    // What another conversation has read does not count.
    assert!(!run_in("other", &room.tools, "read_file", &json!({ "path": "a.txt" })).is_error);
    room.check_failed("write_file", &write("a.txt", "two\n"), UNREAD);
    room.done("read_file", &json!({ "path": "a.txt" }));
    room.done("write_file", &write("a.txt", "two\n"));
    // The model knows what it has written itself.
    room.done("write_file", &write("a.txt", "three\n"));
    room.done("edit_file", &edit("a.txt", "three", "four"));
    room.done("write_file", &write("a.txt", "five\n"));
    room.done("write_file", &write("new.txt", "x"));
    room.done("write_file", &write("new.txt", "y"));
    // There is nothing to lose in an empty file.
    room.put("empty.txt", "");
    room.done("write_file", &write("empty.txt", "x"));
    // An edit gives the text that it replaces, but knows no more of the file than that.
    room.put("b.txt", "one\ntwo\n");
    room.done("edit_file", &edit("b.txt", "one", "1"));
    room.check_failed("write_file", &write("b.txt", ""), UNREAD);
}

#[test]
fn a_file_that_has_changed_since_it_was_read_is_not_changed() {
    let room = Room::new();
    let path = room.put("a.txt", "one\n");
    room.done("read_file", &json!({ "path": "a.txt" }));
    // The same size, and perhaps the same time.
    fs::write(&path, "two\n").unwrap();
    room.check_failed("write_file", &write("a.txt", "three\n"), CHANGED);
    room.check_failed("edit_file", &edit("a.txt", "two", "three"), CHANGED);
    assert_eq!(fs::read_to_string(&path).unwrap(), "two\n");
    room.done("read_file", &json!({ "path": "./a.txt", "limit": 1 }));
    room.done("edit_file", &edit("a.txt", "two", "three"));
    fs::write(&path, "a longer text than before\n").unwrap();
    room.check_failed("write_file", &write("a.txt", "four\n"), CHANGED);
    // A file that is as it was has not changed, whatever its time is.
    fs::write(&path, "three\n").unwrap();
    room.done("write_file", &write("a.txt", "four\n"));
    // Somebody has removed it: there is nothing to lose.
    fs::remove_file(&path).unwrap();
    room.done("write_file", &write("a.txt", "five\n"));
}

#[test]
fn a_link_and_its_target_are_the_same_file() {
    let room = Room::new();
    room.put("folder/a.txt", "one\n");
    room.link("link", "folder");
    room.done("read_file", &json!({ "path": "link/a.txt" }));
    room.done("write_file", &write("folder/a.txt", "two\n"));
}

#[test]
fn a_file_that_cannot_be_shown_as_a_whole_may_be_replaced_once_it_was_looked_at() {
    let room = Room::with(FileLimits { max_file: 10, ..FileLimits::default() });
    room.put("binary", "a\0b");
    room.check_failed("write_file", &write("binary", "x"), UNREAD);
    room.check_failed("read_file", &json!({ "path": "binary" }), "binary");
    room.done("write_file", &write("binary", "x"));
    let large = room.put("large", "0123456789\n0123456789\n");
    room.done("read_file", &json!({ "path": "large", "limit": 1 }));
    fs::write(&large, "0123456789\n0123456789\n0\n").unwrap();
    room.check_failed("write_file", &write("large", "x"), CHANGED);
    room.done("read_file", &json!({ "path": "large", "limit": 1 }));
    room.done("write_file", &write("large", "x"));
}

#[test]
fn faults_are_found_before_anybody_is_asked() {
    let room = Room::new();
    room.put("a.txt", "one\none\n");
    room.put("folder/b.txt", "x");
    let check = |tool: &str, input: Value, expected: Option<&str>| {
        let fault = room.fault(tool, &input, true);
        match expected {
            None => assert_eq!(fault, None, "{tool} {input}"),
            Some(part) => {
                let fault = fault.unwrap_or_else(|| panic!("{tool} {input}"));
                assert!(fault.contains(part), "{tool} {input}: {fault}");
            }
        }
    };
    check("read_file", json!({}), Some(r#""path" is a required property"#));
    check("read_file", json!([1]), Some("not a JSON object"));
    check("read_file", json!({ "path": "a", "file_path": "b" }), Some("`file_path` is unknown"));
    check("write_file", json!({ "path": "new.txt" }), Some(r#""content" is a required property"#));
    check("write_file", json!({ "path": "new.txt", "content": 3 }), Some("/content"));
    check("write_file", write("new.txt", "x"), None);
    check("write_file", write("new/folder/c.txt", "x"), None);
    check("write_file", write("a.txt", "x"), Some(UNREAD));
    check("write_file", write("folder", "x"), Some("it is a folder"));
    check("write_file", write("a.txt/c.txt", "x"), Some("cannot write a.txt/c.txt"));
    check("edit_file", edit("missing.txt", "a", "b"), Some("does not exist"));
    check("edit_file", edit("a.txt", "two", "b"), Some("does not occur"));
    check("edit_file", edit("a.txt", "one", "b"), Some("occurs 2 times"));
    check("edit_file", edit("a.txt", "one\none", "b"), None);
    room.done("read_file", &json!({ "path": "a.txt" }));
    check("write_file", write("a.txt", "x"), None);
    assert_eq!(room.names(), ["a.txt", "folder"]);
}

/// Whether a file exists, or has a text, is not told about a file that a rule keeps from the model.
#[test]
fn faults_tell_nothing_about_files_that_may_not_be_read() {
    let room = Room::new();
    room.put("secret.txt", "password");
    let check = |tool: &str, input: Value| assert_eq!(room.fault(tool, &input, false), None);
    check("write_file", write("secret.txt", "x"));
    check("edit_file", edit("secret.txt", "word", "x"));
    check("edit_file", edit("secret.txt", "other", "x"));
    check("edit_file", edit("missing.txt", "other", "x"));
    check("read_file", json!({ "path": "missing.txt" }));
    assert!(room.fault("edit_file", &json!({ "path": 1 }), false).is_some());
}
