//! A desk whose page is open in browsers.

use std::time::Duration;

use callgate_testkit::browser::Browser;
use callgate_testkit::page;
use callgate_testkit::process::{DEADLINE, run};
use callgate_testkit::tools;

use crate::home::{Daemon, Home};
use crate::kernel;
use crate::past_questions;

/// The time between two questions of the past.
const PAUSE: Duration = Duration::from_mins(10);
/// How long a page that has just been opened is left alone.
pub(crate) const SETTLED: Duration = Duration::from_secs(1);

/// The rules of a home, and those that are tried on its ledger.
pub(crate) const STARTER: &str = include_str!("../../crates/rules/src/starter.toml");

/// A home with a running daemon, which serves the page.
pub(crate) struct PageHome {
    pub(crate) home: Home,
    daemon: Daemon,
}

impl PageHome {
    /// A home with an empty ledger, in which a rule allows the hook's question.
    pub(crate) fn new() -> Self {
        let home = Home::new();
        let daemon = home.daemon();
        Self { home, daemon }
    }

    /// A home with the starter rules, and with a ledger of this many entries.
    pub(crate) fn with_ledger(entries: u64) -> Self {
        let home = Home::with_rules(Some(STARTER));
        past_questions::write(&home.ledger(), entries, PAUSE);
        let daemon = home.daemon();
        Self { home, daemon }
    }

    /// A home with an empty ledger, whose runtimes ask the model at this address.
    pub(crate) fn with_model(url: &str) -> Self {
        let home = Home::new();
        let daemon =
            home.daemon_with(&[("ANTHROPIC_API_KEY", "sk-test"), ("ANTHROPIC_BASE_URL", url)]);
        Self { home, daemon }
    }

    /// Returns the memory of the daemon in megabytes.
    pub(crate) fn memory(&self) -> f64 {
        kernel::memory(self.daemon.pid(), "VmRSS:")
    }

    /// Opens the page in a browser, the first of this home.
    pub(crate) fn pair(&self, browser: &Browser) {
        browser.open(&self.link());
        wait_until_live(browser);
    }

    /// Opens the page in another browser. It has to be allowed in the first.
    pub(crate) fn pair_another(&self, first: &Browser, other: &Browser) {
        let link = std::thread::scope(|scope| {
            let asked = scope.spawn(|| self.link());
            page::show(first, "asks for a code");
            first.click("[data-press=allow]");
            asked.join().unwrap()
        });
        other.open(&link);
        wait_until_live(other);
    }

    fn link(&self) -> String {
        let opened = run(self.home.callgate(&["open", "--no-browser"]), DEADLINE).success();
        let link = opened.stdout.split_whitespace().find(|word| word.starts_with("http://"));
        link.unwrap_or_else(|| panic!("no link: {}", opened.stdout)).to_owned()
    }
}

/// Returns true if a browser is installed.
pub(crate) fn has_browser() -> bool {
    tools::chromium().is_some()
}

/// Starts a browser that no home knows, with a window in which many rows are visible.
pub(crate) fn browser() -> Browser {
    Browser::start(1280, 2000).expect("a browser is installed")
}

/// Waits until the page is connected.
pub(crate) fn wait_until_live(browser: &Browser) {
    browser.wait_for("a live page", "return document.body.dataset.connection === 'live'");
}
