//! Looks at a change of the agent's settings before the agent applies it.

use std::path::{Path, PathBuf};

use callgate_settings::Surroundings;
use callgate_wire::hook::agents::CLAUDE;

use crate::claude_settings::{self, HazardLevel, SettingsOwner};

/// Claude Code sets this for its hooks to the folder of the project.
const PROJECT: &str = "CLAUDE_PROJECT_DIR";
/// What Claude Code calls the user's own settings.
const OF_USER: &str = "user_settings";
/// What Claude Code calls settings that only an administrator can change, and skills.
const HARMLESS: [&str; 2] = ["policy_settings", "skills"];

/// Returns why the agent must not apply the new settings in `file`: they would open the gate, they
/// cannot be read, or our hook is in none of the settings any more.
pub(crate) fn refusal_reason(around: &Surroundings, source: &str, file: &str) -> Option<String> {
    if HARMLESS.contains(&source) {
        return None;
    }
    // In the home folder the user's settings are the project's, too.
    let user_folder = around.agent_folder(&CLAUDE.settings);
    let is_own = source == OF_USER || Path::new(file).parent() == user_folder.as_deref();
    let whose = if is_own { SettingsOwner::Person } else { SettingsOwner::Project };
    let because = match claude_settings::read_settings_file(Path::new(file)) {
        Err(error) => format!("it cannot be read: {error}"),
        Ok(settings) => {
            let found = claude_settings::find_hazards(&settings.unwrap_or_default(), whose);
            let opens = found.into_iter().filter(|it| it.level == HazardLevel::OpensGate);
            let opens: Vec<String> = opens.map(|it| it.text).collect();
            match opens.is_empty() {
                // In all files, since the changed one need not be the one with our hook.
                true if has_hook(around, user_folder) => return None,
                true => "our hook is in none of its settings any more".to_owned(),
                false => opens.join("; "),
            }
        }
    };
    Some(format!(
        "{file}: {because}. The change does not apply to this session; the next one starts with it, \
         so undo it if it is not yours"
    ))
}

/// Returns true if a settings file has our hook.
fn has_hook(around: &Surroundings, user_folder: Option<PathBuf>) -> bool {
    let user = user_folder.map(|folder| folder.join("settings.json"));
    let project = (around.variable)(PROJECT).map(|folder| PathBuf::from(folder).join(".claude"));
    let of_project = |name: &str| project.as_ref().map(|folder| folder.join(name));
    let own = [user, of_project("settings.json"), of_project("settings.local.json")];
    let files = claude_settings::managed_files().into_iter().chain(own.into_iter().flatten());
    files
        .filter_map(|file| claude_settings::read_settings_file(&file).ok().flatten())
        .any(|settings| claude_settings::has_our_hook(&settings))
}
