//! What was given to keys, and by whom, and the checks of it, which collect all problems.

use std::path::{Path, PathBuf};

use crate::problem::{ConfigProblem, ConfigProblems, ProblemScope, Setting, SettingOrigin};
use crate::setting_key::{Dependence, SettingKey, is_short_enough};
use crate::surroundings::Surroundings;
use crate::token_source::{KeyringEntry, TokenSource};
use crate::value::{SettingValue, ValueKind};

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

    pub(crate) fn is_set(&self, key: &SettingKey) -> bool {
        self.get(key).is_some()
    }

    /// Returns the value in effect: the one that was given, else the default, which may depend on
    /// the machine and on other keys.
    pub fn value(&self, key: &SettingKey) -> Option<SettingValue> {
        self.get(key).map(|given| given.value.clone()).or_else(|| self.default_value(key))
    }

    fn default_value(&self, key: &SettingKey) -> Option<SettingValue> {
        match (key.kind, key.depends) {
            (_, Dependence::SameAs(other)) => self.value(other),
            (_, Dependence::OffWith(other)) if self.is_set(other) => {
                Some(SettingValue::Path(PathBuf::new()))
            }
            (kind, Dependence::WordWith(other, word, default))
                if self.value(other) == other.kind.read_text(word.as_ref(), true) =>
            {
                kind.read_text(default.as_ref(), true)
            }
            (_, Dependence::Beside(other)) => {
                let beside = || {
                    let SettingValue::Path(other) = self.value(other)? else { return None };
                    let file = Path::new(key.default).file_name()?;
                    // A relative path is reported at its own key.
                    other.is_absolute().then(|| other.with_file_name(file))
                };
                self.usual_socket(key).or_else(beside).map(SettingValue::Path)
            }
            (ValueKind::Folders, _) => Some(SettingValue::Paths(vec![self.around.here.clone()?])),
            (ValueKind::File | ValueKind::Socket, _) => {
                self.around.default_path(key.default).map(SettingValue::Path)
            }
            _ if key.default.is_empty() => None,
            (kind, _) => kind.read_text(key.default.as_ref(), true),
        }
    }

    /// Returns the usual place of a socket, unless its folder is not there or too deep.
    pub(crate) fn usual_socket(&self, key: &SettingKey) -> Option<PathBuf> {
        self.around.default_path(key.default).filter(|socket| is_short_enough(socket))
    }
}

/// The checks of what was given, and all that is wrong with it.
pub(crate) struct SettingsCheck<'a> {
    pub(crate) given: &'a GivenSettings,
    pub(crate) problems: Vec<ConfigProblem>,
}

impl<'a> SettingsCheck<'a> {
    pub(crate) fn new(given: &'a GivenSettings) -> Self {
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

    /// Reports what is wrong with the first of two keys together with the other, at the one that
    /// ranks higher.
    pub(crate) fn add_problem_of_both(&mut self, key: &SettingKey, other: &SettingKey, text: &str) {
        let origins = [other, key].map(|key| self.given.origin(key));
        // Of two that rank equally the last one counts, which is that of the first key.
        if let Some(origin) = origins.into_iter().max_by_key(SettingOrigin::source_rank) {
            self.add_problem(key, origin, text);
        }
    }

    /// Returns the value in effect, and reports what is wrong with it.
    pub(crate) fn value(&mut self, key: &SettingKey) -> Option<SettingValue> {
        let value = self.given.value(key);
        let wrong = match (&value, key.kind) {
            (Some(value), _) => key.wrong_value(value),
            (None, ValueKind::File) => {
                Some(format!("there is no home folder; set HOME or `{}`", key.name))
            }
            (None, ValueKind::Folders) if self.given.scope == VariableScope::Common => Some(
                format!("the working folder is gone; start in another one, or set `{}`", key.name),
            ),
            _ => None,
        };
        if let Some(text) = wrong {
            self.add_problem_of_value(key, text);
        }
        value
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
        // Within one source, nothing says which of two is meant.
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
            (SettingValue::Path(path), _) => {
                self.value(key);
                TokenSource::File(path.clone())
            }
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
