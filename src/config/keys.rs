//! The table of all settings: what each key holds, its default, its variable, its flag and its
//! words in the help and in the guide.
//!
//! A new key is added in `keys/table.rs` and read in `check.rs` or `agent.rs`. A test holds the
//! guide's table against this one.

mod table;

use callgate_wire::desk::SettingAccess;

use super::value::{SettingValue, ValueKind, check_url};
use crate::text::list_choices;
pub(crate) use table::KEYS;

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
    pub(super) note: &'static str,
    /// The default as a variable would have it; for a path, words for the guide. Empty for none.
    pub(crate) default: &'static str,
    /// A variable that other programs use too. It ranks below our own, and only `callgate agent`
    /// reads it.
    pub(crate) common: Option<&'static str>,
    pub(crate) flag: KeyFlag,
    /// What a viewer of the desk, such as the page, may do with it.
    pub(crate) access: SettingAccess,
}

/// How a key is set on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyFlag {
    /// Not at all: everybody on the machine can read a command line, and what only the desktop
    /// shell uses is not for a command.
    None,
    /// By a flag that is named after the key and takes a value.
    Value,
    /// By this flag, once for each element.
    Repeated(&'static str),
    /// By this flag without a value: it sets this value, and has a help text of its own.
    Fixed(&'static str, &'static str, &'static str),
    /// By this flag, which sets this value if it has none.
    Optional(&'static str, &'static str),
}

const fn setting_key(name: &'static str, kind: ValueKind) -> SettingKey {
    let flag = match kind {
        ValueKind::Secret | ValueKind::Command | ValueKind::Tables { .. } => KeyFlag::None,
        _ => KeyFlag::Value,
    };
    let access = SettingAccess::See;
    SettingKey { name, kind, about: "", note: "", default: "", common: None, flag, access }
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

    /// Lets a viewer set the key. It must name no program, file, socket or address.
    const fn set_by_viewers(self) -> Self {
        Self { access: SettingAccess::Set, ..self }
    }

    /// Lets a viewer send the secret that is kept in the keyring.
    const fn secret_of_viewers(self) -> Self {
        Self { access: SettingAccess::Secret, ..self }
    }

    const fn flag(self, flag: KeyFlag) -> Self {
        Self { flag, ..self }
    }

    /// Returns the environment variable that sets the key. There is no one way to split a
    /// variable into the words of a command, so a command has none, and neither have tables.
    pub(crate) fn variable(&self) -> Option<String> {
        let name = || format!("CALLGATE_{}", self.name.replace('.', "_").to_uppercase());
        (!matches!(self.kind, ValueKind::Command | ValueKind::Tables { .. })).then(name)
    }

    /// Returns the flag that sets the key, without its dashes.
    pub(crate) fn flag_name(&self) -> Option<String> {
        match self.flag {
            KeyFlag::None => None,
            KeyFlag::Repeated(flag) | KeyFlag::Fixed(flag, ..) | KeyFlag::Optional(flag, _) => {
                Some(flag.to_owned())
            }
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
            ValueKind::Choice { words, .. } => format!("{}: {}", self.about, list_choices(words)),
            _ => self.about.to_owned(),
        }
    }

    /// Returns what is wrong with a value of this key's kind.
    pub(crate) fn check_value(&self, value: &SettingValue) -> Result<(), String> {
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
            (ValueKind::Choice { words, is_valid, .. }, SettingValue::Text(text))
                if !is_valid(text.trim()) =>
            {
                Err(format!("`{name}` must be {}", list_choices(words)))
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
}

/// The keys outside of `[agent]` that `callgate agent` uses too.
const SHARED: [&str; 6] =
    ["socket", "timeout_seconds", "grace_seconds", "database", "desk_socket", "rules"];
/// More of anything than this is no limit.
const UNLIMITED: i64 = 1_000_000_000_000;
/// The highest budget or price, in dollars.
const MOST_DOLLARS: u64 = 1_000_000;

/// The tables that hold keys.
pub(super) const TABLES: [&str; 5] = ["gate", "page", "telegram", "agent", "shell"];

/// Returns the key of this name.
pub(crate) fn find_setting_key(name: &str) -> Option<&'static SettingKey> {
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

    #[test]
    fn every_choice_is_accepted() {
        let mut count = 0;
        for key in KEYS {
            let ValueKind::Choice { words, is_valid, .. } = key.kind else { continue };
            count += 1;
            assert!(words.contains(&key.default), "{}", key.name);
            assert!(words.iter().all(|word| is_valid(word)), "{}: {words:?}", key.name);
            assert!(key.help().ends_with(&list_choices(words)), "{}", key.help());
        }
        assert_eq!(count, 8);
        assert_eq!(list_choices(&["a", "b", "c"]), "a, b or c");
        assert_eq!(list_choices(&["a"]), "a");
    }

    /// What a viewer may set names no program, file, socket or address, and not who may answer.
    #[test]
    fn viewers_set_only_what_names_nothing_outside() {
        const OUTSIDE: [&str; 12] = [
            "socket", "file", "command_", "_command", "url", "port", "proxy", "cli", "database",
            "roots", "servers", "allowed",
        ];
        for key in KEYS {
            let is_plain = match key.kind {
                ValueKind::Whole { .. }
                | ValueKind::Switch
                | ValueKind::Choice { .. }
                | ValueKind::Text { .. }
                | ValueKind::Dollars
                | ValueKind::SwitchOrId { .. } => true,
                ValueKind::File
                | ValueKind::Socket
                | ValueKind::Folders
                | ValueKind::Url { .. }
                | ValueKind::Secret
                | ValueKind::Command
                | ValueKind::Tables { .. }
                | ValueKind::Ids { .. } => false,
            };
            match key.access {
                SettingAccess::Set => {
                    let is_time = key.name.ends_with("_seconds") || key.name.ends_with("_mb");
                    let names = OUTSIDE.iter().any(|word| key.name.contains(word));
                    assert!(is_plain && (is_time || !names), "{}", key.name);
                }
                SettingAccess::Secret => assert!(key.name.ends_with("_keyring"), "{}", key.name),
                SettingAccess::See => {}
            }
        }
    }
}
