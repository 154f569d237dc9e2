//! Opening links in the user's other programs.

use std::process::{Command, Stdio};
use std::thread;

use tauri::Url;

use crate::command_refusal::CommandRefusal;

/// What may be opened: pages and letters, but no files and no programs.
const SCHEMES: [&str; 3] = ["http", "https", "mailto"];
const LONGEST: usize = 8 * 1024;

/// Opens a link, and does not wait for the program that shows it.
pub(crate) fn open_link(url: &str) -> Result<(), CommandRefusal> {
    let url = parse_allowed_url(url)?;
    let mut opener = Command::new("xdg-open");
    opener.arg(url.as_str());
    opener.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let failed = |error| CommandRefusal::new(503, format!("`xdg-open` cannot be run: {error}"));
    let mut child = opener.spawn().map_err(failed)?;
    // It is waited for, so that it does not stay as a zombie.
    let waiting = thread::Builder::new().name("xdg-open".to_owned());
    waiting.spawn(move || child.wait().ok()).map(drop).map_err(failed)
}

/// Returns a link that may be opened. As a whole URL it cannot be taken for an option.
fn parse_allowed_url(url: &str) -> Result<Url, CommandRefusal> {
    let parsed = (url.len() <= LONGEST).then(|| Url::parse(url).ok()).flatten();
    parsed
        .filter(|url| SCHEMES.contains(&url.scheme()))
        .ok_or_else(|| CommandRefusal::forbidden("only links to pages and addresses are opened"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_letters_are_opened_and_nothing_else() {
        for url in ["https://example.com/a?b#c", "http://127.0.0.1:8080/", "mailto:ada@example.com"]
        {
            assert_eq!(parse_allowed_url(url).map(String::from), Ok(url.to_owned()));
        }
        for url in [
            "file:///etc/passwd",
            "javascript:alert(1)",
            "tauri://localhost/",
            "--help",
            "",
            "ssh://example.com",
            "vscode://file/x",
        ] {
            assert_eq!(parse_allowed_url(url).map_err(|refused| refused.status), Err(403), "{url}");
        }
    }
}
