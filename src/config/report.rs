//! The settings in effect, for people and programs: each with its value, its origin and its help.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use callgate_agent::budget::price;
use callgate_settings::{
    Config, ConfigProblem, ConfigProblems, GivenSettings, ProblemScope, Setting, SettingKey,
    SettingValue, SettingsCheck, ValueKind, VariableScope, keys,
};
use callgate_surroundings::process_surroundings;
use callgate_wire::desk::SettingView;
use serde_json::{Value, json};

use super::flags::EveryFlag;

/// The word shown in place of a secret that is set.
const HIDDEN: &str = "set";

/// All settings as they are in effect, and what is wrong with them.
#[derive(Debug)]
pub(crate) struct ConfigReport {
    /// The settings file, and who named it; `None` without a home folder.
    pub(crate) file: Option<Setting<PathBuf>>,
    /// All keys in the order of the guide.
    pub(crate) settings: Vec<SettingView>,
    /// Whether there is a key for the model's API, wherever it is.
    pub(crate) has_api_key: bool,
    pub(crate) problems: Vec<ConfigProblem>,
}

impl ConfigReport {
    /// Reads the settings as `callgate agent` does, which uses the most of them.
    pub(crate) fn read_settings(file: Option<&Path>, flags: &EveryFlag) -> Self {
        let (around, scope) = (process_surroundings(), VariableScope::Common);
        let given = GivenSettings::read(file, flags.given_values(), around, scope);
        let mut check = SettingsCheck::new(&given);
        let config = Config::check_all(&mut check);
        let problems = ConfigProblems::value_or_problems((), check.problems.clone());
        let problems = problems.err().map_or_else(Vec::new, |ConfigProblems(problems)| problems);
        let settings =
            keys::iter_keys().map(|key| report_setting(key, &mut check, &config, &problems));
        Self {
            settings: settings.collect(),
            has_api_key: config.agent.api_key.is_some(),
            file: config.file,
            problems,
        }
    }

    /// Keeps one key, and the problems that concern it.
    pub(crate) fn keep_only(&mut self, key: &SettingKey) -> Option<SettingView> {
        self.problems.retain(|problem| problem.scope.concerns(&[key]));
        let place = self.settings.iter().position(|setting| setting.key == key.name)?;
        Some(self.settings.swap_remove(place))
    }

    /// Returns the settings as JSON for programs.
    pub(crate) fn json(&self) -> Value {
        let problems: Vec<String> = self.problems.iter().map(ToString::to_string).collect();
        json!({
            "file": self.file.as_ref().map(|file| file.value.display().to_string()),
            "settings": self.settings.iter().map(setting_json).collect::<Vec<_>>(),
            "has_api_key": self.has_api_key,
            "problems": problems,
        })
    }
}

fn report_setting(
    key: &'static SettingKey,
    check: &mut SettingsCheck,
    config: &Config,
    problems: &[ConfigProblem],
) -> SettingView {
    // An error never repeats what it is about, which may be a secret in a wrong place.
    let is_wrong = problems.iter().any(|problem| problem.scope == ProblemScope::Key(key.name));
    let value = if is_wrong { None } else { value_in_effect(key, check, config) };
    let choices = match key.kind {
        ValueKind::Choice { words, .. } => {
            Some(words.iter().map(|&word| word.to_owned()).collect())
        }
        _ => None,
    };
    SettingView {
        key: key.name.to_owned(),
        value: value.unwrap_or_default(),
        origin: check.given.origin(key).to_string(),
        help: key.help(),
        choices,
        access: key.access,
    }
}

/// Returns a setting as programs read it from `callgate config`.
pub(crate) fn setting_json(setting: &SettingView) -> Value {
    let SettingView { key, value, origin, help, choices, .. } = setting;
    let known = keys::find_setting_key(key);
    let mut shown = json!({ "key": key, "value": value, "origin": origin, "help": help });
    if let Some(choices) = choices {
        shown["choices"] = json!(choices);
    }
    shown["is_secret"] = known.is_some_and(|key| matches!(key.kind, ValueKind::Secret)).into();
    shown
}

/// Returns what is in effect: what was given, else the default, which may depend on the machine.
fn value_in_effect(
    key: &'static SettingKey,
    check: &mut SettingsCheck,
    config: &Config,
) -> Option<Value> {
    let is = |other: &SettingKey| key.name == other.name;
    match key.kind {
        _ if is(&keys::SOCKET) => Some(shown_path(&config.socket.value)),
        _ if is(&keys::DATABASE) => Some(shown_path(&config.database)),
        _ if is(&keys::DESK_SOCKET) => Some(shown_path(&config.desk_socket.value)),
        _ if is(&keys::RULES) => Some(shown_path(&config.rules)),
        _ if is(&keys::LEGACY_SOCKET) => {
            Some(shown_path(config.legacy_socket.0.as_deref().unwrap_or(Path::new(""))))
        }
        _ if is(&keys::AGENT_HISTORY) => config.agent.history.as_deref().map(shown_path),
        _ if is(&keys::AGENT_ROOTS) => {
            Some(config.agent.roots.iter().map(|root| shown_path(root)).collect())
        }
        _ if is(&keys::GATE_WHEN_ABSENT) => Some(config.gate.when_absent.name().into()),
        ValueKind::File | ValueKind::Socket => Some(shown_path(&check.given_path(key)?)),
        _ => match check.given.get(key) {
            Some(given) => shown_value(&given.value),
            None if key.default.is_empty() => None,
            None => shown_value(&key.kind.read_text(OsStr::new(key.default), true)?),
        },
    }
}

fn shown_path(path: &Path) -> Value {
    path.display().to_string().into()
}

/// Returns a value in JSON, without what may be secret.
fn shown_value(value: &SettingValue) -> Option<Value> {
    match value {
        SettingValue::Path(path) => Some(shown_path(path)),
        SettingValue::Paths(paths) => Some(paths.iter().map(|path| shown_path(path)).collect()),
        SettingValue::Text(text) => Some(text.trim().into()),
        SettingValue::Secret(secret) if secret.reveal().is_empty() => None,
        SettingValue::Secret(_) => Some(HIDDEN.into()),
        // The arguments may contain a secret.
        SettingValue::Words(words) => {
            let rest = if words.len() > 1 { " …" } else { "" };
            Some(format!("{}{rest}", words.first()?).into())
        }
        SettingValue::Whole(number) => Some((*number).into()),
        SettingValue::Dollars(millionths) => Some(price::dollars_of_micro(*millionths).into()),
        SettingValue::Switch(is_on) => Some((*is_on).into()),
        SettingValue::Ids(ids) => Some(ids.iter().copied().collect()),
        SettingValue::Tables(tables) => {
            Some(tables.iter_tables().map(|(name, _)| name.clone()).collect())
        }
    }
}
