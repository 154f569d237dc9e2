//! What leaves the runtime: in order, whole, and bounded.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use callgate_wire::session::{
    AgentQuestion, FieldKind, FieldOption, FrontToolCall, PermissionRequest, QuestionField,
    RuntimeStatus, ToolResult, UserMessage,
};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::super::order::OpenItems;
use super::*;
use crate::session::LogLevel;

impl SessionOutput {
    /// Starts the thread that writes to `sink`.
    fn start(mut sink: impl Write + Send + 'static, log: SessionLog) -> io::Result<Self> {
        Self::with_writer(move |shared| shared.write_to(&mut sink), OutputState::default(), log)
    }
}

/// A sink that remembers.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Memory {
    fn lines(&self) -> Vec<Value> {
        let bytes = self.0.lock().unwrap().clone();
        let text = String::from_utf8(bytes).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// A sink that takes a write only when it is told to.
struct Slow(Receiver<()>);

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.recv().map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn quiet() -> SessionLog {
    SessionLog::new(LogLevel::Error, |_, _| ())
}

fn token(text: &str) -> SessionEvent {
    SessionEvent::Token(text.to_owned())
}

async fn closed(output: &SessionOutput) {
    output.close(|| SessionEvent::error("ended"), Duration::from_secs(30)).await;
}

fn kinds(lines: &[Value]) -> Vec<(String, Value)> {
    lines
        .iter()
        .map(|line| (line["type"].as_str().unwrap().to_owned(), line["id"].clone()))
        .collect()
}

#[tokio::test]
async fn nothing_is_said_of_what_is_not_open_and_the_end_is_given_to_all() {
    let memory = Memory::default();
    let output = SessionOutput::start(memory.clone(), quiet()).unwrap();
    output.note_ready(&write_greeting(&mut memory.clone()).unwrap());
    output.send_event("1", token("too early"));
    output.open_request("1", &SessionCommand::GetStatus).unwrap();
    output.open_request("2", &SessionCommand::GetStatus).unwrap();
    assert_eq!(
        output.open_request("1", &SessionCommand::GetStatus),
        Err(RequestRefusal::Duplicate)
    );
    output.send_event("1", token("x"));
    output.send_event("1", SessionEvent::Done(None));
    output.send_event("1", token("too late"));
    closed(&output).await;
    let expected = [
        ("ready", json!(null)),
        ("token", json!("1")),
        ("done", json!("1")),
        ("error", json!("2")),
    ];
    let expected: Vec<_> = expected.map(|(kind, id)| (kind.to_owned(), id)).into();
    assert_eq!(kinds(&memory.lines()), expected);
}

#[tokio::test]
async fn extensions_come_after_hello_and_only_those_that_are_taken() {
    let memory = Memory::default();
    let output = SessionOutput::start(memory.clone(), quiet()).unwrap();
    let events = || {
        let notice = callgate_wire::session::Notice { kind: "retry".into(), text: "x".into() };
        [
            SessionEvent::Thinking("hm".into()),
            SessionEvent::Notice(notice),
            SessionEvent::done(&json!({"a": 1})),
        ]
    };
    output.open_request("1", &SessionCommand::GetStatus).unwrap();
    output.say_all("1", events());
    output.note_capabilities(&["notice".to_owned(), "what nobody knows".to_owned()]);
    output.open_request("2", &SessionCommand::GetStatus).unwrap();
    output.say_all("2", events());
    closed(&output).await;
    let lines = memory.lines();
    assert_eq!(kinds(&lines[..1]), [("done".to_owned(), json!("1"))]);
    assert!(lines[0].get("data").is_none() && lines[0].get("seq").is_none(), "{}", lines[0]);
    let after = kinds(&lines[1..]);
    assert_eq!(after, [("notice".to_owned(), json!("2")), ("done".to_owned(), json!("2"))]);
    assert_eq!(lines[2]["data"], json!({"kind": "get_status", "a": 1}));
    assert_eq!((&lines[1]["seq"], &lines[2]["seq"]), (&json!(2), &json!(3)));
}

#[tokio::test]
async fn a_result_that_fits_into_no_line_is_replaced_by_words() {
    let memory = Memory::default();
    let output = SessionOutput::start(memory.clone(), quiet()).unwrap();
    output.note_capabilities(&[]);
    output.open_request("1", &SessionCommand::GetStatus).unwrap();
    let call = callgate_wire::session::ToolUse {
        tool_id: "t".into(),
        tool_name: "read".into(),
        input: to_raw_value(&json!({})).unwrap(),
        kind: None,
        locations: None,
        card: None,
    };
    let result = ToolResult {
        tool_id: "t".into(),
        tool_name: "read".into(),
        result: to_raw_value(&"x".repeat(MAX_LINE)).unwrap(),
        is_error: Some(false),
    };
    output.say_all("1", [SessionEvent::ToolUse(call), SessionEvent::ToolResult(result)]);
    closed(&output).await;
    let line = &memory.lines()[1];
    assert_eq!(line["data"]["toolId"], "t");
    assert_eq!(line["data"]["isError"], true);
    assert!(line["data"]["result"]["error"].as_str().unwrap().contains("10485760"), "{line}");
}

fn asked(question: &str, input: &Value) -> SessionEvent {
    SessionEvent::PermissionRequest(PermissionRequest {
        question: question.into(),
        tool_id: "t".into(),
        tool_name: "write_file".into(),
        input: to_raw_value(input).unwrap(),
        title: "a.txt".into(),
        reason: None,
        can_allow_always: Some(true),
        deadline: Some(7),
        diff: Some("+x\n".into()),
        card: None,
    })
}

/// Returns the status as `get_status` tells it, while it is the request `id`.
fn status(output: &SessionOutput, id: &str) -> SessionEvent {
    let OpenItems { requests, questions, .. } = output.open_beside(id);
    let (requests, questions) = (Some(requests), Some(questions));
    SessionEvent::Status(Box::new(RuntimeStatus {
        requests,
        questions,
        ..RuntimeStatus::default()
    }))
}

#[tokio::test]
async fn what_is_open_is_told_after_hello_and_only_then() {
    let memory = Memory::default();
    let output = SessionOutput::start(memory.clone(), quiet()).unwrap();
    output.open_request("1", &SessionCommand::UserMessage(UserMessage::new("go"))).unwrap();
    output.open_request("s", &SessionCommand::GetStatus).unwrap();
    output.send_event("s", status(&output, "s"));
    output.note_capabilities(&["permission".to_owned()]);
    output.send_event("1", asked("q", &json!({"path": "a.txt"})));
    output.open_request("s", &SessionCommand::GetStatus).unwrap();
    output.send_event("s", status(&output, "s"));
    closed(&output).await;
    let lines = memory.lines();
    assert_eq!(lines[0]["data"].as_object().unwrap().len(), 3, "{}", lines[0]);
    let data = &lines[2]["data"];
    let request = &data["requests"][0];
    assert_eq!((&request["id"], &request["message"]), (&json!("1"), &json!("go")));
    assert_eq!((&request["fromSeq"], data["requests"].as_array().unwrap().len()), (&json!(1), 1));
    // As it was told live, so that it is drawn by the same hand.
    let mut live = lines[1].clone();
    live.as_object_mut().unwrap().remove("seq");
    assert_eq!(data["questions"], json!([live]));
}

#[tokio::test]
async fn what_a_tool_does_and_where_is_told_after_hello_and_only_then() {
    let memory = Memory::default();
    let output = SessionOutput::start(memory.clone(), quiet()).unwrap();
    let call = |id: &str| {
        SessionEvent::ToolUse(callgate_wire::session::ToolUse {
            tool_id: id.into(),
            tool_name: "read_file".into(),
            input: to_raw_value(&json!({})).unwrap(),
            kind: Some("read".into()),
            locations: Some(Vec::new()),
            card: None,
        })
    };
    output.open_request("1", &SessionCommand::UserMessage(UserMessage::new("go"))).unwrap();
    output.send_event("1", call("a"));
    output.note_capabilities(&[]);
    output.send_event("1", call("b"));
    closed(&output).await;
    let data = |at: usize| memory.lines()[at]["data"].clone();
    assert_eq!(data(0), json!({"toolId": "a", "toolName": "read_file", "input": {}}));
    assert_eq!((&data(1)["kind"], &data(1)["locations"]), (&json!("read"), &json!([])));
}

#[tokio::test]
async fn neither_a_question_nor_a_status_that_is_too_long_ends_a_request() {
    let memory = Memory::default();
    let output = SessionOutput::start(memory.clone(), quiet()).unwrap();
    output.note_capabilities(&["permission".to_owned()]);
    output.open_request("1", &SessionCommand::UserMessage(UserMessage::new("go"))).unwrap();
    let content = "x".repeat(MAX_LINE);
    output.send_event("1", asked("q", &json!({ "content": content })));
    // Each fits into a line, but not both into one.
    output.send_event("1", asked("r", &json!({ "content": &content[..MAX_LINE * 3 / 4] })));
    output.open_request("s", &SessionCommand::GetStatus).unwrap();
    output.send_event("s", status(&output, "s"));
    output.send_event("1", SessionEvent::Done(None));
    closed(&output).await;
    let lines = memory.lines();
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["permission_request", "permission_request", "status", "done"]);
    let input = lines[0]["data"]["input"]["error"].as_str().unwrap();
    assert!(input.ends_with("bytes is not shown here"), "{input}");
    assert_eq!(lines[1]["data"]["diff"], "+x\n");
    let questions = lines[2]["data"]["questions"].as_array().unwrap();
    let names: Vec<&str> =
        questions.iter().map(|one| one["data"]["question"].as_str().unwrap()).collect();
    assert_eq!(names, ["q", "r"]);
    assert!(questions.iter().all(|one| one["data"]["input"]["error"].is_string()));
}

/// To the front end an error is the end of its request, which goes on here.
#[tokio::test]
async fn nothing_that_is_too_long_ends_a_request_but_its_end() {
    let memory = Memory::default();
    let output = SessionOutput::start(memory.clone(), quiet()).unwrap();
    let everything: Vec<String> = CHOICES.iter().map(|choice| (*choice).to_owned()).collect();
    output.note_capabilities(&everything);
    let long = "x".repeat(MAX_LINE);
    let option = |value: &str| FieldOption {
        value: value.to_owned(),
        title: long.clone(),
        description: Some(long.clone()),
    };
    let options = vec![option("red"), option("blue")];
    let field = QuestionField {
        name: "colour".into(),
        title: long.clone(),
        description: None,
        required: true,
        kind: FieldKind::OneOf { options, free_text: false, default: None },
    };
    let question = AgentQuestion {
        question: "q".into(),
        tool_id: "t".into(),
        server: None,
        text: long.clone(),
        url: None,
        fields: vec![field],
        deadline: None,
    };
    let call = FrontToolCall {
        call: "c".into(),
        tool_id: "t".into(),
        tool_name: "paint".into(),
        input: to_raw_value(&json!({ "content": long })).unwrap(),
    };
    output.open_request("1", &SessionCommand::UserMessage(UserMessage::new("go"))).unwrap();
    output.say_all(
        "1",
        [
            SessionEvent::Question(question),
            SessionEvent::ToolCall(call),
            SessionEvent::notice("retry", long.as_str()),
            SessionEvent::done(&json!({ "text": long })),
        ],
    );
    closed(&output).await;
    let lines = memory.lines();
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["question", "error"]);
    // It can still be answered.
    let options = &lines[0]["data"]["fields"][0]["options"];
    assert_eq!((&options[0]["value"], &options[1]["value"]), (&json!("red"), &json!("blue")));
    // What is left out has no number.
    assert_eq!((&lines[0]["seq"], &lines[1]["seq"]), (&json!(1), &json!(2)));
}

#[tokio::test]
async fn who_is_behind_holds_up_who_asks_for_room() {
    let (go, wait): (SyncSender<()>, _) = sync_channel(64);
    let output = SessionOutput::start(Slow(wait), quiet()).unwrap();
    output.open_request("1", &SessionCommand::GetStatus).unwrap();
    let mut said = 0;
    while lock(&output.0.state).pending.len() < ROOM {
        output.send_event("1", token(&"x".repeat(1000)));
        said += 1;
    }
    assert!(said < 2 * ROOM / 1000, "{said} lines were taken");
    let waiting = tokio::spawn({
        let output = output.clone();
        async move { output.wait_for_room().await }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    // The reader takes what there is, and so there is room.
    for _ in 0..4 {
        go.send(()).unwrap();
    }
    waiting.await.unwrap();
}

#[tokio::test]
async fn who_reads_nothing_is_asked_nothing_more_at_some_point() {
    let (_go, wait): (SyncSender<()>, _) = sync_channel(64);
    let output = SessionOutput::start(Slow(wait), quiet()).unwrap();
    output.open_request("1", &SessionCommand::GetStatus).unwrap();
    output.room_for_requests().await;
    while lock(&output.0.state).pending.len() < FULL {
        output.send_event("1", token(&"x".repeat(100_000)));
    }
    let waiting = tokio::spawn({
        let output = output.clone();
        async move { output.room_for_requests().await }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
}

#[tokio::test]
async fn by_the_short_cut_and_by_the_thread_lines_keep_their_order() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let output = SessionOutput::start_on(writer, quiet()).unwrap();
    output.open_request("1", &SessionCommand::GetStatus).unwrap();
    let reading = std::thread::spawn(move || {
        let mut all = String::new();
        std::io::Read::read_to_string(&mut reader, &mut all).unwrap();
        all
    });
    // Small ones go at once, large ones and those behind them by the thread.
    for number in 0..500 {
        let size = if number % 7 == 0 { 9000 } else { 10 };
        output.wait_for_room().await;
        output.send_event("1", token(&format!("{number}:{}", "x".repeat(size))));
    }
    closed(&output).await;
    drop(output);
    let all = reading.join().unwrap();
    let numbers: Vec<usize> = all
        .lines()
        .filter_map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["token"]
                .as_str()?
                .split(':')
                .next()?
                .parse()
                .ok()
        })
        .collect();
    assert!(numbers.into_iter().eq(0..500));
}

#[tokio::test]
async fn a_sink_that_breaks_is_told_and_nobody_waits_for_it() {
    let (go, wait): (SyncSender<()>, _) = sync_channel(1);
    let output = SessionOutput::start(Slow(wait), quiet()).unwrap();
    drop(go);
    output.open_request("1", &SessionCommand::GetStatus).unwrap();
    output.send_event("1", token("x"));
    output.wait_until_gone().await;
    output.send_event("1", token(&"x".repeat(2 * ROOM)));
    output.wait_for_room().await;
}

#[tokio::test]
async fn what_was_said_can_be_said_again_with_its_numbers() {
    let memory = Memory::default();
    let output = SessionOutput::start(memory.clone(), quiet()).unwrap();
    output.note_ready(&write_greeting(&mut memory.clone()).unwrap());
    output.open_request("1", &SessionCommand::GetStatus).unwrap();
    output.send_event("1", token("before"));
    output.note_capabilities(&[]);
    output.send_event("1", token("after"));
    assert_eq!(output.replay(1), Ok(ReplayedRange { from_seq: 1, to_seq: 3 }));
    assert_eq!(output.replay(3), Ok(ReplayedRange { from_seq: 3, to_seq: 3 }));
    assert_eq!(output.replay(4), Ok(ReplayedRange { from_seq: 4, to_seq: 3 }));
    closed(&output).await;
    let numbers: Vec<Value> = memory.lines().iter().map(|line| line["seq"].clone()).collect();
    let expected =
        [json!(null), json!(null), json!(3), json!(1), json!(2), json!(3), json!(3), json!(4)];
    assert_eq!(numbers, expected);
}

#[tokio::test]
async fn only_so_much_is_kept_for_saying_it_again() {
    let output = SessionOutput::start(Memory::default(), quiet()).unwrap();
    output.open_request("1", &SessionCommand::GetStatus).unwrap();
    let talk = || (0..3000).for_each(|_| output.send_event("1", token(&"x".repeat(1000))));
    talk();
    // Who cannot ask for it needs no more than a beginning.
    let oldest = output.replay(1).unwrap_err();
    assert!((2920..2960).contains(&oldest), "{oldest}");
    output.note_capabilities(&[]);
    talk();
    let oldest = output.replay(1).unwrap_err();
    assert!((4900..5200).contains(&oldest), "{oldest}");
    assert!(output.replay(oldest).is_ok());
}
