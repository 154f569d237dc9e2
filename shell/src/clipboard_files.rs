//! Files and pictures that the user pastes. The web view gives the page neither.
//!
//! They are read when the keys for pasting are pressed in the window, and at no other time: the
//! page cannot ask for what is in the clipboard.

use std::path::PathBuf;

use gtk::gdk::keys::{self, Key};
use gtk::gdk::{self, Display, EventKey, Keymap, ModifierType};
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
    let state = event.state();
    let key = shortcut_key(event.keyval(), || {
        let keymap = Display::default().and_then(|display| Keymap::for_display(&display));
        let entries = keymap.map(|map| map.entries_for_keycode(event.hardware_keycode().into()));
        entries.unwrap_or_default().into_iter().map(|(_, key)| key.into()).collect()
    });
    let has = |modifier| state.contains(modifier);
    match key {
        keys::constants::v | keys::constants::V => {
            has(ModifierType::CONTROL_MASK) && !has(ModifierType::MOD1_MASK)
        }
        keys::constants::Insert | keys::constants::KP_Insert => has(ModifierType::SHIFT_MASK),
        _ => false,
    }
}

/// Returns the key that counts in a shortcut. In a layout without Latin letters, such as a Cyrillic
/// one, it is the letter that the same key has in another layout of the user.
fn shortcut_key(key: Key, same_key: impl FnOnce() -> Vec<Key>) -> Key {
    let is_letter = |key: &Key, is_latin| {
        let letter = key.to_unicode().filter(|letter| letter.is_alphabetic());
        letter.is_some_and(|letter| letter.is_ascii() == is_latin)
    };
    // A Latin letter counts as it is: in a Dvorak layout it is on another key.
    let others = if is_letter(&key, false) { same_key() } else { Vec::new() };
    others.into_iter().find(|other| is_letter(other, true)).unwrap_or(key)
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

#[cfg(test)]
mod tests {
    use super::*;
    use keys::constants::{Cyrillic_em, Greek_omega, Insert, M, k, v};

    #[test]
    fn a_letter_of_another_script_counts_as_the_latin_one_of_its_key() {
        let counted = |key: Key, same_key: &[Key]| shortcut_key(key, || same_key.to_vec());
        assert_eq!(counted(Cyrillic_em, &[Cyrillic_em, v]), v);
        assert_eq!(counted(Greek_omega, &[v, Greek_omega]), v);
        assert_eq!(counted(Cyrillic_em, &[Cyrillic_em]), Cyrillic_em);
        assert_eq!(counted(k, &[v, k]), k, "another letter of the same script");
        assert_eq!(counted(M, &[v]), M);
        assert_eq!(counted(Insert, &[v]), Insert);
    }
}
