//! The keys of the agent runtime.

use std::path::PathBuf;
use std::time::Duration;

use callgate_agent::budget::price::{ModelPrices, TokenPrices};
use callgate_agent::engine::{CacheLife, Effort};
use callgate_agent::mcp::McpServerSettings;
use callgate_agent::session::{LogLevel, ResumedConversation};
use callgate_wire::HiddenText;
use callgate_wire::desk::SettingAccess;

use crate::choices::EngineSetting;
use crate::given::SettingsCheck;
use crate::problem::Setting;
use crate::setting_key::{Dependence, KeyFlag, SettingKey};
use crate::setting_type::{ServerUrl, SettingType};
use crate::text_checks::is_model_name;
use crate::token_source::KeyringEntry::{ApiKey, OpenAiKey};
use crate::token_source::TokenSource;
use crate::typed_key::{Key, declare_section, secret_keys};
use crate::value::ValueKind::{self, Text, Url, Whole};

const PRICES: &str = "MODEL=INPUT/OUTPUT or MODEL=INPUT/OUTPUT/CACHED, separated by commas";

declare_section! {
    /// The section `[agent]`: the settings of the agent runtime.
    pub struct AgentSettings in "agent." read by check {
    /// The engine that answers
    AGENT_ENGINE engine [Set]: Setting<EngineSetting> = placeholder: "ENGINE",
        note: "`auto` is `anthropic` or `openai` where there is a key or an address for it, else \
               `openai` where a model server is found on this machine, else `offline`",
        default: "auto";
    /// The model, as its provider names it
    AGENT_MODEL model [Set]: String = placeholder: "NAME",
        kind: Text("the name of a model, such as claude-sonnet-5-5", is_model_name),
        default: "claude-sonnet-5-5", common: Some("ANTHROPIC_MODEL");
    /// The address of the model's API
    AGENT_BASE_URL base_url: ServerUrl = kind: Url("API key"),
        note: "`http://` for this machine only", default: "https://api.anthropic.com",
        common: Some("ANTHROPIC_BASE_URL");
    /// An HTTP proxy for `https://` addresses
    AGENT_PROXY proxy: Option<HiddenText> = common: Some("HTTPS_PROXY");
    /// The key of the model's API itself
    AGENT_API_KEY api_key: Option<Setting<TokenSource>> = entry: Some(ApiKey),
        others: secret_keys!("agent.api_key", ApiKey, "the key of the model's API", "the key"),
        common: Some("ANTHROPIC_API_KEY");
    /// The model that answers if the chosen one is overloaded or unknown
    AGENT_FALLBACK_MODEL fallback_model [Set]: Option<String> = placeholder: "NAME",
        kind: Text("the name of a model", is_model_name);
    /// How much effort the model puts into an answer
    AGENT_EFFORT effort [Set]: Option<Effort> = placeholder: "LEVEL",
        note: "not every model knows it, or every level", default: "default";
    /// The model of the engine openai, as its server names it
    AGENT_OPENAI_MODEL openai_model [Set]: Option<String> = placeholder: "NAME",
        kind: Text("the name of a model, such as gpt-5", is_model_name),
        note: "without it, the first that the server lists", common: Some("OPENAI_MODEL");
    /// The address of a server with Chat Completions
    AGENT_OPENAI_URL openai_url: Option<Setting<ServerUrl>> = kind: Url("API key"),
        note: "`http://` for this machine only", default: "https://api.openai.com/v1",
        common: Some("OPENAI_BASE_URL");
    /// The key of that server itself
    AGENT_OPENAI_KEY openai_key: Option<Setting<TokenSource>> = entry: Some(OpenAiKey),
        others: secret_keys!("agent.openai_key", OpenAiKey, "the key of that server", "that key"),
        common: Some("OPENAI_API_KEY");
    /// The ports of this machine at which a model server is looked for
    AGENT_LOCAL_PORTS local_ports: Vec<u16> =
        note: "an empty list looks for none; in a variable or a flag, separated by commas",
        default: "11434,1234,8080,8000";
    /// The Claude Code CLI of the engine claude-code
    AGENT_CLAUDE_CLI claude_cli: Option<PathBuf> = default: "`claude` on the PATH";
    /// The length of the longest answer
    AGENT_MAX_TOKENS max_tokens [Set]: u32 = kind: Whole(1, 1_000_000), placeholder: "TOKENS",
        note: "less than `agent.context_tokens`", default: "16384", common: Some("MAX_TOKENS");
    /// How much the model may think before it answers; 0 turns thinking off
    AGENT_THINKING_TOKENS thinking_tokens [Set]: u32 = kind: Whole(0, 1_000_000),
        note: "at least 1024 otherwise, and less than `agent.max_tokens`", placeholder: "TOKENS",
        default: "0";
    /// How long the provider of `anthropic` keeps a conversation in its cache
    AGENT_CACHE_LIFE cache_life [Set]: CacheLife = placeholder: "TIME",
        note: "for an hour, writing to the cache costs twice the price of input, not 1.25 times",
        default: "5m";
    /// The size of the model's context window
    AGENT_CONTEXT_TOKENS context_tokens [Set]: u64 = kind: Whole(1_000, 10_000_000),
        placeholder: "TOKENS", default: "200000";
    /// How many rounds of tool calls one message may take
    AGENT_MAX_ROUNDS max_rounds [Set]: u32 = kind: Whole(1, 1_000), placeholder: "COUNT",
        default: "50";
    /// How long a message waits for a model that cannot be reached or is overloaded
    AGENT_RETRY_SECONDS retry_seconds [Set]: Duration = kind: Whole(0, 86_400), default: "1800";
    /// How long a model may send nothing before its answer is given up
    AGENT_SILENCE_SECONDS silence_seconds [Set]: Option<Duration> = kind: Whole(1, 86_400),
        note: "600 by default for a model server on this machine", default: "120";
    /// A file with instructions for every conversation
    AGENT_SYSTEM_PROMPT_FILE system_prompt_file: Option<PathBuf>;
    /// Whether the model reads the project's AGENTS.md, CLAUDE.md and .goosehints
    AGENT_PROJECT_INSTRUCTIONS project_instructions [Set]: bool = default: "true",
        flag: KeyFlag::Fixed("no-project-instructions", "false",
            "Do not read the project's AGENTS.md, CLAUDE.md and .goosehints");
    /// A folder in which tools work; repeat it for more
    AGENT_ROOTS roots: Vec<PathBuf> =
        note: "at most 64; separated by colons in our variable, a single folder in the other",
        default: "the working folder", common: Some("ALLOWED_ROOT_DIR"),
        flag: KeyFlag::Repeated("root");
    /// The size of the largest file that tools read or write
    AGENT_MAX_FILE_SIZE_MB max_file_size_mb [Set]: u64 = kind: Whole(1, 1_024), placeholder: "MB",
        default: "10", common: Some("MAX_FILE_SIZE_MB");
    /// How long a command may run
    AGENT_COMMAND_TIMEOUT_SECONDS command_timeout_seconds [Set]: Duration = kind: Whole(1, 86_400),
        note: "the call may ask for another time", default: "50";
    /// Whether files are noted before commands run, to show and undo what they change
    AGENT_SNAPSHOTS snapshots [Set]: bool = default: "true",
        flag: KeyFlag::Fixed("no-snapshots", "false",
            "Do not find out what commands change; turn it off where looking at all files is slow");
    /// MCP servers whose tools the model may use
    AGENT_MCP_SERVERS mcp_servers: Vec<McpServerSettings> =
        note: "a table for each, see [the runtime](agent.md#mcp-servers); at most 32";
    /// How long a message waits for MCP servers that start with it
    AGENT_MCP_WAIT_SECONDS mcp_wait_seconds [Set]: Duration = kind: Whole(0, 60),
        note: "the tools of a slower server are there from a later round on", default: "1";
    /// The file with the conversations
    AGENT_HISTORY history: Option<PathBuf> = default: "the `database`",
        depends: Dependence::SameAs(&super::DATABASE.key);
    /// Whether conversations are kept
    AGENT_KEEP_HISTORY keep_history [Set]: bool = default: "true",
        flag: KeyFlag::Fixed("no-history", "false", "Keep no conversations");
    /// Whether the last conversation of the folder is continued, or the id of another
    AGENT_RESUME resume [Set]: ResumedConversation = default: "false",
        flag: KeyFlag::Optional("resume", "true");
    /// Whether conversations of all folders are listed and continued
    AGENT_ALL_FOLDERS all_folders [Set]: bool = default: "false",
        flag: KeyFlag::Fixed("all-folders", "true",
            "List and continue the conversations of all folders");
    /// How much one conversation may cost, in dollars
    AGENT_CONVERSATION_USD conversation_usd [Set]: Option<f64>;
    /// How much one day may cost, in dollars
    AGENT_DAY_USD day_usd [Set]: Option<f64>;
    /// How many tokens one conversation may use
    AGENT_CONVERSATION_TOKENS conversation_tokens [Set]: Option<u64> = placeholder: "TOKENS";
    /// How many tokens one day may use
    AGENT_DAY_TOKENS day_tokens [Set]: Option<u64> = placeholder: "TOKENS";
    /// How many requests may be sent to the model in one minute
    AGENT_REQUESTS_PER_MINUTE requests_per_minute [Set]: Option<u32> = placeholder: "COUNT";
    /// The price of a million input tokens, in dollars
    AGENT_PRICE_INPUT price_input [Set]: Option<f64> =
        note: "with `agent.price_output` it replaces the price that callgate knows";
    /// The price of a million output tokens, in dollars
    AGENT_PRICE_OUTPUT price_output [Set]: Option<f64>;
    /// The prices of a million tokens by model, in dollars
    AGENT_PRICES prices [Set]: Option<Vec<(String, TokenPrices)>> = placeholder: "PRICES",
        kind: Text(PRICES, |text| ModelPrices::parse(text).is_some()),
        note: "input, output and optionally cached input, as in `gpt-5=1.25/10/0.125, m=0.2/0.8`; \
               for other models `agent.price_input` and `agent.price_output` hold";
    /// How much is logged
    AGENT_LOG_LEVEL log_level [Set]: LogLevel = placeholder: "LEVEL", default: "info",
        common: Some("LOG_LEVEL");
    } with {
        here: Option<PathBuf> = check.given.around.here.clone(),
        tools_folder: Option<PathBuf> =
            check.given.around.config_folder().map(|folder| folder.join("tools")),
    }
}
