//! The table of all settings, in the order of the help and the guide, each with its type.
//!
//! A new key is added here and read by its constant in `check.rs` or `agent.rs`. A test holds the
//! guide's table against this one.

use std::path::PathBuf;
use std::time::Duration;

use callgate_agent::engine::CacheLife;
use callgate_agent::session::{LogLevel, ResumedConversation};
use callgate_approval::desk::Unattended;
use callgate_rules::UnclearCommands;
use callgate_wire::HiddenText;

use crate::address_checks::{is_host, is_issuer, is_listen, is_plain_text};
use crate::choices::{EffortSetting, EngineSetting, ShellTheme, WhenAbsent};
use crate::setting_key::{KeyFlag, SettingKey, UNLIMITED};
use crate::shortcut::is_shortcut;
use crate::typed_key::{
    Key, ServerUrl, choice_key, command_key, dollars_key, file_key, folders_key, ids_key,
    is_price_list, model_key, resume_key, seconds_key, secret_key, socket_key, switch_key,
    tables_key, text_key, url_key, whole_key,
};
use crate::value::HiddenTables;

const COUNT: (i64, i64) = (1, UNLIMITED);
const PRICES: &str = "MODEL=INPUT/OUTPUT or MODEL=INPUT/OUTPUT/CACHED, separated by commas";
const SERVERS: &str = "a table for each server, such as [agent.mcp_servers.files]";
const AGENT_TABLES: &str = "a table for each agent, such as [gate.agents.gemini]";

/// Declares a constant for each key, and the table of them all.
macro_rules! declare_keys {
    ($($constant:ident: $value:ty = $key:expr;)*) => {
        $(pub const $constant: Key<$value> = $key;)*

        /// All keys, in the order of the help and the guide.
        pub const KEYS: &[SettingKey] = &[$($constant.key),*];
    };
}

declare_keys! {
    SOCKET: PathBuf = socket_key("socket")
        .about("The socket on which the desk takes questions")
        .note("without such a folder, `ask.sock` beside the database; at most 107 bytes")
        .default("$XDG_RUNTIME_DIR/callgate/ask.sock");
    TIMEOUT_SECONDS: Duration = seconds_key("timeout_seconds", (1, 3600))
        .about("How long a question stays open").default("300").set_by_viewers();
    GRACE_SECONDS: Duration = seconds_key("grace_seconds", (0, 600))
        .about("How long a waiting hook tries to reach a desk that has gone away").default("15")
        .set_by_viewers();
    DATABASE: PathBuf = file_key("database")
        .about("The file with the ledger")
        .note("`$XDG_DATA_HOME` is respected; its folder is private")
        .default("~/.local/share/callgate/callgate.db");
    DESK_SOCKET: PathBuf = socket_key("desk_socket")
        .about("The socket on which the desk serves viewers")
        .note("without such a folder, `desk.sock` beside the database; at most 107 bytes")
        .default("$XDG_RUNTIME_DIR/callgate/desk.sock");
    RULES: PathBuf = file_key("rules")
        .about("The file with your rules").note("it may be absent")
        .default("~/.config/callgate/rules.toml");
    LEGACY_SOCKET: PathBuf = socket_key("legacy_socket")
        .about("A second socket for old clients; empty for none")
        .note("served while `callgate up` runs, unless another program has it; if `socket` is set, \
               the default is none").default(callgate_wire::approval::LEGACY_SOCKET);
    PHONE_AFTER_SECONDS: Duration = seconds_key("phone_after_seconds", (0, 3600))
        .about("How long a question waits before it is sent to phones")
        .note("less than `timeout_seconds`").default("0").set_by_viewers();
    NOTIFY_ON_STOP: bool = switch_key("notify_on_stop")
        .about("Whether you hear when an agent has finished a turn")
        .note("the message goes to the linked chats that are not muted and to the desk's terminal, \
               with the agent's last words; so do the agent's other notifications, such as that it \
               waits for input").default("false").set_by_viewers();
    NOTIFY_ON_WAIT: bool = switch_key("notify_on_wait")
        .about("Whether you hear when an agent waits in a dialog that the desk did not ask about")
        .note("to the same places; what the desk asks itself is not repeated").default("true")
        .set_by_viewers();
    RECORD_RUNS: bool = switch_key("record_runs")
        .about("Whether the ledger has every call of an agent that has run")
        .note("otherwise only those that somebody was asked about, or that ran without a verdict; \
               the ledger is half as large then, and the history has gaps").default("true");
    GATE_UNATTENDED: Unattended = choice_key("gate.unattended", "WORD")
        .about("What decides without a rule in modes where the agent asks nobody")
        .note("these modes are `auto`, `dontAsk`, `bypassPermissions` and `codex exec`; `rules` \
               leaves the call to the mode, `ask` brings it to the desk, where no answer is a \
               deny").default("rules").set_by_viewers();
    GATE_WHEN_ABSENT: WhenAbsent = choice_key("gate.when_absent", "WORD")
        .about("What the hook does where no rule decides and no desk runs")
        .note("`agent` leaves the call to the agent, `deny` denies what no rule allows; deny rules \
               hold in either case; if `gate.unattended` is `ask`, the default is `deny`")
        .default("agent").set_by_viewers();
    GATE_AGENTS: HiddenTables = tables_key("gate.agents", AGENT_TABLES)
        .about("What holds for one agent in place of `gate.when_absent`")
        .note("a table for each, such as `[gate.agents.gemini]` with `when_absent = \"deny\"`");
    GATE_UNCLEAR: UnclearCommands = choice_key("gate.unclear", "WORD")
        .about("What decides on a command that is not understood and that a rule could name")
        .note("the rule denies, asks or wants a confirmation; `ask` treats the command like one \
               that an ask rule names, `mode` like one that no rule names; what could touch \
               callgate itself is asked in either case").default("ask").set_by_viewers();
    PAGE_ENABLED: bool = switch_key("page.enabled")
        .about("Whether `callgate up` serves the page").default("true");
    PAGE_PORT: u16 = whole_key("page.port", (0, 65_535), "PORT")
        .about("The port of the page on this machine")
        .note("if it is taken, one of the next 19; 0 takes any free one").default("7420");
    TEAM_LISTEN: Option<String> =
        text_key("team.listen", "ADDRESS:PORT", "an address and a port such as 0.0.0.0:7443", is_listen)
        .about("Where `callgate up` serves the machines, jobs and people of a team, over TLS")
        .optional();
    TEAM_ADDRESS: Option<String> =
        text_key("team.address", "HOST:PORT", "a host and a port such as desk.example.org:7443", is_host)
        .about("How members of the team reach this desk")
        .note("a certificate that the desk makes for itself is for this host; without it, \
               `team.listen` or the name of this machine").optional();
    TEAM_CERTIFICATE: PathBuf = file_key("team.certificate")
        .about("The file with the certificates that the team's desk shows, in PEM")
        .note("without it, the desk makes an authority for itself, which invitations carry");
    TEAM_CERTIFICATE_KEY: PathBuf = file_key("team.certificate_key")
        .about("The file with the key of the certificate, in PEM");
    TEAM_OIDC_ISSUER: Option<String> =
        text_key("team.oidc_issuer", "URL", "an address that begins with https://", is_issuer)
        .about("The OpenID Connect provider with whose accounts people sign in to the team's page")
        .note("the account's e-mail address has to be the name of a person of the team").optional();
    TEAM_OIDC_CLIENT_ID: Option<String> =
        text_key("team.oidc_client_id", "ID", "the id that the provider has given", is_plain_text)
        .about("The client id of this desk at the provider").optional();
    TEAM_OIDC_CLIENT_SECRET_FILE: PathBuf = file_key("team.oidc_client_secret_file")
        .about("A file with the client secret of this desk at the provider");
    TEAM_DATABASE_URL: HiddenText = secret_key("team.database_url")
        .about("The PostgreSQL database that several desks of one team share, as a URL")
        .note("such as postgres://USER:PASSWORD@HOST/DATABASE; one desk needs none");
    TEAM_DATABASE_URL_FILE: PathBuf = file_key("team.database_url_file")
        .about("The file with the URL of the team's database");
    TEAM_DATABASE_URL_COMMAND: Vec<String> = command_key("team.database_url_command")
        .about("A program, with its arguments, that prints the URL of the team's database");
    TEAM_DATABASE_URL_KEYRING: bool = switch_key("team.database_url_keyring")
        .about("Whether the URL of the team's database is in the desktop's keyring").default("false")
        .flag(KeyFlag::None).secret_of_viewers();
    TEAM_DESK_NAME: Option<String> =
        text_key("team.desk_name", "NAME", "a short name such as desk-1", is_plain_text)
        .about("The name of this desk among those that share the team's database")
        .note("each has another one; without it, the name of this machine").optional();
    TEAM_KEEP_DAYS: u32 = whole_key("team.keep_days", (1, 3_650), "DAYS")
        .about("How long the team's database keeps audit entries and closed questions")
        .note("all desks that share it need the same").default("400");
    TELEGRAM_TOKEN: HiddenText = secret_key("telegram.token")
        .about("The bot's token itself");
    TELEGRAM_TOKEN_FILE: PathBuf = file_key("telegram.token_file")
        .about("The file with the bot's token");
    TELEGRAM_TOKEN_COMMAND: Vec<String> = command_key("telegram.token_command")
        .about("A program, with its arguments, that prints the token");
    TELEGRAM_TOKEN_KEYRING: bool = switch_key("telegram.token_keyring")
        .about("Whether the token is in the desktop's keyring").default("false")
        .flag(KeyFlag::None).secret_of_viewers();
    TELEGRAM_API_URL: ServerUrl = url_key("telegram.api_url", "token")
        .about("The address of the Bot API").note("`http://` for this machine only")
        .default("https://api.telegram.org");
    TELEGRAM_ALLOWED_CHATS: Vec<i64> = ids_key("telegram.allowed_chats", i64::MIN)
        .about("The ids of the chats asked").note("in a variable or a flag, separated by commas");
    TELEGRAM_ALLOWED_USERS: Vec<i64> = ids_key("telegram.allowed_users", 1)
        .about("The ids of the users who may answer in a group").note("empty means nobody");
    AGENT_ENGINE: EngineSetting = choice_key("agent.engine", "ENGINE")
        .about("The engine that answers")
        .note("`auto` is `anthropic` or `openai` where there is a key or an address for it, else \
               `openai` where a model server is found on this machine, else `offline`")
        .default("auto").set_by_viewers();
    AGENT_MODEL: String = model_key("agent.model", "the name of a model, such as claude-sonnet-5-5")
        .about("The model, as its provider names it").default("claude-sonnet-5-5")
        .common("ANTHROPIC_MODEL").set_by_viewers();
    AGENT_BASE_URL: ServerUrl = url_key("agent.base_url", "API key")
        .about("The address of the model's API").note("`http://` for this machine only")
        .default("https://api.anthropic.com").common("ANTHROPIC_BASE_URL");
    AGENT_PROXY: HiddenText = secret_key("agent.proxy")
        .about("An HTTP proxy for `https://` addresses").common("HTTPS_PROXY");
    AGENT_API_KEY: HiddenText = secret_key("agent.api_key")
        .about("The key of the model's API itself").common("ANTHROPIC_API_KEY");
    AGENT_API_KEY_FILE: PathBuf = file_key("agent.api_key_file")
        .about("The file with the key of the model's API");
    AGENT_API_KEY_COMMAND: Vec<String> = command_key("agent.api_key_command")
        .about("A program, with its arguments, that prints the key");
    AGENT_API_KEY_KEYRING: bool = switch_key("agent.api_key_keyring")
        .about("Whether the key is in the desktop's keyring").default("false").flag(KeyFlag::None)
        .secret_of_viewers();
    AGENT_FALLBACK_MODEL: Option<String> = model_key("agent.fallback_model", "the name of a model")
        .about("The model that answers if the chosen one is overloaded or unknown")
        .set_by_viewers().optional();
    AGENT_EFFORT: EffortSetting = choice_key("agent.effort", "LEVEL")
        .about("How much effort the model puts into an answer")
        .note("not every model knows it, or every level").default("default").set_by_viewers();
    AGENT_OPENAI_MODEL: Option<String> =
        model_key("agent.openai_model", "the name of a model, such as gpt-5")
        .about("The model of the engine openai, as its server names it")
        .note("without it, the first that the server lists").common("OPENAI_MODEL")
        .set_by_viewers().optional();
    AGENT_OPENAI_URL: Option<ServerUrl> = url_key("agent.openai_url", "API key")
        .about("The address of a server with Chat Completions")
        .note("`http://` for this machine only").default("https://api.openai.com/v1")
        .common("OPENAI_BASE_URL").optional();
    AGENT_OPENAI_KEY: HiddenText = secret_key("agent.openai_key")
        .about("The key of that server itself").common("OPENAI_API_KEY");
    AGENT_OPENAI_KEY_FILE: PathBuf = file_key("agent.openai_key_file")
        .about("The file with the key of that server");
    AGENT_OPENAI_KEY_COMMAND: Vec<String> = command_key("agent.openai_key_command")
        .about("A program, with its arguments, that prints that key");
    AGENT_OPENAI_KEY_KEYRING: bool = switch_key("agent.openai_key_keyring")
        .about("Whether that key is in the desktop's keyring").default("false").flag(KeyFlag::None)
        .secret_of_viewers();
    AGENT_LOCAL_PORTS: Vec<i64> = ids_key("agent.local_ports", 1)
        .about("The ports of this machine at which a model server is looked for")
        .note("an empty list looks for none; in a variable or a flag, separated by commas")
        .default("11434,1234,8080,8000");
    AGENT_CLAUDE_CLI: PathBuf = file_key("agent.claude_cli")
        .about("The Claude Code CLI of the engine claude-code").default("`claude` on the PATH");
    AGENT_MAX_TOKENS: u32 = whole_key("agent.max_tokens", (1, 1_000_000), "TOKENS")
        .about("The length of the longest answer").note("less than `agent.context_tokens`")
        .default("16384").common("MAX_TOKENS").set_by_viewers();
    AGENT_THINKING_TOKENS: u32 = whole_key("agent.thinking_tokens", (0, 1_000_000), "TOKENS")
        .about("How much the model may think before it answers; 0 turns thinking off")
        .note("at least 1024 otherwise, and less than `agent.max_tokens`").default("0")
        .set_by_viewers();
    AGENT_CACHE_LIFE: CacheLife = choice_key("agent.cache_life", "TIME")
        .about("How long the provider of `anthropic` keeps a conversation in its cache")
        .note("for an hour, writing to the cache costs twice the price of input, not 1.25 times")
        .default("5m").set_by_viewers();
    AGENT_CONTEXT_TOKENS: u64 = whole_key("agent.context_tokens", (1_000, 10_000_000), "TOKENS")
        .about("The size of the model's context window").default("200000").set_by_viewers();
    AGENT_MAX_ROUNDS: u32 = whole_key("agent.max_rounds", (1, 1_000), "COUNT")
        .about("How many rounds of tool calls one message may take").default("50").set_by_viewers();
    AGENT_RETRY_SECONDS: Duration = seconds_key("agent.retry_seconds", (0, 86_400))
        .about("How long a message waits for a model that cannot be reached or is overloaded")
        .default("1800").set_by_viewers();
    AGENT_SILENCE_SECONDS: Option<Duration> = seconds_key("agent.silence_seconds", (1, 86_400))
        .about("How long a model may send nothing before its answer is given up")
        .note("600 by default for a model server on this machine").default("120").set_by_viewers()
        .optional();
    AGENT_SYSTEM_PROMPT_FILE: PathBuf = file_key("agent.system_prompt_file")
        .about("A file with instructions for every conversation");
    AGENT_PROJECT_INSTRUCTIONS: bool = switch_key("agent.project_instructions")
        .about("Whether the model reads the project's AGENTS.md, CLAUDE.md and .goosehints")
        .default("true")
        .flag(KeyFlag::Fixed("no-project-instructions", "false",
            "Do not read the project's AGENTS.md, CLAUDE.md and .goosehints"))
        .set_by_viewers();
    AGENT_ROOTS: Vec<PathBuf> = folders_key("agent.roots")
        .about("A folder in which tools work; repeat it for more")
        .note("at most 64; separated by colons in our variable, a single folder in the other")
        .default("the working folder").common("ALLOWED_ROOT_DIR").flag(KeyFlag::Repeated("root"));
    AGENT_MAX_FILE_SIZE_MB: u64 = whole_key("agent.max_file_size_mb", (1, 1_024), "MB")
        .about("The size of the largest file that tools read or write").default("10")
        .common("MAX_FILE_SIZE_MB").set_by_viewers();
    AGENT_COMMAND_TIMEOUT_SECONDS: Duration =
        seconds_key("agent.command_timeout_seconds", (1, 86_400))
        .about("How long a command may run").note("the call may ask for another time")
        .default("50").set_by_viewers();
    AGENT_SNAPSHOTS: bool = switch_key("agent.snapshots")
        .about("Whether files are noted before commands run, to show and undo what they change")
        .default("true")
        .flag(KeyFlag::Fixed("no-snapshots", "false",
            "Do not find out what commands change; turn it off where looking at all files is slow"))
        .set_by_viewers();
    AGENT_MCP_SERVERS: HiddenTables = tables_key("agent.mcp_servers", SERVERS)
        .about("MCP servers whose tools the model may use")
        .note("a table for each, see [the runtime](agent.md#mcp-servers); at most 32");
    AGENT_MCP_WAIT_SECONDS: Duration = seconds_key("agent.mcp_wait_seconds", (0, 60))
        .about("How long a message waits for MCP servers that start with it")
        .note("the tools of a slower server are there from a later round on").default("1")
        .set_by_viewers();
    AGENT_HISTORY: PathBuf = file_key("agent.history")
        .about("The file with the conversations").default("the `database`");
    AGENT_KEEP_HISTORY: bool = switch_key("agent.keep_history")
        .about("Whether conversations are kept").default("true")
        .flag(KeyFlag::Fixed("no-history", "false", "Keep no conversations")).set_by_viewers();
    AGENT_RESUME: ResumedConversation = resume_key("agent.resume")
        .about("Whether the last conversation of the folder is continued, or the id of another")
        .default("false").flag(KeyFlag::Optional("resume", "true")).set_by_viewers();
    AGENT_ALL_FOLDERS: bool = switch_key("agent.all_folders")
        .about("Whether conversations of all folders are listed and continued").default("false")
        .flag(KeyFlag::Fixed("all-folders", "true",
            "List and continue the conversations of all folders"))
        .set_by_viewers();
    AGENT_CONVERSATION_USD: Option<f64> = dollars_key("agent.conversation_usd")
        .about("How much one conversation may cost, in dollars").set_by_viewers().optional();
    AGENT_DAY_USD: Option<f64> = dollars_key("agent.day_usd")
        .about("How much one day may cost, in dollars").set_by_viewers().optional();
    AGENT_CONVERSATION_TOKENS: Option<u64> = whole_key("agent.conversation_tokens", COUNT, "TOKENS")
        .about("How many tokens one conversation may use").set_by_viewers().optional();
    AGENT_DAY_TOKENS: Option<u64> = whole_key("agent.day_tokens", COUNT, "TOKENS")
        .about("How many tokens one day may use").set_by_viewers().optional();
    AGENT_REQUESTS_PER_MINUTE: Option<u32> = whole_key("agent.requests_per_minute", COUNT, "COUNT")
        .about("How many requests may be sent to the model in one minute").set_by_viewers()
        .optional();
    AGENT_PRICE_INPUT: Option<f64> = dollars_key("agent.price_input")
        .about("The price of a million input tokens, in dollars")
        .note("with `agent.price_output` it replaces the price that callgate knows")
        .set_by_viewers().optional();
    AGENT_PRICE_OUTPUT: Option<f64> = dollars_key("agent.price_output")
        .about("The price of a million output tokens, in dollars").set_by_viewers().optional();
    AGENT_PRICES: Option<String> = text_key("agent.prices", "PRICES", PRICES, is_price_list)
        .about("The prices of a million tokens by model, in dollars")
        .note("input, output and optionally cached input, as in `gpt-5=1.25/10/0.125, m=0.2/0.8`; \
               for other models `agent.price_input` and `agent.price_output` hold")
        .set_by_viewers().optional();
    AGENT_LOG_LEVEL: LogLevel = choice_key("agent.log_level", "LEVEL")
        .about("How much is logged").default("info").common("LOG_LEVEL").set_by_viewers();
    SHELL_SHORTCUT: String =
        text_key("shell.shortcut", "KEYS", "keys such as Ctrl+Shift+Space", is_shortcut)
        .about("The keys that show and hide the window of the desktop shell; empty for none")
        .note("Ctrl, Alt, Shift or Super, then a letter, a digit, F1 to F24 or the name of a key \
               such as Space, with a plus between them; CmdOrCtrl is Cmd on macOS")
        .default("Ctrl+Shift+Space").flag(KeyFlag::None).set_by_viewers();
    SHELL_THEME: ShellTheme = choice_key("shell.theme", "THEME")
        .about("The colours of the desktop shell").default("system").flag(KeyFlag::None)
        .set_by_viewers();
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

/// Returns true if the commands of the desk (or `callgate agent`) use the key.
pub fn is_key_used(key: &SettingKey, by_agent: bool) -> bool {
    SHARED.contains(&key.name) || key.name.starts_with("agent.") == by_agent
}

/// Returns the key of this name.
pub fn find_setting_key(name: &str) -> Option<&'static SettingKey> {
    KEYS.iter().find(|key| key.name == name)
}

/// Returns true if this is the name of a table.
pub fn is_table(name: &str) -> bool {
    TABLES.contains(&name)
}

#[cfg(test)]
mod tests;
