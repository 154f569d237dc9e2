//! The tool `run_shell_command`: runs a program with its arguments, without a shell.
//!
//! A command that ran to its end has not failed, whatever its exit code: `grep` and `test` use it
//! to say "no". The model reads the code in the first line. Failures are: not started, ended by the
//! time limit, ended by a signal.
//!
//! Nothing that a command started outlives it: its descendants, the processes in its group, and
//! those that still have its mark in their environment are ended with it. Only a program that
//! leaves the group and clears its environment escapes.

mod background;
mod compose;
mod kept_output;
mod live_output;
mod program;
mod running_command;
mod scrub;
mod watch;

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{PipeReader, pipe};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use callgate_wire::session::tool_kind;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::BoxFuture;
use crate::tool::{AgentTool, CallOutcome, FaultContext, ProgressSink, ToolInvocation, ToolSpec};

pub use background::{BackgroundCommands, LONGEST_LINE, LONGEST_WAIT, MOST_RUNNING};
use compose::ExpectedEnd;
pub(crate) use program::{locate_program, not_started, path_folders};
pub use scrub::scrub_variables;

/// The default time limit of a command. Front ends give up a request after about 60 seconds of
/// silence, and one without extensions cannot be sent a sign of life.
pub const TIMEOUT: Duration = Duration::from_secs(50);
pub const LONGEST_TIMEOUT: Duration = Duration::from_mins(10);
/// The limit of the output for the model and the front end, in bytes of both streams together.
pub const MOST_OUTPUT: usize = 100_000;

const NAME: &str = "run_shell_command";
const DESCRIPTION: &str = "Runs a program and waits until it has ended. `command` is the program \
    alone (a name on PATH or a path), `args` are its arguments, one string each. No shell reads \
    them: no pipes, redirections, wildcards or variables; where they are needed, run `sh` with \
    `-c`. Standard input is empty. What the program leaves running in the background is ended \
    with it. The answer begins with the exit code.";

#[derive(Debug, Clone)]
pub struct RunSettings {
    /// The working folder of commands that name none.
    pub cwd: PathBuf,
    pub roots: Vec<PathBuf>,
    pub timeout: Duration,
    /// The maximum time limit; a longer requested one is reduced to it.
    pub max_timeout: Duration,
    /// The limit of the returned output, in bytes of both streams together.
    pub max_output: usize,
    /// The environment of our process; commands get it without variables that look like secrets.
    pub env: Vec<(OsString, OsString)>,
    /// Variables that commands get although they look like secrets, such as `SSH_AUTH_SOCK`.
    pub keep: Vec<String>,
}

impl RunSettings {
    /// Creates settings for one folder, with the default limits.
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

    pub(crate) fn without_secrets(mut self) -> Self {
        self.env = scrub_variables(self.env, &self.keep);
        self
    }
}

pub fn build_shell_tool(settings: RunSettings) -> Arc<dyn AgentTool> {
    let settings = settings.without_secrets();
    let spec = shell_command_spec(settings.timeout.min(settings.max_timeout), settings.max_timeout);
    Arc::new(RunTool { spec, settings: Arc::new(settings) })
}

/// Returns the environment of commands, given one without secrets.
fn command_env(env: &[(OsString, OsString)]) -> impl Iterator<Item = (OsString, OsString)> {
    // Nobody sits at a terminal: no colours, no pager, and no question for a password. Last, so
    // that these count more than what is set.
    let ours = [("TERM", "dumb"), ("PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0")];
    env.iter().cloned().chain(ours.map(|(name, value)| (name.into(), value.into())))
}

struct RunTool {
    spec: ToolSpec,
    settings: Arc<RunSettings>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RunInput {
    command: String,
    args: Option<Vec<String>>,
    timeout_seconds: Option<f64>,
    cwd: Option<String>,
}

/// Returns the members of an input that say what to run.
fn command_members() -> Value {
    json!({
        "command": {
            "type": "string",
            "description": "The program alone: a name on PATH, or a path."
        },
        "args": {
            "type": "array",
            "items": { "type": "string" },
            "description": "Its arguments, one string each."
        },
        "cwd": { "type": "string", "description": "The folder to run in, if not the project's." }
    })
}

fn shell_command_spec(usual: Duration, longest: Duration) -> ToolSpec {
    let (usual, longest) = (usual.as_secs_f64(), longest.as_secs_f64());
    let timeout = format!(
        "After how many seconds it is ended: {usual} by default, at most {longest}. Give more \
         for what takes long, such as a build."
    );
    let mut properties = command_members();
    properties["timeoutSeconds"] = json!({ "type": "number", "description": timeout });
    ToolSpec::new(NAME, DESCRIPTION, &properties, &["command"], tool_kind::EXECUTE)
}

impl AgentTool for RunTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Refuses a working folder outside the allowed ones.
    fn refusal(&self, input: &RawValue) -> Option<String> {
        // The tool itself reports what is wrong with the rest of the input.
        let RunInput { cwd, .. } = parse_object(input).ok()?;
        program::working_folder(&self.settings, Some(cwd.as_deref()?)).err()
    }

    fn fault(&self, input: &RawValue, context: FaultContext<'_>) -> Option<String> {
        match parse_object(input) {
            Ok(input) => run_fault(&self.settings, &input, context),
            Err(error) => Some(unreadable_input(&error)),
        }
    }

    fn run_call(&self, invocation: ToolInvocation) -> BoxFuture<'_, CallOutcome> {
        let settings = Arc::clone(&self.settings);
        Box::pin(async move {
            match parse_object(&invocation.input) {
                Ok(input) => {
                    on_thread(move |cancel| {
                        run_command(&settings, input, invocation.progress, cancel)
                    })
                    .await
                }
                Err(error) => CallOutcome::failed(unreadable_input(&error)),
            }
        })
    }
}

fn run_fault(
    settings: &RunSettings,
    input: &RunInput,
    context: FaultContext<'_>,
) -> Option<String> {
    let cwd = match program::working_folder(settings, input.cwd.as_deref()) {
        Ok(cwd) => cwd,
        Err(reason) => return Some(reason),
    };
    // A path tells whether a file exists; a name on PATH tells nothing.
    let path = cwd.join(&input.command);
    let is_seen = !input.command.contains('/') || path.to_str().is_some_and(context.may_read);
    let located = is_seen.then(|| program::locate_program(&input.command, &cwd, &settings.env));
    located.and_then(Result::err).or_else(|| time_limit(settings, input.timeout_seconds).err())
}

/// A program that a tool of another name runs, with all that the model does not choose.
pub(crate) struct FixedProgram {
    pub(crate) program: PathBuf,
    pub(crate) input: File,
    pub(crate) limit: Option<Duration>,
}

/// Runs a program in the working folder, like a command. An exit code other than 0 is a failure.
/// The settings have to be scrubbed.
pub(crate) async fn run_program(
    settings: &Arc<RunSettings>,
    program: FixedProgram,
    progress: ProgressSink,
) -> CallOutcome {
    let settings = Arc::clone(settings);
    let FixedProgram { program, input, limit } = program;
    let job = watch::CommandJob {
        name: program.to_string_lossy().into_owned(),
        program,
        args: Vec::new(),
        cwd: settings.cwd.clone(),
        env: command_env(&settings.env).collect(),
        input: Some(input),
        limit: limit.unwrap_or(settings.timeout).min(settings.max_timeout),
        most: settings.max_output,
        progress,
    };
    on_thread(move |cancel| run_prepared(&job, cancel, ExpectedEnd::Success)).await
}

/// Runs a command on a thread that may block. When this future is dropped, the pipe tells the
/// thread to end the command.
async fn on_thread(work: impl FnOnce(&PipeReader) -> CallOutcome + Send + 'static) -> CallOutcome {
    let (cancel, alive) = match pipe() {
        Ok(ends) => ends,
        Err(error) => return CallOutcome::failed(format!("cannot make a pipe: {error}")),
    };
    let outcome = tokio::task::spawn_blocking(move || work(&cancel)).await;
    // Held until here: dropped earlier with this future, it has the thread end the command.
    drop(alive);
    outcome.unwrap_or_else(|error| CallOutcome::failed(format!("the command failed: {error}")))
}

/// Parses an object, and nothing else: serde would accept a list of the values as well, but the
/// rules that judged the input could not tell which is which.
fn parse_object<T: serde::de::DeserializeOwned>(input: &RawValue) -> serde_json::Result<T> {
    serde_json::from_str::<HashMap<String, &RawValue>>(input.get())?;
    serde_json::from_str(input.get())
}

fn unreadable_input(error: &serde_json::Error) -> String {
    format!(
        "the input of {NAME} cannot be read: {error}. Give {{\"command\": \"program\", \
         \"args\": [\"one\", \"two\"]}}."
    )
}

/// Runs a command to its end, on a thread that may block.
fn run_command(
    settings: &RunSettings,
    input: RunInput,
    progress: ProgressSink,
    cancel: &PipeReader,
) -> CallOutcome {
    let job = match prepare_command(settings, input, progress) {
        Ok(job) => job,
        Err(reason) => return CallOutcome::failed(reason),
    };
    run_prepared(&job, cancel, ExpectedEnd::AnyCode)
}

fn run_prepared(
    job: &watch::CommandJob,
    cancel: &PipeReader,
    expected: ExpectedEnd,
) -> CallOutcome {
    match watch::run_watched(job, cancel) {
        Ok(Some(mut ended)) => compose::command_outcome(&mut ended, job.limit, job.most, expected),
        // Nobody reads this text, because whoever called has gone.
        Ok(None) => CallOutcome::failed("the command was cancelled"),
        Err(error) => CallOutcome::failed(program::not_started(&job.name, &error)),
    }
}

fn prepare_command(
    settings: &RunSettings,
    input: RunInput,
    progress: ProgressSink,
) -> Result<watch::CommandJob, String> {
    let cwd = program::working_folder(settings, input.cwd.as_deref())?;
    let program = program::locate_program(&input.command, &cwd, &settings.env)?;
    Ok(watch::CommandJob {
        program,
        name: input.command,
        args: input.args.unwrap_or_default(),
        cwd,
        env: command_env(&settings.env).collect(),
        input: None,
        limit: time_limit(settings, input.timeout_seconds)?,
        most: settings.max_output,
        progress,
    })
}

fn time_limit(settings: &RunSettings, requested: Option<f64>) -> Result<Duration, String> {
    let Some(seconds) = requested else { return Ok(settings.timeout.min(settings.max_timeout)) };
    if seconds.is_nan() || seconds <= 0.0 {
        return Err(format!("timeoutSeconds is {seconds}; give a number above 0, or leave it out"));
    }
    // A number that no duration can hold is above every limit.
    let requested = Duration::try_from_secs_f64(seconds).unwrap_or(settings.max_timeout);
    Ok(requested.min(settings.max_timeout))
}

#[cfg(test)]
mod tests;
