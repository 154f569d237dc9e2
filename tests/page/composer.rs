//! The chat as an assistant: what is typed is a message, and answers a question only where the
//! question has the focus; and there is room for it in narrow windows.

use callgate_testkit::browser::Browser;
use serde_json::{Value, json};

use crate::desktop::{
    ESCAPE, answers, calls, go, sent, shell, tell, wait_for_card, wait_until_ready,
};
use callgate_testkit::page_barriers::assert_fits;

/// Keys as `WebDriver` names them.
pub(crate) const ARROW_UP: &str = "\u{e013}";
pub(crate) const BACKSPACE: &str = "\u{e003}";
pub(crate) const ENTER: &str = "\u{e007}";

pub(crate) fn assert_focused(browser: &Browser, css: &str) {
    browser.wait_for(
        &format!("the focus in {css}"),
        &format!("return document.activeElement.closest({})", json!(css)),
    );
}

pub(crate) fn message(browser: &Browser) -> Value {
    browser.run("return document.querySelector('[data-message]').value", &json!([]))
}

#[test]
fn typing_goes_to_the_composer_and_answers_no_question() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    assert_focused(&browser, "[data-message]");
    // The runtime asks something while the first key is down.
    let _ = browser.run(
        "const line = { id: 'page', kind: 'user_message', message: 'run it', metadata: { conversationId: 'c1' } };
        const ask = () => __TAURI__.core.invoke('chat_send', { line: JSON.stringify(line) });
        document.addEventListener('keydown', ask, { once: true })",
        &json!([]),
    );
    browser.press_keys("add");
    wait_for_card(&browser, "make test");
    // The question is not new any more, and has not taken the focus either.
    browser.press_keys("add");
    assert_focused(&browser, "[data-message]");
    assert_eq!(message(&browser), "addadd");
    // Without the focus anywhere, letters and digits lead back to the message.
    browser.click(".chat-pane .who");
    browser.wait_for("no focus", "return document.activeElement === document.body");
    browser.press_keys("gh1");
    assert_eq!(message(&browser), "addaddgh1");
    assert_eq!(browser.run("return location.hash", &json!([])), "#/chat");
    assert_eq!(browser.count("[data-words], dialog"), 0);
    assert_eq!(answers(&browser), Vec::<Value>::new());
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_focused_question_is_answered_by_keys_but_not_while_it_is_new() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    // For a page whose clock is ahead, every key was pressed as soon as the question was there.
    let _ = browser.run(
        "const now = performance.now.bind(performance);
        performance.now = () => now() + 3_600_000",
        &json!([]),
    );
    browser.press_keys(&format!("run it{ENTER}"));
    browser.wait_for_text(".chat-question .card", "make test");
    browser.click("#card-title");
    assert_focused(&browser, ".chat-question");
    browser.press_keys("adre1");
    browser.wait_for_text(".toast", "This question has just appeared.");
    assert_eq!(browser.count("[data-words], dialog"), 0);
    assert_eq!(answers(&browser), Vec::<Value>::new());
    let _ = browser.run("delete performance.now", &json!([]));
    let asked = browser.run("return document.querySelector('.card').dataset.question", &json!([]));
    tell(&browser, &json!({ "kind": "deny_question", "id": asked }));
    browser.wait_until_gone(".chat-question");

    // Two questions: the second does not inherit the focus of the first.
    for _ in 0..2 {
        assert_focused(&browser, "[data-message]");
        browser.press_keys(&format!("run it{ENTER}"));
    }
    wait_for_card(&browser, "make test");
    browser.press_keys(ARROW_UP);
    assert_focused(&browser, ".chat-question");
    browser.press_keys(ESCAPE);
    assert_focused(&browser, "[data-message]");
    browser.press_keys(ARROW_UP);
    assert_focused(&browser, ".chat-question");
    let first = browser.run("return document.querySelector('.card').dataset.question", &json!([]));
    browser.press_keys("a");
    browser.wait_for_text(".chat-inner", "It was allowed: allow.");
    browser.wait_for(
        "the second question",
        &format!("return document.querySelector('.card')?.dataset.question !== {first}"),
    );
    assert_focused(&browser, "[data-message]");
    wait_for_card(&browser, "make test");
    browser.press_keys("a");
    assert_eq!(message(&browser), "a");
    // A page that comes into view is as new as what it shows.
    let _ = browser.run(
        "const now = performance.now.bind(performance);
        performance.now = () => now() + 3_600_000;
        document.dispatchEvent(new Event('visibilitychange'))",
        &json!([]),
    );
    browser.wait_for("it is new", "return document.querySelector('.card[data-settling]')");
    browser.click("#card-title");
    assert_focused(&browser, ".chat-question");
    browser.press_keys("ad");
    let decisions: Vec<_> = answers(&browser).iter().map(|one| one["decision"].clone()).collect();
    assert_eq!(decisions, ["deny", "allow"]);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Tells the page that somebody has called the window.
fn call_window(browser: &Browser) {
    tell(browser, &json!({ "kind": "shown" }));
}

fn address(browser: &Browser) -> Value {
    browser.run("return location.hash", &json!([]))
}

#[test]
fn whoever_calls_the_window_can_write_a_message_wherever_the_page_is() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    // Neither an empty field nor a value that is saved was begun by anybody.
    for key in ["agent.model", "shell.shortcut"] {
        go(&browser, "settings");
        browser.click(&format!("[data-setting='{key}'] input"));
        call_window(&browser);
        assert_focused(&browser, "[data-message]");
    }
    go(&browser, "settings");
    browser.click("[data-setting='agent.model'] input");
    browser.press_keys("claude");
    call_window(&browser);
    assert_focused(&browser, "[data-setting='agent.model']");
    assert_eq!(address(&browser), "#/settings");

    go(&browser, "chat");
    browser.resize(1000, 800);
    browser.click("[data-list]");
    browser.wait_for("the list", IS_LISTED);
    call_window(&browser);
    assert_focused(&browser, "[data-message]");

    browser.click(".folder");
    assert_focused(&browser, "[data-folder]");
    let _ = browser.run("document.activeElement.blur()", &json!([]));
    call_window(&browser);
    assert_focused(&browser, "[data-folder]");
    let _ = browser.run("document.activeElement.blur()", &json!([]));
    browser.press_keys("gh");
    let folder = browser.run("return document.querySelector('[data-folder]').value", &json!([]));
    assert!(folder.as_str().unwrap().contains("gh"), "{folder}");
    assert!(address(&browser).as_str().unwrap().starts_with("#/chat"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_message_waits_for_the_runtime_unless_somebody_writes_on() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    let restart = || {
        let _ = browser.run("__TAURI__.fake.emit('state', { state: 'restarting' })", &json!([]));
        browser.wait_for("no runtime", "return document.querySelector('[data-send][disabled]')");
    };
    let get_ready = || {
        let _ = browser.run("__TAURI__.fake.emit('state', { state: 'ready' })", &json!([]));
        wait_until_ready(&browser);
    };
    restart();
    browser.press_keys(&format!("hello{ENTER}"));
    browser.wait_for_text("[data-send]", "Waiting…");
    browser.press_keys(" again");
    browser.wait_for_text("[data-send]", "Send");
    get_ready();
    assert_eq!(message(&browser), "hello again");
    assert_eq!(sent(&browser, "user_message"), Vec::<Value>::new());

    restart();
    browser.press_keys(ENTER);
    browser.wait_for_text("[data-send]", "Waiting…");
    get_ready();
    browser.wait_for_text(".chat-inner", "Good morning.");
    assert_eq!(message(&browser), "");
    assert_eq!(sent(&browser, "user_message").len(), 1);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_folder_that_is_refused_is_not_where_the_next_runtime_starts() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    tell(&browser, &json!({ "kind": "open_folder", "folder": "nowhere" }));
    browser.wait_for_text(".toast", "nowhere: there is no such folder");
    let _ = browser.run("__TAURI__.fake.end()", &json!([]));
    browser.wait_for(
        "another start",
        "return __TAURI__.fake.calls.filter(([name]) => name === 'chat_start').length > 2",
    );
    let started: Vec<Value> =
        calls(&browser, "chat_start").into_iter().map(|call| call["folder"].clone()).collect();
    assert_eq!(started, ["/home/ada/engine", "nowhere", "/home/ada/engine"]);
    wait_until_ready(&browser);
}

#[test]
fn files_that_are_dropped_on_another_view_are_attached_in_the_chat() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    go(&browser, "settings");
    browser.wait_for_text("[data-shell-settings]", "Engine");
    let file = json!({ "name": "plan.txt", "mime": "text/plain", "data": "YQ==", "size": 1 });
    let attached = |kind: &str| json!({ "kind": kind, "files": [file], "problem": null });
    // What is pasted there is for that view.
    tell(&browser, &attached("paste"));
    assert_eq!(address(&browser), "#/settings");
    tell(&browser, &attached("attach"));
    assert_focused(&browser, "[data-message]");
    browser.wait_for("the file", "return document.querySelector('[data-file=\"plan.txt\"]')");
    assert_eq!(browser.count("[data-file]"), 1);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn narrow_windows_have_a_way_to_every_conversation_and_mode() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    // The field grows with its text, and is low again when the message is sent.
    browser.fill("[data-message]", &"a long message ".repeat(30));
    browser.wait_for("room", &format!("return {HEIGHT} > 80"));
    browser.press_keys(ENTER);
    browser.wait_for("little room", &format!("return {HEIGHT} < 60"));
    browser.resize(1000, 800);
    browser.click("[data-list]");
    browser.wait_for("the list", IS_LISTED);
    // The conversation that is open already.
    browser.click(".conversation[aria-current=true]");
    browser.wait_for("the conversation", IS_CONVERSATION);
    browser.click("[data-list]");
    browser.wait_for("the list", IS_LISTED);
    let _ = browser.run("history.back()", &json!([]));
    browser.wait_for("the conversation", IS_CONVERSATION);

    let problem = "Ctrl+Shift+Space: another program has this shortcut";
    tell(&browser, &json!({ "kind": "shortcut", "problem": problem }));
    browser.wait_for_text("[data-shortcut-problem]", problem);
    browser.press_keys(&format!("run it{ENTER}"));
    for width in [360, 320] {
        browser.resize(width, 640);
        wait_for_card(&browser, "make test");
        assert_fits(&browser, &format!("the chat at {width}"));
        browser.click("[data-list]");
        browser.wait_for("the list", IS_LISTED);
        assert_fits(&browser, &format!("the list at {width}"));
        browser.click(".list-head .chat-back");
        browser.wait_for("the conversation", IS_CONVERSATION);
        browser.click("[data-menu]");
        let mode = if width == 360 { "plan" } else { "auto" };
        browser.click(&format!("dialog [data-choice={mode}]"));
        browser.wait_for(
            mode,
            &format!(
                "return document.querySelector('dialog [data-choice={mode}][aria-pressed=true]')"
            ),
        );
        assert_fits(&browser, &format!("the menu at {width}"));
        browser.click("dialog [aria-label=Close]");
        browser.wait_until_gone("dialog");
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

const HEIGHT: &str = "document.querySelector('[data-message]').offsetHeight";
const IS_LISTED: &str = "return document.querySelector('.conversation')?.checkVisibility()
    && !document.querySelector('[data-message]').checkVisibility()";
const IS_CONVERSATION: &str = "return document.querySelector('[data-message]')?.checkVisibility()
    && !document.querySelector('.conversation').checkVisibility()";
