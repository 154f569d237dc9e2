//! The end at the desk above, with a fake clock.

use callgate_wire::approval::{AllowDemands, Decision};
use callgate_wire::relay::{MAX_LINE, MOST_QUESTIONS};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn id(number: u64) -> String {
    format!("6f9619ff-8b86-4d01-b42d-{number:012}")
}

fn request_id(number: u64) -> RequestId {
    RequestId::parse(&id(number)).unwrap()
}

fn line(value: &Value) -> LineArrival {
    LineArrival::Line(value.to_string().into_bytes())
}

fn hello(protocol: u64) -> Value {
    json!({ "kind": "hello", "protocol": protocol, "version": "9", "host": "b", "user": "bo",
        "home": "/home/bo" })
}

fn question(number: u64) -> Value {
    json!({ "kind": "question", "ruling": "ask", "seconds": 60, "request": {
        "request_id": id(number), "tool_name": "Bash", "tool_input": { "command": "make" },
        "cwd": "/w", "session_id": "s" } })
}

fn yes() -> RelayedAnswer {
    RelayedAnswer {
        decision: Decision::Allow,
        by: "Ada".to_owned(),
        members: Vec::new(),
        message: None,
        offer: None,
        picks: None,
        words: None,
        edited: None,
        interrupt: false,
        met: AllowDemands::default(),
    }
}

/// A line on which hellos were exchanged.
fn connected() -> UpperLine {
    let mut upper = UpperLine::new("laptop");
    reconnect(&mut upper, at(0));
    upper
}

fn reconnect(upper: &mut UpperLine, now: Duration) {
    upper.connect(now, None);
    let acts = upper.handle_arrival(now, &line(&hello(PROTOCOL)));
    assert!(matches!(&acts[..], [UpperAct::Connected(_)]), "{acts:?}");
}

/// What is to be done, in short.
fn told(acts: &[UpperAct]) -> Vec<String> {
    let short = |act: &UpperAct| match act {
        UpperAct::Send(RelayOrder::Answer { answer, .. }) => format!("answer {}", answer.decision),
        UpperAct::Send(RelayOrder::Error { .. }) => "error".to_owned(),
        UpperAct::Send(order) => format!("{order:?}").split([' ', '(']).next().unwrap().to_owned(),
        UpperAct::Ask(_) => "ask".to_owned(),
        UpperAct::Withdraw { text, .. } => format!("withdraw: {text}"),
        UpperAct::Lost { text, .. } => format!("lost: {text}"),
        UpperAct::Defer(_) => "defer".to_owned(),
        UpperAct::Delivered(_) => "delivered".to_owned(),
        UpperAct::Warn(text) => format!("warn: {text}"),
        UpperAct::Synced(_) => "synced".to_owned(),
        UpperAct::End(why) => format!("end: {why}"),
        other => format!("{other:?}"),
    };
    acts.iter().map(short).collect()
}

fn say(upper: &mut UpperLine, value: &Value) -> Vec<String> {
    told(&upper.handle_arrival(at(1), &line(value)))
}

#[test]
fn a_question_is_asked_answered_and_delivered() {
    let mut upper = connected();
    assert_eq!(say(&mut upper, &question(1)), ["ask"]);
    assert_eq!(told(&upper.answer_question(&request_id(1), Some(yes()))), ["answer allow"]);
    let done = json!({ "kind": "told", "question": id(1), "done": true, "text": "Allowed" });
    assert_eq!(say(&mut upper, &done), ["delivered"]);
    assert_eq!(say(&mut upper, &done), [""; 0], "once");
}

#[test]
fn a_question_survives_a_cut_and_so_does_an_answer_given_meanwhile() {
    let mut upper = connected();
    say(&mut upper, &question(1));
    say(&mut upper, &question(2));
    assert_eq!(told(&upper.disconnect()), [""; 0]);
    assert_eq!(told(&upper.answer_question(&request_id(1), Some(yes()))), ["defer"]);
    let acts = upper.connect(at(100), None);
    let [UpperAct::Send(RelayOrder::Hello(hello_again))] = &acts[..] else { panic!("{acts:?}") };
    assert_eq!(hello_again.held, [request_id(1), request_id(2)]);
    upper.handle_arrival(at(100), &line(&hello(PROTOCOL)));
    // The first is open still; the second was answered at the box.
    assert_eq!(say(&mut upper, &question(1)), ["answer allow"]);
    let closed = json!({ "kind": "closed", "question": id(2), "text": "Denied by Bob" });
    assert_eq!(say(&mut upper, &closed), ["withdraw: Denied by Bob"]);
    assert_eq!(say(&mut upper, &json!({ "kind": "synced", "open": [id(1)] })), ["synced"]);
    let done = json!({ "kind": "told", "question": id(1), "done": true, "text": "Allowed" });
    assert_eq!(say(&mut upper, &done), ["delivered"]);
}

#[test]
fn an_answer_whose_receipt_was_cut_off_is_known_by_its_outcome() {
    for (by, expected) in [("Ada at laptop", "delivered"), ("Bob", "lost: It is over")] {
        let mut upper = connected();
        say(&mut upper, &question(1));
        upper.answer_question(&request_id(1), Some(yes()));
        assert_eq!(told(&upper.disconnect()), ["defer"], "nobody knows whether it has arrived");
        assert_eq!(told(&upper.disconnect()), [""; 0], "once");
        reconnect(&mut upper, at(50));
        let closed = json!({ "kind": "closed", "question": id(1), "decision": "allow", "by": by,
            "text": "It is over" });
        assert_eq!(say(&mut upper, &closed), [expected]);
    }
}

#[test]
fn what_the_box_no_longer_has_is_withdrawn() {
    let mut upper = connected();
    say(&mut upper, &question(1));
    upper.disconnect();
    reconnect(&mut upper, at(50));
    let acts = say(&mut upper, &json!({ "kind": "synced", "open": [] }));
    assert_eq!(acts, ["synced", "withdraw: It is over on its machine"]);
    assert!(!upper.holds(&request_id(1)));
}

#[test]
fn wrong_input_changes_nothing_and_is_told() {
    let mut upper = connected();
    say(&mut upper, &question(1));
    let wrong = [
        json!({ "kind": "launch" }),
        json!({ "no": "kind" }),
        json!({ "kind": "question", "ruling": "allow", "seconds": 1, "request": {} }),
        json!({ "kind": "told", "question": "not an id", "done": true, "text": "" }),
        json!({ "kind": "entry", "entry": { "seq": "one" } }),
        hello(PROTOCOL),
        question(1),
    ];
    for wrong in &wrong {
        let acts = say(&mut upper, wrong);
        assert!(acts[0] == "error" && acts[1].starts_with("warn: it sent"), "{wrong}: {acts:?}");
    }
    // What is said about questions that were never asked here is nothing.
    for forged in [
        json!({ "kind": "told", "question": id(1), "done": true, "text": "" }),
        json!({ "kind": "told", "question": id(9), "done": true, "text": "" }),
        json!({ "kind": "closed", "question": id(9), "text": "" }),
        json!({ "kind": "said", "question": id(9), "last_words": "x" }),
    ] {
        assert_eq!(say(&mut upper, &forged), [""; 0], "{forged}");
    }
    let long = upper.handle_arrival(at(1), &LineArrival::TooLong { size: MAX_LINE + 1 });
    assert_eq!(told(&long)[0], "error");
    assert!(upper.holds(&request_id(1)) && !upper.holds(&request_id(9)));
    let mut last = Vec::new();
    for _ in 0..=MOST_WRONG {
        last = say(&mut upper, &wrong[0]);
    }
    assert_eq!(last, ["end: it sends too much that is wrong"]);
}

#[test]
fn another_version_is_refused_and_nothing_precedes_the_hello() {
    let mut upper = UpperLine::new("laptop");
    upper.connect(at(0), None);
    assert_eq!(say(&mut upper, &question(1))[0], "error");
    assert!(!upper.holds(&request_id(1)));
    let acts = say(&mut upper, &hello(PROTOCOL + 1));
    assert!(acts[0].starts_with("end: it speaks version 2 of the relay protocol"), "{acts:?}");
}

#[test]
fn no_more_questions_are_open_than_there_is_room_for() {
    let mut upper = connected();
    for number in 0..MOST_QUESTIONS as u64 {
        assert_eq!(say(&mut upper, &question(number)), ["ask"]);
    }
    assert_eq!(say(&mut upper, &question(99_999))[0], "error");
    let acts = told(&upper.withdraw_all("It was removed"));
    assert_eq!((acts.len(), &*acts[0]), (MOST_QUESTIONS, "withdraw: It was removed"));
}

#[test]
fn more_questions_than_there_is_room_for_do_not_end_the_line() {
    let mut upper = connected();
    let all = MOST_QUESTIONS as u64 + 2 * MOST_WRONG as u64;
    let asked: Vec<Vec<String>> =
        (0..all).map(|number| say(&mut upper, &question(number))).collect();
    let first_refused = &asked[MOST_QUESTIONS];
    let why = "too many of its questions are open";
    assert_eq!(*first_refused, ["error", &format!("warn: questions wait at their machine: {why}")]);
    assert!(asked[MOST_QUESTIONS + 1..].iter().all(|acts| acts == &["error"]), "it is told once");
    let open: Vec<String> = (0..all).map(id).collect();
    assert_eq!(say(&mut upper, &json!({ "kind": "synced", "open": open })), ["synced"]);
    // A question that was sent back is new when it comes again.
    let last = question(all - 1);
    let acts = upper.handle_arrival(at(1), &line(&last));
    let [UpperAct::Send(RelayOrder::Error { question: refused, .. })] = &acts[..] else {
        panic!("{acts:?}")
    };
    assert_eq!(*refused, Some(request_id(all - 1)));
    let closed = json!({ "kind": "closed", "question": id(1), "text": "over" });
    assert_eq!(say(&mut upper, &closed), ["withdraw: over"]);
    assert_eq!(say(&mut upper, &last), ["ask"]);
}

#[test]
fn the_runs_of_one_job_share_the_room_for_its_questions() {
    let room = Arc::new(QuestionRoom::default());
    let run = || {
        let mut upper = UpperLine::new("desk").without_copy().in_room(Arc::clone(&room));
        reconnect(&mut upper, at(0));
        upper
    };
    let (mut first, mut second) = (run(), run());
    for number in 0..MOST_QUESTIONS as u64 {
        let one = if number % 2 == 0 { &mut first } else { &mut second };
        assert_eq!(say(one, &question(number)), ["ask"]);
    }
    assert_eq!(say(&mut second, &question(99_999))[0], "error");
    // A run that ends leaves its room.
    drop(first);
    assert_eq!(say(&mut second, &question(99_999)), ["ask"]);
}

#[test]
fn errors_of_a_box_are_told_but_not_for_ever() {
    let mut upper = connected();
    let error = json!({ "kind": "error", "text": "no" });
    for _ in 0..MOST_WRONG {
        assert_eq!(say(&mut upper, &error), ["warn: no"]);
    }
    assert_eq!(say(&mut upper, &error), ["end: it sends too much that is wrong"]);
}

#[test]
fn a_copy_begins_anew_once_and_not_in_the_middle() {
    let mut upper = connected();
    let anew = json!({ "kind": "anew", "text": "it was pruned" });
    assert_eq!(say(&mut upper, &anew), ["warn: it was pruned"]);
    assert!(say(&mut upper, &anew)[1].contains("in the middle of the copy"));
    reconnect(&mut upper, at(2));
    let entry = json!({ "seq": 1, "at_ms": 1, "kind": "started", "question": null, "hash": "0", "body": {} });
    assert_eq!(say(&mut upper, &json!({ "kind": "entry", "entry": entry })), [""; 0]);
    assert!(say(&mut upper, &anew)[1].contains("in the middle of the copy"));
}

#[test]
fn the_questions_of_one_box_leave_room_for_others() {
    let mut upper = connected();
    let mut large = question(1);
    large["request"]["tool_input"]["command"] = json!("x".repeat(4_000_000));
    for number in 1..=16 {
        large["request"]["request_id"] = json!(id(number));
        assert_eq!(say(&mut upper, &large), ["ask"], "{number}");
    }
    large["request"]["request_id"] = json!(id(17));
    assert_eq!(say(&mut upper, &large)[0], "error");
    assert_eq!(say(&mut upper, &question(99)), ["ask"], "a small one fits");
    // One that is over leaves its room.
    let closed = json!({ "kind": "closed", "question": id(1), "text": "over" });
    assert_eq!(say(&mut upper, &closed), ["withdraw: over"]);
    assert_eq!(say(&mut upper, &large), ["ask"]);
}

/// Asks a question and closes it, again and again. Returns how many were asked until one was
/// refused.
fn ask_until_refused(upper: &mut UpperLine, now: Duration, first: u64, command: &str) -> u64 {
    let mut asked = question(first);
    asked["request"]["tool_input"]["command"] = json!(command);
    let refused = (first..first + 1_000_000).find(|number| {
        asked["request"]["request_id"] = json!(id(*number));
        let closed = json!({ "kind": "closed", "question": id(*number), "text": "over" });
        let acts = told(&upper.handle_arrival(now, &line(&asked)));
        upper.handle_arrival(now, &line(&closed));
        if acts[0] == "error" {
            // It is told once for a line.
            let told =
                "warn: questions wait at their machine: it asks faster than anybody can answer";
            assert!(acts.get(1).is_none_or(|warning| warning == told), "{acts:?}");
        }
        acts != ["ask"]
    });
    refused.unwrap() - first
}

#[test]
fn questions_do_not_come_faster_than_anybody_can_answer_them() {
    let mut upper = connected();
    assert_eq!(ask_until_refused(&mut upper, at(1), 1, "make"), 2048);
    // Another line is no way around it, and time is.
    upper.disconnect();
    reconnect(&mut upper, at(1));
    assert_eq!(ask_until_refused(&mut upper, at(1), 10_000, "make"), 0);
    assert_eq!(ask_until_refused(&mut upper, at(11), 20_000, "make"), 40);
    // What is longer counts for more.
    let long = "x".repeat(64 * 1024 * 3);
    assert_eq!(ask_until_refused(&mut upper, at(21), 30_000, &long), 10);
}

#[test]
fn all_runs_of_a_job_ask_at_one_pace() {
    let room = Arc::new(QuestionRoom::default());
    let run = |first| {
        let mut upper = UpperLine::new("desk").without_copy().in_room(Arc::clone(&room));
        reconnect(&mut upper, at(1));
        ask_until_refused(&mut upper, at(1), first, "make")
    };
    assert_eq!((run(1), run(10_000)), (2048, 0));
}

#[test]
fn the_last_words_of_a_question_come_a_few_times_at_most() {
    let mut upper = connected();
    say(&mut upper, &question(1));
    let words = json!({ "kind": "said", "question": id(1), "last_words": "All tests pass." });
    for _ in 0..4 {
        assert!(say(&mut upper, &words)[0].starts_with("AddWords"));
    }
    let acts = say(&mut upper, &words);
    assert_eq!(
        acts[1],
        "warn: it sent something wrong: it sends the last words of a question too often"
    );
    // It is open as before.
    assert_eq!(told(&upper.answer_question(&request_id(1), Some(yes()))), ["answer allow"]);
}

#[test]
fn a_question_that_nobody_was_asked_is_new_when_it_comes_again() {
    let mut upper = connected();
    say(&mut upper, &question(1));
    say(&mut upper, &question(2));
    upper.disconnect();
    upper.retain_questions(|id| *id == request_id(1));
    let acts = upper.connect(at(50), None);
    let [UpperAct::Send(RelayOrder::Hello(again))] = &acts[..] else { panic!("{acts:?}") };
    assert_eq!(again.held, [request_id(1)]);
    upper.handle_arrival(at(50), &line(&hello(PROTOCOL)));
    assert_eq!(say(&mut upper, &question(1)), [""; 0], "it is known");
    assert_eq!(say(&mut upper, &question(2)), ["ask"]);
}

#[test]
fn no_text_is_longer_than_its_limit() {
    let text = "x".repeat(64 * 1024 + 1);
    // As much as a line takes, and as a request does not.
    let (most, large) = ("x".repeat(MAX_LINE - 200), "x".repeat(4 * 1024 * 1024));
    let mut upper = connected();
    say(&mut upper, &question(1));
    let mut wrong = vec![
        json!({ "kind": "said", "question": id(1), "last_words": most }),
        json!({ "kind": "said", "question": id(1), "last_words": text }),
        json!({ "kind": "closed", "question": id(1), "text": text }),
        json!({ "kind": "closed", "question": id(1), "by": text, "text": "x" }),
        json!({ "kind": "told", "question": id(1), "done": true, "text": text }),
        json!({ "kind": "waiting", "text": text }),
        json!({ "kind": "error", "text": text }),
        json!({ "kind": "granted", "token": text }),
    ];
    let asked = |change: &dyn Fn(&mut Value)| {
        let mut asked = question(2);
        change(&mut asked);
        asked
    };
    wrong.push(asked(&|it| it["because"] = json!(text)));
    wrong.push(asked(&|it| it["request"]["tool_input"]["command"] = json!(large)));
    wrong.push(asked(&|it| it["request"]["context"] = json!({ "last_words": large })));
    for name in ["cwd", "tool_name", "session_id", "agent"] {
        wrong.push(asked(&|it| it["request"][name] = json!(text)));
    }
    for name in ["event", "mode", "prompt_id", "agent_id", "tool_use_id", "settings_folder"] {
        wrong.push(asked(&|it| it["request"]["context"] = json!({ name: text })));
    }
    for wrong in &wrong {
        let acts = say(&mut upper, wrong);
        assert_eq!(acts[0], "error", "{:.80}: {acts:?}", wrong.to_string());
    }
    assert!(upper.holds(&request_id(1)) && !upper.holds(&request_id(2)));
}

#[test]
fn a_line_without_a_copy_takes_no_entry() {
    let mut upper = UpperLine::new("desk").without_copy();
    let acts = upper.connect(at(0), None);
    assert!(matches!(&acts[..], [UpperAct::Send(RelayOrder::Hello(hello))] if hello.no_copy));
    upper.handle_arrival(at(0), &line(&hello(PROTOCOL)));
    let entry = json!({ "seq": 1, "at_ms": 1, "kind": "started", "question": null, "hash": "0", "body": {} });
    let said = say(&mut upper, &json!({ "kind": "entry", "entry": entry }));
    assert!(said[1].contains("not copied"), "{said:?}");
    assert!(upper.take_entries().is_none());
}

#[test]
fn a_box_that_drips_bytes_and_says_no_hello_is_ended() {
    let mut upper = UpperLine::new("desk");
    upper.connect(at(0), None);
    upper.note_heard(at(14));
    upper.note_sent(at(14));
    assert!(upper.handle_time(at(14)).is_empty());
    assert!(
        matches!(&upper.handle_time(at(15))[..], [UpperAct::End(why)] if why.contains("hello"))
    );
}

#[test]
fn beats_are_sent_and_a_silent_box_is_noticed() {
    let mut upper = connected();
    assert_eq!(upper.next_alarm(), Some(at(5)));
    assert_eq!(told(&upper.handle_time(at(5))), ["Beat"]);
    upper.note_sent(at(5));
    assert_eq!(told(&upper.handle_time(at(9))), [""; 0]);
    upper.note_sent(at(10));
    assert_eq!(told(&upper.handle_time(at(15))), ["end: it is silent"]);
    upper.handle_arrival(at(14), &line(&json!({ "kind": "beat" })));
    assert_eq!(told(&upper.handle_time(at(15))), ["Beat"]);
    upper.disconnect();
    assert_eq!((upper.next_alarm(), told(&upper.handle_time(at(999))).len()), (None, 0));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic_or_ask(bytes: Vec<u8>) {
        let mut upper = connected();
        let acts = upper.handle_arrival(at(1), &LineArrival::Line(bytes));
        prop_assert!(!acts.iter().any(|act| matches!(act, UpperAct::Ask(_))));
    }
}
