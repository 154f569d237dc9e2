//! Askers that say nothing, or nothing that is a request. None of these tests depends on the time
//! within which a line has to arrive: here it is an hour.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::*;
use crate::daemon::letter::{LetterBox, LetterQueue};
use crate::daemon::rulings::{RuleJudge, RulingLimits};
use crate::desk::Ruling;

/// Long enough for any machine.
const DEADLINE: Duration = Duration::from_mins(1);

/// A reception, with the test in the place of the desk.
struct Lobby {
    folder: TempDir,
    runtime: Runtime,
    letters: LetterQueue,
}

impl Lobby {
    fn open() -> Self {
        crate::daemon::raise_descriptor_limit();
        let folder = tempfile::tempdir().unwrap();
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build().unwrap();
        let (to_desk, letters) = LetterBox::new(64);
        let guard = runtime.enter();
        let askers = Askers::new(to_desk).unwrap();
        let ruler: RuleJudge = Arc::new(|_| Ruling::Ask { because: None, is_guarded: false });
        let limits = RulingLimits::new(Duration::from_hours(1));
        let rulings =
            RulingQueue::start(ruler, limits, Arc::clone(&askers), Arc::new(|_| ())).unwrap();
        let read_within = Duration::from_hours(1);
        let intake = Intake { read_within, ..Intake::new(askers, rulings) };
        let door = Door::open(&folder.path().join("ask.sock"), Arc::new(|_| ())).unwrap();
        runtime.spawn(Reception { door, intake: Arc::new(intake) }.accept_askers());
        drop(guard);
        Self { folder, runtime, letters }
    }

    fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(self.folder.path().join("ask.sock")).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream
    }

    /// Waits until the desk has a letter.
    fn wait_for_letter(&mut self) -> DeskInput {
        let letter = async { tokio::time::timeout(DEADLINE, self.letters.take_letter()).await };
        self.runtime.block_on(letter).expect("in time").expect("a letter").input
    }
}

fn question() -> Vec<u8> {
    question_with(&crate::asker::fresh_id(), &serde_json::json!({}))
}

fn question_with(id: &RequestId, context: &serde_json::Value) -> Vec<u8> {
    let line = serde_json::json!({
        "request_id": id.as_str(), "tool_name": "Bash", "tool_input": { "command": "make" },
        "cwd": "/", "session_id": "s", "context": context,
    });
    format!("{line}\n").into_bytes()
}

fn words(id: &RequestId, words: &str) -> Vec<u8> {
    LateWords { request_id: id.clone(), last_words: words.to_owned() }.to_line()
}

/// Whether the reception has closed a connection, without waiting for it.
fn is_closed(stream: &mut UnixStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    match stream.read(&mut [0; 1]) {
        Ok(0) => true,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
        Ok(_) => panic!("nobody was asked"),
    }
}

#[test]
fn an_empty_line_closes_the_connection_at_once() {
    let lobby = Lobby::open();
    let question = question();
    for line in [&b"\n"[..], b"\r\n", b"  \n", &[b"\n", &question[..]].concat()] {
        let mut stream = lobby.connect();
        stream.write_all(line).unwrap();
        // A connection that is reset is closed too.
        let read = stream.read(&mut [0; 1]);
        assert!(matches!(&read, Ok(0)) || read.unwrap_err().kind() == ErrorKind::ConnectionReset);
    }
}

#[test]
fn silent_connections_delay_nobody() {
    let mut lobby = Lobby::open();
    let mut silent: Vec<UnixStream> = (0..MOST_READING + 100).map(|_| lobby.connect()).collect();
    for _ in 0..3 {
        let mut asker = lobby.connect();
        asker.write_all(&question()).unwrap();
        lobby.wait_for_letter();
    }
    assert!(!silent.iter_mut().any(is_closed), "nobody had to go for it");
}

#[test]
fn lines_that_never_end_keep_nobody_out() {
    let mut lobby = Lobby::open();
    let mut stalled: Vec<UnixStream> = (0..MOST_READING).map(|_| lobby.connect()).collect();
    for stream in &mut stalled {
        stream.write_all(b"{").unwrap();
    }
    let mut asker = lobby.connect();
    asker.write_all(&question()).unwrap();
    lobby.wait_for_letter();
    let closed = stalled.iter_mut().filter_map(|stream| is_closed(stream).then_some(())).count();
    assert!(closed <= 2, "{closed} had to go for one");
}

#[test]
fn the_words_that_follow_a_question_reach_the_desk_after_it() {
    let mut lobby = Lobby::open();
    let follows = serde_json::json!({ "words_follow": true });
    // Together with the question, in pieces, and much later.
    for cut in [0, 10, usize::MAX] {
        let id = crate::asker::fresh_id();
        let (question, words) = (question_with(&id, &follows), words(&id, "I build."));
        let cut = cut.min(words.len());
        let mut asker = lobby.connect();
        asker.write_all(&[&question, &words[..cut]].concat()).unwrap();
        assert!(matches!(lobby.wait_for_letter(), DeskInput::Asked { .. }));
        asker.write_all(&words[cut..]).unwrap();
        match lobby.wait_for_letter() {
            DeskInput::Said { last_words, .. } => assert_eq!(last_words, "I build."),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn words_that_nobody_announced_or_that_are_of_another_question_are_ignored() {
    let mut lobby = Lobby::open();
    let follows = serde_json::json!({ "words_follow": true });
    let id = crate::asker::fresh_id();
    let unannounced = [question_with(&id, &serde_json::json!({})), words(&id, "x")].concat();
    let id = crate::asker::fresh_id();
    let of_another = words(&crate::asker::fresh_id(), "x");
    let of_another = [question_with(&id, &follows), of_another].concat();
    let id = crate::asker::fresh_id();
    let too_long = words(&id, &"x".repeat(MAX_WORDS_LINE + 1));
    let too_long = [question_with(&id, &follows), too_long].concat();
    let mut askers = Vec::new();
    for bytes in [unannounced, of_another, too_long, question()] {
        let mut asker = lobby.connect();
        asker.write_all(&bytes).unwrap();
        askers.push(asker);
    }
    for _ in &askers {
        assert!(matches!(lobby.wait_for_letter(), DeskInput::Asked { .. }));
    }
    assert!(!askers.iter_mut().any(is_closed), "the questions stay open");
}

/// Whoever runs the call may read it differently than the rules.
#[test]
fn a_line_that_can_be_read_in_two_ways_is_denied_without_the_rules() {
    let mut lobby = Lobby::open();
    let line = String::from_utf8(question()).unwrap();
    for kind in ["ask", "check"] {
        for (from, to, reason) in [
            ("\"make\"", "\"make \\ud800\"", "half of a surrogate pair"),
            ("{", "{\"tool_input\":{},", "the same key twice"),
            ("\"make\"", "\"make\",\"n\":1e400", "too large or too precise"),
        ] {
            let line =
                line.replacen(from, to, 1).replacen('{', &format!("{{\"kind\":\"{kind}\","), 1);
            let mut asker = lobby.connect();
            asker.write_all(line.as_bytes()).unwrap();
            match lobby.wait_for_letter() {
                DeskInput::Asked { ruling: Ruling::Deny { because }, .. } => {
                    assert!(because.contains(reason), "{because}");
                }
                other => panic!("{line}: {other:?}"),
            }
        }
    }
}
