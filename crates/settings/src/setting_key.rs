//! A key of the settings: what it holds, its default, its variable, its flag and its words.

use callgate_mask::text::list_choices;
use callgate_wire::desk::SettingAccess;

use crate::text_checks::check_url;
use crate::token_source::KeyringEntry;
use crate::value::{SettingValue, ValueKind};

/// One key of the settings. Its variable, its flag and its words in the help follow from it.
#[derive(Debug, Clone, Copy)]
pub struct SettingKey {
    /// The name, with its table before a dot.
    pub name: &'static str,
    pub kind: ValueKind,
    /// What the key is, for the help and the guide.
    pub(crate) about: &'static str,
    /// What only the guide says.
    pub note: &'static str,
    /// What stands for the value in the help.
    pub placeholder: &'static str,
    /// The default as a variable would have it; for a path, words for the guide. Empty for none.
    pub default: &'static str,
    /// A variable that other programs use too. It ranks below our own, and only `callgate agent`
    /// reads it.
    pub common: Option<&'static str>,
    pub flag: KeyFlag,
    /// What a viewer of the desk, such as the page, may do with it. One that a viewer may set names
    /// no program, file, socket or address.
    pub access: SettingAccess,
    /// The secret in the keyring that can be used in place of this key's value.
    pub entry: Option<KeyringEntry>,
    /// Further keys by which the same can be set.
    pub(crate) others: &'static [SettingKey],
}

/// How a key is set on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyFlag {
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

impl SettingKey {
    /// Returns a key of this kind, on which declarations build.
    pub(crate) const fn new(kind: ValueKind) -> Self {
        let flag = match kind {
            ValueKind::Secret | ValueKind::Command | ValueKind::Tables(_) => KeyFlag::None,
            _ => KeyFlag::Value,
        };
        Self {
            name: "",
            kind,
            about: "",
            note: "",
            placeholder: kind.words().placeholder,
            default: "",
            common: None,
            flag,
            access: SettingAccess::See,
            entry: None,
            others: &[],
        }
    }

    /// Returns the environment variable that sets the key. There is no one way to split a
    /// variable into the words of a command, so a command has none, and neither have tables.
    pub fn variable(&self) -> Option<String> {
        let name = || format!("CALLGATE_{}", self.name.replace('.', "_").to_uppercase());
        (!matches!(self.kind, ValueKind::Command | ValueKind::Tables(_))).then(name)
    }

    /// Returns the flag that sets the key, without its dashes.
    pub fn flag_name(&self) -> Option<String> {
        match self.flag {
            KeyFlag::None => None,
            KeyFlag::Repeated(flag) | KeyFlag::Fixed(flag, ..) | KeyFlag::Optional(flag, _) => {
                Some(flag.to_owned())
            }
            KeyFlag::Value => {
                let of_table = ["agent.", "team."].iter().find_map(|it| self.name.strip_prefix(it));
                Some(of_table.unwrap_or(self.name).replace(['.', '_'], "-"))
            }
        }
    }

    /// Returns what the key is, with its range.
    pub fn help(&self) -> String {
        match self.kind {
            ValueKind::Whole(least, most) if most < UNLIMITED => {
                format!("{} ({least} to {most})", self.about)
            }
            ValueKind::Choice { words, .. } => format!("{}: {}", self.about, list_choices(words)),
            _ => self.about.to_owned(),
        }
    }

    /// Returns what is wrong with a value of this key's kind.
    pub(crate) fn wrong_value(&self, value: &SettingValue) -> Option<String> {
        let what = match (self.kind, value) {
            (ValueKind::Whole(least, most), SettingValue::Whole(number))
                if !(least..=most).contains(number) =>
            {
                format!("is {number}, but must be {least} to {most}")
            }
            (ValueKind::Text(must_be, is_valid), SettingValue::Text(text))
                if !is_valid(text.trim()) =>
            {
                format!("must be {must_be}")
            }
            (ValueKind::Choice { words, is_valid }, SettingValue::Text(text))
                if !is_valid(text.trim()) =>
            {
                format!("must be {}", list_choices(words))
            }
            (ValueKind::Url(secret), SettingValue::Text(url)) => {
                check_url(url.trim_end_matches('/'), self.default, secret).err()?
            }
            (ValueKind::Dollars, SettingValue::Dollars(millionths))
                if *millionths > MOST_DOLLARS * 1_000_000 =>
            {
                format!("must be at most {MOST_DOLLARS}")
            }
            (ValueKind::Ids(least), SettingValue::Ids(ids)) => {
                let id = ids.iter().find(|id| **id < least || **id == 0)?;
                format!("contains {id}, which is not an id")
            }
            _ => return None,
        };
        Some(format!("`{}` {what}", self.name))
    }
}

/// More of anything than this is no limit.
pub(crate) const UNLIMITED: i64 = 1_000_000_000_000;
/// The highest budget or price, in dollars.
const MOST_DOLLARS: u64 = 1_000_000;
