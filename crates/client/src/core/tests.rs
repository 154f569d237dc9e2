//! What is done in which situation, as short texts.

mod property;

use std::os::unix::process::ExitStatusExt;

use callgate_wire::frame::OverlongLine;
use callgate_wire::session::{Attachment, LoadAs, UserMessage};
use serde_json::json;
use serde_json::value::to_raw_value;

use super::*;
use crate::RestartBackOff;

const ALL: &str = r#"["hello","cancel","replay"]"#;

/// A core at a moment, told and asked in short texts.
pub(super) struct Bench {
    pub(super) core: ClientCore,
    pub(super) now: Duration,
}

impl Bench {
    pub(super) fn new() -> Self {
        let settings = ClientSettings::new("runtime");
        Self { core: ClientCore::new(settings, "c".to_owned()), now: Duration::ZERO }
    }

    /// Creates a runtime that is ready and can do these things.
    fn ready(capabilities: &str) -> Self {
        let mut bench = Self::new();
        bench.tell(CoreInput::Begin);
        bench.tell(CoreInput::Started);
        bench.line(&format!(r#"{{"type":"ready","capabilities":{capabilities},"timestamp":1}}"#));
        bench
    }

    pub(super) fn tell(&mut self, input: CoreInput<'_>) -> String {
        let outputs = self.core.handle(self.now, input);
        outputs.iter().filter_map(show).collect::<Vec<_>>().join("; ")
    }

    fn line(&mut self, line: &str) -> String {
        self.tell(CoreInput::Line(DecodedLine::Whole(line.as_bytes())))
    }

    /// Returns the runtime says something about a request, with a number.
    fn say(&mut self, id: &str, kind: &str, seq: Option<u64>) -> String {
        let mut line = json!({"type": kind, "id": id, "timestamp": 1, "token": "x",
            "error": "no", "data": {}});
        match kind {
            "queued" => {
                line["type"] = json!("notice");
                line["data"] = json!({"kind": "queued", "text": "wait"});
            }
            "permission_request" => {
                line["data"] = json!({"question": "q", "toolId": "t", "toolName": "t",
                    "input": {}, "title": "t"});
            }
            "permission_resolved" => {
                line["data"] = json!({"question": "q", "decision": "allow", "text": "t"});
            }
            "error" => line["data"] = json!(null),
            _ => {}
        }
        if let Some(seq) = seq {
            line["seq"] = json!(seq);
        }
        self.line(&line.to_string())
    }

    fn ask(&mut self, id: &str, command: SessionCommand) -> String {
        let request = SessionRequest { id: id.to_owned(), command };
        let line = request.to_line();
        self.tell(CoreInput::Ask { request: Arc::new(request), line })
    }

    /// Asks, and lets the runtime take it.
    fn send(&mut self, id: &str, conversation: Option<&str>) {
        assert_eq!(self.ask(id, message(conversation)), format!("write user_message {id}"));
        assert_eq!(self.tell(CoreInput::Written { id }), "");
    }

    fn after(&mut self, seconds: u64) -> String {
        self.now += Duration::from_secs(seconds);
        self.tell(CoreInput::Tick)
    }

    fn exit(&mut self, signal: i32) -> String {
        let status = Some(ExitStatus::from_raw(signal));
        self.tell(CoreInput::Exited { status, last_words: None })
    }
}

pub(super) fn message(conversation: Option<&str>) -> SessionCommand {
    let metadata = conversation.map(|id| to_raw_value(&json!({"conversationId": id})).unwrap());
    SessionCommand::UserMessage(UserMessage { metadata, ..UserMessage::new("hi") })
}

fn show(output: &CoreOutput) -> Option<String> {
    Some(match output {
        CoreOutput::Start => "start".to_owned(),
        CoreOutput::End => "end".to_owned(),
        CoreOutput::Over => "over".to_owned(),
        CoreOutput::Withdraw { id } => format!("withdraw {id}"),
        CoreOutput::Write { line, of } => {
            let request = SessionRequest::decode(line).unwrap();
            assert_eq!(of.as_deref(), (!request.id.starts_with("c-own-")).then_some(&*request.id));
            match request.command {
                SessionCommand::Cancel { target } => format!("write cancel of {target}"),
                SessionCommand::Replay { from_seq } => format!("write replay from {from_seq}"),
                SessionCommand::Hello { .. } => "write hello".to_owned(),
                command => format!("write {} {}", command.kind(), request.id),
            }
        }
        CoreOutput::Happened { id, happened: RequestEvent::Said(reply), .. } => {
            assert_eq!(reply.id.as_deref(), Some(&**id));
            format!("{id} {}", reply.event.kind())
        }
        CoreOutput::Happened { id, happened: RequestEvent::Failed(error), .. } => {
            format!("{id}: {error}")
        }
        CoreOutput::Seen { what: WatchedItem::State(state), .. } => match state {
            RuntimeState::Starting => "starting".to_owned(),
            RuntimeState::Ready(_) => "ready".to_owned(),
            RuntimeState::Died { reason, .. } => format!("died: {reason}"),
            RuntimeState::Restarting { within } => format!("restarting in {within:?}"),
            RuntimeState::GivenUp => "given up".to_owned(),
            RuntimeState::Ended => "ended".to_owned(),
        },
        CoreOutput::Seen { .. } => return None,
    })
}

#[test]
fn requests_wait_for_ready_and_follow_hello() {
    let mut bench = Bench::new();
    assert_eq!(bench.tell(CoreInput::Begin), "starting; start");
    assert_eq!(bench.ask("a", message(None)), "");
    assert_eq!(bench.tell(CoreInput::Started), "");
    assert_eq!(bench.ask("b", SessionCommand::GetStatus), "");
    let ready = format!(r#"{{"type":"ready","capabilities":{ALL},"timestamp":1}}"#);
    let expected = "ready; write hello; write user_message a; write get_status b";
    assert_eq!(bench.line(&ready), expected);
    assert_eq!(bench.line(&ready), "", "a second greeting says nothing");
    assert_eq!(bench.core.passed_over.stray, 1);
}

#[test]
fn a_request_gets_what_is_said_about_it_and_one_end() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    bench.send("b", Some("other"));
    assert_eq!(bench.say("b", "token", None), "b token");
    assert_eq!(bench.say("a", "token", None), "a token");
    assert_eq!(bench.say("nobody", "token", None), "");
    assert_eq!(bench.say("a", "done", None), "a done");
    for kind in ["token", "done", "error"] {
        assert_eq!(bench.say("a", kind, None), "");
    }
    assert_eq!(bench.say("b", "error", None), "b error");
    assert_eq!(bench.core.passed_over.stray, 4);
    assert!(bench.core.open.is_empty());
}

#[test]
fn nobody_answers_what_he_cannot_have_read() {
    let mut bench = Bench::ready(ALL);
    assert_eq!(bench.ask("a", message(None)), "write user_message a");
    assert_eq!(bench.say("a", "done", None), "");
    bench.tell(CoreInput::Written { id: "a" });
    assert_eq!(bench.say("a", "done", None), "a done");
}

#[test]
fn what_a_runtime_does_not_understand_as_it_is_meant_is_not_sent() {
    let load = || SessionCommand::LoadConversation {
        conversation_id: "c".into(),
        limit: None,
        before: None,
        load_as: LoadAs::Events,
    };
    let inline = || {
        let attachment =
            Attachment::Inline { data: "aGk=".into(), mime: "text/plain".into(), name: None };
        SessionCommand::UserMessage(UserMessage {
            attachments: vec![attachment],
            ..UserMessage::new("")
        })
    };
    let mut old = Bench::ready(r#"["hello","attachments","conversations"]"#);
    let refused = old.ask("a", load());
    assert!(refused.contains("the runtime does not support `load_events`"), "{refused}");
    let refused = old.ask("b", inline());
    assert!(refused.contains("the runtime does not support `inline_attachments`"), "{refused}");
    let mut new = Bench::ready(r#"["hello","load_events","inline_attachments"]"#);
    assert_eq!(new.ask("a", load()), "write load_conversation a");
    assert_eq!(new.ask("b", inline()), "write user_message b");
}

#[test]
fn extensions_are_for_runtimes_that_have_them() {
    let mut bench = Bench::ready("[]");
    let list = SessionCommand::ListConversations { limit: None, before: None };
    let expected = "a: the runtime does not support `list_conversations`: use a newer one";
    assert_eq!(bench.ask("a", list), expected);
    bench.send("b", None);
    assert_eq!(bench.tell(CoreInput::Cancel { id: "b" }), "b: the request was cancelled");
}

#[test]
fn silence_ends_a_request_and_cancels_it() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    assert_eq!(bench.after(59), "");
    assert_eq!(bench.say("a", "token", None), "a token");
    assert_eq!(bench.core.deadline(), Some(bench.now + Duration::from_mins(1)));
    assert_eq!(bench.after(59), "");
    assert_eq!(bench.after(1), "write cancel of a; a: no event for 60 s");
    assert_eq!(bench.say("a", "token", None), "", "what comes later is passed over");
    assert_eq!(bench.say("a", "done", None), "");
    assert_eq!(bench.core.deadline(), None);
}

#[test]
fn a_message_of_a_later_version_is_no_silence() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    bench.after(59);
    assert_eq!(bench.line(r#"{"type":"dance","id":"a","timestamp":1,"seq":4}"#), "");
    assert_eq!(bench.after(59), "");
    assert_eq!(bench.core.passed_over.unknown, 1);
}

#[test]
fn who_queues_does_not_time_out() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", Some("one"));
    bench.send("b", Some("one"));
    bench.send("c", Some("two"));
    assert_eq!(bench.say("c", "queued", None), "c notice");
    for _ in 0..10 {
        assert_eq!(bench.after(59), "");
        bench.say("a", "token", None);
    }
    assert_eq!(bench.say("a", "done", None), "a done");
    assert_eq!(bench.after(59), "", "the time of b begins with its turn");
    assert_eq!(bench.after(1), "write cancel of b; b: no event for 60 s");
    assert_eq!(bench.say("c", "token", None), "c token");
    assert_eq!(bench.after(60), "write cancel of c; c: no event for 60 s");
}

#[test]
fn the_current_conversation_may_be_any() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    bench.send("b", Some("one"));
    bench.after(59);
    bench.say("a", "token", None);
    assert_eq!(bench.after(59), "");
    // A question that is not worked on in turns does not queue.
    bench.ask("s", SessionCommand::GetStatus);
    bench.tell(CoreInput::Written { id: "s" });
    bench.say("a", "token", None);
    bench.after(59);
    bench.say("a", "token", None);
    assert_eq!(bench.after(1), "s: no event for 60 s");
}

#[test]
fn an_open_question_stops_the_clock() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    assert_eq!(bench.say("a", "permission_request", None), "a permission_request");
    assert_eq!(bench.core.deadline(), None);
    assert_eq!(bench.after(100_000), "");
    assert_eq!(bench.say("a", "permission_resolved", None), "a permission_resolved");
    assert_eq!(bench.after(59), "");
    assert_eq!(bench.after(1), "write cancel of a; a: no event for 60 s");
}

#[test]
fn so_many_questions_are_remembered_and_no_more() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    let mut ask = |question: &str| {
        let data = json!({"question": question, "toolId": "t", "toolName": "t", "input": {},
            "title": "t"});
        let line = json!({"type": "permission_request", "id": "a", "data": data, "timestamp": 1});
        assert_eq!(bench.line(&line.to_string()), "a permission_request");
        bench.core.open[0].questions.len()
    };
    assert_eq!(ask(&"q".repeat(257)), 0);
    for number in 0..100 {
        assert_eq!(ask(&number.to_string()), 64.min(number + 1));
    }
}

#[test]
fn a_pause_of_ours_is_no_silence_of_the_runtime() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    bench.after(30);
    bench.tell(CoreInput::Paused);
    assert_eq!(bench.after(300), "");
    bench.tell(CoreInput::Resumed);
    assert_eq!(bench.after(29), "");
    assert_eq!(bench.after(1), "write cancel of a; a: no event for 60 s");
}

#[test]
fn a_request_that_is_not_taken_fails() {
    let mut bench = Bench::ready(ALL);
    bench.ask("a", message(None));
    let failed = "a: the runtime did not read the request within 30 s";
    assert_eq!(bench.after(30), format!("withdraw a; {failed}"));
    assert_eq!(bench.tell(CoreInput::Written { id: "a" }), "write cancel of a", "half was written");
    let mut bench = Bench::new();
    bench.tell(CoreInput::Begin);
    bench.ask("a", message(None));
    assert_eq!(bench.after(30), failed);
}

#[test]
fn cancelling_waits_for_the_runtime_but_not_for_ever() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    assert_eq!(bench.tell(CoreInput::Cancel { id: "a" }), "write cancel of a");
    assert_eq!(bench.tell(CoreInput::Cancel { id: "a" }), "");
    assert_eq!(bench.say("a", "done", None), "a done");
    bench.send("b", None);
    bench.tell(CoreInput::Cancel { id: "b" });
    assert_eq!(bench.after(10), "b: the request was cancelled");
    bench.ask("c", message(None));
    assert_eq!(
        bench.tell(CoreInput::Cancel { id: "c" }),
        "withdraw c; c: the request was cancelled"
    );
    assert_eq!(bench.tell(CoreInput::Cancel { id: "nobody" }), "");
    bench.send("d", None);
    let not_read = "d: the request was cancelled, because its events were not read for 10 s: \
        read them, or detach the request";
    assert_eq!(
        bench.tell(CoreInput::NotRead { id: "d" }),
        format!("write cancel of d; {not_read}")
    );
}

#[test]
fn the_end_of_the_process_ends_every_request_at_once() {
    let died = "the runtime has ended (signal: 9 (SIGKILL))";
    let again = "it is being restarted: send the request again";
    let ends =
        format!("a: {died}; {again}; b: {died}; {again}; end; died: {died}; restarting in 200ms");
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    bench.ask("b", message(None));
    assert_eq!(bench.tell(CoreInput::PipeClosed), "");
    assert_eq!(bench.exit(9), ends);
    // In the other order, what is still in the pipe counts.
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    bench.ask("b", message(None));
    assert_eq!(bench.exit(9), "");
    assert_eq!(bench.say("a", "token", None), "a token");
    assert_eq!(bench.tell(CoreInput::PipeClosed), ends);
    assert_eq!(bench.after(1), "starting; start");
    assert_eq!(bench.core.epoch, 2);
}

#[test]
fn a_pipe_that_somebody_else_holds_is_not_waited_for() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    assert_eq!(bench.exit(0), "");
    let text = bench.after(1);
    assert!(text.starts_with("a: the runtime has ended (exit status: 0)"), "{text}");
}

#[test]
fn a_process_without_its_pipes_is_ended_before_another_starts() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    assert_eq!(bench.tell(CoreInput::PipeClosed), "");
    let reason = "the runtime has closed its pipes";
    let failed = format!("a: {reason}; it is being restarted: send the request again");
    assert_eq!(bench.after(1), format!("{failed}; end"));
    assert_eq!(bench.say("a", "token", None), "");
    assert_eq!(bench.ask("b", message(None)), "", "it waits for the next process");
    assert_eq!(bench.exit(15), format!("died: {reason}; restarting in 200ms"));
    assert_eq!(bench.after(1), "starting; start");
    // One that cannot be ended is left behind.
    let mut bench = Bench::ready(ALL);
    bench.tell(CoreInput::PipeClosed);
    assert_eq!(bench.after(1), "end");
    assert_eq!(bench.after(20), format!("died: {reason}; restarting in 200ms"));
}

#[test]
fn a_runtime_that_is_never_ready_is_ended() {
    let mut bench = Bench::new();
    bench.tell(CoreInput::Begin);
    bench.tell(CoreInput::Started);
    bench.ask("a", message(None));
    let reason = "the runtime did not become ready within 20s";
    let failed = format!("a: {reason}; it is being restarted: send the request again");
    assert_eq!(bench.after(20), format!("{failed}; end"));
    assert_eq!(bench.exit(15), format!("died: {reason}; restarting in 200ms"));
}

#[test]
fn a_runtime_of_another_version_is_ended() {
    let begin = |version: &str| {
        let mut bench = Bench::new();
        bench.tell(CoreInput::Begin);
        bench.tell(CoreInput::Started);
        let told = bench.line(&format!(r#"{{"type":"ready","version":{version},"timestamp":1}}"#));
        (bench, told)
    };
    for fitting in [r#""1.0.0""#, r#""1.7.2""#, r#""1""#, "null"] {
        assert_eq!(begin(fitting).1, "ready", "{fitting}");
    }
    let (mut bench, told) = begin(r#""2.0.0""#);
    assert_eq!(told, "end");
    let reason = "the runtime speaks version 2.0.0 of the session protocol, but this program speaks \
                  1.0.0: install both from one release";
    assert_eq!(bench.exit(15), format!("died: {reason}; restarting in 200ms"));
}

#[test]
fn deaths_in_a_row_are_waited_for_longer() {
    let mut bench = Bench::new();
    bench.tell(CoreInput::Begin);
    let mut waits = Vec::new();
    for _ in 0..9 {
        let text = bench.tell(CoreInput::NotStarted { reason: "no such file".to_owned() });
        waits.push(text.rsplit_once("in ").unwrap().1.to_owned());
        assert_eq!(bench.after(30), "starting; start");
    }
    assert_eq!(waits.join(" "), "200ms 400ms 800ms 1.6s 3.2s 6.4s 12.8s 25.6s 30s");
    bench.tell(CoreInput::Started);
    bench.after(10);
    bench.line(r#"{"type":"ready","timestamp":1}"#);
    bench.after(50);
    bench.tell(CoreInput::PipeClosed);
    let text = bench.exit(9);
    assert!(text.ends_with("restarting in 200ms"), "it has lived: {text}");
}

#[test]
fn a_runtime_may_be_given_up_and_started_by_hand() {
    let mut bench = Bench::new();
    bench.core.settings.back_off =
        RestartBackOff { most_restarts: Some(1), ..RestartBackOff::default() };
    bench.tell(CoreInput::Begin);
    bench.tell(CoreInput::NotStarted { reason: "no".to_owned() });
    bench.after(1);
    let reason = "the runtime runtime cannot be started: no";
    let text = bench.tell(CoreInput::NotStarted { reason: "no".to_owned() });
    assert_eq!(text, format!("died: {reason}; given up"));
    let failed = "the runtime has died 2 times in a row and is not restarted";
    assert_eq!(bench.ask("a", message(None)), format!("a: {failed}: {reason}"));
    assert_eq!(bench.core.deadline(), None);
    assert_eq!(bench.tell(CoreInput::Restart), "starting; start");
}

#[test]
fn a_restart_on_request_is_not_waited_for() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    let reason = "the runtime was ended on request";
    let failed = format!("a: {reason}; it is being restarted: send the request again");
    assert_eq!(bench.tell(CoreInput::Restart), format!("{failed}; end"));
    assert_eq!(bench.exit(0), format!("died: {reason}; starting; start"));
}

#[test]
fn leaving_ends_everything() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    assert_eq!(bench.tell(CoreInput::Leave), "a: the session is closed; end");
    assert_eq!(bench.ask("b", message(None)), "b: the session is closed");
    assert_eq!(bench.exit(0), "ended; over");
    assert_eq!(bench.ask("c", message(None)), "c: the session is closed");
    assert_eq!(bench.core.deadline(), None);
    // While it is being started, and while there is none.
    let mut bench = Bench::new();
    bench.tell(CoreInput::Begin);
    assert_eq!(bench.tell(CoreInput::Leave), "");
    assert_eq!(bench.tell(CoreInput::Started), "end");
    assert_eq!(bench.exit(0), "ended; over");
    let mut bench = Bench::new();
    bench.tell(CoreInput::Begin);
    bench.tell(CoreInput::NotStarted { reason: "no".to_owned() });
    assert_eq!(bench.tell(CoreInput::Leave), "ended; over");
    for input in [CoreInput::Leave, CoreInput::Restart, CoreInput::Tick, CoreInput::Started] {
        assert_eq!(bench.tell(input), "");
    }
}

#[test]
fn what_is_missing_is_said_again_in_its_order() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    assert_eq!(bench.say("c-own-1", "done", Some(1)), "", "the answer to hello");
    assert_eq!(bench.say("a", "token", Some(2)), "a token");
    assert_eq!(bench.say("a", "token", Some(2)), "", "a repetition");
    assert_eq!(bench.line(r#"oops{"type":"token","id":"a","timestamp":1,"seq":3}"#), "");
    assert_eq!(bench.say("a", "done", Some(4)), "write replay from 3");
    assert_eq!(bench.say("a", "token", Some(3)), "a token");
    assert_eq!(bench.say("a", "done", Some(4)), "a done");
    assert_eq!(bench.say("c-own-2", "done", Some(5)), "");
    assert_eq!(bench.core.deadline(), None);
    let passed = bench.core.passed_over;
    assert_eq!((passed.repeated, passed.gaps, passed.unreadable, passed.stray), (1, 1, 1, 0));
}

#[test]
fn what_does_not_come_again_ends_the_answers_under_way() {
    let lost = "write cancel of a; a: a part of the answer is lost: send the request again";
    let gap = || {
        let mut bench = Bench::ready(ALL);
        bench.send("a", None);
        bench.say("a", "token", Some(1));
        assert_eq!(bench.say("a", "token", Some(3)), "write replay from 2");
        bench
    };
    assert_eq!(gap().say("c-own-2", "error", Some(4)), lost);
    assert_eq!(gap().say("c-own-2", "done", Some(4)), lost, "it has not come");
    assert_eq!(gap().after(10), lost);
    let mut bench = gap();
    bench.after(10);
    bench.send("b", None);
    assert_eq!(bench.say("b", "token", Some(9)), "b token", "it goes on with any number");
    let mut bench = Bench::ready(r#"["hello","cancel"]"#);
    bench.send("a", None);
    bench.say("a", "token", Some(1));
    assert_eq!(bench.say("a", "token", Some(3)), lost, "there is nobody to ask");
}

#[test]
fn a_line_over_the_limit_ends_its_request_alone() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    bench.send("b", Some("other"));
    bench.say("b", "token", Some(1));
    let long = |id: &str| OverlongLine { size: 1 << 30, id: Some(id.to_owned()) };
    let text = bench.tell(CoreInput::Line(DecodedLine::TooLong(long(r#""a""#))));
    assert!(text.starts_with("write cancel of a; a: a part"), "{text}");
    for id in [r#""nobody""#, "17", "null"] {
        assert_eq!(bench.tell(CoreInput::Line(DecodedLine::TooLong(long(id)))), "");
    }
    assert_eq!(bench.say("b", "token", Some(3)), "b token");
    assert_eq!(bench.core.passed_over.too_long, 4);
}

#[test]
fn lines_that_are_nothing_are_passed_over() {
    let mut bench = Bench::ready(ALL);
    bench.send("a", None);
    for line in ["", "x", "[1]", "{}", "null", r#"{"type":"token"}"#, r#"{"type":"ready"}"#] {
        assert_eq!(bench.line(line), "", "{line}");
    }
    assert_eq!(bench.tell(CoreInput::Line(DecodedLine::Whole(b"\xff\xfe{}"))), "");
    assert_eq!(bench.line(r#"{"type":"error","id":null,"error":"what?","timestamp":1}"#), "");
    assert_eq!(bench.core.passed_over.unreadable, 8);
    assert_eq!(bench.say("a", "done", None), "a done");
}
