//! The commands about the window and the desktop around it.

use std::path::PathBuf;

use serde::Serialize;
use tauri::{AppHandle, State};

use crate::command_refusal::CommandRefusal;
use crate::notices::DesktopNotice;
use crate::outside;
use crate::shell_state::ShellState;
use crate::sync::lock;
use crate::{desktop, folder_dialog, window};

#[derive(Debug, Serialize)]
pub(crate) struct ShellInfo {
    version: &'static str,
    debug: bool,
    folder: Option<PathBuf>,
    shortcut: String,
    shortcut_problem: Option<String>,
    theme: String,
}

#[tauri::command]
pub(crate) async fn shell_info(state: State<'_, ShellState>) -> Result<ShellInfo, CommandRefusal> {
    let running = state.chats.running().await;
    let folder = running.map(|chat| chat.folder.clone());
    let choices = state.settings.choices();
    Ok(ShellInfo {
        version: env!("CARGO_PKG_VERSION"),
        debug: state.arguments.is_debug,
        // The wanted folder is named here, too, because a page that is still loading misses
        // `OpenFolder`.
        folder: folder.or_else(|| lock(&state.folder).clone()),
        shortcut: choices.shortcut,
        shortcut_problem: lock(&state.shortcut_problem).clone(),
        theme: choices.theme,
    })
}

/// Lets the user choose a folder. Returns nothing if they choose none.
#[tauri::command]
pub(crate) async fn folder_choose(
    app: AppHandle,
    state: State<'_, ShellState>,
    first: Option<PathBuf>,
) -> Result<Option<PathBuf>, CommandRefusal> {
    let (Some(window), Ok(_open)) = (window::main_window(&app), state.dialog.try_lock()) else {
        return Err(CommandRefusal::new(409, "a folder is being chosen already"));
    };
    folder_dialog::choose_folder(&app, window, first).await
}

#[tauri::command]
pub(crate) async fn window_hide(app: AppHandle) {
    if let Some(window) = window::main_window(&app) {
        window::hide_keeping_place(&window);
    }
}

/// Opens a link in the user's browser or mail program.
#[tauri::command]
pub(crate) async fn open_outside(url: String) -> Result<(), CommandRefusal> {
    outside::open_link(&url)
}

#[tauri::command]
pub(crate) async fn waiting_changed(app: AppHandle, count: u64) {
    desktop::show_waiting(&app, count).await;
}

/// Notifies the user of a new question, without telling what it is about.
#[tauri::command]
pub(crate) async fn notify(
    state: State<'_, ShellState>,
    id: String,
    agent: String,
    project: String,
    kind: String,
) -> Result<(), CommandRefusal> {
    show_notice(&state, DesktopNotice::of_question(&id, &agent, &project, &kind)).await
}

/// Notifies the user of an answer, or that there is none, without telling what it says.
#[tauri::command]
pub(crate) async fn notify_answer(
    state: State<'_, ShellState>,
    conversation: String,
    project: String,
    failed: bool,
) -> Result<(), CommandRefusal> {
    show_notice(&state, DesktopNotice::of_answer(&conversation, &project, failed)).await
}

/// Notifies the user of a call that ran without a verdict, without telling what it did.
#[tauri::command]
pub(crate) async fn notify_unchecked(
    state: State<'_, ShellState>,
    agent: String,
    project: String,
) -> Result<(), CommandRefusal> {
    show_notice(&state, DesktopNotice::of_unchecked_run(&agent, &project)).await
}

async fn show_notice(state: &ShellState, notice: DesktopNotice) -> Result<(), CommandRefusal> {
    let Some(notices) = state.notices.get() else {
        return Err(CommandRefusal::new(503, "this desktop has no notifications"));
    };
    notices.show(notice).await.map_err(|error| CommandRefusal::new(503, error.to_string()))
}
