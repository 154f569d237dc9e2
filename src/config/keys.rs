//! The table of all settings: what each key holds, its default, its variable, its flag and its
//! words in the help and in the guide.
//!
//! A new key is added here and read in `check.rs` or `agent.rs`. A test holds the guide's table
//! against this one.

use callgate_wire::approval::LEGACY_SOCKET;

use super::choices::{ENGINES, LOG_LEVELS, UNATTENDED, WHEN_ABSENT, is_model_name, meaning_of};
use super::value::{SettingValue, ValueKind, check_url};

/// One key of the settings.
#[derive(Debug)]
pub(crate) struct SettingKey {
    /// The name, with its table before a dot.
    pub(crate) name: &'static str,
    /// What the key holds.
    pub(crate) kind: ValueKind,
    /// What the key is, for the help and the guide.
    about: &'static str,
    /// What only the guide says.
    #[cfg_attr(not(test), allow(dead_code, reason = "a test compares the guide with it"))]
    note: &'static str,
    /// The default as a variable would have it; for a path, words for the guide. Empty for none.
    pub(crate) default: &'static str,
    /// A variable that other programs use too. It ranks below our own, and only `callgate agent`
    /// reads it.
    pub(crate) common: Option<&'static str>,
    /// Its flag.
    pub(crate) flag: KeyFlag,
}

/// How a key is set on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyFlag {
    /// Not at all: everybody on the machine can read a command line.
    None,
    /// By a flag that is named after the key and takes a value.
    Value,
    /// By this flag, once for each element.
    Repeated(&'static str),
    /// By this flag without a value: it sets this value, and has a help text of its own.
    Fixed(&'static str, &'static str, &'static str),
}

const fn key(name: &'static str, kind: ValueKind) -> SettingKey {
    let flag = match kind {
        ValueKind::Secret | ValueKind::Command | ValueKind::Servers => KeyFlag::None,
        _ => KeyFlag::Value,
    };
    SettingKey { name, kind, about: "", note: "", default: "", common: None, flag }
}

const fn whole(name: &'static str, (least, most): (i64, i64), unit: &'static str) -> SettingKey {
    key(name, ValueKind::Whole { least, most, unit })
}

/// Makes a key whose value is text that `is_valid` accepts.
const fn text(
    name: &'static str,
    placeholder: &'static str,
    must_be: &'static str,
    is_valid: fn(&str) -> bool,
) -> SettingKey {
    key(name, ValueKind::Text { placeholder, must_be, is_valid })
}

impl SettingKey {
    const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    const fn default(self, default: &'static str) -> Self {
        Self { default, ..self }
    }

    const fn note(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    const fn common(self, variable: &'static str) -> Self {
        Self { common: Some(variable), ..self }
    }

    const fn flag(self, flag: KeyFlag) -> Self {
        Self { flag, ..self }
    }

    /// Returns the environment variable that sets the key. There is no one way to split a
    /// variable into the words of a command, so a command has none, and neither have servers.
    pub(crate) fn variable(&self) -> Option<String> {
        let name = || format!("CALLGATE_{}", self.name.replace('.', "_").to_uppercase());
        (!matches!(self.kind, ValueKind::Command | ValueKind::Servers)).then(name)
    }

    /// Returns the flag that sets the key, without its dashes.
    pub(crate) fn flag_name(&self) -> Option<String> {
        match self.flag {
            KeyFlag::None => None,
            KeyFlag::Repeated(flag) | KeyFlag::Fixed(flag, ..) => Some(flag.to_owned()),
            KeyFlag::Value => {
                let name = self.name.strip_prefix("agent.").unwrap_or(self.name);
                Some(name.replace(['.', '_'], "-"))
            }
        }
    }

    /// Returns true if the commands of the desk (or `callgate agent`) use the key.
    pub(crate) fn is_used(&self, by_agent: bool) -> bool {
        SHARED.contains(&self.name) || self.name.starts_with("agent.") == by_agent
    }

    /// Returns what the key is, with its range.
    pub(crate) fn help(&self) -> String {
        match self.kind {
            ValueKind::Whole { least, most, .. } if most < UNLIMITED => {
                format!("{} ({least} to {most})", self.about)
            }
            _ => self.about.to_owned(),
        }
    }

    /// Returns what is wrong with a value of this key's kind.
    pub(crate) fn check(&self, value: &SettingValue) -> Result<(), String> {
        let name = self.name;
        match (&self.kind, value) {
            (ValueKind::Whole { least, most, .. }, SettingValue::Whole(number))
                if !(least..=most).contains(&number) =>
            {
                Err(format!("`{name}` is {number}, but must be {least} to {most}"))
            }
            (ValueKind::Text { must_be, is_valid, .. }, SettingValue::Text(text))
                if !is_valid(text.trim()) =>
            {
                Err(format!("`{name}` must be {must_be}"))
            }
            (ValueKind::Url { secret }, SettingValue::Text(url)) => {
                let url = url.trim_end_matches('/');
                check_url(url, self.default, secret).map_err(|what| format!("`{name}` {what}"))
            }
            (ValueKind::Dollars, SettingValue::Dollars(millionths))
                if *millionths > MOST_DOLLARS * 1_000_000 =>
            {
                Err(format!("`{name}` must be at most {MOST_DOLLARS}"))
            }
            (ValueKind::Ids { least }, SettingValue::Ids(ids)) => {
                match ids.iter().find(|id| *id < least || **id == 0) {
                    Some(id) => Err(format!("`{name}` contains {id}, which is not an id")),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Returns the key's row in the guide.
    #[cfg(test)]
    pub(crate) fn guide_row(&self) -> String {
        let default = match (self.default, &self.kind) {
            ("", _) => "none".to_owned(),
            (words, _) if words.contains(' ') => words.to_owned(),
            (value, ValueKind::Whole { .. } | ValueKind::Switch) => value.to_owned(),
            (value, _) => format!("`{value}`"),
        };
        let note = if self.note.is_empty() { "" } else { "; " };
        let variables = match (self.variable(), self.common) {
            (None, _) => "none".to_owned(),
            (Some(ours), None) => format!("`{ours}`"),
            (Some(ours), Some(common)) => format!("`{ours}`, `{common}`"),
        };
        let (name, help) = (self.name, self.help());
        format!("| `{name}` | {default} | {help}{note}{} | {variables} |", self.note)
    }
}

/// The keys outside of `[agent]` that `callgate agent` uses too.
const SHARED: [&str; 6] =
    ["socket", "timeout_seconds", "grace_seconds", "database", "desk_socket", "rules"];
/// More of anything than this is no limit.
const UNLIMITED: i64 = 1_000_000_000_000;
const COUNT: (i64, i64) = (1, UNLIMITED);
/// The highest budget or price, in dollars.
const MOST_DOLLARS: u64 = 1_000_000;
const ENGINE_WORDS: &str = "auto, anthropic, openai, claude-code or offline";
const LEVEL_WORDS: &str = "error, warn, info or debug";

/// All keys, in the order of the help and the guide.
pub(crate) const KEYS: &[SettingKey] = &[
    key("socket", ValueKind::Socket)
        .about("The socket on which the desk takes questions")
        .default("$XDG_RUNTIME_DIR/callgate/ask.sock")
        .note("without such a folder, `ask.sock` beside the database; at most 107 bytes"),
    whole("timeout_seconds", (1, 3600), "SECONDS")
        .about("How long a question stays open")
        .default("300"),
    whole("grace_seconds", (0, 600), "SECONDS")
        .about("How long a waiting hook tries to reach a desk that has gone away")
        .default("15"),
    key("database", ValueKind::File)
        .about("The file with the ledger")
        .default("~/.local/share/callgate/callgate.db")
        .note("`$XDG_DATA_HOME` is respected; its folder is private"),
    key("desk_socket", ValueKind::Socket)
        .about("The socket on which the desk serves viewers")
        .default("$XDG_RUNTIME_DIR/callgate/desk.sock")
        .note("without such a folder, `desk.sock` beside the database; at most 107 bytes"),
    key("rules", ValueKind::File)
        .about("The file with your rules")
        .default("~/.config/callgate/rules.toml")
        .note("it may be absent"),
    key("legacy_socket", ValueKind::Socket)
        .about("A second socket for old clients; empty for none")
        .default(LEGACY_SOCKET)
        .note(
            "served while `callgate up` runs, unless another program has it; \
             if `socket` is set, the default is none",
        ),
    whole("phone_after_seconds", (0, 3600), "SECONDS")
        .about("How long a question waits before it is sent to phones")
        .default("0")
        .note("less than `timeout_seconds`"),
    key("notify_on_stop", ValueKind::Switch)
        .about("Whether you hear when an agent has finished a turn")
        .default("false")
        .note(
            "the message goes to the linked chats that are not muted and to the desk's terminal, \
             with the agent's last words; so do the agent's other notifications, such as that it \
             waits for input, except for those about permissions, which the desk asks itself",
        ),
    text("gate.unattended", "WORD", "rules or ask", |text| meaning_of(UNATTENDED, text).is_some())
        .about("What decides without a rule in modes where the agent asks nobody: rules or ask")
        .default("rules")
        .note(
        "these modes are `auto`, `dontAsk`, `bypassPermissions` and `codex exec`; `rules` leaves \
         the call to the mode, `ask` brings it to the desk, where no answer is a deny",
    ),
    text("gate.when_absent", "WORD", "agent or deny", |text| meaning_of(WHEN_ABSENT, text).is_some())
        .about("What the hook does where no rule decides and no desk runs: agent or deny")
        .default("agent")
        .note(
        "`agent` leaves the call to the agent, `deny` denies what no rule allows; deny rules hold \
         in either case; if `gate.unattended` is `ask`, the default is `deny`",
    ),
    key("page.enabled", ValueKind::Switch)
        .about("Whether `callgate up` serves the page")
        .default("true"),
    whole("page.port", (0, 65_535), "PORT")
        .about("The port of the page on this machine")
        .default("7420")
        .note("if it is taken, one of the next 19; 0 takes any free one"),
    key("telegram.token", ValueKind::Secret)
        .about("The bot's token itself"),
    key("telegram.token_file", ValueKind::File)
        .about("The file with the bot's token"),
    key("telegram.token_command", ValueKind::Command)
        .about("A program, with its arguments, that prints the token"),
    key("telegram.token_keyring", ValueKind::Switch)
        .about("Whether the token is in the desktop's keyring")
        .default("false")
        .flag(KeyFlag::None),
    key("telegram.api_url", ValueKind::Url { secret: "token" })
        .about("The address of the Bot API")
        .default("https://api.telegram.org")
        .note("`http://` for this machine only"),
    key("telegram.allowed_chats", ValueKind::Ids { least: i64::MIN })
        .about("The ids of the chats asked")
        .note("in a variable or a flag, separated by commas"),
    key("telegram.allowed_users", ValueKind::Ids { least: 1 })
        .about("The ids of the users who may answer in a group")
        .note("empty means nobody"),
    text("agent.engine", "ENGINE", ENGINE_WORDS, |text| meaning_of(ENGINES, text).is_some())
        .about("The engine that answers: auto, anthropic, openai, claude-code or offline")
        .default("auto")
        .note(
            "`auto` is `anthropic` or `openai` where there is a key or an address for it, else \
             `openai` where a model server is found on this machine, else `offline`",
        ),
    text("agent.model", "NAME", "the name of a model, such as claude-sonnet-5-5", is_model_name)
        .about("The model, as its provider names it")
        .default("claude-sonnet-5-5")
        .common("ANTHROPIC_MODEL"),
    key("agent.base_url", ValueKind::Url { secret: "API key" })
        .about("The address of the model's API")
        .default("https://api.anthropic.com")
        .note("`http://` for this machine only")
        .common("ANTHROPIC_BASE_URL"),
    key("agent.proxy", ValueKind::Secret)
        .about("An HTTP proxy for `https://` addresses")
        .common("HTTPS_PROXY"),
    key("agent.api_key", ValueKind::Secret)
        .about("The key of the model's API itself")
        .common("ANTHROPIC_API_KEY"),
    key("agent.api_key_file", ValueKind::File)
        .about("The file with the key of the model's API"),
    key("agent.api_key_command", ValueKind::Command)
        .about("A program, with its arguments, that prints the key"),
    text("agent.openai_model", "NAME", "the name of a model, such as gpt-5", is_model_name)
        .about("The model of the engine openai, as its server names it")
        .note("without it, the first that the server lists")
        .common("OPENAI_MODEL"),
    key("agent.openai_url", ValueKind::Url { secret: "API key" })
        .about("The address of a server with Chat Completions")
        .default("https://api.openai.com/v1")
        .note("`http://` for this machine only")
        .common("OPENAI_BASE_URL"),
    key("agent.openai_key", ValueKind::Secret)
        .about("The key of that server itself")
        .common("OPENAI_API_KEY"),
    key("agent.openai_key_file", ValueKind::File)
        .about("The file with the key of that server"),
    key("agent.openai_key_command", ValueKind::Command)
        .about("A program, with its arguments, that prints that key"),
    key("agent.local_ports", ValueKind::Ids { least: 1 })
        .about("The ports of this machine at which a model server is looked for")
        .default("11434,1234,8080,8000")
        .note("an empty list looks for none; in a variable or a flag, separated by commas"),
    key("agent.claude_cli", ValueKind::File)
        .about("The Claude Code CLI of the engine claude-code")
        .default("`claude` on the PATH"),
    whole("agent.max_tokens", (1, 1_000_000), "TOKENS")
        .about("The length of the longest answer")
        .default("16384")
        .note("less than `agent.context_tokens`")
        .common("MAX_TOKENS"),
    whole("agent.thinking_tokens", (0, 1_000_000), "TOKENS")
        .about("How much the model may think before it answers; 0 turns thinking off")
        .default("0")
        .note("at least 1024 otherwise, and less than `agent.max_tokens`"),
    whole("agent.context_tokens", (1_000, 10_000_000), "TOKENS")
        .about("The size of the model's context window")
        .default("200000"),
    whole("agent.max_rounds", (1, 1_000), "COUNT")
        .about("How many rounds of tool calls one message may take")
        .default("50"),
    key("agent.system_prompt_file", ValueKind::File)
        .about("A file with instructions for every conversation"),
    key("agent.roots", ValueKind::Folders)
        .about("A folder in which tools work; repeat it for more")
        .default("the working folder")
        .note("at most 64; separated by colons in our variable, a single folder in the other")
        .common("ALLOWED_ROOT_DIR")
        .flag(KeyFlag::Repeated("root")),
    whole("agent.max_file_size_mb", (1, 1_024), "MB")
        .about("The size of the largest file that tools read or write")
        .default("10")
        .common("MAX_FILE_SIZE_MB"),
    whole("agent.command_timeout_seconds", (1, 86_400), "SECONDS")
        .about("How long a command may run")
        .default("50")
        .note("the call may ask for another time"),
    key("agent.mcp_servers", ValueKind::Servers)
        .about("MCP servers whose tools the model may use")
        .note("a table for each, see [the runtime](agent.md#mcp-servers); at most 32"),
    key("agent.history", ValueKind::File)
        .about("The file with the conversations")
        .default("the `database`"),
    key("agent.keep_history", ValueKind::Switch)
        .about("Whether conversations are kept")
        .default("true")
        .flag(KeyFlag::Fixed("no-history", "false", "Keep no conversations")),
    key("agent.resume", ValueKind::Switch)
        .about("Whether the last conversation is continued")
        .default("false")
        .flag(KeyFlag::Fixed("resume", "true", "Continue the last conversation")),
    key("agent.conversation_usd", ValueKind::Dollars)
        .about("How much one conversation may cost, in dollars"),
    key("agent.day_usd", ValueKind::Dollars)
        .about("How much one day may cost, in dollars"),
    whole("agent.conversation_tokens", COUNT, "TOKENS")
        .about("How many tokens one conversation may use"),
    whole("agent.day_tokens", COUNT, "TOKENS")
        .about("How many tokens one day may use"),
    whole("agent.requests_per_minute", COUNT, "COUNT")
        .about("How many requests may be sent to the model in one minute"),
    key("agent.price_input", ValueKind::Dollars)
        .about("The price of a million input tokens, in dollars")
        .note("with `agent.price_output` it replaces the price that callgate knows"),
    key("agent.price_output", ValueKind::Dollars)
        .about("The price of a million output tokens, in dollars"),
    text("agent.log_level", "LEVEL", LEVEL_WORDS, |text| meaning_of(LOG_LEVELS, text).is_some())
        .about("How much is logged: error, warn, info or debug")
        .default("info")
        .common("LOG_LEVEL"),
];

/// The tables that hold keys.
pub(super) const TABLES: [&str; 4] = ["gate", "page", "telegram", "agent"];

/// Returns the key of this name.
pub(crate) fn find(name: &str) -> Option<&'static SettingKey> {
    KEYS.iter().find(|key| key.name == name)
}

/// Returns true if this is the name of a table.
pub(crate) fn is_table(name: &str) -> bool {
    TABLES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_known() {
        for key in KEYS.iter().filter(|key| key.name.contains('.')) {
            assert!(
                key.name.split_once('.').is_some_and(|(table, _)| TABLES.contains(&table)),
                "{}",
                key.name
            );
        }
    }
}
