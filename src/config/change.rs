//! Changes to the settings file, and whether the file would still be valid after them.

use std::path::{Path, PathBuf};

use callgate_settings::{
    Config, ConfigProblem, ConfigProblems, GivenSettings, KeyringEntry, ProblemScope, Setting,
    SettingKey, SettingOrigin, SettingValue, ValueKind, VariableScope, edit, keys, no_such_key,
};
use callgate_surroundings::process_surroundings;
use callgate_wire::HiddenText;
use toml::de::DeTable;

/// One change to the settings file.
#[derive(Debug)]
pub(crate) struct SettingChange {
    pub(crate) key: &'static SettingKey,
    /// `None` removes the key.
    value: Option<SettingValue>,
    /// The secret that is to be stored in the keyring together with it.
    pub(crate) keyring_secret: Option<(KeyringEntry, HiddenText)>,
}

/// Why a change is not possible.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangeRefusal {
    #[error("{0}")]
    NoSuchKey(String),
    #[error(
        "everybody on this machine can read a command line; give `{0}` by standard input: \
         callgate config set {0} --stdin"
    )]
    Secret(&'static str),
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
    /// keyring, the value is that secret.
    pub(crate) fn set_hidden(name: &str, text: &HiddenText) -> Result<Self, ChangeRefusal> {
        let key = known_key(name)?;
        let (Some(entry), ValueKind::Switch | ValueKind::Secret) = (key.entry, key.kind) else {
            return Self::of_text(key, text.reveal());
        };
        let secret = entry.purpose().check_secret(text.reveal().trim());
        let secret = secret.map_err(|why| problem_of_key(key.name, why))?;
        Ok(match key.kind {
            ValueKind::Secret => Self::of_value(key, SettingValue::Secret(secret)),
            // The file says only that the keyring has the secret, so the value does not go into it.
            _ => Self {
                keyring_secret: Some((entry, secret)),
                ..Self::of_value(key, SettingValue::Switch(true))
            },
        })
    }

    /// Removes a key.
    pub(crate) fn unset(name: &str) -> Result<Self, ChangeRefusal> {
        Ok(Self { key: known_key(name)?, value: None, keyring_secret: None })
    }

    fn of_value(key: &'static SettingKey, value: SettingValue) -> Self {
        Self { key, value: Some(value), keyring_secret: None }
    }

    fn of_text(key: &'static SettingKey, text: &str) -> Result<Self, ChangeRefusal> {
        let kind = key.kind;
        if matches!(kind, ValueKind::Tables(_)) {
            return Err(ChangeRefusal::TooLarge(key.name));
        }
        let is_list = matches!(kind, ValueKind::Command | ValueKind::Folders | ValueKind::Ids(_));
        let value = if is_list && text.trim_start().starts_with('[') {
            parse_toml_list(kind, text)
        } else {
            kind.read_text(text.as_ref(), true)
        };
        let must_be = if is_list { kind.words().in_toml } else { kind.words().in_text };
        let wrong = || problem_of_key(key.name, format!("`{}` must be {must_be}", key.name));
        Ok(Self::of_value(key, value.ok_or_else(wrong)?))
    }

    /// Returns true if the settings file will hold a secret.
    pub(crate) fn is_secret(&self) -> bool {
        matches!(self.value, Some(SettingValue::Secret(_)))
    }
}

/// Reads a list in TOML. A list of texts or numbers in JSON is valid TOML, too.
fn parse_toml_list(kind: ValueKind, text: &str) -> Option<SettingValue> {
    let line = format!("list = {}", text.trim());
    let table = DeTable::parse(&line).ok()?.into_inner();
    // Another key is refused, because the text could end the list and set one.
    let value = table.get("list").filter(|_| table.len() == 1)?;
    kind.read_toml(value.get_ref())
}

/// Returns the settings file, and who named it; `None` without a home folder.
pub(crate) fn settings_file(file: Option<&Path>) -> Option<Setting<PathBuf>> {
    GivenSettings::read(file, &[], process_surroundings(), VariableScope::Ours).file
}

/// Makes changes to the text of the settings file at `path`. The new text is checked as the file
/// would be, and is not returned if it is wrong. What was wrong before is reported with its line;
/// what the change would make wrong has no line yet.
pub(crate) fn changed_text(
    path: &Path,
    old: &str,
    changes: &[SettingChange],
) -> Result<String, ConfigProblems> {
    let before = GivenSettings::of_text(path, old, process_surroundings());
    if before.problems.iter().any(|problem| problem.scope == ProblemScope::File) {
        return Err(ConfigProblems(before.problems));
    }
    let mut text = old.to_owned();
    for SettingChange { key, value, .. } in changes {
        let edited = match value.as_ref().map(edit::toml_value) {
            None => edit::unset_key(&text, key.name),
            Some(Some(value)) => edit::set_key(&text, key.name, value),
            Some(None) => {
                return Err(problem_of_key(key.name, format!("`{}` must be UTF-8 text", key.name)));
            }
        };
        text = edited.map_err(|error| problem_of_key(key.name, error.message().to_owned()))?;
    }
    let after = GivenSettings::of_text(path, &text, process_surroundings());
    let (known, mut problems) = (file_problems(&before), file_problems(&after));
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
fn file_problems(given: &GivenSettings) -> Vec<ConfigProblem> {
    let (_, mut problems) = Config::check_given(given);
    problems.retain(|problem| matches!(problem.origin, SettingOrigin::File { .. }));
    problems
}

/// Checks that no other key was changed: a key may be a part of something that only a person can
/// edit.
fn check_others(
    before: &GivenSettings,
    after: &GivenSettings,
    changes: &[SettingChange],
) -> Result<(), ConfigProblems> {
    for key in keys::iter_keys() {
        let value = |given: &GivenSettings| given.get(key).map(|given| given.value.clone());
        let is_right = match changes.iter().rfind(|change| change.key.name == key.name) {
            Some(change) => change.value.is_some() == value(after).is_some(),
            None => value(before) == value(after),
        };
        if !is_right {
            let what = "cannot be changed without changing others; edit the settings file";
            return Err(problem_of_key(key.name, format!("`{}` {what}", key.name)));
        }
    }
    Ok(())
}

/// Returns a problem that has no place.
fn problem_of_key(name: &'static str, text: String) -> ConfigProblems {
    let (scope, origin) = (ProblemScope::Key(name), SettingOrigin::Default);
    ConfigProblems(vec![ConfigProblem { scope, origin, text }])
}
