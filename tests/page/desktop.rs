//! The page as it is in the window of the desktop shell: with the shell's commands, which a script
//! stands in for here, and without a desk.

use std::sync::LazyLock;

use callgate_testkit::browser::Browser;
use serde_json::{Value, json};

use crate::fixture::Stage;
use crate::stage::{link, wait_until_live};
use callgate_testkit::page_barriers::{assert_fits, assert_open_to_all};

/// The script that stands in for the shell, as one that is not a module.
static FAKE: LazyLock<String> = LazyLock::new(|| {
    include_str!("../../ui/tests/fake_tauri.js").replace("export function", "function")
});

/// The key as `WebDriver` names it.
pub(crate) const ESCAPE: &str = "\u{e00c}";

/// The page in a shell with these options. The desk only serves the files.
pub(crate) fn shell(options: &Value) -> Option<(Stage, Browser)> {
    let browser = Browser::start(1180, 860)?;
    let stage = Stage::without_phone();
    let fake = &*FAKE;
    browser.run_before_pages(&format!("{fake}; window.__TAURI__ = fakeTauri({options});"));
    let address = link(&stage);
    browser.open(address.split('#').next().unwrap());
    Some((stage, browser))
}

pub(crate) fn wait_until_ready(browser: &Browser) {
    browser.wait_for("a runtime", "return document.querySelector('[data-send]:not([disabled])')");
}

pub(crate) fn go(browser: &Browser, view: &str) {
    let _ = browser.run(&format!("location.hash = '#/{view}'"), &json!([]));
}

pub(crate) fn say(browser: &Browser, words: &str) {
    browser.fill("[data-message]", words);
    browser.click("[data-send]");
}

/// Waits for the card of a question in the chat, and until presses on it count.
pub(crate) fn wait_for_card(browser: &Browser, text: &str) {
    browser.wait_for_text(".chat-question .card", text);
    browser.wait_for(
        "presses count",
        "return document.querySelector('.chat-question [data-press=deny][aria-disabled=false]')",
    );
}

/// Returns the arguments of the calls of a command.
pub(crate) fn calls(browser: &Browser, command: &str) -> Vec<Value> {
    let script =
        "return __TAURI__.fake.calls.filter(([name]) => name === arguments[0]).map(it => it[1])";
    let calls = browser.run(script, &json!([command]));
    calls.as_array().unwrap().clone()
}

/// Waits until a command was called with this.
pub(crate) fn wait_for_call(browser: &Browser, command: &str, arguments: &Value) {
    browser.wait_for(
        command,
        &format!(
            "return __TAURI__.fake.calls.some(([name, it]) => name === '{command}'
                && JSON.stringify(it) === JSON.stringify({arguments}))"
        ),
    );
}

/// Lets the shell send an event.
pub(crate) fn tell(browser: &Browser, event: &Value) {
    let _ = browser.run("__TAURI__.fake.tell(arguments[0])", &json!([event]));
}

/// Shows the answers of a question in the chat that are given less often.
fn unfold(browser: &Browser) {
    browser.click(".chat-question [data-further] summary");
}

#[test]
fn questions_of_the_runtime_are_answered_in_the_chat() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    assert!(
        browser.run("return location.hash", &json!([])).as_str().unwrap().starts_with("#/chat")
    );

    say(&browser, "write it");
    browser.wait_for_text(".chat-question .card", "Bread");
    // Pressed as soon as it is there: it does not count.
    let _ = browser.run("document.querySelector('[data-press=allow]').click()", &json!([]));
    wait_for_card(&browser, "Write a file");
    assert_open_to_all(&browser);
    assert_eq!(answers(&browser), Vec::<Value>::new());
    browser.click(".chat-question [data-press=allow]");
    browser.wait_for_text(".chat-inner", "It was allowed: allow.");
    browser.wait_until_gone(".chat-question");
    // Its second half was meant for the first question, and answers no other.
    let _ = browser.run("document.querySelector('[data-press=allow]')?.click()", &json!([]));
    assert_eq!(answers(&browser).len(), 1);

    say(&browser, "write it again");
    unfold(&browser);
    wait_for_card(&browser, "Do not ask again");
    browser.click(".chat-question [data-press=always]");
    browser.wait_for_text(".chat-inner", "It was allowed: allow always.");

    say(&browser, "run it");
    wait_for_card(&browser, "make test 'a b'");
    unfold(&browser);
    browser.click("[data-press=reply]");
    browser.fill("[data-words]", "wrong");
    settle(&browser);
    browser.click("[data-press=send-words]");
    browser.wait_for_text(".chat-question .note", "this answer cannot be given");
    browser.fill("[data-words]", "Only the unit tests");
    browser.click("[data-press=send-words]");
    browser.wait_for_text(".chat-inner", "It was denied: Only the unit tests.");

    say(&browser, "run it again");
    wait_for_card(&browser, "make test");
    unfold(&browser);
    browser.click("[data-press=edit]");
    browser.fill("[data-edit]", r#"{"command":"make","args":["check"]}"#);
    browser.click("[data-press=send-edit]");
    browser.wait_for_text(".chat-inner", "It was allowed: allow.");
    let edited = answers(&browser).pop().unwrap();
    assert_eq!(edited["input"], json!({ "command": "make", "args": ["check"] }));

    say(&browser, "patch it");
    wait_for_card(&browser, "b.rs");
    for (tone, words) in [("removed", "old"), ("added", "new")] {
        browser.wait_for_text(&format!(".chat-question .diff .line.{tone}"), words);
    }
    browser.click(".chat-question [data-press=deny]");
    browser.wait_until_gone(".chat-question");

    say(&browser, "run it once more");
    wait_for_card(&browser, "make test");
    unfold(&browser);
    browser.click("[data-press=stop]");
    browser.wait_for(
        "a cancelled turn",
        "return __TAURI__.fake.calls.some(([name, it]) => \
        name === 'chat_send' && JSON.parse(it.line).kind === 'cancel')",
    );
    assert_eq!(answers(&browser).pop().unwrap()["decision"], "deny");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// The answers that the page has sent to questions of the runtime.
pub(crate) fn answers(browser: &Browser) -> Vec<Value> {
    sent(browser, "permission_answer")
}

/// The requests of a kind that the page has sent to the runtime.
pub(crate) fn sent(browser: &Browser, kind: &str) -> Vec<Value> {
    let sent = calls(browser, "chat_send").into_iter();
    let lines = sent.map(|call| serde_json::from_str(call["line"].as_str().unwrap()).unwrap());
    lines.filter(|line: &Value| line["kind"] == kind).collect()
}

/// Waits until presses on the open form count.
fn settle(browser: &Browser) {
    browser.wait_for("it has settled", "return !document.querySelector('.card[data-settling]')");
}

#[test]
fn the_shell_is_told_what_waits_and_its_notices_are_obeyed() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    // As if the window were hidden.
    let _ = browser.run("document.hasFocus = () => false", &json!([]));
    say(&browser, "run it");
    wait_for_call(&browser, "waiting_changed", &json!({ "count": 1 }));
    let notified = calls(&browser, "notify").pop().unwrap();
    let id = notified["id"].as_str().unwrap().to_owned();
    let expected = ("callgate", "engine", "Run a command");
    let said = |name: &str| notified[name].as_str().unwrap().to_owned();
    assert_eq!((&*said("agent"), &*said("project"), &*said("kind")), expected);
    assert!(!notified.to_string().contains("make"), "a notification never has the command");

    go(&browser, "settings");
    tell(&browser, &json!({ "kind": "open_question", "id": id }));
    browser.wait_for_text(".chat-question .card", "make test");
    // Escape closes what is open, and then hides the window.
    // Everything but the two answers is folded.
    assert_eq!(browser.count(".chat-question .button"), 2);
    unfold(&browser);
    browser.click("[data-press=reply]");
    browser.fill("[data-words]", "Not");
    browser.press_keys(ESCAPE);
    browser.wait_until_gone("[data-words]");
    assert_eq!(calls(&browser, "window_hide"), Vec::<Value>::new());
    browser.click("[data-message]");
    browser.press_keys(ESCAPE);
    wait_for_call(&browser, "window_hide", &json!({}));
    tell(&browser, &json!({ "kind": "deny_question", "id": id }));
    browser.wait_for_text(".chat-inner", "It was denied: without words.");
    wait_for_call(&browser, "waiting_changed", &json!({ "count": 0 }));

    say(&browser, "hello");
    browser.click(".reply-text a[data-address]");
    wait_for_call(&browser, "open_outside", &json!({ "url": "https://example.org/guide" }));
    tell(&browser, &json!({ "kind": "status" }));
    browser.wait_for_text("[data-fact=engine]", "offline");
    browser.wait_for_text("[data-fact=length]", "4 messages");
    tell(&browser, &json!({ "kind": "theme", "theme": "dark" }));
    browser.wait_for(
        "dark colours",
        "return getComputedStyle(document.body).backgroundColor === 'rgb(18, 17, 16)'",
    );
    assert_open_to_all(&browser);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// A notification is for a window that is hidden; the toast is there in any case.
#[test]
fn a_call_without_a_verdict_is_told_in_the_window_and_by_the_shell() {
    let Some((_desk, browser)) = shell(&json!({ "desk": "locked" })) else { return };
    wait_until_ready(&browser);
    go(&browser, "inbox");
    browser.fill("[data-code]", "7kqm-2xwa");
    browser.press_keys("\n");
    wait_until_live(&browser);
    let ran = |seq: u64, agent: &str| {
        let body = json!({ "agent": agent, "cwd": "/home/ada/engine", "session": "s",
            "tool": "Bash", "by": "nobody: its hook did not ask" });
        let entry = json!({ "seq": seq, "at_ms": 1, "kind": "ran", "question": null, "hash": "",
            "body": body });
        let _ = browser.run("__TAURI__.fake.enter(arguments[0])", &json!([entry]));
    };
    let _ = browser.run("document.hasFocus = () => true", &json!([]));
    ran(1, "gemini");
    browser.wait_for_text(".toast", "Gemini CLI in engine: Ran a call without a verdict");
    assert_eq!(calls(&browser, "notify_unchecked"), Vec::<Value>::new());
    let _ = browser.run("document.hasFocus = () => false", &json!([]));
    ran(2, "kimi");
    browser.wait_for_text(".toast:last-child", "Kimi Code in engine: Ran a call without a verdict");
    let expected = json!({ "agent": "Kimi Code", "project": "engine" });
    assert_eq!(calls(&browser, "notify_unchecked"), [expected]);
    tell(&browser, &json!({ "kind": "open_history" }));
    browser.wait_for("the history", "return location.hash.startsWith('#/history')");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_runtime_that_died_is_shown_and_restarted_and_a_conversation_is_cleared() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    say(&browser, "die");
    browser.wait_for_text("[data-runtime=given_up]", "no key was found");
    assert_open_to_all(&browser);
    browser.click("[data-runtime] [data-restart]");
    browser.wait_until_gone("[data-runtime]");
    wait_until_ready(&browser);
    browser.click("[data-clear]");
    browser.click("[data-sure]");
    browser.wait_until_gone("[data-turn]");
    say(&browser, "hello");
    browser.wait_for_text(".chat-inner", "Good morning.");

    // The turn says nothing any more; the page's clock goes on by a minute.
    say(&browser, "stall");
    browser.wait_for_text(".chat-inner", "One moment");
    assert_eq!(browser.count("[data-silent]"), 0);
    let _ = browser.run("const now = Date.now; Date.now = () => now() + 61_000", &json!([]));
    browser.click("[data-cancel-silent]");
    browser.wait_for_text(".chat-inner", "Stopped.");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn settings_of_the_shell_are_saved_and_the_key_is_written_and_never_read() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    go(&browser, "settings");
    browser.wait_for_text("[data-shell-settings]", "Engine");
    assert_open_to_all(&browser);
    browser.fill("[data-setting='shell.shortcut'] input", "nonsense");
    browser.press_keys("\t");
    browser.wait_for_text("[data-setting='shell.shortcut'] .note", "`nonsense` is no shortcut");
    browser.fill("[data-setting='shell.shortcut'] input", "Alt+Space");
    browser.press_keys("\t");
    browser.wait_for_text("[data-setting='shell.shortcut']", "Saved");
    // A choice that is refused is not shown as if it were in effect.
    let _ = browser.run(
        "const { commands } = __TAURI__.fake;
        window.write = commands.settings_write;
        commands.settings_write = () => { throw { status: 400, text: 'it is refused' } };
        const theme = document.querySelector(\"[data-setting='shell.theme'] select\");
        theme.value = 'dark';
        theme.dispatchEvent(new Event('change'))",
        &json!([]),
    );
    browser.wait_for_text("[data-setting='shell.theme'] .note", "it is refused");
    let theme = "return document.querySelector(\"[data-setting='shell.theme'] select\").value";
    browser
        .wait_for("the theme in effect", &format!("return (() => {{ {theme} }})() === 'system'"));
    let _ = browser.run("__TAURI__.fake.commands.settings_write = window.write", &json!([]));
    browser.fill("[data-setting='agent.roots'] textarea", "/a\n/b");
    browser.press_keys("\t");
    wait_for_call(
        &browser,
        "settings_write",
        &json!({ "key": "agent.roots", "value": ["/a", "/b"] }),
    );
    browser.fill("[data-api-key]", "sk-secret");
    assert_eq!(
        browser.run("return document.querySelector('[data-api-key]').type", &json!([])),
        "password"
    );
    browser.click("[data-store-key]");
    wait_for_call(&browser, "settings_store_api_key", &json!({ "secret": "sk-secret" }));
    browser.wait_for_text("[data-setting=api_key]", "Saved");
    let typed = browser.run("return document.querySelector('[data-api-key]').value", &json!([]));
    assert_eq!(typed, "", "the page forgets it");
    browser.click("[data-shell-settings] [data-restart]");
    wait_for_call(&browser, "chat_restart", &json!({}));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn without_a_desk_the_inbox_says_so_and_with_one_the_window_is_linked_by_a_code() {
    let Some((_desk, browser)) = shell(&json!({ "desk": "none" })) else { return };
    wait_until_ready(&browser);
    go(&browser, "inbox");
    browser.wait_for_text("[data-no-desk]", "callgate up");
    assert_open_to_all(&browser);
    let looks = calls(&browser, "desk_request").len() + calls(&browser, "desk_watch").len();
    assert!(looks <= 2, "{looks} attempts at once");
    browser.press_keys(ESCAPE);
    wait_for_call(&browser, "window_hide", &json!({}));

    let _ = browser.run(
        "__TAURI__.fake.commands.desk_request = () => { throw { status: 401, text: 'not linked' } }",
        &json!([]),
    );
    browser.click("[data-no-desk] button");
    browser.wait_for_text(".pairing", "Link this window");
    browser.fill("[data-code]", "wrong");
    browser.press_keys("\n");
    browser.wait_for_text(".pairing .note", "not valid");
    go(&browser, "chat");
    wait_until_ready(&browser);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_question_that_the_desk_has_too_is_one_card() {
    let Some((_desk, browser)) = shell(&json!({ "desk": "locked" })) else { return };
    wait_until_ready(&browser);
    go(&browser, "inbox");
    browser.fill("[data-code]", "7kqm-2xwa");
    browser.press_keys("\n");
    wait_until_live(&browser);
    go(&browser, "chat");
    say(&browser, "run it");
    // The desk knows more about it, so its card is shown.
    browser.wait_for_text(".chat-question .card", "Allowed by the desk.");
    assert_eq!(browser.count(".card[data-question]"), 1);
    assert_eq!(browser.run("return document.title", &json!([])), "(1) callgate");
    go(&browser, "inbox");
    browser.wait_for("its row", "return document.querySelectorAll('.question-row').length === 1");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_bare_runtime_is_asked_for_nothing_that_it_does_not_know() {
    let Some((_desk, browser)) = shell(&json!({ "isBare": true })) else { return };
    wait_until_ready(&browser);
    say(&browser, "hello");
    browser.wait_for_text(".chat-inner", "Good morning.");
    go(&browser, "status");
    browser.wait_for_text("[data-fact=length]", "2 messages");
    go(&browser, "chat");
    browser.click("[data-clear]");
    browser.click("[data-sure]");
    browser.wait_until_gone("[data-turn]");
    assert_eq!(calls(&browser, "extension"), Vec::<Value>::new());
    assert_eq!(browser.count(".toast"), 0);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn the_views_of_the_shell_fit_into_narrow_windows() {
    let Some((_desk, browser)) = shell(&json!({})) else { return };
    wait_until_ready(&browser);
    let views = [
        ("settings", ".shell-settings"),
        ("inbox", "[data-no-desk]"),
        ("status", "[data-fact=engine]"),
    ];
    for (view, part) in views {
        go(&browser, view);
        browser.wait_for(view, &format!("return document.querySelector('{part}')"));
        for width in [360, 320] {
            browser.resize(width, 640);
            assert_fits(&browser, &format!("{view} at {width}"));
        }
    }
}
