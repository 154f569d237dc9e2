//! The settings as flags, for the commands that take them. The token has none: a command line is
//! for all to see.

use std::ffi::OsString;

/// Settings given on the command line; they stand above the environment and the settings file.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Settings (over the environment and the settings file)")]
pub(crate) struct Flags {
    /// The socket at which hooks ask
    #[arg(long, value_name = "PATH")]
    socket: Option<OsString>,
    /// How long a question stays open, 1 to 3600
    #[arg(long, value_name = "SECONDS")]
    timeout_seconds: Option<OsString>,
    /// How long a waiting hook looks for a daemon that has died
    #[arg(long, value_name = "SECONDS")]
    grace_seconds: Option<OsString>,
    /// The file with the ledger
    #[arg(long, value_name = "FILE")]
    database: Option<OsString>,
    /// The private socket for viewers
    #[arg(long, value_name = "PATH")]
    desk_socket: Option<OsString>,
    /// The file with your rules
    #[arg(long, value_name = "FILE")]
    rules: Option<OsString>,
    /// How long the terminal and the page have a question to themselves
    #[arg(long, value_name = "SECONDS")]
    phone_after_seconds: Option<OsString>,
    /// Whether the phone hears when an agent has stopped: true or false
    #[arg(long, value_name = "SWITCH")]
    notify_on_stop: Option<OsString>,
    /// The file with the bot's token
    #[arg(long, value_name = "FILE")]
    telegram_token_file: Option<OsString>,
    /// The address of the Bot API
    #[arg(long, value_name = "URL")]
    telegram_api_url: Option<OsString>,
    /// The chats that are asked, with commas between them
    #[arg(long, value_name = "IDS", allow_hyphen_values = true)]
    telegram_allowed_chats: Option<OsString>,
    /// Who may answer in a group, with commas between them
    #[arg(long, value_name = "IDS")]
    telegram_allowed_users: Option<OsString>,
}

impl Flags {
    /// What was given: the key, the flag, the text.
    pub(crate) fn given(&self) -> Vec<(&'static str, &'static str, &OsString)> {
        let all = [
            ("socket", "--socket", &self.socket),
            ("timeout_seconds", "--timeout-seconds", &self.timeout_seconds),
            ("grace_seconds", "--grace-seconds", &self.grace_seconds),
            ("database", "--database", &self.database),
            ("desk_socket", "--desk-socket", &self.desk_socket),
            ("rules", "--rules", &self.rules),
            ("phone_after_seconds", "--phone-after-seconds", &self.phone_after_seconds),
            ("notify_on_stop", "--notify-on-stop", &self.notify_on_stop),
            ("telegram.token_file", "--telegram-token-file", &self.telegram_token_file),
            ("telegram.api_url", "--telegram-api-url", &self.telegram_api_url),
            ("telegram.allowed_chats", "--telegram-allowed-chats", &self.telegram_allowed_chats),
            ("telegram.allowed_users", "--telegram-allowed-users", &self.telegram_allowed_users),
        ];
        all.into_iter().filter_map(|(key, flag, text)| Some((key, flag, text.as_ref()?))).collect()
    }
}
