//! A real browser for tests: headless Chromium, driven through `chromedriver`, or the web view of a
//! program, driven through `WebKitWebDriver`.
//!
//! Clicks and keys go through the browser's own input handling, so a test does what a person does:
//! it cannot press what is covered or outside the window.

mod gestures;
mod webdriver;

use std::fmt;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{DEADLINE, Group, lines_in_background};
use crate::tools;
use crate::until::{until, until_or};
use webdriver::DriverSession;

/// The member of a `WebDriver` answer that holds the id of an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser with one window and a profile of its own. Dropping it ends all of its processes.
pub struct Browser {
    session: DriverSession,
    engine: BrowserEngine,
    _driver: Group,
}

/// What draws the page, and what has to be tidied up after it.
#[derive(Debug)]
enum BrowserEngine {
    Chromium {
        /// The process group, which is not that of the driver.
        group: Option<Pid>,
        _profile: TempDir,
    },
    /// The web view of a program.
    WebKit,
}

impl fmt::Debug for Browser {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Browser").field("engine", &self.engine).finish_non_exhaustive()
    }
}

impl Browser {
    /// Starts a browser with a window of this size, or returns `None` where none is installed.
    #[must_use]
    pub fn start(width: u32, height: u32) -> Option<Self> {
        let (driver, chromium) = tools::chromium()?;
        let profile = tempfile::tempdir().expect("a folder for the profile");
        // It takes a free port and then the same one of IPv6, and ends if that is taken.
        let (driver, port) = (0..DRIVER_STARTS)
            .find_map(|_| {
                let mut command = Command::new(&driver);
                // The browser keeps more under the home folder than its profile.
                command.arg("--port=0").env("HOME", profile.path());
                command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
                let mut driver = Group::spawn(command);
                let port = port_of(driver.take_stdout())?;
                Some((driver, port))
            })
            .expect("chromedriver names its port");
        let folder = profile.path().join("profile");
        let mut arguments = vec![
            "--headless".to_owned(),
            format!("--user-data-dir={}", folder.display()),
            format!("--window-size={width},{height}"),
        ];
        arguments.extend(QUIET.iter().map(|&flag| flag.to_owned()));
        if rustix::process::geteuid().is_root() {
            arguments.push("--no-sandbox".to_owned());
        }
        let (session, capabilities) = DriverSession::start(
            port,
            &json!({ "capabilities": { "alwaysMatch": {
                "goog:chromeOptions": { "binary": chromium, "args": arguments },
                "goog:loggingPrefs": { "browser": "ALL" },
                // A team's desk has an authority of its own.
                "acceptInsecureCerts": true,
            } } }),
        );
        let pid = capabilities["goog:processID"].as_i64().and_then(|pid| i32::try_from(pid).ok());
        let group = pid.and_then(Pid::from_raw);
        let engine = BrowserEngine::Chromium { group, _profile: profile };
        let browser = Self { session, engine, _driver: driver };
        browser.resize(width, height);
        Some(browser)
    }

    /// Starts a program that shows a page in a `WebKitGTK` web view, or returns `None` where no
    /// driver for it is installed. `prepare` sets the environment, which the program inherits from
    /// the driver.
    #[must_use]
    pub fn start_web_view(
        program: &Path,
        arguments: &[&str],
        prepare: impl FnOnce(&mut Command),
    ) -> Option<Self> {
        let mut command = Command::new(tools::webkit_driver()?);
        let port = free_port();
        command.arg(format!("--port={port}"));
        prepare(&mut command);
        command.stdin(Stdio::null());
        let driver = Group::spawn(command);
        let address = (Ipv4Addr::LOCALHOST, port);
        until("WebKitWebDriver listens", || TcpStream::connect(address).is_ok());
        let options = json!({ "binary": program, "args": arguments });
        let wanted = json!({ "webkitgtk:browserOptions": options });
        let (session, _) =
            DriverSession::start(port, &json!({ "capabilities": { "alwaysMatch": wanted } }));
        Some(Self { session, engine: BrowserEngine::WebKit, _driver: driver })
    }

    /// Loads a page and waits until it is loaded.
    pub fn open(&self, url: &str) {
        self.session.post("url", &json!({ "url": url }));
    }

    /// Loads the page again.
    pub fn reload(&self) {
        self.session.post("refresh", &json!({}));
    }

    /// Sets the size of what the page can use, as on a screen of that size.
    pub fn resize(&self, width: u32, height: u32) {
        if let BrowserEngine::WebKit = self.engine {
            self.session.post("window/rect", &json!({ "width": width, "height": height }));
            return;
        }
        self.cdp(
            "Emulation.setDeviceMetricsOverride",
            &json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false }),
        );
    }

    /// Sets whether the system prefers dark colours.
    pub fn prefer_dark(&self, dark: bool) {
        self.prefer("prefers-color-scheme", if dark { "dark" } else { "light" });
    }

    /// Sets what the system prefers, by the name of the media feature.
    pub fn prefer(&self, feature: &str, value: &str) {
        let features = json!([{ "name": feature, "value": value }]);
        self.cdp("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// Runs a script in every page that is opened from now on, before its own.
    pub fn run_before_pages(&self, script: &str) {
        self.cdp("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": script }));
    }

    /// Keeps downloads in a folder.
    pub fn download_to(&self, folder: &Path) {
        let parameters = json!({ "behavior": "allow", "downloadPath": folder });
        self.cdp("Browser.setDownloadBehavior", &parameters);
    }

    /// Runs a script in the page, as the body of a function of `arguments`, and returns its value.
    pub fn run(&self, script: &str, arguments: &Value) -> Value {
        self.session.post("execute/sync", &json!({ "script": script, "args": arguments }))
    }

    /// Runs a script whose last argument is a function to call with the result.
    pub fn run_async(&self, script: &str, arguments: &Value) -> Value {
        self.session.post("execute/async", &json!({ "script": script, "args": arguments }))
    }

    /// Waits until a script returns something other than `null`, `false` and the empty string.
    pub fn wait_for(&self, what: &str, script: &str) {
        self.until(what, || {
            let value = self.run(script, &json!([]));
            let is_there = !matches!(&value, Value::Null | Value::Bool(false))
                && value.as_str().is_none_or(|text| !text.is_empty());
            is_there.then_some(())
        });
    }

    /// Waits for an element and returns its text, as it is seen.
    pub fn text(&self, css: &str) -> String {
        self.with_element(css, |path| {
            self.session.try_get(&format!("{path}/text")).map(|text| string(&text))
        })
    }

    /// Waits until an element has this in its text.
    pub fn wait_for_text(&self, css: &str, text: &str) {
        let mut last = String::new();
        let end = Instant::now() + DEADLINE;
        while Instant::now() < end {
            if let Some(element) = self.find(css) {
                let path = format!("element/{element}/text");
                last = self.session.try_get(&path).map(|text| string(&text)).unwrap_or_default();
                if last.contains(text) {
                    return;
                }
            }
            thread::sleep(PAUSE);
        }
        panic!("{css} never had the text {text:?}; it has {last:?}\n{}", self.state());
    }

    /// Waits until no element matches.
    pub fn wait_until_gone(&self, css: &str) {
        self.until(&format!("nothing matches {css}"), || self.find(css).is_none().then_some(()));
    }

    /// Returns how many elements match now.
    pub fn count(&self, css: &str) -> usize {
        let elements =
            self.session.post("elements", &json!({ "using": "css selector", "value": css }));
        elements.as_array().map_or(0, Vec::len)
    }

    /// Waits for an element that can be clicked, and clicks it.
    pub fn click(&self, css: &str) {
        self.with_element(css, |path| {
            self.session.try_post(&format!("{path}/click"), &json!({})).map(drop)
        });
    }

    /// Waits for a field, empties it and types into it.
    pub fn fill(&self, css: &str, text: &str) {
        self.with_element(css, |path| {
            self.session.try_post(&format!("{path}/clear"), &json!({}))?;
            self.session.try_post(&format!("{path}/value"), &json!({ "text": text })).map(drop)
        });
    }

    /// Returns a picture of what is seen, as a PNG file in base64.
    pub fn picture(&self) -> String {
        string(&self.session.get("screenshot"))
    }

    /// Returns the errors and warnings that the page has written to the console since the last
    /// call. `WebKit` writes them to the program's output instead, and has none here.
    pub fn complaints(&self) -> Vec<String> {
        if let BrowserEngine::WebKit = self.engine {
            return Vec::new();
        }
        let log = self.session.post("se/log", &json!({ "type": "browser" }));
        let is_bad = |entry: &&Value| matches!(entry["level"].as_str(), Some("SEVERE" | "WARNING"));
        let entries = log.as_array().into_iter().flatten().filter(is_bad);
        entries.map(|entry| string(&entry["message"])).collect()
    }

    /// Sends a command of the `DevTools` protocol, and returns its result.
    #[allow(clippy::must_use_candidate, reason = "most commands are sent for what they do")]
    pub fn cdp(&self, command: &str, parameters: &Value) -> Value {
        self.session.post("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// Waits for an element and acts on it, again if the page draws it anew meanwhile.
    fn with_element<T>(&self, css: &str, act: impl Fn(&str) -> Result<T, String>) -> T {
        let end = Instant::now() + DEADLINE;
        let mut last = "it is not there".to_owned();
        while Instant::now() < end {
            if let Some(element) = self.find(css) {
                match act(&format!("element/{element}")) {
                    Ok(value) => return value,
                    Err(error) => last = error,
                }
            }
            thread::sleep(PAUSE);
        }
        panic!("cannot use {css}: {last}\n{}", self.state());
    }

    fn find(&self, css: &str) -> Option<String> {
        let asked = json!({ "using": "css selector", "value": css });
        let found = self.session.try_post("element", &asked).ok()?;
        found[ELEMENT].as_str().map(str::to_owned)
    }

    fn until<T>(&self, what: &str, look: impl FnMut() -> Option<T>) -> T {
        until_or(|| format!("{what}\n{}", self.state()), look)
    }

    /// Returns a description of the page for a failed test.
    fn state(&self) -> String {
        let script = "return location.href + '\\n' + document.body.innerText";
        let asked = json!({ "script": script, "args": [] });
        let text = self.session.try_post("execute/sync", &asked).unwrap_or_else(Value::from);
        format!(
            "--- page ---\n{}\n--- console ---\n{}",
            string(&text),
            self.complaints().join("\n")
        )
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.session.end();
        if let BrowserEngine::Chromium { group: Some(group), .. } = self.engine {
            // It has ended already, unless the driver could not end it.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// How often something is looked at again.
const PAUSE: Duration = Duration::from_millis(15);

/// Without these, Chromium would connect to hosts of its maker.
const QUIET: [&str; 9] = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    // Names of the documentation, as an attacker's name server would answer.
    "--host-resolver-rules=MAP *.example 127.0.0.1",
    "--no-first-run",
];

/// How often the driver is started until it has a port.
const DRIVER_STARTS: usize = 5;

/// Returns the port that the driver names when it is ready, or `None` if it ends before. Its later
/// words are read and dropped.
fn port_of(output: ChildStdout) -> Option<u16> {
    let lines = lines_in_background(output);
    let end = Instant::now() + DEADLINE;
    let port = loop {
        let left = end.saturating_duration_since(Instant::now());
        let line = lines.recv_timeout(left).ok()?;
        let line = String::from_utf8_lossy(&line).into_owned();
        let last = line.trim_end().trim_end_matches('.').rsplit(' ').next().unwrap_or_default();
        if let (true, Ok(port)) = (line.contains("started successfully"), last.parse()) {
            break port;
        }
    };
    thread::spawn(move || while lines.recv().is_ok() {});
    Some(port)
}

/// Returns a port that nothing listens on. The driver cannot choose one by itself.
fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listener.local_addr().expect("a bound socket has an address").port()
}

fn string(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
