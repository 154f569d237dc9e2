//! The commands about settings, of which the page may change a few.

use callgate_client::wire::HiddenText;
use serde_json::Value;
use tauri::{AppHandle, State};

use crate::command_refusal::CommandRefusal;
use crate::desktop;
use crate::shell_settings::{self, SettingsForPage};
use crate::shell_state::ShellState;

#[tauri::command]
pub(crate) async fn settings_read(
    state: State<'_, ShellState>,
) -> Result<SettingsForPage, CommandRefusal> {
    shell_settings::read_for_page(&state.program).await
}

#[tauri::command]
pub(crate) async fn settings_write(
    app: AppHandle,
    state: State<'_, ShellState>,
    key: String,
    value: Value,
) -> Result<(), CommandRefusal> {
    if key == shell_settings::SHORTCUT {
        // Keys that another program has are refused before they are kept.
        if let Some(keys) = value.as_str() {
            desktop::take_shortcut(&app, keys)?;
        }
    }
    let written = shell_settings::write_key(&state.program, &key, &value).await;
    desktop::apply_settings(&app).await;
    written
}

/// Puts the model's key into the keyring. Nothing reads it from there but the runtime.
#[tauri::command]
pub(crate) async fn settings_store_api_key(
    state: State<'_, ShellState>,
    secret: String,
) -> Result<(), CommandRefusal> {
    let secret = HiddenText::new(secret);
    shell_settings::store_api_key(&state.program, secret).await
}
