//! Commands in the background: the tools `start_command`, `read_command`, `write_to_command` and
//! `stop_command`.
//!
//! A command ends with the session, however that ends. It belongs to the conversation in which it
//! was started. Its start passes the gate like a command, and so does each line that is written to
//! it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use callgate_link::sync::lock;
use callgate_mask::text::counted_noun;
use callgate_wire::session::tool_kind;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::compose::signal_name;
use super::running_command::{CommandNews, RunningCommand};
use super::{
    RunInput, RunSettings, command_members, parse_object, prepare_command, program, run_fault,
};
use crate::BoxFuture;
use crate::tool::{
    AgentTool, CallOutcome, FaultContext, ToolInvocation, ToolSource, ToolSpec, TurnContext,
    schema_fault,
};

/// How many commands may run at once.
pub const MOST_RUNNING: usize = 16;
/// How many commands are remembered; of those that have ended, the oldest is forgotten first.
const MOST_KNOWN: usize = 64;
/// The longest text that is written to a command at once, in bytes.
pub const LONGEST_LINE: usize = 64 * 1024;
/// The longest wait for output. Front ends give up a request after about 60 seconds of silence.
pub const LONGEST_WAIT: Duration = Duration::from_secs(50);

const STARTS: &str = "Starts a program that keeps running in the background, such as a server, a \
    watcher or a shell, and returns its id at once. `command` is the program alone, `args` are its \
    arguments, one string each; no shell reads them. Look at it with read_command. It ends when the \
    session ends. Use run_shell_command for what ends by itself.";
const READS: &str = "Returns what a command in the background has written since it was last read, \
    standard output and errors together, and whether it still runs. Waits up to `waitSeconds` for \
    output or the end.";
const WRITES: &str = "Writes a line to the input of a command in the background. A line end is \
    added. Every line needs permission like a command. Read the answer with read_command.";
const STOPS: &str = "Ends a command in the background with everything that it has started, and \
    returns the rest of its output.";

/// The commands of a session and the tools for them.
pub struct BackgroundCommands {
    tools: Vec<Arc<dyn AgentTool>>,
    known: Arc<KnownCommands>,
}

struct KnownCommands {
    settings: RunSettings,
    commands: Mutex<Vec<Arc<RunningCommand>>>,
    started: AtomicU64,
}

/// The function of one tool. Its error is the text for the model.
type CommandFunction =
    fn(Arc<KnownCommands>, ToolInvocation) -> BoxFuture<'static, Result<CallOutcome, String>>;

struct CommandTool {
    spec: ToolSpec,
    work: CommandFunction,
    known: Arc<KnownCommands>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StartInput {
    command: String,
    args: Option<Vec<String>>,
    cwd: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReadInput {
    id: String,
    wait_seconds: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WriteInput {
    id: String,
    line: Option<String>,
    end_input: Option<bool>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct NewsReport<'a> {
    id: &'a str,
    running: bool,
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<&'static str>,
    output: &'a str,
    truncated: bool,
}

impl BackgroundCommands {
    /// Creates the tools. Nothing runs yet.
    pub fn new(settings: RunSettings) -> Self {
        let known = Arc::new(KnownCommands {
            settings: settings.without_secrets(),
            commands: Mutex::default(),
            started: AtomicU64::new(0),
        });
        let functions: [CommandFunction; 4] = [
            |known, call| Box::pin(async move { known.start_command(call).await }),
            |known, call| Box::pin(async move { known.read_command(&call).await }),
            |known, call| Box::pin(async move { known.write_to_command(&call).await }),
            |known, call| Box::pin(async move { known.stop_command(&call).await }),
        ];
        let tool = |(spec, work)| {
            Arc::new(CommandTool { spec, work, known: Arc::clone(&known) }) as Arc<dyn AgentTool>
        };
        Self { tools: command_specs().into_iter().zip(functions).map(tool).collect(), known }
    }
}

impl ToolSource for BackgroundCommands {
    fn prepare<'a>(&'a self, _: TurnContext<'a>) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    fn revision(&self) -> u64 {
        // Not 0, which is what a session begins with: the tools would never be collected.
        1
    }

    fn tools(&self) -> Vec<Arc<dyn AgentTool>> {
        self.tools.clone()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        let known = Arc::clone(&self.known);
        Box::pin(async move {
            // A panic has ended it as well.
            tokio::task::spawn_blocking(move || known.end_all()).await.ok();
        })
    }
}

impl Drop for KnownCommands {
    fn drop(&mut self) {
        self.end_all();
    }
}

impl AgentTool for CommandTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn refusal(&self, input: &RawValue) -> Option<String> {
        // Of the four tools only `start_command` names a folder.
        let StartInput { cwd, .. } = parse_object(input).ok()?;
        program::working_folder(&self.known.settings, Some(cwd.as_deref()?)).err()
    }

    fn fault(&self, input: &RawValue, context: FaultContext<'_>) -> Option<String> {
        // The members tell which of the four tools it is.
        if let Ok(start) = parse_object::<StartInput>(input) {
            return run_fault(&self.known.settings, &start.into_run(), context);
        }
        schema_fault(&self.spec, input).or_else(|| {
            let WriteInput { id, .. } = parse_object(input).ok()?;
            self.known.find(&id, context.conversation).err()
        })
    }

    fn run_call(&self, invocation: ToolInvocation) -> BoxFuture<'_, CallOutcome> {
        let done = (self.work)(Arc::clone(&self.known), invocation);
        Box::pin(async move { done.await.unwrap_or_else(CallOutcome::failed) })
    }
}

impl StartInput {
    fn into_run(self) -> RunInput {
        RunInput { command: self.command, args: self.args, timeout_seconds: None, cwd: self.cwd }
    }
}

impl KnownCommands {
    async fn start_command(self: Arc<Self>, call: ToolInvocation) -> Result<CallOutcome, String> {
        let started = tokio::task::spawn_blocking(move || self.started_by(&call)).await;
        let id = started.map_err(|error| format!("the command failed: {error}"))??;
        let text = format!("started as {id}: see its output with read_command");
        Ok(CallOutcome::done(&json!({ "id": id }), text))
    }

    /// Starts a command and returns its id. It may block.
    fn started_by(&self, call: &ToolInvocation) -> Result<String, String> {
        let input: StartInput = parse_call_input(call)?;
        // Held until the new one is in the list: the limit holds for all that start at once.
        let mut commands = lock(&self.commands);
        if commands.iter().filter(|known| known.is_running()).count() >= MOST_RUNNING {
            return Err(format!(
                "{MOST_RUNNING} commands are running: end one with stop_command first"
            ));
        }
        // Without live output: no call waits for it, and `read_command` returns it.
        let job = prepare_command(&self.settings, input.into_run(), Arc::new(|_, _| ()))?;
        let id = format!("command-{}", self.started.fetch_add(1, Ordering::Relaxed) + 1);
        let running = RunningCommand::start(id.clone(), Arc::clone(&call.conversation), &job)
            .map_err(|error| program::not_started(&job.name, &error))?;
        commands.push(running);
        if commands.len() > MOST_KNOWN
            && let Some(oldest) = commands.iter().position(|known| !known.is_running())
        {
            commands.remove(oldest);
        }
        Ok(id)
    }

    async fn read_command(&self, call: &ToolInvocation) -> Result<CallOutcome, String> {
        let ReadInput { id, wait_seconds } = parse_call_input(call)?;
        let command = self.find(&id, &call.conversation)?;
        let longest = parse_wait(wait_seconds)?;
        Ok(news_outcome(&command.id, &command.read_news(longest).await))
    }

    async fn write_to_command(&self, call: &ToolInvocation) -> Result<CallOutcome, String> {
        let input: WriteInput = parse_call_input(call)?;
        let command = self.find(&input.id, &call.conversation)?;
        let (text, is_last) = (line_to_write(&input)?, input.end_input.unwrap_or(false));
        let (id, bytes) = (input.id, text.len());
        let written = tokio::task::spawn_blocking(move || command.write(&text, is_last)).await;
        let written = written.unwrap_or_else(|error| Err(error.to_string()));
        written.map_err(|reason| format!("cannot write to {id}: {reason}"))?;
        let text = format!("wrote {} to {id}", counted_noun(bytes, "byte"));
        Ok(CallOutcome::done(&json!({ "id": id, "bytes": bytes }), text))
    }

    async fn stop_command(&self, call: &ToolInvocation) -> Result<CallOutcome, String> {
        let ReadInput { id, .. } = parse_call_input(call)?;
        let command = self.find(&id, &call.conversation)?;
        let news = command.stop().await;
        lock(&self.commands).retain(|known| known.id != id);
        Ok(news_outcome(&id, &news))
    }

    fn find(&self, id: &str, conversation: &str) -> Result<Arc<RunningCommand>, String> {
        let commands = lock(&self.commands);
        let mut own = commands.iter().filter(|known| *known.conversation == *conversation);
        own.clone().find(|known| known.id == id).map(Arc::clone).ok_or_else(|| {
            let known: Vec<&str> = own.by_ref().map(|known| known.id.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            format!("there is no command {id:?} in this conversation; there are: {known}")
        })
    }

    fn end_all(&self) {
        for command in lock(&self.commands).drain(..) {
            command.end();
        }
    }
}

fn parse_call_input<T: serde::de::DeserializeOwned>(call: &ToolInvocation) -> Result<T, String> {
    parse_object(&call.input).map_err(|error| format!("the input cannot be read: {error}"))
}

fn parse_wait(requested: Option<f64>) -> Result<Duration, String> {
    let seconds = requested.unwrap_or_default();
    let wrong = || format!("waitSeconds is {seconds}; give a number from 0 on, or leave it out");
    if seconds.is_nan() || seconds < 0.0 {
        return Err(wrong());
    }
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT))
}

fn line_to_write(input: &WriteInput) -> Result<String, String> {
    match &input.line {
        Some(line) if line.len() > LONGEST_LINE => {
            Err(format!("the line has {} bytes, and {LONGEST_LINE} are allowed", line.len()))
        }
        Some(line) => Ok(format!("{line}\n")),
        None if input.end_input == Some(true) => Ok(String::new()),
        None => Err("`line` is missing in the input: give the line to write".to_owned()),
    }
}

fn news_outcome(id: &str, news: &CommandNews) -> CallOutcome {
    let signal = news.signal.map(signal_name);
    let state = match (news.is_running, signal, news.exit_code) {
        (true, ..) => format!("{id} is running"),
        (_, Some(signal), _) => format!("{id} was ended by the signal {signal}"),
        (_, _, Some(code)) => format!("{id} has ended with exit code {code}"),
        _ => format!("{id} has ended"),
    };
    let output = if news.output.is_empty() { "(no new output)" } else { &news.output };
    let report = NewsReport {
        id,
        running: news.is_running,
        exit_code: news.exit_code,
        signal,
        output: &news.output,
        truncated: news.is_cut,
    };
    CallOutcome::done(&report, format!("{state}\n{output}"))
}

fn command_specs() -> [ToolSpec; 4] {
    let longest = LONGEST_WAIT.as_secs();
    let wait = format!("How long to wait for output: 0 by default, at most {longest} seconds.");
    let id = json!({ "type": "string", "description": "The id that start_command returned." });
    let read = json!({ "id": id, "waitSeconds": { "type": "number", "description": wait } });
    let write = json!({
        "id": id,
        "line": { "type": "string", "description": "What to write, without the line end." },
        "endInput": { "type": "boolean", "description": "Whether its input ends after this." }
    });
    let kind = tool_kind::EXECUTE;
    [
        ToolSpec::new("start_command", STARTS, &command_members(), &["command"], kind),
        ToolSpec::new("read_command", READS, &read, &["id"], kind).read_only(),
        ToolSpec::new("write_to_command", WRITES, &write, &["id"], kind),
        ToolSpec::new("stop_command", STOPS, &json!({ "id": id }), &["id"], kind),
    ]
}

#[cfg(test)]
mod tests;
