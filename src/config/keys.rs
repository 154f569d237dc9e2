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
    /// Yes or no.
    Switch,
    /// A list of whole numbers.
    Numbers,
    /// A program and its arguments.
    Words,
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
            Self::Switch => "true or false",
            Self::Numbers => "a list of whole numbers, such as [1, 2]",
            Self::Words => "a list of words, such as [\"pass\", \"show\", \"callgate\"]",
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
}

const fn key(name: &'static str, kind: Kind, variable: &'static str) -> Key {
    Key { name, kind, variable: Some(variable) }
}

/// All keys. A key is added here, where it is checked (`check.rs`), as a flag where it is no
/// secret (`flags.rs`), and in `docs/guide/settings.md`; tests compare the four.
pub(crate) const KEYS: [Key; 15] = [
    key("socket", Kind::Path, "CALLGATE_SOCKET"),
    key("timeout_seconds", Kind::Whole, "CALLGATE_TIMEOUT_SECONDS"),
    key("grace_seconds", Kind::Whole, "CALLGATE_GRACE_SECONDS"),
    key("database", Kind::Path, "CALLGATE_DATABASE"),
    key("desk_socket", Kind::Path, "CALLGATE_DESK_SOCKET"),
    key("rules", Kind::Path, "CALLGATE_RULES"),
    key("phone_after_seconds", Kind::Whole, "CALLGATE_PHONE_AFTER_SECONDS"),
    key("notify_on_stop", Kind::Switch, "CALLGATE_NOTIFY_ON_STOP"),
    key("telegram.token", Kind::Secret, "CALLGATE_TELEGRAM_TOKEN"),
    key("telegram.token_file", Kind::Path, "CALLGATE_TELEGRAM_TOKEN_FILE"),
    Key { name: "telegram.token_command", kind: Kind::Words, variable: None },
    key("telegram.token_keyring", Kind::Switch, "CALLGATE_TELEGRAM_TOKEN_KEYRING"),
    key("telegram.api_url", Kind::Text, "CALLGATE_TELEGRAM_API_URL"),
    key("telegram.allowed_chats", Kind::Numbers, "CALLGATE_TELEGRAM_ALLOWED_CHATS"),
    key("telegram.allowed_users", Kind::Numbers, "CALLGATE_TELEGRAM_ALLOWED_USERS"),
];

/// The one table that there is.
const TABLE: &str = "telegram";

/// The key of this name.
pub(crate) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// Whether this names a table that holds keys.
pub(crate) fn is_table(name: &str) -> bool {
    name == TABLE
}

/// The key that was most likely meant, if any is near.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    let near = |key: &Key| {
        let is_elsewhere = name.contains('.') != key.name.contains('.');
        let distance = far(last_part(name), last_part(key.name)) + usize::from(is_elsewhere);
        (distance <= 1 + last_part(name).chars().count() / 3).then_some((distance, key.name))
    };
    let nearest = KEYS.iter().filter_map(near).min_by_key(|(distance, _)| *distance);
    let table = (strsim::damerau_levenshtein(name, TABLE) <= 2).then_some(TABLE);
    nearest.map(|(_, name)| name).or(table)
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
        check("colour", None);
        check("x", None);
    }

    #[test]
    fn there_is_one_table() {
        for key in KEYS.iter().filter(|key| key.name.contains('.')) {
            assert_eq!(key.name.split('.').next(), Some(TABLE));
        }
    }
}
