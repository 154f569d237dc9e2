//! What was given to keys, by whom, and what is wrong with it.

use std::path::{Path, PathBuf};

use callgate_wire::HiddenText;

use crate::keyring_entry::KeyringEntry;
use crate::problem::{ConfigProblem, ProblemScope, Setting, SettingOrigin};
use crate::setting_key::SettingKey;
use crate::surroundings::Surroundings;
use crate::token_source::TokenSource;
use crate::value::{SettingValue, ValueKind};

/// The longest path that a Unix socket can have, in bytes.
const LONGEST_SOCKET_PATH: usize = 107;

/// A value that somebody gave to a key.
#[derive(Debug)]
pub struct GivenSetting {
    pub key: &'static SettingKey,
    pub value: SettingValue,
    pub origin: SettingOrigin,
}

/// All values that were given: the file's first, then the environment's, then the flags'.
#[derive(Debug, Default)]
pub struct RawConfig {
    /// The file, and who named it; `None` without a home folder.
    pub file: Option<Setting<PathBuf>>,
    /// Whether the settings are for `callgate agent`.
    pub is_for_agent: bool,
    pub given: Vec<GivenSetting>,
    /// What could not be read.
    pub problems: Vec<ConfigProblem>,
}

impl RawConfig {
    /// Returns the value of this key that ranks highest.
    pub fn get(&self, key: &SettingKey) -> Option<&GivenSetting> {
        self.given.iter().rfind(|given| given.key.name == key.name)
    }
}

/// The checks of what was given, which collect all problems.
pub struct SettingsCheck<'a> {
    pub raw: &'a RawConfig,
    pub around: &'a Surroundings,
    pub problems: Vec<ConfigProblem>,
}

impl<'a> SettingsCheck<'a> {
    pub fn new(raw: &'a RawConfig, around: &'a Surroundings) -> Self {
        Self { raw, around, problems: raw.problems.clone() }
    }

    /// Drops the problems of all keys but these. A file that cannot be read may have set any of
    /// them.
    pub fn keep_problems_of(&mut self, keys: &[&SettingKey]) {
        self.problems.retain(|problem| match problem.scope {
            ProblemScope::File => true,
            ProblemScope::Unknown => false,
            ProblemScope::Key(name) => keys.iter().any(|key| key.name == name),
        });
    }

    /// Drops the problems of these keys and of the whole file: whoever uses them reports those.
    pub fn drop_problems_of(&mut self, keys: &[&SettingKey]) {
        self.problems.retain(|problem| match problem.scope {
            ProblemScope::File => false,
            ProblemScope::Unknown => true,
            ProblemScope::Key(name) => keys.iter().all(|key| key.name != name),
        });
    }

    /// Returns where the value in effect came from.
    pub fn origin(&self, key: &SettingKey) -> SettingOrigin {
        self.raw.get(key).map_or(SettingOrigin::Default, |given| given.origin.clone())
    }

    /// Returns the origin of the one of two settings that ranks higher, or of the first.
    pub(crate) fn higher_origin(&self, one: &SettingKey, other: &SettingKey) -> SettingOrigin {
        let (one, other) = (self.origin(one), self.origin(other));
        if other.source_rank() > one.source_rank() { other } else { one }
    }

    pub(crate) fn add_problem(&mut self, key: &SettingKey, origin: SettingOrigin, text: &str) {
        let (scope, text) = (ProblemScope::Key(key.name), text.to_owned());
        self.problems.push(ConfigProblem { scope, origin, text });
    }

    /// Reports what is wrong with the value in effect.
    pub(crate) fn add_problem_of_value(&mut self, key: &SettingKey, text: &str) {
        self.add_problem(key, self.origin(key), text);
    }

    /// Returns the value that was given, checked.
    pub(crate) fn given_value(&mut self, key: &SettingKey) -> Option<SettingValue> {
        let given = self.raw.get(key)?;
        if let Err(text) = key.check_value(&given.value) {
            self.add_problem(key, given.origin.clone(), &text);
        }
        Some(given.value.clone())
    }

    /// Returns the path that was given.
    pub fn given_path(&mut self, key: &SettingKey) -> Option<PathBuf> {
        let given = self.raw.get(key)?;
        let SettingValue::Path(path) = &given.value else { return None };
        let path = self.absolute_path(key, path, &given.origin);
        if matches!(key.kind, ValueKind::Socket) {
            self.check_socket(key, &path);
        }
        Some(path)
    }

    /// Makes a path absolute. On a command line, and in a variable of other programs, it is
    /// relative to the working folder; elsewhere it has to be absolute, because callgate's
    /// commands run in many folders.
    pub(crate) fn absolute_path(
        &mut self,
        key: &SettingKey,
        path: &Path,
        origin: &SettingOrigin,
    ) -> PathBuf {
        let is_typed = matches!(origin, SettingOrigin::Flag(_)) || origin.is_common_variable();
        let path = if is_typed { self.around.absolute(path) } else { self.around.expand(path) };
        if !path.is_absolute() {
            let text = format!("`{}` must be an absolute path, or begin with ~/", key.name);
            self.add_problem(key, origin.clone(), &text);
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
            self.add_problem_of_value(key, &text);
        }
    }

    /// Returns where a secret is kept, by the keys that concern it. The last that was given counts.
    pub(crate) fn token(&mut self, entry: KeyringEntry) -> Option<Setting<TokenSource>> {
        let is_set = |given: &&GivenSetting| {
            given.key.entry == Some(entry) && given.value != SettingValue::Switch(false)
        };
        let set: Vec<&GivenSetting> = self.raw.given.iter().filter(is_set).collect();
        let last = *set.last()?;
        let is_same_layer =
            |given: &&GivenSetting| given.origin.source_rank() == last.origin.source_rank();
        if let [first, second, ..] = set.into_iter().filter(is_same_layer).collect::<Vec<_>>()[..] {
            let text =
                format!("there are both `{}` and `{}`; keep one", first.key.name, second.key.name);
            self.add_problem(second.key, second.origin.clone(), &text);
        }
        let value = match (&last.value, &last.origin) {
            (SettingValue::Secret(token), SettingOrigin::File { path, .. }) => {
                TokenSource::Config(token.clone(), path.clone())
            }
            (SettingValue::Secret(token), _) => TokenSource::Environment(token.clone()),
            (SettingValue::Path(_), _) => TokenSource::File(self.given_path(last.key)?),
            (SettingValue::Words(words), _) if words.first().is_none_or(String::is_empty) => {
                let text = format!("`{}` must name a program", last.key.name);
                self.add_problem(last.key, last.origin.clone(), &text);
                return None;
            }
            (SettingValue::Words(words), _) => TokenSource::Command(words.clone()),
            _ => TokenSource::Keyring(entry),
        };
        Some(Setting { value, origin: last.origin.clone() })
    }

    /// Returns a secret that was given, unless it is empty.
    pub(crate) fn given_secret(&self, key: &SettingKey) -> Option<HiddenText> {
        match &self.raw.get(key)?.value {
            SettingValue::Secret(secret) if !secret.reveal().is_empty() => Some(secret.clone()),
            _ => None,
        }
    }
}

pub(crate) fn is_short_enough(socket: &Path) -> bool {
    socket.as_os_str().len() <= LONGEST_SOCKET_PATH
}
