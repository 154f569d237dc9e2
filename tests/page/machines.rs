//! Questions and decisions of several machines in the page.

use callgate_store::{EntryDraft, Store, now_ms};
use callgate_testkit::browser::Browser;
use callgate_testkit::page_barriers::assert_no_barriers;
use serde_json::{Value, json};

use crate::fixture::{Stage, bash};
use crate::stage::{link, wait_until_live};

/// A desk that other machines have asked before it was started again: their questions are open, and
/// one was answered.
fn desk_of_machines() -> Option<(Stage, Browser)> {
    let browser = Browser::start(1280, 900)?;
    let stage = Stage::without_phone_unstarted();
    stage.home.make_private_folder(".local/share/callgate");
    let now = now_ms();
    let invited = |machine: &str| {
        let secret = "0".repeat(64);
        let body = json!({
            "name": machine, "member": "machine", "secret": secret, "until_ms": now, "by": "bo",
        });
        EntryDraft { at_ms: now, kind: "invited".into(), question: None, body: body.to_string() }
    };
    let entry = |kind: &str, number: u64, body: &Value| EntryDraft {
        at_ms: now,
        kind: kind.to_owned(),
        question: Some(format!("00000000-0000-4000-8000-{number:012}")),
        body: body.to_string(),
    };
    let asked = |number: u64, machine: &str, command: &str| {
        let request = json!({
            "request_id": format!("00000000-0000-4000-8000-{number:012}"),
            "tool_name": "Bash", "tool_input": { "command": command }, "cwd": "/home/bo/engine",
            "session_id": machine, "agent": "claude-code",
            "machine": { "name": machine, "user": "bo", "home": "/home/bo" },
        });
        let body = json!({
            "tool": "Bash", "summary": command, "cwd": "/home/bo/engine", "session": machine,
            "agent": "claude-code", "ruling": "ask", "machine": machine,
            "until_ms": now + 600_000, "digest": "0".repeat(64), "request": request,
        });
        entry("asked", number, &body)
    };
    let entries = [
        invited("build-7"),
        invited("build-8"),
        asked(1, "build-7", "make over"),
        entry("decided", 1, &json!({ "decision": "allow", "by": "Ada" })),
        entry("closed", 1, &json!({ "how": "answered", "text": "Allowed by Ada" })),
        asked(2, "build-7", "make seven"),
        asked(3, "build-8", "make eight"),
    ];
    let database = stage.path(".local/share/callgate/callgate.db");
    Store::open(&database).unwrap().append_entries(&entries).unwrap();
    stage.up();
    browser.open(&link(&stage));
    wait_until_live(&browser);
    Some((stage, browser))
}

fn choose(browser: &Browser, css: &str, value: &str) {
    browser.wait_for(css, &format!("return document.querySelector({css:?})"));
    let _ = browser.run(
        "const list = document.querySelector(arguments[0]);
        list.value = arguments[1];
        list.dispatchEvent(new Event('change', { bubbles: true }));",
        &json!([css, value]),
    );
}

fn wait_for_questions(browser: &Browser, commands: &[&str]) {
    browser.wait_for(
        &format!("the questions {commands:?}"),
        &format!(
            "const rows = [...document.querySelectorAll('.question-row .what')];
            return JSON.stringify(rows.map(row => row.innerText).sort()) === {:?}",
            json!(commands).to_string()
        ),
    );
}

#[test]
fn questions_and_decisions_are_chosen_by_machine() {
    let Some((desk, browser)) = desk_of_machines() else { return };
    let hook = desk.hook(&bash("make here"));
    wait_for_questions(&browser, &["make eight", "make here", "make seven"]);
    browser.wait_for_text(".list-scroll", "Claude Code in engine on build-8");
    choose(&browser, "[data-machine]", "build-7");
    wait_for_questions(&browser, &["make seven"]);
    browser.wait_for_text(".card[data-question]", "make seven");
    assert_eq!(browser.count(".card .make-rule"), 0, "its rules are on its machine");
    // An answer that its machine does not have yet is said to be kept.
    callgate_testkit::page::show(&browser, "make seven");
    assert_no_barriers(&browser, "the questions of one machine");
    browser.click("[data-press=allow]");
    browser.wait_for_text(".answer-bar", "when it is back");
    choose(&browser, "[data-machine]", ".");
    wait_for_questions(&browser, &["make here"]);
    callgate_testkit::page::show(&browser, "make here");
    assert_eq!(browser.count(".card .make-rule"), 1);
    browser.click("[data-press=deny]");
    assert_eq!(hook.decision()["behavior"], "deny");
    browser.wait_for_text(".list-scroll", "This machine has no open questions.");
    browser.click(".list-scroll .end-note button");
    browser.wait_for_text(".list-scroll", "make eight");

    let _ = browser.run("location.hash = '#/history'", &json!([]));
    choose(&browser, "[data-filter=machine]", "build-7");
    browser.wait_for_text(".history-list", "make over");
    assert_eq!(browser.run("return location.hash", &json!([])), "#/history?machine=build-7");
    let rows = "const rows = [...document.querySelectorAll('.history-row')];
        return rows.length > 0 && rows.every(row => row.innerText.includes('on build-7'))";
    browser.wait_for("only rows of that machine", rows);
    assert_no_barriers(&browser, "the history of one machine");
    browser.click(".history-row");
    browser.wait_for_text("dialog", "The rules for this call are on build-7.");
    assert_eq!(browser.count("dialog [data-propose]"), 0);
    let _ = browser.run("location.hash = '#/history?machine=.'", &json!([]));
    browser.wait_for_text(".history-list", "make here");
    assert_eq!(browser.count(".history-row"), 1);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
