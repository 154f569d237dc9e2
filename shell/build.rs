//! Declares the commands that the page may be granted, and embeds the files of the page.

#[path = "../crates/web/page_bundle.rs"]
mod page_bundle;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use page_bundle::{Outcome, pack_page};

/// Every command of the shell. Each is granted by a permission of its own in
/// `capabilities/page.json`; a command that is not listed here could not be refused.
const COMMANDS: &[&str] = &[
    "shell_info",
    "desk_request",
    "desk_watch",
    "desk_unwatch",
    "desk_pair",
    "chat_start",
    "chat_send",
    "chat_watch",
    "chat_unwatch",
    "chat_restart",
    "settings_read",
    "settings_write",
    "settings_store_api_key",
    "folder_choose",
    "window_hide",
    "open_outside",
    "waiting_changed",
    "notify",
    "notify_answer",
    "notify_unchecked",
];

fn main() -> Outcome<()> {
    let manifest = tauri_build::AppManifest::new().commands(COMMANDS);
    tauri_build::try_build(tauri_build::Attributes::new().app_manifest(manifest))?;
    let ui = Path::new("../ui").canonicalize()?;
    for watched in ["../ui", "../crates/web/page_bundle.rs", "../crates/web/page_bundle"] {
        println!("cargo:rerun-if-changed={watched}");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    let mut table = String::from("&[\n");
    for (name, text) in pack_page(&ui)? {
        // The host of the page serves them under the same paths.
        let path = if name == "index.html" { "/index.html".into() } else { format!("/ui/{name}") };
        writeln!(table, "({path:?}, {text:?}),")?;
    }
    fs::write(out.join("page_files.rs"), table + "]\n")?;
    Ok(())
}
