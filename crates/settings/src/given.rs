//! What was given to keys, and by whom, and the checks of it, which collect all problems.

use std::path::{Path, PathBuf};

use crate::problem::{ConfigProblem, ConfigProblems, ProblemScope, Setting, SettingOrigin};
use crate::setting_key::SettingKey;
use crate::surroundings::Surroundings;
use crate::token_source::{KeyringEntry, TokenSource};
use crate::value::{SettingValue, ValueKind};

/// The longest path that a Unix socket can have, in bytes.
const LONGEST_SOCKET_PATH: usize = 107;

/// Which variables of the environment are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableScope {
    /// None. The settings file that was named may then be absent.
    Ignored,
    /// Our own, which begin with `CALLGATE_`.
    Ours,
    /// Our own, and below them those that other programs use too: for `callgate agent`.
    Common,
}

/// A value that somebody gave to a key.
#[derive(Debug)]
pub struct GivenSetting {
    pub key: &'static SettingKey,
    pub value: SettingValue,
    pub origin: SettingOrigin,
}

/// All values that were given, and what they depend on.
pub struct GivenSettings {
    pub around: Surroundings,
    /// The file, and who named it; `None` without a home folder.
    pub file: Option<Setting<PathBuf>>,
    pub(crate) scope: VariableScope,
    /// The file's first, then the environment's, then the flags'.
    pub(crate) values: Vec<GivenSetting>,
    /// What could not be read.
    pub problems: Vec<ConfigProblem>,
}

impl GivenSettings {
    /// Returns the value of this key that ranks highest.
    pub fn get(&self, key: &SettingKey) -> Option<&GivenSetting> {
        self.values.iter().rfind(|given| given.key.name == key.name)
    }

    /// Returns where the value in effect came from.
    pub fn origin(&self, key: &SettingKey) -> SettingOrigin {
        self.get(key).map_or(SettingOrigin::Default, |given| given.origin.clone())
    }
}

/// The checks of what was given, and all that is wrong with it.
pub struct SettingsCheck<'a> {
    pub given: &'a GivenSettings,
    pub problems: Vec<ConfigProblem>,
}

impl<'a> SettingsCheck<'a> {
    pub fn new(given: &'a GivenSettings) -> Self {
        Self { given, problems: given.problems.clone() }
    }

    /// Returns a value that was read if no problem counts but those of these keys. A file that
    /// cannot be read may have set any of them.
    pub(crate) fn finish_for<T>(
        mut self,
        value: T,
        keys: &[&SettingKey],
    ) -> Result<T, ConfigProblems> {
        self.problems.retain(|problem| problem.scope.concerns(keys));
        ConfigProblems::value_or_problems(value, self.problems)
    }

    pub(crate) fn add_problem(
        &mut self,
        key: &SettingKey,
        origin: SettingOrigin,
        text: impl Into<String>,
    ) {
        let (scope, text) = (ProblemScope::Key(key.name), text.into());
        self.problems.push(ConfigProblem { scope, origin, text });
    }

    /// Reports what is wrong with the value in effect.
    pub(crate) fn add_problem_of_value(&mut self, key: &SettingKey, text: impl Into<String>) {
        self.add_problem(key, self.given.origin(key), text);
    }

    /// Returns the value that was given, checked.
    pub(crate) fn given_value(&mut self, key: &SettingKey) -> Option<&'a SettingValue> {
        let GivenSetting { value, .. } = self.given.get(key)?;
        if let Some(text) = key.wrong_value(value) {
            self.add_problem_of_value(key, text);
        }
        Some(value)
    }

    pub fn given_path(&mut self, key: &SettingKey) -> Option<PathBuf> {
        let given = self.given.get(key)?;
        let SettingValue::Path(path) = &given.value else { return None };
        let path = self.absolute_path(given, path);
        if matches!(key.kind, ValueKind::Socket) {
            self.check_socket(key, &path);
        }
        Some(path)
    }

    /// Makes a path absolute. On a command line, and in a variable of other programs, it is
    /// relative to the working folder; elsewhere it has to be absolute, because callgate's
    /// commands run in many folders.
    pub(crate) fn absolute_path(&mut self, given: &GivenSetting, path: &Path) -> PathBuf {
        let GivenSetting { key, origin, .. } = given;
        let is_typed = matches!(origin, SettingOrigin::Flag(_)) || origin.is_common_variable();
        let around = &self.given.around;
        let path = if is_typed { around.absolute(path) } else { around.expand(path) };
        if !path.is_absolute() {
            let text = format!("`{}` must be an absolute path, or begin with ~/", key.name);
            self.add_problem(key, origin.clone(), text);
        }
        path
    }

    /// Checks that the system can use a path as that of a socket.
    pub(crate) fn check_socket(&mut self, key: &SettingKey, socket: &Path) {
        if !is_short_enough(socket) {
            let text = format!(
                "the path of a socket can have {LONGEST_SOCKET_PATH} bytes, {} has {}; \
                 set `{}` to a shorter one",
                socket.display(),
                socket.as_os_str().len(),
                key.name
            );
            self.add_problem_of_value(key, text);
        }
    }

    /// Returns where a secret is kept, by the keys that concern it. The last that was given counts.
    pub(crate) fn token(&mut self, entry: KeyringEntry) -> Option<Setting<TokenSource>> {
        // A keyring that is switched off leaves the secret to another place.
        let is_set = |given: &&GivenSetting| {
            given.key.entry == Some(entry) && given.value != SettingValue::Switch(false)
        };
        let set = self.given.values.iter().filter(is_set);
        let last = set.clone().next_back()?;
        let (key, rank) = (last.key, last.origin.source_rank());
        let mut same_layer = set.filter(|given| given.origin.source_rank() == rank);
        if let (Some(first), Some(second)) = (same_layer.next(), same_layer.next()) {
            let text =
                format!("there are both `{}` and `{}`; keep one", first.key.name, second.key.name);
            self.add_problem(second.key, second.origin.clone(), text);
        }
        let value = match (&last.value, &last.origin) {
            (SettingValue::Secret(token), SettingOrigin::File { path, .. }) => {
                TokenSource::Config(token.clone(), path.clone())
            }
            (SettingValue::Secret(token), _) => TokenSource::Environment(token.clone()),
            (SettingValue::Path(_), _) => TokenSource::File(self.given_path(key)?),
            (SettingValue::Words(words), _) if words.first().is_none_or(String::is_empty) => {
                self.add_problem_of_value(key, format!("`{}` must name a program", key.name));
                return None;
            }
            (SettingValue::Words(words), _) => TokenSource::Command(words.clone()),
            _ => TokenSource::Keyring(entry),
        };
        Some(Setting { value, origin: last.origin.clone() })
    }
}

pub(crate) fn is_short_enough(socket: &Path) -> bool {
    socket.as_os_str().len() <= LONGEST_SOCKET_PATH
}
