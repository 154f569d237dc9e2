//! Transcripts that are still being written.

use std::fs;
use std::io::Write;

use super::*;

const LINES: [&str; 3] = [
    r#"{"type":"user","message":{"content":"Go"}}"#,
    r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I build."}]}}"#,
    r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Bash"}]}}"#,
];

fn watch(path: &Path, patience: Duration) -> TranscriptWatch {
    let patience = WordsPatience { usual: patience, first: patience };
    TranscriptWatch::new(path.to_owned(), Some("Bash".to_owned()), false, patience)
}

#[test]
fn the_words_before_the_first_question_of_a_session_are_looked_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    // Longer than any machine takes.
    let mut watch = watch(&path, Duration::from_mins(1));
    assert_eq!(watch.find_words(), WordsLook::Later(Duration::from_millis(10)));
    // The file is made with something that is no conversation, and grows line by line.
    let mut file = fs::File::create(&path).unwrap();
    for line in [r#"{"type":"mode","mode":"default"}"#, LINES[0], LINES[1]] {
        assert!(matches!(watch.find_words(), WordsLook::Later(_)), "before {line}");
        writeln!(file, "{line}").unwrap();
    }
    assert_eq!(watch.find_words(), WordsLook::Found("I build.".to_owned()));
}

#[test]
fn what_never_comes_is_not_looked_for_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    let mut watch = watch(&path, Duration::ZERO);
    assert_eq!(watch.find_words(), WordsLook::Never);
    fs::write(&path, LINES[0]).unwrap();
    assert_eq!(watch.find_words(), WordsLook::Never);
    // Older words do.
    let result =
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1"}]}}"#;
    fs::write(&path, [LINES[1], LINES[2], result].join("\n")).unwrap();
    assert_eq!(watch.find_words(), WordsLook::Found("I build.".to_owned()));
}

#[test]
fn words_far_from_the_end_are_found_at_the_second_look() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    let result = format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"0","content":"{}"}}]}}}}"#,
        "x".repeat(3 * 16 * 1024)
    );
    // Two calls in one message, of which the first has its result.
    fs::write(&path, [LINES[1], LINES[2], &result].join("\n")).unwrap();
    let mut far = watch(&path, Duration::from_mins(1));
    assert_eq!(far.find_words(), WordsLook::Later(Duration::from_millis(10)));
    assert_eq!(far.find_words(), WordsLook::Found("I build.".to_owned()));
    // What is there already is sent with the question.
    fs::write(&path, [&*result, LINES[1], LINES[2]].join("\n")).unwrap();
    let mut near = watch(&path, Duration::from_mins(1));
    assert_eq!(near.find_words(), WordsLook::Found("I build.".to_owned()));
}
