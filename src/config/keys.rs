//! Every key of the settings: its name, its kind, and the variable that can set it.

/// What a key holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A file or a socket.
    Path,
    /// Text.
    Text,
    /// A whole number.
    Whole,
    /// A number with at most six decimals.
    Amount,
    /// Yes or no.
    Switch,
    /// A list of whole numbers.
    Numbers,
    /// A program and its arguments.
    Words,
    /// A list of files or folders.
    Paths,
    /// Text that nobody may see.
    Secret,
}

impl Kind {
    /// The kind in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Path => "a path in quotes",
            Self::Text | Self::Secret => "text in quotes",
            Self::Whole => "a whole number",
            Self::Amount => "a number such as 2.50, with at most six decimals",
            Self::Switch => "true or false",
            Self::Numbers => "a list of whole numbers, such as [1, 2]",
            Self::Words => "a list of words, such as [\"pass\", \"show\", \"callgate\"]",
            Self::Paths => "a list of paths, such as [\"~/engine\"]",
        }
    }
}

/// One key of the settings.
#[derive(Debug)]
pub(crate) struct Key {
    /// Its name, with its table before a dot.
    pub(crate) name: &'static str,
    /// What it holds.
    pub(crate) kind: Kind,
    /// The environment variable that sets it.
    pub(crate) variable: Option<&'static str>,
    /// A variable that others use too. It stands below our own, and only the command that it is
    /// meant for reads it.
    pub(crate) common: Option<&'static str>,
}

const fn key(name: &'static str, kind: Kind, variable: &'static str) -> Key {
    Key { name, kind, variable: Some(variable), common: None }
}

const fn shared(
    name: &'static str,
    kind: Kind,
    variable: &'static str,
    common: &'static str,
) -> Key {
    Key { name, kind, variable: Some(variable), common: Some(common) }
}

const fn file_only(name: &'static str, kind: Kind) -> Key {
    Key { name, kind, variable: None, common: None }
}

/// All keys. A key is added here, where it is checked (`check.rs`, `gate.rs`, `agent.rs`), as a flag where it
/// is no secret (`flags.rs`), and in `docs/guide/settings.md`; tests compare the four.
pub(crate) const KEYS: [Key; 44] = [
    key("socket", Kind::Path, "CALLGATE_SOCKET"),
    key("timeout_seconds", Kind::Whole, "CALLGATE_TIMEOUT_SECONDS"),
    key("grace_seconds", Kind::Whole, "CALLGATE_GRACE_SECONDS"),
    key("database", Kind::Path, "CALLGATE_DATABASE"),
    key("desk_socket", Kind::Path, "CALLGATE_DESK_SOCKET"),
    key("rules", Kind::Path, "CALLGATE_RULES"),
    key("legacy_socket", Kind::Path, "CALLGATE_LEGACY_SOCKET"),
    key("phone_after_seconds", Kind::Whole, "CALLGATE_PHONE_AFTER_SECONDS"),
    key("notify_on_stop", Kind::Switch, "CALLGATE_NOTIFY_ON_STOP"),
    key("gate.unattended", Kind::Text, "CALLGATE_GATE_UNATTENDED"),
    key("gate.when_absent", Kind::Text, "CALLGATE_GATE_WHEN_ABSENT"),
    key("telegram.token", Kind::Secret, "CALLGATE_TELEGRAM_TOKEN"),
    key("telegram.token_file", Kind::Path, "CALLGATE_TELEGRAM_TOKEN_FILE"),
    file_only("telegram.token_command", Kind::Words),
    key("telegram.token_keyring", Kind::Switch, "CALLGATE_TELEGRAM_TOKEN_KEYRING"),
    key("telegram.api_url", Kind::Text, "CALLGATE_TELEGRAM_API_URL"),
    key("telegram.allowed_chats", Kind::Numbers, "CALLGATE_TELEGRAM_ALLOWED_CHATS"),
    key("telegram.allowed_users", Kind::Numbers, "CALLGATE_TELEGRAM_ALLOWED_USERS"),
    key("agent.engine", Kind::Text, "CALLGATE_AGENT_ENGINE"),
    shared("agent.model", Kind::Text, "CALLGATE_AGENT_MODEL", "ANTHROPIC_MODEL"),
    shared("agent.base_url", Kind::Text, "CALLGATE_AGENT_BASE_URL", "ANTHROPIC_BASE_URL"),
    shared("agent.proxy", Kind::Secret, "CALLGATE_AGENT_PROXY", "HTTPS_PROXY"),
    shared("agent.api_key", Kind::Secret, "CALLGATE_AGENT_API_KEY", "ANTHROPIC_API_KEY"),
    key("agent.api_key_file", Kind::Path, "CALLGATE_AGENT_API_KEY_FILE"),
    file_only("agent.api_key_command", Kind::Words),
    shared("agent.max_tokens", Kind::Whole, "CALLGATE_AGENT_MAX_TOKENS", "MAX_TOKENS"),
    key("agent.thinking_tokens", Kind::Whole, "CALLGATE_AGENT_THINKING_TOKENS"),
    key("agent.context_tokens", Kind::Whole, "CALLGATE_AGENT_CONTEXT_TOKENS"),
    key("agent.max_rounds", Kind::Whole, "CALLGATE_AGENT_MAX_ROUNDS"),
    key("agent.system_prompt_file", Kind::Path, "CALLGATE_AGENT_SYSTEM_PROMPT_FILE"),
    shared("agent.roots", Kind::Paths, "CALLGATE_AGENT_ROOTS", "ALLOWED_ROOT_DIR"),
    shared(
        "agent.max_file_size_mb",
        Kind::Whole,
        "CALLGATE_AGENT_MAX_FILE_SIZE_MB",
        "MAX_FILE_SIZE_MB",
    ),
    key("agent.command_timeout_seconds", Kind::Whole, "CALLGATE_AGENT_COMMAND_TIMEOUT_SECONDS"),
    key("agent.history", Kind::Path, "CALLGATE_AGENT_HISTORY"),
    key("agent.keep_history", Kind::Switch, "CALLGATE_AGENT_KEEP_HISTORY"),
    key("agent.resume", Kind::Switch, "CALLGATE_AGENT_RESUME"),
    key("agent.conversation_usd", Kind::Amount, "CALLGATE_AGENT_CONVERSATION_USD"),
    key("agent.day_usd", Kind::Amount, "CALLGATE_AGENT_DAY_USD"),
    key("agent.conversation_tokens", Kind::Whole, "CALLGATE_AGENT_CONVERSATION_TOKENS"),
    key("agent.day_tokens", Kind::Whole, "CALLGATE_AGENT_DAY_TOKENS"),
    key("agent.requests_per_minute", Kind::Whole, "CALLGATE_AGENT_REQUESTS_PER_MINUTE"),
    key("agent.price_input", Kind::Amount, "CALLGATE_AGENT_PRICE_INPUT"),
    key("agent.price_output", Kind::Amount, "CALLGATE_AGENT_PRICE_OUTPUT"),
    shared("agent.log_level", Kind::Text, "CALLGATE_AGENT_LOG_LEVEL", "LOG_LEVEL"),
];

/// The tables that there are.
const TABLES: [&str; 3] = ["gate", "telegram", "agent"];

/// The key of this name.
pub(crate) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// Whether this names a table that holds keys.
pub(crate) fn is_table(name: &str) -> bool {
    TABLES.contains(&name)
}

/// The key that was most likely meant, if any is near.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    let near = |key: &Key| {
        let is_elsewhere = table_of(name) != table_of(key.name);
        let distance = far(last_part(name), last_part(key.name)) + usize::from(is_elsewhere);
        (distance <= 1 + last_part(name).chars().count() / 3).then_some((distance, key.name))
    };
    let nearest = KEYS.iter().filter_map(near).min_by_key(|(distance, _)| *distance);
    let table = TABLES.into_iter().find(|table| strsim::damerau_levenshtein(name, table) <= 2);
    nearest.map(|(_, name)| name).or(table)
}

fn table_of(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(table, _)| table)
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// How many letters are wrong; a part of a name (`timeout`, `chats`) counts as two.
fn far(name: &str, key: &str) -> usize {
    let is_part = name.len() >= 3 && (key.starts_with(name) || key.ends_with(name));
    let has_more = name.starts_with(key) || name.ends_with(key);
    let letters = strsim::damerau_levenshtein(name, key);
    if is_part || has_more { letters.min(2) } else { letters }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_name_leads_to_the_nearest_right_one() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(nearest(name), expected, "{name}");
        };
        check("timout_seconds", Some("timeout_seconds"));
        check("timeout", Some("timeout_seconds"));
        check("sokcet", Some("socket"));
        check("Socket", Some("socket"));
        check("desk-socket", Some("desk_socket"));
        check("token", Some("telegram.token"));
        check("telegram.tokenfile", Some("telegram.token_file"));
        check("telegram.chats", Some("telegram.allowed_chats"));
        check("allowed_users", Some("telegram.allowed_users"));
        check("telegram.url", Some("telegram.api_url"));
        check("database_path", Some("database"));
        check("telgram", Some("telegram"));
        check("agnet", Some("agent"));
        check("agent.maxtokens", Some("agent.max_tokens"));
        check("model", Some("agent.model"));
        check("agent.root", Some("agent.roots"));
        check("unattended", Some("gate.unattended"));
        check("gate.absent", Some("gate.when_absent"));
        check("colour", None);
        check("x", None);
    }

    #[test]
    fn every_table_is_known() {
        for key in KEYS.iter().filter(|key| key.name.contains('.')) {
            assert!(TABLES.contains(&table_of(key.name)), "{}", key.name);
        }
    }
}
