//! `callgate agent`: the agent runtime on standard input and output.

mod engines;
mod gate;
mod tools;
mod watch;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use callgate_agent::engine::engine_registry::EngineRegistry;
use callgate_agent::history::{FolderScope, History, HistoryLocation};
use callgate_agent::session::{self, LogLevel, SessionLog, Shutdown};
use callgate_agent::tool::AgentTool;
use callgate_agent::tool::files::{FilePicker, ProjectInstructions, TurnTracker};
use callgate_approval::asker;
use callgate_link::text_file::read_limited_text;
use callgate_mask::text;
use jiff::Zoned;
use rustix::process::{DumpableBehavior, Signal, set_dumpable_behavior};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::config::{AgentFlags, AgentSettings, Config, load_config};
use crate::failure::{Failure, write_error_line};
use crate::secrets::SignInFiles;
use gate::Gatekeeper;

/// The system prompt, unless a file replaces it.
const SYSTEM: &str = "You are a careful and capable assistant working on the user's machine \
through callgate. Use the tools to look before you answer, and to do what the user asks for. Read \
a file before you change it, make the smallest change that does the job, and check the result. A \
tool that changes something, runs a program or leaves the working folder may be refused: when \
the result says so, do not try to get around it; say what you wanted to do and why, and go on \
with what is possible. Never claim that something was done or seen that the tools did not show. \
Answer briefly and plainly, in the user's language.";
/// The end of the help.
const TRY: &str = r#"Try:
  echo '{"id":"1","kind":"user_message","message":"list files"}' | callgate agent"#;
/// The hint for a person who starts the runtime by hand.
const HINT: &str = r#"callgate agent: this serves a front end, not a person: it reads one JSON object per line.
Try: {"id":"1","kind":"user_message","message":"list files"}
Ctrl-D ends it; `callgate agent --help` says more."#;
/// The largest file with a prompt that is read, in bytes.
const LONGEST_PROMPT: u64 = 1024 * 1024;

/// Runs the runtime without clap. Returns `None` if clap has to read the command line.
pub(crate) fn main(words: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let (file, flags) = AgentFlags::of_plain_words(words)?;
    let done = AgentArgs { flags }.run(file.as_deref());
    Some(done.unwrap_or_else(|failure| failure.report()))
}

/// Run the agent runtime for a front end
///
/// Reads requests as lines of JSON from standard input and answers on standard output, as
/// docs/protocol/session.md describes. A desktop shell, the server of a web page or a script starts
/// it. Without any settings a built-in offline engine answers; with `ANTHROPIC_API_KEY` a model
/// does. Tools work in the current folder, and you are asked before anything is changed.
#[derive(Debug, clap::Args)]
#[command(after_long_help = TRY)]
pub(crate) struct AgentArgs {
    #[command(flatten)]
    flags: AgentFlags,
}

impl AgentArgs {
    pub(crate) fn run(self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        // Commands that the agent runs must not read the key from our environment or memory. If the
        // kernel does not support this, the runtime works all the same.
        set_dumpable_behavior(DumpableBehavior::NotDumpable).ok();
        let config = load_config(file, &self.flags)?;
        if io::stdin().is_terminal() {
            // The hint is not important enough to fail for.
            writeln!(io::stderr(), "{HINT}").ok();
        }
        let failed = |error: io::Error| Failure::Failed(format!("cannot start: {error}"));
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let served = runtime.block_on(serve_runtime(&config));
        // A tool that hangs must not keep the process alive: its thread ends with the process.
        runtime.shutdown_background();
        served.map(|()| ExitCode::SUCCESS)
    }
}

async fn serve_runtime(config: &Config) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::Failed(format!("cannot serve: {error}"));
    // The parent may end this process, or die, as soon as the process has greeted it.
    let parent = asker::parent_pidfd();
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut hangup = signal(SignalKind::hangup()).map_err(failed)?;
    // With this signal handled, a file at its size limit fails the write and does not end the
    // runtime.
    let _no_end = signal(SignalKind::from_raw(Signal::XFSZ.as_raw())).map_err(failed)?;
    let parts = RuntimeParts::from_config(config)?;
    // Nobody waits for what is started from here on.
    let greeting = session::write_greeting(&mut io::stdout()).map_err(failed)?;
    let (endings, ending) = mpsc::channel(4);
    watch::watch_front_end(parent, endings.clone()).map_err(failed)?;
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
        // A runtime that has ended already does not listen.
        endings.send(Shutdown::Asked).await.ok();
    });
    let options = session_options(config, parts);
    session::serve_session(&greeting, options, io::stdin(), io::stdout(), ending)
        .await
        .map_err(failed)
}

/// The parts of the runtime whose start may fail. Failures are reported before anything is served.
struct RuntimeParts {
    engines: EngineRegistry,
    gate: Gatekeeper,
    tools: Vec<Arc<dyn AgentTool>>,
    system: String,
    instructions: Option<ProjectInstructions>,
    picker: FilePicker,
    changes: TurnTracker,
}

impl RuntimeParts {
    fn from_config(config: &Config) -> Result<Self, Failure> {
        let settings = &config.agent;
        let system = system_prompt(settings)?;
        let log = stderr_log(settings.log_level);
        let warn = Arc::new(move |what: &str| log.write_line(LogLevel::Warn, what));
        let gate = Gatekeeper::new(config, warn);
        let tools = tools::built_in(settings, gate.hidden_files())?;
        let instructions = settings.project_instructions.then(|| {
            let home = std::env::var_os("HOME").map(PathBuf::from);
            ProjectInstructions::new(settings.folder().to_owned(), home, gate.hidden_files())
        });
        let picker = tools::build_file_picker(settings, gate.hidden_files())?;
        let changes = tools::build_turn_tracker(config, gate.hidden_files())?;
        let engines = engines::build_registry(config)?;
        Ok(Self { engines, gate, tools, system, instructions, picker, changes })
    }
}

fn session_options(config: &Config, parts: RuntimeParts) -> session::SessionOptions {
    let (settings, database) = (&config.agent, &config.database);
    let start = |place: HistoryLocation| History::start_in(place, folder_scope(settings));
    let shared = |place: HistoryLocation| {
        let history = start(place);
        (history.clone(), history)
    };
    let (history, ledger) = match &settings.history {
        // One connection for both, because two of one process would wait for each other's lock.
        Some(file) if file == database => shared(HistoryLocation::File(file.clone())),
        None => shared(HistoryLocation::Ledger(database.clone())),
        Some(file) => {
            let at = |file: &PathBuf| start(HistoryLocation::File(file.clone()));
            (at(file), at(database))
        }
    };
    session::SessionOptions {
        engines: parts.engines,
        tools: parts.tools,
        sources: tools::build_tool_sources(settings, &ledger, SignInFiles::beside(database)),
        gate: Arc::new(parts.gate),
        history,
        ledger,
        system: parts.system.into(),
        instructions: parts.instructions,
        picker: Some(parts.picker),
        changes: Some(parts.changes),
        fallback: settings.fallback_model.as_deref().map(Arc::from),
        max_tokens: settings.max_tokens,
        thinking: settings.thinking(),
        context: settings.context_tokens,
        most_rounds: settings.max_rounds,
        patience: settings.retry_seconds,
        budget: settings.budget(),
        prices: settings.model_prices(),
        resume: settings.resume.clone(),
        folder: settings.folder().to_owned(),
        day_began,
        log: stderr_log(settings.log_level),
    }
}

/// Returns the folder to which new conversations belong: the same for every path that leads to it.
fn folder_scope(settings: &AgentSettings) -> FolderScope {
    // Otherwise conversations would not be found again from a folder that is reached by a link.
    let folder = settings.folder().canonicalize().unwrap_or_else(|_| settings.folder().to_owned());
    FolderScope { folder: folder.to_string_lossy().into_owned(), is_all: settings.all_folders }
}

fn system_prompt(settings: &AgentSettings) -> Result<String, Failure> {
    let words = match &settings.system_prompt_file {
        Some(file) => read_prompt(file)?,
        None => SYSTEM.to_owned(),
    };
    let roots: Vec<String> = settings.roots.iter().map(|root| root.display().to_string()).collect();
    let (folder, roots) = (settings.folder().display(), roots.join(", "));
    Ok(format!("{words}\n\nThe working folder is {folder}. File tools work in: {roots}."))
}

fn read_prompt(file: &Path) -> Result<String, Failure> {
    let failed = |why: &dyn std::fmt::Display| {
        Failure::Failed(format!("cannot read the system prompt {}: {why}", file.display()))
    };
    // Reading a pipe or a device might never end.
    if !file.is_file() {
        return Err(failed(&"it is not a file"));
    }
    let text = File::open(file).and_then(|file| read_limited_text(file, LONGEST_PROMPT));
    text.map_err(|error| failed(&error))
}

/// Returns when the user's day began, in milliseconds since 1970.
fn day_began() -> i64 {
    let now = Zoned::now();
    now.start_of_day().map_or_else(|_| now.timestamp(), |began| began.timestamp()).as_millisecond()
}

/// Returns a log that writes to standard error, one line each.
fn stderr_log(level: LogLevel) -> SessionLog {
    SessionLog::new(level, |_, what| write_error_line(&text::one_line(what)))
}
