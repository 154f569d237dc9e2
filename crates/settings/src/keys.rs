//! All settings, in the order of the help and the guide. The declaration of a key says everything
//! about it: its name, its type, what it may be, its default, its flag and its words in the help and
//! the guide. Reading it follows from its type; the crate's `checks` add what concerns several keys.
//!
//! A test holds the guide's table against this one.

mod agent_keys;

use std::iter;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use callgate_approval::desk::Unattended;
use callgate_rules::UnclearCommands;

use crate::address_checks::{is_host, is_issuer, is_listen, is_plain_text};
use crate::choices::{ShellTheme, WhenAbsent};
use crate::given::SettingsCheck;
use crate::keyring_entry::KeyringEntry::{BotToken, DatabaseUrl};
use crate::problem::Setting;
use crate::setting_key::{KeyFlag, SettingKey};
use crate::setting_type::{AgentExceptions, OptionalSocket, ServerUrl, SettingType, SettingsPart};
use crate::shortcut::is_shortcut;
use crate::token_source::TokenSource;
use crate::typed_key::{Key, declare_section, key, secret_key};
use crate::value::ValueKind;

pub use agent_keys::*;

declare_section! {
    /// All settings, checked as far as each key can be checked alone.
    pub struct Config in "" {
    /// The socket on which the desk takes questions
    SOCKET socket: Setting<PathBuf> = key()
        .note("without such a folder, `ask.sock` beside the database; at most 107 bytes")
        .default("$XDG_RUNTIME_DIR/callgate/ask.sock");
    /// How long a question stays open
    TIMEOUT_SECONDS timeout_seconds: Duration = key().range(1, 3600).default("300")
        .set_by_viewers();
    /// How long a waiting hook tries to reach a desk that has gone away
    GRACE_SECONDS grace_seconds: Duration = key().range(0, 600).default("15").set_by_viewers();
    /// The file with the ledger
    DATABASE database: PathBuf = key().note("`$XDG_DATA_HOME` is respected; its folder is private")
        .default("~/.local/share/callgate/callgate.db");
    /// The socket on which the desk serves viewers
    DESK_SOCKET desk_socket: Setting<PathBuf> = key()
        .note("without such a folder, `desk.sock` beside the database; at most 107 bytes")
        .default("$XDG_RUNTIME_DIR/callgate/desk.sock");
    /// The file with your rules
    RULES rules: PathBuf = key().note("it may be absent").default("~/.config/callgate/rules.toml");
    /// A second socket for old clients; empty for none
    LEGACY_SOCKET legacy_socket: OptionalSocket = key()
        .note("served while `callgate up` runs, unless another program has it; if `socket` is \
               set, the default is none").default(callgate_wire::approval::LEGACY_SOCKET);
    /// How long a question waits before it is sent to phones
    PHONE_AFTER_SECONDS phone_after_seconds: Duration = key().range(0, 3600)
        .note("less than `timeout_seconds`").default("0").set_by_viewers();
    /// Whether you hear when an agent has finished a turn
    NOTIFY_ON_STOP notify_on_stop: bool = key()
        .note("the message goes to the linked chats that are not muted and to the desk's \
               terminal, with the agent's last words; so do the agent's other notifications, such \
               as that it waits for input").default("false").set_by_viewers();
    /// Whether you hear when an agent waits in a dialog that the desk did not ask about
    NOTIFY_ON_WAIT notify_on_wait: bool = key()
        .note("to the same places; what the desk asks itself is not repeated").default("true")
        .set_by_viewers();
    /// Whether the ledger has every call of an agent that has run
    RECORD_RUNS record_runs: bool = key()
        .note("otherwise only those that somebody was asked about, or that ran without a verdict; \
               the ledger is half as large then, and the history has gaps").default("true");
    } with {
        file: Option<Setting<PathBuf>>,
        gate: GateSettings,
        page: PageSettings,
        team: TeamSettings,
        telegram: TelegramSettings,
        agent: AgentSettings,
        shell: ShellSettings,
    }
}

declare_section! {
    /// The section `[gate]`.
    pub struct GateSettings in "gate." {
    /// What decides without a rule in modes where the agent asks nobody
    GATE_UNATTENDED unattended: Unattended = key().shown_as("WORD")
        .note("these modes are `auto`, `dontAsk`, `bypassPermissions` and `codex exec`; `rules` \
               leaves the call to the mode, `ask` brings it to the desk, where no answer is a \
               deny").default("rules").set_by_viewers();
    /// What the hook does where no rule decides and no desk runs
    GATE_WHEN_ABSENT when_absent: WhenAbsent = key().shown_as("WORD")
        .note("`agent` leaves the call to the agent, `deny` denies what no rule allows; deny \
               rules hold in either case; if `gate.unattended` is `ask`, the default is `deny`")
        .default("agent").set_by_viewers();
    /// What holds for one agent in place of `gate.when_absent`
    GATE_AGENTS agents: AgentExceptions = key()
        .note("a table for each, such as `[gate.agents.gemini]` with `when_absent = \"deny\"`");
    /// What decides on a command that is not understood and that a rule could name
    GATE_UNCLEAR unclear: UnclearCommands = key().shown_as("WORD")
        .note("the rule denies, asks or wants a confirmation; `ask` treats the command like one \
               that an ask rule names, `mode` like one that no rule names; what could touch \
               callgate itself is asked in either case").default("ask").set_by_viewers();
    }
}

declare_section! {
    /// The section `[page]`.
    pub struct PageSettings in "page." {
    /// Whether `callgate up` serves the page
    PAGE_ENABLED enabled: bool = key().default("true");
    /// The port of the page on this machine
    PAGE_PORT port: u16 = key().range(0, 65_535).shown_as("PORT")
        .note("if it is taken, one of the next 19; 0 takes any free one").default("7420");
    }
}

declare_section! {
    /// The section `[team]`.
    pub struct TeamSettings in "team." {
    /// Where `callgate up` serves the machines, jobs and people of a team, over TLS
    TEAM_LISTEN listen: Option<SocketAddr> = key().shown_as("ADDRESS:PORT")
        .text("an address and a port such as 0.0.0.0:7443", is_listen);
    /// How members of the team reach this desk
    TEAM_ADDRESS address: Option<String> = key().shown_as("HOST:PORT")
        .text("a host and a port such as desk.example.org:7443", is_host)
        .note("a certificate that the desk makes for itself is for this host; without it, \
               `team.listen` or the name of this machine");
    /// The file with the certificates that the team's desk shows, in PEM
    TEAM_CERTIFICATE certificate: Option<PathBuf> = key()
        .note("without it, the desk makes an authority for itself, which invitations carry");
    /// The file with the key of the certificate, in PEM
    TEAM_CERTIFICATE_KEY certificate_key: Option<PathBuf> = key();
    /// The OpenID Connect provider with whose accounts people sign in to the team's page
    TEAM_OIDC_ISSUER oidc_issuer: Option<String> = key().shown_as("URL")
        .text("an address that begins with https://", is_issuer)
        .note("the account's e-mail address has to be the name of a person of the team");
    /// The client id of this desk at the provider
    TEAM_OIDC_CLIENT_ID oidc_client_id: Option<String> = key().shown_as("ID")
        .text("the id that the provider has given", is_plain_text);
    /// A file with the client secret of this desk at the provider
    TEAM_OIDC_CLIENT_SECRET_FILE oidc_client_secret_file: Option<PathBuf> = key();
    /// The PostgreSQL database that several desks of one team share, as a URL
    TEAM_DATABASE_URL database_url: Option<Setting<TokenSource>> =
        secret_key!("team.database_url", DatabaseUrl, "the URL of the team's database",
            "the URL of the team's database")
        .note("such as postgres://USER:PASSWORD@HOST/DATABASE; one desk needs none");
    /// The name of this desk among those that share the team's database
    TEAM_DESK_NAME desk_name: Option<String> = key().shown_as("NAME")
        .text("a short name such as desk-1", is_plain_text)
        .note("each has another one; without it, the name of this machine");
    /// How long the team's database keeps audit entries and closed questions
    TEAM_KEEP_DAYS keep_days: u32 = key().range(1, 3_650).shown_as("DAYS")
        .note("all desks that share it need the same").default("400");
    }
}

declare_section! {
    /// The section `[telegram]`.
    pub struct TelegramSettings in "telegram." {
    /// The bot's token itself
    TELEGRAM_TOKEN token: Option<Setting<TokenSource>> =
        secret_key!("telegram.token", BotToken, "the bot's token", "the token");
    /// The address of the Bot API
    TELEGRAM_API_URL api_url: ServerUrl = key().sent_secret("token")
        .note("`http://` for this machine only").default("https://api.telegram.org");
    /// The ids of the chats asked
    TELEGRAM_ALLOWED_CHATS allowed_chats: Setting<Vec<i64>> = key().range(i64::MIN, i64::MAX)
        .note("in a variable or a flag, separated by commas");
    /// The ids of the users who may answer in a group
    TELEGRAM_ALLOWED_USERS allowed_users: Setting<Vec<i64>> = key().note("empty means nobody");
    }
}

declare_section! {
    /// The section `[shell]`.
    pub struct ShellSettings in "shell." {
    /// The keys that show and hide the window of the desktop shell; empty for none
    SHELL_SHORTCUT shortcut: String = key().shown_as("KEYS")
        .text("keys such as Ctrl+Shift+Space", is_shortcut)
        .note("Ctrl, Alt, Shift or Super, then a letter, a digit, F1 to F24 or the name of a key \
               such as Space, with a plus between them; CmdOrCtrl is Cmd on macOS")
        .default("Ctrl+Shift+Space").flag(KeyFlag::None).set_by_viewers();
    /// The colours of the desktop shell
    SHELL_THEME theme: ShellTheme = key().shown_as("THEME").default("system").flag(KeyFlag::None)
        .set_by_viewers();
    }
}

/// The keys outside of `[agent]` that `callgate agent` uses too.
const SHARED: [&str; 6] = [
    SOCKET.key.name,
    TIMEOUT_SECONDS.key.name,
    GRACE_SECONDS.key.name,
    DATABASE.key.name,
    DESK_SOCKET.key.name,
    RULES.key.name,
];
/// The tables that hold keys.
pub(crate) const TABLES: [&str; 6] = ["gate", "page", "team", "telegram", "agent", "shell"];

/// Returns all keys, in the order of the help and the guide.
pub fn iter_keys() -> impl Iterator<Item = &'static SettingKey> {
    const SECTIONS: [&[(&SettingKey, &[SettingKey])]; 7] = [
        Config::KEYS,
        GateSettings::KEYS,
        PageSettings::KEYS,
        TeamSettings::KEYS,
        TelegramSettings::KEYS,
        AgentSettings::KEYS,
        ShellSettings::KEYS,
    ];
    let keys = SECTIONS.into_iter().flatten();
    keys.flat_map(|(key, others)| iter::once(*key).chain(*others))
}

/// Returns true if the commands of the desk (or `callgate agent`) use the key.
pub fn is_key_used(key: &SettingKey, by_agent: bool) -> bool {
    SHARED.contains(&key.name) || key.name.starts_with("agent.") == by_agent
}

pub fn find_setting_key(name: &str) -> Option<&'static SettingKey> {
    iter_keys().find(|key| key.name == name)
}

/// Returns true if this is the name of a table.
pub fn is_table(name: &str) -> bool {
    TABLES.contains(&name)
}

#[cfg(test)]
mod tests;
