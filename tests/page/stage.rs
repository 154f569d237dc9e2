//! A desk, and its page in a browser.

use std::fs;

use callgate_testkit::browser::Browser;
use callgate_testkit::page::{PageDesk, WaitingHook};
use callgate_testkit::process::{DEADLINE, run};
use serde_json::Value;

use crate::fixture::{Hook, Stage, bash, permission};

impl PageDesk for Stage {
    fn ask(&self, command: &str) -> Box<dyn WaitingHook> {
        Box::new(self.hook(&bash(command)))
    }

    fn ask_about(&self, tool: &str, input: &Value) -> Box<dyn WaitingHook> {
        Box::new(self.hook(&permission(tool, input)))
    }
}

impl WaitingHook for Hook {
    fn decision(self: Box<Self>) -> Value {
        (*self).decision()
    }
}

/// A desk without a phone, and its page, linked by the very first code; `None` where no browser is
/// installed.
pub(crate) fn desk_with_page() -> Option<(Stage, Browser)> {
    let browser = Browser::start(1280, 900)?;
    let stage = Stage::without_phone();
    browser.open(&link(&stage));
    wait_until_live(&browser);
    Some((stage, browser))
}

/// The same, with rules of the user.
pub(crate) fn desk_with_rules(rules: &str) -> Option<(Stage, Browser)> {
    let browser = Browser::start(1280, 900)?;
    let stage = Stage::without_phone_unstarted();
    fs::write(stage.path(".config/callgate/rules.toml"), rules).unwrap();
    stage.up();
    browser.open(&link(&stage));
    wait_until_live(&browser);
    Some((stage, browser))
}

/// The link with a one-time code that `callgate open` prints.
pub(crate) fn link(stage: &Stage) -> String {
    let opened = run(stage.callgate(&["open", "--no-browser"]), DEADLINE).success();
    let link = opened.stdout.split_whitespace().find(|word| word.starts_with("http://"));
    link.unwrap_or_else(|| panic!("no link: {}", opened.stdout)).to_owned()
}

/// Waits until the page is connected.
pub(crate) fn wait_until_live(page: &Browser) {
    page.wait_for("a live page", "return document.body.dataset.connection === 'live'");
}
