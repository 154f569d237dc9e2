//! What keeps people from using a page, in a browser and in the window of the desktop shell.

use std::fs;

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::tools;

/// Runs axe and gives what it finds, in words. What is just coming into view has no colours yet.
const AXE: &str = "const done = arguments[arguments.length - 1];
    const isShort = (one) => one.effect.getComputedTiming().iterations !== Infinity;
    const still = () => Promise.allSettled(document.getAnimations().filter(isShort).map((one) => one.finished));
    still().then(() => axe.run(document, { resultTypes: ['violations'] })).then(found => done(found.violations
        .map(one => `${one.id}: ${one.nodes.map(node => node.target.join(' ')).join(', ')}`)));";

/// Returns what axe finds in what the browser shows, or nothing where it is not installed.
fn run_axe(page: &Browser) -> Value {
    let Some(axe) = tools::axe() else { return Value::Array(Vec::new()) };
    if page.run("return !window.axe", &json!([])) == true {
        let _ = page.run(&fs::read_to_string(axe).unwrap(), &json!([]));
    }
    page.run_async(AXE, &json!([]))
}

/// Fails if axe finds something in what the browser shows.
pub fn assert_open_to_all(page: &Browser) {
    assert_eq!(run_axe(page), Value::Array(Vec::new()));
}

/// Returns the elements that reach beyond the window, unless they scroll sideways on purpose or
/// their text is cut off, and the parts of the page that would have to be scrolled sideways to be
/// read.
const BEYOND: &str = "const width = document.documentElement.clientWidth;
    const PARTS = '.scroll, .list-scroll, .card-scroll, .chat-scroll, .dialog-body, dialog';
    const isMeant = (node) => {
        const { overflowX, textOverflow } = getComputedStyle(node);
        const scrolls = ['auto', 'scroll'].includes(overflowX) && !node.matches(PARTS);
        return scrolls || textOverflow === 'ellipsis' || node.matches('.only-read, .paint');
    };
    const isKept = (node) => node && (isMeant(node) || isKept(node.parentElement));
    return [...document.body.querySelectorAll('*')].filter((node) => {
        if (node.matches(PARTS) && node.scrollWidth > node.clientWidth + 1) return true;
        const { left, right, width: own } = node.getBoundingClientRect();
        return own && (left < -1 || right > width + 1) && node.checkVisibility() && !isKept(node);
    }).slice(0, 5).map((node) => `${node.tagName} ${node.className}: ${node.textContent.trim().slice(0, 40)}`);";

/// Fails if a part of what the browser shows is beyond the right or the left of its window.
pub fn assert_fits(page: &Browser, what: &str) {
    assert_eq!(page.run(BEYOND, &json!([])), Value::Array(Vec::new()), "{what}");
}

/// Fails if what the browser shows keeps somebody out: on a screen, and in the narrowest window in
/// dark colours.
pub fn assert_no_barriers(page: &Browser, what: &str) {
    for (width, height, is_dark) in [(1280, 800, false), (320, 640, true)] {
        page.resize(width, height);
        page.prefer_dark(is_dark);
        assert_fits(page, &format!("{what} at {width}"));
        assert_eq!(run_axe(page), Value::Array(Vec::new()), "{what} at {width}");
    }
    page.prefer_dark(false);
    page.resize(1280, 800);
}
