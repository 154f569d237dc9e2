//! What the shell tells the page.

use serde::Serialize;
use tauri::{AppHandle, Emitter};

use crate::attached_files::AttachedFiles;
use crate::shell_log::log_complaint;

/// The name of the window with the page, which the capability grants its commands to.
pub(crate) const LABEL: &str = "main";

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum ShellEvent {
    /// Open was pressed in a notification: the question is shown.
    OpenQuestion { id: String },
    /// Deny was pressed in a notification: it counts as any other press.
    DenyQuestion { id: String },
    /// A notification of an answer was pressed: the conversation is shown.
    OpenConversation { id: String },
    /// A notification of a call without a verdict was pressed: the history is shown.
    OpenHistory,
    /// The runtime is to work in this folder.
    OpenFolder { folder: String },
    /// The window has appeared for somebody who wants to write.
    Shown,
    /// Files are held over the window, or not any more.
    Dragging { is_over: bool },
    /// Files were dropped onto the window.
    Attach(AttachedFiles),
    /// Files or a picture were pasted, wherever the focus was.
    Paste(AttachedFiles),
    /// A file that the page has made is in the folder for downloads, or could not be saved there.
    Saved {
        /// Where it is.
        path: Option<String>,
    },
    /// The shortcut works, or it does not.
    Shortcut {
        /// Why it does not work.
        problem: Option<String>,
    },
    /// The state of the runtime is to be shown.
    Status,
    /// A desk listens that was not there before.
    DeskStarted,
    /// The colours were changed.
    Theme {
        /// `system`, `light` or `dark`.
        theme: String,
    },
}

/// The event by which the page hears from the shell.
const EVENT: &str = "shell";

pub(crate) fn tell_page(app: &AppHandle, event: ShellEvent) {
    if let Err(error) = app.emit_to(LABEL, EVENT, event) {
        log_complaint(&format!("the page is not told: {error}"));
    }
}
