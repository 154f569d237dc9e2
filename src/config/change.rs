//! Changes to the settings file, and whether the file would still be valid after them.

use std::path::{Path, PathBuf};

use callgate_settings::token_source::{SecretError, SecretPurpose};
use callgate_settings::{
    Config, ConfigProblem, ConfigProblems, KeyringEntry, ProblemScope, RawConfig, Setting,
    SettingKey, SettingOrigin, SettingValue, SettingsCheck, Surroundings, ValueKind, VariableScope,
    edit, keys, no_such_key, read_sources,
};
use callgate_surroundings::process_surroundings;
use callgate_wire::HiddenText;
use toml::de::DeTable;

use super::keyring::{KeyringError, store_secret};

/// One change to the settings file.
#[derive(Debug)]
pub(crate) struct SettingChange {
    pub(super) key: &'static SettingKey,
    /// `None` removes the key.
    value: Option<SettingValue>,
}

/// A secret on its way into the keyring.
#[derive(Debug)]
pub(crate) struct KeyringSecret {
    entry: KeyringEntry,
    secret: HiddenText,
}

impl KeyringSecret {
    /// Stores it in place of an older one.
    pub(crate) fn store(&self) -> Result<(), KeyringError> {
        store_secret(self.entry.name(), &self.secret)
    }
}

/// Why a change is not possible.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangeRefusal {
    #[error("{0}")]
    NoSuchKey(String),
    /// The value is a secret, and everybody can read a command line.
    #[error(
        "everybody on this machine can read a command line; give `{0}` by standard input: \
         callgate config set {0} --stdin"
    )]
    Secret(&'static str),
    /// The key holds more than one command can say.
    #[error("`{0}` is too large for a command line; edit the settings file")]
    TooLarge(&'static str),
    /// The value is not of the key's kind.
    #[error(transparent)]
    Wrong(#[from] ConfigProblems),
}

/// Returns the key of this name. The error names similar keys.
pub(crate) fn known_key(name: &str) -> Result<&'static SettingKey, ChangeRefusal> {
    keys::find_setting_key(name).ok_or_else(|| ChangeRefusal::NoSuchKey(no_such_key(name)))
}

impl SettingChange {
    /// Sets a key to a value from a command line, in the form that it has in a variable, or as a
    /// list in TOML.
    pub(crate) fn set(name: &str, text: &str) -> Result<Self, ChangeRefusal> {
        let key = known_key(name)?;
        match key.kind {
            ValueKind::Secret => Err(ChangeRefusal::Secret(key.name)),
            _ => Self::of_text(key, text),
        }
    }

    /// Sets a key to a value that nobody else could read. If the key says that a secret is in the
    /// keyring, the value is that secret, and is returned to be stored there.
    pub(crate) fn set_hidden(
        name: &str,
        text: &HiddenText,
    ) -> Result<(Self, Option<KeyringSecret>), ChangeRefusal> {
        let key = known_key(name)?;
        let wrong =
            |error: SecretError| ChangeRefusal::from(problem_of_key(key.name, error.to_string()));
        if let Some(entry) = KeyringEntry::of_key(key) {
            let secret = entry.purpose().check_secret(text.reveal().trim()).map_err(wrong)?;
            let change = Self { key, value: Some(SettingValue::Switch(true)) };
            return Ok((change, Some(KeyringSecret { entry, secret })));
        }
        if let Some(purpose) = SecretPurpose::of_key(key) {
            let value = Some(SettingValue::Secret(
                purpose.check_secret(text.reveal().trim()).map_err(wrong)?,
            ));
            return Ok((Self { key, value }, None));
        }
        Ok((Self::of_text(key, text.reveal())?, None))
    }

    /// Removes a key.
    pub(crate) fn unset(name: &str) -> Result<Self, ChangeRefusal> {
        Ok(Self { key: known_key(name)?, value: None })
    }

    fn of_text(key: &'static SettingKey, text: &str) -> Result<Self, ChangeRefusal> {
        let name = key.name;
        if matches!(key.kind, ValueKind::Tables { .. }) {
            return Err(ChangeRefusal::TooLarge(name));
        }
        let is_list =
            matches!(key.kind, ValueKind::Command | ValueKind::Folders | ValueKind::Ids { .. });
        let listed = is_list && text.trim_start().starts_with('[');
        let value = if listed {
            parse_toml_list(key, text)
        } else {
            key.kind.read_text(text.as_ref(), true)
        };
        let must_be = if is_list { key.kind.in_toml() } else { key.kind.in_text() };
        value
            .map(|value| Self { key, value: Some(value) })
            .ok_or_else(|| problem_of_key(name, format!("`{name}` must be {must_be}")).into())
    }

    /// Returns true if the settings file will hold a secret.
    pub(crate) fn is_secret(&self) -> bool {
        matches!(self.value, Some(SettingValue::Secret(_)))
    }

    /// Returns the name of the key.
    pub(crate) fn name(&self) -> &'static str {
        self.key.name
    }
}

/// Reads a list in TOML. A list of texts or numbers in JSON is valid TOML, too.
fn parse_toml_list(key: &SettingKey, text: &str) -> Option<SettingValue> {
    let line = format!("list = {}", text.trim());
    let table = DeTable::parse(&line).ok()?.into_inner();
    let value = table.get("list").filter(|_| table.len() == 1)?;
    key.kind.read_toml(value.get_ref())
}

/// Returns the settings file, and who named it; `None` without a home folder.
pub(crate) fn settings_file(file: Option<&Path>) -> Option<Setting<PathBuf>> {
    read_sources(file, &process_surroundings(), VariableScope::Ours).file
}

/// Makes changes to the text of the settings file at `path`. The new text is checked as the file
/// would be; if it is wrong, there is none. What was wrong before is reported where it is; what
/// would become wrong has no place yet.
pub(crate) fn changed_text(
    path: &Path,
    old: &str,
    changes: &[SettingChange],
) -> Result<String, ConfigProblems> {
    changed_text_in(path, old, changes, &process_surroundings())
}

fn changed_text_in(
    path: &Path,
    old: &str,
    changes: &[SettingChange],
    around: &Surroundings,
) -> Result<String, ConfigProblems> {
    let before = RawConfig::of_text(path, old);
    if before.problems.iter().any(|problem| problem.scope == ProblemScope::File) {
        return Err(ConfigProblems(before.problems));
    }
    let known = file_problems(&before, around);
    let mut text = old.to_owned();
    for SettingChange { key, value } in changes {
        let edited = match value.as_ref().map(edit::toml_value) {
            None => edit::unset_key(&text, key.name),
            Some(Some(value)) => edit::set_key(&text, key.name, value),
            Some(None) => {
                return Err(problem_of_key(key.name, format!("`{}` must be UTF-8 text", key.name)));
            }
        };
        text = edited.map_err(|error| problem_of_key(key.name, error.message().to_owned()))?;
    }
    let after = RawConfig::of_text(path, &text);
    let mut problems = file_problems(&after, around);
    for problem in &mut problems {
        let is_same = |old: &&ConfigProblem| old.scope == problem.scope && old.text == problem.text;
        problem.origin =
            known.iter().find(is_same).map_or(SettingOrigin::Default, |old| old.origin.clone());
    }
    let text = ConfigProblems::value_or_problems(text, problems)?;
    check_others(&before, &after, changes)?;
    Ok(text)
}

/// Returns what is wrong with the file, whatever the rest of the settings may be.
fn file_problems(raw: &RawConfig, around: &Surroundings) -> Vec<ConfigProblem> {
    let mut check = SettingsCheck::new(raw, around);
    Config::check_all(&mut check);
    let is_of_file = |problem: &ConfigProblem| matches!(problem.origin, SettingOrigin::File { .. });
    check.problems.into_iter().filter(is_of_file).collect()
}

/// Checks that no other key was changed.
fn check_others(
    before: &RawConfig,
    after: &RawConfig,
    changes: &[SettingChange],
) -> Result<(), ConfigProblems> {
    for key in keys::iter_keys() {
        let value = |raw: &RawConfig| raw.get(key).map(|given| given.value.clone());
        let expected = match changes.iter().rfind(|change| change.key.name == key.name) {
            Some(change) => change.value.as_ref().and_then(edit::toml_value).is_some(),
            None if value(before) != value(after) => return Err(by_hand(key.name)),
            None => continue,
        };
        if value(after).is_some() != expected {
            return Err(by_hand(key.name));
        }
    }
    Ok(())
}

fn by_hand(name: &'static str) -> ConfigProblems {
    let what = "cannot be changed without changing others; edit the settings file";
    problem_of_key(name, format!("`{name}` {what}"))
}

/// Returns a problem that has no place.
fn problem_of_key(name: &'static str, text: String) -> ConfigProblems {
    let (scope, origin) = (ProblemScope::Key(name), SettingOrigin::Default);
    ConfigProblems(vec![ConfigProblem { scope, origin, text }])
}
