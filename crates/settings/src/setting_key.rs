//! A key of the settings: what it holds, its default, its variable, its flag and its words.

use std::path::Path;

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
    /// What the default is, depending on another key.
    pub(crate) depends: Dependence,
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

/// How a default depends on another key.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Dependence {
    Nothing,
    /// It is the value of that key.
    SameAs(&'static SettingKey),
    /// It is nothing where that key is set.
    OffWith(&'static SettingKey),
    /// Where that key has the first word, it is the second.
    WordWith(&'static SettingKey, &'static str, &'static str),
    /// Where the usual folder is not there or too deep, it is beside that file.
    Beside(&'static SettingKey),
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
            depends: Dependence::Nothing,
            common: None,
            flag,
            // A viewer may set only what a declaration lets it set.
            access: SettingAccess::See,
            entry: None,
            others: &[],
        }
    }

    /// Returns the environment variable that sets the key. There is no one way to split a
    /// variable into the words of a command, so commands and tables have no variable.
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
            (_, SettingValue::Paths(paths)) if !(1..=MOST_FOLDERS).contains(&paths.len()) => {
                format!("must name 1 to {MOST_FOLDERS} folders")
            }
            (_, SettingValue::Paths(paths)) if !paths.iter().all(|path| path.is_absolute()) => {
                RELATIVE.to_owned()
            }
            (_, SettingValue::Path(path)) if !path.is_absolute() => RELATIVE.to_owned(),
            (ValueKind::Socket, SettingValue::Path(socket)) if !is_short_enough(socket) => {
                return Some(format!(
                    "the path of a socket can have {LONGEST_SOCKET_PATH} bytes, {} has {}; \
                     set `{}` to a shorter one",
                    socket.display(),
                    socket.as_os_str().len(),
                    self.name
                ));
            }
            (ValueKind::Whole(least, most), SettingValue::Whole(number))
                if !(least..=most).contains(number) =>
            {
                format!("is {number}, but must be {least} to {most}")
            }
            (ValueKind::Text(must_be, is_valid), SettingValue::Text(text)) if !is_valid(text) => {
                format!("must be {must_be}")
            }
            (ValueKind::Choice { words, is_valid }, SettingValue::Text(text))
                if !is_valid(text) =>
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

pub(crate) fn is_short_enough(socket: &Path) -> bool {
    socket.as_os_str().len() <= LONGEST_SOCKET_PATH
}

const RELATIVE: &str = "must be an absolute path, or begin with ~/";
/// The longest path that a Unix socket can have, in bytes. The system has room for 108, with a
/// final zero.
const LONGEST_SOCKET_PATH: usize = 107;
/// The largest number of folders for tools.
const MOST_FOLDERS: usize = 64;
/// The largest number of a key without a limit of its own. The help does not name it.
pub(crate) const UNLIMITED: i64 = 1_000_000_000_000;
/// The highest budget or price, in dollars.
const MOST_DOLLARS: u64 = 1_000_000;
