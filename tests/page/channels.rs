//! Two pages and the phone at once: whoever is first decides, and all see it.

use callgate_testkit::browser::Browser;
use callgate_testkit::page;
use serde_json::json;

use crate::fixture::{Stage, bash};
use crate::stage::{link, wait_until_live};

/// A page that Ada's phone has allowed.
fn page_of(stage: &Stage) -> Option<Browser> {
    let browser = Browser::start(1000, 800)?;
    let link = std::thread::scope(|scope| {
        let asked = scope.spawn(|| link(stage));
        stage.press(&stage.question("asks for a code"), "Allow");
        asked.join().unwrap()
    });
    browser.open(&link);
    wait_until_live(&browser);
    Some(browser)
}

#[test]
fn whoever_is_first_decides_and_all_see_it() {
    let stage = Stage::new();
    let Some(one) = page_of(&stage) else { return };
    let Some(two) = page_of(&stage) else { return };
    let hook = stage.hook(&bash("make by-phone"));
    page::show(&one, "make by-phone");
    page::show(&two, "make by-phone");
    stage.press(&stage.question("make by-phone"), "Deny");
    assert_eq!(hook.decision()["behavior"], "deny");
    one.wait_for_text(".card[data-question]", "Ada");
    two.wait_for_text(".card[data-question]", "Ada");
    let hook = stage.hook(&bash("make by-page"));
    let question = stage.question("make by-page");
    page::show(&one, "make by-page");
    page::show(&two, "make by-page");
    one.click("[data-press=allow]");
    assert_eq!(hook.decision(), json!({ "behavior": "allow" }));
    stage.shows(&question, "Allowed by");
    two.wait_for_text(".card[data-question]", "llowed");
}
