//! Rules in the page: what they would decide, what they would have decided, and which would help.

use std::fs;

use callgate_testkit::browser::Browser;
use callgate_testkit::page::{self, PageDesk, show};
use serde_json::json;

use crate::fixture::Stage;
use crate::stage::{desk_with_page, desk_with_rules};

const RULES: &str = "[[rule]]\nname = \"wipes\"\ndecide = \"confirm\"\ncommand = \"rm -rf\"\n";

/// Asks about a command and answers with this button.
fn decide(desk: &Stage, browser: &Browser, command: &str, press: &str) {
    let hook = desk.ask(command);
    show(browser, command);
    browser.click(&format!("[data-press={press}]"));
    let expected = if press == "allow" { "allow" } else { "deny" };
    assert_eq!(hook.decision()["behavior"], expected);
    browser.wait_for("it is over", "return !document.querySelector('.card [data-press=allow]')");
}

fn go(browser: &Browser, place: &str) {
    let _ = browser.run("location.hash = arguments[0]", &json!([place]));
}

#[test]
fn a_rule_is_tried_against_the_history_before_it_is_saved() {
    let Some((desk, browser)) = desk_with_page() else { return };
    for (command, press) in [
        ("make one", "allow"),
        ("make two", "allow"),
        ("make deploy", "deny"),
        ("make six", "allow"),
    ] {
        decide(&desk, &browser, command, press);
    }
    go(&browser, "#/rules/edit");
    browser.fill(
        "[data-rules]",
        "[[rule]]\nname = \"makes\"\ndecide = \"allw\"\ncommand = \"make *\"\n",
    );
    browser.wait_for("the mistake", "return document.querySelector('[data-line=\"3\"]')");
    browser.fill(
        "[data-rules]",
        "[[rule]]\nname = \"makes\"\ndecide = \"allow\"\ncommand = \"make *\"\n",
    );
    browser.wait_until_gone("[data-line=\"3\"].error, li.error[data-line]");
    browser.click("[data-review]");
    browser.wait_for_text("[data-let-through=\"1\"]", "make deploy");
    assert!(!desk.path(".config/callgate/rules.toml").exists(), "saved before anybody said so");
    browser.click("[data-save][aria-disabled=false]");
    // Until the answer is there, the rules may not be saved.
    browser.wait_until_gone("dialog");
    let hook = desk.ask("make seven");
    assert_eq!(hook.decision()["behavior"], "allow");
    let saved = fs::read_to_string(desk.path(".config/callgate/rules.toml")).unwrap();
    assert!(saved.contains("make *"), "{saved}");
    go(&browser, "#/rules");
    browser.fill("[data-explain]", "make eight && git push");
    browser.wait_for("the verdict", "return document.querySelector('[data-verdict]')");
}

#[test]
fn what_is_always_allowed_is_suggested_as_a_rule() {
    let Some((desk, browser)) = desk_with_page() else { return };
    for _ in 0..3 {
        decide(&desk, &browser, "make check", "allow");
    }
    decide(&desk, &browser, "make publish", "deny");
    go(&browser, "#/rules/suggestions");
    browser.wait_for_text("[data-suggestion]", "make check");
    assert!(!browser.text("[data-view=rules]").contains("make publish"));
    browser.click("[data-suggestion] [data-add]");
    browser.click("[data-save][aria-disabled=false]");
    // Until the answer is there, the rules may not be saved.
    browser.wait_until_gone("dialog");
    let hook = desk.ask("make check");
    assert_eq!(hook.decision()["behavior"], "allow");
}

#[test]
fn what_needs_a_second_step_and_what_is_alike() {
    let Some((stage, browser)) = desk_with_rules(RULES) else { return };
    page::a_typed_word_confirms(&stage, &browser);
    page::alike_questions_are_answered_together(&stage, &browser);
    stage.assert_chain();
}
