//! The agent's last words come from the end of its transcript, and never delay the question.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::{Value, json};

use crate::fixture::{Asked, Stage, event, write};

fn said(text: &str) -> Value {
    let content = json!([{"type": "text", "text": text}]);
    json!({"type": "assistant", "isSidechain": false, "message": {"content": content}})
}

fn called(id: &str) -> Value {
    let content = json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {}}]);
    json!({"type": "assistant", "isSidechain": false, "message": {"content": content}})
}

fn result(id: &str) -> Value {
    let content = json!([{"type": "tool_result", "tool_use_id": id}]);
    json!({"type": "user", "isSidechain": false, "message": {"content": content}})
}

fn lines(entries: &[Value]) -> String {
    entries.iter().flat_map(|entry| [entry.to_string(), "\n".to_owned()]).collect()
}

fn question(path: &Path, agent: Option<&str>) -> String {
    let mut input = event("PermissionRequest");
    input["transcript_path"] = json!(path);
    input["agent_id"] = json!(agent);
    input.to_string()
}

/// Returns what the question contains about the last words in this transcript.
fn words(stage: &Stage, path: &Path, agent: Option<&str>) -> Value {
    let desk = stage.desk();
    let hook = stage.hook(question(path, agent));
    let mut asked = desk.accept();
    asked.answer(r#""decision":"allow""#);
    assert_eq!(hook.end().code, Some(0));
    fs::remove_file(&stage.socket).unwrap();
    asked.request()["context"]["last_words"].take()
}

/// The words that follow a question.
fn late_words(asked: &Asked) -> Value {
    assert_eq!(asked.request()["context"]["words_follow"], json!(true), "{}", asked.line);
    let mut line = String::new();
    #[allow(clippy::disallowed_methods, reason = "the hook bounds its own lines")]
    BufReader::new(asked.rest.chain(&asked.stream)).read_line(&mut line).unwrap();
    let mut late: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(late["request_id"], asked.id());
    late["last_words"].take()
}

#[test]
fn the_question_does_not_wait_for_a_transcript_that_is_not_written_yet() {
    let stage = Stage::new();
    let desk = stage.desk();
    let path = stage.folder.path().join("t.jsonl");
    let hook = stage.hook(question(&path, None));
    // The transcript is made only after the question has come.
    let asked = desk.accept();
    assert_eq!(asked.request()["context"]["last_words"], json!(null));
    write(&stage, "t.jsonl", &lines(&[said("Now I build."), called("1")]));
    assert_eq!(late_words(&asked), "Now I build.");
    // A desk that comes back gets both again.
    drop((desk, asked));
    fs::remove_file(&stage.socket).unwrap();
    let mut again = stage.desk().accept();
    assert_eq!(late_words(&again), "Now I build.");
    again.answer(r#""decision":"allow""#);
    again.assert_closed();
    assert_eq!(hook.end().code, Some(0));
}

#[test]
fn they_are_found_at_the_end_of_a_large_file() {
    let stage = Stage::new();
    let noise = json!({"type": "attachment", "text": "x".repeat(100_000)});
    let mut entries = vec![noise; 20];
    entries.insert(3, said("Long ago."));
    entries.extend([said("Now I build."), called("1")]);
    let path = write(&stage, "t.jsonl", &lines(&entries));
    assert_eq!(words(&stage, &path, None), "Now I build.");
    // Words that lie too far back are not looked for.
    let entries = [vec![said("Long ago.")], vec![entries[0].clone(); 5]].concat();
    let path = write(&stage, "t.jsonl", &lines(&entries));
    assert_eq!(words(&stage, &path, None), json!(null));
    let long = "ö".repeat(600);
    let path = write(&stage, "t.jsonl", &lines(&[said(&long)]));
    assert_eq!(words(&stage, &path, None), format!("…{}", "ö".repeat(499)));
}

#[test]
fn they_are_looked_for_for_a_little() {
    let stage = Stage::new();
    let old = lines(&[said("Old words."), called("1"), result("1")]);
    let path = write(&stage, "t.jsonl", &old);
    let desk = stage.desk();
    let hook = stage.hook(question(&path, None));
    let mut asked = desk.accept();
    // Nothing comes: the old ones have to do.
    assert_eq!(late_words(&asked), "Old words.");
    asked.answer(r#""decision":"allow""#);
    assert_eq!(hook.end().code, Some(0));
    let hook = stage.hook(question(&path, None));
    let mut asked = desk.accept();
    let new = lines(&[said("New words."), called("2")]);
    let mut file = File::options().append(true).open(&path).unwrap();
    // In two pieces, with a cut in the middle of a line.
    file.write_all(&new.as_bytes()[..50]).unwrap();
    thread::sleep(Duration::from_millis(20));
    file.write_all(&new.as_bytes()[50..]).unwrap();
    let found = late_words(&asked);
    // A machine that is busy enough may miss the moment, but never finds anything else.
    assert!(found == "New words." || found == "Old words.", "{found}");
    asked.answer(r#""decision":"allow""#);
    assert_eq!(hook.end().code, Some(0));
    drop(desk);
    fs::remove_file(&stage.socket).unwrap();
    assert_eq!(words(&stage, &path, None), "New words.");
}

#[test]
fn a_subagent_has_its_own() {
    let stage = Stage::new();
    let path = write(&stage, "session.jsonl", &lines(&[said("The main one."), called("1")]));
    let folder = stage.folder.path().join("session/subagents");
    fs::create_dir_all(&folder).unwrap();
    let mut words_of_sub = said("The small one.");
    words_of_sub["isSidechain"] = json!(true);
    fs::write(folder.join("agent-a1.jsonl"), lines(&[words_of_sub])).unwrap();
    assert_eq!(words(&stage, &path, Some("a1")), "The small one.");
    assert_eq!(words(&stage, &path, Some("a2")), json!(null));
    // An id is no path.
    fs::create_dir(folder.join("agent-x")).unwrap();
    fs::write(folder.join("other.jsonl"), lines(&[said("Elsewhere.")])).unwrap();
    assert_eq!(words(&stage, &path, Some("x/../other")), json!(null));
    assert_eq!(words(&stage, &path, None), "The main one.");
}

#[test]
fn what_is_no_transcript_does_no_harm() {
    let stage = Stage::new();
    let folder = stage.folder.path();
    let fifo = folder.join("fifo");
    mkfifoat(CWD, &fifo, Mode::RUSR | Mode::WUSR).unwrap();
    for path in [fifo, folder.into(), "/dev/zero".into(), "/nowhere".into(), "".into()] {
        assert_eq!(words(&stage, &path, None), json!(null), "{}", path.display());
    }
    let garbage = write(&stage, "garbage", &"\u{0}{\"type\":\"assistant\"\n".repeat(50_000));
    assert_eq!(words(&stage, &garbage, None), json!(null));
    if rustix::process::geteuid().is_root() {
        let foreign = write(&stage, "foreign", &lines(&[said("Not ours.")]));
        std::os::unix::fs::chown(&foreign, Some(65534), None).unwrap();
        assert_eq!(words(&stage, &foreign, None), json!(null));
    }
}
