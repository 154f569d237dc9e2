//! One message and its answer, for scripts and for a command without a terminal.

use std::collections::{HashMap, HashSet};
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;

use callgate_chat::{INTERRUPTED, MissingConversation, PrintedNotices, WantedConversation};
use callgate_client::{Client, ClientError, RequestEvent, SentRequest};
use callgate_link::socket::{self, SocketState};
use callgate_mask::text::{one_line, visible_text};
use callgate_wire::approval::Press;
use callgate_wire::session::{
    AgentQuestion, AnswerOutcome, Attachment, PermissionRequest, PermissionResolved,
    QuestionAnswer, SessionEvent, SessionReply, ToolResult, TurnEnd,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::write_error_line;

/// The exit codes of one message.
const DONE: u8 = 0;
const FAILED: u8 = 1;
const DENIED: u8 = 2;
const INCOMPLETE: u8 = 3;

/// What the model reads when a call is denied because nobody can be asked.
const NOBODY: &str = "nobody can be asked: the message came from a script, and no desk is running";

/// A message that is sent without a person at the keyboard.
pub(super) struct OneShot {
    pub(super) client: Client,
    pub(super) wanted: WantedConversation,
    pub(super) message: String,
    pub(super) attachments: Vec<Attachment>,
    /// Whether the events are printed as lines of JSON.
    pub(super) is_json: bool,
    /// Where a desk would take questions.
    pub(super) desk_socket: PathBuf,
}

impl OneShot {
    /// Sends the message and prints the answer. Returns the exit code.
    pub(super) async fn run(self) -> io::Result<u8> {
        let Self { client, wanted, message, attachments, is_json, desk_socket } = self;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        // Before the message is sent, so that it is not answered in a conversation that nobody
        // meant.
        if !has_wanted_conversation(&wanted, &client).await {
            client.close().await;
            return Ok(FAILED);
        }
        let mut request = client.user_message_with(message, attachments).await;
        let mut shot = PrintedAnswer {
            client: client.clone(),
            desk_socket,
            output: if is_json { ShotOutput::Json } else { ShotOutput::text() },
            told: ToldDenials::default(),
            is_cancelled: false,
        };
        let code = loop {
            tokio::select! {
                event = request.next() => match event {
                    Some(event) => if let Some(code) = shot.handle_event(&event)? { break code },
                    None => break FAILED,
                },
                // The first interrupt cancels, and the runtime says how that ended. A second one
                // waits for nothing.
                _ = interrupt.recv() => if shot.cancel(&request) { break INTERRUPTED },
                _ = terminate.recv() => break INTERRUPTED,
            }
        };
        client.close().await;
        Ok(code)
    }
}

/// Says so if there is no conversation to continue. Returns false if none has the id that was
/// given.
async fn has_wanted_conversation(wanted: &WantedConversation, client: &Client) -> bool {
    if !wanted.is_some() {
        return true;
    }
    let missing = match client.conversations(Some(1), None).await {
        Ok(list) => wanted.find_missing(&list),
        // The message fails for the same reason.
        Err(_) => None,
    };
    match missing {
        Some(MissingConversation::Last(text)) => write_error_line(text),
        Some(MissingConversation::Id(text)) => {
            write_error_line(&visible_text(&text));
            return false;
        }
        None => {}
    }
    true
}

/// A message whose answer is being printed.
struct PrintedAnswer {
    client: Client,
    desk_socket: PathBuf,
    output: ShotOutput,
    told: ToldDenials,
    is_cancelled: bool,
}

/// The questions and denials that have been reported on standard error.
#[derive(Default)]
struct ToldDenials {
    /// What open questions are about, and the calls that wait for them, by question.
    asked: HashMap<String, (String, String)>,
    /// The calls that were denied.
    calls: HashSet<String>,
}

/// How the answer is printed.
enum ShotOutput {
    /// Each event as a line of JSON.
    Json,
    /// The text, line by line; the last line is not finished.
    Text { line: String, printed: PrintedNotices },
}

impl PrintedAnswer {
    /// Cancels the request. Returns true if that was done before.
    fn cancel(&mut self, request: &SentRequest) -> bool {
        request.cancel();
        std::mem::replace(&mut self.is_cancelled, true)
    }

    /// Handles an event. Returns the exit code at the end.
    fn handle_event(&mut self, event: &RequestEvent) -> io::Result<Option<u8>> {
        let reply = match event {
            RequestEvent::Said(reply) => reply,
            RequestEvent::Failed(ClientError::Cancelled) => return Ok(Some(INTERRUPTED)),
            RequestEvent::Failed(error) => {
                self.output.print_last_line()?;
                write_error_line(&error.to_string());
                return Ok(Some(FAILED));
            }
        };
        self.output.print(reply)?;
        match &reply.event {
            SessionEvent::PermissionRequest(asked) => self.handle_request(asked),
            SessionEvent::PermissionResolved(resolved) => self.told.report_resolved(resolved),
            SessionEvent::Question(asked) => self.asked_something(asked),
            SessionEvent::ToolResult(result) => self.told.report_denied_result(result),
            SessionEvent::Error { error, .. } => {
                self.output.print_last_line()?;
                write_error_line(&visible_text(error));
                return Ok(Some(FAILED));
            }
            SessionEvent::Done(_) => {
                self.output.print_last_line()?;
                return Ok(Some(self.exit_code(&reply.event)));
            }
            _ => {}
        }
        Ok(None)
    }

    /// Says whom a call waits for, or denies one that no desk can be asked about.
    fn handle_request(&mut self, asked: &PermissionRequest) {
        let (question, title) = (asked.question.clone(), visible_text(&asked.title).into_owned());
        // Asked anew for each question, because a desk may start or end meanwhile.
        let has_desk = matches!(socket::probe_path(&self.desk_socket), Ok(SocketState::Live));
        if has_desk {
            let until = asked.deadline.and_then(time_of_day);
            let until = until.map(|time| format!(" until {time}")).unwrap_or_default();
            write_error_line(&format!("waiting{until} for an answer at the desk: {title}"));
        }
        self.told.asked.insert(question.clone(), (title, asked.tool_id.clone()));
        if has_desk {
            return;
        }
        let client = self.client.clone();
        tokio::spawn(async move {
            // If the answer does not count, the question is settled or waits for its deadline.
            client.answer(&question, Press::Words(NOBODY.to_owned())).await.ok();
        });
    }

    /// Says that the model or a server waits for an answer, or declines a question that no desk can
    /// be asked.
    fn asked_something(&self, asked: &AgentQuestion) {
        let text = one_line(&asked.text);
        if matches!(socket::probe_path(&self.desk_socket), Ok(SocketState::Live)) {
            return write_error_line(&format!("waiting for an answer at the desk: {text}"));
        }
        write_error_line(&format!("not answered, because nobody is there: {text}"));
        let (client, question) = (self.client.clone(), asked.question.clone());
        tokio::spawn(async move {
            let (outcome, values) = (AnswerOutcome::Declined, serde_json::Map::new());
            // If the answer does not count, the question is settled or waits for its deadline.
            client.answer_question(QuestionAnswer { question, outcome, values }).await.ok();
        });
    }

    fn exit_code(&self, event: &SessionEvent) -> u8 {
        let end = event.done_data::<TurnEnd>();
        // A rule may deny a call without a question.
        let denied = end.as_ref().map_or(0, |end| end.denied_calls);
        let is_denied = self.told.is_any() || denied > 0;
        match end.as_ref().map(|end| end.stop_reason.as_str()) {
            Some("cancelled") if self.is_cancelled => INTERRUPTED,
            // A turn that nobody here has cancelled was ended by a denial, so it counts as one.
            Some("cancelled" | "refusal") => DENIED,
            Some("max_tokens" | "max_turn_requests") => INCOMPLETE,
            _ if is_denied => DENIED,
            _ => DONE,
        }
    }
}

impl ToldDenials {
    fn is_any(&self) -> bool {
        !self.calls.is_empty()
    }

    fn report_resolved(&mut self, resolved: &PermissionResolved) {
        let Some((title, call)) = self.asked.remove(&resolved.question) else { return };
        if resolved.decision == "allow" {
            return write_error_line(&format!("allowed: {title}"));
        }
        write_error_line(&format!("denied: {title}: {}", visible_text(&resolved.text)));
        self.calls.insert(call);
    }

    /// Tells of a call that was denied without a question.
    fn report_denied_result(&mut self, result: &ToolResult) {
        let value: Value = serde_json::from_str(result.result.get()).unwrap_or_default();
        if value["denied"] == true && self.calls.insert(result.tool_id.clone()) {
            let why = value["error"].as_str().unwrap_or_default();
            write_error_line(&format!(
                "denied: {}: {}",
                visible_text(&result.tool_name),
                visible_text(why)
            ));
        }
    }
}

/// Returns a time of today as the user's clock shows it.
fn time_of_day(milliseconds: u64) -> Option<String> {
    let time = Timestamp::from_millisecond(i64::try_from(milliseconds).ok()?).ok()?;
    Some(time.to_zoned(TimeZone::system()).strftime("%H:%M").to_string())
}

impl ShotOutput {
    fn text() -> Self {
        Self::Text { line: String::new(), printed: PrintedNotices::default() }
    }

    fn print(&mut self, reply: &Arc<SessionReply>) -> io::Result<()> {
        match self {
            Self::Json => {
                let mut line = Vec::new();
                reply.write(&mut line);
                write_to_stdout(&line)
            }
            Self::Text { line, printed } => {
                let is_repeated = printed.is_repeated(&reply.event);
                match &reply.event {
                    SessionEvent::Token(token) => line.push_str(token),
                    // What follows a tool is not the same sentence.
                    SessionEvent::ToolUse(_) if !line.is_empty() && !line.ends_with('\n') => {
                        line.push('\n');
                    }
                    SessionEvent::Notice(notice) if !is_repeated && io::stderr().is_terminal() => {
                        write_error_line(&visible_text(&notice.text));
                    }
                    _ => {}
                }
                // Only whole lines are printed, because what could mislead on a terminal may be cut
                // between two tokens, and is made visible only as a whole.
                let Some(end) = line.rfind('\n') else { return Ok(()) };
                let rest = line.split_off(end + 1);
                let lines = std::mem::replace(line, rest);
                write_to_stdout(visible_text(&lines).as_bytes())
            }
        }
    }

    fn print_last_line(&mut self) -> io::Result<()> {
        let Self::Text { line, .. } = self else { return Ok(()) };
        let line = std::mem::take(line);
        if line.is_empty() {
            Ok(())
        } else {
            write_to_stdout(format!("{}\n", visible_text(&line)).as_bytes())
        }
    }
}

fn write_to_stdout(bytes: &[u8]) -> io::Result<()> {
    let mut output = io::stdout();
    output.write_all(bytes)?;
    output.flush()
}
