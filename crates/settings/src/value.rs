//! The values of settings: their kinds, and how each is read from TOML, a variable or a flag.

use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;

use callgate_wire::HiddenText;
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeArray, DeString, DeValue};

/// What a key holds.
#[derive(Debug, Clone, Copy)]
pub enum ValueKind {
    File,
    /// The path of a Unix socket.
    Socket,
    Folders,
    /// Text: what it must be, and whether it is.
    Text(&'static str, fn(&str) -> bool),
    /// One of a few words.
    Choice {
        /// The words that the help names.
        words: &'static [&'static str],
        /// Returns true if a word in lower case is one of them or means the same.
        is_valid: fn(&str) -> bool,
    },
    /// The address of a server to which the secret of this name is sent.
    Url(&'static str),
    /// Text that nobody may see.
    Secret,
    /// A program and its arguments.
    Command,
    /// A whole number from the first to the second.
    Whole(i64, i64),
    /// An amount of dollars with at most six decimals.
    Dollars,
    Switch,
    /// True, false, or the id of a conversation.
    SwitchOrId,
    /// A table for each of several names, as which it is described.
    Tables(&'static str),
    /// Whole numbers from this one on, none of them 0.
    Ids(i64),
}

/// How a kind of values is described.
pub struct KindWords {
    /// What a value in the settings file must be.
    pub in_toml: &'static str,
    /// What a value in a variable or a flag must be.
    pub in_text: &'static str,
    /// What stands for the value in the help, unless the key says something better.
    pub(crate) placeholder: &'static str,
}

/// A value of the kind that its key holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingValue {
    Path(PathBuf),
    Paths(Vec<PathBuf>),
    Text(String),
    Secret(HiddenText),
    Words(Vec<String>),
    Whole(i64),
    /// In millionths.
    Dollars(u64),
    Switch(bool),
    Ids(Vec<i64>),
    Tables(HiddenTables),
}

impl ValueKind {
    /// Reads a value from the settings file. Returns `None` if it is of another kind.
    pub fn read_toml(&self, value: &DeValue) -> Option<SettingValue> {
        let text = match (self, value) {
            (Self::Ids(_), DeValue::Array(list)) => {
                return Some(SettingValue::Ids(read_list(list, whole_number)?));
            }
            (Self::Command, DeValue::Array(list)) => {
                let words = read_list(list, |word| word.as_str().map(str::to_owned));
                return Some(SettingValue::Words(words?));
            }
            (Self::Folders, DeValue::Array(list)) => {
                let paths = read_list(list, |path| path.as_str().map(PathBuf::from));
                return Some(SettingValue::Paths(paths?));
            }
            (Self::Tables(_), DeValue::Table(_)) => {
                return Some(SettingValue::Tables(HiddenTables(json_of_toml(value)?)));
            }
            (Self::Whole(..) | Self::Dollars, DeValue::Integer(_)) => {
                whole_number(value)?.to_string()
            }
            // As it is written: a float would round the amount.
            (Self::Dollars, DeValue::Float(number)) => number.as_str().to_owned(),
            (Self::Switch | Self::SwitchOrId, DeValue::Boolean(switch)) => switch.to_string(),
            // Nothing that is written without quotes elsewhere may be in quotes.
            (Self::Ids(_) | Self::Folders | Self::Whole(..) | Self::Dollars | Self::Switch, _) => {
                return None;
            }
            (_, DeValue::String(text)) => text.to_string(),
            _ => return None,
        };
        self.read_text(OsStr::new(&text), false)
    }

    /// Reads a value from a variable or a flag. Returns `None` if it is of another kind. Folders
    /// are separated by colons if this is a list, else there is one.
    pub fn read_text(&self, text: &OsStr, is_list: bool) -> Option<SettingValue> {
        match self {
            // A path need not be UTF-8.
            Self::File | Self::Socket => return Some(SettingValue::Path(text.into())),
            Self::Folders if is_list => {
                return Some(SettingValue::Paths(std::env::split_paths(text).collect()));
            }
            Self::Folders => return Some(SettingValue::Paths(vec![text.into()])),
            _ => {}
        }
        let text = text.to_str()?;
        Some(match (self, text.trim()) {
            (Self::Text(..) | Self::Url(_), text) => SettingValue::Text(text.to_owned()),
            // A word may be written in upper case.
            (Self::Choice { .. }, word) => SettingValue::Text(word.to_ascii_lowercase()),
            (Self::Secret, _) => SettingValue::Secret(HiddenText::new(text)),
            (Self::Whole(..), number) => SettingValue::Whole(number.parse().ok()?),
            (Self::Dollars, number) => SettingValue::Dollars(parse_millionths(number)?),
            (Self::Switch | Self::SwitchOrId, "true" | "1") => SettingValue::Switch(true),
            (Self::Switch | Self::SwitchOrId, "false" | "0") => SettingValue::Switch(false),
            (Self::SwitchOrId, id) => SettingValue::Text(id.to_owned()),
            (Self::Ids(_), ids) => {
                let ids = ids.split(',').map(|id| id.trim().parse().ok());
                SettingValue::Ids(ids.collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }

    pub const fn words(&self) -> KindWords {
        const TEXT: &str = "UTF-8 text";
        let (in_toml, in_text, placeholder) = match self {
            Self::File => ("a path in quotes", TEXT, "FILE"),
            Self::Socket => ("a path in quotes", TEXT, "PATH"),
            Self::Folders => ("a list of paths, such as [\"~/engine\"]", TEXT, "FOLDER"),
            Self::Text(..) => ("text in quotes", TEXT, "TEXT"),
            Self::Choice { .. } => ("text in quotes", TEXT, "WORD"),
            Self::Url(_) => ("text in quotes", TEXT, "URL"),
            Self::Secret => ("text in quotes", TEXT, ""),
            Self::Command => {
                ("a list of words, such as [\"pass\", \"show\", \"callgate\"]", TEXT, "")
            }
            Self::Whole(..) => ("a whole number", "a whole number", "SECONDS"),
            Self::Dollars => {
                const AMOUNT: &str = "a number such as 2.50, with at most six decimals";
                (AMOUNT, AMOUNT, "USD")
            }
            Self::Switch => ("true or false", "true or false", "SWITCH"),
            Self::SwitchOrId => ("true, false or the id of a conversation in quotes", TEXT, "ID"),
            Self::Tables(must_be) => (*must_be, TEXT, ""),
            Self::Ids(_) => (
                "a list of whole numbers, such as [1, 2]",
                "whole numbers with commas between them",
                "IDS",
            ),
        };
        KindWords { in_toml, in_text, placeholder }
    }
}

/// Tables by name. Those of servers may hold secrets in their variables and headers.
#[derive(Clone, PartialEq, Eq)]
pub struct HiddenTables(Value);

impl HiddenTables {
    pub fn iter_tables(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0.as_object().into_iter().flatten()
    }
}

impl fmt::Debug for HiddenTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter_tables().map(|(name, _)| name)).finish()
    }
}

fn read_list<T>(list: &DeArray, read: impl Fn(&DeValue) -> Option<T>) -> Option<Vec<T>> {
    list.iter().map(|element| read(element.get_ref())).collect()
}

/// Returns text, lists and tables of the settings file as JSON.
fn json_of_toml(value: &DeValue) -> Option<Value> {
    match value {
        DeValue::String(text) => Some(Value::String(text.to_string())),
        DeValue::Array(list) => list.iter().map(|value| json_of_toml(value.get_ref())).collect(),
        DeValue::Table(table) => {
            let member = |(name, value): (&Spanned<DeString>, &Spanned<DeValue>)| {
                Some((name.get_ref().to_string(), json_of_toml(value.get_ref())?))
            };
            table.iter().map(member).collect::<Option<Map<String, Value>>>().map(Value::Object)
        }
        _ => None,
    }
}

fn whole_number(value: &DeValue) -> Option<i64> {
    let number = value.as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// Parses a number without a sign into millionths. Returns `None` if it has more decimals.
fn parse_millionths(text: &str) -> Option<u64> {
    const DECIMALS: usize = 6;
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || rest.len() > DECIMALS || !is_number(whole) || !is_number(rest) {
        return None;
    }
    format!("{whole}{rest:0<DECIMALS$}").parse().ok()
}
