//! The settings as flags, for the commands that take them. Secrets have none: a command line is
//! for all to see.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::keys::{self, Kind};
use super::places::Surroundings;

/// What was given: the key, the flag, the text.
pub(crate) type Given<'a> = (&'static str, &'static str, &'a OsStr);

/// Settings given on the command line; they stand above the environment and the settings file.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Settings (over the environment and the settings file)")]
pub(crate) struct Flags {
    #[command(flatten)]
    desk: DeskFlags,
    /// A second socket for old clients, served when it is free; empty for none
    #[arg(long, value_name = "PATH")]
    legacy_socket: Option<OsString>,
    /// How long a question waits before it is sent to phones
    #[arg(long, value_name = "SECONDS")]
    phone_after_seconds: Option<OsString>,
    /// Whether you hear when an agent has finished a turn, and its notifications: true or false
    #[arg(long, value_name = "SWITCH")]
    notify_on_stop: Option<OsString>,
    /// What decides where no rule does, in modes in which the agent asks nobody: rules or ask
    #[arg(long, value_name = "WORD")]
    gate_unattended: Option<OsString>,
    /// What the hook does where no rule decides and no desk runs: agent or deny
    #[arg(long, value_name = "WORD")]
    gate_when_absent: Option<OsString>,
    /// The file with the bot's token
    #[arg(long, value_name = "FILE")]
    telegram_token_file: Option<OsString>,
    /// The address of the Bot API
    #[arg(long, value_name = "URL")]
    telegram_api_url: Option<OsString>,
    /// The chats that are asked, separated by commas
    #[arg(long, value_name = "IDS", allow_hyphen_values = true)]
    telegram_allowed_chats: Option<OsString>,
    /// The users who may answer in a group, separated by commas
    #[arg(long, value_name = "IDS")]
    telegram_allowed_users: Option<OsString>,
}

/// Where the desk is and what holds for its questions.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Settings (over the environment and the settings file)")]
pub(crate) struct DeskFlags {
    /// The socket on which the desk takes questions
    #[arg(long, value_name = "PATH")]
    socket: Option<OsString>,
    /// How long a question stays open, 1 to 3600
    #[arg(long, value_name = "SECONDS")]
    timeout_seconds: Option<OsString>,
    /// How long a waiting hook tries to reach a desk that has gone away
    #[arg(long, value_name = "SECONDS")]
    grace_seconds: Option<OsString>,
    /// The file with the ledger
    #[arg(long, value_name = "FILE")]
    database: Option<OsString>,
    /// The socket on which the desk serves viewers
    #[arg(long, value_name = "PATH")]
    desk_socket: Option<OsString>,
    /// The file with your rules
    #[arg(long, value_name = "FILE")]
    rules: Option<OsString>,
}

/// Settings of the agent runtime given on the command line.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Settings (over the environment and the settings file)")]
pub(crate) struct AgentFlags {
    #[command(flatten)]
    desk: DeskFlags,
    /// The engine that answers: auto, anthropic or offline
    #[arg(long, value_name = "ENGINE")]
    engine: Option<OsString>,
    /// The model, as its provider names it
    #[arg(long, value_name = "NAME")]
    model: Option<OsString>,
    /// The address of the model's API
    #[arg(long, value_name = "URL")]
    base_url: Option<OsString>,
    /// The file with the key of the model's API
    #[arg(long, value_name = "FILE")]
    api_key_file: Option<OsString>,
    /// The length of the longest answer
    #[arg(long, value_name = "TOKENS")]
    max_tokens: Option<OsString>,
    /// How much the model may think before it answers; 0 turns thinking off
    #[arg(long, value_name = "TOKENS")]
    thinking_tokens: Option<OsString>,
    /// The size of the model's context window
    #[arg(long, value_name = "TOKENS")]
    context_tokens: Option<OsString>,
    /// How many rounds of tool calls one message may take
    #[arg(long, value_name = "COUNT")]
    max_rounds: Option<OsString>,
    /// A file with instructions for every conversation
    #[arg(long, value_name = "FILE")]
    system_prompt_file: Option<OsString>,
    /// A folder in which tools work; repeat it for more than one
    #[arg(long, value_name = "FOLDER")]
    root: Vec<OsString>,
    /// The size of the largest file that tools read or write
    #[arg(long, value_name = "MB")]
    max_file_size_mb: Option<OsString>,
    /// How long a command may run
    #[arg(long, value_name = "SECONDS")]
    command_timeout_seconds: Option<OsString>,
    /// The file with the conversations
    #[arg(long, value_name = "FILE")]
    history: Option<OsString>,
    /// Keep no conversations
    #[arg(long)]
    no_history: bool,
    /// Continue the last conversation
    #[arg(long)]
    resume: bool,
    /// How much one conversation may cost
    #[arg(long, value_name = "USD")]
    conversation_usd: Option<OsString>,
    /// How much one day may cost
    #[arg(long, value_name = "USD")]
    day_usd: Option<OsString>,
    /// How many tokens one conversation may use
    #[arg(long, value_name = "TOKENS")]
    conversation_tokens: Option<OsString>,
    /// How many tokens one day may use
    #[arg(long, value_name = "TOKENS")]
    day_tokens: Option<OsString>,
    /// How many requests may be sent to the model in one minute
    #[arg(long, value_name = "COUNT")]
    requests_per_minute: Option<OsString>,
    /// The price of a million input tokens
    #[arg(long, value_name = "USD")]
    price_input: Option<OsString>,
    /// The price of a million output tokens
    #[arg(long, value_name = "USD")]
    price_output: Option<OsString>,
    /// How much is logged: error, warn, info or debug
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<OsString>,
}

impl Flags {
    /// What was given.
    pub(crate) fn given(&self) -> Vec<Given<'_>> {
        let rest = given([
            ("legacy_socket", "--legacy-socket", &self.legacy_socket),
            ("phone_after_seconds", "--phone-after-seconds", &self.phone_after_seconds),
            ("notify_on_stop", "--notify-on-stop", &self.notify_on_stop),
            ("gate.unattended", "--gate-unattended", &self.gate_unattended),
            ("gate.when_absent", "--gate-when-absent", &self.gate_when_absent),
            ("telegram.token_file", "--telegram-token-file", &self.telegram_token_file),
            ("telegram.api_url", "--telegram-api-url", &self.telegram_api_url),
            ("telegram.allowed_chats", "--telegram-allowed-chats", &self.telegram_allowed_chats),
            ("telegram.allowed_users", "--telegram-allowed-users", &self.telegram_allowed_users),
        ]);
        self.desk.given().chain(rest).collect()
    }
}

impl Flags {
    /// Returns the flags as words of a command line that means the same in every folder; none
    /// where one is not UTF-8.
    pub(crate) fn words(&self, around: &Surroundings) -> Option<Vec<String>> {
        let word = |(key, flag, text): Given<'_>| {
            let is_path = keys::find(key).is_some_and(|key| key.kind == Kind::Path);
            let path = Some(Path::new(text)).filter(|_| is_path && !text.is_empty());
            let value = path.map_or_else(|| text.to_owned(), |path| around.absolute(path).into());
            Some(format!("{flag}={}", value.to_str()?))
        };
        self.given().into_iter().map(word).collect()
    }
}

impl DeskFlags {
    fn given(&self) -> impl Iterator<Item = Given<'_>> {
        given([
            ("socket", "--socket", &self.socket),
            ("timeout_seconds", "--timeout-seconds", &self.timeout_seconds),
            ("grace_seconds", "--grace-seconds", &self.grace_seconds),
            ("database", "--database", &self.database),
            ("desk_socket", "--desk-socket", &self.desk_socket),
            ("rules", "--rules", &self.rules),
        ])
    }
}

impl AgentFlags {
    /// What was given.
    pub(crate) fn given(&self) -> Vec<Given<'_>> {
        let rest = given([
            ("agent.engine", "--engine", &self.engine),
            ("agent.model", "--model", &self.model),
            ("agent.base_url", "--base-url", &self.base_url),
            ("agent.api_key_file", "--api-key-file", &self.api_key_file),
            ("agent.max_tokens", "--max-tokens", &self.max_tokens),
            ("agent.thinking_tokens", "--thinking-tokens", &self.thinking_tokens),
            ("agent.context_tokens", "--context-tokens", &self.context_tokens),
            ("agent.max_rounds", "--max-rounds", &self.max_rounds),
            ("agent.system_prompt_file", "--system-prompt-file", &self.system_prompt_file),
            ("agent.max_file_size_mb", "--max-file-size-mb", &self.max_file_size_mb),
            (
                "agent.command_timeout_seconds",
                "--command-timeout-seconds",
                &self.command_timeout_seconds,
            ),
            ("agent.history", "--history", &self.history),
            ("agent.conversation_usd", "--conversation-usd", &self.conversation_usd),
            ("agent.day_usd", "--day-usd", &self.day_usd),
            ("agent.conversation_tokens", "--conversation-tokens", &self.conversation_tokens),
            ("agent.day_tokens", "--day-tokens", &self.day_tokens),
            ("agent.requests_per_minute", "--requests-per-minute", &self.requests_per_minute),
            ("agent.price_input", "--price-input", &self.price_input),
            ("agent.price_output", "--price-output", &self.price_output),
            ("agent.log_level", "--log-level", &self.log_level),
        ]);
        let roots = self.root.iter().map(|root| ("agent.roots", "--root", root.as_os_str()));
        let no_history = ("agent.keep_history", "--no-history", OsStr::new("false"));
        let resume = ("agent.resume", "--resume", OsStr::new("true"));
        let switches = [self.no_history.then_some(no_history), self.resume.then_some(resume)];
        self.desk.given().chain(rest).chain(roots).chain(switches.into_iter().flatten()).collect()
    }
}

fn given<'a, const N: usize>(
    all: [(&'static str, &'static str, &'a Option<OsString>); N],
) -> impl Iterator<Item = Given<'a>> {
    all.into_iter().filter_map(|(key, flag, text)| Some((key, flag, text.as_deref()?)))
}
