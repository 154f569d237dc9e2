//! The CLI's control requests, handled concurrently: permissions, hooks and MCP messages.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use callgate_tools::InlineServer;
use callgate_wire::control;
use callgate_wire::raw::Members;
use serde_json::json;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::{AbortHandle, Id, JoinSet};

use crate::event::ClaudeEvent;
use crate::hooks::{Hook, HookInput};
use crate::permission::{Decider, PermissionDecision, PermissionQuestion};

/// The prefix of the ids of our requests that report a tool's progress.
pub(crate) const PROGRESS: &str = "callgate-progress-";
/// How many progress reports may wait for a CLI that does not read.
const MOST_REPORTS: usize = 16;

/// A control request that has been handled.
#[derive(Debug)]
pub(crate) struct FinishedJob {
    pub(crate) id: String,
    /// The response; absent if the CLI does not want it any more.
    pub(crate) line: Option<String>,
    pub(crate) event: Option<ClaudeEvent>,
}

/// Something to send to the CLI.
#[derive(Debug)]
pub(crate) enum JobUpdate {
    Done(Box<FinishedJob>),
    /// A line that reports the progress of a tool.
    Progress(String),
}

/// The control requests of the CLI that are being handled.
#[derive(Debug)]
pub(crate) struct ControlJobs {
    /// Calls of callbacks, each in a task: foreign code may panic or take its time.
    callbacks: JoinSet<FinishedJob>,
    questions: HashMap<String, CallbackQuestion>,
    calls: McpReplies,
    report: Sender<String>,
    reports: Receiver<String>,
    /// How many reports were sent.
    sent: u64,
}

/// A call of a callback.
#[derive(Debug)]
struct CallbackQuestion {
    task: AbortHandle,
    /// The response to send if the callback panics.
    panicked: String,
}

/// MCP messages that are being answered. Tools run in tasks of their own; the rest is too little to
/// need one.
#[derive(Default)]
struct McpReplies(Vec<(String, McpReply)>);

type McpReply = Pin<Box<dyn Future<Output = FinishedJob> + Send>>;

impl ControlJobs {
    pub(crate) fn new() -> Self {
        let (report, reports) = mpsc::channel(MOST_REPORTS);
        let (callbacks, questions) = (JoinSet::new(), HashMap::new());
        Self { callbacks, questions, calls: McpReplies::default(), report, reports, sent: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.questions.is_empty() && self.calls.0.is_empty()
    }

    /// Asks the decider whether a tool may be used.
    pub(crate) fn start_question(
        &mut self,
        id: &str,
        decider: Option<Decider>,
        asked: PermissionQuestion,
    ) {
        let panicked = control::failure_line(id, "the permission callback has panicked");
        self.start_callback(id, decide_permission(id.to_owned(), decider, asked), panicked);
    }

    /// Calls a hook.
    pub(crate) fn start_hook(&mut self, id: &str, hook: Hook, input: HookInput) {
        let panicked = hook.panic_response(id);
        self.start_callback(id, call_hook(id.to_owned(), hook, input), panicked);
    }

    fn start_callback(
        &mut self,
        id: &str,
        answer: impl Future<Output = FinishedJob> + Send + 'static,
        panicked: String,
    ) {
        let task = self.callbacks.spawn(answer);
        self.questions.insert(id.to_owned(), CallbackQuestion { task, panicked });
    }

    /// Answers an MCP message.
    pub(crate) fn start_mcp_reply(&mut self, id: &str, inline: Arc<InlineServer>, message: String) {
        let call = answer_mcp_message(id.to_owned(), inline, message, self.report.clone());
        self.calls.0.push((id.to_owned(), Box::pin(call)));
    }

    /// Stops working on a request whose answer is not wanted any more.
    pub(crate) fn cancel(&mut self, id: &str) {
        self.calls.0.retain(|(call, _)| call != id);
        if let Some(question) = self.questions.remove(id) {
            question.task.abort();
        }
    }

    /// Polls for something to send. The progress of the tools of `server` is returned only if
    /// `may_report` is set, but always before the answer that follows it.
    pub(crate) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
        server: &str,
        may_report: bool,
    ) -> Poll<JobUpdate> {
        if may_report && let Poll::Ready(Some(message)) = self.reports.poll_recv(context) {
            return Poll::Ready(JobUpdate::Progress(self.progress_line(server, &message)));
        }
        if let Poll::Ready(done) = self.calls.poll(context) {
            return Poll::Ready(JobUpdate::Done(Box::new(done)));
        }
        loop {
            let Some(ended) = ready!(self.callbacks.poll_join_next_with_id(context)) else {
                return Poll::Pending;
            };
            let done = match ended {
                Ok((_, done)) => Some(done),
                // One that was cancelled is not among the questions any more.
                Err(error) => self.panicked_job(error.id()),
            };
            if let Some(done) = done {
                self.questions.remove(&done.id);
                return Poll::Ready(JobUpdate::Done(Box::new(done)));
            }
        }
    }

    /// Returns the response for a task that has panicked, so that the CLI does not wait for it. A
    /// task that was cancelled has none.
    fn panicked_job(&self, task: Id) -> Option<FinishedJob> {
        let (id, question) = self.questions.iter().find(|(_, q)| q.task.id() == task)?;
        Some(FinishedJob { id: id.clone(), line: Some(question.panicked.clone()), event: None })
    }

    /// Returns the lines for all progress that was reported before an answer.
    pub(crate) fn rest_of_progress(&mut self, server: &str) -> String {
        let mut lines = String::new();
        while let Ok(message) = self.reports.try_recv() {
            lines += &self.progress_line(server, &message);
        }
        lines
    }

    fn progress_line(&mut self, server: &str, message: &str) -> String {
        self.sent += 1;
        let (id, server) = (json!(format!("{PROGRESS}{}", self.sent)), json!(server));
        // The message is JSON already and crosses as the tool's server wrote it, but for its line
        // end.
        let message = message.trim_end();
        format!(
            "{{\"type\":\"control_request\",\"request_id\":{id},\"request\":{{\"subtype\":\
             \"mcp_message\",\"server_name\":{server},\"message\":{message}}}}}\n"
        )
    }
}

impl McpReplies {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<FinishedJob> {
        for place in 0..self.0.len() {
            if let Poll::Ready(done) = self.0[place].1.as_mut().poll(context) {
                drop(self.0.remove(place));
                return Poll::Ready(done);
            }
        }
        Poll::Pending
    }
}

impl fmt::Debug for McpReplies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(id, _)| id)).finish()
    }
}

/// Asks the decider. Without one the answer is always no.
async fn decide_permission(
    id: String,
    decider: Option<Decider>,
    asked: PermissionQuestion,
) -> FinishedJob {
    let (tool_name, input) = (asked.tool_name.clone(), asked.input.clone());
    let decision = match decider {
        Some(decider) => decider.decide(asked).await,
        None => PermissionDecision::deny(
            "nobody is there to allow this; the program that runs the agent can allow it with \
             ClaudeSettings::permission or ClaudeSettings::allow",
        ),
    };
    let is_allowed = matches!(decision, PermissionDecision::Allow { .. });
    let line = control::success_line(&id, &decision.to_response(&input).to_string());
    FinishedJob {
        id,
        line: Some(line),
        event: Some(ClaudeEvent::Permission { tool_name, is_allowed }),
    }
}

async fn call_hook(id: String, hook: Hook, input: HookInput) -> FinishedJob {
    let answer = hook.call(input).await;
    let line = control::success_line(&id, &answer);
    FinishedJob { id, line: Some(line), event: None }
}

/// Answers an MCP message that came over the control channel.
async fn answer_mcp_message(
    id: String,
    inline: Arc<InlineServer>,
    message: String,
    report: Sender<String>,
) -> FinishedJob {
    let is_request = Members::from_text(&message).is_ok_and(|message| message.get("id").is_some());
    // A report that does not fit into the channel is dropped: nobody waits for progress.
    let report = move |message| drop(report.try_send(message));
    let reply = inline.answer(&message, report).await;
    let response = match reply.as_deref().map(str::trim_end) {
        Some(reply) => Some(reply.to_owned()),
        // A notification is acknowledged; a call that was cancelled gets no answer.
        None => (!is_request).then(|| r#"{"jsonrpc":"2.0","result":{}}"#.to_owned()),
    };
    let line = response
        .map(|response| control::success_line(&id, &format!(r#"{{"mcp_response":{response}}}"#)));
    FinishedJob { id, line, event: None }
}
