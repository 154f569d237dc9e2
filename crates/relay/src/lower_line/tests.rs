//! The end at the box, with a fake clock.

use serde_json::{Value, json};

use super::*;

const ID: &str = "6f9619ff-8b86-4d01-b42d-00c04fc964ff";

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn line(value: &Value) -> LineArrival {
    LineArrival::Line(value.to_string().into_bytes())
}

fn hello(protocol: u64) -> Value {
    json!({ "kind": "hello", "protocol": protocol, "version": "9", "name": "laptop" })
}

fn begun() -> LowerLine {
    let hello = BoxHello {
        protocol: PROTOCOL,
        version: "1".to_owned(),
        host: "box".to_owned(),
        user: "bo".to_owned(),
        home: "/home/bo".to_owned(),
    };
    let (lower, acts) = LowerLine::begin(at(0), hello);
    assert!(matches!(&acts[..], [LowerAct::Send(RelayReport::Hello(_))]));
    lower
}

fn joined() -> LowerLine {
    let mut lower = begun();
    let acts = lower.handle_arrival(at(0), &line(&hello(PROTOCOL)));
    assert!(matches!(&acts[..], [LowerAct::Join(upper)] if upper.name == "laptop"), "{acts:?}");
    lower
}

fn question() -> RelayedQuestion {
    question_of(ID)
}

fn question_of(id: &str) -> RelayedQuestion {
    let line = json!({ "kind": "question", "ruling": "ask", "seconds": 60, "request": {
        "request_id": id, "tool_name": "Bash", "tool_input": {}, "cwd": "/w", "session_id": "s" } });
    match RelayReport::decode(line.to_string().as_bytes()) {
        Ok(RelayReport::Question(question)) => *question,
        other => panic!("{other:?}"),
    }
}

fn entry(seq: u64, bytes: usize) -> WatchedEntry {
    let body = serde_json::value::to_raw_value(&json!({ "text": "x".repeat(bytes) })).unwrap();
    let (kind, hash) = ("checked".to_owned(), "0".repeat(64));
    WatchedEntry { seq, at_ms: 0, kind, question: None, hash, body }
}

#[test]
fn a_question_is_sent_once_and_closed_once() {
    let mut lower = joined();
    let id = RequestId::parse(ID).unwrap();
    let acts = lower.sync_questions(vec![question()], Vec::new(), Vec::new());
    let [LowerAct::Send(RelayReport::Question(_)), LowerAct::Send(RelayReport::Synced { open })] =
        &acts[..]
    else {
        panic!("{acts:?}")
    };
    assert_eq!(open, std::slice::from_ref(&id));
    assert!(lower.report_question(question()).is_none(), "it was sent with the others");
    assert!(lower.report_words(&id, "I build.".to_owned()).is_some());
    let closed = || ClosedOutcome {
        question: id.clone(),
        decision: None,
        by: None,
        text: "The agent went away".to_owned(),
    };
    assert!(lower.report_closed(closed()).is_some());
    assert!(lower.report_closed(closed()).is_none());
    assert!(lower.report_words(&id, "too late".to_owned()).is_none());
}

/// Returns the ids of the questions that are to be asked again.
fn asked_again(acts: &[LowerAct]) -> Vec<&RequestId> {
    let again = acts.iter().filter_map(|act| match act {
        LowerAct::AskAgain(id) => Some(id),
        _ => None,
    });
    again.collect()
}

#[test]
fn a_question_for_which_there_is_no_room_above_is_asked_again() {
    let mut lower = joined();
    let id = RequestId::parse(ID).unwrap();
    lower.sync_questions(vec![question()], Vec::new(), Vec::new());
    let no_room = line(&json!({ "kind": "error", "text": "too many", "question": ID }));
    let acts = lower.handle_arrival(at(1), &no_room);
    assert!(matches!(&acts[..], [LowerAct::Warn(_)]), "{acts:?}");
    assert_eq!(lower.next_alarm(), at(4));
    assert_eq!(asked_again(&lower.handle_time(at(3))), Vec::<&RequestId>::new());
    assert_eq!(asked_again(&lower.handle_time(at(4))), [&id]);
    assert!(lower.report_question(question()).is_some());
    // There is still no room, which was reported, and then it is over.
    assert!(lower.handle_arrival(at(4), &no_room).is_empty());
    let text = "The agent went away".to_owned();
    let closed = ClosedOutcome { question: id, decision: None, by: None, text };
    assert!(lower.report_closed(closed).is_none(), "the desk above does not have it");
    assert_eq!(asked_again(&lower.handle_time(at(8))), Vec::<&RequestId>::new());
}

#[test]
fn no_more_questions_are_sent_than_there_is_room_for_above() {
    let ids: Vec<String> =
        (0..3000).map(|number| format!("6f9619ff-8b86-4d01-b42d-{number:012}")).collect();
    let mut lower = joined();
    let open = ids.iter().map(|id| question_of(id)).collect();
    let acts = lower.sync_questions(open, Vec::new(), Vec::new());
    assert_eq!(acts.len(), MOST_QUESTIONS + 1);
    let Some(LowerAct::Send(synced)) = acts.last() else { panic!("{:?}", acts.last()) };
    let synced = RelayReport::decode(&synced.to_line()).unwrap();
    assert!(matches!(synced, RelayReport::Synced { open } if open.len() == MOST_IDS));
    assert_eq!(asked_again(&lower.handle_time(at(4))), Vec::<&RequestId>::new(), "no room");
    let question = RequestId::parse(&ids[0]).unwrap();
    let closed = ClosedOutcome { question, decision: None, by: None, text: String::new() };
    assert!(lower.report_closed(closed).is_some());
    let acts = lower.handle_time(at(8));
    assert_eq!(asked_again(&acts), [&RequestId::parse(&ids[MOST_QUESTIONS]).unwrap()]);
}

#[test]
fn wrong_orders_change_nothing_and_are_told() {
    let mut lower = begun();
    let answer = json!({ "kind": "answer", "question": ID,
        "answer": { "decision": "allow", "by": "Ada" } });
    let is_refused = |acts: &[LowerAct]| {
        matches!(acts, [LowerAct::Send(RelayReport::Error { .. }), LowerAct::Warn(_)])
    };
    assert!(is_refused(&lower.handle_arrival(at(1), &line(&answer))), "before the hello");
    lower.handle_arrival(at(1), &line(&hello(PROTOCOL)));
    let acts = lower.handle_arrival(at(1), &line(&answer));
    assert!(matches!(&acts[..], [LowerAct::Answer { .. }]), "{acts:?}");
    for wrong in [
        json!({ "kind": "launch" }),
        json!([]),
        hello(PROTOCOL),
        json!({ "kind": "answer", "question": "x", "answer": {} }),
        json!({ "kind": "answer", "question": ID, "answer": { "decision": "allow" } }),
        json!({ "kind": "ack", "seq": -1 }),
    ] {
        let acts = lower.handle_arrival(at(1), &line(&wrong));
        assert!(is_refused(&acts), "{wrong}: {acts:?}");
    }
    assert!(is_refused(&lower.handle_arrival(at(1), &LineArrival::TooLong { size: 1 })));
}

#[test]
fn another_version_is_refused_on_both_sides() {
    let acts = begun().handle_arrival(at(1), &line(&hello(PROTOCOL + 1)));
    let [LowerAct::Send(RelayReport::Error { text }), LowerAct::End(why)] = &acts[..] else {
        panic!("{acts:?}")
    };
    assert_eq!(text, why);
    assert!(text.contains("install the same callgate on both"), "{text}");
}

#[test]
fn entries_wait_for_receipts() {
    let mut lower = joined();
    assert!(lower.takes_entries());
    lower.report_entry(entry(1, MOST_UNACKED / 2));
    assert!(lower.takes_entries());
    lower.report_entry(entry(2, MOST_UNACKED / 2));
    assert!(!lower.takes_entries());
    lower.handle_arrival(at(1), &line(&json!({ "kind": "ack", "seq": 1 })));
    assert!(lower.takes_entries());
    lower.report_entry(entry(3, 2 * MOST_UNACKED));
    assert!(!lower.takes_entries(), "one that is larger than the room is sent alone");
    lower.handle_arrival(at(1), &line(&json!({ "kind": "ack", "seq": u64::MAX })));
    assert!(lower.takes_entries());
}

#[test]
fn beats_are_sent_and_a_silent_desk_ends_the_line() {
    let mut lower = joined();
    assert_eq!(lower.next_alarm(), at(5));
    assert!(matches!(&lower.handle_time(at(5))[..], [LowerAct::Send(RelayReport::Beat)]));
    lower.note_sent(at(5));
    assert!(lower.handle_time(at(9)).is_empty());
    lower.note_heard(at(10));
    lower.note_sent(at(20));
    assert!(lower.handle_time(at(24)).is_empty());
    assert!(matches!(&lower.handle_time(at(25))[..], [LowerAct::End(_)]));
}
