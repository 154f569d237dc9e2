//! Conversations in files of our own; `tests/model/` has those of the CLI.

use super::*;

const ID: &str = "11111111-2222-4333-8444-555555555555";

fn line(kind: &str, id: &str, parent: Option<&str>, text: &str, more: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("{parent:?}"));
    format!(
        r#"{{"type":"{kind}","uuid":"{id}","parentUuid":{parent},"cwd":"/work","message":{{"content":{text:?}}}{more}}}"#
    )
}

fn store(lines: &[String]) -> (tempfile::TempDir, SessionStore) {
    let folder = tempfile::tempdir().expect("a folder");
    let project = folder.path().join("projects/-work");
    fs::create_dir_all(&project).expect("a folder");
    fs::write(project.join(format!("{ID}.jsonl")), lines.join("\n")).expect("a file");
    fs::write(project.join("notes.txt"), "no conversation").expect("a file");
    let store = SessionStore::new(folder.path());
    (folder, store)
}

#[test]
fn a_branch_that_was_left_is_not_read() {
    let (_folder, store) = store(&[
        r#"{"type":"summary","summary":"A talk"}"#.to_owned(),
        line("user", "a", None, "one", ""),
        line("assistant", "b", Some("a"), "left", ""),
        line("user", "m", Some("a"), "a reminder", r#","isMeta":true"#),
        line("assistant", "c", Some("m"), "two", ""),
        line("assistant", "s", Some("c"), "below", r#","isSidechain":true"#),
        r#"{"type":"system","uuid":"k","parentUuid":null,"logicalParentUuid":"c"}"#.to_owned(),
        line("user", "d", Some("k"), "three", ""),
        r#"{"type":"assistant","uuid":"cut"#.to_owned(),
    ]);
    let said: Vec<String> =
        store.read_messages(ID).expect("it is there").iter().map(SessionMessage::text).collect();
    assert_eq!(said, ["one", "two", "three"]);
}

#[test]
fn a_circle_ends() {
    let (_folder, store) =
        store(&[line("user", "a", Some("b"), "one", ""), line("user", "b", Some("a"), "two", "")]);
    assert_eq!(store.read_messages(ID).expect("it is there").len(), 2);
}

#[test]
fn conversations_are_listed_by_their_folder() {
    let (_folder, store) = store(&[line("user", "a", None, "one", "")]);
    let [session] = &store.list("/work").expect("a list")[..] else { panic!("one") };
    assert_eq!((session.id.as_str(), session.first_prompt.as_deref()), (ID, Some("one")));
    assert_eq!(session.folder.as_deref(), Some(Path::new("/work")));
    assert_eq!(store.list("/elsewhere").expect("a list"), []);
    assert_eq!(store.list_all().expect("a list").len(), 1);
    assert_eq!(SessionStore::new("/nowhere").list_all().expect("a list"), []);
}

#[test]
fn an_id_is_no_path() {
    let (_folder, store) = store(&[]);
    for id in ["../../etc/passwd", "", "11111111-2222-4333-8444-000000000000"] {
        let error = store.read_messages(id).expect_err("it is not there");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}

#[test]
fn folders_are_named_as_the_cli_names_them() {
    assert_eq!(project_name(Path::new("/home/me/my_project.rs")), "-home-me-my-project-rs");
    assert_eq!(project_name(Path::new("/ü/𝄞")), "------".get(..5).expect("five"));
}
