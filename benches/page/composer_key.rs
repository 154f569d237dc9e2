//! A key that is typed in the composer of a long conversation: what it costs the page.

use callgate_testkit::browser::Browser;
use serde_json::json;

use crate::limits::LimitedFigure;
use crate::views::number;

/// How long the page may be busy with one key, in milliseconds.
const LONGEST_KEY: f64 = 20.0;
/// What is typed: several lines, so that the field grows.
const TEXT: &str = "Look at the ledger of yesterday and say which of its entries nobody has read, and why; \
then write a list of them, the oldest first, with the project and the agent of each.";

/// Types into the chat that the browser shows. Keys go through the browser's own input handling.
pub(crate) fn measure(browser: &Browser) -> LimitedFigure {
    browser.click("[data-message]");
    browser.cdp("Performance.enable", &json!({}));
    let before = busy_seconds(browser);
    for key in TEXT.chars() {
        browser.press_keys(key.encode_utf8(&mut [0; 4]));
    }
    browser.wait_for(
        "the text",
        &format!("return document.querySelector('[data-message]').value === {}", json!(TEXT)),
    );
    #[allow(clippy::cast_precision_loss, reason = "a short text")]
    let keys = TEXT.chars().count() as f64;
    let spent = (busy_seconds(browser) - before) * 1000.0 / keys;
    LimitedFigure::at_most(
        "a key typed in the composer, long conversation",
        spent,
        "ms",
        LONGEST_KEY,
    )
}

/// Returns for how long the main thread of the page has been busy: scripts, layout and drawing.
fn busy_seconds(browser: &Browser) -> f64 {
    let answer = browser.cdp("Performance.getMetrics", &json!({}));
    let metrics = answer["metrics"].as_array().expect("a list of metrics");
    let busy = metrics.iter().find(|one| one["name"] == "TaskDuration");
    number(&busy.expect("the time of all tasks")["value"])
}
