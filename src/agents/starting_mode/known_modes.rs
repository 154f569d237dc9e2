//! Where the modes of the other agents are set, as far as that is known.

use std::path::PathBuf;

use super::super::json::without_comments;
use super::super::{AgentOnDisk, CodingAgent, SettingsScope};
use super::{StartingMode, read_settings_text};
use crate::config::Surroundings;

/// Where an agent's mode is set.
struct ModeSetting {
    /// The agent's word.
    agent: &'static str,
    /// The file in the agent's settings folder; a path with `~/` is below the home folder.
    file: &'static str,
    /// The names that lead to the mode in it.
    keys: &'static [&'static str],
    /// The mode without a setting.
    default: &'static str,
    /// The modes in which the agent asks its user.
    asking: &'static [&'static str],
}

const fn fixed_mode(agent: &'static str, default: &'static str) -> ModeSetting {
    ModeSetting { agent, file: "", keys: &[], default, asking: &[] }
}

const fn asking_mode(agent: &'static str, default: &'static str) -> ModeSetting {
    ModeSetting { agent, file: "", keys: &[], default, asking: ASKING }
}

/// The modes that are fixed and in which the agent asks.
const ASKING: &[&str] = &["default", "always-ask"];

/// The settings. In the modes of pi and Cline, and in the default of opencode and Kilo, nobody is
/// asked.
const SETTINGS: [ModeSetting; 13] = [
    ModeSetting {
        agent: "gemini",
        file: "settings.json",
        keys: &["general", "defaultApprovalMode"],
        default: "default",
        asking: &["default", "auto_edit", "plan"],
    },
    ModeSetting {
        agent: "qwen",
        file: "settings.json",
        keys: &["tools", "approvalMode"],
        default: "auto",
        asking: &["default", "plan", "auto-edit"],
    },
    ModeSetting {
        agent: "droid",
        file: "settings.json",
        keys: &["sessionDefaultSettings", "autonomyLevel"],
        default: "off",
        asking: &["off"],
    },
    ModeSetting {
        agent: "kimi",
        file: "config.toml",
        keys: &["default_permission_mode"],
        default: "manual",
        asking: &["manual"],
    },
    ModeSetting {
        agent: "goose",
        file: "~/.config/goose/config.yaml",
        keys: &["GOOSE_MODE"],
        default: "auto",
        asking: &["approve", "smart_approve"],
    },
    fixed_mode("cline", "auto-approve"),
    fixed_mode("pi", "only"),
    fixed_mode("opencode", "default"),
    fixed_mode("kilo", "default"),
    // Their command line alone changes it.
    asking_mode("copilot", "default"),
    asking_mode("grok", "default"),
    asking_mode("openhands", "always-ask"),
    asking_mode("amp", "default"),
];

/// Returns the mode in which an agent other than Claude Code and Codex starts.
pub(super) fn find_other_mode(agent: CodingAgent, around: &Surroundings) -> StartingMode {
    let Some(setting) = SETTINGS.iter().find(|setting| setting.agent == agent.word) else {
        return StartingMode { agent, name: String::new(), file: None, asks: None };
    };
    let found = setting.files(agent, around).into_iter().find_map(|file| {
        let name = setting.parse_mode(&read_settings_text(&file)?)?;
        Some((name, Some(file)))
    });
    let (name, file) = found.unwrap_or((setting.default.to_owned(), None));
    let asks = setting.asking.contains(&name.as_str());
    StartingMode { agent, name, file, asks: Some(asks) }
}

impl ModeSetting {
    /// Returns the files that may set the mode; the first one wins.
    fn files(&self, agent: CodingAgent, around: &Surroundings) -> Vec<PathBuf> {
        if self.file.is_empty() {
            return Vec::new();
        }
        if self.file.starts_with("~/") {
            return vec![around.expand(self.file.as_ref())];
        }
        let scopes = [SettingsScope::Project, SettingsScope::User];
        let folders = scopes.into_iter().filter_map(|scope| agent.settings_folder(scope, around));
        folders.map(|folder| folder.join(self.file)).collect()
    }

    /// Returns the mode that the text of a file sets.
    fn parse_mode(&self, text: &str) -> Option<String> {
        let pointer = format!("/{}", self.keys.join("/"));
        match self.file.rsplit('.').next()? {
            "json" => {
                let settings: serde_json::Value =
                    serde_json::from_str(&without_comments(text)).ok()?;
                settings.pointer(&pointer)?.as_str().map(str::to_owned)
            }
            "toml" => {
                let settings: toml::Table = toml::from_str(text).ok()?;
                settings.get(*self.keys.first()?)?.as_str().map(str::to_owned)
            }
            // A plain line of YAML, for which a parser would be another dependency.
            _ => text.lines().find_map(|line| {
                let value = line.strip_prefix(self.keys.first()?)?.strip_prefix(':')?;
                Some(value.trim().trim_matches(['"', '\'']).to_owned())
            }),
        }
    }
}
