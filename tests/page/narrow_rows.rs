//! Lines of rows that are wider than their rows: what is at their ends is seen.

use callgate_testkit::browser::Browser;
use callgate_testkit::page;
use serde_json::json;

use crate::stage::desk_with_page;

/// The name of a file is seen in every row, however narrow: folders are cut instead.
#[test]
fn file_names_are_seen_in_narrow_rows() {
    let Some((desk, browser)) = desk_with_page() else { return };
    let path = "/home/ada/engine/crates/approval/src/desk/waiting/questions/open_questions.rs";
    let edit = json!({ "file_path": path, "old_string": "a", "new_string": "b" });
    let hook = desk.hook(&crate::fixture::permission("Edit", &edit));
    browser.resize(390, 844);
    let row = ".question-row .what";
    browser.wait_for_text(row, "open_questions.rs");
    assert_end_is_seen(&browser, row, "/open_questions.rs");
    browser.resize(320, 640);
    assert_end_is_seen(&browser, row, "/open_questions.rs");
    browser.resize(1280, 900);
    page::show(&browser, "open_questions.rs");
    assert_end_is_seen(&browser, row, "/open_questions.rs");
    browser.click("[data-press=deny]");
    assert_eq!(hook.decision()["behavior"], "deny");
    browser.resize(390, 844);
    let _ = browser.run("location.hash = '#/history'", &json!([]));
    let row = ".history-row code";
    browser.wait_for_text(row, "open_questions.rs");
    assert_end_is_seen(&browser, row, "/open_questions.rs");
}

/// The end of a line that is cut is whole, and lies inside of its row.
pub(crate) fn assert_end_is_seen(browser: &Browser, row: &str, end: &str) {
    browser.wait_for(
        &format!("{end} in {row}"),
        &format!(
            "const [row] = [...document.querySelectorAll({row:?})].filter(row => row.checkVisibility());
            const name = row?.lastElementChild;
            if (name?.innerText !== {end:?}) return false;
            const [outer, inner] = [row, name].map(one => one.getBoundingClientRect());
            return inner.width > 0 && inner.left >= outer.left && inner.right <= outer.right + 0.5
                && name.scrollWidth <= name.clientWidth + 1 && outer.right <= innerWidth"
        ),
    );
}
