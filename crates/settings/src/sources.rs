//! Reads the settings file, the environment and the flags. Nothing is checked yet but the kinds of
//! the values.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use callgate_mask::text::{line_and_column, without_mark};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::given::{GivenSetting, RawConfig};
use crate::key_names::no_such_key;
use crate::keys::{self, iter_keys};
use crate::problem::{ConfigProblem, ProblemScope, Setting, SettingOrigin};
use crate::setting_key::SettingKey;
use crate::surroundings::Surroundings;
use crate::value::SettingValue;

/// The largest settings file that is read.
const LARGEST_FILE: u64 = 1 << 20;
/// The variable that names the settings file.
const FILE_VARIABLE: &str = "CALLGATE_CONFIG";
/// The flag that names the settings file.
const FILE_FLAG: &str = "--config";

/// Which variables of the environment are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableScope {
    /// None. The settings file that was named may then be absent.
    Ignored,
    /// Our own, which begin with `CALLGATE_`.
    Ours,
    /// Our own, and below them those that other programs use too.
    Common,
}

/// Reads the file (`file` names it in place of the default) and the environment.
pub fn read_sources(file: Option<&Path>, around: &Surroundings, which: VariableScope) -> RawConfig {
    let is_for_agent = which == VariableScope::Common;
    let mut raw =
        RawConfig { file: which_file(file, around), is_for_agent, ..RawConfig::default() };
    raw.read_file(around, which == VariableScope::Ignored);
    if is_for_agent {
        raw.read_variables(around, |key| key.common.map(str::to_owned));
    }
    if which != VariableScope::Ignored {
        raw.read_variables(around, SettingKey::variable);
    }
    raw
}

impl RawConfig {
    /// Reads a text as if it were in the settings file at `path`, and nothing else.
    pub fn of_text(path: &Path, text: &str) -> Self {
        let mut raw = Self::default();
        if text.len() as u64 > LARGEST_FILE {
            let text = format!("the settings would be larger than {LARGEST_FILE} bytes");
            let (scope, origin) = (ProblemScope::File, origin_in_file(path, "", 0));
            raw.problems.push(ConfigProblem { scope, origin, text });
        } else {
            raw.read_toml(path, text);
        }
        raw
    }

    fn read_variables(&mut self, around: &Surroundings, of: fn(&SettingKey) -> Option<String>) {
        for key in iter_keys() {
            let Some(variable) = of(key) else { continue };
            if let Some(text) = around.variable(&variable) {
                self.add_text(key, &text, SettingOrigin::Environment(variable));
            }
        }
    }

    pub fn add_flag(&mut self, key: &'static SettingKey, text: &OsStr) {
        if let Some(flag) = key.flag_name() {
            self.add_text(key, text, SettingOrigin::Flag(format!("--{flag}")));
        }
    }

    fn read_file(&mut self, around: &Surroundings, may_be_absent: bool) {
        let Some(Setting { value: path, origin }) = self.file.clone() else { return };
        match (around.read_file)(&path, LARGEST_FILE) {
            Ok(text) => self.read_toml(&path, without_mark(&text)),
            Err(error)
                if error.kind() == ErrorKind::NotFound
                    && (may_be_absent || origin == SettingOrigin::Default) => {}
            Err(error) => {
                let why = match error.kind() {
                    ErrorKind::NotFound => "there is no such file".to_owned(),
                    _ => error.to_string(),
                };
                let text = format!("cannot read the settings in {}: {why}", path.display());
                self.problems.push(ConfigProblem { scope: ProblemScope::File, origin, text });
            }
        }
    }

    fn read_toml(&mut self, path: &Path, text: &str) {
        let (table, errors) = DeTable::parse_recoverable(text);
        let at = |offset: usize| origin_in_file(path, text, offset);
        for error in &errors {
            let start = error.span().map_or(0, |span| span.start);
            let text = error.message().to_owned();
            self.problems.push(ConfigProblem {
                scope: ProblemScope::File,
                origin: at(start),
                text,
            });
        }
        // The recovered part of a broken file would only lead to follow-up problems.
        if errors.is_empty() {
            self.read_table("", table.get_ref(), &at);
        }
    }

    fn read_table(&mut self, table: &str, content: &DeTable, at: &impl Fn(usize) -> SettingOrigin) {
        for (name, value) in content {
            let full = format!("{table}{}", name.get_ref());
            match (keys::find_setting_key(&full), value.get_ref()) {
                (Some(key), _) => self.read_value(key, value, at),
                (None, DeValue::Table(inner)) if keys::is_table(&full) => {
                    self.read_table(&format!("{full}."), inner, at);
                }
                _ => self.problems.push(unknown_key_problem(&full, at(name.span().start))),
            }
        }
    }

    fn read_value(
        &mut self,
        key: &'static SettingKey,
        value: &Spanned<DeValue>,
        at: &impl Fn(usize) -> SettingOrigin,
    ) {
        let read = key.kind.read_toml(value.get_ref());
        self.add_given(key, read, at(value.span().start), key.kind.in_toml());
    }

    fn add_text(&mut self, key: &'static SettingKey, text: &OsStr, origin: SettingOrigin) {
        // Only our own variables hold lists: a flag is given once for each element, and the
        // variables of others hold one path, which may contain any character.
        let is_list = key.variable().is_some_and(|ours| origin == SettingOrigin::Environment(ours));
        self.add_given(key, key.kind.read_text(text, is_list), origin, key.kind.in_text());
    }

    fn add_given(
        &mut self,
        key: &'static SettingKey,
        value: Option<SettingValue>,
        origin: SettingOrigin,
        must_be: &str,
    ) {
        let name = key.name;
        let Some(value) = value else {
            let text = format!("`{name}` must be {must_be}");
            self.problems.push(ConfigProblem { scope: ProblemScope::Key(name), origin, text });
            return;
        };
        self.given.push(GivenSetting { key, value, origin });
    }
}

/// Returns the file to read, and who named it.
fn which_file(flag: Option<&Path>, around: &Surroundings) -> Option<Setting<PathBuf>> {
    if let Some(path) = flag {
        let value = around.absolute(path);
        return Some(Setting { value, origin: SettingOrigin::Flag(FILE_FLAG.to_owned()) });
    }
    if let Some(path) = around.variable(FILE_VARIABLE) {
        let value = around.absolute(Path::new(&path));
        return Some(Setting {
            value,
            origin: SettingOrigin::Environment(FILE_VARIABLE.to_owned()),
        });
    }
    let value = around.config_folder()?.join("config.toml");
    Some(Setting { value, origin: SettingOrigin::Default })
}

/// Returns the line and the column of a byte of the file.
fn origin_in_file(path: &Path, text: &str, offset: usize) -> SettingOrigin {
    let (line, column) = line_and_column(text, offset);
    SettingOrigin::File { path: path.to_owned(), line, column }
}

fn unknown_key_problem(name: &str, origin: SettingOrigin) -> ConfigProblem {
    let text = if keys::is_table(name) {
        format!("`{name}` is a table; write [{name}] on a line")
    } else {
        no_such_key(name)
    };
    ConfigProblem { scope: ProblemScope::Unknown, origin, text }
}
