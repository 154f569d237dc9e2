//! Files that are dragged over the window. The web view itself tells the page of a drag, but never
//! gives it the files.

use tauri::async_runtime::spawn_blocking;
use tauri::{AppHandle, DragDropEvent};

use crate::attached_files::AttachedFiles;
use crate::shell_event::{ShellEvent, tell_page};

/// Tells the page of a drag, and hands it the files that are dropped.
pub(crate) fn handle_drag(app: &AppHandle, event: &DragDropEvent) {
    match event {
        DragDropEvent::Enter { .. } => tell_page(app, ShellEvent::Dragging { is_over: true }),
        DragDropEvent::Leave => tell_page(app, ShellEvent::Dragging { is_over: false }),
        DragDropEvent::Drop { paths, .. } => {
            tell_page(app, ShellEvent::Dragging { is_over: false });
            let (app, paths) = (app.clone(), paths.clone());
            // The window itself must not wait for the disk.
            spawn_blocking(move || {
                tell_page(&app, ShellEvent::Attach(AttachedFiles::read_paths(&paths)));
            });
        }
        _ => {}
    }
}
