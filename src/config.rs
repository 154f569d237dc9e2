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

pub(crate) use change::{
    ChangeRefusal, SettingChange, changed_text, known_key, settings_file,
};
pub(crate) use flags::{AgentFlags, DeskFlags, EveryFlag};
pub(crate) use report::{ConfigReport, setting_json};
#[cfg(test)]
pub(crate) use tests::{test_config, test_surroundings};

/// Reads and checks the settings of the desk. `file` is the file that `--config` names.
pub(crate) fn load_config(
    file: Option<&Path>,
    flags: &DeskFlags,
) -> Result<Config, ConfigProblems> {
    Config::load(file, flags.given_values(), &process_surroundings(), VariableScope::Ours)
}

/// Reads and checks the settings for the agent runtime, which also reads variables that other
/// programs use.
pub(crate) fn load_agent_config(
    file: Option<&Path>,
    flags: &AgentFlags,
) -> Result<Config, ConfigProblems> {
    Config::load(file, flags.given_values(), &process_surroundings(), VariableScope::Common)
}

/// Returns the environment variables that set something here.
pub(crate) fn set_variables() -> Vec<String> {
    let around = process_surroundings();
    let variables = iter_keys().filter_map(SettingKey::variable);
    variables.filter(|name| around.variable(name).is_some()).collect()
}

#[cfg(test)]
mod tests;
