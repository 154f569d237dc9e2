//! Transcripts that are still being written.

use std::fs;
use std::io::Write;

use super::*;

const LINES: [&str; 3] = [
    r#"{"type":"user","message":{"content":"Go"}}"#,
    r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I build."}]}}"#,
    r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Bash"}]}}"#,
];

#[test]
fn the_words_before_the_first_question_of_a_session_are_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    // Longer than any machine takes.
    let long = Duration::from_mins(1);
    let patience = WordsPatience { usual: long, first: long };
    let reading = {
        let path = path.clone();
        thread::spawn(move || words_in(&path, Some("Bash"), false, patience))
    };
    // The file is made a little later, with something that is no conversation, and grows line
    // by line. Whatever the reader sees of that, it waits for the rest.
    thread::sleep(Duration::from_millis(50));
    let mut file = fs::File::create(&path).unwrap();
    for line in [r#"{"type":"mode","mode":"default"}"#].into_iter().chain(LINES) {
        thread::sleep(Duration::from_millis(20));
        writeln!(file, "{line}").unwrap();
    }
    assert_eq!(reading.join().unwrap().as_deref(), Some("I build."));
}

#[test]
fn what_never_comes_is_not_waited_for_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let patience = WordsPatience { usual: Duration::ZERO, first: Duration::ZERO };
    let path = folder.path().join("t.jsonl");
    assert_eq!(words_in(&path, None, false, patience), None);
    fs::write(&path, LINES[0]).unwrap();
    assert_eq!(words_in(&path, None, false, patience), None);
}
