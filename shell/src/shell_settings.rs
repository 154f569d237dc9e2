//! The settings that concern the shell and the page in it, read and written by `callgate config`.

use std::sync::Mutex;

use callgate_client::wire::HiddenText;
use serde::Serialize;
use serde_json::Value;
use tauri::Theme;

use crate::callgate_program::CallgateProgram;
use crate::command_refusal::CommandRefusal;
use crate::sync::lock;

/// The keys that the page may read and set. None of them names a program, a file, a socket or the
/// database.
const OF_THE_PAGE: [&str; 5] = ["agent.engine", "agent.model", "agent.roots", SHORTCUT, THEME];
pub(crate) const SHORTCUT: &str = "shell.shortcut";
pub(crate) const THEME: &str = "shell.theme";
/// The key that puts the model's key into the keyring.
const API_KEY: &str = "agent.api_key_keyring";
const LONGEST_VALUE: usize = 16 * 1024;

/// What is used where the settings cannot be read.
const FIRST_SHORTCUT: &str = "Ctrl+Shift+Space";
const FIRST_THEME: &str = "system";

/// The settings of the shell itself, as they were read last.
#[derive(Debug)]
pub(crate) struct CurrentChoices(Mutex<DesktopChoices>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DesktopChoices {
    /// The keys that toggle the window.
    pub(crate) shortcut: String,
    /// `system`, `light` or `dark`.
    pub(crate) theme: String,
}

impl Default for CurrentChoices {
    fn default() -> Self {
        let (shortcut, theme) = (FIRST_SHORTCUT.to_owned(), FIRST_THEME.to_owned());
        Self(Mutex::new(DesktopChoices { shortcut, theme }))
    }
}

impl CurrentChoices {
    pub(crate) fn choices(&self) -> DesktopChoices {
        lock(&self.0).clone()
    }

    pub(crate) fn take_choices(&self, read: &SettingsForPage) {
        let mut choices = lock(&self.0);
        for setting in &read.settings {
            let field = match setting.get("key").and_then(Value::as_str) {
                Some(SHORTCUT) => &mut choices.shortcut,
                Some(THEME) => &mut choices.theme,
                _ => continue,
            };
            if let Some(value) = setting.get("value").and_then(Value::as_str) {
                value.clone_into(field);
            }
        }
    }
}

impl DesktopChoices {
    /// Returns the colours; `None` for those of the system.
    pub(crate) fn colours(&self) -> Option<Theme> {
        match self.theme.as_str() {
            "light" => Some(Theme::Light),
            "dark" => Some(Theme::Dark),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct SettingsForPage {
    /// As `callgate config show --json` has them.
    settings: Vec<Value>,
    /// Whether there is a key for the model, wherever it is.
    has_api_key: bool,
    /// What is wrong with the settings file, in words.
    problems: Vec<String>,
}

pub(crate) async fn read_for_page(
    program: &CallgateProgram,
) -> Result<SettingsForPage, CommandRefusal> {
    let shown = program.config(&["show"], None).await?;
    Ok(for_page(&shown))
}

fn for_page(shown: &Value) -> SettingsForPage {
    let all = shown.get("settings").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let key_of = |setting: &Value| setting.get("key").and_then(Value::as_str).map(str::to_owned);
    let problems = shown.get("problems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let find = |key: &str| all.iter().find(|setting| key_of(setting).as_deref() == Some(key));
    SettingsForPage {
        settings: OF_THE_PAGE.iter().filter_map(|key| find(key).cloned()).collect(),
        has_api_key: shown.get("has_api_key").and_then(Value::as_bool).unwrap_or(false),
        problems: problems.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
    }
}

/// Sets one of the keys that the page may set. Without a value, the key gets its default back.
pub(crate) async fn write_key(
    program: &CallgateProgram,
    key: &str,
    value: &Value,
) -> Result<(), CommandRefusal> {
    if !OF_THE_PAGE.contains(&key) {
        return Err(CommandRefusal::forbidden("the page cannot change this setting"));
    }
    if value.is_null() {
        return program.config(&["unset", key], None).await.map(drop);
    }
    // Anything but a text is as JSON has it: lists may be given so.
    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if value.len() > LONGEST_VALUE {
        return Err(CommandRefusal::new(413, "the value is too long"));
    }
    // The value is read from standard input, so that none can be taken for an option.
    let value = HiddenText::new(value);
    program.config(&["set", key, "--stdin"], Some(value)).await.map(drop)
}

pub(crate) async fn store_api_key(
    program: &CallgateProgram,
    secret: HiddenText,
) -> Result<(), CommandRefusal> {
    program.config(&["set", API_KEY, "--stdin"], Some(secret)).await.map(drop)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_page_sees_its_settings_and_no_others() {
        let shown = json!({ "settings": [
            { "key": "agent.api_key_command", "value": ["pass", "show"] },
            { "key": "database", "value": "/home/ada/callgate.db" },
            { "key": "shell.theme", "value": "dark", "origin": "default" },
            { "key": "agent.engine", "value": "auto", "origin": "file" },
        ], "has_api_key": true, "problems": ["config.toml:2: odd"] });
        let page = for_page(&shown);
        assert_eq!(
            page.settings,
            [
                json!({ "key": "agent.engine", "value": "auto", "origin": "file" }),
                json!({ "key": "shell.theme", "value": "dark", "origin": "default" }),
            ]
        );
        assert!(page.has_api_key);
        assert_eq!(page.problems, ["config.toml:2: odd"]);
        let settings = CurrentChoices::default();
        settings.take_choices(&page);
        let expected = DesktopChoices { shortcut: FIRST_SHORTCUT.into(), theme: "dark".into() };
        assert_eq!(settings.choices(), expected);
        assert_eq!(expected.colours(), Some(Theme::Dark));
    }

    #[test]
    fn odd_answers_show_nothing() {
        for odd in [json!(null), json!({}), json!({ "settings": 7 }), json!({ "settings": [1] })] {
            let page = for_page(&odd);
            assert_eq!((page.settings.len(), page.has_api_key), (0, false), "{odd}");
        }
    }

    #[tokio::test]
    async fn other_keys_are_refused_before_anything_is_run() {
        let program = CallgateProgram::at("/nowhere/callgate");
        for key in ["agent.api_key_command", "database", "socket", "agent.api_key_file", "rules"] {
            let refused = write_key(&program, key, &json!("x")).await.unwrap_err();
            assert_eq!(refused.status, 403, "{key}");
        }
        let unreachable = write_key(&program, "agent.engine", &json!("offline")).await.unwrap_err();
        assert_eq!(unreachable.status, 503);
    }
}
