//! What is done in which situation, as short texts.

mod life;
mod lines;
mod property;

use std::os::unix::process::ExitStatusExt;

use callgate_wire::session::{Attachment, LoadAs, UserMessage};
use serde_json::json;
use serde_json::value::to_raw_value;

use super::*;

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
        let outputs = self.core.handle_input(self.now, input);
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
    let list = SessionCommand::ListConversations { limit: None, before: None, search: None };
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
