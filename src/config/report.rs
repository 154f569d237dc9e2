//! The settings in effect, for people and programs: each with its value, its origin and its help.

use std::path::{Path, PathBuf};

use callgate_agent::budget::price;
use callgate_settings::{
    Config, ConfigProblem, ConfigProblems, GivenSettings, ProblemScope, Setting, SettingKey,
    SettingValue, ValueKind, VariableScope, keys,
};
use callgate_surroundings::process_surroundings;
use callgate_wire::desk::{SettingAccess, SettingView};
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
        let (config, problems) = Config::check_given(&given);
        let problems = ConfigProblems::value_or_problems((), problems);
        let problems = problems.err().map_or_else(Vec::new, |ConfigProblems(problems)| problems);
        let settings = keys::iter_keys().map(|key| report_setting(key, &given, &config, &problems));
        Self {
            settings: settings.collect(),
            has_api_key: config.agent.api_key.is_some(),
            file: config.file,
            problems,
        }
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
    given: &GivenSettings,
    config: &Config,
    problems: &[ConfigProblem],
) -> SettingView {
    // An error never repeats what it is about, which may be a secret in a wrong place.
    let is_wrong = problems.iter().any(|problem| problem.scope == ProblemScope::Key(key.name));
    let is_unused = key.name == keys::AGENT_HISTORY.name && config.agent.history.is_none();
    let value = if is_wrong || is_unused { None } else { given.value(key) };
    let choices = match key.kind {
        ValueKind::Choice { words, .. } => {
            Some(words.iter().map(|&word| word.to_owned()).collect())
        }
        _ => None,
    };
    SettingView {
        key: key.name.to_owned(),
        value: value.and_then(|value| shown_value(&value)).unwrap_or_default(),
        origin: given.origin(key).to_string(),
        help: key.help(),
        choices,
        access: key.access,
        command: (key.access == SettingAccess::See).then(|| set_command(key)).flatten(),
    }
}

/// Returns the command that sets a key. `None` if only the settings file can hold it.
fn set_command(key: &SettingKey) -> Option<String> {
    let value = match key.kind {
        ValueKind::Tables(_) => return None,
        // Everybody on the machine can read a command line.
        ValueKind::Secret => "--stdin",
        _ => "VALUE",
    };
    Some(format!("callgate config set {} {value}", key.name))
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

/// Returns a value in JSON, without what may be secret.
fn shown_value(value: &SettingValue) -> Option<Value> {
    match value {
        SettingValue::Path(path) => Some(path.display().to_string().into()),
        SettingValue::Paths(paths) => {
            Some(paths.iter().map(|path| path.display().to_string()).collect())
        }
        SettingValue::Text(text) => Some((&**text).into()),
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
