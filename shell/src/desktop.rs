//! Does what the user wants through the tray, the shortcut, a notification or a second start, and
//! shows on the desktop that questions wait.

use tauri::async_runtime::spawn;
use tauri::{AppHandle, Manager};

use crate::command_refusal::CommandRefusal;
use crate::desktop_wish::DesktopWish;
use crate::global_shortcut::ShortcutError;
use crate::notices::NoticeSubject;
use crate::shell_event::{ShellEvent, tell_page};
use crate::shell_log::log_complaint;
use crate::shell_settings;
use crate::shell_state::ShellState;
use crate::sync::lock;
use crate::tray::waiting_title;
use crate::window;

pub(crate) fn fulfil_wish(app: &AppHandle, wish: DesktopWish) {
    let Some(window) = window::main_window(app) else { return };
    match wish {
        DesktopWish::Show => show_with(app, ShellEvent::Shown),
        DesktopWish::OpenFolder(folder) => {
            // A page that is still being loaded misses the event, and asks for the folder when it
            // starts.
            *lock(&app.state::<ShellState>().folder) = Some(folder.clone().into());
            show_with(app, ShellEvent::OpenFolder { folder });
        }
        DesktopWish::Toggle { is_in_front } => {
            if window::is_used(&window, is_in_front) {
                window::hide_keeping_place(&window);
            } else {
                show_with(app, ShellEvent::Shown);
            }
        }
        DesktopWish::OpenQuestion(id) => show_with(app, ShellEvent::OpenQuestion { id }),
        DesktopWish::DenyQuestion(id) => tell_page(app, ShellEvent::DenyQuestion { id }),
        DesktopWish::OpenConversation(id) => show_with(app, ShellEvent::OpenConversation { id }),
        DesktopWish::OpenHistory => show_with(app, ShellEvent::OpenHistory),
        DesktopWish::Status => show_with(app, ShellEvent::Status),
        DesktopWish::Restart => {
            let app = app.clone();
            spawn(async move {
                if let Some(chat) = app.state::<ShellState>().chats.running().await {
                    chat.client.restart();
                }
            });
        }
        DesktopWish::Quit => {
            window::keep_placement(&window);
            let app = app.clone();
            spawn(async move {
                app.state::<ShellState>().chats.close().await;
                app.exit(0);
            });
        }
    }
}

/// Shows the window, and tells the page why.
fn show_with(app: &AppHandle, event: ShellEvent) {
    let Some(window) = window::main_window(app) else { return };
    window::show_in_front(&window);
    tell_page(app, event);
    let app = app.clone();
    spawn(async move {
        // Whoever looks at the window sees the answers there.
        if let Some(notices) = app.state::<ShellState>().notices.get() {
            notices.close_matching(|subject| matches!(subject, NoticeSubject::Answer(_))).await;
        }
    });
}

/// Shows how many questions wait: in the tray and in the title. Without any, notifications are
/// closed.
pub(crate) async fn show_waiting(app: &AppHandle, count: u64) {
    let state = app.state::<ShellState>();
    if let Some(tray) = state.tray.get() {
        tray.update(|tray| tray.waiting = count).await;
    }
    if let Some(window) = window::main_window(app) {
        // A title that cannot be set is still the old one.
        window.set_title(&waiting_title(count)).ok();
    }
    if let (0, Some(notices)) = (count, state.notices.get()) {
        // Nothing waits any more.
        notices.close_matching(|subject| matches!(subject, NoticeSubject::Question(_))).await;
    }
}

/// Replaces the keys of the shortcut. An empty text removes the shortcut.
pub(crate) fn take_shortcut(app: &AppHandle, keys: &str) -> Result<(), CommandRefusal> {
    let state = app.state::<ShellState>();
    let refused = |error: ShortcutError| CommandRefusal::unreadable(error.to_string());
    let chord = (!keys.is_empty()).then(|| keys.parse()).transpose();
    let chord = chord.map_err(|error| refused(ShortcutError::Chord(error)))?;
    match state.shortcut.get() {
        Some(Ok(shortcut)) => shortcut.set_chord(chord).map_err(refused),
        // Where there are no global shortcuts, the setting waits for a desktop that has them.
        _ => Ok(()),
    }
}

/// Says why the keys of the shortcut do not work: they were refused, or the desktop has no
/// shortcuts.
fn shortcut_problem(
    keys: &str,
    refused: Option<CommandRefusal>,
    connection: Option<&ShortcutError>,
) -> Option<String> {
    let missing = connection.filter(|_| !keys.is_empty()).map(ShortcutError::to_string);
    let why = refused.map(|refusal| refusal.text).or(missing)?;
    Some(format!("{keys}: {why}"))
}

/// Reads the settings of the shell, and acts on them.
pub(crate) async fn apply_settings(app: &AppHandle) {
    let state = app.state::<ShellState>();
    match shell_settings::read_for_page(&state.program).await {
        Ok(read) => state.settings.take_choices(&read),
        Err(refusal) => log_complaint(&format!("the settings cannot be read: {}", refusal.text)),
    }
    let choices = state.settings.choices();
    let taken = take_shortcut(app, &choices.shortcut);
    let connection = state.shortcut.get().and_then(|shortcut| shortcut.as_ref().err());
    let problem = shortcut_problem(&choices.shortcut, taken.err(), connection);
    match &problem {
        Some(problem) => log_complaint(&format!("no shortcut {problem}")),
        None if state.arguments.is_debug => {
            log_complaint(&format!("shortcut: {}", choices.shortcut));
        }
        None => {}
    }
    lock(&state.shortcut_problem).clone_from(&problem);
    tell_page(app, ShellEvent::Shortcut { problem });
    if let Some(window) = window::main_window(app) {
        window::set_theme(&window, choices.colours());
    }
    tell_page(app, ShellEvent::Theme { theme: choices.theme });
}

#[cfg(test)]
mod tests {
    use super::*;
    use x11rb::errors::ConnectError;

    #[test]
    fn a_desktop_without_shortcuts_is_a_problem_with_a_way_out() {
        let missing = ShortcutError::NoDisplay(ConnectError::InvalidScreen);
        let problem = |keys, refused| shortcut_problem(keys, refused, Some(&missing));
        let told = problem("Ctrl+Shift+Space", None).unwrap();
        assert!(told.starts_with("Ctrl+Shift+Space: ") && told.contains("--toggle"), "{told}");
        assert_eq!(problem("", None), None, "nobody wants a shortcut");
        let refused = CommandRefusal::unreadable("no such key".to_owned());
        assert_eq!(problem("Ctrl+Ö", Some(refused)).unwrap(), "Ctrl+Ö: no such key");
        assert_eq!(shortcut_problem("Ctrl+Shift+Space", None, None), None);
    }
}
