//! Reads the settings file, the environment and the flags. Nothing is checked yet but the kinds of
//! the values.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use callgate_mask::text::{line_and_column, without_mark};
use toml::de::{DeTable, DeValue};

use crate::given::{GivenSetting, GivenSettings, VariableScope};
use crate::key_names::no_such_key;
use crate::keys::{TABLES, find_setting_key, iter_keys};
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

impl GivenSettings {
    /// Reads the file (`file` names it in place of the default), the environment and the flags.
    pub fn read(
        file: Option<&Path>,
        flags: &[(&'static SettingKey, OsString)],
        around: Surroundings,
        scope: VariableScope,
    ) -> Self {
        let mut given = Self::new(which_file(file, &around), around, scope);
        // The last of several values counts, so the sources come in the order of their ranks.
        given.read_file();
        if scope == VariableScope::Common {
            given.read_variables(|key| key.common.map(str::to_owned));
        }
        if scope != VariableScope::Ignored {
            given.read_variables(SettingKey::variable);
        }
        for (key, text) in flags {
            let flag = SettingOrigin::Flag(format!("--{}", key.flag_name().unwrap_or_default()));
            given.add_text(key, text, flag);
        }
        given
    }

    /// Reads a text as if it were in the settings file at `path`, and nothing else.
    pub fn of_text(path: &Path, text: &str, around: Surroundings) -> Self {
        let mut given = Self::new(None, around, VariableScope::Ignored);
        if text.len() as u64 > LARGEST_FILE {
            let text = format!("the settings would be larger than {LARGEST_FILE} bytes");
            given.add_problem(ProblemScope::File, origin_in_file(path, "", 0), text);
        } else {
            given.read_toml(path, text);
        }
        given
    }

    fn new(file: Option<Setting<PathBuf>>, around: Surroundings, scope: VariableScope) -> Self {
        Self { around, file, scope, values: Vec::new(), problems: Vec::new() }
    }

    fn read_variables(&mut self, of: fn(&SettingKey) -> Option<String>) {
        for key in iter_keys() {
            let Some(variable) = of(key) else { continue };
            if let Some(text) = self.around.variable(&variable) {
                self.add_text(key, &text, SettingOrigin::Environment(variable));
            }
        }
    }

    fn read_file(&mut self) {
        let Some(Setting { value: path, origin }) = self.file.clone() else { return };
        // An installed hook always names a settings file, and its user may have none.
        let may_be_absent =
            self.scope == VariableScope::Ignored || origin == SettingOrigin::Default;
        match (self.around.read_file)(&path, LARGEST_FILE) {
            Ok(text) => self.read_toml(&path, without_mark(&text)),
            Err(error) if error.kind() == ErrorKind::NotFound && may_be_absent => {}
            Err(error) => {
                let why = match error.kind() {
                    ErrorKind::NotFound => "there is no such file".to_owned(),
                    _ => error.to_string(),
                };
                let text = format!("cannot read the settings in {}: {why}", path.display());
                self.add_problem(ProblemScope::File, origin, text);
            }
        }
    }

    fn read_toml(&mut self, path: &Path, text: &str) {
        let (table, errors) = DeTable::parse_recoverable(text);
        let at = |offset: usize| origin_in_file(path, text, offset);
        for error in &errors {
            let start = error.span().map_or(0, |span| span.start);
            self.add_problem(ProblemScope::File, at(start), error.message().to_owned());
        }
        // The recovered part of a broken file would only lead to follow-up problems.
        if errors.is_empty() {
            self.read_table("", table.get_ref(), &at);
        }
    }

    fn read_table(&mut self, table: &str, content: &DeTable, at: &impl Fn(usize) -> SettingOrigin) {
        for (name, value) in content {
            let full = format!("{table}{}", name.get_ref());
            let is_table = TABLES.contains(&&full[..]);
            match (find_setting_key(&full), value.get_ref()) {
                (Some(key), content) => {
                    let (read, must_be) = (key.kind.read_toml(content), key.kind.words().in_toml);
                    self.add_value(key, read, at(value.span().start), must_be);
                }
                (None, DeValue::Table(inner)) if is_table => {
                    self.read_table(&format!("{full}."), inner, at);
                }
                _ => {
                    let wrong = format!("`{full}` is a table; write [{full}] on a line");
                    let text = if is_table { wrong } else { no_such_key(&full) };
                    self.add_problem(ProblemScope::Unknown, at(name.span().start), text);
                }
            }
        }
    }

    fn add_text(&mut self, key: &'static SettingKey, text: &OsStr, origin: SettingOrigin) {
        // Only our own variables hold lists: a flag is given once for each element, and the
        // variables of others hold one path, which may contain any character.
        let is_list = key.variable().is_some_and(|ours| origin == SettingOrigin::Environment(ours));
        self.add_value(key, key.kind.read_text(text, is_list), origin, key.kind.words().in_text);
    }

    fn add_value(
        &mut self,
        key: &'static SettingKey,
        value: Option<SettingValue>,
        origin: SettingOrigin,
        must_be: &str,
    ) {
        let Some(mut value) = value else {
            let text = format!("`{}` must be {must_be}", key.name);
            return self.add_problem(ProblemScope::Key(key.name), origin, text);
        };
        let resolve = |path: &mut PathBuf| *path = resolve_path(path, &origin, &self.around);
        match &mut value {
            // No path stands for no socket.
            SettingValue::Path(path) if path.as_os_str().is_empty() => {}
            SettingValue::Path(path) => resolve(path),
            SettingValue::Paths(paths) => paths.iter_mut().for_each(resolve),
            _ => {}
        }
        // A flag is repeated for each element of a list.
        let same = |given: &&mut GivenSetting| given.key.name == key.name && given.origin == origin;
        match (self.values.iter_mut().find(same).map(|given| &mut given.value), value) {
            (Some(SettingValue::Paths(all)), SettingValue::Paths(more)) => all.extend(more),
            (_, value) => self.values.push(GivenSetting { key, value, origin }),
        }
    }

    fn add_problem(&mut self, scope: ProblemScope, origin: SettingOrigin, text: String) {
        self.problems.push(ConfigProblem { scope, origin, text });
    }
}

/// Makes a path absolute. On a command line, and in a variable of other programs, it is relative to
/// the working folder; elsewhere it has to be absolute, because callgate's commands run in many
/// folders.
fn resolve_path(path: &Path, origin: &SettingOrigin, around: &Surroundings) -> PathBuf {
    let is_typed = matches!(origin, SettingOrigin::Flag(_)) || origin.is_common_variable();
    if is_typed { around.absolute(path) } else { around.expand(path) }
}

/// Returns the file to read, and who named it.
fn which_file(flag: Option<&Path>, around: &Surroundings) -> Option<Setting<PathBuf>> {
    let (value, origin) = if let Some(path) = flag {
        (around.absolute(path), SettingOrigin::Flag(FILE_FLAG.to_owned()))
    } else if let Some(path) = around.variable(FILE_VARIABLE) {
        (around.absolute(path.as_ref()), SettingOrigin::Environment(FILE_VARIABLE.to_owned()))
    } else {
        (around.config_folder()?.join("config.toml"), SettingOrigin::Default)
    };
    Some(Setting { value, origin })
}

/// Returns the line and the column of a byte of the file.
fn origin_in_file(path: &Path, text: &str, offset: usize) -> SettingOrigin {
    let (line, column) = line_and_column(text, offset);
    SettingOrigin::File { path: path.to_owned(), line, column }
}
