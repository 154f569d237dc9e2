//! The tool `run_shell_command`: a program with its arguments, without a shell, watched and ended.
//!
//! A command that ran to its end is no failure, whatever its exit code: `grep` and `test` say "no"
//! by it. The model is told the code in the first line. Failures are: not started, ended by the
//! time limit, ended by a signal.
//!
//! Nothing that a command started stays: the processes below it, in its group, and those that
//! still carry its mark in their environment are ended with it. Only a program that leaves the
//! group and clears its environment gets away.

mod compose;
mod kept;
mod live;
mod program;
mod scrub;
mod watch;

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{PipeReader, pipe};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use callgate_wire::session::tool_kind;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use crate::BoxFuture;
use crate::tool::{AgentTool, ProgressSink, ToolInvocation, ToolOutcome, ToolSpec};

pub(crate) use program::{find, folders};
pub use scrub::scrub;

/// How long a command may run when its input does not say. Front ends give a request up after
/// about 60 seconds without a word, and one that takes no extensions can be sent no sign of life.
pub const TIMEOUT: Duration = Duration::from_secs(50);
/// How long a command may run at most.
pub const LONGEST_TIMEOUT: Duration = Duration::from_mins(10);
/// How many bytes of output the model and the front end get, of both streams together.
pub const MOST_OUTPUT: usize = 100_000;

const NAME: &str = "run_shell_command";
const DESCRIPTION: &str = "Runs a program and waits until it has ended. `command` is the program \
    alone (a name on PATH or a path), `args` are its arguments, one string each. No shell reads \
    them: no pipes, redirections, wildcards or variables; where they are needed, run `sh` with \
    `-c`. Standard input is empty. What the program leaves running in the background is ended \
    with it. The answer begins with the exit code.";

/// What commands run with.
#[derive(Debug, Clone)]
pub struct RunSettings {
    /// The folder in which a command runs that names none.
    pub cwd: PathBuf,
    /// The folders in which commands may work.
    pub roots: Vec<PathBuf>,
    /// How long a command may run when its input does not say.
    pub timeout: Duration,
    /// How long it may run at most; a longer wish is cut to this.
    pub max_timeout: Duration,
    /// How many bytes of output are given back, of both streams together.
    pub max_output: usize,
    /// The environment of our process; commands get it without what looks like a secret.
    pub env: Vec<(OsString, OsString)>,
    /// Variables that commands get although they look like a secret, such as `SSH_AUTH_SOCK`.
    pub keep: Vec<String>,
}

impl RunSettings {
    /// Returns everything in one folder, and the usual limits.
    #[must_use]
    pub fn new(cwd: PathBuf, env: Vec<(OsString, OsString)>) -> Self {
        Self {
            roots: vec![cwd.clone()],
            cwd,
            timeout: TIMEOUT,
            max_timeout: LONGEST_TIMEOUT,
            max_output: MOST_OUTPUT,
            env,
            keep: Vec::new(),
        }
    }
}

/// Returns the tool `run_shell_command`.
#[must_use]
pub fn tool(mut settings: RunSettings) -> Arc<dyn AgentTool> {
    settings.env = scrub(settings.env, &settings.keep);
    let spec = spec(settings.timeout.min(settings.max_timeout), settings.max_timeout);
    Arc::new(RunTool { spec, settings: Arc::new(settings) })
}

/// Returns what commands get of an environment that was scrubbed already.
fn settled(env: &[(OsString, OsString)]) -> impl Iterator<Item = (OsString, OsString)> {
    // Nobody sits at a terminal: no colours, no pager, and no question for a password.
    let ours = [("TERM", "dumb"), ("PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0")];
    env.iter().cloned().chain(ours.map(|(name, value)| (name.into(), value.into())))
}

struct RunTool {
    spec: ToolSpec,
    settings: Arc<RunSettings>,
}

/// What the model sends.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RunInput {
    command: String,
    #[serde(default)]
    args: Option<Vec<String>>,
    #[serde(default)]
    timeout_seconds: Option<f64>,
    #[serde(default)]
    cwd: Option<String>,
}

fn spec(usual: Duration, longest: Duration) -> ToolSpec {
    let (usual, longest) = (usual.as_secs_f64(), longest.as_secs_f64());
    let timeout = format!(
        "After how many seconds it is ended: {usual} unless told, {longest} at most. Give more \
         for what takes long, such as a build."
    );
    let schema = json!({
        "type": "object",
        "properties": {
            "command": {
                "type": "string",
                "description": "The program alone: a name on PATH, or a path."
            },
            "args": {
                "type": "array",
                "items": { "type": "string" },
                "description": "Its arguments, one string each."
            },
            "timeoutSeconds": {
                "type": "number",
                "description": timeout
            },
            "cwd": {
                "type": "string",
                "description": "The folder to run in, if not the project's."
            }
        },
        "required": ["command"],
        "additionalProperties": false
    });
    let input_schema = to_raw_value(&schema).unwrap_or_else(|_| RawValue::NULL.to_owned());
    let kind = tool_kind::EXECUTE;
    ToolSpec { name: NAME, description: DESCRIPTION, input_schema, is_read_only: false, kind }
}

impl AgentTool for RunTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Refuses a working folder outside of the allowed ones.
    fn refusal(&self, input: &RawValue) -> BoxFuture<'_, Option<String>> {
        let (settings, input) = (Arc::clone(&self.settings), read(input));
        Box::pin(async move {
            // What is wrong with the rest of the input, the tool says itself.
            let wished = input.ok()?.cwd?;
            let look = move || program::working_folder(&settings, Some(&wished)).err();
            // A check that broke off refuses nothing: the tool itself stays inside.
            tokio::task::spawn_blocking(look).await.unwrap_or_default()
        })
    }

    fn run(&self, use_: ToolInvocation) -> BoxFuture<'_, ToolOutcome> {
        let settings = Arc::clone(&self.settings);
        Box::pin(async move {
            let input = match read(&use_.input) {
                Ok(input) => input,
                Err(error) => return ToolOutcome::failed(unreadable(&error)),
            };
            // Dropped with this future, the pipe tells the thread to end the command.
            let (cancel, alive) = match pipe() {
                Ok(ends) => ends,
                Err(error) => return ToolOutcome::failed(format!("cannot make a pipe: {error}")),
            };
            let work = move || start(&settings, input, use_.progress, &cancel);
            let outcome = tokio::task::spawn_blocking(work).await;
            drop(alive);
            outcome.unwrap_or_else(|error| {
                ToolOutcome::failed(format!("the command is lost: {error}"))
            })
        })
    }
}

/// Reads an object, and nothing else: a list of the values would do as well, but the rules that
/// have judged the input do not know which is which.
fn read(input: &RawValue) -> serde_json::Result<RunInput> {
    serde_json::from_str::<HashMap<String, &RawValue>>(input.get())?;
    serde_json::from_str(input.get())
}

fn unreadable(error: &serde_json::Error) -> String {
    format!(
        "the input of {NAME} cannot be read: {error}. Give {{\"command\": \"program\", \
         \"args\": [\"one\", \"two\"]}}."
    )
}

/// Runs a command to its end, on a thread that may wait.
fn start(
    settings: &RunSettings,
    input: RunInput,
    progress: ProgressSink,
    cancel: &PipeReader,
) -> ToolOutcome {
    let job = match prepare(settings, input, progress) {
        Ok(job) => job,
        Err(why) => return ToolOutcome::failed(why),
    };
    match watch::run(&job, cancel) {
        Ok(Some(mut ended)) => compose::outcome(&mut ended, job.limit, settings.max_output),
        // Nobody reads it.
        Ok(None) => ToolOutcome::failed("the command was cancelled"),
        Err(error) => ToolOutcome::failed(program::not_started(&job.name, &error)),
    }
}

fn prepare(
    settings: &RunSettings,
    input: RunInput,
    progress: ProgressSink,
) -> Result<watch::CommandJob, String> {
    let cwd = program::working_folder(settings, input.cwd.as_deref())?;
    let program = program::locate(&input.command, &cwd, &settings.env)?;
    Ok(watch::CommandJob {
        program,
        name: input.command,
        args: input.args.unwrap_or_default(),
        cwd,
        env: settled(&settings.env).collect(),
        limit: limit(settings, input.timeout_seconds)?,
        most: settings.max_output,
        progress,
    })
}

fn limit(settings: &RunSettings, wished: Option<f64>) -> Result<Duration, String> {
    let Some(seconds) = wished else { return Ok(settings.timeout.min(settings.max_timeout)) };
    if seconds.is_nan() || seconds <= 0.0 {
        return Err(format!("timeoutSeconds is {seconds}; give a number above 0, or leave it out"));
    }
    // What no duration can hold is longer than the longest.
    let wished = Duration::try_from_secs_f64(seconds).unwrap_or(settings.max_timeout);
    Ok(wished.min(settings.max_timeout))
}

#[cfg(test)]
mod tests;
