//! All settings, in the order of the help and the guide. The declaration of a key says everything
//! about it: its name, its type, what it may be, its default, its flag and its words in the help
//! and the guide. Reading it follows from its type; the crate's `checks` add what concerns several
//! keys.
//!
//! A test holds the guide's table against this one.

mod agent_keys;

use std::iter;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use callgate_approval::desk::Unattended;
use callgate_rules::UnclearCommands;
use callgate_wire::desk::SettingAccess;

use crate::choices::{ShellTheme, WhenAbsent};
use crate::given::SettingsCheck;
use crate::problem::Setting;
use crate::setting_key::{Dependence, KeyFlag, SettingKey};
use crate::setting_type::{AgentExceptions, OptionalSocket, ServerUrl, SettingType};
use crate::text_checks::{is_host, is_issuer, is_plain_text, is_shortcut};
use crate::token_source::KeyringEntry::{self, BotToken, DatabaseUrl};
use crate::token_source::TokenSource;
use crate::typed_key::{Key, declare_section, secret_keys};
use crate::value::ValueKind::{self, Ids, Text, Url, Whole};

pub use agent_keys::*;

declare_section! {
    /// All settings, checked as far as each key can be checked alone.
    pub struct Config in "" read by check {
    /// The socket on which the desk takes questions
    SOCKET socket: Setting<PathBuf> = kind: ValueKind::Socket,
        note: "without such a folder, `ask.sock` beside the database; at most 107 bytes",
        default: "$XDG_RUNTIME_DIR/callgate/ask.sock", depends: Dependence::Beside(&DATABASE.key);
    /// How long a question stays open
    // Where an agent accepts it, hooks are installed with a limit (`ANSWER_LIMIT`) that is longer
    // than the highest values of this key and the next one together.
    TIMEOUT_SECONDS timeout_seconds [Set]: Duration = kind: Whole(1, 3600), default: "300";
    /// How long a waiting hook tries to reach a desk that has gone away
    GRACE_SECONDS grace_seconds [Set]: Duration = kind: Whole(0, 600), default: "15";
    /// The file with the ledger
    DATABASE database: PathBuf = note: "`$XDG_DATA_HOME` is respected; its folder is private",
        default: "~/.local/share/callgate/callgate.db";
    /// The socket on which the desk serves viewers
    DESK_SOCKET desk_socket: Setting<PathBuf> = kind: ValueKind::Socket,
        note: "without such a folder, `desk.sock` beside the database; at most 107 bytes",
        default: "$XDG_RUNTIME_DIR/callgate/desk.sock", depends: Dependence::Beside(&DATABASE.key);
    /// The file with your rules
    RULES rules: PathBuf = note: "it may be absent", default: "~/.config/callgate/rules.toml";
    /// A second socket for old clients; empty for none
    // Who has a socket of their own has no old clients at another.
    LEGACY_SOCKET legacy_socket: OptionalSocket = depends: Dependence::OffWith(&SOCKET.key),
        note: "served while `callgate up` runs, unless another program has it; if `socket` is set, \
               the default is none", default: callgate_wire::approval::LEGACY_SOCKET;
    /// How long a question waits before it is sent to phones
    PHONE_AFTER_SECONDS phone_after_seconds [Set]: Duration = kind: Whole(0, 3600),
        note: "less than `timeout_seconds`", default: "0";
    /// Whether you hear when an agent has finished a turn
    NOTIFY_ON_STOP notify_on_stop [Set]: bool =
        note: "the message goes to the linked chats that are not muted and to the desk's terminal, \
               with the agent's last words; so do the agent's other notifications, such as that it \
               waits for input", default: "false";
    /// Whether you hear when an agent waits in a dialog that the desk did not ask about
    NOTIFY_ON_WAIT notify_on_wait [Set]: bool =
        note: "to the same places; what the desk asks itself is not repeated", default: "true";
    /// Whether the ledger has every call of an agent that has run
    RECORD_RUNS record_runs: bool =
        note: "otherwise only those that somebody was asked about, or that ran without a verdict; \
               the ledger is half as large then, and the history has gaps", default: "true";
    } with {
        file: Option<Setting<PathBuf>> = check.given.file.clone(),
        gate: GateSettings = GateSettings::read_section(check),
        page: PageSettings = PageSettings::read_section(check),
        team: TeamSettings = TeamSettings::read_section(check),
        telegram: TelegramSettings = TelegramSettings::read_section(check),
        agent: AgentSettings = AgentSettings::read_section(check),
        shell: ShellSettings = ShellSettings::read_section(check),
    }
}

declare_section! {
    /// The section `[gate]`.
    pub struct GateSettings in "gate." read by check {
    /// What decides without a rule in modes where the agent asks nobody
    GATE_UNATTENDED unattended [Set]: Unattended =
        note: "these modes are `auto`, `dontAsk`, `bypassPermissions` and `codex exec`; `rules` \
               leaves the call to the mode, `ask` brings it to the desk, where no answer is a \
               deny", default: "rules";
    /// What the hook does where no rule decides and no desk runs
    // A user who wants to be asked about everything does not want everything to run while nobody
    // can be asked.
    GATE_WHEN_ABSENT when_absent [Set]: WhenAbsent =
        depends: Dependence::WordWith(&GATE_UNATTENDED.key, "ask", "deny"),
        note: "`agent` leaves the call to the agent, `deny` denies what no rule allows; deny rules \
               hold in either case; if `gate.unattended` is `ask`, the default is `deny`",
        default: "agent";
    /// What holds for one agent in place of `gate.when_absent`
    GATE_AGENTS agents: AgentExceptions =
        note: "a table for each, such as `[gate.agents.gemini]` with `when_absent = \"deny\"`";
    /// What decides on a command that is not understood and that a rule could name
    GATE_UNCLEAR unclear [Set]: UnclearCommands =
        note: "the rule denies, asks or wants a confirmation; `ask` treats the command like one \
               that an ask rule names, `mode` like one that no rule names; what could touch \
               callgate itself is asked in either case", default: "ask";
    }
}

declare_section! {
    /// The section `[page]`.
    pub struct PageSettings in "page." read by check {
    /// Whether `callgate up` serves the page
    PAGE_ENABLED enabled: bool = default: "true";
    /// The port of the page on this machine
    PAGE_PORT port: u16 = kind: Whole(0, 65_535), placeholder: "PORT",
        note: "if it is taken, one of the next 19; 0 takes any free one", default: "7420";
    }
}

declare_section! {
    /// The section `[team]`.
    pub struct TeamSettings in "team." read by check {
    /// Where `callgate up` serves the machines, jobs and people of a team, over TLS
    TEAM_LISTEN listen: Option<SocketAddr> = placeholder: "ADDRESS:PORT",
        kind: Text("an address and a port such as 0.0.0.0:7443", |text| {
            text.parse::<SocketAddr>().is_ok()
        });
    /// How members of the team reach this desk
    TEAM_ADDRESS address: Option<String> = placeholder: "HOST:PORT",
        kind: Text("a host and a port such as desk.example.org:7443", is_host),
        note: "a certificate that the desk makes for itself is for this host; without it, \
               `team.listen` or the name of this machine";
    /// The file with the certificates that the team's desk shows, in PEM
    TEAM_CERTIFICATE certificate: Option<PathBuf> =
        note: "without it, the desk makes an authority for itself, which invitations carry";
    /// The file with the key of the certificate, in PEM
    TEAM_CERTIFICATE_KEY certificate_key: Option<PathBuf>;
    /// The OpenID Connect provider with whose accounts people sign in to the team's page
    TEAM_OIDC_ISSUER oidc_issuer: Option<String> = placeholder: "URL",
        kind: Text("an address that begins with https://", is_issuer),
        note: "the account's e-mail address has to be the name of a person of the team";
    /// The client id of this desk at the provider
    TEAM_OIDC_CLIENT_ID oidc_client_id: Option<String> = placeholder: "ID",
        kind: Text("the id that the provider has given", is_plain_text);
    /// A file with the client secret of this desk at the provider
    TEAM_OIDC_CLIENT_SECRET_FILE oidc_client_secret_file: Option<PathBuf>;
    /// The PostgreSQL database that several desks of one team share, as a URL
    TEAM_DATABASE_URL database_url: Option<Setting<TokenSource>> = entry: Some(DatabaseUrl),
        others: secret_keys!("team.database_url", DatabaseUrl, "the URL of the team's database",
            "the URL of the team's database"),
        note: "such as postgres://USER:PASSWORD@HOST/DATABASE; one desk needs none";
    /// The name of this desk among those that share the team's database
    TEAM_DESK_NAME desk_name: Option<String> = placeholder: "NAME",
        kind: Text("a short name such as desk-1", is_plain_text),
        note: "each has another one; without it, the name of this machine";
    /// How long the team's database keeps audit entries and closed questions
    TEAM_KEEP_DAYS keep_days: Option<u32> = kind: Whole(1, 3_650), placeholder: "DAYS",
        note: "without it, what the database was told last, or 400; all desks that share it need the \
               same";
    }
}

declare_section! {
    /// The section `[telegram]`.
    pub struct TelegramSettings in "telegram." read by check {
    /// The bot's token itself
    TELEGRAM_TOKEN token: Option<Setting<TokenSource>> = entry: Some(BotToken),
        others: secret_keys!("telegram.token", BotToken, "the bot's token", "the token");
    /// The address of the Bot API
    TELEGRAM_API_URL api_url: ServerUrl = kind: Url("token"),
        note: "`http://` for this machine only", default: "https://api.telegram.org";
    /// The ids of the chats asked
    TELEGRAM_ALLOWED_CHATS allowed_chats: Setting<Vec<i64>> = kind: Ids(i64::MIN),
        note: "in a variable or a flag, separated by commas";
    /// The ids of the users who may answer in a group
    TELEGRAM_ALLOWED_USERS allowed_users: Setting<Vec<i64>> = note: "empty means nobody";
    }
}

declare_section! {
    /// The section `[shell]`.
    pub struct ShellSettings in "shell." read by check {
    /// The keys that show and hide the window of the desktop shell; empty for none
    SHELL_SHORTCUT shortcut [Set]: String = placeholder: "KEYS",
        kind: Text("keys such as Ctrl+Shift+Space", is_shortcut),
        note: "Ctrl, Alt, Shift or Super, then a letter, a digit, F1 to F24 or the name of a key \
               such as Space, with a plus between them; CmdOrCtrl is Cmd on macOS",
        default: "Ctrl+Shift+Space", flag: KeyFlag::None;
    /// The colours of the desktop shell
    SHELL_THEME theme [Set]: ShellTheme = placeholder: "THEME", default: "system",
        flag: KeyFlag::None;
    }
}

/// The keys that the hook uses to ask. The database comes last, because only a hook without a usual
/// socket depends on it.
pub(crate) const HOOK_KEYS: [&SettingKey; 4] =
    [&SOCKET.key, &TIMEOUT_SECONDS.key, &GRACE_SECONDS.key, &DATABASE.key];

/// The tables that hold keys.
pub(crate) const TABLES: [&str; 6] = ["gate", "page", "team", "telegram", "agent", "shell"];

/// Returns all keys, in the order of the help and the guide.
pub fn iter_keys() -> impl Iterator<Item = &'static SettingKey> {
    const SECTIONS: [&[&SettingKey]; 7] = [
        Config::KEYS,
        GateSettings::KEYS,
        PageSettings::KEYS,
        TeamSettings::KEYS,
        TelegramSettings::KEYS,
        AgentSettings::KEYS,
        ShellSettings::KEYS,
    ];
    SECTIONS.into_iter().flatten().flat_map(|key| iter::once(*key).chain(key.others))
}

/// Returns true if the commands of the desk (or `callgate agent`) use the key.
pub fn is_key_used(key: &SettingKey, by_agent: bool) -> bool {
    // The runtime asks as the hook does, and is a viewer of the desk.
    let mut shared = HOOK_KEYS.iter().chain(&[&DESK_SOCKET.key, &RULES.key]);
    shared.any(|shared| shared.name == key.name) || key.name.starts_with("agent.") == by_agent
}

pub fn find_setting_key(name: &str) -> Option<&'static SettingKey> {
    iter_keys().find(|key| key.name == name)
}

/// Returns the setting that says that this secret is in the keyring.
pub fn keyring_key(entry: KeyringEntry) -> &'static str {
    let is_it = |key: &&SettingKey| key.entry == Some(entry) && key.access == SettingAccess::Secret;
    iter_keys().find(is_it).map_or("", |key| key.name)
}

#[cfg(test)]
mod tests;
