//! The settings as viewers of the desk see them, and the changes that viewers may make.

use std::path::PathBuf;

use callgate_approval::settings_desk::SettingsDesk;
use callgate_wire::HiddenText;
use callgate_wire::desk::{SettingAccess, SettingsView};

use crate::config::{Config, ConfigReport, EveryFlag, SettingChange, SettingOrigin, known_key};
use crate::config_command::write_changes;

/// The settings of the user, served to viewers of the desk.
#[derive(Debug)]
pub(crate) struct ServedSettings {
    /// The settings file that the command line names; `None` for the usual one.
    file: Option<PathBuf>,
}

impl ServedSettings {
    /// Creates the service for the settings file that these settings come from.
    pub(crate) fn new(config: &Config) -> Self {
        let named =
            config.file.as_ref().filter(|file| matches!(file.origin, SettingOrigin::Flag(_)));
        Self { file: named.map(|file| file.value.clone()) }
    }
}

impl SettingsDesk for ServedSettings {
    fn settings(&self) -> SettingsView {
        let report = ConfigReport::read_settings(self.file.as_deref(), &EveryFlag::default());
        SettingsView {
            problems: report.problems.iter().map(ToString::to_string).collect(),
            settings: report.settings,
        }
    }

    fn set_setting(&self, key: &str, value: Option<&HiddenText>) -> Result<(), String> {
        let change = match (known_key(key).map_err(|unknown| unknown.to_string())?.access, value) {
            (SettingAccess::See, _) => {
                return Err(format!(
                    "{key} cannot be set from here; run: callgate config set {key} …"
                ));
            }
            (SettingAccess::Set, Some(value)) => SettingChange::set(key, value.reveal()),
            (SettingAccess::Secret, Some(value)) => SettingChange::set_hidden(key, value),
            (_, None) => SettingChange::unset(key),
        };
        let change = change.map_err(|refusal| refusal.to_string())?;
        write_changes(self.file.as_deref(), &[change]).map_err(|failure| failure.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config::ChangeRefusal;
    use callgate_settings::keys::iter_keys;
    use callgate_wire::desk::SettingView;

    /// Returns what a viewer can only see.
    fn only_seen(desk: &ServedSettings) -> Vec<SettingView> {
        let all = desk.settings().settings.into_iter();
        all.filter(|setting| setting.access == SettingAccess::See).collect()
    }

    /// No viewer may name a program, a file, a socket or an address, or who may answer.
    #[test]
    fn only_harmless_keys_can_be_set_by_a_viewer() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let desk = ServedSettings { file: Some(file.clone()) };
        let listed = desk.settings().settings;
        assert_eq!(listed.len(), iter_keys().count());
        let before = only_seen(&desk);
        for (key, listed) in iter_keys().zip(listed) {
            assert_eq!((key.name, key.access), (&*listed.key, listed.access));
            // The keyring of whoever runs the tests stays as it is.
            if key.access == SettingAccess::Secret {
                continue;
            }
            // Whatever is sent, a key that can only be seen stays as it is.
            for value in ["true", "1", "ask", "/bin/sh", "https://127.0.0.1/"] {
                let told = desk.set_setting(key.name, Some(&HiddenText::new(value)));
                if key.access == SettingAccess::See {
                    assert!(told.unwrap_err().contains("callgate config set"), "{}", key.name);
                } else {
                    assert_eq!(only_seen(&desk), before, "{}", key.name);
                    fs::remove_file(&file).ok();
                }
            }
            assert!(!file.exists(), "{}", key.name);
        }
        assert!(desk.set_setting("nothing", None).is_err());
    }

    /// A viewer is only advised to run what works, and gets no advice where nothing would.
    #[test]
    fn the_command_of_a_key_that_is_only_seen_can_set_it() {
        let folder = tempfile::tempdir().unwrap();
        let desk = ServedSettings { file: Some(folder.path().join("config.toml")) };
        let seen = only_seen(&desk);
        assert!(!seen.is_empty());
        for SettingView { key, command, .. } in seen {
            let given = ["1", "true", "x", "[\"x\"]"].map(|value| SettingChange::set(&key, value));
            let Some(command) = command else {
                assert!(given.iter().all(Result::is_err), "{key} could be set by a command");
                continue;
            };
            let value = command.strip_prefix(&format!("callgate config set {key} "));
            let is_secret = given.iter().all(|it| matches!(it, Err(ChangeRefusal::Secret(_))));
            assert_eq!(value, Some(if is_secret { "--stdin" } else { "VALUE" }), "{key}");
            assert!(is_secret || given.iter().any(Result::is_ok), "{key} cannot be set so");
        }
        let all = desk.settings().settings.into_iter();
        let others = all.filter(|setting| setting.access != SettingAccess::See);
        assert_eq!(others.filter_map(|setting| setting.command).count(), 0);
    }

    #[test]
    fn a_viewer_sets_and_removes_a_key() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let desk = ServedSettings { file: Some(file.clone()) };
        let set = |value: Option<&str>| {
            desk.set_setting("timeout_seconds", value.map(HiddenText::new).as_ref())
        };
        set(Some("60")).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "timeout_seconds = 60\n");
        let value = |desk: &ServedSettings| {
            let all = desk.settings().settings;
            all.into_iter().find(|it| it.key == "timeout_seconds").unwrap().value
        };
        assert_eq!(value(&desk), 60);
        assert!(set(Some("0")).unwrap_err().contains("timeout_seconds"));
        set(None).unwrap();
        assert_eq!(value(&desk), 300);
    }
}
