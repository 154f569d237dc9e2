//! What the settings file, the environment and the flags say, before anything is checked.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{self, KEYS, Key, Kind};
use super::places::Surroundings;
use super::problem::{Matter, Origin, Problem, Setting};
use super::token::Secret;
use crate::text::{line_and_column, without_mark};

/// The largest settings file that is read.
const LARGEST_FILE: u64 = 1 << 20;
/// The variable that names the settings file.
pub(crate) const FILE_VARIABLE: &str = "CALLGATE_CONFIG";
/// The flag that names the settings file.
pub(crate) const FILE_FLAG: &str = "--config";

/// A value of the kind that its key wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Given {
    Path(PathBuf),
    Text(String),
    Whole(i64),
    /// In millionths.
    Amount(u64),
    Switch(bool),
    Numbers(Vec<i64>),
    Words(Vec<String>),
    Paths(Vec<PathBuf>),
    Secret(Secret),
}

/// Which variables of the environment are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variables {
    /// None at all. The settings file that was named may then be absent.
    Ignored,
    /// Ours, which begin with `CALLGATE_`.
    Ours,
    /// Below them those that others use too.
    Common,
}

/// One value, of the key called `name`.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) given: Given,
    pub(crate) origin: Origin,
}

/// Everything that was said, the file's first, then the environment's, then the flags'.
#[derive(Debug, Default)]
pub(crate) struct RawConfig {
    /// The file, and who named it; none where there is no home folder.
    pub(crate) file: Option<Setting<PathBuf>>,
    /// The values.
    pub(crate) entries: Vec<Entry>,
    /// What could not be read.
    pub(crate) problems: Vec<Problem>,
}

impl RawConfig {
    /// Reads the file (`file` names it in place of the default) and the environment.
    pub(crate) fn read(file: Option<&Path>, around: &Surroundings, which: Variables) -> Self {
        let mut raw = Self { file: which_file(file, around), ..Self::default() };
        raw.read_file(which == Variables::Ignored);
        if which == Variables::Common {
            raw.read_variables(around, |key| key.common);
        }
        if which != Variables::Ignored {
            raw.read_variables(around, |key| key.variable);
        }
        raw
    }

    fn read_variables(&mut self, around: &Surroundings, of: fn(&Key) -> Option<&'static str>) {
        for key in &KEYS {
            let Some(variable) = of(key) else { continue };
            if let Some(text) = around.variable(variable) {
                self.add_text(key, &text, Origin::Environment(variable));
            }
        }
    }

    /// Adds what a flag says.
    pub(crate) fn add_flag(&mut self, name: &str, flag: &'static str, text: &OsStr) {
        if let Some(key) = keys::find(name) {
            self.add_text(key, text, Origin::Flag(flag));
        }
    }

    /// What was said last of this key.
    pub(crate) fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().rfind(|entry| entry.name == name)
    }

    fn read_file(&mut self, may_be_absent: bool) {
        let Some(Setting { value: path, origin }) = self.file.clone() else { return };
        match read_limited(&path) {
            Ok(text) => self.read_toml(&path, without_mark(&text)),
            Err(ReadError::Absent) if may_be_absent || origin == Origin::Default => {}
            Err(error) => {
                let text = format!("cannot read the settings in {}: {error}", path.display());
                self.problems.push(Problem { matter: Matter::File, origin, text });
            }
        }
    }

    fn read_toml(&mut self, path: &Path, text: &str) {
        let (table, errors) = DeTable::parse_recoverable(text);
        let at = |offset: usize| origin(path, text, offset);
        for error in &errors {
            let start = error.span().map_or(0, |span| span.start);
            let text = error.message().to_owned();
            self.problems.push(Problem { matter: Matter::File, origin: at(start), text });
        }
        // What was recovered from a broken file would only give more problems that are none.
        if errors.is_empty() {
            self.read_table("", table.get_ref(), &at);
        }
    }

    fn read_table(&mut self, table: &str, content: &DeTable, at: &impl Fn(usize) -> Origin) {
        for (name, value) in content {
            let full = format!("{table}{}", name.get_ref());
            match (keys::find(&full), value.get_ref()) {
                (Some(key), _) => self.read_value(key, value, at),
                (None, DeValue::Table(inner)) if keys::is_table(&full) => {
                    self.read_table(&format!("{full}."), inner, at);
                }
                _ => self.problems.push(unknown(&full, at(name.span().start))),
            }
        }
    }

    fn read_value(
        &mut self,
        key: &'static Key,
        value: &Spanned<DeValue>,
        at: &impl Fn(usize) -> Origin,
    ) {
        let origin = at(value.span().start);
        match from_toml(key.kind, value.get_ref()) {
            Some(given) => self.entries.push(Entry { name: key.name, given, origin }),
            None => self.wrong(key, origin, &format!("must be {}", key.kind.words())),
        }
    }

    fn add_text(&mut self, key: &'static Key, text: &OsStr, origin: Origin) {
        // A list stands in our own variables only: a flag is given once for each, and the variables
        // of others hold one path, which may have any character in it.
        let is_list = key.variable.is_some_and(|ours| origin == Origin::Environment(ours));
        match from_text(key.kind, text, is_list) {
            Some(given) => self.entries.push(Entry { name: key.name, given, origin }),
            None => self.wrong(key, origin, &format!("must be {}", plain_words(key.kind))),
        }
    }

    fn wrong(&mut self, key: &Key, origin: Origin, what: &str) {
        let text = format!("`{}` {what}", key.name);
        self.problems.push(Problem { matter: Matter::Key(key.name), origin, text });
    }
}

/// The file to read, and who named it.
fn which_file(flag: Option<&Path>, around: &Surroundings) -> Option<Setting<PathBuf>> {
    if let Some(path) = flag {
        let value = around.absolute(path);
        return Some(Setting { value, origin: Origin::Flag(FILE_FLAG) });
    }
    if let Some(path) = around.variable(FILE_VARIABLE) {
        let value = around.absolute(Path::new(&path));
        return Some(Setting { value, origin: Origin::Environment(FILE_VARIABLE) });
    }
    let value = around.config_folder()?.join("config.toml");
    Some(Setting { value, origin: Origin::Default })
}

/// Why a file of settings was not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("there is no such file")]
    Absent,
    #[error("it is larger than {LARGEST_FILE} bytes")]
    TooLarge,
    #[error("it is not UTF-8 text")]
    NotText,
    #[error("{0}")]
    Failed(std::io::Error),
}

fn read_limited(path: &Path) -> Result<String, ReadError> {
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => ReadError::Absent,
        _ => ReadError::Failed(error),
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(ReadError::TooLarge);
    }
    String::from_utf8(bytes).map_err(|_| ReadError::NotText)
}

/// The line and the character of a byte of the file.
fn origin(path: &Path, text: &str, offset: usize) -> Origin {
    let (line, column) = line_and_column(text, offset);
    Origin::File { path: path.to_owned(), line, column }
}

fn unknown(name: &str, origin: Origin) -> Problem {
    let text = match keys::nearest(name) {
        _ if keys::is_table(name) => format!("`{name}` is a table; write [{name}] on a line"),
        Some(nearest) => format!("there is no key `{name}`; did you mean `{nearest}`?"),
        None => {
            let names: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
            format!("there is no key `{name}`; there are {}", names.join(", "))
        }
    };
    Problem { matter: Matter::Unknown, origin, text }
}

fn from_toml(kind: Kind, value: &DeValue) -> Option<Given> {
    match (kind, value) {
        (Kind::Path, DeValue::String(text)) => Some(Given::Path(text.as_ref().into())),
        (Kind::Text, DeValue::String(text)) => Some(Given::Text(text.to_string())),
        (Kind::Secret, DeValue::String(text)) => Some(Given::Secret(Secret::new(text))),
        (Kind::Whole, value) => Some(Given::Whole(whole(value)?)),
        (Kind::Amount, DeValue::Float(number)) => Some(Given::Amount(millionths(number.as_str())?)),
        (Kind::Amount, value) => Some(Given::Amount(millionths(&whole(value)?.to_string())?)),
        (Kind::Switch, DeValue::Boolean(switch)) => Some(Given::Switch(*switch)),
        (Kind::Numbers, DeValue::Array(list)) => {
            let numbers = list.iter().map(|number| whole(number.get_ref()));
            Some(Given::Numbers(numbers.collect::<Option<_>>()?))
        }
        (Kind::Words, DeValue::Array(list)) => {
            let words = list.iter().map(|word| word.get_ref().as_str().map(str::to_owned));
            Some(Given::Words(words.collect::<Option<_>>()?))
        }
        (Kind::Paths, DeValue::Array(list)) => {
            let paths = list.iter().map(|path| path.get_ref().as_str().map(PathBuf::from));
            Some(Given::Paths(paths.collect::<Option<_>>()?))
        }
        _ => None,
    }
}

fn whole(value: &DeValue) -> Option<i64> {
    let number = value.as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// A number without a sign, in millionths; nothing when it has more decimals than that.
fn millionths(text: &str) -> Option<u64> {
    const DECIMALS: usize = 6;
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || rest.len() > DECIMALS || !is_number(whole) || !is_number(rest) {
        return None;
    }
    format!("{whole}{rest:0<DECIMALS$}").parse().ok()
}

/// Reads the text of a variable or a flag.
fn from_text(kind: Kind, text: &OsStr, is_list: bool) -> Option<Given> {
    let string = || text.to_str();
    match kind {
        Kind::Path => Some(Given::Path(text.into())),
        Kind::Text => Some(Given::Text(string()?.to_owned())),
        Kind::Secret => Some(Given::Secret(Secret::new(string()?))),
        Kind::Whole => Some(Given::Whole(string()?.trim().parse().ok()?)),
        Kind::Amount => Some(Given::Amount(millionths(string()?.trim())?)),
        Kind::Paths if is_list => Some(Given::Paths(std::env::split_paths(text).collect())),
        Kind::Paths => Some(Given::Paths(vec![text.into()])),
        Kind::Switch => match string()?.trim() {
            "true" | "1" => Some(Given::Switch(true)),
            "false" | "0" => Some(Given::Switch(false)),
            _ => None,
        },
        Kind::Numbers => {
            let numbers = string()?.split(',').map(|number| number.trim().parse().ok());
            Some(Given::Numbers(numbers.collect::<Option<_>>()?))
        }
        // There is no one way to cut text into words.
        Kind::Words => None,
    }
}

/// The kind in words, where there are no quotes.
fn plain_words(kind: Kind) -> &'static str {
    match kind {
        Kind::Text | Kind::Secret | Kind::Path | Kind::Paths => "UTF-8 text",
        Kind::Numbers => "whole numbers with commas between them",
        other => other.words(),
    }
}
