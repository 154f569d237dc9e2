//! The dialog in which the user chooses a folder: that of GTK, which is loaded for the window
//! anyway, or that of the desktop where programs are to use its portal.

use std::cell::RefCell;
use std::path::PathBuf;

use gtk::prelude::{FileChooserExt, NativeDialogExt};
use gtk::{FileChooserAction, FileChooserNative, ResponseType};
use tauri::{AppHandle, WebviewWindow};
use tokio::sync::oneshot::{Sender, channel};

use crate::command_refusal::CommandRefusal;

/// Lets the user choose a folder, and shows this one first. Returns nothing if they choose none.
pub(crate) async fn choose_folder(
    app: &AppHandle,
    window: WebviewWindow,
    first: Option<PathBuf>,
) -> Result<Option<PathBuf>, CommandRefusal> {
    let (sender, chosen) = channel();
    let refused = |error: tauri::Error| CommandRefusal::new(503, error.to_string());
    // GTK may be used on the main thread alone.
    app.run_on_main_thread(move || open_dialog(&window, first, sender)).map_err(refused)?;
    Ok(chosen.await.ok().flatten())
}

fn open_dialog(window: &WebviewWindow, first: Option<PathBuf>, chosen: Sender<Option<PathBuf>>) {
    let parent = window.gtk_window().ok();
    let action = FileChooserAction::SelectFolder;
    let title = Some("Choose a folder");
    let dialog = FileChooserNative::new(title, parent.as_ref(), action, Some("_Choose"), None);
    dialog.set_modal(true);
    let first = first.filter(|first| first.is_dir());
    if let Some(first) = first.or_else(std::env::home_dir) {
        dialog.set_current_folder(first);
    }
    // Nothing else holds the dialog while it is open.
    let held = RefCell::new(Some((dialog.clone(), chosen)));
    dialog.connect_response(move |dialog, response| {
        let folder = if response == ResponseType::Accept { dialog.filename() } else { None };
        if let Some((_, chosen)) = held.take() {
            // A page that is gone does not wait.
            chosen.send(folder).ok();
        }
    });
    dialog.show();
}
