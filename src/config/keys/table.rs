//! The table itself: all keys, in the order of the help and the guide.

use callgate_agent::budget::price::ModelPrices;
use callgate_agent::engine::CacheLife;
use callgate_agent::session::LogLevel;
use callgate_approval::desk::Unattended;
use callgate_rules::UnclearCommands;
use callgate_wire::approval::LEGACY_SOCKET;

use super::{KeyFlag, SettingKey, UNLIMITED, setting_key};
use crate::config::choices::{
    EngineSetting, WhenAbsent, is_model_name, parse_effort, parse_log_level,
};
use crate::config::shortcut::is_shortcut;
use crate::config::value::ValueKind;

const COUNT: (i64, i64) = (1, UNLIMITED);
const EFFORT_WORDS: &[&str] = &["default", "low", "medium", "high", "xhigh", "max"];
const PRICES: &str = "MODEL=INPUT/OUTPUT or MODEL=INPUT/OUTPUT/CACHED, separated by commas";
const RESUME: &str = "true, false or the id of a conversation in quotes";
const SERVERS: &str = "a table for each server, such as [agent.mcp_servers.files]";
const AGENT_TABLES: &str = "a table for each agent, such as [gate.agents.gemini]";
const THEMES: &[&str] = &["system", "light", "dark"];

const fn whole_number_key(
    name: &'static str,
    (least, most): (i64, i64),
    unit: &'static str,
) -> SettingKey {
    setting_key(name, ValueKind::Whole { least, most, unit })
}

/// Makes a key whose value is text that `is_valid` accepts.
const fn text_key(
    name: &'static str,
    placeholder: &'static str,
    must_be: &'static str,
    is_valid: fn(&str) -> bool,
) -> SettingKey {
    setting_key(name, ValueKind::Text { placeholder, must_be, is_valid })
}

/// Makes a key whose value is one of `words`, or another word that `is_valid` accepts.
const fn choice_key(
    name: &'static str,
    placeholder: &'static str,
    words: &'static [&'static str],
    is_valid: fn(&str) -> bool,
) -> SettingKey {
    setting_key(name, ValueKind::Choice { placeholder, words, is_valid })
}

/// All keys, in the order of the help and the guide.
pub(crate) const KEYS: &[SettingKey] = &[
    setting_key("socket", ValueKind::Socket)
        .about("The socket on which the desk takes questions")
        .default("$XDG_RUNTIME_DIR/callgate/ask.sock")
        .note("without such a folder, `ask.sock` beside the database; at most 107 bytes"),
    whole_number_key("timeout_seconds", (1, 3600), "SECONDS")
        .set_by_viewers()
        .about("How long a question stays open")
        .default("300"),
    whole_number_key("grace_seconds", (0, 600), "SECONDS")
        .set_by_viewers()
        .about("How long a waiting hook tries to reach a desk that has gone away")
        .default("15"),
    setting_key("database", ValueKind::File)
        .about("The file with the ledger")
        .default("~/.local/share/callgate/callgate.db")
        .note("`$XDG_DATA_HOME` is respected; its folder is private"),
    setting_key("desk_socket", ValueKind::Socket)
        .about("The socket on which the desk serves viewers")
        .default("$XDG_RUNTIME_DIR/callgate/desk.sock")
        .note("without such a folder, `desk.sock` beside the database; at most 107 bytes"),
    setting_key("rules", ValueKind::File)
        .about("The file with your rules")
        .default("~/.config/callgate/rules.toml")
        .note("it may be absent"),
    setting_key("legacy_socket", ValueKind::Socket)
        .about("A second socket for old clients; empty for none")
        .default(LEGACY_SOCKET)
        .note(
            "served while `callgate up` runs, unless another program has it; \
             if `socket` is set, the default is none",
        ),
    whole_number_key("phone_after_seconds", (0, 3600), "SECONDS")
        .set_by_viewers()
        .about("How long a question waits before it is sent to phones")
        .default("0")
        .note("less than `timeout_seconds`"),
    setting_key("notify_on_stop", ValueKind::Switch)
        .set_by_viewers()
        .about("Whether you hear when an agent has finished a turn")
        .default("false")
        .note(
            "the message goes to the linked chats that are not muted and to the desk's terminal, \
             with the agent's last words; so do the agent's other notifications, such as that it \
             waits for input",
        ),
    setting_key("notify_on_wait", ValueKind::Switch)
        .set_by_viewers()
        .about("Whether you hear when an agent waits in a dialog that the desk did not ask about")
        .default("true")
        .note("to the same places; what the desk asks itself is not repeated"),
    choice_key("gate.unattended", "WORD", &Unattended::NAMES, |text| {
        Unattended::parse(text).is_some()
    })
    .set_by_viewers()
    .about("What decides without a rule in modes where the agent asks nobody")
    .default("rules")
    .note(
        "these modes are `auto`, `dontAsk`, `bypassPermissions` and `codex exec`; `rules` leaves \
         the call to the mode, `ask` brings it to the desk, where no answer is a deny",
    ),
    choice_key("gate.when_absent", "WORD", &WhenAbsent::NAMES, |text| {
        WhenAbsent::parse(text).is_some()
    })
    .set_by_viewers()
    .about("What the hook does where no rule decides and no desk runs")
    .default("agent")
    .note(
        "`agent` leaves the call to the agent, `deny` denies what no rule allows; deny rules hold \
         in either case; if `gate.unattended` is `ask`, the default is `deny`",
    ),
    setting_key("gate.agents", ValueKind::Tables { must_be: AGENT_TABLES })
        .about("What holds for one agent in place of `gate.when_absent`")
        .note("a table for each, such as `[gate.agents.gemini]` with `when_absent = \"deny\"`"),
    choice_key("gate.unclear", "WORD", &UnclearCommands::NAMES, |text| {
        UnclearCommands::parse(text).is_some()
    })
    .set_by_viewers()
    .about("What decides on a command that is not understood and that a rule could name")
    .default("ask")
    .note(
        "the rule denies, asks or wants a confirmation; `ask` treats the command like one that \
             an ask rule names, `mode` like one that no rule names; what could touch callgate \
             itself is asked in either case",
    ),
    setting_key("page.enabled", ValueKind::Switch)
        .about("Whether `callgate up` serves the page")
        .default("true"),
    whole_number_key("page.port", (0, 65_535), "PORT")
        .about("The port of the page on this machine")
        .default("7420")
        .note("if it is taken, one of the next 19; 0 takes any free one"),
    setting_key("telegram.token", ValueKind::Secret).about("The bot's token itself"),
    setting_key("telegram.token_file", ValueKind::File).about("The file with the bot's token"),
    setting_key("telegram.token_command", ValueKind::Command)
        .about("A program, with its arguments, that prints the token"),
    setting_key("telegram.token_keyring", ValueKind::Switch)
        .secret_of_viewers()
        .about("Whether the token is in the desktop's keyring")
        .default("false")
        .flag(KeyFlag::None),
    setting_key("telegram.api_url", ValueKind::Url { secret: "token" })
        .about("The address of the Bot API")
        .default("https://api.telegram.org")
        .note("`http://` for this machine only"),
    setting_key("telegram.allowed_chats", ValueKind::Ids { least: i64::MIN })
        .about("The ids of the chats asked")
        .note("in a variable or a flag, separated by commas"),
    setting_key("telegram.allowed_users", ValueKind::Ids { least: 1 })
        .about("The ids of the users who may answer in a group")
        .note("empty means nobody"),
    choice_key("agent.engine", "ENGINE", &EngineSetting::NAMES, |text| {
        EngineSetting::parse(text).is_some()
    })
    .set_by_viewers()
    .about("The engine that answers")
    .default("auto")
    .note(
        "`auto` is `anthropic` or `openai` where there is a key or an address for it, else \
             `openai` where a model server is found on this machine, else `offline`",
    ),
    text_key(
        "agent.model",
        "NAME",
        "the name of a model, such as claude-sonnet-5-5",
        is_model_name,
    )
    .set_by_viewers()
    .about("The model, as its provider names it")
    .default("claude-sonnet-5-5")
    .common("ANTHROPIC_MODEL"),
    setting_key("agent.base_url", ValueKind::Url { secret: "API key" })
        .about("The address of the model's API")
        .default("https://api.anthropic.com")
        .note("`http://` for this machine only")
        .common("ANTHROPIC_BASE_URL"),
    setting_key("agent.proxy", ValueKind::Secret)
        .about("An HTTP proxy for `https://` addresses")
        .common("HTTPS_PROXY"),
    setting_key("agent.api_key", ValueKind::Secret)
        .about("The key of the model's API itself")
        .common("ANTHROPIC_API_KEY"),
    setting_key("agent.api_key_file", ValueKind::File)
        .about("The file with the key of the model's API"),
    setting_key("agent.api_key_command", ValueKind::Command)
        .about("A program, with its arguments, that prints the key"),
    setting_key("agent.api_key_keyring", ValueKind::Switch)
        .secret_of_viewers()
        .about("Whether the key is in the desktop's keyring")
        .default("false")
        .flag(KeyFlag::None),
    text_key("agent.fallback_model", "NAME", "the name of a model", is_model_name)
        .set_by_viewers()
        .about("The model that answers if the chosen one is overloaded or unknown"),
    choice_key("agent.effort", "LEVEL", EFFORT_WORDS, |text| parse_effort(text).is_some())
        .set_by_viewers()
        .about("How much effort the model puts into an answer")
        .default("default")
        .note("not every model knows it, or every level"),
    text_key("agent.openai_model", "NAME", "the name of a model, such as gpt-5", is_model_name)
        .set_by_viewers()
        .about("The model of the engine openai, as its server names it")
        .note("without it, the first that the server lists")
        .common("OPENAI_MODEL"),
    setting_key("agent.openai_url", ValueKind::Url { secret: "API key" })
        .about("The address of a server with Chat Completions")
        .default("https://api.openai.com/v1")
        .note("`http://` for this machine only")
        .common("OPENAI_BASE_URL"),
    setting_key("agent.openai_key", ValueKind::Secret)
        .about("The key of that server itself")
        .common("OPENAI_API_KEY"),
    setting_key("agent.openai_key_file", ValueKind::File)
        .about("The file with the key of that server"),
    setting_key("agent.openai_key_command", ValueKind::Command)
        .about("A program, with its arguments, that prints that key"),
    setting_key("agent.openai_key_keyring", ValueKind::Switch)
        .secret_of_viewers()
        .about("Whether that key is in the desktop's keyring")
        .default("false")
        .flag(KeyFlag::None),
    setting_key("agent.local_ports", ValueKind::Ids { least: 1 })
        .about("The ports of this machine at which a model server is looked for")
        .default("11434,1234,8080,8000")
        .note("an empty list looks for none; in a variable or a flag, separated by commas"),
    setting_key("agent.claude_cli", ValueKind::File)
        .about("The Claude Code CLI of the engine claude-code")
        .default("`claude` on the PATH"),
    whole_number_key("agent.max_tokens", (1, 1_000_000), "TOKENS")
        .set_by_viewers()
        .about("The length of the longest answer")
        .default("16384")
        .note("less than `agent.context_tokens`")
        .common("MAX_TOKENS"),
    whole_number_key("agent.thinking_tokens", (0, 1_000_000), "TOKENS")
        .set_by_viewers()
        .about("How much the model may think before it answers; 0 turns thinking off")
        .default("0")
        .note("at least 1024 otherwise, and less than `agent.max_tokens`"),
    choice_key("agent.cache_life", "TIME", &CacheLife::NAMES, |text| {
        CacheLife::parse(text).is_some()
    })
    .set_by_viewers()
    .about("How long the provider of `anthropic` keeps a conversation in its cache")
    .default("5m")
    .note("for an hour, writing to the cache costs twice the price of input, not 1.25 times"),
    whole_number_key("agent.context_tokens", (1_000, 10_000_000), "TOKENS")
        .set_by_viewers()
        .about("The size of the model's context window")
        .default("200000"),
    whole_number_key("agent.max_rounds", (1, 1_000), "COUNT")
        .set_by_viewers()
        .about("How many rounds of tool calls one message may take")
        .default("50"),
    whole_number_key("agent.retry_seconds", (0, 86_400), "SECONDS")
        .set_by_viewers()
        .about("How long a message waits for a model that cannot be reached or is overloaded")
        .default("1800"),
    whole_number_key("agent.silence_seconds", (1, 86_400), "SECONDS")
        .set_by_viewers()
        .about("How long a model may send nothing before its answer is given up")
        .default("120")
        .note("600 by default for a model server on this machine"),
    setting_key("agent.system_prompt_file", ValueKind::File)
        .about("A file with instructions for every conversation"),
    setting_key("agent.project_instructions", ValueKind::Switch)
        .set_by_viewers()
        .about("Whether the model reads the project's AGENTS.md, CLAUDE.md and .goosehints")
        .default("true")
        .flag(KeyFlag::Fixed(
            "no-project-instructions",
            "false",
            "Do not read the project's AGENTS.md, CLAUDE.md and .goosehints",
        )),
    setting_key("agent.roots", ValueKind::Folders)
        .about("A folder in which tools work; repeat it for more")
        .default("the working folder")
        .note("at most 64; separated by colons in our variable, a single folder in the other")
        .common("ALLOWED_ROOT_DIR")
        .flag(KeyFlag::Repeated("root")),
    whole_number_key("agent.max_file_size_mb", (1, 1_024), "MB")
        .set_by_viewers()
        .about("The size of the largest file that tools read or write")
        .default("10")
        .common("MAX_FILE_SIZE_MB"),
    whole_number_key("agent.command_timeout_seconds", (1, 86_400), "SECONDS")
        .set_by_viewers()
        .about("How long a command may run")
        .default("50")
        .note("the call may ask for another time"),
    setting_key("agent.snapshots", ValueKind::Switch)
        .set_by_viewers()
        .about("Whether files are noted before commands run, to show and undo what they change")
        .default("true")
        .flag(KeyFlag::Fixed(
            "no-snapshots",
            "false",
            "Do not find out what commands change; turn it off where looking at all files is slow",
        )),
    setting_key("agent.mcp_servers", ValueKind::Tables { must_be: SERVERS })
        .about("MCP servers whose tools the model may use")
        .note("a table for each, see [the runtime](agent.md#mcp-servers); at most 32"),
    whole_number_key("agent.mcp_wait_seconds", (0, 60), "SECONDS")
        .set_by_viewers()
        .about("How long a message waits for MCP servers that start with it")
        .default("1")
        .note("the tools of a slower server are there from a later round on"),
    setting_key("agent.history", ValueKind::File)
        .about("The file with the conversations")
        .default("the `database`"),
    setting_key("agent.keep_history", ValueKind::Switch)
        .set_by_viewers()
        .about("Whether conversations are kept")
        .default("true")
        .flag(KeyFlag::Fixed("no-history", "false", "Keep no conversations")),
    setting_key("agent.resume", ValueKind::SwitchOrId { must_be: RESUME })
        .set_by_viewers()
        .about("Whether the last conversation of the folder is continued, or the id of another")
        .default("false")
        .flag(KeyFlag::Optional("resume", "true")),
    setting_key("agent.all_folders", ValueKind::Switch)
        .set_by_viewers()
        .about("Whether conversations of all folders are listed and continued")
        .default("false")
        .flag(KeyFlag::Fixed(
            "all-folders",
            "true",
            "List and continue the conversations of all folders",
        )),
    setting_key("agent.conversation_usd", ValueKind::Dollars)
        .set_by_viewers()
        .about("How much one conversation may cost, in dollars"),
    setting_key("agent.day_usd", ValueKind::Dollars)
        .set_by_viewers()
        .about("How much one day may cost, in dollars"),
    whole_number_key("agent.conversation_tokens", COUNT, "TOKENS")
        .set_by_viewers()
        .about("How many tokens one conversation may use"),
    whole_number_key("agent.day_tokens", COUNT, "TOKENS")
        .set_by_viewers()
        .about("How many tokens one day may use"),
    whole_number_key("agent.requests_per_minute", COUNT, "COUNT")
        .set_by_viewers()
        .about("How many requests may be sent to the model in one minute"),
    setting_key("agent.price_input", ValueKind::Dollars)
        .set_by_viewers()
        .about("The price of a million input tokens, in dollars")
        .note("with `agent.price_output` it replaces the price that callgate knows"),
    setting_key("agent.price_output", ValueKind::Dollars)
        .set_by_viewers()
        .about("The price of a million output tokens, in dollars"),
    text_key("agent.prices", "PRICES", PRICES, |text| ModelPrices::parse(text).is_some())
        .set_by_viewers()
        .about("The prices of a million tokens by model, in dollars")
        .note(
            "input, output and optionally cached input, as in `gpt-5=1.25/10/0.125, m=0.2/0.8`; \
             for other models `agent.price_input` and `agent.price_output` hold",
        ),
    choice_key("agent.log_level", "LEVEL", &LogLevel::NAMES, |text| {
        parse_log_level(text).is_some()
    })
    .set_by_viewers()
    .about("How much is logged")
    .default("info")
    .common("LOG_LEVEL"),
    text_key("shell.shortcut", "KEYS", "keys such as Ctrl+Shift+Space", is_shortcut)
        .set_by_viewers()
        .about("The keys that show and hide the window of the desktop shell; empty for none")
        .default("Ctrl+Shift+Space")
        .note(
            "Ctrl, Alt, Shift or Super, then a letter, a digit, F1 to F24 or the name of a key \
             such as Space, with a plus between them; CmdOrCtrl is Cmd on macOS",
        )
        .flag(KeyFlag::None),
    choice_key("shell.theme", "THEME", THEMES, |text| THEMES.contains(&text))
        .set_by_viewers()
        .about("The colours of the desktop shell")
        .default("system")
        .flag(KeyFlag::None),
];
