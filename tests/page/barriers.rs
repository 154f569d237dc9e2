//! Nothing keeps anybody from using the page: every view, in both themes, on screens of three
//! sizes.

use std::fs;

use callgate_testkit::browser::Browser;
use callgate_testkit::page::show;
use callgate_testkit::tools;
use serde_json::{Value, json};

use crate::fixture::bash;
use crate::stage::desk_with_page;

/// Runs axe and gives what it finds, in words. What is just coming into view has no colours yet.
const AXE: &str = "const done = arguments[arguments.length - 1];
    const isShort = (one) => one.effect.getComputedTiming().iterations !== Infinity;
    const still = () => Promise.allSettled(document.getAnimations().filter(isShort).map((one) => one.finished));
    still().then(() => axe.run(document, { resultTypes: ['violations'] })).then(found => done(found.violations
        .map(one => `${one.id}: ${one.nodes.map(node => node.target.join(' ')).join(', ')}`)));";

/// Fails if axe finds something in what the browser shows.
pub(crate) fn assert_open_to_all(browser: &Browser) {
    let Some(axe) = tools::axe() else { return };
    let _ = browser.run(&fs::read_to_string(axe).unwrap(), &json!([]));
    assert_eq!(browser.run_async(AXE, &json!([])), Value::Array(Vec::new()));
}

/// Returns the elements that reach beyond the window, unless they scroll sideways on purpose or their
/// text is cut off.
const BEYOND: &str = "const width = document.documentElement.clientWidth;
    const PARTS = '.scroll, .list-scroll, .card-scroll, .chat-scroll, .dialog-body, dialog';
    const isMeant = (node) => {
        const { overflowX, textOverflow } = getComputedStyle(node);
        const scrolls = ['auto', 'scroll'].includes(overflowX) && !node.matches(PARTS);
        return scrolls || textOverflow === 'ellipsis' || node.matches('.only-read');
    };
    const isKept = (node) => node && (isMeant(node) || isKept(node.parentElement));
    return [...document.body.querySelectorAll('*')].filter((node) => {
        const { left, right, width: own } = node.getBoundingClientRect();
        return own && (left < -1 || right > width + 1) && node.checkVisibility() && !isKept(node);
    }).slice(0, 5).map((node) => `${node.tagName} ${node.className}: ${node.textContent.trim().slice(0, 40)}`);";

/// Fails if a part of what the browser shows is beyond the right or the left of its window.
pub(crate) fn assert_fits(browser: &Browser, what: &str) {
    assert_eq!(browser.run(BEYOND, &json!([])), Value::Array(Vec::new()), "{what}");
}

#[test]
fn no_view_keeps_anybody_out() {
    let Some(axe) = tools::axe() else { return };
    let Some((desk, browser)) = desk_with_page() else { return };
    let hook = desk.hook(&bash("make all && rm -rf target | tee log"));
    show(&browser, "make all");
    // The files of the page, with the module that is loaded after it is drawn.
    let loaded = "return performance.getEntriesByType('resource')
        .map(({ name }) => new URL(name).pathname).filter((path) => !path.startsWith('/api/')).sort()";
    let files = [
        "/ui/app.js",
        "/ui/style.css",
        "/ui/style/dark.css",
        "/ui/vendor/markdown-it/markdown-it.js",
    ];
    browser.wait_for(
        "the last file",
        "return performance.getEntriesByType('resource')
        .some(({ name }) => name.includes('markdown-it'))",
    );
    assert_eq!(browser.run(loaded, &json!([])), json!(files));
    let _ = browser.run(&fs::read_to_string(axe).unwrap(), &json!([]));
    for (width, height) in [(1600, 1000), (900, 900), (360, 740), (320, 568)] {
        browser.resize(width, height);
        for is_dark in [false, true] {
            browser.prefer_dark(is_dark);
            for (view, place) in [
                ("inbox", "inbox"),
                ("chat", "chat"),
                ("history", "history"),
                ("rules", "rules"),
                ("rules", "rules/edit"),
                ("rules", "rules/suggestions"),
                ("sessions", "sessions"),
                ("settings", "settings"),
                ("status", "status"),
            ] {
                let _ = browser.run("location.hash = arguments[0]", &json!([format!("#/{place}")]));
                browser.wait_for(
                    view,
                    &format!("return document.querySelector('[data-view={view}]')"),
                );
                assert_fits(&browser, &format!("{place} {width}"));
                if width == 320 {
                    continue;
                }
                let found = browser.run_async(AXE, &json!([]));
                assert_eq!(found, Value::Array(Vec::new()), "{place} {width} dark: {is_dark}");
            }
        }
    }
    assert_eq!(browser.run(loaded, &json!([])), json!(files), "no view loads a file later");
    drop(hook);
}
