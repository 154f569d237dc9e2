//! A server as a child process: its messages are lines on its standard input and output.

use std::io;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use callgate_link::child::LeashedChild;
use callgate_link::tokio::{child_ended, fill_lines, keep_end};
use callgate_wire::frame::{DecodedLine, LineDecoder};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{LONGEST_MESSAGE, ServerContext, TOO_LONG};
use crate::tool::run::{locate_program, not_started};

/// The JSON-RPC error code for an answer that cannot be used.
const UNREADABLE: i32 = -32603;
/// How long a server may take to end by itself once its input is closed. A runtime that is told to
/// end gives all servers together half a second.
const GRACE: Duration = Duration::from_millis(300);
/// How much of the end of its standard error is kept, in bytes.
const KEPT: usize = 2 * 1024;

/// What is known of a server's process from outside.
#[derive(Clone, Default)]
pub(super) struct SignsOfLife {
    /// The end of its standard error.
    pub(super) last_words: Arc<Mutex<Vec<u8>>>,
    /// Whether it has closed its standard output.
    pub(super) has_ended: Arc<AtomicBool>,
}

pub(super) struct StdioTransport {
    // Shared with the futures of `send`, which may not borrow.
    stdin: Arc<tokio::sync::Mutex<Option<ChildStdin>>>,
    stdout: ChildStdout,
    lines: LineDecoder,
    /// Absent once it has been ended.
    child: Option<LeashedChild>,
    stderr: JoinHandle<()>,
    has_ended: Arc<AtomicBool>,
}

impl StdioTransport {
    /// Starts a server. Returns why it cannot be started.
    pub(super) fn start(
        context: &ServerContext,
        command: &str,
        args: &[String],
        env: &[(String, String)],
        signs: SignsOfLife,
    ) -> Result<Self, String> {
        let program = locate_program(command, &context.around.folder, context.env())?;
        let mut process = Command::new(program);
        process
            .args(args)
            .current_dir(&context.around.folder)
            // The environment of the runtime has its keys. A server gets the variables that it may
            // see, and those of its settings, which count more.
            .env_clear()
            .envs(context.env().iter().map(|(name, value)| (name, value)))
            .envs(env.iter().map(|(name, value)| (name, value)))
            .env("PWD", &context.around.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let started = LeashedChild::spawn(process).and_then(|child| Self::with_child(child, signs));
        started.map_err(|error| not_started(command, &error))
    }

    fn with_child(mut child: LeashedChild, signs: SignsOfLife) -> io::Result<Self> {
        let broken = || io::Error::other("a pipe of the process is missing");
        let stdin = ChildStdin::from_std(child.stdin.take().ok_or_else(broken)?)?;
        let stdout = ChildStdout::from_std(child.stdout.take().ok_or_else(broken)?)?;
        let stderr = ChildStderr::from_std(child.stderr.take().ok_or_else(broken)?)?;
        Ok(Self {
            stdin: Arc::new(tokio::sync::Mutex::new(Some(stdin))),
            stdout,
            lines: LineDecoder::new(LONGEST_MESSAGE),
            child: Some(child),
            stderr: tokio::spawn(keep_end(stderr, signs.last_words, KEPT)),
            has_ended: signs.has_ended,
        })
    }
}

impl Drop for StdioTransport {
    fn drop(&mut self) {
        // What the server has started may hold the pipe open, and the task would live as long.
        self.stderr.abort();
    }
}

impl Transport<RoleClient> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let stdin = Arc::clone(&self.stdin);
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            let mut stdin = stdin.lock().await;
            let stdin = stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
            match stdin.write_all(&line).await {
                // The server has ended. The end of its output reports that, with its last words.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                written => written,
            }
        }
    }

    /// Waits for the next message. Lines that are not messages are skipped: some servers print
    /// their log there.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            while let Some(line) = self.lines.next_frame() {
                let message = match line {
                    DecodedLine::Whole(line) => read_message(line),
                    DecodedLine::TooLong(line) => {
                        line.id.and_then(|id| failed_answer(&id, TOO_LONG))
                    }
                };
                if message.is_some() {
                    return message;
                }
            }
            if !matches!(fill_lines(&mut self.stdout, &mut self.lines).await, Ok(1..)) {
                self.has_ended.store(true, Ordering::Release);
                if !self.stderr.is_finished() {
                    // What it started may still hold the pipe.
                    timeout(GRACE, &mut self.stderr).await.ok();
                }
                return None;
            }
        }
    }

    /// Closes the server's input, and ends it with everything that it started.
    async fn close(&mut self) -> io::Result<()> {
        // A server that does not read keeps the input busy until it is ended.
        if let Ok(mut stdin) = timeout(GRACE, self.stdin.lock()).await {
            drop(stdin.take());
        }
        let Some(mut child) = self.child.take() else { return Ok(()) };
        // A server that does not end by itself is ended below.
        timeout(GRACE, child_ended(&child)).await.ok();
        let ended = tokio::task::spawn_blocking(move || child.end_all()).await;
        ended.map_err(io::Error::other)?.map(drop)
    }
}

/// The members of a message that tell whether it is an answer.
#[derive(Deserialize)]
struct AnswerMembers<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    method: Option<IgnoredAny>,
}

/// Reads a message. An answer that cannot be read is a failure, so that nobody waits for it.
fn read_message(line: &[u8]) -> Option<RxJsonRpcMessage<RoleClient>> {
    let error = match serde_json::from_slice(line) {
        Ok(message) => return Some(message),
        Err(error) => error,
    };
    let members: AnswerMembers<'_> = serde_json::from_slice(line).ok()?;
    // A request or a notification of the server: nobody waits for it here.
    if members.method.is_some() {
        return None;
    }
    failed_answer(members.id.get(), &format!("an answer that cannot be read: {error}"))
}

/// Returns an error response with this reason. `id` is JSON.
fn failed_answer(id: &str, why: &str) -> Option<RxJsonRpcMessage<RoleClient>> {
    let id: Value = serde_json::from_str(id).ok()?;
    let error = json!({ "code": UNREADABLE, "message": why });
    serde_json::from_value(json!({ "jsonrpc": "2.0", "id": id, "error": error })).ok()
}
