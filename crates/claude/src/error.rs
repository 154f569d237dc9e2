//! Why a call of the CLI failed.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use callgate_tools::HostError;

use crate::{ClaudeAnswer, ClaudeOutcome};

/// Why a call failed. If the CLI has written to its standard error, the error holds the end of it,
/// with secrets masked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name them")]
pub enum ClaudeError {
    /// There is no tokio runtime to run the call in.
    #[error("a call needs a tokio runtime: make it inside one, or use callgate_claude::blocking")]
    NoRuntime,
    /// The CLI was not found.
    #[error(
        "the Claude Code CLI was found neither on the PATH nor in {looked_in}: install it, or set its \
         path with ClaudeSettings::cli"
    )]
    CliNotFound { looked_in: String },
    /// The CLI could not be started.
    #[error(
        "cannot start {program}: {source}; set the path of the Claude Code CLI with ClaudeSettings::cli"
    )]
    Start { program: PathBuf, source: std::io::Error },
    /// The CLI is older than this program understands.
    #[error(
        "the version of the Claude Code CLI is {found}, but at least {needed} is needed: update it"
    )]
    CliTooOld { found: String, needed: &'static str },
    /// The CLI could not use our tools.
    #[error("BridgeStartupError: {0}")]
    BridgeStartup(String),
    /// The tools could not be offered.
    #[error(transparent)]
    Tools(#[from] HostError),
    /// A file for the CLI could not be written.
    #[error("cannot write {path} for the CLI: {source}")]
    File { path: PathBuf, source: std::io::Error },
    /// The CLI ended before it had answered.
    #[error("the CLI ended before it had answered ({status}); its last output was: {stderr}")]
    Died { status: ExitStatus, stderr: String },
    /// The CLI wrote something that does not follow its protocol.
    #[error("the CLI wrote a line that cannot be read ({reason}); its last output was: {stderr}")]
    Garbage { reason: String, stderr: String },
    /// The CLI refused a request.
    #[error("the CLI refused to {what}: {reason}")]
    Refused { what: String, reason: String },
    /// The CLI wrote nothing for too long while no tool or callback of ours was running.
    #[error("the CLI wrote nothing for {} s and was ended; its last output was: {stderr}", .after.as_secs_f64())]
    Stalled { after: Duration, stderr: String },
    /// The call exceeded its time limit.
    #[error("the call took longer than {} s and was ended", .limit.as_secs_f64())]
    TimeLimit { limit: Duration },
    /// The agent ended without an answer: it was interrupted, its budget was used up, or the
    /// model's service failed. The boxed answer holds the details.
    #[error("{}", unfinished_text(.0))]
    Unfinished(Box<ClaudeAnswer>),
    /// The CLI has ended after an error that was reported before.
    #[error("the conversation has ended: start another, or resume it")]
    Ended,
    /// The pipe to the CLI broke.
    #[error("cannot talk to the CLI: {0}")]
    Io(#[from] std::io::Error),
}

/// Returns the error text of an unfinished answer. After an interrupt, the CLI's own text means
/// nothing to users.
fn unfinished_text(answer: &ClaudeAnswer) -> String {
    match (&answer.outcome, answer.text.as_str()) {
        (ClaudeOutcome::Interrupted, _) => "the agent was interrupted".to_owned(),
        (outcome, "") => format!("the agent ended without an answer: {outcome}"),
        (outcome, text) => format!("the agent ended without an answer: {outcome} ({text})"),
    }
}
