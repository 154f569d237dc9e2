//! A runtime that does what it is told: this very program, started again.

use std::io::{Read, Write};

use callgate_wire::frame::{DecodedLine, LineDecoder};
use callgate_wire::session::{
    Attachment, ConversationCreated, ConversationEvents, ConversationList, LoadAs, MAX_LINE,
    OpenQuestion, OpenRequest, PastUserMessage, PermissionRequest, RuntimeReady, RuntimeStatus,
    SessionCommand, SessionEvent, SessionReply, SessionRequest, SessionResponse, ToolLocation,
    ToolResult, ToolUse, tool_kind,
};
use serde_json::value::{RawValue, to_raw_value};

/// Set in the process that is the runtime.
const RUNTIME: &str = "CALLGATE_TEST_IS_RUNTIME";

/// How the runtime is started; the lines of the test harness are its first lies.
pub(crate) fn program() -> Vec<String> {
    let test = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    let start = format!("{RUNTIME}=1 exec \"$0\" --exact runtime::scripted_runtime --nocapture");
    ["sh", "-c", &start, &test].map(str::to_owned).to_vec()
}

/// Not a test of its own: the process that the tests start.
#[test]
fn scripted_runtime() {
    if std::env::var_os(RUNTIME).is_some() {
        serve();
    }
}

struct Runtime {
    seq: Option<u64>,
    said: Vec<Vec<u8>>,
}

fn serve() {
    write(&SessionResponse::Ready(RuntimeReady::at(1)).to_line());
    let mut runtime = Runtime { seq: None, said: Vec::new() };
    let mut lines = LineDecoder::new(MAX_LINE);
    loop {
        let count = std::io::stdin().read(lines.space()).unwrap();
        lines.mark_filled(count);
        while let Some(line) = lines.next_frame() {
            let DecodedLine::Whole(line) = line else { panic!("a line over the limit") };
            runtime.take(SessionRequest::decode(line).unwrap());
        }
        if count == 0 {
            let folder = std::env::var_os("FOLDER").unwrap();
            std::fs::write(std::path::Path::new(&folder).join("ended"), "by itself").unwrap();
            return;
        }
    }
}

fn write(line: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(line).unwrap();
    stdout.flush().unwrap();
}

impl Runtime {
    fn line(&mut self, id: &str, event: SessionEvent) -> Vec<u8> {
        let seq = self.seq;
        self.seq = seq.map(|seq| seq + 1);
        let reply = SessionReply { id: Some(id.to_owned()), event, timestamp: 1, seq };
        let line = SessionResponse::Reply(reply).to_line();
        if seq.is_some() {
            self.said.push(line.clone());
        }
        line
    }

    fn say(&mut self, id: &str, event: SessionEvent) {
        write(&self.line(id, event));
    }

    fn token(&mut self, id: &str, text: &str) {
        self.say(id, SessionEvent::Token(text.to_owned()));
    }

    fn take(&mut self, request: SessionRequest) {
        let id = request.id;
        match request.command {
            SessionCommand::UserMessage(said) if !said.attachments.is_empty() => {
                for attachment in &said.attachments {
                    self.token(&id, &shown(attachment));
                }
                self.say(&id, SessionEvent::Done(None));
            }
            SessionCommand::UserMessage(said) => self.follow(&id, &said.message),
            SessionCommand::Hello { .. } => {
                self.seq = Some(1);
                self.say(&id, SessionEvent::Done(None));
            }
            SessionCommand::Cancel { target } => {
                self.say(&id, SessionEvent::Done(None));
                self.say(&target, SessionEvent::Done(None));
            }
            SessionCommand::Replay { from_seq } => {
                for line in &self.said[usize::try_from(from_seq).unwrap() - 1..] {
                    write(line);
                }
                self.say(&id, SessionEvent::Done(None));
            }
            SessionCommand::GetStatus => {
                self.say(&id, SessionEvent::Status(Box::new(status())));
            }
            SessionCommand::NewConversation { .. } => {
                let conversation_id = "new".to_owned();
                self.say(&id, SessionEvent::done(&ConversationCreated { conversation_id }));
            }
            SessionCommand::ListConversations { .. } => {
                let conversations = Vec::new();
                self.say(
                    &id,
                    SessionEvent::done(&ConversationList { conversations, current: None }),
                );
            }
            SessionCommand::LoadConversation {
                conversation_id, load_as: LoadAs::Events, ..
            } => {
                for event in past() {
                    self.say(&id, event);
                }
                let (title, first, length) = (None, 0, 3);
                let loaded = ConversationEvents {
                    conversation_id,
                    title,
                    first,
                    length,
                    is_unfinished: false,
                };
                self.say(&id, SessionEvent::done(&loaded).with_kind("load_conversation"));
            }
            SessionCommand::DeleteConversation { .. } => {
                self.say(&id, SessionEvent::error("no such thing"));
            }
            _ => self.say(&id, SessionEvent::Done(None)),
        }
    }

    /// Does what a message says.
    fn follow(&mut self, id: &str, message: &str) {
        let (verb, rest) = message.split_once(' ').unwrap_or((message, ""));
        match verb {
            "say" => self.token(id, rest),
            "pid" => return self.token(id, &std::process::id().to_string()),
            "hang" => return,
            "die" => {
                eprintln!("my key is {rest}");
                std::process::abort();
            }
            "sleep" => loop {
                std::thread::park();
            },
            "flood" => {
                for number in 0..rest.parse().unwrap() {
                    self.token(id, &format!("{number} "));
                }
            }
            "lie" => self.lie(id),
            "lose" => {
                self.token(id, "one ");
                let garbled = self.line(id, SessionEvent::Token("two ".to_owned()));
                write(&[b"oops", &garbled[..]].concat());
                self.token(id, "three ");
            }
            _ => return self.say(id, SessionEvent::error("what?")),
        }
        self.say(id, SessionEvent::Done(None));
    }

    fn lie(&mut self, id: &str) {
        write(b"no json\n{\"half\":\n\xff\xfe\xfd\n[]\n\n");
        write(&SessionResponse::Ready(RuntimeReady::at(1)).to_line());
        self.token("nobody", "not for you");
        self.token(id, "true");
        self.say("nobody", SessionEvent::Done(None));
        let last = self.said.last().unwrap().clone();
        write(&last);
        let end = SessionReply {
            id: Some(id.to_owned()),
            event: SessionEvent::Done(None),
            timestamp: 1,
            seq: None,
        };
        let end = SessionResponse::Reply(end).to_line();
        write(&end);
        write(&end);
        self.token(id, "too late");
    }
}

fn shown(attachment: &Attachment) -> String {
    match attachment {
        Attachment::File { path, mime } => format!("[{mime} at {path}]"),
        Attachment::Inline { data, mime, name } => format!("[{mime} {name:?}: {data}]"),
    }
}

fn raw(json: &serde_json::Value) -> Box<RawValue> {
    to_raw_value(json).unwrap()
}

/// A question of a runtime that waits for its front end.
fn question() -> PermissionRequest {
    PermissionRequest {
        question: "q".to_owned(),
        tool_id: "t".to_owned(),
        tool_name: "write_file".to_owned(),
        input: raw(&serde_json::json!({ "path": "a.txt" })),
        title: "a.txt".to_owned(),
        reason: None,
        can_allow_always: Some(true),
        deadline: Some(9),
        diff: Some("+a\n".to_owned()),
        card: None,
    }
}

fn status() -> RuntimeStatus {
    let request = OpenRequest {
        id: "1".to_owned(),
        kind: "user_message".to_owned(),
        state: "working".to_owned(),
        since: 3,
        from_seq: 4,
        conversation_id: Some("c".to_owned()),
        message: Some("write it".to_owned()),
    };
    RuntimeStatus {
        state: "busy".to_owned(),
        uptime: 7,
        requests: Some(vec![request]),
        questions: Some(vec![OpenQuestion { id: "1".to_owned(), data: question(), timestamp: 5 }]),
        ..RuntimeStatus::default()
    }
}

/// A conversation as its events.
fn past() -> [SessionEvent; 4] {
    let said = PastUserMessage { message: "look".to_owned(), attachments: Vec::new() };
    let locations = Some(vec![ToolLocation { path: "/a".to_owned(), line: Some(7) }]);
    let used = ToolUse {
        tool_id: "t".to_owned(),
        tool_name: "read_file".to_owned(),
        input: raw(&serde_json::json!({ "path": "/a" })),
        kind: Some(tool_kind::READ.to_owned()),
        locations,
        card: None,
    };
    let gave = ToolResult {
        tool_id: "t".to_owned(),
        tool_name: "read_file".to_owned(),
        result: raw(&serde_json::json!({ "content": "b" })),
        is_error: Some(false),
    };
    [
        SessionEvent::UserMessage(said),
        SessionEvent::ToolUse(used),
        SessionEvent::ToolResult(gave),
        SessionEvent::Token("It says b.".to_owned()),
    ]
}
