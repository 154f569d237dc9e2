//! A desktop for one test: a display without a screen, a window manager, and a session bus.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use callgate_testkit::process::{DEADLINE, Group, run};
use callgate_testkit::tools;
use tempfile::TempDir;

/// A desktop with a home folder. Dropping it ends all of its processes.
pub(crate) struct TestDesktop {
    pub(crate) home: TempDir,
    pub(crate) display: String,
    pub(crate) bus: String,
    _manager: Group,
    _bus: Group,
    _xvfb: Group,
}

impl TestDesktop {
    /// Starts a desktop, or returns `None` where a part of it is not installed.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with_screen("1280x900x24")
    }

    /// Starts a desktop with a screen of this width, height and depth.
    pub(crate) fn start_with_screen(screen: &str) -> Option<Self> {
        let (xvfb, openbox) = (tools::xvfb()?, tools::openbox()?);
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new(xvfb);
        command.args(["-displayfd", "1", "-screen", "0", screen, "-nolisten", "tcp", "-noreset"]);
        let (display, xvfb) = first_line(command, home.path());
        let mut command = Command::new("dbus-daemon");
        command.args(["--session", "--nofork", "--print-address=1"]);
        let (bus, dbus) = first_line(command, home.path());
        let display = format!(":{display}");
        let mut command = Command::new(openbox);
        command.args(["--sm-disable"]).env("DISPLAY", &display).env("HOME", home.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let manager = Group::spawn(command);
        for folder in ["run", "work", ".config/callgate"] {
            fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs::set_permissions(home.path().join("run"), private).unwrap();
        let desktop = Self { home, display, bus, _manager: manager, _bus: dbus, _xvfb: xvfb };
        desktop.until("a window manager", || {
            desktop.xdotool(&["get_num_desktops"]).is_some().then_some(())
        });
        Some(desktop)
    }

    /// Returns the environment of programs on this desktop, and nothing of the tester's.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let home = self.home.path().to_str().unwrap();
        let pairs = [
            ("PATH", std::env::var("PATH").unwrap()),
            ("HOME", home.to_owned()),
            ("DISPLAY", self.display.clone()),
            ("DBUS_SESSION_BUS_ADDRESS", self.bus.clone()),
            ("XDG_RUNTIME_DIR", format!("{home}/run")),
            ("LANG", "C.UTF-8".to_owned()),
            // There is no accessibility bus here to look for.
            ("NO_AT_BRIDGE", "1".to_owned()),
            ("GIO_USE_VFS", "local".to_owned()),
            // A display without a screen has no graphics card.
            ("LIBGL_ALWAYS_SOFTWARE", "1".to_owned()),
            ("WEBKIT_DISABLE_DMABUF_RENDERER", "1".to_owned()),
            ("TAURI_WEBVIEW_AUTOMATION", "true".to_owned()),
        ];
        pairs.map(|(name, value)| (name.to_owned(), value)).to_vec()
    }

    /// Runs `xdotool`, which does what hands do. Returns what it prints, or `None` if it fails.
    pub(crate) fn xdotool(&self, arguments: &[&str]) -> Option<String> {
        let mut command = Command::new("xdotool");
        command.args(arguments).env("DISPLAY", &self.display);
        let output = run(command, DEADLINE);
        output.status.success().then(|| output.stdout.trim().to_owned())
    }

    /// Returns the shell's windows that are seen, as numbers of X11.
    pub(crate) fn windows(&self) -> Vec<String> {
        let found = self.xdotool(&["search", "--onlyvisible", "--name", "^callgate"]);
        found.unwrap_or_default().lines().map(str::to_owned).collect()
    }

    pub(crate) fn wait_for_window(&self) -> String {
        self.until("the window is seen", || self.windows().pop())
    }

    pub(crate) fn wait_for_no_window(&self) {
        self.until("the window is hidden", || self.windows().is_empty().then_some(()));
    }

    pub(crate) fn until<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let end = Instant::now() + DEADLINE;
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(Instant::now() < end, "never came: {what}\n{}", self.log());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns what the shell has written to its standard error.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.home.path().join("shell.log")).unwrap_or_default()
    }
}

/// Starts a program and returns the first line that it prints.
fn first_line(mut command: Command, home: &Path) -> (String, Group) {
    command.env("HOME", home).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut group = Group::spawn(command);
    let mut output = BufReader::new(group.take_stdout());
    let mut line = String::new();
    #[allow(clippy::disallowed_methods, reason = "a program that we know prints a short line")]
    output.read_line(&mut line).unwrap();
    // The rest is read and dropped, so that it never waits for a reader.
    thread::spawn(move || output.read_to_end(&mut Vec::new()));
    (line.trim().to_owned(), group)
}
