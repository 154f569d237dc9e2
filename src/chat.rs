//! `callgate chat`: talk to an agent in the terminal, or send one message from a script.

mod input_history_file;
mod line_chat;
mod one_shot;
mod piped_input;
mod running_chat;
mod terminal_chat;

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use callgate_agent::session::ResumedConversation;
use callgate_chat::{ChatFolders, WantedConversation, find_attachments};
use callgate_client::{Client, ClientSettings, RestartBackOff};

use crate::config::{AgentFlags, AgentSettings, load_config, process_surroundings};
use crate::failure::Failure;
use crate::terminal::colours::wants_colours;
use crate::terminal::modes::has_terminal;
use input_history_file::InputHistoryFile;
use line_chat::LineChat;
use one_shot::OneShot;
use running_chat::ChatParts;
use terminal_chat::TerminalChat;

/// The end of the help.
const CODES: &str = "\
Exit codes of one message: 0 done, 1 failed, 2 a call was denied or the model refused, 3 the answer
is incomplete, 64 wrong command line, 78 wrong settings, 130 cancelled.

Try:
  callgate chat -p \"What does this folder hold?\"
  git diff | callgate chat -p \"Review this change.\"";
/// How often a runtime that dies is started again, in a script and in a terminal. A script is given
/// the failure at once, so that it can decide itself whether to try again.
const SCRIPT_RESTARTS: u32 = 0;
const TERMINAL_RESTARTS: u32 = 8;

/// Talk to an agent in the terminal
///
/// Starts the agent runtime in the current folder and shows its answers, the tools it uses and the
/// questions it asks; /help lists the commands and keys. With --prompt, or if standard input is not
/// a terminal, it sends one message, prints the answer and ends; text on standard input is appended
/// to the message. A call that needs permission is then asked at the desk (`callgate up`), and
/// denied if none runs.
#[derive(Debug, clap::Args)]
#[command(after_long_help = CODES)]
pub(crate) struct ChatArgs {
    /// Send this message, print the answer, and end
    #[arg(short, long, value_name = "MESSAGE")]
    prompt: Option<String>,
    /// Print the events of the session protocol as lines of JSON; for one message
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    flags: AgentFlags,
}

impl ChatArgs {
    pub(crate) fn run(self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        // Wrong settings are reported here, and not by a runtime that dies of them.
        let config = load_config(file, &self.flags)?;
        let message = self.read_message()?;
        let cannot = |error: io::Error| Failure::Failed(format!("cannot start: {error}"));
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(cannot)?;
        let code = runtime.block_on(async {
            let restarts = if message.is_some() { SCRIPT_RESTARTS } else { TERMINAL_RESTARTS };
            let client = Client::start(self.client_settings(file, restarts)?)
                .map_err(|error| Failure::Failed(error.to_string()))?;
            let folder = config.agent.folder().to_owned();
            let around = process_surroundings();
            let folders = ChatFolders {
                working: folder.canonicalize().unwrap_or(folder),
                home: around.home.clone(),
            };
            let wanted = wanted_conversation(&config.agent);
            let Some(message) = message else {
                let history =
                    around.data_folder().map(|folder| InputHistoryFile::in_folder(&folder));
                let is_kept = config.agent.history.is_some();
                let colours = wants_colours();
                let start = ChatParts { client, folders, wanted, is_kept, history };
                let code = if is_dumb() {
                    LineChat { start }.run().await
                } else {
                    TerminalChat { start, colours }.run().await
                };
                return code.map_err(Failure::from);
            };
            // A file is attached only by somebody's own words, not by a text that is passed on.
            let words = self.prompt.as_deref().unwrap_or_default();
            let attachments = find_attachments(words, &folders);
            let (is_json, desk_socket) = (self.json, config.socket.value.clone());
            let shot = OneShot { client, wanted, message, attachments, is_json, desk_socket };
            shot.run().await.map_err(Failure::from)
        });
        // What still runs is ended with the process.
        runtime.shutdown_background();
        code.map(ExitCode::from)
    }

    /// Returns the one message, if there is to be only one.
    fn read_message(&self) -> Result<Option<String>, Failure> {
        if self.prompt.is_none() && !self.json && has_terminal() {
            return Ok(None);
        }
        let prompt = self.prompt.as_deref().unwrap_or_default();
        let input = if self.prompt.is_none() || piped_input::is_given() {
            let cannot = |error| Failure::Failed(format!("cannot read standard input: {error}"));
            piped_input::read_standard_input().map_err(cannot)?
        } else {
            String::new()
        };
        let message = match (prompt.trim().is_empty(), input.trim().is_empty()) {
            (_, true) => prompt.to_owned(),
            (true, _) => input,
            (false, false) => format!("{prompt}\n\n{input}"),
        };
        if message.trim().is_empty() {
            let text = "there is no message to send: give it with --prompt, or on standard input";
            return Err(Failure::Failed(text.to_owned()));
        }
        Ok(Some(message))
    }

    /// Returns how the runtime is started: by this program, with the same settings.
    fn client_settings(
        &self,
        file: Option<&Path>,
        restarts: u32,
    ) -> Result<ClientSettings, Failure> {
        let cannot = |why: &str| Failure::Failed(format!("cannot start the runtime: {why}"));
        let program = env::current_exe().map_err(|error| cannot(&error.to_string()))?;
        let flags = self.flags.command_line_words(&process_surroundings());
        let flags = flags.ok_or_else(|| cannot("a setting is not UTF-8"))?;
        let mut settings = ClientSettings::new(program).arg("agent");
        let absolute = file.map(std::path::absolute).transpose().map_err(Failure::from)?;
        let config: Option<[OsString; 2]> =
            absolute.map(|file: PathBuf| ["--config".into(), file.into()]);
        settings.args.extend(config.into_iter().flatten());
        settings.args.extend(flags.into_iter().map(OsString::from));
        settings.back_off =
            RestartBackOff { most_restarts: Some(restarts), ..RestartBackOff::default() };
        Ok(settings)
    }
}

/// Returns the conversation that the settings name.
fn wanted_conversation(settings: &AgentSettings) -> WantedConversation {
    match settings.resume.clone() {
        ResumedConversation::None => WantedConversation::New,
        ResumedConversation::Last => WantedConversation::Last { is_all: settings.all_folders },
        ResumedConversation::Id(id) => WantedConversation::Id(id),
    }
}

/// Returns true if nothing can be drawn on the terminal.
fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|terminal| terminal == "dumb")
}
