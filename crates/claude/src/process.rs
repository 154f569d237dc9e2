//! The CLI's process: its pipes, its standard error and its end.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use callgate_link::child::LeashedChild;
use callgate_link::tokio::{child_ended, fill_lines};
use callgate_mask::SecretVariables;
use callgate_wire::control::CliMessage;
use callgate_wire::frame::{DecodedLine, LineDecoder};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::timeout;

use crate::ask::LaunchOptions;
use crate::fake::FakeSetup;
use crate::gate::GateRegistration;
use crate::links::ToolLinks;
use crate::stderr::CliStderr;
use crate::{ClaudeAnswer, ClaudeError, ClaudeSettings, cli};

/// The longest line of the CLI, in bytes; tool results with images are long.
pub(crate) const LONGEST_LINE: usize = 64 * 1024 * 1024;
/// How long the CLI may take to end by itself.
const FAREWELL: Duration = Duration::from_secs(5);
/// How long its standard error may stay open once it has ended: a child may hold the pipe.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A running CLI. Dropping it ends the CLI with everything that it started.
pub(crate) struct CliProcess {
    pub(crate) input: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    output: Box<dyn AsyncRead + Send + Unpin>,
    /// Absent for a fake, which has no process.
    child: Option<CliChild>,
}

struct CliChild {
    child: LeashedChild,
    stderr: CliStderr,
    secrets: SecretVariables,
    /// Registered as long as the CLI may ask. It is the last field, so that the CLI ends before it.
    _gate: Option<GateRegistration>,
}

impl CliProcess {
    /// Starts the CLI.
    pub(crate) fn start(
        settings: &ClaudeSettings,
        launch: &LaunchOptions,
        links: &ToolLinks,
    ) -> Result<Self, ClaudeError> {
        if let Some(fake) = &settings.fake {
            let (input, output) = fake.start_playing(FakeSetup {
                server: links.server_name().to_owned(),
                allowed: settings.allowed.clone(),
                denied: settings.denied.clone(),
                model: settings.model.clone().unwrap_or_else(|| "fake".to_owned()),
            });
            return Ok(Self {
                input: Some(Box::new(input)),
                output: Box::new(output),
                child: None,
            });
        }
        let program = cli::find_cli(settings)?;
        let gate = settings.desk.as_deref().and_then(GateRegistration::register);
        let (config, rule) = (links.config(), links.allow_rule());
        let command = cli::build_command(&program, settings, launch, config, rule, gate.as_ref());
        // The CLI may repeat what is in its environment when it fails.
        let set = settings.environment.iter().cloned();
        let set = set.filter_map(|(name, value)| Some((name, value?)));
        let secrets = SecretVariables::new(std::env::vars_os().chain(set));
        // Gently, because the CLI ends the commands that it runs, which are in groups of their own,
        // when it receives SIGTERM. A killed one would leave them running.
        let mut child = LeashedChild::spawn_gently(command)
            .map_err(|source| ClaudeError::Start { program, source })?;
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        let input = ChildStdin::from_std(child.stdin.take().ok_or_else(broken)?)?;
        let output = ChildStdout::from_std(child.stdout.take().ok_or_else(broken)?)?;
        let pipe = ChildStderr::from_std(child.stderr.take().ok_or_else(broken)?)?;
        let stderr = CliStderr::collect(pipe);
        let child = CliChild { child, stderr, secrets, _gate: gate };
        Ok(Self { input: Some(Box::new(input)), output: Box::new(output), child: Some(child) })
    }

    /// Writes some of `bytes`, unless the CLI's input is closed.
    pub(crate) fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.input {
            Some(input) => Pin::new(input).poll_write(context, bytes),
            None => Poll::Pending,
        }
    }

    pub(crate) fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        space: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut space = ReadBuf::new(space);
        let read = Pin::new(&mut self.output).poll_read(context, &mut space);
        read.map_ok(|()| space.filled().len())
    }

    /// Returns the end of the CLI's standard error, with secrets masked.
    pub(crate) fn last_words(&self) -> String {
        self.child
            .as_ref()
            .map_or_else(|| "nothing".to_owned(), |child| child.stderr.masked_text(&child.secrets))
    }

    /// Lets the CLI end by itself, so that it can save its state. Returns the result of what it
    /// still does before that, such as reading the end of a command in the background.
    pub(crate) async fn shut_down(mut self) -> Option<ClaudeAnswer> {
        // The end of its input is what makes the CLI end.
        self.input = None;
        let (mut lines, mut later) = (LineDecoder::new(LONGEST_LINE), None);
        let drain = async {
            while let Ok(1..) = fill_lines(&mut self.output, &mut lines).await {
                while let Some(line) = lines.next_frame() {
                    later = combined_answer(&line, later.take());
                }
            }
        };
        // Its output is read on, because a CLI that cannot write does not end.
        timeout(FAREWELL, drain).await.ok();
        if let Some(child) = &self.child {
            timeout(FAREWELL, child_ended(&child.child)).await.ok();
        }
        later
    }

    /// Returns the error for a CLI whose output ended before its answer.
    pub(crate) async fn early_exit_error(mut self) -> ClaudeError {
        self.input = None;
        let Some(mut cli) = self.child.take() else {
            return io::Error::from(io::ErrorKind::UnexpectedEof).into();
        };
        timeout(FAREWELL, child_ended(&cli.child)).await.ok();
        timeout(LAST_WORDS, cli.stderr.read_to_its_end()).await.ok();
        // This is asked before `wait`, which would block the runtime's thread.
        if matches!(cli.child.has_ended(), Ok(false)) {
            return io::Error::other("it has closed its output, but is still running").into();
        }
        match cli.child.wait() {
            Ok(status) => {
                ClaudeError::Died { status, stderr: cli.stderr.masked_text(&cli.secrets) }
            }
            Err(error) => ClaudeError::Io(error),
        }
    }
}

/// Returns the result in a line together with those before it, or only those.
fn combined_answer(line: &DecodedLine<'_>, earlier: Option<ClaudeAnswer>) -> Option<ClaudeAnswer> {
    let DecodedLine::Whole(line) = line else { return earlier };
    match CliMessage::decode(line) {
        Ok(CliMessage::Message { kind, message }) if kind == "result" => {
            let answer = ClaudeAnswer::from_message(&message);
            Some(match earlier {
                Some(earlier) => answer.merge_earlier(earlier),
                None => answer,
            })
        }
        _ => earlier,
    }
}

impl fmt::Debug for CliProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.child.as_ref().map(|child| child.child.id());
        f.debug_struct("CliProcess").field("id", &id).finish_non_exhaustive()
    }
}
