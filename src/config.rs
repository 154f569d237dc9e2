//! The settings of this process: a file, the environment above it, flags above both.
//!
//! The keys, how they are read and how they are checked are in the crate `callgate-settings`, which
//! gets files and environment as values.

mod change;
mod flags;
mod report;

use std::path::Path;

use callgate_settings::VariableScope;
use callgate_settings::keys::iter_keys;
pub(crate) use callgate_settings::{
    AgentSettings, Config, ConfigProblems, EngineSetting, Setting, SettingKey, SettingOrigin,
    Surroundings, TokenSource, WhenAbsent, token_source,
};
pub(crate) use callgate_surroundings::process_surroundings;

pub(crate) use change::{ChangeRefusal, SettingChange, changed_text, known_key, settings_file};
pub(crate) use flags::{AgentFlags, DeskFlags, EveryFlag, SettingFlags};
pub(crate) use report::{ConfigReport, setting_json};
#[cfg(test)]
pub(crate) use tests::{test_config, test_surroundings};

/// Reads and checks the settings for a command that takes these flags. `file` is the file that
/// `--config` names.
pub(crate) fn load_config<const FOR_DESK: bool, const FOR_AGENT: bool>(
    file: Option<&Path>,
    flags: &SettingFlags<FOR_DESK, FOR_AGENT>,
) -> Result<Config, ConfigProblems> {
    // The agent runtime also reads variables that other programs use.
    let scope = if FOR_AGENT { VariableScope::Common } else { VariableScope::Ours };
    Config::load(file, flags.given_values(), &process_surroundings(), scope)
}

/// Returns the environment variables that set something here.
pub(crate) fn set_variables() -> Vec<String> {
    let around = process_surroundings();
    let variables = iter_keys().filter_map(SettingKey::variable);
    variables.filter(|name| around.variable(name).is_some()).collect()
}

#[cfg(test)]
mod tests;
