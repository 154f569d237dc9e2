//! The history in the page: filters, exports, rules from rows; and how the page draws attention.

use std::fs;
use std::path::{Path, PathBuf};

use callgate_testkit::browser::Browser;
use callgate_testkit::page::{self, show};
use callgate_testkit::page_barriers::assert_no_barriers;
use serde_json::{Value, json};

use crate::fixture::{Stage, bash};
use crate::stage::{desk_with_page, wait_until_live};

/// Answers a question about this command.
fn decide(desk: &Stage, browser: &Browser, command: &str, press: &str) {
    let hook = desk.hook(&bash(command));
    show(browser, command);
    browser.click(&format!("[data-press={press}]"));
    assert_eq!(hook.decision()["behavior"], press);
}

fn go(browser: &Browser, place: &str) {
    let _ = browser.run("location.hash = arguments[0]", &json!([place]));
}

/// Waits until the history shows these commands, and no others.
fn wait_for_rows(browser: &Browser, commands: &[&str]) {
    browser.wait_for(
        &format!("the rows {commands:?}"),
        &format!(
            "const rows = [...document.querySelectorAll('.history-row code')];
            return JSON.stringify(rows.map(row => row.innerText)) === {:?}",
            json!(commands).to_string()
        ),
    );
}

/// Chooses an option of a list, as a person does.
fn choose(browser: &Browser, css: &str, value: &str) {
    browser.wait_for(css, &format!("return document.querySelector({css:?})"));
    let _ = browser.run(
        "const list = document.querySelector(arguments[0]);
        list.value = arguments[1];
        list.dispatchEvent(new Event('change', { bubbles: true }));",
        &json!([css, value]),
    );
}

#[test]
fn the_history_is_searched_exported_and_made_into_rules() {
    let Some((desk, browser)) = desk_with_page() else { return };
    decide(&desk, &browser, "make build", "allow");
    decide(&desk, &browser, "make test", "allow");
    decide(&desk, &browser, "git push", "deny");
    filters_live_in_the_address(&browser);
    exports_are_downloaded(&desk, &browser);
    browser.click("[data-verify]");
    browser.wait_for_text("[data-verify=whole]", "unbroken");
    a_row_becomes_a_rule(&desk, &browser);
    an_open_question_becomes_a_rule(&desk, &browser);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn entries_that_came_while_another_view_was_shown_are_listed() {
    let Some((desk, browser)) = desk_with_page() else { return };
    go(&browser, "#/history");
    browser.wait_for_text("[data-view=history]", "No decisions yet");
    go(&browser, "#/inbox");
    decide(&desk, &browser, "make build", "allow");
    go(&browser, "#/history");
    wait_for_rows(&browser, &["make build"]);
    browser.click(".history-row");
    let facts = "return [...document.querySelectorAll('dialog dd')].map(fact => fact.innerText)";
    let facts = browser.run(facts, &json!([]));
    let is_known = |fact: &Value| !fact.as_str().unwrap().is_empty();
    assert!(facts.as_array().unwrap().iter().all(is_known), "a name without a fact: {facts}");
}

fn filters_live_in_the_address(browser: &Browser) {
    go(browser, "#/history");
    wait_for_rows(browser, &["git push", "make test", "make build"]);
    choose(browser, "[data-filter=decision]", "allow");
    wait_for_rows(browser, &["make test", "make build"]);
    browser.fill("#search", "make build");
    wait_for_rows(browser, &["make build"]);
    let place = browser.run("return location.hash", &json!([]));
    assert_eq!(place, "#/history?decision=allow&text=make+build");
    browser.reload();
    wait_until_live(browser);
    wait_for_rows(browser, &["make build"]);
    let set = "return [document.querySelector('[data-filter=decision]').value,
        document.querySelector('#search').value]";
    assert_eq!(browser.run(set, &json!([])), json!(["allow", "make build"]));
}

/// Waits for a download with this ending, and returns its text.
fn downloaded(desk: &Stage, folder: &Path, ending: &str) -> String {
    desk.until("the download", || {
        let files = fs::read_dir(folder).unwrap();
        let paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        let is_it = |path: &&PathBuf| path.extension().is_some_and(|found| found == ending);
        let text = fs::read_to_string(paths.iter().find(is_it)?).ok()?;
        text.ends_with('\n').then_some(text)
    })
}

/// What is exported is what is shown.
fn exports_are_downloaded(desk: &Stage, browser: &Browser) {
    let folder = desk.path("downloads");
    fs::create_dir(&folder).unwrap();
    browser.download_to(&folder);
    for format in ["jsonl", "csv"] {
        browser.click(".page-head [data-export]");
        browser.click(&format!("dialog [data-export={format}]"));
        browser.wait_until_gone("dialog");
    }
    let lines = downloaded(desk, &folder, "jsonl");
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 1, "{lines}");
    assert_eq!(
        (&rows[0]["summary"], &rows[0]["decision"]),
        (&json!("make build"), &json!("allow"))
    );
    let table = downloaded(desk, &folder, "csv");
    assert_eq!(table.lines().count(), 2, "{table}");
    assert!(table.lines().nth(1).unwrap().contains("make build"), "{table}");
    go(browser, "#/history");
    wait_for_rows(browser, &["git push", "make test", "make build"]);
}

/// A rule that is made from a row may end by itself, and the history says who saved it.
fn a_row_becomes_a_rule(desk: &Stage, browser: &Browser) {
    let _ = browser.run(
        "[...document.querySelectorAll('.history-row')]
            .find(row => row.innerText.includes('make test')).click()",
        &json!([]),
    );
    browser.click("[data-propose]");
    let has = |text: &str| {
        format!("return document.querySelector('[data-proposal]')?.value.includes({text:?})")
    };
    browser.wait_for("a rule", &has("make test"));
    choose(browser, "[data-seconds]", "3600");
    browser.wait_for("its end", &has("until = "));
    browser.click("dialog [data-review]");
    browser.click("[data-save][aria-disabled=false]");
    browser.wait_until_gone("dialog");
    let saved = fs::read_to_string(desk.path(".config/callgate/rules.toml")).unwrap();
    assert!(saved.contains("make test") && saved.contains("until = "), "{saved}");
    assert_eq!(desk.hook(&bash("make test")).decision()["behavior"], "allow");
    go(browser, "#/history?decision=saved");
    browser.wait_for_text(".history-row", "Saved 1 rule (hash ");
    browser.wait_for_text(".history-row", "Chrome on Linux");
    browser.click(".history-row");
    browser.wait_for_text("dialog", "Show the rules");
    browser.click("dialog .dialog-foot a");
    browser.wait_for_text("[data-rule]", "until");
}

fn an_open_question_becomes_a_rule(desk: &Stage, browser: &Browser) {
    go(browser, "#/inbox");
    let hook = desk.hook(&bash("npm test"));
    show(browser, "npm test");
    browser.click(".make-rule button");
    browser.wait_for(
        "a rule",
        "return document.querySelector('[data-proposal]')?.value.includes('npm test')",
    );
    browser.click("dialog [data-review]");
    browser.click("[data-save][aria-disabled=false]");
    browser.wait_until_gone("dialog");
    // The rule is for the next one; this question is still a person's.
    show(browser, "npm test");
    browser.click("[data-press=deny]");
    assert_eq!(hook.decision()["behavior"], "deny");
    assert_eq!(desk.hook(&bash("npm test")).decision()["behavior"], "allow");
}

/// Stands in for the notifications of the browser, and says that nobody looks at the page.
pub(crate) const NOTICED: &str = "window.noted = [];
    window.Notification = class {
        static permission = 'granted';
        constructor(title, options) { window.noted.push(title + '\\n' + options.body); }
        close() {}
    };
    document.hasFocus = () => false;";

#[test]
fn the_page_draws_attention_and_says_when_it_is_alone() {
    let Some((desk, browser)) = desk_with_page() else { return };
    browser.run_before_pages(NOTICED);
    browser.reload();
    wait_until_live(&browser);
    let hook = desk.hook(&bash("cat the-secret-plan"));
    show(&browser, "cat the-secret-plan");
    browser.wait_for("the title", "return document.title === '(1) callgate'");
    let icon = browser.run("return document.getElementById('favicon').href", &json!([]));
    assert!(icon.as_str().unwrap().contains("circle"), "{icon}");
    let noted = browser.run("return window.noted", &json!([]));
    assert_eq!(noted, json!(["Claude Code in engine\nWants an answer: run a command"]));
    browser.prefer("prefers-reduced-motion", "no-preference");
    assert_eq!(motion(&browser), json!(["0.8s", "turn"]));
    browser.prefer("prefers-reduced-motion", "reduce");
    assert_eq!(motion(&browser), json!(["0.001s", "none"]));
    // Without its desk the page says so, and what to do; nothing that is shown is lost.
    desk.kill();
    browser.wait_for_text(".banner", "Reconnecting");
    browser.wait_for_text(".banner.red", "callgate up");
    assert_no_barriers(&browser, "a page without its desk");
    assert!(browser.text(".card").contains("the-secret-plan"));
    desk.up();
    browser.click(".banner button");
    wait_until_live(&browser);
    browser.wait_until_gone(".banner");
    page::show(&browser, "cat the-secret-plan");
    browser.click("[data-press=allow]");
    assert_eq!(hook.decision()["behavior"], "allow");
    browser.wait_for("the title", "return document.title === 'callgate'");
}

/// Kimi Code reports a call that it ran, about which no hook has asked.
#[test]
fn a_call_that_ran_without_a_verdict_is_told() {
    let Some((desk, browser)) = desk_with_page() else { return };
    browser.run_before_pages(NOTICED);
    browser.reload();
    wait_until_live(&browser);
    let ran = json!({
        "hook_event_name": "PostToolUse", "session_id": "session_d9768051",
        "cwd": "/home/ada/engine", "client_type": "kimi_code_cli", "tool_name": "Bash",
        "tool_input": { "command": "cat the-secret-plan" }, "tool_call_id": "call_1",
    });
    desk.start(&["hook", "--agent", "kimi"], &ran.to_string()).end();
    browser.wait_for_text(".toast", "Kimi Code in engine: Ran a call without a verdict");
    assert!(!browser.text(".toast").contains("the-secret-plan"));
    let noted = browser.run("return window.noted", &json!([]));
    let expected = "Kimi Code in engine\nRan a call without a verdict: its hook did not ask.";
    assert_eq!(noted, json!([expected]));
    // A page that is loaded later does not tell it again.
    browser.reload();
    wait_until_live(&browser);
    let hook = desk.hook(&bash("make later"));
    show(&browser, "make later");
    assert_eq!(browser.count(".toast"), 0);
    browser.click("[data-press=allow]");
    assert_eq!(hook.decision()["behavior"], "allow");
}

/// How long a spinner takes to turn, and by which animation.
fn motion(browser: &Browser) -> Value {
    browser.run(
        "const spinner = document.createElement('span');
        spinner.className = 'spinner';
        document.body.append(spinner);
        const { animationDuration, animationName } = getComputedStyle(spinner);
        spinner.remove();
        return [animationDuration, animationName]",
        &json!([]),
    )
}
