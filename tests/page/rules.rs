//! Rules in the page: what they would decide, what they would have decided, and which would help.

use std::fs;

use callgate_testkit::browser::Browser;
use callgate_testkit::page::{self, PageDesk, show};
use serde_json::json;

use crate::fixture::Stage;
use crate::stage::{desk_with_page, desk_with_rules};
use callgate_testkit::page_barriers::assert_open_to_all;

const ESCAPE: &str = "\u{e00c}";
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
fn the_recommended_set_is_saved_at_a_button() {
    let Some((desk, browser)) = desk_with_page() else { return };
    go(&browser, "#/rules");
    browser.click("[data-recommended]");
    browser.click("[data-save][aria-disabled=false]");
    browser.wait_until_gone("dialog");
    browser.wait_for_text("[data-view=rules]", "env files");
    let read = json!({ "file_path": desk.path("work/.env") });
    let hook = desk.hook(&crate::fixture::permission("Read", &read));
    assert_eq!(hook.decision()["behavior"], "deny");
    assert_eq!(browser.complaints(), Vec::<String>::new());
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
    // The recommended set, too, is only saved after a look at what it would change.
    go(&browser, "#/rules");
    browser.click("[data-recommended]");
    browser.wait_for("a review", "return document.querySelector('dialog [data-save]')");
    browser.press_keys(ESCAPE);
    browser.wait_until_gone("dialog");
    assert!(!desk.path(".config/callgate/rules.toml").exists(), "nobody has saved it");
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
fn what_needs_a_confirmation_and_what_is_alike() {
    let Some((stage, browser)) = desk_with_rules(RULES) else { return };
    page::a_typed_word_confirms(&stage, &browser);
    page::alike_questions_are_answered_together(&stage, &browser);
    harmless_settings_are_set_in_the_page(&stage, &browser);
    stage.assert_chain();
}

/// A setting that names nothing outside is written to the settings file; the others are shown with
/// the command that sets them.
fn harmless_settings_are_set_in_the_page(desk: &Stage, browser: &Browser) {
    go(browser, "#/settings");
    browser.wait_for(
        "the settings",
        "const parts = document.querySelectorAll('.setting-part');
        parts.forEach((part) => { part.open = true; });
        return parts.length > 0",
    );
    let set = "const field = document.getElementById('setting-timeout_seconds');
        field.value = arguments[0];
        field.dispatchEvent(new Event('change'));";
    let _ = browser.run(set, &json!(["0"]));
    browser.wait_for_text("[data-setting=timeout_seconds] .note", "timeout_seconds");
    let _ = browser.run(set, &json!(["77"]));
    browser.wait_for_text("[data-setting=timeout_seconds] .is-saved", "Saved");
    let file = fs::read_to_string(desk.path(".config/callgate/config.toml")).unwrap();
    assert!(file.contains("timeout_seconds = 77"), "{file}");
    let model = "const field = document.getElementById('setting-agent.model');";
    let odd = r#"a"b'c\d <b>"#;
    let write =
        format!("{model} field.value = arguments[0]; field.dispatchEvent(new Event('change'));");
    let _ = browser.run(&write, &json!([odd]));
    browser.wait_for_text("[data-setting='agent.model'] .is-saved", "Saved");
    assert_eq!(browser.run(&format!("{model} return field.value"), &json!([])), odd);
    let _ = browser.run(&write, &json!(["\t"]));
    browser.wait_for_text("[data-setting='agent.model'] .note", "must be the name of a model");
    // What is said of a setting is text, and its command can be read in a narrow window.
    assert_eq!(browser.text("[data-setting='gate.agents'] > .small code"), "gate.when_absent");
    assert!(!browser.text("[data-part=Questions]").contains("team.listen"));
    let socket = "[data-setting=desk_socket]";
    assert_eq!(browser.count(&format!("{socket} input, {socket} select")), 0);
    assert!(browser.text(socket).contains("callgate config set desk_socket"));
    // A secret is sent, and never shown.
    let secret = "const field = document.getElementById('setting-agent.api_key_keyring');
        return [field.type, field.value, field.autocomplete]";
    assert_eq!(browser.run(secret, &json!([])), json!(["password", "", "off"]));
    assert_open_to_all(browser);
}
