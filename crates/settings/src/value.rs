//! The values of settings: their kinds, and how each is read from TOML, a variable or a flag.

use std::ffi::OsStr;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use callgate_wire::HiddenText;
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeString, DeValue};

/// What a key holds.
#[derive(Debug, Clone, Copy)]
pub enum ValueKind {
    /// The path of a file.
    File,
    /// The path of a Unix socket.
    Socket,
    /// A list of folders.
    Folders,
    Text {
        must_be: &'static str,
        /// Returns true if it is.
        is_valid: fn(&str) -> bool,
    },
    /// One of a few words.
    Choice {
        /// The words that the help names.
        words: &'static [&'static str],
        /// Returns true if a word in lower case is one of them or means the same.
        is_valid: fn(&str) -> bool,
    },
    /// The address of a server to which this secret is sent.
    Url {
        /// What the secret is called.
        secret: &'static str,
    },
    /// Text that nobody may see.
    Secret,
    /// A program and its arguments.
    Command,
    Whole {
        /// The lowest that is allowed.
        least: i64,
        /// The highest that is allowed.
        most: i64,
    },
    /// An amount of dollars with at most six decimals.
    Dollars,
    Switch,
    /// True, false, or the id of something.
    SwitchOrId {
        must_be: &'static str,
    },
    /// A table for each of several names.
    Tables {
        must_be: &'static str,
    },
    /// A list of whole numbers, none of them 0.
    Ids {
        /// The lowest that is allowed.
        least: i64,
    },
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
            (Self::Ids { .. }, DeValue::Array(list)) => {
                let ids = list.iter().map(|id| whole_number(id.get_ref()));
                return Some(SettingValue::Ids(ids.collect::<Option<_>>()?));
            }
            (Self::Command, DeValue::Array(list)) => {
                let words = list.iter().map(|word| word.get_ref().as_str().map(str::to_owned));
                return Some(SettingValue::Words(words.collect::<Option<_>>()?));
            }
            (Self::Folders, DeValue::Array(list)) => {
                let paths = list.iter().map(|path| path.get_ref().as_str().map(PathBuf::from));
                return Some(SettingValue::Paths(paths.collect::<Option<_>>()?));
            }
            (Self::Tables { .. }, DeValue::Table(_)) => {
                return Some(SettingValue::Tables(HiddenTables(json_of_toml(value)?)));
            }
            (Self::Whole { .. } | Self::Dollars, DeValue::Integer(_)) => {
                whole_number(value)?.to_string()
            }
            (Self::Dollars, DeValue::Float(number)) => number.as_str().to_owned(),
            (Self::Switch | Self::SwitchOrId { .. }, DeValue::Boolean(switch)) => {
                switch.to_string()
            }
            (
                Self::File
                | Self::Socket
                | Self::Text { .. }
                | Self::Choice { .. }
                | Self::Url { .. }
                | Self::SwitchOrId { .. }
                | Self::Secret,
                DeValue::String(text),
            ) => text.to_string(),
            _ => return None,
        };
        self.read_text(OsStr::new(&text), false)
    }

    /// Reads a value from a variable or a flag. Returns `None` if it is of another kind. Folders
    /// are separated by colons if this is a list, else there is one.
    pub fn read_text(&self, text: &OsStr, is_list: bool) -> Option<SettingValue> {
        let string = || text.to_str();
        match self {
            Self::File | Self::Socket => Some(SettingValue::Path(text.into())),
            Self::Text { .. } | Self::Url { .. } => Some(SettingValue::Text(string()?.to_owned())),
            // A word may be written in upper case.
            Self::Choice { .. } => Some(SettingValue::Text(string()?.to_ascii_lowercase())),
            Self::Secret => Some(SettingValue::Secret(HiddenText::new(string()?))),
            Self::Whole { .. } => Some(SettingValue::Whole(string()?.trim().parse().ok()?)),
            Self::Dollars => Some(SettingValue::Dollars(parse_millionths(string()?.trim())?)),
            Self::Folders if is_list => {
                Some(SettingValue::Paths(std::env::split_paths(text).collect()))
            }
            Self::Folders => Some(SettingValue::Paths(vec![text.into()])),
            Self::Switch => match string()?.trim() {
                "true" | "1" => Some(SettingValue::Switch(true)),
                "false" | "0" => Some(SettingValue::Switch(false)),
                _ => None,
            },
            Self::SwitchOrId { .. } => {
                let id = || Some(SettingValue::Text(string()?.trim().to_owned()));
                Self::Switch.read_text(text, is_list).or_else(id)
            }
            Self::Ids { .. } => {
                let ids = string()?.split(',').map(|id| id.trim().parse().ok());
                Some(SettingValue::Ids(ids.collect::<Option<_>>()?))
            }
            Self::Command | Self::Tables { .. } => None,
        }
    }

    /// Returns what a value in the settings file must be.
    pub fn in_toml(&self) -> &'static str {
        match self {
            Self::File | Self::Socket => "a path in quotes",
            Self::Text { .. } | Self::Choice { .. } | Self::Url { .. } | Self::Secret => {
                "text in quotes"
            }
            Self::Whole { .. } => "a whole number",
            Self::Dollars => "a number such as 2.50, with at most six decimals",
            Self::Switch => "true or false",
            Self::SwitchOrId { must_be } | Self::Tables { must_be } => must_be,
            Self::Ids { .. } => "a list of whole numbers, such as [1, 2]",
            Self::Command => "a list of words, such as [\"pass\", \"show\", \"callgate\"]",
            Self::Folders => "a list of paths, such as [\"~/engine\"]",
        }
    }

    /// Returns what a value in a variable or a flag must be.
    pub fn in_text(&self) -> &'static str {
        match self {
            Self::Whole { .. } | Self::Dollars | Self::Switch => self.in_toml(),
            Self::Ids { .. } => "whole numbers with commas between them",
            _ => "UTF-8 text",
        }
    }

    /// Returns what stands for the value in the help, unless the key says something better.
    pub(crate) const fn placeholder(&self) -> &'static str {
        match self {
            Self::File => "FILE",
            Self::Socket => "PATH",
            Self::Folders => "FOLDER",
            Self::Text { .. } | Self::Choice { .. } => "TEXT",
            Self::Url { .. } => "URL",
            Self::Whole { .. } => "SECONDS",
            Self::Dollars => "USD",
            Self::Switch => "SWITCH",
            Self::SwitchOrId { .. } => "ID",
            Self::Ids { .. } => "IDS",
            Self::Secret | Self::Command | Self::Tables { .. } => "SECRET",
        }
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

/// Checks the address of a server. The secret is a part of every request, so it goes unencrypted
/// to this machine only.
pub(crate) fn check_url(url: &str, example: &str, secret: &str) -> Result<(), String> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return Err("must begin with https://".to_owned());
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    // A name such as 127.0.0.1.example.org belongs to another machine.
    let is_local =
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    match scheme {
        _ if rest.contains(['?', '#', '@', ' ']) || host.is_empty() => {
            Err(format!("must be an address such as {example}"))
        }
        "https" => Ok(()),
        "http" if is_local => Ok(()),
        "http" => Err(format!(
            "must begin with https://: the {secret} would go unencrypted to another machine"
        )),
        _ => Err("must begin with https://".to_owned()),
    }
}
