//! Files and pictures that the user pastes. The web view gives the page neither.
//!
//! They are read when the keys for pasting are pressed in the window, and at no other time: the
//! page cannot ask for what is in the clipboard.

use std::path::PathBuf;

use gtk::gdk::{self, EventKey, ModifierType, keys};
use gtk::gio::prelude::FileExt;
use gtk::prelude::WidgetExt;
use gtk::{Clipboard, gio, glib};
use tauri::AppHandle;
use tauri::async_runtime::spawn_blocking;
use webkit2gtk::WebView;

use crate::attached_files::AttachedFiles;
use crate::shell_event::{ShellEvent, tell_page};

const FILES: &str = "text/uri-list";
/// The kinds of pictures that are taken as they are, the best first.
const PICTURES: [&str; 3] = ["image/png", "image/jpeg", "image/webp"];
/// Words have a place in the message, whatever else the clipboard has.
const WORDS: [&str; 2] = ["UTF8_STRING", "text/plain"];

/// Hands the page files and pictures from the clipboard whenever the user pastes.
pub(crate) fn watch_pastes(web_view: &WebView, app: AppHandle) {
    web_view.connect_key_press_event(move |_, event| {
        if is_paste(event) {
            read_clipboard(app.clone());
        }
        // The web view pastes words.
        glib::Propagation::Proceed
    });
}

/// Returns true for Ctrl+V and Shift+Insert.
fn is_paste(event: &EventKey) -> bool {
    let (key, state) = (event.keyval(), event.state());
    let has = |modifier| state.contains(modifier);
    match key {
        keys::constants::v | keys::constants::V => {
            has(ModifierType::CONTROL_MASK) && !has(ModifierType::MOD1_MASK)
        }
        keys::constants::Insert | keys::constants::KP_Insert => has(ModifierType::SHIFT_MASK),
        _ => false,
    }
}

/// Reads the clipboard without waiting for its owner, and tells the page.
fn read_clipboard(app: AppHandle) {
    let clipboard = Clipboard::get(&gdk::SELECTION_CLIPBOARD);
    clipboard.request_contents(&gdk::Atom::intern("TARGETS"), move |clipboard, targets| {
        let offered: Vec<String> =
            targets.targets().unwrap_or_default().iter().map(|kind| kind.name().into()).collect();
        let offers = |kind: &str| offered.iter().any(|one| one == kind);
        let picture = PICTURES.into_iter().find(|kind| offers(kind));
        let picture = picture.filter(|_| !WORDS.iter().any(|words| offers(words)));
        if !offers(FILES) {
            take_picture(app, clipboard, picture);
            return;
        }
        clipboard.request_uris(move |clipboard, addresses| {
            let files = addresses.iter().map(|address| gio::File::for_uri(address));
            let paths: Vec<PathBuf> = files.filter_map(|file| file.path()).collect();
            // A picture of the web has an address, too.
            if paths.is_empty() {
                take_picture(app, clipboard, picture);
            } else {
                let read =
                    move || tell_page(&app, ShellEvent::Paste(AttachedFiles::read_paths(&paths)));
                // Not on this thread, which is that of the window, because the files may be on a
                // slow disk.
                spawn_blocking(read);
            }
        });
    });
}

/// Tells the page of a picture of this kind, if the clipboard has one.
fn take_picture(app: AppHandle, clipboard: &Clipboard, kind: Option<&'static str>) {
    let Some(kind) = kind else { return };
    clipboard.request_contents(&gdk::Atom::intern(kind), move |_, picture| {
        let name = format!("pasted.{}", kind.trim_start_matches("image/"));
        let attached = AttachedFiles::of_content(name, kind.to_owned(), &picture.data());
        tell_page(&app, ShellEvent::Paste(attached));
    });
}
