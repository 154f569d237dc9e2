//! Declares the commands that the page may be granted, and embeds the files of the page.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

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

/// The endings of the files that the page loads.
const ENDINGS: [&str; 5] = ["html", "js", "css", "svg", "png"];

fn main() -> Result<(), Box<dyn Error>> {
    let manifest = tauri_build::AppManifest::new().commands(COMMANDS);
    tauri_build::try_build(tauri_build::Attributes::new().app_manifest(manifest))?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    fs::write(out.join("page_files.rs"), page_files(Path::new("../ui"))?)?;
    Ok(())
}

/// Returns the table of the page's files as Rust code: the path at which the page asks for each,
/// and its content.
fn page_files(ui: &Path) -> Result<String, Box<dyn Error>> {
    let ui = ui.canonicalize()?;
    let mut files = Vec::new();
    collect_page_files(&ui, &mut files)?;
    files.sort();
    let mut table = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(&ui)?.to_str().ok_or("a file name is not UTF-8")?;
        // The host of the page serves them under the same paths.
        let path = if name == "index.html" { "/index.html".into() } else { format!("/ui/{name}") };
        let file = file.to_str().ok_or("the path of the repository is not UTF-8")?;
        writeln!(table, "({path:?}, include_bytes!({file:?})),")?;
    }
    Ok(table + "]\n")
}

/// Adds the files below a folder that the page loads. Tests and types are for those who change it.
fn collect_page_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() && name != "tests" && name != "types" && name != "node_modules" {
            collect_page_files(&path, files)?;
        } else if path.extension().is_some_and(|ending| ENDINGS.iter().any(|one| ending == *one)) {
            files.push(path);
        }
    }
    Ok(())
}
