//! Starts the user's browser.

use std::env;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;

use callgate_web::PageAddress;

/// Returns true if there is a screen on which a browser can appear.
pub(crate) fn has_display() -> bool {
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

/// Opens the page in the user's browser, without a code: everybody on the machine can read a
/// command line. Does not wait for the browser.
pub(crate) fn open_page(address: PageAddress) -> io::Result<()> {
    let mut opener = Command::new("xdg-open");
    opener.arg(address.to_string());
    opener.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C in our terminal is not for the browser.
    let mut child = opener.process_group(0).spawn()?;
    // It is waited for, so that it does not stay as a zombie; how it ends is for the browser to
    // say.
    thread::Builder::new().name("browser".to_owned()).spawn(move || child.wait().ok()).map(drop)
}
