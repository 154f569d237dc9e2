//! Files that the page makes: they go to the user's folder for downloads, and the page shows where.

use std::fs;
use std::path::{Path, PathBuf};

use tauri::webview::DownloadEvent;
use tauri::{AppHandle, Manager};

use crate::shell_event::{ShellEvent, tell_page};

/// The folder in the user's home if they have chosen none.
const FOLDER: &str = "Downloads";

/// Returns true for a file that the page has made itself; nothing else is downloaded.
pub(crate) fn handle_download(app: &AppHandle, event: DownloadEvent<'_>) -> bool {
    match event {
        DownloadEvent::Requested { url, destination } if url.scheme() == "blob" => {
            // Where the user has chosen no folder, the web view would take the current one.
            if let Some(path) = download_folder(app).zip(destination.file_name()) {
                *destination = free_path(&path.0, Path::new(path.1));
            }
            true
        }
        DownloadEvent::Finished { url, path, success } if url.scheme() == "blob" => {
            let path = path.filter(|_| success).map(|path| path.to_string_lossy().into_owned());
            tell_page(app, ShellEvent::Saved { path });
            true
        }
        _ => false,
    }
}

/// Returns the folder for downloads, which exists then.
fn download_folder(app: &AppHandle) -> Option<PathBuf> {
    let in_home = || app.path().home_dir().map(|home| home.join(FOLDER));
    let folder = app.path().download_dir().or_else(|_| in_home()).ok()?;
    fs::create_dir_all(&folder).ok()?;
    Some(folder)
}

/// Returns a path in the folder that no file has.
fn free_path(folder: &Path, name: &Path) -> PathBuf {
    let [stem, ending] =
        [name.file_stem(), name.extension()].map(|part| part.unwrap_or_default().to_string_lossy());
    let dot = if ending.is_empty() { "" } else { "." };
    let numbered = |number: u32| folder.join(format!("{stem} ({number}){dot}{ending}"));
    let mut path = folder.join(name);
    let mut number = 0;
    while path.exists() {
        number += 1;
        path = numbered(number);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_takes_the_place_of_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let name = |name: &str| {
            let path = free_path(folder.path(), Path::new(name));
            fs::write(&path, "").unwrap();
            path.file_name().unwrap().to_str().unwrap().to_owned()
        };
        let names = [name("a.md"), name("a.md"), name("a.md"), name("a"), name("a")];
        assert_eq!(names, ["a.md", "a (1).md", "a (2).md", "a", "a (1)"]);
    }
}
