//! What a use is about, and what it would change, told before it runs.

use callgate_wire::session::{ToolLocation, tool_kind};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::Room;
use crate::gate::ChangePreview;
use crate::tool::AgentTool;

fn tool<'a>(room: &'a Room, name: &str) -> &'a dyn AgentTool {
    let tool = room.tools.iter().find(|tool| tool.spec().name == name).unwrap();
    tool.as_ref()
}

fn preview(room: &Room, name: &str, input: &Value) -> Option<String> {
    previewed(room, name, input).map(|preview| preview.diff)
}

fn previewed(room: &Room, name: &str, input: &Value) -> Option<ChangePreview> {
    let input = to_raw_value(input).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(tool(room, "edit_file").preview(name, &input))
}

fn write(path: &str, content: &str) -> Value {
    json!({ "path": path, "content": content })
}

#[test]
fn a_write_is_told_as_a_diff_to_what_is_there() {
    let room = Room::new();
    room.put("a.txt", "one\ntwo\nthree\n");
    assert_eq!(
        preview(&room, "write_file", &write("a.txt", "one\n2\nthree\n")).unwrap(),
        "--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
    );
    assert_eq!(
        preview(&room, "write_file", &write("new/b.txt", "one\ntwo")).unwrap(),
        "--- new/b.txt\n+++ new/b.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n"
    );
    assert!(!room.path("new").exists(), "looking made a folder");
    assert_eq!(std::fs::read_to_string(room.path("a.txt")).unwrap(), "one\ntwo\nthree\n");
    let same = preview(&room, "write_file", &write("a.txt", "one\ntwo\nthree\n")).unwrap();
    assert_eq!(same, "--- a.txt\n+++ a.txt\n");
}

#[test]
fn an_edit_is_told_with_the_lines_around_it() {
    let room = Room::new();
    let lines: Vec<String> = (1..=20).map(|line| format!("line {line}\n")).collect();
    room.put("a.txt", lines.concat());
    let edit = json!({ "path": "a.txt", "oldText": "line 10\n", "newText": "ten\n" });
    assert_eq!(
        preview(&room, "edit_file", &edit).unwrap(),
        "--- a.txt\n+++ a.txt\n@@ -7,7 +7,7 @@\n line 7\n line 8\n line 9\n-line 10\n+ten\n \
         line 11\n line 12\n line 13\n"
    );
    let everywhere =
        json!({ "path": "a.txt", "oldText": "line", "newText": "row", "replaceAll": true });
    let diff = preview(&room, "edit_file", &everywhere).unwrap();
    assert_eq!(diff.matches("\n+row ").count(), 20, "{diff}");
}

#[test]
fn secrets_are_hidden_and_their_change_is_seen() {
    let room = Room::new();
    let token = |letter: &str| format!("ghp_{}", letter.repeat(36));
    room.put(".env", format!("NAME=ada\nTOKEN={}\n", token("a")));
    let input = write(".env", &format!("NAME=ada\nTOKEN={}\n", token("b")));
    let diff = preview(&room, "write_file", &input).unwrap();
    assert!(!diff.contains("ghp_"), "{diff}");
    assert!(diff.contains("\n-TOKEN=[hidden 1: "), "{diff}");
    assert!(diff.contains("\n+TOKEN=[hidden 2: "), "{diff}");
    // A key is hidden also where the diff shows no more than its middle.
    let key: Vec<String> = (0..20).map(|line| format!("{line:02}Ab").repeat(16)).collect();
    let pem = |key: &[String]| {
        let begin = "-----BEGIN RSA PRIVATE KEY-----";
        format!("{begin}\n{}\n-----END RSA PRIVATE KEY-----\n", key.join("\n"))
    };
    room.put("key.pem", pem(&key));
    let mut other = key.clone();
    other[10] = "99Zy".repeat(16);
    let diff = preview(&room, "write_file", &write("key.pem", &pem(&other))).unwrap();
    assert!(!diff.contains("Ab") && !diff.contains("Zy"), "{diff}");
    assert!(diff.contains("-[hidden") && diff.contains("+[hidden"), "{diff}");
}

#[test]
fn what_would_deceive_is_made_visible() {
    let room = Room::new();
    let diff = preview(&room, "write_file", &write("a.txt", "a\u{202e}b\u{1b}[2J\n")).unwrap();
    assert!(diff.contains("+a⟨U+202E⟩b⟨U+001B⟩[2J\n"), "{diff}");
}

#[test]
fn a_diff_is_bounded() {
    let room = Room::new();
    let wide = format!("{}\n", "x".repeat(1000)).repeat(500);
    let diff = preview(&room, "write_file", &write("a.txt", &wide)).unwrap();
    assert!(diff.len() < 66_000, "{}", diff.len());
    assert!(diff.ends_with("\n[the diff was cut]\n"));
    // A card shows more of it, up to a number of lines.
    let card = |text: &str| previewed(&room, "write_file", &write("a.txt", text)).unwrap().change;
    assert_eq!(card(&wide).unwrap().lines.len(), 500);
    assert_eq!(card(&"x\n".repeat(60_001)), None);
    let many = "x\n".repeat(2000);
    let preview = previewed(&room, "write_file", &write("a.txt", &many)).unwrap();
    assert_eq!(preview.diff.matches("\n+x").count(), 2000);
    assert_eq!(preview.change.unwrap().lines.len(), 2000);
}

/// Calls of an engine's own tools are previewed like those of ours.
#[test]
fn a_change_by_another_agents_tool_is_told_too() {
    let room = Room::new();
    room.put("a.txt", "one\ntwo\n");
    let change = |old: &str, new: &str| json!({ "old_string": old, "new_string": new });
    let mut edit = change("two", "2");
    edit["file_path"] = json!("a.txt");
    let edits = json!({ "file_path": "a.txt", "edits": [change("one", "1"), change("1\n", "")] });
    for (tool, input, expected) in [
        ("Edit", edit, "@@ -1,2 +1,2 @@\n one\n-two\n+2\n"),
        ("MultiEdit", edits, "@@ -1,2 +1,1 @@\n-one\n two\n"),
        ("Write", json!({ "file_path": "a.txt", "content": "" }), "@@ -1,2 +0,0 @@\n-one\n-two\n"),
    ] {
        let diff = preview(&room, tool, &input).unwrap();
        assert_eq!(diff, format!("--- a.txt\n+++ a.txt\n{expected}"), "{tool}");
    }
    assert_eq!(preview(&room, "Write", &json!({ "file_path": "a.txt" })), None);
    assert_eq!(preview(&room, "Bash", &json!({ "command": "ls" })), None);
}

#[test]
fn the_first_line_that_changes_is_known() {
    let room = Room::new();
    room.put("poem.txt", "one\ntwo\nthree\n");
    room.put("empty.txt", "");
    let check = |name: &str, input: &Value, expected: Option<u64>| {
        let raw = to_raw_value(input).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let line = runtime.block_on(tool(&room, name).first_line(name, &raw));
        assert_eq!(line, expected, "{input}");
    };
    let edit = |old: &str, new: &str| json!({ "path": "poem.txt", "oldText": old, "newText": new });
    check("edit_file", &edit("one", "1"), Some(1));
    check("edit_file", &edit("two", "2"), Some(2));
    check("edit_file", &edit("one\ntwo\nthree", "one\ntwo\n3"), Some(3));
    check("write_file", &write("poem.txt", "one\ntwo\nthree\nfour\n"), Some(4));
    check("write_file", &write("poem.txt", "one\ntwo\nthree\n"), None);
    check("write_file", &write("empty.txt", "new"), None);
    check("write_file", &write("absent.txt", "new"), None);
    check("edit_file", &edit("nothing", "2"), None);
    check("read_file", &json!({ "path": "poem.txt" }), None);
}

#[test]
fn what_cannot_be_told_is_not() {
    let room = Room::new();
    room.put("large.txt", vec![b'x'; 1024 * 1024 + 1]);
    room.put("binary", b"\0\x01");
    room.put("text.txt", "hi");
    room.link("out.txt", room.outside().join("canary.txt"));
    let none = |name: &str, input: Value| assert_eq!(preview(&room, name, &input), None, "{input}");
    none("write_file", write("large.txt", "small"));
    none("write_file", write("text.txt", &"x".repeat(1024 * 1024 + 1)));
    none("write_file", write("text.txt", "\0"));
    none("write_file", write("binary", "text"));
    none("write_file", write("out.txt", "mine"));
    none("write_file", write("../outside/canary.txt", "mine"));
    none("write_file", write("", "mine"));
    none("write_file", json!({ "path": "text.txt", "content": "a", "file": "b" }));
    none("edit_file", json!({ "path": "text.txt", "oldText": "ho", "newText": "ha" }));
    none("edit_file", json!({ "path": "absent.txt", "oldText": "ho", "newText": "ha" }));
    none("read_file", json!({ "path": "text.txt" }));
}

#[test]
fn a_use_tells_of_which_kind_it_is_and_where() {
    let room = Room::new();
    let told = |name: &str, input: Value| {
        let input = to_raw_value(&input).unwrap();
        let tool = tool(&room, name);
        (tool.spec().kind, tool.locations(&input))
    };
    let at = |name: &str, line: Option<u64>| {
        vec![ToolLocation { path: room.path(name).to_str().unwrap().to_owned(), line }]
    };
    let part = json!({ "path": "./b/../a.txt", "offset": 7, "limit": null });
    assert_eq!(told("read_file", part), (tool_kind::READ, at("a.txt", Some(7))));
    assert_eq!(told("write_file", write("a.txt", "")), (tool_kind::EDIT, at("a.txt", None)));
    assert_eq!(told("edit_file", json!({ "path": "a.txt" })), (tool_kind::EDIT, at("a.txt", None)));
    let outside = json!({ "path": "/etc/passwd" });
    let passwd = ToolLocation { path: "/etc/passwd".to_owned(), line: None };
    assert_eq!(told("list_files", outside), (tool_kind::READ, vec![passwd]));
    let path = room.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    let working = vec![ToolLocation { path, line: None }];
    assert_eq!(told("list_files", json!({})), (tool_kind::READ, working.clone()));
    assert_eq!(
        told("search_files", json!({ "pattern": "a" })),
        (tool_kind::SEARCH, working.clone())
    );
    assert_eq!(told("search_text", json!({ "pattern": "a" })), (tool_kind::SEARCH, working));
    // An input without a usable path has no locations.
    for input in [json!({}), json!({ "path": 7 }), json!({ "path": "x".repeat(5000) })] {
        assert_eq!(told("write_file", input).1, []);
    }
}
